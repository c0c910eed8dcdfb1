"""The mechanisms, as parts of a network's description.

Sensors have a shaper, control loops have gates or cycles, all but control loops may be preemptable. A combination is
a name such as ``gates + ats + preemption``; ``strict`` is strict priority alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import tautwire
from shapers_fields import BULK, CONTROL, SENSOR, SERVICE, Field, Flow

__all__ = ["COMBINATIONS", "NotOffered", "build", "paths", "reserved_share"]

#: All combinations, in the order of the tables.
COMBINATIONS = (
    "strict",
    "credit",
    "ats",
    "preemption",
    "credit + preemption",
    "ats + preemption",
    "gates",
    "gates + credit",
    "gates + ats",
    "gates + preemption",
    "gates + ats + preemption",
    "cycles",
    "cycles + preemption",
    "cycles + credit",
    "cycles + ats",
)

#: Priorities of the roles.
PRIORITIES = {"control": CONTROL, "sensor": SENSOR, "service": SERVICE, "bulk": BULK}

#: What a shaper reserves for sensors, over their mean rate.
RESERVED_OVER_RATE = 2


#: What each bridge takes between the last bit of a frame and its queue.
STAGE = {"name": "forwarding", "position": "processing", "latency": "4 us"}


class NotOffered(Exception):
    """A combination that the workbench refuses, with its reason."""


def build(field: Field, combination: str) -> tautwire.Network:
    """The network of a field with a combination of mechanisms."""
    parts = set(combination.split(" + "))
    network = tautwire.Network(
        field.name,
        network_control="none",
        vlans={1: {"tagged": "all"}},
        devices={"switch": {"stages": [STAGE], "ats": {"processing_delay_max": "4 us"}}},
        defaults=_defaults(parts),
        run={"duration": "100 ms", "seed": 1},
    )
    for bridge in field.bridges:
        network.bridge(bridge, ports=_ports(field, bridge, parts))
    for station in field.stations:
        network.end_station(station)
    for one, other in itertools.pairwise(field.bridges):
        network.link(f"{one}:to-{other}", f"{other}:to-{one}", rate=f"{field.backbone} Mbit/s", length="20 m")
    for station, bridge in field.stations.items():
        network.link(station, f"{bridge}:to-{station}", rate=f"{field.rate(station)} Mbit/s", length="10 m")
    for number, flow in enumerate(field.flows):
        network.stream(**_stream(flow, number, parts))
    if "cycles" in parts:
        network.settings["cyclic_queuing_and_forwarding"] = {
            "cycle_time": f"{field.cycle_us} us",
            "base_time": "1 ms",
            "priorities": [CONTROL - 1, CONTROL],
            "bridges": list(field.bridges),
        }
    return _scheduled(network, parts) if "gates" in parts else network


def _defaults(parts: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"device": "switch", "traffic_class_table": "identity"}
    if "preemption" in parts:
        # Control loops alone are express.
        table = {f"priority{priority}": "preemptable" for priority in (BULK, SERVICE, SENSOR)}
        found["frame_preemption_parameters"] = {"frame_preemption_status_table": table}
    return found


def _ports(field: Field, bridge: str, parts: set[str]) -> dict[str, Any]:
    """The ports of a bridge, with the shaper of sensors at each."""
    ports: dict[str, Any] = {}
    for neighbour in _neighbours(field, bridge):
        carried = [flow for flow, hops in paths(field) if flow.role == "sensor" and (bridge, neighbour) in hops]
        ports[f"to-{neighbour}"] = {"classes": {SENSOR: _shaper(carried, parts)}} if carried else {}
    return ports


def _shaper(carried: list[Flow], parts: set[str]) -> dict[str, Any]:
    if "ats" in parts:
        return {"transmission_selection": "ats"}
    if "credit" in parts:
        slope = RESERVED_OVER_RATE * sum(flow.rate_bps for flow in carried)
        return {"transmission_selection": "credit-based", "idle_slope": f"{slope} bit/s"}
    return {"transmission_selection": "strict-priority"}


def _neighbours(field: Field, bridge: str) -> list[str]:
    place = field.bridges.index(bridge)
    near = [field.bridges[other] for other in (place - 1, place + 1) if 0 <= other < len(field.bridges)]
    return near + [station for station, own in field.stations.items() if own == bridge]


def _stream(flow: Flow, number: int, parts: set[str]) -> dict[str, Any]:
    traffic: dict[str, Any] = {"type": "periodic", "interval": f"{flow.interval_us} us"}
    said: dict[str, Any] = {
        "name": flow.name,
        "talker": flow.talker,
        "listeners": list(flow.listeners),
        "payload": f"{flow.payload} B",
        "priority": PRIORITIES[flow.role],
        "traffic": traffic,
    }
    if flow.role == "bulk":
        # Longer than any run, on any line here.
        said["traffic"] = {"type": "file", "octets": "100 MB"}
        return said
    said["deadline"] = f"{flow.deadline_us} us"
    if flow.role != "control":
        traffic |= {"burst": flow.burst, "phase": "random"}
    if flow.role == "sensor" and "ats" in parts:
        said["shaper"] = {
            "committed_information_rate": f"{RESERVED_OVER_RATE * flow.rate_bps} bit/s",
            "committed_burst_size": f"{flow.wire_bits * flow.burst} bit",
        }
    if flow.role == "control":
        if "gates" in parts:
            said["time_aware"] = {}
        elif "cycles" in parts:
            traffic["offset"] = "2 ms"
        else:
            traffic["phase"] = "random"
    return said


def _scheduled(network: tautwire.Network, parts: set[str]) -> tautwire.Network:
    """Offsets of control loops and lists of gates, as ``tautwire schedule`` finds them.

    With frame preemption a window of control loops holds preemptable frames instead: their gates are always open, so a
    frame may be on the line until the hold, and goes on after the release.
    """
    found, scheduled = network.schedule()
    if scheduled is None or found["verdict"] == "left out":
        raise NotOffered(f"no schedule: {found['verdict']}")
    if "preemption" not in parts:
        return scheduled
    document = scheduled.document()
    for said in document["nodes"].values():
        for keys in (said.get("ports") or {}).values():
            for entry in (keys or {}).get("gate-parameter-table", {}).get("admin-control-list", []):
                is_window = entry["gate-states"] == [CONTROL]
                entry["operation"] = "set-and-hold-mac" if is_window else "set-and-release-mac"
                if is_window:
                    entry["gate-states"] = [BULK, SERVICE, SENSOR, CONTROL]
    return tautwire.Network.of_document(document)


def paths(field: Field) -> Iterator[tuple[Flow, set[tuple[str, str]]]]:
    """Each flow with its hops: pairs of a sending node and the next one."""
    for flow in field.flows:
        hops: set[tuple[str, str]] = set()
        for listener in flow.listeners:
            first, last = (field.bridges.index(field.stations[end]) for end in (flow.talker, listener))
            step = 1 if last >= first else -1
            way = [flow.talker, *(field.bridges[place] for place in range(first, last + step, step)), listener]
            hops |= set(itertools.pairwise(way))
        yield flow, hops


def reserved_share(field: Field, combination: str, document: dict[str, Any]) -> float:
    """Share of the line that mechanisms keep at the port of a bridge where that is most, in percent.

    Idle slopes and committed information rates count as they are stated, windows with their share of the cycle, cyclic
    frames with what they may take of a cycle. Strict priority and frame preemption keep nothing.
    """
    parts = set(combination.split(" + "))
    kept: dict[tuple[str, str], float] = {}
    for flow, hops in paths(field):
        for one, other in hops:
            if one not in field.bridges:
                continue
            rate = (field.backbone if other in field.bridges else field.rate(other)) * 1e6
            share = 0.0
            if flow.role == "sensor" and parts & {"credit", "ats"}:
                share = RESERVED_OVER_RATE * flow.rate_bps / rate
            if flow.role == "control" and "cycles" in parts:
                # As many frames in a cycle as intervals begin in it.
                frames = -(-field.cycle_us // flow.interval_us)
                share = frames * flow.wire_bits / rate / (field.cycle_us * 1e-6)
            kept[one, other] = kept.get((one, other), 0) + share
    if "gates" in parts:
        for node, neighbour, share in _windows(document):
            kept[node, neighbour] = kept.get((node, neighbour), 0) + share
    return 100 * max(kept.values(), default=0.0)


def _windows(document: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Of each port of a bridge with gates: the bridge, the neighbour, and the share of the cycle in windows."""
    for node, said in document["nodes"].items():
        for port, keys in (said.get("ports") or {}).items():
            table = (keys or {}).get("gate-parameter-table")
            if table and table.get("admin-control-list"):
                entries = [(_open(entry), _ns(entry["time-interval"])) for entry in table["admin-control-list"]]
                alone = sum(length for states, length in entries if CONTROL in states)
                yield node, port.removeprefix("to-"), alone / sum(length for _, length in entries)


def _open(entry: dict[str, Any]) -> set[int]:
    states = entry["gate-states"]
    return (
        {int(one) for one in states}
        if isinstance(states, list)
        else {number for number in range(8) if int(states) >> number & 1}
    )


def _ns(text: str) -> float:
    value, unit = str(text).split()
    return float(value) * {"ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
