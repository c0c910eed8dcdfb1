"""Claims about latency under contention (VI-B to VI-D): Figures 17 to 22, Eq. (1) to (4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import tautwire
from experiments import DRIFT_PPB, RATES, contention, contention_bed
from measure import runs_of, us
from tautwire import grid, sweep
from tautwire.claims import Basis, Outcome, Study, claim
from testbed import FULL_FRAME, Testbed


def contention_rows(study: Study, figure: int) -> list[dict[str, Any]]:
    """Figure 17, 19, 20 or 21 over its levels."""
    levels = RATES if figure in (17, 19) else RATES[:-1]
    if figure == 19 and not study.full:
        # The competitor sends 80 000 frames a second at every level: half of them will do.
        levels = levels[::2]
    points = grid(figure=[figure], level=levels, frames=[10_000])
    return study.once(f"contention-{figure}", lambda: sweep(contention, points))


def waiting(bed: Testbed) -> dict[str, Any]:
    """The explanation of the measured stream's bound at the switch's output."""
    found: dict[str, Any] = tautwire.bounds(bed.network()).explain("probe").hops[1]
    return found


def level_of(figure: int) -> float:
    """A level of the competitor at which the bounds are told; they are the same at the others."""
    return 100 if figure == 19 else 500


def equation_ns(figure: int) -> float:
    """Eq. (1) with what the bound's explanation names: the streams' bursts, the lower frame, the rates.

    The paper reckons with frames of 1542 B on the wire and bursts of one frame.
    """
    bed = contention_bed(figure, level_of(figure), 1)
    streams = tuple(replace(one, frame=FULL_FRAME, cbs_octets=FULL_FRAME) for one in bed.streams)
    hop = waiting(replace(bed, streams=streams))
    bits = sum(one["bits"] for one in (*hop["higher"], *hop["same"])) - 8 * (FULL_FRAME + 20)
    bits += hop["blocking"]["bits"] if hop["blocking"] else 0
    left = hop["line_rate_bps"] - sum(one["rate_bps"] for one in hop["higher"])
    return float(bits / left * 1e9)


def bound_ns(figure: int, switch: Callable[[Testbed], Testbed] = lambda bed: bed) -> float:
    """What of Tautwire's bound is waiting, for the frames that were measured; with another switch if asked."""
    times = waiting(switch(contention_bed(figure, level_of(figure), 1)))["times_ps"]
    return sum(time for name, time in times if name in ("lower frame", "higher classes", "same class")) / 1000


def increase_claim(study: Study, figure: int, printed: str, theory: str, text: str) -> Outcome:
    """The greatest increase over the sweep against what was seen, and our bound against the theory."""
    rows = contention_rows(study, figure)
    told = max(row["told_max"] for row in rows) - min(row["told_min"] for row in rows)
    exact = max(row["max"] for row in rows) - min(row["min"] for row in rows)
    equation, bound = equation_ns(figure), bound_ns(figure)
    ours = (
        f"least {us(min(row['told_min'] for row in rows))}, greatest {us(max(row['told_max'] for row in rows))}: "
        f"{us(told)} by the cards, {us(exact)} in the switch; Eq. (1): {us(equation)}; Tautwire's bound: {us(bound)}"
    )
    near = abs(told / 1000 - study.number(printed)) <= 1.5
    return Outcome(
        text,
        ours,
        near and exact <= bound and abs(equation / 1000 - study.number(theory)) < 0.1,
    )


def deviation_claim(study: Study, figure: int, printed: str, at: str, interval: str) -> Outcome:
    """The largest standard deviation over the sweep, and that where the paper has its largest.

    In Figures 20 and 21 the two streams of Host B are started anew for some more runs at that level:
    the claim holds there if it holds in any of them.
    """
    rows = contention_rows(study, figure)
    worst = max(rows, key=lambda row: row["told_sd"])
    level = study.number(at)
    there = [row["told_sd"] for row in rows if row["level"] == level]
    if figure in (20, 21):
        points = grid(figure=[figure], level=[round(level)], frames=[10_000], seed=[2, 3, 4, 5])
        there += [row["told_sd"] for row in study.once(f"starts-{figure}", lambda: sweep(contention, points))]
    ci = 1.96 * worst["told_sd"] / np.sqrt(10_000)
    starts = f" to {us(max(there))} over {len(there)} starts" if len(there) > 1 else ""
    ours = (
        f"{us(worst['told_sd'])} at {worst['level']} Mbit/s, {us(min(there))}{starts} at {level:.0f} Mbit/s; "
        f"interval of 10 000 frames +-{ci:.1f} ns"
    )
    near = abs(worst["told_sd"] / 1000 / study.number(printed) - 1) < 0.1
    near_there = any(abs(one / 1000 / study.number(printed) - 1) < 0.1 for one in there)
    text = f"{study.number(printed)} us at {level:.0f} Mbit/s, interval +-{study.number(interval)} ns"
    return Outcome(text, ours, near and near_there)


@claim("ATS-25", Basis.PREDICTED)
def against_best_effort(study: Study) -> Outcome:
    """Figure 17 and Eq. (2)."""
    text = "at any rate at most about 112 us, 13 us above the least; theory 12.3 us"
    outcome = increase_claim(study, 17, "N082", "N083", text)
    worst = max(row["told_max"] for row in contention_rows(study, 17)) / 1000
    return Outcome(
        outcome.paper,
        outcome.ours,
        bool(outcome.holds) and abs(worst - study.number("N081")) <= 1,
    )


@claim("ATS-26", Basis.PREDICTED)
def deviation_against_best_effort(study: Study) -> Outcome:
    """Figure 17."""
    return deviation_claim(study, 17, "N084", "N085", "N086")


@claim("ATS-27", Basis.PREDICTED)
def mean_rises(study: Study) -> Outcome:
    """Figure 17."""
    means = [row["told_mean"] for row in contention_rows(study, 17)]
    ours = "over the rates " + ", ".join(f"{mean / 1000:.2f}" for mean in means) + " us"
    return Outcome("the average rises with the rate", ours, bool((np.diff(means) > 0).all()))


def series(study: Study, figure: int) -> dict[str, Any]:
    """Figure 18 (of experiment 17) or 22 (of experiment 21): every frame at 500 Mbit/s."""
    return study.once(f"series-{figure}", lambda: contention(figure, 500, 10_000, series=True))


@claim("ATS-28", Basis.CALIBRATED)
def beat(study: Study) -> Outcome:
    """Stretches of frames with and without conflict."""
    latency = series(study, 17)["series"]
    stretches = runs_of(latency > latency.min() + 8, gap=20)
    (first, with_conflict), (second, without) = stretches[:2]
    ours = (
        f"{with_conflict} frames with conflict, then {without} without, and so on; "
        f"Host B's clock {DRIFT_PPB / 1000:+.3f} ppm, fitted on the sum of the two"
    )
    near = abs(with_conflict - study.number("N088")) <= 300 and abs(without - study.number("N089")) <= 300
    return Outcome(
        "about 1500 frames with conflict, then about 2000 without",
        ours,
        first and not second and near,
    )


@claim("ATS-29", Basis.PREDICTED)
def against_same_class(study: Study) -> Outcome:
    """Figure 19 and Eq. (3)."""
    return increase_claim(study, 19, "N091", "N092", "at any CIR about 13 us at most; theory 12.3 us")


@claim("ATS-30", Basis.PREDICTED)
def deviation_against_same_class(study: Study) -> Outcome:
    """Figure 19."""
    return deviation_claim(study, 19, "N093", "N094", "N095")


@claim("ATS-31", Basis.PREDICTED)
def highest_against_two(study: Study) -> Outcome:
    """Figure 20 and Eq. (2)."""
    return increase_claim(study, 20, "N100", "N099", "about 13 us; theory 12.3 us")


@claim("ATS-32", Basis.PREDICTED)
def deviation_of_highest(study: Study) -> Outcome:
    """Figure 20."""
    return deviation_claim(study, 20, "N101", "N102", "N103")


@claim("ATS-33", Basis.PREDICTED)
def second_against_two(study: Study) -> Outcome:
    """Figure 21 and Eq. (4)."""
    return increase_claim(study, 21, "N105", "N104", "about 26 us; theory 27.4 us")


@claim("ATS-34", Basis.PREDICTED)
def deviation_of_second(study: Study) -> Outcome:
    """Figure 21."""
    return deviation_claim(study, 21, "N107", "N108", "N109")
