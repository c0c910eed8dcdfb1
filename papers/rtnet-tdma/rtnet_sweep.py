"""What was tried for the figures that are not met: deviations of RTnet, means of TCP/IP under load, the step.

Every source of a deviation is fitted on the usable rows of Table II and predicts the others; those of two numbers are
fitted on Table III as well. A row's time waited is its printed mean less the response's way behind its slot, its
time off the wire the printed mean less what request and response are on lines in the run; neither hangs on phases.
Every reason for Table IV's TCP/IP keeps the numbers that Table II gave and adds none.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rtnet_segment import CYCLE, LAYOUTS, Interrupts
from rtnet_tcp import HUNDRED, Host, fit
from rtnet_trips import Trip, at_phase, attainable, jitter, mean, printed
from tautwire.claims import Study

TABLES = ("100", "200", "load")
#: How near a predicted figure should be.
NEAR = 0.15
#: The source that is nearest to the mean deviations of the tables it was not fitted on. Found with them in sight.
LAW = "share of the time off the wire"


@dataclass(frozen=True)
class Row:
    """A usable row of RTnet, in microseconds.

    Mean, deviation, greatest; the time waited; the time in which neither frame is on a line; from the last opening of a
    cycle to the response; openings between request and response.
    """

    table: str
    name: str
    mean: float
    deviation: float
    greatest: float
    waited: float
    off_wire: float
    behind: float
    openings: int


def rows(study: Study) -> list[Row]:
    """All usable rows of the three tables."""
    found = []
    for table in TABLES:
        deviation, greatest = (printed(study, table, "RTnet", metric) for metric in ("rtt_sd", "rtt_max"))
        for name, value in printed(study, table, "RTnet", "rtt_mean").items():
            slave = f"slave-{name.lower()}" if table == "load" else "slave-a"
            layout = LAYOUTS[table]
            apart = layout.start(slave) - layout.start("master") + (CYCLE if table == "100" else 0)
            way = attainable(table, slave)[0] - apart
            behind = layout.start(slave) + way
            off_wire = value - at_phase(table, slave, 0).wire
            openings = int(table == "100")
            found.append(
                Row(table, name, value, deviation[name], greatest[name], value - way, off_wire, behind, openings)
            )
    return found


def of(found: list[Row], table: str) -> list[Row]:
    """Those of a table."""
    return [one for one in found if one.table == table]


#: A source's deviation of a row, from the table's mean deviations and the rows that it is fitted on.
Source = Callable[[Row], float]


def scaled(found: list[Row], shape: Source) -> Source:
    """A shape times the number that makes the mean deviation of Table II that of the print."""
    narrow = of(found, "100")
    factor = sum(one.deviation for one in narrow) / sum(shape(one) for one in narrow)
    return lambda one: factor * shape(one)


def with_interrupts(study: Study, *, everywhere: bool) -> dict[tuple[str, str], Trip]:
    """Runs at the fitted phases with interrupts whose phase is new at every one, in place of a late release.

    What a response waits for its interrupt is even up to their distance, so the distance that gives the mean deviation
    of Table II is that of the late release. What a request waits so at a slave is lost in the wait for a slot.
    """

    def make() -> dict[tuple[str, str], Trip]:
        told = Interrupts(jitter(study), everywhere)
        found = {}
        for table in TABLES:
            for name, wanted in printed(study, table, "RTnet", "rtt_mean").items():
                slave = f"slave-{name.lower()}" if table == "load" else "slave-a"
                phase = (at_phase(table, slave, 0).mean + told.apart / 2 - wanted) % CYCLE
                found[table, name] = at_phase(table, slave, phase, seed=int(name, 36), interrupts=told)
        return found

    return study.once(f"interrupts {everywhere}", make)


def interrupts(study: Study, *, everywhere: bool) -> Source:
    """The deviations of these runs."""
    seen = with_interrupts(study, everywhere=everywhere)
    return lambda one: seen[one.table, one.name].deviation


def sources(study: Study, found: list[Row]) -> dict[str, tuple[str, Source]]:
    """Each with the tables that it is fitted on."""
    both = [statistics.fmean(one.deviation for one in of(found, table)) for table in ("100", "200")]
    squares = [statistics.fmean(one.waited**2 for one in of(found, table)) for table in ("100", "200")]
    growth = max(0.0, (both[0] ** 2 - both[1] ** 2) / (squares[0] - squares[1]))
    rest = max(0.0, both[1] ** 2 - growth * squares[1])
    return {
        "release of the application": ("II", scaled(found, lambda one: 1)),
        "steps that add up over the time waited": ("II", scaled(found, lambda one: math.sqrt(one.waited))),
        "share of the time waited": ("II", scaled(found, lambda one: one.waited)),
        LAW: ("II", scaled(found, lambda one: one.off_wire)),
        "share of the round trip": ("II", scaled(found, lambda one: one.mean)),
        "share of the time behind the last opening": ("II", scaled(found, lambda one: one.behind)),
        "release, and openings between request and response": (
            "II and III",
            lambda one: both[0] if one.openings else both[1],
        ),
        "release, and openings for an application that follows the cycle": (
            "II and III",
            lambda one: both[1] if one.table == "200" else both[0],
        ),
        "release, and share of the time waited": (
            "II and III",
            lambda one: math.sqrt(rest + growth * one.waited**2),
        ),
        "interrupts of the master, each with a phase of its own": ("II", interrupts(study, everywhere=False)),
        "interrupts of master and slaves, each with a phase of its own": ("II", interrupts(study, everywhere=True)),
    }


@dataclass(frozen=True)
class Law:
    """What a share of the time off the wire gives, fitted on Table II: the share, and a deviation for each row."""

    share: float
    given: dict[tuple[str, str], float]
    rows: list[Row]

    def ratio(self, *tables: str) -> float:
        """Mean deviation over the printed one."""
        return ratio(self.rows, lambda one: self.given[one.table, one.name], *tables)

    def far(self, *tables: str) -> dict[tuple[str, str], float]:
        """Of the rows of these tables those beyond 15 %: given over printed."""
        ratios = {(one.table, one.name): self.given[one.table, one.name] / one.deviation for one in self.rows}
        return {key: value for key, value in ratios.items() if key[0] in tables and abs(value - 1) > NEAR}

    def greatest(self, table: str) -> float:
        """The greatest deviation that it gives a row of a table."""
        return max(value for key, value in self.given.items() if key[0] == table)

    def greatest_over_mean(self) -> float:
        """The greatest round trip over the mean, at the printed means, if a run's values are spread evenly."""
        return max(1 + math.sqrt(3) * self.given[one.table, one.name] / one.mean for one in self.rows)


def law(study: Study) -> Law:
    """The law that is nearest to the means of the predicted tables; it has no mechanism."""
    found = rows(study)
    source = scaled(found, lambda one: one.off_wire)
    return Law(source(found[0]) / found[0].off_wire, {(one.table, one.name): source(one) for one in found}, found)


def ratio(found: list[Row], source: Source, *tables: str) -> float:
    """Given over printed mean deviation, over all rows of these tables."""
    taken = [one for one in found if one.table in tables]
    return sum(map(source, taken)) / sum(one.deviation for one in taken)


def deviations(study: Study) -> list[dict[str, str]]:
    """A line for each source: predicted over printed mean deviation by table, and rows that are near."""
    found = rows(study)
    lines = []
    for name, (fitted, source) in sources(study, found).items():
        near = sum(abs(source(one) / one.deviation - 1) <= NEAR for one in found)
        lines.append(
            {
                "source": name,
                "fitted_on": fitted,
                **{
                    f"ratio_{key}": f"{ratio(found, source, table):.2f}"
                    for key, table in zip(("II", "III", "IV"), TABLES, strict=True)
                },
                "ratio_III_and_IV": f"{ratio(found, source, '200', 'load'):.2f}",
                "rows_within_15_percent": f"{near} of {len(found)}",
            }
        )
    return lines


def contradicting(found: list[Row], near: float = NEAR) -> list[tuple[Row, Row]]:
    """Pairs of rows for which no deviation that grows with the time waited is near both."""
    return [
        (one, other)
        for one in found
        for other in found
        if one.waited <= other.waited
        # What is near the first is at least so much, and may not shrink.
        if one.deviation * (1 - near) > other.deviation * (1 + near)
    ]


def excluded(study: Study) -> list[dict[str, str]]:
    """What the printed deviations and maxima leave no room for, row by row: of 100 values each, or fewer than are told.

    If one of n values is a cycle off the others, their deviation is at least CYCLE sqrt(n - 1) / n, whichever way and
    however many are. If the phase moves by b from request to request, the greatest is at least b (n - 1) / 2 above the
    mean.
    """
    apart = CYCLE * math.sqrt(HUNDRED - 1) / HUNDRED
    lines = []
    for one in rows(study):
        beat = 2 * (one.greatest - one.mean) / (HUNDRED - 1)
        lines.append(
            {
                "table": {"100": "II", "200": "III", "load": "IV"}[one.table],
                "row": one.name,
                "deviation_us": f"{one.deviation:.1f}",
                "least_deviation_if_one_is_a_cycle_off_us": f"{apart:.1f}",
                "greatest_above_mean_in_deviations": f"{(one.greatest - one.mean) / one.deviation:.2f}",
                "beat_at_most_us_a_request": f"{beat:.2f}",
                "deviation_of_that_beat_us": f"{beat * HUNDRED / math.sqrt(12):.1f}",
            }
        )
    return lines


def chance_of(ratio: float, values: int = HUNDRED, draws: int = 200_000) -> float:
    """How often two samples of one even distribution have deviations as far apart as this ratio or farther."""
    draw = np.random.default_rng(1)
    deviations = np.concatenate([draw.random((10_000, values)).std(axis=1, ddof=1) for _ in range(draws // 10_000)])
    one, other = deviations[::2], deviations[1::2]
    return float((np.maximum(one / other, other / one) >= ratio).mean())


def least_beat(period: int = 10_000) -> int:
    """By how much the phase moves from request to request at least, with a cycle of whole microseconds but 1 ms."""
    cycles = [cycle for cycle in range(864, 1152) if period % cycle]
    return min(min(period % cycle, cycle - period % cycle) for cycle in cycles)


def wires(payload: int) -> float:
    """Two lines of 100 Mbit/s and a switch that stores: preamble, header, payload and check sequence; microseconds."""
    return 2 * 0.08 * (payload + 26)


def one_way(host: Host, payload: int, draw: np.random.Generator) -> NDArray[np.float64]:
    """A hundred ways for each of three slaves, in the order of the requests."""
    count = 3 * HUNDRED
    return 2 * host.passage + wires(payload) + draw.uniform(0, host.interrupts, count)


def under_load(study: Study) -> list[dict[str, str]]:
    """A line for each reason: mean and deviation of a round trip of Table IV, over twenty seeds."""
    host = fit(study)
    means: dict[str, list[float]] = {}
    spreads: dict[str, list[float]] = {}
    for seed in range(20):
        draw = np.random.default_rng(seed)
        held = np.zeros(3 * HUNDRED)
        for slave in range(3):
            held[draw.integers(HUNDRED) * 3 + slave] += draw.uniform(*host.tail)

        def ways(*payloads: int, draw: np.random.Generator = draw) -> NDArray[np.float64]:
            return np.sum([one_way(host, payload, draw) for payload in payloads], axis=0)

        # Ethernet takes 1500 octets behind its header; 1448 octets of TCP stand in a segment.
        calm = {
            "one frame each way": ways(1500, 1500),
            "two frames each way, one behind the other": ways(1500, 1500) + 2 * wires(46) / 2,
            "a second segment that awaits the acknowledgement of the first": ways(1500, 52, 104, 1500, 52, 104),
        }
        tried = {name: (value + held, value) for name, value in calm.items()}
        trips = calm["one frame each way"]
        tried["one thread, timed from the request's release"] = (queued(trips + held), queued(trips))
        for name, (all_of_them, without) in tried.items():
            means.setdefault(name, []).append(float(all_of_them.mean()))
            spreads.setdefault(name, []).append(float(without.std(ddof=1)))
    said, wide = (mean(printed(study, "load", "TCP/IP", metric)) for metric in ("rtt_mean", "rtt_sd"))
    return [
        {
            "reason": name,
            "mean_us": f"{statistics.fmean(means[name]):.0f}",
            "mean_ratio": f"{statistics.fmean(means[name]) / said:.2f}",
            "deviation_ratio": f"{statistics.fmean(spreads[name]) / wide:.2f}",
        }
        for name in means
    ]


def queued(trips: NDArray[np.float64], interval: float = 1000) -> NDArray[np.float64]:
    """Round trips that one thread makes one by one, counted from releases an interval apart."""
    free, found = 0.0, np.empty_like(trips)
    for number, trip in enumerate(trips):
        free = max(free, number * interval) + trip
        found[number] = free - number * interval
    return found


def step(study: Study) -> dict[str, float]:
    """The step between the layouts, in microseconds, and how often phases drawn evenly make it as great as printed."""
    wide = {table: list(printed(study, table, "RTnet", "rtt_mean").values()) for table in ("100", "200")}
    said = statistics.fmean(wide["100"]) - statistics.fmean(wide["200"])
    least = attainable("100")[0] - attainable("200")[0]
    draw = np.random.default_rng(1)
    phases = [draw.uniform(0, CYCLE, (100_000, len(wide[table]))).mean(axis=1) for table in ("100", "200")]
    drawn = least + phases[0] - phases[1]
    return {
        "printed_means": said,
        "printed_least": min(wide["100"]) - min(wide["200"]),
        "equal_phases": least,
        "share_of_draws_as_far_off": float((np.abs(drawn - least) >= abs(said - least)).mean()),
    }


def tell(study: Study) -> None:
    """Writes what was tried."""
    write(study, "deviations.csv", deviations(study))
    write(study, "excluded.csv", excluded(study))
    write(study, "tcp_under_load.csv", under_load(study))
    write(study, "step.csv", [{key: f"{value:.2f}" for key, value in step(study).items()}])


def write(study: Study, name: str, lines: list[dict[str, str]]) -> None:
    """A table of equal keys."""
    with open(study.output(name), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
