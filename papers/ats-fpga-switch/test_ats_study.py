"""The study's parts that need no long run, and what its files say."""

import csv
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import components  # noqa: E402
import experiments  # noqa: E402
import hardware  # noqa: E402
import hardware_components  # noqa: E402
import hardware_experiments  # noqa: E402
import hardware_features  # noqa: E402
import numpy as np  # noqa: E402
import scenarios  # noqa: E402
import shaping  # noqa: E402
import tautwire  # noqa: E402
from measure import runs_of, told  # noqa: E402
from tautwire.claims import Basis, Missing, Study, run  # noqa: E402


def test_expected_verdicts_are_those_of_the_record(study: Study) -> None:
    verdicts = {id: said.verdict.value for id, said in study.expected().items()}
    assert Counter(verdicts.values())["not testable"] == 3
    assert [id for id, verdict in verdicts.items() if verdict == "not testable"] == ["ATS-38", "ATS-39", "ATS-42"]
    refuted = [id for id, verdict in verdicts.items() if verdict == "refuted"]
    assert refuted == ["ATS-08", "ATS-09", "ATS-20", "ATS-21", "ATS-32", "ATS-34"]


@pytest.mark.parametrize("table", list(components.TABLES))
def test_the_device_file_is_the_fit(study: Study, table: str) -> None:
    """The fit, done again on the rows of 64 and 1500 B, is what the device file says."""
    if table == "table4_ats_pmd50":
        table = "table2_ats_pmd0"
    fit = {name: components.line(components.cycles(study, table), name) for name in components.COMPONENTS}
    model = components.components(study, table)
    assert {name: components.fitted(fit, name) for name in model} == model


def test_the_constant_of_table_4_places_the_arrival_time(study: Study) -> None:
    """Totals of Table 4 are 32p + 938 + PMD: what is not after the arrival time is before it."""
    slope, constant = components.line(components.cycles(study, "table4_ats_pmd50"), "total_ns")
    stages = components.one_frame(7, 1500, 0).network().device("switch")["stages"]
    beside = [stage["latency"] for stage in stages if stage["position"] != "processing"]
    # Frame and preamble on the wire, then all stages but those between arrival time and queue.
    octets = 4 * sum(one["per_octet_ps"] for one in beside) / 1000
    said = 8 * (4 + 8) + octets + sum(one["constant_ps"] - one["less_ps"] for one in beside) / 1000
    assert (slope, constant - 50_000) == (8 + sum(one["per_octet_ps"] for one in beside) / 1000, said)


def test_a_changed_table_is_noticed(study: Study) -> None:
    rows = components.cycles(study, "table2_ats_pmd0")
    assert components.missed_rows(rows) == []
    rows[700]["fdb"] += 1
    assert components.missed_rows(rows) == ["fdb at 700 B"]


def test_exact_claims_in_short(study: Study) -> None:
    """Claims that take no time are run here too, so that a change is seen without the whole study."""
    quick = ["ATS-02", "ATS-03", "ATS-04", "ATS-09", "ATS-10", "ATS-14", "ATS-20", "ATS-21", "ATS-22"]
    quick += ["ATS-36", "ATS-37", "ATS-40"]
    wrong = [one.outcome for one in run(study, only=quick) if not one.as_expected]
    assert wrong == []


def test_scenarios_are_those_that_the_study_runs() -> None:
    """The files are for reading and for the command; the study makes the same in code."""
    for name, text in scenarios.texts().items():
        assert (FOLDER / "scenarios" / name).read_text(encoding="utf-8") == text, f"run {scenarios.__file__}"
    assert sorted(path.name for path in (FOLDER / "scenarios").glob("*.yaml")) == sorted(scenarios.texts())


@pytest.mark.parametrize("path", sorted((FOLDER / "scenarios").glob("*.yaml")), ids=lambda path: path.stem)
def test_observations_keep_within_bounds(path: Path) -> None:
    result = tautwire.verify(path, duration="50 ms")
    assert result.contradictions == []


def test_beats_are_those_of_the_fit() -> None:
    """3500 frames of 10 ms slip by one interval of the load generator."""
    slip_ns = experiments.DRIFT_PPB * 1e-9 * experiments.MEASURED_INTERVAL_NS
    assert 3500 * slip_ns == pytest.approx(1_000_000, rel=1e-3)


@pytest.mark.parametrize(("figure", "level", "printed"), [(20, 900, 4310), (21, 300, 4930)])
def test_deviations_that_are_not_met(figure: int, level: int, printed: float) -> None:
    """One beat tells: ATS-32 and ATS-34 are missed by more than the tolerance, from below."""
    deviation = experiments.contention(figure, level, 3500)["told_sd"]
    assert 0.5 * printed < deviation < 0.9 * printed


def test_no_order_of_emission_makes_the_residence_time_decide() -> None:
    """Orders that keep both rates at 134 us keep them at 60 us too; those that do not, lose them at 134 us."""
    for row in shaping.ORDERS:
        rates = {limit: shaping.group_rates(limit, row) for limit in (60_000, 134_217.728)}
        keeps = {limit: slow > 99.5 and fast > 199 for limit, (slow, fast) in rates.items()}
        assert keeps[60_000] == keeps[134_217.728] == (row <= 4), (row, rates)


def test_time_stamps() -> None:
    """What the description says of the cards is what they tell."""
    found = experiments.plget(1500, 5_000, 100, seed=1)
    assert found["exact_mean"] == 98_938
    assert found["mean"] == pytest.approx(98_938, abs=15)
    assert found["sd"] == pytest.approx(216, rel=0.05)
    observation = tautwire.simulate(experiments.shaped_bed(100, 0.5).network())
    intervals = told(observation, "flow", "interval")
    # 121.760 us by a clock that runs 50 ppm slow.
    assert (intervals.least, intervals.greatest) == (121_752, 121_760)
    assert intervals.mean == pytest.approx(121_760 * (1 - 50e-6), abs=0.1)


@pytest.mark.parametrize("id", ["ATS-14", "ATS-16", "ATS-17", "ATS-18"])
def test_what_was_read_off_the_figures_is_told_with_the_value_that_turns_it(study: Study, id: str) -> None:
    """Each says what it rests on, is called calibrated, and is not met under every other value that is named."""
    (found,) = run(study, only=[id])
    assert found.as_expected and found.basis is Basis.CALIBRATED and found.outcome.rests_on
    assert found.outcome.holds and found.outcome.flips
    assert [flip.value for flip in found.outcome.flips if flip.holds] == []


def test_the_experiments_on_the_rtl_are_left_out_without_verilator(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name; with all that runs them, nothing is missing but what is."""
    monkeypatch.setattr(hardware_experiments, "NEEDED", {"csv": "never missing"})
    monkeypatch.setattr(hardware_experiments.shutil, "which", lambda name: name if name == "g++" else None)
    assert hardware_experiments.absent() == ""
    monkeypatch.setattr(hardware_experiments, "NEEDED", {"no_such_package": "Verilator"})
    with pytest.raises(Missing, match=r"^Verilator is missing$"):
        hardware.tell_experiments(study)
    monkeypatch.setattr(hardware_experiments.shutil, "which", lambda name: None)
    assert hardware_experiments.absent() == "Verilator and a C++ compiler are missing"


def test_stretches() -> None:
    flags = np.array([True] * 5 + [False] * 4 + [True] * 2)
    assert runs_of(flags, gap=0) == [(True, 5), (False, 4), (True, 2)]
    assert runs_of(flags, gap=4) == [(True, 11)]


def test_data_holds_no_empty_value() -> None:
    for path in (FOLDER / "data").glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                assert all(value for key, value in row.items() if key != "note"), (path.name, row)


def test_block_memory_of_the_engine_grows_with_its_schedulers() -> None:
    _, *rows = hardware_components.schedulers(hardware.figures())
    counts, blocks = [int(row[0]) for row in rows], [float(row[1]) for row in rows]
    assert counts == sorted(counts) and blocks == sorted(blocks)
    # A block for 204 schedulers at the published 512, and no more for each of many more (ATS-39).
    assert blocks[1] == 2.5 and blocks[-1] / counts[-1] <= 1 / 256


def test_the_page_of_the_area_tells_the_same_of_table_5(study: Study) -> None:
    page = (FOLDER.parents[1] / "docs" / "hardware" / "area.md").read_text(encoding="utf-8")
    head, *rows = hardware_components.resources(study, hardware.figures())
    parts = {name.lower(): [row[head.index(name)] for row in rows if "small" not in row[0]] for name in head[1:]}
    found = re.findall(r"^\| (\w[\w ]*?)[:,] [^|]+\| ([\d. |]+) \|$", page, re.MULTILINE)
    assert {name.lower(): [cell.replace(" ", "") for cell in cells.split(" | ")] for name, cells in found} == parts


def test_features_are_where_the_lists_of_files_have_them() -> None:
    heading, *rows = hardware_features.rows()
    assert len({row[0] for row in rows}) == len(rows) == len(hardware_features.FEATURES)
    for feature, row in zip(hardware_features.FEATURES, rows, strict=True):
        name, published, bitstream, rtl, simulated = row
        # Of what has a module or a page there is one: a wrong name would leave a cell empty.
        assert bool(rtl) == bool(feature.module) and bool(simulated) == bool(feature.page), name
        assert published == "" or bitstream == "yes", name
    by_name = {row[0]: dict(zip(heading, row, strict=True)) for row in rows}
    assert by_name["asynchronous traffic shaping"]["in RTL"] == "in the switch"
    for name in ("stream gates and meters", "elimination of duplicates", "preemption"):
        assert by_name[name]["in RTL"] == by_name[name]["by bitstream (not run)"] == ""
        assert by_name[name]["in simulation"] == "yes"
    # What is only a module is in no bitstream.
    assert all(row[2] == "" for row in rows if row[3] != "in the switch")
