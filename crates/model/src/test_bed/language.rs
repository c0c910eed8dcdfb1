//! Tests of a test bed.

use crate::text::language::devices::DELAY;
use crate::text::language::{MANY, key, must};
use crate::text::shape::{Key, Kind, Shape};

pub(crate) static TEST: Shape = Shape {
    name: "a test",
    about: "Tasks of end systems. Every message carries an identifier, a sequence number and a CRC-32; results say what happened to each, in addition to the results of the streams.",
    keys: &[&[
        must("tasks", Kind::List(1, MANY, &Kind::Tagged(TASKS)), "The tasks."),
        key(
            "clocks",
            Kind::Object(&CLOCKS),
            "How the stations' system clocks, by which they log, are disciplined; by default logs have true times.",
        ),
        key(
            "outliers-above",
            Kind::Duration,
            "One-way latency on any link above which a message counts as an outlier, for example by a context switch, and is left out of statistics; by default none.",
        ),
    ]],
};

static CLOCKS: Shape = Shape {
    name: "the discipline of clocks",
    about: "A servo sets the rate of every station's system clock once an interval, by the quickest of some readings of its interface's clock, as phc2sys does.",
    keys: &[&[
        key(
            "tolerance",
            Kind::Deviation,
            "Greatest deviation of a free-running clock's rate, drawn for each.",
        )
        .or("50 ppm"),
        key("interval", Kind::Duration, "Time between two corrections.").or("1 s"),
        key(
            "proportional",
            Kind::Chance,
            "Proportional gain: share of an offset that changes the rate at once.",
        )
        .or("0.35"),
        key("integral", Kind::Chance, "Integral gain: share of an offset that changes the rate permanently.")
            .or("0.15"),
        key(
            "readings",
            Kind::Integer(1, 100),
            "Number of readings per correction, of which the quickest is used.",
        )
        .or("5"),
        key("reading", DELAY, "How long a reading takes; by default 4 us to 5 us."),
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

const STATION: Key = must("station", Kind::Reference, "The end system of the task.");
const ROUTE: Key = must("route", Kind::Text, "The stream.");
const PROTOCOL: Key = key(
    "protocol",
    Kind::Word(&["time-triggered", "rate-constrained", "best-effort", "udp"]),
    "Type of the stream, to be checked: a time-triggered virtual link, a virtual link of ARINC 664 part 7, or neither (`best-effort` and `udp` mean the same, as every message is in a UDP datagram); by default not checked.",
);

static TRANSMIT: Shape = Shape {
    name: "a transmit task",
    about: "Sends the messages of a route at the times of its traffic. The number of the task, from 0, is the identifier of the messages.",
    keys: &[&[
        STATION,
        ROUTE,
        PROTOCOL,
        key(
            "payload",
            Kind::Octets,
            "Octets of a message, header and contents; by default those of the stream less 28 B, or its `datagram`.",
        ),
        key("payload-type", Kind::Word(&["sequential", "random"]), "Contents of the messages.")
            .or("sequential"),
    ]],
};

static RECEIVE: Shape = Shape {
    name: "a receive task",
    about: "Receives the messages of a route.",
    keys: &[&[STATION, ROUTE, PROTOCOL]],
};

static RELAY: Shape = Shape {
    name: "a relay task",
    about: "Receives the messages of a route and relays them, for round trips. The messages of both routes have the same size.",
    keys: &[&[
        STATION,
        ROUTE,
        PROTOCOL,
        must("by", Kind::Text, "The stream that relays them; its traffic is a response."),
    ]],
};

static INJECT: Shape = Shape {
    name: "an inject task",
    about: "Sends frames that only load the network; the stream's traffic is injected.",
    keys: &[&[STATION, ROUTE, PROTOCOL]],
};

static CORRUPT: Shape = Shape {
    name: "a corrupt task",
    about: "Inverts a bit of a message at a station that sends or receives it, after the check of the frame, so only the message's CRC detects it.",
    keys: &[&[STATION, ROUTE, PROTOCOL, must("chance", Kind::Chance, "Chance for each message.")]],
};

static CAPTURE: Shape = Shape {
    name: "a capture task",
    about: "A passive tap at the cable of an end system, which stamps the frames of both directions without delaying them.",
    keys: &[&[
        STATION,
        key("quantum", Kind::Duration, "Step to which its stamps are rounded down; by default none."),
    ]],
};
