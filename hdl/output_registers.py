"""Output registers of an ECP5's block memories, taken from the flip-flops behind them in a netlist of Yosys.

A DP16KD has a register behind its memory (``REGMODE`` ``OUTREG``: data come a cycle later, and sooner after the edge). Yosys leaves it
unused and places flip-flops elsewhere on the chip; the vendor's tools move them in, and so does this. What is computed is the same.
"""

from __future__ import annotations

import collections
import json
import pathlib
from typing import Any


def plain(cell: dict[str, Any], clock: object) -> bool:
    """A flip-flop of this clock that takes its input in every cycle, is never set or reset and begins with zero."""
    parameters, pins = cell["parameters"], cell["connections"]
    enabled = parameters.get("CEMUX", "1").strip() == "1" or pins.get("CE") == ["1"]
    reset = pins.get("LSR", ["0"]) != ["0"] or parameters.get("GSR") == "ENABLED"
    rises = parameters.get("CLKMUX", "CLK") == "CLK" and pins["CLK"] == [clock]
    return cell["type"] == "TRELLIS_FF" and rises and enabled and not reset and parameters.get("REGSET", "RESET") == "RESET"


# Reads in every cycle through port B, of one clock with port A, and neither port's register is reset.
READS: dict[str, list[object]] = {"WEB": ["0"], "CEA": ["1"], "CEB": ["1"], "RSTA": ["0"], "RSTB": ["0"]}


def absorb(module: dict[str, Any]) -> tuple[int, int]:
    """Moves flip-flops into the memories of a module; how many of each, memories and flip-flops.

    A memory's whole read port is registered or nothing of it: every used bit must go to one such flip-flop and nowhere else.
    """
    cells = module["cells"]
    loads: dict[object, list[tuple[str, str]]] = collections.defaultdict(list)
    for name, cell in cells.items():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input":
                for bit in bits:
                    loads[bit].append((name, pin))
    for port in module["ports"].values():
        for bit in port["bits"]:
            loads[bit].append(("", "port"))
    memories = moved = 0
    for cell in list(cells.values()):
        pins = cell["connections"]
        if cell["type"] != "DP16KD" or any(pins[pin] != level for pin, level in READS.items()) or pins["CLKA"] != pins["CLKB"]:
            continue
        used = [pin for pin in pins if pin.startswith("DO") and loads[pins[pin][0]]]
        behind = [loads[pins[pin][0]] for pin in used]
        clock = pins["CLKB"][0]
        if not used or not all(len(one) == 1 and one[0][1] == "DI" and plain(cells[one[0][0]], clock) for one in behind):
            continue
        for pin, ((flip_flop, _),) in zip(used, behind, strict=True):
            pins[pin] = cells.pop(flip_flop)["connections"]["Q"]
        # Of a port of 36 bits half is at the pins of the other side.
        cell["parameters"] |= {"REGMODE_A": "OUTREG", "REGMODE_B": "OUTREG"}
        pins |= {"OCEA": ["1"], "OCEB": ["1"]}
        memories, moved = memories + 1, moved + len(used)
    return memories, moved


def absorb_all(netlist: pathlib.Path, top: str) -> tuple[int, int]:
    """The same for the top module of a netlist in a file, which is written anew."""
    design = json.loads(netlist.read_text())
    counts = absorb(design["modules"][top])
    netlist.write_text(json.dumps(design))
    return counts
