//! Streams, their traffic, promises and shapers.

use super::{MANY, PRIORITY, REFERENCES, VLAN_ID, key, must};
use crate::frer::language::FRER;
use crate::gates::language::TIME_AWARE;
use crate::text::shape::{Key, Kind, Shape};
use crate::time_triggered::language::TIME_TRIGGERED_LINK;
use crate::virtual_link::language::VIRTUAL_LINK;

pub(crate) static STREAM: Shape = Shape {
    name: "a stream",
    about: "One talker, its listeners, its traffic and its route.",
    keys: &[&[
        must("name", Kind::Name, "Unique name."),
        must("talker", Kind::Reference, "The end station that sends it, and its port if it has several."),
        must("listeners", REFERENCES, "The end stations that receive it; `all` for a broadcast."),
        key("priority", PRIORITY, "Priority (PCP) given by the talker.").or("0"),
        key("vlan", VLAN_ID, "VLAN in which it travels.").or("1"),
        key("tagged", Kind::Flag, "Whether the talker tags it.").or("true"),
        key(
            "payload",
            Kind::OneOf(&[Kind::Octets, Kind::Object(&PAYLOAD_RANGE)]),
            "MAC client data of a frame before padding, or its least and greatest size.",
        )
        .at_most("65513 B"),
        key(
            "frame",
            Kind::Octets,
            "Size of a frame, destination to FCS, tag included, in place of `payload`.",
        )
        .at_least("64 B")
        .at_most("65535 B"),
        key(
            "datagram",
            Kind::Octets,
            "Data of a UDP datagram, in place of `payload`. A datagram is fragmented into frames of 1500 B of payload, or of what the talker's slots hold; `traffic` then describes datagrams.",
        )
        .at_most("65507 B"),
        key("traffic", Kind::Tagged(TRAFFIC), "When it creates frames."),
        key(
            "time-aware",
            Kind::Object(&TIME_AWARE),
            "The talker can release its frames at an offset that `tautwire schedule` finds, with gates on their path.",
        ),
        key("deadline", Kind::Duration, "Deadline of the delay from the talker's MAC to the last bit at the listener's MAC; by default none."),
        key(
            "count-late",
            Kind::List(1, 16, &Kind::Duration),
            "Further delays: a run counts for each of them the frames that are later. They are no requirement.",
        ),
        key("shaper", Kind::Object(&SHAPER), "Parameters of its ATS schedulers and of the talker's own shaper."),
        key(
            "arrival-curve",
            Kind::Object(&ARRIVAL_CURVE),
            "Arrival curve that the talker promises and its traffic must keep; by default it follows from `traffic`.",
        ),
        key(
            "route",
            Kind::OneOf(&[Kind::Word(&["shortest", "learned"]), Kind::List(1, MANY, &Kind::Text)]),
            "Its route: the shortest path (the default; of equal ones that by the first port), learned by the bridges, or stated as the bridges in order or as the links of its tree.",
        ),
        key(
            "destination",
            Kind::MacAddress,
            "Destination address; by default the listener's, or a group address.",
        ),
        key(
            "identification",
            Kind::OneOf(&[
                Kind::Tagged(IDENTIFICATION),
                Kind::List(1, 4, &Kind::Tagged(IDENTIFICATION)),
            ]),
            "How nodes identify its frames (802.1CB stream identification), for ATS schedulers, stream filters and copies: by a function, or by the first of several that a node has and that all frames match there; by default as their device model says.",
        ),
        key("udp", Kind::Object(&UDP), "IPv4 and UDP addresses; the headers are part of the payload."),
        key(
            "virtual-link",
            Kind::Object(&VIRTUAL_LINK),
            "Makes it a virtual link of ARINC 664 part 7; its frames are untagged, and switches have its priority configured.",
        ),
        key(
            "time-triggered",
            Kind::Object(&TIME_TRIGGERED_LINK),
            "Makes it a time-triggered virtual link; its frames are untagged, with priority 7 by default.",
        ),
        key(
            "frer",
            Kind::Object(&FRER),
            "Sends copies of its frames over several paths and eliminates them where paths meet (802.1CB).",
        ),
        key(
            "reservation",
            Kind::Object(&super::RESERVATION),
            "Makes it a reserved stream: it needs `stream-reservation`, and is sent while a listener is ready.",
        ),
        key(
            "stack",
            Kind::Name,
            "The protocol stack of its stations' host models that it uses; in a host model without a stack of this name, the first one.",
        ),
        key("started", Kind::Flag, "Whether it is active from the start.").or("true"),
    ]],
};

pub(super) static PAYLOAD_RANGE: Shape = Shape {
    name: "a range of sizes",
    about: "Least and greatest size; a run draws uniformly between them.",
    keys: &[&[
        must("min", Kind::Octets, "Least.").at_most("65513 B"),
        must("max", Kind::Octets, "Most.").at_most("65513 B"),
    ]],
};

/// The word for a rate that is chosen.
pub(crate) const COVERING: &str = "covering";

pub(super) static SHAPER: Shape = Shape {
    name: "shaper parameters",
    about: "Parameters of the ATS schedulers (802.1Q-2022 8.6.8.5), in charged bits.",
    keys: &[&[
        must(
            "committed-information-rate",
            Kind::OneOf(&[Kind::Word(&[COVERING]), Kind::Rate]),
            "CommittedInformationRate. `covering`: the least rate with which each scheduler, with its slowest clock, passes what the talker and the scheduler before it send with their fastest clocks.",
        ),
        must("committed-burst-size", Kind::Bits, "CommittedBurstSize."),
        key(
            "rate-step",
            Kind::Deviation,
            "By how much the rate of each bridge's scheduler is above that of the one before; by default 0 ppm. With a step, the burst of each is also an octet greater, which compensates for the rounding of its ticks. With clocks of tolerance t, a step of slightly more than 2 t makes every shaper at least as fast as the one before it, which the bounds of a group of several streams need.",
        ),
        key("shape-at-talker", Kind::Flag, "Whether the talker shapes the stream as well.").or("false"),
    ]],
};

pub(super) static ARRIVAL_CURVE: Shape = Shape {
    name: "an arrival curve",
    about: "A token bucket over bits of the wire (20 octets of media overhead a frame included).",
    keys: &[&[must("rate", Kind::Rate, "Rate."), must("burst", Kind::Bits, "Burst.")]],
};

pub(super) static UDP: Shape = Shape {
    name: "IPv4 and UDP addresses",
    about: "Addresses of the frames' IPv4 and UDP headers.",
    keys: &[&[
        must("source", Kind::Ipv4Address, "Source address."),
        must("destination", Kind::Ipv4Address, "Destination address."),
        must("source-port", Kind::Integer(0, 65_535), "Source port."),
        must("destination-port", Kind::Integer(0, 65_535), "Destination port."),
        key("dscp", Kind::Integer(0, 63), "Differentiated services code point (RFC 2474).").or("0"),
    ]],
};

/// Names of the stream identification functions, in the order of [`IDENTIFICATION`].
pub(super) static FUNCTIONS: &[&str] = &[
    "null-stream-identification",
    "smac-vlan-stream-identification",
    "ip-stream-identification",
    "mask-and-match-stream-identification",
];

/// Stream identification by its `type`.
pub(super) static IDENTIFICATION: &[(&str, &Shape)] = &[
    ("null-stream-identification", &NULL_STREAM),
    ("smac-vlan-stream-identification", &SMAC_VLAN),
    ("ip-stream-identification", &IP_STREAM),
    ("mask-and-match-stream-identification", &MASK_AND_MATCH),
];

const TAGGED: Key = key(
    "tagged",
    Kind::Word(&["tagged", "priority", "all"]),
    "Frames with a tag, without one, or both; by default as the stream's frames are.",
);
const VLAN: Key = key(
    "vlan",
    Kind::OneOf(&[Kind::Word(&["any"]), VLAN_ID]),
    "VLAN of the tag; by default that of the stream, or `any` if its frames are untagged.",
);

pub(super) static NULL_STREAM: Shape = Shape {
    name: "null stream identification",
    about: "By destination address and VLAN (802.1CB 6.4). Streams with the same two are taken for one.",
    keys: &[&[TAGGED, VLAN]],
};

pub(super) static SMAC_VLAN: Shape = Shape {
    name: "source MAC and VLAN stream identification",
    about: "By source address and VLAN (802.1CB 6.5). Streams of a talker's port in one VLAN are taken for one.",
    keys: &[&[TAGGED, VLAN]],
};

pub(super) static IP_STREAM: Shape = Shape {
    name: "IP stream identification",
    about: "By fields of the IPv4 and UDP headers (802.1CB 6.7), of a stream with `udp`. An R-TAG or HSR tag hides them.",
    keys: &[&[
        key(
            "fields",
            Kind::List(
                1,
                8,
                &Kind::Word(&[
                    "destination-mac",
                    "vlan",
                    "ip-source",
                    "ip-destination",
                    "dscp",
                    "next-protocol",
                    "source-port",
                    "destination-port",
                ]),
            ),
            "Fields that are matched; by default the addresses, protocol and ports of IPv4.",
        ),
        VLAN,
    ]],
};

pub(super) static MASK_AND_MATCH: Shape = Shape {
    name: "mask-and-match stream identification",
    about: "By masked octets of the addresses and of the data after them and the VLAN tag (802.1CBdb 6.8), sequence tags included. Octets without a mask are not matched; by default the values to match are the stream's own.",
    keys: &[&[
        key("destination-mac-mask", Kind::MacAddress, "Mask of the destination address.")
            .or("00:00:00:00:00:00"),
        key(
            "destination-mac-match",
            Kind::MacAddress,
            "Masked value to match; by default that of the stream.",
        ),
        key("source-mac-mask", Kind::MacAddress, "Mask of the source address.").or("00:00:00:00:00:00"),
        key("source-mac-match", Kind::MacAddress, "Masked value to match; by default that of the stream."),
        key(
            "msdu-mask",
            Kind::Text,
            "Mask of the octets from the EtherType on, in hexadecimal digits; by default none.",
        ),
        key(
            "msdu-match",
            Kind::Text,
            "Masked octets to match, as many as the mask has; by default those of the stream.",
        ),
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
    ("injected", &INJECTED),
    ("synchronisation", &SYNCHRONISATION),
    ("response", &RESPONSE),
    ("polled", &POLLED),
];

pub(super) const OFFSET: Key = key("offset", Kind::Duration, "Time of the first frame.").or("0 s");
const INTERVAL: Key = must("interval", Kind::Duration, "Period.").at_least("1 ps");

pub(super) static PERIODIC: Shape = Shape {
    name: "periodic traffic",
    about: "`burst` frames back to back every `interval`; the k-th burst is created at `offset` + k `interval` and a delay drawn up to `jitter`.",
    keys: &[&[
        INTERVAL,
        OFFSET,
        key("jitter", Kind::Duration, "Greatest random delay.").or("0 s"),
        key("burst", Kind::Integer(1, 1_000_000), "Frames at once.").or("1"),
        key(
            "phase",
            Kind::Word(&["random"]),
            "`random`: all frames are delayed by the same time below `interval`, which a run draws by its seed. By default the phase is `offset`.",
        ),
    ]],
};

pub(super) static CONSTANT_RATE: Shape = Shape {
    name: "constant-rate traffic",
    about: "Frames spaced so that their bits on the wire have the rate `rate`, whatever their sizes.",
    keys: &[&[must("rate", Kind::Rate, "Bits on the wire per second.").at_least("1 bit/s"), OFFSET]],
};

pub(super) static POISSON: Shape = Shape {
    name: "Poisson traffic",
    about: "Frames at exponentially distributed distances. It has no arrival curve, so streams that share a class with it have no bound.",
    keys: &[&[must("mean-interval", Kind::Duration, "Mean distance.").at_least("1 ps")]],
};

pub(super) static ON_OFF: Shape = Shape {
    name: "on/off traffic",
    about: "Periodic frames during `on` and none during `off`, alternately.",
    keys: &[&[
        must("on", Kind::Duration, "Time with frames.").at_least("1 ps"),
        must("off", Kind::Duration, "Time without frames."),
        INTERVAL,
        OFFSET,
    ]],
};

pub(super) static GREEDY: Shape = Shape {
    name: "greedy traffic",
    about: "All frames that the stream's `arrival-curve` allows, as early as possible: the worst case for bounds.",
    keys: &[&[OFFSET]],
};

/// The words that `take` accepts.
const TAKEN: &[&str] = &["all", "addresses", "vlan", "priority"];

pub(super) static REPLAY: Shape = Shape {
    name: "replayed traffic",
    about: "Frames at the times of a trace: pcap, pcapng, or a text table with the columns `time` and `payload`. The first frame is created at the start. Frames have the sizes of the trace, as they were on the wire.",
    keys: &[&[
        must("file", Kind::Text, "The trace, relative to the description."),
        key(
            "take",
            Kind::OneOf(&[
                Kind::Word(TAKEN),
                Kind::List(1, 3, &Kind::Word(&["addresses", "vlan", "priority"])),
            ]),
            "Values that the stream takes from the captured frames: `addresses`, `vlan` (and whether they have a tag), `priority`, several as a list, or `all`; by default none. They must be the same in all frames.",
        ),
    ]],
};

pub(super) static INJECTED: Shape = Shape {
    name: "injected traffic",
    about: "Bursts of several threads: each thread sends `burst` frames at once and then sleeps, so that all threads together send a frame per `interval`; each sleep is longer by an overhead. The time of its first burst is drawn within a sleep.",
    keys: &[&[
        INTERVAL,
        key("threads", Kind::Integer(1, 64), "Threads.").or("1"),
        key("burst", Kind::Integer(1, 1_000_000), "Frames at once.").or("1"),
        key("overhead-min", Kind::Duration, "Least overhead of a sleep.").or("0 s"),
        key("overhead-max", Kind::Duration, "Greatest overhead of a sleep; by default `overhead-min`."),
    ]],
};

pub(super) static FILE: Shape = Shape {
    name: "a file transfer",
    about: "A file that is sent as fast as the talker's line takes it, in frames with the stated payload; the last frame has the rest. Bounds count all frames as if they came at once.",
    keys: &[&[
        must("octets", Kind::Octets, "MAC client data in all.").at_least("1 B"),
        key("at", Kind::Duration, "When.").or("0 s"),
    ]],
};

pub(super) static SYNCHRONISATION: Shape = Shape {
    name: "synchronisation frames",
    about: "The frames that open the cycles of `tdma`; the stream's talker is the master or the standby.",
    keys: &[&[]],
};

pub(super) static POLLED: Shape = Shape {
    name: "polled frames",
    about: "A frame for each poll by the trigger message of the talker's switch, as `harts.polled` states. Delay, bound and deadline count from the start of the elementary cycle in which the message was released.",
    keys: &[&[]],
};

pub(super) static RESPONSE: Shape = Shape {
    name: "responses",
    about: "A frame for every frame of another stream that the talker receives. Delay, bound and deadline count from the hand-over of the request.",
    keys: &[&[
        must("to", Kind::Text, "The stream that is answered."),
        key(
            "turn-around",
            Kind::Duration,
            "Time from the request at the application to the hand-over of the response.",
        )
        .or("0 s"),
    ]],
};
