"""The study's parts that need no long run, and what its files say."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import harts_testbed as testbed  # noqa: E402
from harts_table1 import checklist  # noqa: E402
from tautwire.claims import Study  # noqa: E402


def test_two_speeds_give_the_row_that_they_were_fitted_on(study: Study) -> None:
    row = testbed.table5(study, "III", "HaRTES")[0]
    s, r, p, noise = testbed.two_speeds(row)
    assert row["mean"] == pytest.approx(s * (1 + p * (r - 1)), rel=1e-6)
    assert row["min"] == pytest.approx(s * (1 - 3 * noise), rel=1e-6)
    assert row["max"] == pytest.approx(r * s * (1 + 3 * noise), rel=1e-6)


def test_a_run_is_its_seed(study: Study) -> None:
    made = testbed.scenario(study, "harts", [testbed.stream(study, "F7")])
    assert testbed.outcomes(made, 2) == testbed.outcomes(made, 2)
    first, second = testbed.latencies(testbed.outcomes(made, 2))["F7"]
    assert first != second


def test_every_cell_of_table_1_is_found_in_runs(study: Study) -> None:
    rows = checklist(study)
    assert len(rows) == 14
    wrong = [row for row in rows if row["printed"] != row["found"]]
    assert not wrong, wrong
