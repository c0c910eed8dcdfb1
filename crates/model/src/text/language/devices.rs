//! Device and host models, here and in the files of `devices/`.

use super::streams::FUNCTIONS;
use super::topology::PORT_KEYS;
use super::{MANY, key, must};
use crate::host_stacks::language::HOST_STACK_KEYS;
use crate::text::shape::{Kind, Shape};

/// A file of device and host models.
pub(crate) static DEVICE_FILE: Shape = Shape {
    name: "a file of models",
    about: "Device and host models.",
    keys: &[&[
        key("devices", Kind::Names(&Kind::Object(&DEVICE)), "Device models."),
        key("hosts", Kind::Names(&Kind::Object(&HOST)), "Host models."),
    ]],
};

pub(crate) static DEVICE: Shape = Shape {
    name: "a device model",
    about: "Delays and choices of a bridge. Keys of a port hold for all ports of its bridges that say nothing else.",
    keys: &[
        &[
            key("about", Kind::Text, "What it is, and where its values come from."),
            key("based-on", Kind::Text,  "A model whose values hold where this one says nothing.").or("ideal"),
            key("switching", Kind::Word(&["store-and-forward", "cut-through"]), "When forwarding may begin."),
            key(
                "cut-through-header",
                Kind::Octets,
                 "Octets of the frame that must be in before a cut-through begins: the destination's at least, and no more than a frame has.",
            ).or("64 B").at_least("6 B").at_most("65535 B"),
            key(
                "cut-through-frames",
                Kind::Word(&["all", "strict-priority-to-one-port"]),
                 "Which frames may be cut through: all of a class without ATS, or those of a class of strict priority that leave by one port.",
            ).or("all"),
            key(
                "stages",
                Kind::List(0, MANY, &Kind::Object(&STAGE)),
                "What a frame passes between the last bit received (the header, for cut-through) and the first bit sent, in order.",
            ),
            key(
                "tie-rule",
                Kind::Word(&["arrival-order", "round-robin", "lowest-port"]),
                "Order between frames of one class from several reception ports.",
            ),
            key(
                "reception-queue-limit",
                Kind::Integer(1, 4_294_967_295),
                "Most frames of one reception port that wait in a class of an egress port, of a device with a queue for each (a `tie-rule` other than `arrival-order`, or ATS with interleaved regulators); no limit.",
            ),
            key("two-stage", Kind::Flag, "Whether a class commits one frame before the classes compete."),
            key(
                "credit-charged-overhead",
                Kind::Octets,
                 "Octets beside the frame that the credit-based shaper charges.",
            ).or("20 B"),
            key("ats", Kind::Object(&ATS), "Asynchronous traffic shaping."),
        ],
        PORT_KEYS,
    ],
};

pub(crate) static STAGE: Shape = Shape {
    name: "a stage",
    about: "A part of a device, with the time that a frame takes to pass it and keeps it to itself.",
    keys: &[&[
        must("name", Kind::Name, "Unique in the device."),
        must(
            "position",
            Kind::Word(&["reception", "processing", "transmission"]),
            "Before the arrival is recognised, between arrival and queue, or behind the selection.",
        ),
        key(
            "only-for",
            Kind::Word(&["strict-priority", "credit-based", "ats"]),
            "Only for classes of this transmission selection; all.",
        ),
        key("latency", DELAY, "From in to out."),
        key("occupancy", DELAY, "How long the next frame of the same port must wait to enter.").or("0 s"),
    ]],
};

pub(crate) const DELAY: Kind = Kind::OneOf(&[Kind::Duration, Kind::Object(&DELAY_SHAPE)]);

pub(crate) static DELAY_SHAPE: Shape = Shape {
    name: "a delay",
    about: "`constant` + `per-octet` times the frame's octets (destination to FCS) - `less` + a random part. With `min` and `max` alone it is uniform.",
    keys: &[&[
        key("constant", Kind::Duration, "Constant part."),
        key("per-octet", Kind::Duration, "Per octet of the frame."),
        key("less", Kind::Duration, "Taken off the constant and per-octet parts."),
        key("min", Kind::Duration, "Least of the random part."),
        key("max", Kind::Duration, "Most of the random part."),
        key("mean", Kind::Duration, "Mean of a normal random part, cut at least and most."),
        key("deviation", Kind::Duration, "Standard deviation of a normal random part."),
    ]],
};

pub(crate) static ATS: Shape = Shape {
    name: "ATS of a device",
    about: "What a bridge's asynchronous traffic shaping is like (802.1Q-2022 8.6.5.6, 8.6.8.5, 8.6.11).",
    keys: &[&[
        key(
            "organisation",
            Kind::Word(&["eligibility-ordered", "interleaved-regulators"]),
            "One queue in order of eligibility, or a FIFO queue per scheduler group.",
        ),
        key(
            "grouping",
            Kind::Word(&["upstream-class", "own-class"]),
            "What makes a scheduler group beside the reception port.",
        ),
        key(
            "charged-overhead",
            Kind::Octets,
            "Octets beside the frame that a scheduler charges; 20 B by the standard.",
        ),
        key(
            "time-quantum",
            Kind::Duration,
            "Step of the scheduler's times, to which they are rounded up; without it they are exact, as in the standard.",
        ),
        key("processing-delay-max", Kind::Duration, "ProcessingDelayMax, added to every eligibility time."),
        key(
            "schedulers-per-group",
            Kind::OneOf(&[Kind::Word(&["unlimited"]), Kind::Integer(1, 4_294_967_295)]),
            "Most schedulers of one group; further streams share a default instance.",
        ),
        key(
            "stream-identification",
            Kind::List(0, 4, &Kind::Word(FUNCTIONS)),
            "Functions by which a frame finds its scheduler (802.1CB); a stream without `identification` is told apart by the first of them that can. Empty: every stream is told apart, and may state any function.",
        ),
        key(
            "arrival-recognition-delay-max",
            Kind::Duration,
            "How much later than the last bit the arrival time may be read.",
        ),
        key(
            "clock-offset-variation-max",
            Kind::Duration,
            "ClockOffsetVariationMax between a reception and a transmission port.",
        ),
        key(
            "clock-rate-deviation-max",
            Kind::Deviation,
            "ClockRateDeviationMax between them; 0 ppm. A run draws it for every pair of ports.",
        ),
        key(
            "scheduler-timing-characteristics",
            Kind::List(0, MANY, &Kind::Object(&PORT_PAIR)),
            "Pairs of ports that differ from the rest.",
        ),
    ]],
};

pub(crate) static PORT_PAIR: Shape = Shape {
    name: "a pair of ports",
    about: "A reception and a transmission port of a bridge, by their places in its list of ports.",
    keys: &[&[
        must("reception-port", Kind::Integer(1, 4096), "Reception port, from 1."),
        must("transmission-port", Kind::Integer(1, 4096), "Transmission port, from 1."),
        must("clock-rate-deviation-max", Kind::Deviation, "ClockRateDeviationMax between the two."),
    ]],
};

pub(crate) static HOST: Shape = Shape {
    name: "a host model",
    about: "How an end station hands frames to its port and takes them from it.",
    keys: &[
        &[
            key("about", Kind::Text, "What it is, and where its values come from."),
            key("based-on", Kind::Text, "A model whose values hold where this one says nothing.").or("ideal"),
            key("transmit", DELAY, "From the application to the port's queue; keeps order."),
            key(
                "receive",
                DELAY,
                "From the last bit received to the application; keeps a stream's order. No part of the stream's delay, but of what its application sees.",
            ),
            key("queue-limit", Kind::Integer(1, 4_294_967_295), "Most frames between application and port."),
            key(
                "reassembly-buffers",
                Kind::Integer(1, 65_535),
                "Datagrams that it puts together at a time; a further one takes the place of the oldest.",
            )
            .or("10"),
            key(
                "egress-queues",
                Kind::Word(&["class-queues", "fifo"]),
                "A queue per traffic class at its ports (the default), or one for all: an interface that knows no classes.",
            ),
            key(
                "credit-charged-overhead",
                Kind::Octets,
                "Octets beside the frame that the port's credit-based shapers charge.",
            )
            .or("20 B"),
            key(
                "time-stamp",
                Kind::Object(&TIME_STAMP),
                "How the station stamps frames that leave and come; not at all.",
            ),
        ],
        HOST_STACK_KEYS,
    ],
};

static TIME_STAMP: Shape = Shape {
    name: "time stamps",
    about: "How a station tells when a frame passed, by its own clock. What it tells is observed beside the true delays, \
            which no stamp changes: listener's stamp less talker's stamp, where both stations stamp.",
    keys: &[&[
        key(
            "point",
            Kind::Word(&["start-of-frame", "end-of-frame", "software"]),
            "What is stamped: the first bit behind the start delimiter (the default), the last bit, or the hand-over by the application and to it.",
        ),
        key("quantum", Kind::Duration, "Step of the stamps, which are rounded down; none."),
        key(
            "jitter",
            DELAY,
            "By how much a stamp is late; none. Equal means at both ends cancel, so that a pair of stamps errs both ways.",
        ),
    ]],
};
