"""Every module passes Verilator's lint with all warnings on."""

from __future__ import annotations

import pytest
from verilated import RTL, lint


@pytest.mark.parametrize("module", sorted(path.stem for path in RTL.glob("*.sv")))
def test_no_module_has_a_warning(module: str) -> None:
    assert lint(module) == ""


@pytest.mark.parametrize(("ports", "cut_through"), [(2, 0), (2, 1), (8, 0)])
def test_other_numbers_of_ports_have_no_warning(ports: int, cut_through: int) -> None:
    assert lint("tsn_switch", {"Ports": ports, "CutThrough": cut_through}) == ""
