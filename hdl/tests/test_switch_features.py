"""VLANs, static addresses, identification of streams, gates, clock and stamps, registers under load."""

from __future__ import annotations

import pathlib
import random
import struct
from collections import Counter

import numpy as np
import pytest
from latency import host, stream
from mixed import BROADCAST, introductions
from switch_run import (
    ADDRESSES,
    PORTS,
    SMALL,
    START_BEFORE,
    Access,
    Frame,
    Sent,
    Setting,
    address_setting,
    ats_setting,
    class_setting,
    credit_setting,
    default_tag_setting,
    frame_octets,
    gates_setting,
    group_setting,
    limit_setting,
    nothing_is_left,
    port_address,
    rule_setting,
    run,
    scheduler_setting,
    stream_setting,
    vlan_setting,
    writes_of,
)


def untagged(destination: bytes, source: bytes, payload: bytes) -> bytes:
    import zlib

    body = destination + source + b"\x88\xb5" + payload
    body += bytes(max(0, 60 - len(body)))
    return body + zlib.crc32(body).to_bytes(4, "little")


def ports_of(sent: list[Sent], octets: bytes) -> list[int]:
    return sorted(one.port for one in sent if one.octets == octets)


def test_a_vlan_reaches_its_members_only(tmp_path: pathlib.Path) -> None:
    """VLAN 7 has ports 0, 1 and 2; VLAN 8 port 3 alone; untagged frames of port 2 belong to VLAN 7."""
    one, two, three = (frame_octets(BROADCAST, host(p), b"member %d" % p, vid=7) for p in (0, 1, 3))
    alone = frame_octets(BROADCAST, host(3), b"alone", vid=8)
    bare = untagged(BROADCAST, host(2), b"bare")
    learned = frame_octets(host(2), host(0), b"to port 2", vid=7)
    other = frame_octets(host(2), host(0), b"not known in VLAN 9", vid=9)
    frames = [Frame(0, 100, one), Frame(1, 2_100, two), Frame(3, 4_100, three), Frame(3, 6_100, alone)]
    frames += [Frame(2, 8_100, bare), Frame(0, 10_100, learned), Frame(0, 12_100, other)]
    settings = [vlan_setting(7, 0b0111), vlan_setting(8, 0b1000), default_tag_setting(2, 7, 0)]
    outcome = run(settings, frames, tmp_path)
    assert ports_of(outcome.sent, one) == [1, 2] and ports_of(outcome.sent, two) == [0, 2]
    assert ports_of(outcome.sent, bare) == [0, 1] and ports_of(outcome.sent, learned) == [2]
    assert ports_of(outcome.sent, other) == [1, 2, 3]
    assert ports_of(outcome.sent, three) == ports_of(outcome.sent, alone) == []
    assert outcome.counters["not_member"] == [0, 0, 0, 1] and outcome.counters["no_port"] == [0, 0, 0, 1]
    nothing_is_left(outcome)


def test_static_and_multicast_entries_stay(tmp_path: pathlib.Path) -> None:
    """A group goes to its ports; a host that software placed does not move; a removed entry is flooded."""
    group, moved = stream(9), host(77)
    to_group = frame_octets(group, host(0), b"group")
    from_elsewhere = frame_octets(BROADCAST, moved, b"I am at port 3")
    to_moved = frame_octets(moved, host(0), b"still to port 1")
    after = frame_octets(group, host(0), b"flooded")
    settings = [address_setting(group, 1, 0b1010), address_setting(moved, 1, 0b0010)]
    frames = [Frame(0, 100, to_group), Frame(3, 2_100, from_elsewhere), Frame(0, 4_100, to_moved)]
    frames.append(Frame(0, 9_100, after))
    during = writes_of([address_setting(group, 1, 0, remove=True)], cycle=8_000)
    outcome = run(settings, frames, tmp_path, during=during)
    assert ports_of(outcome.sent, to_group) == [1, 3]
    assert ports_of(outcome.sent, to_moved) == [1]
    assert ports_of(outcome.sent, after) == [1, 2, 3]


def test_a_full_table_refuses_and_harms_nobody(tmp_path: pathlib.Path) -> None:
    """Software writes more addresses than there are places, drawn; what is refused is flooded. Learning more loses nothing of software."""
    rng = random.Random(3)
    places = SMALL["AddressPlaces"]
    drawn = [b"\x02\x20" + rng.randbytes(4) for _ in range(places + 8)]
    during = writes_of([address_setting(one, 1, 0b0010) for one in drawn], cycle=0)
    frames = [Frame(1, 100_000, frame_octets(host(250), host(1), b"known"))]
    for k in range(500):
        frames.append(Frame(0, 102_000, frame_octets(host(1), b"\x02\x10" + rng.randbytes(4), b"%d" % k)))
    last = [frame_octets(one, host(3), b"%d" % k) for k, one in enumerate(drawn)]
    frames += [Frame(3, 200_000 + 1_000 * k, octets) for k, octets in enumerate(last)]
    outcome = run([], frames, tmp_path, during=during)
    commands = [k for k, one in enumerate(during) if one.address == ADDRESSES["address_write"]]
    refused = [bool(outcome.answers[k][2]) for k in commands]
    assert len(commands) == len(drawn) and refused.index(True) >= places * 19 // 20
    assert not any(one[2] for k, one in enumerate(outcome.answers) if k not in commands)
    assert [ports_of(outcome.sent, octets) for octets in last] == [[0, 1, 2] if one else [1] for one in refused]
    # What was refused, and what was learned and found no place or had to leave it.
    assert outcome.table_overflows >= sum(refused)
    assert sum(outcome.counters["queue_full"]) == 0
    nothing_is_left(outcome)


def ipv4_frame(vid: int, source: str, destination: str, dscp: int, port: int, number: int) -> bytes:
    def packed(text: str) -> bytes:
        return bytes(int(part) for part in text.split("."))

    udp = struct.pack(">HHHH", 1_000, port, 8 + 30, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, dscp << 2, 58, number, 0, 64, 17, 0) + packed(source) + packed(destination)
    import zlib

    body = host(1) + host(0) + b"\x81\x00" + struct.pack(">H", 6 << 13 | vid) + b"\x08\x00" + ip + udp + bytes(30)
    return body + zlib.crc32(body).to_bytes(4, "little")


def test_streams_are_told_by_address_by_source_and_by_masks(tmp_path: pathlib.Path) -> None:
    """One burst of four frames of every stream; its scheduler lets pass as many as its own number says."""

    def ip_rule(rule: int, scheduler: int, fields: dict[int, tuple[int, int]]) -> Setting:
        return rule_setting(rule, scheduler, {12: (0x81, 0xFF), 16: (0x08, 0xFF), 17: (0x00, 0xFF), **fields})

    size = 4 * (len(ipv4_frame(2, "10.0.0.1", "10.0.0.2", 0, 5, 0)) + 20)
    one = size // 4
    settings: list[Setting] = [ats_setting(0, 20, 1 << 6), address_setting(host(1), 1, 2), address_setting(host(1), 2, 2)]
    settings += [group_setting(group, 1_000) for group in range(8)]
    # A slow scheduler passes what fits in its burst, and discards the rest, whose residence would be long.
    settings += [scheduler_setting(k, k, 1_000_000, k * one + 1) for k in range(1, 5)]
    settings += [
        stream_setting(host(9), 1, 1),
        address_setting(host(9), 1, 2),
        stream_setting(host(2), 1, 2, source=True),
        # 10.0.x.x to any, DSCP 46; then any UDP port 4 660 to 4 663; the first rule that matches holds.
        ip_rule(0, 3, {19: (46 << 2, 0xFC), 30: (10, 0xFF), 31: (0, 0xFF)}),
        ip_rule(1, 4, {27: (17, 0xFF), 40: (4_660 >> 8, 0xFF), 41: (4_660 & 255, 0xFC)}),
        ip_rule(2, 1, {})[:-1],  # written, and not used
    ]
    groups = {
        1: [frame_octets(host(9), host(0), b"null %d" % k + bytes(40), pcp=6) for k in range(4)],
        2: [frame_octets(host(1), host(2), b"source %d" % k + bytes(40), pcp=6) for k in range(4)],
        3: [ipv4_frame(2, "10.0.7.1", "192.168.0.1", 46, 4_661, k) for k in range(4)],
        4: [ipv4_frame(2, "10.1.7.1", "192.168.0.1", 46, 4_663, k) for k in range(4)],
    }
    free = [ipv4_frame(2, "10.1.0.1", "192.168.0.1", 46, 4_664, k) for k in range(4)]
    frames = [Frame(0, 20_000 * k, octets) for k, row in enumerate([*groups.values(), free], 1) for octets in row]
    outcome = run(settings, frames, tmp_path)
    for count, row in groups.items():
        expected = [octets for octets in row[: count * one // (len(row[0]) + 20)]]
        assert [one.octets for one in outcome.sent if one.octets in row] == expected, count
    assert [one.octets for one in outcome.sent if one.octets in free] == free
    assert outcome.discards[:5, 1].tolist() == [0, *(4 - min(4, k * one // (len(groups[k][0]) + 20)) for k in range(1, 5))]
    nothing_is_left(outcome)


def test_a_closed_gate_holds_its_class_alone(tmp_path: pathlib.Path) -> None:
    """The AND term of gates: classes 3 and 5 of port 0 closed, 5 opened later; class 4 has credit beside."""
    frames = introductions()
    by_class = {c: [frame_octets(host(0), host(1), b"%d %d" % (c, k), pcp=c) for k in range(3)] for c in range(8)}
    frames += [Frame(1, 10_000, octets) for row in by_class.values() for octets in row]
    settings = [gates_setting(0, 0b1101_0111), credit_setting(0, 4, 500_000_000)]
    during = writes_of([gates_setting(0, 0b1111_0111)], cycle=40_000)
    outcome = run(settings, frames, tmp_path, during=during)
    start = {one.octets: one.sfd - START_BEFORE for one in outcome.sent}
    opened = outcome.answers[0][0]
    for c, row in by_class.items():
        if c == 3:
            assert not any(octets in start for octets in row)
        else:
            assert all((start[octets] > opened - 2) == (c == 5) for octets in row), c
    assert start[by_class[5][0]] - opened < 20
    assert outcome.free_cells == 256 - PORTS - 3


@pytest.mark.parametrize("limit", [0, 160])
def test_a_limit_keeps_cells_for_other_classes(tmp_path: pathlib.Path, limit: int) -> None:
    """Three ports send best effort to one, three times what it takes; class 6 comes beside, one frame in eight."""
    frames = introductions()
    for port in (0, 1, 2):
        for k in range(80):
            octets = frame_octets(host(3), host(port), k.to_bytes(2, "big") + bytes(1_000), pcp=6 if k % 8 == 7 else 0)
            frames.append(Frame(port, 10_000, octets))
    outcome = run([limit_setting(0, limit)], frames, tmp_path)
    sent = Counter(one.octets[14] >> 5 for one in outcome.sent if one.octets[:6] == host(3))
    lost = {name: sum(outcome.counters[name]) for name in ("no_cell", "queue_full", "class_limit")}
    assert sum(sent.values()) + sum(lost.values()) == 240, "nothing is lost without a counter"
    if limit:
        # Cells of three frames that come in are not free, so there were always some for class 6.
        assert sent[6] == 30 and lost["no_cell"] == 0
        assert lost["class_limit"] == outcome.counters["class_limit"][3] == 210 - sent[0] > 50
    else:
        assert sent[6] < 30 and lost["class_limit"] == 0
    nothing_is_left(outcome)


def test_stamps_are_those_of_the_adjustable_clock(tmp_path: pathlib.Path) -> None:
    """Rate 1 % fast, then a step of an hour back and forth; stamps of a frame at both ports."""
    frame = frame_octets(host(1), host(0), bytes(100))
    hour = 3_600 * 10**9
    rate = (8 << 24) * 101 // 100
    during = [Access(100, ADDRESSES["clock_rate"], rate), Access(100, ADDRESSES["clock_low"])]
    during += [Access(5_000, ADDRESSES["clock_step_high"], hour >> 32), Access(5_000, ADDRESSES["clock_step"], hour & 0xFFFFFFFF)]
    stamps = [port_address(0, "received_stamp_low"), port_address(0, "received_stamp_high")]
    stamps += [port_address(1, "sent_stamp_low"), port_address(1, "sent_stamp_high")]
    during += [Access(20_000, address) for address in stamps]
    during += [Access(20_000, ADDRESSES["clock_low"]), Access(20_000, ADDRESSES["clock_high"])]
    back = -hour
    during += [Access(21_000, ADDRESSES["clock_step_high"], back >> 32 & 0xFFFFFFFF)]
    during += [Access(21_000, ADDRESSES["clock_step"], back & 0xFFFFFFFF)]
    during += [Access(22_000, ADDRESSES["clock_low"]), Access(22_000, ADDRESSES["clock_high"])]
    during += [Access(22_000, ADDRESSES["time_low"]), Access(23_000, ADDRESSES["time_low"])]
    given = Frame(0, 10_000, frame)
    outcome = run([address_setting(host(1), 1, 2)], [given], tmp_path, during=during)
    answers = outcome.answers
    received, sent, late = ([answers[k + 1][1] << 32 | answers[k][1]][0] for k in (4, 6, 8))
    first = answers[1]
    per_cycle = rate / (1 << 24)

    def at(cycle: int) -> float:
        # A read answers three cycles after it looked.
        return first[1] + (cycle - (first[0] - 3)) * per_cycle

    assert abs(received - hour - at(given.sfd)) < 3
    (out,) = (one for one in outcome.sent if one.port == 1)
    assert abs(sent - hour - at(out.sfd)) < 3
    assert sent - received == pytest.approx((out.sfd - given.sfd) * per_cycle, abs=2)
    assert abs(late - hour - at(answers[8][0] - 3)) < 3
    assert abs((answers[13][1] << 32 | answers[12][1]) - at(answers[12][0] - 3)) < 3
    assert answers[15][1] - answers[14][1] == 16 * (answers[15][0] - answers[14][0]), "the local time is never changed"


def test_registers_answer_under_load_and_refuse_what_is_none(tmp_path: pathlib.Path) -> None:
    """Line rate of minimum frames on all ports, while tables and parameters are written and read back."""
    rng = np.random.default_rng(31)
    frames = introductions()
    for k in range(400):
        shift = 1 + int(rng.integers(0, 3))
        for port in range(PORTS):
            octets = frame_octets(host((port + shift) % PORTS), host(port), k.to_bytes(4, "big"), pcp=k % 8)
            frames.append(Frame(port, 10_000, octets))
    during, expected = [], []
    for k in range(200):
        cycle = 10_000 + 150 * k
        unused = b"\x02\x77\x00\x00\x00" + bytes([k % 16])
        batch: list[Setting] = [
            address_setting(unused, 3, 0b0101, remove=k % 3 == 2),
            stream_setting(unused, 3, k),
            scheduler_setting(k, k % 64, 10_000_000 + k, 2_000),
            vlan_setting(k + 10, 0b0011),
        ]
        during += writes_of(batch, cycle)
        value = int(rng.integers(0, 2**30))
        slope = port_address(k % PORTS, "idle_slope", k % 8)
        during += [Access(cycle, slope, value), Access(cycle, slope)]
        expected.append((len(during) - 1, value))
    nowhere = [0x7FC, 0x08C, 0x8FC, 0xC00, 0xFFC]
    during += [Access(70_000, address) for address in nowhere]
    during += [Access(70_000, address, 1) for address in [*nowhere, ADDRESSES["free_cells"], port_address(0, "sent")]]
    during += [Access(70_000, ADDRESSES["identity"]), Access(70_000, ADDRESSES["shape"])]
    outcome = run([class_setting(4, 4)], frames, tmp_path, during=during)
    assert all(outcome.answers[k][1] == value for k, value in expected)
    refused = [bool(one[2]) for one in outcome.answers]
    count = 2 * len(nowhere) + 2
    assert refused == [False] * (len(during) - count - 2) + [True] * count + [False, False]
    assert outcome.answers[-2][1] == 0x54415554
    assert outcome.answers[-1][1] == PORTS | 8 << 8 | 8 << 16 | 10 << 24
    sent = Counter(one.octets for one in outcome.sent if one.octets[:6] != BROADCAST)
    assert sent == Counter(frame.octets for frame in frames[PORTS:])
    nothing_is_left(outcome)


@pytest.mark.slow
def test_a_learned_address_is_forgotten_after_three_ageing_ticks(tmp_path: pathlib.Path) -> None:
    """The shortest interval is 2^20 cycles; what software wrote, and who speaks, stays."""
    tick = 2**20
    silent, speaks, fixed = host(1), host(2), host(77)
    during = [Access(10, ADDRESSES["ageing_interval"], 1)]
    frames = [Frame(1, 2_000, frame_octets(BROADCAST, silent, b"once"))]
    frames += [Frame(2, 4_000 + k * tick, frame_octets(BROADCAST, speaks, b"%d" % k)) for k in range(5)]
    # One and a half ticks after it was heard, and four and a half.
    probes = {}
    for name, at in (("early", 3 * tick // 2), ("late", 9 * tick // 2)):
        probes[name] = [frame_octets(to, host(0), name.encode() + to) for to in (silent, speaks, fixed)]
        frames += [Frame(0, at + 1_000 * k, octets) for k, octets in enumerate(probes[name])]
    outcome = run([address_setting(fixed, 1, 0b1000)], frames, tmp_path, during=during)
    assert [ports_of(outcome.sent, octets) for octets in probes["early"]] == [[1], [2], [3]]
    assert [ports_of(outcome.sent, octets) for octets in probes["late"]] == [[1, 2, 3], [2], [3]]
    nothing_is_left(outcome)
