"""Minimum frames without a gap at all ports, each round a permutation, and what a switch must make of them.

Three frames of ten belong to streams: three a port, one to every other port, of classes 5 and 6 under ATS, offered
about as much as their schedulers allow, so that a fifth of all frames is held back and one in a hundred discarded. Class 4 has credit-based shapers; classes 0 to 2 have strict priority. In the
middle the switch is reset under load and set up anew; registers are written and read all the time.

The model: eligibility times and discards by the machine of core, from the times at which frames came in; then the
rules of transmission selection, for every frame against all that were sent after it.
"""

from __future__ import annotations

import pathlib
import struct
import sys
import tempfile
import zlib

import numpy as np
import way
from latency import OVERHEAD, host, stream
from switch_run import (
    ADDRESSES,
    ARRIVAL_AFTER,
    PORTS,
    QUANTUM_PS,
    START_BEFORE,
    TICKS_PER_CYCLE,
    Access,
    Frame,
    Outcome,
    Setting,
    address_setting,
    ats_setting,
    credit_setting,
    frame_octets,
    group_setting,
    nothing_is_left,
    port_address,
    run,
    scheduler_setting,
    stream_setting,
    vlan_setting,
    writes_of,
)
from tautwire.machines import AtsSchedulers

DELAY_MAX_TICKS = 1000
RESIDENCE_TICKS = 120_000
SHIFTS = PORTS - 1
STREAMS = PORTS * SHIFTS
SHARE = 0.3
CYCLE_PS = TICKS_PER_CYCLE * QUANTUM_PS
FRAME_CYCLES = 84
# From the end of a frame to its start on a free line, at most; what is held is seen so much after its time (`way.py`).
LAG, SCAN = way.lag(PORTS), way.scan(PORTS)
# A reset, until frames are taken again: 4 096 entries of the tables, and the settings.
SETTLING = 30_000


def index_of(port: int, shift: int) -> int:
    return SHIFTS * port + shift - 1


def rate_bps(index: int) -> int:
    """About what a stream is offered on average: a third of its port's share of the line."""
    offered = 10**9 * SHARE / SHIFTS
    return int(offered * (0.97 + 0.01 * (index % 4)))


def settings() -> list[Setting]:
    found = [ats_setting(DELAY_MAX_TICKS, OVERHEAD, 0b0110_0000)]
    found += [credit_setting(port, 4, 300_000_000) for port in range(PORTS)]
    found += [address_setting(host(port), 1, 1 << port) for port in range(PORTS)]
    for port in range(PORTS):
        for shift in range(1, PORTS):
            k = index_of(port, shift)
            found.append(address_setting(stream(k), 5, 1 << (port + shift) % PORTS))
            found.append(stream_setting(stream(k), 5, k))
            found.append(scheduler_setting(k, k, rate_bps(k), 400))
            found.append(group_setting(k, RESIDENCE_TICKS))
    return found


class Phase:
    """Frames of one part of the run, between two resets."""

    def __init__(self, rng: np.random.Generator, first: int, rounds: int, cycle: int) -> None:
        count = PORTS * rounds
        self.shift = np.repeat(rng.integers(1, PORTS, rounds), PORTS)
        self.port = np.tile(np.arange(PORTS), rounds)
        self.is_stream = rng.random(count) < SHARE
        self.index = SHIFTS * self.port + self.shift - 1
        plain = np.array([0, 0, 1, 2, 4])[rng.integers(0, 5, count)]
        self.rank = np.where(self.is_stream, 5 + self.index % 2, plain)
        self.target = (self.port + self.shift) % PORTS
        heads = [[frame_octets(host(t), host(p), b"")[:14] for t in range(PORTS)] for p in range(PORTS)]
        streams = [frame_octets(stream(k), host(k // SHIFTS), b"")[:14] for k in range(STREAMS)]
        self.frames = []
        for k in range(count):
            port, rank = int(self.port[k]), int(self.rank[k])
            if self.is_stream[k]:
                head, vid = streams[int(self.index[k])], 5
            else:
                head, vid = heads[port][int(self.target[k])], 1
            body = head + struct.pack(">HHI38x", rank << 13 | vid, 0x88B5, first + k)
            self.frames.append(Frame(port, cycle, body + zlib.crc32(body).to_bytes(4, "little")))
        self.first = first

    def arrive(self) -> None:
        """Takes over from the run when the frames came in; asks the machine for their eligibility."""
        sfd = np.array([frame.sfd for frame in self.frames], dtype=np.int64)
        self.end = sfd + 64 + ARRIVAL_AFTER
        bank = AtsSchedulers(
            quantum_ps=QUANTUM_PS,
            charged_overhead_octets=OVERHEAD,
            processing_delay_max_ps=DELAY_MAX_TICKS * QUANTUM_PS,
        )
        for k in range(STREAMS):
            bank.add_scheduler(
                bank.add_group(max_residence_time_ps=RESIDENCE_TICKS * QUANTUM_PS), rate_bps=rate_bps(k), burst_octets=400
            )
        mine = np.flatnonzero(self.is_stream)
        mine = mine[np.argsort(self.end[mine], kind="stable")]
        times = bank.process(self.index[mine].tolist(), (self.end[mine] * CYCLE_PS).tolist(), [64] * len(mine))
        self.ticks = self.end * TICKS_PER_CYCLE
        self.ticks[mine] = times // QUANTUM_PS
        self.may = self.end.copy()
        self.may[mine] = np.where(times < 0, -1, -(-times // CYCLE_PS))
        self.discarded = self.may < 0
        self.held = self.may > self.end + DELAY_MAX_TICKS // TICKS_PER_CYCLE + 1


def check_port(phase: Phase, number: np.ndarray, start: np.ndarray) -> None:
    """Frames that a port sent, in the order of their starts: nothing early, none that was not its turn."""
    rank, may, lane = phase.rank[number], phase.may[number], phase.port[number]
    ready = np.maximum(may + SCAN, phase.end[number] - ARRIVAL_AFTER + LAG)
    assert (start >= may).all(), "none before its eligibility time"
    shaped = rank >= 5
    # Among equals the lowest port.
    key = phase.ticks[number] * PORTS + lane
    for later in range(1, 120):
        waits = (ready[later:] < start[:-later]) & (rank[later:] != 4)
        assert not (waits & (rank[later:] > rank[:-later])).any(), "a higher class waited"
        same = waits & shaped[later:] & (rank[later:] == rank[:-later])
        assert not (same & (key[later:] < key[:-later])).any(), "an earlier one of the class waited"
    # The line was not left free while a frame without a shaper of credit waited.
    free = np.concatenate([[0], start[:-1] + FRAME_CYCLES])
    assert ((start <= np.maximum(free, ready) + 16) | (rank == 4)).all()
    pair = phase.index[number] * 8 + rank
    order = np.lexsort((start, pair))
    same_pair = pair[order][1:] == pair[order][:-1]
    assert (number[order][1:] > number[order][:-1])[same_pair].all(), "in order, from port to port in a class"


def busy_registers(start: int, end: int, step: int) -> list[Access]:
    """Writes and reads of registers all the time, of everything that no frame here depends on; idleSlope too."""
    found = []
    for k, cycle in enumerate(range(start, end, step)):
        unused = b"\x02\x77\x00\x00\x00" + bytes([k % 16])
        batch: list[Setting] = [
            address_setting(unused, 3, 0b0101, remove=k % 3 == 2),
            stream_setting(unused, 3, k % 64, remove=k % 5 == 4),
            scheduler_setting(100 + k % 900, 32 + k % 32, 10_000_000 + k, 2_000),
            vlan_setting(100 + k % 3_000, 0b0011),
        ]
        found += writes_of(batch, cycle)
        found.append(Access(cycle, port_address(k % PORTS, "idle_slope", 4), 300_000_000 + k % 1_000))
        found.append(Access(cycle, port_address(k % PORTS, "received")))
        found.append(Access(cycle, ADDRESSES["time_low"]))
    return found


def full_mesh(seed: int, rounds: int, folder: pathlib.Path) -> tuple[list[Phase], Outcome, int]:
    """The run, and the cycle of its reset; a third of the rounds before it."""
    rng = np.random.default_rng(seed)
    begin = 1_000
    before = Phase(rng, 0, rounds // 3, begin)
    reset_at = begin + FRAME_CYCLES * (rounds // 3) - 2_500
    again = reset_at + SETTLING
    after = Phase(rng, len(before.frames), rounds - rounds // 3, again)
    end = again + FRAME_CYCLES * (rounds - rounds // 3)
    step = max(4_000, rounds // 4)
    during = busy_registers(begin + 500, reset_at - 10_000, step)
    during += [*writes_of(settings(), reset_at + 10), *busy_registers(again, end - 5_000, step)]
    outcome = run(settings(), before.frames + after.frames, folder, quiet=60_000, reset_at=reset_at, during=during)
    return [before, after], outcome, reset_at


def check(phases: list[Phase], outcome: Outcome, reset_at: int) -> dict[str, float]:
    """Frame by frame; the shares of what was held back and discarded."""
    for phase in phases:
        phase.arrive()
    before, after = phases
    port = np.array([one.port for one in outcome.sent])
    start = np.array([one.sfd for one in outcome.sent]) - START_BEFORE
    number_of_octets = np.array([len(one.octets) for one in outcome.sent])
    whole = number_of_octets == 64
    number = np.array([int.from_bytes(one.octets[18:22], "big") if len(one.octets) == 64 else -1 for one in outcome.sent])
    # Only the frames that were on the lines at the reset are cut off, one a port.
    # One that is cut off in its preamble has no start of its own.
    cut = start[~whole & (number_of_octets > 0)]
    assert ((cut < reset_at) & (cut > reset_at - FRAME_CYCLES)).all() and (~whole).sum() <= PORTS
    given = before.frames + after.frames
    assert all(one.octets == given[k].octets for one, k in zip(outcome.sent, number, strict=True) if k >= 0)
    first = start < reset_at
    for phase, mine in ((before, first & whole), (after, ~first)):
        numbers = number[mine] - phase.first
        assert (phase.target[numbers] == port[mine]).all() and not phase.discarded[numbers].any()
        sent = np.zeros(len(phase.frames), dtype=np.int64)
        np.add.at(sent, numbers, 1)
        assert sent.max() == 1, "none twice"
        expected = ~phase.discarded
        if phase is before:
            # What came in late before the reset is lost by it.
            expected &= phase.end < reset_at - RESIDENCE_TICKS // TICKS_PER_CYCLE - 64 * FRAME_CYCLES
        assert (sent[expected] == 1).all(), "none missing"
        for p in range(PORTS):
            here = numbers[port[mine] == p]
            at = start[mine][port[mine] == p]
            order = np.argsort(at)
            check_port(phase, here[order], at[order])
    # The counters are those since the reset.
    assert outcome.counters["received"] == [len(after.frames) // PORTS] * PORTS
    for name in ("short", "long", "check", "no_cell", "no_port", "not_member", "queue_full", "cut_through", "bad"):
        assert outcome.counters[name] == [0] * PORTS, name
    discards = np.bincount(after.index[after.discarded], minlength=STREAMS)
    assert outcome.discards[:STREAMS, 1].tolist() == discards.tolist() and not outcome.discards[:, 0].any()
    count = sum(len(phase.frames) for phase in phases)
    return {
        "frames": count,
        "held": sum(int((phase.held & ~phase.discarded).sum()) for phase in phases) / count,
        "discarded": sum(int(phase.discarded.sum()) for phase in phases) / count,
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        ran, result, when = full_mesh(int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(name))
        print(check(ran, result, when))
        nothing_is_left(result)
