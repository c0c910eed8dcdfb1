"""Claims on how switches, cards and cycles work, each with the mechanism taken out."""

from __future__ import annotations

import itertools

import tautwire
from maps_cells import fit, run, run_all
from maps_testbed import UNFITTED, Cell, Knobs, flood
from tautwire.claims import Basis, Flip, Outcome, Study, claim


@claim("MAPS-22", Basis.BY_CONSTRUCTION)
def reception_ports_in_turn(study: Study) -> Outcome:
    """A flood of the whole line: with a queue per reception port no message is lost, with one for all many are."""
    knobs = [Knobs(fair=fair, sleeps_too_long=False) for fair in (True, False)]
    fair, one_queue = (run(fit(study), Cell("UDP", 1472, 100, knobs=one)) for one in knobs)
    text = f"in turn {fair.lost} messages lost and {fair.flood_lost} of the flood, in one queue {one_queue.lost}"
    holds = fair.lost == 0 and fair.flood_lost > 0 and one_queue.lost > 0
    return Outcome("drops hit the flooding port alone", text, holds)


@claim("MAPS-23", Basis.BY_CONSTRUCTION)
def only_the_last_is_sent(study: Study) -> Outcome:
    """Four messages in a BAG, and in a period: one is received."""
    texts, holds = [], True
    for protocol in ("RC", "TTE"):
        seen = run(fit(study), Cell(protocol, 256, 0, messages=800, knobs=Knobs(period_ns=250_100)))
        got = 1 - seen.lost / seen.sent
        holds &= 0.2 < got < 0.3
        texts.append(f"{protocol} {100 * got:.0f} % received ({', '.join(reason for reason, _ in seen.drops)})")
    return Outcome("only the last message of a period or BAG is sent", "; ".join(texts), holds)


@claim("MAPS-24", Basis.BY_CONSTRUCTION)
def periods_must_be_longer(study: Study) -> Outcome:
    """An application that is 0.1 % faster than its virtual link loses messages; at twice the period none."""
    fast, slow = (
        run(fit(study), Cell("TTE", 256, 0, messages=count, knobs=Knobs(period_ns=period)))
        for period, count in ((999_000, 3000), (2_003_000, 1000))
    )
    text = f"{fast.lost} of {fast.sent} lost at 0.999 ms, {slow.lost} of {slow.sent} at 2 ms, half of the slots"
    return Outcome("the application's cycle must be longer, up to 50 % of bandwidth", text, fast.lost > 0 == slow.lost)


@claim("MAPS-25", Basis.BY_CONSTRUCTION)
def empty_slots_are_kept(study: Study) -> Outcome:
    """What best effort gets of a line with a slot of the largest frame a millisecond, of which one in 400 has a
    message: with the slot kept, and with the slot released."""

    def sent(empty_slot: str) -> float:
        cell = Cell("TTE", 1472, 0, messages=10, knobs=Knobs(empty_slot=empty_slot, period_ns=510_003_000))
        made = fit(study).network(cell)
        made.settings["run"]["duration"] = "400 ms"
        traffic = flood(99, sleeps_too_long=False)
        made.stream("greedy", "es1", "es2", tagged=False, payload="1500 B", stack="be", traffic=traffic)
        seen = tautwire.simulate(made).stream("greedy")["frames"]
        return float(seen["delivered"] * 12_304 / 4e8)

    kept, released = sent("kept"), sent("released")
    text = f"best effort gets {100 * kept:.1f} % of the line beside empty slots, {100 * released:.1f} % if released"
    return Outcome("the slot is reserved without a message", text, kept < released - 0.003)


@claim("MAPS-26", Basis.PREDICTED)
def comparable_on_an_idle_network(study: Study) -> Outcome:
    """RC and BE within 20 % at the payloads that nothing is fitted on: with a raster and, if it is the cause, not
    without one."""

    def apart(raster_us: int) -> float:
        knobs = Knobs(raster_us=raster_us)
        cells = {(one, p): Cell(one, p, 0, messages=200, knobs=knobs) for one in ("RC", "BE") for p in UNFITTED}
        found = run_all(study, list(cells.values()))
        return max(abs(found[cells["BE", p]].mean_us / found[cells["RC", p]].mean_us - 1) for p in UNFITTED)

    raster, none = apart(100), apart(0)
    text = f"within {100 * raster:.0f} % with a raster of 100 us, and within {100 * none:.0f} % without one"
    return Outcome("comparable, by the raster", text, raster < 0.2 <= none)


def slope(study: Study, knobs: Knobs) -> float:
    """Microseconds an octet of RC on an idle network."""
    low, high = (run(fit(study), Cell("RC", p, 0, messages=200, knobs=knobs)).mean_us for p in (64, 1472))
    return (high - low) / 1408


@claim("MAPS-27", Basis.PREDICTED)
def raster_makes_the_slope(study: Study) -> Outcome:
    """The slope is there without a raster, stays with one, and goes with the time that reading from the card takes."""
    ours, raster = slope(study, Knobs()), slope(study, Knobs(raster_us=100))
    fast = slope(study, Knobs(slow_interface=False))
    text = (
        f"{ours:.3f} us an octet without a raster, {raster:.3f} us with one of 100 us, {fast:.3f} us with a fast card"
    )
    return Outcome("payload counts because the raster halves the window", text, ours < 0.1 or raster > 1.5 * ours)


#: How much of a level counts as kept: what is near in this study is within a fifth.
KEPT = 0.8
LEVELS = (50, 100)


def levels(**injector: int) -> list[float]:
    """What is sent of the line at 50 and 100 %, per cent."""

    def level(saturation: int) -> float:
        made = tautwire.Network("injector", network_control="none", run={"duration": "1 s"})
        made.end_station("es3")
        made.end_station("es1")
        made.link("es3", "es1", rate="1 Gbit/s")
        traffic = flood(saturation, **injector)
        made.stream("flood", "es3", "es1", tagged=False, payload="1500 B", traffic=traffic)
        return float(tautwire.simulate(made).stream("flood")["frames"]["created"] * 12_304 / 1e7)

    return [level(saturation) for saturation in LEVELS]


def kept(found: list[float]) -> bool:
    """Whether both levels are there but for a fifth.

    Examples
    --------
    >>> kept([46, 86]), kept([46, 75]), kept([28, 38])
    (True, False, False)
    """
    return all(ours >= KEPT * wanted for ours, wanted in zip(found, LEVELS, strict=True))


@claim("MAPS-33", Basis.PREDICTED)
def bursts_keep_the_level(study: Study) -> Outcome:
    """What is sent with bursts of 10 and of 1, sleeping 60 us too long; bursts of 10 and twice that, or one thread."""

    def told(found: list[float]) -> str:
        return " and ".join(f"{one:.0f}" for one in found) + " % of the line"

    ten, one = levels(burst=10), levels(burst=1)
    others = {"sleeps 120 us too long": levels(overhead_us=120), "one thread in place of three": levels(threads=1)}
    return Outcome(
        "bursts of 10 keep the level in spite of 60 us",
        f"at 50 and 100 % bursts of 10: {told(ten)}; of 1: {told(one)}",
        kept(ten) and not kept(one),
        rests_on="three threads, as they are printed; a level is kept but for a fifth, what is near in this study",
        flips=tuple(Flip(name, told(found), kept(found)) for name, found in others.items()),
    )


def chain(study: Study, message: str, answer: str, locked: bool = False) -> tuple[float, float, float]:
    """Of a message that is relayed back to its application: bound, what of it varies, and the greatest of a run, in us.

    The bound is that of the whole chain, as the analysis gives it for the answer.
    ``locked``: the application follows the network's cycle.
    """
    cell = Cell(message, 256, 0, messages=300, round_trip=True, knobs=Knobs(answer=answer, locked=locked))
    (listener,) = tautwire.verify(fit(study).network(cell)).stream("answer")["listeners"]
    bound, seen = listener["application"].get("bound", {}), listener["application"]["observed"]["delay_max_ps"]
    greatest, varies = (bound.get(key, float("inf")) / 1e6 for key in ("delay_max_ps", "jitter_ps"))
    return greatest, varies, seen / 1e6


#: Chains by the number of time-triggered links of 1 ms in them with which nobody is synchronised. BE has none; RC has a
#: regulator, which is one too for messages that vary by more than its BAG leaves.
CHAINS = {0: [("BE", "BE")], 1: [("BE", "TTE"), ("TTE", "BE")], 2: [("TTE", "TTE")]}


def amplified(varies: dict[int, list[float]], period: float = 1000) -> bool:
    """Whether a bound's varying part grows by a period, but for a tenth, with each part that is not synchronised.

    Examples
    --------
    >>> amplified({0: [48], 1: [1100, 1103], 2: [2153]}), amplified({0: [48], 1: [60, 1103], 2: [2153]})
    (True, False)
    """
    steps = [high - low for fewer, more in itertools.pairwise(varies.values()) for low in fewer for high in more]
    return all(abs(step / period - 1) < 0.1 for step in steps)


@claim("MAPS-36", Basis.PREDICTED)
def bound_by_unsynchronised_parts(study: Study) -> Outcome:
    """Bounds of whole chains with no, one and two parts that are not synchronised, and runs of them.

    And the chain of two with its application locked to the cycle of the first.
    """
    found = {count: [chain(study, *one) for one in of] for count, of in CHAINS.items()}
    varies = {count: [jitter for _, jitter, _ in of] for count, of in found.items()}
    held = all(seen <= bound < float("inf") for of in found.values() for bound, _, seen in of)
    texts = [
        f"{count}: "
        + " and ".join(f"{bound:.0f} us, of which {jitter:.0f} us vary (seen {seen:.0f})" for bound, jitter, seen in of)
        for count, of in found.items()
    ]
    bound, jitter, seen = chain(study, "TTE", "TTE", locked=True)
    locked = Flip(
        "the application locked to the first of two",
        f"{bound:.0f} us, of which {jitter:.0f} us vary (seen {seen:.0f})",
        amplified({**varies, 2: [jitter]}),
    )
    return Outcome(
        "bounded, by the number of unsynchronised parts",
        "bounds of whole chains with so many of them: " + "; ".join(texts),
        held and amplified(varies),
        rests_on="parts of a cycle of 1 ms each; what is synchronised adds its wait, and nothing that varies",
        flips=(locked,),
    )
