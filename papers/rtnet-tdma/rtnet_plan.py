"""The evaluation's slots of 200 us against planned ones, by proof and by run."""

from __future__ import annotations

import csv
from dataclasses import dataclass

import tautwire
from rtnet_segment import CYCLE, LAYOUTS, Layout, Request, network
from rtnet_trips import observed
from tautwire.claims import Study


@dataclass(frozen=True)
class Worst:
    """Round trips of a layout at worst, in microseconds: proven for any instant, and seen over all phases."""

    cycle: float
    proven: float
    seen: float


def worst(layout: Layout, cycle: float = CYCLE, step: int = 10) -> Worst:
    """Proof, and a run for every ``step`` microseconds of the cycle."""
    described = network(layout, [Request("slave-a", 0)], cycle=cycle)
    bound = tautwire.bounds(described).stream("response-slave-a")["listeners"][0]["application"]["bound"]
    proven = bound.get("delay_max_ps")
    assert proven is not None, "one request every 10 ms is bounded"
    seen = 0.0
    for phase in range(0, CYCLE, step):
        # A nanosecond behind the start of a slot, where the wait is longest, and the phase itself.
        asked = [Request("slave-a", 3 * CYCLE + phase + 0.001)]
        run = tautwire.simulate(network(layout, asked, cycle=cycle, duration="33 ms"))
        seen = max(seen, observed(run).greatest)
    return Worst(cycle, proven / 1e6, seen)


def planned(shortest: bool = False) -> tuple[Layout, float]:
    """Slots planned for the hosts, sizes and the standby's watch of the evaluation, and their cycle."""
    plan = tautwire.plan_slots(network(LAYOUTS["200"], [Request("slave-a", 0)]), shortest=shortest)
    slots = tuple((slot.owner, slot.offset_ps // 10**6, slot.length_ps // 10**6) for slot in plan.slots)
    return Layout(LAYOUTS["200"].watch, slots), plan.cycle_ps / 1e6


def compare(study: Study) -> dict[str, Worst]:
    """The published layout, planned slots in the same cycle, and in the shortest."""

    def make() -> dict[str, Worst]:
        return {
            "published, 200 us": worst(LAYOUTS["200"]),
            "planned, same cycle": worst(*planned()),
            "planned, shortest cycle": worst(*planned(shortest=True)),
        }

    return study.once("planner", make)


def tell(study: Study) -> None:
    """Writes the comparison."""
    with open(study.output("planner.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["layout", "cycle_us", "round_trip_proven_us", "round_trip_seen_us"])
        for name, one in compare(study).items():
            writer.writerow([name, f"{one.cycle:.0f}", f"{one.proven:.3f}", f"{one.seen:.3f}"])
