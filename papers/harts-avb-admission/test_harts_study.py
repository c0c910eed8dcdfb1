"""The study's parts that need no long run, and what its files say."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import harts_testbed as testbed  # noqa: E402
from harts_table1 import checklist  # noqa: E402
from tautwire.claims import Study, checks, load_module  # noqa: E402


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return Study(FOLDER, tmp_path_factory.mktemp("out"))


def test_every_claim_has_a_verdict_and_every_testable_one_a_function(study: Study) -> None:
    expected = study.expected()
    assert list(expected) == [claim.id for claim in study.claims()] == [f"HAR-{k:02d}" for k in range(1, 48)]
    tests = checks(load_module(FOLDER))
    assert set(tests) == {id for id, said in expected.items() if said.verdict.value != "not testable"}
    assert {id: test.basis for id, test in tests.items()} == {id: expected[id].basis for id in tests}
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    shortfalls = [id for id, said in expected.items() if said.verdict.value == "refuted"]
    assert all(id in readme for id in shortfalls), "every shortfall is explained"


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
