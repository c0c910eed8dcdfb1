"""The committed figures of area belong to the committed RTL."""

from __future__ import annotations

import json

import synth
from verilated import HDL


def test_figures_of_area_are_those_of_this_rtl() -> None:
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    assert committed["rtl"] == synth.rtl_hash(), "run `make hdl-synth` and commit hdl.json"
    assert committed["full_lut"] > committed["small_lut"] > 0
    assert committed["full_bram36"] > committed["small_bram36"] > 0
    # A clock rate, where there is one, belongs to this RTL, too.
    assert committed.get("ecp5_rtl", committed["rtl"]) == committed["rtl"], "run `make hdl-place` and commit hdl.json"
