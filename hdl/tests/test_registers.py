"""The register map: what follows from it is current, and the RTL serves it as AXI4-Lite says."""

from __future__ import annotations

import pathlib

import pytest
from verilated import HDL, RTL, bench

import registers


@pytest.mark.parametrize("path", registers.FILES, ids=lambda path: path.name)
def test_what_is_written_from_the_map_is_current(path: pathlib.Path) -> None:
    assert path.read_text() == registers.FILES[path](registers.read_map()), "run `python hdl/registers.py`"


def test_registers_against_another_master(tmp_path: pathlib.Path) -> None:
    sources = [RTL / "switch_registers.sv", HDL / "tests" / "registers_bench.sv"]
    assert bench("registers_bench", sources, "registers_bench", tmp_path) == 4
