//! The grammar of a description: every key, its kind, and what it says.
//!
//! Names are those of the 802.1Q YANG modules where these have one. Schema, reference and check are
//! made from these tables.

use super::shape::{Key, Kind, Shape};

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, required: false, about }
}

const fn must(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, required: true, about }
}

const MANY: usize = usize::MAX;
const REFERENCES: Kind = Kind::OneOf(&[Kind::Reference, Kind::List(1, MANY, &Kind::Reference)]);
const PRIORITY: Kind = Kind::Integer(0, 7);
const VLAN_ID: Kind = Kind::Integer(1, 4094);

/// The whole description.
pub(crate) static NETWORK: Shape = Shape {
    name: "a network",
    about: "The whole description.",
    keys: &[&[
        key("name", Kind::Text, "Name of the network; by default that of the file."),
        key("about", Kind::Text, "What it is, for people."),
        key(
            "allow",
            Kind::List(0, MANY, &Kind::Text),
            "Codes of errors that are meant and become warnings, such as `port::overload`.",
        ),
        key("defaults", Kind::Object(&DEFAULTS), "What holds where nothing else is said."),
        key("devices", Kind::Names(&Kind::Object(&DEVICE)), "Device models of one's own, by name."),
        key("hosts", Kind::Names(&Kind::Object(&HOST)), "Host models of one's own, by name."),
        must("nodes", Kind::Names(&Kind::Object(&NODE)), "End stations and bridges, by name."),
        key("links", Kind::List(0, MANY, &Kind::Object(&LINK)), "Cables."),
        key(
            "vlans",
            Kind::Numbers(1, 4094, &Kind::Object(&VLAN)),
            "VLANs by identifier. Without this key, every VLAN that a stream names exists and every port is a tagged member.",
        ),
        key("streams", Kind::List(0, MANY, &Kind::Object(&STREAM)), "Streams."),
        key(
            "stream-tables",
            Kind::List(0, MANY, &Kind::Text),
            "CSV files with further streams, one a row; the heading names keys of a stream, with a dot for a key within a key (`traffic.interval`).",
        ),
        key(
            "network-control",
            Kind::OneOf(&[Kind::Word(&["none"]), Kind::Object(&NETWORK_CONTROL)]),
            "Network control traffic that bounds reckon with at every port beside the streams; `none` for none.",
        ),
        key("events", Kind::List(0, MANY, &Kind::Object(&EVENT)), "The run's timeline."),
        key("run", Kind::Object(&RUN), "How a run is made."),
    ]],
};

static DEFAULTS: Shape = Shape {
    name: "the defaults",
    about: "What holds for every node, port and link that says nothing else.",
    keys: &[
        &[
            key("device", Kind::Text, "Device model of the bridges; `ideal`."),
            key("host", Kind::Text, "Host model of the end stations; `ideal`."),
            key("clock", Kind::Object(&CLOCK), "Clock of every node."),
            key("rate", Kind::Rate, "Rate of the links."),
        ],
        PORT_KEYS,
    ],
};

static NODE: Shape = Shape {
    name: "a node",
    about: "An end station or a bridge. Keys of a port hold for all its ports that say nothing else.",
    keys: &[
        &[
            must("type", Kind::Word(&["end-station", "bridge"]), "What it is."),
            key("device", Kind::Text, "Device model, of a bridge."),
            key("host", Kind::Text, "Host model, of an end station."),
            key("clock", Kind::Object(&CLOCK), "Its clock."),
            key(
                "learning",
                Kind::Object(&LEARNING),
                "Learning of addresses, of a bridge, for streams with `route: learned`.",
            ),
            key(
                "ports",
                Kind::OneOf(&[Kind::Names(&Kind::Object(&PORT)), Kind::List(1, MANY, &Kind::Name)]),
                "Its ports in order; if they are not listed here, links make them.",
            ),
        ],
        PORT_KEYS,
    ],
};

static PORT: Shape = Shape {
    name: "a port",
    about: "A port of a node.",
    keys: &[
        &[key("address", Kind::MacAddress, "MAC address; by default 02:00 and the number of the port.")],
        PORT_KEYS,
    ],
};

/// Keys that stand in defaults, at a node and at a port.
static PORT_KEYS: &[Key] = &[
    key("mtu", Kind::Octets, "Largest MAC client data that the port takes; 1500 B."),
    key("pvid", VLAN_ID, "VLAN of an untagged frame; 1."),
    key(
        "ingress-filtering",
        Kind::Flag,
        "Whether a frame of a VLAN that the port is no member of is dropped on reception; false.",
    ),
    key("default-priority", PRIORITY, "Priority of an untagged frame; 0."),
    key(
        "priority-regeneration",
        Kind::List(8, 8, &PRIORITY),
        "What the received priorities 0 to 7 become; themselves.",
    ),
    key(
        "traffic-class-table",
        Kind::OneOf(&[
            Kind::Word(&["recommended", "stream-reservation", "identity"]),
            Kind::List(8, 8, &PRIORITY),
        ]),
        "Classes of the priorities 0 to 7 at egress: the recommended map (802.1Q-2022 Table 8-5), that with SR classes A and B (Table 34-1), priority n to class n, or one's own. `recommended`.",
    ),
    key(
        "untagged-class",
        PRIORITY,
        "Class of a frame that came without a tag; by default that of its priority.",
    ),
    key(
        "classes",
        Kind::Numbers(0, 7, &Kind::Object(&CLASS)),
        "Transmission selection and queue of the classes 0 to 7.",
    ),
    key(
        "queue-limit",
        Kind::Object(&QUEUE_LIMIT),
        "Limit of every queue of a class that says nothing else; 1024 frames and 2 MiB.",
    ),
    key(
        "shared-buffer",
        Kind::Object(&SHARED_BUFFER),
        "Buffer that the classes of the port share; by default the limits of the queues alone count.",
    ),
    key(
        "max-residence-time",
        Kind::OneOf(&[Kind::Word(&["none"]), Kind::Duration]),
        "MaxResidenceTime of the ATS scheduler groups of frames received here; `none`.",
    ),
];

static CLASS: Shape = Shape {
    name: "a traffic class",
    about: "How a class selects and stores its frames.",
    keys: &[&[
        key(
            "transmission-selection",
            Kind::Word(&["strict-priority", "credit-based", "ats"]),
            "Transmission selection algorithm (802.1Q-2022 8.6.8); `strict-priority`.",
        ),
        key("idle-slope", Kind::Rate, "idleSlope of a credit-based class, in bits of the wire per second."),
        key("queue-limit", Kind::Object(&QUEUE_LIMIT), "Limit of its queue."),
    ]],
};

static QUEUE_LIMIT: Shape = Shape {
    name: "a queue limit",
    about: "Most of what waits in a queue.",
    keys: &[&[
        key("frames", Kind::Integer(1, 4_294_967_295), "Frames."),
        key("octets", Kind::Octets, "Octets, destination to FCS."),
    ]],
};

static SHARED_BUFFER: Shape = Shape {
    name: "a shared buffer",
    about: "A port's buffer in cells.",
    keys: &[&[
        must("cell", Kind::Octets, "Octets of a cell; a frame takes whole cells."),
        must("cells", Kind::Integer(1, 4_294_967_295), "Cells in all."),
        key(
            "reserved",
            Kind::Numbers(0, 7, &Kind::Integer(0, 4_294_967_295)),
            "Cells set aside for a class; none.",
        ),
    ]],
};

static CLOCK: Shape = Shape {
    name: "a clock",
    about: "A node's clock, as bounds (tolerance) and simulation (the rest) see it.",
    keys: &[&[
        key("tolerance", Kind::Deviation, "Largest deviation of its rate from true time; 0 ppm."),
        key(
            "drift",
            Kind::SignedDeviation,
            "Its rate's deviation in a run, within the tolerance; by default drawn by the seed.",
        ),
        key("offset", Kind::SignedDuration, "Its reading at the start of the run; 0 s."),
        key("granularity", Kind::Duration, "Step of its readings; a picosecond."),
    ]],
};

static LEARNING: Shape = Shape {
    name: "learning",
    about: "Learning of source addresses.",
    keys: &[&[
        key("table-size", Kind::Integer(1, 4_294_967_295), "Most addresses; 8192."),
        key(
            "ageing-time",
            Kind::Duration,
            "After how long an address that is not heard of is forgotten; 300 s.",
        ),
    ]],
};

static LINK: Shape = Shape {
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
            key(
                "rate",
                Kind::Rate,
                "Bits of the wire per second, 10 Mbit/s to 100 Gbit/s; by default that of `defaults`.",
            ),
            key("length", Kind::Length, "Length of the cable, 5 ns of delay a metre; 0 m."),
            key("up", Kind::Flag, "Whether it is up at the start; true."),
            key("forward", Kind::Object(&DIRECTION), "What differs from the first end to the second."),
            key("backward", Kind::Object(&DIRECTION), "What differs from the second end to the first."),
            key("duplex", Kind::Word(&["full", "half"]), "Only `full` can be had."),
            key("pause", Kind::Flag, "PAUSE frames: only `off` can be had."),
            key("pfc", Kind::Flag, "Priority-based flow control: only `off` can be had."),
            key("eee", Kind::Flag, "Energy-Efficient Ethernet: only `off` can be had."),
        ],
        DIRECTION_KEYS,
    ],
};

static DIRECTION: Shape =
    Shape { name: "a direction of a link", about: "One direction of a cable.", keys: &[DIRECTION_KEYS] };

static DIRECTION_KEYS: &[Key] = &[
    key("propagation-delay", Kind::Duration, "Delay on the cable, in place of `length`."),
    key(
        "phy-delay",
        Kind::OneOf(&[Kind::Duration, Kind::Object(&DELAY_RANGE)]),
        "Delay of the two PHYs together, fixed or drawn between two values; 0 s.",
    ),
    key("bit-error-rate", Kind::Chance, "Chance of a bit to be received wrong; 0."),
];

static DELAY_RANGE: Shape = Shape {
    name: "a range of delays",
    about: "A least and a most.",
    keys: &[&[must("min", Kind::Duration, "Least."), must("max", Kind::Duration, "Most.")]],
};

static VLAN: Shape = Shape {
    name: "a VLAN",
    about: "Its member ports and its active topology.",
    keys: &[&[
        key(
            "tagged",
            REFERENCES,
            "Bridge ports from which its frames leave with a tag; `node` for all ports of a node. By default all ports that are not in `untagged`.",
        ),
        key("untagged", REFERENCES, "Bridge ports from which its frames leave without a tag; none."),
        key(
            "active-topology",
            Kind::OneOf(&[Kind::Word(&["spanning-tree", "all"]), Kind::List(1, MANY, &Kind::Text)]),
            "Links over which frames are flooded: a spanning tree of the members (the default), all links, or these. Where it is a list, streams keep to it as well.",
        ),
    ]],
};

pub(crate) static STREAM: Shape = Shape {
    name: "a stream",
    about: "One talker, its listeners, its traffic and its way.",
    keys: &[&[
        must("name", Kind::Name, "Unique name."),
        must("talker", Kind::Reference, "The end station that sends it, and its port if it has several."),
        must("listeners", REFERENCES, "The end stations that receive it; `all` for a broadcast."),
        key("priority", PRIORITY, "Priority (PCP) given by the talker; 0."),
        key("vlan", VLAN_ID, "VLAN in which it travels; 1."),
        key("tagged", Kind::Flag, "Whether the talker tags it; true."),
        key(
            "payload",
            Kind::OneOf(&[Kind::Octets, Kind::Object(&PAYLOAD_RANGE)]),
            "MAC client data of a frame, before padding, or its least and most.",
        ),
        key(
            "frame",
            Kind::Octets,
            "Size of a frame, destination to FCS, tag included, in place of `payload`.",
        ),
        key("traffic", Kind::Tagged(TRAFFIC), "When its frames come."),
        key("deadline", Kind::Duration, "Deadline from talker MAC to listener MAC, last bit; none."),
        key("shaper", Kind::Object(&SHAPER), "What ATS schedulers and the talker's own shaper hold it to."),
        key(
            "arrival-curve",
            Kind::Object(&ARRIVAL_CURVE),
            "What the talker promises at most; by default what follows from `traffic`.",
        ),
        key(
            "route",
            Kind::OneOf(&[Kind::Word(&["shortest", "learned"]), Kind::List(1, MANY, &Kind::Text)]),
            "Its way: the shortest (the default; ties go to the port that stands first), learned by the bridges, or stated: the bridges that it passes in order, or the links of its tree.",
        ),
        key(
            "destination",
            Kind::MacAddress,
            "Destination address; by default the listener's, or a group address.",
        ),
        key("udp", Kind::Object(&UDP), "IPv4 and UDP addresses; the headers are part of the payload."),
        key("started", Kind::Flag, "Whether it runs from the start; true."),
    ]],
};

static PAYLOAD_RANGE: Shape = Shape {
    name: "a range of sizes",
    about: "A least and a most; a run draws uniformly between them.",
    keys: &[&[must("min", Kind::Octets, "Least."), must("max", Kind::Octets, "Most.")]],
};

static SHAPER: Shape = Shape {
    name: "shaper parameters",
    about: "Parameters of the ATS schedulers (802.1Q-2022 8.6.8.5), in charged bits.",
    keys: &[&[
        must("committed-information-rate", Kind::Rate, "CommittedInformationRate."),
        must("committed-burst-size", Kind::Bits, "CommittedBurstSize."),
        key("shape-at-talker", Kind::Flag, "Whether the talker shapes the stream as well; false."),
    ]],
};

static ARRIVAL_CURVE: Shape = Shape {
    name: "an arrival curve",
    about: "A token bucket over bits of the wire (20 octets of media overhead a frame included).",
    keys: &[&[must("rate", Kind::Rate, "Rate."), must("burst", Kind::Bits, "Burst.")]],
};

static UDP: Shape = Shape {
    name: "IPv4 and UDP addresses",
    about: "Addresses of the frames' IPv4 and UDP headers.",
    keys: &[&[
        must("source", Kind::Ipv4Address, "Source address."),
        must("destination", Kind::Ipv4Address, "Destination address."),
        must("source-port", Kind::Integer(0, 65_535), "Source port."),
        must("destination-port", Kind::Integer(0, 65_535), "Destination port."),
    ]],
};

/// Traffic by its `type`.
pub(crate) static TRAFFIC: &[(&str, &Shape)] = &[
    ("periodic", &PERIODIC),
    ("constant-rate", &CONSTANT_RATE),
    ("poisson", &POISSON),
    ("on-off", &ON_OFF),
    ("greedy", &GREEDY),
    ("replay", &REPLAY),
    ("file", &FILE),
];

const OFFSET: Key = key("offset", Kind::Duration, "Time of the first frame; 0 s.");
const INTERVAL: Key = must("interval", Kind::Duration, "Period.");

static PERIODIC: Shape = Shape {
    name: "periodic traffic",
    about: "`burst` frames back to back every `interval`; the k-th comes at `offset` + k `interval` and a delay drawn up to `jitter`.",
    keys: &[&[
        INTERVAL,
        OFFSET,
        key("jitter", Kind::Duration, "Most delay; 0 s."),
        key("burst", Kind::Integer(1, 1_000_000), "Frames at once; 1."),
    ]],
};

static CONSTANT_RATE: Shape = Shape {
    name: "constant-rate traffic",
    about: "Frames spaced so that their wire bits make `rate`, whatever their sizes.",
    keys: &[&[must("rate", Kind::Rate, "Bits of the wire per second."), OFFSET]],
};

static POISSON: Shape = Shape {
    name: "Poisson traffic",
    about: "Frames at exponentially distributed distances; it promises nothing, so no bound holds for what it meets.",
    keys: &[&[must("mean-interval", Kind::Duration, "Mean distance.")]],
};

static ON_OFF: Shape = Shape {
    name: "on/off traffic",
    about: "Periodic frames during `on`, none during `off`, again and again.",
    keys: &[&[
        must("on", Kind::Duration, "Time with frames."),
        must("off", Kind::Duration, "Time without."),
        INTERVAL,
        OFFSET,
    ]],
};

static GREEDY: Shape = Shape {
    name: "greedy traffic",
    about: "All that the stream's `arrival-curve` allows, as early as it allows: the adversary of the bounds.",
    keys: &[&[OFFSET]],
};

static REPLAY: Shape = Shape {
    name: "replayed traffic",
    about: "Frames at the times of a trace: pcap, pcapng, or CSV with the columns `time` and `payload`. The first comes at the start.",
    keys: &[&[must("file", Kind::Text, "The trace, relative to the description.")]],
};

static FILE: Shape = Shape {
    name: "a file transfer",
    about: "A file handed to the port at once, in frames as large as the payload says.",
    keys: &[&[
        must("octets", Kind::Octets, "MAC client data in all."),
        key("at", Kind::Duration, "When; 0 s."),
    ]],
};

static NETWORK_CONTROL: Shape = Shape {
    name: "network control traffic",
    about: "gPTP, MRP, LLDP and the like, as interference in every bound.",
    keys: &[&[
        key("priority", PRIORITY, "Its priority; 7."),
        key("rate", Kind::Rate, "Bits of the wire per second that leave a port at most; 100 kbit/s."),
        key("burst", Kind::Bits, "Bits of the wire that leave a port at once; 1228 B."),
        key("frame-max", Kind::Octets, "Largest frame, destination to FCS; 300 B."),
    ]],
};

static EVENT: Shape = Shape {
    name: "an event",
    about: "A step of the run's timeline: `at` and one other key.",
    keys: &[&[
        must("at", Kind::Duration, "When, in true time since the start."),
        key("start-stream", Kind::Text, "This stream begins; its traffic's times count from here."),
        key("stop-stream", Kind::Text, "This stream ends; frames on their way go on."),
        key("cut-link", Kind::Text, "This link is cut; frames on it are lost."),
        key("mend-link", Kind::Text, "This link is mended."),
        key("stop-node", Kind::Text, "This node stops; its frames are lost."),
        key("start-node", Kind::Text, "This node comes back, empty."),
        key("change-traffic", Kind::Object(&CHANGE_TRAFFIC), "A stream's traffic changes."),
        key(
            "change-idle-slope",
            Kind::Object(&CHANGE_IDLE_SLOPE),
            "A credit-based class of a port gets another idleSlope.",
        ),
        key("change-shaper", Kind::Object(&CHANGE_SHAPER), "A stream's shapers get other parameters."),
        key(
            "change-bit-error-rate",
            Kind::Object(&CHANGE_ERRORS),
            "Both directions of a link get another bit error rate.",
        ),
    ]],
};

static CHANGE_TRAFFIC: Shape = Shape {
    name: "a change of traffic",
    about: "A stream's new traffic.",
    keys: &[&[
        must("stream", Kind::Text, "The stream."),
        must("traffic", Kind::Tagged(TRAFFIC), "Its new traffic."),
        key("arrival-curve", Kind::Object(&ARRIVAL_CURVE), "What it promises from now on."),
    ]],
};

static CHANGE_IDLE_SLOPE: Shape = Shape {
    name: "a change of idleSlope",
    about: "A class's new idleSlope.",
    keys: &[&[
        must("port", Kind::Reference, "The port."),
        must("class", PRIORITY, "The class."),
        must("idle-slope", Kind::Rate, "Its new idleSlope."),
    ]],
};

static CHANGE_SHAPER: Shape = Shape {
    name: "a change of shaper parameters",
    about: "New parameters of a stream's shapers.",
    keys: &[&[
        must("stream", Kind::Text, "The stream."),
        must("committed-information-rate", Kind::Rate, "CommittedInformationRate."),
        must("committed-burst-size", Kind::Bits, "CommittedBurstSize."),
    ]],
};

static CHANGE_ERRORS: Shape = Shape {
    name: "a change of the bit error rate",
    about: "A link's new bit error rate.",
    keys: &[&[
        must("link", Kind::Text, "The link."),
        must("bit-error-rate", Kind::Chance, "Chance of a bit to be received wrong."),
    ]],
};

static RUN: Shape = Shape {
    name: "run settings",
    about: "How a run is made.",
    keys: &[&[
        key("duration", Kind::Duration, "Simulated time; 1 s."),
        key(
            "warm-up",
            Kind::Duration,
            "Frames created before it are checked but left out of statistics; 0 s.",
        ),
        key(
            "stop-after-frames",
            Kind::Integer(1, u64::MAX),
            "End after this many delivered frames, if that is earlier.",
        ),
        key("seed", Kind::Integer(0, u64::MAX), "Seed of every random stream; 1."),
    ]],
};

/// A file of device and host models.
pub(crate) static DEVICE_FILE: Shape = Shape {
    name: "a file of models",
    about: "Device and host models.",
    keys: &[&[
        key("devices", Kind::Names(&Kind::Object(&DEVICE)), "Device models."),
        key("hosts", Kind::Names(&Kind::Object(&HOST)), "Host models."),
    ]],
};

static DEVICE: Shape = Shape {
    name: "a device model",
    about: "Delays and choices of a bridge. Keys of a port hold for all ports of its bridges that say nothing else.",
    keys: &[
        &[
            key("about", Kind::Text, "What it is, and where its values come from."),
            key("based-on", Kind::Text, "A model whose values hold where this one says nothing; `ideal`."),
            key("switching", Kind::Word(&["store-and-forward", "cut-through"]), "When forwarding may begin."),
            key(
                "cut-through-header",
                Kind::Octets,
                "Octets of the frame that must be in before a cut-through begins; 64 B.",
            ),
            key(
                "stages",
                Kind::List(0, MANY, &Kind::Object(&STAGE)),
                "What a frame passes between the last bit received (the header, for cut-through) and the first bit sent, in order.",
            ),
            key(
                "tie-rule",
                Kind::Word(&["arrival-order", "round-robin", "lowest-port"]),
                "Order between frames of one class from several reception ports.",
            ),
            key("two-stage", Kind::Flag, "Whether a class commits one frame before the classes compete."),
            key(
                "credit-charged-overhead",
                Kind::Octets,
                "Octets beside the frame that the credit-based shaper charges; 20 B.",
            ),
            key("ats", Kind::Object(&ATS), "Asynchronous traffic shaping."),
        ],
        PORT_KEYS,
    ],
};

static STAGE: Shape = Shape {
    name: "a stage",
    about: "A part of a device, with the time that a frame takes to pass it and keeps it to itself.",
    keys: &[&[
        must("name", Kind::Name, "Unique in the device."),
        must(
            "position",
            Kind::Word(&["reception", "processing", "transmission"]),
            "Before the arrival is recognised, between arrival and queue, or behind the selection.",
        ),
        key(
            "only-for",
            Kind::Word(&["strict-priority", "credit-based", "ats"]),
            "Only for classes of this transmission selection; all.",
        ),
        key("latency", DELAY, "From in to out."),
        key("occupancy", DELAY, "How long the next frame of the same port must wait to enter; 0 s."),
    ]],
};

const DELAY: Kind = Kind::OneOf(&[Kind::Duration, Kind::Object(&DELAY_SHAPE)]);

static DELAY_SHAPE: Shape = Shape {
    name: "a delay",
    about: "`constant` + `per-octet` times the frame's octets (destination to FCS) - `less` + a random part. With `min` and `max` alone it is uniform.",
    keys: &[&[
        key("constant", Kind::Duration, "Constant part."),
        key("per-octet", Kind::Duration, "Per octet of the frame."),
        key("less", Kind::Duration, "Taken off the constant and per-octet parts."),
        key("min", Kind::Duration, "Least of the random part."),
        key("max", Kind::Duration, "Most of the random part."),
        key("mean", Kind::Duration, "Mean of a normal random part, cut at least and most."),
        key("deviation", Kind::Duration, "Standard deviation of a normal random part."),
    ]],
};

static ATS: Shape = Shape {
    name: "ATS of a device",
    about: "What a bridge's asynchronous traffic shaping is like (802.1Q-2022 8.6.5.6, 8.6.8.5, 8.6.11).",
    keys: &[&[
        key(
            "organisation",
            Kind::Word(&["eligibility-ordered", "interleaved-regulators"]),
            "One queue in order of eligibility, or a FIFO queue per scheduler group.",
        ),
        key(
            "grouping",
            Kind::Word(&["upstream-class", "own-class"]),
            "What makes a scheduler group beside the reception port.",
        ),
        key(
            "charged-overhead",
            Kind::Octets,
            "Octets beside the frame that a scheduler charges; 20 B by the standard.",
        ),
        key("time-quantum", Kind::Duration, "Step of the scheduler's times; 1 ps."),
        key("processing-delay-max", Kind::Duration, "ProcessingDelayMax, added to every eligibility time."),
        key(
            "schedulers-per-group",
            Kind::OneOf(&[Kind::Word(&["unlimited"]), Kind::Integer(1, 4_294_967_295)]),
            "Most schedulers of one group; further streams share a default instance.",
        ),
        key(
            "arrival-recognition-delay-max",
            Kind::Duration,
            "How much later than the last bit the arrival time may be read.",
        ),
        key(
            "clock-offset-variation-max",
            Kind::Duration,
            "ClockOffsetVariationMax between a reception and a transmission port.",
        ),
        key("clock-rate-deviation-max", Kind::Deviation, "ClockRateDeviationMax between them."),
    ]],
};

static HOST: Shape = Shape {
    name: "a host model",
    about: "How an end station hands frames to its port and takes them from it.",
    keys: &[&[
        key("about", Kind::Text, "What it is, and where its values come from."),
        key("based-on", Kind::Text, "A model whose values hold where this one says nothing; `ideal`."),
        key("transmit", DELAY, "From the application to the port's queue; keeps order."),
        key("receive", DELAY, "From the last bit received to the application; no part of a stream's delay."),
        key("queue-limit", Kind::Integer(1, 4_294_967_295), "Most frames between application and port."),
        key(
            "credit-charged-overhead",
            Kind::Octets,
            "Octets beside the frame that the port's credit-based shapers charge; 20 B.",
        ),
    ]],
};
