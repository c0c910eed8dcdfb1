"""What is a hypothesis about AVB's timers, beside what it stands for.

End nodes: 100 ms and a look every 20.07 ms, beside the standard's JoinTime of 200 ms. Bridges: a declaration said again
at once, as the standard's tables and its rule of opportunities have it, beside 100 ms later, as captured ones do.
"""

from __future__ import annotations

from typing import Any

import harts_centralised
import harts_experiments
import harts_mechanisms
import numpy as np
from harts_rows import every_row
from harts_runs import PATHS, f7_values
from harts_testbed import HYPOTHESIS, REPEAT_NS, STANDARD, Varied, table3, table5
from tautwire.claims import Outcome, Study

Table = list[dict[str, str]]
#: What is varied, by the name that tables have for it.
VARIED: dict[str, dict[str, Any]] = {
    "drawn of 200 ms": STANDARD,
    "repeated after 100 ms": {"bridge_repeat_ns": REPEAT_NS},
}
#: Claims whose tests run AVB.
ABOUT_AVB = [
    f"HAR-{number:02d}"
    for number in (1, 2, 3, 5, 7, 8, 10, 11, 13, 14, 15, 16, 19, 20, 21, 22, 24, 26, 27, 28, 31, 32, 33, 34, 35, 36)
] + ["HAR-43", "HAR-45", "HAR-46"]
#: What extremes of AVB are multiples of in the paper, and how near, milliseconds.
GRID_MS, NEAR_MS = 20.07, 1.2


def varied(study: Study, name: str) -> Varied:
    """The same study with something varied; what HaRTES does is the same, and is not run again."""

    def make() -> Varied:
        harts = {key: value for key, value in study.memory.items() if "-HaRTES-" in key}
        return Varied(study.folder, study.out, study.full, harts, VARIED[name])

    return study.once(f"varied-{name}", make)


def means(study: Study) -> Table:
    """Every printed mean of AVB: as the study has it, and with the standard's timers."""
    standard = varied(study, "drawn of 200 ms")
    return [
        {
            "experiment": ours.experiment,
            "condition": ours.condition,
            "of": ours.of,
            "printed": f"{ours.printed:.2f}",
            "100 ms and grid": f"{ours.ours:.2f}",
            "within 20 %": told(ours.near()),
            "drawn of 200 ms": f"{other.ours:.2f}",
            "then within 20 %": told(other.near()),
        }
        for ours, other in zip(every_row(study), every_row(standard), strict=True)
        if ours.protocol == "AVB"
    ]


def told(holds: bool) -> str:
    """As tables have it."""
    return "yes" if holds else "no"


def spreads(study: Study) -> Table:
    """Experiment I: least, greatest and deviation, printed and with both timers."""
    rows = {int(row["hops"]): row for row in table5(study, "I", "AVB")}
    found = []
    for hops, path in PATHS.items():
        told = {"links": str(hops), "printed": three(rows[hops]["min"], rows[hops]["max"], rows[hops]["std_dev"])}
        for name, avb in (("100 ms and grid", HYPOTHESIS), ("drawn of 200 ms", STANDARD)):
            values = f7_values(study, "AVB", path, avb=avb)
            told[name] = three(values.min(), values.max(), values.std(ddof=1))
        found.append(told)
    return found


def three(least: float, most: float, deviation: float) -> str:
    """Least to greatest, and the deviation."""
    return f"{least:.0f} to {most:.0f}, {deviation:.0f}"


def on_the_grid(values: list[float]) -> float:
    """Share of some times that are near a multiple of 20.07 ms."""
    return float(np.mean([abs(value - round(value / GRID_MS) * GRID_MS) <= NEAR_MS for value in values]))


def extremes(study: Study) -> list[float]:
    """Least and greatest latencies of AVB in Table 3 and Experiments I and II; the row without load stands twice."""
    rows = [row for (_, protocol), streams in table3(study).items() if protocol == "AVB" for row in streams.values()]
    rows += [row for experiment in ("I", "II") for row in table5(study, experiment, "AVB")]
    return [row[one] for row in rows for one in ("min", "max")]


def outcomes(study: Study) -> dict[str, dict[str, Outcome]]:
    """Of every claim about AVB: what is found as the study is, and with each variation."""

    def make() -> dict[str, dict[str, Outcome]]:
        modules = (harts_centralised, harts_experiments, harts_mechanisms)
        checks = {getattr(one, "claim_id", ""): one for module in modules for one in vars(module).values()}
        studies = {"": study, **{name: varied(study, name) for name in VARIED}}
        return {id: {name: checks[id](of) for name, of in studies.items()} for id in ABOUT_AVB}

    return study.once("timers-outcomes", make)


def claims(study: Study) -> Table:
    """Claims that turn out otherwise with a variation."""
    return [
        {
            "claim": id,
            "varied": name,
            "as the study is": f"{found[''].verdict.value}: {found[''].ours}",
            "with it": f"{other.verdict.value}: {other.ours}",
        }
        for name in VARIED
        for id, found in outcomes(study).items()
        if (other := found[name]).verdict is not found[""].verdict
    ]


def markdown(rows: Table) -> list[str]:
    """A table as README has it."""
    head = [" | ".join(rows[0]), "|".join("---" for _ in rows[0])]
    lines = [*head, *(" | ".join(row.values()) for row in rows)]
    return [f"|{line}|" if set(line) <= set("-|") else f"| {line} |" for line in lines]
