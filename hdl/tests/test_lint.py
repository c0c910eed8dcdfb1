"""Every module passes Verilator's lint with all warnings on."""

from __future__ import annotations

import pytest
from verilated import RTL, lint


@pytest.mark.parametrize("module", sorted(path.stem for path in RTL.glob("*.sv")))
def test_no_module_has_a_warning(module: str) -> None:
    assert lint(module) == ""


def test_eight_ports_have_no_warning() -> None:
    assert lint("tsn_switch", {"Ports": 8, "CutThrough": 0}) == ""
