"""The figures, drawn like the paper's: its points (of the tables, else of the prose) beside ours."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from tautwire.claims import Study

matplotlib.use("agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

OURS = {"color": "#1f5fa8", "label": "Tautwire"}
#: Largest standard deviation of a figure and its level, in data/numbers.csv.
PRINTED = {17: ("N084", "N085"), 19: ("N093", "N094"), 20: ("N101", "N102"), 21: ("N107", "N108")}
PAPER = {"color": "#c0392b", "label": "published"}


def tell(study: Study) -> None:
    """Writes the figures of the contention experiments, level by level, with what is printed of them."""
    columns = ("least", "mean", "greatest", "standard deviation")
    keys = ("told_min", "told_mean", "told_max", "told_sd")
    with open(study.output("contention.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["figure", "level (Mbit/s)", *(f"{column} (us)" for column in columns), "published"])
        for figure in (17, 19, 20, 21):
            number, level = PRINTED[figure]
            for row in study.memory[f"contention-{figure}"]:
                said = f"standard deviation {study.number(number)} us" if row["level"] == study.number(level) else ""
                writer.writerow([figure, row["level"], *(f"{row[key] / 1000:.3f}" for key in keys), said])


def draw(study: Study) -> None:
    """Draws every figure."""
    for name, figure in FIGURES.items():
        shape = (8.0, 4.5)
        fig, axes = plt.subplots(figsize=shape, layout="constrained")
        figure(study, axes)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
        fig.savefig(study.output(f"{name}.svg"))
        plt.close(fig)


def _total_latency(study: Study, axes: Axes) -> None:
    rows = study.memory["totals"]
    for table, label, marker in (("table2_ats_pmd0", "PMD 0", "o"), ("table4_ats_pmd50", "PMD 50 us", "s")):
        mine = [row for row in rows if row["table"] == table]
        sizes = [row["payload"] for row in mine]
        axes.plot(sizes, [row["ours_ns"] / 1000 for row in mine], color="#1f5fa8", label=f"Tautwire, {label}")
        paper = [row["paper_ns"] / 1000 for row in mine]
        axes.plot(sizes, paper, marker, color="#c0392b", mfc="none", label=f"published, {label}")
    axes.set(title="Fig. 10: latency of the switch, ATS class", xlabel="payload (B)", ylabel="latency (us)")


def _cards(study: Study, axes: Axes) -> None:
    rows = [row for row in study.memory["plget"] if row["cir_mbps"] == 100]
    sizes = [row["payload"] for row in rows]
    axes.errorbar(
        sizes, [row["mean"] / 1000 for row in rows], yerr=[row["sd"] / 1000 for row in rows], fmt=".-", **OURS
    )
    table = [row for row in study.memory["totals"] if row["table"] == "table4_ats_pmd50"]
    paper = [row["paper_ns"] / 1000 for row in table]
    axes.plot([row["payload"] for row in table], paper, "s", mfc="none", color="#c0392b", label="published (analyser)")
    axes.set(title="Fig. 11: mean latency between cards", xlabel="payload (B)", ylabel="latency (us)")


def _burst_intervals(study: Study, axes: Axes) -> None:
    intervals = study.memory["burst-16"] / 1000
    axes.plot(np.arange(1, len(intervals) + 1), intervals, ".", **OURS)
    axes.plot([1, 16], [12.336, 12.336], color="#c0392b", label="published: 12.336 us, 16 times")
    axes.plot([18, 99], [121.756, 121.756], "--", color="#c0392b", label="published: 121.752 or 121.760 us")
    axes.set(title="Fig. 12: arrival intervals, burst of 16 frames", xlabel="interval", ylabel="us")


def _burst_counts(study: Study, axes: Axes) -> None:
    sizes = [1, 2, 4, 8, 16, 32, 48, 64]
    counts = [int((np.round(study.memory[f"burst-{n}"], 3) == 12_336).sum()) for n in sizes]
    axes.plot(sizes, counts, "o-", **OURS)
    axes.plot([16], [16], "s", mfc="none", **PAPER)
    axes.set(title="Fig. 13: frames of the burst", xlabel="N of CBS = 1522 N", ylabel="intervals of 12.336 us")


def _single_rate(study: Study, axes: Axes) -> None:
    rows = [row for row in study.memory["shaped"] if row["cir_mbps"] >= 100]
    cirs = [row["cir_mbps"] for row in rows]
    axes.plot(cirs, [row["mean"] / 1000 for row in rows], "o", **OURS)
    axes.plot(cirs, [row["theory"] / 1000 for row in rows], color="#c0392b", label="theory, which the paper met")
    axes.set(title="Fig. 14: arrival intervals of one stream", xlabel="CIR (Mbit/s)", ylabel="us")


def _two_rates(study: Study, axes: Axes) -> None:
    found = study.memory["two"]
    for name, mean, label in (("slow", 120.5, "100"), ("fast", 60.3, "200")):
        axes.plot(found[f"{name}_series"] / 1000, ".-", lw=0.6, label=f"Tautwire, CIR {label} Mbit/s")
        axes.axhline(mean, color="#c0392b", ls="--", label=f"published mean {mean} us")
    axes.set(title="Fig. 15: arrival intervals of two streams of one group", xlabel="interval", ylabel="us")


def _arbitration(study: Study, axes: Axes) -> None:
    rows = study.memory["arbitration"]
    rates = [row["offered_mbps"] for row in rows]
    axes.plot(rates, [row["ats_mbps"] for row in rows], "o-", label="Tautwire, class 7")
    axes.plot(rates, [row["other_mbps"] for row in rows], "s-", label="Tautwire, class 5")
    axes.plot(rates, [row["ats_mbps"] + row["other_mbps"] for row in rows], "^-", label="Tautwire, sum")
    axes.axhline(1000, color="#c0392b", ls="--", label="published sum")
    axes.set(title="Fig. 16: arrival rates", xlabel="class 7 sent (Mbit/s)", ylabel="Mbit/s")


def _contention(figure: int, what: str, axis: str, prose: dict[str, float]) -> Callable[[Study, Axes], None]:
    def make(study: Study, axes: Axes) -> None:
        rows: list[dict[str, Any]] = study.memory[f"contention-{figure}"]
        levels = [row["level"] for row in rows]
        for key, marker in (("told_max", "^"), ("told_mean", "o"), ("told_min", "v")):
            label = f"Tautwire, {key.removeprefix('told_')}"
            axes.plot(levels, [row[key] / 1000 for row in rows], marker + "-", color="#1f5fa8", label=label)
        for label, value in prose.items():
            axes.axhline(value, color="#c0392b", ls="--", label=f"published: {label}")
        axes.set(title=f"Fig. {figure}: {what}", xlabel=axis, ylabel="latency (us)")

    return make


def _series(figure: int, experiment: int, what: str) -> Callable[[Study, Axes], None]:
    def make(study: Study, axes: Axes) -> None:
        latency = study.once(f"series-{experiment}", lambda: _run(experiment))["series"]
        axes.plot(latency / 1000, ".", ms=1.5, rasterized=True, **OURS)
        if figure == 18:
            axes.axvline(1500, color="#c0392b", ls="--", label="published: about 1500 frames in conflict")
            axes.axvline(3500, color="#c0392b", ls=":", label="published: then about 2000 without")
        axes.set(title=f"Fig. {figure}: {what}", xlabel="frame", ylabel="latency (us)")

    return make


def _run(experiment: int) -> dict[str, Any]:
    from experiments import contention

    # A draw in which the two streams of Host B meet at the switch, as in Figure 22.
    return contention(experiment, 500, 10_000, seed=7, series=True)


FIGURES: dict[str, Callable[[Study, Axes], None]] = {
    "figure-10": _total_latency,
    "figure-11": _cards,
    "figure-12": _burst_intervals,
    "figure-13": _burst_counts,
    "figure-14": _single_rate,
    "figure-15": _two_rates,
    "figure-16": _arbitration,
    "figure-17": _contention(17, "class 7 against best effort", "best effort (Mbit/s)", {"worst 112 us": 112}),
    "figure-18": _series(18, 17, "every frame against 500 Mbit/s"),
    "figure-19": _contention(19, "against the same class", "CIR of the other (Mbit/s)", {"least + 13 us": 112}),
    "figure-20": _contention(20, "class 7 against class 6 and best effort", "best effort (Mbit/s)", {"+ 13 us": 112}),
    "figure-21": _contention(21, "class 6 against class 7 and best effort", "best effort (Mbit/s)", {"+ 26 us": 125}),
    "figure-22": _series(22, 21, "every frame against 100 and 500 Mbit/s"),
}
