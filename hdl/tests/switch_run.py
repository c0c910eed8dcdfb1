"""Frames through the Verilated switch, and what a switch must make of them."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import zlib

import numpy as np
from verilated import harness

PORTS, CLASSES, GROUPS = 4, 8, 64
TICKS_PER_CYCLE = 16
QUANTUM_PS = 500
OCTET_PS = 8 * 10**12
CELLS = 256
# Cycles from the start delimiter at the input, beside the octets of the frame, to the arrival time.
ARRIVAL_AFTER = 2
# Cycles from the choice of a frame to its start delimiter at the output.
START_BEFORE = 9


@dataclasses.dataclass
class Frame:
    """A frame given to a port; the last four octets are its frame check sequence."""

    port: int
    first_cycle: int
    octets: bytes
    error_at: int = 2**63
    # Filled in by the run: cycle of its start delimiter.
    sfd: int = 0


@dataclasses.dataclass
class Sent:
    """A frame that the switch sent."""

    port: int
    sfd: int
    gap: int
    octets: bytes


@dataclasses.dataclass
class Outcome:
    sent: list[Sent]
    # By port: received, short, long, check, no cell, no port, queue full, sent.
    counters: dict[str, list[int]]
    # By group: burst, residence.
    discards: np.ndarray
    table_overflows: int
    free_cells: int


COUNTERS = ("received", "short", "long", "check", "no_cell", "no_port", "queue_full", "sent")


def address(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))


def frame_octets(destination: bytes, source: bytes, payload: bytes, *, vid: int = 1, pcp: int = 0) -> bytes:
    """A tagged frame with its frame check sequence, padded to 64 octets."""
    tag = b"\x81\x00" + (pcp << 13 | vid).to_bytes(2, "big")
    body = destination + source + tag + b"\x88\xb5" + payload
    body += bytes(max(0, 60 - len(body)))
    return body + zlib.crc32(body).to_bytes(4, "little")


def key(destination: bytes, vid: int) -> int:
    return vid << 48 | int.from_bytes(destination, "big")


def scheduler_setting(index: int, group: int, rate_bps: int, burst_octets: int) -> list[int]:
    octet_time = -(-(OCTET_PS << 24) // (rate_bps * QUANTUM_PS))
    fill = burst_octets * OCTET_PS // rate_bps // QUANTUM_PS
    return [0, index, group, octet_time, fill, burst_octets]


def group_setting(index: int, residence_max_ticks: int) -> list[int]:
    return [1, index, residence_max_ticks, 0, 0, 0]


def stream_setting(destination: bytes, vid: int, scheduler: int) -> list[int]:
    return [2, key(destination, vid), scheduler, 0, 0, 0]


def address_setting(destination: bytes, vid: int, ports: int) -> list[int]:
    return [3, key(destination, vid), ports, 0, 0, 0]


def ats_setting(delay_max_ticks: int, overhead: int, classes: int) -> list[int]:
    return [4, delay_max_ticks, overhead, classes, 0, 0]


def credit_setting(port: int, traffic_class: int, idle_slope_bps: int) -> list[int]:
    return [5, port, traffic_class, idle_slope_bps, 0, 0]


def class_setting(pcp: int, traffic_class: int) -> list[int]:
    return [6, pcp, traffic_class, 0, 0, 0]


def run(
    settings: list[list[int]], frames: list[Frame], folder: pathlib.Path, quiet: int = 20_000, reset_at: int = 2**62
) -> Outcome:
    """Runs the frames; PCP is the class unless a setting says otherwise."""
    settings = [*(class_setting(pcp, pcp) for pcp in range(8)), *settings]
    parameters = {"Cells": CELLS, "Schedulers": 1024, "StreamBuckets": 1024, "AddressBuckets": 64}
    binary = harness("tsn_switch", "tsn_switch", parameters)
    rows = [[frame.port, frame.first_cycle, len(frame.octets), frame.error_at] for frame in frames]
    flat = [
        len(settings),
        len(frames),
        quiet,
        reset_at,
        *(v for s in settings for v in s),
        *(v for r in rows for v in r),
    ]
    np.array(flat, dtype=np.uint64).tofile(folder / "script")
    (folder / "octets").write_bytes(b"".join(frame.octets for frame in frames))
    names = ("script", "octets", "sent", "sent_octets")
    done = subprocess.run(
        [binary, *(folder / name for name in names)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    words = [int(word) for word in np.fromfile(folder / "sent", dtype=np.uint64)]
    octets = (folder / "sent_octets").read_bytes()
    at = 1 + len(frames)
    for frame, sfd in zip(frames, words[1:at], strict=True):
        frame.sfd = sfd
    sent, offset = [], 0
    for _ in range(words[0]):
        port, sfd, length, gap = words[at : at + 4]
        at += 4
        sent.append(Sent(port, sfd, gap, octets[offset : offset + length]))
        offset += length
    counters = {name: words[at + k : at + 8 * PORTS : 8] for k, name in enumerate(COUNTERS)}
    at += 8 * PORTS
    discards = np.array(words[at : at + 2 * GROUPS]).reshape(-1, 2)
    return Outcome(sent, counters, discards, *words[at + 2 * GROUPS :])


def nothing_is_left(outcome: Outcome) -> None:
    """Every cell is back in the free list, but for the one that each port has in hand."""
    assert outcome.free_cells == CELLS - PORTS
