//! `cnc:`, `cuc:` and `management:` of stream reservation.

use crate::text::language::devices::DELAY;
use crate::text::language::{key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static CNC: Shape = Shape {
    name: "a CNC",
    about: "Central network configuration: it tests reservations and configures bridges.",
    keys: &[&[
        must("node", Kind::Name, "The end station that it is."),
        key(
            "test",
            Kind::Word(&["bandwidth", "bounds"]),
             "What it tests: bandwidth at every port as MSRP does, or that the bounds of all streams keep their deadlines.",
        ).or("bandwidth"),
        key("processing", DELAY,  "Time that it takes for a message, one after the other.").or("0 s"),
        key("computation", DELAY,  "Time that it takes for a test.").or("0 s"),
    ]],
};

pub(crate) static CUC: Shape = Shape {
    name: "a CUC",
    about: "Central user configuration: it speaks for the end stations.",
    keys: &[&[
        must("node", Kind::Name, "The end station that it is; that of the CNC, or another."),
        key("processing", DELAY, "Time that it takes for a message, one after the other.").or("0 s"),
    ]],
};

pub(crate) static MANAGEMENT: Shape = Shape {
    name: "management frames",
    about: "Channels of the centralized models: one message under way at a time, repeated until it is acknowledged.",
    keys: &[&[
        key("message-size", Kind::Octets, "Payload of a message.")
            .or("512 B")
            .at_least("46 B")
            .at_most("1500 B"),
        key("pace", Kind::Duration, "Least time between two frames of a channel.")
            .or("1 ms")
            .at_least("1 ps"),
        key("retry", Kind::Duration, "When a message that was not acknowledged is repeated.").or("100 ms"),
    ]],
};
