"""The table of exact matches against a model, in the simulator (``exact_table_bench.py``), and how many entries it takes."""

from __future__ import annotations

import os
import pathlib
from unittest import mock

import pytest
from exact_table_bench import KEY_WIDTH, MOVES_MAX, PLACES, REQUESTERS, VALUE_WIDTH
from verilated import RTL, bench


def test_exact_table_against_its_model(tmp_path: pathlib.Path) -> None:
    sizes = {"Requesters": REQUESTERS, "Places": PLACES, "KeyWidth": KEY_WIDTH, "ValueWidth": VALUE_WIDTH, "MovesMax": MOVES_MAX}
    assert bench("exact_table", [RTL / "exact_table.sv"], "exact_table_bench", tmp_path, sizes) == 3


@pytest.mark.parametrize(
    ("places", "width", "seed"),
    [(512, 60, 1), *(pytest.param(places, 61, seed, marks=pytest.mark.slow) for places in (1024, 4096) for seed in (1, 2, 3))],
)
def test_a_table_is_filled_to_19_of_20_places_before_it_refuses(tmp_path: pathlib.Path, places: int, width: int, seed: int) -> None:
    sizes = {"Places": places, "KeyWidth": width}
    with mock.patch.dict(os.environ, {"TABLE_SEED": str(seed)}):
        assert bench("exact_table", [RTL / "exact_table.sv"], "exact_table_load_bench", tmp_path, sizes) == 1
