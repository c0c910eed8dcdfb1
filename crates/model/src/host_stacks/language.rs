//! Protocol stacks of host models: servicing threads, interfaces, stacks.

use crate::text::language::devices::DELAY;
use crate::text::language::{MANY, key, must};
use crate::text::shape::{Key, Kind, Shape};

/// The keys of a host model that has stacks.
pub(crate) static HOST_STACK_KEYS: &[Key] = &[
    key(
        "clock-read",
        DELAY,
         "Time of an application to read the clock, before it sends and after it has received, in a host with stacks.",
    ).or("0 s"),
    key("threads", Kind::Names(&Kind::Object(&THREAD)), "Servicing threads of the stacks, by name."),
    key("interfaces", Kind::Names(&Kind::Object(&INTERFACE)), "Network interfaces of the stacks, by name."),
    key(
        "stacks",
        Kind::Names(&Kind::Object(&STACK)),
        "Protocol stacks by name, in place of `transmit`, `receive` and `queue-limit`; streams that name no stack use the first.",
    ),
];

static THREAD: Shape = Shape {
    name: "a servicing thread",
    about: "A thread that serves the sent and received frames of all its tasks in order of arrival.",
    keys: &[&[
        key("service", DELAY, "Time to serve a frame.").or("0 s"),
        key("wake-up", DELAY, "Time until it runs when a frame arrives while it sleeps.").or("0 s"),
        key(
            "tail",
            Kind::Object(&TAIL),
            "Delay that the scheduler sometimes adds to a wake-up; by default none.",
        ),
    ]],
};

static TAIL: Shape = Shape {
    name: "a rare delay",
    about: "A delay that is sometimes added, as by a scheduler.",
    keys: &[&[must("chance", Kind::Chance, "Chance of the delay."), must("delay", DELAY, "The delay.")]],
};

static INTERFACE: Shape = Shape {
    name: "an interface of a host",
    about: "A network interface between memory and port.",
    keys: &[&[
        key("transmit", DELAY,  "Time to hand a frame to the port; the next frame waits.").or("0 s"),
        key("receive", DELAY,  "Time to bring a received frame into memory; the next frame waits.").or("0 s"),
        key(
            "reception-order",
            Kind::Word(&["fifo", "class-queues"]),
            "Received frames in order of arrival (the default), or in a queue per traffic class, the highest first.",
        ),
        key(
            "receive-ring",
            Kind::Integer(1, 4_294_967_295),
            "Greatest number of received frames that wait in descriptors, per queue; by default no limit.",
        ),
        key(
            "receive-fifo",
            Kind::Octets,
             "Greatest number of octets of received frames that wait for the descriptors of a `receive-ring`, per queue; a further frame is lost.",
        ).or("0 B"),
        key("moderation", Kind::Tagged(MODERATION), "When an interrupt reports a frame in memory; by default at once."),
        key(
            "tail",
            Kind::Object(&TAIL),
            "Delay that is sometimes added to an interrupt before software runs; by default none.",
        ),
    ]],
};

static MODERATION: &[(&str, &Shape)] = &[
    ("none", &NONE),
    ("delayed", &DELAYED),
    ("throttled", &THROTTLED),
    ("polled", &POLLED),
    ("drawn", &DRAWN),
];

static NONE: Shape =
    Shape { name: "no moderation", about: "Every frame raises an interrupt at once.", keys: &[&[]] };

const BULK: Key =
    key("bulk", Kind::Object(&BULK_PACE), "Another interval while much traffic arrives; by default none.");

static DELAYED: Shape = Shape {
    name: "delayed interrupts",
    about: "An interrupt comes an interval after the first frame that it reports.",
    keys: &[&[must("interval", Kind::Duration, "The interval.").at_least("1 ps"), BULK]],
};

static THROTTLED: Shape = Shape {
    name: "throttled interrupts",
    about: "An interrupt comes at once, but not earlier than an interval after the last.",
    keys: &[&[must("interval", Kind::Duration, "The interval.").at_least("1 ps"), BULK]],
};

static POLLED: Shape = Shape {
    name: "polling",
    about: "Software polls once per interval of the host's clock; the phase is drawn by the seed.",
    keys: &[&[must("interval", Kind::Duration, "The interval.").at_least("1 ps")]],
};

static DRAWN: Shape = Shape {
    name: "drawn interrupts",
    about: "An interrupt comes within an interval after the first frame that it reports, drawn uniformly: a free-running timer \
            with another phase each time.",
    keys: &[&[must("interval", Kind::Duration, "The interval.").at_least("1 ps")]],
};

static BULK_PACE: Shape = Shape {
    name: "the pace of bulk traffic",
    about: "Adaptive moderation: the interval while much traffic arrives.",
    keys: &[&[
        must("interval", Kind::Duration, "The interval.").at_least("1 ps"),
        must("above", Kind::Octets, "More octets than these at one interrupt begin it."),
        must("below", Kind::Octets, "Fewer octets than these at one interrupt end it."),
    ]],
};

static STACK: Shape = Shape {
    name: "a protocol stack",
    about: "What frames pass between an application and the interface.",
    keys: &[&[
        key("interface", Kind::Name, "Its interface, of `interfaces`; by default frames pass without one."),
        key("thread", Kind::Name, "Its servicing thread, of `threads`; by default tasks call the stack themselves."),
        key(
            "transmit",
            Kind::List(0, MANY, &Kind::Object(&PART)),
            "Parts on the way out: API, protocols, driver.",
        ),
        key(
            "receive",
            Kind::List(0, MANY, &Kind::Object(&PART)),
            "Parts on the way in: driver, protocols, API.",
        ),
        key(
            "task-queue",
            Kind::Integer(1, 4_294_967_295),
             "Greatest number of frames of one stream that wait for the thread before they are sent, in a stack with a thread.",
        ).or("4096"),
        key(
            "socket-buffer",
            Kind::Octets,
             "Greatest number of octets of one stream that wait for the interface before they are sent, or for the thread after reception: one message at least.",
        ).or("8 MB"),
    ]],
};

static PART: Shape = Shape {
    name: "a part of a stack",
    about: "A part of the stack that takes time and keeps the order of frames.",
    keys: &[&[
        must("name", Kind::Name, "Unique in its direction."),
        key("latency", DELAY, "Time from entry to exit.").or("0 s"),
        key("occupancy", DELAY, "How long the next frame must wait to enter.").or("0 s"),
    ]],
};
