"""ECDFs like the paper's Figures 8 and 9, whole and their tails, with the published means beside ours."""

from __future__ import annotations

import matplotlib
import numpy as np
from harts_experiments import by_hops
from harts_runs import LOADS, loaded
from harts_testbed import table5
from tautwire.claims import Study

matplotlib.use("agg")
from matplotlib import pyplot as plt


def curves(study: Study, protocol: str) -> dict[int, dict[str, np.ndarray]]:
    """Latencies by figure and condition."""
    loads = {f"{payload} B, {percent} %": loaded(study, protocol, payload, percent) for payload, percent in LOADS}
    return {8: {f"{hops} hops": values for hops, values in by_hops(study, protocol).items()}, 9: loads}


def draw(study: Study) -> None:
    """Draws both figures for both protocols."""
    for protocol in ("HaRTES", "AVB"):
        published = {8: table5(study, "I", protocol), 9: table5(study, "II", protocol)}
        for number, conditions in curves(study, protocol).items():
            figure, (whole, tail) = plt.subplots(1, 2, figsize=(9, 4))
            for name, values in conditions.items():
                ordered = np.sort(values)
                share = np.arange(1, len(ordered) + 1) / len(ordered)
                whole.step(ordered, share, where="post", label=name)
                tail.step(ordered, share, where="post")
            for row in published[number]:
                whole.plot(row["mean"], 0.5, "x", color="#c0392b")
            tail.set_ylim(0.95, 1.001)
            whole.set_ylabel("share of requests")
            for axes in (whole, tail):
                axes.set_xlabel("latency of admission (ms)")
            whole.legend(fontsize=7, title="published means: x")
            figure.tight_layout()
            figure.savefig(study.output(f"figure{number}-{protocol}.svg"))
            plt.close(figure)
