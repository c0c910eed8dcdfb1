"""Member sets of VLANs, the filter of streams and the adjustable clock, each alone against a model (``identification_bench.py``)."""

from __future__ import annotations

import pathlib

from identification_bench import PORTS, RULES, VALUE_WIDTH
from verilated import HDL, RTL, bench


def test_modules_against_their_models(tmp_path: pathlib.Path) -> None:
    files = [RTL / f"{name}.sv" for name in ("vlan_table", "stream_filter", "adjustable_clock")]
    files.append(HDL / "tests" / "identification_bench.sv")
    sizes = {"Ports": PORTS, "Rules": RULES, "ValueWidth": VALUE_WIDTH}
    assert bench("identification_bench", files, "identification_bench", tmp_path, sizes) == 3
