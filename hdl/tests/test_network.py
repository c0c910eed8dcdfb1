"""A described network of two switches on the RTL: verdicts are those of the simulation, decisions those of core's machines."""

from __future__ import annotations

import pathlib

import pytest
import tautwire
from verilated import HDL

import network

TWO = HDL / "networks" / "two-switches.yaml"
# The simulation draws what of the RTL's stages varies, and its clock has no cycles: greatest delays differ by less at each switch.
MARGIN_PS = 400_000

# Of other devices and rates, with a class that is not the priority, and frames of network control.
OTHER = """
name: other
defaults: {rate: 100 Mbit/s, device: store-and-forward}
nodes: {a: {type: end-station}, left: {type: bridge}, right: {type: bridge}, b: {type: end-station}}
links: [{between: [a, left]}, {between: [left, right]}, {between: [right, b]}]
streams: [{name: s, talker: a, listeners: b, priority: 6, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}]
"""


def test_two_switches_have_the_verdicts_of_the_simulation() -> None:
    described = network.Described(tautwire.load(TWO), "600 us")
    ran = network.run(described)
    rows = network.table(described, ran)
    assert {(row.stream, row.listener) for row in rows} >= {
        ("state", "control"),
        ("sound", "screen"),
        ("sound", "logger"),
        ("order", "robot"),
    }
    for row in rows:
        assert row.offered == len(row.rtl) == len(row.simulated) > 3, row.stream
        verdicts = {row.verdict(delays, row.offered, row.deadline, row.bound) for delays in (row.rtl, row.simulated)}
        assert verdicts == {"in time" if row.deadline else "arrived"}
        assert abs(max(row.rtl) - max(row.simulated)) < 2 * MARGIN_PS, row.stream
    # `network.run` has compared them with the machines.
    assert ran.starts > 150 and ran.eligible > 60 and 2 <= ran.rounds <= 5
    # Frames are held by both switches, and by the shapers for long.
    held = {row.stream: max(row.rtl) - min(row.rtl) for row in rows}
    assert min(held[name] for name in ("state", "answer")) > 20_000_000


def test_a_verdict_tells_what_came_of_the_frames() -> None:
    of = network.Row.verdict
    assert of([5, 7], 2, 6, None) == "late" and of([5, 6], 2, 6, None) == "in time" and of([5], 1, None, None) == "arrived"
    assert of([5], 2, 6, None) == "lost" and of([5, 9], 2, 6, 8) == "above the bound"


def test_what_the_rtl_does_not_do_is_refused_at_once(tmp_path: pathlib.Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(OTHER)
    with pytest.raises(network.NotSupported) as fault:
        network.Described(tautwire.load(other), "100 us")
    said = str(fault.value).splitlines()
    for part in ("bridge left: its device", "bridge right: its device", "network-control", "port left.p2: 100000000 bit/s", "priority"):
        assert any(part in line for line in said), (part, said)


@pytest.mark.slow
def test_a_fault_of_the_rtl_is_found() -> None:
    """A frame is charged an octet more than it has."""
    charged = "ChargedWidth'(charged_overhead_i);"
    fault = {"ats_engine": (charged, charged.replace(";", " + ChargedWidth'(1);"))}
    described = network.Described(tautwire.load(TWO), "300 us")
    with pytest.raises(AssertionError):
        network.run(described, fault)
