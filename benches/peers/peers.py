"""Tautwire beside tools that users would take instead, in one run: ``make bench PEERS=1``.

- **ns-3** (C++, of Debian) and **SimPy** (Python) simulate a line of switches that is described to all alike: CPU time of a transmission,
  and whether every frame has the same delay in all three.
- **tsnkit** (of PyPI) makes instances, and schedules them by its own algorithms; `tautwire import` and `tautwire schedule` schedule them,
  too. Each schedule of ours is verified, with bounds and a run.

CPU times are compared, not elapsed ones. The set-up of a simulation does not count; of `tautwire schedule` all counts, its start included.
"""

import argparse
import datetime
import json
import random
import resource
import subprocess
import tempfile
from pathlib import Path

import tautwire

HERE = Path(__file__).resolve().parent
OCTET_PS = 8_000  # at 1 Gbit/s
DURATION_MS = 500
LIMIT_S = 60
OURS = "tautwire schedule"
TABLES = ("1_task.csv", "1_topo.csv")
# Those of tsnkit that are heuristics and need no licence.
ALGORITHMS = ("ls", "dt", "ls_tb", "ls_pl")

PAGE = """# Tautwire beside other tools, {today}

`make bench PEERS=1` measures this and writes this page. Nothing of the peers is in the tree; `benches/peers/` has what drives them. CPU
times differ by a factor of two from one moment to the next on a shared machine; the ratios are of one run.

## Simulators

A line of ten switches at 1 Gbit/s with two stations each, 400 periodic streams of 64 to 1 500 octets, one queue a port, {duration} ms. CPU time of
the run without set-up. *Alike*: streams of which as many frames arrive with the same sum of delays and the same greatest delay as in
Tautwire, in picoseconds. Tautwire keeps histograms and the parts of each delay meanwhile; the peers add and compare delays.

| | transmissions | CPU ns each | ratio | alike |
|---|---|---|---|---|
{runs}

ns-3 forwards by a table in the program instead of its stack of protocols (`line.cc`), which is faster. In SimPy each port and talker is a process
(`line_simpy.py`).

## Schedules of gates

{instances} instances of the generator of tsnkit {tsnkit} (8 switches in a line, ring, tree or mesh; 10, 20, 50 and 100 streams; periods of 0.5 to
4 ms, 100 to 500 octets, deadlines of 0.1 to 1.6 ms). An algorithm that takes {limit} s finds nothing. *In time*: no frame is late or lost in a run of
Tautwire. *Proven*: Tautwire proves that of every run; where it does not, it has no bound for some stream. CPU seconds, from the
tables to the schedule, where one was found; those of `tautwire schedule` include its start and a proof, those of tsnkit not.

| | found | in time | proven | median s | most s |
|---|---|---|---|---|---|
{found}
"""


def line(bridges: int, streams: int, duration_ms: int, seed: int) -> tuple[str, str]:
    """A line of bridges with two stations each: the description, and the input of the peers."""
    draw = random.Random(seed)
    stations = 2 * bridges

    def name(node: int) -> str:
        return f"b{node}" if node < bridges else f"e{node - bridges}"

    links = [(node, node + 1) for node in range(bridges - 1)]
    links += [(bridges + station, station // 2) for station in range(stations)]
    nodes = [
        f"  {name(node)}: {{type: {'bridge' if node < bridges else 'end-station'}}}"
        for node in range(bridges + stations)
    ]
    text = ["name: line", "network-control: none", "defaults: {rate: 1 Gbit/s}", "nodes:", *nodes, "links:"]
    text += [f"  - {{between: [{name(a)}, {name(b)}]}}" for a, b in links]
    text.append("streams:")
    peers = [f"{duration_ms * 10**9} {bridges + stations} {len(links)}", *(f"{a} {b}" for a, b in links), str(streams)]
    for stream in range(streams):
        talker, listener = draw.sample(range(stations), 2)
        first, last = talker // 2, listener // 2
        way = range(first, last + 1) if first <= last else range(first, last - 1, -1)
        path = [bridges + talker, *way, bridges + listener]
        period = draw.choice([4, 8, 16, 32]) * 125_000_000
        octets = draw.randrange(64, 1500, 8)
        # Each talks at its own picosecond of an octet, so that few frames come to a port at one instant.
        offset = draw.randrange(period // OCTET_PS) * OCTET_PS + stream * OCTET_PS // streams
        text.append(
            f"  - {{name: s{stream}, talker: e{talker}, listeners: e{listener}, frame: {octets} B, tagged: false,"
            f" traffic: {{type: periodic, interval: {period} ps, offset: {offset} ps}}}}"
        )
        peers.append(f"{period} {offset} {octets} {len(path)} {' '.join(map(str, path))}")
    text.append(f"run: {{duration: {duration_ms} ms}}")
    return "\n".join(text) + "\n", "\n".join(peers) + "\n"


def cpu_s() -> float:
    """CPU seconds of this process and of all that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def simulate(path: Path) -> dict:
    """The line in Tautwire. A run of a nanosecond measures the set-up, which is taken off."""
    begun = cpu_s()
    tautwire.simulate(path, duration="1 ns")
    ready = cpu_s()
    run = tautwire.simulate(path)
    seconds = cpu_s() - ready - (ready - begun)
    seen = [stream["listeners"][0]["observed"] for stream in run.summary["streams"]]
    return {
        "cpu_s": seconds,
        "transmissions": run.summary["run"]["frame_hops"],
        "streams": [[one["count"], int(one["delay_sum_ps"]), one["delay_max_ps"]] for one in seen],
    }


def simulators(python: str, folder: Path, duration_ms: int) -> list[str]:
    """The rows of the simulators."""
    text, peers = line(bridges=10, streams=400, duration_ms=duration_ms, seed=1)
    (folder / "line.yaml").write_text(text)
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "ns3-point-to-point"], text=True).split()
    subprocess.check_call(["c++", "-O2", "-std=c++17", HERE / "line.cc", "-o", folder / "line", *flags])
    debian = subprocess.check_output(["dpkg-query", "-W", "-f", "${Version}", "libns3-dev"], text=True)
    simpy = subprocess.check_output([python, "-c", "import simpy; print(simpy.__version__)"], text=True).strip()
    ours = simulate(folder / "line.yaml")
    found = {f"Tautwire {tautwire.__version__}": ours}
    for name, command in (
        (f"ns-3 {debian} of Debian", [folder / "line"]),
        (f"SimPy {simpy}", [python, HERE / "line_simpy.py"]),
    ):
        found[name] = json.loads(subprocess.check_output(command, input=peers, text=True))
    rows = []
    for name, run in found.items():
        alike = sum(one == other for one, other in zip(run["streams"], ours["streams"], strict=True))
        ns = run["cpu_s"] * 1e9 / run["transmissions"]
        ratio = ns / (ours["cpu_s"] * 1e9 / ours["transmissions"])
        streams = len(ours["streams"])
        rows.append(f"| {name} | {run['transmissions']} | {ns:.0f} | {ratio:.1f} | {alike} of {streams} |")
    return rows


def command(folder: Path, *words: object) -> tuple[int, float]:
    """Exit code and CPU seconds of a command of Tautwire in a folder."""
    begun = cpu_s()
    ended = subprocess.run(["tautwire", *map(str, words)], capture_output=True, check=False, cwd=folder)
    return ended.returncode, cpu_s() - begun


def judged(folder: Path, algorithm: str) -> dict[str, bool]:
    """What Tautwire finds of a schedule of tsnkit's."""
    tables = [f"{algorithm}-{table}.csv" for table in ("GCL", "OFFSET", "ROUTE", "QUEUE", "DELAY")]
    made = f"{algorithm}.yaml"
    imported, _ = command(folder, "import", "tsnkit", *TABLES, *tables, "--to", made)
    if imported != 0:
        return {"in_time": False, "proven": False}
    return verdict(folder, made)


def verdict(folder: Path, made: str) -> dict[str, bool]:
    """Whether every frame is in time in a run, and whether that is proven."""
    return {"in_time": command(folder, "simulate", made)[0] == 0, "proven": command(folder, "verify", made)[0] == 0}


def schedules(python: str, folder: Path, limit_s: float) -> tuple[list[str], int]:
    """The rows of the algorithms, and the number of instances."""
    solved = subprocess.check_output(
        [python, HERE / "tsnkit_schedules.py", folder, str(limit_s), *ALGORITHMS], text=True, cwd=folder
    )
    rows = [json.loads(row) for row in solved.splitlines()]
    for row in rows:
        row |= judged(folder / row["instance"], row["algorithm"]) if row["found"] else {}
    instances = sorted({row["instance"] for row in rows})
    for name in instances:
        where = folder / name
        imported, _ = command(where, "import", "tsnkit", *TABLES, "--to", "bare.yaml")
        code, seconds = command(where, "schedule", "bare.yaml", "--out", "made.yaml")
        found = imported == 0 and code == 0
        row = {"instance": name, "algorithm": OURS, "found": found, "cpu_s": seconds}
        rows.append(row | (verdict(where, "made.yaml") if found else {}))
    table = []
    for algorithm in (OURS, *ALGORITHMS):
        own = [row for row in rows if row["algorithm"] == algorithm]
        times = sorted(row["cpu_s"] for row in own if row["found"])
        found, in_time, proven = (sum(row.get(what, False) for row in own) for what in ("found", "in_time", "proven"))
        spread = f"{times[len(times) // 2]:.3f} | {times[-1]:.3f}" if times else "- | -"
        table.append(f"| `{algorithm}` | {found} | {in_time} | {proven} | {spread} |")
    return table, len(instances)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("python", help="the Python that has SimPy and tsnkit")
    parser.add_argument("page", type=Path, help="the page that is written")
    arguments = parser.parse_args()
    version = "import importlib.metadata as m; print(m.version('tsnkit'))"
    tsnkit = subprocess.check_output([arguments.python, "-c", version], text=True).strip()
    with tempfile.TemporaryDirectory() as folder:
        runs = simulators(arguments.python, Path(folder), DURATION_MS)
    with tempfile.TemporaryDirectory() as folder:
        found, instances = schedules(arguments.python, Path(folder), LIMIT_S)
    page = PAGE.format(
        today=datetime.date.today(),
        duration=DURATION_MS,
        runs="\n".join(runs),
        found="\n".join(found),
        instances=instances,
        tsnkit=tsnkit,
        limit=LIMIT_S,
    )
    arguments.page.write_text(page)
    print(page)


if __name__ == "__main__":
    main()
