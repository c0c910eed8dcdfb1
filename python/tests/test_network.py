"""Networks built in code, read from text, and their faults."""

import pickle
from pathlib import Path

import pytest

import tautwire
from tautwire import DescriptionError, FileError, TautwireError


def test_code_and_text_are_one_path(two_hosts: tautwire.Network, tmp_path: Path) -> None:
    path = tmp_path / "two-hosts.yaml"
    path.write_text(two_hosts.text())
    ways = [two_hosts, tautwire.load_text(two_hosts.text()), tautwire.load(path), pickle.loads(pickle.dumps(two_hosts))]
    summaries = [tautwire.verify(one).summary for one in ways]
    assert summaries[0]["verification"]["verdict"] == "proven"
    assert all(summary == summaries[0] for summary in summaries[1:])


def test_a_network_that_was_read_crosses_processes(two_hosts: tautwire.Network) -> None:
    read = tautwire.load_text(two_hosts.text())
    again = pickle.loads(pickle.dumps(read))
    assert again.stream_names() == ["fast", "slow"]
    again.end_station("c")
    assert "c" in pickle.loads(pickle.dumps(again)).core().nodes


def test_a_network_that_was_read_gives_its_document_and_can_be_changed(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("time,payload\n1 ms,100 B\n2 ms,100 B\n")
    path = tmp_path / "small.yaml"
    path.write_text(
        "name: small\nnetwork-control: none\ndefaults: {rate: 100 Mbit/s, classes: {6: {queue-limit: {frames: 9}}}}\n"
        "nodes: {a_1: {type: end-station}, b: {type: end-station}}\nlinks: [{between: [a_1, b]}]\n"
        "streams: [{name: s, talker: a_1, listeners: b, priority: 6, payload: 100 B, deadline: 1 ms,\n"
        "  traffic: {type: replay, file: trace.csv}}]\nrun: {duration: 10 ms}\n"
    )
    network = tautwire.load(path)
    document = network.document()
    assert list(document["nodes"]) == ["a_1", "b"]
    assert document["defaults"]["classes"] == {6: {"queue-limit": {"frames": 9}}}
    document["nodes"].clear()
    assert network.document()["nodes"], "it is a copy"
    before = tautwire.simulate(network).summary
    network.streams[0]["deadline"] = "2 ms"
    assert network.document()["streams"][0]["deadline"] == "2 ms"
    network.stream("t", "b", "a_1", payload="50 B", traffic=tautwire.Periodic("1 ms", phase="random"))
    after = tautwire.simulate(network).summary
    assert [one["name"] for one in after["streams"]] == ["s", "t"]
    assert after["streams"][0]["frames"] == before["streams"][0]["frames"], "the trace beside the file is found"
    assert after["streams"][0]["deadline_ps"] == 2 * before["streams"][0]["deadline_ps"]
    again = tautwire.Network.of_document(network.document())
    assert again.document() == network.document()


def test_a_network_that_grows_is_read_again(two_hosts: tautwire.Network) -> None:
    assert two_hosts.stream_names() == ["fast", "slow"]
    two_hosts.stream("third", "b", "a", frame="100 B", traffic=tautwire.Periodic("1 ms"))
    assert two_hosts.stream_names() == ["fast", "slow", "third"]


def test_two_nodes_of_one_name_are_refused(two_hosts: tautwire.Network) -> None:
    with pytest.raises(ValueError, match="there is a node `a` already"):
        two_hosts.bridge("a")


def test_numbers_without_unit_are_refused() -> None:
    network = tautwire.Network("x", run={"duration": 0.5})
    with pytest.raises(TypeError, match="quantities are text with a unit"):
        network.text()


def test_faults_have_code_place_and_remedy(two_hosts: tautwire.Network) -> None:
    two_hosts.stream("lost", "a", "nobody", frame="100 B", traffic=tautwire.Periodic("1 ms"))
    two_hosts.stream("unitless", "a", "b", frame="100", traffic=tautwire.Periodic("1 ms"))
    with pytest.raises(DescriptionError) as caught:
        tautwire.simulate(two_hosts)
    error = caught.value
    assert isinstance(error, TautwireError)
    errors = [one for one in error.diagnostics if one.severity == "error"]
    assert len(errors) >= 2, "all faults at once"
    assert error.code == errors[0].code and "::" in error.code
    assert error.path is not None and error.path.startswith("two-hosts")
    lines = two_hosts.text().splitlines()
    assert any("nobody" in lines[one.line - 1] for one in errors)
    assert tautwire.check(two_hosts) == list(error.diagnostics)
    assert pickle.loads(pickle.dumps(error)).diagnostics == error.diagnostics


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "missing.yaml")
    for function in (tautwire.load, tautwire.check, tautwire.verify):
        with pytest.raises(FileError) as caught:
            function(path)
        assert (caught.value.code, caught.value.path) == ("file::unreadable", path)


def test_a_network_that_was_read_is_checked_with_the_files_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "streams.csv").write_text(
        "name,talker,listeners,payload,traffic.type,traffic.interval\ns,a,b,100 B,periodic,1 ms\n"
    )
    path = tmp_path / "table.yaml"
    path.write_text(
        "nodes: {a: {type: end-station}, b: {type: end-station}}\nstream-tables: [streams.csv]\n"
        "links: [{between: [a, b], rate: 1 Gbit/s}]\n"
    )
    network = tautwire.load(path)
    assert tautwire.check(network) == tautwire.check(path) == []
    assert [one.code for one in tautwire.check(network, profile="802.1DP")] == ["802.1DP::bridged"]


def test_breaches_of_a_profile_are_faults_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "fast.yaml"
    path.write_text(
        "nodes:\n  a: {type: end-station}\n  b: {type: bridge}\nlinks:\n  - {between: [a, b], rate: 25 Gbit/s}\n"
    )
    assert tautwire.check(path) == []
    found = {one.code: one for one in tautwire.check(path, profile="60802")}
    assert (found["60802::link"].severity, found["60802::link"].line) == ("error", 5)
    assert "10 Gbit/s" in (found["60802::link"].help or "")
    rules = {one.rule: one for one in tautwire.profile_rules(path, "60802")}
    assert set(found) == {one.rule for one in rules.values() if one.verdict == "broken"}
    assert {one.verdict for one in rules.values()} == {"broken", "kept", "not applicable", "unknown"}
    with pytest.raises(TautwireError, match="is none of"):
        tautwire.check(path, profile="802.1XX")
    path.write_text("nodes: 3\n")
    with pytest.raises(DescriptionError):
        tautwire.profile_rules(path, "60802")


def test_a_network_shows_itself_in_a_notebook_whatever_is_in_it(two_hosts: tautwire.Network) -> None:
    read = tautwire.load_text(two_hosts.text())
    assert repr(read) == repr(two_hosts)
    assert read._repr_html_() == two_hosts._repr_html_()
    assert "2 end stations, 1 bridge, 2 links, 2 streams" in repr(two_hosts)
    text = "<script>alert('&')</script>"
    network = tautwire.Network(text, nodes={"a": None}, links=None)
    network.stream(text, talker=text, listeners=[text, "b"], payload=text, traffic={"type": text})
    page = network._repr_html_()
    assert "<script>" not in page and page.count("&lt;script&gt;") == 6
    assert tautwire.check(network) != [], "and it has faults"
    assert "0 streams" in repr(tautwire.Network("nothing"))
