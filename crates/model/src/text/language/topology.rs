//! Nodes, ports, classes, links and VLANs.

use crate::gates::language::GATE_PARAMETER_TABLE;
use crate::preemption::language::FRAME_PREEMPTION_PARAMETERS;
use crate::psfp::language::BRIDGE_KEYS;

use super::{MANY, PRIORITY, REFERENCES, VLAN_ID, key, must};
use crate::text::shape::{Key, Kind, Shape};

pub(super) static NODE: Shape = Shape {
    name: "a node",
    about: "An end station or a bridge. Keys of a port hold for all its ports that do not state them.",
    keys: &[
        &[
            must("type", Kind::Word(&["end-station", "bridge"]), "What it is."),
            key("device", Kind::Text, "Device model, of a bridge."),
            key("host", Kind::Text, "Host model, of an end station."),
            key("clock", Kind::Object(&CLOCK), "Its clock."),
            key(
                "learning",
                Kind::OneOf(&[Kind::Word(&["off"]), Kind::Object(&LEARNING)]),
                "Learning of addresses in a bridge, which streams with `route: learned` use; `off`: the bridge floods them.",
            ),
            key(
                "ports",
                Kind::OneOf(&[Kind::Names(&Kind::Object(&PORT)), Kind::List(1, MANY, &Kind::Name)]),
                "Its ports in order; without this key, links create them.",
            ),
        ],
        BRIDGE_KEYS,
        PORT_KEYS,
    ],
};

pub(super) static PORT: Shape = Shape {
    name: "a port",
    about: "A port of a node.",
    keys: &[
        &[
            key("address", Kind::MacAddress, "MAC address; by default 02:00 and the number of the port."),
            key(
                "interface",
                Kind::Name,
                "Network interface of Linux, at most 15 characters, on which `tautwire bridge` runs the port. Only that subcommand uses it: for bounds and simulation a port is the same on any interface.",
            ),
        ],
        PORT_KEYS,
    ],
};

/// Keys of defaults, nodes and ports.
pub(super) static PORT_KEYS: &[Key] = &[
    key("mtu", Kind::Octets,  "Largest MAC client data that the port takes.").or("1500 B"),
    key("pvid", VLAN_ID,  "VLAN of an untagged frame.").or("1"),
    key(
        "ingress-filtering",
        Kind::Flag,
         "Whether the port drops received frames of VLANs of which it is not a member.",
    ).or("false"),
    key("default-priority", PRIORITY,  "Priority of an untagged frame.").or("0"),
    key(
        "priority-regeneration",
        Kind::List(8, 8, &PRIORITY),
        "Regenerated priorities of the received priorities 0 to 7; by default the same.",
    ),
    key(
        "traffic-class-table",
        Kind::OneOf(&[
            Kind::Word(&["recommended", "stream-reservation", "identity"]),
            Kind::List(8, 8, &PRIORITY),
        ]),
         "Classes of the priorities 0 to 7 at egress: the recommended map (802.1Q-2022 Table 8-5), that with SR classes A and B (Table 34-1), priority n to class n, or a list.",
    ).or("recommended"),
    key(
        "untagged-class",
        PRIORITY,
        "Class of a frame that arrived without a tag; by default that of its priority.",
    ),
    key(
        "classes",
        Kind::Numbers(0, 7, &Kind::Object(&CLASS)),
        "Transmission selection and queue of the classes 0 to 7.",
    ),
    key(
        "queue-limit",
        Kind::Object(&QUEUE_LIMIT),
        "Limit of the queue of every class that states no other; by default 1024 frames and 2 MiB.",
    ),
    key(
        "shared-buffer",
        Kind::Object(&SHARED_BUFFER),
        "Buffer that the classes of the port share; by default the limits of the queues alone count.",
    ),
    key(
        "max-residence-time",
        Kind::OneOf(&[Kind::Word(&["none"]), Kind::Duration]),
         "MaxResidenceTime of the ATS scheduler groups of frames received here.",
    ).or("none"),
    key(
        "gate-parameter-table",
        Kind::Object(&GATE_PARAMETER_TABLE),
        "Gates of scheduled traffic; by default all are always open.",
    ),
    key(
        "frame-preemption-parameters",
        Kind::Object(&FRAME_PREEMPTION_PARAMETERS),
        "Frame preemption; by default no frame is preemptable.",
    ),
];

pub(super) static CLASS: Shape = Shape {
    name: "a traffic class",
    about: "How a class selects and stores its frames.",
    keys: &[&[
        key(
            "transmission-selection",
            Kind::Word(&["strict-priority", "credit-based", "ats"]),
            "Transmission selection algorithm (802.1Q-2022 8.6.8).",
        )
        .or("strict-priority"),
        key("idle-slope", Kind::Rate, "idleSlope of a credit-based class, in bits of the wire per second.")
            .at_least("1 bit/s"),
        key("queue-limit", Kind::Object(&QUEUE_LIMIT), "Limit of its queue."),
    ]],
};

pub(super) static QUEUE_LIMIT: Shape = Shape {
    name: "a queue limit",
    about: "Greatest contents of a queue.",
    keys: &[&[
        key("frames", Kind::Integer(1, 4_294_967_295), "Frames."),
        key("octets", Kind::Octets, "Octets, destination to FCS."),
        key(
            "discard",
            Kind::Word(&["newest", "oldest"]),
             "What is lost when a frame arrives at a full queue: that frame, or frames at the head of the queue until it fits. Not for queues of HaRTES servers, virtual links and hosts.",
        ).or("newest"),
    ]],
};

pub(super) static SHARED_BUFFER: Shape = Shape {
    name: "a shared buffer",
    about: "A port's buffer in cells.",
    keys: &[&[
        must("cell", Kind::Octets, "Octets of a cell; a frame takes an integral number of cells.")
            .at_least("1 B")
            .at_most("1 MiB"),
        must("cells", Kind::Integer(1, 4_294_967_295), "Cells in all."),
        key(
            "reserved",
            Kind::Numbers(0, 7, &Kind::Integer(0, 4_294_967_295)),
            "Cells reserved for a class; by default none.",
        ),
    ]],
};

pub(super) static CLOCK: Shape = Shape {
    name: "a clock",
    about: "A node's clock. Bounds use its tolerance and granularity, a run uses all keys.",
    keys: &[&[
        key(
            "tolerance",
            Kind::Deviation,
            "Largest deviation of its rate from true time, in ppm or ppb, below 100000 ppm.",
        )
        .or("0 ppm"),
        key(
            "drift",
            Kind::SignedDeviation,
            "Its rate's deviation in a run, in ppm or ppb and within the tolerance; by default drawn by the seed.",
        ),
        key("offset", Kind::SignedDuration, "Its reading at the start of the run.").or("0 s"),
        key(
            "granularity",
            Kind::Duration,
            "Step of its readings: what the node times by it, such as the start of each frame on a line, waits for the next step. By default a picosecond.",
        ),
    ]],
};

pub(super) static LEARNING: Shape = Shape {
    name: "learning",
    about: "Learning of source addresses.",
    keys: &[&[
        key("table-size", Kind::Integer(1, 4_294_967_295), "Greatest number of addresses.").or("8192"),
        key(
            "ageing-time",
            Kind::Duration,
            "Time after which the bridge forgets an address that it has not received.",
        )
        .or("300 s"),
    ]],
};

pub(super) static LINK: Shape = Shape {
    name: "a link",
    about: "A cable, full duplex.",
    keys: &[
        &[
            must(
                "between",
                Kind::List(2, 2, &Kind::Reference),
                "Its two ends: `node:port`, or `node` for its next free port.",
            ),
            key("name", Kind::Name, "Its name, for routes and events."),
            key("rate", Kind::Rate, "Bits on the wire per second; by default that of `defaults`.")
                .at_least("10 Mbit/s")
                .at_most("100 Gbit/s"),
            key("length", Kind::Length, "Length of the cable, with a delay of 5 ns per metre.").or("0 m"),
            key(
                "up",
                Kind::Flag,
                "Whether it is up at the start; by default true. A path uses a link that is down only if an event mends it and no other link connects the same parts.",
            ),
            key(
                "forward",
                Kind::Object(&DIRECTION),
                "Values from the first end to the second, if they differ.",
            ),
            key(
                "backward",
                Kind::Object(&DIRECTION),
                "Values from the second end to the first, if they differ.",
            ),
            key("duplex", Kind::Word(&["full", "half"]), "Only `full` is supported."),
            key("pause", Kind::Flag, "PAUSE frames: only `off` is supported."),
            key("pfc", Kind::Flag, "Priority-based flow control: only `off` is supported."),
            key("eee", Kind::Flag, "Energy-Efficient Ethernet: only `off` is supported."),
        ],
        DIRECTION_KEYS,
    ],
};

pub(super) static DIRECTION: Shape =
    Shape { name: "a direction of a link", about: "One direction of a cable.", keys: &[DIRECTION_KEYS] };

pub(super) static DIRECTION_KEYS: &[Key] = &[
    key("propagation-delay", Kind::Duration, "Delay on the cable, in place of `length`."),
    key(
        "phy-delay",
        Kind::OneOf(&[Kind::Duration, Kind::Object(&DELAY_RANGE)]),
        "Delay of the two PHYs together, fixed or drawn between two values.",
    )
    .or("0 s"),
    key("bit-error-rate", Kind::Chance, "Chance of a bit to be received wrong.").or("0"),
];

pub(super) static DELAY_RANGE: Shape = Shape {
    name: "a range of delays",
    about: "Least and greatest value.",
    keys: &[&[must("min", Kind::Duration, "Least."), must("max", Kind::Duration, "Most.")]],
};

pub(super) static VLAN: Shape = Shape {
    name: "a VLAN",
    about: "Its member ports and its active topology.",
    keys: &[&[
        key(
            "tagged",
            REFERENCES,
            "Bridge ports from which its frames leave with a tag; `node` for all ports of a node, `trunks` for all ports to other bridges, `all` for all ports. By default the ports with another `pvid`; if only `untagged` is stated, all other ports.",
        ),
        key(
            "untagged",
            REFERENCES,
            "Bridge ports from which its frames leave without a tag, written as in `tagged`. By default the ports with this `pvid`. If both keys are stated, other ports are not members; if only `tagged` is stated, other ports with another `pvid` are not.",
        ),
        key(
            "active-topology",
            Kind::OneOf(&[Kind::Word(&["spanning-tree", "all"]), Kind::List(1, MANY, &Kind::Text)]),
            "Links over which frames are flooded: a spanning tree of the members (the default), all links, or the listed ones. The routes of streams also keep to a list.",
        ),
    ]],
};
