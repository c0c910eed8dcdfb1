//! Time division multiple access, as in RTnet.

use crate::text::language::{MANY, key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static TDMA: Shape = Shape {
    name: "time division multiple access",
    about: "Every talker sends in its slots of a cycle that a master opens (RTnet). A stream of priority 0 is ordinary traffic, every other one real-time traffic.",
    keys: &[&[
        must("cycle", Kind::Duration, "Length of the basic cycle.").at_least("1 ps").at_most("10 s"),
        must(
            "synchronisation",
            Kind::Text,
            "The stream of the frames that open the cycles; its talker is the master.",
        ),
        key(
            "standby",
            Kind::Object(&STANDBY),
            "The station that opens the cycles if the master does not; by default none.",
        ),
        key(
            "lifetime",
            Kind::Duration,
            "How long a frame waits for a slot before it is lost. By default, if failures end again, it is the time that slots, traffic, clocks and margins need, and one lost cycle; otherwise without limit.",
        ),
        key(
            "start-up",
            Kind::Object(&START_UP),
            "How the stations start up before their streams begin (RTcfg); by default they are configured from the start.",
        ),
        must("slots", Kind::List(1, MANY, &Kind::Object(&SLOT)), "The slots."),
    ]],
};

static STANDBY: Shape = Shape {
    name: "a standby master",
    about: "Opens a cycle that the master does not open, and all further ones.",
    keys: &[&[
        must("synchronisation", Kind::Text, "The stream of its frames; its talker is the standby."),
        must("offset", Kind::Duration, "How long after the start of a cycle it takes over from the master."),
        key(
            "lost-in-a-row",
            Kind::Integer(1, 1_000),
            "Greatest number of frames of a living master that it misses in a row. With it and a lifetime there are bounds despite bit errors; by default unknown.",
        ),
    ]],
};

static START_UP: Shape = Shape {
    name: "a start-up",
    about: "The master invites the other owners of slots, which calibrate, announce themselves, are configured and become ready; then the streams begin (RTcfg). With a heartbeat, a station that comes back starts up again.",
    keys: &[&[
        key("interval", Kind::Duration, "Time after which a message without an effect is repeated.")
            .or("100 ms"),
        key(
            "calibrations",
            Kind::Integer(0, 1_000),
            "Number of measurements of the travel time by each station.",
        )
        .or("100"),
        key("configuration", Kind::Octets, "Octets that the master sends to each station, in fragments.")
            .or("0 B")
            .at_most("4294967295 B"),
        key("burst", Kind::Integer(1, 255), "Number of fragments that are sent before an acknowledgement is awaited.")
            .or("4"),
        key(
            "heartbeat",
            Kind::Duration,
            "Interval of the stations' heartbeats. A station that comes back starts up again; without heartbeats no station detects a failure or invites it.",
        )
        .at_least("1 ms")
        .at_most("65535 ms")
        .in_steps_of("1 ms"),
        key(
            "silent-heartbeats",
            Kind::Integer(1, 100),
            "Number of missed heartbeats after which the master declares a station dead.",
        )
        .or("2"),
    ]],
};

static SLOT: Shape = Shape {
    name: "a slot",
    about: "A part of the cycle in which its owner sends one frame.",
    keys: &[&[
        must("owner", Kind::Reference, "The end station that sends in it."),
        must("offset", Kind::Duration, "Its start, from the start of the cycle."),
        must("length", Kind::Duration, "Its length; slots do not overlap."),
        key("every", Kind::Integer(1, 1_000), "It is used in one of this many cycles.").or("1"),
        key(
            "phase",
            Kind::Integer(0, 999),
            "It is used in cycles whose number divided by `every` leaves this remainder.",
        )
        .or("0"),
        key(
            "carries",
            Kind::Word(&["real-time", "ordinary", "both"]),
            "Real-time frames, ordinary ones (the non-real-time slot), or both, real-time first.",
        )
        .or("both"),
    ]],
};
