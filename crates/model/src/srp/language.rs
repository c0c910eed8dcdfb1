//! Stream reservation, of the network and of a stream.

use crate::central::language::{CNC, CUC, MANAGEMENT};
use crate::text::language::devices::DELAY;
use crate::text::language::{MANY, PRIORITY, REFERENCES, VLAN_ID, key, must};
use crate::text::shape::{Key, Kind, Shape};

pub(crate) static STREAM_RESERVATION: Shape = Shape {
    name: "stream reservation",
    about: "MSRP in every node: talkers advertise streams, listeners request them, and a stream is sent while a listener is ready.",
    keys: &[&[
        key(
            "model",
            Kind::Word(&["fully-distributed", "centralized-network-distributed-user", "fully-centralized"]),
             "Who decides (802.1Q-2022 46.1.3): the bridges by MSRP, or a CNC, which gets users' requests from their edge bridges or from a CUC.",
        ).or("fully-distributed"),
        key("cnc", Kind::Object(&CNC), "The central network configuration, of the centralized models."),
        key("cuc", Kind::Object(&CUC), "The central user configuration, of the fully centralized model."),
        key("management", Kind::Object(&MANAGEMENT), "Frames between users, CUC, CNC and bridges."),
        key(
            "classes",
            Kind::List(1, 8, &Kind::Object(&SR_CLASS)),
            "SR classes, that of the highest traffic class first; by default A with priority 3, 125 us and 75 %, and B with priority 2, 250 us and 0 %.",
        ),
        key(
            "shaping",
            Kind::Word(&["described", "reserved"]),
             "What determines the shaping of reserved streams: the description, and frames go to all listeners once one is ready; or the reservations, which set idleSlopes and ATS parameters, and a port forwards frames of reserved streams only.",
        ).or("described"),
        key(
            "profile",
            Kind::Word(&["none", "avb"]),
             "Profile to check: `avb` (802.1BA) warns of ports that are not capable, of paths of more than seven links, and of latencies above 2 ms (class A) and 50 ms (class B). It proves no deadline.",
        ).or("none"),
        key(
            "mvrp",
            Kind::Object(&MVRP),
            "Registration of VLANs (MVRP): end stations declare the VLANs of streams that they advertise or request, and bridges forward frames to ports that registered them; without this key `vlans` determines the member ports.",
        ),
        key("priority", PRIORITY,  "Priority of MRPDUs, which determines their traffic class at every port.").or("7"),
        key("bridges", Kind::Object(&SRP_BRIDGE), "Times and limits of the bridges."),
        key("end-stations", Kind::Object(&SRP_NODE), "Times of the end stations."),
        key(
            "nodes",
            Kind::Names(&Kind::Object(&SRP_BRIDGE)),
            "Times and limits of single nodes that differ.",
        ),
    ]],
};

static MVRP: Shape = Shape {
    name: "registration of VLANs",
    about: "MVRP in every node, with the times of MSRP. Every port is a member of the default VLAN.",
    keys: &[&[key(
        "forbidden",
        REFERENCES,
        "Bridge ports at which no VLAN of reserved streams can be registered (Registration Forbidden); `node` for all ports of a node. If `vlans` lists members, all other ports are forbidden as well.",
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
            "deltaBandwidth: per cent of a port's rate that the class may use in addition.",
        )
        .or("0"),
    ]],
};

static TIMES: &[Key] = &[
    key("join-time", Kind::Duration, "JoinTime: at most three MRPDUs leave a port in one and a half of it.")
        .or("200 ms")
        .at_least("1 ps"),
    key("leave-time", Kind::Duration, "LeaveTime: from a leave to the end of the registration.").or("1 s"),
    key("leave-all-time", Kind::Duration, "LeaveAllTime: the timer runs for one to one and a half of it.")
        .or("10 s"),
    key("periodic-time", Kind::Duration, "Period of periodic transmission; by default none.")
        .at_least("1 ps"),
    key(
        "join-delay",
        Kind::Duration,
        "Time from the first reason for an MRPDU to its transmission, as in implementations with one timer; by default it is sent at once.",
    ),
    key(
        "repeat-time",
        Kind::Duration,
        "Time after its last MRPDU at which a port repeats its declarations if it has nothing else to send; shorter than LeaveTime. 0 s: at its next opportunity.",
    ),
    key("tick", Kind::Duration, "Step in which the node's software checks its timers; by default none.")
        .at_least("1 ps"),
    key(
        "tick-restarts",
        Kind::Flag,
        "Whether the steps count from the last received MRPDU, or from an instant drawn by the seed.",
    )
    .or("false"),
    key(
        "processing",
        DELAY,
        "Processing time of a received MRPDU; MRPDUs are processed one after the other.",
    )
    .or("0 s"),
    key("talker-processing", DELAY, "Additional processing time of an MRPDU that declares talkers.")
        .or("0 s"),
    key("listener-processing", DELAY, "Additional processing time of an MRPDU that declares listeners.")
        .or("0 s"),
];

static SRP_NODE: Shape =
    Shape { name: "times of MSRP", about: "Times of a node's MRP and software.", keys: &[TIMES] };

static SRP_BRIDGE: Shape = Shape {
    name: "times and limits of MSRP",
    about: "Times and limits of a node's MSRP; the limits hold for bridges.",
    keys: &[
        TIMES,
        &[
            key(
                "streams-max",
                Kind::Integer(0, 65_535),
                "Greatest number of streams in the table of talkers; others fail with code 10.",
            )
            .or("65535"),
            key(
                "reservations-max",
                Kind::Integer(0, 65_535),
                "Greatest number of reservations in the bridge, counted per egress port; others fail with code 2.",
            )
            .or("65535"),
            key(
                "fan-in-max",
                Kind::Integer(0, 65_535),
                "Greatest number of ports from which streams arrive; others fail with code 15.",
            )
            .or("65535"),
            key(
                "addresses-max",
                Kind::Integer(0, 65_535),
                "Greatest number of stream destinations that it can store; others fail with code 12.",
            )
            .or("65535"),
            key(
                "address-buckets",
                Kind::Integer(1, 65_535),
                "Number of hash buckets for them, by address and VLAN.",
            )
            .or("1"),
            key(
                "address-depth",
                Kind::Integer(0, 65_535),
                "Greatest number of destinations in a bucket; others fail with code 9.",
            )
            .or("65535"),
            key("configuration", DELAY, "Time to apply a configuration from a CNC.").or("0 s"),
            key(
                "device-latency",
                Kind::Duration,
                "Latency that the bridge adds to the accumulated latency besides queueing and transmission.",
            )
            .or("0 s"),
        ],
    ],
};

pub(crate) static RESERVATION: Shape = Shape {
    name: "a reservation",
    about: "The stream is reserved: its talker advertises it and sends while a listener is ready.",
    keys: &[&[
        key("advertise-at", Kind::Duration,  "When its talker advertises it.").or("0 s"),
        key("withdraw-at", Kind::Duration, "When its talker withdraws it; by default never."),
        key(
            "attach-at",
            Kind::OneOf(&[Kind::Duration, Kind::List(1, MANY, &Kind::Duration)]),
             "When its listeners request it: one time for all, or one for each in order.",
        ).or("0 s"),
        key(
            "detach-at",
            Kind::OneOf(&[
                Kind::Duration,
                Kind::List(1, MANY, &Kind::OneOf(&[Kind::Word(&["never"]), Kind::Duration])),
            ]),
            "When its listeners withdraw their requests: one time for all, or one for each in order; by default never.",
        ),
        key(
            "ask",
            Kind::Word(&["at-once", "when-offered"]),
             "Whether a listener requests the stream at once (as asking failed while it is not advertised), or when it is advertised.",
        ).or("at-once"),
        key("latency-max", Kind::Duration, "Accumulated latency above which a listener refuses it; by default none."),
        key("rank", Kind::Word(&["emergency", "non-emergency"]),  "Its rank.").or("non-emergency"),
        key(
            "frames-per-interval",
            Kind::Integer(1, 65_535),
            "MaxIntervalFrames; by default the frames of periodic traffic in a class measurement interval.",
        ),
    ]],
};
