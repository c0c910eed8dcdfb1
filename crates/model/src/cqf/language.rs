//! Cyclic queuing and forwarding of the network.

use crate::text::language::{MANY, REFERENCES, key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static CYCLIC: Shape = Shape {
    name: "cyclic queuing and forwarding",
    about: "Bridges send in each cycle what they received in the one before, or with more than two buffers some cycles before (802.1Q-2022 Annex T): stream gates put the frames of the cyclic streams into classes in turn, and gates of all ports of these bridges send another one. The cyclic streams are those whose priority is one of `priorities`.",
    keys: &[&[
        must("cycle-time", Kind::Duration, "Length of a cycle.").at_least("1 us"),
        key("base-time", Kind::Duration, "Start of a cycle, on the clock of each bridge.").or("0 s"),
        must(
            "priorities",
            Kind::List(2, MANY, &Kind::Integer(0, 7)),
            "The internal priorities of the buffers, in the order in which these are sent: two, or more for lines that are longer than a cycle, or whose delay varies by more than the dead time.",
        ),
        key("bridges", REFERENCES, "The bridges; by default all."),
        key(
            "dead-time",
            Kind::Duration,
            "Time at the end of each cycle in which no cyclic frame is sent, so that all frames of a cycle are received, and with two buffers queued, before those of the next one. By default the least that cables, PHYs, stages of devices and `precision` require.",
        ),
        key(
            "precision",
            Kind::Duration,
            "Greatest difference of the clocks of two nodes. By default that of their offsets; clocks that gPTP corrects need it.",
        ),
    ]],
};
