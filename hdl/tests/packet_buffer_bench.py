"""Coroutines of the bench of the packet buffer: see ``test_packet_buffer.py``.

Four writers at line rate, frames of random length for none to all of the ports, readers of random patience: the buffer runs
out of cells and fills again. What is read is what was written; every cell comes back.
"""

from __future__ import annotations

import dataclasses
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

PORTS, CELLS, LENGTH_WIDTH = 4, 32, 11
CELL_WIDTH, COUNT_WIDTH, CHAIN_WIDTH = 5, 3, LENGTH_WIDTH - 5


@dataclasses.dataclass
class Stored:
    """A frame that stands in the buffer."""

    cell: int
    octets: bytes


def field(signal, port: int, width: int) -> int:
    """The value of one port in a packed array."""
    return int(signal.value) >> port * width & (1 << width) - 1


class Writer:
    """Words of frames, one in eight cycles, the last one sooner."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.octets = b""
        self.at = self.wait = 0
        self.pending: deque[bytes] = deque()

    def step(self, more: bool) -> tuple[int, int, int, int, int]:
        """Valid, data, first, last and tail of this cycle."""
        if self.wait:
            self.wait -= 1
            return 0, 0, 0, 0, 0
        if self.at >= len(self.octets):
            if not more:
                return 0, 0, 0, 0, 0
            self.octets, self.at = self.rng.randbytes(self.rng.choice([60, 61, 64, 65, 127, 128, 129, 300, 600])), 0
            self.pending.append(self.octets)
        word = self.octets[self.at : self.at + 8]
        first, last = self.at == 0, self.at + 8 >= len(self.octets)
        self.at += 8
        # Behind the last word: check sequence, gap and preamble; before a short last one: as many octets as it has.
        left = len(self.octets) - self.at
        self.wait = 24 + self.rng.randrange(40) if last else (7 if left >= 8 else max(left, 1) - 1 + 4)
        return 1, int.from_bytes(word, "little"), first, last, len(word) - 1


class Reader:
    """Reads one frame after the other, a word in so many cycles."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.queue: deque[tuple[int, Stored]] = deque()
        self.now: Stored | None = None
        self.got = b""
        self.wait = 0
        self.frames = 0

    def step(self, dut, port: int, cycle: int) -> tuple[int, int, int, int]:
        """Start, cell, octets, pop of this cycle."""
        if self.wait:
            self.wait -= 1
            return 0, 0, 0, 0
        if self.now is None:
            if self.queue and self.queue[0][0] <= cycle:
                self.now = self.queue.popleft()[1]
                self.got = b""
                return 1, self.now.cell, len(self.now.octets), 0
            return 0, 0, 0, 0
        if not field(dut.read_valid_o, port, 1):
            return 0, 0, 0, 0
        last = field(dut.read_last_o, port, 1)
        count = field(dut.read_tail_o, port, 3) + 1 if last else 8
        self.got += field(dut.read_data_o, port, 64).to_bytes(8, "little")[:count]
        self.wait = 7
        if last:
            assert self.got == self.now.octets, f"port {port}"
            self.now = None
            self.frames += 1
            self.wait = self.rng.choice([24, 24, 400])
        return 0, 0, 0, 1


async def begin(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    for name in ("write_valid_i", "write_bad_i", "claim_valid_i", "read_start_i", "read_cut_i", "read_pop_i", "read_source_i"):
        getattr(dut, name).value = 0
    dut.rst_ni.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    while not dut.ready_o.value:
        await FallingEdge(dut.clk_i)
    for _ in range(2 * PORTS):
        await FallingEdge(dut.clk_i)
    assert int(dut.free_o.value) == CELLS - PORTS, "every port has a cell in hand"


def packed(values: list[int], width: int) -> int:
    return sum(value << port * width for port, value in enumerate(values))


async def drive(dut, seed: int, cycles: int, readers_min: int) -> dict[str, int]:
    """Runs writers and readers, then lets them come to rest; frames stored, lost, and read."""
    rng = random.Random(seed)
    writers, readers = [Writer(rng) for _ in range(PORTS)], [Reader(rng) for _ in range(PORTS)]
    claims: deque[tuple[int, int, int, list[int], Stored]] = deque()
    found = {"stored": 0, "lost": 0, "copies": 0, "least": CELLS}
    cycle = 0
    quiet = 0
    while quiet < 200:
        for port, writer in enumerate(writers):
            if not field(dut.done_valid_o, port, 1):
                continue
            octets, cell = writer.pending.popleft(), field(dut.done_cell_o, port, CELL_WIDTH)
            whole = field(dut.done_whole_o, port, 1)
            for_ports = [one for one in range(PORTS) if rng.random() < 0.5] if whole else []
            while whole and len(for_ports) < readers_min:
                for_ports = sorted({*for_ports, rng.randrange(PORTS)})
            claims.append((cell, len(for_ports), field(dut.done_cells_o, port, CHAIN_WIDTH), for_ports, Stored(cell, octets)))
            found["stored" if whole else "lost"] += 1
            found["copies"] += len(for_ports)
        dut.claim_valid_i.value = bool(claims)
        if claims:
            cell, count, cells, for_ports, stored = claims.popleft()
            dut.claim_cell_i.value, dut.claim_readers_i.value, dut.claim_cells_i.value = cell, count, cells
            for one in for_ports:
                readers[one].queue.append((cycle + 4, stored))
        wrote = [writer.step(cycle < cycles) for writer in writers]
        dut.write_valid_i.value = packed([one[0] for one in wrote], 1)
        dut.write_data_i.value = packed([one[1] for one in wrote], 64)
        dut.write_first_i.value = packed([one[2] for one in wrote], 1)
        dut.write_last_i.value = packed([one[3] for one in wrote], 1)
        dut.write_tail_i.value = packed([one[4] for one in wrote], 3)
        read = [reader.step(dut, port, cycle) for port, reader in enumerate(readers)]
        dut.read_start_i.value = packed([one[0] for one in read], 1)
        dut.read_cell_i.value = packed([one[1] for one in read], CELL_WIDTH)
        dut.read_octets_i.value = packed([one[2] for one in read], LENGTH_WIDTH)
        dut.read_pop_i.value = packed([one[3] for one in read], 1)
        found["least"] = min(found["least"], int(dut.free_o.value))
        busy = cycle < cycles or any(one.pending for one in writers) or any(one.now or one.queue for one in readers)
        quiet = 0 if busy or claims else quiet + 1
        cycle += 1
        await FallingEdge(dut.clk_i)
    assert sum(reader.frames for reader in readers) == found["copies"]
    assert int(dut.free_o.value) == CELLS - PORTS, "every cell came back"
    return found


@cocotb.test()
async def what_is_read_is_what_was_written(dut) -> None:
    await begin(dut)
    found = await drive(dut, 21, 4_000, 0)
    assert found["stored"] > 30, found


@cocotb.test()
async def a_full_buffer_loses_whole_frames_and_no_cell(dut) -> None:
    await begin(dut)
    found = await drive(dut, 22, 5_000, 2)
    assert found["lost"] > 20 and found["stored"] > 20 and found["least"] == 0, found
    # The same buffer goes on.
    assert (await drive(dut, 23, 1_500, 0))["stored"] > 10


@cocotb.test()
async def a_reset_gives_all_cells_back(dut) -> None:
    await begin(dut)
    rng = random.Random(24)
    writers = [Writer(rng) for _ in range(PORTS)]
    for instant in (1, 7, 64, 333):
        for _ in range(instant):
            wrote = [writer.step(True) for writer in writers]
            dut.write_valid_i.value = packed([one[0] for one in wrote], 1)
            dut.write_data_i.value = packed([one[1] for one in wrote], 64)
            dut.write_first_i.value = packed([one[2] for one in wrote], 1)
            dut.write_last_i.value = packed([one[3] for one in wrote], 1)
            dut.write_tail_i.value = packed([one[4] for one in wrote], 3)
            await FallingEdge(dut.clk_i)
        dut.write_valid_i.value = 0
        dut.rst_ni.value = 0
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        writers = [Writer(rng) for _ in range(PORTS)]
        while not dut.ready_o.value:
            await FallingEdge(dut.clk_i)
        for _ in range(2 * PORTS):
            await FallingEdge(dut.clk_i)
        assert int(dut.free_o.value) == CELLS - PORTS
    assert (await drive(dut, 25, 1_500, 0))["stored"] > 5
