"""Figures for papers, drawn by matplotlib: ``pip install 'tautwire[plot]'``.

Each function draws into ``ax``, or into a figure of its own, and returns the axes; what is not set here (titles, sizes,
colours) is set on them. Times are microseconds. :func:`save` writes the same figure as the same octets.

Examples
--------
>>> import tautwire
>>> from tautwire import plots
>>> network = tautwire.Network("pair", run={"duration": "10 ms"})
>>> network.end_station("a")
>>> network.end_station("b")
>>> network.link("a", "b", rate="1 Gbit/s")
>>> network.stream("s", "a", "b", frame="1522 B", traffic=tautwire.Periodic("1 ms"), deadline="50 us")
>>> axes = plots.boxes(tautwire.verify(network))
>>> [label.get_text() for label in axes.get_yticklabels()]
['s']
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tautwire.errors import UnknownNameError
from tautwire.exchange import export
from tautwire.network import Network
from tautwire.results import BoundExplanation, Observation, Results
from tautwire.statistics import Delays, Distribution, Row, Rows, summarise
from tautwire.studies.space import quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["boxes", "ecdf", "gantt", "hops", "load_sweep", "save", "topology"]

#: Picoseconds of a microsecond.
US = 1e6
# The row with the windows of time-triggered links.
PLANNED = "windows"

Values = Distribution | Delays | ArrayLike
# A stream at a listener: its name, its listener, and their parts of the summary.
End = tuple[str, Row, Row]


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes to draw into."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'tautwire[plot]'") from error
    _, made = pyplot.subplots(figsize=size, layout="constrained")
    return made


def save(what: Axes | Figure, path: str | os.PathLike[str], *, salt: str = "tautwire", **settings: Any) -> None:
    """Writes a figure so that the same figure is the same file: without a date, with the same names of its parts.

    Parameters
    ----------
    what
        A figure, or axes of one.
    path
        The file; its ending says whether it is SVG, PDF or PNG.
    salt
        What the names of an SVG's parts are made with: two figures in one page need different ones.
    **settings
        Further arguments of matplotlib's ``savefig``.
    """
    from matplotlib import rc_context
    from matplotlib.axes import Axes

    figure: Any = what.get_figure(root=True) if isinstance(what, Axes) else what
    date = {".svg": "Date", ".pdf": "CreationDate"}.get(os.path.splitext(os.fspath(path))[1].lower())
    if date is not None:
        settings["metadata"] = {date: None} | settings.get("metadata", {})
    with rc_context({"svg.hashsalt": salt}):
        figure.savefig(path, **settings)


def ecdf(
    values: Values | Mapping[str, Values],
    *,
    tail: bool = True,
    lines: Mapping[str, float] | None = None,
    scale: float = US,
    ax: Axes | None = None,
) -> Axes:
    """The share of delays that exceeds a value, its axis logarithmic, so that the tail is seen; or the ECDF.

    Parameters
    ----------
    values
        Delays in picoseconds: a distribution, delays of frames or an array; or several by their labels. Of a histogram
        the greater ends of steps are drawn.
    tail
        Whether the share that exceeds is drawn, or with ``False`` the share that does not.
    lines
        Further values by their labels, drawn upright: a bound, a deadline.
    scale
        What the values are divided by; 1 if they have the unit of the axis.
    ax
        Where to draw.
    """
    axes = _axes(ax, (6.0, 4.0))
    named: Mapping[Any, Values] = values if isinstance(values, Mapping) else {None: values}
    most = 2
    for label, one in named.items():
        seen = _distribution(one)
        if not seen.count:
            raise ValueError(f"there are no values{'' if label is None else f' of `{label}`'}")
        at, shares = seen.tail() if tail else seen.ecdf()
        # Nothing is below the least value, and all of it exceeds that.
        at, shares = np.concatenate([seen.least[:1], at]), np.concatenate([[1.0 if tail else 0.0], shares])
        axes.step(at / scale, shares, where="post", label=label)
        most = max(most, seen.count)
    _upright(axes, {label: value / scale for label, value in (lines or {}).items()})
    if tail:
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(0.5 / most, 1.5)
    axes.set(xlabel="delay (us)", ylabel="share that exceeds" if tail else "share that does not exceed")
    if lines or None not in named:
        axes.legend(frameon=False)
    return axes


def boxes(
    result: Observation, streams: Sequence[str] | None = None, *, log: bool = True, ax: Axes | None = None
) -> Axes:
    """A box for the delays of each stream at each listener: quartiles, whiskers from least to greatest.

    A bar marks the bound, a cross the deadline, where there is one. A frame of the warm-up may be later than the end of
    the whisker.

    Parameters
    ----------
    result
        A verification, or a run.
    streams
        Which streams, in this order; by default all of the description that were observed.
    log
        Whether the axis of time is logarithmic.
    ax
        Where to draw.
    """
    ends = [end for end in _ends(result, streams) if end[2].get("observed", {}).get("count")]
    if not ends:
        raise ValueError("no delays were observed after the warm-up")
    axes = _axes(ax, (7.0, 1.2 + 0.3 * len(ends)))
    stats = []
    for name, _, end in ends:
        seen = result.distribution(name, end["listener"])
        (low, _), (_, high) = seen.quantile_between(0), seen.quantile_between(1)
        q1, med, q3 = (seen.quantile(share) / US for share in (0.25, 0.5, 0.75))
        stats.append({"whislo": low / US, "q1": q1, "med": med, "q3": q3, "whishi": high / US, "fliers": []})
    places = list(range(len(ends)))
    axes.bxp(stats, positions=places, orientation="horizontal", showfliers=False, widths=0.6, manage_ticks=False)
    for label, marker, color, found in (
        ("bound", "|", "#c0392b", [end.get("bound", {}).get("delay_max_ps") for _, _, end in ends]),
        ("deadline", "x", "#1f5fa8", [one.get("deadline_ps") for _, one, _ in ends]),
    ):
        there = [(value / US, place) for place, value in zip(places, found, strict=True) if value is not None]
        if there:
            axes.plot(*zip(*there, strict=True), marker, color=color, ms=10, mew=2, label=label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    names = [name for name, _, _ in ends]
    labels = [name if names.count(name) == 1 else f"{name} at {end['listener']}" for name, _, end in ends]
    axes.set(yticks=places, yticklabels=labels, xlabel="delay (us)")
    axes.set_ylim(len(ends) - 0.5, -0.5)
    if log:
        axes.set_xscale("log")
    return axes


def hops(result: Results, stream: str, *, ax: Axes | None = None) -> Axes:
    """What the bound of a stream is made of: a bar for each hop, stacked of the terms of its explanation.

    A dot marks the greatest delay that a run observed at the hop. Hops of several paths stand side by side.

    Parameters
    ----------
    result
        Bounds or a verification.
    stream
        The stream's name.
    ax
        Where to draw.
    """
    explain = getattr(result, "explain", None)
    if explain is None:
        raise ValueError("a run has no bound: verify the network")
    found: BoundExplanation = explain(stream)
    seen = result.stream(stream)["hops"]
    axes = _axes(ax, (6.0, 4.0))
    places = np.arange(len(found.hops))
    bottom = np.zeros(len(places))
    for term in dict.fromkeys(name for hop in found.hops for name, _ in hop["times_ps"]):
        heights = np.array([sum(ps for name, ps in hop["times_ps"] if name == term) for hop in found.hops]) / US
        axes.bar(places, heights, bottom=bottom, width=0.6, label=term)
        bottom = bottom + heights
    observed = {hop["port"]: hop["observed"]["delay_max_ps"] / US for hop in seen if "observed" in hop}
    dots = [(place, observed[hop["port"]]) for place, hop in enumerate(found.hops) if hop["port"] in observed]
    if dots:
        axes.plot(*zip(*dots, strict=True), "ko", ms=5, label="greatest observed")
    axes.set(xticks=places, xticklabels=[hop["port"] for hop in found.hops], ylabel="bound (us)", title=stream)
    axes.legend(frameon=False)
    return axes


def load_sweep(
    source: Rows,
    x: str,
    y: str,
    by: str | None = None,
    *,
    band: str | None = "interval",
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """A figure of a study over a parameter: a line of means over the seeds, with a band.

    Parameters
    ----------
    source
        A study, a table, a data frame of polars, or rows.
    x
        The parameter: numbers, or quantities with the same unit as ``"100 B"``.
    y
        The figure; those in picoseconds are drawn in microseconds.
    by
        A further column: a line for each of its values.
    band
        ``"interval"``: that of the mean (see :func:`tautwire.statistics.summarise`); ``"range"``: from the least to the
        greatest; None: no band.
    level
        Of the interval.
    ax
        Where to draw.

    Raises
    ------
    ValueError
        There is no such column, or the values of ``x`` have different units.
    """
    ends = {"interval": ("low", "high"), "range": ("least", "greatest"), None: None}
    if band not in ends:
        raise ValueError(f"a band is `interval`, `range` or None, not {band!r}")
    rows = summarise(source, y, (x,) if by is None else (by, x), level=level)
    numbers = {row[x]: quantity(row[x]) for row in rows}
    units = sorted({unit for _, unit, _ in numbers.values()})
    if len(units) > 1:
        raise ValueError(f"`{x}` has several units: {', '.join(units)}")
    scale, label = (US, f"{y.removesuffix('_ps')} (us)") if y.endswith("_ps") else (1.0, y)
    axes = _axes(ax, (6.0, 4.0))
    for value in dict.fromkeys(row[by] for row in rows) if by else (None,):
        own = sorted((row for row in rows if by is None or row[by] == value), key=lambda row: numbers[row[x]][0])
        at = [float(numbers[row[x]][0]) for row in own]
        (line,) = axes.plot(at, [row["mean"] / scale for row in own], ".-", label=None if by is None else str(value))
        if (sides := ends[band]) is not None:
            low, high = ([(row["mean"] if row[side] is None else row[side]) / scale for row in own] for side in sides)
            axes.fill_between(at, low, high, color=line.get_color(), alpha=0.2, lw=0)
    axes.set(xlabel=f"{x} ({units[0]})" if units and units[0] else x, ylabel=label)
    if by is not None:
        axes.legend(frameon=False, title=by)
    return axes


def gantt(
    run: Observation,
    network: Network | None = None,
    *,
    ports: Sequence[str] | None = None,
    start_us: float = 0.0,
    end_us: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Who sends when: a row for each port, its transmissions coloured by stream, and below it the gates of its classes.

    Below a port that sends time-triggered links are their windows, in the colours of the links; below one with an
    elementary cycle of HaRTES a row for each of its windows, where the run noted its cycles. Of a network with TDMA a
    row for each owner has its slots, as the cycles of the run had them.

    Parameters
    ----------
    run
        A run that kept frames.
    network
        Its description, which has gates, windows and slots. Gates, to the nanosecond, and windows of time-triggered
        links are drawn for true clocks.
    ports
        Which ports, as ``"bridge.p1"``; by default all that sent a frame of the streams that were kept.
    start_us, end_us
        The part of the run; to the end of the last transmission by default.
    ax
        Where to draw.

    Raises
    ------
    ValueError
        No frames were kept, or none was sent.
    UnknownNameError
        A port does not send.
    """
    frames = run.frames
    names = ("stream", "hop", "start_ps", "end_ps")
    hop_ports = {one["name"]: [hop["port"] for hop in one["hops"]] for one in run.summary["streams"]}
    sent: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for stream, hop, start, end in zip(*(frames.column(name) for name in names), strict=True):
        bars = sent.setdefault(hop_ports[stream][hop], {}).setdefault(stream, [])
        bars.append((start / US, (end - start) / US))
    if not sent:
        raise ValueError("no frame was sent")
    for port in ports or ():
        if port not in sent:
            raise UnknownNameError(f"no transmission at `{port}`", code="port::unknown", help=f"see {', '.join(sent)}")
    shown = list(ports) if ports is not None else sorted(sent)
    last = max((bar[0] + bar[1] for port in shown for bars in sent[port].values() for bar in bars), default=0.0)
    span = (start_us, last if end_us is None else end_us)
    gates = {} if network is None else _gates(network)
    planned = _planned(run, network, span)
    rows: list[tuple[str, dict[str | None, list[tuple[float, float]]]]] = []
    for port in shown:
        rows.append((port, {name: _within(bars, span) for name, bars in sent[port].items()}))
        rows += [(f"class {number} open", {None: bars}) for number, bars in _windows(gates.get(port), span)]
        rows += planned.get(port, [])
    rows += [(f"slots of {owner}", {None: _within(bars, span)}) for owner, bars in _slots(run, network).items()]
    axes = _axes(ax, (8.0, 1.0 + 0.32 * len(rows)))
    colours = {name: f"C{number % 10}" for number, name in enumerate(hop_ports)}
    labelled = set()
    for place, (title, found) in enumerate(rows):
        for name, bars in found.items():
            if bars:
                label = None if name is None or name in labelled else name
                labelled.add(name)
                colour = colours.get(name, "#bbbbbb") if name is not None else "#bbbbbb"
                # What may be sent is paler than what was.
                alpha = 0.4 if title == PLANNED else None
                axes.broken_barh(bars, (place - 0.4, 0.8), facecolors=colour, alpha=alpha, label=label)
    axes.set(yticks=range(len(rows)), yticklabels=[name for name, _ in rows], xlabel="time (us)", xlim=span)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    if labelled - {None}:
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
    return axes


def topology(result: Results, *, observed: bool | None = None, ax: Axes | None = None) -> Axes:
    """The network, each half of a cable coloured by the share of its line that the node at this end uses.

    Nodes lie so that their distances are like the number of cables between them; a square has several cables.

    Parameters
    ----------
    result
        Results.
    observed
        Whether the share is that of a run, or the sustained one that bounds use; by default that of a run, if there is
        one.
    ax
        Where to draw.
    """
    has_run = "run" in result.summary if observed is None else observed
    places, halves = _map(result.summary["ports"], has_run)
    axes = _axes(ax, (7.0, 5.5))
    from matplotlib.collections import LineCollection

    # The greatest above the others, where several cables join two nodes.
    halves.sort(key=lambda half: half[2])
    ends = [(places[near], (places[near] + places[far]) / 2) for near, far, _ in halves]
    lines = LineCollection(
        ends, array=[share for _, _, share in halves], cmap="viridis_r", clim=(0, 100), lw=3, zorder=1
    )
    axes.add_collection(lines)
    cables = {name: sum(near == name for near, _, _ in halves) for name in places}
    for marker, size, own in (
        ("o", 60, [n for n in places if cables[n] < 2]),
        ("s", 130, [n for n in places if cables[n] > 1]),
    ):
        if own:
            at = np.array([places[name] for name in own])
            axes.scatter(at[:, 0], at[:, 1], size, marker=marker, c="white", edgecolors="black", zorder=2)
    for name, (x, y) in places.items():
        axes.annotate(name, (x, y), (0, 9), textcoords="offset points", ha="center", fontsize="small")
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.margins(0.12)
    axes.set_axis_off()
    axes.figure.colorbar(lines, ax=axes, label=f"{'observed' if has_run else 'sustained'} share of the line (%)")
    return axes


def _distribution(values: Values) -> Distribution:
    if isinstance(values, Distribution):
        return values
    return values.distribution if isinstance(values, Delays) else Distribution.of_values(values)


def _upright(axes: Axes, lines: Mapping[str, float]) -> None:
    for (label, value), style in zip(lines.items(), cycle(("--", ":", "-."))):
        axes.axvline(value, color="#c0392b", ls=style, lw=1, label=label)


def _ends(result: Results, streams: Sequence[str] | None) -> list[End]:
    """Streams at their listeners; by default without those of protocols, which have a colon in their names."""
    if streams is None:
        chosen = [one for one in result.summary["streams"] if ":" not in one["name"]]
    else:
        chosen = [result.stream(name) for name in streams]
    return [(one["name"], one, end) for one in chosen for end in one["listeners"]]


# A list of gates in the commands of tc; times are in nanoseconds.
_TAPRIO = re.compile(r"dev (\S+) parent root .*taprio .*?base-time (-?\d+) cycle-time (\d+) (.*?)(?: clockid.*)?$")
_ENTRY = re.compile(r"sched-entry \S+ ([0-9a-f]+) (\d+)")

# A row of a Gantt chart: its name, and begin and length of its bars by what they are of.
Bars = tuple[str, "dict[str | None, list[tuple[float, float]]]"]

# Base time, cycle and entries (gates as an octet, interval), in microseconds.
GateList = tuple[float, float, list[tuple[int, float]]]


def _gates(network: Network) -> dict[str, GateList]:
    """The gate lists of all ports, by their names in results, as tc would set them."""
    if "gate-parameter-table" not in network.text():
        return {}
    found: dict[str, GateList] = {}
    node = ""
    for line in export(network, "tc").text.splitlines():
        if (begins := re.fullmatch(r"'(.*)'\)", line)) is not None:
            node = begins[1]
        elif (list_ := _TAPRIO.search(line)) is not None:
            entries = [(int(states, 16), int(ns) / 1e3) for states, ns in _ENTRY.findall(list_[4])]
            found[f"{node}.{list_[1]}"] = (int(list_[2]) / 1e3, int(list_[3]) / 1e3, entries)
    return found


def _windows(gates: GateList | None, span: tuple[float, float]) -> list[tuple[int, list[tuple[float, float]]]]:
    """When the gate of each class is open, the highest class first; classes that are always open are left out."""
    if gates is None:
        return []
    base, length, entries = gates
    known = 0
    for states, _ in entries:
        known |= states
    found = []
    for number in range(7, -1, -1):
        bit = 1 << number
        if not known & bit or all(states & bit for states, _ in entries):
            continue
        bars: list[tuple[float, float]] = []
        # Cycles begin at the base time and go on from there; none is before it.
        turn = max(0, int((span[0] - base) // length))
        while (begin := base + turn * length) < span[1]:
            at = begin
            for states, interval in entries:
                until = min(at + interval, begin + length)
                if states & bit:
                    bars.append((at, until - at))
                at = until
            turn += 1
        found.append((number, _within(bars, span)))
    return found


def _planned(run: Observation, network: Network | None, span: tuple[float, float]) -> dict[str, list[Bars]]:
    """The windows of ports: of time-triggered links in network time, of elementary cycles as the run had them."""
    table = None if network is None else network.timetable()
    if table is None or table["kind"] == "tdma":
        return {}
    found: dict[str, list[Bars]] = {}
    starts = _elementary(run) if table["kind"] == "harts" else {}
    for row in table["rows"]:
        if table["kind"] == "harts" and row["name"] not in starts:
            continue
        own: dict[str | None, list[tuple[float, float]]] = {}
        for slot in row["slots"]:
            offset, length, period = (slot[f"{name}_ps"] / US for name in ("offset", "length", "period"))
            if table["kind"] == "harts":
                begins = [start + offset for start in starts[row["name"]]]
            else:
                turns = range(max(0, int((span[0] - offset) // period)), max(0, int((span[1] - offset) // period) + 1))
                begins = [offset + turn * period for turn in turns]
            own.setdefault(slot["label"], []).extend(_within([(begin, length) for begin in begins], span))
        if table["kind"] == "harts":
            found[row["name"]] = [(f"{label} window", {None: bars}) for label, bars in own.items()]
        else:
            found[row["name"]] = [(PLANNED, own)]
    return found


def _elementary(run: Observation) -> dict[str, list[float]]:
    """When the elementary cycles began of which the run noted frames that were kept, by ports, in microseconds."""
    kept = {}
    names = ("stream", "number", "hop", "start_ps")
    hops = {one["name"]: [hop["port"] for hop in one["hops"]] for one in run.summary["streams"]}
    for stream, number, hop, start in zip(*(run.frames.column(name) for name in names), strict=True):
        kept[stream, number, hops[stream][hop]] = start
    found: dict[str, set[float]] = {}
    for one in run.summary.get("harts", {}).get("frames", ()):
        start = kept.get((one["stream"], one["number"], one["port"]))
        if start is not None:
            found.setdefault(one["port"], set()).add((start - one["begin_ps"]) / US)
    return {port: sorted(starts) for port, starts in found.items()}


def _slots(run: Observation, network: Network | None) -> dict[str, list[tuple[float, float]]]:
    """The slots of the cycles of a run with TDMA, by their owners."""
    cycles = run.summary.get("tdma_cycles")
    if cycles is None or network is None:
        return {}
    slots = network.document()["tdma"]["slots"]
    found: dict[str, list[tuple[float, float]]] = {}
    for one in cycles["cycles"]:
        for slot, state in zip(slots, one["slots"], strict=True):
            # A dash is a cycle in which the slot is not used.
            if state != "-":
                offset, length = (_us(slot[name]) for name in ("offset", "length"))
                found.setdefault(slot["owner"], []).append((one["begin_ps"] / US + offset, length))
    return found


def _us(text: str) -> float:
    """A duration of a description in microseconds."""
    number, unit, _ = quantity(text)
    return float(number) * {"ps": 1e-6, "ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}[unit]


def _within(bars: Sequence[tuple[float, float]], span: tuple[float, float]) -> list[tuple[float, float]]:
    """Those that overlap the part that is drawn."""
    return [(at, length) for at, length in bars if at < span[1] and at + length > span[0]]


def _map(ports: Sequence[Row], has_run: bool) -> tuple[dict[str, NDArray[np.float64]], list[tuple[str, str, float]]]:
    """Places of nodes, and for each port its node, the next node, and the share of its line in percent."""
    names = sorted({one["to"] for one in ports}, key=len, reverse=True)
    halves = []
    for one in ports:
        # A name may have a dot: the longest one that fits.
        node = next(name for name in names if one["port"].startswith(f"{name}."))
        if has_run:
            ppm = one.get("observed", {}).get("utilisation_ppm", 0)
        else:
            ppm = sum(part.get("bound", {}).get("utilisation_ppm", 0) for part in one["classes"])
        halves.append((node, one["to"], ppm / 1e4))
    order = list(dict.fromkeys(node for node, _, _ in halves))
    return dict(zip(order, _places(order, [(near, far) for near, far, _ in halves]), strict=True)), halves


def _places(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Places whose distances are like the number of cables between: stress majorisation (Gansner et al. 2004).

    It begins on a circle in the order of the names and takes the same steps each time.
    """
    count = len(names)
    index = {name: number for number, name in enumerate(names)}
    steps = np.full((count, count), np.inf)
    np.fill_diagonal(steps, 0)
    for near, far in edges:
        steps[index[near], index[far]] = steps[index[far], index[near]] = 1
    for middle in range(count):
        steps = np.minimum(steps, steps[:, [middle]] + steps[[middle], :])
    finite = np.isfinite(steps)
    # Parts without a cable between them are side by side.
    steps[~finite] = steps[finite].max(initial=1) + 2
    angles = 2 * np.pi * np.arange(count) / max(count, 1)
    at = np.column_stack([np.cos(angles), np.sin(angles)]) * max(count / 6, 1)
    if count < 2:
        return at
    weights = 1 / np.where(steps > 0, steps, 1) ** 2
    np.fill_diagonal(weights, 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(200):
        apart = np.linalg.norm(at[:, None] - at[None, :], axis=2)
        pull = -weights * steps / np.where(apart > 1e-9, apart, np.inf)
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        at = inverse @ (pull @ at)
    # Rounded, so that the last digits of a machine do not matter.
    return np.asarray(np.round(at, 4))
