"""RGMII and the crossing of clocks against the RGMII of cocotbext-eth (``rgmii_bench.py``)."""

from __future__ import annotations

import pathlib

from verilated import bench, sources


def test_rgmii_against_another_one(tmp_path: pathlib.Path) -> None:
    assert bench("rgmii_port", sources("rgmii_port"), "rgmii_bench", tmp_path) == 4
