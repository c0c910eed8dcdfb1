"""Bounds, runs and verdicts from Python."""

import json
import threading
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import polars
import pytest

import tautwire
from tautwire import _core, shown

REPLICATION = Path(__file__).parents[2] / "scenarios" / "frame-replication.yaml"


def test_observed_is_within_bound_and_same_seed_gives_same_summary(two_hosts: tautwire.Network) -> None:
    result = tautwire.verify(two_hosts)
    assert (result.verdict, result.contradictions, result.holds) == ("proven", [], True)
    for name in ("fast", "slow"):
        observed = result.stream(name)["listeners"][0]["observed"]
        assert 0 < observed["delay_min_ps"] <= observed["delay_max_ps"] <= result.delay_max_ps(name)
    assert tautwire.verify(two_hosts).summary == result.summary


def test_what_may_be_lost_is_not_proven() -> None:
    network = tautwire.Network("bursts", network_control="none")
    for name in "acz":
        network.end_station(name)
    network.bridge("b")
    network.link("a", "b", rate="1 Gbit/s")
    network.link("c", "b", rate="1 Gbit/s")
    network.link("b", "z", rate="100 Mbit/s")
    burst = tautwire.Periodic("100 ms", burst=1000)
    network.stream("x", "a", "z", frame="64 B", traffic=burst, deadline="90 ms")
    network.stream("y", "c", "z", frame="64 B", traffic=burst, deadline="90 ms")
    proven = tautwire.bounds(network)
    [limit] = proven.may_be_lost("x", "z")
    assert (limit["kind"], limit["place"], limit["limit"]) == ("queue-frames", "b.p3", 1024)
    assert 1024 < limit["needed"] <= 2100
    with pytest.raises(tautwire.UnknownNameError):
        proven.may_be_lost("x", "nowhere")


def test_what_is_proven_but_for_a_stated_failure_says_so(tmp_path: Path) -> None:
    text = (
        "name: errs\nnetwork-control: none\ndefaults: {rate: 100 Mbit/s}\n"
        "nodes: {a: {type: end-station}, b: {type: end-station}}\n"
        "links: [{between: [a, b], bit-error-rate: 1e-5}]\n"
        "streams: [{name: s, talker: a, listeners: b, payload: 100 B, deadline: 1 ms,"
        " traffic: {type: periodic, interval: 1 ms}}]\nrun: {duration: 100 ms}\n"
    )
    path = tmp_path / "errs.yaml"
    path.write_text(text, encoding="utf-8")
    for result in (tautwire.bounds(path), tautwire.verify(path)):
        assert result.provisos() == [("s", "b", "but-for-losses")]
        [reason] = result.stream("s")["listeners"][0]["apart_from"]
        assert reason == {"proviso": "but-for-losses", "text": "bit errors between a.p1 and b.p1"}
        assert list(result.listeners.column("proviso")) == ["but-for-losses"]
    assert tautwire.verify(path).holds


def test_seed_and_duration_can_be_given(two_hosts: tautwire.Network) -> None:
    run = tautwire.simulate(two_hosts, seed=7, duration="2 ms").summary["run"]
    assert (run["seed"], run["duration_ps"]) == (7, 2_000_000_000)
    with pytest.raises(ValueError, match="unit"):
        tautwire.simulate(two_hosts, duration="2")


def test_a_run_is_the_same_on_several_processors(two_hosts: tautwire.Network) -> None:
    runs = [tautwire.simulate(two_hosts, processors=count).summary for count in (1, 2, 5)]
    assert runs[1:] == runs[:1] * 2
    assert tautwire.verify(two_hosts, processors=2).summary == tautwire.verify(two_hosts).summary


def test_tables_go_to_polars_and_duckdb_without_pyarrow(two_hosts: tautwire.Network) -> None:
    run = tautwire.simulate(two_hosts, frames=["fast"])
    frame = polars.DataFrame(run.frames)
    assert frame.columns == run.frames.column_names
    assert frame.height == len(run.frames) == 2 * 80
    assert frame["start_ps"].to_list() == run.frames.column("start_ps")
    frames = run.frames
    counted = duckdb.sql("select stream, hop, count(*) from frames group by all order by all").fetchall()
    assert counted == [("fast", 0, 80), ("fast", 1, 80)]
    assert frames is not None


@pytest.mark.parametrize("name", ["streams", "listeners", "hops", "ports", "classes", "drops", "histograms"])
def test_every_table_has_rows_of_its_columns(two_hosts: tautwire.Network, name: str) -> None:
    table = getattr(tautwire.verify(two_hosts), name)
    frame = polars.DataFrame(table)
    assert {column: frame[column].to_list() for column in frame.columns} == {
        column: table.column(column) for column in table.column_names
    }
    assert (len(table) == 0) == (name == "drops")


def test_results_say_what_they_are_in_a_line(two_hosts: tautwire.Network) -> None:
    assert repr(tautwire.verify(two_hosts, seed=4)) == "Verification('two-hosts', 2 streams, seed 4, proven)"
    assert repr(tautwire.bounds(two_hosts)) == "Bounds('two-hosts', 2 streams, proven)"
    assert repr(tautwire.simulate(two_hosts)) == "Observation('two-hosts', 2 streams, seed 1)"
    assert repr(tautwire.bounds(two_hosts).explain("slow")) == "BoundExplanation('slow', 2 hops)"
    assert repr(tautwire.bounds(two_hosts).streams).startswith("Table(2 rows of stream_index, stream, ")
    assert len(repr(tautwire.bounds(two_hosts).listeners)) < 120


LOSING = """
name: losing
allow: [port::overload]
network-control: none
defaults: {rate: 100 Mbit/s, queue-limit: {frames: 8}}
nodes:
  x: {type: end-station}
  y: {type: end-station}
  good: {type: end-station}
  bad: {type: end-station}
  sw: {type: bridge}
links: [{between: [x, sw]}, {between: [y, sw]}, {between: [good, sw]}, {between: [bad, sw]}]
streams:
  - {name: m, talker: x, listeners: [good, bad], priority: 5, frame: 1000 B,
     traffic: {type: periodic, interval: 100 us}, deadline: 3 ms}
  - {name: flood, talker: y, listeners: bad, priority: 5, frame: 1518 B,
     traffic: {type: constant-rate, rate: 90 Mbit/s}}
  - {name: never, talker: y, listeners: good, priority: 6, payload: 46 B, started: false,
     traffic: {type: periodic, interval: 1 ms}, deadline: 3 ms}
run: {duration: 50 ms}
"""


def test_losses_and_verdicts_are_those_of_a_listener() -> None:
    result = tautwire.verify(tautwire.load_text(LOSING))
    good, bad = result.stream("m")["listeners"]
    assert (good["verdict"], good["frames"]["loss_ppm"], good["frames"]["dropped"]) == ("proven", 0, {})
    assert bad["verdict"] == "missed" and bad["frames"]["dropped"].keys() == {"queue-full"}
    drops = polars.DataFrame(result.drops)
    assert set(drops["listener"]) == {"bad"}
    rows = polars.DataFrame(result.listeners)
    assert rows["dropped"].to_list()[0] == 0 and rows["loss_ppm"].to_list()[1] > 0
    assert rows["not_served"].to_list() == [None, None, None, "never-sent"]
    assert result.not_served() == [("never", "good", "no frame was sent")]
    assert (result.verdict, result.holds) == ("refused", False)


def test_columns_that_are_not_there(two_hosts: tautwire.Network) -> None:
    table = tautwire.bounds(two_hosts).streams
    with pytest.raises(KeyError, match="no column `x`"):
        table.column("x")
    with pytest.raises(ValueError, match="no frames were kept"):
        _ = tautwire.simulate(two_hosts).frames


@pytest.mark.parametrize(
    "ask",
    [
        lambda network: tautwire.simulate(network, frames=["x"]),
        lambda network: tautwire.bounds(network).stream("x"),
        lambda network: tautwire.bounds(network).delay_max_ps("fast", "x"),
        lambda network: network.device("x"),
    ],
)
def test_unknown_names_say_what_there_is(two_hosts: tautwire.Network, ask: object) -> None:
    with pytest.raises(tautwire.UnknownNameError) as caught:
        ask(two_hosts)  # type: ignore[operator]
    assert caught.value.code.endswith("::unknown")
    assert caught.value.help is not None and caught.value.help.startswith("there are: ")


def test_a_run_folder_is_written_read_and_reported(two_hosts: tautwire.Network, tmp_path: Path) -> None:
    result = tautwire.verify(two_hosts, seed=3)
    folder = result.save(tmp_path / "run")
    assert json.loads((folder / "summary.json").read_text()) == result.summary
    assert json.loads((folder / "manifest.json").read_text())["seed"] == 3
    assert polars.read_parquet(folder / "streams.parquet").equals(polars.DataFrame(result.streams))
    page = tautwire.report(result, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page == tautwire.report(folder).read_text(encoding="utf-8")
    assert "two-hosts" in page


def test_what_is_no_run_folder_stays(two_hosts: tautwire.Network, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(tautwire.FileError) as caught:
        tautwire.bounds(two_hosts).save(tmp_path)
    assert caught.value.code == "file::unwritable"
    assert (tmp_path / "mine.txt").read_text() == "mine"
    with pytest.raises(tautwire.FileError):
        tautwire.report(tmp_path)


def test_explanation_and_story(two_hosts: tautwire.Network) -> None:
    result = tautwire.verify(two_hosts)
    explanation = result.explain("slow")
    assert [hop["traffic_class"] for hop in explanation.hops] == [5, 5]
    assert result.delay_max_ps("slow") == sum(hop["delay_max_ps"] for hop in explanation.hops)
    assert {part["name"] for part in explanation.hops[0]["same"]} == {"fast", "slow"}
    assert "slow" in str(explanation)
    story = result.story("slow")
    assert story is not None and "slow" in story


def test_other_threads_go_on_during_a_run(two_hosts: tautwire.Network) -> None:
    """Short runs end while a long one goes on; were the global lock held, none would but the first few."""
    core = two_hosts.core()
    entered, ended = threading.Event(), threading.Event()

    def run() -> None:
        entered.set()
        _core.simulate(core, duration="100 s")
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    entered.wait()
    short = 0
    while not ended.is_set():
        _core.simulate(core, duration="1 ms")
        short += 1
    thread.join()
    assert short > 20


def test_pandas_takes_a_table(two_hosts: tautwire.Network) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas and pyarrow are the extra `arrow`")
    pytest.importorskip("pyarrow", reason="pandas and pyarrow are the extra `arrow`")
    frame = pandas.DataFrame.from_arrow(tautwire.bounds(two_hosts).streams)
    assert list(frame["stream"]) == ["fast", "slow"]


@pytest.mark.parametrize("never", ["started: false", "traffic: {type: periodic, interval: 1 ms, offset: 1 s}"])
def test_a_stream_that_never_starts_counts_as_if_it_did(never: str) -> None:
    traffic = "" if "traffic" in never else "traffic: {type: periodic, interval: 1 ms}, "
    text = (
        "name: never\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {rate: 1 Gbit/s}\nnodes:\n"
        + "".join(f"  {one}: {{type: end-station}}\n" for one in ("a", "b", "c"))
        + "  s: {type: bridge}\nlinks:\n"
        + "".join(f"  - {{between: [{one}, s]}}\n" for one in ("a", "b", "c"))
        + "streams:\n  - {name: one, talker: a, listeners: c, payload: 200 B, "
        + "traffic: {type: periodic, interval: 1 ms}}\n"
    )
    other = f"  - {{name: never, talker: b, listeners: c, payload: 1500 B, {traffic}{never}}}\n"
    run = "run: {duration: 20 ms}\n"
    alone, beside = (tautwire.load_text(text + more + run) for more in ("", other))
    assert tautwire.simulate(beside).stream("never")["frames"]["created"] == 0
    least, most = (tautwire.bounds(network).delay_max_ps("one") for network in (alone, beside))
    assert least is not None and most is not None and least < most


def test_lost_frames_of_protocols_are_a_table() -> None:
    text = (
        "name: lossy\ngptp: {}\ndefaults: {rate: 100 Mbit/s}\n"
        "nodes: {a: {type: end-station}, z: {type: end-station}}\n"
        "links: [{between: [a, z], bit-error-rate: 1e-4}]\nrun: {duration: 8 s}\n"
    )
    (table,) = tautwire.simulate(tautwire.load_text(text)).summary["mechanisms"]
    assert table["name"] == "control_losses"
    names = [column["name"] for column in table["columns"]]
    for row in table["rows"]:
        one = dict(zip(names, row, strict=True))
        assert (one["protocol"], one["reason"], one["cause"]) == ("gptp", "bit-error", "failure")
        assert one["frames"] > 0


def test_stream_filters_meters_and_gates_are_tables() -> None:
    text = (
        "name: metered\nvlans: {1: {tagged: all}}\ndefaults: {rate: 100 Mbit/s}\n"
        "nodes:\n  a: {type: end-station}\n  z: {type: end-station}\n  s:\n    type: bridge\n"
        "    stream-filters: {stream-filter-instance-table: {3: {stream-handle: x, flow-meter-ref: 5}}}\n"
        "    flow-meters: {flow-meter-instance-table: {5: {committed-information-rate: 1 Mbit/s, "
        "committed-burst-size: 600 B, drop-on-yellow: true}}}\n"
        "links: [{between: [a, s]}, {between: [s, z]}]\n"
        "streams: [{name: x, talker: a, listeners: z, payload: 500 B, "
        "traffic: {type: periodic, interval: 1 ms}}]\nrun: {duration: 100 ms}\n"
    )
    network = tautwire.load_text(text)
    seen = tautwire.simulate(network)
    filters, meters = seen.summary["mechanisms"]
    assert (filters["name"], meters["name"]) == ("stream_filters", "flow_meters")
    (row,) = filters["rows"]
    counted = dict(zip((column["name"] for column in filters["columns"]), row, strict=True))
    assert (counted["node"], counted["stream_filter"]) == ("s", 3)
    assert counted["matching_frames_count"] == 100
    assert 0 < counted["red_frames_count"] == 100 - seen.stream("x")["frames"]["delivered"]


def test_recovery_functions_of_copies_are_a_table() -> None:
    observation = tautwire.simulate(tautwire.load_text(REPLICATION.read_text()))
    (table,) = (table for table in observation.summary["mechanisms"] if table["name"] == "recovery")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    sequence, *members = rows
    assert [row["function"] for row in rows] == ["sequence", "individual", "individual"]
    assert [row["members"] for row in rows] == ["p1, p2", "p1", "p2"]
    assert {(row["stream"], row["node"]) for row in rows} == {("orders", "s4")}
    judged = sequence["passed"] + sequence["discarded"] + sequence["rogue"]
    assert judged == sum(row["passed"] for row in members)
    assert sequence["latent_errors"] > 0
    assert all(row["latent_errors"] is None for row in members)


class Cells(HTMLParser):
    """The cells of all rows of a page's tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_a_notebook_shows_the_verdicts(two_hosts: tautwire.Network) -> None:
    result = tautwire.verify(two_hosts)
    heading, *rows = Cells(result._repr_html_()).rows
    assert [row[0] for row in rows] == ["fast", "slow"]
    for row in rows:
        end = result.stream(row[0])["listeners"][0]
        cells = dict(zip(heading, row, strict=True))
        assert cells["verdict"] == "proven"
        bound = end["bound"]["delay_max_ps"]
        assert abs(float(cells["bound us"]) * 1e6 - bound) <= 501
        assert float(cells["observed max us"]) <= float(cells["bound us"])
        assert abs(float(cells["margin us"]) * 1e6 - end["margin_ps"]) <= 501
    assert "bound us" not in tautwire.simulate(two_hosts)._repr_html_()
    assert "observed max us" not in tautwire.bounds(two_hosts)._repr_html_()
    assert result.explain("fast")._repr_html_().startswith("<pre>")
    assert tautwire.diff(result, result)._repr_html_().startswith("<pre>")


def test_the_worst_of_many_streams_are_shown() -> None:
    network = tautwire.Network("many", network_control="none")
    network.end_station("a")
    network.end_station("z")
    network.link("a", "z", rate="1 Gbit/s")
    for number in range(shown.ROWS + 20):
        deadline = "1 us" if number == shown.ROWS + 10 else "9 ms"
        network.stream(f"s{number}", "a", "z", frame="64 B", traffic=tautwire.Periodic("10 ms"), deadline=deadline)
    page = tautwire.bounds(network)._repr_html_()
    _, first, *rest = Cells(page).rows
    assert (first[0], first[-1]) == (f"s{shown.ROWS + 10}", "not proven")
    assert len(rest) == shown.ROWS - 1
    assert f"{shown.ROWS} of {shown.ROWS + 20} rows" in page
