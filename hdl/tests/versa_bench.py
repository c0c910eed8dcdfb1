"""Coroutines of the bench of the board ``hdl/ecp5/versa.sv``, which the simulator runs: see ``test_versa.py``.

Neighbours on RGMII, whose clocks are 250 ppm slower and faster than the switch's, and a host on the serial line.
"""

from __future__ import annotations

import pathlib
import random
import sys

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer, with_timeout
from cocotbext.eth import GmiiFrame, RgmiiSink, RgmiiSource
from latency import host
from switch_run import frame_octets

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import registers
import uart

PORTS = 2
MAP = registers.read_map()
OKAY, SLVERR = b"\0", b"\2"


class Bench:
    """The board between two neighbours and a host."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.bit_ns = 8 * int(dut.Divider.value)
        dut.uart_rx_i.value = 1
        cocotb.start_soon(Clock(dut.clk_i, 8_000, "ps").start())
        cocotb.start_soon(Clock(dut.p0_rxc, 8_002, "ps").start())
        cocotb.start_soon(Clock(dut.p1_rxc, 7_998, "ps").start())
        self.sources = [RgmiiSource(dut.p0_rxd, dut.p0_rx_ctl, dut.p0_rxc), RgmiiSource(dut.p1_rxd, dut.p1_rx_ctl, dut.p1_rxc)]
        self.sinks = [RgmiiSink(dut.p0_txd, dut.p0_tx_ctl, dut.p0_txc), RgmiiSink(dut.p1_txd, dut.p1_tx_ctl, dut.p1_txc)]

    async def start(self) -> None:
        """By the button; until the board says that it is ready."""
        self.dut.rst_ni.value = 0
        await Timer(100, "ns")
        self.dut.rst_ni.value = 1
        assert int(self.dut.phy_rst_no.value) == 0
        cycles = 0
        while int(self.dut.phy_rst_no.value) != 3:
            await FallingEdge(self.dut.clk_i)
            cycles += 1
        assert 0 <= cycles - (1 << int(self.dut.ResetWidth.value)) < 8
        while int(self.dut.led_no.value) & 1:
            await Timer(100, "ns")
        for sink in self.sinks:
            sink.clear()

    async def say(self, octets: bytes) -> None:
        """On the serial line, by its host."""
        for octet in octets:
            for bit in (0, *(octet >> k & 1 for k in range(8)), 1):
                self.dut.uart_rx_i.value = bit
                await Timer(self.bit_ns, "ns")

    async def hear(self, count: int) -> bytes:
        octets = []
        for _ in range(count):
            await with_timeout(FallingEdge(self.dut.uart_tx_o), 120 * self.bit_ns, "ns")
            await Timer(self.bit_ns // 2, "ns")
            bits = []
            for _ in range(10):
                bits.append(int(self.dut.uart_tx_o.value))
                await Timer(self.bit_ns if len(bits) < 10 else 1, "ns")
            assert (bits[0], bits[9]) == (0, 1)
            octets.append(sum(bit << k for k, bit in enumerate(bits[1:9])))
        return bytes(octets)

    async def asked(self, request: bytes, count: int) -> bytes:
        answer = cocotb.start_soon(self.hear(count))
        await self.say(request)
        return await answer

    async def read(self, name: str, port: int | None = None) -> int:
        answer = await self.asked(uart.read_request(uart.address_of(MAP, name, port)), 5)
        assert answer[:1] == OKAY
        return int.from_bytes(answer[1:], "big")

    async def write(self, name: str, word: int, port: int | None = None) -> None:
        assert await self.asked(uart.write_request(uart.address_of(MAP, name, port), word), 1) == OKAY

    async def give(self, port: int, octets: bytes) -> None:
        await self.sources[port].send(GmiiFrame(bytearray(b"\x55" * 7 + b"\xd5" + octets)))

    def sent(self, port: int) -> list[bytes]:
        found = []
        while not self.sinks[port].empty():
            frame = self.sinks[port].recv_nowait()
            assert frame.check_fcs() and not any(frame.error or [0])
            found.append(bytes(frame.get_payload(strip_fcs=False)))
        return found


@cocotb.test()
async def registers_are_read_and_written_by_the_serial_line(dut) -> None:
    bench = Bench(dut)
    await bench.start()
    assert await bench.read("identity") == 0x54415554
    assert await bench.read("shape") & 0xFF == PORTS
    assert await bench.read("status") == 1
    rng = random.Random(5)
    for _ in range(8):
        word = rng.getrandbits(32)
        await bench.write("stream_key_low", word)
        assert await bench.read("stream_key_low") == word
    # An address that is none, and a register that cannot be written.
    assert (await bench.asked(uart.read_request(0xFFC), 5))[:1] == SLVERR
    assert await bench.asked(uart.write_request(0x000, 1), 1) == SLVERR
    # Noise before a request, a pulse that is no start bit, and a request that breaks off.
    await bench.say(b"\x00noise\xff")
    assert await bench.read("identity") == 0x54415554
    dut.uart_rx_i.value = 0
    await Timer(bench.bit_ns // 4, "ns")
    dut.uart_rx_i.value = 1
    await Timer(2 * bench.bit_ns, "ns")
    assert await bench.read("identity") == 0x54415554
    await bench.say(uart.write_request(0x048, 1)[:4])
    await Timer(8 * (1 << int(dut.PatienceWidth.value)) + 20 * bench.bit_ns, "ns")
    assert await bench.read("identity") == 0x54415554


@cocotb.test()
async def frames_go_from_one_port_to_the_other(dut) -> None:
    bench = Bench(dut)
    # The button is pressed a second time in the middle of frames.
    for seed in (1, 2):
        await bench.start()
        rng = random.Random(seed)
        expected: list[list[bytes]] = [[], []]
        for k in range(30):
            for port in range(PORTS):
                target = 1 - port
                octets = frame_octets(host(target), host(port), rng.randbytes(rng.choice([42, 43, 300, 1_000])), pcp=k % 8)
                expected[target].append(octets)
                await bench.give(port, octets)
        for source in bench.sources:
            await source.wait()
        await Timer(20, "us")
        for port in range(PORTS):
            assert sorted(bench.sent(port)) == sorted(expected[port])
            assert await bench.read("received", port) == await bench.read("sent", port) == 30
            assert await bench.read("received_check", port) == 0
        for port in range(PORTS):
            await bench.give(port, frame_octets(host(1 - port), host(port), bytes(1_400)))
        await Timer(3, "us")
    await Timer(30, "us")
