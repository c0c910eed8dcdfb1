"""Keys of descriptions, with their types. Made from the schema by ``tools/keys.py``; do not edit.

The classes ``...Keys`` are of keyword arguments, the classes ``...Attributes`` of attributes, where a key that is not
stated is None. What each key means: ``docs/guide/description.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from tautwire.describe import Part

__all__ = [
    "LinkAttributes",
    "LinkKeys",
    "NetworkKeys",
    "NodeAttributes",
    "NodeKeys",
    "StreamAttributes",
    "StreamKeys",
]

# A mapping of the description, or a part that makes one.
Described = Mapping[Any, Any] | Part


class NetworkKeys(TypedDict, total=False):
    """Keys of a network."""

    about: str
    """Description for readers."""
    allow: Sequence[str]
    """Errors to be reported as warnings: with them the network can still be run and bounded."""
    defaults: Described
    """Values that hold unless a node, port or link states its own."""
    devices: Described
    """Additional device models, by name."""
    hosts: Described
    """Additional host models, by name."""
    test: Described
    """Tasks of a test bed."""
    nodes: Described
    """End stations and bridges, by name."""
    links: Sequence[Described]
    """Cables."""
    vlans: Described
    """VLANs by identifier. Without this key, or with VLAN 1 alone in it, every VLAN that a stream names exists and
    every port is a member: untagged of the VLAN of its `pvid` (with `stream-reservation`: tagged), tagged of every
    other."""
    streams: Sequence[Described]
    """Streams."""
    stream_tables: Sequence[str]
    """CSV files with further streams, one in each row; the heading names keys of a stream, with a dot before a
    nested key (`traffic.interval`)."""
    network_control: Literal["none"] | Described
    """Frames of protocols that the description does not have (spanning tree, gPTP without `gptp`), which bounds
    assume at every port. Frames of its own protocols always count."""
    tdma: Described
    """Slots of a cycle in which the talkers send; without this key they send as soon as the port is free."""
    time_triggered: Described
    """Settings of all time-triggered virtual links."""
    stream_reservation: Described
    """Stream reservation (MSRP) in every node; without this key streams are sent without a reservation."""
    gptp: Described
    """The generalized precision time protocol (802.1AS) in every node; without this key clocks run freely."""
    harts: Described
    """Elementary cycles and servers (HaRTES) in all bridges; without this key their ports select by class."""
    cyclic_queuing_and_forwarding: Described
    """Cyclic queuing and forwarding (802.1Qch) in bridges; without this key they send as soon as they can."""
    events: Sequence[Described]
    """The run's timeline."""
    run: Described
    """Settings of a run."""
    lldp: Described
    """The Link Layer Discovery Protocol (802.1AB) at every port; without this key ports send no LLDP frames."""


class NodeKeys(TypedDict, total=False):
    """Keys of a node."""

    device: str
    """Device model, of a bridge."""
    host: str
    """Host model, of an end station."""
    clock: Described
    """Its clock."""
    learning: Literal["off"] | Described
    """Learning of addresses in a bridge, which streams with `route: learned` use; `off`: the bridge floods them."""
    ports: Described | Sequence[str]
    """Its ports in order; without this key, links create them."""
    stream_filters: Described
    """Stream filters of a bridge; by default none, and all frames pass."""
    stream_gates: Described
    """Stream gates to which its filters lead."""
    flow_meters: Described
    """Flow meters to which its filters lead."""
    mtu: str
    """Largest MAC client data that the port takes."""
    pvid: int
    """VLAN of an untagged frame."""
    ingress_filtering: bool
    """Whether the port drops received frames of VLANs of which it is not a member."""
    default_priority: int
    """Priority of an untagged frame."""
    priority_regeneration: Sequence[int]
    """Regenerated priorities of the received priorities 0 to 7; by default the same."""
    traffic_class_table: Literal["recommended", "stream-reservation", "identity"] | Sequence[int]
    """Classes of the priorities 0 to 7 at egress: the recommended map (802.1Q-2022 Table 8-5), that with SR classes
    A and B (Table 34-1), priority n to class n, or a list."""
    untagged_class: int
    """Class of a frame that arrived without a tag; by default that of its priority."""
    classes: Described
    """Transmission selection and queue of the classes 0 to 7."""
    queue_limit: Described
    """Limit of the queue of every class that states no other; by default 1024 frames and 2 MiB."""
    shared_buffer: Described
    """Buffer that the classes of the port share; by default the limits of the queues alone count."""
    max_residence_time: Literal["none"] | str
    """MaxResidenceTime of the ATS scheduler groups of frames received here."""
    gate_parameter_table: Described
    """Gates of scheduled traffic; by default all are always open."""
    frame_preemption_parameters: Described
    """Frame preemption; by default no frame is preemptable."""


class NodeAttributes:
    """Keys of a node as attributes."""

    type: Literal["end-station", "bridge"] | None
    """What it is."""
    device: str | None
    """Device model, of a bridge."""
    host: str | None
    """Host model, of an end station."""
    clock: Any
    """Its clock."""
    learning: Any
    """Learning of addresses in a bridge, which streams with `route: learned` use; `off`: the bridge floods them."""
    ports: Any
    """Its ports in order; without this key, links create them."""
    stream_filters: Any
    """Stream filters of a bridge; by default none, and all frames pass."""
    stream_gates: Any
    """Stream gates to which its filters lead."""
    flow_meters: Any
    """Flow meters to which its filters lead."""
    mtu: str | None
    """Largest MAC client data that the port takes."""
    pvid: int | None
    """VLAN of an untagged frame."""
    ingress_filtering: bool | None
    """Whether the port drops received frames of VLANs of which it is not a member."""
    default_priority: int | None
    """Priority of an untagged frame."""
    priority_regeneration: Sequence[int] | None
    """Regenerated priorities of the received priorities 0 to 7; by default the same."""
    traffic_class_table: Literal["recommended", "stream-reservation", "identity"] | Sequence[int] | None
    """Classes of the priorities 0 to 7 at egress: the recommended map (802.1Q-2022 Table 8-5), that with SR classes
    A and B (Table 34-1), priority n to class n, or a list."""
    untagged_class: int | None
    """Class of a frame that arrived without a tag; by default that of its priority."""
    classes: Any
    """Transmission selection and queue of the classes 0 to 7."""
    queue_limit: Any
    """Limit of the queue of every class that states no other; by default 1024 frames and 2 MiB."""
    shared_buffer: Any
    """Buffer that the classes of the port share; by default the limits of the queues alone count."""
    max_residence_time: Literal["none"] | str | None
    """MaxResidenceTime of the ATS scheduler groups of frames received here."""
    gate_parameter_table: Any
    """Gates of scheduled traffic; by default all are always open."""
    frame_preemption_parameters: Any
    """Frame preemption; by default no frame is preemptable."""


class LinkKeys(TypedDict, total=False):
    """Keys of a cable."""

    name: str
    """Its name, for routes and events."""
    rate: str
    """Bits on the wire per second; by default that of `defaults`. Values: from 10 Mbit/s to 100 Gbit/s."""
    length: str
    """Length of the cable, with a delay of 5 ns per metre."""
    up: bool
    """Whether it is up at the start; by default true. A path uses a link that is down only if an event mends it and
    no other link connects the same parts."""
    forward: Described
    """Values from the first end to the second, if they differ."""
    backward: Described
    """Values from the second end to the first, if they differ."""
    duplex: Literal["full", "half"]
    """Only `full` is supported."""
    pause: bool
    """PAUSE frames: only `off` is supported."""
    pfc: bool
    """Priority-based flow control: only `off` is supported."""
    eee: bool
    """Energy-Efficient Ethernet: only `off` is supported."""
    propagation_delay: str
    """Delay on the cable, in place of `length`."""
    phy_delay: str | Described
    """Delay of the two PHYs together, fixed or drawn between two values."""
    bit_error_rate: str
    """Chance of a bit to be received wrong."""


class LinkAttributes:
    """Keys of a cable as attributes."""

    between: Sequence[str] | None
    """Its two ends: `node:port`, or `node` for its next free port."""
    name: str | None
    """Its name, for routes and events."""
    rate: str | None
    """Bits on the wire per second; by default that of `defaults`. Values: from 10 Mbit/s to 100 Gbit/s."""
    length: str | None
    """Length of the cable, with a delay of 5 ns per metre."""
    up: bool | None
    """Whether it is up at the start; by default true. A path uses a link that is down only if an event mends it and
    no other link connects the same parts."""
    forward: Any
    """Values from the first end to the second, if they differ."""
    backward: Any
    """Values from the second end to the first, if they differ."""
    duplex: Literal["full", "half"] | None
    """Only `full` is supported."""
    pause: bool | None
    """PAUSE frames: only `off` is supported."""
    pfc: bool | None
    """Priority-based flow control: only `off` is supported."""
    eee: bool | None
    """Energy-Efficient Ethernet: only `off` is supported."""
    propagation_delay: str | None
    """Delay on the cable, in place of `length`."""
    phy_delay: Any
    """Delay of the two PHYs together, fixed or drawn between two values."""
    bit_error_rate: str | None
    """Chance of a bit to be received wrong."""


class StreamKeys(TypedDict, total=False):
    """Keys of a stream."""

    priority: int
    """Priority (PCP) given by the talker."""
    vlan: int
    """VLAN in which it travels."""
    tagged: bool
    """Whether the talker tags it."""
    payload: str | Described
    """MAC client data of a frame before padding, or its least and greatest size. Values: at most 65513 B."""
    frame: str
    """Size of a frame, destination to FCS, tag included, in place of `payload`. Values: from 64 B to 65535 B."""
    datagram: str
    """Data of a UDP datagram, in place of `payload`. A datagram is fragmented into frames of 1500 B of payload, or
    of what the talker's slots hold; `traffic` then describes datagrams. Values: at most 65507 B."""
    traffic: Described
    """When it creates frames."""
    time_aware: Described
    """The talker can release its frames at an offset that `tautwire schedule` finds, with gates on their path."""
    deadline: str
    """Deadline of the delay from the talker's MAC to the last bit at the listener's MAC; by default none."""
    count_late: Sequence[str]
    """Further delays: a run counts for each of them the frames that are later. They are no requirement."""
    shaper: Described
    """Parameters of its ATS schedulers and of the talker's own shaper."""
    arrival_curve: Described
    """Arrival curve that the talker promises and its traffic must keep; by default it follows from `traffic`."""
    route: Literal["shortest", "learned"] | Sequence[str]
    """Its route: the shortest path (the default; of equal ones that by the first port), learned by the bridges, or
    stated as the bridges in order or as the links of its tree."""
    destination: str
    """Destination address; by default the listener's, or a group address."""
    identification: Described | Sequence[Described]
    """How nodes identify its frames (802.1CB stream identification), for ATS schedulers, stream filters and copies:
    by a function, or by the first of several that a node has and that all frames match there; by default as their
    device model says."""
    udp: Described
    """IPv4 and UDP addresses; the headers are part of the payload."""
    virtual_link: Described
    """Makes it a virtual link of ARINC 664 part 7; its frames are untagged, and switches have its priority
    configured."""
    time_triggered: Described
    """Makes it a time-triggered virtual link; its frames are untagged, with priority 7 by default."""
    frer: Described
    """Sends copies of its frames over several paths and eliminates them where paths meet (802.1CB)."""
    reservation: Described
    """Makes it a reserved stream: it needs `stream-reservation`, and is sent while a listener is ready."""
    stack: str
    """The protocol stack of its stations' host models that it uses; in a host model without a stack of this name,
    the first one."""
    started: bool
    """Whether it is active from the start."""


class StreamAttributes:
    """Keys of a stream as attributes."""

    name: str | None
    """Unique name."""
    talker: str | None
    """The end station that sends it, and its port if it has several."""
    listeners: str | Sequence[str] | None
    """The end stations that receive it; `all` for a broadcast."""
    priority: int | None
    """Priority (PCP) given by the talker."""
    vlan: int | None
    """VLAN in which it travels."""
    tagged: bool | None
    """Whether the talker tags it."""
    payload: Any
    """MAC client data of a frame before padding, or its least and greatest size. Values: at most 65513 B."""
    frame: str | None
    """Size of a frame, destination to FCS, tag included, in place of `payload`. Values: from 64 B to 65535 B."""
    datagram: str | None
    """Data of a UDP datagram, in place of `payload`. A datagram is fragmented into frames of 1500 B of payload, or
    of what the talker's slots hold; `traffic` then describes datagrams. Values: at most 65507 B."""
    traffic: Any
    """When it creates frames."""
    time_aware: Any
    """The talker can release its frames at an offset that `tautwire schedule` finds, with gates on their path."""
    deadline: str | None
    """Deadline of the delay from the talker's MAC to the last bit at the listener's MAC; by default none."""
    count_late: Sequence[str] | None
    """Further delays: a run counts for each of them the frames that are later. They are no requirement."""
    shaper: Any
    """Parameters of its ATS schedulers and of the talker's own shaper."""
    arrival_curve: Any
    """Arrival curve that the talker promises and its traffic must keep; by default it follows from `traffic`."""
    route: Literal["shortest", "learned"] | Sequence[str] | None
    """Its route: the shortest path (the default; of equal ones that by the first port), learned by the bridges, or
    stated as the bridges in order or as the links of its tree."""
    destination: str | None
    """Destination address; by default the listener's, or a group address."""
    identification: Any
    """How nodes identify its frames (802.1CB stream identification), for ATS schedulers, stream filters and copies:
    by a function, or by the first of several that a node has and that all frames match there; by default as their
    device model says."""
    udp: Any
    """IPv4 and UDP addresses; the headers are part of the payload."""
    virtual_link: Any
    """Makes it a virtual link of ARINC 664 part 7; its frames are untagged, and switches have its priority
    configured."""
    time_triggered: Any
    """Makes it a time-triggered virtual link; its frames are untagged, with priority 7 by default."""
    frer: Any
    """Sends copies of its frames over several paths and eliminates them where paths meet (802.1CB)."""
    reservation: Any
    """Makes it a reserved stream: it needs `stream-reservation`, and is sent while a listener is ready."""
    stack: str | None
    """The protocol stack of its stations' host models that it uses; in a host model without a stack of this name,
    the first one."""
    started: bool | None
    """Whether it is active from the start."""
