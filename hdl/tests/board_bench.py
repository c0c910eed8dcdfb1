"""Coroutines of the bench of the switch as a board has it, which the simulator runs: see ``test_board.py``.

Ports 0 and 1 are on GMII, ports 2 and 3 on RGMII, whose clocks are 250 ppm slower and faster than the switch's.
"""

from __future__ import annotations

import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from cocotbext.axi import AxiLiteBus, AxiLiteMaster
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource, RgmiiSink, RgmiiSource
from counts import times
from latency import host
from switch_run import PORTS, frame_octets, port_address

BROADCAST = b"\xff" * 6


class Bench:
    """The switch, its neighbours on lines of two kinds, and the master of its registers."""

    def __init__(self, dut) -> None:
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk_i, 8_000, "ps").start())
        self.still = False
        cocotb.start_soon(self.clock_of_phy(dut.p2_rxc, 4_001))
        cocotb.start_soon(self.clock_of_phy(dut.p3_rxc, 3_999))
        self.sources = [
            GmiiSource(dut.p0_rxd, dut.p0_rx_er, dut.p0_rx_dv, dut.clk_i),
            GmiiSource(dut.p1_rxd, dut.p1_rx_er, dut.p1_rx_dv, dut.clk_i),
            RgmiiSource(dut.p2_rxd, dut.p2_rx_ctl, dut.p2_rxc),
            RgmiiSource(dut.p3_rxd, dut.p3_rx_ctl, dut.p3_rxc),
        ]
        self.sinks = [
            GmiiSink(dut.p0_txd, dut.p0_tx_er, dut.p0_tx_en, dut.clk_i),
            GmiiSink(dut.p1_txd, dut.p1_tx_er, dut.p1_tx_en, dut.clk_i),
            RgmiiSink(dut.p2_txd, dut.p2_tx_ctl, dut.p2_txc),
            RgmiiSink(dut.p3_txd, dut.p3_tx_ctl, dut.p3_txc),
        ]
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "axil"), dut.clk_i, dut.rst_ni, reset_active_level=False)

    async def clock_of_phy(self, pin, half_ps: int) -> None:
        """Goes on while it is not still, and stays low then."""
        while True:
            pin.value = int(not self.still)
            await Timer(half_ps, "ps")
            pin.value = 0
            await Timer(half_ps, "ps")

    async def reset(self, cycles: int = 8, still_ns: int = 0) -> None:
        """Until its tables are initialised; the clocks of the PHYs may stand still from its beginning until after it."""
        await FallingEdge(self.dut.clk_i)
        self.still = still_ns > 0
        self.dut.rst_ni.value = 0
        for _ in range(cycles):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        if still_ns:
            await Timer(still_ns, "ns")
        self.still = False
        while not self.dut.ready_o.value:
            await Timer(1, "us")
        for sink in self.sinks:
            sink.clear()

    async def give(self, port: int, octets: bytes) -> None:
        await self.sources[port].send(GmiiFrame(bytearray(b"\x55" * 7 + b"\xd5" + octets)))

    def sent(self, port: int) -> list[bytes]:
        """What a neighbour got; all of it whole."""
        found = []
        while not self.sinks[port].empty():
            frame = self.sinks[port].recv_nowait()
            assert frame.check_fcs() and not any(frame.error or [0])
            found.append(bytes(frame.get_payload(strip_fcs=False)))
        return found

    async def counted(self, name: str) -> list[int]:
        return [int(await self.master.read_dword(port_address(port, name))) for port in range(PORTS)]


@cocotb.test()
async def lines_of_both_kinds_carry_every_frame(dut) -> None:
    bench = Bench(dut)
    await bench.reset()
    for port in range(PORTS):
        await bench.give(port, frame_octets(BROADCAST, host(port), b"here"))
        await bench.sources[port].wait()
    await Timer(5, "us")
    assert [len(bench.sent(port)) for port in range(PORTS)] == [PORTS - 1] * PORTS
    rng = random.Random(93)
    expected: list[Counter[bytes]] = [Counter() for _ in range(PORTS)]
    rounds = times(12)
    for k in range(rounds):
        # Every port sends, each to another one, at the rate of its line.
        shift, size = rng.randrange(1, PORTS), rng.choice([1, 46, 400])
        for port in range(PORTS):
            target = (port + shift) % PORTS
            octets = frame_octets(host(target), host(port), bytes([k, port]) * size, pcp=k % 8)
            expected[target][octets] += 1
            await bench.give(port, octets)
    for source in bench.sources:
        await source.wait()
    await Timer(40, "us")
    assert [Counter(bench.sent(port)) for port in range(PORTS)] == expected
    assert await bench.counted("received") == [rounds + 1] * PORTS
    assert await bench.counted("sent") == [rounds + PORTS - 1] * PORTS
    assert await bench.counted("received_check") == [0] * PORTS


@cocotb.test()
async def a_reset_in_the_middle_of_frames_leaves_both_kinds_working(dut) -> None:
    bench = Bench(dut)
    await bench.reset()
    # The last ones of one cycle, with the clocks of the PHYs standing still: for all of the initialisation, or for less.
    for wait_ns, cycles, still_ns in ((300, 8, 0), (1_111, 8, 0), (2_024, 1, 0), (1_003, 1, 60_000), (1_707, 1, 500)):
        for port in range(PORTS):
            await bench.give(port, frame_octets(BROADCAST, host(port), bytes([port]) * 900))
        await Timer(wait_ns, "ns")
        await bench.reset(cycles, still_ns)
        for source in bench.sources:
            await source.wait()
        await Timer(40, "us")
        for sink in bench.sinks:
            sink.clear()
        # A carrier that was under way at the reset is no frame of anybody; what comes behind it is.
        final = [frame_octets(BROADCAST, host(port), b"after" * 20) for port in range(PORTS)]
        for port in range(PORTS):
            await bench.give(port, final[port])
        for source in bench.sources:
            await source.wait()
        await Timer(10, "us")
        for port in range(PORTS):
            assert sorted(bench.sent(port)) == sorted(final[:port] + final[port + 1 :])
