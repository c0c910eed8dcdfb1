"""Claims of scenarios I to III (Table 3)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from harts_experiments import AT_ONCE, BOTH, END_NODES
from harts_runs import APART_MS, GROUPS, SEQUENCE, one_by_one, scenario_statistics, table3_run
from harts_testbed import QUICK, flips, table3
from tautwire.claims import Basis, Flip, Outcome, Study, claim

NAMES = ("I", "II", "III")
#: Statistics by stream, of a scenario and a protocol: ours, those of other times, or the printed ones. Checks ask any
#: of them.
Table = Callable[[str, str], dict[str, dict[str, float]]]


def of_runs(study: Study, **avb: Any) -> Table:
    """What our runs give."""
    other: dict[str, Any] = {"avb": avb} if avb else {}

    def statistics(name: str, protocol: str) -> dict[str, dict[str, float]]:
        return scenario_statistics(study, name, protocol, **(other if protocol == "AVB" else {}))

    return statistics


def of_print(study: Study) -> Table:
    """What Table 3 prints."""
    return lambda name, protocol: table3(study)[(name, protocol)]


def column(table: Table, name: str, protocol: str, statistic: str) -> list[float]:
    """A column, by stream."""
    return [row[statistic] for _, row in sorted(table(name, protocol).items())]


def mean_of(table: Table, name: str, protocol: str) -> float:
    """Mean over the streams."""
    return float(np.mean(column(table, name, protocol, "mean")))


def ratios(table: Table, statistic: str) -> dict[str, list[float]]:
    """AVB over HaRTES, stream by stream, per scenario."""
    pairs = {
        name: zip(column(table, name, "AVB", statistic), column(table, name, "HaRTES", statistic), strict=True)
        for name in NAMES
    }
    return {name: [avb / harts for avb, harts in pair] for name, pair in pairs.items()}


def told(values: dict[str, list[float]]) -> str:
    """Ranges by scenario."""
    return ", ".join(f"{name}: {min(one):.1f} to {max(one):.1f}" for name, one in values.items())


def ten_times(table: Table) -> tuple[str, bool]:
    """Means and maxima, AVB over HaRTES: more than ten times for every stream of every scenario."""
    means, maxima = ratios(table, "mean"), ratios(table, "max")
    holds = all(one > 10 for of in (means, maxima) for values in of.values() for one in values)
    return f"means {told(means)}; maxima {told(maxima)}", holds


@claim("HAR-01", Basis.CALIBRATED)
def an_order_of_magnitude(study: Study) -> Outcome:
    """Means and maxima of all scenarios; and with end nodes that do not wait."""
    said, printed = ten_times(of_print(study))
    quick = flips(study, lambda: Flip(AT_ONCE, *ten_times(of_runs(study, **QUICK))))
    return Outcome(said, *ten_times(of_runs(study)), printed, END_NODES, quick)


def ten_times_as_unsteady(table: Table) -> tuple[str, bool]:
    """Standard deviations, AVB over HaRTES."""
    deviations = ratios(table, "std_dev")
    return told(deviations), all(one > 10 for values in deviations.values() for one in values)


@claim("HAR-02", Basis.PREDICTED)
def an_order_of_magnitude_of_jitter(study: Study) -> Outcome:
    """Standard deviations; printed and ours fall short of it in different scenarios."""
    said, printed = ten_times_as_unsteady(of_print(study))
    return Outcome(said, *ten_times_as_unsteady(of_runs(study)), printed)


def alike(table: Table) -> tuple[str, bool]:
    """Scenario I: spread of the six means in each protocol."""
    apart = {protocol: column(table, "I", protocol, "mean") for protocol in BOTH}
    ours = ", ".join(f"{name} {min(one):.1f} to {max(one):.1f} ms" for name, one in apart.items())
    return ours, all(max(one) / min(one) < 1.15 for one in apart.values())


@claim("HAR-03", Basis.CALIBRATED)
def all_streams_alike(study: Study) -> Outcome:
    """Scenario I: all at once; and one after the other, for the paper says "approximately the same time" only."""

    def apart(_: str, protocol: str) -> dict[str, dict[str, float]]:
        return scenario_statistics(study, "I", protocol, requests=one_by_one(study, APART_MS))

    said, printed = alike(of_print(study))
    later = flips(study, lambda: Flip(f"requests that come {APART_MS} ms after one another", *alike(apart)))
    rests_on = f"requests within 0.3 ms of each other as the network starts, and {END_NODES}"
    return Outcome(said, *alike(of_runs(study)), printed, rests_on, later)


def beyond(table: Table, protocol: str) -> float:
    """Scenario I: by how much the maximum is above the mean, percent, mean over the streams."""
    return float(np.mean([row["max"] / row["mean"] - 1 for row in table("I", protocol).values()]) * 100)


def beyond_as(study: Study, protocol: str, said: float, apart: float) -> Outcome:
    """Whether that is as far from what the prose says as it may be, with our runs and in Table 3."""
    ours, printed = beyond(of_runs(study), protocol), beyond(of_print(study), protocol)
    paper = f"{said:.0f} % in the prose, {printed:.1f} % in Table 3"
    return Outcome(paper, f"{ours:.1f} %", abs(ours - said) <= apart, abs(printed - said) <= apart)


@claim("HAR-04", Basis.PREDICTED)
def harts_maximum(study: Study) -> Outcome:
    """Within five points of the printed figure."""
    return beyond_as(study, "HaRTES", study.number("HAR-N033"), 5)


@claim("HAR-05", Basis.PREDICTED)
def avb_maximum(study: Study) -> Outcome:
    """Within ten points of the printed figure."""
    return beyond_as(study, "AVB", study.number("HAR-N034"), 10)


def variation(table: Table, protocol: str) -> float:
    """Scenario I: how far the maxima of the streams are apart, percent of the largest."""
    maxima = column(table, "I", protocol, "max")
    return (max(maxima) - min(maxima)) / max(maxima) * 100


@claim("HAR-06", Basis.PREDICTED)
def harts_maxima_alike(study: Study) -> Outcome:
    """Within a factor of two, or less than the printed figure."""
    ours, printed = variation(of_runs(study), "HaRTES"), variation(of_print(study), "HaRTES")
    most = 2 * study.number("HAR-N035")
    return Outcome("1.8 %", f"{ours:.2f} %", ours <= most, printed <= most)


@claim("HAR-07", Basis.PREDICTED)
def avb_maxima_alike(study: Study) -> Outcome:
    """Within a factor of two of the printed figure."""
    said = study.number("HAR-N036")
    ours, printed = variation(of_runs(study), "AVB"), variation(of_print(study), "AVB")
    holds, consistent = (said / 2 <= one <= 2 * said for one in (ours, printed))
    return Outcome("6.5 %", f"{ours:.2f} %", holds, consistent)


def spans(table: Table) -> tuple[str, bool]:
    """Greatest less least, per stream and scenario."""
    found = {
        protocol: [row["max"] - row["min"] for name in NAMES for _, row in sorted(table(name, protocol).items())]
        for protocol in BOTH
    }
    ours = ", ".join(f"{name} {min(one):.1f} to {max(one):.1f} ms" for name, one in found.items())
    return ours, all(avb > harts for avb, harts in zip(found["AVB"], found["HaRTES"], strict=True))


@claim("HAR-08", Basis.PREDICTED)
def avb_spans_more(study: Study) -> Outcome:
    """Greatest less least, per stream and scenario."""
    said, printed = spans(of_print(study))
    return Outcome(said, *spans(of_runs(study)), printed)


@claim("HAR-09", Basis.PREDICTED)
def the_last_waits_longest(study: Study) -> Outcome:
    """What requests waited by their place among the tests, and the place of each stream's maximum.

    Table 3 prints no places. It prints that none of 6000 requests of Scenario I was answered before 29 ms, and one of
    each six was tested first: so who is first waits for the others, too.
    """
    runs = table3_run(study, "I", "HaRTES")
    places = []
    for number in range(6):
        worst = max(runs, key=lambda run, number=number: run["requests"][number]["latency_ns"])
        places.append(worst["requests"][number]["place"] + 1)
    first, last = (
        float(np.mean([one["latency_ns"] / 1e6 for run in runs for one in run["requests"] if one["place"] == place]))
        for place in (0, 5)
    )
    ours = f"first {first:.1f} ms, last {last:.1f} ms on average; the maxima stood at places {places} of 6"
    least = min(column(of_print(study), "I", "HaRTES", "min"))
    alone = max(column(of_print(study), "II", "HaRTES", "max"))
    said = (
        f"the request that is processed last; in Table 3 {least:.2f} ms at least, {alone:.2f} ms at most in Scenario II"
    )
    return Outcome(said, ours, last > 1.5 * first, printed=least <= alone)


@claim("HAR-10", Basis.PREDICTED)
def no_queueing(study: Study) -> Outcome:
    """Scenario II: all maxima below a second."""
    ours, printed = (
        max(max(column(table, "II", protocol, "max")) for protocol in BOTH)
        for table in (of_runs(study), of_print(study))
    )
    return Outcome(f"{printed:.2f} ms at most", f"{ours:.1f} ms at most", ours < 1000, printed < 1000)


def gains(table: Table) -> tuple[str, bool]:
    """Means of scenario I over those of scenario II; "much larger" is twice as large."""
    gain = {one: mean_of(table, "I", one) / mean_of(table, "II", one) for one in BOTH}
    ours = f"HaRTES {gain['HaRTES']:.2f} times, AVB {gain['AVB']:.2f} times"
    return ours, gain["HaRTES"] > 2 * gain["AVB"] > 2


@claim("HAR-11", Basis.CALIBRATED)
def sequential_is_faster(study: Study) -> Outcome:
    """Means of both scenarios; and with end nodes that do not wait."""
    said, printed = gains(of_print(study))
    quick = flips(study, lambda: Flip(AT_ONCE, *gains(of_runs(study, **QUICK))))
    return Outcome(said, *gains(of_runs(study)), printed, END_NODES, quick)


def in_order(table: Table, protocol: str) -> list[float]:
    """Scenario II: means in the order of the requests."""
    rows = table("II", protocol)
    return [rows[name]["mean"] for name in SEQUENCE]


def rises(table: Table) -> tuple[str, bool]:
    """Scenario II: means of HaRTES in the order of the requests."""
    means = in_order(table, "HaRTES")
    return ", ".join(f"{one:.2f}" for one in means) + " ms", all(a < b for a, b in itertools.pairwise(means))


@claim("HAR-12", Basis.PREDICTED)
def harts_rises(study: Study) -> Outcome:
    """Scenario II: means in the order of the requests."""
    said, printed = rises(of_print(study))
    return Outcome(said, *rises(of_runs(study)), printed)


def stays(table: Table) -> tuple[str, bool]:
    """Scenario II: the last mean of AVB against the first."""
    means = in_order(table, "AVB")
    return ", ".join(f"{one:.0f}" for one in means) + " ms", abs(means[-1] / means[0] - 1) < 0.1


@claim("HAR-13", Basis.PREDICTED)
def avb_does_not_rise(study: Study) -> Outcome:
    """Scenario II: the last mean against the first."""
    said, printed = stays(of_print(study))
    return Outcome(said, *stays(of_runs(study)), printed)


def by_class(table: Table) -> tuple[str, bool]:
    """Scenario II: streams of class B against those of class A."""
    rows = table("II", "AVB")
    b, a = ([rows[name]["mean"] for name in names] for names in (("F2", "F3"), ("F4", "F5", "F6", "F7")))
    ours = f"class B {np.mean(b):.0f} ms, class A {np.mean(a):.0f} ms"
    return ours, abs(float(np.mean(b) / np.mean(a)) - 1) < 0.1


@claim("HAR-15", Basis.PREDICTED)
def class_does_not_matter(study: Study) -> Outcome:
    """Scenario II: streams of class B against those of class A."""
    said, printed = by_class(of_print(study))
    return Outcome(said, *by_class(of_runs(study)), printed)


def between(table: Table) -> tuple[str, bool]:
    """Means of the three scenarios."""
    means = {one: {name: mean_of(table, name, one) for name in NAMES} for one in BOTH}
    ours = "; ".join(f"{one} " + ", ".join(f"{name} {of[name]:.1f}" for name in of) for one, of in means.items())
    return ours + " ms", all(of["II"] < of["III"] < of["I"] for of in means.values())


@claim("HAR-16", Basis.PREDICTED)
def grouped_lies_between(study: Study) -> Outcome:
    """Means of the three scenarios."""
    said, printed = between(of_print(study))
    return Outcome(said, *between(of_runs(study)), printed)


def groups(table: Table, protocol: str, statistic: str) -> list[list[float]]:
    """Scenario III: a statistic of both groups' streams."""
    rows = table("III", protocol)
    return [[rows[name][statistic] for name in group] for group in GROUPS]


def steady(table: Table) -> tuple[str, bool]:
    """Scenario III: means and maxima of HaRTES within a group."""
    means, maxima = groups(table, "HaRTES", "mean"), groups(table, "HaRTES", "max")
    ours = "; ".join(
        f"means {min(a):.2f} to {max(a):.2f}, maxima {min(b):.2f} to {max(b):.2f} ms"
        for a, b in zip(means, maxima, strict=True)
    )
    return ours, all(max(one) / min(one) < 1.05 for one in (*means, *maxima))


@claim("HAR-17", Basis.PREDICTED)
def steady_within_a_group(study: Study) -> Outcome:
    """Scenario III: means and maxima of HaRTES within a group."""
    said, printed = steady(of_print(study))
    return Outcome(said, *steady(of_runs(study)), printed)


def second_less_first(table: Table) -> float:
    """Scenario III: the second group of HaRTES less the first."""
    first, second = groups(table, "HaRTES", "mean")
    return float(np.mean(second) - np.mean(first))


@claim("HAR-18", Basis.PREDICTED)
def second_group_takes_longer(study: Study) -> Outcome:
    """Scenario III: the second group less the first."""
    ours, printed = second_less_first(of_runs(study)), second_less_first(of_print(study))
    return Outcome(f"{printed:+.1f} ms", f"{ours:+.2f} ms", ours > 0, printed > 0)


def groups_alike(table: Table) -> tuple[str, bool]:
    """Scenario III: the second group of AVB against the first."""
    first, second = groups(table, "AVB", "mean")
    ours = f"first {min(first):.0f} to {max(first):.0f} ms, second {min(second):.0f} to {max(second):.0f} ms"
    return ours, abs(float(np.mean(second) / np.mean(first)) - 1) < 0.1


@claim("HAR-19", Basis.PREDICTED)
def avb_groups_alike(study: Study) -> Outcome:
    """Scenario III: the second group against the first."""
    said, printed = groups_alike(of_print(study))
    return Outcome(said, *groups_alike(of_runs(study)), printed)
