"""The device model ``tautwire-switch`` against the RTL: lone frames of all sizes lie between its least and its most."""

from __future__ import annotations

import pathlib
import re

import pytest
from latency import CASES, PHYS_NS, latencies_ns, shaped_settings
from verilated import HDL

MODEL = HDL.parent / "devices" / "tautwire-switch.yaml"
STAGE = re.compile(
    r"- {name: [\w-]+, position: (\w+),(?: only-for: ([\w-]+),)? latency: (?:(\d+) ns|{min: (\d+) ns, max: (\d+) ns})}"
)


def stages(mechanism: str) -> dict[str, tuple[int, int]]:
    """Least and most of the stages that a class passes, in ns, by position."""
    found = dict.fromkeys(("reception", "processing", "transmission"), (0, 0))
    lines = [line for line in MODEL.read_text().splitlines() if "position:" in line]
    for line in lines:
        stage = STAGE.search(line)
        assert stage, line
        position, only_for, constant, low, high = stage.groups()
        if only_for in (None, mechanism):
            least, most = found[position]
            found[position] = (least + int(constant or low), most + int(constant or high))
    return found


@pytest.mark.parametrize("payload", [46, 64, 300, 1500])
def test_lone_frames_are_within_the_model(tmp_path: pathlib.Path, payload: int) -> None:
    for case, mechanism in ((CASES[0], "strict-priority"), (CASES[2], "ats")):
        model = stages(mechanism)
        delay_max = case.delay_max_ticks // 2
        least, most = (model["reception"][k] + max(delay_max, model["processing"][k]) + model["transmission"][k] for k in (0, 1))
        # Preamble and frame, with its tag.
        wire = 8 * (8 + payload + 22)
        measured = latencies_ns(shaped_settings(case.delay_max_ticks), tmp_path, payload, case.pcp)
        assert wire + least <= min(measured) + PHYS_NS, (case.name, min(measured))
        assert max(measured) + PHYS_NS <= wire + most, (case.name, max(measured))


def test_the_model_says_what_it_was_measured_with() -> None:
    text = MODEL.read_text()
    full_mesh = (HDL / "tests" / "full_mesh.py").read_text()
    assert "LAG, SCAN = 48, 12" in full_mesh and "at most 46" in text and "12 more" in text
