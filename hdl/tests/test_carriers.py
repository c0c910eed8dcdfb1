"""Malformed carriers at reception, in the simulator (``carrier_bench.py``)."""

from __future__ import annotations

import pathlib

from verilated import HDL, RTL, bench


def test_malformed_carriers(tmp_path: pathlib.Path) -> None:
    sources = [RTL / "gmii_rx.sv", RTL / "gmii_tx.sv", HDL / "tests" / "mac_pair.sv"]
    assert bench("mac_pair", sources, "carrier_bench", tmp_path) == 5
