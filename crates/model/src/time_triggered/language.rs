//! Time-triggered networks and their virtual links, as in SAE AS6802.

use crate::as6802::language::SYNCHRONISATION;
use crate::text::language::{MANY, key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static TIME_TRIGGERED: Shape = Shape {
    name: "time-triggered traffic",
    about: "Virtual links whose frames are sent at dispatch points of a network time that all nodes share (SAE AS6802).",
    keys: &[&[
        must(
            "precision",
            Kind::Duration,
            "Greatest difference of the network times of any two nodes at one instant.",
        ),
        key(
            "integration-cycle",
            Kind::Duration,
             "Time between two corrections of the clocks; their drift in it must be at most half of the precision.",
        ).or("10 ms").at_least("1 ps"),
        key(
            "integration",
            Kind::Word(&["timely-block", "shuffling", "preemption"]),
             "How other traffic makes room: `timely-block` starts only frames that end before the next slot; with `shuffling` a time-triggered frame waits for the frame in transmission; with `preemption` it aborts that frame, which is sent again in full.",
        ).or("timely-block"),
        key(
            "empty-slot",
            Kind::Word(&["kept", "released"]),
             "Whether a slot without a frame stays unused, or other traffic may use it.",
        ).or("kept"),
        key(
            "synchronisation",
            Kind::OneOf(&[
                Kind::Object(&SYNCHRONISATION),
                Kind::List(1, 64, &Kind::Object(&SYNCHRONISATION)),
            ]),
            "Masters and protocol control frames that synchronise the clocks, for one cluster or each of several; without this key every clock is corrected to the stated precision.",
        ),
        key("raster", Kind::Object(&RASTER), "A part of every raster cycle in which no other traffic starts."),
    ]],
};

static RASTER: Shape = Shape {
    name: "a raster",
    about: "Every cycle begins with a window for time-triggered traffic alone, which must contain all dispatch points.",
    keys: &[&[
        must("cycle", Kind::Duration, "Length of the raster cycle."),
        must(
            "window",
            Kind::Duration,
            "Length of the window for time-triggered traffic, from the start of the cycle.",
        ),
    ]],
};

pub(crate) static TIME_TRIGGERED_LINK: Shape = Shape {
    name: "a time-triggered virtual link",
    about: "Makes a stream a time-triggered virtual link. Its talker and the switches keep one frame each, the newest, until its dispatch point. Without `offset` it has no dispatch points yet and is never sent.",
    keys: &[&[
        must("period", Kind::Duration, "Distance of its dispatch points, with one frame each.")
            .at_least("1 ps")
            .at_most("1000 s"),
        key(
            "id",
            Kind::Integer(0, 65_535),
            "Critical traffic identifier, the last two octets of the destination address; by default the stream's number, from 1.",
        ),
        key("offset", Kind::Duration, "The talker's dispatch point in the period."),
        key(
            "points",
            Kind::List(1, MANY, &Kind::Object(&POINT)),
            "Dispatch points after the talker; a switch that is not listed dispatches as soon as every frame is certain to have arrived.",
        ),
        key(
            "acceptance-window",
            Kind::Duration,
            "Length of a receiver's acceptance window, around the middle of the possible arrival times; by default all of these.",
        ),
        key(
            "redundancy",
            Kind::Flag,
             "Whether it is sent over both networks, A from the talker's first port and B from its second, at the same dispatch point; a listener uses the first copy of each period.",
        ).or("false"),
        key(
            "release",
            Kind::Word(&["free", "locked"]),
             "Whether the talker's application follows its own clock or the network time.",
        ).or("free"),
    ]],
};

static POINT: Shape = Shape {
    name: "a dispatch point",
    about: "When a switch sends the link's frames from one of its ports.",
    keys: &[&[
        must("at", Kind::Reference, "The switch, and its port if it sends the link from several."),
        must("offset", Kind::Duration, "From the start of the talker's period; may be beyond its end."),
    ]],
};
