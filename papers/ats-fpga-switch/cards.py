"""Claims about latency between cards (V-B-2): Figure 11."""

from __future__ import annotations

from typing import Any

from components import cycles
from experiments import plget
from measure import us
from tautwire import sweep
from tautwire.claims import Basis, Outcome, Study, claim


def plget_rows(study: Study) -> list[dict[str, Any]]:
    """Figure 11: latency between cards for every payload, and again with a CIR of 10 Mbit/s."""
    payloads = sorted(cycles(study, "table4_ats_pmd50"))
    points = [{"payload": p, "frames": 10_000, "cir_mbps": 100} for p in payloads]
    points += [{"payload": p, "frames": 10_000, "cir_mbps": 10} for p in (64, 1500)]
    points = [{**point, "seed": number} for number, point in enumerate(points)]
    return study.once("plget", lambda: sweep(plget, points))


@claim("ATS-11", Basis.PREDICTED)
def cards_agree_with_analyser(study: Study) -> Outcome:
    """Means between cards against the tables."""
    table = cycles(study, "table4_ats_pmd50")
    apart = [row["mean"] - table[row["payload"]]["total_ns"] for row in plget_rows(study)]
    ours = f"means differ from the table by {min(apart):+.0f} to {max(apart):+.0f} ns over {len(apart)} series"
    return Outcome("the same on average", ours, all(abs(one) < 100 for one in apart))


@claim("ATS-12", Basis.CALIBRATED)
def deviation_between_cards(study: Study) -> Outcome:
    """The largest standard deviation without another stream."""
    worst = max(plget_rows(study), key=lambda row: row["sd"])
    told = f"{worst['sd']:.0f} ns at {worst['payload']} B, interval +-{worst['ci']:.1f} ns"
    ours = f"{told}; the switch itself: {worst['exact_sd']:.0f} ns"
    holds = abs(worst["sd"] / study.number("N039") - 1) < 0.1 and abs(worst["ci"] - study.number("N041")) < 0.3
    return Outcome("218 ns at 300 B, interval +-4.3 ns", ours, holds)


@claim("ATS-13", Basis.PREDICTED)
def cir_does_not_matter_below_it(study: Study) -> Outcome:
    """CIR 10 and 100 Mbit/s for 1.2 Mbit/s."""
    by_cir: dict[int, dict[int, float]] = {10: {}, 100: {}}
    for row in plget_rows(study):
        by_cir[row["cir_mbps"]][row["payload"]] = row["exact_mean"]
    same = all(by_cir[100][payload] == mean for payload, mean in by_cir[10].items())
    ours = ", ".join(f"{p} B: {us(mean)} and {us(by_cir[100][p])}" for p, mean in by_cir[10].items())
    return Outcome("the same latency", f"at 10 and 100 Mbit/s {ours}", same)
