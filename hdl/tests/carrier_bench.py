"""Coroutines of the bench of malformed carriers at a GMII: see ``test_carriers.py``.

Each carrier is followed by a good frame after one octet of gap: whatever came, the next frame is received.
"""

from __future__ import annotations

import random
import zlib

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

PREAMBLE, DELIMITER = 0x55, 0xD5
Octet = tuple[int, int]


def whole(octets: int, seed: int) -> bytes:
    """A frame of so many octets with its check sequence."""
    body = random.Random(seed).randbytes(octets - 4)
    return body + zlib.crc32(body).to_bytes(4, "little")


def carrier(frame: bytes, preamble: int = 7, error_at: int | None = None) -> list[Octet]:
    """Octets and rx_er of a carrier; the place of rx_er counts from its first octet."""
    octets = [PREAMBLE] * preamble + [DELIMITER, *frame]
    return [(octet, int(place == error_at)) for place, octet in enumerate(octets)]


async def begin(dut) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    dut.rst_ni.value = 0
    dut.tx_start.value = 0
    dut.tx_word_valid.value = 0
    for name in ("rxd", "rx_dv", "rx_er"):
        getattr(dut, f"rx_gmii_{name}").value = 0
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for _ in range(4):
        await FallingEdge(dut.clk_i)


async def verdicts(dut, found: list) -> None:
    while True:
        await FallingEdge(dut.clk_i)
        if dut.rx_end_valid.value:
            what = [name for name in ("good", "short", "long", "check") if getattr(dut, f"rx_end_{name}").value]
            found.append((what, int(dut.rx_end_octets.value)))


async def send(dut, octets: list[Octet], gap: int, gap_error: int = 0) -> None:
    for octet, error in octets:
        dut.rx_gmii_rxd.value, dut.rx_gmii_rx_dv.value, dut.rx_gmii_rx_er.value = octet, 1, error
        await FallingEdge(dut.clk_i)
    dut.rx_gmii_rx_dv.value = 0
    for _ in range(gap):
        dut.rx_gmii_rx_er.value = gap_error
        await FallingEdge(dut.clk_i)
    dut.rx_gmii_rx_er.value = 0


async def verdict_of(dut, octets: list[Octet], found: list, gap_error: int = 0) -> list[tuple[list[str], int]]:
    """What reception says of a carrier; the good frame behind it is taken off."""
    found.clear()
    await send(dut, octets, 1, gap_error)
    await send(dut, carrier(whole(64, 99)), 16)
    assert found and found[-1] == (["good"], 64), f"the frame behind it: {found}"
    return found[:-1]


@cocotb.test()
async def a_preamble_of_any_length_is_one(dut) -> None:
    await begin(dut)
    found: list = []
    cocotb.start_soon(verdicts(dut, found))
    for preamble in (0, 1, 6, 7, 8, 100):
        assert await verdict_of(dut, carrier(whole(80, preamble), preamble), found) == [(["good"], 80)], preamble


@cocotb.test()
async def what_is_no_frame_is_nothing(dut) -> None:
    await begin(dut)
    found: list = []
    cocotb.start_soon(verdicts(dut, found))
    frame = carrier(whole(80, 1))
    nothing = {
        "a preamble alone": [(PREAMBLE, 0)] * 7,
        "an octet": [(0x00, 0)],
        "no delimiter": [(PREAMBLE, 0)] * 7 + frame[8:],
        "noise before the preamble": [(0x13, 0), *frame],
        "a flaw in the preamble": [*frame[:3], (0x57, 0), *frame[4:]],
    }
    for name, octets in nothing.items():
        assert await verdict_of(dut, octets, found) == [], name
    # False carrier: rx_er without rx_dv.
    assert await verdict_of(dut, frame, found, gap_error=1) == [(["good"], 80)]


@cocotb.test()
async def what_is_a_bad_frame_is_told_why(dut) -> None:
    await begin(dut)
    found: list = []
    cocotb.start_soon(verdicts(dut, found))
    assert await verdict_of(dut, carrier(b""), found) == [(["short", "check"], 0)]
    for size in (5, 17, 18, 19, 63):
        ((what, octets),) = await verdict_of(dut, carrier(whole(size, size)), found)
        assert "short" in what and "good" not in what and octets == size
    assert await verdict_of(dut, carrier(whole(64, 5)), found) == [(["good"], 64)]
    assert await verdict_of(dut, carrier(whole(1522, 6)), found) == [(["good"], 1522)]
    for size in (1523, 1600, 9000):
        ((what, octets),) = await verdict_of(dut, carrier(whole(size, size)), found)
        assert "long" in what and "good" not in what and octets == 1522
    rng = random.Random(7)
    for _ in range(20):
        size = rng.randrange(64, 200)
        frame = bytearray(whole(size, size))
        frame[rng.randrange(size)] ^= 1 << rng.randrange(8)
        assert await verdict_of(dut, carrier(bytes(frame)), found) == [(["check"], size)]
        # rx_er at any octet of the frame, behind the delimiter.
        broken = carrier(whole(size, size), error_at=8 + rng.randrange(size))
        assert await verdict_of(dut, broken, found) == [(["check"], size)]


@cocotb.test()
async def a_delimiter_right_behind_one_octet_of_gap_is_refused(dut) -> None:
    await begin(dut)
    found: list = []
    cocotb.start_soon(verdicts(dut, found))
    good = (["good"], 64)
    for before in (5, 64, 1_600):
        for gap, preamble, taken in ((1, 0, False), (1, 1, True), (2, 0, True)):
            found.clear()
            await send(dut, carrier(whole(before, 3)), gap)
            await send(dut, carrier(whole(80, 4), preamble), 1)
            await send(dut, carrier(whole(64, 5)), 16)
            assert found[1:] == [(["good"], 80) if taken else (["short", "check"], 0), good], (before, gap, preamble)


@cocotb.test()
async def a_reset_inside_a_carrier_skips_it(dut) -> None:
    await begin(dut)
    found: list = []
    cocotb.start_soon(verdicts(dut, found))
    octets = carrier(whole(120, 8))
    for instant in (0, 3, 7, 8, 9, 40, 100, 127):
        found.clear()
        await send(dut, octets[:instant], 0)
        dut.rst_ni.value = 0
        await send(dut, octets[instant : instant + 1], 0)
        dut.rst_ni.value = 1
        await send(dut, octets[instant + 1 :], 12)
        assert all("good" not in what for what, _ in found), instant
        assert await verdict_of(dut, octets, found) == [(["good"], 120)]
