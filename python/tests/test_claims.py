"""The runner of published evaluations, on studies made here."""

from pathlib import Path

import pytest

from tautwire import claims
from tautwire.claims import Basis, Study, Verdict

STUDY = """
from tautwire.claims import Basis, Outcome, claim

@claim("T-01", Basis.PREDICTED)
def answer(study):
    value = study.number("N001")
    return Outcome("42", f"{value:.0f}", value == 42)

@claim("T-02", Basis.CALIBRATED)
def other(study):
    return Outcome("1", "2", False)

@claim("T-04", Basis.PREDICTED)
def broken(study):
    raise ArithmeticError("lost")
"""


def make(folder: Path, verdicts: str) -> Path:
    study = folder / "some-study"
    (study / "data").mkdir(parents=True)
    (study / "study.py").write_text(STUDY)
    (study / "data" / "claims.csv").write_text("claim,statement,place\nT-01,a,I\nT-02,b,II\nT-03,c,III\nT-04,d,IV\n")
    (study / "data" / "numbers.csv").write_text("id,value\nN001,42\n")
    (study / "verdicts.csv").write_text("claim,verdict,basis,reason\n" + verdicts)
    return study


AS_IS = "T-01,confirmed,predicted,\nT-02,refuted,calibrated,\nT-03,not testable,-,no hardware\n"


def test_verdicts_as_expected_end_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = make(tmp_path, AS_IS)
    only = ["--only", "T-01", "T-02", "T-03"]
    assert claims.main([str(study), "--out", str(tmp_path / "out"), *only]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "some-study: 1 confirmed, 1 refuted, 0 not reproduced, 1 not testable"
    assert "NOT AS EXPECTED" not in "\n".join(lines)
    assert (
        (tmp_path / "out" / "findings.csv")
        .read_text()
        .startswith("claim,verdict,basis,paper,here,rests_on,otherwise\nT-01,confirmed")
    )


def test_what_was_expected_otherwise_at_first_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = make(tmp_path, AS_IS)
    (study / "data" / "first_verdicts.csv").write_text("claim,verdict\nT-01,confirmed\nT-02,confirmed\nT-03,refuted\n")
    only = ["--only", "T-01", "T-02", "T-03"]
    assert claims.main([str(study), "--out", str(tmp_path / "out"), *only]) == 0
    told = {part[:4]: part for part in capsys.readouterr().out.split("\nT-0")}
    said = [line.strip() for part in told.values() for line in part.splitlines() if "at first" in line]
    assert said == ["expected at first: confirmed", "expected at first: refuted"]
    assert "at first" not in told["T-01"]


def test_the_published_number_of_samples_may_have_a_verdict_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = ["--only", "T-01", "T-02", "T-03"]
    as_found, otherwise = (make(tmp_path / name, AS_IS) for name in ("as-found", "otherwise"))
    for study, verdict in ((as_found, "confirmed"), (otherwise, "refuted")):
        rows = AS_IS.replace("T-01,confirmed,predicted,", f"T-01,confirmed,predicted,why,{verdict}")
        (study / "verdicts.csv").write_text("claim,verdict,basis,reason,full\n" + rows)
        assert claims.main([str(study), "--out", str(tmp_path / "out"), *only]) == 0
    monkeypatch.setenv("FULL", "1")
    assert claims.main([str(as_found), "--out", str(tmp_path / "out"), *only]) == 0
    assert claims.main([str(otherwise), "--out", str(tmp_path / "out"), *only]) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("T-01,confirmed", "T-01,refuted"),
        ("T-01,confirmed,predicted", "T-01,confirmed,calibrated"),
        ("T-02,refuted", "T-02,confirmed"),
        ("T-03,not testable,-,no hardware\n", ""),
    ],
)
def test_another_verdict_or_basis_fails(tmp_path: Path, old: str, new: str) -> None:
    study = make(tmp_path, AS_IS.replace(old, new))
    assert claims.main([str(study), "--out", str(tmp_path / "out"), "--only", "T-01", "T-02", "T-03"]) == 1


def test_no_study_is_wrong_usage(tmp_path: Path) -> None:
    assert claims.main([str(tmp_path)]) == 2


def test_a_claim_that_raises_is_never_as_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = make(tmp_path, AS_IS + "T-04,refuted,predicted,\n")
    assert claims.main([str(study), "--out", str(tmp_path / "out"), "--only", "T-04"]) == 1
    assert "ArithmeticError: lost" in capsys.readouterr().out
    (finding,) = claims.run(Study(study, tmp_path / "out"), only=["T-04"])
    assert (finding.outcome.verdict, finding.basis) == (Verdict.REFUTED, Basis.PREDICTED)
    assert not finding.as_expected


def test_a_claim_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    study = make(tmp_path, AS_IS)
    assert claims.main([str(study), "--only", "T-99"]) == 2


PRINTED = """
from tautwire.claims import Basis, Flip, Missing, Outcome, claim

@claim("T-01", Basis.PREDICTED)
def measured(study):
    return Outcome("42", "43", False, printed=True, rests_on="a guess", flips=(Flip("another", "42", True),))

@claim("T-02", Basis.PREDICTED)
def contradicted(study):
    return Outcome("more than 10; 6 in the table", "11", True, printed=False)

@claim("T-03", Basis.PREDICTED)
def by_arithmetic(study):
    return Outcome("1 + 1 = 3", "2", False)
"""


def other_study(folder: Path, text: str, verdicts: str) -> Path:
    """A study of three claims with other functions, and with a verdict for each."""
    study = make(folder, verdicts)
    (study / "study.py").write_text(text)
    (study / "data" / "claims.csv").write_text("claim,statement,place\nT-01,a,I\nT-02,b,II\nT-03,c,III\n")
    return study


def ending(study: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Exit code and lines of a complete run."""
    code = claims.main([str(study), "--out", str(study.parent / "out")])
    return code, capsys.readouterr().out.splitlines()


def test_what_was_measured_and_is_not_shown_is_told_from_what_print_contradicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    as_found = "T-01,not reproduced,predicted,\nT-02,refuted,predicted,\nT-03,refuted,predicted,\n"
    code, lines = ending(other_study(tmp_path, PRINTED, as_found), capsys)
    assert (code, lines[-1]) == (0, "some-study: 0 confirmed, 2 refuted, 1 not reproduced, 0 not testable")
    assert "  rests on: a guess" in lines and "  with another: agrees, 42" in lines


@pytest.mark.parametrize("said", ["T-01,refuted", "T-01,confirmed", "T-01,not testable"])
def test_refuted_for_not_reproduced_fails(tmp_path: Path, said: str) -> None:
    verdicts = f"{said},predicted,\nT-02,refuted,predicted,\nT-03,refuted,predicted,\n"
    assert claims.main([str(other_study(tmp_path, PRINTED, verdicts)), "--out", str(tmp_path / "out")]) == 1


def test_first_verdicts_have_one_word_for_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are from before there were two."""
    verdicts = "T-01,not reproduced,predicted,\nT-02,refuted,predicted,\nT-03,refuted,predicted,\n"
    study = other_study(tmp_path, PRINTED, verdicts)
    (study / "data" / "first_verdicts.csv").write_text("claim,verdict\nT-01,refuted\nT-02,confirmed\nT-03,refuted\n")
    lines = ending(study, capsys)[1]
    assert [line.strip() for line in lines if "at first" in line] == ["expected at first: confirmed"]


LEFT_OUT = """
from tautwire.claims import Basis, Missing, Outcome, claim

@claim("T-01", Basis.PREDICTED)
def runs(study):
    return Outcome("42", "42", True)

@claim("T-02", Basis.PREDICTED)
def needs(study):
    raise Missing("Verilator is missing")

def draw(study):
    \"""Figures.\"""
    study.output("figure").write_text("drawn")

def tell(study):
    \"""The hardware's tables.\"""
    raise Missing("Verilator is missing")

FINISH = (tell, draw)
"""
VERDICTS = "T-01,{},predicted,\nT-02,confirmed,predicted,\nT-03,not testable,-,no hardware\n"


def test_what_is_left_out_is_named_and_the_rest_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither equal in silence nor the end of the study: exit code 3, and all verdicts that need it not."""
    code, lines = ending(other_study(tmp_path, LEFT_OUT, VERDICTS.format("confirmed")), capsys)
    assert code == 3
    assert lines[-1] == "some-study: 1 confirmed, 0 refuted, 0 not reproduced, 1 not testable, 1 left out"
    assert "T-02  left out: Verilator is missing  b [II]" in lines
    assert "left out: Verilator is missing: The hardware's tables" in lines
    assert (tmp_path / "out" / "figure").read_text() == "drawn", "what comes behind is done all the same"
    assert "T-02,left out: Verilator is missing,predicted" in (tmp_path / "out" / "findings.csv").read_text()


def test_another_verdict_counts_more_than_what_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(other_study(tmp_path, LEFT_OUT, VERDICTS.format("refuted")), capsys)[0] == 1


def test_an_end_that_fails_hides_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = LEFT_OUT.replace('raise Missing("Verilator is missing")\n\nFINISH', "raise OSError('full')\n\nFINISH")
    code, lines = ending(other_study(tmp_path, text, VERDICTS.format("confirmed")), capsys)
    assert code == 1 and lines[-1].startswith("some-study: 1 confirmed")
    assert "NOT AS EXPECTED: OSError: full: The hardware's tables" in lines
