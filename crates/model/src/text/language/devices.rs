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
    about: "Delays and implementation choices of a bridge. Keys of a port hold for all ports of its bridges that do not state them.",
    keys: &[
        &[
            key("about", Kind::Text, "What it is, and where its values come from."),
            key("based-on", Kind::Text,  "The model whose values hold for keys that this one does not state.").or("ideal"),
            key("switching", Kind::Word(&["store-and-forward", "cut-through"]), "When forwarding may begin."),
            key(
                "cut-through-header",
                Kind::Octets,
                 "Octets of the frame that are received before cut-through forwarding begins: the destination address at least, and at most a frame.",
            ).or("64 B").at_least("6 B").at_most("65535 B"),
            key(
                "cut-through-frames",
                Kind::Word(&["all", "strict-priority-to-one-port"]),
                 "Which frames may be cut through: all frames of classes without ATS, or those of a strict-priority class that leave by one port.",
            ).or("all"),
            key(
                "stages",
                Kind::List(0, MANY, &Kind::Object(&STAGE)),
                "Stages that a frame passes between the last bit received (the header, for cut-through) and the first bit sent, in order.",
            ),
            key(
                "tie-rule",
                Kind::Word(&["arrival-order", "round-robin", "lowest-port"]),
                "Order between frames of one class from several reception ports.",
            ),
            key(
                "reception-queue-limit",
                Kind::Integer(1, 4_294_967_295),
                "Greatest number of frames of one reception port that wait in a class of an egress port, if the device has a queue for each reception port (a `tie-rule` other than `arrival-order`, or ATS with interleaved regulators); by default no limit.",
            ),
            key("two-stage", Kind::Flag, "Whether each class selects its next frame before the classes compete."),
            key(
                "credit-charged-overhead",
                Kind::Octets,
                 "Octets per frame that the credit-based shaper charges in addition.",
            ).or("20 B"),
            key("ats", Kind::Object(&ATS), "Asynchronous traffic shaping."),
        ],
        PORT_KEYS,
    ],
};

pub(crate) static STAGE: Shape = Shape {
    name: "a stage",
    about: "A part of a device, with the time that a frame takes to pass it and the time for which it occupies it.",
    keys: &[&[
        must("name", Kind::Name, "Unique in the device."),
        must(
            "position",
            Kind::Word(&["reception", "processing", "transmission"]),
            "Before the arrival is recognised, between arrival and queue, or after the transmission selection.",
        ),
        key(
            "only-for",
            Kind::Word(&["strict-priority", "credit-based", "ats"]),
            "Only for classes with this transmission selection; by default for all.",
        ),
        key("latency", DELAY, "Time from entry to exit."),
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
        key("less", Kind::Duration, "Subtracted from the constant and per-octet parts."),
        key("min", Kind::Duration, "Least of the random part."),
        key("max", Kind::Duration, "Most of the random part."),
        key("mean", Kind::Duration, "Mean of a normal random part, truncated at `min` and `max`."),
        key("deviation", Kind::Duration, "Standard deviation of a normal random part."),
    ]],
};

pub(crate) static ATS: Shape = Shape {
    name: "ATS of a device",
    about: "Asynchronous traffic shaping of a bridge (802.1Q-2022 8.6.5.6, 8.6.8.5, 8.6.11).",
    keys: &[&[
        key(
            "organisation",
            Kind::Word(&["eligibility-ordered", "interleaved-regulators"]),
            "One queue in order of eligibility times, or a FIFO queue per scheduler group.",
        ),
        key(
            "grouping",
            Kind::Word(&["upstream-class", "own-class"]),
            "What defines a scheduler group in addition to the reception port.",
        ),
        key(
            "charged-overhead",
            Kind::Octets,
            "Octets per frame that a scheduler charges in addition; by default 20 B, as in the standard.",
        ),
        key(
            "time-quantum",
            Kind::Duration,
            "Step to which the scheduler rounds its times up; by default they are exact, as in the standard.",
        ),
        key("processing-delay-max", Kind::Duration, "ProcessingDelayMax, added to every eligibility time."),
        key(
            "schedulers-per-group",
            Kind::OneOf(&[Kind::Word(&["unlimited"]), Kind::Integer(1, 4_294_967_295)]),
            "Greatest number of schedulers in one group; further streams share a default scheduler.",
        ),
        key(
            "stream-identification",
            Kind::List(0, 4, &Kind::Word(FUNCTIONS)),
            "Functions by which the bridge identifies the stream of a frame (802.1CB), for its schedulers, stream filters and copies; for a stream without `identification`, the first of them that identifies it. Empty: every stream is identified, and may state any function.",
        ),
        key(
            "arrival-recognition-delay-max",
            Kind::Duration,
            "How much later than the last bit the arrival time is taken, at most.",
        ),
        key(
            "clock-offset-variation-max",
            Kind::Duration,
            "ClockOffsetVariationMax between a reception and a transmission port.",
        ),
        key(
            "clock-rate-deviation-max",
            Kind::Deviation,
            "ClockRateDeviationMax between them; by default 0 ppm. A run draws a deviation for every pair of ports.",
        ),
        key(
            "scheduler-timing-characteristics",
            Kind::List(0, MANY, &Kind::Object(&PORT_PAIR)),
            "Pairs of ports with other values.",
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
            key("based-on", Kind::Text, "The model whose values hold for keys that this one does not state.")
                .or("ideal"),
            key("transmit", DELAY, "Delay from the application to the port's queue; keeps the order."),
            key(
                "receive",
                DELAY,
                "Delay from the last bit received to the application; keeps the order of a stream. It is not a part of the stream's delay, but of the application's.",
            ),
            key(
                "queue-limit",
                Kind::Integer(1, 4_294_967_295),
                "Greatest number of frames between application and port.",
            ),
            key(
                "reassembly-buffers",
                Kind::Integer(1, 65_535),
                "Number of datagrams that it reassembles at a time; a further one replaces the oldest.",
            )
            .or("10"),
            key(
                "egress-queues",
                Kind::Word(&["class-queues", "fifo"]),
                "Queues at its ports: one per traffic class (the default), or one for all, as in an interface without classes.",
            ),
            key(
                "credit-charged-overhead",
                Kind::Octets,
                "Octets per frame that the port's credit-based shapers charge in addition.",
            )
            .or("20 B"),
            key(
                "time-stamp",
                Kind::Object(&TIME_STAMP),
                "How the station stamps frames that it sends and receives; by default not at all.",
            ),
        ],
        HOST_STACK_KEYS,
    ],
};

static TIME_STAMP: Shape = Shape {
    name: "time stamps",
    about: "How a station stamps frames by its own clock. Results have the difference of the listener's and the talker's stamp, if both \
            stations stamp, in addition to the true delays, which stamps do not change.",
    keys: &[&[
        key(
            "point",
            Kind::Word(&["start-of-frame", "end-of-frame", "software"]),
            "What is stamped: the first bit after the start delimiter (the default), the last bit, or the hand-over by and to the application.",
        ),
        key("quantum", Kind::Duration, "Step to which stamps are rounded down; by default none."),
        key(
            "jitter",
            DELAY,
            "How late a stamp is; by default not at all. Equal means at both ends cancel, so the error of a pair of stamps has both signs.",
        ),
    ]],
};
