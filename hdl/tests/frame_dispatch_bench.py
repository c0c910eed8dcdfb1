"""Coroutines of the bench of the way to the queues: see ``test_forwarding_path.py``.

Four ports with frames, an engine that decides about those that are shaped, queues with room or without, classes that too few
cells are free for. Every frame is claimed once, by as many readers as queues took it; those of a port that are not
shaped, and those of the engine, keep their order.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

PORTS, CELL_WIDTH, LENGTH_WIDTH, TIME_WIDTH, SCHEDULER_WIDTH, CLASSES = 4, 12, 11, 48, 12, 8
CHAIN_WIDTH, CLASS_WIDTH, PORT_WIDTH = LENGTH_WIDTH - 5, 3, 2
# From an arrival alone to its claim: the turns of the ports, taken, and four steps.
ALONE_MAX = PORTS + 6


@dataclasses.dataclass(frozen=True)
class Frame:
    cell: int
    cells: int
    octets: int
    ports: int
    traffic_class: int
    lane: int
    keep: bool
    shaped: bool
    scheduler: int
    time: int

    def tag(self) -> int:
        """As the engine hands it through: the fields of a descriptor, the first one highest."""
        packed = 0
        for value, width in ((self.cell, CELL_WIDTH), (self.cells, CHAIN_WIDTH), (self.octets, LENGTH_WIDTH),
                             (self.ports, PORTS), (self.traffic_class, CLASS_WIDTH), (self.lane, PORT_WIDTH)):  # fmt: skip
            packed = packed << width | value
        return packed


def packed(values: list[int], width: int) -> int:
    return sum(int(value) << k * width for k, value in enumerate(values))


class Bench:
    """Arrivals, engine, queues and buffer around the module; `step` is a cycle."""

    def __init__(self, dut, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.cells = itertools.count()
        self.waiting: list[deque[Frame]] = [deque() for _ in range(PORTS)]
        # What the engine has, with the cycle of its decision; what it decided that is not claimed.
        self.engine: deque[tuple[int, Frame]] = deque()
        # By cell: the frame, its eligibility time, and whether it goes to queues.
        self.outstanding: dict[int, tuple[Frame, int, bool]] = {}
        self.direct: list[deque[int]] = [deque() for _ in range(PORTS)]
        self.decided: deque[int] = deque()
        self.origin: dict[int, int] = {}
        self.cycle = self.engine_free = self.claims = self.drops = self.enqueues = self.limited = 0
        self.room = self.readers = 0
        self.room_share = 0.8
        self.scarce_share = 0.1
        # Of the last cycles, the classes that too few cells were free for.
        self.scarce: deque[int] = deque([0, 0, 0], maxlen=3)

    async def reset(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 8, "ns").start())
        for name in ("arrived_valid_i", "frame_ready_i", "decision_valid_i", "room_i", "scarce_i"):
            getattr(self.dut, name).value = 0
        self.dut.rst_ni.value = 0
        for _ in range(4):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    def arrive(self, port: int, **fields: int) -> Frame:
        rng = self.rng
        frame = Frame(
            cell=next(self.cells) % (1 << CELL_WIDTH),
            cells=rng.randrange(1, 25),
            octets=rng.randrange(64, 1523),
            ports=fields.get("ports", rng.randrange(1 << PORTS) & ~(1 << port)),
            traffic_class=rng.randrange(CLASSES),
            lane=port,
            keep=bool(fields.get("keep", rng.random() < 0.9)),
            shaped=bool(fields.get("shaped", rng.random() < 0.5)),
            scheduler=rng.randrange(1 << SCHEDULER_WIDTH),
            time=rng.randrange(1 << TIME_WIDTH),
        )
        self.waiting[port].append(frame)
        return frame

    def pending(self) -> bool:
        return any(self.waiting) or bool(self.engine) or bool(self.outstanding)

    async def step(self) -> None:
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        heads = [queue[0] if queue else None for queue in self.waiting]
        dut.arrived_valid_i.value = packed([one is not None for one in heads], 1)
        for name, width, of in (
            ("cell", CELL_WIDTH, lambda one: one.cell), ("cells", CHAIN_WIDTH, lambda one: one.cells),
            ("octets", LENGTH_WIDTH, lambda one: one.octets), ("ports", PORTS, lambda one: one.ports),
            ("class", CLASS_WIDTH, lambda one: one.traffic_class), ("lane", PORT_WIDTH, lambda one: one.lane),
            ("keep", 1, lambda one: one.keep), ("shaped", 1, lambda one: one.shaped),
            ("scheduler", SCHEDULER_WIDTH, lambda one: one.scheduler), ("time", TIME_WIDTH, lambda one: one.time),
        ):  # fmt: skip
            getattr(dut, f"arrived_{name}_i").value = packed([of(one) if one else 0 for one in heads], width)
        # The engine takes one in six cycles at most, and may not be ready at all for a while.
        dut.frame_ready_i.value = ready = self.cycle >= self.engine_free and rng.random() < 0.7
        decides = bool(self.engine) and self.engine[0][0] <= self.cycle
        dut.decision_valid_i.value = decides
        if decides:
            _, frame = self.engine.popleft()
            discard, eligible = rng.random() < 0.2, rng.randrange(1 << TIME_WIDTH)
            dut.decision_tag_i.value, dut.decision_eligible_i.value = frame.tag(), eligible
            dut.decision_discard_i.value = discard
            self.outstanding[frame.cell] = frame, eligible, not discard
            self.decided.append(frame.cell)
        before, self.room = self.room, sum(1 << p for p in range(PORTS) if rng.random() < self.room_share)
        dut.room_i.value = self.room
        self.scarce.append(sum(1 << k for k in range(CLASSES) if rng.random() < self.scarce_share))
        dut.scarce_i.value = self.scarce[-1]
        await ReadOnly()
        pop = int(dut.arrived_pop_o.value)
        assert pop & pop - 1 == 0
        if pop:
            port = pop.bit_length() - 1
            frame = self.waiting[port].popleft()
            self.origin[frame.cell] = port
            if not (frame.keep and frame.shaped):
                self.outstanding[frame.cell] = frame, frame.time, frame.keep
                self.direct[port].append(frame.cell)
            else:
                self.shaped = frame
        if int(dut.frame_valid_o.value) and ready:
            frame = self.shaped
            handed = tuple(int(getattr(dut, f"frame_{name}_o").value) for name in ("scheduler", "octets", "arrival", "tag"))
            assert handed == (frame.scheduler, frame.octets, frame.time, frame.tag())
            self.engine.append((self.cycle + 14, frame))
            self.engine_free = self.cycle + 6
        self.queues(before)
        if int(dut.claim_valid_o.value):
            self.claim()
        self.readers = int(dut.enqueue_valid_o.value).bit_count()
        self.cycle += 1

    def queues(self, room: int) -> None:
        """What went into queues in this cycle, which had room in the one before; the limit of a class is asked for before."""
        dut = self.dut
        taken, dropped, limited = (int(getattr(dut, f"{name}_o").value) for name in ("enqueue_valid", "dropped", "limited"))
        if not taken | dropped | limited:
            return
        frame, eligible, keep = self.outstanding[int(dut.enqueue_cell_o.value)]
        scarce = self.scarce[0] >> frame.traffic_class & 1
        assert keep
        assert (taken, dropped, limited) == ((0, 0, frame.ports) if scarce else (frame.ports & room, frame.ports & ~room, 0))
        self.limited += limited.bit_count()
        if limited:
            return
        names = ("class", "lane", "octets", "eligible")
        values = tuple(int(getattr(dut, f"enqueue_{name}_o").value) for name in names)
        assert values == (frame.traffic_class, frame.lane, frame.octets - 4, eligible)
        self.enqueues += taken.bit_count()
        self.drops += dropped.bit_count()

    def claim(self) -> None:
        dut = self.dut
        cell = int(dut.claim_cell_o.value)
        frame, _, keep = self.outstanding.pop(cell)
        assert int(dut.claim_cells_o.value) == frame.cells
        assert int(dut.claim_readers_o.value) == self.readers and (keep or self.readers == 0)
        if frame.keep and frame.shaped:
            assert self.decided.popleft() == cell
        else:
            assert self.direct[self.origin[cell]].popleft() == cell
        self.claims += 1


@cocotb.test()
async def every_frame_is_claimed_once(dut) -> None:
    bench = Bench(dut, 61)
    await bench.reset()
    given = 0
    for _ in range(6_000):
        for port in range(PORTS):
            if len(bench.waiting[port]) < 6 and bench.rng.random() < 0.05:
                bench.arrive(port)
                given += 1
        await bench.step()
    bench.room_share, bench.scarce_share = 1.0, 0.0
    while bench.pending():
        await bench.step()
    assert bench.claims == given > 700
    assert bench.drops > 100 and bench.enqueues > 2 * bench.drops and bench.limited > 50


@cocotb.test()
async def a_frame_alone_is_quick_and_a_lone_engine_stops_nobody_else(dut) -> None:
    bench = Bench(dut, 62)
    bench.room_share, bench.scarce_share = 1.0, 0.0
    await bench.reset()
    for k in range(40):
        for _ in range(k % 7):
            await bench.step()
        since, claims = bench.cycle, bench.claims
        bench.arrive(k % PORTS, ports=1 << (k + 1) % PORTS, keep=1, shaped=0)
        while bench.claims == claims:
            await bench.step()
        assert bench.cycle - since <= ALONE_MAX, bench.cycle - since
    # All ports at once, none of them shaped: a frame in four cycles and its taking.
    for port in range(PORTS):
        for _ in range(6):
            bench.arrive(port, ports=1 << (port + 1) % PORTS, keep=1, shaped=0)
    since = bench.cycle
    while bench.pending():
        await bench.step()
    assert bench.cycle - since <= 6 * PORTS * (PORTS + 4), bench.cycle - since
