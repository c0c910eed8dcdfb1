"""Coroutines of the bench of the ATS engine: see ``test_small_benches.py``.

Frames that its caller holds until they are taken, while parameters of other schedulers are written, over resets at any
time: every decision is that of the machine of core, in the order of the frames.
"""

from __future__ import annotations

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from tautwire.machines import AtsSchedulers

SCHEDULERS, GROUPS, TIME_WIDTH, OCTET_TIME_WIDTH, FILL_WIDTH, TAG_WIDTH = 32, 8, 32, 32, 24, 16
QUANTUM_PS, TICKS_PER_CYCLE, OCTET_PS = 500, 16, 8 * 10**12
OVERHEAD, DELAY_MAX = 20, 300
# Half of the schedulers have frames; the others are written meanwhile.
USED = SCHEDULERS // 2


class Engine:
    """The module, its clock and the machine beside it."""

    def __init__(self, dut, seed: int) -> None:
        self.dut, self.rng = dut, random.Random(seed)
        self.ticks = 0

    async def cycle(self) -> None:
        self.ticks += TICKS_PER_CYCLE
        self.dut.now_i.value = self.ticks % 2**TIME_WIDTH
        await FallingEdge(self.dut.clk_i)

    def parameters(self, index: int, rate_bps: int, burst_octets: int, group: int) -> None:
        dut = self.dut
        dut.scheduler_write_i.value, dut.scheduler_index_i.value, dut.scheduler_group_i.value = 1, index, group
        dut.scheduler_octet_time_i.value = -(-(OCTET_PS << 24) // (rate_bps * QUANTUM_PS))
        dut.scheduler_empty_to_full_i.value = burst_octets * OCTET_PS // rate_bps // QUANTUM_PS
        dut.scheduler_octets_max_i.value = burst_octets

    async def begin(self) -> None:
        """A reset of one cycle, and all parameters anew."""
        dut = self.dut
        for name in ("frame_valid_i", "scheduler_write_i", "group_write_i", "count_index_i"):
            getattr(dut, name).value = 0
        dut.charged_overhead_i.value, dut.processing_delay_max_i.value = OVERHEAD, DELAY_MAX
        dut.rst_ni.value = 0
        await self.cycle()
        dut.rst_ni.value = 1
        self.bank = AtsSchedulers(quantum_ps=QUANTUM_PS, charged_overhead_octets=OVERHEAD, processing_delay_max_ps=DELAY_MAX * QUANTUM_PS)
        self.residence = [self.rng.choice([2_000, 40_000, 2**22]) for _ in range(GROUPS)]
        for group, limit in enumerate(self.residence):
            dut.group_write_i.value, dut.group_index_i.value, dut.group_residence_max_i.value = 1, group, limit
            self.bank.add_group(max_residence_time_ps=limit * QUANTUM_PS)
            await self.cycle()
        dut.group_write_i.value = 0
        for index in range(USED):
            rate, burst, group = self.rng.randrange(70_000_000, 10**9), self.rng.randrange(84, 3_000), index % GROUPS
            self.parameters(index, rate, burst, group)
            self.bank.add_scheduler(group, rate_bps=rate, burst_octets=burst)
            await self.cycle()
        dut.scheduler_write_i.value = 0
        while not int(dut.frame_ready_o.value):
            await self.cycle()

    async def frames(self, count: int, gap_max: int) -> None:
        """So many frames with gaps of up to so many cycles; every decision and both counters of every group."""
        dut, rng = self.dut, self.rng
        begun = self.ticks
        given: list[tuple[int, int, int]] = []
        found: deque[tuple[int, int, int, int]] = deque()
        frame, wait, quiet = None, 0, 0
        while quiet < 100:
            if frame is None and wait == 0 and len(given) < count:
                # Its arrival lies some cycles back.
                arrival = self.ticks - TICKS_PER_CYCLE * rng.randrange(1, 5)
                frame = (rng.randrange(USED), max(arrival, given[-1][1] if given else begun), rng.randrange(64, 1_523))
            wait = max(0, wait - 1)
            dut.frame_valid_i.value = frame is not None
            if frame:
                dut.frame_scheduler_i.value, dut.frame_octets_i.value = frame[0], frame[2]
                dut.frame_arrival_i.value, dut.frame_tag_i.value = frame[1] % 2**TIME_WIDTH, len(given) % 2**TAG_WIDTH
            # A scheduler that has no frames, in most cycles.
            if rng.random() < 0.8:
                self.parameters(rng.randrange(USED, SCHEDULERS), rng.randrange(70_000_000, 10**9), 2_000, rng.randrange(GROUPS))
            else:
                dut.scheduler_write_i.value = 0
            if frame and int(dut.frame_ready_o.value):
                given.append(frame)
                frame, wait = None, rng.randrange(gap_max + 1)
            await self.cycle()
            if int(dut.decision_valid_o.value):
                names = ("tag_o", "eligible_o", "exceeds_burst_o", "exceeds_residence_o")
                found.append(tuple(int(getattr(dut, f"decision_{name}").value) for name in names))
            quiet = quiet + 1 if len(given) == count and frame is None else 0
        dut.frame_valid_i.value = dut.scheduler_write_i.value = 0
        schedulers, arrivals, octets = zip(*given, strict=True)
        # The machine's clock begins where the run does.
        machine = self.bank.process(list(schedulers), [(one - begun) * QUANTUM_PS for one in arrivals], list(octets))
        discards = [[0, 0] for _ in range(GROUPS)]
        assert len(found) == len(given)
        for number, ((scheduler, _, _), due, (tag, eligible, burst, residence)) in enumerate(zip(given, machine, found, strict=True)):
            assert tag == number % 2**TAG_WIDTH
            assert bool(burst or residence) == (due < 0), number
            if due >= 0:
                assert eligible == (int(due) // QUANTUM_PS + begun) % 2**TIME_WIDTH, number
            discards[scheduler % GROUPS][0] += burst
            discards[scheduler % GROUPS][1] += residence
        for group, (burst, residence) in enumerate(discards):
            dut.count_index_i.value = group
            for _ in range(3):
                await self.cycle()
            assert (int(dut.count_exceeds_burst_o.value), int(dut.count_exceeds_residence_o.value)) == (burst, residence)
        assert sum(one[0] for one in discards) and sum(one[1] for one in discards)


@cocotb.test()
async def decisions_are_those_of_the_machine_however_near_frames_come(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    # The clock wraps in the second run.
    engine = Engine(dut, 83)
    for gap_max, ticks in ((0, 2**28), (30, 2**32 - 2**15), (200, 2**30)):
        engine.ticks = ticks
        await engine.begin()
        await engine.frames(600, gap_max)


@cocotb.test()
async def a_reset_at_any_time_leaves_nothing_behind(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    engine = Engine(dut, 84)
    for cycles in (1, 9, 14, 33):
        await engine.begin()
        # Frames under way in every stage.
        dut.frame_valid_i.value, dut.frame_arrival_i.value, dut.frame_octets_i.value = 1, engine.ticks % 2**TIME_WIDTH, 70
        for _ in range(cycles):
            dut.frame_scheduler_i.value = engine.rng.randrange(USED)
            await engine.cycle()
        await engine.begin()
        await engine.frames(150, 12)
