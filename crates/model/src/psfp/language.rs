//! Stream filters, stream gates and flow meters of bridges.

use crate::gates::language::{LIMITS, PARAMETERS, SDU};
use crate::text::language::{MANY, key, must};
use crate::text::shape::{Key, Kind, Shape};

/// Numbers of instances.
const INSTANCE: Kind = Kind::Integer(0, INSTANCE_MAX);
const INSTANCE_MAX: u64 = 4_294_967_295;

const IPV: Kind = Kind::OneOf(&[Kind::Word(&["none"]), Kind::Integer(0, 7)]);

/// Keys of a bridge.
pub(crate) static BRIDGE_KEYS: &[Key] = &[
    key(
        "stream-filters",
        Kind::Object(&STREAM_FILTERS),
        "Stream filters of a bridge; by default none, and all frames pass.",
    ),
    key("stream-gates", Kind::Object(&STREAM_GATES), "Stream gates to which its filters lead."),
    key("flow-meters", Kind::Object(&FLOW_METERS), "Flow meters to which its filters lead."),
];

static STREAM_FILTERS: Shape = Shape {
    name: "stream filters",
    about: "Stream filters (802.1Q-2022 8.6.5.3, 12.31.2): a received frame is that of the first one, by number, whose stream handle and priority match; of none, it passes.",
    keys: &[&[
        key(
            "max-stream-filter-instances",
            Kind::Integer(1, INSTANCE_MAX),
            "Greatest number of filters; by default no limit.",
        ),
        SDU,
        must(
            "stream-filter-instance-table",
            Kind::Numbers(0, INSTANCE_MAX, &Kind::Object(&STREAM_FILTER)),
            "The filters by number.",
        ),
    ]],
};

static STREAM_FILTER: Shape = Shape {
    name: "a stream filter",
    about: "Which frames it takes, and what they must pass: maximum SDU size, stream gate, flow meter, in this order.",
    keys: &[&[
        key(
            "stream-handle",
            Kind::OneOf(&[Kind::Text, Kind::List(1, MANY, &Kind::Text)]),
            "The streams whose frames it takes, by name; by default those of all (wildcard).",
        ),
        key(
            "priority-spec",
            Kind::OneOf(&[Kind::Word(&["wildcard"]), Kind::Integer(0, 7)]),
            "The priority, regenerated, of the frames that it takes.",
        )
        .or("wildcard"),
        key("max-sdu-size", Kind::Octets, "Largest service data unit; larger frames are discarded. 0 B: any size.").or("0 B"),
        key(
            "stream-blocked-due-to-oversize-frame-enabled",
            Kind::Flag,
            "Whether a larger frame blocks the filter: it discards all frames from then on, until an event clears `stream-blocked-due-to-oversize-frame`.",
        )
        .or("false"),
        key("stream-gate-ref", INSTANCE, "Number of its stream gate; by default one that is always open."),
        key("flow-meter-ref", INSTANCE, "Number of its flow meter."),
        key("flow-meter-enable", Kind::Flag, "Whether that meters its frames.").or("true"),
    ]],
};

static STREAM_GATES: Shape = Shape {
    name: "stream gates",
    about: "Stream gates (802.1Q-2022 8.6.5.4, 8.6.10, 12.31.3), to each of which several filters may lead, and what the device can do.",
    keys: &[
        &[key(
            "max-stream-gate-instances",
            Kind::Integer(1, INSTANCE_MAX),
            "Greatest number of gates; by default no limit.",
        )],
        LIMITS,
        &[
            SDU,
            must(
                "stream-gate-instance-table",
                Kind::Numbers(0, INSTANCE_MAX, &Kind::Object(&STREAM_GATE)),
                "The gates by number.",
            ),
        ],
    ],
};

static STREAM_GATE: Shape = Shape {
    name: "a stream gate",
    about: "A frame passes if the gate is open when its last bit is in.",
    keys: &[
        &[
            key("gate-enable", Kind::Flag, "Whether its list runs.").or("false"),
            key(
                "admin-gate-states",
                Kind::Word(&["open", "closed"]),
                "Its state until the first cycle starts, or without a list.",
            )
            .or("open"),
            key("admin-ipv", IPV, "Its internal priority value until then.").or("none"),
            key(
                "gate-closed-due-to-invalid-rx-enable",
                Kind::Flag,
                "Whether a frame that finds it closed closes it for all, until an event clears `gate-closed-due-to-invalid-rx`.",
            )
            .or("false"),
            key(
                "gate-closed-due-octets-exceeded-enable",
                Kind::Flag,
                "Whether a frame for which an interval has too few octets left closes it for all, until an event clears `gate-closed-due-octets-exceeded`.",
            )
            .or("false"),
        ],
        PARAMETERS,
        &[LIST],
    ],
};

const ENTRIES: Kind = Kind::List(1, MANY, &Kind::Object(&ENTRY));

/// The list; a gate that is enabled must have it.
const LIST: Key = key(
    "admin-control-list",
    ENTRIES,
    "The entries in order. The last one stays until the cycle ends; what is beyond the cycle is cut off.",
);

static ENTRY: Shape = Shape {
    name: "an entry of a stream gate's list",
    about: "What the gate does, and for how long (set-gate-and-ipv).",
    keys: &[&[
        must("gate-state", Kind::Word(&["open", "closed"]), "Whether frames pass."),
        key(
            "ipv-spec",
            IPV,
            "Internal priority value: the priority by which the traffic class of frames that pass is chosen at the egress port, in place of their own. `none` (null in YANG): their own.",
        )
        .or("none"),
        must("time-interval", Kind::Duration, "How long; 0 s is one tick, at least a nanosecond.")
            .at_most("4294967295 ns"),
        key(
            "interval-octet-max",
            Kind::Octets,
            "Most octets of service data units that pass in the interval; by default no limit. A frame that is discarded takes none.",
        )
        .at_most("4294967295 B"),
    ]],
};

static FLOW_METERS: Shape = Shape {
    name: "flow meters",
    about: "Flow meters (802.1Q-2022 8.6.5.5, 12.31.4), each of which may be shared by several filters.",
    keys: &[&[
        key(
            "max-flow-meter-instances",
            Kind::Integer(1, INSTANCE_MAX),
            "Greatest number of meters; by default no limit.",
        ),
        must(
            "flow-meter-instance-table",
            Kind::Numbers(0, INSTANCE_MAX, &Kind::Object(&FLOW_METER)),
            "The meters by number.",
        ),
    ]],
};

static FLOW_METER: Shape = Shape {
    name: "a flow meter",
    about: "A bandwidth profile of two rates and three colours (MEF 10.3): green frames pass, yellow ones pass as drop-eligible, red ones are discarded. Rates and bursts are of frames, destination to FCS.",
    keys: &[&[
        must("committed-information-rate", Kind::Rate, "CIR."),
        must("committed-burst-size", Kind::Octets, "CBS.").at_most("4294967295 B"),
        key("excess-information-rate", Kind::Rate, "EIR; by default nothing is earned."),
        key("excess-burst-size", Kind::Octets, "EBS.").or("0 B").at_most("4294967295 B"),
        key(
            "coupling-flag",
            Kind::Word(&["zero", "one"]),
            "CF: with `one`, committed tokens that find their bucket full are excess tokens.",
        )
        .or("zero"),
        key(
            "color-mode",
            Kind::Word(&["color-blind", "color-aware"]),
            "CM: with `color-aware`, a frame that comes drop-eligible is not green.",
        )
        .or("color-blind"),
        key("drop-on-yellow", Kind::Flag, "Whether yellow frames are discarded.").or("false"),
        key(
            "mark-all-frames-red-enable",
            Kind::Flag,
            "Whether a discarded frame makes all later ones red, until an event clears `mark-all-frames-red`.",
        )
        .or("false"),
    ]],
};

pub(crate) static CHANGE_STREAM_FILTER: Shape = Shape {
    name: "a change of a stream filter",
    about: "Management writes to a stream filter.",
    keys: &[&[
        must("node", Kind::Text, "The bridge."),
        must("stream-filter-instance-id", INSTANCE, "The filter."),
        must("stream-blocked-due-to-oversize-frame", Kind::Flag, "Whether it is blocked from now on."),
    ]],
};

pub(crate) static CHANGE_STREAM_GATE: Shape = Shape {
    name: "a change of a stream gate",
    about: "Management writes to a stream gate: a new list (ConfigChange), which begins at its base time or, if that is past, a whole number of its cycles later; or flags.",
    keys: &[
        &[
            must("node", Kind::Text, "The bridge."),
            must("stream-gate-instance-id", INSTANCE, "The gate."),
            key(
                "gate-closed-due-to-invalid-rx",
                Kind::Flag,
                "Whether it is closed for this from now on, if that is enabled.",
            ),
            key(
                "gate-closed-due-octets-exceeded",
                Kind::Flag,
                "Whether it is closed for this from now on, if that is enabled.",
            ),
            LIST,
        ],
        PARAMETERS,
    ],
};

pub(crate) static CHANGE_FLOW_METER: Shape = Shape {
    name: "a change of a flow meter",
    about: "Management writes to a flow meter. What is not stated stays; the buckets keep what they hold.",
    keys: &[&[
        must("node", Kind::Text, "The bridge."),
        must("flow-meter-instance-id", INSTANCE, "The meter."),
        key("committed-information-rate", Kind::Rate, "CIR."),
        key("committed-burst-size", Kind::Octets, "CBS.").at_most("4294967295 B"),
        key("excess-information-rate", Kind::Rate, "EIR."),
        key("excess-burst-size", Kind::Octets, "EBS.").at_most("4294967295 B"),
        key("mark-all-frames-red", Kind::Flag, "Whether all frames are red from now on, if that is enabled."),
    ]],
};
