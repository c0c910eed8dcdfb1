"""Figures: what is drawn is what results, frames and studies have, and the same figure is the same file."""

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

import tautwire
from tautwire import plots, statistics

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def verified() -> tautwire.Verification:
    return tautwire.verify(SCENARIOS / "strict-priority.yaml")


@pytest.fixture(scope="module")
def gated() -> tautwire.Network:
    return tautwire.load(SCENARIOS / "scheduled-traffic.yaml")


def bars(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    """Begin and length of the bars of each row of a Gantt chart."""
    names = [label.get_text() for label in axes.get_yticklabels()]
    found: dict[str, list[tuple[float, float]]] = {}
    port = ""
    rows = []
    for name in names:
        port = name if "." in name or name.startswith("slots") else port
        rows.append(name if name == port else f"{port} {name}")
    for collection in axes.collections:
        for path in collection.get_paths():
            box = path.get_extents()
            place = round((box.y0 + box.y1) / 2)
            found.setdefault(rows[place], []).append((round(box.x0, 3), round(box.width, 3)))
    return {name: sorted(one) for name, one in found.items()}


def test_a_tail_falls_from_one_to_nothing_by_the_shares_of_the_values() -> None:
    axes = plots.ecdf({"mine": [3e6, 1e6, 1e6, 2e6]}, lines={"bound": 4e6})
    mine, bound = axes.get_lines()
    assert (mine.get_xdata().tolist(), mine.get_ydata().tolist()) == ([1, 1, 2, 3], [1, 0.5, 0.25, 0])
    assert mine.get_drawstyle() == "steps-post"
    assert list(bound.get_xdata()) == [4, 4]
    assert axes.get_yscale() == "log" and 0 < axes.get_ylim()[0] < 0.25
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["mine", "bound"]
    with pytest.raises(ValueError, match="no values of `none`"):
        plots.ecdf({"none": []})


def test_an_ecdf_is_that_of_the_histogram(verified: tautwire.Verification) -> None:
    name = verified.summary["streams"][0]["name"]
    seen = verified.distribution(name)
    (line,) = plots.ecdf(seen, tail=False).get_lines()
    values, shares = seen.ecdf()
    assert np.allclose(line.get_xdata()[1:], values / 1e6) and np.allclose(line.get_ydata()[1:], shares)
    assert line.get_ydata()[0] == 0 and line.get_ydata()[-1] == 1


def test_boxes_have_the_quartiles_bounds_and_deadlines(verified: tautwire.Verification) -> None:
    axes = plots.boxes(verified)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    ends = [(one, end) for one in verified.summary["streams"] for end in one["listeners"]]
    assert labels == ["control", "video", "log", "alarm at actuator", "alarm at display"]
    by_label = {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}
    assert list(by_label["bound"].get_xdata()) == [end["bound"]["delay_max_ps"] / 1e6 for _, end in ends]
    bounds = by_label["bound"].get_xdata()
    drawn = [line.get_xdata() for line in axes.get_lines() if line.get_label().startswith("_")]
    for place, (one, end) in enumerate(ends):
        # The box, two whiskers, two caps and the median of each, in the order of matplotlib.
        box, low, high, _, _, median = drawn[6 * place : 6 * place + 6]
        assert low[1] == end["observed"]["delay_min_ps"] / 1e6
        assert high[1] == end["observed"]["delay_max_ps"] / 1e6 <= bounds[place]
        assert median[0] == end["observed"]["quantiles"]["delay_p50_ps"] / 1e6
        seen = verified.distribution(one["name"], end["listener"])
        assert (min(box), max(box)) == (seen.quantile(0.25) / 1e6, seen.quantile(0.75) / 1e6)
    stated = [one["deadline_ps"] / 1e6 for one, _ in ends if "deadline_ps" in one]
    assert list(by_label["deadline"].get_xdata()) == stated
    chosen = plots.boxes(verified, [labels[1]], log=False)
    assert len(chosen.get_yticklabels()) == 1 and chosen.get_xscale() == "linear"


def test_a_stack_adds_up_to_the_bound(verified: tautwire.Verification) -> None:
    name = verified.summary["streams"][0]["name"]
    axes = plots.hops(verified, name)
    explained = verified.explain(name).hops
    assert [label.get_text() for label in axes.get_xticklabels()] == [hop["port"] for hop in explained]
    tops = [0.0] * len(explained)
    for container in axes.containers:
        for place, bar in enumerate(container):
            assert bar.get_y() == pytest.approx(tops[place]), "each stands on the one before"
            tops[place] += bar.get_height()
    assert [round(top * 1e6) for top in tops] == [hop["delay_max_ps"] for hop in explained]
    assert sum(round(top * 1e6) for top in tops) == verified.delay_max_ps(name)
    (dots,) = axes.get_lines()
    assert all(seen <= top for seen, top in zip(dots.get_ydata(), tops, strict=True))
    with pytest.raises(ValueError, match="no bound"):
        plots.hops(tautwire.simulate(SCENARIOS / "strict-priority.yaml"), name)


def test_a_sweep_has_the_means_and_intervals_of_its_summary() -> None:
    rows = [
        {
            "size": f"{size} B",
            "seed": seed,
            "shaper": shaper,
            "delay_max_ps": (size * 10 + seed * (size % 7)) * 1_000_000,
        }
        for size in (1000, 200, 600)
        for seed in (1, 2, 3)
        for shaper in ("ats", "cbs")
    ]
    axes = plots.load_sweep(rows, "size", "delay_max_ps", "shaper")
    assert [line.get_label() for line in axes.get_lines()] == ["ats", "cbs"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("size (B)", "delay_max (us)")
    summary = {row["size"]: row for row in statistics.summarise(rows[::2], "delay_max_ps", "size")}
    for line, band in zip(axes.get_lines(), axes.collections, strict=True):
        assert line.get_xdata().tolist() == [200, 600, 1000]
        assert line.get_ydata().tolist() == [summary[f"{size} B"]["mean"] / 1e6 for size in (200, 600, 1000)]
        assert isinstance(band, PolyCollection)
        corners = band.get_paths()[0].vertices
        for size in (200, 600, 1000):
            heights = corners[corners[:, 0] == size][:, 1]
            row = summary[f"{size} B"]
            assert (heights.min(), heights.max()) == pytest.approx((row["low"] / 1e6, row["high"] / 1e6))
    assert len(plots.load_sweep(rows, "size", "delay_max_ps", band=None).collections) == 0
    rows.append({"size": "1 kB", "seed": 1, "shaper": "ats", "delay_max_ps": 1})
    with pytest.raises(ValueError, match="several units: B, kB"):
        plots.load_sweep(rows, "size", "delay_max_ps")
    with pytest.raises(ValueError, match="no column `load`"):
        plots.load_sweep(rows, "load", "delay_max_ps")


def test_a_gantt_chart_has_every_transmission_and_the_windows_of_gates(gated: tautwire.Network) -> None:
    run = tautwire.simulate(gated, frames=["order", "video"], duration="5 ms")
    found = bars(plots.gantt(run, gated, ports=["s1.s2"], end_us=1000))
    hops = {one["name"]: [hop["port"] for hop in one["hops"]] for one in run.summary["streams"]}
    columns = [run.frames.column(name) for name in ("stream", "hop", "start_ps", "end_ps")]
    sent = [
        (round(start / 1e6, 3), round((end - start) / 1e6, 3))
        for stream, hop, start, end in zip(*columns, strict=True)
        if hops[stream][hop] == "s1.s2" and start < 1_000_000_000
    ]
    assert found["s1.s2"] == sorted(sent) and len(sent) > 5
    # As the description lists them, with a cycle of 500 us: 0 and 5 for 35 us, 7 for 50 us, 0 and 5 for 415 us.
    assert found["s1.s2 class 7 open"] == [(35, 50), (535, 50)]
    assert found["s1.s2 class 5 open"] == [(0, 35), (85, 415), (500, 35), (585, 415)]
    orders = [bar for bar in sent if any(bar[0] - cycle >= 35 and sum(bar) - cycle <= 85 for cycle in (0, 500))]
    assert len(orders) == 2, "orders are sent while the gate of class 7 is open"
    with pytest.raises(tautwire.UnknownNameError, match=r"no transmission at `s9\.p1`"):
        plots.gantt(run, gated, ports=["s9.p1"])
    silent = gated.changed({f"streams.{name}.started": False for name in hops})
    with pytest.raises(ValueError, match="no frame was sent"):
        plots.gantt(tautwire.simulate(silent, frames=True, duration="1 ms"))
    without = bars(plots.gantt(run, ports=["s1.s2"], start_us=400, end_us=600))
    assert list(without) == ["s1.s2"]
    assert all(at < 600 and at + length > 400 for at, length in without["s1.s2"])


def test_gates_of_every_scheduled_scenario_are_those_of_its_schedule() -> None:
    schedule, network = tautwire.load(SCENARIOS / "gates-to-be-scheduled.yaml").schedule()
    assert network is not None
    found = plots._gates(network)
    for port in schedule["ports"]:
        _, length, entries = found[port["port"].replace(":", ".")]
        assert length == port["cycle_ps"] / 1e6
        assert entries == [(one["gate_states"], one["time_interval_ps"] / 1e6) for one in port["control_list"]]
    assert len(found) == len(schedule["ports"])


def test_frames_of_tdma_are_sent_in_the_slots_that_are_drawn() -> None:
    network = tautwire.load(SCENARIOS / "tdma.yaml")
    found = bars(plots.gantt(tautwire.simulate(network, frames=["question", "answer", "log"]), network, end_us=20_000))
    for owner, port in (("master", "master.p1"), ("slave-a", "slave-a.p1"), ("slave-c", "slave-c.p1")):
        slots = found[f"slots of {owner}"]
        assert found[port]
        for at, length in found[port]:
            assert any(begin - 1 <= at and at + length <= begin + span + 1 for begin, span in slots), (owner, at)
    assert len(found["slots of master"]) == 2 * len(found["slots of slave-c"])


def test_time_triggered_frames_are_sent_in_the_windows_that_are_drawn() -> None:
    network = tautwire.load(SCENARIOS / "time-triggered.yaml")
    links = {one["name"] for one in network.document()["streams"] if "time-triggered" in one}
    run = tautwire.simulate(network, frames=sorted(links), duration="20 ms")
    axes = plots.gantt(run, network, ports=["switch-a.p4"], start_us=4_000, end_us=8_000)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["switch-a.p4", "windows"]
    found = bars(axes)
    sent, planned = found["switch-a.p4"], found["switch-a.p4 windows"]
    # Nodes' times are within the precision of 1 us of each other.
    for at, length in sent:
        assert any(begin - 1 <= at and at + length <= begin + span + 1 for begin, span in planned), (at, length)
    table = network.timetable()
    assert table is not None and table["kind"] == "time-triggered"
    [row] = [row for row in table["rows"] if row["name"] == "switch-a.p4"]
    assert len(planned) == sum(4_000_000_000 // slot["period_ps"] for slot in row["slots"])
    # All that left the port meanwhile is drawn.
    hops = {one["name"]: [hop["port"] for hop in one["hops"]] for one in run.summary["streams"]}
    columns = (run.frames.column(name) for name in ("stream", "hop", "start_ps"))
    left = [start for stream, hop, start in zip(*columns, strict=True) if hops[stream][hop] == "switch-a.p4"]
    assert len(sent) == len([start for start in left if 4_000_000_000 <= start < 8_000_000_000]) > 2
    colours = {one.get_label(): tuple(one.get_facecolor()[0][:3]) for one in axes.collections}
    assert {label for label in colours if not label.startswith("_")} <= links


def test_frames_of_harts_are_sent_in_the_windows_of_their_elementary_cycles() -> None:
    network = tautwire.load(SCENARIOS / "harts-synchronous.yaml")
    run = tautwire.simulate(network, frames=True)
    noted = [one for one in run.summary["harts"]["frames"] if one["window"] in ("synchronous", "asynchronous")]
    port = noted[0]["port"]
    axes = plots.gantt(run, network, ports=[port])
    found = bars(axes)
    known = {(one["stream"], one["number"]): one for one in noted if one["port"] == port}
    hops = {one["name"]: [hop["port"] for hop in one["hops"]] for one in run.summary["streams"]}
    columns = (run.frames.column(name) for name in ("stream", "number", "hop", "start_ps", "end_ps"))
    seen = 0
    for stream, number, hop, start, end in zip(*columns, strict=True):
        one = known.get((stream, number))
        if one is not None and hops[stream][hop] == port:
            windows = found[f"{port} {one['window']} window"]
            assert any(at - 0.002 <= start / 1e6 and end / 1e6 <= at + span + 0.002 for at, span in windows), one
            seen += 1
    assert seen == len(known) > 0
    assert network.timetable() is not None and tautwire.load(SCENARIOS / "avb.yaml").timetable() is None


def test_a_topology_has_a_half_of_a_cable_for_each_port_with_its_share(verified: tautwire.Verification) -> None:
    for observed in (True, False):
        axes = plots.topology(verified, observed=observed)
        lines = next(one for one in axes.collections if isinstance(one, LineCollection))
        ports = verified.summary["ports"]
        shares = [
            port["observed"]["utilisation_ppm"]
            if observed
            else sum(c["bound"]["utilisation_ppm"] for c in port["classes"])
            for port in ports
        ]
        assert lines.get_array().tolist() == sorted(share / 1e4 for share in shares)
        at = {text.get_text(): np.array(text.xy) for text in axes.texts}
        assert set(at) == {port["to"] for port in ports}
        busiest = ports[int(np.argmax(shares))]
        begin, middle = lines.get_segments()[-1]
        assert np.allclose(begin, at[busiest["port"].rsplit(".", 1)[0]])
        assert np.allclose(middle, (begin + at[busiest["to"]]) / 2)
    apart = {np.linalg.norm(at[one] - at[other]) for one in at for other in at if one < other}
    assert min(apart) > 0.3, "no node is upon another"


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    for number in (1, 2):
        axes = plots.ecdf([1e6, 2e6], lines={"bound": 3e6})
        for ending in ("svg", "pdf"):
            plots.save(axes, tmp_path / f"tail-{number}.{ending}")
    for ending in ("svg", "pdf"):
        one, other = ((tmp_path / f"tail-{number}.{ending}").read_bytes() for number in (1, 2))
        assert one == other and b"<dc:date>" not in one and b"CreationDate" not in one


def test_figures_are_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'tautwire\[plot\]'"):
        plots.ecdf([1])
