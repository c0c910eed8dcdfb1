"""A reset at any time: inside frames, while the tables are cleared, while registers are written."""

from __future__ import annotations

import pathlib
from collections import Counter

import numpy as np
import pytest
from latency import OVERHEAD, host, stream
from switch_run import (
    PORTS,
    Access,
    Frame,
    address_setting,
    ats_setting,
    cut_through_setting,
    frame_octets,
    group_setting,
    nothing_is_left,
    port_address,
    run,
    scheduler_setting,
    stream_setting,
    writes_of,
)

# Frames begin here, and are on the lines for so long.
BEGIN, LOADED = 200, 9_000
# Until the tables are cleared: 4 096 VLANs.
SETTLING = 12_000
INSTANTS = [1, 8, BEGIN + 1, BEGIN + 9, *(int(k) for k in np.random.default_rng(51).integers(BEGIN, LOADED, 6))]


@pytest.mark.parametrize("instant", INSTANTS)
def test_after_a_reset_the_switch_is_as_new(tmp_path: pathlib.Path, instant: int) -> None:
    """Cut-through, ATS and flooding under way at the reset; then new settings, learning, and every frame once."""
    rng = np.random.default_rng(instant)
    settings = [cut_through_setting(0b0001), ats_setting(1000, OVERHEAD, 1 << 6), address_setting(stream(1), 5, 0b1000)]
    settings += [stream_setting(stream(1), 5, 1), scheduler_setting(1, 1, 100_000_000, 2_000), group_setting(1, 2**30)]
    before = []
    for port in range(PORTS):
        at = BEGIN + int(rng.integers(0, 60))
        while at < LOADED:
            shaped = port == 0 and rng.random() < 0.5
            destination = stream(1) if shaped else [b"\xff" * 6, host((port + 1) % PORTS)][int(rng.integers(0, 2))]
            payload = rng.bytes(int(rng.integers(20, 600)))
            octets = frame_octets(destination, host(port), payload, vid=5 if shaped else 1, pcp=6 if shaped else 0)
            before.append(Frame(port, at, octets))
            at += len(octets) + 20 + int(rng.integers(0, 300))
    later = instant + SETTLING + LOADED
    after = [Frame(port, later + 2_000 * port, frame_octets(b"\xff" * 6, host(port), b"again")) for port in range(PORTS)]
    after += [Frame(0, later + 10_000, frame_octets(host(2), host(0), b"learned anew", pcp=0))]
    after += [Frame(0, later + 12_000, frame_octets(stream(1), host(0), b"a stream again", vid=5, pcp=6))]
    during = [Access(instant // 2, port_address(port, "received")) for port in range(PORTS)]
    during += writes_of(settings, instant + SETTLING)
    outcome = run(settings, before + after, tmp_path, quiet=25_000, reset_at=instant, during=during)
    given = {frame.octets for frame in before + after}
    cut = [one for one in outcome.sent if one.octets not in given]
    assert all(one.sfd <= instant for one in cut) and len(cut) <= PORTS, "only what was on the lines is cut off"
    expected = Counter((port, frame.octets) for frame in after[:PORTS] for port in range(PORTS) if port != frame.port)
    expected.update([(2, after[PORTS].octets), (3, after[PORTS + 1].octets)])
    assert Counter((one.port, one.octets) for one in outcome.sent if one.sfd > later) == expected
    count = sum(1 for one in outcome.sent if one.sfd > instant + 20)
    assert sum(outcome.counters["sent"]) == count, "the counters are those since the reset"
    nothing_is_left(outcome)


@pytest.mark.parametrize("after_end", range(-2, 8))
def test_a_reset_of_one_cycle_leaves_nothing_of_a_frame(tmp_path: pathlib.Path, after_end: int) -> None:
    """The frame's last octet is at the pins so many cycles before: no counter, no address, no cell is of the time before."""
    octets = frame_octets(host(1), host(0), bytes(400))
    instant = BEGIN + 8 + len(octets) + after_end
    later = instant + SETTLING
    asked = Frame(1, later, frame_octets(host(0), host(1), b"is it known"))
    outcome = run([], [Frame(0, BEGIN, octets), asked], tmp_path, quiet=25_000, reset_at=instant, reset_cycles=1)
    assert outcome.counters["received"] == [0, 1, *[0] * (PORTS - 2)]
    assert not any(sum(outcome.counters[name]) for name in ("no_cell", "no_port", "not_member", "short", "check"))
    assert sorted(one.port for one in outcome.sent if one.sfd > later) == [0, *range(2, PORTS)], "flooded: taught before the reset"
    nothing_is_left(outcome)
