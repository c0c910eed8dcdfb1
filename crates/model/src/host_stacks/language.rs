//! Protocol stacks of host models: servicing threads, interfaces, stacks.

use crate::text::language::devices::DELAY;
use crate::text::language::{MANY, key, must};
use crate::text::shape::{Key, Kind, Shape};

/// The keys of a host model that has stacks.
pub(crate) static HOST_STACK_KEYS: &[Key] = &[
    key(
        "clock-read",
        DELAY,
         "What reading the clock costs an application of a host with stacks, before it sends and when it has received.",
    ).or("0 s"),
    key("threads", Kind::Names(&Kind::Object(&THREAD)), "Servicing threads of the stacks, by name."),
    key("interfaces", Kind::Names(&Kind::Object(&INTERFACE)), "Network interfaces of the stacks, by name."),
    key(
        "stacks",
        Kind::Names(&Kind::Object(&STACK)),
        "Protocol stacks by name, in place of `transmit`, `receive` and `queue-limit`; the first is that of streams which name none.",
    ),
];

static THREAD: Shape = Shape {
    name: "a servicing thread",
    about: "One thread that serves the frames of all its tasks, sent and received, as they come.",
    keys: &[&[
        key("service", DELAY, "Time for a frame.").or("0 s"),
        key("wake-up", DELAY, "Time until it runs when a frame finds it asleep.").or("0 s"),
        key("tail", Kind::Object(&TAIL), "What the scheduler adds to a wake-up now and then; nothing."),
    ]],
};

static TAIL: Shape = Shape {
    name: "a rare delay",
    about: "A delay that is added now and then, as by a scheduler.",
    keys: &[&[
        must("chance", Kind::Chance, "Chance of it; none adds nothing."),
        must("delay", DELAY, "The delay."),
    ]],
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
            "Received frames as they came (the default), or a queue per traffic class, the highest first.",
        ),
        key(
            "receive-ring",
            Kind::Integer(1, 4_294_967_295),
            "Received frames that wait in descriptors, per queue; no limit.",
        ),
        key(
            "receive-fifo",
            Kind::Octets,
             "Octets of received frames that wait before the descriptors of a `receive-ring`, per queue; a further frame is lost.",
        ).or("0 B"),
        key("moderation", Kind::Tagged(MODERATION), "When software hears of a frame in memory; at once."),
        key(
            "tail",
            Kind::Object(&TAIL),
            "What is added to an interrupt now and then, before software runs; nothing.",
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
    Shape { name: "no moderation", about: "Software hears of every frame at once.", keys: &[&[]] };

const BULK: Key = key("bulk", Kind::Object(&BULK_PACE), "Another interval while much comes; none.");

static DELAYED: Shape = Shape {
    name: "delayed interrupts",
    about: "An interrupt comes an interval after the first frame that it tells of.",
    keys: &[&[must("interval", Kind::Duration, "The interval.").at_least("1 ps"), BULK]],
};

static THROTTLED: Shape = Shape {
    name: "throttled interrupts",
    about: "An interrupt comes at once, but an interval after the last at least.",
    keys: &[&[must("interval", Kind::Duration, "The interval.").at_least("1 ps"), BULK]],
};

static POLLED: Shape = Shape {
    name: "polling",
    about: "Software looks at every interval of the host's clock; the phase is drawn by the seed.",
    keys: &[&[must("interval", Kind::Duration, "The interval.").at_least("1 ps")]],
};

static DRAWN: Shape = Shape {
    name: "drawn interrupts",
    about: "An interrupt comes within an interval after the first frame that it tells of, evenly drawn: a timer that runs freely \
            and has another phase each time.",
    keys: &[&[must("interval", Kind::Duration, "The interval.").at_least("1 ps")]],
};

static BULK_PACE: Shape = Shape {
    name: "the pace of bulk traffic",
    about: "Adaptive moderation: the interval while much comes.",
    keys: &[&[
        must("interval", Kind::Duration, "The interval.").at_least("1 ps"),
        must("above", Kind::Octets, "More octets than these at one interrupt bring it on."),
        must("below", Kind::Octets, "Fewer octets than these at one interrupt end it."),
    ]],
};

static STACK: Shape = Shape {
    name: "a protocol stack",
    about: "What frames pass between an application and the interface.",
    keys: &[&[
        key("interface", Kind::Name, "Its interface, of `interfaces`; frames pass without one."),
        key("thread", Kind::Name, "Its servicing thread, of `threads`; tasks call the stack themselves."),
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
             "Most frames of one stream that wait for the thread on the way out, in a stack with one.",
        ).or("4096"),
        key(
            "socket-buffer",
            Kind::Octets,
             "Most octets of one stream that wait for the interface on the way out, and for the thread on the way in: a message or more.",
        ).or("8 MB"),
    ]],
};

static PART: Shape = Shape {
    name: "a part of a stack",
    about: "It takes time and keeps the order of its frames.",
    keys: &[&[
        must("name", Kind::Name, "Unique in its direction."),
        key("latency", DELAY, "From in to out.").or("0 s"),
        key("occupancy", DELAY, "How long the next frame must wait to enter.").or("0 s"),
    ]],
};
