"""The longest way of a descriptor is what the stages of the RTL say (``way.py``): measured with lines that are free."""

from __future__ import annotations

import pathlib

import numpy as np
import way
from full_mesh import STREAMS, index_of, settings
from latency import host, stream
from switch_run import (
    PORTS,
    START_BEFORE,
    Frame,
    ats_setting,
    frame_octets,
    nothing_is_left,
    run,
)

ROUNDS, APART = 1_500, 331
# A way is a sum of the worst of every stage, which random phases seldom meet all at once.
SLACK = 10


def ways(folder: pathlib.Path, classes: int) -> np.ndarray:
    """From the last octet to the start, of frames that come in at nearly one time, each for a port of its own."""
    rng = np.random.default_rng(3)
    frames, given = [], {}
    for k in range(ROUNDS):
        shift = int(rng.integers(1, PORTS))
        for port in range(PORTS):
            octets = frame_octets(stream(index_of(port, shift)), host(port), k.to_bytes(4, "big"), vid=5, pcp=6)
            frame = Frame(port, 1_000 + APART * k + int(rng.integers(0, 25)), octets)
            frames.append(frame)
            given[octets] = frame
    outcome = run([*settings(), ats_setting(0, 0, classes)], frames, folder)
    assert len(outcome.sent) == len(frames)
    nothing_is_left(outcome)
    return np.array([one.sfd - START_BEFORE - given[one.octets].sfd - len(one.octets) for one in outcome.sent])


def test_no_way_is_longer_and_some_are_nearly_as_long(tmp_path: pathlib.Path) -> None:
    assert STREAMS == PORTS * (PORTS - 1)
    taken = ways(tmp_path, 1 << 6)
    assert way.lag(PORTS) - SLACK <= taken.max() <= way.lag(PORTS)


def test_without_the_engine_it_is_shorter_by_its_part(tmp_path: pathlib.Path) -> None:
    taken = ways(tmp_path, 0)
    assert taken.max() <= way.lag(PORTS) - way.ENGINE
