"""Claims about delay variation (RFC 3393)."""

from __future__ import annotations

import statistics
from dataclasses import replace

from avnu_latency import background_evenly
from avnu_testbed import LOADS, NAMES, READINGS, delays, printed, setup, variation
from tautwire.claims import Basis, Flip, Outcome, Study, claim

#: How far a figure may be from the printed one.
TOLERANCE = 0.2


def means(study: Study, system: str, reading: str = "payload") -> list[float]:
    """Mean delay variation by load, in ms."""
    return [variation(delays(setup(study, system, load, reading)))[0] for load in LOADS]


def means_evenly(study: Study, system: str) -> list[float]:
    """The same with a background that is spaced evenly, and never waits."""
    calm = [replace(setup(study, system, load), stall=0, bursts=False) for load in LOADS]
    return [variation(delays(one))[0] for one in calm]


def near(ours: float, printed: float) -> bool:
    """Whether a figure is met."""
    return abs(ours / printed - 1) <= TOLERANCE


def row(values: list[float]) -> str:
    """Values in ms."""
    return ", ".join(f"{value:.3f}" for value in values)


def in_range(study: Study, system: str, without: str) -> Outcome:
    """Least and greatest mean over the loads against the printed ones."""
    low, high = (printed(study, NAMES[system], f"mean_jitter_range_{end}") for end in ("low", "high"))
    ours = means(study, system)
    met = near(min(ours), low) and near(max(ours), high)
    return Outcome(f"{low} to {high} ms", f"{row(ours)} ms at 0 to 100 %; {without}", met, printed=True)


@claim("AVN-09", Basis.PREDICTED)
def variation_of_avb(study: Study) -> Outcome:
    """A frame waits for one frame of the background at most; the file is the same without the host's spread."""
    alone = variation(delays(replace(setup(study, "AVB", 100), spread=0)))[0]
    return in_range(study, "AVB", f"{alone:.3f} ms at 100 % by waiting alone, without the host's spread")


@claim("AVN-10", Basis.PREDICTED)
def variation_of_raw(study: Study) -> Outcome:
    """Bursts of a tick in one FIFO; evenly spaced background tells what they do."""
    even = variation(delays(background_evenly(study, 100)))[0]
    return in_range(study, "raw", f"{even:.3f} ms at 100 % with a background that is spaced evenly")


def printed_range(study: Study, name: str) -> tuple[float, float]:
    """Least and greatest mean that are printed."""
    low, high = (printed(study, NAMES[name], f"mean_jitter_range_{end}") for end in ("low", "high"))
    return low, high


@claim("AVN-11", Basis.PREDICTED)
def range_over_loads(study: Study) -> Outcome:
    """Greatest less least mean."""
    said = {name: printed(study, NAMES[name], "max_difference_of_mean_jitter") for name in NAMES}
    ours = {name: max(means(study, name)) - min(means(study, name)) for name in NAMES}
    told = ", ".join(f"{name} {value:.3f} ms" for name, value in ours.items())
    ranges = {name: printed_range(study, name) for name in NAMES}
    consistent = all(near(ranges[name][1] - ranges[name][0], said[name]) for name in NAMES)
    return Outcome("AVB 0.12, raw 0.17 ms", told, all(near(ours[name], said[name]) for name in NAMES), consistent)


@claim("AVN-12", Basis.PREDICTED)
def variance_over_loads(study: Study) -> Outcome:
    """Of the means over the six loads, about their mean."""
    said = {name: printed(study, NAMES[name], "variance_of_jitter") for name in NAMES}
    ours = {name: statistics.variance(means(study, name)) for name in NAMES}
    told = ", ".join(f"{name} {value:.4f}" for name, value in ours.items())
    consistent = all(can_vary_so(said[name], *printed_range(study, name)) for name in NAMES)
    return Outcome("AVB 0.001, raw 0.004", told, all(near(ours[name], said[name]) for name in NAMES), consistent)


def can_vary_so(variance: float, low: float, high: float) -> bool:
    """Whether six means between two that occur can have a variance, which is printed in thousandths.

    Examples
    --------
    >>> can_vary_so(0.001, 0.01, 0.13), can_vary_so(0.006, 0.01, 0.13)
    (True, False)
    """
    square, count = (high - low) ** 2, len(LOADS)
    # Least with all others in the middle, greatest with half of them at either end.
    least, most = square / 2 / (count - 1), square * count / 4 / (count - 1)
    return least - 0.0005 <= variance <= most + 0.0005


#: Of the printed ranges that of AVB is 0.7 of the other; with the tolerance of a figure.
LESS = 0.12 / 0.172 * (1 + TOLERANCE)


def depends_less(avb: list[float], raw: list[float]) -> bool:
    """Whether means by load range over less for AVB than for raw Ethernet, as clearly as the printed ones do.

    Examples
    --------
    >>> depends_less([0.01, 0.13], [0.008, 0.18]), depends_less([0.01, 0.055], [0.008, 0.055])
    (True, False)
    """
    return max(avb) - min(avb) <= LESS * (max(raw) - min(raw))


@claim("AVN-13", Basis.PREDICTED)
def avb_depends_less_on_load(study: Study) -> Outcome:
    """Ranges of the means, with both readings of the rate; and with a background that does not come in bursts."""
    ours = {one: {name: means(study, name, one) for name in NAMES} for one in READINGS}
    even = {name: means_evenly(study, name) for name in NAMES}

    def ranges(of: dict[str, list[float]]) -> str:
        return " against ".join(f"{max(of[name]) - min(of[name]):.3f}" for name in ("AVB", "raw")) + " ms"

    said = {name: list(printed_range(study, name)) for name in NAMES}
    flip = Flip("a background that is spaced evenly", ranges(even), depends_less(even["AVB"], even["raw"]))
    return Outcome(
        "0.12 ms against 0.17 ms",
        "; ".join(f"{ranges(of)} by the {one}'s rate" for one, of in ours.items()),
        all(depends_less(of["AVB"], of["raw"]) for of in ours.values()),
        printed=depends_less(said["AVB"], said["raw"]),
        rests_on="the bursts of the background's sender, at ticks of 1 ms (iperf3's pacing)",
        flips=(flip,),
    )


@claim("AVN-17", Basis.CALIBRATED)
def raw_varies_less_without_load(study: Study) -> Outcome:
    """The spread of the host's delay is fitted on these two figures."""
    ours = {name: means(study, name)[0] for name in NAMES}
    return Outcome(
        "0.008 against 0.01 ms", f"{ours['raw']:.4f} against {ours['AVB']:.4f} ms", ours["raw"] < ours["AVB"]
    )
