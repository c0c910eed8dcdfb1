"""Coroutines of the bench of cut-through: see ``test_forwarding_path.py``.

Ports that ask, ports that answer and frames that end at random times, against the rule in three cycles: asked, answered, begun.
"""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

PORTS, CLASS_WIDTH, CELL_WIDTH = 4, 3, 12


def field(value: int, place: int, width: int) -> int:
    return value >> place * width & (1 << width) - 1


@cocotb.test()
async def who_asks_is_begun_if_all_agree(dut) -> None:
    rng = random.Random(71)
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    for name in ("ask_i", "ready_i", "alive_i", "enough_i"):
        getattr(dut, name).value = 0
    dut.rst_ni.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    # By transmission port: who was heard in the cycle before, and in the one before that, with its class.
    asked: list[tuple[int, int] | None] = [None] * PORTS
    answering: list[tuple[int, int] | None] = [None] * PORTS
    begun_count = refused = contended = 0
    for _ in range(8_000):
        await FallingEdge(dut.clk_i)
        wishes = [rng.choice([one for one in range(PORTS) if one != p]) if rng.random() < 0.5 else None for p in range(PORTS)]
        classes = [rng.randrange(1 << CLASS_WIDTH) for _ in range(PORTS)]
        cells = [rng.randrange(1 << CELL_WIDTH) for _ in range(PORTS)]
        alive, enough = rng.getrandbits(PORTS) | rng.getrandbits(PORTS), rng.random() < 0.9
        ready = sum(1 << e for e in range(PORTS) if answering[e] and rng.random() < 0.6)
        dut.ask_i.value = sum(1 << p * PORTS + to for p, to in enumerate(wishes) if to is not None)
        dut.class_i.value = sum(value << p * CLASS_WIDTH for p, value in enumerate(classes))
        dut.cell_i.value = sum(value << p * CELL_WIDTH for p, value in enumerate(cells))
        dut.alive_i.value, dut.enough_i.value, dut.ready_i.value = alive, enough, ready
        await ReadOnly()
        # The questions of the cycle before.
        valid, heard = int(dut.ask_valid_o.value), int(dut.ask_class_o.value)
        assert valid == sum(1 << e for e in range(PORTS) if asked[e])
        for e in range(PORTS):
            assert not asked[e] or field(heard, e, CLASS_WIDTH) == asked[e][1]
        # The answers to the questions of two cycles before.
        starts = [e for e in range(PORTS) if (one := answering[e]) and ready >> e & 1 and enough and alive >> one[0] & 1]
        assert int(dut.start_o.value) == sum(1 << e for e in starts)
        begun = 0
        for e in starts:
            source = answering[e][0]
            begun |= 1 << source
            told = field(int(dut.start_source_o.value), e, 2), field(int(dut.start_cell_o.value), e, CELL_WIDTH)
            assert told == (source, cells[source])
        assert int(dut.begun_o.value) == begun
        begun_count += len(starts)
        refused += ready.bit_count() - len(starts)
        answering = asked
        asked = [None] * PORTS
        for p, to in enumerate(wishes):
            if to is not None:
                contended += asked[to] is not None
                # The highest is heard.
                asked[to] = p, classes[p]
    assert begun_count > 1_000 and refused > 100 and contended > 1_000, (begun_count, refused, contended)
