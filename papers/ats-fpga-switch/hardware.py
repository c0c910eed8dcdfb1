"""The switch of ``hdl/`` beside the published one: latency, model and bound of a frame alone, and resources (Table 5).

The RTL's figures are those of ``hdl.json`` at the root, made by ``make hdl-synth`` and held against the RTL by tests.
They contain 0.55 us for two PHYs, as its device models do.
A frame's way by component and the experiments: ``hardware_components.py``, ``hardware_experiments.py``.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import hardware_components
import hardware_experiments
import tautwire
from measure import passage
from tautwire import Periodic, Shaper
from tautwire.claims import Study
from testbed import FCS

FIGURES = Path(__file__).resolve().parents[2] / "hdl.json"
#: Tagged frames of the hardware's tests: header with tag 18 B, FCS 4 B.
HEADER = 18
#: What: table, payload of the RTL's frame, class, and its figure in hdl.json.
ROWS = (
    ("ATS, ProcessingDelayMax of delivery", "table4_ats_pmd50", 64, 7, "ats_64B_us"),
    ("ATS, ProcessingDelayMax of delivery", "table4_ats_pmd50", 1500, 7, "ats_1500B_us"),
    ("strict priority, store and forward", "table3_strict_priority", 1500, 5, "sp_store_and_forward_1500B_us"),
    ("strict priority, cut-through", "table3_strict_priority", 1500, 5, "sp_cut_through_1500B_us"),
)


def figures() -> dict[str, Any]:
    """What ``hdl.json`` says."""
    return dict(json.loads(FIGURES.read_text(encoding="utf-8")))


def network(payload: int, traffic_class: int, device: str) -> tautwire.Network:
    """One stream through a device model of the switch, alone."""
    found = tautwire.Network("hardware", network_control="none", run={"duration": "1 ms", "seed": 1})
    shaping: dict[str, Any] = {}
    if traffic_class == 7:
        shaping["shaper"] = Shaper("500 Mbit/s", "4000 B")
    found.end_station("talker")
    found.end_station("listener")
    classes = {7: {"transmission_selection": "ats"}}
    found.bridge("switch", device=device, classes=classes)
    for node in ("talker", "listener"):
        found.link(node, "switch", rate="1 Gbit/s")
    found.stream(
        "probe",
        "talker",
        "listener",
        priority=traffic_class,
        frame=f"{payload + HEADER + FCS} B",
        traffic=Periodic("100 us"),
        **shaping,
    )
    return found


def rows(study: Study) -> list[dict[str, Any]]:
    """Paper, RTL, and of the device model the run and the bound, in us."""
    measured, found = figures(), []
    for what, table, payload, traffic_class, name in ROWS:
        printed = {int(row["payload_bytes"]): int(row["total_ns"]) for row in study.table(table)}
        paper_us = printed[payload] / 1000
        row: dict[str, Any] = {"what": what, "payload": payload, "paper": paper_us, "rtl": measured[name]}
        device = "tautwire-switch-cut-through" if "cut-through" in what else "tautwire-switch"
        described = network(payload, traffic_class, device)
        latency = passage(tautwire.simulate(described, frames=True), "probe").latency
        row["model"] = float(max(latency)) / 1000
        bound = tautwire.bounds(described).delay_max_ps("probe")
        # From the talker's first bit to the last bit at the listener: less the last transmission.
        wire_us = 8 * (payload + HEADER + FCS + 8) / 1000
        row["bound"] = None if bound is None else bound / 1e6 - wire_us
        found.append(row)
    return found


def tell(study: Study) -> None:
    """Prints and writes the columns of the hardware: latency, resources beside Table 5, and the experiments."""
    keys = ("paper", "rtl", "model", "bound")
    latency: list[list[str]] = [["latency (us)", "payload (B)", "published", "RTL of hdl/", "its model", "its bound"]]
    for row in rows(study):
        cells = [f"{row[key]:.3f}" if row.get(key) is not None else "" for key in keys]
        latency.append([row["what"], str(row["payload"]), *cells])
    measured = figures()
    ours = {"LUTs": "lut", "FFs": "ff", "BRAMs": "bram36"}
    resources: list[list[str]] = [["resource", "published, placed", "full build, Yosys", "small build, Yosys"]]
    for one in study.table("table5_resources"):
        if name := ours.get(one["resource"]):
            cells = [f"{measured[f'{build}_{name}']:g}" for build in ("full", "small")]
            resources.append([one["resource"], one["Total"], *cells])
    # What the number of streams costs, as far as the record tells (ATS-39): of Table 5 the scheduler's part.
    scheduler = next(one["Scheduler"] for one in study.table("table5_resources") if one["resource"] == "BRAMs")
    resources.append(["BRAMs of them in the ATS scheduler", scheduler, f"{measured['ats_engine_bram36']:g}", ""])
    tables = {
        "hardware.csv": latency,
        "resources.csv": resources,
        "hardware-components.csv": hardware_components.rows(study),
        "hardware-experiments.csv": hardware_experiments.rows(study),
    }
    for file_name, table in tables.items():
        with open(study.output(file_name), "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(table)
        widths = [max(len(line[k]) for line in table) for k in range(len(table[0]))]
        for line in table:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        print()
