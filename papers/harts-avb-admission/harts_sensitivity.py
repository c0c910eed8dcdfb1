"""What the paper argues and does not measure, and mechanisms switched off one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import tautwire
from harts_mechanisms import CONTROL, F7, delay_max_us, harts_line
from harts_runs import BACKGROUND, BEFORE_LEAVE_ALL, PATHS, PROTOCOLS, load, requests, standing, swept_load, table3_run
from harts_testbed import PLACES, fit, latencies, outcomes, scenario, stream, table3
from tautwire.claims import Study

Row = dict[str, str]


def row(what: str, protocol: str, setting: str, values: np.ndarray, published: float | None = None) -> Row:
    """Mean and greatest latency of a condition."""
    told = {"what": what, "protocol": protocol, "setting": setting, "unit": "ms", "min": "", "std_dev": ""}
    told |= {"mean": f"{values.mean():.2f}", "max": f"{values.max():.2f}"}
    return {**told, "published mean": "" if published is None else f"{published:.2f}"}


def short(study: Study, protocol: str, asked: list[dict[str, Any]], count: int = 50, **other: Any) -> np.ndarray:
    """Latencies of all requests over some runs."""
    runs = outcomes(scenario(study, PROTOCOLS[protocol], asked, **other), count)
    return np.concatenate(list(latencies(runs).values()))


def all_of(runs: list[dict[str, Any]]) -> np.ndarray:
    """Latencies of all requests."""
    return np.concatenate(list(latencies(runs).values()))


def published_mean(study: Study, name: str, protocol: str) -> float:
    """Mean over the streams of Table 3."""
    return float(np.mean([one["mean"] for one in table3(study)[(name, protocol)].values()]))


def limit_of_mrpdus(study: Study) -> list[Row]:
    """AVB's scenarios with and without the limit of three MRPDUs in 300 ms."""
    rows = []
    for name in ("I", "II", "III"):
        for limited in (True, False):
            runs = table3_run(study, name, "AVB", **({} if limited else {"avb": {"limited": False}}))
            setting = f"Scenario {name}, {'with' if limited else 'without'} the limit"
            rows.append(row("limit of MRPDUs", "AVB", setting, all_of(runs), published_mean(study, name, "AVB")))
    return rows


def window_of_mrpdus(study: Study) -> list[Row]:
    """AVB's scenarios by the bridges' JoinTime: three MRPDUs leave a port in one and a half of it."""
    rows = []
    for name in ("I", "III"):
        for join_ms in (50, 100, 150, 200):
            start = {"warm_up_ns": 0} if name == "I" else {}
            avb = {**start, "bridge_join_ns": join_ms * 1_000_000}
            values = short(study, "AVB", requests(study, name), count=60, load=swept_load(name), avb=avb)
            setting = f"Scenario {name}, three in {join_ms * 3 // 2} ms"
            rows.append(row("window of MRPDUs", "AVB", setting, values, published_mean(study, name, "AVB")))
    return rows


#: How long behind its last MRPDU a bridge says again what it has said, milliseconds; zero: at once.
REPEATS_MS = (0, 1, 10, 50, 100, 110, 150, 200)
#: When the six ask behind the network's start, milliseconds.
ASKED_MS = (0, 50, 100, 150, 200, 500, 5_000)


def six(study: Study, repeat_ms: float, at_ms: float = 0, **avb: Any) -> np.ndarray:
    """The six of Scenario I, so long behind the start of the network; 60 runs."""

    def make() -> np.ndarray:
        asked = [{**one, "at_ns": round(at_ms * 1e6)} for one in requests(study, "I")]
        times = {"warm_up_ns": 0, "bridge_repeat_ns": round(repeat_ms * 1e6), **avb}
        return short(study, "AVB", asked, count=60, load=BACKGROUND, avb=times)

    return study.once(f"six-{repeat_ms}-{at_ms}-{sorted(avb.items())}", make)


def repetitions(study: Study) -> list[Row]:
    """AVB's scenarios by how long bridges wait until they say a declaration again."""
    rows = []
    for name in ("I", "II", "III"):
        for repeat_ms in REPEATS_MS:
            if name == "I":
                values = six(study, repeat_ms)
            else:
                times = {"bridge_repeat_ns": repeat_ms * 1_000_000}
                values = short(study, "AVB", requests(study, name), count=60, load=swept_load(name), avb=times)
            setting = f"Scenario {name}, {repeat_ms} ms"
            rows.append(row("repetitions", "AVB", setting, values, published_mean(study, name, "AVB")))
    return rows


def instants(study: Study) -> list[Row]:
    """The six by when they ask, with repetitions at once and 100 ms later."""
    published = published_mean(study, "I", "AVB")
    rows = []
    for repeat_ms in (0, 100):
        for at_ms in ASKED_MS:
            setting = f"asked {at_ms} ms behind the start, repeated after {repeat_ms} ms"
            rows.append(row("instant of asking", "AVB", setting, six(study, repeat_ms, at_ms), published))
    return rows


def leave_all(study: Study) -> list[Row]:
    """F7 alone and beside a stream that stands, by hops; with LeaveAlls about, and before the first of them."""
    rows = []
    for hops, path in PATHS.items():
        for count in (0, 1):
            for setting, times in (("", {}), (", before any LeaveAll", BEFORE_LEAVE_ALL)):
                values = standing(study, "AVB", path, count, avb=times)
                told = row("LeaveAll", "AVB", f"{hops} hops, {count} standing{setting}", values)
                rows.append({**told, "min": f"{values.min():.2f}", "std_dev": f"{values.std(ddof=1):.2f}"})
    return rows


def background(study: Study) -> list[Row]:
    """Scenarios with and without F1 and F8."""
    rows = []
    for protocol in PROTOCOLS:
        for name in ("I", "II", "III"):
            for beside in (BACKGROUND, None):
                values = all_of(table3_run(study, name, protocol, load=beside))
                setting = f"Scenario {name}, {'with' if beside else 'without'} F1 and F8"
                rows.append(row("background", protocol, setting, values, published_mean(study, name, protocol)))
    return rows


def lasting_noise(study: Study) -> list[Row]:
    """HaRTES's Scenario I with the noise of a test drawn for each, and once for all."""
    rows = []
    for lasts in (False, True):
        test = {**fit(study)["test"], "noise_lasts": lasts}
        runs = table3_run(study, "I", "HaRTES", **({"harts": {"test": test}} if lasts else {}))
        setting = "Scenario I, " + ("once for all tests" if lasts else "for each test")
        rows.append(row("noise of the test", "HaRTES", setting, all_of(runs), published_mean(study, "I", "HaRTES")))
    return rows


def end_nodes(study: Study) -> list[Row]:
    """F7 with more and more nodes."""
    rows = []
    for protocol in PROTOCOLS:
        for more in (0, 20, 80):
            nodes = [{"name": name, "switch": switch} for name, switch in PLACES.items()]
            nodes += [{"name": f"X{n}", "switch": n % 3} for n in range(more)]
            values = short(study, protocol, [stream(study, "F7")], nodes=nodes)
            rows.append(row("end nodes", protocol, f"{len(nodes)} nodes", values))
    return rows


def disjoint(study: Study) -> list[Row]:
    """A request alone, and beside one on a disjoint path, asked at the same time."""
    pair = [stream(study, "F7", path=("N1", "N3")), stream(study, "F6", path=("N2", "N5"))]
    rows = []
    for protocol, other in (("HaRTES", {}), ("AVB", {}), ("AVB", {"avb": {"limited": False}})):
        without = ", no limit of MRPDUs" if other else ""
        for asked in (pair[:1], pair):
            setting = ("alone" if len(asked) == 1 else "both") + without
            runs = outcomes(scenario(study, PROTOCOLS[protocol], asked, **other), 50)
            rows.append(row("disjoint paths", protocol, setting, latencies(runs)["F7"]))
    return rows


def channel(study: Study) -> list[Row]:
    """The control channel before everything and in the place of the load, by load; and what it costs others."""
    rows = []
    for first in (True, False):
        for percent in (0, 50, 90):
            other: dict[str, Any] = {"load": load(1000, percent)} if percent else {}
            values = short(study, "HaRTES", [stream(study, "F7")], harts={"control_first": first}, **other)
            setting = f"{'first' if first else 'in the background'}, {percent} % load"
            rows.append(row("control channel", "HaRTES", setting, values))
    for name, reserve in (("with its server", (CONTROL, F7)), ("without", (F7,))):
        network = harts_line(*reserve, flood=40)
        bound = (tautwire.bounds(network).delay_max_ps("f7") or 0) / 1e9
        seen = delay_max_us(network, "f7") / 1e3
        told = {"what": "cost of the channel", "protocol": "HaRTES", "setting": f"F7 {name}", "unit": "ms"}
        told |= {"min": "", "std_dev": ""}
        rows.append({**told, "mean": f"bound {bound:.4f}", "max": f"{seen:.4f}", "published mean": ""})
    return rows


def replication(study: Study) -> list[Row]:
    """Scenarios I and II with and without a standby that is told first."""
    rows = []
    for name in ("I", "II"):
        for replicated in (False, True):
            asked = requests(study, name, "HaRTES")
            values = short(study, "HaRTES", asked, count=30, harts={"replicated": replicated})
            setting = f"Scenario {name}, {'with' if replicated else 'without'} a standby"
            rows.append(row("replication", "HaRTES", setting, values))
    return rows


def table(study: Study) -> list[Row]:
    """All of it."""
    parts = (
        *(background, limit_of_mrpdus, window_of_mrpdus, repetitions, instants, leave_all),
        *(lasting_noise, end_nodes, disjoint, channel, replication),
    )
    return [one for part in parts for one in part(study)]
