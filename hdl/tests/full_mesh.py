"""Minimum frames without a gap at all ports, each round a permutation, and what a switch must make of them.

Three frames of ten belong to streams: three a port, one to every other port, of classes 5 and 6 under ATS, offered
about as much as their schedulers allow, so that a fifth of all frames is held back and one in a hundred discarded.
Classes 3 and 4 have credit-based shapers and are offered, for stretches, more than their idleSlopes, once until their
queues are full; classes 0 to 2 have strict priority. In the middle the switch is reset under load and set up anew;
registers are written and read all the time, idleSlopes among them.

The model: eligibility times and discards by the machine of core, from the times at which frames came in; transmission
selection and credit, with core's machine, from the times at which they came to the queues (``selection.py``): every
start to the cycle, and what found its queue full. Beside that the rules, for every frame against those sent after it.
"""

from __future__ import annotations

import dataclasses
import pathlib
import struct
import sys
import tempfile
import zlib
from collections.abc import Mapping

import numpy as np
import selection
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
    Sent,
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
from verilated import synth

DELAY_MAX_TICKS = 1000
RESIDENCE_TICKS = 120_000
SHIFTS = PORTS - 1
STREAMS = PORTS * SHIFTS
SHARE = 0.3
CYCLE_PS = TICKS_PER_CYCLE * QUANTUM_PS
FRAME_CYCLES = 84
# A reset, until frames are taken again: 4 096 entries of the tables, and the settings.
SETTLING = 30_000
# The small build that is synthesised.
BUILD = synth.BUILDS["small"] | ({} if PORTS == 4 else {"Ports": PORTS, "CutThrough": int(PORTS <= 4)})
# idleSlope in bit/s by class, more than is offered on average and less than in stretches.
SLOPES = {3: 125_000_000, 4: 170_000_000}
NOTHING: Mapping[int, int] = {}
# Shares of the classes 0 to 4 in what belongs to no stream, outside of stretches and in them.
LIGHT, HEAVY = (0.35, 0.2, 0.2, 0.1, 0.15), (0.2, 0.1, 0.1, 0.25, 0.35)
# Rounds between the beginnings of two stretches, and of one; at last one that fills queues.
EVERY, STRETCH, LAST = 600, 200, 600


def index_of(port: int, shift: int) -> int:
    return SHIFTS * port + shift - 1


def rate_bps(index: int) -> int:
    """About what a stream is offered on average: a third of its port's share of the line."""
    offered = 10**9 * SHARE / SHIFTS
    return int(offered * (0.97 + 0.01 * (index % 4)))


def settings() -> list[Setting]:
    found = [ats_setting(DELAY_MAX_TICKS, OVERHEAD, 0b0110_0000)]
    found += [credit_setting(port, rank, slope) for port in range(PORTS) for rank, slope in SLOPES.items()]
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
        at = np.arange(count) // PORTS
        heavy = (at % EVERY >= EVERY - STRETCH) | (at >= rounds - LAST) & (rounds > 2 * LAST)
        light = rng.choice(5, count, p=LIGHT)
        plain = np.where(heavy, rng.choice(5, count, p=HEAVY), light)
        self.rank = np.where(self.is_stream, 5 + self.index % 2, plain)
        self.target = (self.port + self.shift) % PORTS
        heads = [[frame_octets(host(t), host(p), b"")[:14] for t in range(PORTS)] for p in range(PORTS)]
        streams = [frame_octets(stream(k), host(k // SHIFTS), b"")[:14] for k in range(STREAMS)]
        # After the reset the ports' frames begin at times of their own.
        begin = cycle + (rng.integers(0, FRAME_CYCLES, PORTS) if first else np.zeros(PORTS, dtype=int))
        self.frames = []
        for k in range(count):
            port, rank = int(self.port[k]), int(self.rank[k])
            if self.is_stream[k]:
                head, vid = streams[int(self.index[k])], 5
            else:
                head, vid = heads[port][int(self.target[k])], 1
            body = head + struct.pack(">HHI38x", rank << 13 | vid, 0x88B5, first + k)
            self.frames.append(Frame(port, int(begin[port]), body + zlib.crc32(body).to_bytes(4, "little")))
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
            bank.add_scheduler(bank.add_group(max_residence_time_ps=RESIDENCE_TICKS * QUANTUM_PS), rate_bps=rate_bps(k), burst_octets=400)
        mine = np.flatnonzero(self.is_stream)
        mine = mine[np.argsort(self.end[mine], kind="stable")]
        times = bank.process(self.index[mine].tolist(), (self.end[mine] * CYCLE_PS).tolist(), [64] * len(mine))
        self.ticks = self.end * TICKS_PER_CYCLE
        self.ticks[mine] = times // QUANTUM_PS
        self.may = self.end.copy()
        self.may[mine] = np.where(times < 0, -1, -(-times // CYCLE_PS))
        self.discarded = self.may < 0
        self.held = self.may > self.end + DELAY_MAX_TICKS // TICKS_PER_CYCLE + 1


def number_of(one: Sent) -> int:
    """What a frame carries, if it is whole."""
    return int.from_bytes(one.octets[18:22], "big") if len(one.octets) == 64 else -1


@dataclasses.dataclass(frozen=True)
class Run:
    before: Phase
    after: Phase
    outcome: Outcome
    reset_at: int
    #: What was written and read meanwhile.
    during: list[Access]


def check_port(phase: Phase, number: np.ndarray, start: np.ndarray) -> None:
    """Frames that a port sent, in the order of their starts: nothing early, none that was not its turn."""
    rank, may, lane = phase.rank[number], phase.may[number], phase.port[number]
    ready = np.maximum(may + way.due(), phase.end[number] - ARRIVAL_AFTER + way.lag(PORTS))
    assert (start >= may).all(), "none before its eligibility time"
    shaped, credit = rank >= 5, np.isin(rank, list(SLOPES))
    # Among equals the lowest port.
    key = phase.ticks[number] * PORTS + lane
    for later in range(1, 120):
        waits = (ready[later:] < start[:-later]) & ~credit[later:]
        assert not (waits & (rank[later:] > rank[:-later])).any(), "a higher class waited"
        same = waits & shaped[later:] & (rank[later:] == rank[:-later])
        assert not (same & (key[later:] < key[:-later])).any(), "an earlier one of the class waited"
    # The line was not left free while a frame without a shaper of credit waited.
    free = np.concatenate([[0], start[:-1] + FRAME_CYCLES])
    assert ((start <= np.maximum(free, ready) + 16) | credit).all()
    pair = phase.index[number] * 8 + rank
    order = np.lexsort((start, pair))
    same_pair = pair[order][1:] == pair[order][:-1]
    assert (number[order][1:] > number[order][:-1])[same_pair].all(), "in order, from port to port in a class"


def changes_of(run: Run, port: int, rank: int, span: range) -> list[tuple[int, int]]:
    """What an idleSlope was from which cycle of the run on, first of all in its settings."""
    place = port_address(port, "idle_slope", rank)
    written = [
        (answer[0], access.value)
        for access, answer in zip(run.during, run.outcome.answers, strict=True)
        if access.address == place and access.value is not None and answer[0] in span
    ]
    return [(span.start, SLOPES[rank]), *written]


def check_starts(run: Run, phase: Phase, more: Mapping[int, int] = NOTHING) -> tuple[list[set[int]], set[int]]:
    """Every start of a phase is that of the model, to the cycle.

    Returns by port the frames that found their queue full, and those whose starts a reset prevents by the model. A model
    whose idleSlopes are by so much more than those of the switch, by class, must differ.
    """
    span = range(run.reset_at) if phase is run.before else range(run.reset_at, run.outcome.cycles)
    orders = {
        (port, rank): np.flatnonzero((phase.port == port) & (phase.rank == rank) & ~phase.discarded).tolist()
        for port in range(PORTS)
        for rank in range(7)
    }
    rows = run.outcome.enqueued
    rows = rows[(rows[:, 0] >= span.start) & (rows[:, 0] < span.stop)]
    found = selection.came(rows, PORTS, orders, (1 << phase.target).tolist())
    number = np.array([one.number for queued in found.queued for one in queued])
    at = np.array([one.cycle for queued in found.queued for one in queued]) + found.offset
    eligible = np.array([one.eligible_ticks for queued in found.queued for one in queued])
    assert (eligible == phase.ticks[number] - found.offset * TICKS_PER_CYCLE).all(), "eligibility is that of the machine"
    came = np.zeros(len(phase.frames), dtype=bool)
    came[number] = True
    in_time = phase.end - ARRIVAL_AFTER + way.queued(PORTS) < span.stop - 1
    assert (came == ~phase.discarded)[in_time].all(), "all but the discarded come to the queues"
    late = set(np.flatnonzero(~came & ~in_time).tolist())
    most = int((at - phase.end[number]).max()) + ARRIVAL_AFTER
    assert most <= way.queued(PORTS), f"in the queues in time, but for {most - way.queued(PORTS)} cycles"
    for port in range(PORTS):
        changes = {
            rank: [(cycle - found.offset, value + more.get(rank, 0)) for cycle, value in changes_of(run, port, rank, span)]
            for rank in SLOPES
        }
        starts = selection.starts_of(found, port, changes, PORTS)
        late |= {one for choice, one in starts if choice + START_BEFORE + 64 >= span.stop}
        model = [(choice + START_BEFORE, one) for choice, one in starts if choice + START_BEFORE < span.stop]
        # One that the reset cuts off has its start, but not all of its number.
        cut = {choice: one for choice, one in model if choice + 8 + 64 > span.stop}
        sent = [one for one in run.outcome.sent if one.port == port and one.octets and one.sfd in span]
        ran = [(one.sfd, cut.get(one.sfd, number_of(one) - phase.first)) for one in sent]
        assert [one for one in model if one[0] < span.stop - 1] == [one for one in ran if one[0] < span.stop - 1], "starts"
    return found.dropped, late


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
        rank = min(SLOPES) + k // PORTS % len(SLOPES)
        found.append(Access(cycle, port_address(k % PORTS, "idle_slope", rank), SLOPES[rank] + 1_000_000 * (k % 7)))
        found.append(Access(cycle, port_address(k % PORTS, "received")))
        found.append(Access(cycle, ADDRESSES["time_low"]))
    return found


def full_mesh(seed: int, rounds: int, folder: pathlib.Path) -> Run:
    """A run with a third of its rounds before the reset."""
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
    outcome = run(settings(), before.frames + after.frames, folder, quiet=60_000, reset_at=reset_at, during=during, build=BUILD)
    for phase in (before, after):
        phase.arrive()
    return Run(before, after, outcome, reset_at, during)


def check(run: Run) -> dict[str, float]:
    """Frame by frame; the shares of what was held back and discarded, and what found its queue full."""
    before, after, outcome, reset_at = run.before, run.after, run.outcome, run.reset_at
    port = np.array([one.port for one in outcome.sent])
    start = np.array([one.sfd for one in outcome.sent]) - START_BEFORE
    number_of_octets = np.array([len(one.octets) for one in outcome.sent])
    whole = number_of_octets == 64
    number = np.array([number_of(one) for one in outcome.sent])
    # Only the frames that were on the lines at the reset are cut off, one a port.
    # One that is cut off in its preamble has no start of its own.
    cut = start[~whole & (number_of_octets > 0)]
    assert ((cut < reset_at) & (cut > reset_at - FRAME_CYCLES)).all() and (~whole).sum() <= PORTS
    given = before.frames + after.frames
    assert all(one.octets == given[k].octets for one, k in zip(outcome.sent, number, strict=True) if k >= 0)
    first = start < reset_at
    queue_full = 0
    for phase, mine in ((before, first & whole), (after, ~first)):
        dropped, late = check_starts(run, phase)
        queue_full += sum(map(len, dropped))
        numbers = number[mine] - phase.first
        assert (phase.target[numbers] == port[mine]).all() and not phase.discarded[numbers].any()
        sent = np.zeros(len(phase.frames), dtype=int)
        np.add.at(sent, numbers, 1)
        full = sorted(one for found in dropped for one in found)
        expected = ~phase.discarded
        expected[full + sorted(late)] = False
        assert (sent == expected).all(), "none missing, none twice, and none that found its queue full"
        for p in range(PORTS):
            here = numbers[port[mine] == p]
            at = start[mine][port[mine] == p]
            order = np.argsort(at)
            check_port(phase, here[order], at[order])
    # The counters are those since the reset.
    assert outcome.counters["received"] == [len(after.frames) // PORTS] * PORTS
    for name in ("short", "long", "check", "no_cell", "no_port", "not_member", "cut_through", "bad"):
        assert outcome.counters[name] == [0] * PORTS, name
    assert outcome.counters["queue_full"] == [len(found) for found in dropped]
    discards = np.bincount(after.index[after.discarded], minlength=STREAMS)
    assert outcome.discards[:STREAMS, 1].tolist() == discards.tolist() and not outcome.discards[:, 0].any()
    phases = (before, after)
    count = sum(len(phase.frames) for phase in phases)
    return {
        "frames": count,
        "held": sum(int((phase.held & ~phase.discarded).sum()) for phase in phases) / count,
        "discarded": sum(int(phase.discarded.sum()) for phase in phases) / count,
        "queue_full": queue_full,
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        ran = full_mesh(int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(name))
        print(check(ran))
        nothing_is_left(ran.outcome)
