"""Published evaluations, re-run claim by claim.

A study is a folder ``papers/<id>`` with

``study.py``
    one function per claim, marked with :func:`claim`;
``data/claims.csv``
    columns ``claim, statement, place``: what is claimed and where;
``data/*.csv``
    what the paper prints;
``verdicts.csv``
    columns ``claim, verdict, basis, reason``: the verdict that is expected of each claim, written
    before the run;
``data/first_verdicts.csv``, if there is one
    columns ``claim, verdict``: the verdicts that were expected before the very first run, where some
    were written anew since. A claim that ends otherwise says so.

``python -m tautwire.claims papers/<id>`` runs it, prints every claim and ends with the line
``<id>: N confirmed, M refuted, K not testable``. It exits with 0 if and only if every verdict and
basis is the expected one. The environment variable ``FULL=1`` asks for the published number of
samples.
"""

from __future__ import annotations

import argparse
import csv
import enum
import importlib.util
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO, TypeVar

__all__ = ["Basis", "Claim", "Expected", "Outcome", "Study", "Verdict", "claim", "main", "run"]

T = TypeVar("T")


class Verdict(enum.Enum):
    """What became of a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_TESTABLE = "not testable"


class Basis(enum.Enum):
    """What a verdict rests on.

    ``PREDICTED``: the figure was not used to make the model. ``CALIBRATED``: the model was fitted on
    it, so that it agrees says nothing. ``BY_CONSTRUCTION``: the mechanism is built so, and the run
    shows that it was built right. ``NONE``: nothing was run.
    """

    PREDICTED = "predicted"
    CALIBRATED = "calibrated"
    BY_CONSTRUCTION = "by construction"
    NONE = "-"


@dataclass(frozen=True)
class Outcome:
    """What a claim's function found.

    Parameters
    ----------
    paper
        What the paper says, with its figures.
    ours
        What was found here, with its figures.
    holds
        Whether the second agrees with the first; ``None`` if it cannot be told.
    failed
        Whether the function ended by an exception: never as expected.
    """

    paper: str
    ours: str
    holds: bool | None
    failed: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows.

        Examples
        --------
        >>> Outcome("12 ms", "12.05 ms", True).verdict
        <Verdict.CONFIRMED: 'confirmed'>
        >>> Outcome("155 827 LUT", "no hardware", None).verdict
        <Verdict.NOT_TESTABLE: 'not testable'>
        """
        if self.holds is None:
            return Verdict.NOT_TESTABLE
        return Verdict.CONFIRMED if self.holds else Verdict.REFUTED


@dataclass(frozen=True)
class Claim:
    """A claim as ``data/claims.csv`` has it."""

    id: str
    statement: str
    place: str


@dataclass(frozen=True)
class Expected:
    """A line of ``verdicts.csv``, for the number of samples of a study."""

    verdict: Verdict
    basis: Basis
    reason: str


@dataclass
class Study:
    """A folder of a published evaluation, and what its claims share.

    Parameters
    ----------
    folder
        ``papers/<id>``.
    out
        Where figures and tables go; made when first written to.
    full
        Whether the published number of samples is to be used.
    """

    folder: Path
    out: Path
    full: bool = False
    memory: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        """The name of the study: that of its folder."""
        return self.folder.resolve().name

    def table(self, name: str) -> list[dict[str, str]]:
        """Rows of ``data/<name>.csv``, as text."""
        with open(self.folder / "data" / f"{name}.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def number(self, id: str) -> float:
        """A value of ``data/numbers.csv``."""
        return float(self.once("numbers", lambda: {row["id"]: row["value"] for row in self.table("numbers")})[id])

    def once(self, key: str, make: Callable[[], T]) -> T:
        """What ``make`` gives, made when first asked for and then remembered."""
        if key not in self.memory:
            self.memory[key] = make()
        value: T = self.memory[key]
        return value

    def output(self, name: str) -> Path:
        """A path in the output folder, which is made if need be."""
        self.out.mkdir(parents=True, exist_ok=True)
        return self.out / name

    def claims(self) -> list[Claim]:
        """All claims, in order."""
        return [Claim(row["claim"], row["statement"], row["place"]) for row in self.table("claims")]

    def expected(self) -> dict[str, Expected]:
        """The expected verdicts; with ``full``, those of the column ``full`` where it says one."""
        with open(self.folder / "verdicts.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {row["claim"]: Expected(self.verdict(row), Basis(row["basis"]), row["reason"]) for row in rows}

    def verdict(self, row: Mapping[str, str]) -> Verdict:
        """What a row of ``verdicts.csv`` expects with as many samples as this study takes."""
        return Verdict((self.full and row.get("full")) or row["verdict"])

    def first_expected(self) -> dict[str, Verdict]:
        """The verdicts that were expected before the very first run; none if no record of them is kept."""
        if not (self.folder / "data" / "first_verdicts.csv").is_file():
            return {}
        return {row["claim"]: Verdict(row["verdict"]) for row in self.table("first_verdicts")}


Check = Callable[[Study], Outcome]


def claim(id: str, basis: Basis) -> Callable[[Check], Check]:
    """Marks a function of a study as the test of a claim.

    Parameters
    ----------
    id
        The claim of ``data/claims.csv``.
    basis
        What its verdict rests on.

    Examples
    --------
    >>> @claim("X-01", Basis.PREDICTED)
    ... def answer(study: Study) -> Outcome:
    ...     return Outcome(paper="42", ours="42", holds=True)
    >>> answer.claim_id, answer.basis.value
    ('X-01', 'predicted')
    """

    def mark(function: Check) -> Check:
        function.claim_id = id  # type: ignore[attr-defined]
        function.basis = basis  # type: ignore[attr-defined]
        return function

    return mark


def load_module(folder: Path) -> ModuleType:
    """The module ``study.py`` of a folder.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    path = folder / "study.py"
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist")
    # The study finds its helpers beside it, and so do worker processes, which take over the path.
    sys.path.insert(0, str(folder.resolve()))
    spec = importlib.util.spec_from_file_location("study", path)
    assert spec is not None and spec.loader is not None, path
    module = importlib.util.module_from_spec(spec)
    sys.modules["study"] = module
    spec.loader.exec_module(module)
    return module


def checks(module: ModuleType) -> dict[str, Check]:
    """The claim functions of a study and of the modules it names in ``MODULES``, by claim."""
    found: dict[str, Check] = {}
    for one in (module, *getattr(module, "MODULES", ())):
        for value in vars(one).values():
            id = getattr(value, "claim_id", None)
            if isinstance(id, str):
                assert found.get(id) in (None, value), f"two functions test {id}"
                found[id] = value
    return found


@dataclass(frozen=True)
class Finding:
    """A claim, what was found, what was expected, and what was before the very first run if that is kept."""

    claim: Claim
    outcome: Outcome
    basis: Basis
    expected: Expected | None
    first: Verdict | None = None

    @property
    def as_expected(self) -> bool:
        """Whether verdict and basis are those written before the run."""
        return (
            self.expected is not None
            and not self.outcome.failed
            and self.expected.verdict is self.outcome.verdict
            and self.expected.basis is self.basis
        )


def run(study: Study, only: Sequence[str] = (), progress: TextIO | None = None) -> list[Finding]:
    """Runs the claims of a study, in the order of ``data/claims.csv``.

    Parameters
    ----------
    study
        The study.
    only
        Claims to run; all if empty.
    progress
        Where to say what is being run; nowhere if ``None``.

    Returns
    -------
    list of Finding
        One for each claim. A claim without a function is not testable; one whose function raises
        is refuted, says by what, and is never as expected.
    """
    module = load_module(study.folder)
    tests = checks(module)
    expected, first = study.expected(), study.first_expected()
    claims = [claim for claim in study.claims() if not only or claim.id in only]
    findings = []
    for number, one in enumerate(claims, 1):
        if progress is not None:
            print(f"[{number}/{len(claims)}] {one.id}", file=progress, flush=True)
        outcome, basis = examine(study, one, tests, expected)
        findings.append(Finding(one, outcome, basis, expected.get(one.id), first.get(one.id)))
    finish: Callable[[Study], None] | None = getattr(module, "finish", None)
    if finish is not None and not only:
        finish(study)
    return findings


def examine(
    study: Study, one: Claim, tests: Mapping[str, Check], expected: Mapping[str, Expected]
) -> tuple[Outcome, Basis]:
    """The outcome of one claim and what it rests on."""
    test = tests.get(one.id)
    if test is None:
        reason = expected[one.id].reason if one.id in expected else "nothing tests it"
        return Outcome(one.statement, reason, None), Basis.NONE
    basis: Basis = test.basis  # type: ignore[attr-defined]
    try:
        return test(study), basis
    except Exception as error:  # a study must not end at its first fault
        traceback.print_exc()
        return Outcome(one.statement, f"{type(error).__name__}: {error}", False, failed=True), basis


def summary_line(id: str, findings: Sequence[Finding]) -> str:
    """The closing line.

    Examples
    --------
    >>> summary_line("some-study", [])
    'some-study: 0 confirmed, 0 refuted, 0 not testable'
    """
    counts = ", ".join(
        f"{sum(finding.outcome.verdict is verdict for finding in findings)} {verdict.value}" for verdict in Verdict
    )
    return f"{id}: {counts}"


def describe(finding: Finding) -> str:
    """A claim and what became of it, in up to five lines.

    Examples
    --------
    >>> print(describe(Finding(Claim("X-01", "It is 42", "V"), Outcome("42", "43", False), Basis.PREDICTED, None)))
    X-01  refuted (predicted)  It is 42 [V]
      paper: 42
      here:  43
      NOT AS EXPECTED: verdicts.csv says nothing
    """
    outcome, one = finding.outcome, finding.claim
    text = (
        f"{one.id}  {outcome.verdict.value} ({finding.basis.value})  {one.statement} [{one.place}]\n"
        f"  paper: {outcome.paper}\n  here:  {outcome.ours}"
    )
    if finding.first is not None and finding.first is not outcome.verdict:
        text += f"\n  expected at first: {finding.first.value}"
    if finding.as_expected:
        return text
    said = finding.expected
    expected = f"{said.verdict.value} ({said.basis.value})" if said else "nothing"
    if finding.outcome.failed:
        return text + "\n  NOT AS EXPECTED: its function failed"
    return text + f"\n  NOT AS EXPECTED: verdicts.csv says {expected}"


def write_findings(path: Path, findings: Sequence[Finding]) -> None:
    """Writes the findings as CSV."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["claim", "verdict", "basis", "paper", "here"])
        for one in findings:
            writer.writerow(
                [one.claim.id, one.outcome.verdict.value, one.basis.value, one.outcome.paper, one.outcome.ours]
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m tautwire.claims``; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tautwire.claims", description="Re-runs a published evaluation, claim by claim."
    )
    parser.add_argument("folder", type=Path, help="papers/<id>")
    parser.add_argument("--out", type=Path, help="folder for figures and tables (runs/papers/<id>)")
    parser.add_argument("--only", nargs="+", default=[], metavar="CLAIM", help="claims to run")
    options = parser.parse_args(arguments)
    if not (options.folder / "data" / "claims.csv").is_file():
        print(f"{options.folder} is no study: it has no data/claims.csv", file=sys.stderr)
        return 2
    unknown = set(options.only) - {one.id for one in Study(options.folder, options.folder).claims()}
    if unknown:
        print(f"no claim {', '.join(sorted(unknown))} in {options.folder}", file=sys.stderr)
        return 2
    out = options.out or Path("runs") / "papers" / options.folder.resolve().name
    study = Study(options.folder, out, full=os.environ.get("FULL", "") not in ("", "0"))
    start = time.monotonic()
    findings = run(study, options.only, progress=sys.stderr)
    for finding in findings:
        print(describe(finding))
    write_findings(study.output("findings.csv"), findings)
    seconds = time.monotonic() - start
    print(f"{study.id}: {seconds:.0f} s; figures and tables in {study.out}", file=sys.stderr)
    print(summary_line(study.id, findings))
    return 0 if all(finding.as_expected for finding in findings) else 1


if __name__ == "__main__":
    # As the module that studies import, so that there is one `claim` and one `Basis`.
    from tautwire import claims

    sys.exit(claims.main())
