"""Reception and transmission against the GMII of cocotbext-eth, in the simulator (``mac_bench.py``)."""

from __future__ import annotations

import pathlib

from verilated import HDL, RTL, bench


def test_mac_against_another_gmii(tmp_path: pathlib.Path) -> None:
    sources = [RTL / "gmii_rx.sv", RTL / "gmii_tx.sv", HDL / "tests" / "mac_pair.sv"]
    assert bench("mac_pair", sources, "mac_bench", tmp_path) == 3
