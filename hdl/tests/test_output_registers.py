"""Flip-flops behind block memories, moved into them where that changes nothing (``output_registers.py``)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from output_registers import absorb

CLOCK, ADDRESS = 2, 3


def memory(bits: list[int]) -> dict[str, Any]:
    pins = {"CLKA": [CLOCK], "CLKB": [CLOCK], "CEA": ["1"], "CEB": ["1"], "RSTA": ["0"], "RSTB": ["0"]}
    pins |= {"WEB": ["0"], "OCEA": ["0"], "OCEB": ["1"], "ADB5": [ADDRESS]}
    pins |= {f"DOB{k}": [bit] for k, bit in enumerate(bits)}
    directions = {pin: "output" if pin.startswith("DO") else "input" for pin in pins}
    return {
        "type": "DP16KD",
        "parameters": {"REGMODE_A": "NOREG", "REGMODE_B": "NOREG"},
        "connections": pins,
        "port_directions": directions,
    }


def flip_flop(data: int, out: int, **changes: list[object]) -> dict[str, Any]:
    pins = {"CLK": [CLOCK], "DI": [data], "LSR": ["0"], "Q": [out]} | changes
    directions = {pin: "output" if pin == "Q" else "input" for pin in pins}
    parameters = {"CEMUX": "CE" if "CE" in changes else "1 ", "CLKMUX": "CLK", "GSR": "DISABLED", "LSRMUX": "LSR"}
    return {"type": "TRELLIS_FF", "parameters": parameters, "connections": pins, "port_directions": directions}


def module() -> dict[str, Any]:
    cells = {"memory": memory([10, 11, 12]), **{f"q{k}": flip_flop(10 + k, 20 + k) for k in range(3)}}
    return {"cells": cells, "ports": {"out": {"direction": "output", "bits": [20, 21, 22]}}}


def test_a_registered_port_is_moved_as_a_whole() -> None:
    design = module()
    assert absorb(design) == (1, 3)
    (cell,) = design["cells"].values()
    assert [cell["connections"][f"DOB{k}"] for k in range(3)] == [[20], [21], [22]]
    assert (cell["parameters"]["REGMODE_A"], cell["parameters"]["REGMODE_B"]) == ("OUTREG", "OUTREG")
    assert cell["connections"]["OCEA"] == cell["connections"]["OCEB"] == ["1"]
    # A bit that nobody reads is no hindrance.
    unused = module()
    del unused["cells"]["q1"]
    assert absorb(unused) == (1, 2)


@pytest.mark.parametrize(
    "change", ["enable", "reset", "clock", "two loads", "logic", "port", "begins with one", "WEB", "CEA", "CEB", "RSTA", "RSTB", "CLKA"]
)
def test_what_would_change_something_is_left(change: str) -> None:
    design = module()
    cells = design["cells"]
    if change == "enable":
        cells["q1"] = flip_flop(11, 21, CE=[9])
    elif change == "reset":
        cells["q1"] = flip_flop(11, 21, LSR=[9])
    elif change == "clock":
        cells["q1"] = flip_flop(11, 21, CLK=[9])
    elif change == "two loads":
        cells["more"] = flip_flop(11, 31)
    elif change == "logic":
        cells["q1"]["type"] = "LUT4"
    elif change == "port":
        design["ports"]["early"] = {"direction": "output", "bits": [11]}
    elif change == "begins with one":
        cells["q1"]["parameters"]["REGSET"] = "SET"
    else:
        cells["memory"]["connections"][change] = [9]
    before = copy.deepcopy(design)
    assert absorb(design) == (0, 0) and design == before
