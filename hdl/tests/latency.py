"""Latency of the switch: a frame alone, from start delimiter to start delimiter at the GMII."""

from __future__ import annotations

import dataclasses
import pathlib

from switch_run import (
    Frame,
    Setting,
    address,
    address_setting,
    ats_setting,
    cut_through_setting,
    frame_octets,
    group_setting,
    nothing_is_left,
    run,
    scheduler_setting,
    stream_setting,
)

OVERHEAD = 20
# What two PHYs add, taken from published hardware.
PHYS_NS = 550


@dataclasses.dataclass(frozen=True)
class Case:
    """A class with its ProcessingDelayMax in ticks of 0.5 ns."""

    name: str
    delay_max_ticks: int
    pcp: int


CASES = (
    Case("strict priority", 0, 5),
    Case("ATS, ProcessingDelayMax 0", 0, 6),
    Case("ATS, ProcessingDelayMax 500 ns", 1000, 6),
)


def host(port: int) -> bytes:
    return address(f"02-00-00-00-00-{port:02x}")


def stream(index: int) -> bytes:
    return address(f"91-e0-f0-00-{index >> 8:02x}-{index & 255:02x}")


def latency_ns(settings: list[Setting], folder: pathlib.Path, payload: int, pcp: int) -> int:
    """From start delimiter to start delimiter of a frame alone in the switch; the slowest of 16."""
    return max(latencies_ns(settings, folder, payload, pcp))


def latencies_ns(settings: list[Setting], folder: pathlib.Path, payload: int, pcp: int) -> list[int]:
    """Of 16 frames, each at another phase of the switch's slots."""
    octets = [frame_octets(stream(0), host(0), bytes([k]) * payload, vid=5, pcp=pcp) for k in range(16)]
    # 4 000 cycles and an odd number apart, so that every phase of the switch's slots is met.
    frames = [Frame(0, 4_003 * (k + 1), one) for k, one in enumerate(octets)]
    outcome = run(settings, frames, folder, quiet=4_000)
    assert [one.octets for one in outcome.sent] == octets
    assert {one.port for one in outcome.sent} == {1}
    nothing_is_left(outcome)
    return [8 * (one.sfd - frame.sfd) for one, frame in zip(outcome.sent, frames, strict=True)]


def shaped_settings(delay_max_ticks: int) -> list[Setting]:
    return [
        ats_setting(delay_max_ticks, OVERHEAD, 1 << 6),
        address_setting(stream(0), 5, 0b0010),
        stream_setting(stream(0), 5, 3),
        scheduler_setting(3, 6, 500_000_000, 4_000),
        group_setting(6, 2**30),
    ]


def measure(folder: pathlib.Path) -> dict[Case, dict[int, int]]:
    """Latency in ns by case and octets of payload."""
    return {
        case: {size: latency_ns(shaped_settings(case.delay_max_ticks), folder, size, case.pcp) for size in (64, 1500)} for case in CASES
    }


def cut_through_ns(folder: pathlib.Path, payload: int) -> int:
    """The same of a frame that is cut through."""
    return latency_ns([address_setting(stream(0), 5, 0b0010), cut_through_setting(0xFF)], folder, payload, 5)


def summary(folder: pathlib.Path) -> dict[str, float]:
    """The figures of ``hdl.json``: in us, with two PHYs, as others measured."""
    rows = measure(folder)
    strict, undelayed, shaped = ({size: rows[case][size] for size in (64, 1500)} for case in CASES)
    cut = {size: cut_through_ns(folder, size) for size in (64, 1500)}
    kinds = {"ats": shaped, "ats_undelayed": undelayed, "sp_store_and_forward": strict, "sp_cut_through": cut}
    found = {f"{kind}_{size}B_us": (ns[size] + PHYS_NS) / 1000 for kind, ns in kinds.items() for size in (1500, 64)}
    return found | {"processing_delay_max_us": CASES[-1].delay_max_ticks / 2000}
