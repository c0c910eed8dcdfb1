"""The ATS engine against the machine of core and against exact arithmetic, frame by frame.

The engine runs in a Verilated harness over random traffic; the machine decides over the same frames in
one call. Every eligibility time, every discard and every counter must be the same.
"""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess

import numpy as np
import pytest
from tautwire.machines import AtsSchedulers
from verilated import harness

QUANTUM_PS = 500
TICKS_PER_CYCLE = 16
OCTET_PS = 8 * 10**12
LATENCY_MIN = 13


@dataclasses.dataclass
class Build:
    """Parameters of the engine, and how its test clock runs."""

    schedulers: int
    groups: int
    time_width: int
    octet_time_width: int
    fill_width: int
    start: int
    idle_ticks_max: int

    def binary(self) -> pathlib.Path:
        parameters = {
            "Schedulers": self.schedulers,
            "Groups": self.groups,
            "TimeWidth": self.time_width,
            "OctetTimeWidth": self.octet_time_width,
            "FillWidth": self.fill_width,
        }
        return harness("ats_engine", "ats_engine", parameters, [f"-DTIME_WIDTH={self.time_width}"])


# 1024 schedulers for each of four ports; time runs through its wrap soon after the start.
LARGE = Build(4096, 64, 48, 40, 36, 2**48 - 2**27, 2**14)
# Time wraps every 2.1 s, and the clock of the test hurries when nothing happens.
WRAPPING = Build(64, 16, 32, 32, 24, 0, 2**17)


@dataclasses.dataclass
class Traffic:
    """Schedulers, groups and frames of a run; times in ticks."""

    group: np.ndarray
    rate_bps: np.ndarray
    burst_octets: np.ndarray
    residence_max: np.ndarray
    arrival: np.ndarray
    scheduler: np.ndarray
    octets: np.ndarray


def traffic(build: Build, frames: int, seed: int, pauses: float) -> Traffic:
    """Random schedulers, and frames that come in batches, in trains of one scheduler, and alone."""
    rng = np.random.default_rng(seed)
    rate_min = OCTET_PS // QUANTUM_PS // (2 ** (build.octet_time_width - 24) - 1) + 1
    rate_bps = np.exp(rng.uniform(np.log(rate_min), np.log(1e9), build.schedulers)).astype(np.int64)
    burst_octets = rng.integers(84, 4000, build.schedulers)
    # A bucket fills within what the width of durations holds.
    fill_max_ps = 2**build.fill_width * QUANTUM_PS
    burst_max = [int(rate) * fill_max_ps // (8 * 10**12) - 1 for rate in rate_bps]
    burst_octets = np.minimum(burst_octets, burst_max)
    group = rng.integers(0, build.groups, build.schedulers)
    residence_max = np.exp2(rng.uniform(14, 24, build.groups)).astype(np.int64)
    busy = rng.permutation(build.schedulers)[: max(16, build.schedulers // 8)]
    pick = np.where(rng.random(frames) < 0.7, busy[rng.integers(0, len(busy), frames)], -1)
    scheduler = np.where(pick < 0, rng.integers(0, build.schedulers, frames), pick)
    repeated = rng.random(frames) < 0.3
    for k in range(1, frames):
        if repeated[k]:
            scheduler[k] = scheduler[k - 1]
    kind = rng.random(frames)
    gap = np.where(kind < 0.5, rng.integers(0, 3, frames), rng.integers(5, 200, frames))
    pause = rng.integers(2**14, 2**22, frames) * TICKS_PER_CYCLE // 4
    gap = np.where(kind < 1 - pauses, gap, pause // TICKS_PER_CYCLE)
    arrival = np.cumsum(gap) * TICKS_PER_CYCLE + 64
    octets = rng.integers(64, 1523, frames)
    return Traffic(group, rate_bps, burst_octets, residence_max, arrival, scheduler, octets)


def run_engine(build: Build, load: Traffic, folder: pathlib.Path, overhead: int, delay_max: int) -> dict[str, np.ndarray]:
    """The decisions of the engine; eligibility times in ticks after the first frame may come."""
    divisor = load.rate_bps * QUANTUM_PS
    octet_time = [-(-(OCTET_PS << 24) // int(one)) for one in divisor]
    bits = load.burst_octets * 8
    fill = [int(b) * 10**12 // int(r) // QUANTUM_PS for b, r in zip(bits, load.rate_bps, strict=True)]
    assert max(octet_time) < 2**build.octet_time_width and max(fill) < 2**build.fill_width
    rows = np.array([load.group, octet_time, fill, load.burst_octets], dtype=np.uint64).T
    head = [build.schedulers, build.groups, len(load.arrival), build.start, TICKS_PER_CYCLE]
    head += [build.idle_ticks_max, overhead, delay_max]
    frames = np.array([load.arrival, load.scheduler, load.octets], dtype=np.uint64).T
    words = [np.array(head, dtype=np.uint64), rows.ravel(), load.residence_max.astype(np.uint64), frames.ravel()]
    np.concatenate(words).tofile(folder / "in")
    run = subprocess.run([build.binary(), folder / "in", folder / "out"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    out = np.fromfile(folder / "out", dtype=np.uint64)
    epoch, decisions = int(out[0]), out[1 : 1 + 3 * len(load.arrival)].reshape(-1, 3)
    # Modulo the width: nearest to the arrival, in either direction.
    modulo = 2**build.time_width
    past = np.array([(int(e) - epoch - int(a) + modulo // 2) % modulo - modulo // 2
                     for e, a in zip(decisions[:, 0], load.arrival, strict=True)])  # fmt: skip
    counters = out[1 + 3 * len(load.arrival) :].reshape(-1, 2).astype(np.int64)
    return {
        "eligible": load.arrival + past,
        "burst": decisions[:, 1] == 1,
        "residence": decisions[:, 1] == 2,
        "cycles": decisions[:, 2].astype(np.int64),
        "counters": counters,
    }


def run_machine(build: Build, load: Traffic, overhead: int, delay_max: int) -> np.ndarray:
    """The decisions of the machine of core, in ticks; -1 for a discard."""
    bank = AtsSchedulers(quantum_ps=QUANTUM_PS, charged_overhead_octets=overhead, processing_delay_max_ps=delay_max * QUANTUM_PS)
    for limit in load.residence_max:
        bank.add_group(max_residence_time_ps=int(limit) * QUANTUM_PS)
    for group, rate, burst in zip(load.group, load.rate_bps, load.burst_octets, strict=True):
        bank.add_scheduler(int(group), rate_bps=int(rate), burst_octets=int(burst))
    times = bank.process(load.scheduler.tolist(), (load.arrival * QUANTUM_PS).tolist(), load.octets.tolist())
    return np.where(times < 0, -1, times // QUANTUM_PS)


def compare(build: Build, load: Traffic, folder: pathlib.Path, overhead: int, delay_max: int) -> dict[str, np.ndarray]:
    engine = run_engine(build, load, folder, overhead, delay_max)
    machine = run_machine(build, load, overhead, delay_max)
    discarded = engine["burst"] | engine["residence"]
    np.testing.assert_array_equal(discarded, machine < 0)
    np.testing.assert_array_equal(engine["eligible"][~discarded], machine[~discarded])
    exceeds = load.octets + overhead > load.burst_octets[load.scheduler]
    np.testing.assert_array_equal(engine["burst"], exceeds)
    group = load.group[load.scheduler]
    for column, flag in enumerate(("burst", "residence")):
        counts = np.bincount(group[engine[flag]], minlength=build.groups)
        np.testing.assert_array_equal(engine["counters"][:, column], counts)
    return engine


def never_early(load: Traffic, engine: dict[str, np.ndarray], overhead: int, delay_max: int) -> None:
    """Against exact rationals: no frame is early, none later than two ticks for every frame before it.

    Holds where nothing is discarded for its residence time; such a discard may hang on a rounding.
    """
    empty = {}
    last: dict[int, tuple[int, int]] = {}
    for k in range(len(load.arrival)):
        if engine["burst"][k]:
            continue
        s = int(load.scheduler[k])
        group = int(load.group[s])
        rate, full = int(load.rate_bps[s]), int(load.burst_octets[s]) * OCTET_PS
        # Times are fractions (numerator in ps times rate, rate): one rate in this traffic.
        arrival = int(load.arrival[k]) * QUANTUM_PS * rate
        before = empty.get(s, -full)
        scheduler_eligible = before + (int(load.octets[k]) + overhead) * OCTET_PS
        eligible = max(arrival, last.get(group, (0, 0))[0], scheduler_eligible)
        last[group] = (eligible, last.get(group, (0, 0))[1] + 1)
        empty[s] = scheduler_eligible + max(0, eligible - before - full)
        late = (int(engine["eligible"][k]) - delay_max) * QUANTUM_PS * rate - eligible
        assert 0 <= late <= 2 * last[group][1] * QUANTUM_PS * rate, (k, late)


def test_a_hundred_thousand_frames_of_4096_schedulers_are_those_of_the_machine(tmp_path: pathlib.Path) -> None:
    load = traffic(LARGE, 100_000, seed=1, pauses=0.02)
    engine = compare(LARGE, load, tmp_path, overhead=20, delay_max=1000)
    assert 0.005 < engine["burst"].mean() < 0.5 and 0.005 < engine["residence"].mean() < 0.5
    held = ~engine["burst"] & ~engine["residence"] & (engine["eligible"] > load.arrival + 1000)
    assert held.mean() > 0.05, "many frames have to wait"


def test_time_may_wrap_many_times(tmp_path: pathlib.Path) -> None:
    load = traffic(WRAPPING, 20_000, seed=2, pauses=0.1)
    assert load.arrival[-1] > 3 * 2**32
    engine = compare(WRAPPING, load, tmp_path, overhead=0, delay_max=0)
    assert 0.005 < engine["residence"].mean() < 0.9


def test_no_frame_is_early_against_exact_rationals(tmp_path: pathlib.Path) -> None:
    load = traffic(WRAPPING, 5_000, seed=3, pauses=0.3)
    load.rate_bps[:] = 333_333_331
    load.burst_octets[:] = np.maximum(load.burst_octets, 1600)
    load.residence_max[:] = 2**24 - 1
    load.arrival = np.cumsum(np.random.default_rng(3).integers(1, 9_000, 5_000)) * TICKS_PER_CYCLE + 64
    engine = compare(WRAPPING, load, tmp_path, overhead=20, delay_max=77)
    assert not engine["residence"].any()
    never_early(load, engine, overhead=20, delay_max=77)


def test_the_rate_is_too_low_by_a_tick_a_frame_at_most(tmp_path: pathlib.Path) -> None:
    """Frames that always wait: what is missing of the CIR, against the figures on the engine's page."""
    rates, sizes, count = (999_999_937, 333_333_331, 100_000_007, 65_000_011), (64, 1522), 40
    load = traffic(WRAPPING, count * len(rates) * len(sizes), seed=5, pauses=0.0)
    load.residence_max[:] = 2**WRAPPING.fill_width - 1
    missing = {}
    for which, (rate, size) in enumerate((rate, size) for rate in rates for size in sizes):
        mine = slice(which * count, (which + 1) * count)
        load.group[which], load.rate_bps[which], load.burst_octets[which] = which, rate, size + 21
        load.scheduler[mine], load.octets[mine] = which, size
        missing[rate, size] = mine
    # At line rate, one stream after the other.
    load.arrival = np.cumsum((load.octets + 20) * TICKS_PER_CYCLE) + 64
    engine = compare(WRAPPING, load, tmp_path, overhead=20, delay_max=0)
    assert not engine["residence"].any()
    worst = 0.0
    for (rate, size), mine in missing.items():
        # Of the first half some find the octet that the bucket has beside a frame.
        eligible = engine["eligible"][mine][count // 2 :]
        exact = (len(eligible) - 1) * (size + 20) * OCTET_PS / QUANTUM_PS / rate
        late = int(eligible[-1] - eligible[0]) - exact
        assert 0 < late <= (1 + (size + 20) / 2**24) * (len(eligible) - 1), (rate, size)
        worst = max(worst, late / exact)
    assert 740e-6 < worst < 750e-6


def test_an_idle_engine_decides_in_thirteen_cycles(tmp_path: pathlib.Path) -> None:
    """Frames of four ports at once, each in its own group, a minimum frame time apart."""
    load = traffic(WRAPPING, 4_000, seed=4, pauses=0.0)
    batch = np.arange(4_000) // 4
    load.group[:] = np.arange(WRAPPING.schedulers) % WRAPPING.groups
    load.scheduler = (batch * 7 % 16) * 4 + np.arange(4_000) % 4
    load.arrival = batch * 84 * TICKS_PER_CYCLE + 64
    load.octets[:] = 64
    engine = compare(WRAPPING, load, tmp_path, overhead=20, delay_max=0)
    assert engine["cycles"].min() == LATENCY_MIN
    # Each waits for those before it, and a step of the background refresh may go first.
    beside = engine["cycles"] - LATENCY_MIN - 5 * (np.arange(4_000) % 4)
    assert beside.min() == 0 and beside.max() <= 6
    assert 0.1 < np.mean(beside > 0) < 0.5, "one step of the refresh in 64 cycles"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_a_million_frames_are_those_of_the_machine(tmp_path: pathlib.Path, seed: int) -> None:
    load = traffic(LARGE, 100_000, seed=seed, pauses=0.02)
    compare(LARGE, load, tmp_path, overhead=20, delay_max=1000)
