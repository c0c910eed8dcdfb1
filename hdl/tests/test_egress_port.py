"""Queues and selection of a port alone: credit of every shaped class, cycle by cycle, is that of the machine of core.

Behind a closed gate credit stands still (8.6.8.2): the time of the machine stands still there. The
selection is held against the rules: the highest class that waits, may pass its gate and is not in debt.
"""

from __future__ import annotations

import pathlib
import subprocess

import numpy as np
import pytest
from tautwire.machines import CreditBasedShaper
from verilated import harness

CLASSES, LANES = 8, 4
CYCLE_PS = 8_000
RATE_BPS = 1_000_000_000
# What credit counts in: 8e-9 bit, in 1e-12 bit.
UNIT = 8_000
# From a frame's enqueueing to where selection sees it.
LAG = 20


class Run:
    """Random frames of all classes; classes 4 to 7 have shaped queues by the mask."""

    def __init__(self, folder: pathlib.Path, seed: int, cycles: int, *, gates: int = 0xFF, shaped: int = 0, changes: bool = False) -> None:
        """``gates`` all the time, or other ones at random times."""
        rng = np.random.default_rng(seed)
        self.shaped, self.cycles = shaped, cycles
        begins = np.concatenate([[0], np.cumsum(rng.integers(1, 3_000, cycles // 1_500))]) if changes else np.array([0])
        states = np.array([[begin, rng.integers(0, 0x100) if begin else gates] for begin in begins.tolist()])
        #: Of every cycle the gates that the choice of its next one sees.
        self.gates = states[np.searchsorted(begins, np.maximum(np.arange(cycles) - 1, 0), side="right") - 1, 1]
        self.slopes = [int(rng.integers(10_000_000, 400_000_000)) for _ in range(CLASSES)]
        # Bursts and pauses, so that queues run empty in credit and in debt.
        gaps = np.where(rng.random(cycles) < 0.93, rng.integers(1, 120, cycles), rng.integers(500, 4_000, cycles))
        times = np.cumsum(gaps)
        times = times[times < cycles - 100]
        count = len(times)
        frames = np.array(
            [
                times,
                rng.integers(0, CLASSES, count),
                rng.integers(0, LANES, count),
                rng.choice([60, 61, 100, 200, 600, 1_518], count, p=[0.3, 0.2, 0.2, 0.2, 0.08, 0.02]),
            ]
        ).T
        head = [count, cycles, len(states), shaped, *self.slopes, *states.ravel()]
        np.concatenate([head, frames.ravel()]).astype(np.uint64).tofile(folder / "script")
        binary = harness("egress_port", "egress_port", {"Depth": 8})
        done = subprocess.run([binary, folder / "script", folder / "out"], check=False, timeout=300)
        assert done.returncode == 0
        out = np.fromfile(folder / "out", dtype=np.int64)
        self.frames, self.enqueued = frames, out[:count]
        trace = out[count:].reshape(cycles, 3 + CLASSES)
        self.start, self.octets, self.busy = trace[:, 0] - 1, trace[:, 1], trace[:, 2]
        # 48 bits, signed.
        self.credit = (trace[:, 3:] << 16) >> 16

    def waiting(self, traffic_class: int) -> np.ndarray:
        """Of every cycle, how many frames of a class stand in its queues."""
        change = np.zeros(self.cycles + 1, dtype=np.int64)
        mine = (self.frames[:, 1] == traffic_class) & (self.enqueued >= 0)
        np.add.at(change, self.enqueued[mine] + 1, 1)
        np.add.at(change, np.flatnonzero(self.start == traffic_class) + 1, -1)
        return np.cumsum(change[:-1])


@pytest.mark.parametrize(("seed", "changes"), [(1, False), (2, False), (4, True), (5, True)])
def test_credit_is_that_of_the_machine_in_every_cycle(tmp_path: pathlib.Path, seed: int, changes: bool) -> None:
    run = Run(tmp_path, seed, 200_000, shaped=0b1110_0000, changes=changes)
    stood = 0
    for traffic_class in (5, 6, 7):
        waiting = run.waiting(traffic_class)
        assert waiting.min() == 0 and waiting.max() > 1
        starts = np.flatnonzero(run.start == traffic_class)
        assert len(starts) > (15 if changes else 30)
        # The credit of cycle k is what is left of the cycles before; a frame is charged from the next cycle on.
        ends = starts + 25 + run.octets[starts]
        charged = np.zeros(run.cycles + 2_000, dtype=bool)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            charged[start + 1 : end] = True
        # Time of the machine: that in which the gate is open, or a frame is charged. Behind a closed gate nothing is given up.
        is_open = (run.gates >> traffic_class & 1).astype(bool)
        goes_on = charged | np.concatenate([is_open, np.ones(2_000, dtype=bool)])
        times = np.concatenate([[0], np.cumsum(goes_on)]) * CYCLE_PS
        until = np.zeros(run.cycles, dtype=np.int64)
        until[starts + 1] = times[ends]
        waited = np.concatenate([[False], (waiting > 0)[:-1] | ~is_open[:-1]])
        machine = CreditBasedShaper(idle_slope_bps=run.slopes[traffic_class], rate_bps=RATE_BPS)
        credits = machine.replay(times[: run.cycles].tolist(), waited.tolist(), until.tolist())
        assert (run.credit[:, traffic_class] * UNIT == np.array(credits)).all()
        assert min(credits) < 0 < max(credits)
        stood += np.count_nonzero(~goes_on[: run.cycles] & (run.credit[:, traffic_class] != 0))
    assert (stood > 1_000) == changes, "credit of both signs stands still"
    assert not run.credit[:, :5].any(), "a class without shaper has no credit"


def test_a_long_closed_gate_gives_no_credit(tmp_path: pathlib.Path) -> None:
    run = Run(tmp_path, 6, 60_000, gates=0b1101_1111, shaped=0b0010_0000)
    assert run.waiting(5).max() > 5 and not run.credit.any()


@pytest.mark.parametrize(("gates", "shaped"), [(0xFF, 0b0110_0000), (0b1011_0101, 0b0110_0000), (0x0F, 0)])
def test_the_highest_class_that_may_be_sent_is_sent(tmp_path: pathlib.Path, gates: int, shaped: int) -> None:
    run = Run(tmp_path, 3, 100_000, gates=gates, shaped=shaped)
    waiting = np.array([run.waiting(c) for c in range(CLASSES)])
    seen = waiting > 0
    for lag in range(1, LAG + 1):
        seen[:, lag:] &= waiting[:, :-lag] > 0
    open_ = np.array([bool(gates >> c & 1) for c in range(CLASSES)])[:, None]
    debt = np.array([(shaped >> c & 1) * (run.credit[:, c] < 0) for c in range(CLASSES)]).astype(bool)
    starts = np.flatnonzero(run.start >= 0)
    assert len(starts) > 50
    for k in starts:
        chosen = run.start[k]
        assert waiting[chosen, k] > 0 and open_[chosen, 0] and not debt[chosen, k]
        # The choice is made a cycle before the start.
        better = seen[chosen + 1 :, k] & open_[chosen + 1 :, 0] & ~debt[chosen + 1 :, k - 1]
        assert not better.any(), (k, chosen)
    # The line is never free while something might have been sent all the time of a scan.
    may = (seen & open_ & ~debt).any(axis=0)
    idle = np.convolve((run.busy == 0) & may, np.ones(LAG + 2, dtype=int), "valid")
    assert idle.max() < LAG + 2
    assert set(run.start[starts]) <= {c for c in range(CLASSES) if gates >> c & 1}
