//! `synchronisation:` of a time-triggered network.

use crate::text::language::{MANY, PRIORITY, REFERENCES, key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static SYNCHRONISATION: Shape = Shape {
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
