"""Claims about how the two architectures work, and what the paper argues without measuring it."""

from __future__ import annotations

import itertools
import json
import time
from typing import Any

import numpy as np
import tautwire
from harts_experiments import quick_latency
from harts_runs import f7, installed, requests, scenario_statistics, table3_run
from harts_testbed import PLACES, outcomes, scenario, spread, stream
from tautwire import _core
from tautwire.claims import Basis, Outcome, Study, claim

F7_PATH = ("N1", "N2")


@claim("HAR-35", Basis.BY_CONSTRUCTION)
def once_or_twice_a_switch(study: Study) -> Outcome:
    """Tests for F7 over three switches."""
    tests = {p: {run["tests"] for run in f7(study, p, F7_PATH)} for p in ("HaRTES", "AVB")}
    ours = f"HaRTES {sorted(tests['HaRTES'])}, AVB {sorted(tests['AVB'])} tests"
    return Outcome("once; twice per switch", ours, tests["HaRTES"] == {1} and max(tests["AVB"]) == 6)


@claim("HAR-36", Basis.BY_CONSTRUCTION)
def three_in_300_ms(study: Study) -> Outcome:
    """Waits in bridges that take no time and most MRPDUs of a port in 300 ms: standard's join time, I and III."""
    quick = {name: spread(1) for name in ("talker", "listener", "other", "station")}
    standard = {"join_ns": 200_000_000, "join": "at-once"}
    most, waits = 0, []
    for name in ("I", "III"):
        most = max(most, *(run["pdus_in_300_ms"] for run in table3_run(study, name, "AVB", avb=standard)))
        for run in table3_run(study, name, "AVB", avb={**standard, **quick}):
            most = max(most, run["pdus_in_300_ms"])
            for request, asked in zip(run["requests"], requests(study, name), strict=True):
                waits += queued(request["bridges"], PLACES[asked["talker"]], PLACES[asked["listener"]])
    ours = f"{max(waits):.0f} ms in an output queue at most ({np.mean(np.array(waits) > 200) * 100:.0f} % above 200 ms)"
    return Outcome("within 200 ms, at most three", f"{ours}, {most} messages at most", max(waits) <= 200 and most <= 3)


def queued(bridges: list[dict[str, Any]], talker: int, listener: int) -> list[float]:
    """How long a request's declarations waited in bridges, one link's 0.02 ms among it, milliseconds."""
    way = list(range(talker, listener + 1) if talker <= listener else range(talker, listener - 1, -1))
    waits = []
    for one, other in itertools.pairwise(way):
        waits.append(bridges[other]["talker_in_ns"] - bridges[one]["talker_in_ns"])
        waits.append(bridges[one]["listener_in_ns"] - bridges[other]["listener_in_ns"])
    waits.append(bridges[way[0]]["listener_out_ns"] - bridges[way[0]]["listener_in_ns"])
    return [wait / 1e6 for wait in waits]


#: A frame in every class measurement interval.
EVERY = "{type: periodic, interval: 125 us}"
#: A talker whose stream is in place, five more, one bridge; idleSlope of class A is what the six reserve.
AVB_PORT = """
network-control: none
vlans:
  1:
    tagged: all
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  old: {{type: end-station}}
{nodes}
  bridge: {{type: bridge, classes: {{3: {{transmission-selection: credit-based, idle-slope: 75 Mbit/s}}}}}}
  sink: {{type: end-station}}
links:
  - {{between: [old, bridge]}}
  - {{between: [bridge, sink]}}
{links}
streams:
  - {{name: old, talker: old, listeners: sink, priority: 3, payload: 100 B, traffic: {traffic}}}
{streams}
run: {{duration: 20 ms}}
"""


def avb_port(more: int) -> str:
    """The description with so many other streams, of 9.1 Mbit/s each."""
    names = [f"new{number}" for number in range(more)]
    return AVB_PORT.format(
        nodes="\n".join(f"  {name}: {{type: end-station}}" for name in names),
        links="\n".join(f"  - {{between: [{name}, bridge]}}" for name in names),
        traffic=EVERY,
        streams="\n".join(
            f"  - {{name: {name}, talker: {name}, listeners: sink, priority: 3, payload: 100 B, traffic: {EVERY}}}"
            for name in names
        ),
    )


@claim("HAR-37", Basis.PREDICTED)
def avb_does_not_look_back(study: Study) -> Outcome:
    """The greatest delay of a stream in place, before and after five more that the bandwidth test takes."""
    delays = []
    for more in (0, 5):
        bounds = tautwire.bounds(tautwire.load_text(avb_port(more)))
        delays.append((bounds.delay_max_ps("old") or 0) / 1e6)
    reserved = 6 * (100 + 43) * 8 / 125
    ours = f"bound {delays[0]:.1f} us alone, {delays[1]:.1f} us beside five ({reserved:.0f} of 75 Mbit/s are reserved)"
    return Outcome("existing streams are ignored", ours, reserved < 75 and delays[1] > 1.5 * delays[0])


@claim("HAR-38", Basis.BY_CONSTRUCTION)
def harts_looks_back(study: Study) -> Outcome:
    """Streams of 200 octets until one is refused; then what is in place keeps its deadline."""
    asked = [{**stream(study, "F7", at_ms=100 * n), "name": f"S{n}", "payload": 200} for n in range(12)]
    run = outcomes(scenario(study, "harts", asked), 1)[0]
    granted = [one["granted"] for one in run["requests"]]
    first = granted.index(False) if False in granted else len(granted)
    return Outcome("rejected if any would be late", f"{first} granted, then refused", 0 < first < 12)


#: Three switches in line with a control channel, the reserved streams, and a flood.
HARTS_LINE = """
network-control: none
vlans:
  1:
    tagged: all
defaults: {{rate: 100 Mbit/s}}
nodes:
  n1: {{type: end-station}}
  n3: {{type: end-station}}
  n2: {{type: end-station}}
  sw1: {{type: bridge}}
  sw2: {{type: bridge}}
  sw3: {{type: bridge}}
links:
  - {{between: [n1, sw1]}}
  - {{between: [n3, sw1]}}
  - {{between: [n2, sw3]}}
  - {{between: [sw1, sw2]}}
  - {{between: [sw2, sw3]}}
harts:
  elementary-cycle: 125 us
  trigger: 10 us
  turn-around: 10 us
  reserve: [{reserve}]
streams:
  - {{name: control, talker: n1, listeners: n2, priority: 7, payload: 60 B, traffic: {often}}}
  - {{name: f7, talker: n1, listeners: n2, priority: 3, payload: 46 B, traffic: {{type: periodic, interval: 250 us}}}}
  - {{name: flood, talker: n3, listeners: n2, payload: 256 B, traffic: {{type: constant-rate, rate: {flood} Mbit/s}}}}
run: {{duration: 200 ms}}
"""

OFTEN = "{type: periodic, interval: 1 ms, jitter: 500 us}"
CONTROL = "{stream: control, capacity: 200 B, every: 1}"
F7 = "{stream: f7}"


def harts_line(*reserve: str, flood: int) -> tautwire.Network:
    """The description with these reservations."""
    return tautwire.load_text(HARTS_LINE.format(reserve=", ".join(reserve), flood=flood, often=OFTEN))


def delay_max_us(network: tautwire.Network, name: str) -> float:
    """Greatest observed delay of a stream."""
    observed = tautwire.simulate(network).stream(name)["listeners"][0]["observed"]
    return float(observed["delay_max_ps"]) / 1e6


def received_mbps(network: tautwire.Network, name: str) -> float:
    """What of a stream came through, Mbit/s of the wire with 42 octets beside the payload."""
    delivered = tautwire.simulate(network).stream(name)["frames"]["delivered"]
    return float(delivered) * (256 + 42) * 8 / 0.2 / 1e6


@claim("HAR-39", Basis.PREDICTED)
def plain_ethernet_with_less(study: Study) -> Outcome:
    """A plain node's throughput, without reservations, and beside more and more of them."""
    rates = [received_mbps(harts_line(flood=75), "flood")]
    for octets in (400, 800):
        busy = HARTS_LINE.format(reserve=f"{{stream: f7, capacity: {octets} B, every: 1}}", flood=75, often=OFTEN)
        busy = busy.replace("interval: 250 us", f"interval: {125 * 88 / octets:.2f} us")
        busy = busy.replace("network-control: none", "network-control: none\nvlans:\n  1:\n    tagged: all\nallow: [port::overload]")
        rates.append(received_mbps(tautwire.load_text(busy), "flood"))
    ours = ", ".join(f"{one:.1f}" for one in rates) + " Mbit/s beside 0, 400 and 800 octets a cycle"
    return Outcome("normal Ethernet with reduced bandwidth", ours, rates[0] > rates[1] > rates[2] > 0)


@claim("HAR-40", Basis.PREDICTED)
def protected_channel(study: Study) -> Outcome:
    """Greatest delay of control messages with a server of their own and in the background, with and without load."""
    high = [delay_max_us(harts_line(CONTROL, flood=one), "control") for one in (1, 62)]
    low = [delay_max_us(harts_line(flood=one), "control") for one in (1, 62)]
    ours = f"server at the top {high[0]:.0f} and {high[1]:.0f} us, background {low[0]:.0f} and {low[1]:.0f} us"
    return Outcome("load acts by blocking alone", ours, high[1] - high[0] < 3 * 125 and low[1] > high[1])


@claim("HAR-41", Basis.PREDICTED)
def hundred_streams(study: Study) -> Outcome:
    """Time of the processor for a request beside 100 streams over a line of 16 switches, protocol included."""
    places = [{"name": f"A{n}", "switch": n % 16} for n in range(32)]
    streams = []
    for n in range(101):
        talker, listener = f"A{n % 32}", f"A{(n * 7 + 5) % 32}"
        if talker == listener:
            listener = f"A{(n + 1) % 32}"
        streams.append(
            {
                **stream(study, "F7"),
                "name": f"S{n}",
                "talker": talker,
                "listener": listener,
                "interval_ns": 10_000_000,
                "deadline_ns": 20_000_000,
            }
        )
    made = scenario(
        study,
        "harts",
        streams[:1],
        switches=16,
        links=[[n, n + 1] for n in range(15)],
        nodes=places,
        installed=streams[1:],
        seed=1,
    )
    text = json.dumps(made)
    before = time.process_time()
    run = json.loads(_core.reservations(text))
    taken = (time.process_time() - before) * 1000
    return Outcome("less than 170 ms", f"{taken:.1f} ms of one core", run["requests"][0]["granted"] and taken < 170)


@claim("HAR-42", Basis.PREDICTED)
def the_channel_has_a_cost(study: Study) -> Outcome:
    """The bound of F7 with and without the control channel's server."""
    bounds = [
        (tautwire.bounds(harts_line(*reserve, flood=1)).delay_max_ps("f7") or 0) / 1e6
        for reserve in ((CONTROL, F7), (F7,))
    ]
    ours = f"bound of F7 {bounds[0]:.1f} us with it, {bounds[1]:.1f} us without"
    return Outcome("more interference on the path", ours, bounds[0] > bounds[1] > 0)


@claim("HAR-43", Basis.PREDICTED)
def nodes_do_not_matter(study: Study) -> Outcome:
    """Mean latency of F7 with 5 and 45 nodes."""
    more = [{"name": name, "switch": switch} for name, switch in PLACES.items()]
    more += [{"name": f"X{n}", "switch": n % 3} for n in range(40)]
    means: dict[str, list[float]] = {}
    for architecture in ("harts", "avb"):
        for nodes in (more[:5], more):
            values = quick_latency(study, architecture, [stream(study, "F7")], nodes=nodes)
            means.setdefault(architecture, []).append(float(values.mean()))
    ours = "; ".join(f"{name} {a:.2f} and {b:.2f} ms" for name, (a, b) in means.items())
    return Outcome("not a significant parameter", ours, all(abs(b / a - 1) < 0.05 for a, b in means.values()))


@claim("HAR-44", Basis.PREDICTED)
def all_six_are_admitted(study: Study) -> Outcome:
    """The set of Table 2, one after the other and all at once."""
    runs = [run for name in ("I", "II", "III") for run in table3_run(study, name, "HaRTES")]
    granted = {sum(one["granted"] for one in run["requests"]) for run in runs}
    return Outcome("all six", f"{sorted(granted)} in {len(runs)} runs", granted == {len(requests(study, "I"))})


@claim("HAR-45", Basis.BY_CONSTRUCTION)
def seven_and_one(study: Study) -> Outcome:
    """F7 beside 7 and 8 installed streams."""
    granted = []
    for count in (7, 8):
        run = outcomes(scenario(study, "avb", [stream(study, "F7")], installed=installed(study, count)), 1)[0]
        granted.append(run["requests"][0]["granted"])
    return Outcome("7 and F7", f"granted beside 7: {granted[0]}, beside 8: {granted[1]}", granted == [True, False])


@claim("HAR-46", Basis.PREDICTED)
def disjoint_paths(study: Study) -> Outcome:
    """A request alone, and beside another at the same time on a disjoint path."""
    pair = [stream(study, "F7", path=("N1", "N3")), {**stream(study, "F6", path=("N2", "N5"))}]
    grown: dict[str, float] = {}
    for architecture in ("harts", "avb"):
        alone = quick_latency(study, architecture, pair[:1]).mean()
        beside = quick_latency(study, architecture, pair).mean()
        grown[architecture] = float(beside / alone)
    ours = f"HaRTES {grown['harts']:.2f} times as long, AVB {grown['avb']:.2f} times"
    return Outcome("AVB can exploit them", ours, grown["avb"] < 1.1 < grown["harts"])


@claim("HAR-47", Basis.BY_CONSTRUCTION)
def replication(study: Study) -> Outcome:
    """Scenario II with a standby that is told of every stream before its producer."""
    runs = table3_run(study, "II", "HaRTES", harts={"replicated": True})
    known = {run["replicated"] for run in runs}
    plain = scenario_statistics(study, "II", "HaRTES")["F2"]["mean"]
    values: Any = [run["requests"][0]["latency_ns"] / 1e6 for run in runs]
    ours = (
        f"{sorted(known)} of 6 streams confirmed by the standby, F2 {np.mean(values):.2f} ms instead of {plain:.2f} ms"
    )
    return Outcome("suggested", ours, known == {6})
