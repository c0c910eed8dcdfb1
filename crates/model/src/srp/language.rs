//! Stream reservation, of the network and of a stream.

use crate::central::language::{CNC, CUC, MANAGEMENT};
use crate::text::language::devices::DELAY;
use crate::text::language::{MANY, PRIORITY, REFERENCES, VLAN_ID, key, must};
use crate::text::shape::{Key, Kind, Shape};

pub(crate) static STREAM_RESERVATION: Shape = Shape {
    name: "stream reservation",
    about: "MSRP in every node: talkers offer streams, listeners ask for them, and a stream is sent while a listener is ready.",
    keys: &[&[
        key(
            "model",
            Kind::Word(&["fully-distributed", "centralized-network-distributed-user", "fully-centralized"]),
             "Who decides (802.1Q-2022 46.1.3): the bridges by MSRP, or a CNC that hears users from their edge bridges or from a CUC.",
        ).or("fully-distributed"),
        key("cnc", Kind::Object(&CNC), "The central network configuration, of the centralized models."),
        key("cuc", Kind::Object(&CUC), "The central user configuration, of the fully centralized model."),
        key("management", Kind::Object(&MANAGEMENT), "Frames between users, CUC, CNC and bridges."),
        key(
            "classes",
            Kind::List(1, 8, &Kind::Object(&SR_CLASS)),
            "SR classes, that of the highest traffic class first; A with priority 3, 125 us and 75 %, and B with priority 2, 250 us and 0 %.",
        ),
        key(
            "shaping",
            Kind::Word(&["described", "reserved"]),
             "Who shapes reserved streams: the description, with frames for all listeners once one is ready; or the reservations, which set idleSlopes and ATS parameters, while a port takes frames of reserved streams alone.",
        ).or("described"),
        key(
            "profile",
            Kind::Word(&["none", "avb"]),
             "Which profile is checked: avb (802.1BA) warns of ports that are not capable, of ways of more than seven links, and of latencies above 2 ms (class A) and 50 ms (class B). Keeping it is no proof.",
        ).or("none"),
        key(
            "mvrp",
            Kind::Object(&MVRP),
            "Registration of VLANs (MVRP): end stations declare the VLANs of streams that they offer or ask for, and frames leave bridges where these are registered; without this key VLANs are where `vlans` has them.",
        ),
        key("priority", PRIORITY,  "Priority whose traffic class MRPDUs take at every port.").or("7"),
        key("bridges", Kind::Object(&SRP_BRIDGE), "Times and limits of the bridges."),
        key("end-stations", Kind::Object(&SRP_NODE), "Times of the end stations."),
        key(
            "nodes",
            Kind::Names(&Kind::Object(&SRP_BRIDGE)),
            "Times and limits of nodes that differ from the rest.",
        ),
    ]],
};

static MVRP: Shape = Shape {
    name: "registration of VLANs",
    about: "MVRP in every node, with the times of MSRP. The default VLAN is everywhere.",
    keys: &[&[key(
        "forbidden",
        REFERENCES,
        "Bridge ports at which no VLAN of reserved streams can be registered (Registration Forbidden); `node` for all ports of a node. Beside these, where `vlans` lists members, all others.",
    )]],
};

static SR_CLASS: Shape = Shape {
    name: "an SR class",
    about: "A stream reservation class (802.1Q-2022 34.3).",
    keys: &[&[
        must("class", Kind::Word(&["A", "B", "C", "D", "E", "F", "G"]), "Its letter."),
        must("priority", PRIORITY, "Priority of its frames."),
        key("vlan", VLAN_ID, "Its default VLAN, as it is declared.").or("2"),
        must("interval", Kind::Duration, "Class measurement interval.").at_least("1 ps"),
        key(
            "delta-bandwidth",
            Kind::Integer(0, 100),
            "deltaBandwidth: per cent of a port's rate that it adds to what it may use.",
        )
        .or("0"),
    ]],
};

static TIMES: &[Key] = &[
    key("join-time", Kind::Duration, "JoinTime: three MRPDUs leave a port in one and a half of it at most.")
        .or("200 ms")
        .at_least("1 ps"),
    key("leave-time", Kind::Duration, "LeaveTime: from a leave to the end of the registration.").or("1 s"),
    key("leave-all-time", Kind::Duration, "LeaveAllTime: the timer runs for one to one and a half of it.")
        .or("10 s"),
    key("periodic-time", Kind::Duration, "Period of periodic transmission; none.").at_least("1 ps"),
    key(
        "join-delay",
        Kind::Duration,
        "How long an MRPDU waits from its first reason on, as implementations with one timer do; it is sent at once.",
    ),
    key(
        "repeat-time",
        Kind::Duration,
        "How long behind its last MRPDU a port says again what it has said, where nothing else is to be said; shorter than LeaveTime. 0 s: with its next opportunity.",
    ),
    key("tick", Kind::Duration, "Step in which the node's software looks at its timers; none.")
        .at_least("1 ps"),
    key(
        "tick-restarts",
        Kind::Flag,
        "Whether the steps count from the last MRPDU that was heard, or from an instant drawn by the seed.",
    )
    .or("false"),
    key("processing", DELAY, "Time that an MRPDU takes, one after the other, before it is heard.").or("0 s"),
    key("talker-processing", DELAY, "The same, beside it, for an MRPDU that declares talkers.").or("0 s"),
    key("listener-processing", DELAY, "The same, beside it, for an MRPDU that declares listeners.").or("0 s"),
];

static SRP_NODE: Shape =
    Shape { name: "times of MSRP", about: "Times of a node's MRP and its software.", keys: &[TIMES] };

static SRP_BRIDGE: Shape = Shape {
    name: "times and limits of MSRP",
    about: "Times and limits of a node's MSRP; limits are those of bridges.",
    keys: &[
        TIMES,
        &[
            key(
                "streams-max",
                Kind::Integer(0, 65_535),
                "Most streams in the table of talkers; others fail with code 10.",
            )
            .or("65535"),
            key(
                "reservations-max",
                Kind::Integer(0, 65_535),
                "Most reservations of the bridge, counted per egress port; others fail with code 2.",
            )
            .or("65535"),
            key(
                "fan-in-max",
                Kind::Integer(0, 65_535),
                "Most ports that bring streams; others fail with code 15.",
            )
            .or("65535"),
            key(
                "addresses-max",
                Kind::Integer(0, 65_535),
                "Most destinations of streams that it can store; others fail with code 12.",
            )
            .or("65535"),
            key(
                "address-buckets",
                Kind::Integer(1, 65_535),
                "Buckets in which it stores them, by a hash of address and VLAN.",
            )
            .or("1"),
            key(
                "address-depth",
                Kind::Integer(0, 65_535),
                "Most destinations of a bucket; others fail with code 9.",
            )
            .or("65535"),
            key("configuration", DELAY, "Time that it takes to apply a configuration of a CNC.").or("0 s"),
            key(
                "device-latency",
                Kind::Duration,
                "What the bridge adds to the accumulated latency beside waiting and sending.",
            )
            .or("0 s"),
        ],
    ],
};

pub(crate) static RESERVATION: Shape = Shape {
    name: "a reservation",
    about: "The stream is reserved: its talker offers it and sends while a listener is ready.",
    keys: &[&[
        key("advertise-at", Kind::Duration,  "When its talker offers it.").or("0 s"),
        key("withdraw-at", Kind::Duration, "When its talker withdraws it; never."),
        key(
            "attach-at",
            Kind::OneOf(&[Kind::Duration, Kind::List(1, MANY, &Kind::Duration)]),
             "When its listeners ask for it: all, or each in their order.",
        ).or("0 s"),
        key(
            "detach-at",
            Kind::OneOf(&[
                Kind::Duration,
                Kind::List(1, MANY, &Kind::OneOf(&[Kind::Word(&["never"]), Kind::Duration])),
            ]),
            "When its listeners ask no more: all, or each in their order; never.",
        ),
        key(
            "ask",
            Kind::Word(&["at-once", "when-offered"]),
             "Whether a listener asks at once, as failed while there is no offer, or when it has heard of the stream.",
        ).or("at-once"),
        key("latency-max", Kind::Duration, "Accumulated latency above which a listener refuses; none."),
        key("rank", Kind::Word(&["emergency", "non-emergency"]),  "Its rank.").or("non-emergency"),
        key(
            "frames-per-interval",
            Kind::Integer(1, 65_535),
            "MaxIntervalFrames; by default what periodic traffic makes in a class measurement interval.",
        ),
    ]],
};
