"""Coroutines of the bench of the whole switch between four neighbours that know nothing of this project: see ``test_switch_bench.py``.

Lines are the GMII of cocotbext-eth, registers are written and read by the master of cocotbext-axi, while frames run.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource
from latency import host, stream
from switch_run import (
    ADDRESSES,
    PORTS,
    Setting,
    address_setting,
    ats_setting,
    cut_through_setting,
    frame_octets,
    group_setting,
    port_address,
    scheduler_setting,
    stream_setting,
    writes_of,
)

BROADCAST = b"\xff" * 6


class Bench:
    """The switch, its neighbours, and the master of its registers."""

    def __init__(self, dut) -> None:
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
        lines = [{name: getattr(dut, f"p{port}_{name}") for name in NAMES} for port in range(PORTS)]
        self.sources = [GmiiSource(one["rxd"], one["rx_er"], one["rx_dv"], dut.clk_i) for one in lines]
        self.sinks = [GmiiSink(one["txd"], one["tx_er"], one["tx_en"], dut.clk_i) for one in lines]
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "axil"), dut.clk_i, dut.rst_ni, reset_active_level=False)

    async def reset(self) -> None:
        """Until its tables are initialised."""
        self.dut.rst_ni.value = 0
        for _ in range(8):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        while not self.dut.ready_o.value:
            await Timer(1, "us")
        # What was on the lines at the reset was cut off.
        for sink in self.sinks:
            sink.clear()

    async def set(self, settings: list[Setting]) -> None:
        for one in writes_of(settings):
            assert one.value is not None
            answer = await self.master.write(one.address, one.value.to_bytes(4, "little"))
            assert answer.resp == AxiResp.OKAY

    async def read(self, port: int, name: str) -> int:
        return int(await self.master.read_dword(port_address(port, name)))

    async def give(self, port: int, octets: bytes) -> None:
        """Hands a frame with its check sequence to a neighbour."""
        await self.sources[port].send(GmiiFrame(bytearray(b"\x55" * 7 + b"\xd5" + octets)))

    def sent(self, port: int) -> list[tuple[bytes, float]]:
        """What a neighbour got, whole, with the times of the start delimiters in ns."""
        found = []
        while not self.sinks[port].empty():
            frame = self.sinks[port].recv_nowait()
            assert frame.check_fcs() and not any(frame.error or [0])
            found.append((bytes(frame.get_payload(strip_fcs=False)), frame.sim_time_sfd / 1000))
        return found


NAMES = ("rxd", "rx_dv", "rx_er", "txd", "tx_en", "tx_er")


@cocotb.test()
async def unicast_at_line_rate_reaches_its_hosts(dut) -> None:
    bench = Bench(dut)
    await bench.reset()
    await bench.set([cut_through_setting(0x0F)])
    for port in range(PORTS):
        await bench.give(port, frame_octets(BROADCAST, host(port), b"here"))
        await bench.sources[port].wait()
    await Timer(5, "us")
    assert all(len(bench.sent(port)) == PORTS - 1 for port in range(PORTS))
    rng = random.Random(71)
    expected: list[Counter[bytes]] = [Counter() for _ in range(PORTS)]
    rounds = 40
    for k in range(rounds):
        # A permutation at a time, of one size: no port is asked for more than its rate.
        shift, size = rng.randrange(1, PORTS), rng.choice([1, 46, 200])
        for port in range(PORTS):
            target = (port + shift) % PORTS
            octets = frame_octets(host(target), host(port), bytes([k, port]) * size, pcp=k % 8)
            expected[target][octets] += 1
            await bench.give(port, octets)
    # Registers are read while frames run.
    reads = []
    while bench.sources[0].count():
        reads.append(await bench.read(1, "received"))
    assert reads == sorted(reads) and reads[-1] > reads[0] + rounds // 2
    for source in bench.sources:
        await source.wait()
    await Timer(40, "us")
    for port in range(PORTS):
        assert Counter(octets for octets, _ in bench.sent(port)) == expected[port]
        assert await bench.read(port, "received") == rounds + 1
        assert await bench.read(port, "sent") == rounds + PORTS - 1


@cocotb.test()
async def a_stream_keeps_its_rate(dut) -> None:
    bench = Bench(dut)
    await bench.reset()
    settings = [ats_setting(1000, 20, 1 << 6), address_setting(stream(0), 5, 0b0100), stream_setting(stream(0), 5, 3)]
    await bench.set([*settings, scheduler_setting(3, 2, 100_000_000, 400), group_setting(2, 2**30)])
    frames = [frame_octets(stream(0), host(0), bytes([k]) * 100, vid=5, pcp=6) for k in range(8)]
    for octets in frames:
        await bench.give(0, octets)
    await with_timeout(bench.sources[0].wait(), 1, "ms")
    await Timer(120, "us")
    got = bench.sent(2)
    assert [octets for octets, _ in got] == frames
    # 122 octets and 20 of overhead at 100 Mbit/s, once the burst is used up; the scan sees a class every 64 ns. The
    # third frame is in the burst of 400 octets with what the bucket gained since the first.
    gaps = [after[1] - before[1] for before, after in itertools.pairwise(got)]
    assert all(abs(gap - 80 * (len(frames[0]) + 20)) <= 64 for gap in gaps[3:]), gaps
    assert max(gaps[:2]) < 2_000, "three at once"


@cocotb.test()
async def bad_frames_are_counted_and_go_nowhere(dut) -> None:
    bench = Bench(dut)
    await bench.reset()
    good = frame_octets(BROADCAST, host(1), b"good" * 20)
    flawed = bytes([*good[:30], good[30] ^ 4, *good[31:]])
    for octets in (good, flawed, good[:40], bytes(1523), good, b"", bytes(9000), good):
        await bench.give(1, octets)
    await with_timeout(bench.sources[1].wait(), 1, "ms")
    await Timer(10, "us")
    for port in (0, 2, 3):
        assert [octets for octets, _ in bench.sent(port)] == [good] * 3
    assert bench.sent(1) == []
    counts = {name: await bench.read(1, f"received{name}") for name in ("", "_check", "_short", "_long")}
    assert counts == {"": 3, "_check": 1, "_short": 2, "_long": 2}
    assert (await bench.master.read(0xFFC, 4)).resp == AxiResp.SLVERR
    assert await bench.master.read_dword(ADDRESSES["identity"]) == 0x54415554


@cocotb.test()
async def a_reset_under_load_leaves_a_working_switch(dut) -> None:
    bench = Bench(dut)
    for round_ in range(3):
        await bench.reset()
        for port in range(PORTS):
            for k in range(4):
                await bench.give(port, frame_octets(BROADCAST, host(port), bytes([round_, k]) * 100))
        await Timer(1_000 + 700 * round_, "ns")
    await bench.reset()
    for port in range(PORTS):
        await bench.sources[port].wait()
        bench.sinks[port].clear()
    await Timer(20, "us")
    for port in range(PORTS):
        bench.sinks[port].clear()
    final = frame_octets(BROADCAST, host(2), b"final")
    await bench.give(2, final)
    await bench.sources[2].wait()
    await Timer(5, "us")
    assert [[octets for octets, _ in bench.sent(port)] for port in range(PORTS)] == [[final], [final], [], [final]]
