//! Tests of a test bed.

use crate::text::language::devices::DELAY;
use crate::text::language::{MANY, key, must};
use crate::text::shape::{Key, Kind, Shape};

pub(crate) static TEST: Shape = Shape {
    name: "a test",
    about: "Tasks of end systems. Every message carries an identifier, a sequence number and a CRC-32; what each became is told beside the results of the streams.",
    keys: &[&[
        must("tasks", Kind::List(1, MANY, &Kind::Tagged(TASKS)), "The tasks."),
        key(
            "clocks",
            Kind::Object(&CLOCKS),
            "How the stations' system clocks are disciplined, by which they log; not at all, and logs have true times.",
        ),
        key(
            "outliers-above",
            Kind::Duration,
            "A message with a one-way latency above it on any of its links is taken for one that met a context switch: counted, and in no statistics; none.",
        ),
    ]],
};

static CLOCKS: Shape = Shape {
    name: "the discipline of clocks",
    about: "A servo sets the rate of every station's system clock once an interval, by the quickest of some readings of its interface's clock, as phc2sys does.",
    keys: &[&[
        key("tolerance", Kind::Deviation, "By how much a clock may run wrong by itself, drawn for each.")
            .or("50 ppm"),
        key("interval", Kind::Duration, "Time between two corrections.").or("1 s"),
        key("proportional", Kind::Chance, "Share of an offset that changes the rate at once.").or("0.35"),
        key("integral", Kind::Chance, "Share of an offset that changes the rate for good.").or("0.15"),
        key("readings", Kind::Integer(1, 100), "Readings of a correction, of which the quickest counts.")
            .or("5"),
        key("reading", DELAY, "How long a reading takes; 4 us to 5 us."),
    ]],
};

/// Tasks by their `type`.
pub(crate) static TASKS: &[(&str, &Shape)] = &[
    ("transmit", &TRANSMIT),
    ("receive", &RECEIVE),
    ("relay", &RELAY),
    ("inject", &INJECT),
    ("corrupt", &CORRUPT),
    ("capture", &CAPTURE),
];

const STATION: Key = must("station", Kind::Reference, "The end system that does it.");
const ROUTE: Key = must("route", Kind::Text, "The stream.");
const PROTOCOL: Key = key(
    "protocol",
    Kind::Word(&["time-triggered", "rate-constrained", "best-effort", "udp"]),
    "What the stream must be: a time-triggered virtual link, one of ARINC 664 part 7, or neither, for which `best-effort` and `udp` are two words: every message is in a UDP datagram; not looked at.",
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
            "Octets of a message, header and contents; those of the stream less 28 B, or its `datagram`.",
        ),
        key("payload-type", Kind::Word(&["sequential", "random"]), "What the messages hold.")
            .or("sequential"),
    ]],
};

static RECEIVE: Shape = Shape {
    name: "a receive task",
    about: "Takes the messages of a route.",
    keys: &[&[STATION, ROUTE, PROTOCOL]],
};

static RELAY: Shape = Shape {
    name: "a relay task",
    about: "Takes the messages of a route and sends them on: for round trips. Both routes have messages of one size.",
    keys: &[&[
        STATION,
        ROUTE,
        PROTOCOL,
        must("by", Kind::Text, "The stream by which they go on; its traffic is a response."),
    ]],
};

static INJECT: Shape = Shape {
    name: "an inject task",
    about: "Sends frames that only fill the network; the stream's traffic is injected.",
    keys: &[&[STATION, ROUTE, PROTOCOL]],
};

static CORRUPT: Shape = Shape {
    name: "a corrupt task",
    about: "Turns a bit of a message at a station that sends or receives it, behind the check of its frame: only the message's own CRC finds it.",
    keys: &[&[STATION, ROUTE, PROTOCOL, must("chance", Kind::Chance, "Chance of a message.")]],
};

static CAPTURE: Shape = Shape {
    name: "a capture task",
    about: "A passive tap at the cable of an end system: it stamps what passes, both ways, and disturbs nothing.",
    keys: &[&[STATION, key("quantum", Kind::Duration, "Step of its stamps, which are rounded down; none.")]],
};
