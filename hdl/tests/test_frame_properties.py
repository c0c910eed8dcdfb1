"""That the assertions about every frame (``harness/frame_properties.sv``) can fail: faults planted in the switch are found."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from latency import host
from mixed import Mixed, few_streams, introductions, residence
from switch_run import PORTS, Frame, Outcome, cut_through_setting, frame_octets, run


def overload(folder: pathlib.Path, faults: dict[str, tuple[str, str]] | None) -> Outcome:
    """Random traffic of streams and hosts, more than port 0 can send: full queues, ATS, frames for nobody, cut-through."""
    rng = np.random.default_rng(71)
    traffic = Mixed(few_streams(rng), residence(rng, 20_000, 60_000), {4: 150_000_000})
    traffic.random_frames(rng, 400)
    last = max(frame.first_cycle for frame in traffic.frames)
    frames = [*introductions(), *traffic.frames]
    for k in range(150):
        for port in range(PORTS):
            target = port if k % 10 == 9 else 0 if port and k % 4 else (port + 1) % PORTS
            payload = k.to_bytes(4, "big") + rng.bytes(int(rng.integers(1, 400)))
            frames.append(Frame(port, last + 2_000, frame_octets(host(target), host(port), payload)))
    return run([*traffic.settings(), cut_through_setting(1)], frames, folder, quiet=20_000, faults=faults)


def test_without_a_fault_nothing_is_said(tmp_path: pathlib.Path) -> None:
    counters = overload(tmp_path, None).counters
    assert all(sum(counters[name]) > 10 for name in ("queue_full", "no_port", "cut_through")), counters


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "before", "after", "finds"),
    [
        ("ingress_port", "lost_q       <= done_valid_i &&", "lost_q       <= 1'b0 && done_valid_i &&", "ReceivedIsCountedOrKept"),
        (
            "ingress_port",
            "assign arrives = done_valid_i &&",
            "assign arrives = done_valid_i && ended.octets[2:0] != 3'd3 &&",
            "ReceivedIsCountedOrKept",
        ),
        ("frame_dispatch", "dropped_o <= step_q[1] && !scarce_q ? wanted & ~room_i : '0;", "dropped_o <= '0;", "NoCellTwiceOnTheWay"),
        (
            "frame_dispatch",
            "assign wanted = keep_q ? way_q.ports : '0;",
            "assign wanted = keep_q ? way_q.ports & ~(way_q.ports - 1'b1) : '0;",
            "EveryPortTakesOrCounts",
        ),
        (
            "switch_fabric",
            "begin_cell_q[p]   <= cut_start[p] ? cut_cell[p] : start_cell;",
            "begin_cell_q[p]   <= cut_start[p] ? cut_cell[p] : start_cell ^ CellWidth'(start_octets == 200);",
            "OnlyQueuedAreSent",
        ),
    ],
)
def test_a_planted_fault_is_found(tmp_path: pathlib.Path, module: str, before: str, after: str, finds: str) -> None:
    with pytest.raises(AssertionError, match=finds):
        overload(tmp_path, {module: (before, after)})
