"""Random traffic through the switch, and what a switch must make of it: who gets a frame, when it may be sent, when it starts.

Streams under ATS in two classes, two classes with credit-based shapers, strict priority beside them.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Mapping

import numpy as np
import selection
import way
from latency import OVERHEAD, host, stream
from switch_run import (
    ARRIVAL_AFTER,
    CLASSES,
    PORTS,
    QUANTUM_PS,
    START_BEFORE,
    TICKS_PER_CYCLE,
    Frame,
    Outcome,
    Sent,
    Setting,
    address,
    address_setting,
    ats_setting,
    credit_setting,
    frame_octets,
    group_setting,
    scheduler_setting,
    stream_setting,
)
from tautwire.machines import AtsSchedulers

BROADCAST = address("ff-ff-ff-ff-ff-ff")
DELAY_MAX_TICKS = 1000
NOTHING: Mapping[int, int] = {}
STREAM_VID = 5


def introductions() -> list[Frame]:
    """One broadcast of every host, apart from each other, so that all addresses are known."""
    frames = [frame_octets(BROADCAST, host(port), b"here", pcp=0) for port in range(PORTS)]
    return [Frame(port, 100 + 1_000 * port, octets) for port, octets in enumerate(frames)]


@dataclasses.dataclass(frozen=True)
class Stream:
    """A stream from a port to others, with its scheduler."""

    port: int
    targets: int
    pcp: int
    rate_bps: int
    burst_octets: int
    scheduler: int
    destination: bytes
    source: bytes

    def group(self) -> int:
        return 8 * self.port + self.pcp


class Mixed:
    """Frames with what they belong to; the settings that they need."""

    def __init__(self, streams: list[Stream], residence: list[int], slopes: Mapping[int, int]) -> None:
        """``residence``: of every group, in ticks; ``slopes``: idleSlopes of classes in bit/s, on all ports."""
        self.streams, self.residence, self.slopes = streams, residence, slopes
        self.frames: list[Frame] = []
        #: Of every frame its stream, or -1.
        self.owner: list[int] = []
        for frame in introductions():
            self.add(frame.port, frame.first_cycle, frame.octets)

    def add(self, port: int, cycle: int, octets: bytes, owner: int = -1) -> None:
        self.frames.append(Frame(port, cycle, octets))
        self.owner.append(owner)

    def settings(self) -> list[Setting]:
        found = [ats_setting(DELAY_MAX_TICKS, OVERHEAD, 0b0110_0000)]
        for one in self.streams:
            if one.destination[0] & 1:
                found.append(address_setting(one.destination, STREAM_VID, one.targets))
                found.append(stream_setting(one.destination, STREAM_VID, one.scheduler))
            else:
                found.append(stream_setting(one.source, STREAM_VID, one.scheduler, source=True))
            found.append(scheduler_setting(one.scheduler, one.group(), one.rate_bps, one.burst_octets))
        # Sources of streams may push out what was learned.
        found += [address_setting(host(port), vid, 1 << port) for port in range(PORTS) for vid in (1, STREAM_VID)]
        found += [group_setting(g, limit) for g, limit in enumerate(self.residence)]
        found += [credit_setting(port, rank, slope) for port in range(PORTS) for rank, slope in self.slopes.items()]
        return found

    def random_frames(self, rng: np.random.Generator, count: int) -> None:
        """Half of them of streams, often of one that sent just now; a quarter of each line is used."""
        at = [10_000] * PORTS
        mine = [[s for s, one in enumerate(self.streams) if one.port == port] for port in range(PORTS)]
        last = [own[0] if own else -1 for own in mine]
        for k in range(count):
            port = int(rng.integers(0, PORTS))
            kind = rng.random()
            number = k.to_bytes(4, "big")
            owner = -1
            if kind < 0.5 and mine[port]:
                if len(mine[port]) < 32 or rng.random() < 0.4:
                    last[port] = mine[port][int(rng.integers(0, len(mine[port])))]
                owner = last[port]
                one = self.streams[owner]
                payload = number + bytes(int(rng.integers(0, 700)))
                octets = frame_octets(one.destination, one.source, payload, vid=STREAM_VID, pcp=one.pcp)
            else:
                target = (port + int(rng.integers(1, PORTS))) % PORTS
                payload = number + bytes(int(rng.integers(0, 1400)))
                pcp = 4 if kind < 0.65 else int(rng.integers(0, 4))
                octets = frame_octets(host(target), host(port), payload, pcp=pcp)
            self.add(port, at[port], octets, owner)
            at[port] += int(len(octets) * rng.exponential(4.0))

    def ports_of(self, k: int) -> list[int]:
        frame = self.frames[k]
        if frame.octets[:6] == BROADCAST:
            return [port for port in range(PORTS) if port != frame.port]
        if self.owner[k] >= 0:
            return [port for port in range(PORTS) if self.streams[self.owner[k]].targets >> port & 1]
        return [frame.octets[5]]

    def eligible(self) -> dict[int, int | None]:
        """Of each frame, by its number: the cycle from which it may be sent; none if ATS discards it."""
        bank = AtsSchedulers(
            quantum_ps=QUANTUM_PS,
            charged_overhead_octets=OVERHEAD,
            processing_delay_max_ps=DELAY_MAX_TICKS * QUANTUM_PS,
        )
        for limit in self.residence:
            bank.add_group(max_residence_time_ps=limit * QUANTUM_PS)
        for one in self.streams:
            bank.add_scheduler(one.group(), rate_bps=one.rate_bps, burst_octets=one.burst_octets)
        ends = {k: frame.sfd + len(frame.octets) + ARRIVAL_AFTER for k, frame in enumerate(self.frames)}
        shaped = sorted((k for k, owner in enumerate(self.owner) if owner >= 0), key=ends.__getitem__)
        cycle_ps = TICKS_PER_CYCLE * QUANTUM_PS
        times = bank.process(
            [self.owner[k] for k in shaped],
            [ends[k] * cycle_ps for k in shaped],
            [len(self.frames[k].octets) for k in shaped],
        )
        eligible: dict[int, int | None] = dict(ends)
        eligible.update({k: None if t < 0 else -(-int(t) // cycle_ps) for k, t in zip(shaped, times, strict=True)})
        return eligible

    def held(self, eligible: Mapping[int, int | None]) -> int:
        """How many frames their schedulers held back."""
        return sum(1 for k, t in eligible.items() if t and t > self.frames[k].sfd + len(self.frames[k].octets) + 200)

    def discards(self, eligible: Mapping[int, int | None]) -> list[int]:
        """By group."""
        found = [0] * len(self.residence)
        for k, may in eligible.items():
            if may is None:
                found[self.streams[self.owner[k]].group()] += 1
        return found


def few_streams(rng: np.random.Generator) -> list[Stream]:
    """Thirty-two, each to a group address of its own and one port or several."""
    found = []
    for k in range(32):
        port = int(rng.integers(0, PORTS))
        targets = int(rng.integers(1, 15)) & ~(1 << port) or 1 << (port + 1) % PORTS
        rate, burst = int(rng.integers(5_000_000, 40_000_000)), int(rng.integers(1_000, 3_000))
        found.append(Stream(port, targets, 5 + k % 2, rate, burst, k, stream(k), host(port)))
    return found


def residence(rng: np.random.Generator, low: int, high: int) -> list[int]:
    return [int(rng.integers(low, high)) for _ in range(PORTS * CLASSES)]


def many_streams(rng: np.random.Generator, count: int, schedulers: int) -> list[Stream]:
    """So many, told apart by their sources, which are drawn; schedulers in no order."""
    scheduler_of = rng.permutation(schedulers)[:count]
    found = []
    for k in range(count):
        port = k % PORTS
        # A unicast source that is nobody's.
        source = 0x06 << 40 | int(rng.integers(0, 2**40))
        target = (port + int(rng.integers(1, PORTS))) % PORTS
        rate, burst = int(rng.integers(5_000_000, 60_000_000)), int(rng.integers(1_000, 3_000))
        index = int(scheduler_of[k])
        sender = source.to_bytes(6, "big")
        found.append(Stream(port, 1 << target, 5 + k // PORTS % 2, rate, burst, index, host(target), sender))
    return found


def check_selection(mixed: Mixed, outcome: Outcome, port: int, eligible: Mapping[int, int | None], dropped: Collection[int] = ()) -> None:
    """The rules by themselves, of what found room: strict priority, order of eligibility within a class, no idle line, nothing early."""
    by_octets = {frame.octets: k for k, frame in enumerate(mixed.frames)}
    mine: list[Sent] = sorted((one for one in outcome.sent if one.port == port), key=lambda one: one.sfd)
    starts = {by_octets[one.octets]: one.sfd - START_BEFORE for one in mine}
    wanted = {k for k in range(len(mixed.frames)) if port in mixed.ports_of(k) and eligible[k] is not None} - set(dropped)
    assert set(starts) == wanted and len(mine) == len(wanted)
    ready, order, rank = {}, {}, {}
    for k in wanted:
        frame = mixed.frames[k]
        may = eligible[k]
        assert may is not None and starts[k] >= may, f"frame {k} {may - starts[k]} cycles early"
        # Seen by the selection at the latest then.
        ready[k] = max(may + way.due(), frame.sfd + len(frame.octets) + way.lag(PORTS))
        rank[k] = frame.octets[14] >> 5
        order[k] = (may, frame.port)
    queue = sorted(wanted, key=starts.__getitem__)
    free_at = 0
    for place, k in enumerate(queue):
        # Frames that are sent later, and were there: it must not have been their turn.
        for other in queue[place + 1 : place + 200]:
            if ready[other] < starts[k] and rank[other] not in mixed.slopes:
                assert rank[other] <= rank[k], (k, other)
                if rank[other] == rank[k]:
                    shaped = rank[k] in (5, 6)
                    assert not shaped or order[k] <= order[other], (k, other)
        if rank[k] not in mixed.slopes:
            assert starts[k] <= max(free_at, ready[k]) or starts[k] - free_at <= 16 or free_at >= starts[k], k
        free_at = starts[k] + 8 + len(mixed.frames[k].octets) + 12


def check_starts(mixed: Mixed, outcome: Outcome, eligible: Mapping[int, int | None], more: Mapping[int, int] = NOTHING) -> list[set[int]]:
    """Every start is that of the model, to the cycle, if idleSlopes are so much more; by port, frames that found no room."""
    by_octets = {frame.octets: k for k, frame in enumerate(mixed.frames)}
    orders: dict[tuple[int, int], list[int]] = defaultdict(list)
    for k in sorted(range(len(mixed.frames)), key=lambda k: mixed.frames[k].sfd):
        if eligible[k] is not None:
            orders[mixed.frames[k].port, mixed.frames[k].octets[14] >> 5].append(k)
    masks = [sum(1 << port for port in mixed.ports_of(k)) for k in range(len(mixed.frames))]
    found = selection.came(outcome.enqueued, PORTS, orders, masks)
    assert len(outcome.enqueued) == sum(map(len, orders.values())), "all that were not discarded came to queues"
    slopes = {rank: [(0, slope + more.get(rank, 0))] for rank, slope in mixed.slopes.items()}
    for port, queued in enumerate(found.queued):
        for one in queued:
            assert -(-one.eligible_ticks // TICKS_PER_CYCLE) + found.offset == eligible[one.number]
        model = [(choice + START_BEFORE, k) for choice, k in selection.starts_of(found, port, slopes, PORTS)]
        assert model == [(one.sfd, by_octets[one.octets]) for one in outcome.sent if one.port == port], "starts"
    return found.dropped
