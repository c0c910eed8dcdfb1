"""The study's parts that need no long run, and what its files say."""

import sys
from pathlib import Path

import pytest
import tautwire

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import harts_architectures as architectures  # noqa: E402
import harts_descriptions as descriptions  # noqa: E402
import harts_rows  # noqa: E402
import harts_scenarios as scenarios  # noqa: E402
import harts_sensitivity as sensitivity  # noqa: E402
import harts_testbed as testbed  # noqa: E402
import harts_timers as timers  # noqa: E402
from harts_runs import BACKGROUND, BEFORE_LEAVE_ALL, GAPS_MS, PATHS, f7_values, requests, standing  # noqa: E402
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


def test_scenarios_are_those_that_the_study_runs(study: Study) -> None:
    """The files are for reading and for the command; the study makes the same in code, and reads the same of them."""
    texts = scenarios.texts(study)
    folder = FOLDER / "scenarios"
    assert sorted(path.name for path in folder.glob("*.yaml")) == sorted(texts)
    for name, text in texts.items():
        assert (folder / name).read_text(encoding="utf-8") == text, f"run {scenarios.__file__}"
    for name, made in scenarios.rows(study).items():
        if "-i-" in name:
            summary = tautwire.simulate(folder / f"{name}.yaml").summary
            _, asked = descriptions.description({**made, "last_ms": descriptions.last_ms(made, 1)})
            assert descriptions.read(made, summary, asked) == descriptions.run(made), name


@pytest.mark.parametrize(("name", "apart_ms"), [("II", 1_000), ("III", 10_000)])
def test_harts_takes_as_long_whatever_the_time_between_requests(study: Study, name: str, apart_ms: int) -> None:
    """Those of the study are nearer to each other than the paper's, by whole cycles: the same within 0.05 ms."""
    near = requests(study, name, "HaRTES")
    far = [{**one, "at_ns": apart_ms * one["at_ns"] // GAPS_MS["HaRTES"][name]} for one in near]
    assert max(one["at_ns"] for one in far) == max(one["at_ns"] for one in requests(study, name))
    found = []
    for asked in (near, far):
        (run,) = testbed.outcomes(testbed.scenario(study, "harts", asked, load=BACKGROUND), 1)
        found.append([one["latency_ns"] for one in run["requests"]])
    assert found[0] == pytest.approx(found[1], abs=50_000)


def test_broadcasts_between_requests_change_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are sent around requests alone; all through the run they give the same."""
    made = {**testbed.scenario(study, "avb", requests(study, "II"), load=BACKGROUND), "seed": 1}
    around = [one["latency_ns"] for one in descriptions.run(made)["requests"]]
    monkeypatch.setattr(descriptions, "windows", lambda made, start: [(start, start + 8_000_000_000)])
    assert [one["latency_ns"] for one in descriptions.run(made)["requests"]] == around


def test_every_cell_of_table_1_is_found_in_runs(study: Study) -> None:
    rows = checklist(study)
    assert len(rows) == 14
    wrong = [row for row in rows if row["printed"] != row["found"]]
    assert not wrong, wrong
    assert sum(bool(row["by construction"]) for row in rows) == 4


def test_what_was_expected_otherwise_before_the_first_run_is_explained(study: Study) -> None:
    first = {row["claim"]: row["verdict"] for row in study.table("first_verdicts")}
    now = {id: said.verdict.value for id, said in study.expected().items()}
    assert list(first) == list(now)
    # There was one word for both when the first ones were written.
    changed = {id for id in now if first[id] != now[id].replace("not reproduced", "refuted")}
    assert changed == {"HAR-04", "HAR-07", "HAR-19", "HAR-22", "HAR-31", "HAR-36", "HAR-46"}
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"\n**{id}**" in readme for id in (*changed, "HAR-08", "HAR-20")), "a paragraph each"


def test_every_printed_mean_is_near_or_told_and_stands_in_readme(study: Study) -> None:
    rows = harts_rows.told(study)
    printed = len(testbed.table3(study)) * 6 + 2 * (3 + 5) + 4 * 4
    assert len(rows) == printed == 68
    assert sum(row["within 20 %"] == "yes" for row in rows) == 60
    others = [row for row in rows if row["within 20 %"] == "no"]
    explained = [row for row in others if row["mechanism"]]
    assert {row["mechanism"] for row in explained} == {"repetitions at once"}
    assert all(abs(float(row["without it"]) / float(row["printed"]) - 1) <= harts_rows.NEAR for row in explained)
    unexplained = [(row["condition"], row["of"]) for row in others if row not in explained]
    assert unexplained == [("Scenario I", one) for one in ("F2", "F6", "F7")], "README tells them"
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "\n".join(harts_rows.markdown(study)[2:]) in readme


def test_repetitions_and_the_start_make_the_six_slow_as_told(study: Study) -> None:
    """The tables of README; neither of the two alone gives the published mean."""
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name, line in zip(("I", "II", "III"), swept(sensitivity.repetitions(study), 8), strict=True):
        published = sensitivity.published_mean(study, name, "AVB")
        assert f"| Scenario {name} | {line} | {published:.0f} |" in readme
    for name, line in zip(("at once", "after 100 ms"), swept(sensitivity.instants(study), 7), strict=True):
        assert f"| {name} | {line} |" in readme
    published = sensitivity.published_mean(study, "I", "AVB")

    def ratio(*of: float) -> float:
        return float(sensitivity.six(study, *of).mean()) / published

    assert ratio(0, 0) > 1.2 and ratio(0, 500) > 1.15 and ratio(100, 500) < 0.8
    assert all(abs(ratio(repeat, 0) - 1) < 0.15 for repeat in (10, 50, 100))


def swept(rows: list[dict[str, str]], by: int) -> list[str]:
    """Means of a sweep, so many a line."""
    means = [f"{float(row['mean']):.0f}" for row in rows]
    return [" | ".join(means[at : at + by]) for at in range(0, len(means), by)]


def test_timers_beside_what_they_stand_for_are_as_told(study: Study) -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for rows in (timers.means(study), timers.spreads(study), timers.claims(study)):
        lines = "\n".join(timers.markdown(rows))
        assert lines in readme, f"README does not show:\n{lines}"
    rows = timers.means(study)
    assert len(rows) == 38
    assert [sum(row[one] == "yes" for row in rows) for one in ("within 20 %", "then within 20 %")] == [30, 31]
    assert len(timers.extremes(study)) == 52 and timers.on_the_grid(timers.extremes(study)) == 1
    drawn = [float(value) for path in PATHS.values() for value in f7_values(study, "AVB", path, avb=testbed.STANDARD)]
    assert timers.on_the_grid(drawn) < 0.25, "no grid without one"


def test_both_readings_of_a_latency_are_as_told(study: Study) -> None:
    """By the paper's words F7 takes half of what is printed, and what its own Experiment III adds up to."""
    rows = [row for row in harts_rows.every_row(study) if row.wire is not None]
    assert len(rows) == 26 and all(row.wire < row.ours - 90 for row in rows)
    assert sum(abs(row.wire / row.printed - 1) <= harts_rows.NEAR for row in rows) == 8
    assert sum(row.near() for row in rows) == 18
    third = testbed.table5(study, "III", "AVB")
    parts = {row["component"]: row["mean"] for row in third if row["installed_streams"] == "1"}
    longest = next(row for row in rows if (row.experiment, row.condition) == ("Experiment I", "4 hops"))
    assert longest.wire == pytest.approx(sum(parts.values()), rel=0.05)
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for hops, row in zip((2, 3, 4), (row for row in rows if row.experiment == "Experiment I"), strict=True):
        assert f"| {hops} | {row.printed:.2f} | {row.ours:.2f} | {row.wire:.2f} |" in readme


def test_the_three_models_and_harts_on_one_network_are_as_told(study: Study) -> None:
    """The table of README and of the page; who decides alone need not wait for a bridge after another."""
    rows = {(row["model"], row["end nodes declare after"]): row for row in architectures.table(study)}
    lines = "\n".join(architectures.markdown(study))
    page = FOLDER.parent.parent / "docs" / "mechanisms" / "central-configuration.md"
    for path in (FOLDER / "README.md", page):
        assert lines in path.read_text(encoding="utf-8"), f"{path.name} does not show:\n{lines}"

    def mean(model: str, waits: str, asked: str) -> float:
        return float(rows[model, waits][asked].split()[0])

    for asked in architectures.ASKED:
        central, harts = (mean(model, "-", asked) for model in (architectures.CENTRAL, architectures.HARTES))
        distributed = mean(architectures.DISTRIBUTED, "at once", asked)
        assert harts < central < distributed < mean(architectures.DISTRIBUTED, "100 ms", asked)


def test_the_500_ms_of_the_simulation_of_frames_hang_on_fixed_times(study: Study) -> None:
    """Two messages meet in one instant there; with times that are drawn most runs are 100 ms slower."""
    row = next(row for row in architectures.table(study) if row["end nodes declare after"] == "100 ms")
    means = architectures.drawn(study, 8)
    assert row["model"] == architectures.DISTRIBUTED and float(row["six at once"].split()[0]) < 510
    assert sum(means > 590) == 6, means


def test_leave_all_makes_the_tail_and_the_early_answers(study: Study) -> None:
    """A stream that stands is said again at every LeaveAll: between bridges that uses the limit up."""
    by_hops = {hops: standing(study, "AVB", path, 1) for hops, path in PATHS.items()}
    assert by_hops[2].max() < 222 and by_hops[3].max() > 400 and by_hops[4].max() > 400, "over bridges alone"
    assert all(values.min() < 200 for values in by_hops.values()), "a LeaveAll lets a declaration leave earlier"
    before = standing(study, "AVB", PATHS[4], 1, avb=BEFORE_LEAVE_ALL)
    assert before.min() > 240 and before.max() < 242, "neither before the first LeaveAll"
    free = standing(study, "AVB", PATHS[4], 1, avb={"limited": False})
    assert free.max() < 330 and free.min() < 200, "without the limit the early ones stay, and most of the tail goes"


def test_what_a_verdict_rests_on_turns_it(study: Study) -> None:
    """Of every claim that says so, with other values; print is asked by the same check, and meets what is confirmed."""
    found = {one.claim.id: one.outcome for one in run(study)}
    resting = {id for id, one in found.items() if one.rests_on}
    assert resting == {"HAR-01", "HAR-03", "HAR-11", "HAR-33", "HAR-37", "HAR-46"}
    for id in resting:
        assert any(flip.holds is not found[id].holds for flip in found[id].flips), id
    assert {id for id, one in found.items() if one.printed is False} == {"HAR-02", "HAR-09", "HAR-25"}


def latencies_of(study: Study, architecture: str, paths: list[tuple[str, str]], **other: object) -> list[float]:
    """Latencies of requests that come at once over some ways, one after the other by stream; a single run."""
    asked = [
        {**testbed.stream(study, "F7", path=path), "name": f"F{number}", "jitter_ns": 0}
        for number, path in enumerate(paths)
    ]
    (run,) = testbed.outcomes(testbed.scenario(study, architecture, asked, **other), 1)
    return [one["latency_ns"] / 1e6 for one in run["requests"]]


def test_replies_wait_behind_all_requests(study: Study) -> None:
    """Nobody is acknowledged before all are tested, so the first takes as long as the last."""
    quiet = {**testbed.fit(study)["test"], "noise_permille": 0, "slow_permille": 0}
    alone = latencies_of(study, "harts", [("N1", "N2")], harts={"test": quiet})[0]
    three = latencies_of(study, "harts", [("N1", "N2")] * 3, harts={"test": quiet})
    assert min(three) > 2.5 * alone and max(three) - min(three) < 0.2 * alone


@pytest.mark.parametrize("first", [("N1", "N2"), ("N3", "N5"), ("N1", "N5")])
def test_requests_of_different_nodes_meet_the_limit_of_mrpdus(study: Study, first: tuple[str, str]) -> None:
    """Two talkers, or two listeners, say more than three things in 300 ms at a port; those of one share messages."""

    def greatest(first: tuple[str, str], limited: bool) -> float:
        avb = {"limited": limited, **BEFORE_LEAVE_ALL}
        return max(latencies_of(study, "avb", [first, ("N3", "N2"), ("N3", "N2")], avb=avb))

    assert greatest(first, True) > 400 and greatest(first, False) < 300
    assert greatest(("N3", "N2"), True) < 300


def test_a_listener_that_asks_before_its_talker_spends_opportunities_of_the_bridges(study: Study) -> None:
    """Asking failed, twice, and then ready: the fourth in 300 ms waits."""
    waits, early = (
        latencies_of(study, "avb", [("N1", "N5")], avb={"listener_waits": one, **BEFORE_LEAVE_ALL})[0]
        for one in (True, False)
    )
    assert waits < 250 and early > 300


def test_avb_is_seen_on_the_grid_of_its_talker(study: Study) -> None:
    """The eleventh and the twelfth look; bridges take their fitted times, end nodes 100 ms each."""
    for path, looks in zip(PATHS.values(), (11, 12, 12), strict=True):
        (latency,) = latencies_of(study, "avb", [path], avb=BEFORE_LEAVE_ALL)
        assert latency in (pytest.approx(looks * 20.07), pytest.approx((looks - 1) * 20.07))


def test_the_test_grows_with_the_way(study: Study) -> None:
    """By links, as Experiment III prices one; with a test that looks at streams alone the ways make no difference."""
    means = [time_of_the_test(study, path, {}) for path in PATHS.values()]
    assert means[0] < means[1] < means[2]
    test = {**testbed.fit(study)["test"], "links": 0}
    flat = [time_of_the_test(study, path, {"test": test}) for path in PATHS.values()]
    # What is read off the instants of messages has their time on the lines in it, too.
    assert max(flat) - min(flat) < 0.03 < means[2] - means[0]


def time_of_the_test(study: Study, path: tuple[str, str], harts: dict[str, object]) -> float:
    """The ACMaster's test of F7 without noise, milliseconds."""
    made = testbed.scenario(study, "harts", [{**testbed.stream(study, "F7", path=path), "jitter_ns": 0}], harts=harts)
    quiet = {**made["harts"]["test"], "noise_permille": 0, "slow_permille": 0}
    made["harts"]["test"] = quiet
    return min(run["requests"][0]["test_ns"] for run in testbed.outcomes(made, 3)) / 1e6


@pytest.mark.parametrize("name", ["I", "III"])
def test_the_limit_of_mrpdus_makes_avb_slow(study: Study, name: str) -> None:
    asked = requests(study, name)
    start = {"warm_up_ns": 0} if name == "I" else {}
    means = [
        float(
            sensitivity.short(study, "AVB", asked, count=20, load=BACKGROUND, avb={**start, "limited": limited}).mean()
        )
        for limited in (True, False)
    ]
    published = sensitivity.published_mean(study, name, "AVB")
    assert means[0] > 1.15 * published > 1.15 * means[1], "what is beyond 20 % is gone without the limit"


def test_disjoint_paths_meet_in_the_limit_alone(study: Study) -> None:
    rows = {row["setting"]: float(row["mean"]) for row in sensitivity.disjoint(study) if row["protocol"] == "AVB"}
    assert rows["both"] > 1.5 * rows["alone"]
    assert rows["both, no limit of MRPDUs"] < 1.1 * rows["alone, no limit of MRPDUs"]
