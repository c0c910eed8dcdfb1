"""Claims about delay variation (RFC 3393)."""

from __future__ import annotations

import statistics
from dataclasses import replace

from avnu_latency import background_evenly
from avnu_testbed import LOADS, NAMES, delays, printed, setup, variation
from tautwire.claims import Basis, Outcome, Study, claim

#: How far a figure may be from the printed one.
TOLERANCE = 0.2


def means(study: Study, system: str) -> list[float]:
    """Mean delay variation by load, in ms."""
    return [variation(delays(setup(study, system, load)))[0] for load in LOADS]


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
    return Outcome(f"{low} to {high} ms", f"{row(ours)} ms at 0 to 100 %; {without}", met)


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


@claim("AVN-11", Basis.PREDICTED)
def range_over_loads(study: Study) -> Outcome:
    """Greatest less least mean."""
    said = {name: printed(study, NAMES[name], "max_difference_of_mean_jitter") for name in NAMES}
    ours = {name: max(means(study, name)) - min(means(study, name)) for name in NAMES}
    told = ", ".join(f"{name} {value:.3f} ms" for name, value in ours.items())
    return Outcome("AVB 0.12, raw 0.17 ms", told, all(near(ours[name], said[name]) for name in NAMES))


@claim("AVN-12", Basis.PREDICTED)
def variance_over_loads(study: Study) -> Outcome:
    """Of the means over the six loads, about their mean."""
    said = {name: printed(study, NAMES[name], "variance_of_jitter") for name in NAMES}
    ours = {name: statistics.variance(means(study, name)) for name in NAMES}
    told = ", ".join(f"{name} {value:.4f}" for name, value in ours.items())
    return Outcome("AVB 0.001, raw 0.004", told, all(near(ours[name], said[name]) for name in NAMES))


@claim("AVN-13", Basis.PREDICTED)
def avb_depends_less_on_load(study: Study) -> Outcome:
    """Ranges of the means."""
    ours = {name: max(means(study, name)) - min(means(study, name)) for name in NAMES}
    return Outcome(
        "0.12 ms against 0.17 ms",
        f"{ours['AVB']:.3f} ms against {ours['raw']:.3f} ms",
        ours["AVB"] < ours["raw"],
    )


@claim("AVN-17", Basis.CALIBRATED)
def raw_varies_less_without_load(study: Study) -> Outcome:
    """The spread of the host's delay is fitted on these two figures."""
    ours = {name: means(study, name)[0] for name in NAMES}
    return Outcome(
        "0.008 against 0.01 ms", f"{ours['raw']:.4f} against {ours['AVB']:.4f} ms", ours["raw"] < ours["AVB"]
    )
