"""The worked example of ``docs/hardware/setting-up.md``, written to the RTL as it stands there."""

from __future__ import annotations

import itertools
import pathlib
import re

from latency import host
from switch_run import (
    ADDRESSES,
    Frame,
    address,
    address_setting,
    ats_setting,
    frame_octets,
    group_setting,
    nothing_is_left,
    run,
    scheduler_setting,
    stream_setting,
)
from verilated import HDL

PAGE = HDL.parent / "docs" / "hardware" / "setting-up.md"


def writes() -> list[tuple[str, int]]:
    """Names and values of the page's table."""
    rows = re.findall(r"^\| `(\w+)` \| (0x[0-9a-f]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(name, int(value, 16)) for name, value in rows]


def test_the_writes_are_what_the_text_says() -> None:
    target = address("91-e0-f0-00-00-01")
    settings = [ats_setting(1000, 20, 1 << 6), scheduler_setting(1, 1, 100_000_000, 3084), group_setting(1, 20_000_000)]
    settings += [stream_setting(target, 5, 1), address_setting(target, 5, 0b0010)]
    said = {(ADDRESSES[name], value) for name, value in writes()}
    assert said == {(place, value) for setting in settings for place, value, _ in setting}


def test_the_switch_does_what_the_page_promises(tmp_path: pathlib.Path) -> None:
    setting = [(ADDRESSES[name], value, 0xFFFF_FFFF) for name, value in writes()]
    target = address("91-e0-f0-00-00-01")
    octets = [frame_octets(target, host(0), bytes([k]) * 1500, vid=5, pcp=6) for k in range(6)]
    outcome = run([setting], [Frame(0, 1_000, one) for one in octets], tmp_path)
    assert [(one.port, one.octets) for one in outcome.sent] == [(1, one) for one in octets]
    gaps = [8 * (after.sfd - before.sfd) for before, after in itertools.pairwise(outcome.sent)]
    # Two at once, as they came in; then 1542 octets at 100 Mbit/s; each to the turn of the scan.
    assert 0 <= gaps[0] - 8 * 1542 < 64
    assert all(abs(gap - 80 * 1542) <= 128 for gap in gaps[2:]), gaps
    nothing_is_left(outcome)
