"""The set-up: three switches in line, five nodes, the streams of Table 2, and times of processors.

Processing times are fitted on Experiment III alone. What that experiment does not show (handling of messages
in masters and nodes, packets in a bridge's processor) is stated here. The timers of AVB's end nodes are hypotheses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from harts_descriptions import LINE_NS, run_all
from tautwire.claims import Flip, Study

PLACES = {"N1": 0, "N3": 0, "N4": 1, "N2": 2, "N5": 2}
#: Deadlines of the classes, as IEEE 802.1BA promises for seven hops; the paper prints none.
DEADLINE_MS = {"A": 2, "B": 50}
#: Producer and consumer ask within this time of each other ("approximately the same time"), nanoseconds.
APART_NS = 300_000
#: Links of the streams of Experiment III: F7, and the replicas of F4 and F5.
LINKS = 4
#: Requests come anywhere between two LeaveAlls of a port, which are 10 to 15 s apart: 20 to 40 s behind the start.
WARM_UP_NS = 20_000_000_000
STATED = {"handling": 50, "relay": 100, "configure": 250, "node": 50}
#: How far apart captured independent implementations say a declaration again, nanoseconds; our bridges: at once.
REPEAT_NS = 100_000_000
#: End nodes of AVB, a hypothesis: they declare 100 ms after they are asked to, a talker looks every 20.07 ms.
HYPOTHESIS = {"join_ns": 100_000_000, "join": "after", "tick_ns": 20_070_000}
#: The standard's: a drawn part of a JoinTime of 200 ms; a talker is told.
STANDARD = {"join_ns": 200_000_000, "join": "random", "tick_ns": 0}
#: End nodes that do not wait: they declare at once, and a talker is told at once.
QUICK = {"join": "at-once", "tick_ns": 0}
Scenario = dict[str, Any]


@dataclass
class Varied(Study):
    """The study with other times of AVB in all of its runs."""

    avb: dict[str, Any] = field(default_factory=dict)


def flips(study: Study, *values: Callable[[], Flip]) -> tuple[Flip, ...]:
    """What a check gives under other values; a study that is varied itself has none."""
    return () if isinstance(study, Varied) else tuple(value() for value in values)


def stream(study: Study, name: str, *, at_ms: float = 0, path: tuple[str, str] | None = None) -> dict[str, Any]:
    """A request for a stream of Table 2, over another path if one is given."""
    row = next(row for row in study.table("table2_traffic") if row["stream"] == name)
    talker, listener = path or (row["source"], row["sink"])
    high = row["class"].endswith("A")
    return {
        "name": name,
        "talker": talker,
        "listener": listener,
        "payload": int(row["payload_bytes"]),
        "interval_ns": int(float(row["period_us"]) * 1000),
        "deadline_ns": DEADLINE_MS["A" if high else "B"] * 1_000_000,
        "priority": 3 if high else 2,
        "at_ns": round(at_ms * 1e6),
        "jitter_ns": APART_NS,
    }


def table5(study: Study, experiment: str, protocol: str) -> list[dict[str, Any]]:
    """Rows of Table 5, one for a condition, with their statistics."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in study.table("table5_experiments"):
        if (row["experiment"], row["protocol"]) == (experiment, protocol):
            one = rows.setdefault((row["component"], row["condition"]), dict(row))
            one[row["metric"]] = float(row["value_ms"])
    return list(rows.values())


def table3(study: Study) -> dict[tuple[str, str], dict[str, dict[str, float]]]:
    """Table 3: by scenario and protocol, by stream, by statistic."""
    found: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for row in study.table("table3_scenarios"):
        streams = found.setdefault((row["scenario"].split()[0], row["protocol"]), {})
        streams.setdefault(row["stream"], {})[row["metric"]] = float(row["value_ms"])
    return found


def spread(mean_us: float, deviation: float = 0, low: float | None = None, high: float | None = None) -> dict[str, int]:
    """A time that varies, in microseconds, as the run takes it."""
    low, high = (mean_us if low is None else low), (mean_us if high is None else high)
    values = {"mean_ns": mean_us, "deviation_ns": deviation, "min_ns": low, "max_ns": high}
    return {key: round(value * 1000) for key, value in values.items()}


def two_speeds(row: dict[str, Any]) -> tuple[float, float, float, float]:
    """Higher speed's time, factor of the lower, its share and the noise, from a row's mean, deviation, least, greatest.

    A test takes ``s`` with the chance ``1 - p`` and ``r s`` else, times a normal noise of deviation ``k / 3`` cut at
    ``k``: then ``s (1 - k)`` is the least, ``r s (1 + k)`` the greatest, and mean and deviation give ``p`` and ``k``.
    """
    least, mean, most, deviation = (row[key] for key in ("min", "mean", "max", "std_dev"))
    best: tuple[float, tuple[float, float, float, float]] | None = None
    for k in np.linspace(0.02, 0.3, 281):
        s = least / (1 - k)
        r = most / (s * (1 + k))
        p = (mean / s - 1) / (r - 1)
        if r <= 1 or not 0 <= p <= 1:
            continue
        square = s * s * (1 + (k / 3) ** 2) * (1 + p * (r * r - 1))
        apart = abs(math.sqrt(max(square - mean * mean, 0)) - deviation)
        if best is None or apart < best[0]:
            best = (apart, (s, r, p, k / 3))
    assert best is not None, "no two speeds give this row"
    return best[1]


def fit(study: Study) -> dict[str, Any]:
    """Processing times from Experiment III: the ACMaster's test, and the bridges' [T] and [L]."""

    def make() -> dict[str, Any]:
        tests = sorted(table5(study, "III", "HaRTES"), key=lambda row: int(row["installed_streams"]))
        _, factor, share, noise = two_speeds(tests[0])
        slowed = 1 + share * (factor - 1)
        # The row of n streams is that of n with F7 under test among them: n - 1 are installed before it.
        table = [[int(row["installed_streams"]) - 1, round(row["mean"] / slowed * 1e6)] for row in tests]
        bridges = table5(study, "III", "AVB")
        mean = {}
        for component in ("T", "L"):
            rows = [row for row in bridges if row["component"] == component]
            middle = float(np.mean([row["mean"] for row in rows])) * 1000
            deviation = float(np.mean([row["std_dev"] for row in rows])) * 1000
            low, high = min(row["min"] for row in rows) * 1000, max(row["max"] for row in rows) * 1000
            mean[component] = spread(middle, deviation, low, high)
        return {
            "test": {
                "table": table,
                "links": LINKS,
                "slow_permille": round(share * 1000),
                "slow_factor_permille": round(factor * 1000),
                "noise_permille": round(noise * 1000),
            },
            **mean,
        }

    return study.once("fit", make)


def scenario(study: Study, architecture: str, requests: Sequence[dict[str, Any]], **other: Any) -> Scenario:
    """A run's description; ``harts`` and ``avb`` among ``other`` change their times, the rest its parts."""
    times = fit(study)
    harts = {
        "cycle_ns": 125_000,
        "before_ns": 20_000,
        "control_octets": 200,
        **{key: spread(value, value / 10, value / 2, value * 2) for key, value in STATED.items()},
        # Always the same, so that what a test took can be read off the instants of messages.
        "handling": spread(STATED["handling"]),
        "test": times["test"],
        "acmaster_switch": 1,
        "replicated": False,
        "control_first": True,
    }
    avb = {
        **HYPOTHESIS,
        "listener_waits": True,
        "talker": times["T"],
        "listener": times["L"],
        "other": spread(500),
        "station": spread(1000, 200, 500, 2000),
        "packet_ns": 20_000,
        "reservations_max": 8,
        "limited": True,
        "bridge_join_ns": 200_000_000,
        "bridge_repeat_ns": 0,
        "warm_up_ns": WARM_UP_NS,
    }
    harts.update(other.pop("harts", {}))
    if isinstance(study, Varied):
        avb.update(study.avb)
    avb.update(other.pop("avb", {}))
    made: Scenario = {
        "architecture": architecture,
        "switches": 3,
        "links": [[0, 1], [1, 2]],
        "nodes": [{"name": name, "switch": switch} for name, switch in PLACES.items()],
        "installed": [],
        "requests": list(requests),
        "load": None,
        "harts": harts,
        "avb": avb,
    }
    made.update(other)
    return made


def outcomes(made: Scenario, samples: int, first: int = 1) -> list[dict[str, Any]]:
    """So many runs, each with a seed of its own."""
    return run_all(made, samples, first)


def latencies(runs: Sequence[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Latencies of every request that was granted, milliseconds, by stream."""
    found: dict[str, list[float]] = {}
    for run in runs:
        for request in run["requests"]:
            if request["granted"]:
                found.setdefault(request["name"], []).append(request["latency_ns"] / 1e6)
    return {name: np.array(values) for name, values in found.items()}


def on_the_wire(runs: Sequence[dict[str, Any]], talkers: dict[str, str]) -> dict[str, np.ndarray]:
    """AVB: from the producer's Talker Advertise to the Listener Ready that it receives, milliseconds, by stream.

    Both are taken at the producer's switch, a link's time behind and before the producer's own instants: what a line of
    100 Mbit/s takes for an MRPDU, 0.02 ms, is added for each.
    """
    found: dict[str, list[float]] = {}
    for run in runs:
        for request in run["requests"]:
            at = request["bridges"][PLACES[talkers[request["name"]]]]
            if request["granted"]:
                span = at["listener_out_ns"] - at["talker_in_ns"] + 2 * LINE_NS
                found.setdefault(request["name"], []).append(span / 1e6)
    return {name: np.array(values) for name, values in found.items()}


def statistics(values: np.ndarray) -> dict[str, float]:
    """What the tables print."""
    return {
        "min": float(values.min()),
        "mean": float(values.mean()),
        "max": float(values.max()),
        "std_dev": float(values.std(ddof=1)),
    }
