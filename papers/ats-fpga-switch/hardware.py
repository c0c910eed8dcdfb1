"""The switch of ``hdl/`` beside the published one: latency, model and bound of a frame alone, and what is told of all.

The RTL's figures are those of ``hdl.json`` at the root, made by ``make hdl-synth`` and held against the RTL by tests.
They contain 0.55 us for two PHYs, as its device models do.
A frame's way and the resources by component: ``hardware_components.py``; the experiments: ``hardware_experiments.py``.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hardware_components
import hardware_experiments
import hardware_features
import tautwire
from measure import passage
from tautwire import Periodic, Shaper
from tautwire.claims import Study
from testbed import FCS

FIGURES = Path(__file__).resolve().parents[2] / "hdl.json"
#: Tagged frames of the hardware's tests: header with tag 18 B, FCS 4 B.
HEADER = 18
#: ProcessingDelayMax of the device models as they are.
PMD_NS = 500
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


def network(payload: int, traffic_class: int, device: str, pmd_ns: int = PMD_NS) -> tautwire.Network:
    """One stream through a device model of the switch, alone."""
    tagged, run = {1: {"tagged": "all"}}, {"duration": "1 ms", "seed": 1}
    found = tautwire.Network("hardware", network_control="none", vlans=tagged, run=run)
    shaping: dict[str, Any] = {}
    if traffic_class == 7:
        shaping["shaper"] = Shaper("500 Mbit/s", "4000 B")
        if pmd_ns != PMD_NS:
            settings = {"based_on": device, "ats": {"processing_delay_max": f"{pmd_ns} ns"}}
            found.settings |= {"devices": {"mine": settings}}
            device = "mine"
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


def run_and_bound_ns(payload: int, traffic_class: int, device: str, pmd_ns: int = PMD_NS) -> tuple[Any, float]:
    """Of the device model alone: latencies of the frames of a run, and the bound of latency."""
    described = network(payload, traffic_class, device, pmd_ns)
    latency = passage(tautwire.simulate(described, frames=True), "probe").latency
    bound = tautwire.bounds(described).delay_max_ps("probe")
    if bound is None:
        raise ValueError(f"no bound of {payload} B in {device}")
    # From the talker's first bit to the last bit at the listener: less the last transmission.
    return latency, bound / 1000 - 8 * (payload + HEADER + FCS + 8)


def rows(study: Study) -> list[dict[str, Any]]:
    """Paper, RTL, and of the device model the run and the bound, in us."""
    measured, found = figures(), []
    for what, table, payload, traffic_class, name in ROWS:
        printed = {int(row["payload_bytes"]): int(row["total_ns"]) for row in study.table(table)}
        paper_us = printed[payload] / 1000
        row: dict[str, Any] = {"what": what, "payload": payload, "paper": paper_us, "rtl": measured[name]}
        device = "tautwire-switch-cut-through" if "cut-through" in what else "tautwire-switch"
        ran, bound = run_and_bound_ns(payload, traffic_class, device)
        row |= {"model": float(max(ran)) / 1000, "bound": bound / 1000}
        found.append(row)
    return found


def tell(study: Study) -> None:
    """Latency, model and bound of the switch of hdl/, its resources beside Table 5, and how far its features are."""
    keys = ("paper", "rtl", "model", "bound")
    latency: list[list[str]] = [["latency (us)", "payload (B)", "published", "RTL of hdl/", "its model", "its bound"]]
    for row in rows(study):
        cells = [f"{row[key]:.3f}" if row.get(key) is not None else "" for key in keys]
        latency.append([row["what"], str(row["payload"]), *cells])
    measured = figures()

    def alone(payload: int, traffic_class: int, pmd_ns: int) -> tuple[float, float]:
        ran, bound = run_and_bound_ns(payload, traffic_class, "tautwire-switch", pmd_ns)
        return float(ran.mean()), bound

    write(study, "hardware.csv", latency)
    write(study, "resources.csv", hardware_components.resources(study, measured))
    write(study, "features.csv", hardware_features.rows())
    write(study, "schedulers.csv", hardware_components.schedulers(measured))
    sizes = [str(size) for size in hardware_components.SHOWN]
    components = hardware_components.rows(study, alone)
    write(study, "hardware-components.csv", components, lambda line: line is components[0] or line[1] in sizes)


def tell_experiments(study: Study) -> None:
    """The experiments of V-C to VI-D on the RTL of hdl/ (hardware-experiments.csv)."""
    write(study, "hardware-experiments.csv", hardware_experiments.rows(study))


def write(
    study: Study, name: str, table: list[list[str]], shown: Callable[[list[str]], bool] = lambda line: True
) -> None:
    """Writes a table, and prints the lines of it that are to be shown."""
    with open(study.output(name), "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
    lines = [line for line in table if shown(line)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    print()
