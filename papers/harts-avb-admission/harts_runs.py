"""The runs that claims share: scenarios I to III and experiments I to III, for both protocols."""

from __future__ import annotations

from typing import Any

import numpy as np
from harts_testbed import Varied, latencies, outcomes, scenario, statistics, stream
from tautwire.claims import Study

#: How far requests are apart that share no queue of HaRTES, milliseconds.
APART_MS = 25
SIX = ("F2", "F3", "F4", "F5", "F6", "F7")
SEQUENCE = ("F2", "F5", "F6", "F7", "F3", "F4")
GROUPS = (("F5", "F3", "F4"), ("F2", "F6", "F7"))
PROTOCOLS = {"HaRTES": "harts", "AVB": "avb"}
PATHS = {2: ("N1", "N3"), 3: ("N1", "N4"), 4: ("N1", "N5")}
#: Experiment II: payload and load; periods make the load with 42 octets beside the payload.
LOADS = [(256, 50), (256, 90), (1000, 50), (1000, 90)]


#: F1 and F8, broadcasts of 256 octets of data every 250 us by N1 and by N4, on every link in Scenarios I to III.
BACKGROUND: dict[str, Any] = {
    "packets_per_second": 8000,
    "streams": [("F1", "N1", 256, 250_000), ("F8", "N4", 256, 250_000)],
}
#: What F1 and F8 take of the bridges' processors, without their frames on the lines. Those are most of what a run costs
#: and delay a message by microseconds: sweeps over AVB's times leave them out in Scenarios II and III. In Scenario I,
#: where bridges are at their limit, microseconds decide which message is the fourth.
ON_PROCESSORS: dict[str, Any] = {**BACKGROUND, "streams": []}
#: How far requests are apart that come one after the other in Scenario II, and the groups of Scenario III,
#: milliseconds. For AVB as the paper has it. HaRTES has answered long before, and the rest of the time nothing
#: happens that it knows of: these are whole cycles, and a test holds that the paper's distances give the same
#: latencies within 0.05 ms.
GAPS_MS = {"AVB": {"II": 1_000, "III": 10_000}, "HaRTES": {"II": APART_MS, "III": 4 * APART_MS}}
#: Before any LeaveAll of a port: they are 10 s apart at least.
BEFORE_LEAVE_ALL = {"warm_up_ns": 4_000_000_000}


def samples(study: Study, full: int) -> int:
    """200 by default, the published number under FULL=1."""
    return full if study.full else 200


def requests(study: Study, name: str, protocol: str = "AVB") -> list[dict[str, Any]]:
    """The requests of scenario I, II or III."""
    if name == "I":
        return [stream(study, one) for one in SIX]
    if name == "II":
        return one_by_one(study, GAPS_MS[protocol][name])
    gap = GAPS_MS[protocol][name]
    return [stream(study, one, at_ms=gap * group) for group, streams in enumerate(GROUPS) for one in streams]


def one_by_one(study: Study, apart_ms: float) -> list[dict[str, Any]]:
    """The six, each so long behind the one before it."""
    return [stream(study, one, at_ms=apart_ms * place) for place, one in enumerate(SEQUENCE)]


def swept_load(name: str) -> dict[str, Any]:
    """The load of a scenario in sweeps over AVB's times."""
    return BACKGROUND if name == "I" else ON_PROCESSORS


def table3_run(study: Study, name: str, protocol: str, part: int = 1, **other: Any) -> list[dict[str, Any]]:
    """All runs of a scenario, or a part, beside F1 and F8. In scenario I the nodes ask as the network starts."""
    beside = swept_load(name) if isinstance(study, Varied) else BACKGROUND
    other = {"load": beside, "requests": requests(study, name, protocol), **other}
    if name == "I" and protocol == "AVB":
        other = {**other, "avb": {"warm_up_ns": 0, **other.get("avb", {})}}

    def make() -> list[dict[str, Any]]:
        made = scenario(study, PROTOCOLS[protocol], **other)
        return outcomes(made, samples(study, 1000) // part)

    return study.once(f"{name}-{protocol}-{part}-{sorted(other.items(), key=str)}", make)


def scenario_statistics(study: Study, name: str, protocol: str, **other: Any) -> dict[str, dict[str, float]]:
    """Least, mean, greatest and deviation of every stream."""
    runs = table3_run(study, name, protocol, **other)
    return {one: statistics(values) for one, values in sorted(latencies(runs).items())}


def f7(study: Study, protocol: str, path: tuple[str, str], **other: Any) -> list[dict[str, Any]]:
    """Requests for F7 alone over a path."""

    def make() -> list[dict[str, Any]]:
        made = scenario(study, PROTOCOLS[protocol], [stream(study, "F7", path=path)], **other)
        return outcomes(made, samples(study, 2000))

    return study.once(f"f7-{protocol}-{path}-{sorted(other.items(), key=str)}", make)


def f7_values(study: Study, protocol: str, path: tuple[str, str], **other: Any) -> np.ndarray:
    """Its latencies."""
    return latencies(f7(study, protocol, path, **other))["F7"]


def load(payload: int, percent: int) -> dict[str, Any]:
    """Experiment II's interfering traffic, broadcast by N3 on lines of 100 Mbit/s; 38 octets beside the payload."""
    frame_ns = (payload + 38) * 80
    streams = [("interferer", "N3", payload, round(frame_ns * 100 / percent))]
    return {"packets_per_second": round(percent / 100 * 1e9 / frame_ns), "streams": streams}


def loaded(study: Study, protocol: str, payload: int, percent: int) -> np.ndarray:
    """Latencies of F7 from N1 to N2 beside that traffic; none for 0 %."""
    other = {"load": load(payload, percent)} if percent else {}
    return f7_values(study, protocol, ("N1", "N2"), **other)


def standing(study: Study, protocol: str, path: tuple[str, str], count: int, **other: Any) -> np.ndarray:
    """Latencies of F7 over a path beside replicas that stand already."""
    return f7_values(study, protocol, path, installed=installed(study, count), **other)


def installed(study: Study, count: int) -> list[dict[str, Any]]:
    """Replicas of F4 and F5."""
    replicas = [stream(study, ("F4", "F5")[number % 2]) for number in range(count)]
    return [{**replica, "name": f"P{number}"} for number, replica in enumerate(replicas)]
