"""Coroutines of the bench of a port's reception: see ``test_forwarding_path.py``.

The line is the GMII of cocotbext-eth. The bench plays the tables, which answer at any time that they may, and the buffer, which
may have no cell; every frame's words, questions, descriptor and count are those that the frame, the settings and the answers give.
"""

from __future__ import annotations

import dataclasses
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotbext.eth import GmiiFrame, GmiiSource
from switch_run import frame_octets

PORT, PORTS, CLASSES = 1, 4, 8
CELL_WIDTH, SCHEDULER_WIDTH = 12, 12
HERE = 1 << PORT
CLASS_OF_PCP = [3, 0, 1, 7, 2, 6, 5, 4]
DEFAULT_VID, DEFAULT_PCP = 77, 2
# Classes 5 and 6 are shaped; classes 0 to 4 may be cut through, but for the last port.
ATS, CUT = 0b0110_0000, [0x1F, 0x1F, 0x1F, 0]
COUNTERS = ("received", "received_short", "received_long", "received_check", "dropped_no_cell", "dropped_no_port", "dropped_not_member")


@dataclasses.dataclass
class Answers:
    """What tables and buffer say of a frame."""

    # None: unknown, so all.
    ports: int | None
    members: int
    by_destination: int | None
    by_source: int | None
    by_value: int | None
    whole: bool
    cell: int
    cells: int
    after: list[int]


class Bench:
    def __init__(self, dut, seed: int) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
        self.source = GmiiSource(dut.gmii_rxd_i, dut.gmii_rx_er_i, dut.gmii_rx_dv_i, dut.clk_i)
        self.plan: deque[Answers] = deque()
        self.now: Answers | None = None
        self.words = bytearray()
        self.frames: list[bytes] = []
        self.lookups: list[tuple[int, int]] = []
        self.learned: list[int] = []
        self.arrived: list[tuple[int, ...]] = []
        self.asked: set[tuple[int, int]] = set()
        self.cycle = 0
        # Events of the bench: cycle and what.
        self.due: list[tuple[int, str]] = []
        self.begin_when_asked = False
        self.begun = 0
        self.expected_arrivals: deque[int] = deque()

    async def reset(self) -> None:
        dut = self.dut
        for name in ("enable_i", "done_valid_i", "address_answer_i", "vlan_answer_i", "destination_answer_i", "source_answer_i",
                     "filter_hit_i", "cut_begun_i", "dispatch_busy_i", "arrived_pop_i", "now_i", "clock_i"):  # fmt: skip
            getattr(dut, name).value = 0
        dut.class_of_pcp_i.value = sum(value << 3 * k for k, value in enumerate(CLASS_OF_PCP))
        dut.default_vid_i.value, dut.default_pcp_i.value = DEFAULT_VID, DEFAULT_PCP
        dut.ats_class_i.value = ATS
        dut.cut_through_i.value = sum(value << 8 * k for k, value in enumerate(CUT))
        dut.rst_ni.value = 0
        for _ in range(4):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        dut.enable_i.value = 1
        cocotb.start_soon(self.run())

    async def run(self) -> None:
        while True:
            await FallingEdge(self.dut.clk_i)
            self.step()

    def step(self) -> None:
        """Answers what is due, and keeps what the module gives."""
        dut = self.dut
        self.cycle += 1
        happens = {what for cycle, what in self.due if cycle <= self.cycle}
        self.due = [(cycle, what) for cycle, what in self.due if cycle > self.cycle]
        now = self.now
        for name in ("address", "vlan", "destination", "source"):
            getattr(dut, f"{name}_answer_i").value = name in happens
        if now and "address" in happens:
            dut.address_hit_i.value, dut.address_ports_i.value = now.ports is not None, now.ports or 0
        if now and "vlan" in happens:
            dut.vlan_members_i.value = now.members
        for name, scheduler in (("destination", now and now.by_destination), ("source", now and now.by_source)):
            if name in happens:
                # One of the two is answered in a cycle.
                dut.stream_hit_i.value, dut.stream_scheduler_i.value = scheduler is not None, scheduler or 0
        dut.done_valid_i.value = "done" in happens
        if "done" in happens:
            assert now
            dut.done_whole_i.value, dut.done_cell_i.value, dut.done_cells_i.value = now.whole, now.cell, now.cells
            dut.done_claim_i.value = now.cells > 0
        dut.now_i.value = self.cycle * 16
        dut.clock_i.value = self.cycle * 8
        dut.arrived_pop_i.value = 0
        if int(dut.arrived_valid_o.value) and "popped" not in happens and self.rng.random() < 0.3:
            names = ("cell", "cells", "octets", "ports", "class", "lane", "keep", "shaped", "scheduler", "time")
            self.arrived.append(tuple(int(getattr(dut, f"arrived_{name}_o").value) for name in names))
            dut.arrived_pop_i.value = 1
        if int(dut.lookup_valid_o.value):
            self.lookups.append((int(dut.lookup_key_o.value), int(dut.source_key_o.value)))
            self.now = now = self.plan.popleft()
            a, b, c, d = now.after
            # The two answers of one table in cycles of their own.
            self.due += [(self.cycle + a, "address"), (self.cycle + b, "vlan"), (self.cycle + c, "destination")]
            self.due += [(self.cycle + (d if d != c else d + 1), "source")]
            dut.filter_hit_i.value, dut.filter_scheduler_i.value = now.by_value is not None, now.by_value or 0
        if int(dut.learn_valid_o.value):
            self.learned.append(int(dut.learn_key_o.value))
        if int(dut.word_valid_o.value):
            if int(dut.word_first_o.value):
                self.words = bytearray()
            last = int(dut.word_last_o.value)
            self.words += int(dut.word_o.value).to_bytes(8, "little")[: int(dut.word_tail_o.value) + 1 if last else 8]
            if last:
                self.frames.append(bytes(self.words))
                self.bad = int(dut.word_bad_o.value)
                self.expected_arrivals.append(self.cycle)
                # From three cycles after its end on, when its last octet has passed the rules.
                self.due.append((self.cycle + self.rng.randrange(3, 18), "done"))
        ask = int(dut.cut_ask_o.value)
        dut.cut_begun_i.value = 0
        if ask:
            self.asked.add((ask, int(dut.cut_class_o.value)))
            if self.begin_when_asked and not self.begun and int(dut.cut_alive_o.value):
                dut.cut_begun_i.value = 1
                self.begun += 1

    def counts(self) -> dict[str, int]:
        return {name: int(getattr(self.dut, f"{name}_o").value) for name in COUNTERS}

    async def frame(self, octets: bytes, answers: Answers) -> None:
        """A frame on the line, until everything about it has happened."""
        self.plan.append(answers)
        await self.source.send(GmiiFrame(bytearray(b"\x55" * 7 + b"\xd5" + octets)))
        await self.source.wait()
        for _ in range(60):
            await FallingEdge(self.dut.clk_i)
        self.plan.clear()


def answers_of(rng: random.Random, **fields) -> Answers:
    def some() -> int | None:
        return rng.randrange(1 << SCHEDULER_WIDTH) if rng.random() < 0.4 else None

    chosen = {
        "ports": rng.choice([None, rng.randrange(1 << PORTS)]),
        "members": rng.choice([0b1111, 0b1111, rng.randrange(1 << PORTS)]),
        "by_destination": some(),
        "by_source": some(),
        "by_value": some(),
        "whole": rng.random() < 0.9,
        "cell": rng.randrange(1 << CELL_WIDTH),
        "cells": rng.randrange(1, 25),
        # All within the shortest frame behind its header.
        "after": [rng.randrange(1, 40) for _ in range(4)],
    }
    return Answers(**{**chosen, **fields})


@cocotb.test()
async def every_frame_is_told_as_it_is(dut) -> None:
    bench = Bench(dut, 81)
    await bench.reset()
    rng = bench.rng
    expected = dict.fromkeys(COUNTERS, 0)
    seen = dict.fromkeys(("shaped", "flooded", "reserved", "kept"), 0)
    for k in range(160):
        reserved = rng.random() < 0.1
        destination = b"\x01\x80\xc2\x00\x00" + bytes([rng.randrange(16)]) if reserved else rng.randbytes(6)
        source, kind = bytes([rng.choice([2, 3]), *rng.randbytes(5)]), rng.choice(["untagged", "priority", "tagged"])
        vid, pcp = rng.randrange(1, 4095), rng.randrange(8)
        tag = {"untagged": {"vid": None}, "priority": {"vid": 0, "pcp": pcp}, "tagged": {"vid": vid, "pcp": pcp}}[kind]
        octets = frame_octets(destination, source, rng.randbytes(rng.choice([1, 46, 47, 200])), **tag)
        flawed = rng.random() < 0.15
        if flawed:
            octets = bytes([*octets[:20], octets[20] ^ 1, *octets[21:]])
        said = answers_of(rng)
        before = bench.cycle, len(bench.arrived), len(bench.learned), len(bench.lookups)
        await bench.frame(octets, said)
        if kind != "tagged":
            vid = DEFAULT_VID
        if kind == "untagged":
            pcp = DEFAULT_PCP
        member = bool(said.members & HERE)
        traffic_class = CLASS_OF_PCP[pcp]
        ports = (0b1111 if said.ports is None else said.ports) & ~HERE & said.members if member else 0
        keep = not flawed and said.whole and not reserved and ports != 0
        shaped = bool(ATS >> traffic_class & 1)
        schedulers = [one for one in (said.by_destination, said.by_source, said.by_value) if one is not None]
        # The questions.
        address, origin = (vid << 48 | int.from_bytes(one, "big") for one in (destination, source))
        assert bench.lookups[before[3] :] == [(address, origin)], k
        assert bench.frames[-1] == octets[:-4] and bench.bad == flawed
        taught = not flawed and not source[0] & 1 and member
        assert bench.learned[before[2] :] == ([origin] if taught else []), k
        # The descriptor.
        (told,) = bench.arrived[before[1] :]
        cell, cells, length, told_ports, told_class, lane, told_keep, told_shaped, scheduler, time = told
        assert (cell, cells, length, told_class, told_keep) == (said.cell, said.cells, len(octets), traffic_class, keep), k
        assert told_ports == (0 if reserved else ports) and lane == (PORT if shaped else 0)
        assert told_shaped == (shaped and bool(schedulers))
        assert not told_shaped or scheduler == schedulers[0], "destination, then source, then value"
        # The end of the frame at the pins, two registers before its last word.
        assert bench.expected_arrivals.pop() - time // 16 == 2
        # The counts.
        expected["received_check" if flawed else "received"] += 1
        if not flawed and not keep:
            reason = "no_cell" if not said.whole else "not_member" if not member else "no_port"
            expected[f"dropped_{reason}"] += 1
        assert bench.counts() == expected, k
        seen["shaped"] += told_shaped
        seen["flooded"] += said.ports is None and keep
        seen["reserved"] += reserved
        seen["kept"] += keep
    assert min(seen.values()) > 8, seen
    assert all(expected[name] > 3 for name in COUNTERS if name not in ("received_short", "received_long")), expected


@cocotb.test()
async def a_frame_for_one_free_port_asks_to_be_cut_through(dut) -> None:
    bench = Bench(dut, 82)
    await bench.reset()
    octets = frame_octets(b"\x02" * 6, b"\x02\x00\x00\x00\x00\x01", bytes(300), vid=5, pcp=0)
    shaped = frame_octets(b"\x02" * 6, b"\x02\x00\x00\x00\x00\x01", bytes(300), vid=5, pcp=CLASS_OF_PCP.index(5))
    plain = {"by_destination": None, "by_source": None, "by_value": None, "whole": True, "members": 0b1111}

    async def asks(what: bytes, **fields) -> set[tuple[int, int]]:
        bench.asked.clear()
        await bench.frame(what, answers_of(bench.rng, **{**plain, "after": [3, 3, 3, 5], **fields}))
        return set(bench.asked)

    assert await asks(octets, ports=0b0100) == {(0b0100, CLASS_OF_PCP[0])}
    assert await asks(octets, ports=0b0110) == {(0b0100, CLASS_OF_PCP[0])}, "never back to where it came from"
    assert await asks(octets, ports=0b0101) == set(), "for two ports"
    assert await asks(octets, ports=None) == set(), "flooded"
    assert await asks(octets, ports=0b1000) == set(), "a port that cuts nothing through"
    assert await asks(octets, ports=0b0100, members=0b0111 & ~HERE) == set(), "no member of its VLAN"
    assert await asks(shaped, ports=0b0100) == set(), "of a shaped class"
    dut.dispatch_busy_i.value = 1
    assert await asks(octets, ports=0b0100) == set(), "another one of this port may be on its way to the queues"
    dut.dispatch_busy_i.value = 0
    # A frame that is begun asks no more and has no descriptor; the next one has.
    count = len(bench.arrived)
    bench.begin_when_asked = True
    assert await asks(octets, ports=0b0100) == {(0b0100, CLASS_OF_PCP[0])}
    assert (bench.begun, len(bench.arrived)) == (1, count)
    bench.begin_when_asked = False
    await asks(octets, ports=0b0100)
    assert len(bench.arrived) == count + 1


@cocotb.test()
async def short_long_and_late_frames_are_counted(dut) -> None:
    bench = Bench(dut, 83)
    await bench.reset()
    good = frame_octets(b"\x02" * 6, b"\x02\x00\x00\x00\x00\x01", bytes(100))
    said = {"ports": 0b0100, "members": 0b1111, "whole": True}
    await bench.frame(good[:40], answers_of(bench.rng, **said))
    await bench.frame(bytes(1_600), answers_of(bench.rng, **said))
    await bench.frame(good, answers_of(bench.rng, **said))
    counts = bench.counts()
    assert [counts[name] for name in COUNTERS[:4]] == [1, 1, 1, 0]
    assert sum(one[6] for one in bench.arrived) == 1, "one of them is kept"
    # While the tables are not ready nothing is taken, and a frame that is under way then is not taken afterwards.
    dut.enable_i.value = 0
    await bench.source.send(GmiiFrame(bytearray(b"\x55" * 7 + b"\xd5" + good)))
    for _ in range(40):
        await FallingEdge(dut.clk_i)
    dut.enable_i.value = 1
    await bench.source.wait()
    for _ in range(60):
        await FallingEdge(dut.clk_i)
    assert bench.counts() == counts
    await bench.frame(good, answers_of(bench.rng, **said))
    assert bench.counts()["received"] == 2
