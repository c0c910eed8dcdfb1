//! gPTP of the network.

use crate::text::language::devices::DELAY;
use crate::text::language::{PRIORITY, key};
use crate::text::shape::{Key, Kind, Shape};

pub(crate) static GPTP: Shape = Shape {
    name: "gPTP",
    about: "The generalized precision time protocol (802.1AS) in every node: the nodes choose a grandmaster and follow its clock.",
    keys: &[&[
        key(
            "priority",
            PRIORITY,
            "Priority of its messages, which determines their traffic class at every port.",
        )
        .or("7"),
        key(
            "log-sync-interval",
            Kind::Word(INTERVALS),
            "Logarithm to the base 2 of the interval of Sync messages in seconds.",
        )
        .or("-3"),
        key("log-announce-interval", Kind::Word(INTERVALS), "The same for Announce messages.").or("0"),
        key("log-pdelay-interval", Kind::Word(INTERVALS), "The same for peer delay measurements.").or("0"),
        key(
            "sample-interval",
            Kind::Duration,
            "Interval at which a run samples the offsets of the nodes' times.",
        )
        .or("10 ms")
        .at_least("1 ps"),
        key(
            "servo",
            Kind::Object(&SERVO),
            "Corrects the clocks of end stations, which then send and stamp by the grandmaster's time; without it they use their own oscillators.",
        ),
        key("bridges", Kind::Object(&NODE), "Settings of the bridges."),
        key("end-stations", Kind::Object(&NODE), "Settings of the end stations."),
        key("nodes", Kind::Names(&Kind::Object(&OWN)), "Settings of single nodes."),
    ]],
};

static SERVO: Shape = Shape {
    name: "a servo",
    about: "How the clock of an end station follows the grandmaster's, once per sync interval.",
    keys: &[&[
        key("step-min", Kind::Duration, "Offset from which on the clock is stepped.").or("20 us"),
        key(
            "rate-max",
            Kind::Deviation,
            "Greatest deviation of the corrected clock's rate from its oscillator's; bounds use it.",
        )
        .or("200 ppm"),
        key(
            "proportional",
            Kind::Chance,
            "Proportional gain: share of an offset that changes the rate at once.",
        )
        .or("0.7"),
        key("integral", Kind::Chance, "Integral gain: share of an offset that changes the rate permanently.")
            .or("0.3"),
    ]],
};

static INTERVALS: &[&str] = &["-7", "-6", "-5", "-4", "-3", "-2", "-1", "0", "1", "2", "3", "4", "5"];

static KEYS: &[Key] = &[
    key("domain", Kind::Integer(0, 127), "Its domain; messages of other domains are ignored.").or("0"),
    key(
        "priority1",
        Kind::Integer(0, 255),
        "First priority as grandmaster: a lower value is better, 255 excludes the node.",
    )
    .or("246"),
    key("priority2", Kind::Integer(0, 255), "Second priority.").or("248"),
    key("delay-max", Kind::Duration, "Greatest mean link delay of a capable port.").or("800 ns"),
    key(
        "lost-max",
        Kind::Integer(0, 255),
        "Greatest number of lost responses in a row that leave a port capable.",
    )
    .or("9"),
    key("stamp-quantum", Kind::Duration, "Step to which its stamps are rounded down; by default none."),
    key("stamp-error", DELAY, "How late a stamp is.").or("0 s"),
    key(
        "processing",
        DELAY,
        "Processing time of a message, one after the other: the residence time of a bridge.",
    )
    .or("0 s"),
];

static NODE: Shape =
    Shape { name: "a kind of nodes in gPTP", about: "Settings of a node's gPTP.", keys: &[KEYS] };

static OWN: Shape = Shape {
    name: "a node in gPTP",
    about: "Settings of a node's gPTP.",
    keys: &[
        KEYS,
        &[key(
            "asymmetries",
            Kind::Names(&Kind::SignedDuration),
            "delayAsymmetry by port: how much longer the delay to the port is than half of the round trip. An asymmetry that is not stated is an error of the time.",
        )],
    ],
};
