//! Time-triggered networks and their virtual links, as in SAE AS6802.

use super::{MANY, PRIORITY, REFERENCES, key, must};
use crate::text::shape::{Kind, Shape};

pub(super) static TIME_TRIGGERED: Shape = Shape {
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
        ).or("10 ms"),
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

static SYNCHRONISATION: Shape = Shape {
    name: "the synchronisation of a time-triggered network",
    about: "Which nodes keep the network time by protocol control frames (SAE AS6802); others follow as clients. Clusters of one domain give way to those of a higher priority; those of several do not hear one another.",
    keys: &[&[
        key("name", Kind::Name, "Name of the cluster; `cluster-1` for the first."),
        must("masters", REFERENCES, "Synchronisation masters: from two to 32 nodes that tell their time."),
        must(
            "compression-masters",
            REFERENCES,
            "Nodes, usually switches, that make one frame of those of all masters; one for each channel.",
        ),
        must(
            "max-transmission-delay",
            Kind::Duration,
            "Greatest time that a frame takes between a master and a compression master, or from there to any node: it counts as sent so long before it is used, and a later one is dropped.",
        ),
        key(
            "clients",
            Kind::OneOf(&[Kind::Reference, Kind::List(0, MANY, &Kind::Reference)]),
            "Nodes that follow; of the only cluster, or of the one that does not say, all that stand nowhere else.",
        ),
        key("domain", Kind::Integer(0, 255),  "Synchronisation domain; frames of others are not heard.").or("0"),
        key(
            "sync-priority",
            Kind::Integer(0, 255),
             "Synchronisation priority; the nodes join clusters of their domain with a higher one while these are there.",
        ).or("1"),
        key(
            "priority",
            PRIORITY,
             "Priority whose traffic class protocol control frames take at every port, below that of time-triggered frames.",
        ).or("6"),
        key(
            "faulty-masters",
            Kind::Integer(0, 10),
            "Masters that may be faulty: as many observation windows more are waited for, and points at either end left out of averages of five and more. 1 of four masters and more, else 0.",
        ),
        key(
            "high-integrity",
            REFERENCES,
            "Masters of both kinds that are command/monitor pairs: faulty, they are silent; others send what they like.",
        ),
        key(
            "members-min",
            Kind::Integer(1, 32),
            "Members without which nobody is synchronised. More than half of the masters: with fewer two cliques may be.",
        ),
        key(
            "listen-timeout",
            Kind::Duration,
            "How long a node listens for a network before it starts one; three integration cycles.",
        ),
        key(
            "cold-start-timeout",
            Kind::Duration,
            "Distance of the cold start frames of the first master, an integration cycle more of each further one; four integration cycles.",
        ),
        key(
            "cold-start-offset",
            Kind::Duration,
            "From a cold start frame to its acknowledgement; an integration cycle.",
        ),
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

pub(super) static TIME_TRIGGERED_LINK: Shape = Shape {
    name: "a time-triggered virtual link",
    about: "What makes a stream a time-triggered virtual link. Its talker and the switches keep one frame each, the newest, until its dispatch point. Without `offset` it has no dispatch points yet and is never sent.",
    keys: &[&[
        must("period", Kind::Duration, "Distance of its dispatch points; one frame each."),
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
