//! Tests of a test bed.

use super::{MANY, key, must};
use crate::text::shape::{Key, Kind, Shape};

pub(super) static TEST: Shape = Shape {
    name: "a test",
    about: "Tasks of end systems. Every message carries an identifier, a sequence number and a CRC-32; what each became is told beside the results of the streams.",
    keys: &[&[
        must("tasks", Kind::List(1, MANY, &Kind::Tagged(TASKS)), "The tasks."),
        key(
            "outliers-above",
            Kind::Duration,
            "Latencies above it are taken for context switches: counted, and left out of the statistics; none.",
        ),
    ]],
};

/// Tasks by their `type`.
pub(crate) static TASKS: &[(&str, &Shape)] = &[
    ("transmit", &TRANSMIT),
    ("receive", &RECEIVE),
    ("relay", &RELAY),
    ("inject", &INJECT),
    ("capture", &CAPTURE),
];

const STATION: Key = must("station", Kind::Reference, "The end system that does it.");
const ROUTE: Key = must("route", Kind::Text, "The stream.");
const PROTOCOL: Key = key(
    "protocol",
    Kind::Word(&["time-triggered", "rate-constrained", "best-effort"]),
    "What the stream must be: a time-triggered virtual link, one of ARINC 664 part 7, or neither; not looked at.",
);

static TRANSMIT: Shape = Shape {
    name: "a transmit task",
    about: "Sends the messages of a route when its traffic says. The number of the task, from 0, is the identifier of the messages.",
    keys: &[&[
        STATION,
        ROUTE,
        PROTOCOL,
        key(
            "payload",
            Kind::Octets,
            "Octets of a message, header and contents; those of the stream less 28 B.",
        ),
        key("payload-type", Kind::Word(&["sequential", "random"]), "What the messages hold; sequential."),
    ]],
};

static RECEIVE: Shape = Shape {
    name: "a receive task",
    about: "Takes the messages of a route.",
    keys: &[&[STATION, ROUTE, PROTOCOL]],
};

static RELAY: Shape = Shape {
    name: "a relay task",
    about: "Takes the messages of a route and sends them on: for round trips.",
    keys: &[&[
        STATION,
        ROUTE,
        PROTOCOL,
        must("by", Kind::Text, "The stream by which they go on; its traffic is a response."),
    ]],
};

static INJECT: Shape = Shape {
    name: "an inject task",
    about: "Sends frames that only fill the network.",
    keys: &[&[STATION, ROUTE, PROTOCOL]],
};

static CAPTURE: Shape = Shape {
    name: "a capture task",
    about: "A passive tap at the cable of an end system: it stamps what passes, both ways, and disturbs nothing.",
    keys: &[&[STATION, key("quantum", Kind::Duration, "Step of its stamps, which are rounded down; none.")]],
};
