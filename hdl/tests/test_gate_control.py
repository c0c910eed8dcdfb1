"""The gates of a port against the machine of core, cycle by cycle: states, holds, changes of the list, frames that fit.

The module and the machine get the same lists, each at the time at which the module says that it took it. A frame never
fits that the machine's edges cut; one that they let pass is refused only while the class is asked for anew behind a
closing, or where so many edges lie ahead that the queue has no room for those up to its end.
"""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess

import numpy as np
import pytest
from tautwire.machines import Gates
from verilated import harness

CLASSES, ENTRIES = 8, 64
TICK_NS, LEAD_NS = 16, 16 * 1_152
NS = 1000
NOMINAL = 8 << 24
# From a reading of the time to the gates, in cycles.
LATENCY = 2
# Preamble and check sequence beside a frame's own octets.
OVERHEAD = 12
# Cycles after a closing, or after another frame came to the head of a class, within which it is asked for anew.
ANEW = 20
# Nanoseconds that an entry takes the sequencer at most, if it is the first one of a cycle and closes all classes.
ENTRY_NS = 24 * 8


@dataclasses.dataclass
class List:
    """A list of gates; times in ns."""

    #: The cycle after which it is written.
    cycle: int
    base: int
    cycle_time: int
    extension: int
    #: Operation, states, interval.
    entries: list[tuple[int, int, int]]


@dataclasses.dataclass
class Run:
    """What came of a run: lists as they were taken, and of every cycle the time and what followed two cycles later."""

    taken: np.ndarray
    time: np.ndarray
    states: np.ndarray
    fits: np.ndarray
    hold: np.ndarray
    late: np.ndarray
    #: Of every cycle and class, how many octets its frame has, and whether it has been there for long enough to be asked for.
    octets: np.ndarray
    settled: np.ndarray


def drawn_list(rng: np.random.Generator, cycle: int, near: int, *, uneven: bool) -> List:
    """Entries of all lengths; a cycle that cuts them, or is longer; a base time that is past or to come."""
    count = int(rng.integers(1, ENTRIES + 1 if rng.random() < 0.1 else 6))
    longest = int(rng.choice([300, 1_500, 8_000]))
    intervals = rng.integers(ENTRY_NS, ENTRY_NS + longest, count)
    states = np.where(rng.random(count) < 0.3, rng.choice([0, 0xFF, 0x80, 0x7F], count), rng.integers(0, 0x100, count))
    # Classes that are open for long, over many entries.
    states |= int(rng.integers(0, 0x100)) & int(rng.integers(0, 0x100))
    operations = rng.choice([0, 0, 0, 1, 2], count)
    total = int(intervals.sum())
    # By far, by less than a tick, or not at all.
    longer = int(rng.choice([rng.integers(-total // 3, total // 3), rng.integers(-TICK_NS, TICK_NS), 0]))
    cycle_time = max(ENTRY_NS, total + longer)
    # One kind is past when the list is set, or passes by until then.
    when = near + LEAD_NS + 8 * count
    base = int(rng.choice([rng.integers(near - 200_000, when), when + rng.integers(0, 1_000), when + rng.integers(1_000, 40_000)]))
    extension = int(rng.choice([0, rng.integers(0, cycle_time), rng.integers(0, 3 * cycle_time)]))
    if not uneven:
        intervals, cycle_time, base = intervals // TICK_NS * TICK_NS, cycle_time // TICK_NS * TICK_NS, base // TICK_NS * TICK_NS
    entries = [(int(o), int(s), int(i)) for o, s, i in zip(operations, states, intervals, strict=True)]
    return List(cycle, base, int(cycle_time), extension, entries)


def run(
    folder: pathlib.Path,
    lists: list[List],
    frames: np.ndarray,
    *,
    cycles: int,
    start: int,
    rate: int = NOMINAL,
    admin: int = 0xFF,
    fault: tuple[str, str] | None = None,
) -> Run:
    words = [len(lists), cycles, start, rate, admin, len(frames), 12345]
    for one in lists:
        words += [one.cycle, len(one.entries), one.base, one.cycle_time, one.extension, *(w for entry in one.entries for w in entry)]
    np.concatenate([np.array(words, dtype=np.uint64), frames.astype(np.uint64).ravel()]).tofile(folder / "script")
    binary = harness("gate_control", "gate_control", {"Entries": ENTRIES}, faults={"gate_control": fault} if fault else None)
    done = subprocess.run([binary, folder / "script", folder / "out"], check=False, timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    out = np.fromfile(folder / "out", dtype=np.uint64)
    taken = out[: 3 * len(lists)].reshape(-1, 3).astype(np.int64)
    trace = out[3 * len(lists) :].reshape(cycles, 5).astype(np.int64)
    octets, settled = np.full((cycles, CLASSES), 60), np.ones((cycles, CLASSES), dtype=bool)
    settled[:ANEW] = False
    for cycle, traffic_class, length in frames.tolist():
        octets[cycle:, traffic_class] = length
        settled[cycle : cycle + ANEW, traffic_class] = False
    shown = trace[LATENCY:]
    count = cycles - LATENCY
    return Run(taken, trace[:count, 0], shown[:, 1], shown[:, 2], shown[:, 3], shown[:, 4], octets[LATENCY:], settled[LATENCY:])


def drawn_frames(rng: np.random.Generator, cycles: int) -> np.ndarray:
    """Frames of any length at the heads of all classes, each for some time."""
    times = np.cumsum(rng.integers(20, 400, cycles // 210))
    times = times[times < cycles]
    return np.array([times, rng.integers(0, CLASSES, len(times)), rng.choice([60, 61, 300, 1_000, 1_518, 2_000], len(times))]).T


def edges_of(lists: list[List], taken: np.ndarray, until: int, admin: int) -> tuple[np.ndarray, int]:
    """Edges by the machine of core, in ns: time, states, hold; and how many changes were errors."""
    machine = Gates(admin_gate_states=admin, tick_ps=TICK_NS * NS)
    edges = [(0, admin, False)]
    for one, (set_time, _, change_time) in zip(lists, taken.tolist(), strict=True):
        if set_time < 0:
            continue
        edges += machine.edges(set_time * NS)
        entries = [(operation, states, interval * NS) for operation, states, interval in one.entries]
        machine.change(
            set_time * NS,
            entries,
            base_time_ps=one.base * NS,
            cycle_time_ps=one.cycle_time * NS,
            cycle_time_extension_ps=one.extension * NS,
        )
        assert change_time >= set_time and (change_time - one.base) % one.cycle_time == 0
    edges += machine.edges(until * NS)
    found = np.array([(time // NS, states, hold) for time, states, hold in edges], dtype=np.int64)
    assert (found[:, 0] % TICK_NS == 0).all()
    return found, machine.change_errors


def compare(result: Run, edges: np.ndarray) -> float:
    """States and holds are the machine's in every cycle; the share of starts that are refused though they fit."""
    at = np.searchsorted(edges[:, 0], result.time, side="right") - 1
    np.testing.assert_array_equal(result.states, edges[at, 1])
    np.testing.assert_array_equal(result.hold, edges[at, 2])
    late = np.convolve(result.late, np.ones(ANEW), "full")[: len(result.late)] > 0
    refused = fitting = 0
    for c in range(CLASSES):
        is_open = edges[:, 1] >> c & 1
        # The last edge of a tick counts.
        last = np.append(np.diff(edges[:, 0]) > 0, True)
        closings = edges[last][np.flatnonzero(is_open[last] == 0), 0]
        place = np.searchsorted(closings, result.time, side="right")
        close = np.append(closings, np.iinfo(np.int64).max)[place]
        fits = (edges[at, 1] >> c & 1 == 1) & (result.time + 8 * (result.octets[:, c] + OVERHEAD) <= close)
        said = result.fits >> c & 1 == 1
        wrong = said & ~fits & result.settled[:, c]
        assert not wrong.any(), (c, np.flatnonzero(wrong)[:5])
        # Cycles since the gate of the class closed last.
        closes = np.flatnonzero(np.diff(result.states >> c & 1) == -1) + 1
        since = (
            np.arange(len(result.time))
            - np.append(closes, [-(10**6)])[np.searchsorted(closes, np.arange(len(result.time)), side="right") - 1]
        )
        missed = fits & ~said & result.settled[:, c] & ~late & (since > ANEW)
        assert not missed.any(), (c, np.flatnonzero(missed)[:5])
        refused += np.count_nonzero(fits & ~said)
        fitting += np.count_nonzero(fits)
    return refused / max(fitting, 1)


def check(
    folder: pathlib.Path, seed: int, cycles: int, *, rate: int = NOMINAL, uneven: bool = True, fault: tuple[str, str] | None = None
) -> Run:
    rng = np.random.default_rng(seed)
    start, admin = int(rng.integers(0, 2**40)), int(rng.integers(0, 0x100))
    count = int(rng.integers(1, cycles // 5_000))
    cuts = np.sort(rng.integers(10, cycles - 20_000, count))
    lists = [drawn_list(rng, int(cut), start + 8 * int(cut), uneven=uneven) for cut in cuts]
    lists = [dataclasses.replace(one, base=max(one.base, 0)) for one in lists]
    result = run(folder, lists, drawn_frames(rng, cycles), cycles=cycles, start=start, rate=rate, admin=admin, fault=fault)
    assert (np.diff(result.taken[result.taken[:, 0] >= 0, 0]) > 0).all()
    edges, errors = edges_of(lists, result.taken, int(result.time[-1]) + 100_000, admin)
    assert errors == (result.taken[:, 1] == 1).sum()
    refused = compare(result, edges)
    # Only where edges are too dense do many frames wait that would fit.
    assert result.late.any() or refused < 0.01
    return result


@pytest.mark.parametrize("seed", range(4))
def test_states_holds_and_fitting_frames_are_those_of_the_machine(tmp_path: pathlib.Path, seed: int) -> None:
    result = check(tmp_path, seed, 150_000)
    assert len(set(result.states.tolist())) > 3


def test_the_clock_may_run_fast_or_slow(tmp_path: pathlib.Path) -> None:
    for seed, rate in ((20, NOMINAL + NOMINAL // 5_000), (21, NOMINAL - NOMINAL // 5_000)):
        check(tmp_path, seed, 100_000, rate=rate)


def test_times_that_are_whole_ticks(tmp_path: pathlib.Path) -> None:
    check(tmp_path, 30, 100_000, uneven=False)


FAULTS = (
    # A cycle is not extended up to a change; an entry without a tick of its own opens gates; a base time that passes by while the next
    # cycle is found is no error; a closing is put where its ring has no room.
    ("StExtend:  y = TimeWidth'(parameter_read);", "StExtend:  y = '0;"),
    ("if (edge_q == begin_q || !changed || !runs_q)", "if (!changed || !runs_q)"),
    ("past_q  <= 1'b1;", "past_q  <= past_q;"),
    ("assign rooms = !full && (closing & ring_full) == '0;", "assign rooms = !full;"),
)


@pytest.mark.parametrize("fault", FAULTS, ids=["extension", "tick", "error", "room"])
def test_a_fault_is_found(tmp_path: pathlib.Path, fault: tuple[str, str]) -> None:
    with pytest.raises(AssertionError):
        for seed in range(40, 60):
            check(tmp_path, seed, 100_000, fault=fault)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_twenty_longer_runs(tmp_path: pathlib.Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check(tmp_path, seed, 400_000, rate=NOMINAL + int(rng.integers(-NOMINAL // 4_000, NOMINAL // 4_000)), uneven=bool(rng.integers(0, 2)))
