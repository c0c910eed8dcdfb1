"""The switch with GMII at some ports and RGMII at others, between neighbours of cocotbext (``board_bench.py``)."""

from __future__ import annotations

import pathlib

import pytest
from verilated import HDL, bench, lint, sources


@pytest.mark.parametrize("rgmii", [0, 0b0110])
def test_any_choice_of_lines_has_no_warning(rgmii: int) -> None:
    assert lint("board_switch", {"Rgmii": rgmii}) == ""


def test_eight_ports_by_rgmii_have_no_warning() -> None:
    assert lint("board_switch", {"Ports": 8, "CutThrough": 0}) == ""


def test_switch_with_lines_of_both_kinds(tmp_path: pathlib.Path) -> None:
    assert bench("board_bench", [*sources("board_switch"), HDL / "tests" / "board_bench.sv"], "board_bench", tmp_path) == 2
