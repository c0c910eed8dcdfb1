"""The study's parts that need no long run, and what its files say."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import harts_sensitivity as sensitivity  # noqa: E402
import harts_testbed as testbed  # noqa: E402
from harts_runs import requests  # noqa: E402
from harts_table1 import checklist  # noqa: E402
from tautwire.claims import Study, run, summary_line  # noqa: E402


def test_every_claim_ends_as_expected(study: Study) -> None:
    findings = run(study)
    assert [one.outcome for one in findings if not one.as_expected] == []
    assert summary_line("harts-avb-admission", findings) in (FOLDER / "README.md").read_text(encoding="utf-8")


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


def test_what_was_expected_otherwise_before_the_first_run_is_explained(study: Study) -> None:
    first = {row["claim"]: row["verdict"] for row in study.table("first_verdicts")}
    now = {id: said.verdict.value for id, said in study.expected().items()}
    assert list(first) == list(now)
    changed = {id for id in now if first[id] != now[id]}
    assert changed == {"HAR-04", "HAR-07", "HAR-08", "HAR-19", "HAR-20", "HAR-46"}
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"\n**{id}**" in readme for id in changed), "a paragraph each"


@pytest.mark.parametrize("name", ["I", "III"])
def test_the_limit_of_mrpdus_makes_avb_slow(study: Study, name: str) -> None:
    asked = requests(study, name)
    start = {"warm_up_ns": 0} if name == "I" else {}
    means = [
        float(sensitivity.short(study, "AVB", asked, count=20, avb={**start, "limited": limited}).mean())
        for limited in (True, False)
    ]
    published = sensitivity.published_mean(study, name, "AVB")
    assert means[0] > 1.15 * published > 1.15 * means[1], "what is beyond 20 % is gone without the limit"


def test_disjoint_paths_meet_in_the_limit_alone(study: Study) -> None:
    rows = {row["setting"]: float(row["mean"]) for row in sensitivity.disjoint(study) if row["protocol"] == "AVB"}
    assert rows["both"] > 1.5 * rows["alone"]
    assert rows["both, no limit of MRPDUs"] < 1.1 * rows["alone, no limit of MRPDUs"]
