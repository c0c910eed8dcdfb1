"""The experiments of ``papers/ats-fpga-switch`` on the RTL, in short: its study prints them at more levels."""

from __future__ import annotations

import sys

import pytest
from verilated import HDL

sys.path.append(str(HDL.parent / "papers" / "ats-fpga-switch"))
from shaping import burst_theory
from switch_run import SMALL

import rtl


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The build that the other tests have made: its buffer is enough where nothing is overloaded."""
    monkeypatch.setattr(rtl, "FULL_BUILD", SMALL)


@pytest.mark.usefixtures("small")
def test_bursts_are_as_long_as_the_bucket_allows() -> None:
    row = rtl.burst(4, 12)
    assert row["rtl_count"] == row["model_count"] == burst_theory(4) == 3
    assert row["rtl_passed"] == row["model_passed"] == 12, "none was dropped"
    # The first interval behind the burst is shorter; the selection looks at a class every 64 ns.
    assert row["rtl_after"] == pytest.approx(121_760, abs=10)


@pytest.mark.usefixtures("small")
def test_a_flow_keeps_its_rate() -> None:
    row = rtl.one_flow(500, 30)
    assert row["theory"] == 24_352
    assert row["rtl_mean"] == pytest.approx(24_352, abs=3) and row["model_mean"] == pytest.approx(24_352, abs=6)
    assert row["rtl_sd"] < 50


@pytest.mark.usefixtures("small")
def test_two_flows_of_a_group_keep_their_rates() -> None:
    row = rtl.two_flows(0.003)
    for side in ("rtl", "model"):
        assert row[f"{side}_slow_mean"] == pytest.approx(120_640, rel=0.01), side
        assert row[f"{side}_fast_mean"] == pytest.approx(60_320, rel=0.01), side
        # MaxResidenceTime, ProcessingDelayMax, the frame, and the way of a descriptor.
        assert row[f"{side}_slow_latency"] < 134_217 + 500 + 8 * 1516 + 550 + 200, side


@pytest.mark.slow
def test_the_higher_class_loses_nothing() -> None:
    row = rtl.arbitration(500, 0.001)
    assert row["dropped"] == 0
    assert row["rtl_ats"] + row["rtl_other"] == pytest.approx(987, abs=20), "less the frames still in the switch"


def keeps_within_the_bound(figure: int) -> None:
    row = rtl.contention(figure, 900, 12)
    # One at the start, and one at the end of every interval.
    assert row["rtl_count"] == 13
    assert row["rtl_max"] <= row["bound"] and row["model_max"] <= row["bound"]
    assert row["rtl_max"] - row["rtl_min"] > 1_000, "some frame had to wait"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("figure", [17, 20, 21])
def test_contention_keeps_within_the_bound(figure: int) -> None:
    keeps_within_the_bound(figure)


@pytest.mark.slow
def test_contention_within_a_class_keeps_within_the_bound() -> None:
    """The competitor has as many frames held back as fit its MaxResidenceTime: it takes the full buffer."""
    keeps_within_the_bound(19)
