"""The whole switch between neighbours of cocotbext, in the simulator (``switch_bench.py``)."""

from __future__ import annotations

import pathlib

import pytest
from verilated import HDL, bench, sources


@pytest.mark.slow
def test_switch_between_other_neighbours(tmp_path: pathlib.Path) -> None:
    files = [*sources("tsn_switch"), HDL / "tests" / "switch_bench.sv"]
    assert bench("switch_bench", files, "switch_bench", tmp_path) == 4
