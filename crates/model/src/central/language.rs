//! `cnc:`, `cuc:` and `management:` of stream reservation.

use crate::text::language::devices::DELAY;
use crate::text::language::{key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static CNC: Shape = Shape {
    name: "a CNC",
    about: "Central network configuration: it tests reservations and configures bridges.",
    keys: &[&[
        must("node", Kind::Name, "The end station that has it."),
        key(
            "test",
            Kind::Word(&["bandwidth", "bounds"]),
             "Its admission test: the bandwidth at every port as in MSRP, or the bounds of all streams against their deadlines.",
        ).or("bandwidth"),
        key("processing", DELAY,  "Processing time of a message; messages are processed one after the other.").or("0 s"),
        key("computation", DELAY,  "Time of a test.").or("0 s"),
    ]],
};

pub(crate) static CUC: Shape = Shape {
    name: "a CUC",
    about: "Central user configuration: it sends the requests of the end stations.",
    keys: &[&[
        must("node", Kind::Name, "The end station that has it: that of the CNC, or another."),
        key("processing", DELAY, "Processing time of a message; messages are processed one after the other.")
            .or("0 s"),
    ]],
};

pub(crate) static MANAGEMENT: Shape = Shape {
    name: "management frames",
    about: "Channels of the centralized models: each has one message in flight at a time and repeats it until it is acknowledged.",
    keys: &[&[
        key("message-size", Kind::Octets, "Payload of a message.")
            .or("512 B")
            .at_least("46 B")
            .at_most("1500 B"),
        key("pace", Kind::Duration, "Least time between two frames of a channel.")
            .or("1 ms")
            .at_least("1 ps"),
        key("retry", Kind::Duration, "Time after which a message without an acknowledgement is repeated.")
            .or("100 ms"),
    ]],
};
