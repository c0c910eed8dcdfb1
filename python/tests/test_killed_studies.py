"""Large studies of real runs: the driver is killed twice, or one of two workers, and every row is as if nothing was.

400 tasks; `TAUTWIRE_TIMES=25`, as `make test-slow` sets it, makes them 10 000.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from test_studies import files_of, path

TASKS = 400 * int(os.environ.get("TAUTWIRE_TIMES", "1"))
FRAMES = 20

# Without a main guard. Who runs a task leaves its process number.
SCRIPT = """
import os, pathlib, sys
import tautwire

folder, executor, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = '''
name: shared
network-control: none
nodes: {a: {type: end-station}, b: {type: end-station}, z: {type: end-station}, s: {type: bridge}}
links:
  - {between: [a, s], rate: 100 Mbit/s}
  - {between: [b, s], rate: 100 Mbit/s}
  - {between: [s, z], rate: 100 Mbit/s}
streams:
  - {name: own, talker: a, listeners: z, frame: FRAME B, traffic: {type: periodic, interval: 1 ms}}
  - {name: other, talker: b, listeners: z, frame: 1522 B, traffic: {type: poisson, mean-interval: 500 us}}
run: {duration: 5 ms}
'''
marks = pathlib.Path(folder).parent / "workers"
marks.mkdir(exist_ok=True)

def run(frame, seed):
    (marks / str(os.getpid())).touch()
    found = tautwire.simulate(tautwire.load_text(text.replace("FRAME", str(frame))), seed=seed)
    observed = found.stream("own")["listeners"][0]["observed"]
    return {"count": observed["count"], "most": observed["delay_max_ps"], "sum": int(observed["delay_sum_ps"])}

points = tautwire.grid(frame=range(100, 1500, 70))
found = tautwire.study(run, points, seeds=range(seeds), to=folder, executor=executor, workers=2)
print(found.done, len(found.failures))
"""


def begun(folder: Path, executor: str) -> subprocess.Popen[str]:
    script = folder / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    arguments = [sys.executable, str(script), str(folder / "study"), executor, str(TASKS // FRAMES)]
    environment = os.environ | {"PYTHONPATH": path()}
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment, text=True)


def when_there(process: subprocess.Popen[str], folder: Path, part: float) -> None:
    """Waits until a part of the pieces is there."""
    pieces = folder / "study/pieces"
    count = part * TASKS / min(100, max(1, TASKS // 64))
    while process.poll() is None and (not pieces.exists() or len(list(pieces.glob("*.parquet"))) < count):
        time.sleep(0.005)
    assert process.poll() is None, "it is still at work"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("undisturbed")
    output, _ = begun(folder, "processes").communicate()
    assert output == f"{TASKS} 0\n"
    files = folder / "study/pieces/*.parquet"
    query = f"select count(*), count(distinct key), count(distinct most), min(count) from '{files}'"
    [(rows, keys, delays, least)] = duckdb.sql(query).fetchall()
    assert (rows, keys, least) == (TASKS, TASKS, 5) and delays > TASKS / 10, "runs differ"
    return files_of(folder / "study")


def test_a_driver_that_is_killed_twice_leaves_what_it_would_have_made(undisturbed: str, tmp_path: Path) -> None:
    for part in (0.3, 0.6):
        process = begun(tmp_path, "processes")
        when_there(process, tmp_path, part)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert process.stdout is not None
        process.stdout.close()
    assert begun(tmp_path, "processes").communicate()[0] == f"{TASKS} 0\n"
    assert files_of(tmp_path / "study") == undisturbed


@pytest.mark.parametrize("executor", ["processes", "dask", "ray"])
def test_one_of_two_workers_is_killed(executor: str, undisturbed: str, tmp_path: Path) -> None:
    if executor != "processes":
        pytest.importorskip("distributed" if executor == "dask" else "ray")
    process = begun(tmp_path, executor)
    when_there(process, tmp_path, 0.3)
    workers = {int(one.name) for one in (tmp_path / "workers").iterdir()}
    assert len(workers) == 2 and process.pid not in workers
    os.kill(min(workers), signal.SIGKILL)
    output, _ = process.communicate()
    # Ray says on stdout, too, that a worker is gone.
    assert (process.returncode, output.splitlines()[-1]) == (0, f"{TASKS} 0")
    assert files_of(tmp_path / "study") == undisturbed
