"""Modules alone in the simulator, each against its own model.

What long traffic shows of engine and queues is in ``test_ats_engine.py`` and ``test_egress_port.py``; these are back-pressure, settings
under load, resets, and the order by eligibility time.
"""

from __future__ import annotations

import pathlib

import ats_engine_bench
import egress_port_bench
import sync_fifo_bench
from verilated import RTL, bench


def test_sync_fifo(tmp_path: pathlib.Path) -> None:
    sizes = {"Width": sync_fifo_bench.WIDTH, "Depth": sync_fifo_bench.DEPTH}
    assert bench("sync_fifo", [RTL / "sync_fifo.sv"], "sync_fifo_bench", tmp_path, sizes) == 2


def test_ats_engine(tmp_path: pathlib.Path) -> None:
    names = {"Schedulers": "SCHEDULERS", "Groups": "GROUPS", "TimeWidth": "TIME_WIDTH", "OctetTimeWidth": "OCTET_TIME_WIDTH",
             "FillWidth": "FILL_WIDTH", "TagWidth": "TAG_WIDTH"}  # fmt: skip
    sizes = {name: getattr(ats_engine_bench, constant) for name, constant in names.items()}
    assert bench("ats_engine", [RTL / "ats_engine.sv"], "ats_engine_bench", tmp_path, sizes) == 2


def test_egress_port(tmp_path: pathlib.Path) -> None:
    sizes = {"Classes": egress_port_bench.CLASSES, "Lanes": egress_port_bench.LANES, "Depth": egress_port_bench.DEPTH}
    assert bench("egress_port", [RTL / "egress_port.sv"], "egress_port_bench", tmp_path, sizes) == 2
