"""Coroutines of the bench of queues and selection by eligibility time: see ``test_small_benches.py``.

Frames of all classes and lanes with eligibility times that lie ahead, a line that is busy at any time, questions of cut-through.
What is sent is the earliest of its class, not before its time, and the highest class that may; nothing is lost or sent twice.
"""

from __future__ import annotations

import dataclasses
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

CLASSES, LANES, DEPTH = 8, 4, 8
CELL_WIDTH = 12
# From the cycle in which a frame becomes a head, or due, until the scan has seen it and a choice may begin: all classes, the steps
# of the scan, the register of the time, the choice.
SEEN_WITHIN = CLASSES + 7 + 4


@dataclasses.dataclass
class Waits:
    """A frame in a queue, and since when it could be seen: it is a head, and due."""

    cell: int
    octets: int
    eligible: int
    put: int
    since: int | None = None


class Bench:
    """Time goes on by one tick in a cycle."""

    def __init__(self, dut, seed: int) -> None:
        self.dut, self.rng = dut, random.Random(seed)
        self.queues: dict[tuple[int, int], deque[Waits]] = {(c, lane): deque() for c in range(CLASSES) for lane in range(LANES)}
        self.last: dict[tuple[int, int], int] = {}
        self.now = self.busy = self.cells = self.sent = self.cut = self.held = 0
        # Cycle of the last frame of a queue: there are three between two of them.
        self.put: dict[tuple[int, int], int] = {}
        self.gates = 0xFF

    async def reset(self) -> None:
        dut = self.dut
        for name in ("enqueue_valid_i", "cut_valid_i", "cut_start_i", "line_last_i", "credit_based_i", "idle_slope_i", "now_i"):
            getattr(dut, name).value = 0
        dut.line_ready_i.value, dut.gate_open_i.value = 1, self.gates
        dut.rst_ni.value = 0
        for _ in range(2):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for queue in self.queues.values():
            queue.clear()
        self.last, self.put, self.busy = {}, {}, 0

    async def step(self, offered: float) -> None:
        """A cycle: inputs, then what the port says after its edge."""
        dut, rng = self.dut, self.rng
        self.now += 1
        dut.now_i.value = self.now
        dut.line_ready_i.value, dut.line_last_i.value = self.busy <= 2, self.busy == 1
        place = (rng.randrange(CLASSES), rng.randrange(LANES))
        dut.enqueue_valid_i.value = 0
        if rng.random() < offered and self.now - self.put.get(place, -9) > 3 and len(self.queues[place]) < DEPTH:
            # Within a lane times never decrease; some are equal, some lie far ahead.
            ahead = max(self.last.get(place, 0), self.now + rng.choice([-5, 0, 3, 60, 700]))
            frame = Waits(self.cells % 2**CELL_WIDTH, rng.choice([60, 61, 120]), ahead, self.now)
            self.cells += 1
            self.last[place], self.put[place] = ahead, self.now
            dut.enqueue_valid_i.value, dut.enqueue_class_i.value, dut.enqueue_lane_i.value = 1, *place
            dut.enqueue_cell_i.value, dut.enqueue_octets_i.value, dut.enqueue_eligible_i.value = frame.cell, frame.octets, ahead
            self.queues[place].append(frame)
        self.look_at_heads()
        asks = rng.random() < 0.1
        asked = rng.randrange(CLASSES)
        dut.cut_valid_i.value, dut.cut_class_i.value = asks, asked
        waited_before = any(self.queues[asked, lane] for lane in range(LANES))
        await FallingEdge(dut.clk_i)
        self.busy = max(0, self.busy - 1)
        if int(dut.start_o.value):
            self.check_start(int(dut.start_class_o.value), int(dut.start_cell_o.value), int(dut.start_octets_o.value))
        if int(dut.cut_ready_o.value):
            assert asks and not waited_before, "something of its class waits"
            assert not int(dut.start_o.value) and self.gates >> asked & 1
            self.cut += 1

    def look_at_heads(self) -> None:
        for queue in self.queues.values():
            if queue and queue[0].since is None and queue[0].eligible <= self.now:
                queue[0].since = self.now

    def check_start(self, traffic_class: int, cell: int, octets: int) -> None:
        heads = {lane: self.queues[traffic_class, lane][0] for lane in range(LANES) if self.queues[traffic_class, lane]}
        (lane,) = (lane for lane, one in heads.items() if one.cell == cell)
        frame = heads[lane]
        assert frame.octets == octets and frame.eligible <= self.now and self.gates >> traffic_class & 1
        for other, one in heads.items():
            # What could be seen for a whole scan has been compared: none of it is earlier, of equals none is of a lower lane.
            if other != lane and one.since is not None and one.since + SEEN_WITHIN < self.now:
                assert (frame.eligible, lane) < (one.eligible, other), (self.now, traffic_class)
        for higher in range(traffic_class + 1, CLASSES):
            if self.gates >> higher & 1:
                for other in range(LANES):
                    queue = self.queues[higher, other]
                    assert not (queue and queue[0].since is not None and queue[0].since + SEEN_WITHIN < self.now), (self.now, higher)
        self.held += frame.put < frame.eligible
        self.queues[traffic_class, lane].popleft()
        self.sent += 1
        # Preamble, frame, check sequence, gap: longer than a scan, which begins anew for a class that lost a head.
        self.busy = 24 + octets


@cocotb.test()
async def the_earliest_of_the_highest_class_is_sent(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    bench = Bench(dut, 85)
    for gates, offered in ((0xFF, 0.02), (0xFF, 0.2), (0b1011_0110, 0.05)):
        bench.gates = gates
        await bench.reset()
        sent = bench.sent
        for _ in range(6_000):
            await bench.step(offered)
        # Nothing more comes: all that may is sent.
        for _ in range(40_000):
            if not any(queue for (c, _), queue in bench.queues.items() if gates >> c & 1):
                break
            await bench.step(0.0)
        assert not any(queue for (c, _), queue in bench.queues.items() if gates >> c & 1)
        assert bench.sent - sent > 90
    assert bench.held > 100 and bench.cut > 20


@cocotb.test()
async def a_reset_at_any_time_empties_the_queues(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    bench = Bench(dut, 86)
    for cycles in (3, 20, 400):
        await bench.reset()
        for _ in range(cycles):
            await bench.step(0.5)
    await bench.reset()
    for _ in range(60):
        await bench.step(0.0)
    assert not int(dut.start_o.value)
    for _ in range(2_000):
        await bench.step(0.03)
