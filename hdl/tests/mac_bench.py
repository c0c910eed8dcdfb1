"""Coroutines of the MAC's bench, which the simulator runs: see ``test_mac.py``.

The other end of each GMII is the one of cocotbext-eth, which knows nothing of this project.
"""

from __future__ import annotations

import itertools
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource

# Cycles: from the start delimiter to the header, from the last octet to the verdict, from a start to the delimiter on
# the line with a Lead of 1.
HEADER, VERDICT, START = 19, 2, 10


async def begin(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    dut.rst_ni.value = 0
    dut.tx_start.value = 0
    dut.tx_word_valid.value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


async def received(dut, frames: list) -> None:
    """Appends (octets, header, good, length with frame check sequence) of every carrier."""
    octets, header = b"", None
    while True:
        await FallingEdge(dut.clk_i)
        if dut.rx_header_valid.value:
            tagged = int(dut.rx_header_tagged.value)
            header = (int(dut.rx_header_destination.value), int(dut.rx_header_source.value), tagged)
            header += (int(dut.rx_header_pcp.value), int(dut.rx_header_vid.value))
        if dut.rx_word_valid.value:
            if dut.rx_word_first.value:
                octets = b""
            octets += int(dut.rx_word.value).to_bytes(8, "little")
        if dut.rx_end_valid.value:
            frames.append((octets, header, bool(dut.rx_end_good.value), int(dut.rx_end_octets.value)))
            octets, header = b"", None


@cocotb.test()
async def reception_gives_octets_header_and_verdict(dut) -> None:
    source = GmiiSource(dut.rx_gmii_rxd, dut.rx_gmii_rx_er, dut.rx_gmii_rx_dv, dut.clk_i)
    await begin(dut)
    got: list = []
    cocotb.start_soon(received(dut, got))
    rng = random.Random(1)
    sent = []
    for k in range(60):
        size = (60, 61, 64, 65, 1514, 1518)[k] if k < 6 else rng.randrange(60, 400)
        payload = bytearray(rng.randbytes(size))
        if k % 2:
            payload[12:16] = b"\x81\x00" + rng.randrange(1 << 16).to_bytes(2, "big")
        frame = GmiiFrame.from_payload(bytes(payload))
        good = k % 5 != 4
        if not good:
            frame.data[8 + rng.randrange(size)] ^= 1 << rng.randrange(8)
        sent.append((bytes(payload), good))
        await source.send(frame)
    await source.wait()
    for _ in range(20):
        await FallingEdge(dut.clk_i)
    assert len(got) == len(sent)
    for (octets, header, good, length), (payload, expected) in zip(got, sent, strict=True):
        assert good == expected
        assert length == len(payload) + 4
        if good:
            assert octets[: len(payload)] == payload and len(octets) - len(payload) < 8
            tagged = payload[12:14] == b"\x81\x00"
            tag = int.from_bytes(payload[14:16], "big") if tagged else 0
            destination, origin = int.from_bytes(payload[:6], "big"), int.from_bytes(payload[6:12], "big")
            assert header == (destination, origin, tagged, tag >> 13, tag & 0xFFF)


async def transmit(dut, payload: bytes, *, bad: bool = False) -> None:
    while not dut.tx_ready.value:
        await FallingEdge(dut.clk_i)
    # Ready is said a cycle before the start.
    await FallingEdge(dut.clk_i)
    dut.tx_start.value = 1
    await FallingEdge(dut.clk_i)
    dut.tx_start.value = 0
    for at in range(0, len(payload), 8):
        word = payload[at : at + 8]
        dut.tx_word_valid.value = 1
        dut.tx_word.value = int.from_bytes(word, "little")
        dut.tx_word_last.value = at + 8 >= len(payload)
        dut.tx_word_tail.value = len(word) - 1
        dut.tx_word_bad.value = bad
        # What is taken follows from what was just set.
        await Timer(1, "ns")
        while not dut.tx_word_pop.value:
            await FallingEdge(dut.clk_i)
        # The pop happens at the next rising edge; the word may change after it.
        await FallingEdge(dut.clk_i)
    dut.tx_word_valid.value = 0


@cocotb.test()
async def transmission_makes_frames_that_others_accept(dut) -> None:
    sink = GmiiSink(dut.tx_gmii_txd, dut.tx_gmii_tx_er, dut.tx_gmii_tx_en, dut.clk_i)
    await begin(dut)
    rng = random.Random(2)
    sizes = [60, 61, 67, 68, 1518, *(rng.randrange(60, 400) for _ in range(40))]
    payloads = [rng.randbytes(size) for size in sizes]
    for k, payload in enumerate(payloads):
        await transmit(dut, payload, bad=k % 9 == 8)
    for _ in range(60):
        await FallingEdge(dut.clk_i)
    starts = []
    for k, payload in enumerate(payloads):
        frame = sink.recv_nowait()
        same, whole, marked = bytes(frame.get_payload()) == payload, frame.check_fcs(), any(frame.error or [0])
        assert (same, whole, marked) == (True, k % 9 != 8, k % 9 == 8), f"frame {k}"
        # The sink begins to sample an octet after the carrier.
        assert bytes(frame.get_preamble()) == b"\x55" * 6 + b"\xd5"
        starts.append((frame.sim_time_start, frame.sim_time_end))
    assert sink.empty()
    gaps = {round((after[0] - before[1]) / 8000) for before, after in itertools.pairwise(starts)}
    assert len(gaps) == 1, f"one gap between all frames: {gaps}"


@cocotb.test()
async def both_halves_take_so_many_cycles(dut) -> None:
    """Those of the table on the page of the MAC, each and every one."""
    source = GmiiSource(dut.rx_gmii_rxd, dut.rx_gmii_rx_er, dut.rx_gmii_rx_dv, dut.clk_i)
    await begin(dut)
    took: dict[str, set[int]] = {"header": set(), "verdict": set(), "start": set()}

    async def watch() -> None:
        cycle = delimiter = last = start = 0
        while True:
            await FallingEdge(dut.clk_i)
            if dut.rx_start.value:
                delimiter = cycle
            if dut.rx_gmii_rx_dv.value:
                last = cycle
            if dut.rx_header_valid.value:
                took["header"].add(cycle - delimiter)
            if dut.rx_end_valid.value:
                took["verdict"].add(cycle - last)
            if dut.tx_start.value:
                start = cycle
            if dut.tx_delimiter.value:
                took["start"].add(cycle - start)
            cycle += 1

    cocotb.start_soon(watch())
    rng = random.Random(3)
    for size in (*range(60, 69), 1518):
        await source.send(GmiiFrame.from_payload(rng.randbytes(size)))
        await transmit(dut, rng.randbytes(size))
    await source.wait()
    for _ in range(60):
        await FallingEdge(dut.clk_i)
    assert took == {"header": {HEADER}, "verdict": {VERDICT}, "start": {START}}
