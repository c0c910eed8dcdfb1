//! The grammar of a description: every key, its kind, and its meaning.
//!
//! Names are those of the 802.1Q YANG modules where these have one. Schema, reference and check are
//! made from these tables.

pub(crate) mod devices;
mod streams;
pub(crate) mod synonyms;
mod topology;

use super::codes;
use super::shape::{Key, Kind, Shape};
use crate::cqf::language::CYCLIC;
use crate::gates::language::CHANGE_GATES;
use crate::gptp::language::GPTP;
use crate::harts::language::HARTS;
use crate::psfp::language::{CHANGE_FLOW_METER, CHANGE_STREAM_FILTER, CHANGE_STREAM_GATE};
use crate::srp::language::{RESERVATION, STREAM_RESERVATION};
use crate::tdma::language::TDMA;
use crate::test_bed::language::TEST;
use crate::time_triggered::language::TIME_TRIGGERED;
pub(crate) use devices::DEVICE_FILE;
use devices::{DEVICE, HOST};
use streams::{ARRIVAL_CURVE, TRAFFIC};
pub(crate) use streams::{COVERING, STREAM};
use topology::{CLOCK, LINK, NODE, PORT_KEYS, VLAN};

pub(crate) const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key::optional(name, kind, about)
}

pub(crate) const fn must(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key::required(name, kind, about)
}

pub(crate) const MANY: usize = usize::MAX;
pub(crate) const REFERENCES: Kind = Kind::OneOf(&[Kind::Reference, Kind::List(1, MANY, &Kind::Reference)]);
pub(crate) const PRIORITY: Kind = Kind::Integer(0, 7);
pub(crate) const VLAN_ID: Kind = Kind::Integer(1, 4094);

/// The description.
pub(crate) static NETWORK: Shape = Shape {
    name: "a network",
    about: "The whole description.",
    keys: &[&[
        key("name", Kind::Text, "Name of the network; by default that of the file."),
        key("about", Kind::Text, "Description for readers."),
        key(
            "allow",
            Kind::List(0, MANY, &Kind::Word(codes::ALLOWED)),
            "Errors to be reported as warnings: with them the network can still be run and bounded.",
        ),
        key("defaults", Kind::Object(&DEFAULTS), "Values that hold unless a node, port or link states its own."),
        key("devices", Kind::Names(&Kind::Object(&DEVICE)), "Additional device models, by name."),
        key("hosts", Kind::Names(&Kind::Object(&HOST)), "Additional host models, by name."),
        key("test", Kind::Object(&TEST), "Tasks of a test bed."),
        must("nodes", Kind::Names(&Kind::Object(&NODE)), "End stations and bridges, by name."),
        key("links", Kind::List(0, MANY, &Kind::Object(&LINK)), "Cables."),
        key(
            "vlans",
            Kind::Numbers(1, 4094, &Kind::Object(&VLAN)),
            "VLANs by identifier. Without this key, or with VLAN 1 alone in it, every VLAN that a stream names exists and every port is a member: untagged of the VLAN of its `pvid` (with `stream-reservation`: tagged), tagged of every other.",
        ),
        key("streams", Kind::List(0, MANY, &Kind::Object(&STREAM)), "Streams."),
        key(
            "stream-tables",
            Kind::List(0, MANY, &Kind::Text),
            "CSV files with further streams, one in each row; the heading names keys of a stream, with a dot before a nested key (`traffic.interval`).",
        ),
        key(
            "network-control",
            Kind::OneOf(&[Kind::Word(&["none"]), Kind::Object(&NETWORK_CONTROL)]),
             "Frames of protocols that the description does not have (spanning tree, gPTP without `gptp`), which bounds assume at every port. Frames of its own protocols always count.",
        ).or("none"),
        key(
            "tdma",
            Kind::Object(&TDMA),
            "Slots of a cycle in which the talkers send; without this key they send as soon as the port is free.",
        ),
        key(
            "time-triggered",
            Kind::Object(&TIME_TRIGGERED),
            "Settings of all time-triggered virtual links.",
        ),
        key(
            "stream-reservation",
            Kind::Object(&STREAM_RESERVATION),
            "Stream reservation (MSRP) in every node; without this key streams are sent without a reservation.",
        ),
        key(
            "gptp",
            Kind::Object(&GPTP),
            "The generalized precision time protocol (802.1AS) in every node; without this key clocks run freely.",
        ),
        key(
            "harts",
            Kind::Object(&HARTS),
            "Elementary cycles and servers (HaRTES) in all bridges; without this key their ports select by class.",
        ),
        key(
            "cyclic-queuing-and-forwarding",
            Kind::Object(&CYCLIC),
            "Cyclic queuing and forwarding (802.1Qch) in bridges; without this key they send as soon as they can.",
        ),
        key("events", Kind::List(0, MANY, &Kind::Object(&EVENT)), "The run's timeline."),
        key("run", Kind::Object(&RUN), "Settings of a run."),
    ]],
};

static DEFAULTS: Shape = Shape {
    name: "the defaults",
    about: "Values for every node, port and link that states no others.",
    keys: &[
        &[
            key("device", Kind::Text, "Device model of the bridges.").or("ideal"),
            key("host", Kind::Text, "Host model of the end stations.").or("ideal"),
            key("clock", Kind::Object(&CLOCK), "Clock of every node."),
            key("rate", Kind::Rate, "Rate of the links.").at_least("10 Mbit/s").at_most("100 Gbit/s"),
        ],
        PORT_KEYS,
    ],
};

static NETWORK_CONTROL: Shape = Shape {
    name: "network control traffic",
    about: "Frames of gPTP, MRP, link layer discovery and other protocols that the description does not have, as interference in every bound. The default values cover these three at their usual intervals.",
    keys: &[&[
        key("priority", PRIORITY, "Its priority; by default 7, or 6 with time-triggered traffic."),
        key("rate", Kind::Rate, "Greatest rate at which they leave a port, bits on the wire per second.")
            .or("100 kbit/s"),
        key("burst", Kind::Bits, "Greatest burst, bits on the wire.").or("1228 B"),
        key("frame-max", Kind::Octets, "Largest frame, destination to FCS.").or("300 B").at_least("64 B"),
    ]],
};

static EVENT: Shape = Shape {
    name: "an event",
    about: "A step of the run's timeline: `at` and one other key.",
    keys: &[&[
        must("at", Kind::Duration, "When, in true time since the start."),
        key(
            "start-stream",
            Kind::Text,
            "This stream begins; the times of its traffic count from here. A stream that is reserved in the run begins when it is granted instead.",
        ),
        key(
            "stop-stream",
            Kind::Text,
            "This stream ends; frames in flight go on and its reservation stays. If it is granted again, it begins again.",
        ),
        key("cut-link", Kind::Text, "This link is cut; frames on it are lost."),
        key("mend-link", Kind::Text, "This link is mended."),
        key("stop-node", Kind::Text, "This node stops; its frames are lost."),
        key("start-node", Kind::Text, "This node starts again, with empty queues."),
        key(
            "babble",
            Kind::Object(&BABBLE),
            "A synchronisation or compression master (AS6802) sends protocol control frames without end; a high-integrity master falls silent instead.",
        ),
        key("stop-babbling", Kind::Text, "This node sends protocol control frames correctly again."),
        key(
            "mistime",
            Kind::Object(&MISTIME),
            "A synchronisation or compression master sends its frames later than their contents state; a high-integrity master falls silent instead.",
        ),
        key(
            "repeat-frame",
            Kind::Object(&REPEAT_FRAME),
            "A node sends its last frame of a stream with copies again and again (802.1CB, a stuck transmitter), besides those that come.",
        ),
        key(
            "stop-repeating",
            Kind::Object(&STOP_REPEATING),
            "A node does not repeat frames of a stream any more.",
        ),
        key(
            "change-traffic",
            Kind::Object(&CHANGE_TRAFFIC),
            "The traffic of a stream changes, but not to or from responses; a stream that is reserved in the run may not exceed its reservation unless a switch polices it.",
        ),
        key(
            "change-idle-slope",
            Kind::Object(&CHANGE_IDLE_SLOPE),
            "A credit-based class of a port gets another idleSlope.",
        ),
        key("change-gates", Kind::Object(&CHANGE_GATES), "The gates of a port get another list."),
        key(
            "change-stream-filter",
            Kind::Object(&CHANGE_STREAM_FILTER),
            "Management changes a stream filter of a bridge.",
        ),
        key(
            "change-stream-gate",
            Kind::Object(&CHANGE_STREAM_GATE),
            "Management changes a stream gate of a bridge.",
        ),
        key(
            "change-flow-meter",
            Kind::Object(&CHANGE_FLOW_METER),
            "Management changes a flow meter of a bridge.",
        ),
        key("change-shaper", Kind::Object(&CHANGE_SHAPER), "A stream's shapers get other parameters."),
        key(
            "change-bit-error-rate",
            Kind::Object(&CHANGE_ERRORS),
            "Both directions of a link get another bit error rate.",
        ),
    ]],
};

static BABBLE: Shape = Shape {
    name: "a babbling master",
    about: "A master that babbles sends protocol control frames of all types and any integration cycle, some in the name of other nodes; those of a compression master claim all members.",
    keys: &[&[
        must("node", Kind::Text, "The master."),
        must("interval", Kind::Duration, "Distance of its frames.").at_least("1 us"),
    ]],
};

static REPEAT_FRAME: Shape = Shape {
    name: "a node that repeats a frame",
    about: "A stuck sender: the last frame of a stream that came to each of its ports for the stream goes into the queue again, with the same sequence number.",
    keys: &[&[
        must("node", Kind::Text, "The node: the one that numbers the frames, or one behind it."),
        must("stream", Kind::Text, "The stream, which has `frer`."),
        must("interval", Kind::Duration, "Distance of the repeats; the first comes so long after the event.")
            .at_least("1 us"),
    ]],
};

static STOP_REPEATING: Shape = Shape {
    name: "a node that repeats no more",
    about: "A node that repeated frames of a stream sends each of them once again.",
    keys: &[&[must("node", Kind::Text, "The node."), must("stream", Kind::Text, "The stream.")]],
};

static MISTIME: Shape = Shape {
    name: "a master at the wrong time",
    about: "A master whose protocol control frames leave at the wrong time, which their transparent clock does not show.",
    keys: &[&[
        must("node", Kind::Text, "The master."),
        must("by", Kind::Duration, "How much later they leave; 0 s ends it."),
    ]],
};

static CHANGE_TRAFFIC: Shape = Shape {
    name: "a change of traffic",
    about: "A stream's new traffic.",
    keys: &[&[
        must("stream", Kind::Text, "The stream."),
        must("traffic", Kind::Tagged(TRAFFIC), "Its new traffic."),
        key("arrival-curve", Kind::Object(&ARRIVAL_CURVE), "Its arrival curve from now on."),
    ]],
};

static CHANGE_IDLE_SLOPE: Shape = Shape {
    name: "a change of idleSlope",
    about: "A class's new idleSlope.",
    keys: &[&[
        must("port", Kind::Reference, "The port."),
        must("class", PRIORITY, "The class."),
        must("idle-slope", Kind::Rate, "Its new idleSlope.").at_least("1 bit/s"),
    ]],
};

static CHANGE_SHAPER: Shape = Shape {
    name: "a change of shaper parameters",
    about: "New parameters of a stream's shapers.",
    keys: &[&[
        must("stream", Kind::Text, "The stream."),
        must("committed-information-rate", Kind::Rate, "CommittedInformationRate."),
        must("committed-burst-size", Kind::Bits, "CommittedBurstSize."),
    ]],
};

static CHANGE_ERRORS: Shape = Shape {
    name: "a change of the bit error rate",
    about: "A link's new bit error rate.",
    keys: &[&[
        must("link", Kind::Text, "The link."),
        must("bit-error-rate", Kind::Chance, "Chance of a bit to be received wrong."),
    ]],
};

static RUN: Shape = Shape {
    name: "run settings",
    about: "Settings of a run.",
    keys: &[&[
        key("duration", Kind::Duration, "Simulated time.").or("1 s"),
        key("warm-up", Kind::Duration, "Frames created before it are checked but left out of statistics.")
            .or("0 s"),
        key(
            "stop-after-frames",
            Kind::Integer(1, u64::MAX),
            "Number of delivered frames after which the run ends, if that is earlier.",
        ),
        key("seed", Kind::Integer(0, u64::MAX), "Seed of the random numbers.").or("1"),
    ]],
};
