"""The device models of ``crates/model/devices/tautwire-switch.yaml`` against the RTL: as measured, and frames alone in a run."""

from __future__ import annotations

import numpy as np
import pytest
import tautwire
from latency import PHYS_NS
from tautwire import Network, Periodic, Shaper

import device_model
from device_model import CREDIT, CUT, DELAYED, HEADER, STRICT, UNDELAYED, wire_ns

# Least, mean and greatest latency of frames alone differ by at most so much between a run of the model and the RTL: the scan's
# phase (56 ns) and the frame's last word (16 ns) are drawn in the model, and 8 ns its clock.
MARGIN_NS = 48


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], list[int]]:
    return device_model.measured(tmp_path_factory.mktemp("measured"))


def test_the_file_is_what_the_rtl_measures(measured: dict[tuple[str, int], list[int]]) -> None:
    said = device_model.text(device_model.stages(measured))
    assert device_model.FILE.read_text() == said, "run `python hdl/device_model.py`"


def network(kind: str, payload: int) -> Network:
    """A stream alone through the switch, 200 frames at all phases."""
    found = Network("alone", network_control="none", vlans={1: {"tagged": "all"}}, run={"duration": "20 ms", "seed": 1})
    device = "tautwire-switch-cut-through" if kind == CUT else "tautwire-switch"
    selection = {STRICT: "strict-priority", CREDIT: "credit-based", CUT: "strict-priority"}.get(kind, "ats")
    classes = {5: {"transmission_selection": selection} | ({"idle_slope": "750 Mbit/s"} if kind == CREDIT else {})}
    delay_max = {"devices": {"mine": {"based_on": device, "ats": {"processing_delay_max": "0 ns"}}}}
    if kind == UNDELAYED:
        found.settings |= delay_max
        device = "mine"
    found.end_station("talker")
    found.end_station("listener")
    found.bridge("switch", device=device, classes=classes)
    for node in ("talker", "listener"):
        found.link(node, "switch", rate="1 Gbit/s")
    shaper = {"shaper": Shaper("500 Mbit/s", "4000 B")} if selection == "ats" else {}
    frame = f"{payload + HEADER + 4} B"
    found.stream("probe", "talker", "listener", priority=5, frame=frame, traffic=Periodic("100003 ns"), **shaper)
    return found


@pytest.mark.parametrize("payload", [64, 1500])
@pytest.mark.parametrize("kind", [STRICT, CREDIT, UNDELAYED, DELAYED, CUT])
def test_a_run_of_the_model_is_as_fast_as_the_rtl(measured: dict[tuple[str, int], list[int]], kind: str, payload: int) -> None:
    described = network(kind, payload)
    rows = tautwire.simulate(described, frames=True).frames
    hop, start = np.array(rows.column("hop")), np.array(rows.column("start_ps"))
    order = np.argsort(np.array(rows.column("number")), kind="stable")
    hop, start = hop[order], start[order]
    count = int((hop == 1).sum())
    ran = (start[hop == 1] - start[hop == 0][:count]) / 1000
    rtl = np.array(measured[kind, payload]) + PHYS_NS
    for what in (np.min, np.mean, np.max):
        assert abs(what(ran) - what(rtl)) <= MARGIN_NS, (what.__name__, what(ran), what(rtl))
    bound = tautwire.bounds(described).delay_max_ps("probe")
    assert bound is not None and max(ran.max(), rtl.max()) <= bound / 1000 - wire_ns(payload)
