"""Claims of experiments I to III (Table 5) and of the discussion."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from harts_runs import LOADS, PATHS, f7, f7_values, installed, load, loaded, samples
from harts_testbed import STANDARD, fit, latencies, outcomes, scenario, spread, stream, table5
from tautwire.claims import Basis, Outcome, Study, claim

BOTH = ("HaRTES", "AVB")


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


@claim("HAR-20", Basis.PREDICTED)
def latency_rises_with_hops(study: Study) -> Outcome:
    """Experiment I: means."""
    means = {protocol: [float(one.mean()) for one in by_hops(study, protocol).values()] for protocol in BOTH}
    ours = "; ".join(f"{protocol} " + ", ".join(f"{one:.2f}" for one in of) for protocol, of in means.items())
    holds = all(a < b for of in means.values() for a, b in itertools.pairwise(of))
    return Outcome("HaRTES 5.99, 6.50, 6.91 ms; AVB 217, 241, 249 ms", ours + " ms", holds)


@claim("HAR-21", Basis.PREDICTED)
def maxima_rise_with_hops(study: Study) -> Outcome:
    """Experiment I: AVB's maxima; "especially visible" is a factor of two from 2 to 4 hops."""
    maxima = [float(one.max()) for one in by_hops(study, "AVB").values()]
    ours = ", ".join(f"{one:.0f}" for one in maxima) + " ms"
    return Outcome("221, 522, 783 ms", ours, maxima[0] < maxima[1] < maxima[2] and maxima[2] > 2 * maxima[0])


@claim("HAR-22", Basis.CALIBRATED)
def avb_concentrates(study: Study) -> Outcome:
    """Experiment I: medians, within 20 % of 200 ms; beside them those with the standard's join time of 200 ms."""
    medians = [float(np.median(one)) for one in by_hops(study, "AVB").values()]
    other = [float(np.median(f7_values(study, "AVB", path, avb=STANDARD))) for path in PATHS.values()]
    ours = "medians " + ", ".join(f"{one:.0f}" for one in medians) + " ms"
    ours += "; with a drawn part of 200 ms and no grid " + ", ".join(f"{one:.0f}" for one in other) + " ms"
    return Outcome("about 200 ms, means 217 to 249 ms", ours, all(abs(one / 200 - 1) <= 0.20 for one in medians))


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
    return Outcome("about 6 and 8 ms", ours, near and float(single.max()) < 7.5)


def shifts(study: Study, protocol: str) -> dict[tuple[int, int], float]:
    """Experiment II: means beside load, percent above that without."""
    free = float(loaded(study, protocol, 0, 0).mean())
    return {one: float(loaded(study, protocol, *one).mean()) / free * 100 - 100 for one in LOADS}


def told(values: dict[tuple[int, int], float], form: str = "+.1f", unit: str = " %") -> str:
    """By payload and load."""
    return ", ".join(f"{payload} B {percent} %: {one:{form}}{unit}" for (payload, percent), one in values.items())


@claim("HAR-24", Basis.PREDICTED)
def load_matters_to_avb(study: Study) -> Outcome:
    """Experiment II: change of the means."""
    harts, avb = shifts(study, "HaRTES"), shifts(study, "AVB")
    holds = max(abs(one) for one in harts.values()) < 5 and max(avb.values()) > 10
    return Outcome("HaRTES -1 to +4 %, AVB +8 to +31 %", f"HaRTES {told(harts)}; AVB {told(avb)}", holds)


@claim("HAR-25", Basis.PREDICTED)
def largest_payload_makes_the_maxima(study: Study) -> Outcome:
    """Experiment II: HaRTES's maxima; the same seeds, so that blocking alone differs."""
    maxima = {one: float(loaded(study, "HaRTES", *one).max()) for one in LOADS}
    free = float(loaded(study, "HaRTES", 0, 0).max())
    least = min(maxima[(1000, load)] for load in (50, 90))
    most = max(maxima[(256, load)] for load in (50, 90))
    ours = told(maxima, ".2f", " ms") + f", none: {free:.2f} ms"
    return Outcome("12.25 (1000 B), 11.52 and 10.52 (256 B), 12.18 without load", ours, least > 1.02 * max(most, free))


@claim("HAR-26", Basis.CALIBRATED)
def avb_concentrates_under_load(study: Study) -> Outcome:
    """Experiment II: medians within 20 % of 250 ms for three of the four loads at least."""
    medians = {one: float(np.median(loaded(study, "AVB", *one))) for one in LOADS}
    near = sum(abs(one / 250 - 1) <= 0.2 for one in medians.values())
    return Outcome("about 250 ms, means 268 to 327 ms", told(medians, ".0f", " ms"), near >= 3)


@claim("HAR-27", Basis.BY_CONSTRUCTION)
def short_packets_delay_more(study: Study) -> Outcome:
    """Experiment II: means of AVB."""
    means = {one: float(loaded(study, "AVB", *one).mean()) for one in LOADS}
    holds = all(means[(256, load)] > means[(1000, load)] for load in (50, 90)) and means[(256, 90)] == max(
        means.values()
    )
    return Outcome("291 and 327 ms (256 B), 268 and 279 ms (1000 B)", told(means, ".0f", " ms"), holds)


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
    rising = all(means[a] <= means[b] for a, b in itertools.pairwise(order))
    return Outcome("suggested", ours, rising and abs(float(without.mean()) / free - 1) < 0.05)


@claim("HAR-29", Basis.PREDICTED)
def the_test_dominates(study: Study) -> Outcome:
    """Share of the test in the latency, Experiment I."""
    shares = {}
    for hops, path in PATHS.items():
        requests = [run["requests"][0] for run in f7(study, "HaRTES", path)]
        shares[hops] = float(np.mean([one["test_ns"] / one["latency_ns"] for one in requests]))
    ours = ", ".join(f"{hops} hops {share * 100:.0f} %" for hops, share in shares.items())
    return Outcome("6.00 ms of 5.99 to 6.62 ms", ours, all(share > 0.7 for share in shares.values()))


def with_installed(study: Study, protocol: str, count: int) -> list[dict[str, Any]]:
    """Experiment III: F7 beside replicas of F4 and F5, ``count`` streams with it."""

    def make() -> list[dict[str, Any]]:
        architecture = "harts" if protocol == "HaRTES" else "avb"
        made = scenario(study, architecture, [stream(study, "F7")], installed=installed(study, count - 1))
        return outcomes(made, samples(study, 2000))

    return study.once(f"III-{protocol}-{count}", make)


def test_times(study: Study, count: int) -> np.ndarray:
    """Experiment III: the ACMaster's test with so many streams, milliseconds."""
    return np.array([run["requests"][0]["test_ns"] / 1e6 for run in with_installed(study, "HaRTES", count)])


@claim("HAR-30", Basis.CALIBRATED)
def the_test_grows(study: Study) -> Outcome:
    """Experiment III: the ACMaster's test by streams."""
    means = [float(test_times(study, n).mean()) for n in (1, 3, 5, 7)]
    ours = ", ".join(f"{one:.2f}" for one in means) + " ms"
    holds = all(a < b for a, b in itertools.pairwise(means)) and means[3] - means[2] > means[2] - means[0]
    return Outcome("6.00, 6.30, 6.98, 10.64 ms", ours, holds)


def bridge_times(study: Study, count: int, component: str) -> np.ndarray:
    """Experiment III: [T], [L] or [T-L] at Sw1, milliseconds."""
    ends = {
        "T": ("talker_in_ns", "talker_out_ns"),
        "L": ("listener_in_ns", "listener_out_ns"),
        "T-L": ("talker_out_ns", "listener_in_ns"),
    }
    start, end = ends[component]
    at = [run["requests"][0]["bridges"][0] for run in with_installed(study, "AVB", count)]
    return np.array([(one[end] - one[start]) / 1e6 for one in at if one[start] is not None and one[end] is not None])


@claim("HAR-31", Basis.CALIBRATED)
def bridges_are_quick(study: Study) -> Outcome:
    """Experiment III: maxima of [T] and [L]."""
    most = {one: max(float(bridge_times(study, n, one).max()) for n in (1, 3, 5, 7)) for one in ("T", "L")}
    holds = most["T"] <= 3.5 * 1.05 and most["L"] <= 9 * 1.05
    return Outcome("3.49 and 9.03 ms", f"[T] {most['T']:.2f} ms, [L] {most['L']:.2f} ms", holds)


@claim("HAR-32", Basis.CALIBRATED)
def bridges_do_not_care(study: Study) -> Outcome:
    """Experiment III: means of [T] and [L] by streams."""
    means = {one: [float(bridge_times(study, n, one).mean()) for n in (1, 3, 5, 7)] for one in ("T", "L")}
    ours = "; ".join(f"[{name}] {min(one):.2f} to {max(one):.2f} ms" for name, one in means.items())
    holds = all(max(one) / min(one) < 1.05 for one in means.values())
    return Outcome("[T] 2.54 to 2.62 ms, [L] 7.04 to 7.16 ms", ours, holds)


@claim("HAR-33", Basis.PREDICTED)
def end_nodes_dominate(study: Study) -> Outcome:
    """Experiment III: [T-L] beside what the bridges behind Sw1 take of it."""
    whole = bridge_times(study, 1, "T-L")
    bridges = 2 * float(bridge_times(study, 1, "T").mean() + bridge_times(study, 1, "L").mean())
    published = [row["mean"] for row in table5(study, "III", "AVB") if row["component"] == "T-L"]
    ours = f"[T-L] {whole.mean():.1f} ms, {bridges:.1f} ms of it in two bridges"
    said = f"[T-L] {min(published):.0f} to {max(published):.0f} ms"
    return Outcome(said, ours, bridges < 0.5 * float(whole.mean()))


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
