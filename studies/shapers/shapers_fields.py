"""The three networks: in-vehicle, factory, avionics.

Each has control loops, sensors in bursts, a service below them, and files in the rest of the line. Rates, periods,
sizes and deadlines are of the kind that each field has; no network is a copy of a real one. Clocks are taken to be
true, as gates and cycles need them.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FIELDS", "Field", "Flow"]

#: Priorities of the roles.
CONTROL, SENSOR, SERVICE, BULK = 7, 5, 2, 0


@dataclass(frozen=True)
class Flow:
    """A stream of a role; a bulk stream is a file that never ends in a run."""

    name: str
    role: str
    talker: str
    listeners: tuple[str, ...]
    payload: int
    interval_us: int = 0
    burst: int = 1
    deadline_us: int = 0

    @property
    def wire_bits(self) -> int:
        """Bits of a frame on the wire: 22 octets of header, tag and FCS, and 20 of preamble and gap."""
        return (max(self.payload, 46) + 42) * 8

    @property
    def rate_bps(self) -> int:
        """Mean rate on the wire, rounded up."""
        return -(-self.wire_bits * self.burst * 1_000_000 // self.interval_us)


@dataclass(frozen=True)
class Field:
    """A network of a field."""

    name: str
    bridges: tuple[str, ...]
    #: End stations with their bridge.
    stations: dict[str, str]
    #: Rates in Mbit/s: of links between bridges, and of the links of stations that differ from 100.
    backbone: int
    fast: dict[str, int]
    flows: tuple[Flow, ...]
    cycle_us: int

    def rate(self, station: str) -> int:
        """Rate of a station's link in Mbit/s."""
        return self.fast.get(station, 100)


def _in_vehicle() -> Field:
    sides = ("front", "rear")
    stations = {"computer": "centre", "head-unit": "centre", "gateway": "centre", "motor": "centre"}
    stations |= {f"brake-{side}": side for side in sides} | {"steering": "front", "lidar": "front", "recorder": "rear"}
    stations |= {f"camera-{side}": side for side in sides}
    flows = [
        Flow("torque", "control", "computer", ("motor",), 64, 500, deadline_us=500),
        Flow("steer", "control", "computer", ("steering",), 64, 1000, deadline_us=1000),
        Flow("brake", "control", "computer", ("brake-front", "brake-rear"), 80, 1000, deadline_us=1000),
        Flow("angle", "control", "steering", ("computer",), 64, 1000, deadline_us=1000),
        Flow("wheels-front", "control", "brake-front", ("computer",), 96, 1000, deadline_us=1000),
        Flow("wheels-rear", "control", "brake-rear", ("computer",), 96, 1000, deadline_us=1000),
        Flow("points", "sensor", "lidar", ("computer",), 1300, 2000, 4, deadline_us=2000),
        Flow("view-front", "sensor", "camera-front", ("computer",), 1400, 4000, 8, deadline_us=4000),
        Flow("view-rear", "sensor", "camera-rear", ("computer", "head-unit"), 1400, 4000, 8, deadline_us=4000),
        Flow("diagnosis", "service", "gateway", ("computer",), 1000, 20000, deadline_us=2000),
        Flow("update", "bulk", "gateway", ("brake-front",), 1500),
        Flow("films", "bulk", "recorder", ("head-unit",), 1500),
    ]
    return Field("in-vehicle", ("front", "centre", "rear"), stations, 1000, {"computer": 1000}, tuple(flows), 200)


def _factory() -> Field:
    cells = ("c1", "c2", "c3", "c4")
    stations = {"plc": "c1", "server": "c1"} | {f"drive-{cell}": cell for cell in cells}
    stations |= {"camera-c3": "c3", "camera-c4": "c4", "historian": "c4"}
    flows = []
    for cell in cells:
        flows.append(Flow(f"order-{cell}", "control", "plc", (f"drive-{cell}",), 100, 1000, deadline_us=1000))
        flows.append(Flow(f"state-{cell}", "control", f"drive-{cell}", ("plc",), 100, 1000, deadline_us=1000))
    flows += [
        Flow("image-c3", "sensor", "camera-c3", ("plc",), 1400, 8000, 10, deadline_us=8000),
        Flow("image-c4", "sensor", "camera-c4", ("plc",), 1400, 8000, 10, deadline_us=8000),
        Flow("alarms", "service", "drive-c4", ("plc",), 200, 20000, deadline_us=5000),
        Flow("history", "bulk", "historian", ("server",), 1500),
        Flow("recipes", "bulk", "server", ("historian",), 1500),
    ]
    return Field("factory", cells, stations, 100, {}, tuple(flows), 200)


def _avionics() -> Field:
    stations = {"flight-control": "left", "air-data": "left", "cabin": "left", "radar": "left"}
    stations |= {"actuators": "right", "displays": "right", "maintenance": "right"}
    flows = [
        Flow("elevator", "control", "flight-control", ("actuators", "displays"), 100, 2000, deadline_us=1000),
        Flow("trim", "control", "flight-control", ("actuators",), 200, 4000, deadline_us=2000),
        Flow("pressure", "control", "air-data", ("displays", "flight-control"), 300, 4000, deadline_us=2000),
        Flow("position", "control", "actuators", ("flight-control",), 100, 2000, deadline_us=1000),
        Flow("weather", "sensor", "radar", ("displays",), 1400, 10000, 16, deadline_us=10000),
        Flow("traffic", "sensor", "air-data", ("displays",), 600, 8000, 4, deadline_us=8000),
        Flow("cabin-state", "service", "cabin", ("displays",), 500, 50000, deadline_us=5000),
        Flow("entertainment", "bulk", "cabin", ("displays",), 1500),
        Flow("dataload", "bulk", "cabin", ("maintenance",), 1500),
        Flow("logs", "bulk", "maintenance", ("cabin",), 1500),
    ]
    return Field("avionics", ("left", "right"), stations, 100, {}, tuple(flows), 250)


FIELDS = {field.name: field for field in (_in_vehicle(), _factory(), _avionics())}
