"""Frames through the Verilated switch, and what a switch must make of them."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import zlib
from collections.abc import Mapping

import numpy as np
from tautwire.switch_registers import ADDRESSES, port_address
from verilated import HDL, defaults, harness

# Ports of the switch: another number in a process of its own.
PORTS = int(os.environ.get("TAUTWIRE_HDL_PORTS", "4"))
CLASSES, GROUPS = 8, 64
TICKS_PER_CYCLE = 16
QUANTUM_PS = 500
OCTET_PS = 8 * 10**12
CELLS = 256
# What most tests run: small, so that it overflows soon and is built and simulated fast.
SMALL = {"Cells": CELLS, "Schedulers": 1024, "StreamPlaces": 2048, "AddressPlaces": 128}
if PORTS != 4:
    SMALL |= {"Ports": PORTS, "CutThrough": int(PORTS <= 4)}
# Bound into the switch: what tells of its queues, and assertions about its frames.
PROBES = tuple(HDL / "harness" / f"{name}.sv" for name in ("enqueue_probe", "frame_properties"))
# Cycles from the start delimiter at the input, beside the octets of the frame, to the arrival time.
ARRIVAL_AFTER = 2
# Cycles from the choice of a frame to its start delimiter at the output: its start, the `Lead` of `gmii_tx.sv`, which
# is one less than there are ports, eight of the preamble, two to the line.
START_BEFORE = 10 + PORTS


@dataclasses.dataclass
class Frame:
    """A frame given to a port; the last four octets are its frame check sequence."""

    port: int
    first_cycle: int
    octets: bytes
    # Of its carrier, the octet with rx_er.
    error_at: int = 2**63
    # Octets of gap before it at least, and of its preamble without the delimiter.
    gap: int = 12
    preamble: int = 7
    # Filled in by the run: cycle of its start delimiter.
    sfd: int = 0


@dataclasses.dataclass
class Sent:
    """A frame that the switch sent."""

    port: int
    sfd: int
    gap: int
    octets: bytes
    bad: bool = False


@dataclasses.dataclass
class Outcome:
    sent: list[Sent]
    # By port.
    counters: dict[str, list[int]]
    # By group: burst, residence.
    discards: np.ndarray
    table_overflows: int
    free_cells: int
    #: Cells of the build.
    cells: int
    # Of the accesses during the run: cycle of the answer, what was read, whether it was refused.
    answers: list[tuple[int, int, bool]]
    cycles: int
    # Of every frame at the queues: cycle, time of the switch in ticks, ports that took and that dropped it, class, lane,
    # reception port, octets in the buffer, eligibility time in ticks.
    enqueued: np.ndarray


# Name here, and of the register.
COUNTERS = {
    "received": "received",
    "short": "received_short",
    "long": "received_long",
    "check": "received_check",
    "no_cell": "dropped_no_cell",
    "no_port": "dropped_no_port",
    "not_member": "dropped_not_member",
    "queue_full": "dropped_queue_full",
    "class_limit": "dropped_class_limit",
    "sent": "sent",
    "cut_through": "sent_cut_through",
    "bad": "sent_bad",
}
BEFORE, AFTER = 0, 2**64 - 1

# A write of a register: address, value, and the bits of it that change.
Write = tuple[int, int, int]
Setting = list[Write]


@dataclasses.dataclass(frozen=True)
class Access:
    """An access to a register during a run, not before its cycle; a value means that it is written."""

    cycle: int
    address: int
    value: int | None = None


def address(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))


def frame_octets(destination: bytes, source: bytes, payload: bytes, *, vid: int | None = 1, pcp: int = 0) -> bytes:
    """A frame with its frame check sequence, padded to 64 octets; tagged if it has a VLAN."""
    tag = b"" if vid is None else b"\x81\x00" + (pcp << 13 | vid).to_bytes(2, "big")
    body = destination + source + tag + b"\x88\xb5" + payload
    body += bytes(max(0, 60 - len(body)))
    return body + zlib.crc32(body).to_bytes(4, "little")


def key(destination: bytes, vid: int) -> int:
    return vid << 48 | int.from_bytes(destination, "big")


def write(name: str, value: int) -> Write:
    return ADDRESSES[name], value & 0xFFFF_FFFF, 0xFFFF_FFFF


def scheduler_setting(index: int, group: int, rate_bps: int, burst_octets: int) -> Setting:
    octet_time = -(-(OCTET_PS << 24) // (rate_bps * QUANTUM_PS))
    fill = burst_octets * OCTET_PS // rate_bps // QUANTUM_PS
    return [
        write("scheduler_group", group),
        write("scheduler_octet_time_low", octet_time),
        write("scheduler_octet_time_high", octet_time >> 32),
        write("scheduler_empty_to_full_low", fill),
        write("scheduler_empty_to_full_high", fill >> 32),
        write("scheduler_octets_max", burst_octets),
        write("scheduler_write", index),
    ]


def group_setting(index: int, residence_max_ticks: int) -> Setting:
    return [
        write("group_residence_low", residence_max_ticks),
        write("group_residence_high", residence_max_ticks >> 32),
        write("group_write", index),
    ]


def stream_setting(address: bytes, vid: int, scheduler: int, *, source: bool = False, remove: bool = False) -> Setting:
    return [
        write("stream_key_low", key(address, vid)),
        write("stream_key_high", key(address, vid) >> 32 | source << 28),
        write("stream_scheduler", scheduler),
        write("stream_write", remove),
    ]


def rule_setting(rule: int, scheduler: int, places: dict[int, tuple[int, int]], *, used: bool = True, ports: int = 0xFF) -> Setting:
    """A rule of value and mask by place, of some ports; all other octets may be anything."""
    octets = [places.get(place, (0, 0)) for place in range(64)]
    writes = [write("rule_octet", rule << 24 | place << 16 | value << 8 | mask) for place, (value, mask) in enumerate(octets)]
    return [write("rule_ports", ports), *writes, write("rule_scheduler", used << 31 | rule << 16 | scheduler)]


def address_setting(destination: bytes, vid: int, ports: int, *, remove: bool = False) -> Setting:
    return [
        write("address_key_low", key(destination, vid)),
        write("address_key_high", key(destination, vid) >> 32),
        write("address_ports", ports),
        write("address_write", remove),
    ]


def vlan_setting(vid: int, members: int) -> Setting:
    return [write("vlan_members", members), write("vlan_write", vid)]


def ats_setting(delay_max_ticks: int, overhead: int, classes: int) -> Setting:
    return [
        write("processing_delay_max", delay_max_ticks),
        write("charged_overhead", overhead),
        write("ats_classes", classes),
    ]


def limit_setting(traffic_class: int, free_cells_min: int) -> Setting:
    return [(ADDRESSES["free_cells_min"] + 4 * traffic_class, free_cells_min, 0xFFFF)]


def credit_setting(port: int, traffic_class: int, idle_slope_bps: int) -> Setting:
    bit = 1 << traffic_class
    return [
        (port_address(port, "idle_slope", traffic_class), idle_slope_bps, 0xFFFF_FFFF),
        (port_address(port, "credit_based"), bit if idle_slope_bps else 0, bit),
    ]


def gates_setting(port: int, gates: int) -> Setting:
    return [(port_address(port, "gates"), gates, 0xFF)]


def cut_through_setting(classes: int) -> Setting:
    return [(port_address(port, "cut_through"), classes, 0xFF) for port in range(PORTS)]


def default_tag_setting(port: int, vid: int, pcp: int) -> Setting:
    return [(port_address(port, "default_tag"), pcp << 12 | vid, 0x7FFF)]


def class_setting(pcp: int, traffic_class: int) -> Setting:
    """On all ports."""
    return [(port_address(port, "class_of_pcp"), traffic_class << 4 * pcp, 15 << 4 * pcp) for port in range(PORTS)]


def writes_of(settings: list[Setting], cycle: int = BEFORE) -> list[Access]:
    """The accesses that make settings, after a reset."""
    kept: dict[int, int] = {}
    for port in range(PORTS):
        kept[port_address(port, "class_of_pcp")] = 0x7654_3210
        kept[port_address(port, "gates")] = 0xFF
        kept[port_address(port, "default_tag")] = 1
    found = []
    for address, value, mask in (one for setting in settings for one in setting):
        kept[address] = kept.get(address, 0) & ~mask | value & mask
        found.append(Access(cycle, address, kept[address]))
    return found


def run(
    settings: list[Setting],
    frames: list[Frame],
    folder: pathlib.Path,
    quiet: int = 20_000,
    reset_at: int = 2**62,
    reset_cycles: int = 8,
    during: list[Access] | None = None,
    build: Mapping[str, int] = SMALL,
    faults: Mapping[str, tuple[str, str]] | None = None,
) -> Outcome:
    """Runs the frames through a build of the switch; PCP is the class unless a setting says otherwise.

    Raises ``AssertionError`` with what an assertion of the hardware said.
    """
    after = [Access(AFTER, port_address(port, name)) for name in COUNTERS.values() for port in range(PORTS)]
    for group in range(GROUPS):
        after.append(Access(AFTER, ADDRESSES["group_count_index"], group))
        after += [Access(AFTER, ADDRESSES[f"group_exceeds_{why}"]) for why in ("burst", "residence")]
    after += [Access(AFTER, ADDRESSES[name]) for name in ("table_overflows", "free_cells")]
    before = writes_of(settings)
    accesses = [*before, *(during or []), *after]
    binary = harness("tsn_switch", "tsn_switch", build, [f"-DPORTS={PORTS}"], PROBES, faults)
    rows = [[one.port, one.first_cycle, len(one.octets), one.error_at, one.gap, one.preamble] for one in frames]
    operations = [[one.cycle, one.value is not None, one.address, one.value or 0] for one in accesses]
    head = [len(operations), len(frames), quiet, reset_at, reset_cycles]
    np.array([*head, *(v for row in operations + rows for v in row)], dtype=np.uint64).tofile(folder / "script")
    (folder / "octets").write_bytes(b"".join(frame.octets for frame in frames))
    names = ("script", "octets", "sent", "sent_octets")
    done = subprocess.run([binary, *(folder / name for name in names)], capture_output=True, text=True, check=False, timeout=3000)
    assert done.returncode == 0, done.stdout + done.stderr
    words = np.fromfile(folder / "sent", dtype=np.uint64).astype(np.int64)
    octets = (folder / "sent_octets").read_bytes()
    count, cycles = int(words[0]), int(words[1])
    at = 2 + len(frames)
    for frame, sfd in zip(frames, words[2:at].tolist(), strict=True):
        frame.sfd = sfd
    sent, offset = [], 0
    for port, sfd, length, gap, bad in words[at : at + 5 * count].reshape(-1, 5).tolist():
        sent.append(Sent(port, sfd, gap, octets[offset : offset + length], bool(bad)))
        offset += length
    at += 5 * count
    rows_end = at + 3 * len(accesses)
    answers = [(cycle, value, bool(refused)) for cycle, value, refused in words[at:rows_end].reshape(-1, 3).tolist()]
    enqueued = words[rows_end:].reshape(-1, 9)
    assert len(answers) == len(accesses) and not any(one[2] for one in answers[: len(before)] + answers[-len(after) :])
    read = [value for _, value, _ in answers[-len(after) :]]
    counters = {name: read[PORTS * k : PORTS * (k + 1)] for k, name in enumerate(COUNTERS)}
    discards = np.array(read[PORTS * len(COUNTERS) : -2]).reshape(-1, 3)[:, 1:]
    overflows, free = read[-2:]
    cells = {**defaults("tsn_switch"), **build}["Cells"]
    return Outcome(sent, counters, discards, overflows, free, cells, answers[len(before) : -len(after)], cycles, enqueued)


def nothing_is_left(outcome: Outcome) -> None:
    """Every cell is back in the free list, but for the one that each port has in hand."""
    assert outcome.free_cells == outcome.cells - PORTS
