"""The study's networks as files, for reading and for the command: ``python scenarios.py`` writes them."""

from __future__ import annotations

from pathlib import Path

from experiments import arbitration_bed, contention_bed, shaped_bed, two_flows_bed
from testbed import Testbed, one_frame


def beds() -> dict[str, Testbed]:
    """The experiments, each at one level, lasting a second or less."""
    second = 1_000_000_000
    return {
        "one-frame-ats.yaml": one_frame(7, 1500, 50_000),
        "one-frame-strict-priority.yaml": one_frame(5, 1500, 50_000),
        "figure-14-one-stream.yaml": shaped_bed(100, 1),
        "figure-15-two-streams.yaml": two_flows_bed(1),
        "figure-16-arbitration.yaml": arbitration_bed(500, 1),
        "figure-17-best-effort.yaml": contention_bed(17, 500, 100).lasting(second),
        "figure-19-same-class.yaml": contention_bed(19, 500, 100).lasting(second),
        "figure-20-class-7.yaml": contention_bed(20, 500, 100).lasting(second),
        "figure-21-class-6.yaml": contention_bed(21, 500, 100).lasting(second),
    }


def texts() -> dict[str, str]:
    """File names and their texts."""
    return {name: bed.network().text() for name, bed in beds().items()}


if __name__ == "__main__":
    folder = Path(__file__).parent / "scenarios"
    folder.mkdir(exist_ok=True)
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")
