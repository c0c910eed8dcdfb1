"""Studies: the same files from every executor, whatever was killed on the way."""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest
from networks import make_two_hosts

import tautwire
from tautwire import _core

AXES = {"streams.slow.frame": ["100 B", "1522 B"], "links.s-b.rate": ["400 Mbit/s", "1 Gbit/s"]}


def files_of(folder: Path) -> str:
    """A digest of names and octets of all files with rows."""
    found = hashlib.sha256()
    for path in sorted((folder / "pieces").iterdir()):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def squares(side: int, seed: int) -> dict[str, Any]:
    if side == 5:
        raise ValueError("five is not wanted\nhere")
    return {"area": side * side + seed, "half": side / 2}


POINTS = tautwire.grid(side=range(20))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("undisturbed") / "study"
    tautwire.study(squares, POINTS, seeds=[1, 2], to=folder, executor="serial", piece=3)
    return files_of(folder)


@pytest.mark.parametrize("executor", ["processes", "dask", "ray"])
def test_all_executors_write_the_same_files(executor: Any, undisturbed: str, tmp_path: Path) -> None:
    if executor != "processes":
        pytest.importorskip("distributed" if executor == "dask" else "ray")
    found = tautwire.study(squares, POINTS, seeds=[1, 2], to=tmp_path / "s", executor=executor, workers=2, piece=3)
    assert files_of(found.folder) == undisturbed
    assert (found.tasks, found.done) == (40, 40)
    rows = list(found.rows())
    assert [row["task"] for row in rows] == list(range(40))
    assert rows[7]["area"] == 9 + 2
    assert [failure.error for failure in found.failures] == ["ValueError: five is not wanted"] * 2
    query = f"select count(distinct key), sum(half) from read_parquet('{found.files}', union_by_name=true)"
    assert duckdb.sql(query).fetchall() == [(40, 185.0)]
    assert polars.scan_parquet(found.files).collect().height == 40


def test_a_failed_task_is_repeated_by_its_command(tmp_path: Path) -> None:
    found = tautwire.study(squares, [{"side": 5}], seeds=[3], to=tmp_path / "s", executor="serial")
    [failure] = found.failures
    assert (failure.task, failure.values) == (0, {"side": 5, "seed": 3})
    command = failure.command.split()
    ended = subprocess.run(
        [sys.executable, *command[1:]],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path()},
    )
    assert ended.returncode == 1
    assert "ValueError: five is not wanted\nhere" in ended.stderr
    with pytest.raises(ValueError, match="five"):
        found.repeat(0)


def path() -> str:
    return os.pathsep.join(one for one in sys.path if one)


# No main guard: the processes of a study do not run the script again.
SCRIPT = """
import sys, time
import tautwire

def slowly(side):
    time.sleep(0.01)
    return {"area": side * side}

found = tautwire.study(slowly, tautwire.grid(side=range(120)), to=sys.argv[1], workers=2, piece=4)
print(found.done)
"""


def test_a_study_that_is_killed_twice_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": path()}

    def start(folder: str) -> subprocess.Popen[str]:
        arguments = [sys.executable, str(script), str(tmp_path / folder)]
        return subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment, text=True)

    pieces = tmp_path / "killed" / "pieces"
    there = 0
    for _ in range(2):
        process = start("killed")
        while process.poll() is None and (not pieces.exists() or len(list(pieces.glob("*.parquet"))) < there + 3):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it was killed before its end"
        assert process.stdout is not None
        process.stdout.close()
        there = len(list(pieces.glob("*.parquet")))
        assert 3 <= there < 30
    times = {one.name: one.stat().st_mtime_ns for one in pieces.glob("*.parquet")}
    outputs = [start(folder).communicate()[0] for folder in ("killed", "whole")]
    assert outputs == ["120\n", "120\n"]
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
    kept = [name for name, stamp in times.items() if (pieces / name).stat().st_mtime_ns == stamp]
    # An orphan may have written its piece once more, with the same octets.
    assert len(kept) >= there - 2, "what was there is not done again"


def die(side: int, marks: str) -> dict[str, int]:
    """Ends its process: each time for 4, once for 9."""
    mark = Path(marks) / "nine"
    if side == 4 or (side == 9 and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"area": side * side}


@pytest.mark.parametrize("executor", ["processes", "dask", "ray"])
def test_the_death_of_a_worker_costs_nothing_but_the_task_that_does_it_again(executor: Any, tmp_path: Path) -> None:
    if executor != "processes":
        pytest.importorskip("distributed" if executor == "dask" else "ray")
    loaded: Any = contextlib.nullcontext()
    if executor == "dask":
        import dask

        # As on a machine so loaded that a worker takes longer to start than its cluster waits for it.
        loaded = dask.config.set({"distributed.deploy.lost-worker-timeout": "10 ms"})
    points = [{"side": side, "marks": str(tmp_path)} for side in range(12)]
    with loaded:
        found = tautwire.study(die, points, to=tmp_path / "s", executor=executor, workers=2, piece=3)
    areas = {row["side"]: row.get("area") for row in found.rows()}
    assert areas == {side: None if side == 4 else side * side for side in range(12)}
    assert [(one.values["side"], one.error) for one in found.failures] == [(4, "the process died")]


def test_values_of_a_description_are_varied_and_comments_stay(tmp_path: Path) -> None:
    text = make_two_hosts().text().replace('    rate: "1 Gbit/s"', '    rate: "1 Gbit/s"   # fast')
    place = tmp_path / "net.yaml"
    place.write_text(text, encoding="utf-8")
    changed = tautwire.load(place).changed({"streams.slow.frame": "100 B", "run.seed": 9, "links.s-b.length": "5 m"})
    lines = changed.text().splitlines()
    new = [line for line in lines if line not in text.splitlines()]
    assert sorted(new) == ["    frame: 100 B", "    length: 5 m", "  seed: 9"]
    assert changed.text().count("# fast") == 2
    with pytest.raises(tautwire.UnknownNameError, match="`streams` has no `slaw`; there is `slow`"):
        changed.changed({"streams.slaw.frame": "100 B"})
    with pytest.raises(tautwire.DescriptionError, match="1000"):
        changed.changed({"streams.slow.frame": "1000"})
    found = tautwire.study(place, tautwire.grid(AXES), to=tmp_path / "s", executor="serial", rows="listeners")
    rows = list(found.rows())
    assert [(row["streams.slow.frame"], row["stream"]) for row in rows[:3]] == [
        ("100 B", "fast"),
        ("100 B", "slow"),
        ("100 B", "fast"),
    ]
    direct = tautwire.verify(
        tautwire.load(place).changed({"streams.slow.frame": "1522 B", "links.s-b.rate": "1 Gbit/s"})
    )
    assert rows[-1]["bound_delay_max_ps"] == direct.delay_max_ps("slow")
    assert rows[-1]["verdict"] == "proven"


def test_a_function_may_give_a_network(tmp_path: Path) -> None:
    def with_frame(frame: str) -> tautwire.Network:
        network = make_two_hosts()
        network.streams[1]["frame"] = frame
        return network

    metrics = {"margin": lambda result: result.stream("fast")["listeners"][0]["margin_ps"]}
    points = tautwire.grid(frame=["1522 B", "100 B"])
    found = tautwire.study(with_frame, points, to=tmp_path / "s", run="bounds", metrics=metrics, workers=2)
    margins = [row["margin"] for row in found.rows()]
    assert margins[0] < margins[1]


def test_another_study_in_the_folder_is_refused_and_equal_sets_count_once(tmp_path: Path) -> None:
    place = tmp_path / "s"
    points = [{"side": 1}, {"side": 2}, {"side": 1}]
    assert tautwire.study(squares, points, seeds=[1], to=place, executor="serial").tasks == 2
    with pytest.raises(tautwire.StudyError, match="parameters or seeds differ"):
        tautwire.study(squares, points, seeds=[2], to=place, executor="serial")
    assert tautwire.study(squares, points, seeds=[2], to=place, executor="serial", anew=True).done == 2
    with pytest.raises(tautwire.StudyError, match="other files"):
        tautwire.study(squares, points, to=tmp_path, executor="serial")
    with pytest.raises(tautwire.UnknownNameError, match="no `x`"):
        tautwire.study(make_two_hosts(), [{"streams.x.frame": "1 B"}], to=tmp_path / "t", executor="serial")
    with pytest.raises(ValueError, match="no metric `y`"):
        tautwire.study(make_two_hosts(), [{}], to=tmp_path / "t", metrics=["y"])


def test_shares_of_a_study_make_the_whole(undisturbed: str, tmp_path: Path) -> None:
    for number in (2, 0, 1):
        found = tautwire.study(
            squares, POINTS, seeds=[1, 2], to=tmp_path / "s", executor="serial", piece=3, share=(number, 3)
        )
    assert files_of(found.folder) == undisturbed


def test_a_figure_does_not_take_the_name_of_a_parameter(tmp_path: Path) -> None:
    found = tautwire.study(lambda side: {"side": 1}, [{"side": 2}], to=tmp_path / "s", executor="serial")
    assert "name of a parameter" in found.failures[0].error


def test_samples_are_drawn_alike_and_cover_their_ranges() -> None:
    axes = {"payload": tautwire.Range("100 B", "1500 B"), "rate": tautwire.Range(1, 1000, log=True), "kind": ["a", "b"]}
    first = tautwire.sample(50, axes)
    assert first == tautwire.sample(50, axes) != tautwire.sample(50, axes, draw=2)
    payloads = sorted(int(one["payload"].removesuffix(" B")) for one in first)
    assert all(100 + 28 * part - 1 <= value <= 128 + 28 * part + 1 for part, value in enumerate(payloads))
    assert [one["kind"] for one in first].count("a") == 25
    assert sum(one["rate"] < 32 for one in first) in (24, 25, 26)
    drawn = tautwire.sample(50, axes, method="random")
    assert {one["kind"] for one in drawn} == {"a", "b"} and drawn != first
    with pytest.raises(ValueError, match="one unit"):
        tautwire.Range("1 ms", "5 us")
    with pytest.raises(ValueError, match="needs a list"):
        tautwire.grid(rate="10 Mbit/s")
    assert tautwire.Range("0.5 ms", "2.0 ms", steps=4).values() == ["0.5 ms", "1.0 ms", "1.5 ms", "2.0 ms"]


STUDY = """\
# What the frame of the slow stream costs.
network: net.yaml
run: verify
duration: 5 ms
seeds: {from: 1, count: 2}
parameters:
  streams.slow.frame: {from: 100 B, to: 1500 B, steps: 3}
  speed: {keys: [links.a-s.rate, links.s-b.rate], values: [400 Mbit/s, 1 Gbit/s]}
metrics: [verdict, margin_min_ps]
"""


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": path()}
    call = [sys.executable, "-m", "tautwire", "study", *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=False, env=environment)


def test_a_study_file_is_run_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(make_two_hosts().text(), encoding="utf-8")
    place = tmp_path / "load.yaml"
    place.write_text(STUDY, encoding="utf-8")
    ended = command(str(place), "--workers", "2", "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    said = json.loads(ended.stdout)
    assert (said["tasks"], said["done"], said["failures"]) == (12, 12, [])
    query = f"select speed, count(*), min(margin_min_ps) from '{said['files']}' group by all order by 1"
    rows = duckdb.sql(query).fetchall()
    assert [(speed, count) for speed, count, _ in rows] == [("1 Gbit/s", 6), ("400 Mbit/s", 6)]
    assert rows[0][2] > rows[1][2]
    shown = command(str(tmp_path / "load.results"))
    assert shown.stdout.startswith("12 tasks: 12 done, 0 of them failed; rows in ")
    again = command(str(tmp_path / "load.results"), "--repeat", "3")
    assert set(json.loads(again.stdout)) == {"verdict", "margin_min_ps"}


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("seeds: {from: 1, count: 2}", "seeds: many", 5, "seeds are whole numbers"),
        ("run: verify", "ran: verify", 3, "no key `ran`"),
        ("to: 1500 B", "to: 1500 us", 7, "one unit"),
        ("values: [400 Mbit/s, 1 Gbit/s]", "", 8, "needs a list of values or a range"),
        ("network: net.yaml\n", "", 1, "`network` is missing"),
        ("seeds: {from: 1,", "seeds: {from: 1]", 5, ""),
    ],
)
def test_a_fault_of_a_study_file_has_its_line(old: str, new: str, line: int, words: str, tmp_path: Path) -> None:
    place = tmp_path / "load.yaml"
    place.write_text(STUDY.replace(old, new), encoding="utf-8")
    ended = command(str(place))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"load.yaml:{line}:" in ended.stderr and words in ended.stderr, ended.stderr


def test_rows_are_kept_as_they_are(tmp_path: Path) -> None:
    place = str(tmp_path / "rows.parquet")
    columns: list[tuple[str, str, list[Any]]] = [
        ("a", "int", [1, None]),
        ("b", "float", [0.5, 2]),
        ("c", "text", ["x", None]),
        ("d", "bool", [True, None]),
    ]
    _core.write_rows(place, columns)
    [table] = _core.read_rows(place)
    assert [table.column(name) for name in table.column_names] == [[1, None], [0.5, 2.0], ["x", None], [True, None]]
    assert [one.name for one in tmp_path.iterdir()] == ["rows.parquet"]
    with pytest.raises(OSError, match="No such file"):
        _core.write_rows(str(tmp_path / "absent" / "rows.parquet"), columns)
