"""Parameters that prove all deadlines."""

from pathlib import Path

import pytest

import tautwire

INPUT = Path(__file__).parents[2] / "crates" / "workbench" / "tests" / "cases" / "inputs" / "tune-slopes.yaml"


def test_what_is_found_is_proven_and_the_rest_stays() -> None:
    tuned = tautwire.tune(INPUT, only=["idle-slope"])
    assert tuned.proven and tuned.text is not None
    assert tautwire.verify(tautwire.load_text(tuned.text)).verdict == "proven"
    was, now = INPUT.read_text().splitlines(), tuned.text.splitlines()
    changed = [new for old, new in zip(was, now, strict=True) if old != new]
    assert len(changed) == len(tuned.changes) == 2
    assert all(change.new in line for change, line in zip(tuned.changes, changed, strict=True))
    (row,) = tuned.rows
    assert row["bound_ps"] <= row["deadline_ps"] < row["bound_before_ps"]
    assert (row["verdict_before"], row["verdict"]) == ("not-proven", "proven")


def test_what_cannot_be_proven_is_named() -> None:
    tuned = tautwire.tune(INPUT, only=["queue-limit"])
    assert not tuned.proven and tuned.is_smallest
    assert [row["stream"] for row in tuned.conflict] == ["video"]


def test_a_budget_and_wrong_kinds_are_told() -> None:
    assert tautwire.tune(INPUT, budget=1).cut_short
    with pytest.raises(ValueError, match="none of queue-limit"):
        tautwire.tune(INPUT, only=["wires"])
    with pytest.raises(ValueError, match="no stream has a deadline"):
        tautwire.tune(tautwire.load_text(INPUT.read_text().replace("deadline: 1500 us", "")))
