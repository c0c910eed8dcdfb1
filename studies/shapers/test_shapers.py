"""The study in its short form: bounds equal the results that are kept, runs stay below them, the page says the same."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import shapers_mechanisms as mechanisms  # noqa: E402
import shapers_study as study  # noqa: E402
from shapers_fields import FIELDS  # noqa: E402

CALLS = [(name, combination) for name in FIELDS for combination in mechanisms.COMBINATIONS]


def kept(name: str, combination: str) -> dict[str, dict[str, str]]:
    rows = [row for row in study.read("rows.csv") if (row["network"], row["combination"]) == (name, combination)]
    return {row["role"]: row for row in rows}


def bound(name: str, combination: str, role: str) -> float:
    return float(kept(name, combination)[role]["bound_us"])


@pytest.mark.parametrize(("name", "combination"), CALLS)
def test_a_short_run_has_the_bounds_that_are_kept(name: str, combination: str) -> None:
    rows, cost = study.run(name, combination, seeds=(1,), duration="100 ms")
    for row in rows:
        known = kept(name, combination)[row.role]
        exact = ("streams", "bound_us", "jitter_bound_us", "of_deadline")
        assert {key: known[key] for key in exact} == {
            key: "" if getattr(row, key) is None else str(getattr(row, key)) for key in exact
        }
        assert row.lost == int(known["lost"]) == 0
        for observed in (row.observed_us, float(known["observed_us"])):
            assert row.bound_us is None or observed <= row.bound_us
    costs = {(one["network"], one["combination"]): one for one in study.read("costs.csv")}
    assert costs[name, combination]["reserved"] == str(cost.reserved)


def test_the_page_has_the_tables_of_the_results() -> None:
    text = study.PAGE.read_text(encoding="utf-8")
    assert study.page(text) == text
    assert all(f"results/{name}.svg" in text and (study.RESULTS / f"{name}.svg").exists() for name in FIELDS)


@pytest.mark.parametrize("name", FIELDS)
def test_what_the_page_says_of_each_mechanism(name: str) -> None:
    """Its sentences, as comparisons of the results."""
    costs = {row["combination"]: row for row in study.read("costs.csv") if row["network"] == name}
    files = {combination: float(row["bulk_mbps"]) for combination, row in costs.items()}
    control = {one: bound(name, one, "control") for one in ("strict", "preemption", "gates", "cycles")}
    # Gates are best for control loops, then frame preemption; cycles are later, and their jitter is nearly two cycles.
    assert control["gates"] < control["preemption"] < control["strict"] < control["cycles"]
    jitters = {one: float(kept(name, one)["control"]["jitter_bound_us"]) for one in control}
    assert jitters["gates"] == 1.0
    assert FIELDS[name].cycle_us < jitters["cycles"] < 2 * FIELDS[name].cycle_us
    # The credit-based shaper makes sensors later and the service below them earlier.
    assert 1.2 < bound(name, "credit", "sensor") / bound(name, "strict", "sensor") < 2.3
    assert bound(name, "credit", "service") < bound(name, "strict", "service") * 0.55
    # ATS passes conforming bursts as they come.
    assert kept(name, "ats")["sensor"]["observed_us"] == kept(name, "strict")["sensor"]["observed_us"]
    assert bound(name, "ats", "sensor") > bound(name, "strict", "sensor")
    # Files pay for gates; fragments cost them little.
    assert files["gates"] < files["preemption"] < files["strict"]
    assert files["preemption"] > 0.99 * files["strict"]
    if name == "factory":
        assert 0.88 < files["gates"] / files["strict"] < 0.92
        assert files["gates + preemption"] - files["gates"] > (files["strict"] - files["gates"]) / 2
        assert 8 < bound(name, "strict", "service") / bound(name, "credit", "service") < 10
    assert int(costs["preemption"]["overhead_octets"]) > 0 == int(costs["strict"]["overhead_octets"])


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / "shapers_notebook.py"))
    last = capsys.readouterr().out.splitlines()[-1]
    assert "'credit')" in last and "'ats')" not in last
