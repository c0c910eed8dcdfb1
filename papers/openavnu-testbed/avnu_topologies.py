"""What the authors left for later: stars, trees and rings of bridges, with several streams of classes A and B.

Every talker sends a stream of each class to one listener, and beside every talker a station sends background to the
same listener, so that the last link carries all. What all streams have together does not depend on their number. AVB
against the same frames in one FIFO; observed as box plots, with the bound beside each.

A ring is cut at one link by configuration (the active topology of its VLAN): stream reservation and these classes know
no redundant way. Two cuts are compared: one that halves the longest way, and one that makes a line of the ring.
"""

from __future__ import annotations

import csv
import itertools
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
import tautwire
from avnu_testbed import DATA, Times
from tautwire.claims import Study

matplotlib.use("agg")
from matplotlib import pyplot as plt

#: Percent of the background: of 48 Mbit/s of the wire; streams take 44.
LOADS = (0, 50, 100)
SYSTEMS = ("AVB", "raw")
CLASSES = "AB"
MILLISECONDS = 2000
#: Microseconds between frames of all streams of a class together.
PERIODS = {"A": 125, "B": 250}
LIMITS_MS = {"A": 2, "B": 50}
FIELDS = ("min_us", "q1_us", "median_us", "q3_us", "max_us")


@dataclass(frozen=True)
class Topology:
    """Bridges, links between them, and where stations are.

    Parameters
    ----------
    bridges
        Their names.
    trunks
        Links between bridges.
    talkers
        Bridges that talkers are at, one each.
    listener
        The bridge that the listener is at.
    cut
        A trunk that no frame takes.
    """

    bridges: tuple[str, ...]
    trunks: tuple[tuple[str, str], ...]
    talkers: tuple[str, ...]
    listener: str
    cut: tuple[str, str] | None = None


def star(talkers: int = 4) -> Topology:
    """One bridge."""
    return Topology(("s0",), (), ("s0",) * talkers, "s0")


def line(bridges: int = 5) -> Topology:
    """Bridges in a row, a talker at each but the listener's."""
    names = tuple(f"s{number}" for number in range(bridges))
    return Topology(names, tuple(itertools.pairwise(names)), names[:-1], names[-1])


def tree() -> Topology:
    """A root, two bridges below it, two below each; talkers at the leaves, the listener at the root."""
    trunks = (("s0", "s1"), ("s0", "s2"), ("s1", "s3"), ("s1", "s4"), ("s2", "s5"), ("s2", "s6"))
    return Topology(tuple(f"s{number}" for number in range(7)), trunks, ("s3", "s4", "s5", "s6"), "s0")


def ring(cut: tuple[str, str]) -> Topology:
    """Five bridges, the listener at the first, a talker at each other one."""
    names = tuple(f"s{number}" for number in range(5))
    return Topology(names, (*itertools.pairwise(names), ("s4", "s0")), names[1:], "s0", cut)


TOPOLOGIES = {
    "star": star(),
    "line of five": line(),
    "tree of three levels": tree(),
    "ring, cut far from the listener": ring(("s2", "s3")),
    "ring, cut beside the listener": ring(("s4", "s0")),
}
#: The star with so many talkers, each with a stream of each class.
TALKERS = (1, 2, 4, 8)


def interval(topology: Topology, name: str, talker: int) -> int:
    """Microseconds between frames of a stream: a little different of each, so that all phases meet."""
    return PERIODS[name] * len(topology.talkers) + talker


def network(topology: Topology, system: str, load: int) -> tautwire.Network:
    """The description, read."""
    number = len(topology.talkers)
    nodes = "".join(f"  {bridge}: {{type: bridge}}\n" for bridge in topology.bridges)
    links = [*topology.trunks, ("listener", topology.listener)]
    for talker, bridge in enumerate(topology.talkers):
        nodes += f"  t{talker}: {{type: end-station}}\n  x{talker}: {{type: end-station}}\n"
        links += [(f"t{talker}", bridge), (f"x{talker}", bridge)]
    named = "".join(f"  - {{name: {one}-{other}, between: [{one}, {other}]}}\n" for one, other in links)
    active = ", ".join(f"{one}-{other}" for one, other in links if (one, other) != topology.cut)
    streams = ""
    for talker in range(number):
        for name, priority in (("A", 5), ("B", 4)):
            streams += (
                f"  - {{name: {name}{talker}, talker: t{talker}, listeners: listener, "
                f"priority: {priority if system == 'AVB' else 0}, frame: 438 B, deadline: {LIMITS_MS[name]} ms, "
                f"traffic: {{type: periodic, interval: {interval(topology, name, talker)} us}}}}\n"
            )
        if load:
            # Four frames a millisecond in all at full load, in bursts of up to four.
            every = round(1000 * number / 4 * 100 / load) + 3 + talker
            burst = max(1, 4 // number)
            streams += (
                f"  - {{name: x{talker}, talker: x{talker}, listeners: listener, priority: 0, payload: {DATA} B, "
                f"traffic: {{type: periodic, interval: {every * burst} us, burst: {burst}}}}}\n"
            )
    shaped = (
        ""
        if system == "raw"
        else (
            "  classes:\n    5: {transmission-selection: credit-based, idle-slope: 40 Mbit/s}\n"
            "    4: {transmission-selection: credit-based, idle-slope: 20 Mbit/s}\n"
        )
    )
    return tautwire.load_text(f"""name: topologies
network-control: none
defaults:
  rate: 100 Mbit/s
  device: store-and-forward
  traffic-class-table: identity
{shaped}nodes:
  listener: {{type: end-station}}
{nodes}links:
{named}vlans:
  1: {{active-topology: [{active}], tagged: all}}
streams:
{streams}run: {{duration: {MILLISECONDS} ms}}
""")


def delays(run: tautwire.Observation, topology: Topology, name: str) -> Times:
    """Of all frames of a class, from application to the last bit at the listener, in microseconds."""
    frames = run.frames
    which = np.array(frames.column("stream"))
    number = np.array(frames.column("number"), dtype=np.int64)
    hop = np.array(frames.column("hop"), dtype=np.int64)
    received = np.array(frames.column("received_ps"), dtype=np.float64) / 1e6
    found = []
    for talker in range(len(topology.talkers)):
        mine = which == f"{name}{talker}"
        last = mine & (hop == hop[mine].max())
        found.append(received[last] - number[last] * interval(topology, name, talker))
    return np.concatenate(found)


def measure(topology: Topology, system: str, load: int) -> list[dict[str, Any]]:
    """A box for each class, with the greatest bound of its streams."""
    described = network(topology, system, load)
    names = [f"{name}{talker}" for name in CLASSES for talker in range(len(topology.talkers))]
    run, proven = tautwire.simulate(described, frames=names), tautwire.bounds(described)
    found = []
    for name in CLASSES:
        box = np.percentile(delays(run, topology, name), [0, 25, 50, 75, 100])
        bounds = [proven.delay_max_ps(f"{name}{talker}") for talker in range(len(topology.talkers))]
        assert all(bound is not None for bound in bounds)
        row: dict[str, Any] = {"system": system, "load_pct": load, "class": name, "streams": len(bounds)}
        row |= {field: round(float(value), 1) for field, value in zip(FIELDS, box, strict=True)}
        found.append(row | {"bound_us": round(max(bound for bound in bounds if bound is not None) / 1e6, 1)})
    return found


def rows() -> list[dict[str, Any]]:
    """Every topology, system, load and class."""
    return [
        {"topology": name} | row
        for name, topology in TOPOLOGIES.items()
        for system in SYSTEMS
        for load in LOADS
        for row in measure(topology, system, load)
    ]


def rows_by_number() -> list[dict[str, Any]]:
    """The star at full load with the same traffic of one to eight streams of each class."""
    return [
        {"topology": "star"} | row
        for talkers in TALKERS
        for system in SYSTEMS
        for row in measure(star(talkers), system, 100)
    ]


def _write(study: Study, name: str, found: list[dict[str, Any]]) -> None:
    with open(study.output(name), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


STYLES = (("AVB", "A", "#1f5fa8"), ("AVB", "B", "#5fa81f"), ("raw", "A", "#c0392b"), ("raw", "B", "#e59866"))


def _draw(study: Study, found: list[dict[str, Any]]) -> None:
    fig, panels = plt.subplots(1, len(TOPOLOGIES), figsize=(16.0, 5.0), sharey=True, layout="constrained")
    for axes, topology in zip(panels, TOPOLOGIES, strict=True):
        for place, (system, name, color) in enumerate(STYLES):
            mine = [row for row in found if (row["topology"], row["system"], row["class"]) == (topology, system, name)]
            positions = [row["load_pct"] + 9 * place - 13 for row in mine]
            style = {"color": color}
            labels = ("whislo", "q1", "med", "q3", "whishi")
            axes.bxp(
                [{label: row[field] / 1000 for label, field in zip(labels, FIELDS, strict=True)} for row in mine],
                positions=positions,
                widths=7,
                showfliers=False,
                manage_ticks=False,
                boxprops=style,
                medianprops=style,
                whiskerprops=style,
                capprops=style,
            )
            axes.plot(positions, [row["bound_us"] / 1000 for row in mine], "_", ms=9, mew=2, color=color)
            axes.plot([], [], color=color, label=f"{'AVB' if system == 'AVB' else 'one FIFO'}, class {name}")
        axes.axhline(2, color="red", lw=1)
        axes.set(title=topology, yscale="log", xticks=list(LOADS))
        axes.set_xlabel("background (% of 48 Mbit/s)")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("latency (ms); dash: bound; red: limit of class A")
    panels[0].legend(frameon=False, fontsize=8)
    fig.savefig(study.output("topologies.svg"))
    plt.close(fig)


def write(study: Study) -> None:
    """Writes ``topologies.csv``, ``streams.csv`` and the box plots."""
    found = study.once("topologies", rows)
    _write(study, "topologies.csv", found)
    _write(study, "streams.csv", study.once("streams", rows_by_number))
    _draw(study, found)
