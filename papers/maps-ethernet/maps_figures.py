"""Figures 3 to 5: the sender's periods, and latencies by protocol and saturation."""

from __future__ import annotations

import matplotlib
import numpy as np
import tautwire
from maps_cells import fit, one_way, printed
from maps_clocks_and_packets import periods_us
from maps_testbed import PAYLOADS, PROTOCOLS, SATURATIONS, Cell
from numpy.typing import NDArray
from tautwire.claims import Study

matplotlib.use("agg")
from matplotlib import pyplot as plt

COLOURS = {"TTE": "#c0392b", "RC": "#1f5fa8", "BE": "#2e8b57", "UDP": "#8e44ad"}


def draw(study: Study) -> None:
    """Draws all figures."""
    _periods(study)
    _latencies(study)
    _table(study)


def _periods(study: Study) -> None:
    found = {protocol: periods_us(study, Cell(protocol, 256, 0)) / 1000 for protocol in PROTOCOLS}
    fig, (density, box) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    for protocol, values in found.items():
        density.hist(values, bins=60, density=True, histtype="step", color=COLOURS[protocol], label=protocol)
    density.set(title="Fig. 3: transmit periods on the line, 256 B", xlabel="period (ms)", ylabel="density")
    density.legend(frameon=False)
    box.boxplot(list(found.values()), tick_labels=list(found))
    box.set(title="Fig. 4: the same as boxes", ylabel="period (ms)")
    fig.savefig(study.output("figure-3-and-4.svg"))
    plt.close(fig)


def latencies_us(study: Study, cell: Cell) -> NDArray[np.float64]:
    """Latencies of a cell's messages that arrived."""
    messages = tautwire.simulate(fit(study).network(cell), frames=["message"]).messages
    return np.array([one for one in messages.column("delay_ps") if one is not None], dtype=np.float64) / 1e6


def _latencies(study: Study) -> None:
    fig, axes = plt.subplots(3, 1, figsize=(8, 9), layout="constrained")
    for saturation, panel in zip(SATURATIONS, axes, strict=True):
        for protocol in PROTOCOLS:
            values = latencies_us(study, Cell(protocol, 256, saturation, messages=500))
            bins = np.geomspace(20, 40_000, 160)
            panel.hist(values, bins=bins, density=True, histtype="step", color=COLOURS[protocol], label=protocol)
        panel.set(title=f"Fig. 5: latencies at {saturation} %, 256 B", xlabel="us", ylabel="density", xscale="log")
        panel.legend(frameon=False)
    fig.savefig(study.output("figure-5.svg"))
    plt.close(fig)


def _table(study: Study) -> None:
    fig, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
    for protocol, panel in zip(PROTOCOLS, axes.flat, strict=True):
        for saturation, style in zip(SATURATIONS, ("-", "--", ":"), strict=True):
            ours = [one_way(study)[protocol, p, saturation].mean_us for p in PAYLOADS]
            said = [printed(study)[protocol, p, saturation].mean_us for p in PAYLOADS]
            panel.plot(PAYLOADS, ours, style, color="#1f5fa8", label=f"Tautwire, {saturation} %")
            panel.plot(PAYLOADS, said, "o", color="#c0392b", mfc="none", label=f"published, {saturation} %")
        panel.set(title=f"Table 3: {protocol}", xlabel="payload (B)", ylabel="mean latency (us)")
        panel.legend(frameon=False, fontsize=7)
    fig.savefig(study.output("table-3.svg"))
    plt.close(fig)
