"""The committed figures of area belong to the committed RTL."""

from __future__ import annotations

import json
import re

import latency
from verilated import HDL

import synth


def test_figures_of_area_are_those_of_this_rtl() -> None:
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    assert committed["rtl"] == synth.rtl_hash(), "run `make hdl-synth` and commit hdl.json"
    assert committed["full_lut"] > committed["small_lut"] > 0
    assert committed["full_bram36"] > committed["small_bram36"] > 0
    # The clock rate belongs to this switch, too.
    assert committed.get("ecp5_rtl") == synth.placed_hash(), "run `make hdl-place` and commit hdl.json"
    assert committed.get("ecp5_how") == synth.placed_how(), "run `make hdl-place` and commit hdl.json"


def test_the_page_of_the_switch_tells_the_committed_latencies() -> None:
    """Its table is without PHYs, which the figures of hdl.json have in them."""
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    page = (HDL.parent / "docs" / "hardware" / "switch.md").read_text()
    rows = {
        "strict priority, cut-through": "sp_cut_through",
        "strict priority, store and forward": "sp_store_and_forward",
        "ATS, ProcessingDelayMax 0": "ats_undelayed",
        "ATS, ProcessingDelayMax 500 ns": "ats",
    }
    for name, figure in rows.items():
        cells = re.search(rf"^\| {name} \| ([\d ]+) ns \| ([\d ]+) ns \|$", page, re.MULTILINE).groups()
        for payload, cell in zip((64, 1500), cells, strict=True):
            said_ns = int(cell.replace(" ", ""))
            assert said_ns == round(committed[f"{figure}_{payload}B_us"] * 1000) - latency.PHYS_NS, f"{name}, {payload} B"


def test_the_goals_are_kept() -> None:
    """What the switch was built for, with 0.55 us of two PHYs in its latencies."""
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    most = {"ats_1500B_us": 13.6, "ats_64B_us": 2.1, "sp_cut_through_64B_us": 1.3, "sp_cut_through_1500B_us": 1.3}
    most |= {"processing_delay_max_us": 0.5, "full_bram36": 125, "small_bram36": 76, "small_lut": 22_000}
    least = {"ats_schedulers_per_port": 1024, "ecp5_mhz": synth.GOAL_MHZ}
    assert not {name: committed[name] for name, goal in most.items() if committed[name] > goal}
    assert not {name: committed[name] for name, goal in least.items() if committed[name] < goal}


def test_the_page_of_the_area_tells_the_committed_figures() -> None:
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    page = (HDL.parent / "docs" / "hardware" / "area.md").read_text()
    rows = re.findall(r"^\| (\w+)(?: switch)? \| ([\d ]+) \| ([\d ]+) \| ([\d ]+) \| ([\d.]+) \| ([\d.]+) ns \|$", page, re.MULTILINE)
    assert {row[0] for row in rows} == {*synth.MODULES, *synth.SIZED, *synth.BUILDS}
    for name, *cells in rows:
        said = [float(cell.replace(" ", "")) for cell in cells]
        assert said == [round(committed[f"{name}_{key}"], 2) for key in synth.KEYS], name
    (said,) = re.findall(r"The routed switch runs at ([\d.]+) MHz", page)
    assert float(said) == round(committed["ecp5_mhz"], 1)
