"""The whole switch on GMII: forwarding, latency, shaping, overload, bad frames.

What comes out is held against a plain model: which ports a frame is for, the eligibility times and the credit of the
machines of core, the rules of transmission selection, and its starts to the cycle (``selection.py``).
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections import Counter, defaultdict

import numpy as np
import pytest
from latency import host, measure, summary
from mixed import (
    BROADCAST,
    STREAM_VID,
    Mixed,
    check_selection,
    check_starts,
    few_streams,
    introductions,
    residence,
)
from switch_run import (
    PORTS,
    START_BEFORE,
    Frame,
    address,
    class_setting,
    credit_setting,
    frame_octets,
    nothing_is_left,
    run,
)
from verilated import HDL


def test_latency_of_a_frame_alone(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A frame takes its own length, ProcessingDelayMax and a constant, and so says ``hdl.json``."""
    rows = measure(tmp_path)
    for case, measured in rows.items():
        for payload, value in measured.items():
            # Destination to frame check sequence, tagged, at 8 ns an octet; ProcessingDelayMax; the rest.
            own = 8 * (payload + 22) + case.delay_max_ticks // 2
            assert own < value < own + 530, (case, payload, value)
    committed = json.loads((HDL.parent / "hdl.json").read_text())
    figures = summary(tmp_path)
    assert {name: committed[name] for name in figures} == figures
    with capsys.disabled():
        print("\nSFD to SFD, store and forward, ns:      64 B   1500 B")
        for case, measured in rows.items():
            print(f"{case.name:36}{measured[64]:9}{measured[1500]:9}")


def test_addresses_are_learned_and_unknown_ones_flooded(tmp_path: pathlib.Path) -> None:
    unicast = [frame_octets(host((p + 1) % PORTS), host(p), b"%d" % p) for p in range(PORTS)]
    unknown = frame_octets(address("02-00-00-00-00-77"), host(2), b"unknown")
    reserved = frame_octets(address("01-80-c2-00-00-0e"), host(1), b"reserved")
    itself = frame_octets(host(0), host(0), b"itself")
    frames = introductions()
    frames += [Frame(p, 10_000, unicast[p]) for p in range(PORTS)]
    frames += [Frame(2, 20_000, unknown), Frame(1, 20_000, reserved), Frame(0, 20_000, itself)]
    outcome = run([], frames, tmp_path)
    got = Counter((one.port, one.octets) for one in outcome.sent)
    expected: Counter[tuple[int, bytes]] = Counter()
    for frame in introductions():
        expected.update((port, frame.octets) for port in range(PORTS) if port != frame.port)
    expected.update(((p + 1) % PORTS, unicast[p]) for p in range(PORTS))
    expected.update((port, unknown) for port in (0, 1, 3))
    assert got == expected
    assert outcome.counters["no_port"] == [1, 1, 0, 0]
    nothing_is_left(outcome)


def test_bad_frames_are_counted_and_go_nowhere(tmp_path: pathlib.Path) -> None:
    good = frame_octets(BROADCAST, host(0), bytes(100))
    flipped = good[:40] + bytes([good[40] ^ 1]) + good[41:]
    longest = frame_octets(BROADCAST, host(0), bytes(1500))
    jumbo = frame_octets(BROADCAST, host(0), bytes(1501))
    jabber = frame_octets(BROADCAST, host(0), bytes(5000))
    bad = [good[:63], good[:5], good[:4], good[:1], good[:13], flipped, good[:-1], jumbo, jabber]
    frames, at = [], 100
    for octets in [good, *bad, longest, *bad, good]:
        frames.append(Frame(0, at, octets))
        at += 50
    frames.append(Frame(0, at, good, error_at=30))
    frames.append(Frame(0, at, good))
    outcome = run([], frames, tmp_path)
    for port in (1, 2, 3):
        assert [one.octets for one in outcome.sent if one.port == port] == [good, longest, good, good]
    assert outcome.counters["received"][0] == 4
    assert outcome.counters["short"][0] == 10
    assert outcome.counters["check"][0] == 5
    assert outcome.counters["long"][0] == 4
    nothing_is_left(outcome)


def test_minimum_frames_at_line_rate_on_all_ports(tmp_path: pathlib.Path) -> None:
    """Full mesh, every port sends and receives without a gap; nothing is lost, order is kept."""
    rng = np.random.default_rng(5)
    frames, count = introductions(), 1500
    for k in range(count):
        # A permutation at a time: no port is asked for more than its rate.
        shift = 1 + int(rng.integers(0, 3))
        for port in range(PORTS):
            octets = frame_octets(host((port + shift) % PORTS), host(port), k.to_bytes(4, "big"), pcp=k % 4)
            frames.append(Frame(port, 10_000, octets))
    outcome = run([], frames, tmp_path)
    given = Counter(frame.octets for frame in frames[PORTS:])
    sent = Counter(one.octets for one in outcome.sent if one.octets[:6] != BROADCAST)
    assert sent == given
    for name in ("no_cell", "no_port", "queue_full"):
        assert outcome.counters[name] == [0] * PORTS
    orders: dict[tuple[bytes, int], list[int]] = defaultdict(list)
    for one in outcome.sent:
        orders[one.octets[:12], one.octets[14] >> 5].append(int.from_bytes(one.octets[18:22], "big"))
    for order in orders.values():
        assert order == sorted(order)
    sfds = [frame.sfd for frame in frames[PORTS:] if frame.port == 0]
    assert set(np.diff(sfds)) == {84}, "no idle octet time at the input"
    assert min(one.gap for one in outcome.sent) == 12
    nothing_is_left(outcome)


def test_overload_loses_no_frame_uncounted(tmp_path: pathlib.Path) -> None:
    """Three ports at line rate to one: queues and buffer overflow, what is lost is counted."""
    rng = np.random.default_rng(6)
    frames = introductions()
    for k in range(500):
        for port in (1, 2, 3):
            payload = int(rng.integers(1, 1500))
            frames.append(Frame(port, 10_000, frame_octets(host(0), host(port), bytes([k % 251]) * payload)))
    outcome = run([], frames, tmp_path)
    counters = {name: sum(values) for name, values in outcome.counters.items()}
    assert counters["received"] == len(frames)
    assert counters["no_cell"] > 50 and counters["queue_full"] > 0
    copies = 3 * PORTS + 1500 - counters["no_cell"] - counters["queue_full"]
    assert len(outcome.sent) == counters["sent"] == copies
    given = Counter(frame.octets for frame in frames)
    assert all(one.octets in given for one in outcome.sent)
    nothing_is_left(outcome)


def test_a_reset_under_overload_leaves_an_empty_switch(tmp_path: pathlib.Path) -> None:
    """Frames in the buffer, in queues and on the lines at the reset are gone; what comes later is sent."""
    reset_at, later = 40_000, 200_000
    before = [
        Frame(port, 100, frame_octets(BROADCAST, host(port), k.to_bytes(2, "big") * 300, pcp=k % 8))
        for k in range(150)
        for port in range(PORTS)
    ]
    after = [Frame(port, later + 2_000 * port, frame.octets) for port, frame in enumerate(introductions())]
    outcome = run([], before + after, tmp_path, reset_at=reset_at)
    sent = [one for one in outcome.sent if one.sfd > reset_at]
    given = {frame.octets for frame in before + after}
    assert all(one.octets in given for one in sent), "whole frames only"
    last = Counter((one.port, one.octets) for one in sent if one.sfd > later)
    assert last == Counter((port, f.octets) for f in after for port in range(PORTS) if port != f.port)
    assert 0 < sum(outcome.counters["received"]) < len(before)
    assert sum(outcome.counters["sent"]) == len(sent)
    nothing_is_left(outcome)


@pytest.mark.parametrize("seed", [7])
def test_mixed_traffic_follows_machine_and_rules(tmp_path: pathlib.Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    traffic = Mixed(few_streams(rng), residence(rng, 100_000, 800_000), {3: 60_000_000, 4: 100_000_000})
    traffic.random_frames(rng, 3_000)
    outcome = run(traffic.settings(), traffic.frames, tmp_path, quiet=200_000)
    for name in ("no_cell", "no_port", "queue_full"):
        assert outcome.counters[name] == [0] * PORTS, name
    eligible = traffic.eligible()
    discards = traffic.discards(eligible)
    assert sum(discards) > 20 and outcome.discards.sum(axis=1)[: len(discards)].tolist() == discards
    assert traffic.held(eligible) > 100, "many frames were held back"
    for port in range(PORTS):
        check_selection(traffic, outcome, port, eligible)
    check_starts(traffic, outcome, eligible)
    for rank, slope in traffic.slopes.items():
        with pytest.raises(AssertionError, match="starts"):
            check_starts(traffic, outcome, eligible, {rank: slope // 1_000})
    nothing_is_left(outcome)


def test_a_credit_based_class_keeps_its_slope_and_leaves_the_rest(tmp_path: pathlib.Path) -> None:
    """A quarter of the rate, always waiting, above strict priority that fills what is left."""
    frames, count = introductions(), 100
    shaped = [frame_octets(host(0), host(1), bytes([k]) * 400, pcp=1) for k in range(count)]
    rest = [frame_octets(host(0), host(2), bytes([k]) * 400, pcp=0) for k in range(2 * count)]
    # More than its share, less than what queues hold.
    frames += [Frame(1, 10_000 + 1_700 * k, octets) for k, octets in enumerate(shaped)]
    frames += [Frame(2, 10_000 + 650 * k, octets) for k, octets in enumerate(rest)]
    outcome = run([class_setting(1, 4), credit_setting(0, 4, 250_000_000)], frames, tmp_path, quiet=100_000)
    starts = [one.sfd - START_BEFORE for one in outcome.sent if one.port == 0 and one.octets in set(shaped)]
    assert len(starts) == count
    wire = len(shaped[0]) + 20
    # Back to back at a quarter of the rate four wire times apart; one frame of the rest may be in the way.
    assert all(n * 4 * wire - 5 * wire <= starts[k + n] - starts[k] for n in (1, 5, 20) for k in range(count - n))
    assert starts[-1] - starts[0] < (count - 1) * 4 * wire + 5 * wire
    assert len([one for one in outcome.sent if one.port == 0 and one.octets in set(rest)]) == 2 * count
    nothing_is_left(outcome)


@pytest.mark.slow
def test_a_full_mesh_of_minimum_frames_at_line_rate(tmp_path: pathlib.Path) -> None:
    """100 000 frames of 64 octets without a gap, streams under ATS and a credit-based class among them.

    One frame of five belongs to a stream, whose scheduler may hold it back or discard it.
    """
    rng = np.random.default_rng(8)
    streams = [
        dataclasses.replace(one, targets=1 << (one.port + 1 + k % 3) % PORTS, rate_bps=int(rng.integers(10_000_000, 60_000_000)))
        for k, one in enumerate(few_streams(rng))
    ]
    traffic = Mixed(streams, residence(rng, 20_000, 60_000), {4: 150_000_000})
    for k in range(25_000):
        shift = 1 + int(rng.integers(0, 3))
        for port in range(PORTS):
            number = (PORTS * k + port).to_bytes(4, "big")
            target = (port + shift) % PORTS
            mine = [s for s, one in enumerate(streams) if one.port == port and one.targets == 1 << target]
            if mine and rng.random() < 0.2:
                owner = mine[int(rng.integers(0, len(mine)))]
                one = streams[owner]
                octets = frame_octets(one.destination, one.source, number, vid=STREAM_VID, pcp=one.pcp)
                traffic.add(port, 10_000, octets, owner)
            else:
                octets = frame_octets(host(target), host(port), number, pcp=(0, 0, 1, 2, 4)[k % 5])
                traffic.add(port, 10_000, octets)
    outcome = run(traffic.settings(), traffic.frames, tmp_path, quiet=200_000)
    eligible = traffic.eligible()
    discards = traffic.discards(eligible)
    assert outcome.counters["no_cell"] == [0] * PORTS
    assert outcome.counters["received"] == [25_001] * PORTS
    assert outcome.discards.sum(axis=1)[: len(discards)].tolist() == discards
    lost = [len(one) for one in check_starts(traffic, outcome, eligible)]
    assert outcome.counters["queue_full"] == lost and sum(lost) > 100
    print(f"{len(traffic.frames)} frames, {sum(discards)} discarded by ATS, {sum(lost)} by full queues")
    nothing_is_left(outcome)
