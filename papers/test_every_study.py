"""What the files of every study must say: its claims, a verdict for each, a function for each testable one."""

import re
from pathlib import Path

import pytest
from tautwire.claims import Study, Verdict, checks, load_module

#: Folder of a study, the letters of its claims, and how many there are.
STUDIES = {
    "ats-fpga-switch": ("ATS", 42),
    "harts-avb-admission": ("HAR", 47),
    "maps-ethernet": ("MAPS", 37),
    "openavnu-testbed": ("AVN", 17),
    "rtnet-tdma": ("RTN", 21),
}


@pytest.fixture(params=STUDIES)
def each(request: pytest.FixtureRequest, tmp_path: Path) -> Study:
    return Study(Path(__file__).parent / request.param, tmp_path)


def test_all_studies_are_here() -> None:
    assert {path.parent.name for path in Path(__file__).parent.glob("*/verdicts.csv")} == set(STUDIES)


def test_every_claim_of_the_record_has_a_verdict(each: Study) -> None:
    letters, count = STUDIES[each.folder.name]
    expected = [f"{letters}-{number:02d}" for number in range(1, count + 1)]
    assert list(each.expected()) == [claim.id for claim in each.claims()] == expected


def test_every_testable_claim_has_a_function_with_its_basis(each: Study) -> None:
    tests = checks(load_module(each.folder))
    expected = each.expected()
    testable = {id for id, said in expected.items() if said.verdict.value != "not testable"}
    assert testable <= set(tests) <= set(expected)  # what cannot be tested may still be measured
    assert {id: test.basis for id, test in tests.items()} == {id: expected[id].basis for id in tests}


def test_the_readme_closes_with_the_counts_of_the_verdicts(each: Study) -> None:
    """What the command ends with if every verdict is the expected one."""
    verdicts = [said.verdict for said in each.expected().values()]
    counts = ", ".join(f"{verdicts.count(one)} {one.value}" for one in Verdict)
    readme = (each.folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(rf"`({each.id}: \d[^`]*)`", readme) == [f"{each.id}: {counts}"]


def test_the_first_verdicts_are_of_the_same_claims(each: Study) -> None:
    """Those whose first verdict was another are named in the README, too."""
    first, readme = each.first_expected(), (each.folder / "README.md").read_text(encoding="utf-8")
    assert first.keys() == each.expected().keys() or not first
    changed = [id for id, said in each.expected().items() if first and first[id] is not said.verdict]
    assert [id for id in changed if id not in readme] == []


def test_the_readme_explains_every_shortfall(each: Study) -> None:
    readme = (each.folder / "README.md").read_text(encoding="utf-8")
    shortfalls = [id for id, said in each.expected().items() if said.verdict.value != "confirmed"]
    assert [id for id in shortfalls if id not in readme] == []
