"""Networks that are changed as objects: what is written back, and whose line a fault has."""

import copy
import inspect
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import tautwire
from tautwire import _core, edits, keys
from tautwire.parts import Link, Node, Stream
from tautwire.texts import numbered

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml"))

TEXT = """\
# Two stations.
name: pair
network-control: none
nodes:
  a: {type: end-station}   # sends
  b:
    type: end-station

  s:   # between them
    type: bridge
    classes:
      5: {queue-limit: {frames: 9}}
links:
  - {between: [a, s], rate: 1 Gbit/s}
  # The long one.
  - between: [s, b]
    rate: 1 Gbit/s
    length: 90 m   # measured
streams:
  # The first.
  - name: x
    talker: a
    listeners: b   # and nobody else
    payload: 100 B
    traffic: {type: periodic, interval: 1 ms}
  - {name: y, talker: b, listeners: a, payload: 50 B, traffic: {type: periodic, interval: 1 ms}}
# The end.
run: {duration: 5 ms}
"""


def changed_lines(network: tautwire.Network) -> tuple[list[str], list[str]]:
    """Lines that are gone, and that are new."""
    old, new = TEXT.splitlines(), network.text().splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_in_brackets_over_several_lines_comments_stay_with_their_elements() -> None:
    lines = ["  {name: x, v: 1},  # first", "  {name: y, v: 2},  # second", "  {name: z, v: 3}  # third"]
    text = "\n".join(["a: [", *lines, "]", "m: {", "  p: 1,  # one", "  q: 2,  # two", "  r: 3}  # three", ""])
    before = {"a": [{"name": name, "v": at + 1} for at, name in enumerate("xyz")], "m": {"p": 1, "q": 2, "r": 3}}
    for gone in ({"x"}, {"y"}, {"z"}, {"y", "z"}, {"x", "y"}, {"p"}, {"q"}, {"r"}, {"q", "r"}, {"y", "q"}):
        after = {
            "a": [one for one in before["a"] if one["name"] not in gone],  # type: ignore[index]
            "m": {key: value for key, value in before["m"].items() if key not in gone},  # type: ignore[attr-defined]
        }
        for mark in ("", "\ufeff"):
            found = edits.edited(mark + text, before, after)
            assert found is not None and found.text.startswith(mark + "a"), gone
            assert yaml.safe_load(found.text.removeprefix(mark)) == after, gone
            words = {"x": "first", "y": "second", "z": "third", "p": "one", "q": "two"}
            kept = {
                line for line in text.splitlines() for name in words if f"# {words[name]}" in line and name not in gone
            }
            assert kept <= set(found.text.splitlines()), gone


def test_a_mark_of_the_order_of_octets_costs_no_comment() -> None:
    network = tautwire.load_text("\ufeff" + TEXT)
    network.streams["x"].deadline = "3 ms"
    assert network.text().replace("    deadline: 3 ms\n", "") == "\ufeff" + TEXT
    assert tautwire.check(network) == []


def test_what_is_read_is_found_by_name_and_key_in_both_spellings() -> None:
    network = tautwire.load_text(TEXT)
    stream = network.streams["x"]
    assert stream is network.streams[0] and isinstance(stream, Stream)
    assert (stream.payload, stream.traffic.interval, stream.deadline) == ("100 B", "1 ms", None)
    assert network.nodes["s"].classes[5].queue_limit.frames == 9
    assert network.nodes["s"]["classes"][5]["queue-limit"] == {"frames": 9}
    assert network.links["s-b"].length == network.links[1]["length"] == "90 m"
    assert isinstance(network.links["a-s"], Link) and isinstance(network.nodes["a"], Node)
    assert network.settings.network_control == network.settings["network-control"] == "none"
    assert network.text() == TEXT, "looking changes nothing"
    with pytest.raises(tautwire.UnknownNameError) as caught:
        _ = network.streams["z"]
    assert caught.value.help == "there are: x, y"


@pytest.mark.parametrize(
    ("change", "gone", "new"),
    [
        ("streams['x'].payload = '200 B'", ["    payload: 100 B"], ["    payload: 200 B"]),
        ("streams['x'].deadline = '1 ms'", [], ["    deadline: 1 ms"]),
        ("streams['x'].traffic.burst = 2", None, ["    traffic: {type: periodic, interval: 1 ms, burst: 2}"]),
        ("streams['x'].pop('payload')", ["    payload: 100 B"], []),
        ("streams['x'].name = 'z'", ["  - name: x"], ["  - name: z"]),
        ("streams.pop(1)", None, []),
        ("links['s-b'].__delattr__('length')", ["    length: 90 m   # measured"], []),
        ("links['a-s'].length = '5 m'", None, ["  - {between: [a, s], rate: 1 Gbit/s, length: 5 m}"]),
        ("nodes['a'].mtu = '9 kB'", None, ["  a: {type: end-station, mtu: 9 kB}   # sends"]),
        ("nodes['s'].classes[5].queue_limit.frames = 10", None, ["      5: {queue-limit: {frames: 10}}"]),
        ("nodes['s'].classes.update({6: {}})", [], ["      6: {}"]),
        ("nodes.pop('b')", ["  b:", "    type: end-station"], []),
        ("bridge('t')", [], ["  t: {type: bridge}"]),
        ("link('s', 't', rate='1 Gbit/s')", [], ["  - between: [s, t]"]),
        (
            "stream('w', 'a', 'b', payload='80 B', traffic=tautwire.Greedy())",
            [],
            ["  - {name: w, talker: a, listeners: b, payload: 80 B, traffic: {type: greedy}}"],
        ),
        ("settings['run'].seed = 3", ["run: {duration: 5 ms}"], ["run: {duration: 5 ms, seed: 3}"]),
        ("settings.update(about='of mine: two')", [], ['about: "of mine: two"']),
    ],
)
def test_a_change_is_one_of_its_lines(change: str, gone: list[str] | None, new: list[str]) -> None:
    network = tautwire.load_text(TEXT)
    run = exec if "=" in change and not change.endswith(")") else eval
    run(f"network.{change}", {"network": network, "tautwire": tautwire})
    found = changed_lines(network)
    assert found[1] == new
    assert gone is None or found[0] == gone
    assert "# The end." in network.text() and "# The long one." in network.text()
    read = tautwire.Network.of_document(numbered(__import__("json").loads(_core.plain_document(network.text()))))
    assert read.document() == network.document()


def test_a_change_back_is_no_change() -> None:
    network = tautwire.load_text(TEXT)
    network.streams["x"].payload = "200 B"
    network.streams["x"].payload = "100 B"
    assert network.text() == TEXT


def changes(network: tautwire.Network, seed: int) -> None:
    """Some changes of any kind."""
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 4)):
        streams: list[Any] = list(network.streams)
        kind = draw.randrange(9)
        if kind == 0:
            network.bridge(f"bridge-{draw.randrange(10**6)}", classes={5: {"queue_limit": {"frames": 7}}})
        elif kind == 1:
            network.stream(f"new-{draw.randrange(10**6)}", "a", ["b", "c"], traffic=tautwire.Periodic("1 ms"))
        elif kind == 2:
            network.settings["run"] = {"duration": "3 ms", "seed": draw.randrange(99)}
        elif kind == 3 and network.links:
            draw.choice(list(network.links)).length = f"{draw.randrange(99)} m"
        elif kind == 4 and len(network.nodes) > 1:
            del network.nodes[draw.choice(list(network.nodes))]
        elif kind == 5 and streams:
            draw.choice(streams).deadline = "1 ms # x"
        elif kind == 6 and streams:
            stream = draw.choice(streams)
            del stream[draw.choice([key for key in stream if key != "name"] or ["name"])]
        elif kind == 7 and streams:
            network.streams.remove(draw.choice(streams))
        elif kind == 8 and streams:
            network.streams.insert(draw.randrange(len(streams)), {"name": f"first-{draw.randrange(10**6)}"})


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_any_changes_of_a_scenario_are_edits_of_its_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    before = tautwire.load(path)
    for seed in range(2):
        network = pickle.loads(pickle.dumps(before))
        changes(network, seed)
        edit = network._edit()
        assert edit is not None, f"seed {seed}: written anew"
        # `_edit` compares what the new text says with the document; here, what was not changed.
        kept = "".join(
            edit.before[end:start]
            for (_, end, _), (start, _, _) in zip(
                [(0, 0, ""), *edit.edits], [*edit.edits, (len(text), 0, "")], strict=True
            )
        )
        assert len(kept) + sum(end - start for start, end, _ in edit.edits) == len(text)
        new = edit.text
        for line in kept.splitlines():
            if line.lstrip().startswith("# "):
                assert line in new.splitlines(), f"seed {seed}: {line}"


def test_what_no_edit_says_is_written_anew() -> None:
    text = "nodes: {a: &station {type: end-station}, b: *station}\nlinks: [{between: [a, b], rate: 1 Gbit/s}]\n"
    network = tautwire.load_text(text)
    network.nodes["a"].mtu = "9 kB"
    assert network._edit() is None
    assert network.core().nodes == ["a", "b"]
    assert "mtu" not in network.document()["nodes"]["b"], "the alias was another node"


def test_a_changed_network_is_saved_to_its_file(tmp_path: Path) -> None:
    path = tmp_path / "pair.yaml"
    path.write_text(TEXT)
    network = tautwire.load(path)
    network.streams["x"].payload = "200 B"
    assert network.save() == path
    assert path.read_text() == TEXT.replace("payload: 100 B", "payload: 200 B")
    assert tautwire.load(path).streams["x"].payload == "200 B"
    with pytest.raises(tautwire.FileError, match="name one"):
        tautwire.load_text(TEXT).save()
    with pytest.raises(tautwire.FileError, match="No such file"):
        network.save(tmp_path / "missing" / "net.yaml")


def here() -> int:
    """The line that calls."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def test_a_fault_of_code_has_the_line_of_python_that_made_it() -> None:
    network = tautwire.Network("coded", run={"duration": "5 ms"}, network_control="none")
    network.end_station("a")
    network.end_station("b")
    network.link("a", "b", rate="1 Gbit/s")
    network.stream("s", "a", "b", payload="100 B", traffic=tautwire.Periodic("1 ms"))
    assert tautwire.check(network) == []
    network.stream("t", "a", "b", payload="100 B", traffic=tautwire.Periodic("1"))
    made = here() - 1
    network.streams["s"].payload = "100"
    changed = here() - 1
    network.nodes["a"].clock = {"drift": "5 parrots"}
    clock = here() - 1
    network.links["a-b"]["lenght"] = "5 m"
    link = here() - 1
    network.settings["run"].seed = "x"
    seed = here() - 1
    faults = [one for one in tautwire.check(network) if one.severity == "error"]
    assert {one.source for one in faults} == {(__file__, line) for line in (made, changed, clock, link, seed)}
    said = {one.source[1]: one.message for one in faults if one.source}
    assert "`1`" in said[made] and "`100`" in said[changed] and "lenght" in said[link]
    with pytest.raises(tautwire.DescriptionError) as caught:
        network.core()
    assert caught.value.diagnostics == tuple(tautwire.check(network))
    assert f"{__file__}:{changed}: error[value::unit-missing]" in str(caught.value)


def test_a_fault_of_a_changed_value_has_the_line_of_python() -> None:
    read = tautwire.load_text(TEXT)
    with pytest.raises(tautwire.DescriptionError) as caught:
        read.changed({"streams.x.payload": "100"})
    assert [one.source for one in caught.value.diagnostics] == [(__file__, here() - 1)]
    # What was wrong before keeps the line that made it.
    read.streams["x"].deadline = "7"
    wrong = here() - 1
    with pytest.raises(tautwire.DescriptionError) as caught:
        read.changed({"streams.x.payload": "100"})
    assert {one.source for one in caught.value.diagnostics} == {(__file__, wrong), (__file__, here() - 1)}
    assert read.changed({"streams.x.deadline": "7 ms"}).stream_names() == ["x", "y"]
    assert pickle.loads(pickle.dumps(caught.value)).diagnostics == caught.value.diagnostics


def test_a_fault_of_a_file_keeps_its_line_when_others_change(tmp_path: Path) -> None:
    path = tmp_path / "pair.yaml"
    path.write_text(TEXT)
    network = tautwire.load(path)
    del network.nodes["b"]
    network.bridge("t")
    network.streams["y"].payload = "50"
    line = here() - 1
    unknown, unit = {}, None
    for one in tautwire.check(network):
        if one.source is not None:
            unit = unit or one.source
        elif one.severity == "error":
            unknown[one.line] = one.message
    assert unit == (__file__, line)
    lines = TEXT.splitlines()
    assert unknown, "b is missing where YAML names it"
    assert all("b" in lines[number - 1] and "`b`" in message for number, message in unknown.items())


def test_parts_are_copied_and_know_their_keys() -> None:
    stream = tautwire.load_text(TEXT).streams["x"]
    other = copy.deepcopy(stream)
    other.traffic.interval = "2 ms"
    assert stream.traffic.interval == "1 ms" and other != stream
    assert {"payload", "traffic"} <= set(dir(stream))
    for name, near in (("dead_line", "deadline"), ("prority", "priority")):
        with pytest.raises(AttributeError, match=near):
            setattr(stream, name, "1")
    with pytest.raises(AttributeError, match="no key `nothing`"):
        _ = stream.traffic.nothing


def test_types_of_keys_are_those_of_the_schema() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "keys.py", ROOT / "docs" / "schema" / "tautwire.schema.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == Path(keys.__file__).read_text(encoding="utf-8"), "write it anew: see tools/keys.py"
