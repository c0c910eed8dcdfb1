"""The table of exact matches against a model, in the simulator (``exact_table_bench.py``)."""

from __future__ import annotations

import pathlib

from exact_table_bench import BUCKETS, KEY_WIDTH, REQUESTERS, VALUE_WIDTH
from verilated import RTL, bench


def test_exact_table_against_its_model(tmp_path: pathlib.Path) -> None:
    sizes = {"Requesters": REQUESTERS, "Buckets": BUCKETS, "KeyWidth": KEY_WIDTH, "ValueWidth": VALUE_WIDTH}
    assert bench("exact_table", [RTL / "exact_table.sv"], "exact_table_bench", tmp_path, sizes) == 3
