"""The committed figures of area belong to the committed RTL."""

from __future__ import annotations

import json
import re

import latency
import synth
from verilated import HDL


def test_figures_of_area_are_those_of_this_rtl() -> None:
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    assert committed["rtl"] == synth.rtl_hash(), "run `make hdl-synth` and commit hdl.json"
    assert committed["full_lut"] > committed["small_lut"] > 0
    assert committed["full_bram36"] > committed["small_bram36"] > 0
    # A clock rate, where there is one, belongs to this RTL, too.
    assert committed.get("ecp5_rtl", committed["rtl"]) == committed["rtl"], "run `make hdl-place` and commit hdl.json"


def test_the_page_of_the_switch_tells_the_committed_latencies() -> None:
    """Its table is without PHYs, which the figures of hdl.json have in them."""
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    page = (HDL.parent / "docs" / "hardware" / "switch.md").read_text()
    rows = {
        "strict priority, cut-through": {1500: "sp_cut_through_1500B_us"},
        "strict priority, store and forward": {1500: "sp_store_and_forward_1500B_us"},
        "ATS, ProcessingDelayMax 500 ns": {64: "ats_64B_us", 1500: "ats_1500B_us"},
    }
    for name, figures in rows.items():
        small, large = re.search(rf"^\| {name} \| ([\d ]+) ns \| ([\d ]+) ns \|$", page, re.MULTILINE).groups()
        for payload, figure in figures.items():
            said_ns = int({64: small, 1500: large}[payload].replace(" ", ""))
            assert said_ns == round(committed[figure] * 1000) - latency.PHYS_NS, f"{name}, {payload} B"


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
