//! Gates of ports: scheduled traffic.

use crate::text::language::{MANY, key, must};
use crate::text::shape::{Key, Kind, Shape};

/// Classes whose gates are open, or the octet of the YANG module.
const GATE_STATES: Kind = Kind::OneOf(&[Kind::Integer(0, 255), Kind::List(0, 8, &Kind::Integer(0, 7))]);

pub(crate) static GATE_PARAMETER_TABLE: Shape = Shape {
    name: "a gate parameter table",
    about: "The transmission gates of a port and the list that opens and closes them (802.1Q-2022 8.6.8.4, 8.6.9, 12.29), and what its device can do. Each key holds where a port, its node or its device does not state it.",
    keys: &[
        &[
        key("gate-enabled", Kind::Flag, "Whether the list runs; otherwise all gates are open.").or("false"),
        key(
            "admin-gate-states",
            GATE_STATES,
            "States of the gates until the first cycle starts: a list of the open classes, or an octet with the gate of class 7 in its highest bit.",
        )
        .or("255"),
        key(
            "queue-max-sdu-table",
            Kind::Numbers(0, 7, &Kind::Octets),
            "Largest service data unit of a class; a larger frame is discarded when it reaches the queue. By default, and with 0 B, only the MTU counts.",
        ),
        SDU,
        key(
            "guard",
            Kind::Word(&["look-ahead", "max-sdu", "none"]),
            "How the device keeps a frame from being in transmission when its gate closes: a frame starts if it ends before (8.6.8.4), if the largest frame of its class would, or in any case, which is a transmission overrun.",
        )
        .or("look-ahead"),
        ],
        LIMITS,
        &[
        key(
            "credit-at-closed-gate",
            Kind::Word(&["frozen", "rises"]),
            "What the credit of a credit-based class does while its gate is closed; in the standard (8.6.8.2) it is frozen.",
        )
        .or("frozen"),
        key(
            "credit-in-guard-band",
            Kind::Word(&["rises", "frozen"]),
            "What it does while the gate is open and the first frame does not fit any more; in the standard it rises.",
        )
        .or("rises"),
        key(
            "idle-slope-is",
            Kind::Word(&["average", "while-open"]),
            "What the idleSlope of a class is: an average, earned in the open time alone at the higher operIdleSlope, as in the standard, or the slope while the gate is open.",
        )
        .or("average"),
        ],
        PARAMETERS,
        &[LIST],
    ],
};

pub(crate) static TIME_AWARE: Shape = Shape {
    name: "a time-aware talker",
    about: "Requirements on the `offset` of periodic traffic that is to be scheduled (802.1Qcc, TSpecTimeAware).",
    keys: &[&[
        key("earliest-transmit-offset", Kind::Duration, "Least offset.").or("0 s"),
        key(
            "latest-transmit-offset",
            Kind::Duration,
            "Greatest offset; by default any that is below the interval.",
        ),
    ]],
};

const ENTRIES: Kind = Kind::List(1, MANY, &Kind::Object(&ENTRY));

/// The list; a change must have it.
const LIST: Key = key(
    "admin-control-list",
    ENTRIES,
    "The entries in order. After the last one its states stay until the cycle ends; what is beyond the cycle is cut off.",
);

/// What a service data unit is.
pub(crate) const SDU: Key = key(
    "sdu",
    Kind::Word(&["msdu", "payload"]),
    "What a service data unit is: `msdu` begins with the EtherType (802.1AC), `payload` is the MAC client data behind it, as Linux counts it.",
)
.or("msdu");

/// What a device can do with lists.
pub(crate) static LIMITS: &[Key] = &[
    key(
        "tick-granularity",
        Kind::Duration,
        "Tick of the device's gates: each change of the gates happens at the first tick at or after its time. By default they are exact.",
    ),
    key(
        "supported-list-max",
        Kind::Integer(1, 4_294_967_295),
        "Greatest number of entries; by default no limit.",
    ),
    key("supported-interval-max", Kind::Duration, "Greatest interval of an entry; by default no limit."),
    key("supported-cycle-max", Kind::Period, "Greatest cycle time; by default no limit."),
];

/// The other parameters that a change sets.
pub(crate) static PARAMETERS: &[Key] = &[
        key(
            "admin-base-time",
            Kind::Duration,
            "Start of a cycle, on the clock that the gates follow. If it is past when the run begins, the first cycle starts a whole number of cycles after it.",
        )
        .or("0 s"),
        key(
            "admin-cycle-time",
            Kind::Period,
            "Length of a cycle; by default the sum of the intervals of the list.",
        )
        .at_least("1 us")
        .at_most("1000 s"),
        key(
            "admin-cycle-time-extension",
            Kind::Duration,
            "By how much the last cycle before a change of the list may be longer.",
        )
        .or("0 s")
        .at_most("4294967295 ns"),
];

pub(crate) static CHANGE_GATES: Shape = Shape {
    name: "a change of gates",
    about: "A new list for the gates of a port (ConfigChange, 802.1Q-2022 8.6.9.3): it begins at its base time or, if that is past, a whole number of its cycles later.",
    keys: &[&[must("port", Kind::Reference, "The port."), Key { required: true, ..LIST }], PARAMETERS],
};

static ENTRY: Shape = Shape {
    name: "an entry of a gate control list",
    about: "States of the gates, and for how long.",
    keys: &[&[
        key(
            "operation",
            Kind::Word(&["set-gate-states", "set-and-hold-mac", "set-and-release-mac"]),
            "What it does. Without frame preemption all three set the gates alone.",
        )
        .or("set-gate-states"),
        must(
            "gate-states",
            GATE_STATES,
            "A list of the open classes, or an octet with the gate of class 7 in its highest bit.",
        ),
        must("time-interval", Kind::Duration, "How long they stay; 0 s is one tick, at least a nanosecond.")
            .at_most("4294967295 ns"),
    ]],
};
