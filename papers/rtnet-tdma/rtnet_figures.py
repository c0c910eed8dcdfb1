"""Claims about the figures of Tables II to IV."""

from __future__ import annotations

import statistics

import numpy as np
import rtnet_sweep
import rtnet_tcp
import tautwire
from rtnet_segment import CYCLE, LAYOUTS, RECEIVE, SLAVES, network
from rtnet_trips import attainable, deviations, fitted, jitter, mean, means, phase_of, printed, request, row
from tautwire.claims import Basis, Flip, Outcome, Study, claim

#: How far a fitted mean may be from the printed one, in microseconds: 100 draws of the jitter decide it.
FIT = 20.0
#: Readings of "equal to the transmission cycle", and the 2 ms of the text, in milliseconds.
DEADLINES = (1, 2, 3)
RELEASE = "the late release of the application, fitted on the deviations of Table 2"
WITHOUT_MECHANISM = "a share of the time off the wire, a law without a mechanism that was found with the print in sight"
#: The greatest round trip of RTnet over its mean, as the tables have it.
MOST_OVER_MEAN = 1.064


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
    """Ours for RTnet against what is printed of TCP/IP. Table 2's deviations are fitted, so Tables 3 and 4 decide."""
    ours = {table: max(deviations(fitted(study, table)).values()) for table in ("100", "200", "load")}
    tcp = {table: min(printed(study, table, "TCP/IP", "rtt_sd").values()) for table in ours}
    return Outcome(
        f"least deviations of TCP/IP {row(tcp, 0)} us",
        f"greatest deviations of RTnet {row(ours)} us, the first fitted",
        all(ours[table] < tcp[table] for table in ("200", "load")),
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
    """The jitter of Table 2 in the layout of Table 3; beside it the law that has no mechanism."""
    seen, said = deviations(fitted(study, "200")), printed(study, "200", "RTnet", "rtt_sd")
    ratio, law = mean(seen) / mean(said), rtnet_sweep.law(study)
    return Outcome(
        f"below 15 us: {row(said)} us",
        f"{row(seen)} us, {ratio:.1f} times as much",
        max(seen.values()) < 15,
        printed=max(said.values()) < 15,
        rests_on=RELEASE,
        flips=(Flip(WITHOUT_MECHANISM, f"at most {law.greatest('200'):.1f} us", law.greatest("200") < 15),),
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
    """At equal phases in both layouts, against the step between the least rows: phases are not printed, and the least
    row of a table is the nearest to the least that can be. The step between the means is told beside it."""
    step = rtnet_sweep.step(study)
    ours, least, said = (step[name] for name in ("equal_phases", "printed_least", "printed_means"))
    spreads = (spread_between_runs(study, table) for table in ("100", "200"))
    apart = " and ".join(f"{one:.0f} us (drawn phases: less in {100 * less:.0f} %)" for one, less, _ in spreads)
    return Outcome(
        f"the least usable means fall by {least:.1f} us, the means of the usable means by {said:.1f} us",
        f"by {ours:.1f} us at equal phases, {100 * abs(1 - ours / least):.0f} % off the first and "
        f"{100 * abs(1 - ours / said):.0f} % off the second; means of runs deviate by {apart}",
        abs(ours / least - 1) <= rtnet_sweep.NEAR,
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
    """All three slaves in one run. The cycle of the requests, to which the text sets the deadline, is 1 ms, and 3 ms
    for a slave; the figure that it holds against TCP/IP is 2 ms, which decides."""
    misses = {ms: sum(load_run(study, ms).values()) for ms in DEADLINES}
    tcp = {ms: rtnet_tcp.later(study, "load", ms) for ms in DEADLINES}
    most = printed(study, "load", "TCP/IP", "rtt_max")
    told = ", ".join(f"{misses[ms]} at {ms} ms (TCP/IP {100 * tcp[ms]:.1f} %)" for ms in DEADLINES)
    return Outcome(
        f"with 2 ms RTnet meets the deadline and TCP/IP (maxima {row(most, 0)} us) does not; with 1 ms, the cycle of "
        "the requests, no printed mean meets it",
        f"RTnet misses {told}",
        misses[2] == 0 and tcp[2] > 0 and min(most.values()) > 2000,
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
    """Of RTnet alone. Table 2's deviations are fitted, so Tables 3 and 4 decide."""
    ours = {}
    for table in ("100", "200", "load"):
        ours[table] = max(trip.greatest / trip.mean for trip in fitted(study, table).values())
    law = rtnet_sweep.law(study).greatest_over_mean()
    return Outcome(
        "RTnet at most 1.064 times its mean",
        f"at most {row(ours, 3)} times, the first fitted",
        max(ours["200"], ours["load"]) <= MOST_OVER_MEAN,
        printed=round(printed_over_mean(study), 3) <= MOST_OVER_MEAN,
        rests_on=RELEASE,
        flips=(Flip(WITHOUT_MECHANISM, f"at most {law:.3f} times, values spread evenly", law <= MOST_OVER_MEAN),),
    )


def printed_over_mean(study: Study) -> float:
    """The greatest over the mean of the usable printed rows of RTnet, at most."""
    ratios = []
    for table in ("100", "200", "load"):
        most, middle = (printed(study, table, "RTnet", f"rtt_{one}") for one in ("max", "mean"))
        ratios += [most[name] / middle[name] for name in middle]
    return max(ratios)
