"""The builds that ``synth.py`` synthesises, with all schedulers and streams that they have: random traffic is the model's.

Streams are told apart by their sources, two in every bucket of the table, their schedulers in no order. What else the
tests run is smaller (``switch_run.SMALL``); the full mesh (``full_mesh.py``) runs the small build, too.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from mixed import Mixed, check_selection, check_starts, many_streams, residence
from switch_run import PORTS, nothing_is_left, run
from verilated import defaults

import synth


@pytest.mark.parametrize(
    ("build", "schedulers_per_port", "count"),
    [pytest.param("small", 256, 4_000), pytest.param("full", 1024, 16_000, marks=pytest.mark.slow)],
)
def test_a_build_with_all_its_schedulers_is_the_model(tmp_path: pathlib.Path, build: str, schedulers_per_port: int, count: int) -> None:
    sizes = {**defaults("tsn_switch"), **synth.BUILDS[build]}
    assert sizes["Schedulers"] >= PORTS * schedulers_per_port
    rng = np.random.default_rng(19)
    # As many as the table surely takes, of drawn addresses.
    streams = many_streams(rng, sizes["StreamPlaces"] * 19 // 20, PORTS * schedulers_per_port)
    traffic = Mixed(streams, residence(rng, 100_000, 800_000), {3: 60_000_000, 4: 100_000_000})
    traffic.random_frames(rng, count)
    outcome = run(traffic.settings(), traffic.frames, tmp_path, quiet=200_000, build=synth.BUILDS[build])
    # No stream was refused, or `run` fails; of the sources, more than there are places for addresses, some were forgotten.
    assert outcome.table_overflows > 0
    for name in ("no_cell", "no_port", "not_member"):
        assert outcome.counters[name] == [0] * PORTS, name
    eligible = traffic.eligible()
    used = {streams[one].scheduler for one in traffic.owner if one >= 0}
    assert len(used) > PORTS * schedulers_per_port * 0.4 and max(used) > PORTS * schedulers_per_port * 0.99
    discards = traffic.discards(eligible)
    assert sum(discards) > 20 and outcome.discards.sum(axis=1)[: len(discards)].tolist() == discards
    assert traffic.held(eligible) > 100
    dropped = check_starts(traffic, outcome, eligible)
    assert [len(one) for one in dropped] == outcome.counters["queue_full"]
    for port in range(PORTS):
        check_selection(traffic, outcome, port, eligible, dropped[port])
    nothing_is_left(outcome)
