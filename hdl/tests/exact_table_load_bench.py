"""How many entries the table of exact matches takes: see ``test_exact_table.py``. The size is that of the design.

Nothing is chosen to fit: keys are drawn, or are addresses and VLANs in steps.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

# Of a thousand places, so many are filled without a refusal.
SURE = 950
BASE = 0x91E0F0000000


def sets(rng: random.Random, width: int, count: int) -> Iterator[tuple[str, list[int]]]:
    """Keys by kind, in the order in which they are written."""
    yield "drawn", [rng.getrandbits(width) for _ in range(count)]
    step = rng.choice([1, 2, 3, 16, 64, 256, 1000, 4096, 65536])
    yield f"addresses {step} apart", [5 << 48 | BASE + step * k for k in range(count)]
    bits = rng.randrange(1, 9)
    vids = 1 << bits
    yield f"{vids} VLANs of each address", [(k % vids) << 48 | BASE + k // vids for k in range(count)]
    talkers = [rng.getrandbits(24) << 8 for _ in range(count // 64 + 1)]
    yield "64 consecutive addresses of each talker", [2 << 48 | BASE | talkers[k // 64] + k % 64 for k in range(count)]


@cocotb.test()
async def so_many_find_a_place(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    places, width, values = (int(getattr(dut, name).value) for name in ("Places", "KeyWidth", "ValueWidth"))
    sure = places * SURE // 1000
    rng = random.Random(int(os.environ["TABLE_SEED"]))
    for name in ("lookup_valid_i", "learn_valid_i", "write_valid_i", "age_tick_i"):
        getattr(dut, name).value = 0
    for kind, drawn in sets(rng, width, 2 * places):
        dut.rst_ni.value = 0
        for _ in range(4):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await RisingEdge(dut.ready_o)
        kept: dict[int, int] = {}
        refused, first, slowest = 0, 0, 0
        for key in dict.fromkeys(drawn):
            value = rng.getrandbits(values)
            await FallingEdge(dut.clk_i)
            begun = cocotb.simtime.get_sim_time("ns")
            dut.write_valid_i.value = 1
            dut.write_remove_i.value = 0
            dut.write_key_i.value = key
            dut.write_value_i.value = value
            await RisingEdge(dut.write_ready_o)
            await FallingEdge(dut.clk_i)
            slowest = max(slowest, int(cocotb.simtime.get_sim_time("ns") - begun) // 8)
            if not dut.write_refused_o.value:
                kept[key] = value
            else:
                first = first or len(kept)
                assert len(kept) >= sure, f"{kind}: {len(kept)} of {places} were kept"
                refused += 1
            await FallingEdge(dut.clk_i)
            dut.write_valid_i.value = 0
            if refused == 8:
                break
        assert refused == 8, "the table is full"
        # Everything that was kept is found, and nothing else.
        for key in dict.fromkeys(drawn):
            await FallingEdge(dut.clk_i)
            dut.lookup_valid_i.value = 1
            dut.lookup_key_i.value = key
            await FallingEdge(dut.clk_i)
            dut.lookup_valid_i.value = 0
            while not int(dut.answer_valid_o.value):
                await FallingEdge(dut.clk_i)
            found = int(dut.answer_value_o.value) if dut.answer_hit_o.value else None
            assert found == kept.get(key), hex(key)
        dut._log.info("%s: %d of %d places before the first refusal, the slowest write %d cycles", kind, first, places, slowest)
