//! `synchronisation:` of a time-triggered network.

use crate::text::language::{MANY, PRIORITY, REFERENCES, key, must};
use crate::text::shape::{Kind, Shape};

pub(crate) static SYNCHRONISATION: Shape = Shape {
    name: "the synchronisation of a time-triggered network",
    about: "The nodes that keep the network time by protocol control frames (SAE AS6802); others follow as clients. A cluster gives way to clusters of its domain with a higher priority; clusters of different domains ignore each other.",
    keys: &[&[
        key("name", Kind::Name, "Name of the cluster; by default `cluster-1` for the first."),
        must("masters", REFERENCES, "Synchronisation masters: two to 32 nodes that send their time."),
        must(
            "compression-masters",
            REFERENCES,
            "Compression masters: nodes, usually switches, that compress the frames of all masters into one; one for each channel.",
        ),
        must(
            "max-transmission-delay",
            Kind::Duration,
            "Greatest transmission delay of a frame between a master and a compression master, or from there to any node: every frame is used this long after it was sent, and a later one is dropped.",
        ),
        key(
            "clients",
            Kind::OneOf(&[Kind::Reference, Kind::List(0, MANY, &Kind::Reference)]),
            "Nodes that follow; by default all nodes without another role, in the only cluster or in the one without this key.",
        ),
        key("domain", Kind::Integer(0, 255),  "Synchronisation domain; frames of other domains are ignored.").or("0"),
        key(
            "sync-priority",
            Kind::Integer(0, 255),
             "Synchronisation priority; the nodes join clusters of their domain with a higher priority while these exist.",
        ).or("1"),
        key(
            "priority",
            PRIORITY,
             "Priority of protocol control frames, which determines their traffic class at every port; below that of time-triggered frames.",
        ).or("6"),
        key(
            "faulty-masters",
            Kind::Integer(0, 10),
            "Number of masters that may be faulty: this many more observation windows are awaited, and this many values at either end are excluded from averages of five and more. By default 1 with four masters and more, else 0.",
        ),
        key(
            "high-integrity",
            REFERENCES,
            "Synchronisation and compression masters that are command/monitor pairs: a faulty one is silent, while other faulty masters may send anything.",
        ),
        key(
            "members-min",
            Kind::Integer(1, 32),
            "Number of members that a node needs to be synchronised; by default more than half of the masters, as with fewer two cliques may form.",
        ),
        key(
            "listen-timeout",
            Kind::Duration,
            "How long a node listens for a running network before it starts one; by default three integration cycles.",
        ),
        key(
            "cold-start-timeout",
            Kind::Duration,
            "Distance of the cold start frames of the first master, and an integration cycle more for each further one; by default four integration cycles.",
        ),
        key(
            "cold-start-offset",
            Kind::Duration,
            "Time from a cold start frame to its acknowledgement; by default an integration cycle.",
        ),
    ]],
};
