"""Table 1 as a checklist: every cell is asked of a run, not read from the code's documentation.

Cells that no run of these machines could show otherwise are named in ``CONSTRUCTED``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harts_runs import BACKGROUND, f7, installed
from harts_testbed import outcomes, scenario, stream
from tautwire.claims import Study

PROTOCOLS = {"HaRTES": "harts", "AVB": "avb"}


def one(study: Study, protocol: str, requests: list[dict[str, Any]], **other: Any) -> dict[str, Any]:
    """One run, beside F1 and F8, which block and which the ACMaster's test knows."""
    return outcomes(scenario(study, PROTOCOLS[protocol], requests, load=BACKGROUND, **other), 1)[0]


def architecture(study: Study, protocol: str) -> str:
    """Who tests a request over three switches: one master, or every switch."""
    tests = max(run["tests"] for run in f7(study, protocol, ("N1", "N2")))
    return "Centralized" if tests == 1 else "Distributed" if tests >= 3 else f"{tests} tests"


def execution(study: Study, protocol: str) -> str:
    """How often a request over three switches is tested."""
    tests = max(run["tests"] for run in f7(study, protocol, ("N1", "N2")))
    return "Once" if tests == 1 else "2xSwitch" if tests == 6 else f"{tests} tests"


def view(study: Study, protocol: str) -> str:
    """Whether streams that pass other switches alone are looked at: by what they add to a test or a bridge's [T]."""
    far = [{**replica, "talker": "N2", "listener": "N5"} for replica in installed(study, 14)]
    request = [stream(study, "F7", path=("N1", "N3"))]
    alone, beside = one(study, protocol, request), one(study, protocol, request, installed=far)
    times = [time_of_a_test(run["requests"][0]) for run in (alone, beside)]
    return "Complete" if times[1] > 1.3 * times[0] else "Local"


def time_of_a_test(request: dict[str, Any]) -> int:
    """The ACMaster's test, or the time that the first bridge takes over a talker's declaration, nanoseconds."""
    at = request["bridges"][0] if "bridges" in request else None
    taken: int = request["test_ns"] if at is None else at["talker_out_ns"] - at["talker_in_ns"]
    assert taken > 0, "somebody tests"
    return taken


def channel(study: Study, protocol: str) -> str:
    """Whether what control messages have can be chosen: HaRTES's channel in octets, where AVB has the limit of MRP."""
    six = [{**stream(study, "F7", path=("N1", "N2")), "name": f"S{n}"} for n in range(6)]
    wide, narrow = (one(study, protocol, six, harts={"control_octets": octets}) for octets in (800, 100))
    same = [r["latency_ns"] for r in wide["requests"]] == [r["latency_ns"] for r in narrow["requests"]]
    return "Predefined" if same else "Custom"


def looks_back(study: Study, protocol: str) -> str:
    """Whether a request is refused for what it does to a stream in place, which has little time left."""
    tight = {**stream(study, "F4", path=("N3", "N2")), "name": "tight", "deadline_ns": 330_000}
    many = [{**stream(study, "F7"), "name": f"S{n}", "payload": 120, "deadline_ns": 50_000_000} for n in range(5)]
    for number, request in enumerate(many):
        request["at_ns"] = number * 1_000_000_000
    run = one(study, protocol, many, installed=[tight])
    return "All streams" if not all(request["granted"] for request in run["requests"]) else "Requested stream"


def scope(study: Study, protocol: str) -> str:
    """Whether a test looks at whole ways: a deadline that two links keep and four do not, each of them alone."""
    answers = []
    for path in (("N1", "N3"), ("N1", "N2")):
        request = {**stream(study, "F7", path=path), "deadline_ns": 100_000}
        answers.append(one(study, protocol, [request])["requests"][0]["granted"])
    assert answers[0], "a way of two links is short enough"
    return "Local" if answers[1] else "Holistic"


def classification(study: Study, protocol: str) -> str:
    """Whether two streams that differ in their deadlines alone can have different answers."""
    answers = set()
    for deadline in (100_000, 2_000_000):
        request = {**stream(study, "F7"), "deadline_ns": deadline}
        answers.add(one(study, protocol, [request])["requests"][0]["granted"])
    return "Stream-oriented" if len(answers) == 2 else "Class-oriented"


CELLS: dict[str, Callable[[Study, str], str]] = {
    "architecture": architecture,
    "network_view": view,
    "control_channel": channel,
    "test_execution": execution,
    "test": scope,
    "traffic_evaluated": looks_back,
    "traffic_classification": classification,
}

#: Cells that a run of these machines cannot show otherwise, and why.
CONSTRUCTED = {
    ("AVB", "network_view"): "a bridge's time is drawn from one distribution, whatever stands",
    ("AVB", "control_channel"): "the run has no parameter for it: HaRTES's is changed, which AVB does not read",
    ("AVB", "architecture"): "a test is counted at each bridge that a declaration reaches",
    ("AVB", "test_execution"): "a test is counted for each declaration that comes in",
}


def checklist(study: Study) -> list[dict[str, str]]:
    """Every cell: what is printed, and what is found."""

    def make() -> list[dict[str, str]]:
        rows = []
        for row in study.table("table1_qualitative"):
            found = CELLS[row["metric"]](study, row["protocol"])
            told = {"protocol": row["protocol"], "feature": row["metric"], "printed": row["value"], "found": found}
            asked = (CELLS[row["metric"]].__doc__ or "").strip()
            constructed = CONSTRUCTED.get((row["protocol"], row["metric"]), "")
            rows.append({**told, "asked": asked, "by construction": constructed})
        return rows

    return study.once("table1", make)
