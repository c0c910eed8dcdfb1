"""Storms of fragments on all ports: carriers that are no frames, as short and as near each other as a line can bring them.

Fragments take nothing from good frames: no cell, no place on the way to the queues, no time.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zlib
from collections import Counter

import numpy as np
import pytest
from latency import host, latencies_ns, shaped_settings, stream
from mixed import introductions
from switch_run import (
    PORTS,
    Frame,
    ats_setting,
    frame_octets,
    group_setting,
    nothing_is_left,
    rule_setting,
    run,
    scheduler_setting,
    vlan_setting,
)

# ProcessingDelayMax in ticks: more than a frame needs to its queue.
DELAY_MAX = 10_000


def fragment(rng: np.random.Generator, port: int) -> Frame:
    """Of 0 to 63 octets; some begin like a frame with a header, some end with the right check sequence."""
    gap, preamble = (int(value) for value in rng.integers((1, 0), (4, 3)))
    whole = frame_octets(host((port + 1) % PORTS), host(port), rng.bytes(42), pcp=6)
    kind = int(rng.integers(0, 3))
    octets = rng.bytes(int(rng.integers(0, 14))) if kind == 0 else whole[: int(rng.integers(1, 64))]
    if kind == 2:
        octets = octets[:-4] + zlib.crc32(octets[:-4]).to_bytes(4, "little")
    return Frame(port, 20_000, octets, gap=gap, preamble=preamble)


def refused(frame: Frame) -> bool:
    return frame.gap == 1 and frame.preamble == 0


@pytest.mark.parametrize("shortest", [False, True])
def test_a_storm_on_all_ports_costs_no_good_frame(tmp_path: pathlib.Path, shortest: bool) -> None:
    """Good frames between fragments, a rule that tells streams by their last masked octets, gaps down to one octet."""
    rng = np.random.default_rng(61)
    frames, good, short = introductions(), [], [0] * PORTS
    for port in range(PORTS):
        for k in range(1_500):
            one = fragment(rng, port)
            if shortest:
                # What brings the most words and ends in a time: eight cycles a carrier.
                one.octets, one.gap, one.preamble = bytes(5), 1, 1
            short[port] += 1
            frames.append(one)
            if k % 4 == 0:
                shaped, size = bool(k % 8), int(rng.integers(30, 90))
                octets = frame_octets(
                    host((port + 1 + k % (PORTS - 1)) % PORTS),
                    host(port),
                    k.to_bytes(4, "big") + bytes(42) + rng.bytes(size),
                    pcp=6 if shaped else 1,
                )
                good.append(octets)
                frames.append(Frame(port, 20_000, octets, gap=int(rng.integers(1, 4)), preamble=int(rng.integers(1, 8))))
                if not shortest:
                    # The next carrier follows at once.
                    frames.append(Frame(port, 20_000, rng.bytes(5), gap=1, preamble=0))
                    frames.append(Frame(port, 20_000, rng.bytes(7), gap=2, preamble=0))
                    short[port] += 2
    # Every stream has credit enough.
    settings = [ats_setting(DELAY_MAX, 20, 1 << 6), group_setting(1, 2**30), scheduler_setting(1, 1, 800_000_000, 200_000)]
    settings += [rule_setting(0, 1, {14: (6 << 5, 0xE0)})]
    outcome = run(settings, frames, tmp_path, quiet=200_000)
    assert outcome.counters["short"] == short
    assert outcome.counters["check"] == outcome.counters["long"] == [0] * PORTS
    received = Counter(frame.port for frame in frames if len(frame.octets) >= 64 and not refused(frame))
    assert outcome.counters["received"] == [received[port] for port in range(PORTS)]
    for name in ("no_cell", "no_port", "not_member", "class_limit"):
        assert outcome.counters[name] == [0] * PORTS, name
    assert outcome.discards.sum() == 0
    sent = Counter(one.octets for one in outcome.sent if one.octets[0] != 0xFF)
    assert sent.total() + sum(outcome.counters["queue_full"]) == len(good) and not sent - Counter(good)
    # Every one of the shaped class was told by its rule, whatever carrier came behind it: it waits for its delay.
    shaped_ones = outcome.enqueued[outcome.enqueued[:, 4] == 6]
    assert len(shaped_ones) > 100 and (shaped_ones[:, 8] > shaped_ones[:, 1]).all()
    nothing_is_left(outcome)


def test_a_storm_at_other_ports_delays_nobody(tmp_path: pathlib.Path) -> None:
    """Latencies of frames of a shaped class, every phase of the slots, are those without the storm."""
    alone = latencies_ns(shaped_settings(0), tmp_path, 46, 6)
    rng = np.random.default_rng(62)
    octets = [frame_octets(stream(0), host(0), bytes([k]) * 46, vid=5, pcp=6) for k in range(16)]
    frames = [Frame(0, 4_003 * (k + 1), one) for k, one in enumerate(octets)]
    asked = list(frames)
    for port in range(1, PORTS):
        for _ in range(3_500):
            one = fragment(rng, port)
            one.first_cycle = 0
            one.octets = one.octets[:20]
            frames.append(one)
    outcome = run(shaped_settings(0), frames, tmp_path, quiet=4_000)
    assert outcome.counters["short"][1] == 3_500
    assert [one.octets for one in outcome.sent] == octets
    assert [8 * (one.sfd - frame.sfd) for one, frame in zip(outcome.sent, asked, strict=True)] == alone
    nothing_is_left(outcome)


@pytest.mark.parametrize("why", ["vlan", "reserved", "check"])
def test_frames_that_nobody_takes_lose_no_cell(tmp_path: pathlib.Path, why: str) -> None:
    """The longest on every port at once, then the shortest of two cells at line rate: what is given back comes faster than it is walked."""
    frames = []
    for port in range(PORTS):
        for k in range(60):
            destination = bytes.fromhex("0180c200000e") if why == "reserved" else host((port + 1) % PORTS)
            octets = frame_octets(destination, host(port), bytes([port, k]) + bytes(44 if k % 20 else 1498), vid=5 if why == "vlan" else 1)
            if why == "check":
                octets = octets[:-1] + bytes([octets[-1] ^ 1])
            frames.append(Frame(port, 2_000, octets, gap=12, preamble=7))
    outcome = run([vlan_setting(5, 0)], frames, tmp_path, quiet=20_000)
    name = {"vlan": "not_member", "reserved": "no_port", "check": "check"}[why]
    lost = [outcome.counters[name][port] + outcome.counters["no_cell"][port] for port in range(PORTS)]
    assert lost == [60] * PORTS and not outcome.sent
    nothing_is_left(outcome)


@pytest.mark.slow
@pytest.mark.skipif(PORTS != 4, reason="runs the others itself")
@pytest.mark.parametrize("ports", [2, 8])
def test_a_storm_at_another_number_of_ports(ports: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", __file__],
        env={**os.environ, "TAUTWIRE_HDL_PORTS": str(ports)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
