"""Claims about slots, waits and the master, by the instants of frames."""

from __future__ import annotations

import numpy as np
import polars as pl
import tautwire
from numpy.typing import NDArray
from rtnet_segment import CYCLE, HAND_OVER, LAYOUTS, RECEIVE, SLAVES, Layout, Request, network
from tautwire.claims import Basis, Outcome, Study, claim

Times = NDArray[np.float64]


def starts(run: tautwire.Observation, stream: str, hop: int = 0) -> Times:
    """When the frames of a stream begin on the wire at a hop, in microseconds."""
    rows = pl.DataFrame(run.frames).filter((pl.col("stream") == stream) & (pl.col("hop") == hop)).sort("number")
    return rows["start_ps"].to_numpy().astype(np.float64) / 1e6


def one_run(layout: str, at: float = 0, more: str = "", count: int = 20) -> tautwire.Observation:
    """Requests to slave A every 10 ms, all transmissions kept."""
    asked = [Request("slave-a", at)]
    return tautwire.simulate(network(LAYOUTS[layout], asked, duration=f"{10 * count - 5} ms", more=more), frames=True)


def missed_slots(run: tautwire.Observation, layout: Layout, slave: str = "slave-a") -> list[tuple[int, str, int]]:
    """Slots that a slave let pass though it had been asked, as a capture at the master shows them.

    Only what the master sends and hears is looked at: when it opened cycles, when a request left, when its response
    came. Each missed slot is named by the number of its cycle, its owner and its offset.
    """
    opened, asked = starts(run, "opening"), starts(run, f"request-{slave}")
    rows = pl.DataFrame(run.frames).filter((pl.col("stream") == f"response-{slave}") & (pl.col("hop") == 1))
    heard = rows.sort("number")["received_ps"].to_numpy() / 1e6
    offsets = [offset for owner, offset, _ in layout.slots if owner == slave]
    missed = []
    for request, response in zip(asked, heard, strict=False):
        cycles = np.flatnonzero((opened + CYCLE > request) & (opened < response))
        begins = [(int(cycle), offset, opened[cycle] + offset) for cycle in cycles for offset in offsets]
        between = [(cycle, slave, offset) for cycle, offset, begin in begins if request < begin < response]
        # The last of them is the one that the response had.
        missed.extend(between[:-1])
    return missed


@claim("RTN-08", Basis.BY_CONSTRUCTION)
def which_slot(study: Study) -> Outcome:
    """From the request's slot to that of its response, and the slots that a capture at the master names."""
    gaps, named = {}, {}
    for layout in ("100", "200"):
        run = one_run(layout)
        gaps[layout] = starts(run, "response-slave-a") - starts(run, "request-slave-a")
        named[layout] = missed_slots(run, LAYOUTS[layout])
    first, narrow_gaps = named["100"][0], gaps["100"]
    narrow, wide = (np.unique(gap.round(3)) for gap in gaps.values())
    return Outcome(
        "with slots of 100 us a cycle late, with 200 us in the same cycle",
        f"{narrow.tolist()} us with slots of 100 us, {wide.tolist()} us with 200 us; of {len(narrow_gaps)} slots "
        f"{len(named['100'])} missed (first: cycle {first[0]}, {first[1]} at {first[2]} us) and {len(named['200'])}",
        narrow.tolist() == [CYCLE + 100]
        and wide.tolist() == [200]
        and named["100"] == [(10 * turn, "slave-a", 300) for turn in range(len(gaps["100"]))]
        and named["200"] == [],
    )


def in_the_switch(run: tautwire.Observation) -> tuple[int, int]:
    """What all frames waited in the switch, in picoseconds, and how many passed it."""
    hops = [hop["observed"] for stream in run.summary["streams"] for hop in stream["hops"][1:] if hop.get("observed")]
    return sum(hop["sum"]["queueing_ps"] for hop in hops), sum(hop["count"] for hop in hops)


def asked_at_once(at: float, *, slotted: bool = True) -> tautwire.Observation:
    """All three slaves are asked at the same instant of every 10 ms, shortly, and answer with 1500 B: what comes from
    them to the master's port comes faster than it leaves, unless slots keep it apart."""
    asked = [Request(slave, at, size="payload: 46 B", answer="payload: 1500 B") for slave in SLAVES]
    return tautwire.simulate(network(LAYOUTS["load"], asked, duration="195 ms", slotted=slotted))


#: Phases of the application in the cycle at which all slaves are asked at once, in microseconds.
AT_ONCE = tuple(range(0, CYCLE, 100))


@claim("RTN-09", Basis.PREDICTED)
def no_queue_in_the_switch(study: Study) -> Outcome:
    """All frames of all runs, by the parts of their delays; and the same traffic without slots, which must queue."""
    alone = [in_the_switch(one_run(layout, at=333)) for layout in LAYOUTS]
    together = [in_the_switch(asked_at_once(at)) for at in AT_ONCE]
    waits, frames = (sum(part) for part in zip(*alone, *together, strict=True))
    without, passages = in_the_switch(asked_at_once(0, slotted=False))
    return Outcome(
        "zero",
        f"{waits} ps over {frames} passages of the switch, all three slaves asked at once among them; without slots "
        f"the answers to these requests wait {without / 1e6:.0f} us over {passages} passages",
        waits == 0 < without,
    )


def waits(layout: str) -> tuple[Times, Times, Times]:
    """Per instant of hand-over in the cycle: that instant, the wait for the slot, and the round trip."""
    instants = np.arange(0, CYCLE, 10) + 5.0
    wait, trip = np.empty_like(instants), np.empty_like(instants)
    for place, instant in enumerate(instants):
        # In a later cycle, so that the instant of release is not before the run.
        run = one_run(layout, at=CYCLE + instant - HAND_OVER, count=2)
        wait[place] = starts(run, "request-slave-a")[0] - CYCLE - instant
        seen = run.stream("response-slave-a")["listeners"][0]["observed"]
        trip[place] = seen["delay_min_ps"] / 1e6 + RECEIVE - HAND_OVER
    return instants, wait, trip


def equation_3(instants: Times, s1: float, s2: float) -> Times:
    """The wait of a request as printed."""
    return np.where(instants < s1, s1 - instants, np.where(instants < s2, 0, CYCLE - instants + s1))


def parts(instants: Times, s1: float, s2: float) -> dict[str, NDArray[np.bool_]]:
    """The three cases."""
    return {"before": instants < s1, "within": (instants >= s1) & (instants < s2), "behind": instants >= s2}


def misfit(seen: Times, said: Times, cases: dict[str, NDArray[np.bool_]]) -> dict[str, float]:
    """The greatest difference in each case, in microseconds."""
    return {name: float(np.abs(seen - said)[case].max()) for name, case in cases.items()}


def told(differences: dict[str, float]) -> str:
    """Differences as a sentence."""
    return ", ".join(f"{value:.3f} us {name}" for name, value in differences.items())


@claim("RTN-10", Basis.BY_CONSTRUCTION)
def wait_of_the_request(study: Study) -> Outcome:
    """Equation 3 against the run, case by case."""
    layout = LAYOUTS["200"]
    s1, s2 = layout.start("master"), layout.start("slave-a")
    instants, wait, _ = study.once("waits", lambda: waits("200"))
    off = misfit(wait, equation_3(instants, s1, s2), parts(instants, s1, s2))
    return Outcome(
        "s1 - Tx before the slot, 0 within, T - Tx + s1 behind it",
        f"differs by {told(off)} the slot: what comes behind the start of its slot waits for the next cycle",
        max(off.values()) < 0.01,
    )


@claim("RTN-11", Basis.BY_CONSTRUCTION)
def round_trip(study: Study) -> Outcome:
    """Equation 4 as printed, and without the second flight of the request, against the run."""
    layout = LAYOUTS["200"]
    s1, s2 = layout.start("master"), layout.start("slave-a")
    instants, wait, trip = study.once("waits", lambda: waits("200"))
    # What is left of a round trip behind the response's slot, and of a request's way before it is ready.
    response = float((trip - wait)[instants < s1].min()) - (s2 - s1)
    cases = parts(instants, s1, s2)
    request = response + HAND_OVER
    corrected = np.where(instants < s2, s2 - instants, CYCLE - instants + s2) + response
    as_printed = corrected + np.where(cases["within"], request, 0)
    off, right = misfit(trip, as_printed, cases), misfit(trip, corrected, cases)
    return Outcome(
        "Treq + (s2 - Tx) + Tresp within the slot",
        f"differs by {told(off)} the slot as printed; by {told(right)} with the flight counted once: there the "
        f"request waits for the next cycle",
        max(off.values()) < 0.01,
    )


@claim("RTN-17", Basis.BY_CONSTRUCTION)
def first_slots(study: Study) -> Outcome:
    """What is on the wire first in each cycle, and that nothing is in the standby's slot."""
    run = one_run("100")
    opened = starts(run, "opening")
    frames = pl.DataFrame(run.frames).filter((pl.col("hop") == 0) & (pl.col("stream") != "opening"))
    within = (frames["start_ps"].to_numpy() / 1e6) % CYCLE
    heard = run.stream("opening")["listeners"]
    return Outcome(
        "the first slot is the synchronisation's, sent to all by the master, the second the backup master's",
        f"{len(opened)} cycles opened at {np.unique(opened % CYCLE).tolist()} us for {len(heard)} stations; "
        f"first other frame at {within.min():.1f} us",
        bool((opened % CYCLE == 0).all()) and len(heard) == 4 and within.min() >= 200,
    )


@claim("RTN-19", Basis.BY_CONSTRUCTION)
def addresses_of_the_start_up(study: Study) -> Outcome:
    """All stations with slots start up; what each knows, and what is on the wire before and behind."""
    asked = [Request(slave, 1000 * turn) for turn, slave in enumerate(SLAVES)]
    run = tautwire.simulate(network(LAYOUTS["load"], asked, duration="600 ms", start_up=True), frames=True)
    stations = run.summary["start_up"]
    known = [station["known"] for station in stations]
    begun = max(station.get("running_ps", 10**15) for station in stations)
    rows = pl.DataFrame(run.frames).filter(pl.col("hop") == 0)
    first = rows.filter(pl.col("stream").str.starts_with("request-"))["start_ps"].min()
    told = rows.filter(pl.col("stream").str.starts_with("start-up:"))
    # A frame that was due may still leave; nothing is asked for behind it.
    behind = told.filter(pl.col("start_ps") > begun + 2 * CYCLE * 10**6)
    return Outcome(
        "addresses are static at run time: RTcfg finds them in the initialisation",
        f"{len(stations)} stations know {min(known)} of {len(stations)} addresses at {begun / 1e9:.1f} ms, after "
        f"{told.height - behind.height} messages; of {rows.filter(pl.col('start_ps') > begun).height} frames behind "
        f"that "
        f"{behind.height} are of it, and none asks for an address",
        known == [len(stations)] * len(stations) and behind.height == 0 and first is not None and rows.height > 0,
    )


@claim("RTN-18", Basis.BY_CONSTRUCTION)
def standby_takes_over(study: Study) -> Outcome:
    """The master fails; who opens the cycles, and when."""
    run = one_run("100", more="events:\n  - {at: 100300 us, stop-node: master}\n")
    by_master, by_standby = starts(run, "opening"), starts(run, "standing-in")
    gap = by_standby[0] - by_master[-1]
    gaps = np.diff(by_standby)
    return Outcome(
        "the standby opens the next basic cycle",
        f"last opened by the master at {by_master[-1]:.0f} us, next by the standby {gap:.0f} us later, then "
        f"{len(gaps)} more, each after {np.unique(gaps.round(3)).tolist()} us",
        gap == CYCLE + LAYOUTS["100"].watch and len(gaps) > 0,
    )
