"""Round trips as the master's application sees them: printed, attainable, and run at the fitted phase.

A round trip is a straight line in the phase of the application (equation 4), so a run at one phase tells
which phase gives a printed mean. That is the fit: one number for each run, nothing else.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import tautwire
from rtnet_segment import CYCLE, HAND_OVER, LAYOUTS, SLAVES, Interrupts, Request, network
from tautwire.claims import Study

#: Printed rows that cannot be: a mean above its maximum, and a deviation above what 100 values allow.
IMPOSSIBLE = {("100", "3"), ("200", "2")}
TABLES = {"100": "table2_slots_100us", "200": "table3_slots_200us", "load": "table4_larger_throughput"}
#: Of the requests of Table 4: one a millisecond, in turn to the three slaves.
LOAD = {"interval": 3000, "size": "payload: 1500 B"}


def printed(study: Study, table: str, stack: str, metric: str) -> dict[str, float]:
    """Values of a table by run or slave; of RTnet without the impossible rows."""
    key = "slave" if table == "load" else "test_no"
    rows = [row for row in study.table(TABLES[table]) if row["protocol_stack"] == stack and row["metric"] == metric]
    usable = [row for row in rows if stack != "RTnet" or (table, row[key]) not in IMPOSSIBLE]
    return {row[key]: float(row["value_us"]) for row in usable}


def mean(values: dict[str, float]) -> float:
    """Mean of all rows."""
    return statistics.fmean(values.values())


@dataclass(frozen=True)
class Trip:
    """Round trips of one run, in microseconds; ``wire`` is for how long one of the two frames is on a line."""

    count: int
    mean: float
    least: float
    greatest: float
    deviation: float
    wire: float


def observed(run: tautwire.Observation, slave: str = "slave-a") -> Trip:
    """The round trips to a slave, into the master's application."""
    seen = run.stream(f"response-{slave}")["listeners"][0]["application"]["observed"]
    mean, least, greatest = (seen[f"delay_{name}_ps"] / 1e6 for name in ("mean", "min", "max"))
    return Trip(seen["count"], mean, least, greatest, seen["delay_sd_ps"] / 1e6, on_the_wire(run, slave))


def on_the_wire(run: tautwire.Observation, slave: str) -> float:
    """Of a mean round trip, how long request and response are on a line: two lines each, with the tag of the second."""
    hops = [hop for name in ("request", "response") for hop in run.stream(f"{name}-{slave}")["hops"]]
    parts = ("transmission_ps", "propagation_ps")
    return sum(hop["observed"]["mean"][part] for hop in hops for part in parts) / 1e6


def request(table: str, slave: str, at: float) -> Request:
    """The request of a table's runs. Those of Table 4 follow each other by a millisecond."""
    turn = 1000 * SLAVES.index(slave) if table == "load" else 0
    return Request(slave, at + turn, **LOAD) if table == "load" else Request(slave, at)  # type: ignore[arg-type]


def at_phase(
    layout: str, slave: str, phase: float, jitter: float = 0, seed: int = 1, interrupts: Interrupts | None = None
) -> Trip:
    """A run in which the application of the master asks a slave at this phase of the cycle."""
    table = "load" if layout == "load" else layout[:3]
    asked = request(table, slave, phase)
    described = network(LAYOUTS[layout], [asked], jitter=jitter, interrupts=interrupts)
    run = tautwire.simulate(described, seed=seed)
    return observed(run, slave)


def floor(layout: str, slave: str = "slave-a") -> float:
    """The least round trip: the request is just in time for its slot. A run at phase 0 tells it."""
    return at_phase(layout, slave, 0).mean - (LAYOUTS[layout].start("master") - HAND_OVER)


def attainable(layout: str, slave: str = "slave-a") -> tuple[float, float]:
    """From the least mean to the greatest over all phases."""
    least = floor(layout, slave)
    return least, least + CYCLE


def jitter(study: Study) -> float:
    """How late the application is released at most: fitted on the deviations of Table 2, uniform."""
    return math.sqrt(12) * mean(printed(study, "100", "RTnet", "rtt_sd"))


def phase_of(table: str, slave: str, wanted: float, jitter: float) -> float:
    """The phase at which the mean round trip is the printed one."""
    at_zero = at_phase(table, slave, 0).mean - jitter / 2
    return (at_zero - wanted) % CYCLE


def fitted(study: Study, table: str) -> dict[str, Trip]:
    """Every usable row of a table, run at its fitted phase."""

    def make() -> dict[str, Trip]:
        late = jitter(study)
        trips = {}
        for row, wanted in printed(study, table, "RTnet", "rtt_mean").items():
            slave = f"slave-{row.lower()}" if table == "load" else "slave-a"
            trips[row] = at_phase(table, slave, phase_of(table, slave, wanted, late), late, seed=int(row, 36))
        return trips

    return study.once(f"fitted {table}", make)


def row(values: dict[str, float], digits: int = 1) -> str:
    """Values in the order of their rows."""
    return ", ".join(f"{value:.{digits}f}" for value in values.values())


def means(trips: dict[str, Trip]) -> dict[str, float]:
    """Means by row."""
    return {name: trip.mean for name, trip in trips.items()}


def deviations(trips: dict[str, Trip]) -> dict[str, float]:
    """Standard deviations by row."""
    return {name: trip.deviation for name, trip in trips.items()}
