//! gPTP of the network.

use crate::text::language::devices::DELAY;
use crate::text::language::{PRIORITY, key};
use crate::text::shape::{Key, Kind, Shape};

pub(crate) static GPTP: Shape = Shape {
    name: "gPTP",
    about: "The generalized precision time protocol (802.1AS) in every node: the nodes choose a grandmaster and follow its clock.",
    keys: &[&[
        key("priority", PRIORITY, "Priority whose traffic class its messages take at every port.").or("7"),
        key(
            "log-sync-interval",
            Kind::Word(INTERVALS),
            "Logarithm to the base 2 of the interval of syncs in seconds.",
        )
        .or("-3"),
        key("log-announce-interval", Kind::Word(INTERVALS), "The same of announces.").or("0"),
        key("log-pdelay-interval", Kind::Word(INTERVALS), "The same of peer delay.").or("0"),
        key("sample-interval", Kind::Duration, "How often a run looks how far the nodes' times are off.")
            .or("10 ms")
            .at_least("1 ps"),
        key(
            "servo",
            Kind::Object(&SERVO),
            "Corrects the clocks of end stations: they send and stamp by the grandmaster's time; without it by their own oscillators.",
        ),
        key("bridges", Kind::Object(&NODE), "What the bridges are."),
        key("end-stations", Kind::Object(&NODE), "What the end stations are."),
        key("nodes", Kind::Names(&Kind::Object(&OWN)), "What single nodes are."),
    ]],
};

static SERVO: Shape = Shape {
    name: "a servo",
    about: "How the clock of an end station follows the grandmaster's, once in a sync interval.",
    keys: &[&[
        key("step-min", Kind::Duration,  "From here on an offset is stepped.").or("20 us"),
        key(
            "rate-max",
            Kind::Deviation,
             "By how much the clock is run faster or slower than its oscillator, at most; bounds reckon with it.",
        ).or("200 ppm"),
        key("proportional", Kind::Chance,  "Share of an offset that changes the rate at once.").or("0.7"),
        key("integral", Kind::Chance,  "Share of an offset that changes the rate for good.").or("0.3"),
    ]],
};

static INTERVALS: &[&str] = &["-7", "-6", "-5", "-4", "-3", "-2", "-1", "0", "1", "2", "3", "4", "5"];

static KEYS: &[Key] = &[
    key("domain", Kind::Integer(0, 127), "Its domain; messages of another are not heard.").or("0"),
    key(
        "priority1",
        Kind::Integer(0, 255),
        "First priority as grandmaster: less is better, 255 is never one.",
    )
    .or("246"),
    key("priority2", Kind::Integer(0, 255), "Second priority.").or("248"),
    key("delay-max", Kind::Duration, "Longest mean link delay of a capable port.").or("800 ns"),
    key("lost-max", Kind::Integer(0, 255), "Most requests without an answer that leave a port capable.")
        .or("9"),
    key("stamp-quantum", Kind::Duration, "Step of its stamps, which are rounded down; none."),
    key("stamp-error", DELAY, "By how much a stamp is late.").or("0 s"),
    key(
        "processing",
        DELAY,
        "How long it takes for a message, one after the other: the residence time of a bridge.",
    )
    .or("0 s"),
];

static NODE: Shape =
    Shape { name: "a kind of nodes in gPTP", about: "What nodes are to gPTP.", keys: &[KEYS] };

static OWN: Shape = Shape {
    name: "a node in gPTP",
    about: "What a node is to gPTP.",
    keys: &[
        KEYS,
        &[key(
            "asymmetries",
            Kind::Names(&Kind::SignedDuration),
            "By how much more than half of both ways the way to its ports takes, by port; what is not told here is an error of the time.",
        )],
    ],
};
