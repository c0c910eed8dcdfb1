"""Claims about the figures of Tables II to IV."""

from __future__ import annotations

import statistics

import numpy as np
import tautwire
from rtnet_segment import CYCLE, LAYOUTS, RECEIVE, SLAVES, network
from rtnet_trips import attainable, deviations, fitted, jitter, mean, means, phase_of, printed, request, row
from tautwire.claims import Basis, Outcome, Study, claim

#: How far a fitted mean may be from the printed one, in microseconds: 100 draws of the jitter decide it.
FIT = 20.0


def on_target(study: Study, table: str) -> bool:
    """Whether every usable printed mean is attainable and met by the fitted run."""
    wanted, got = printed(study, table, "RTnet", "rtt_mean"), means(fitted(study, table))
    slaves = {name: f"slave-{name.lower()}" if table == "load" else "slave-a" for name in wanted}
    ranges = {name: attainable(table, slaves[name]) for name in wanted}
    return all(ranges[name][0] <= wanted[name] <= ranges[name][1] for name in wanted) and all(
        abs(wanted[name] - got[name]) < FIT for name in wanted
    )


@claim("RTN-01", Basis.PREDICTED)
def slower_with_narrow_slots(study: Study) -> Outcome:
    """At any phase."""
    least, most = attainable("100")
    rtnet, tcp = printed(study, "100", "RTnet", "rtt_mean"), printed(study, "100", "TCP/IP", "rtt_mean")
    return Outcome(
        f"RTnet {row(rtnet)} us, TCP/IP {row(tcp, 0)} us",
        f"RTnet between {least:.1f} and {most:.1f} us at any phase; every usable printed mean is in it: "
        f"{on_target(study, '100')}",
        least > max(tcp.values()) and on_target(study, "100"),
    )


@claim("RTN-03", Basis.CALIBRATED)
def narrow_deviation(study: Study) -> Outcome:
    """The jitter is fitted on the mean of the usable deviations."""
    seen = deviations(fitted(study, "100"))
    said = printed(study, "100", "RTnet", "rtt_sd")
    return Outcome(
        f"at most 70 us: {row(said)} us",
        f"{row(seen)} us with a release up to {jitter(study):.1f} us late",
        max(seen.values()) <= 70,
    )


@claim("RTN-04", Basis.PREDICTED)
def less_jitter_than_tcp(study: Study) -> Outcome:
    """Ours for RTnet against what is printed of TCP/IP."""
    ours = {table: max(deviations(fitted(study, table)).values()) for table in ("100", "200", "load")}
    tcp = {table: min(printed(study, table, "TCP/IP", "rtt_sd").values()) for table in ours}
    return Outcome(
        f"least deviations of TCP/IP {row(tcp, 0)} us",
        f"greatest deviations of RTnet {row(ours)} us",
        all(ours[table] < tcp[table] for table in ours),
    )


@claim("RTN-05", Basis.CALIBRATED)
def faster_with_wide_slots(study: Study) -> Outcome:
    """Run by run at the fitted phases."""
    least, most = attainable("200")
    tcp, ours = printed(study, "200", "TCP/IP", "rtt_mean"), means(fitted(study, "200"))
    return Outcome(
        f"RTnet {row(printed(study, '200', 'RTnet', 'rtt_mean'))} us, TCP/IP {row(tcp, 0)} us",
        f"{row(ours)} us at the fitted phases; between {least:.1f} and {most:.1f} us at any phase, "
        f"{(least + most) / 2:.1f} us on average",
        on_target(study, "200") and all(ours[name] < tcp[name] for name in ours),
    )


@claim("RTN-06", Basis.PREDICTED)
def narrow_deviation_with_wide_slots(study: Study) -> Outcome:
    """The jitter of Table 2 in the layout of Table 3."""
    seen, said = deviations(fitted(study, "200")), printed(study, "200", "RTnet", "rtt_sd")
    ratio = mean(seen) / mean(said)
    return Outcome(
        f"below 15 us: {row(said)} us", f"{row(seen)} us, {ratio:.1f} times as much", max(seen.values()) < 15
    )


def spread_between_runs(study: Study, table: str) -> tuple[float, float, float]:
    """Deviation of the means of a table's runs, and how often phases drawn evenly give less, and more."""
    said = list(printed(study, table, "RTnet", "rtt_mean").values())
    least, _ = attainable(table)
    drawn = least + np.random.default_rng(1).uniform(0, CYCLE, (100_000, len(said)))
    spread = drawn.std(axis=1, ddof=1)
    printed_spread = statistics.stdev(said)
    return printed_spread, float((spread < printed_spread).mean()), float((spread > printed_spread).mean())


@claim("RTN-07", Basis.PREDICTED)
def wider_slots_help(study: Study) -> Outcome:
    """At one phase in both layouts, which is what is predicted; then with the phases that the printed means ask for, as
    a check of the fit."""
    before, after = (attainable(table)[0] for table in ("100", "200"))
    step = before - after
    said = mean(printed(study, "100", "RTnet", "rtt_mean")) - mean(printed(study, "200", "RTnet", "rtt_mean"))
    fit = mean(means(fitted(study, "100"))) - mean(means(fitted(study, "200")))
    spreads = (spread_between_runs(study, table) for table in ("100", "200"))
    apart = " and ".join(f"{one:.0f} us (drawn phases: less in {100 * less:.0f} %)" for one, less, _ in spreads)
    return Outcome(
        f"means of the usable means fall by {said:.1f} us",
        f"by {step:.1f} us at every phase ({100 * (1 - step / said):.0f} % less); "
        f"by {fit:.1f} us at the phases fitted to these means ({100 * abs(1 - fit / said):.1f} % off, calibrated); "
        f"means of runs deviate by {apart}",
        step > said / 2 and abs(fit / said - 1) <= 0.15,
    )


def load_run(study: Study, deadline_ms: int) -> dict[str, int]:
    """Round trips later than a deadline, by slave, with requests to all three in turn."""
    late = jitter(study)
    wanted = printed(study, "load", "RTnet", "rtt_mean")
    phases = {slave: phase_of("load", slave, wanted[slave[-1].upper()], late) for slave in SLAVES}
    asked = [request("load", slave, phase) for slave, phase in phases.items()]
    described = network(LAYOUTS["load"], asked, jitter=late).text()
    # The last step into the application is not of a stream's delay.
    for slave in SLAVES:
        answer = f"to: request-{slave}}}"
        described = described.replace(answer, f"{answer}, deadline: {1000 * deadline_ms - RECEIVE} us")
    run = tautwire.simulate(tautwire.load_text(described))
    return {slave: run.stream(f"response-{slave}")["listeners"][0]["observed"]["late"] for slave in SLAVES}


@claim("RTN-13", Basis.PREDICTED)
def maxima_below_1300(study: Study) -> Outcome:
    """At the fitted phases; at another phase more."""
    said = printed(study, "load", "RTnet", "rtt_max")
    ours = {name: trip.greatest for name, trip in fitted(study, "load").items()}
    most = max(attainable("load", slave)[1] for slave in SLAVES)
    return Outcome(
        f"below 1300 us; Table 4 prints {row(said)} us",
        f"{row(ours)} us at the fitted phases, up to {most:.1f} us at any",
        max(ours.values()) < 1300 and on_target(study, "load"),
    )


@claim("RTN-14", Basis.PREDICTED)
def deadlines(study: Study) -> Outcome:
    """Misses of RTnet at 1, 2 and 3 ms, all three slaves in one run."""
    misses = {ms: sum(load_run(study, ms).values()) for ms in (1, 2, 3)}
    tcp = printed(study, "load", "TCP/IP", "rtt_max")
    return Outcome(
        f"TCP/IP exceeds 2000 us (maxima {row(tcp, 0)} us), RTnet does not",
        "RTnet misses " + ", ".join(f"{count} at {ms} ms" for ms, count in misses.items()),
        misses[2] == misses[3] == 0 and min(tcp.values()) > 2000,
    )


@claim("RTN-15", Basis.CALIBRATED)
def thirty_percent(study: Study) -> Outcome:
    """Means over the rows of a table, at the fitted phases."""
    gains = {}
    for table in ("200", "load"):
        ours, tcp = mean(means(fitted(study, table))), mean(printed(study, table, "TCP/IP", "rtt_mean"))
        gains[table] = 100 * (1 - ours / tcp)
    over_phases = statistics.fmean(attainable("200"))
    tcp = mean(printed(study, "200", "TCP/IP", "rtt_mean"))
    return Outcome(
        "30 % less than TCP/IP; by Table 3 25.1 %, by Table 4 32.4 %",
        f"{gains['200']:.1f} % with the slots of Table 3, {gains['load']:.1f} % with those of Table 4, at the fitted "
        f"phases; over all phases {100 * (1 - over_phases / tcp):.0f} % with the slots of Table 3",
        gains["load"] >= 30,
    )


@claim("RTN-16", Basis.CALIBRATED)
def better_under_load(study: Study) -> Outcome:
    """At the fitted phases."""
    trips = fitted(study, "load")
    tcp = printed(study, "load", "TCP/IP", "rtt_mean")
    spread = printed(study, "load", "TCP/IP", "rtt_sd")
    return Outcome(
        f"RTnet {row(printed(study, 'load', 'RTnet', 'rtt_mean'))} us, TCP/IP {row(tcp, 0)} us",
        f"{row(means(trips))} us, deviations {row(deviations(trips))} us",
        on_target(study, "load")
        and all(trips[name].mean < tcp[name] and trips[name].deviation < spread[name] for name in trips),
    )


@claim("RTN-21", Basis.PREDICTED)
def greatest_over_mean(study: Study) -> Outcome:
    """Of RTnet alone."""
    ours = {}
    for table in ("100", "200", "load"):
        ours[table] = max(trip.greatest / trip.mean for trip in fitted(study, table).values())
    return Outcome("RTnet at most 1.064 times its mean", f"at most {row(ours, 3)} times", max(ours.values()) <= 1.064)
