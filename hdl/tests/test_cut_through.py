"""Frames that are sent while they come in: latency, order, bad ends, and that nothing is lost beside them."""

from __future__ import annotations

import pathlib
import zlib
from collections import Counter, defaultdict

import numpy as np
import pytest
from latency import PHYS_NS, cut_through_ns, host
from mixed import introductions
from switch_run import (
    CELLS,
    PORTS,
    Access,
    Frame,
    Outcome,
    ats_setting,
    credit_setting,
    cut_through_setting,
    frame_octets,
    gates_setting,
    group_setting,
    nothing_is_left,
    run,
    scheduler_setting,
    stream_setting,
)
from tautwire.switch_registers import ADDRESSES
from verilated import lint

ALL = 0xFF
# Cells that a start leaves free, of a switch of four ports (`switch_fabric.sv`).
CUT_RESERVE = 160


def random_frames(seed: int, count: int, spread: float, classes: int = 8) -> list[Frame]:
    """Unicast frames of all sizes and classes between all ports, on average ``spread`` frame times apart."""
    rng = np.random.default_rng(seed)
    frames, at = introductions(), [10_000] * PORTS
    for k in range(count):
        port = int(rng.integers(0, PORTS))
        target = (port + int(rng.integers(1, PORTS))) % PORTS
        size = int(rng.choice([4, 40, 42, 43, 44, 45, 46, 50, 108, 110, 700, 1500]))
        payload = k.to_bytes(4, "big") + rng.bytes(size - 4)
        octets = frame_octets(host(target), host(port), payload, pcp=int(rng.integers(0, classes)))
        frames.append(Frame(port, at[port], octets))
        at[port] += int((len(octets) + 20) * rng.exponential(spread))
    return frames


def order_is_kept(outcome: Outcome) -> None:
    """Between two hosts and in a class, frames leave in the order of their numbers."""
    last: dict[tuple[bytes, int], int] = defaultdict(lambda: -1)
    for one in outcome.sent:
        if one.octets[:6] != b"\xff" * 6 and not one.bad:
            stream, number = (one.octets[:12], one.octets[14] >> 5), int.from_bytes(one.octets[18:22], "big")
            assert number > last[stream], stream
            last[stream] = number


def test_latency_does_not_depend_on_the_size(tmp_path: pathlib.Path) -> None:
    values = {size: cut_through_ns(tmp_path, size) for size in (46, 64, 300, 1500)}
    assert len(set(values.values())) == 1, values
    assert values[1500] + PHYS_NS <= 1_300


@pytest.mark.parametrize(("spread", "share_min"), [(4.0, 0.5), (1.6, 0.1)])
def test_what_comes_in_goes_out_once_and_in_order(tmp_path: pathlib.Path, spread: float, share_min: float) -> None:
    frames = random_frames(21, 3_000, spread)
    outcome = run([cut_through_setting(ALL)], frames, tmp_path, quiet=100_000)
    lost = sum(outcome.counters["queue_full"]) + sum(outcome.counters["no_cell"])
    assert lost == 0
    expected = Counter((frame.octets[5], frame.octets) for frame in frames[PORTS:])
    assert Counter((one.port, one.octets) for one in outcome.sent if one.octets[0] != 255) == expected
    order_is_kept(outcome)
    assert sum(outcome.counters["cut_through"]) > share_min * len(frames)
    assert min(one.gap for one in outcome.sent) >= 12
    assert outcome.counters["bad"] == [0] * PORTS
    nothing_is_left(outcome)


def test_a_class_with_a_shaper_is_never_cut_through(tmp_path: pathlib.Path) -> None:
    """Class 6 has ATS, class 5 credit-based shapers; class 0 is not set to be cut through."""
    frames = random_frames(22, 1_500, 4.0)
    settings = [cut_through_setting(0xFE), ats_setting(1000, 20, 1 << 6)]
    settings += [credit_setting(port, 5, 400_000_000) for port in range(PORTS)]
    settings += [stream_setting(host(port), 1, port) for port in range(PORTS)]
    settings += [scheduler_setting(port, port, 900_000_000, 4_000) for port in range(PORTS)]
    settings += [group_setting(group, 2**30) for group in range(PORTS)]
    outcome = run(settings, frames, tmp_path, quiet=100_000)
    sfd = {frame.octets: frame.sfd for frame in frames}
    cut = [one for one in outcome.sent if one.sfd - sfd[one.octets] < len(one.octets)]
    assert len(cut) > 300 and {one.octets[14] >> 5 for one in cut} == {1, 2, 3, 4, 7}
    assert len(outcome.sent) == len(frames) + 2 * PORTS
    order_is_kept(outcome)
    nothing_is_left(outcome)


def test_what_turns_out_bad_is_sent_as_bad(tmp_path: pathlib.Path) -> None:
    """Wrong check sequences, rx_er, runts and jabber in the middle of good frames."""
    rng = np.random.default_rng(23)
    frames, at, kinds = introductions(), 10_000, []
    for k in range(400):
        octets = frame_octets(host(1), host(0), k.to_bytes(4, "big") + rng.bytes(int(rng.integers(42, 600))))
        kind, error = int(rng.integers(0, 6)), 2**63
        if kind == 1:
            octets = octets[:-1] + bytes([octets[-1] ^ 1])
        elif kind == 2:
            error = int(rng.integers(8, len(octets)))
        elif kind == 3:
            octets = octets[: int(rng.integers(18, 63))]
        elif kind == 4:
            octets += bytes(3_000)
        kinds.append(kind)
        # Sometimes without a gap, so that the frame before is still being sent.
        at += int(rng.integers(0, 2_000))
        frames.append(Frame(0, at, octets, error_at=error))
    outcome = run([cut_through_setting(ALL)], frames, tmp_path, quiet=20_000)
    good = [frame.octets for frame, kind in zip(frames[PORTS:], kinds, strict=True) if kind in (0, 5)]
    to_one = [one for one in outcome.sent if one.port == 1 and one.octets[0] != 255]
    assert [one.octets for one in to_one if not one.bad] == good
    bad = [one for one in to_one if one.bad]
    assert len(bad) > 100 and outcome.counters["bad"] == [0, len(bad), 0, 0]
    for one in bad:
        # Its check sequence is the inverse of the right one, so that nobody takes it for a frame.
        right = zlib.crc32(one.octets[:-4]).to_bytes(4, "little")
        assert one.octets[-4:] == bytes(octet ^ 0xFF for octet in right)
        assert len(one.octets) <= 1522
    counted = [kinds.count(kind) for kind in (1, 2, 3, 4)]
    assert outcome.counters["check"][0] == counted[0] + counted[1]
    assert (outcome.counters["short"][0], outcome.counters["long"][0]) == (counted[2], counted[3])
    nothing_is_left(outcome)


def test_under_overload_every_frame_is_sent_or_counted(tmp_path: pathlib.Path) -> None:
    """The buffer runs full: what is cut through never needs a cell that is not there."""
    rng = np.random.default_rng(24)
    frames = introductions()
    for k in range(1_000):
        for port in range(PORTS):
            # Port 0 is asked for three times what it can send; others sometimes find their line free.
            target = 0 if port and k % 8 else (port + 1) % PORTS
            payload = k.to_bytes(4, "big") + rng.bytes(int(rng.integers(1, 1_490)))
            frames.append(Frame(port, 10_000, frame_octets(host(target), host(port), payload)))
    outcome = run([cut_through_setting(ALL)], frames, tmp_path, quiet=20_000)
    counters = {name: sum(values) for name, values in outcome.counters.items()}
    assert counters["received"] == len(frames)
    assert counters["no_cell"] > 100 and counters["cut_through"] > 5 and counters["bad"] == 0
    assert counters["sent"] == len(frames) + 2 * PORTS - counters["no_cell"] - counters["queue_full"]
    assert len(outcome.sent) == counters["sent"]
    order_is_kept(outcome)
    nothing_is_left(outcome)


def least_cells(folder: pathlib.Path, free: int) -> tuple[Outcome, int]:
    """The longest frame comes in with so many cells free, and all other ports take cells as fast as any carriers can.

    A frame of 69 octets takes two cells; with three octets between two carriers its port brings the next one 72 cycles later. All of
    them are held by the gates of port 0, so no cell comes back. Beside what was sent the cells that are taken from when the frame asks
    until it has its last one.
    """
    at = 10_000
    frames = introductions()

    def held(port: int, number: int, cycle: int) -> Frame:
        octets = frame_octets(host(0), host(port), number.to_bytes(2, "big") + bytes(45), pcp=number % 8)
        assert len(octets) == 69
        return Frame(port, cycle, octets, gap=1, preamble=1)

    # Every port has a cell in hand.
    before = (CELLS - PORTS - free) // 2
    frames += [held(1, k, at) for k in range(before)]
    at += 72 * before + 1_000
    longest = Frame(0, at, frame_octets(host(1), host(0), bytes(1_500)))
    frames.append(longest)
    # They begin when its header is in.
    frames += [held(port, before + k, at + 45) for port in (1, 2, 3) for k in range(60)]
    during = [Access(cycle, ADDRESSES["free_cells"]) for cycle in (at + 40, at + 7 + 23 * 64 + 16)]
    outcome = run([cut_through_setting(ALL), gates_setting(0, 0)], frames, folder, during=during)
    assert longest.sfd == at + 7
    asked, last = (value for _, value, _ in outcome.answers)
    return outcome, asked - last


def test_the_cells_that_a_start_leaves_are_enough(tmp_path: pathlib.Path) -> None:
    """A frame that is begun has its last cell before the others have taken all; with two cells less it is not begun."""
    outcome, taken = least_cells(tmp_path, CUT_RESERVE + 4)
    assert sum(outcome.counters["cut_through"]) == 1 and sum(outcome.counters["bad"]) == 0
    assert sum(outcome.counters["no_cell"]) > 0, "others take all cells in the end"
    assert CUT_RESERVE - 20 < taken <= CUT_RESERVE, "enough, and not much more"
    outcome, _ = least_cells(tmp_path, CUT_RESERVE + 2)
    assert sum(outcome.counters["cut_through"]) == 0


def test_a_build_with_fewer_is_refused() -> None:
    assert "CutReserve" in lint("switch_fabric", faults={"switch_fabric": ("40 * Ports;", "36 * Ports;")})
