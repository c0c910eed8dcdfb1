"""Transmission selection of a port to the cycle: which frame starts when, from when frames came into its queues.

Credit is that of core's machine; what is added here is when the RTL looks (`egress_port.sv`): at a class every eighth
cycle, through a pipeline of so many steps, and a choice a cycle before the start. Cycles are those of the switch since
its reset, ticks a sixteenth of them. Settings but idleSlope are constant. Not here: gates, cut-through.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from tautwire.machines import CreditBasedShaper

CLASSES, DEPTH = 8, 32
CYCLE_PS, TICKS_PER_CYCLE = 8_000, 16
RATE_BPS = 10**9
# Preamble, frame check sequence and gap: on the line beside the octets that stand in the buffer.
AROUND = 24
# The line takes a choice from the last cycle but one of a gap on, the start being a cycle later.
READY_BEFORE = 1
# A frame is seen by a look from so many cycles after it came into its queue on, and so is what comes after a start.
VISIBLE, AFTER_START = 2, 2
# Whether there is room for a frame is known from starts so many cycles before it, or earlier.
ROOM = 5
# Credit in 1e-12 bit with which a frame may follow another one of its class at once: 2^32 times 8e-9 bit.
ENOUGH = 2**32 * 8_000
NEVER = 2**62


@dataclasses.dataclass(frozen=True, slots=True)
class Queued:
    """A frame at the queues of a port: the cycle in which it stands there, or would if there were room."""

    cycle: int
    traffic_class: int
    lane: int
    # In the buffer: without the frame check sequence.
    octets: int
    eligible_ticks: int
    number: int


#: Cycles from which on a register holds an idleSlope in bit/s, the first at 0.
Slopes = Sequence[tuple[int, int]]


class Credit:
    """A class's shaper, brought forward by what happens: no call goes back in time."""

    def __init__(self, arrivals: Sequence[int], slopes: Slopes) -> None:
        self.machine = CreditBasedShaper(idle_slope_bps=slopes[0][1], rate_bps=RATE_BPS)
        self.slopes = [*slopes[1:], (NEVER, 0)]
        self.changes = 0
        # A frame waits from the cycle after that in which it came into the queue.
        self.arrivals = [*(cycle + 1 for cycle in arrivals), NEVER]
        self.arrived = 0
        self.sent = 0
        # Cycles in which its own frame is on the line, with preamble and gap.
        self.line = range(0)

    def at(self, cycle: int) -> int:
        """The credit at the beginning of a cycle, in 1e-12 bit."""
        while True:
            arrival, (change, slope) = self.arrivals[self.arrived], self.slopes[self.changes]
            # A register comes to the rise a cycle later, to the fall two.
            change += 2 if change + 1 in self.line else 1
            if min(arrival, change) > cycle:
                return self.machine.settle(cycle * CYCLE_PS, self.arrived > self.sent)
            if change <= arrival:
                self.machine.set_idle_slope(change * CYCLE_PS, self.arrived > self.sent, slope)
                self.changes += 1
            else:
                self.machine.settle(arrival * CYCLE_PS, self.arrived > self.sent)
                self.arrived += 1

    def allows(self, cycle: int) -> int:
        """The cycle itself if its waiting frame may be chosen in it, or a later one in which to ask again."""
        if cycle - 1 in self.line:
            return cycle if self.at(cycle - 1) >= ENOUGH else cycle + 1
        if self.at(cycle) >= 0:
            return cycle
        paid = -(-self.machine.eligible_at() // CYCLE_PS)
        return min(paid, max(cycle, self.slopes[self.changes][0] + 1) + 1)

    def start(self, cycle: int, octets: int) -> None:
        """A frame of it starts: from the next cycle on it is charged and waits no more."""
        self.at(cycle)
        self.line = range(cycle + 1, cycle + 1 + octets + AROUND)
        self.at(cycle + 1)
        self.machine.transmit((cycle + 1) * CYCLE_PS, self.line.stop * CYCLE_PS)
        self.sent += 1


class Selection:
    """The queues of a port with everything that comes to them."""

    def __init__(self, queued: Sequence[Queued], slopes: Mapping[int, Slopes], lanes: int) -> None:
        """``slopes`` of the classes that have a credit-based shaper."""
        self.best = 1 + 2 * (lanes - 1).bit_length()
        self.queues: list[list[list[Queued]]] = [[[] for _ in range(lanes)] for _ in range(CLASSES)]
        arrivals: dict[int, list[int]] = defaultdict(list)
        for one in queued:
            self.queues[one.traffic_class][one.lane].append(one)
            arrivals[one.traffic_class].append(one.cycle)
        self.first = [[0] * lanes for _ in range(CLASSES)]
        self.credits = {rank: Credit(arrivals[rank], found) for rank, found in slopes.items()}
        self.candidate = [self.seen(rank, 0) for rank in range(CLASSES)]

    def heads(self, rank: int) -> list[Queued]:
        return [queue[at] for queue, at in zip(self.queues[rank], self.first[rank], strict=True) if at < len(queue)]

    def seen(self, rank: int, after: int) -> int:
        """The first cycle of a choice with a candidate of a class: of a look not before a cycle, that finds a head due."""
        looks = [max(after, one.cycle + VISIBLE, -(-one.eligible_ticks // TICKS_PER_CYCLE) - self.best) for one in self.heads(rank)]
        look = min(looks, default=NEVER)
        # The look at a class is in cycles that leave its number over.
        return look + (rank - look) % CLASSES + self.best + 3

    def taken(self, rank: int, start: int) -> Queued:
        """The head that a class sends: the earliest of the last look that came through before the start."""
        look = start - 3 - self.best
        look -= (look - rank) % CLASSES
        there = [one for one in self.heads(rank) if one.cycle + VISIBLE <= look]
        return min(there, key=lambda one: (one.eligible_ticks, one.lane))

    def run(self) -> list[tuple[int, Queued]]:
        """Starts with their frames, one after the other."""
        found = []
        ready = 0
        while True:
            tries = [max(ready, cycle) for cycle in self.candidate]
            chosen = -1
            while chosen < 0:
                cycle = min(tries)
                if cycle >= NEVER:
                    return found
                for rank in range(CLASSES):
                    if tries[rank] == cycle:
                        credit = self.credits.get(rank)
                        tries[rank] = credit.allows(cycle) if credit else cycle
                        if tries[rank] == cycle:
                            chosen = rank
            start = cycle + 1
            one = self.taken(chosen, start)
            if chosen in self.credits:
                self.credits[chosen].start(start, one.octets)
            self.first[chosen][one.lane] += 1
            self.candidate[chosen] = self.seen(chosen, start + AFTER_START)
            ready = start + one.octets + AROUND - READY_BEFORE
            found.append((start, one))


def dropped(came: Sequence[Queued], starts: Sequence[tuple[int, Queued]]) -> set[int]:
    """The numbers of frames that found their queue full, of all that came to a port in their order."""
    gone: dict[tuple[int, int], list[int]] = defaultdict(list)
    for start, one in starts:
        gone[one.traffic_class, one.lane].append(start)
    stood: dict[tuple[int, int], int] = defaultdict(int)
    found = set()
    for one in came:
        queue = one.traffic_class, one.lane
        left = int(np.searchsorted(gone[queue], one.cycle - ROOM, side="right"))
        if stood[queue] - left == DEPTH:
            found.add(one.number)
        else:
            stood[queue] += 1
    return found


@dataclasses.dataclass(frozen=True)
class Came:
    """What came to the queues between two resets, by port."""

    queued: list[list[Queued]]
    dropped: list[set[int]]
    #: Cycle of the run less that of the switch.
    offset: int


def came(rows: np.ndarray, ports: int, orders: Mapping[tuple[int, int], Sequence[int]], masks: Sequence[int]) -> Came:
    """The rows of the probe (`Outcome.enqueued`), as frames.

    ``orders``: the numbers of the frames of a reception port and class as they came in; ``masks``: the ports that a frame
    is for. Of a reception port and class all come to the queues in their order.
    """
    offsets = np.unique(rows[:, 0] - rows[:, 1] // TICKS_PER_CYCLE)
    assert len(offsets) == 1 and not (rows[:, 1] % TICKS_PER_CYCLE).any()
    queued: list[list[Queued]] = [[] for _ in range(ports)]
    gone: list[set[int]] = [set() for _ in range(ports)]
    turn: dict[tuple[int, int], int] = defaultdict(int)
    for _, now, taken, full, rank, lane, source, octets, eligible in rows.tolist():
        number = orders[source, rank][turn[source, rank]]
        turn[source, rank] += 1
        assert taken | full == masks[number] and not taken & full, "every port of the frame takes it or counts it"
        for port in range(ports):
            if full >> port & 1:
                gone[port].add(number)
            if masks[number] >> port & 1:
                # The way to a port takes a cycle.
                queued[port].append(Queued(now // TICKS_PER_CYCLE + 1, rank, lane, octets, eligible, number))
    return Came(queued, gone, int(offsets[0]))


def starts_of(found: Came, port: int, slopes: Mapping[int, Slopes], lanes: int) -> list[tuple[int, int]]:
    """Choices of a port in cycles of the run, with the numbers of their frames; what it dropped is checked."""
    there = [one for one in found.queued[port] if one.number not in found.dropped[port]]
    starts = Selection(there, slopes, lanes).run()
    assert dropped(found.queued[port], starts) == found.dropped[port], "dropped where the queue is full, and nowhere else"
    return [(start - 1 + found.offset, one.number) for start, one in starts]
