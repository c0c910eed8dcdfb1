"""The modules between reception and queues alone, in the simulator (``ingress_port_bench.py`` and its sisters)."""

from __future__ import annotations

import pathlib

import ingress_port_bench
from verilated import bench, sources


def test_reception_of_a_port(tmp_path: pathlib.Path) -> None:
    sizes = {"Port": ingress_port_bench.PORT}
    assert bench("ingress_port", sources("ingress_port"), "ingress_port_bench", tmp_path, sizes) == 3


def test_the_way_to_the_queues(tmp_path: pathlib.Path) -> None:
    assert bench("frame_dispatch", sources("frame_dispatch"), "frame_dispatch_bench", tmp_path) == 2


def test_cut_through_alone(tmp_path: pathlib.Path) -> None:
    assert bench("cut_through", sources("cut_through"), "cut_through_bench", tmp_path) == 1
