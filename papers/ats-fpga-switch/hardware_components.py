"""A frame's way through the switch of ``hdl/`` by component, beside Tables 2 to 4, and its resources beside Table 5."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components import cycles
from tautwire.claims import Study

TOOL = Path(__file__).resolve().parents[2] / "hdl" / "device_model.py"
CYCLE_NS = 8
#: What two PHYs add to the figures of the RTL.
PHYS_NS = 550
#: Payloads whose rows are printed; the file has all nine.
SHOWN = (64, 1500)
#: Latency of a frame alone of the device model, and its bound, in ns: of payload, class and ProcessingDelayMax.
Model = Callable[[int, int, int], tuple[float, float]]
HEADING = ["components (ns)", "payload (B)", "component", "published", "RTL of hdl/", "its model", "its bound"]


@dataclass(frozen=True)
class Table:
    """A published table, the kind of frame of the RTL that answers it, its class and ProcessingDelayMax here."""

    name: str
    title: str
    kind: str
    traffic_class: int
    pmd_ns: int


TABLES = (
    Table("table2_ats_pmd0", "Table 2, ATS without ProcessingDelayMax", "ATS, no delay", 7, 0),
    Table("table3_strict_priority", "Table 3, strict priority", "strict priority", 5, 0),
    Table("table4_ats_pmd50", "Table 4, ATS with that of delivery", "ATS", 7, 500),
)
#: Components of the published switch, and what does their work here.
COMPONENTS = (
    ("line", "Eth_Ctrl, Pre-Sw FIFO; here the frame on the line", ("eth_ctrl", "pre_sw_fifo")),
    ("arrival", "Set A.T.", ("set_at",)),
    ("engine", "Calc. E.T.; here the engine", ("calc_et",)),
    ("queue", "FDB; here buffer, dispatch, into the queue", ("fdb",)),
    ("wait", "of a ProcessingDelayMax what the two above leave", ()),
    ("scan", "ATS Queue, E.T. Gate, FIFO; here scan and start", ("queue", "fifo")),
)


def line_ns(payload: int) -> float:
    """Preamble, header with tag, payload and FCS of the hardware's frames at 1 Gbit/s."""
    return 8 * (8 + 18 + payload + 4)


def way(stages: dict[str, Any], table: Table, payload: int) -> dict[str, tuple[float, float]]:
    """Mean and most of the components here, in ns; the most of engine and queue together stands at the queue."""
    engine = stages["queue_ats"][1] - stages["queue"][1] if table.traffic_class == 7 else 0
    queue = stages["queue"][1]
    found = {
        "line": (line_ns(payload), line_ns(payload)),
        "arrival": (stages["arrival"], stages["arrival"]),
        "queue": (queue, stages["queue_max"]),
        "scan": ((stages["scan_min"] + stages["scan_max"]) / 2, stages["scan_max"]),
    }
    if engine:
        found["engine"] = (engine, 0)
    if table.pmd_ns:
        found["wait"] = (table.pmd_ns - engine - queue, table.pmd_ns - stages["queue_max"])
    return found


def rows(study: Study, model: Model) -> list[list[str]]:
    """Means over the phases of the RTL, measured anew; the device model's stages and what its runs take; its bound."""
    # In a process of its own: the benches of hdl/ have modules of the same names as this study.
    told = subprocess.run([sys.executable, str(TOOL), "--json"], check=True, capture_output=True, text=True)
    stages = json.loads(told.stdout)
    found = [HEADING]
    for table in TABLES:
        for payload, printed in cycles(study, table.name).items():
            ours = way(stages, table, payload)
            named = 0
            for key, what, names in COMPONENTS:
                published = CYCLE_NS * sum(printed[name] for name in names)
                named += published
                mean, most = ours.get(key, (0.0, 0.0))
                if not (published or mean):
                    continue
                cells = [f"{one:.0f}" if one else "" for one in (published, mean, mean, most)]
                found.append([table.title, str(payload), what, *cells])
            rest = [printed["total_ns"] - named, PHYS_NS, PHYS_NS, PHYS_NS]
            found.append([table.title, str(payload), "not named; here two PHYs", *(f"{one:.0f}" for one in rest)])
            # Each measured for itself, not summed up: of the RTL, of the model in a run, and its bound.
            rtl = stages["totals"][table.kind][str(payload)] + PHYS_NS
            latency, bound = model(payload, table.traffic_class, table.pmd_ns)
            all_of_it = [printed["total_ns"], rtl, latency, bound]
            found.append([table.title, str(payload), "all", *(f"{one:.0f}" for one in all_of_it)])
    return found


#: Columns of Table 5, and the modules of hdl/ that do their work, with how often the switch has them.
MODULES = {
    "MAC": (("gmii_rx", 4), ("gmii_tx", 4)),
    "FIFO": (("packet_buffer", 1), ("ingress_port_alone", 4)),
    "Scheduler": (("ats_engine", 1), ("stream_table", 1), ("stream_filter", 1)),
    "FDB Switch": (("exact_table", 1), ("vlan_table", 1), ("frame_dispatch", 1), ("cut_through", 1)),
    "Transmission Selection": (("egress_port", 4),),
    "Clock Conversion": (("rgmii_port", 4),),
    "Others": (("switch_registers", 1), ("adjustable_clock", 1)),
}
RESOURCES = {"LUTs": "lut", "FFs": "ff", "LUTRAMs": "lutram", "BRAMs": "bram36"}


def of_module(figures: dict[str, Any], module: str, resource: str) -> float:
    """A figure of a module alone; reception is what its MAC leaves of it."""
    if module == "ingress_port_alone":
        return float(figures[f"ingress_port_{resource}"] - figures[f"gmii_rx_{resource}"])
    return float(figures[f"{module}_{resource}"])


#: Schedulers of the engine, and the name of its figures; 512 are 16 for each of four ports and eight priorities.
ENGINES = {64: "ats_engine_64", 512: "ats_engine_512", 4096: "ats_engine", 16384: "ats_engine_16384"}


def schedulers(figures: dict[str, Any]) -> list[list[str]]:
    """What the one engine of our switch takes with other numbers of schedulers, beside ATS-39."""
    table = [["ATS schedulers of the engine", "BRAM36", "LUTs"]]
    for count, name in ENGINES.items():
        table.append([str(count), f"{figures[f'{name}_bram36']:g}", f"{figures[f'{name}_lut']:g}"])
    return table


def resources(study: Study, figures: dict[str, Any]) -> list[list[str]]:
    """Table 5 as published, placed, and as Yosys counts the modules of the full build; its total is of all at once."""
    table = [["resources", *MODULES, "Total"]]
    for one in study.table("table5_resources"):
        if name := RESOURCES.get(one["resource"]):
            table.append([f"{one['resource']}, published", *(one[column] for column in MODULES), one["Total"]])
            ours = [sum(count * of_module(figures, part, name) for part, count in parts) for parts in MODULES.values()]
            whole = f"{figures[f'full_{name}']:g}"
            table.append([f"{one['resource']}, full build", *(f"{cell:g}" for cell in ours), whole])
            table.append([f"{one['resource']}, small build", *[""] * len(MODULES), f"{figures[f'small_{name}']:g}"])
    return table
