"""Claims of scenarios I to III (Table 3)."""

from __future__ import annotations

import itertools

import numpy as np
from harts_runs import GROUPS, SEQUENCE, scenario_statistics, table3_run
from harts_testbed import latencies, table3
from tautwire.claims import Basis, Outcome, Study, claim

NAMES = ("I", "II", "III")


def column(study: Study, name: str, protocol: str, statistic: str) -> list[float]:
    """A column of our Table 3."""
    return [row[statistic] for row in scenario_statistics(study, name, protocol).values()]


def published(study: Study, name: str, protocol: str, statistic: str) -> list[float]:
    """A column of the published one, by stream."""
    return [row[statistic] for _, row in sorted(table3(study)[(name, protocol)].items())]


def ratios(study: Study, statistic: str) -> dict[str, list[float]]:
    """AVB over HaRTES, stream by stream, per scenario."""
    pairs = {
        name: zip(column(study, name, "AVB", statistic), column(study, name, "HaRTES", statistic), strict=True)
        for name in NAMES
    }
    return {name: [avb / harts for avb, harts in pair] for name, pair in pairs.items()}


def told(values: dict[str, list[float]]) -> str:
    """Ranges by scenario."""
    return ", ".join(f"{name}: {min(one):.1f} to {max(one):.1f}" for name, one in values.items())


@claim("HAR-01", Basis.PREDICTED)
def an_order_of_magnitude(study: Study) -> Outcome:
    """Means and maxima, AVB over HaRTES: more than ten times for every stream of every scenario."""
    means, maxima = ratios(study, "mean"), ratios(study, "max")
    ours = f"means {told(means)}; maxima {told(maxima)}"
    holds = all(one > 10 for table in (means, maxima) for values in table.values() for one in values)
    return Outcome("means 12.6 to 39.9 times, maxima 13.9 to 101.6 times", ours, holds)


@claim("HAR-02", Basis.PREDICTED)
def an_order_of_magnitude_of_jitter(study: Study) -> Outcome:
    """Standard deviations, AVB over HaRTES."""
    deviations = ratios(study, "std_dev")
    holds = all(one > 10 for values in deviations.values() for one in values)
    return Outcome("10.6 to 12.9 (I), 22.7 to 42 (II), 6.3 to 14.9 (III)", told(deviations), holds)


@claim("HAR-03", Basis.PREDICTED)
def all_streams_alike(study: Study) -> Outcome:
    """Scenario I: spread of the six means in each protocol."""
    apart = {protocol: column(study, "I", protocol, "mean") for protocol in ("HaRTES", "AVB")}
    ours = ", ".join(f"{name} {min(one):.1f} to {max(one):.1f} ms" for name, one in apart.items())
    holds = all(max(one) / min(one) < 1.15 for one in apart.values())
    return Outcome("HaRTES 38.52 to 38.84 ms, AVB 495 to 527 ms", ours, holds)


def beyond(study: Study, protocol: str) -> float:
    """Scenario I: by how much the maximum is above the mean, percent, mean over the streams."""
    rows = scenario_statistics(study, "I", protocol).values()
    return float(np.mean([row["max"] / row["mean"] - 1 for row in rows]) * 100)


@claim("HAR-04", Basis.PREDICTED)
def harts_maximum(study: Study) -> Outcome:
    """Within five points of the printed figure."""
    ours = beyond(study, "HaRTES")
    return Outcome("63 % in the prose, 60.2 % in Table 3", f"{ours:.1f} %", abs(ours - study.number("HAR-N033")) <= 5)


@claim("HAR-05", Basis.PREDICTED)
def avb_maximum(study: Study) -> Outcome:
    """Within ten points of the printed figure."""
    ours = beyond(study, "AVB")
    return Outcome("80 % in the prose, 78.1 % in Table 3", f"{ours:.1f} %", abs(ours - study.number("HAR-N034")) <= 10)


def variation(study: Study, protocol: str) -> float:
    """Scenario I: how far the maxima of the streams are apart, percent of the largest."""
    maxima = column(study, "I", protocol, "max")
    return (max(maxima) - min(maxima)) / max(maxima) * 100


@claim("HAR-06", Basis.PREDICTED)
def harts_maxima_alike(study: Study) -> Outcome:
    """Within a factor of two, or less than the printed figure."""
    ours = variation(study, "HaRTES")
    return Outcome("1.8 %", f"{ours:.2f} %", ours <= 2 * study.number("HAR-N035"))


@claim("HAR-07", Basis.PREDICTED)
def avb_maxima_alike(study: Study) -> Outcome:
    """Within a factor of two of the printed figure."""
    ours = variation(study, "AVB")
    said = study.number("HAR-N036")
    return Outcome("6.5 %", f"{ours:.2f} %", said / 2 <= ours <= 2 * said)


@claim("HAR-08", Basis.PREDICTED)
def avb_spans_more(study: Study) -> Outcome:
    """Greatest less least, per stream and scenario."""
    spans = {}
    for protocol in ("HaRTES", "AVB"):
        rows = [row for name in NAMES for row in scenario_statistics(study, name, protocol).values()]
        spans[protocol] = [row["max"] - row["min"] for row in rows]
    ours = ", ".join(f"{name} {min(one):.1f} to {max(one):.1f} ms" for name, one in spans.items())
    holds = all(avb > harts for avb, harts in zip(spans["AVB"], spans["HaRTES"], strict=True))
    return Outcome("I: 30 to 33 ms against 643 to 702 ms", ours, holds)


@claim("HAR-09", Basis.PREDICTED)
def the_last_waits_longest(study: Study) -> Outcome:
    """Place among the tests of the request that has a stream's maximum, and what the first of each run waited."""
    runs = table3_run(study, "I", "HaRTES")
    places = []
    for number in range(6):
        worst = max(runs, key=lambda run, number=number: run["requests"][number]["latency_ns"])
        places.append(worst["requests"][number]["place"])
    first = [one["latency_ns"] / 1e6 for run in runs for one in run["requests"] if one["place"] == 0]
    last = [one["latency_ns"] / 1e6 for run in runs for one in run["requests"] if one["place"] == 5]
    ours = f"first {np.mean(first):.1f} ms, last {np.mean(last):.1f} ms on average; the maxima stood at places {places}"
    return Outcome("the request that is processed last", ours, float(np.mean(last)) > 1.5 * float(np.mean(first)))


@claim("HAR-10", Basis.PREDICTED)
def no_queueing(study: Study) -> Outcome:
    """Scenario II: all maxima below a second."""
    most = max(max(column(study, "II", protocol, "max")) for protocol in ("HaRTES", "AVB"))
    return Outcome("982.81 ms at most", f"{most:.1f} ms at most", most < 1000)


@claim("HAR-11", Basis.PREDICTED)
def sequential_is_faster(study: Study) -> Outcome:
    """Means of scenario I over those of scenario II."""
    gain = {
        p: float(np.mean(column(study, "I", p, "mean")) / np.mean(column(study, "II", p, "mean")))
        for p in ("HaRTES", "AVB")
    }
    ours = f"HaRTES {gain['HaRTES']:.1f} times, AVB {gain['AVB']:.1f} times"
    return Outcome("HaRTES 4.8 times, AVB 2.0 times", ours, gain["HaRTES"] > 2 * gain["AVB"] > 2)


def in_order(study: Study, protocol: str) -> list[float]:
    """Scenario II: means in the order of the requests."""
    rows = scenario_statistics(study, "II", protocol)
    return [rows[name]["mean"] for name in SEQUENCE]


@claim("HAR-12", Basis.PREDICTED)
def harts_rises(study: Study) -> Outcome:
    """Scenario II: means in the order of the requests."""
    means = in_order(study, "HaRTES")
    ours = ", ".join(f"{one:.2f}" for one in means) + " ms"
    return Outcome("6.62, 7.17, 7.77, 8.14, 9.09, 9.34 ms", ours, all(a < b for a, b in itertools.pairwise(means)))


@claim("HAR-13", Basis.PREDICTED)
def avb_does_not_rise(study: Study) -> Outcome:
    """Scenario II: the last mean against the first."""
    means = in_order(study, "AVB")
    ours = ", ".join(f"{one:.0f}" for one in means) + " ms"
    return Outcome("264, 247, 250, 259, 268, 258 ms", ours, abs(means[-1] / means[0] - 1) < 0.1)


@claim("HAR-15", Basis.PREDICTED)
def class_does_not_matter(study: Study) -> Outcome:
    """Scenario II: streams of class B against those of class A."""
    rows = scenario_statistics(study, "II", "AVB")
    b, a = ([rows[name]["mean"] for name in names] for names in (("F2", "F3"), ("F4", "F5", "F6", "F7")))
    ours = f"class B {np.mean(b):.0f} ms, class A {np.mean(a):.0f} ms"
    return Outcome("class B 264 and 268 ms, class A 247 to 259 ms", ours, abs(float(np.mean(b) / np.mean(a)) - 1) < 0.1)


@claim("HAR-16", Basis.PREDICTED)
def grouped_lies_between(study: Study) -> Outcome:
    """Means of the three scenarios."""
    means = {p: {name: float(np.mean(column(study, name, p, "mean"))) for name in NAMES} for p in ("HaRTES", "AVB")}
    ours = "; ".join(f"{p} " + ", ".join(f"{name} {one:.1f}" for name, one in of.items()) for p, of in means.items())
    holds = all(of["II"] < of["III"] < of["I"] for of in means.values())
    return Outcome("HaRTES 8.0, 22.5, 38.7; AVB 258, 297, 504 (II, III, I)", ours + " ms", holds)


def groups(study: Study, protocol: str, statistic: str) -> list[list[float]]:
    """Scenario III: a statistic of both groups' streams."""
    rows = scenario_statistics(study, "III", protocol)
    return [[rows[name][statistic] for name in group] for group in GROUPS]


@claim("HAR-17", Basis.PREDICTED)
def steady_within_a_group(study: Study) -> Outcome:
    """Scenario III: means and maxima of HaRTES within a group."""
    means, maxima = groups(study, "HaRTES", "mean"), groups(study, "HaRTES", "max")
    ours = "; ".join(
        f"means {min(a):.2f} to {max(a):.2f}, maxima {min(b):.2f} to {max(b):.2f} ms"
        for a, b in zip(means, maxima, strict=True)
    )
    holds = all(max(one) / min(one) < 1.05 for one in (*means, *maxima))
    return Outcome("means 21.83 to 21.98 and 23.07 to 23.20 ms", ours, holds)


@claim("HAR-18", Basis.PREDICTED)
def second_group_takes_longer(study: Study) -> Outcome:
    """Scenario III: the second group less the first."""
    first, second = groups(study, "HaRTES", "mean")
    apart = float(np.mean(second) - np.mean(first))
    return Outcome("+1.2 ms", f"{apart:+.2f} ms", apart > 0)


@claim("HAR-19", Basis.PREDICTED)
def avb_groups_alike(study: Study) -> Outcome:
    """Scenario III: the second group against the first."""
    first, second = groups(study, "AVB", "mean")
    ours = f"first {min(first):.0f} to {max(first):.0f} ms, second {min(second):.0f} to {max(second):.0f} ms"
    return Outcome("276 to 310 ms, 295 ms", ours, abs(float(np.mean(second) / np.mean(first)) - 1) < 0.1)


def ecdf(study: Study, name: str, protocol: str) -> dict[str, np.ndarray]:
    """Sorted latencies of a scenario."""
    return {one: np.sort(values) for one, values in latencies(table3_run(study, name, protocol)).items()}
