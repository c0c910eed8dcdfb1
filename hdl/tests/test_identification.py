"""Every kind of stream identification on the RTL (802.1CB clause 6, 802.1CBdb): which scheduler a frame finds.

Each of eight schedulers is in a group of its own and passes no frame at all, so the group that counts a
discard tells where a frame went; a frame that no kind finds is sent.
"""

from __future__ import annotations

import pathlib
import struct
import zlib

import pytest
from latency import host
from switch_run import (
    Frame,
    Setting,
    address_setting,
    ats_setting,
    default_tag_setting,
    frame_octets,
    group_setting,
    nothing_is_left,
    rule_setting,
    run,
    scheduler_setting,
    stream_setting,
)

PCP = 6
EXACT = 0xFF


def discarding() -> list[Setting]:
    """Schedulers whose committed burst no frame fits, in groups of their own; class 6 is shaped."""
    found = [ats_setting(0, 0, 1 << PCP), address_setting(host(1), 1, 2), address_setting(host(1), 7, 2)]
    found += [scheduler_setting(k, k, 1_000_000, 10) for k in range(8)]
    return found + [group_setting(k, 2**30) for k in range(8)]


def places(at: int, octets: bytes, mask: bytes | None = None) -> dict[int, tuple[int, int]]:
    """Octets of a rule from a place on."""
    masks = mask or bytes([EXACT]) * len(octets)
    return {at + k: (octet, masks[k]) for k, octet in enumerate(octets)}


def ipv6(destination_port: int, destination: bytes) -> bytes:
    """A tagged UDP datagram in IPv6 to port 1."""
    udp = struct.pack(">HHHH", 1_000, destination_port, 28, 0) + bytes(20)
    ip = struct.pack(">IHBB", 6 << 28, len(udp), 17, 64) + bytes(15) + b"\x01" + destination
    body = host(1) + host(0) + struct.pack(">HHH", 0x8100, PCP << 13 | 1, 0x86DD) + ip + udp
    return body + zlib.crc32(body).to_bytes(4, "little")


def bare(destination: bytes, source: bytes) -> bytes:
    """A frame without a tag."""
    body = destination + source + b"\x88\xb5" + bytes(60)
    return body + zlib.crc32(body).to_bytes(4, "little")


def counted(settings: list[Setting], frames: list[bytes], folder: pathlib.Path) -> list[int | None]:
    """Of each frame, given far from the others, the group that discarded it; none if it was sent."""
    found = []
    for octets in frames:
        outcome = run([*discarding(), *settings], [Frame(0, 100, octets)], folder, quiet=2_000)
        groups = [group for group, count in enumerate(outcome.discards.sum(axis=1)) if count]
        assert len(groups) + len(outcome.sent) == 1, "discarded once, or sent"
        found.append(groups[0] if groups else None)
        nothing_is_left(outcome)
    return found


def test_null_and_source_identification_go_by_address_and_vlan(tmp_path: pathlib.Path) -> None:
    settings = [stream_setting(host(1), 1, 2), stream_setting(host(5), 1, 3, source=True), default_tag_setting(0, 1, PCP)]
    frames = [
        frame_octets(host(1), host(0), bytes(60), pcp=PCP),
        frame_octets(host(1), host(0), bytes(60), pcp=PCP, vid=7),
        bare(host(1), host(0)),
        frame_octets(host(1), host(5), bytes(60), pcp=PCP),
        frame_octets(host(1), host(5), bytes(60), pcp=PCP, vid=7),
    ]
    # A frame that both find belongs to the destination's.
    assert counted(settings, frames, tmp_path) == [2, None, 2, 2, None]
    assert counted(settings[1:], [frames[3], frames[0]], tmp_path) == [3, None]


def test_a_removed_stream_is_found_no_more(tmp_path: pathlib.Path) -> None:
    settings = [stream_setting(host(1), 1, 2), stream_setting(host(1), 1, 2, remove=True)]
    assert counted(settings, [frame_octets(host(1), host(0), bytes(60), pcp=PCP)], tmp_path) == [None]


def test_masks_over_addresses_and_over_what_follows(tmp_path: pathlib.Path) -> None:
    """Mask-and-match: some bits of the addresses, of the tag, and of the payload."""
    rules = [
        rule_setting(0, 1, places(6, b"\x02\x00\x00\x00\x00\x40", b"\xff\xff\xff\xff\xff\xf0")),
        rule_setting(1, 2, places(14, bytes([0, 0x07]), b"\x0f\xff")),
        rule_setting(2, 3, places(18, b"\xca\xfe") | places(60, b"\x80", b"\x80")),
    ]
    high = b"\xca\xfe" + bytes(40) + b"\x81" + bytes(20)
    frames = [
        frame_octets(host(1), host(0x4F), bytes(60), pcp=PCP),
        frame_octets(host(1), host(0x50), bytes(60), pcp=PCP),
        frame_octets(host(1), host(0), bytes(60), pcp=PCP, vid=7),
        frame_octets(host(1), host(0), high, pcp=PCP),
        frame_octets(host(1), host(0), high.replace(b"\x81", b"\x7f"), pcp=PCP),
        # The first rule that matches holds.
        frame_octets(host(1), host(0x41), high, pcp=PCP, vid=7),
    ]
    assert counted(rules, frames, tmp_path) == [1, None, 2, 3, None, 1]
    # A rule with no masked bit takes every frame.
    assert counted([rule_setting(5, 4, {})], frames[:1], tmp_path) == [4]


def test_a_kind_of_address_comes_before_the_rules(tmp_path: pathlib.Path) -> None:
    rule = rule_setting(0, 1, places(0, host(1)))
    frame = frame_octets(host(1), host(5), bytes(60), pcp=PCP)
    assert counted([rule], [frame], tmp_path) == [1]
    assert counted([rule, stream_setting(host(5), 1, 3, source=True)], [frame], tmp_path) == [3]


@pytest.mark.parametrize("port", [5_000, 5_001])
def test_ipv6_by_address_and_port(tmp_path: pathlib.Path, port: int) -> None:
    prefix = bytes.fromhex("20010db8")
    fields = places(16, b"\x86\xdd") | places(24, b"\x11") | places(42, prefix) | places(60, struct.pack(">H", 5_000))
    found = counted([rule_setting(3, 6, fields)], [ipv6(port, prefix + bytes(12)), ipv6(port, bytes(16))], tmp_path)
    assert found == [6 if port == 5_000 else None, None]


def test_every_port_has_rules_of_its_own(tmp_path: pathlib.Path) -> None:
    """The same rule of two ports names two schedulers; a third port has it not."""
    rule = places(6, b"\x02")
    settings = [*discarding(), rule_setting(31, 2, rule, ports=0b0001), rule_setting(31, 3, rule, ports=0b0100)]
    frames = [Frame(port, 1_000, frame_octets(host(3), host(port), bytes(60), pcp=PCP)) for port in (0, 1, 2)]
    outcome = run([*settings, address_setting(host(3), 1, 8)], frames, tmp_path, quiet=2_000)
    assert outcome.discards.sum(axis=1)[:4].tolist() == [0, 0, 1, 1]
    assert [one.octets for one in outcome.sent] == [frames[1].octets]


def test_the_verdict_of_the_last_octet_is_there_in_time(tmp_path: pathlib.Path) -> None:
    """A rule over all of a shortest frame, its check sequence included, at every phase of the switch's slots."""
    octets = frame_octets(host(1), host(0), b"", pcp=PCP)
    assert len(octets) == 64
    other = frame_octets(host(1), host(0), b"\x01", pcp=PCP)
    for last, expected in ((0xFF, 16), (0x00, 0)):
        rule = places(0, octets[:63]) | {63: (octets[63] ^ (last ^ 0xFF), EXACT)}
        settings = [*discarding(), rule_setting(7, 5, rule)]
        frames = [Frame(0, 1_000 + 401 * k, octets) for k in range(16)]
        outcome = run(settings, [*frames, Frame(0, 20_000, other)], tmp_path, quiet=2_000)
        assert outcome.discards.sum(axis=1)[5] == expected
        assert len(outcome.sent) == 17 - expected


def test_a_class_without_ats_looks_at_no_stream(tmp_path: pathlib.Path) -> None:
    frame = frame_octets(host(1), host(0), bytes(60), pcp=PCP - 1)
    assert counted([stream_setting(host(1), 1, 2)], [frame], tmp_path) == [None]
