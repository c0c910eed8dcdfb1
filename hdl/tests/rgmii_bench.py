"""Coroutines of the bench of RGMII, which the simulator runs: see ``test_rgmii.py``.

The PHY's side is that of cocotbext-eth, with a clock that is up to 200 ppm faster or slower than the switch's.
"""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource, RgmiiSink, RgmiiSource

# Cycles from the first octet of a carrier at the pins to that octet in the clock of the switch.
CROSSING = (7, 9)


async def begin(dut, period_fs: int) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8_000, "ps").start())
    cocotb.start_soon(Clock(dut.rgmii_rxc_i, period_fs // 1_000, "ps").start())
    dut.rst_ni.value = 0
    dut.rxc_rst_ni.value = 0
    await Timer(100, "ns")
    dut.rst_ni.value = 1
    dut.rxc_rst_ni.value = 1
    await Timer(100, "ns")


async def reception(dut, period_fs: int) -> None:
    source = RgmiiSource(dut.rgmii_rxd_i, dut.rgmii_rx_ctl_i, dut.rgmii_rxc_i)
    sink = GmiiSink(dut.gmii_rxd_o, dut.gmii_rx_er_o, dut.gmii_rx_dv_o, dut.clk_i)
    await begin(dut, period_fs)
    rng = random.Random(period_fs)
    sent = []
    came: list[float] = []
    crossed: list[float] = []

    async def edges(signal, times: list[float]) -> None:
        """When each carrier begins; RX_CTL falls for half a cycle for an error within one."""
        while True:
            await RisingEdge(signal)
            times.append(get_sim_time("ns"))
            low_ns = 0
            while low_ns < 40:
                await Timer(2, "ns")
                low_ns = 0 if signal.value else low_ns + 2

    cocotb.start_soon(edges(dut.rgmii_rx_ctl_i, came))
    cocotb.start_soon(edges(dut.gmii_rx_dv_o, crossed))
    for k in range(24):
        size = (60, 61, 1518, 1518)[k] if k < 4 else rng.randrange(60, 300)
        frame = GmiiFrame.from_payload(rng.randbytes(size))
        if k % 6 == 5:
            frame.error = [0] * len(frame.data)
            frame.error[rng.randrange(10, size)] = 1
        sent.append((bytes(frame.data), k % 6 == 5))
        await source.send(frame)
    await source.wait()
    await Timer(1, "us")
    for octets, bad in sent:
        got = sink.recv_nowait()
        same = bytes(got.data)[-len(octets) + 8 :] == octets[8:]
        assert (same, any(got.error or [0])) == (True, bad)
    assert sink.empty()
    cycles = [(then - time) / 8 for time, then in zip(came, crossed, strict=True)]
    assert CROSSING[0] <= min(cycles) and max(cycles) <= CROSSING[1], (min(cycles), max(cycles))


@cocotb.test()
async def reception_from_a_faster_clock(dut) -> None:
    await reception(dut, 7_998_000)


@cocotb.test()
async def reception_from_a_slower_clock(dut) -> None:
    await reception(dut, 8_002_000)


@cocotb.test()
async def carriers_shorter_than_the_lead_end(dut) -> None:
    """Noise of one to three octets comes out as it is, and what follows is whole."""
    await begin(dut, 8_002_000)
    carriers, inside = [], 0

    async def watch() -> None:
        nonlocal inside
        while True:
            await FallingEdge(dut.clk_i)
            if dut.gmii_rx_dv_o.value:
                inside += 1
            elif inside:
                carriers.append(inside)
                inside = 0

    cocotb.start_soon(watch())
    lengths = [1, 2, 3, 4, 5, 40, 1, 64]
    for length in lengths:
        for k in range(length + 30):
            await FallingEdge(dut.rgmii_rxc_i)
            await Timer(2, "ns")
            # The lower half for the rising edge, the upper one for the falling edge.
            dut.rgmii_rx_ctl_i.value = k < length
            dut.rgmii_rxd_i.value = k & 15
            await Timer(4, "ns")
            dut.rgmii_rx_ctl_i.value = k < length
            dut.rgmii_rxd_i.value = k >> 4
    await Timer(1, "us")
    assert carriers == lengths


@cocotb.test()
async def transmission_is_what_others_accept(dut) -> None:
    source = GmiiSource(dut.gmii_txd_i, dut.gmii_tx_er_i, dut.gmii_tx_en_i, dut.clk_i)
    sink = RgmiiSink(dut.rgmii_txd_o, dut.rgmii_tx_ctl_o, dut.rgmii_txc_o)
    await begin(dut, 8_000_000)
    rng = random.Random(4)
    payloads = [rng.randbytes(rng.randrange(60, 300)) for _ in range(12)]
    for payload in payloads:
        await source.send(GmiiFrame.from_payload(payload))
    await source.wait()
    await Timer(1, "us")
    for payload in payloads:
        got = sink.recv_nowait()
        same, whole = bytes(got.get_payload()) == payload, got.check_fcs()
        assert (same, whole) == (True, True)
    assert sink.empty()
