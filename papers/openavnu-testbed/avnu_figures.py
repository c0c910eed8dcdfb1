"""The figures, drawn like the paper's: its points beside ours."""

from __future__ import annotations

import csv

import matplotlib
import numpy as np
from avnu_testbed import LOADS, NAMES, READINGS, delays, late, printed, printed_late, setup, variation
from tautwire.claims import Study

matplotlib.use("agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

QUARTILES = (0, 25, 50, 75, 100)
COLORS = {"AVB": "#1f5fa8", "raw": "#c0392b"}


def draw(study: Study) -> None:
    """Draws every figure, and writes what is in them; those of the wire's rate beside those of the payload's."""
    figures = [("figure1", _latency), ("figure2", _variation)]
    drawn = [(f"{name}{'' if one == 'payload' else '_wire'}", one, how) for name, how in figures for one in READINGS]
    for name, reading, figure in [*drawn, ("figure1_late", "payload", _late)]:
        fig, axes = plt.subplots(figsize=(8.0, 4.5), layout="constrained")
        figure(study, axes, reading)
        of = "" if name == "figure1_late" else f" of {reading}"
        axes.set_xlabel(f"background (% of 77.7 Mbit/s{of})")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
        fig.savefig(study.output(f"{name}.svg"))
        plt.close(fig)
    rows = loads(study)
    with open(study.output("loads.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def loads(study: Study) -> list[dict[str, str]]:
    """Latencies, shares above 2 ms and delay variation with half its 95 % confidence interval, by both readings."""
    rows = []
    for reading in READINGS:
        for system in NAMES:
            for load in LOADS:
                times = delays(setup(study, system, load, reading))
                least, q1, median, q3, most = (f"{value:.1f}" for value in np.percentile(times, QUARTILES))
                mean, half = variation(times)
                row = {"Mbit/s of": reading, "system": NAMES[system], "load_pct": str(load)}
                row |= {"min_us": least, "q1_us": q1, "median_us": median, "q3_us": q3, "max_us": most}
                row |= {"late_pct": f"{late(times):.4f}", "variation_ms": f"{mean:.5f}", "ci95_ms": f"{half:.5f}"}
                rows.append(row)
    return rows


def markdown(study: Study) -> list[str]:
    """By load, in README: median and greatest latency, share above 2 ms, and delay variation."""
    head = ["Mbit/s of", "system", "load", "median, greatest (us)", "above 2 ms", "variation (ms)"]
    lines = [" | ".join(head), "|".join("---" for _ in head)]
    for row in loads(study):
        told = [row["Mbit/s of"], row["system"], f"{row['load_pct']} %", f"{row['median_us']}, {row['max_us']}"]
        told += [f"{row['late_pct']} %", f"{row['variation_ms']} ± {row['ci95_ms']}"]
        lines.append(" | ".join(told))
    return [f"|{line}|" if set(line) <= set("-|") else f"| {line} |" for line in lines]


def _latency(study: Study, axes: Axes, reading: str) -> None:
    for shift, system in ((-2, "AVB"), (2, "raw")):
        boxes = []
        for load in LOADS:
            least, q1, median, q3, most = np.percentile(delays(setup(study, system, load, reading)), QUARTILES) / 1000
            boxes.append({"whislo": least, "q1": q1, "med": median, "q3": q3, "whishi": most, "fliers": []})
        color = COLORS[system]
        style = {"color": color}
        axes.bxp(
            boxes,
            positions=[load + shift for load in LOADS],
            widths=3,
            showfliers=False,
            manage_ticks=False,
            boxprops=style,
            medianprops=style,
            whiskerprops=style,
            capprops=style,
        )
        axes.plot([], [], color=color, label=f"Tautwire, {NAMES[system]}")
    axes.axhline(2, color="red", lw=1, label="limit of class A")
    axes.set(title="Fig. 1: latency (the paper's values are not in its text)", ylabel="latency (ms)", yscale="log")


def _late(study: Study, axes: Axes, _: str) -> None:
    loads = [load for load in LOADS if load >= 40]
    for reading, style in zip(READINGS, ("-o", "--s"), strict=True):
        ours = [late(delays(setup(study, "raw", load, reading))) for load in loads]
        axes.plot(loads, ours, style, color=COLORS["raw"], label=f"Tautwire, raw Ethernet, Mbit/s of {reading}")
    axes.plot(loads, [printed_late(study, load) for load in loads], "k^", mfc="none", label="published")
    axes.set(title="Frames later than 2 ms", ylabel="share (%)", yscale="log")


def _variation(study: Study, axes: Axes, reading: str) -> None:
    for system in NAMES:
        found = [variation(delays(setup(study, system, load, reading))) for load in LOADS]
        axes.errorbar(
            LOADS,
            [mean for mean, _ in found],
            [half for _, half in found],
            color=COLORS[system],
            label=f"Tautwire, {NAMES[system]}",
        )
        for end, marker in (("low", "v"), ("high", "^")):
            value = printed(study, NAMES[system], f"mean_jitter_range_{end}")
            axes.axhline(value, color=COLORS[system], ls=":", lw=1)
            axes.plot([], [], marker, color=COLORS[system], mfc="none", label=f"published {end}: {value} ms")
    axes.set(title="Fig. 2: mean delay variation (of the paper's, the ranges are in its text)", ylabel="ms")
