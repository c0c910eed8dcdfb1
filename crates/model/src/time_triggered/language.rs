//! Time-triggered networks and their virtual links, as in SAE AS6802.

use crate::as6802::language::SYNCHRONISATION;
use crate::text::language::{MANY, key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static TIME_TRIGGERED: Shape = Shape {
    name: "time-triggered traffic",
    about: "Virtual links whose frames are sent at points of a time that all nodes share (SAE AS6802).",
    keys: &[&[
        must(
            "precision",
            Kind::Duration,
            "Greatest difference of the network time that any two nodes read at one instant.",
        ),
        key(
            "integration-cycle",
            Kind::Duration,
             "Time between two corrections of the clocks; half of the precision must hold what they drift meanwhile.",
        ).or("10 ms").at_least("1 ps"),
        key(
            "integration",
            Kind::Word(&["timely-block", "shuffling", "preemption"]),
             "How other traffic makes room: it begins only what ends before the next slot; a time-triggered frame waits for the frame under way; or it cuts that frame, which is sent again whole.",
        ).or("timely-block"),
        key(
            "empty-slot",
            Kind::Word(&["kept", "released"]),
             "Whether a slot without a frame passes unused, or other traffic may use it.",
        ).or("kept"),
        key(
            "synchronisation",
            Kind::OneOf(&[
                Kind::Object(&SYNCHRONISATION),
                Kind::List(1, 64, &Kind::Object(&SYNCHRONISATION)),
            ]),
            "Masters and protocol control frames that keep the clocks together, of one cluster or of each of several; without this key every clock is corrected as the precision says.",
        ),
        key("raster", Kind::Object(&RASTER), "A part of every raster cycle that no other traffic begins in."),
    ]],
};

static RASTER: Shape = Shape {
    name: "a raster",
    about: "Every cycle begins with time for time-triggered traffic alone, in which all dispatch points must be.",
    keys: &[&[
        must("cycle", Kind::Duration, "Length of the raster cycle."),
        must("window", Kind::Duration, "How much of it, from its beginning, is for time-triggered traffic."),
    ]],
};

pub(crate) static TIME_TRIGGERED_LINK: Shape = Shape {
    name: "a time-triggered virtual link",
    about: "What makes a stream a time-triggered virtual link. Its talker and the switches keep one frame each, the newest, until its dispatch point. Without `offset` it has no dispatch points yet and is never sent.",
    keys: &[&[
        must("period", Kind::Duration, "Distance of its dispatch points; one frame each.")
            .at_least("1 ps")
            .at_most("1000 s"),
        key(
            "id",
            Kind::Integer(0, 65_535),
            "Critical traffic identifier, the last two octets of the destination address; the stream's number, from 1.",
        ),
        key("offset", Kind::Duration, "The talker's dispatch point in the period."),
        key(
            "points",
            Kind::List(1, MANY, &Kind::Object(&POINT)),
            "Dispatch points behind the talker; a switch that is not listed dispatches as soon as every frame is sure to be there.",
        ),
        key(
            "acceptance-window",
            Kind::Duration,
            "How long a receiver takes its frames, around the middle of when they can come; by default as long as they can come.",
        ),
        key(
            "redundancy",
            Kind::Flag,
             "Whether it goes over both networks, A from the talker's first port and B from its second, at one dispatch point; a listener takes the first copy of each period.",
        ).or("false"),
        key(
            "release",
            Kind::Word(&["free", "locked"]),
             "Whether the talker's application runs by its own clock, or by the network time.",
        ).or("free"),
    ]],
};

static POINT: Shape = Shape {
    name: "a dispatch point",
    about: "When a switch sends the frames of the link from one of its ports.",
    keys: &[&[
        must("at", Kind::Reference, "The switch, and its port if it sends the link from several."),
        must("offset", Kind::Duration, "From the beginning of the talker's period; may be beyond its end."),
    ]],
};
