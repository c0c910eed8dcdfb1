"""ECDFs like the paper's Figures 8 to 10, whole and their tails, with the published means beside ours."""

from __future__ import annotations

import matplotlib
import numpy as np
from harts_experiments import bridge_times, by_hops, test_times
from harts_runs import LOADS, loaded
from harts_testbed import table5
from tautwire import plots
from tautwire.claims import Study

matplotlib.use("agg")
from matplotlib import pyplot as plt


def curves(study: Study, protocol: str) -> dict[int, dict[str, np.ndarray]]:
    """Latencies by figure and condition; of experiment III the ACMaster's test, and [T-L] at Sw1."""

    def beside(count: int) -> np.ndarray:
        if protocol == "AVB":
            return bridge_times(study, count, "T-L")
        return test_times(study, count)

    loads = {f"{payload} B, {percent} %": loaded(study, protocol, payload, percent) for payload, percent in LOADS}
    streams = {f"{count} streams": beside(count) for count in (1, 3, 5, 7)}
    return {8: {f"{hops} hops": values for hops, values in by_hops(study, protocol).items()}, 9: loads, 10: streams}


def draw(study: Study) -> None:
    """Draws the figures for both protocols."""
    for protocol in ("HaRTES", "AVB"):
        published = {8: table5(study, "I", protocol), 9: table5(study, "II", protocol)}
        published[10] = [row for row in table5(study, "III", protocol) if row["component"] not in ("T", "L")]
        for number, conditions in curves(study, protocol).items():
            figure, (whole, tail) = plt.subplots(1, 2, figsize=(9, 4))
            plots.ecdf(conditions, tail=False, scale=1, ax=whole)
            plots.ecdf(conditions, scale=1, ax=tail).get_legend().remove()
            for row in published[number]:
                whole.plot(row["mean"], 0.5, "x", color="#c0392b")
            for axes in (whole, tail):
                axes.set_xlabel("latency of admission (ms)")
            whole.legend(fontsize=7, title="published means: x")
            figure.tight_layout()
            plots.save(figure, study.output(f"figure{number}-{protocol}.svg"))
            plt.close(figure)
