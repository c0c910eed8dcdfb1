"""Claims of experiments I to III (Table 5) and of the discussion."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from harts_runs import LOADS, PATHS, f7, f7_values, installed, load, loaded, samples
from harts_testbed import QUICK, STANDARD, fit, flips, latencies, outcomes, scenario, spread, statistics, stream, table5
from tautwire.claims import Basis, Flip, Outcome, Study, claim

BOTH = ("HaRTES", "AVB")
#: What AVB's latencies rest on, which was read off the tables themselves; and what stands for it where a check is
#: asked again.
END_NODES = (
    "end nodes of AVB that declare 100 ms after they are asked to, and look every 20.07 ms, both read off the tables"
)
AT_ONCE = "end nodes of AVB that declare at once, and are told at once"
#: A statistic of Experiment I by links, or of Experiment II by payload and load: of a protocol, ours or the printed
#: one.
ByHops = Callable[[str], dict[int, float]]
ByLoad = Callable[[str], dict[tuple[int, int], float]]


def ours_by_hops(study: Study, statistic: str) -> ByHops:
    """Experiment I as we have it."""
    return lambda protocol: {hops: statistics(one)[statistic] for hops, one in by_hops(study, protocol).items()}


def print_by_hops(study: Study, statistic: str) -> ByHops:
    """Experiment I as it is printed."""
    return lambda protocol: {int(row["hops"]): row[statistic] for row in table5(study, "I", protocol)}


def ours_by_load(study: Study, statistic: str) -> ByLoad:
    """Experiment II as we have it; (0, 0) is without load."""
    return lambda protocol: {one: statistics(loaded(study, protocol, *one))[statistic] for one in ((0, 0), *LOADS)}


def print_by_load(study: Study, statistic: str) -> ByLoad:
    """Experiment II as it is printed."""

    def found(protocol: str) -> dict[tuple[int, int], float]:
        rows = table5(study, "II", protocol)
        return {
            (int(row["interference_payload_bytes"] or 0), int(row["network_load_pct"])): row[statistic] for row in rows
        }

    return found


def by_hops(study: Study, protocol: str) -> dict[int, np.ndarray]:
    """Experiment I: latencies of F7 by the number of links."""
    return {hops: f7_values(study, protocol, path) for hops, path in PATHS.items()}


@claim("HAR-14", Basis.PREDICTED)
def switches_make_the_difference(study: Study) -> Outcome:
    """Streams of as many hops from different nodes, against streams of fewer."""
    same = [float(f7_values(study, "AVB", path).mean()) for path in (("N1", "N5"), ("N1", "N2"), ("N3", "N2"))]
    fewer = float(f7_values(study, "AVB", PATHS[2]).mean())
    ours = f"4 hops {min(same):.1f} to {max(same):.1f} ms, 2 hops {fewer:.1f} ms"
    return Outcome("holds within the noise", ours, max(same) - min(same) < min(same) - fewer)


def rise(of: ByHops) -> tuple[str, bool]:
    """Whether means rise with every link, in both protocols."""
    means = {protocol: list(of(protocol).values()) for protocol in BOTH}
    ours = "; ".join(f"{name} " + ", ".join(f"{one:.2f}" for one in values) for name, values in means.items())
    return ours + " ms", all(a < b for values in means.values() for a, b in itertools.pairwise(values))


@claim("HAR-20", Basis.PREDICTED)
def latency_rises_with_hops(study: Study) -> Outcome:
    """Experiment I: means."""
    said, printed = rise(print_by_hops(study, "mean"))
    return Outcome(said, *rise(ours_by_hops(study, "mean")), printed)


def maxima_rise(of: ByHops) -> tuple[str, bool]:
    """Whether AVB's maxima rise with every link, and by a factor of two in all: that is "especially visible"."""
    maxima = list(of("AVB").values())
    ours = ", ".join(f"{one:.0f}" for one in maxima) + " ms"
    return ours, maxima[0] < maxima[1] < maxima[2] and maxima[2] > 2 * maxima[0]


@claim("HAR-21", Basis.PREDICTED)
def maxima_rise_with_hops(study: Study) -> Outcome:
    """Experiment I: AVB's maxima."""
    said, printed = maxima_rise(print_by_hops(study, "max"))
    return Outcome(said, *maxima_rise(ours_by_hops(study, "max")), printed)


@claim("HAR-22", Basis.CALIBRATED)
def avb_concentrates(study: Study) -> Outcome:
    """Experiment I: medians, within 20 % of 200 ms; beside them those with the standard's join time of 200 ms."""
    medians = [float(np.median(one)) for one in by_hops(study, "AVB").values()]
    other = [float(np.median(f7_values(study, "AVB", path, avb=STANDARD))) for path in PATHS.values()]
    ours = "medians " + ", ".join(f"{one:.0f}" for one in medians) + " ms"
    ours += "; with a drawn part of 200 ms and no grid " + ", ".join(f"{one:.0f}" for one in other) + " ms"
    # A figure shows it, and prints no medians: means are those of a distribution with a long tail.
    holds = all(abs(one / 200 - 1) <= 0.20 for one in medians)
    return Outcome("about 200 ms in Fig. 8, means 217 to 249 ms", ours, holds, printed=True)


def modes(values: np.ndarray) -> list[float]:
    """Centres of the two groups of latencies: split where the gap between group means is best (Otsu)."""
    ordered = np.sort(values)
    best, split = -1.0, 1
    for place in range(len(ordered) // 50 + 1, len(ordered) - len(ordered) // 50):
        low, high = ordered[:place], ordered[place:]
        between = len(low) * len(high) * (high.mean() - low.mean()) ** 2
        if between > best:
            best, split = float(between), place
    return [float(np.median(ordered[:split])), float(np.median(ordered[split:]))]


@claim("HAR-23", Basis.PREDICTED)
def two_values(study: Study) -> Outcome:
    """Experiment I: both modes within 1 ms for some path, and one mode with one speed of the processor."""
    found = {hops: modes(values) for hops, values in by_hops(study, "HaRTES").items()}
    one_speed = {**fit(study)["test"], "slow_permille": 0}
    single = f7_values(study, "HaRTES", PATHS[2], harts={"test": one_speed})
    ours = ", ".join(f"{hops} hops {a:.1f} and {b:.1f} ms" for hops, (a, b) in found.items())
    ours += f"; with one speed {single.min():.1f} to {single.max():.1f} ms"
    near = any(abs(a - 6) < 1 and abs(b - 8) < 1 for a, b in found.values())
    return Outcome("about 6 and 8 ms", ours, near and float(single.max()) < 7.5, printed=True)


def told(values: dict[tuple[int, int], float], form: str = "+.1f", unit: str = " %") -> str:
    """By payload and load."""
    loads = {one: values[one] for one in LOADS}
    return ", ".join(f"{payload} B {percent} %: {one:{form}}{unit}" for (payload, percent), one in loads.items())


def shifts(of: ByLoad, protocol: str) -> dict[tuple[int, int], float]:
    """Experiment II: means beside load, percent above that without."""
    means = of(protocol)
    return {one: means[one] / means[(0, 0)] * 100 - 100 for one in LOADS}


def avb_alone_is_loaded(of: ByLoad) -> tuple[str, bool]:
    """Whether load moves HaRTES's means by less than 5 %, and one of AVB's by more than 10 %."""
    harts, avb = shifts(of, "HaRTES"), shifts(of, "AVB")
    holds = max(abs(one) for one in harts.values()) < 5 and max(avb.values()) > 10
    return f"HaRTES {told(harts)}; AVB {told(avb)}", holds


@claim("HAR-24", Basis.PREDICTED)
def load_matters_to_avb(study: Study) -> Outcome:
    """Experiment II: change of the means."""
    said, printed = avb_alone_is_loaded(print_by_load(study, "mean"))
    return Outcome(said, *avb_alone_is_loaded(ours_by_load(study, "mean")), printed)


def largest_has_the_maxima(of: ByLoad) -> tuple[str, bool]:
    """Whether HaRTES's maxima with the largest payload are above all others, by 2 % at least: 0.07 ms are noise."""
    maxima = of("HaRTES")
    least = min(maxima[(1000, load)] for load in (50, 90))
    most = max(maxima[(256, load)] for load in (50, 90))
    return told(maxima, ".2f", " ms") + f", none: {maxima[(0, 0)]:.2f} ms", least > 1.02 * max(most, maxima[(0, 0)])


@claim("HAR-25", Basis.PREDICTED)
def largest_payload_makes_the_maxima(study: Study) -> Outcome:
    """Experiment II: HaRTES's maxima; ours have the same seeds, so that load alone differs."""
    said, printed = largest_has_the_maxima(print_by_load(study, "max"))
    return Outcome(said, *largest_has_the_maxima(ours_by_load(study, "max")), printed)


@claim("HAR-26", Basis.CALIBRATED)
def avb_concentrates_under_load(study: Study) -> Outcome:
    """Experiment II: medians within 20 % of 250 ms for three of the four loads at least."""
    medians = {one: float(np.median(loaded(study, "AVB", *one))) for one in LOADS}
    near = sum(abs(one / 250 - 1) <= 0.2 for one in medians.values())
    return Outcome("about 250 ms, means 268 to 327 ms", told(medians, ".0f", " ms"), near >= 3, printed=True)


def short_delay_more(of: ByLoad) -> tuple[str, bool]:
    """Whether AVB's means are greater with short packets at the same load, and greatest at 90 %."""
    means = {one: mean for one, mean in of("AVB").items() if one in LOADS}
    more = all(means[(256, load)] > means[(1000, load)] for load in (50, 90))
    return told(means, ".0f", " ms"), more and means[(256, 90)] == max(means.values())


@claim("HAR-27", Basis.BY_CONSTRUCTION)
def short_packets_delay_more(study: Study) -> Outcome:
    """Experiment II: means of AVB."""
    said, printed = short_delay_more(print_by_load(study, "mean"))
    return Outcome(said, *short_delay_more(ours_by_load(study, "mean")), printed)


@claim("HAR-28", Basis.BY_CONSTRUCTION)
def packets_not_load(study: Study) -> Outcome:
    """The order of the means is that of packets per second; with no time per packet the shift is gone."""
    means = {one: float(loaded(study, "AVB", *one).mean()) for one in LOADS}
    rates = {one: load(*one)["packets_per_second"] for one in LOADS}
    order = sorted(LOADS, key=lambda one: rates[one])
    free = float(loaded(study, "AVB", 0, 0).mean())
    without = f7_values(study, "AVB", ("N1", "N2"), load=load(256, 90), avb={"packet_ns": 0})
    ours = "by packets/s: " + ", ".join(f"{rates[one]} {means[one]:.0f} ms" for one in order)
    ours += f"; without time per packet {without.mean():.0f} ms, without load {free:.0f} ms"
    printed, rising = (
        all(of[a] <= of[b] for a, b in itertools.pairwise(order)) for of in (print_by_load(study, "mean")("AVB"), means)
    )
    return Outcome("suggested", ours, rising and abs(float(without.mean()) / free - 1) < 0.05, printed)


@claim("HAR-29", Basis.PREDICTED)
def the_test_dominates(study: Study) -> Outcome:
    """Share of the test in the latency, Experiment I."""
    shares = {}
    for hops, path in PATHS.items():
        requests = [run["requests"][0] for run in f7(study, "HaRTES", path)]
        shares[hops] = float(np.mean([one["test_ns"] / one["latency_ns"] for one in requests]))
    ours = ", ".join(f"{hops} hops {share * 100:.0f} %" for hops, share in shares.items())
    # Its streams have four links, as F7 without load has in Experiment II.
    test, whole = table5(study, "III", "HaRTES")[0]["mean"], print_by_load(study, "mean")("HaRTES")[(0, 0)]
    said = f"{test:.2f} ms of {whole:.2f} ms over 4 hops"
    return Outcome(said, ours, all(share > 0.7 for share in shares.values()), test > 0.7 * whole)


def with_installed(study: Study, protocol: str, count: int, **other: Any) -> list[dict[str, Any]]:
    """Experiment III: F7 beside replicas of F4 and F5, ``count`` streams with it."""

    def make() -> list[dict[str, Any]]:
        architecture = "harts" if protocol == "HaRTES" else "avb"
        made = scenario(study, architecture, [stream(study, "F7")], installed=installed(study, count - 1), **other)
        return outcomes(made, samples(study, 2000))

    return study.once(f"III-{protocol}-{count}-{sorted(other.items())}", make)


def test_times(study: Study, count: int) -> np.ndarray:
    """Experiment III: the ACMaster's test with so many streams, milliseconds."""
    return np.array([run["requests"][0]["test_ns"] / 1e6 for run in with_installed(study, "HaRTES", count)])


def grows(means: list[float]) -> tuple[str, bool]:
    """Whether the test takes longer with every two streams, and rises most to seven."""
    holds = all(a < b for a, b in itertools.pairwise(means)) and means[3] - means[2] > means[2] - means[0]
    return ", ".join(f"{one:.2f}" for one in means) + " ms", holds


@claim("HAR-30", Basis.CALIBRATED)
def the_test_grows(study: Study) -> Outcome:
    """Experiment III: the ACMaster's test by streams."""
    said, printed = grows([row["mean"] for row in table5(study, "III", "HaRTES")])
    return Outcome(said, *grows([float(test_times(study, n).mean()) for n in (1, 3, 5, 7)]), printed)


def bridge_times(study: Study, count: int, component: str, **other: Any) -> np.ndarray:
    """Experiment III: [T], [L] or [T-L] at Sw1, milliseconds."""
    ends = {
        "T": ("talker_in_ns", "talker_out_ns"),
        "L": ("listener_in_ns", "listener_out_ns"),
        "T-L": ("talker_out_ns", "listener_in_ns"),
    }
    start, end = ends[component]
    at = [run["requests"][0]["bridges"][0] for run in with_installed(study, "AVB", count, **other)]
    return np.array([(one[end] - one[start]) / 1e6 for one in at if one[start] is not None and one[end] is not None])


def print_at_bridge(study: Study, component: str, statistic: str) -> list[float]:
    """A component of Experiment III as it is printed, by streams."""
    return [row[statistic] for row in table5(study, "III", "AVB") if row["component"] == component]


def quick_bridges(most: dict[str, float]) -> tuple[str, bool]:
    """Whether [T] and [L] are at most 3.5 and 9 ms, but for a twentieth."""
    return f"[T] {most['T']:.2f} ms, [L] {most['L']:.2f} ms", most["T"] <= 3.5 * 1.05 and most["L"] <= 9 * 1.05


@claim("HAR-31", Basis.CALIBRATED)
def bridges_are_quick(study: Study) -> Outcome:
    """Experiment III: maxima of [T] and [L]."""
    most = {one: max(float(bridge_times(study, n, one).max()) for n in (1, 3, 5, 7)) for one in ("T", "L")}
    said, printed = quick_bridges({one: max(print_at_bridge(study, one, "max")) for one in ("T", "L")})
    return Outcome(said, *quick_bridges(most), printed)


def same_bridges(means: dict[str, list[float]]) -> tuple[str, bool]:
    """Whether [T] and [L] are the same for all numbers of streams, but for a twentieth."""
    ours = "; ".join(f"[{name}] {min(one):.2f} to {max(one):.2f} ms" for name, one in means.items())
    return ours, all(max(one) / min(one) < 1.05 for one in means.values())


@claim("HAR-32", Basis.CALIBRATED)
def bridges_do_not_care(study: Study) -> Outcome:
    """Experiment III: means of [T] and [L] by streams."""
    means = {one: [float(bridge_times(study, n, one).mean()) for n in (1, 3, 5, 7)] for one in ("T", "L")}
    said, printed = same_bridges({one: print_at_bridge(study, one, "mean") for one in ("T", "L")})
    return Outcome(said, *same_bridges(means), printed)


def mostly_end_nodes(of: Callable[[str], float]) -> tuple[str, bool]:
    """Whether the bridges behind Sw1 take less than half of [T-L]."""
    whole, bridges = of("T-L"), 2 * (of("T") + of("L"))
    return f"[T-L] {whole:.1f} ms, {bridges:.1f} ms of it in two bridges", bridges < 0.5 * whole


@claim("HAR-33", Basis.CALIBRATED)
def end_nodes_dominate(study: Study) -> Outcome:
    """Experiment III, one stream: what the bridges behind Sw1 take of [T-L]; and with end nodes that do not wait."""

    def ours(**avb: Any) -> tuple[str, bool]:
        other = {"avb": avb} if avb else {}
        return mostly_end_nodes(lambda one: float(bridge_times(study, 1, one, **other).mean()))

    said, printed = mostly_end_nodes(lambda one: print_at_bridge(study, one, "mean")[0])
    return Outcome(said, *ours(), printed, END_NODES, flips(study, lambda: Flip(AT_ONCE, *ours(**QUICK))))


@claim("HAR-34", Basis.PREDICTED)
def as_fast_as_bridges(study: Study) -> Outcome:
    """End nodes without timers that take a bridge's time for a declaration: the maximum, within 20 % of the text's."""
    quick = {"join": "at-once", "tick_ns": 0, "station": spread(6260, 600, 6070, 9030)}
    values = f7_values(study, "AVB", ("N1", "N2"), avb=quick)
    near = abs(float(values.max()) / study.number("HAR-N064") - 1) <= 0.20
    return Outcome("a maximum of the order of 50 ms", f"{values.max():.1f} ms at most", near)


def quick_latency(study: Study, architecture: str, requests: list[dict[str, Any]], **other: Any) -> np.ndarray:
    """Latencies of the first request over 50 runs."""
    runs = outcomes(scenario(study, architecture, requests, **other), 50)
    return latencies(runs)[requests[0]["name"]]
