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
    assert lines[-1] == "some-study: 1 confirmed, 1 refuted, 1 not testable"
    assert "NOT AS EXPECTED" not in "\n".join(lines)
    assert (tmp_path / "out" / "findings.csv").read_text().startswith("claim,verdict,basis,paper,here\nT-01,confirmed")


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
