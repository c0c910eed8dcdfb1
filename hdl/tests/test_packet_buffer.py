"""The packet buffer with random writers and readers, in the simulator (``packet_buffer_bench.py``)."""

from __future__ import annotations

import pathlib

from packet_buffer_bench import CELLS, LENGTH_WIDTH, PORTS
from verilated import bench, sources


def test_packet_buffer_keeps_frames_and_cells(tmp_path: pathlib.Path) -> None:
    sizes = {"Ports": PORTS, "Cells": CELLS, "LengthWidth": LENGTH_WIDTH}
    assert bench("packet_buffer", sources("packet_buffer"), "packet_buffer_bench", tmp_path, sizes) == 3
