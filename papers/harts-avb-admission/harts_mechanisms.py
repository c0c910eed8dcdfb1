"""Claims about how the two architectures work, and what the paper argues without measuring it."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import tautwire
from harts_descriptions import description
from harts_experiments import quick_latency
from harts_runs import f7, installed, requests, scenario_statistics, table3_run
from harts_testbed import PLACES, REPEAT_NS, flips, outcomes, scenario, spread, stream
from tautwire.claims import Basis, Flip, Outcome, Study, claim

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
        runs, quick_runs = (
            table3_run(study, name, "AVB", part=4, count_pdus=True, load=None, avb=avb)
            for avb in (standard, {**standard, **quick})
        )
        most = max(most, *(run["pdus_in_300_ms"] for run in runs))
        for run in quick_runs:
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
#: A stream that is in place, and others that ask for the same port, 9.1 Mbit/s each; idleSlope of class A is 75 Mbit/s.
AVB_PORT = """
network-control: none
vlans: {{1: {{tagged: all}}}}
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
{nodes}
  bridge: {{type: bridge, classes: {{3: {{transmission-selection: credit-based, idle-slope: 75 Mbit/s}}}}}}
  sink: {{type: end-station}}
links:
{links}
  - {{between: [bridge, sink]}}
streams:
{streams}
run: {{duration: 20 ms}}
"""
#: How much later than alone the stream in place may be, by its deadline.
ROOM = 1.2


def avb_port(names: list[str], deadline_us: float) -> tautwire.Network:
    """The description with these streams."""
    every = f"listeners: sink, priority: 3, payload: 100 B, deadline: {deadline_us:.3f} us, traffic: {EVERY}"
    text = AVB_PORT.format(
        nodes="\n".join(f"  {name}: {{type: end-station}}" for name in names),
        links="\n".join(f"  - {{between: [{name}, bridge]}}" for name in names),
        streams="\n".join(f"  - {{name: {name}, talker: {name}, {every}}}" for name in names),
    )
    return tautwire.load_text(text)


def bound_us(names: list[str]) -> float:
    """Greatest delay of the stream in place beside others."""
    return (tautwire.bounds(avb_port(names, 1000)).delay_max_ps(names[0]) or 0) / 1e6


def five_more(test: str) -> tuple[str, bool]:
    """Five ask one after the other, and a test decides: whether what it admits makes the stream in place late."""
    alone = bound_us(["old"])
    asked = [f"new{number}" for number in range(5)]
    with tautwire.Admission(avb_port(["old", *asked], ROOM * alone), test=test) as admission:
        for name in ("old", *asked):
            admission.reserve(name)
        admitted = admission.admitted
    beside = bound_us(admitted)
    ours = f"{len(admitted) - 1} of five admitted, bound {alone:.1f} us alone and {beside:.1f} us beside them"
    return f"{ours}, deadline {ROOM * alone:.1f} us", beside > ROOM * alone


@claim("HAR-37", Basis.PREDICTED)
def avb_does_not_look_back(study: Study) -> Outcome:
    """What the test of bandwidth admits beside a stream in place; and a test that looks at that stream, too."""
    flip = Flip("a test of every stream's bound", *five_more("bounds"))
    rests_on = "the test of bandwidth, by which every bridge of AVB decides"
    return Outcome("existing streams are ignored", *five_more("bandwidth"), rests_on=rests_on, flips=(flip,))


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
        busy = busy.replace("network-control: none", "network-control: none\nallow: [port::overload]")
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
    """Time of a processor of ours for the test of a stream beside 100 over a line of 16 switches."""
    places = [{"name": f"A{n}", "switch": n % 16} for n in range(32)]
    streams = []
    for n in range(101):
        talker, listener = f"A{n % 32}", f"A{(n * 7 + 5) % 32}"
        if talker == listener:
            listener = f"A{(n + 1) % 32}"
        rare = {"interval_ns": 10_000_000, "deadline_ns": 20_000_000}
        streams.append({**stream(study, "F7"), "name": f"S{n}", "talker": talker, "listener": listener, **rare})
    line = {"switches": 16, "links": [[n, n + 1] for n in range(15)], "nodes": places}
    made = scenario(study, "harts", streams, **line, seed=1, last_ms=100)
    network = tautwire.load_text(description(made)[0])
    with tautwire.Admission(network, test="response-time") as admission:
        stand = [admission.reserve(one["name"])["outcome"] for one in streams[1:]]
        before = time.process_time()
        outcome = admission.reserve(streams[0]["name"])["outcome"]
        taken = (time.process_time() - before) * 1000
    ours = f"{taken:.1f} ms of one core, {outcome} beside {stand.count('granted')}"
    holds = {outcome, *stand} == {"granted"} and taken < study.number("HAR-N065")
    return Outcome("less than 170 ms", ours, holds, printed=True)


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


def grown(study: Study, architecture: str, **avb: Any) -> float:
    """How many times as long a request takes beside another at the same time on a disjoint path."""
    pair = [stream(study, "F7", path=("N1", "N3")), stream(study, "F6", path=("N2", "N5"))]
    other = {"avb": avb} if avb else {}
    alone = quick_latency(study, architecture, pair[:1], **other).mean()
    return float(quick_latency(study, architecture, pair, **other).mean() / alone)


@claim("HAR-46", Basis.PREDICTED)
def disjoint_paths(study: Study) -> Outcome:
    """A request alone, and beside another; and with bridges that say a declaration again 100 ms later."""
    harts = grown(study, "harts")

    def told(**avb: int) -> tuple[str, bool]:
        other = grown(study, "avb", **avb)
        return f"HaRTES {harts:.2f} times as long, AVB {other:.2f} times", other < 1.1 < harts

    later = flips(
        study,
        lambda: Flip("bridges that say a declaration again 100 ms later", *told(bridge_repeat_ns=REPEAT_NS)),
    )
    rests_on = "bridges that say a new declaration three times at once, as the standard's tables let them"
    return Outcome("AVB can exploit them", *told(), rests_on=rests_on, flips=later)


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
