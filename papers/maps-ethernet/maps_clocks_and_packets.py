"""Claims on clocks, packets and the sender's period."""

from __future__ import annotations

import numpy as np
import tautwire
from maps_cells import fit
from maps_testbed import FRAME, HEADERS, Cell
from numpy.typing import NDArray
from tautwire.claims import Basis, Outcome, Study, claim

#: Media overhead: preamble, start delimiter, gap.
OVERHEAD = 20
SECOND_PS = 10**12


def clocks(study: Study) -> dict[str, dict[str, float]]:
    """Table 1."""
    found: dict[str, dict[str, float]] = {}
    for row in study.table("table1_clock_sources"):
        found.setdefault(row["clock_source"], {})[row["metric"]] = float(row["value_ns"])
    return found


def read_cost_ns(study: Study, source: str) -> float:
    """What a reading costs a message, when the host model reads this clock."""
    said = clocks(study)[source]
    means = []
    for reads in (False, True):
        made = fit(study).network(Cell("UDP", 256, 0, messages=1000))
        # A wake-up is drawn too, and would hide a reading of some nanoseconds.
        made.settings["hosts"]["pc"]["threads"] = {"udp": {}}
        if reads:
            # Uniform about the printed mean, from the printed least.
            span = {"min": f"{said['min']:.0f} ns", "max": f"{2 * said['mean'] - said['min']:.0f} ns"}
            made.settings["hosts"]["pc"]["clock_read"] = span
        seen = tautwire.simulate(made).stream("message")["listeners"][0]["application"]["observed"]
        means.append(seen["delay_mean_ps"] / 1000)
    return (means[1] - means[0]) / 2


@claim("MAPS-28", Basis.CALIBRATED)
def cheapest_clock(study: Study) -> Outcome:
    """Table 1 compared, and the mean cost of a reading in the host model."""
    table = clocks(study)
    rdtsc = table["RDTSC"]
    others = [one for name, one in table.items() if name != "RDTSC"]
    holds = all(
        rdtsc["mean"] < one["mean"] and rdtsc["max"] > one["max"] and rdtsc["stdev"] > one["stdev"] for one in others
    )
    cost = read_cost_ns(study, "RDTSC")
    text = f"in a run a reading of RDTSC costs {cost:.0f} ns"
    return Outcome("mean 52 ns, deviation 594 ns, at most 411.8 us", text, holds and abs(cost - rdtsc["mean"]) < 30)


@claim("MAPS-29", Basis.CALIBRATED)
def other_clocks(study: Study) -> Outcome:
    """The mean cost of a reading in the host model."""
    cost = {name: read_cost_ns(study, name) for name in ("CPU_MONOTONIC", "CPU_REALTIME", "PTP/PHC")}
    text = ", ".join(f"{name} {value:.0f} ns" for name, value in cost.items())
    holds = all(abs(value / clocks(study)[name]["mean"] - 1) < 0.1 for name, value in cost.items())
    return Outcome("about 600 ns, and 4.8 us for the PHC", text, holds)


def servo_offsets(noise_ns: float, seed: int, seconds: int = 1000) -> NDArray[np.float64]:
    """Offsets as phc2sys reads them once a second, the readings in error by as much: the test bed's servo.

    With weights 0.35 and 0.15; a clock that is right but for what the servo makes of the readings.
    """
    random = np.random.default_rng(seed)
    servo = tautwire.ClockServo(proportional_per_mille=350, integral_per_mille=150)
    behind_ps = 0
    read = np.empty(seconds)
    for second in range(seconds):
        seen = behind_ps + round(1000 * random.normal(0, noise_ns))
        read[second] = seen / 1000
        step, rate = servo.sample(seen, interval_ps=SECOND_PS)
        # A part in 1e12 is a picosecond a second.
        behind_ps -= step + (rate or 0)
    return read


def rms(values: NDArray[np.float64]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(values**2)))


@claim("MAPS-31", Basis.PREDICTED)
def servo(study: Study) -> Outcome:
    """The greatest step from one second to the next, with an error of the readings that gives the printed RMS."""
    texts, holds = [], True
    for printed_rms, printed_drift in ((8257, 36_772), (2765, 11_946)):
        unit = np.mean([rms(servo_offsets(1.0, seed)) for seed in range(20)])
        noise = printed_rms / float(unit)
        drifts = [float(np.abs(np.diff(servo_offsets(noise, seed))).max()) for seed in range(20)]
        mean = sum(drifts) / len(drifts)
        holds &= abs(mean / printed_drift - 1) < 0.2
        texts.append(f"RMS {printed_rms} ns with readings in error by {noise:.0f} ns: {mean:.0f} ns a second")
    return Outcome("RMS 8257 and 2765, drifts of 36772 and 11946 (ns, ns a second)", "; ".join(texts), holds)


@claim("MAPS-32", Basis.BY_CONSTRUCTION)
def packet_intervals(study: Study) -> Outcome:
    """Table 2, and the bits of the largest message's frame."""
    bits = 8 * (1472 + HEADERS + FRAME + OVERHEAD)
    table = {(row["saturation_pct"], row["metric"]): float(row["value"]) for row in study.table("table2_saturation")}
    ours = {level: bits / (10 * level) for level in (25, 50, 75, 100)}
    holds = all(
        round(one, 1) == table[str(level), "packet_interval_us"]
        and round(10 * one) == table[str(level), "burst10_interval_us"]
        for level, one in ours.items()
    )
    text = f"{bits} bit: " + ", ".join(f"{one:.3f}" for one in ours.values()) + " us"
    return Outcome("12304 bit: 49.2, 24.6, 16.4, 12.3 us", text, holds)


def periods_us(study: Study, cell: Cell) -> NDArray[np.float64]:
    """Distances of a sender's transmissions on its line."""

    def make() -> NDArray[np.float64]:
        observation = tautwire.simulate(fit(study).network(cell), frames=["message"])
        rows = zip(observation.frames.column("hop"), observation.frames.column("start_ps"), strict=True)
        return np.diff(np.array([start for hop, start in rows if hop == 0], dtype=np.float64)) / 1e6

    return study.once(f"periods {cell}", make)


@claim("MAPS-34", Basis.PREDICTED)
def transmit_periods(study: Study) -> Outcome:
    """The deviation of the sender's period by payload: whether it grows from 1024 B on."""
    found = {p: float(periods_us(study, Cell("UDP", p, 0)).std(ddof=1)) for p in (64, 512, 1024, 1472)}
    text = ", ".join(f"{p} B {one:.2f} us" for p, one in found.items())
    holds = min(found[1024], found[1472]) > 1.2 * found[512]
    # Told of figures that are lost: a fact that was observed.
    return Outcome("hardly affected; more variance from 1024 B", text, holds, printed=True)
