"""Schedules of gates: streams that are added in a run."""

from pathlib import Path

import pytest

import tautwire
from tautwire.network import UnknownNameError

SCENARIO = Path(__file__).parents[2] / "scenarios" / "schedule-to-be-changed.yaml"


def test_a_stream_is_added_in_a_run() -> None:
    schedule, changed = tautwire.load(SCENARIO).schedule(at="10 ms")
    assert schedule["change"] == {
        "at_ps": 10_000_000_000,
        "begin_ps": 12_000_000_000,
        "start_ps": 13_000_000_000,
        "ports": ["s1:s2", "s2:motor"],
        "streams": ["grip"],
        "ended": [],
        "safe": True,
    }
    assert schedule["unproven"] == []
    assert changed is not None
    verified = tautwire.verify(changed)
    assert verified.verdict == "proven"


def test_a_change_that_is_not_proven_has_reasons_and_no_network() -> None:
    text = SCENARIO.read_text().replace("payload: 1500 B\n", "payload: 1500 B\n    deadline: 600 us\n")
    schedule, changed = tautwire.load_text(text).schedule(at="10 ms")
    assert changed is None and not schedule["change"]["safe"] and schedule["not_proven"] == ["firmware"]
    (why,) = schedule["unproven"]
    assert (why["stream"], why["listener"], why["reason"]) == ("firmware", "motor", "deadline")
    assert why["bound_ps"] > why["deadline_ps"] == 600_000_000
    assert why["text"].startswith("up to ") and why["text"].endswith(", deadline 600 us")


def test_a_time_is_needed_that_is_one() -> None:
    with pytest.raises(UnknownNameError, match="`soon` is no time"):
        tautwire.load(SCENARIO).schedule(at="soon")
