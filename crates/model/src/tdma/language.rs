//! Time division multiple access, as in RTnet.

use crate::text::language::{MANY, key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static TDMA: Shape = Shape {
    name: "time division multiple access",
    about: "Every talker sends in slots of its own of a cycle that a master opens (RTnet). A stream of priority 0 is ordinary traffic, any other real-time.",
    keys: &[&[
        must("cycle", Kind::Duration, "Length of the basic cycle.").at_least("1 ps").at_most("10 s"),
        must(
            "synchronisation",
            Kind::Text,
            "The stream of the frames that open the cycles; its talker is the master.",
        ),
        key("standby", Kind::Object(&STANDBY), "Who opens the cycles if the master does not; nobody."),
        key(
            "lifetime",
            Kind::Duration,
            "How long a frame waits for a slot before it is lost. Without it, what fails and comes right again makes it what slots, traffic, clocks and margins need and one lost cycle; else without end.",
        ),
        key(
            "start-up",
            Kind::Object(&START_UP),
            "How the stations find together before their streams begin (RTcfg); they know all.",
        ),
        must("slots", Kind::List(1, MANY, &Kind::Object(&SLOT)), "The slots."),
    ]],
};

static STANDBY: Shape = Shape {
    name: "a standby master",
    about: "Opens the cycle that the master does not, and all further ones.",
    keys: &[&[
        must("synchronisation", Kind::Text, "The stream of its frames; its talker is the standby."),
        must("offset", Kind::Duration, "How long after the start of a cycle it gives the master up."),
        key(
            "lost-in-a-row",
            Kind::Integer(1, 1_000),
            "How many frames of a living master it misses in a row at most. With it and a lifetime there are bounds beside bit errors; nothing is said of that.",
        ),
    ]],
};

static START_UP: Shape = Shape {
    name: "a start-up",
    about: "The master invites the other owners of slots, which calibrate, announce themselves, are configured and ready; then the streams begin (RTcfg). With a heartbeat who comes back starts up anew.",
    keys: &[&[
        key("interval", Kind::Duration, "After which time a message that led to nothing is said again.")
            .or("100 ms"),
        key(
            "calibrations",
            Kind::Integer(0, 1_000),
            "Measurements of the travel time that each station makes.",
        )
        .or("100"),
        key("configuration", Kind::Octets, "Octets that the master hands to each station, in pieces.")
            .or("0 B")
            .at_most("4294967295 B"),
        key("burst", Kind::Integer(1, 255), "Pieces that are sent before an acknowledgement is waited for.")
            .or("4"),
        key(
            "heartbeat",
            Kind::Duration,
            "The rhythm in which stations say that they live. Who comes back starts up anew; without it nobody misses or invites it.",
        )
        .at_least("1 ms")
        .at_most("65535 ms")
        .in_steps_of("1 ms"),
        key(
            "silent-heartbeats",
            Kind::Integer(1, 100),
            "After so many of them without a sign the master takes a station for dead.",
        )
        .or("2"),
    ]],
};

static SLOT: Shape = Shape {
    name: "a slot",
    about: "A part of the cycle in which its owner sends one frame.",
    keys: &[&[
        must("owner", Kind::Reference, "The end station that sends in it."),
        must("offset", Kind::Duration, "Its start, from that of the cycle."),
        must("length", Kind::Duration, "Its length; slots do not overlap."),
        key("every", Kind::Integer(1, 1_000), "Used in every so many cycles.").or("1"),
        key("phase", Kind::Integer(0, 999), "In those whose number leaves this remainder by `every`.")
            .or("0"),
        key(
            "carries",
            Kind::Word(&["real-time", "ordinary", "both"]),
            "Real-time frames, ordinary ones (the non-real-time slot), or both, real-time first.",
        )
        .or("both"),
    ]],
};
