"""A run of the study as a description: what `tautwire simulate` runs, and what of its results the study reads.

All that a description cannot draw for itself is drawn here, by the run's seed, and written into it: when nodes ask,
whether the ACMaster's processor is at its lower speed, and when the requests come between LeaveAlls. Nothing else is:
bridges, stations, masters and their times are keys of the description. Every run states what it relies on: no network
control beside the protocol's own frames, reserved streams with a tag in VLAN 2, broadcasts without one in VLAN 1.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import Any

import tautwire

#: An MRPDU on a link of 100 Mbit/s, nanoseconds.
LINE_NS = 20_000
#: How long a run lasts behind the last requests, milliseconds: so long, and so much for each that comes with them.
#: Again for longer if one has no answer by then.
LAST_MS = {"harts": (8, 12), "avb": (250, 100)}
LONGER = (1, 4, 20)
#: How long before requests broadcasts begin, and where in its cycle the network may be then, nanoseconds.
LEAD_NS, LEAD_HARTS_NS = 20_000_000, 5_000_000
#: VLANs of what is broadcast, and of the reserved streams, which keep their tags.
UNTAGGED, TAGGED = 1, 2
Scenario = dict[str, Any]


def description(made: Scenario) -> tuple[str, dict[str, int]]:
    """The description of a run, and when each talker asks, nanoseconds by stream."""
    drawn = random.Random(f"{made['architecture']} {made['seed']}")
    start = begin(made, drawn)
    asks = {
        request["name"]: [start + request["at_ns"] + drawn.randint(0, request["jitter_ns"]) for _ in range(2)]
        for request in made["requests"]
    }
    own = harts(made, asks, drawn) if made["architecture"] == "harts" else avb(made)
    end_ns = max(max(one) for one in asks.values()) + 1_000_000 * made["last_ms"]
    lines = ["network-control: none", "allow: [port::overload]", f"defaults: {{rate: 100 Mbit/s{own.defaults}}}"]
    lines += own.lines
    lines += ["nodes:"]
    lines += [f"  {one['name']}: {{type: end-station{own.stations.get(one['name'], '')}}}" for one in made["nodes"]]
    bridges = [f"Sw{number + 1}" for number in range(made["switches"])]
    lines += [f"  {name}: {{type: bridge}}" for name in bridges]
    lines += ["links:"]
    lines += [f"  - {{between: [{one['name']}, {bridges[one['switch']]}]}}" for one in made["nodes"]]
    lines += [f"  - {{between: [{bridges[one]}, {bridges[other]}]}}" for one, other in made["links"]]
    everywhere = f"[{', '.join(bridges)}]"
    lines += [f"vlans: {{{UNTAGGED}: {{untagged: {everywhere}}}, {TAGGED}: {{tagged: {everywhere}}}}}"]
    lines += ["streams:"]
    lines += [reserved(made, one, None) for one in made["installed"]]
    lines += [reserved(made, one, asks[one["name"]]) for one in made["requests"]]
    events = []
    for name, talker, payload, interval_ns in (made["load"] or {}).get("streams", ()):
        lines.append(
            f"  - {{name: {name}, talker: {talker}, listeners: all, vlan: {UNTAGGED}, tagged: false, "
            f"started: false, payload: {payload} B, "
            f"traffic: {{type: periodic, interval: {interval_ns} ns}}}}"
        )
        phase = drawn.randrange(interval_ns)
        for from_ns, to_ns in windows(made, start):
            events += [(from_ns + phase, "start", name), (to_ns, "stop", name)]
    lines += ["events:"] * bool(events)
    lines += [f"  - {{at: {at} ns, {what}-stream: {name}}}" for at, what, name in sorted(events)]
    lines += [f"run: {{duration: {end_ns} ns}}"]
    return "\n".join(lines) + "\n", {name: talker for name, (talker, _) in asks.items()}


def last_ms(made: Scenario, longer: int) -> int:
    """How long a run lasts behind its last requests."""
    at = [one["at_ns"] for one in made["requests"]]
    alone, each = LAST_MS[made["architecture"]]
    return longer * (alone + each * at.count(max(at)))


def windows(made: Scenario, start: int) -> list[tuple[int, int]]:
    """When broadcasts are sent, nanoseconds: around requests, for as long as these may take."""
    found: list[tuple[int, int]] = []
    for at in sorted({one["at_ns"] for one in made["requests"]}):
        from_ns, to_ns = max(0, start + at - LEAD_NS), start + at + 1_000_000 * made["last_ms"]
        if found and from_ns <= found[-1][1]:
            from_ns = found.pop()[0]
        found.append((from_ns, to_ns))
    return found


def begin(made: Scenario, drawn: random.Random) -> int:
    """When the first request may come: anywhere in a cycle, or anywhere between two LeaveAlls of a port."""
    if made["architecture"] == "harts":
        return LEAD_HARTS_NS + drawn.randrange(made["harts"]["cycle_ns"])
    warm_up: int = made["avb"]["warm_up_ns"]
    return warm_up + drawn.randint(0, warm_up)


class Own:
    """What an architecture adds: to the defaults, at the top, and to its stations."""

    def __init__(self, lines: list[str], defaults: str = "", stations: dict[str, str] | None = None) -> None:
        self.lines, self.defaults, self.stations = lines, defaults, stations or {}


def reserved(made: Scenario, request: dict[str, Any], asks: list[int] | None) -> str:
    """A stream that stands from the start, or that is asked for by talker and listener."""
    words = [
        f"name: {request['name']}, talker: {request['talker']}, listeners: {request['listener']}, vlan: {TAGGED}",
        f"priority: {request['priority']}, payload: {max(request['payload'], 46)} B",
        f"deadline: {request['deadline_ns']} ns",
    ]
    interval = request["interval_ns"]
    if made["architecture"] == "avb":
        # A frame a second: what is reserved is a frame in each class measurement interval.
        interval = 1_000_000_000
        advertise, attach = asks or (0, 0)
        waits = "when-offered" if asks and made["avb"]["listener_waits"] else "at-once"
        words.append(
            f"reservation: {{advertise-at: {advertise} ns, attach-at: {attach} ns, ask: {waits}, "
            "frames-per-interval: 1}"
        )
    words.append(f"traffic: {{type: periodic, interval: {interval} ns}}")
    return f"  - {{{', '.join(words)}}}"


def time(spread: dict[str, int], factor: float = 1, less_ns: int = 0) -> str:
    """A time that varies, normally and cut at both ends."""
    mean, least, most = (max(0, round(factor * spread[f"{one}_ns"]) - less_ns) for one in ("mean", "min", "max"))
    if least == most:
        return f"{mean} ns"
    deviation = round(factor * spread["deviation_ns"])
    return f"{{mean: {mean} ns, deviation: {deviation} ns, min: {least} ns, max: {most} ns}}"


def harts(made: Scenario, asks: dict[str, list[int]], drawn: random.Random) -> Own:
    """HaRTES with its ACMaster, a channel for control messages, and what each entity takes over one."""
    of = made["harts"]
    half = of["before_ns"] // 2
    lines = [
        "devices: {switch: {stages: [{name: forwarding, position: processing, latency: 5 us}]}}",
        "harts:",
        f"  elementary-cycle: {of['cycle_ns']} ns",
        f"  trigger: {half} ns",
        f"  turn-around: {of['before_ns'] - half} ns",
    ]
    if of["control_first"]:
        lines += ["  servers:", f"    - {{name: channel, capacity: {of['control_octets']} B, priority: 7}}"]
    lines += ["  reserve:"]
    lines += [f"    - {{stream: {one['name']}}}" for one in (*made["installed"], *made["requests"])]
    lines += ["  admission:", f"    master: Sw{of['acmaster_switch'] + 1}"]
    lines += ["    channel: channel"] * of["control_first"]
    # A standby stands in another switch.
    lines += [f"    standby: Sw{(of['acmaster_switch'] + 1) % made['switches'] + 1}"] * of["replicated"]
    lines += ["    patience: 5 s", "    alive: 1 s"]
    lines += [f"    {name}: {time(of[name])}" for name in ("node", "relay", "configure", "handling")]
    lines += test(of["test"], drawn)
    lines += ["    requests:"]
    lines += [
        f"      - {{stream: {name}, at: {talker} ns, listeners-at: {listener} ns}}"
        for name, (talker, listener) in asks.items()
    ]
    return Own(lines, ", device: switch")


def test(of: dict[str, Any], drawn: random.Random) -> list[str]:
    """The test: at one of two speeds for the whole run, with a noise for each test or one for all, by links."""
    slow = drawn.randrange(1000) < of["slow_permille"]
    (_, least), *_ = steps = [((streams + 1) * of["links"], time_ns) for streams, time_ns in of["table"]]
    mean = least * (of["slow_factor_permille"] if slow else 1000) / 1000
    noise = of["noise_permille"] / 1000
    if of.get("noise_lasts"):
        mean, noise = mean * (1 + noise * max(-3.0, min(3.0, drawn.gauss(0, 1)))), 0
    spread = {"mean_ns": mean, "deviation_ns": noise * mean}
    spread |= {"min_ns": (1 - 3 * noise) * mean, "max_ns": (1 + 3 * noise) * mean}
    lines = [f"    test: {time(spread)}"]  # type: ignore[arg-type]
    if not of["links"]:
        return lines
    # Below what the table has, it goes on as it begins.
    (one, low), (other, high) = steps[:2]
    first = low + (high - low) * (1 - one) / (other - one)
    lines.append("    test-by-links:")
    lines += [
        f"      - {{links: {links}, per-mille: {round(1000 * at / least)}}}" for links, at in ((1, first), *steps)
    ]
    return lines


def avb(made: Scenario) -> Own:
    """Stream reservation; what packets of the load leave of a bridge's processor makes its times longer."""
    of = made["avb"]
    taken = 0.0
    if made["load"]:
        taken = min(0.9, made["load"]["packets_per_second"] * of["packet_ns"] / 1e9)
    longer = 1 / (1 - taken)
    other = of["other"]["mean_ns"]
    lines = [
        "stream-reservation:",
        "  bridges:",
        # What a domain takes is in the time of a declaration.
        f"    processing: {time(of['other'], longer)}",
        f"    talker-processing: {time(of['talker'], longer, round(longer * other))}",
        f"    listener-processing: {time(of['listener'], longer, round(longer * other))}",
        # Three in one and a half milliseconds are no limit: a bridge takes longer over each.
        f"    join-time: {of['bridge_join_ns'] if of['limited'] else 1_000_000} ns",
        f"    repeat-time: {of['bridge_repeat_ns']} ns",
        f"    reservations-max: {of['reservations_max']}",
        "    device-latency: 5 us",
        "  end-stations:",
        f"    processing: {time(of['station'])}",
        f"    join-time: {max(of['join_ns'], 1)} ns",
    ]
    if of["join"] == "after":
        lines.append(f"    join-delay: {of['join_ns']} ns")
    elif of["join"] == "random":
        lines.append("  nodes:")
        station = random.Random(f"join {made['seed']}")
        for one in made["nodes"]:
            delay = station.randint(0, of["join_ns"])
            lines.append(
                f"    {one['name']}: {{processing: {time(of['station'])}, join-time: {of['join_ns']} ns, "
                f"join-delay: {delay} ns}}"
            )
    return Own(lines, ", traffic-class-table: stream-reservation")


def run(made: Scenario) -> dict[str, Any]:
    """Runs a scenario, and again for longer if a request has no answer; what the study reads of it.

    Per request: whether it is granted, its latency, the place of its test and what that took, and when each bridge
    heard and said its declarations; and of the run: tests, streams that a standby confirmed, and the most MRPDUs that
    a port sent within 300 ms, if that is asked for.
    """
    for longer in LONGER:
        text, asked = description({**made, "last_ms": last_ms(made, longer)})
        network = tautwire.load_text(text)
        pdus = pdus_of(network) if made.get("count_pdus") else []
        results = tautwire.simulate(network, seed=made["seed"], frames=pdus or False)
        found = read(made, results.summary, asked)
        if all(one["latency_ns"] is not None for one in found["requests"]):
            break
    if pdus:
        frames = results.frames
        starts: dict[str, list[int]] = {}
        # When a machine sent it; three that it sends at once stand one behind the other on the line.
        for stream, at in zip(frames.column("stream"), frames.column("queued_ps"), strict=True):
            starts.setdefault(stream, []).append(at // 1000)
        found["pdus_in_300_ms"] = max(most_within(sorted(one), 300_000_000) for one in starts.values())
    return found


def pdus_of(network: tautwire.Network) -> list[str]:
    """Streams of MRPDUs, one for each port."""
    names = [one["name"] for one in tautwire.simulate(network, duration="1 us").summary["streams"]]
    return [name for name in names if name.startswith("msrp:")]


def most_within(times: Sequence[int], window: int) -> int:
    """The most of some instants, in order, that lie in a window, its end not among it.

    Examples
    --------
    >>> most_within([0, 100, 200, 300], 300), most_within([0, 100, 200, 299], 300)
    (3, 4)
    """
    first, most = 0, 0
    for place, at in enumerate(times):
        while times[first] + window <= at:
            first += 1
        most = max(most, place - first + 1)
    return most


def read(made: Scenario, summary: dict[str, Any], asked: dict[str, int]) -> dict[str, Any]:
    """What the study reads of a summary."""
    ladders = {one["stream"]: one for one in summary["reservations"]}
    if made["architecture"] == "harts":
        return read_harts(made, summary, ladders, asked)
    requests, tests = [], 0
    for request in made["requests"]:
        of = ladders[request["name"]]
        bridges = [at_bridge(f"Sw{number + 1}", of["ladder"]) for number in range(made["switches"])]
        tests += sum(one[key] is not None for one in bridges for key in ("talker_in_ns", "listener_in_ns"))
        latency = None
        if of.get("started_ps") is not None:
            # The application sees it at its next look.
            latency = of["started_ps"] // 1000 - asked[request["name"]]
            tick = made["avb"]["tick_ns"]
            latency = math.ceil(latency / tick) * tick if tick else latency
        requests.append(
            {"name": request["name"], "granted": latency is not None, "latency_ns": latency, "bridges": bridges}
        )
    return {"requests": requests, "tests": tests}


def at_bridge(bridge: str, ladder: list[dict[str, Any]]) -> dict[str, int | None]:
    """When a bridge first heard and said what is declared of a stream."""
    wanted = {
        "talker_in_ns": ("received", "talker-advertise"),
        "talker_out_ns": ("sent", "talker-advertise"),
        "listener_in_ns": ("received", "listener-ready"),
        "listener_out_ns": ("sent", "listener-ready"),
    }
    found: dict[str, int | None] = dict.fromkeys(wanted)
    for rung in ladder:
        for key, what in wanted.items():
            if rung["node"] == bridge and found[key] is None and (rung["event"], rung.get("declaration")) == what:
                found[key] = rung["at_ps"] // 1000
    return found


def read_harts(
    made: Scenario, summary: dict[str, Any], ladders: dict[str, dict[str, Any]], asked: dict[str, int]
) -> dict[str, Any]:
    """Of HaRTES: answers to producers, and the tests of the ACMaster in their order."""
    answers = {one["stream"]: one for one in summary["harts"]["requests"] if one["talker"]}
    tested = {name: first(of["ladder"], "passed", "failed") for name, of in ladders.items()}
    order = sorted((at, name) for name, at in tested.items() if at is not None)
    places = {name: place for place, (_, name) in enumerate(order)}
    master = f"Sw{made['harts']['acmaster_switch'] + 1}"
    requests, replicated = [], 0
    for request in made["requests"]:
        name = request["name"]
        answer, rungs = answers[name], ladders[name]["ladder"]
        replicated += sum((one["event"], one.get("declaration")) == ("received", "replicated") for one in rungs)
        latency, at = answer.get("latency_ps"), tested[name]
        requests.append(
            {
                "name": name,
                "granted": answer["granted"],
                "latency_ns": None if latency is None else latency // 1000,
                "place": places.get(name),
                "test_ns": None if at is None else at // 1000 - complete_ns(made, master, rungs),
            }
        )
    tests = sum(one["tests"] for one in summary["harts"]["acmasters"])
    return {"requests": requests, "tests": tests, "replicated": replicated}


def first(ladder: list[dict[str, Any]], *events: str) -> int | None:
    """When one of some events first happened, picoseconds."""
    return next((one["at_ps"] for one in ladder if one["event"] in events), None)


def complete_ns(made: Scenario, master: str, ladder: list[dict[str, Any]]) -> int:
    """When the ACMaster had handled both requests for a stream, if it had nothing else to do, nanoseconds."""
    handling = made["harts"]["handling"]["mean_ns"]
    done = 0
    for rung in ladder:
        if (rung["node"], rung["event"], rung.get("declaration")) == (master, "received", "add"):
            done = max(done, rung["at_ps"] // 1000) + handling
    return done


def run_all(made: Scenario, samples: int, first_seed: int) -> list[dict[str, Any]]:
    """So many runs, each with a seed of its own, on all processors."""
    each = [{**made, "seed": first_seed + number} for number in range(samples)]
    if samples < 8:
        return [run(one) for one in each]
    return list(processes().map(run, each, chunksize=max(1, samples // 16)))


@cache
def processes() -> ProcessPoolExecutor:
    """One for each processor; they stay until the study ends.

    Spawned, not forked: a fork would keep the locks and the open pipes of whatever else runs in this process.
    """
    return ProcessPoolExecutor(max_workers=os.cpu_count(), mp_context=get_context("spawn"))
