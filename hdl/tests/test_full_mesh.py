"""Line rate of minimum frames on all ports in full mesh, matched with the model frame by frame: see ``full_mesh.py``."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
from full_mesh import SLOPES, check, check_starts, full_mesh
from switch_run import nothing_is_left
from verilated import HDL


# A part of the frames of a run comes before its buckets are empty: fewer are held back then.
@pytest.mark.parametrize(
    ("rounds", "held_min"),
    [(25_000, 0.19), pytest.param(250_000, 0.19, marks=pytest.mark.slow)],
    ids=["a hundred thousand", "a million"],
)
def test_full_mesh_at_line_rate_is_that_of_the_model(
    tmp_path: pathlib.Path, rounds: int, held_min: float, capsys: pytest.CaptureFixture[str]
) -> None:
    run = full_mesh(41, rounds, tmp_path)
    found = check(run)
    assert found["held"] > held_min and 0.005 < found["discarded"] < 0.02 and found["queue_full"] > 20
    nothing_is_left(run.outcome)
    # The replay of the shapers fails where one has another slope, by one in ten thousand.
    for rank, slope in SLOPES.items():
        with pytest.raises(AssertionError, match=r"starts|queue is full"):
            check_starts(run, run.before, {rank: slope // 10_000})
    with capsys.disabled():
        print(
            f"\n{found['frames']} frames, {found['held']:.1%} held back, {found['discarded']:.2%} discarded by ATS,"
            f" {found['queue_full']} by full queues"
        )


@pytest.mark.slow
@pytest.mark.parametrize(("ports", "rounds"), [(8, 600), (2, 4_000)])
def test_other_numbers_of_ports_at_line_rate_are_those_of_the_model(ports: int, rounds: int) -> None:
    """A process of its own, for the number of ports is fixed when it begins."""
    command = [sys.executable, HDL / "tests" / "full_mesh.py", "42", str(rounds)]
    done = subprocess.run(command, env={**os.environ, "TAUTWIRE_HDL_PORTS": str(ports)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
