//! Frame replication and elimination of a stream; names of the YANG module `ieee802-dot1cb-frer`.

use crate::text::language::{MANY, PRIORITY, VLAN_ID, key, must};
use crate::text::shape::{Kind, Shape};

/// A path: its bridges in order, or its links.
const PATH: Kind = Kind::List(1, MANY, &Kind::Text);

pub(crate) static FRER: Shape = Shape {
    name: "frame replication and elimination",
    about: "Copies of the stream's frames over several paths (802.1CB-2017, clause 7): member streams that part, and one stream again where recovery functions eliminate copies.",
    keys: &[&[
        key(
            "paths",
            Kind::OneOf(&[Kind::Integer(2, 8), Kind::List(2, 63, &PATH)]),
            "The member streams' paths: how many are to be found to each listener, as disjoint as the network lets them be, or each with its bridges in order and, if there are several listeners, the one to which it leads. Between bridges with several links a link can be named before the bridge to which it leads.",
        )
        .or("2"),
        key(
            "sequence-generation",
            Kind::Name,
            "The node whose sequence generation function numbers the frames; by default the one where paths part first.",
        ),
        key(
            "encapsulation",
            Kind::Word(&["r-tag", "hsr-sequence-tag", "prp-sequence-tag"]),
            "How frames carry the number (sequence encode/decode function, 7.6): each takes 6 octets, from the sequence generation function to the last recovery function.",
        )
        .or("r-tag"),
        key(
            "dmac-vlan-stream-identification",
            Kind::List(2, 8, &Kind::Object(&MEMBER)),
            "Active identification (802.1CB 6.6): what the copies of each path have, from where it parts from all others to the next recovery function, in the order of the paths to a listener; by default all that of the stream.",
        ),
        must(
            "sequence-recovery",
            Kind::List(1, MANY, &Kind::Object(&SEQUENCE_RECOVERY)),
            "The recovery functions. An entry without `node` is for all nodes where paths meet.",
        ),
    ]],
};

static MEMBER: Shape = Shape {
    name: "active stream identification",
    about: "What is written into the copies of a path. The class at the port where it is written is that of the stream's own priority; the next node with a recovery function puts the stream's own values back.",
    keys: &[&[
        key("destination-mac", Kind::MacAddress, "Destination address; by default that of the stream."),
        key(
            "vlan",
            VLAN_ID,
            "VLAN, of which the ports of the path are members; by default that of the stream.",
        ),
        key("priority", PRIORITY, "Priority; by default that which the frame has where its path parts."),
    ]],
};

static SEQUENCE_RECOVERY: Shape = Shape {
    name: "a sequence recovery function",
    about: "A recovery function: which copies pass at a node (10.4).",
    keys: &[&[
        key("node", Kind::Name, "The node; by default every node at which paths meet."),
        key(
            "individual-recovery",
            Kind::Flag,
            "Whether there is a function for each member stream, before their sequence recovery function: it discards what a stuck sender repeats.",
        )
        .or("false"),
        key("algorithm", Kind::Word(&["vector", "match"]), "How the function recognises copies.").or("vector"),
        key(
            "history-length",
            Kind::Integer(2, 32_768),
            "How many numbers the vector algorithm keeps; what is further off is discarded.",
        )
        .or("2"),
        must(
            "reset-timeout",
            Kind::Duration,
            "After so long without a frame that passes, the function begins anew and the next frame passes.",
        )
        .at_least("1 ms")
        .at_most("1000 s")
        .in_steps_of("1 ms"),
        key("take-no-sequence", Kind::Flag, "Whether frames without a number pass.").or("false"),
        key(
            "latent-error-detection",
            Kind::Flag,
            "Whether the function looks for copies that do not come.",
        )
        .or("false"),
        key(
            "latent-error-detection-parameters",
            Kind::Object(&LATENT_ERROR_DETECTION),
            "Parameters of this detection.",
        ),
    ]],
};

static LATENT_ERROR_DETECTION: Shape = Shape {
    name: "a latent error detection",
    about: "Parameters of the detection of latent errors (7.4.4).",
    keys: &[&[
        key(
            "difference",
            Kind::Integer(0, 2_147_483_647),
            "By how many frames the eliminated ones may differ from what the paths should bring.",
        )
        .or("0"),
        key("period", Kind::Duration, "From one test to the next.")
            .or("2000 ms")
            .at_least("1 ms")
            .at_most("1000 s")
            .in_steps_of("1 ms"),
        key(
            "paths",
            Kind::Integer(1, 65_535),
            "Paths over which frames come; by default as many copies as meet at the node.",
        ),
        key("reset-period", Kind::Duration, "From one reset of the difference to the next.")
            .or("30000 ms")
            .at_least("1 ms")
            .at_most("1000 s")
            .in_steps_of("1 ms"),
    ]],
};
