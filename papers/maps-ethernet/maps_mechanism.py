"""Claims on how switches, cards and cycles work, each with the mechanism taken out."""

from __future__ import annotations

import itertools

import tautwire
from maps_cells import fit, one_way, run
from maps_testbed import PAYLOADS, Cell, Knobs, flood, network
from tautwire.claims import Basis, Outcome, Study, claim


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


@claim("MAPS-26", Basis.PREDICTED)
def comparable_on_an_idle_network(study: Study) -> Outcome:
    """RC and BE within 20 %: without a raster, too."""
    found = one_way(study)
    apart = max(abs(found["BE", p, 0].mean_us / found["RC", p, 0].mean_us - 1) for p in PAYLOADS)
    return Outcome("comparable, by the raster", f"within {100 * apart:.0f} %, without a raster", apart < 0.2)


def slope(study: Study, knobs: Knobs) -> float:
    """Microseconds an octet of RC on an idle network."""
    low, high = (run(fit(study), Cell("RC", p, 0, messages=200, knobs=knobs)).mean_us for p in (64, 1472))
    return (high - low) / 1408


@claim("MAPS-27", Basis.PREDICTED)
def raster_makes_the_slope(study: Study) -> Outcome:
    """The slope is there without a raster, and goes with the time that reading from the card takes."""
    ours, fast = slope(study, Knobs()), slope(study, Knobs(slow_interface=False))
    text = f"{ours:.3f} us an octet without any raster, {fast:.3f} us with a fast card"
    return Outcome("payload counts because the raster halves the window", text, ours < 0.1)


@claim("MAPS-33", Basis.PREDICTED)
def bursts_keep_the_level(study: Study) -> Outcome:
    """What is sent at 100 and 50 % with bursts of 10 and of 1, sleeping 60 us too long."""

    def level(saturation: int, burst: int) -> float:
        made = tautwire.Network("injector", network_control="none", run={"duration": "1 s"})
        made.end_station("es3")
        made.end_station("es1")
        made.link("es3", "es1", rate="1 Gbit/s")
        traffic = flood(saturation, burst)
        made.stream("flood", "es3", "es1", tagged=False, payload="1500 B", traffic=traffic)
        return float(tautwire.simulate(made).stream("flood")["frames"]["created"] * 12_304 / 1e9)

    ten, one = ([level(saturation, burst) * 100 for saturation in (50, 100)] for burst in (10, 1))
    text = f"bursts of 10: {ten[0]:.0f} and {ten[1]:.0f} % of the line; of 1: {one[0]:.0f} and {one[1]:.0f} %"
    holds = ten[0] > 45 and ten[1] > 83 and one[0] < 30 and one[1] < 45
    return Outcome("bursts of 10 keep the level in spite of 60 us", text, holds)


@claim("MAPS-36", Basis.PREDICTED)
def bound_by_unsynchronised_parts(study: Study) -> Outcome:
    """The bound of a relayed message, way there and way back, with no, one and two cycles of 1 ms in it that are
    not synchronised."""

    def bound(polled: bool) -> float:
        made = network(Cell("RC", 256, 0, messages=10), fit(study).interface_ns, dict(fit(study).stacks))
        if polled:
            card = made.settings["hosts"]["pc"]["interfaces"]["card"]
            card["moderation"] = {"type": "polled", "interval": "1 ms"}
        listener = tautwire.bounds(made).stream("message")["listeners"][0]
        return float(listener["application"]["bound"].get("delay_max_ps", float("inf")) / 1e6)

    calm, polled = bound(False), bound(True)
    found = [2 * calm, calm + polled, 2 * polled]
    text = ", ".join(f"{one:.0f} us" for one in found) + " with 0, 1 and 2"
    steps = [high - low for low, high in itertools.pairwise(found)]
    return Outcome("bounded, by the number of unsynchronised parts", text, all(900 < step < 1100 for step in steps))
