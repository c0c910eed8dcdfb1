"""A described network on the RTL: every bridge is a Verilated switch, its frames those of the description; beside bound and simulation.

    python hdl/network.py NET.yaml [--duration TIME]       the table
    python hdl/network.py NET.yaml --writes                the register writes of every switch, and no run

The simulation says when each talker sends; the RTL gets exactly these frames, at the next cycle, and what one switch sends is what
its neighbour receives, later by the cable and two PHYs. A switch's output up to an instant depends on its input before it alone, so
switches are run one after the other until nothing changes any more: that is then the run of all of them at once.

In every switch each decision is that of core's machines: eligibility times to the tick, starts to the cycle (``tests/selection.py``).
What the RTL or this program does not do is refused, all of it at once. Not here: gates, cut-through, tags that change.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

HDL = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HDL / "tests"))

import mixed
import switch_run
import tautwire
from latency import PHYS_NS, stream
from switch_run import Frame, Outcome, frame_octets

DEVICE = "tautwire-switch"
VID = 1
CYCLE_PS = 8_000
PHY_PS = PHYS_NS * 1000 // 2
# Preamble and start delimiter in octets, and octets of the preamble alone; the cycle of the run in which the simulation begins.
PREAMBLE, BEFORE_DELIMITER, BEGIN = 8, 7, 200
# Destination, source and tag, and what is behind: check sequence.
HEADER, CHECK = 18, 4
RATE_BPS = 10**9
# Rounds until nothing changes: more than any network of a few switches needs.
RUNS_MAX = 20


class NotSupported(Exception):
    """What of a description the RTL, or this program, does not do."""


@dataclasses.dataclass(frozen=True)
class Way:
    """A stream at a switch: the port by which it comes, its class there, the ports by which it leaves."""

    reception: int
    traffic_class: int
    ports: int


@dataclasses.dataclass
class Switch:
    name: str
    # Neighbour at each port.
    neighbours: list[str]
    # By index of stream.
    ways: dict[int, Way]
    # idleSlope of the classes that have a credit-based shaper, in bit/s; classes under ATS.
    slopes: dict[int, int]
    ats: set[int]


class Traffic(mixed.Mixed):  # type: ignore[misc]  # The tests' folder is without types.
    """The frames that come to a switch, with what they belong to, and its settings: what `mixed.check_starts` asks for."""

    def __init__(self, described: Described, switch: Switch, frames: list[Arrival]) -> None:
        self.slopes = dict(switch.slopes)
        self.residence = [2**36 - 1] * (switch_run.PORTS * switch_run.CLASSES)
        self.switch = switch
        shaped = [index for index, way in switch.ways.items() if way.traffic_class in switch.ats and index in described.shapers]
        self.streams = []
        for number, index in enumerate(shaped):
            way, (rate, burst) = switch.ways[index], described.shapers[index]
            self.streams.append(
                mixed.Stream(way.reception, way.ports, way.traffic_class, rate, burst, number, stream(index), source_of(index))
            )
        place = {index: number for number, index in enumerate(shaped)}
        self.arrivals = sorted(frames, key=lambda one: (one.cycle, one.port))
        self.frames = [Frame(one.port, one.cycle, one.octets) for one in self.arrivals]
        self.owner = [place.get(index_of(one.octets), -1) for one in self.arrivals]

    def ports_of(self, k: int) -> list[int]:
        ports = self.switch.ways[index_of(self.frames[k].octets)].ports
        return [port for port in range(switch_run.PORTS) if ports >> port & 1]

    def settings(self) -> list[switch_run.Setting]:
        classes = sum(1 << rank for rank in self.switch.ats)
        found = [switch_run.ats_setting(mixed.DELAY_MAX_TICKS, mixed.OVERHEAD, classes)]
        for index, way in self.switch.ways.items():
            found.append(switch_run.address_setting(stream(index), VID, way.ports))
        for one in self.streams:
            found.append(switch_run.stream_setting(one.destination, VID, one.scheduler))
            found.append(switch_run.scheduler_setting(one.scheduler, one.group(), one.rate_bps, one.burst_octets))
            found.append(switch_run.group_setting(one.group(), self.residence[one.group()]))
        found += [switch_run.credit_setting(port, rank, slope) for port in range(switch_run.PORTS) for rank, slope in self.slopes.items()]
        return found


@dataclasses.dataclass(frozen=True)
class Arrival:
    """A frame at a port of a switch: the cycle of its preamble's first octet."""

    port: int
    cycle: int
    octets: bytes


def source_of(index: int) -> bytes:
    return b"\x06\x00\x00\x00" + index.to_bytes(2, "big")


def index_of(octets: bytes) -> int:
    return int.from_bytes(octets[HEADER : HEADER + 4], "big")


def number_of(octets: bytes) -> int:
    return int.from_bytes(octets[HEADER + 4 : HEADER + 8], "big")


def frame_of(index: int, number: int, priority: int, length: int) -> bytes:
    """A frame of a stream, of so many octets from destination to check sequence."""
    payload = index.to_bytes(4, "big") + number.to_bytes(4, "big")
    payload += bytes(length - HEADER - CHECK - len(payload))
    octets: bytes = frame_octets(stream(index), source_of(index), payload, vid=VID, pcp=priority)
    return octets


class Described:
    """What of a network the RTL needs."""

    def __init__(self, network: tautwire.Network, duration: str | None) -> None:
        self.network = network
        self.seen = tautwire.simulate(network, frames=True, duration=duration)
        self.bounds = tautwire.bounds(network)
        self.document = network.document()
        self.names = network.stream_names()
        self.faults: list[str] = []
        nodes = self.document["nodes"]
        default = self.document.get("defaults", {}).get("device")
        self.bridges = [name for name, node in nodes.items() if node["type"] == "bridge"]
        for name in self.bridges:
            device = nodes[name].get("device", default)
            self.fault(device != DEVICE, f"bridge {name}: its device is {device}, and not {DEVICE}")
        self.fault(self.document.get("network-control") != "none", "network-control: it is to be none, for its frames are not in the RTL")
        for key in ("max-residence-time", "gate-parameter-table", "frame-preemption-status-table", "stream-gates"):
            self.fault(f"{key}'" in repr(self.document), f"{key}: not done here")
        ports = self.rows(self.seen.ports)
        for row in ports:
            self.fault(row["rate_bps"] != RATE_BPS, f"port {row['port']}: {row['rate_bps']} bit/s, and not 1 Gbit/s")
        self.priorities = [one["priority"] for one in self.document["streams"]]
        self.switches = {name: Switch(name, [], {}, {}, set()) for name in self.bridges}
        self.shapers = self.find_shapers()
        self.find_ways()
        self.find_classes()
        self.cable_ps = self.find_cables()
        for one in self.switches.values():
            self.fault(len(one.neighbours) > switch_run.PORTS, f"bridge {one.name}: it has more than {switch_run.PORTS} ports")
        if self.faults:
            raise NotSupported("\n".join(self.faults))

    def fault(self, found: bool, text: str) -> None:
        if found:
            self.faults.append(text)

    @staticmethod
    def rows(table: Any) -> list[dict[str, Any]]:
        columns = {name: table.column(name) for name in table.column_names}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def port(self, switch: str, neighbour: str) -> int:
        """The number of a switch's port by what is at its other end."""
        known = self.switches[switch].neighbours
        if neighbour not in known:
            known.append(neighbour)
        return known.index(neighbour)

    def find_shapers(self) -> dict[int, tuple[int, int]]:
        """Of a stream's schedulers, rate in bit/s and burst in octets."""
        found: dict[int, tuple[int, int]] = {}
        for one in self.network.schedulers():
            value = (one["committed_information_rate_bps"], one["committed_burst_size_bits"] // 8)
            for name in one["streams"]:
                index = self.names.index(name)
                self.fault(found.setdefault(index, value) != value, f"stream {name}: its schedulers differ")
            self.fault(len(one["streams"]) > 1, f"streams {', '.join(one['streams'])}: they share a scheduler")
        return found

    def find_ways(self) -> None:
        self.hops = {name: self.seen.stream(name)["hops"] for name in self.names}
        for index, name in enumerate(self.names):
            hops = self.hops[name]
            for hop in hops:
                node = hop["port"].split(".")[0]
                if node not in self.switches:
                    continue
                before = hops[hop["previous"]]["port"].split(".")[0]
                port, switch = 1 << self.port(node, hop["to"]), self.switches[node]
                way = switch.ways.get(index)
                reception = self.port(node, before)
                self.fault(way is not None and way.reception != reception, f"stream {name}: it comes to {node} by two ports")
                self.fault(
                    hop["traffic_class"] != self.priorities[index], f"stream {name}: its class at {node} is not that of its priority"
                )
                switch.ways[index] = Way(reception, hop["traffic_class"], port | (way.ports if way else 0))

    def find_classes(self) -> None:
        """The settings of classes: of a switch all ports have the same."""
        seen: dict[tuple[str, int], tuple[str, int | None]] = {}
        for row in self.rows(self.seen.classes):
            node, rank = row["port"].split(".")[0], row["traffic_class"]
            if node not in self.switches:
                continue
            value = (row["selection"], row["idle_slope_bps"])
            self.fault(seen.setdefault((node, rank), value) != value, f"bridge {node}, class {rank}: its ports differ")
            if value[0] == "credit-based":
                self.switches[node].slopes[rank] = value[1] or 0
            if value[0] == "ats":
                self.switches[node].ats.add(rank)

    def find_cables(self) -> dict[tuple[str, str], int]:
        """What a cable takes, in ps, from what the simulation saw of each: propagation alone is the same for all frames of a link."""
        found: dict[tuple[str, str], int] = {}
        for row in self.frames():
            hop = self.hops[row["stream"]][row["hop"]]
            way = (hop["port"].split(".")[0], hop["to"])
            if row["received_ps"] is not None:
                sent = 8 * (PREAMBLE + row["octets"]) * (10**12 // RATE_BPS)
                found[way] = row["received_ps"] - row["start_ps"] - sent
        return found

    def frames(self) -> list[dict[str, Any]]:
        return [row for row in self.rows(self.seen.frames) if row["start_ps"] is not None]

    def offered(self) -> dict[str, list[Arrival]]:
        """Of every switch what talkers send to it."""
        found: dict[str, list[Arrival]] = defaultdict(list)
        for row in self.frames():
            hop = self.hops[row["stream"]][row["hop"]]
            node, to = hop["port"].split(".")[0], hop["to"]
            if node in self.switches or to not in self.switches:
                continue
            index = self.names.index(row["stream"])
            at = row["start_ps"] + self.cable_ps[node, to] + PHY_PS
            octets = frame_of(index, row["number"], self.priorities[index], row["octets"])
            found[to].append(Arrival(self.port(to, node), BEGIN + -(-at // CYCLE_PS), octets))
        return found


@dataclasses.dataclass
class Ran:
    """What came of all switches: by stream and listener, of each frame its number and its last bit in ps of the simulation's time."""

    arrived: dict[tuple[str, str], dict[int, int]]
    # By switch.
    outcomes: dict[str, Outcome]
    starts: int
    eligible: int
    rounds: int


def run(described: Described, faults: Mapping[str, tuple[str, str]] | None = None) -> Ran:
    """The RTL of all switches, until what they send to each other does not change.

    Raises ``AssertionError`` where a decision is not that of core's machines; ``faults`` are planted in the RTL.
    """
    hosts = described.offered()
    between: dict[str, list[Arrival]] = {name: [] for name in described.switches}
    done: dict[str, tuple[list[Arrival], Traffic, Outcome]] = {}
    rounds = 0
    while True:
        changed = False
        for name, switch in described.switches.items():
            inputs = hosts[name] + between[name]
            if name in done and done[name][0] == inputs:
                continue
            changed = True
            traffic = Traffic(described, switch, inputs)
            with tempfile.TemporaryDirectory() as folder:
                place = pathlib.Path(folder)
                outcome = switch_run.run(traffic.settings(), traffic.frames, place, build=switch_run.SMALL, faults=faults)
            done[name] = (inputs, traffic, outcome)
            for other in described.switches:
                if other in switch.neighbours:
                    between[other] = [one for one in between[other] if one.port != described.port(other, name)]
                    between[other] += sent_to(described, name, other, outcome)
        rounds += 1
        if not changed:
            break
        if rounds > RUNS_MAX:
            raise RuntimeError(f"what the switches send to each other changes after {rounds} rounds")
    starts = eligible = 0
    for _, traffic, outcome in done.values():
        times = traffic.eligible()
        mixed.check_starts(traffic, outcome, times)
        starts += len(outcome.sent)
        eligible += sum(owner >= 0 for owner in traffic.owner)
    outcomes = {name: outcome for name, (_, _, outcome) in done.items()}
    return Ran(arrivals_of(described, outcomes), outcomes, starts, eligible, rounds)


def sent_to(described: Described, switch: str, other: str, outcome: Outcome) -> list[Arrival]:
    """What a switch sends to another one, when it comes there."""
    port, late = described.port(switch, other), -(-(described.cable_ps.get((switch, other), 0) + 2 * PHY_PS) // CYCLE_PS)
    return [
        Arrival(described.port(other, switch), one.sfd - BEFORE_DELIMITER + late, one.octets) for one in outcome.sent if one.port == port
    ]


def arrivals_of(described: Described, outcomes: dict[str, Outcome]) -> dict[tuple[str, str], dict[int, int]]:
    found: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for name, outcome in outcomes.items():
        neighbours = described.switches[name].neighbours
        for one in outcome.sent:
            to = neighbours[one.port]
            if to in described.switches:
                continue
            last = CYCLE_PS * (one.sfd - BEFORE_DELIMITER - BEGIN + PREAMBLE + len(one.octets))
            at = last + PHY_PS + described.cable_ps[name, to]
            found[described.names[index_of(one.octets)], to][number_of(one.octets)] = at
    return found


@dataclasses.dataclass(frozen=True)
class Row:
    """A stream at a listener; times in ps."""

    stream: str
    listener: str
    offered: int
    rtl: list[int]
    simulated: list[int]
    bound: int | None
    deadline: int | None

    @staticmethod
    def verdict(delays: list[int], offered: int, deadline: int | None, bound: int | None) -> str:
        if bound is not None and delays and max(delays) > bound:
            return "above the bound"
        if len(delays) < offered:
            return "lost"
        if deadline is not None and max(delays, default=0) > deadline:
            return "late"
        return "in time" if deadline is not None else "arrived"


def table(described: Described, ran: Ran) -> list[Row]:
    """Delays from the talker's queue to the last bit at the listener, of the frames that came in the simulation's run."""
    queued: dict[str, dict[int, int]] = defaultdict(dict)
    received: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for row in described.frames():
        hop = described.hops[row["stream"]][row["hop"]]
        if "previous" not in hop:
            queued[row["stream"]][row["number"]] = row["queued_ps"]
        if row["received_ps"] is not None:
            received[row["stream"], hop["to"]][row["number"]] = row["received_ps"]
    found = []
    for one in described.rows(described.bounds.listeners):
        name, listener = one["stream"], one["listener"]
        # At the end of the run frames are on their way: of these nothing is said.
        numbers = sorted(received[name, listener])
        rtl = [ran.arrived[name, listener][k] - queued[name][k] for k in numbers if k in ran.arrived[name, listener]]
        simulated = [received[name, listener][k] - queued[name][k] for k in numbers]
        found.append(Row(name, listener, len(numbers), rtl, simulated, one["bound_delay_max_ps"], one["deadline_ps"]))
    return found


def us(value: int | None) -> str:
    return "-" if value is None else f"{value / 1e6:.3f}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="network.py", description=__doc__.splitlines()[0])
    parser.add_argument("network")
    parser.add_argument("--duration", help="instead of the description's")
    parser.add_argument("--writes", action="store_true", help="the register writes of every switch")
    chosen = parser.parse_args(arguments)
    try:
        described = Described(tautwire.load(chosen.network), chosen.duration)
    except (NotSupported, tautwire.TautwireError) as fault:
        print(fault, file=sys.stderr)
        return 2
    if chosen.writes:
        for name, switch in described.switches.items():
            print(f"# {name}: ports {', '.join(f'{k} to {one}' for k, one in enumerate(switch.neighbours))}")
            for write in switch_run.writes_of(Traffic(described, switch, []).settings()):
                print(f"{write.address:#05x} {write.value:#x}")
        return 0
    ran = run(described)
    print(f"{'stream':14}{'listener':12}{'frames':>8}{'RTL us':>10}{'sim. us':>10}{'bound us':>10}{'deadline':>10}  RTL / simulation")
    wrong = 0
    for row in table(described, ran):
        verdicts = [Row.verdict(delays, row.offered, row.deadline, row.bound) for delays in (row.rtl, row.simulated)]
        wrong += verdicts[0] != verdicts[1] or "above the bound" in verdicts
        values = (max(row.rtl, default=None), max(row.simulated, default=None), row.bound, row.deadline)
        times = "".join(f"{us(one):>10}" for one in values)
        print(f"{row.stream:14}{row.listener:12}{row.offered:8}{times}  {' / '.join(verdicts)}")
    equal = f"{ran.starts} starts to the cycle and {ran.eligible} eligibility times to the tick"
    print(f"{equal} are those of core's machines; {ran.rounds} rounds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
