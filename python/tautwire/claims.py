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
    were written anew since. A claim that ends otherwise is marked. They are from before there was a
    verdict *not reproduced*, so *refuted* includes both.

``python -m tautwire.claims papers/<id>`` runs it, prints every claim and ends with the line
``<id>: N confirmed, M refuted, J not reproduced, K not testable``. It exits with 0 if and only if
every verdict and basis is the expected one; with 1 if one is another or a part of the study failed;
with 2 for wrong usage; with 3 if all that ran is as expected, but something was left out, because a
program that it needs is missing (:class:`Missing`). What was left out is named. The environment
variable ``FULL=1`` asks for the published number of samples.
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

__all__ = [
    "Basis",
    "Claim",
    "Expected",
    "Flip",
    "Missing",
    "Outcome",
    "Study",
    "Verdict",
    "claim",
    "main",
    "run",
]

T = TypeVar("T")


class Verdict(enum.Enum):
    """What became of a claim.

    ``REFUTED``: what the paper itself prints contradicts it, or arithmetic does. ``NOT_REPRODUCED``: it
    was measured, and the model does not show it; that is a property of the model.
    """

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REPRODUCED = "not reproduced"
    NOT_TESTABLE = "not testable"


class Basis(enum.Enum):
    """The basis of a verdict.

    ``PREDICTED``: nothing was read off the figure to make the model. ``CALIBRATED``: the model was
    fitted on it, or one of several readings was chosen with it in sight, so agreement proves little.
    ``BY_CONSTRUCTION``: the mechanism is built so, and the run shows that it was built right.
    ``NONE``: nothing was run.
    """

    PREDICTED = "predicted"
    CALIBRATED = "calibrated"
    BY_CONSTRUCTION = "by construction"
    NONE = "-"


class Missing(Exception):
    """A program that a claim, or a part of the end of a study, needs is not installed: it is left out."""


@dataclass(frozen=True)
class Flip:
    """What a claim's check gives under another value of what its verdict rests on.

    Parameters
    ----------
    value
        The other value, in words.
    ours
        What is found under it, with its figures.
    holds
        Whether that agrees with the paper.
    """

    value: str
    ours: str
    holds: bool


@dataclass(frozen=True)
class Outcome:
    """What a claim's function found.

    Parameters
    ----------
    paper
        The statement of the paper, with its figures.
    ours
        What was found here, with its figures.
    holds
        Whether the second agrees with the first; ``None`` if that is not known.
    printed
        Whether the figures that the paper prints meet the claim themselves: asked of them by the same
        check, or ``True`` for a fact that was observed and not printed in figures. ``None`` if arithmetic
        alone decides.
    rests_on
        What the verdict rests on, where something was chosen or read off the figures; empty if nothing was.
    flips
        What the check gives under other values of that.
    failed
        Whether the function ended by an exception: never as expected.
    """

    paper: str
    ours: str
    holds: bool | None
    printed: bool | None = None
    rests_on: str = ""
    flips: tuple[Flip, ...] = ()
    failed: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows.

        Examples
        --------
        >>> Outcome("12 ms", "12.05 ms", True).verdict
        <Verdict.CONFIRMED: 'confirmed'>
        >>> Outcome("more than 10 times; 6.3 in the table", "9.9 times", False, printed=False).verdict
        <Verdict.REFUTED: 'refuted'>
        >>> Outcome("60 % in the table", "41 %", False, printed=True).verdict
        <Verdict.NOT_REPRODUCED: 'not reproduced'>
        >>> Outcome("155 827 LUT", "no hardware", None).verdict
        <Verdict.NOT_TESTABLE: 'not testable'>
        """
        if self.holds is None:
            return Verdict.NOT_TESTABLE
        if self.printed is False:
            return Verdict.REFUTED
        if self.holds:
            return Verdict.CONFIRMED
        return Verdict.NOT_REPRODUCED if self.printed else Verdict.REFUTED


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
        """The expected verdicts; with ``full``, those of the column ``full`` where it has one."""
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
    # The study finds its helpers in its folder, and so do worker processes, which take over the path.
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
    """A claim, what was found, what was expected, and what was before the very first run if that is kept.

    ``left_out`` names what is missing, if the claim was not run because of that.
    """

    claim: Claim
    outcome: Outcome
    basis: Basis
    expected: Expected | None
    first: Verdict | None = None
    left_out: str = ""

    @property
    def changed(self) -> bool:
        """Whether another verdict was expected at first, when *refuted* stood for *not reproduced*, too."""
        once, now = self.first, self.outcome.verdict
        return once not in (None, now) and (once, now) != (Verdict.REFUTED, Verdict.NOT_REPRODUCED)

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
        is refuted, with the reason, and is never as expected; one that raises :class:`Missing` is left out.
    """
    tests = checks(load_module(study.folder))
    expected, first = study.expected(), study.first_expected()
    claims = [claim for claim in study.claims() if not only or claim.id in only]
    findings = []
    for number, one in enumerate(claims, 1):
        if progress is not None:
            print(f"[{number}/{len(claims)}] {one.id}", file=progress, flush=True)
        findings.append(examine(study, one, tests, expected.get(one.id), first.get(one.id)))
    return findings


def examine(
    study: Study, one: Claim, tests: Mapping[str, Check], expected: Expected | None, first: Verdict | None
) -> Finding:
    """What became of one claim."""
    test = tests.get(one.id)
    if test is None:
        outcome = Outcome(one.statement, expected.reason if expected else "nothing tests it", None)
        return Finding(one, outcome, Basis.NONE, expected, first)
    basis: Basis = test.basis  # type: ignore[attr-defined]
    try:
        return Finding(one, test(study), basis, expected, first)
    except Missing as missing:
        return Finding(one, Outcome(one.statement, "-", None), basis, expected, first, left_out=str(missing))
    except Exception as error:  # a study must not end at its first fault
        traceback.print_exc()
        outcome = Outcome(one.statement, f"{type(error).__name__}: {error}", False, failed=True)
        return Finding(one, outcome, basis, expected, first)


@dataclass(frozen=True)
class End:
    """What became of the end of a study, its figures and tables: what was left out, and what failed."""

    left_out: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


def finish(study: Study) -> End:
    """Runs the functions that ``study.py`` names in ``FINISH``, or its ``finish``; one that fails stops no other."""
    module = load_module(study.folder)
    alone: tuple[Callable[[Study], None], ...] = (module.finish,) if hasattr(module, "finish") else ()
    parts: Sequence[Callable[[Study], None]] = getattr(module, "FINISH", alone)
    left_out, failed = [], []
    for part in parts:
        name = (part.__doc__ or part.__name__).strip().splitlines()[0].rstrip(".")
        try:
            part(study)
        except Missing as missing:
            left_out.append(f"{missing}: {name}")
        except Exception as error:  # the verdicts are printed all the same
            traceback.print_exc()
            failed.append(f"{type(error).__name__}: {error}: {name}")
    return End(tuple(left_out), tuple(failed))


def summary_line(id: str, findings: Sequence[Finding]) -> str:
    """The closing line; claims that were left out are counted behind the rest, if there are any.

    Examples
    --------
    >>> summary_line("some-study", [])
    'some-study: 0 confirmed, 0 refuted, 0 not reproduced, 0 not testable'
    """
    verdicts = [finding.outcome.verdict for finding in findings if not finding.left_out]
    counts = [f"{verdicts.count(one)} {one.value}" for one in Verdict]
    left_out = len(findings) - len(verdicts)
    return f"{id}: {', '.join(counts + [f'{left_out} left out'] * bool(left_out))}"


def describe(finding: Finding) -> str:
    """A claim and what became of it, in a few lines.

    Examples
    --------
    >>> print(describe(Finding(Claim("X-01", "It is 42", "V"), Outcome("42", "43", False), Basis.PREDICTED, None)))
    X-01  refuted (predicted)  It is 42 [V]
      paper: 42
      here:  43
      NOT AS EXPECTED: verdicts.csv says nothing
    """
    outcome, one = finding.outcome, finding.claim
    if finding.left_out:
        return f"{one.id}  left out: {finding.left_out}  {one.statement} [{one.place}]"
    text = (
        f"{one.id}  {outcome.verdict.value} ({finding.basis.value})  {one.statement} [{one.place}]\n"
        f"  paper: {outcome.paper}\n  here:  {outcome.ours}"
    )
    if outcome.rests_on:
        text += f"\n  rests on: {outcome.rests_on}"
    for flip in outcome.flips:
        text += f"\n  with {flip.value}: {'agrees' if flip.holds else 'does not agree'}, {flip.ours}"
    if finding.changed:
        assert finding.first is not None
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
        writer.writerow(["claim", "verdict", "basis", "paper", "here", "rests_on", "otherwise"])
        for one in findings:
            outcome = one.outcome
            verdict = f"left out: {one.left_out}" if one.left_out else outcome.verdict.value
            otherwise = "; ".join(f"{flip.value}: {flip.ours}" for flip in outcome.flips)
            told = [outcome.paper, outcome.ours, outcome.rests_on, otherwise]
            writer.writerow([one.claim.id, verdict, one.basis.value, *told])


def exit_code(findings: Sequence[Finding], end: End) -> int:
    """0 if all is as expected, 1 if something is not, 3 if that is so of what ran and something was left out."""
    if end.failed or not all(finding.as_expected for finding in findings if not finding.left_out):
        return 1
    return 3 if end.left_out or any(finding.left_out for finding in findings) else 0


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
    end = End() if options.only else finish(study)
    for finding in findings:
        print(describe(finding))
    for text in end.left_out:
        print(f"left out: {text}")
    for text in end.failed:
        print(f"NOT AS EXPECTED: {text}")
    write_findings(study.output("findings.csv"), findings)
    seconds = time.monotonic() - start
    print(f"{study.id}: {seconds:.0f} s; figures and tables in {study.out}", file=sys.stderr)
    print(summary_line(study.id, findings))
    return exit_code(findings, end)


if __name__ == "__main__":
    # As the module that studies import, so that there is one `claim` and one `Basis`.
    from tautwire import claims

    sys.exit(claims.main())
