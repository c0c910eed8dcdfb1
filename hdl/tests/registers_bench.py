"""Coroutines of the bench of the registers: the master is the one of cocotbext-axi. See ``test_registers.py``."""

from __future__ import annotations

import itertools
import pathlib
import random
import sys

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import registers

MAP = registers.read_map()


def places(*access: str) -> list[tuple[registers.Register, int]]:
    """Registers with their addresses, those of ports for each of four."""
    found = [(one, one.address + 4 * k) for one in MAP.of("", *access) for k in range(one.count)]
    for port in range(4):
        base = MAP.port_base + port * MAP.port_stride
        found += [(one, base + one.address + 4 * k) for one in MAP.of("port", *access) for k in range(one.count)]
    return found


# Cycles from what the switch takes to its answer: of a read, of a write that is no command.
READ, WRITE = 5, 3


async def begin(dut) -> AxiLiteMaster:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    dut.command_ready_i.value = 1
    dut.refused_i.value = 0
    dut.rst_ni.value = 0
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "axil"), dut.clk_i, dut.rst_ni, reset_active_level=False)
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    return master


def slow(rng: random.Random) -> itertools.cycle:
    return itertools.cycle([rng.random() < 0.5 for _ in range(97)])


@cocotb.test()
async def every_register_keeps_what_is_written(dut) -> None:
    master = await begin(dut)
    rng = random.Random(1)
    master.write_if.aw_channel.set_pause_generator(slow(rng))
    master.write_if.w_channel.set_pause_generator(slow(rng))
    master.write_if.b_channel.set_pause_generator(slow(rng))
    master.read_if.r_channel.set_pause_generator(slow(rng))
    stored = places("rw")
    kept = {address: one.reset for one, address in stored}
    for one, address in stored:
        assert await master.read_dword(address) == one.reset, one.name
    rng.shuffle(stored)
    for one, address in stored:
        kept[address] = rng.getrandbits(32) & ((1 << one.width) - 1)
        assert (await master.write(address, kept[address].to_bytes(4, "little"))).resp == AxiResp.OKAY, one.name
    # Single octets by their strobes.
    for one, address in stored[:20]:
        value = rng.getrandbits(8)
        assert (await master.write(address + 1, bytes([value]))).resp == AxiResp.OKAY, one.name
        kept[address] = (kept[address] & ~0xFF00 | value << 8) & ((1 << one.width) - 1)
    for one, address in stored:
        assert await master.read_dword(address) == kept[address], one.name
    for one, address in places("ro"):
        if one.constant is not None:
            assert await master.read_dword(address) == one.constant
    assert [await master.read_dword(0x8A0 + 0x100 * port) for port in range(4)] == [10, 11, 12, 13]


@cocotb.test()
async def what_is_none_is_refused(dut) -> None:
    master = await begin(dut)
    readable = {address for _, address in places("rw", "ro")}
    writable = {address for _, address in places("rw", "command")}
    for address in range(0, 4096, 4):
        answer = await master.read(address, 4)
        assert (answer.resp == AxiResp.OKAY) == (address in readable), hex(address)
    before = {address: await master.read_dword(address) for _, address in places("rw")}
    for address in range(0, 4096, 4):
        if address not in writable:
            assert (await master.write(address, b"\xff" * 4)).resp == AxiResp.SLVERR, hex(address)
    assert before == {address: await master.read_dword(address) for _, address in places("rw")}


@cocotb.test()
async def halves_belong_together_and_commands_wait(dut) -> None:
    master = await begin(dut)
    low, high = (next(one.address for one in MAP.registers if one.name == name) for name in ("clock_low", "clock_high"))
    for k in range(40):
        parts = [await master.read_dword(low), await master.read_dword(high)]
        for _ in range(k % 7):
            await FallingEdge(dut.clk_i)
        whole = parts[1] << 32 | parts[0]
        assert whole % 0x4000_0001 == 0, "both halves are of one instant"
    command = next(one.address for one in MAP.registers if one.name == "stream_write")
    for value in (1, 0, 1):
        dut.command_ready_i.value = 0
        write = cocotb.start_soon(master.write(command, bytes([value, 0, 0, 0])))
        for _ in range(30):
            await FallingEdge(dut.clk_i)
        assert dut.command_valid_o.value and int(dut.command_o.value) == value
        assert not write.done()
        dut.command_ready_i.value = 1
        assert (await write).resp == AxiResp.OKAY
        assert not dut.command_valid_o.value
    # What the switch refuses is answered by an error; another command at that time is not.
    dut.refused_i.value = 1
    other = next(one.address for one in MAP.registers if one.name == "address_write")
    assert (await master.write(command, bytes(4))).resp == AxiResp.SLVERR
    assert (await master.write(other, bytes(4))).resp == AxiResp.OKAY
    dut.refused_i.value = 0
    assert (await master.write(command, bytes(4))).resp == AxiResp.OKAY


@cocotb.test()
async def answers_come_after_so_many_cycles(dut) -> None:
    """Those of the table on the page of the registers, each and every one."""
    master = await begin(dut)
    took: dict[str, set[int]] = {"r": set(), "b": set()}

    async def watch() -> None:
        cycle, taken = 0, {"r": 0, "b": 0}
        data_first = 0
        while True:
            await FallingEdge(dut.clk_i)
            for channel, address in (("r", "ar"), ("b", "aw")):
                if getattr(dut, f"axil_{channel}valid").value and taken[channel]:
                    took[channel].add(cycle - max(taken[channel], data_first if channel == "b" else 0))
                    taken[channel] = 0
                if getattr(dut, f"axil_{address}valid").value and getattr(dut, f"axil_{address}ready").value:
                    taken[channel] = cycle
            if dut.axil_wvalid.value and dut.axil_wready.value:
                data_first = cycle
            cycle += 1

    cocotb.start_soon(watch())
    for one, address in places("rw"):
        await master.write_dword(address, one.reset)
        await master.read_dword(address)
    assert took == {"r": {READ}, "b": {WRITE}}
