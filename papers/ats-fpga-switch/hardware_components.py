"""A frame's way through the RTL of ``hdl/`` by component, beside Table 2."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from components import cycles
from tautwire.claims import Study

TOOL = Path(__file__).resolve().parents[2] / "hdl" / "device_model.py"
PAYLOADS = (64, 1500)
CYCLE_NS = 8
#: What two PHYs add to the figures of the RTL.
PHYS_NS = 550


def rows(study: Study) -> list[list[str]]:
    """In ns, of ATS with a ProcessingDelayMax of zero; means over the phases of the RTL, measured anew."""
    # In a process of its own: the benches of hdl/ have modules of the same names as this study.
    told = subprocess.run([sys.executable, str(TOOL), "--json"], check=True, capture_output=True, text=True)
    stages = json.loads(told.stdout)
    queue, queue_ats = stages["queue"][1], stages["queue_ats"][1]
    scan = (stages["scan_min"] + stages["scan_max"]) / 2
    ways: list[tuple[str, tuple[str, ...], Callable[[int], float]]] = [
        ("Eth_Ctrl, Pre-Sw FIFO; here the frame on the line", ("eth_ctrl", "pre_sw_fifo"), line_ns),
        ("Set A.T.", ("set_at",), lambda _: stages["arrival"]),
        ("Calc. E.T.; here the engine", ("calc_et",), lambda _: queue_ats - queue),
        ("FDB; here buffer, dispatch, into the queue", ("fdb",), lambda _: queue),
        ("ATS Queue, E.T. Gate, FIFO; here scan and start", ("queue", "fifo"), lambda _: scan),
    ]
    printed = cycles(study, "table2_ats_pmd0")
    table = [["ATS, by component (ns)", *(f"{who} {size} B" for who in ("published", "RTL") for size in PAYLOADS)]]
    named = [0.0] * 4
    for what, names, ours in ways:
        cells = [CYCLE_NS * sum(printed[size][name] for name in names) for size in PAYLOADS]
        cells = [*cells, *(ours(size) for size in PAYLOADS)]
        named = [total + cell for total, cell in zip(named, cells, strict=True)]
        table.append([what, *(f"{cell:.0f}" for cell in cells)])
    unnamed = [*(printed[size]["total_ns"] - named[k] for k, size in enumerate(PAYLOADS)), PHYS_NS, PHYS_NS]
    table.append(["not named; here two PHYs", *(f"{cell:.0f}" for cell in unnamed)])
    table.append(["all", *(f"{total + one:.0f}" for total, one in zip(named, unnamed, strict=True))])
    return table


def line_ns(payload: int) -> float:
    """Preamble, header with tag, payload and FCS of the hardware's frames at 1 Gbit/s."""
    return 8 * (8 + 18 + payload + 4)
