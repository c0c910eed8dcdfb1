"""The figures, drawn like the paper's: its points beside ours."""

from __future__ import annotations

import csv

import matplotlib
import numpy as np
from avnu_testbed import LOADS, NAMES, delays, late, printed, printed_late, setup, variation
from tautwire.claims import Study

matplotlib.use("agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

COLORS = {"AVB": "#1f5fa8", "raw": "#c0392b"}


def draw(study: Study) -> None:
    """Draws every figure, and writes what is in them."""
    for name, figure in (("figure1", _latency), ("figure1_late", _late), ("figure2", _variation)):
        fig, axes = plt.subplots(figsize=(8.0, 4.5), layout="constrained")
        figure(study, axes)
        axes.set_xlabel("background (% of 77.7 Mbit/s)")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
        fig.savefig(study.output(f"{name}.svg"))
        plt.close(fig)
    with open(study.output("loads.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            [
                "system",
                "load_pct",
                "min_us",
                "q1_us",
                "median_us",
                "q3_us",
                "max_us",
                "late_pct",
                "variation_ms",
                "ci95_ms",
            ]
        )
        for system in NAMES:
            for load in LOADS:
                times = delays(setup(study, system, load))
                quartiles = np.percentile(times, [0, 25, 50, 75, 100])
                writer.writerow(
                    [
                        system,
                        load,
                        *(f"{value:.1f}" for value in quartiles),
                        f"{late(times):.4f}",
                        *(f"{value:.5f}" for value in variation(times)),
                    ]
                )


def _latency(study: Study, axes: Axes) -> None:
    for shift, system in ((-2, "AVB"), (2, "raw")):
        boxes = []
        for load in LOADS:
            least, q1, median, q3, most = np.percentile(delays(setup(study, system, load)), [0, 25, 50, 75, 100]) / 1000
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


def _late(study: Study, axes: Axes) -> None:
    loads = [load for load in LOADS if load >= 40]
    for reading, style in (("payload", "-o"), ("wire", "--s")):
        ours = [late(delays(setup(study, "raw", load, reading))) for load in loads]
        axes.plot(loads, ours, style, color=COLORS["raw"], label=f"Tautwire, raw Ethernet, Mbit/s of {reading}")
    axes.plot(loads, [printed_late(study, load) for load in loads], "k^", mfc="none", label="published")
    axes.set(title="Frames later than 2 ms", ylabel="share (%)", yscale="log")


def _variation(study: Study, axes: Axes) -> None:
    for system in NAMES:
        found = [variation(delays(setup(study, system, load))) for load in LOADS]
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
