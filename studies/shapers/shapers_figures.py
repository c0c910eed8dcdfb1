"""The figures: for each network and class of traffic the bound and the greatest observed delay of each combination."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import shapers_mechanisms as mechanisms
import shapers_study as study
from shapers_fields import FIELDS
from tautwire import plots

matplotlib.use("agg")
from matplotlib import pyplot as plt

COLOURS = {"control": "#c0392b", "sensor": "#1f5fa8", "service": "#8e44ad"}


def draw(to: Path) -> None:
    """Draws a figure for each network: delays, and the files that remain."""
    costs = {(row["network"], row["combination"]): float(row["bulk_mbps"]) for row in study.read("costs.csv")}
    for name in FIELDS:
        rows = {(row["combination"], row["role"]): row for row in study.read("rows.csv") if row["network"] == name}
        shown = [one for one in mechanisms.COMBINATIONS if (one, "control") in rows]
        fig, (delays, files) = plt.subplots(
            1, 2, figsize=(12, 0.42 * len(shown) + 1.5), sharey=True, width_ratios=(3, 1), layout="constrained"
        )
        places = range(len(shown))
        for role, colour in COLOURS.items():
            for place, combination in enumerate(shown):
                row = rows[combination, role]
                observed = float(row["observed_us"])
                delays.plot(observed, place, "o", color=colour, mfc="none")
                if row["bound_us"]:
                    bound = float(row["bound_us"])
                    delays.plot([observed, bound], [place, place], "-", color=colour, lw=0.8)
                    delays.plot(bound, place, "|", color=colour, ms=12, mew=2)
            delays.plot([], [], "|", color=colour, ms=12, mew=2, label=f"{role}: bound")
            delays.plot([], [], "o", color=colour, mfc="none", label=f"{role}: greatest observed")
        delays.set(xscale="log", xlabel="delay (us)", yticks=list(places), yticklabels=shown, title=name)
        delays.invert_yaxis()
        delays.legend(frameon=False, fontsize="small")
        files.barh(list(places), [costs[name, one] for one in shown], color="#2e8b57")
        files.set(xlabel="files (Mbit/s)")
        plots.save(fig, to / f"{name}.svg", salt="shapers")
        plt.close(fig)
