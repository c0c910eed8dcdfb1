"""Conditions of Table 3, run: fitting on an idle network, the matrix, and what a cell gives."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import tautwire
from maps_testbed import FITTED, PAYLOADS, PROTOCOLS, SATURATIONS, WIRE_NS, Cell, Fit, Knobs, frame, network
from tautwire.claims import Study

#: Messages of a cell whose application sends every 510 ms; 1000 with FULL=1.
SLOW_MESSAGES = 100


@dataclass(frozen=True)
class Printed:
    """A row of Table 3."""

    count: int
    lost: int
    mean_us: float
    sd_us: float


@dataclass(frozen=True)
class Seen:
    """What a cell gave: of the messages, or of the answers if they are relayed.

    What is logged has the stations' clocks in it.
    """

    sent: int
    lost: int
    mean_us: float
    sd_us: float
    min_us: float
    max_us: float
    quantiles_us: tuple[float, ...]
    period_sd_us: float
    drops: tuple[tuple[str, int], ...]
    flood_lost: int
    logged_mean_us: float
    logged_sd_us: float
    offset_us: float


@dataclass(frozen=True)
class Fits:
    """The fitted host models: reading a frame from the TTE card costs so much an octet, and the stacks."""

    interface_ns: float
    stacks: tuple[tuple[str, Fit], ...]

    def network(self, cell: Cell) -> tautwire.Network:
        """The description of a cell."""
        return network(cell, self.interface_ns, dict(self.stacks))


def printed(study: Study) -> dict[tuple[str, int, int], Printed]:
    """Table 3."""

    def row(one: dict[str, str]) -> tuple[tuple[str, int, int], Printed]:
        key = (one["protocol"], int(one["payload_bytes"]), int(one["saturation_pct"]))
        counts = (int(one["n_messages"]), int(one["lost_messages"]))
        return key, Printed(*counts, float(one["mean_us"]), float(one["sd_us"]))

    return study.once("printed", lambda: dict(row(one) for one in study.table("table3_one_way_latency")))


def run(fits: Fits, cell: Cell) -> Seen:
    """Runs a cell."""
    observation = tautwire.simulate(fits.network(cell))
    name = "answer" if cell.round_trip else "message"
    message = observation.stream("message")
    end = observation.stream(name)
    seen = end["listeners"][0]["application"]["observed"]
    drops: dict[str, int] = {}
    for one in {message["name"]: message, name: end}.values():
        application = one["listeners"][0]["application"]["observed"]
        for part in (one["frames"]["dropped"], application["dropped"]):
            for reason, count in part.items():
                drops[reason] = drops.get(reason, 0) + count
    flood = 0
    if cell.saturation:
        one = observation.stream("flood-es2")
        flood = sum(one["frames"]["dropped"].values())
        flood += sum(one["listeners"][0]["application"]["observed"]["dropped"].values())
    quantiles = seen.get("quantiles", {})
    sent = message["frames"]["created"]
    interval = message["listeners"][0]["application"]["observed"].get("interval", {})
    us = 1e6
    bed = observation.test_bed.of("message")
    logged = bed.round_trip if cell.round_trip else bed.links[0].one_way
    offsets = [one.offset.mean_ps for one in observation.test_bed.clocks if one.offset is not None]
    return Seen(
        sent=sent,
        lost=sum(drops.values()),
        mean_us=seen.get("delay_mean_ps", 0) / us,
        sd_us=seen.get("delay_sd_ps", 0) / us,
        min_us=seen.get("delay_min_ps", 0) / us,
        max_us=seen.get("delay_max_ps", 0) / us,
        quantiles_us=tuple(quantiles.get(f"delay_p{q}_ps", 0) / us for q in ("50", "90", "99")),
        period_sd_us=interval.get("interval_sd_ps", 0) / us,
        drops=tuple(sorted(drops.items())),
        flood_lost=flood,
        logged_mean_us=logged.mean_ps / us if logged else 0.0,
        logged_sd_us=(logged.sd_ps or 0) / us if logged else 0.0,
        offset_us=max(offsets, default=0) / us,
    )


def fit(study: Study) -> Fits:
    """Fits the host models on the rows of 64 and 1472 B without saturation, and on nothing else.

    Slopes follow from the two printed means less the wire. What is least of TTE, RC and BE is put to the card,
    which all three read; the rest to their stacks. Constants are what the two runs leave on average.
    """

    def make() -> Fits:
        table = printed(study)
        slopes = {}
        for protocol in PROTOCOLS:
            low, high = (table[protocol, payload, 0].mean_us for payload in FITTED)
            slope = 1000 * (high - low) / (FITTED[1] - FITTED[0])
            slopes[protocol] = max(0.0, slope - WIRE_NS[protocol])
        card = min(slopes[protocol] for protocol in ("TTE", "RC", "BE"))
        rest = {one: slope - (0 if one == "UDP" else card) for one, slope in slopes.items()}
        bare = Fits(card, tuple((one, Fit(0, rest[one])) for one in PROTOCOLS))
        constants = {}
        for protocol in PROTOCOLS:
            left = [table[protocol, p, 0].mean_us - run(bare, Cell(protocol, p, 0)).mean_us for p in FITTED]
            constants[protocol] = 1000 * sum(left) / len(left)
        return Fits(card, tuple((one, Fit(constants[one], rest[one])) for one in PROTOCOLS))

    return study.once("fits", make)


def matrix(study: Study) -> list[Cell]:
    """All conditions: protocol, payload, saturation, one way and round trip, both periods."""
    slow = 1000 if study.full else SLOW_MESSAGES
    return [
        Cell(protocol, payload, saturation, period, messages, round_trip)
        for period, messages in ((2, 1000), (510, slow))
        for round_trip in (False, True)
        for protocol in PROTOCOLS
        for payload in PAYLOADS
        for saturation in SATURATIONS
    ]


def _task(task: tuple[Fits, Cell]) -> Seen:
    return run(*task)


def run_all(study: Study, cells: list[Cell]) -> dict[Cell, Seen]:
    """Runs cells that have not been run yet, on all processors, and gives them all."""
    known: dict[Cell, Seen] = study.once("seen", dict)
    new = [cell for cell in cells if cell not in known]
    if new:
        fits = fit(study)
        # The longest first.
        new.sort(key=lambda cell: -cell.saturation * cell.period_ms * cell.messages)
        with ProcessPoolExecutor(max_workers=os.cpu_count(), mp_context=get_context("spawn")) as pool:
            known.update(zip(new, pool.map(_task, [(fits, cell) for cell in new]), strict=True))
    return {cell: known[cell] for cell in cells}


def seen(study: Study, cell: Cell) -> Seen:
    """What one cell gives."""
    return run_all(study, [cell])[cell]


def at_level(study: Study, protocol: str, saturation: int) -> dict[int, Seen]:
    """A protocol's rows of our Table 3 at one saturation, by payload; no other is run."""
    cells = {payload: Cell(protocol, payload, saturation) for payload in PAYLOADS}
    found = run_all(study, list(cells.values()))
    return {payload: found[cell] for payload, cell in cells.items()}


def one_way(study: Study) -> dict[tuple[str, int, int], Seen]:
    """Our Table 3."""
    cells = [Cell(protocol, p, s) for protocol in PROTOCOLS for p in PAYLOADS for s in SATURATIONS]
    found = run_all(study, cells)
    return {(cell.protocol, cell.payload, cell.saturation): one for cell, one in found.items()}


__all__ = [
    "Cell", "Fits", "Knobs", "Printed", "Seen", "at_level", "fit", "frame", "matrix", "one_way", "printed", "run",
    "run_all", "seen",
]  # fmt: skip
