"""Schedules of a network: by the searches of Tautwire or by CP-SAT, proven by bounds and held against a run."""

from __future__ import annotations

import functools
import importlib.util
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tautwire import cp_sat
from tautwire.errors import TautwireError, UnknownNameError

if TYPE_CHECKING:
    from tautwire.network import Network

__all__ = ["Method", "SolverError", "schedule"]

Method = Literal["search", "cp-sat"]


class SolverError(TautwireError):
    """A solver that is not installed, or that does not do what is asked.

    Examples
    --------
    >>> raise SolverError("OR-Tools is not installed", code="schedule::cp-sat", help="pip install 'tautwire[cp-sat]'")
    Traceback (most recent call last):
    tautwire.schedules.SolverError: OR-Tools is not installed
    """


@dataclass(frozen=True)
class How:
    """The parameters of :meth:`tautwire.Network.schedule`."""

    keep: bool
    precision: str
    at: str | None
    method: Method
    limit: float
    least_delay: bool


def schedule(network: Network, how: How) -> tuple[dict[str, Any], str | None]:
    """The schedule of :meth:`tautwire.Network.schedule`, and the text of the description with it."""
    questions: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    search = None
    if how.method == "cp-sat":
        solve = functools.partial(cp_sat.solve, limit=how.limit, least_delay=how.least_delay)
        search = _asked(solve, questions, answers)
        if how.at is not None:
            raise SolverError("a change in a run is found by `search` alone", code="schedule::cp-sat")
        if importlib.util.find_spec("ortools") is None:
            help = "pip install 'tautwire[cp-sat]'"
            raise SolverError("OR-Tools is not installed", code="schedule::cp-sat", help=help)
    elif how.method != "search":
        raise SolverError(f"`{how.method}` is neither `search` nor `cp-sat`", code="schedule::method")
    try:
        found, text = network.core().schedule(keep=how.keep, precision=how.precision, at=how.at, search=search)
    except ValueError as error:
        raise UnknownNameError(str(error), code="schedule::none") from error
    schedule = json.loads(found)
    if answers and "conflict" not in schedule:
        schedule["conflict"] = _named(questions[-1], answers[-1]["conflict"])
    return schedule, text


def _asked(solve: Any, questions: list[dict[str, Any]], answers: list[dict[str, Any]]) -> Any:
    """A search that keeps what it was asked and what it answered."""

    def search(question: str) -> str:
        answer: str = solve(question)
        questions.append(json.loads(question))
        answers.append(json.loads(answer))
        return answer

    return search


def _named(question: dict[str, Any], conflict: dict[str, Any] | None) -> dict[str, Any] | None:
    if conflict is None:
        return None
    return {"streams": [question["flows"][flow]["name"] for flow in conflict["flows"]], "proven": conflict["proven"]}


def held(scheduled: Network) -> dict[str, Any]:
    """What a run of a network with its schedule shows, beside its bounds.

    Raises
    ------
    SolverError
        A frame is later than its bound, or lost where none can be: a fault of Tautwire.
    """
    from tautwire.computing import verify

    verified = verify(scheduled)
    if verified.contradictions:
        text = "; ".join(verified.contradictions)
        raise SolverError(f"the run contradicts the proof of the schedule: {text}", code="schedule::contradiction")
    listeners = [
        (stream["name"], listener) for stream in verified.summary["streams"] for listener in stream["listeners"]
    ]
    return {
        "verdict": verified.verdict,
        "delivered": sum(one["observed"]["count"] for _, one in listeners if one.get("observed")),
        "not_proven": sorted({name for name, one in listeners if one["verdict"] not in ("proven", "no-requirement")}),
    }
