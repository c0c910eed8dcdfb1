"""Runs of the study as files, for reading and for the command: ``python harts_scenarios.py`` writes them.

One for each kind of row in both printed tables, with the study's first seed: what `tautwire simulate` says of such a
file is what the study reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harts_descriptions import description, last_ms
from harts_runs import BACKGROUND, PATHS, PROTOCOLS, installed, load, requests
from harts_testbed import scenario, stream
from tautwire.claims import Study

SEED = 1


def rows(study: Study) -> dict[str, dict[str, Any]]:
    """What is run, by the name of its file."""
    found: dict[str, dict[str, Any]] = {}
    alone = [stream(study, "F7")]
    for protocol, architecture in PROTOCOLS.items():
        for name in ("I", "II", "III"):
            times = {"avb": {"warm_up_ns": 0}} if (name, protocol) == ("I", "AVB") else {}
            asked = requests(study, name, protocol)
            found[f"scenario-{name}-{protocol}"] = scenario(study, architecture, asked, load=BACKGROUND, **times)
        far = [stream(study, "F7", path=PATHS[4])]
        found[f"experiment-I-4-hops-{protocol}"] = scenario(study, architecture, far)
        found[f"experiment-II-1000-B-90-{protocol}"] = scenario(study, architecture, alone, load=load(1000, 90))
        beside = installed(study, 6)
        found[f"experiment-III-7-streams-{protocol}"] = scenario(study, architecture, alone, installed=beside)
    return {name.lower(): {**made, "seed": SEED} for name, made in found.items()}


def texts(study: Study) -> dict[str, str]:
    """File names and their texts."""
    found = {}
    for name, made in rows(study).items():
        text, _ = description({**made, "last_ms": last_ms(made, 1)})
        found[f"{name}.yaml"] = f"name: {name}\n" + text.replace("run: {", f"run: {{seed: {SEED}, ")
    return found


if __name__ == "__main__":
    here = Path(__file__).parent
    (here / "scenarios").mkdir(exist_ok=True)
    for name, text in texts(Study(here, here)).items():
        (here / "scenarios" / name).write_text(text, encoding="utf-8")
