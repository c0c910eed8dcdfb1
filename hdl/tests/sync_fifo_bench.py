"""Coroutines of the bench of the FIFO of one clock: see ``test_small_benches.py``."""

from __future__ import annotations

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

DEPTH, WIDTH = 8, 12


async def begin(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    dut.push_i.value = dut.pop_i.value = dut.data_i.value = 0
    dut.rst_ni.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


async def drive(dut, rng: random.Random, cycles: int, push_share: float, pop_share: float) -> tuple[int, int]:
    """Pushes and pops by chance, each only where it may; the words popped and the cycles in which it was full."""
    words: deque[int] = deque()
    popped = full = 0
    for _ in range(cycles):
        assert int(dut.valid_o.value) == bool(words) and int(dut.full_o.value) == (len(words) == DEPTH)
        if words:
            assert int(dut.data_o.value) == words[0]
        full += len(words) == DEPTH
        pop = bool(words) and rng.random() < pop_share
        push = len(words) < DEPTH and rng.random() < push_share
        data = rng.randrange(1 << WIDTH)
        dut.push_i.value, dut.pop_i.value, dut.data_i.value = push, pop, data
        if pop:
            words.popleft()
            popped += 1
        if push:
            words.append(data)
        await FallingEdge(dut.clk_i)
    dut.push_i.value = dut.pop_i.value = 0
    while words:
        dut.pop_i.value = 1
        assert int(dut.data_o.value) == words.popleft()
        await FallingEdge(dut.clk_i)
    dut.pop_i.value = 0
    return popped, full


@cocotb.test()
async def what_is_pushed_is_popped_in_order(dut) -> None:
    await begin(dut)
    rng = random.Random(81)
    for push_share, pop_share in ((0.5, 0.5), (1.0, 1.0), (0.9, 0.2), (0.2, 0.9)):
        popped, full = await drive(dut, rng, 1_000, push_share, pop_share)
        assert popped > 150 and (full > 500) == (push_share > 2 * pop_share)


@cocotb.test()
async def a_reset_empties_it_at_any_level(dut) -> None:
    await begin(dut)
    rng = random.Random(82)
    for level in range(DEPTH + 1):
        for _ in range(level):
            dut.push_i.value, dut.data_i.value = 1, rng.randrange(1 << WIDTH)
            await FallingEdge(dut.clk_i)
        # A push in the cycle of the reset is none.
        dut.push_i.value = int(level < DEPTH)
        dut.rst_ni.value = 0
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value, dut.push_i.value = 1, 0
        assert not int(dut.valid_o.value) and not int(dut.full_o.value)
        await drive(dut, rng, 50, 0.6, 0.4)
