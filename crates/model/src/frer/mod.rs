//! Frame replication and elimination for reliability (IEEE Std 802.1CB-2017): what a stream's description resolves to.
//!
//! Member streams follow paths that part and meet. The stream's hops are these ways as a tree: behind a node where a recovery
//! function merges copies, the onward path exists once for each copy that comes there, and a frame takes that of the copy that passes.
//! So each hop is a passage of some of the frames, and all of them together make the stream; [`FrameReplication::merged`] gives
//! which hops are one. `language.rs`: keys; `resolve.rs`: reading them; `paths.rs`: disjoint paths; `ways.rs`: from paths to hops; `members.rs`: what
//! copies have in place of addresses, VLAN and priority of their stream; `repeats.rs`: frames that a stuck sender repeats; `check.rs`: what cannot be. The machines are in `tautwire_core::frer`.

pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod language;
pub(crate) mod members;
pub(crate) mod paths;
pub(crate) mod repeats;
pub(crate) mod resolve;
pub(crate) mod ways;

pub use self::repeats::Repeats;

use tautwire_core::frer::{LatentErrorParameters, RecoveryParameters};

use crate::blocks::Block;
use crate::network::{LinkIndex, NodeIndex};

/// What the description's stages know of it.
pub(crate) static BLOCK: Block = Block {
    name: "frame replication and elimination",
    is_in: |network| network.streams.iter().any(|stream| stream.replication.is_some()),
    port_keys: &[],
    words: &[
        "frer",
        "frame-replication",
        "replication",
        "elimination",
        "sequence-recovery",
        "stream-split",
        "r-tag",
        "dmac-vlan-stream-identification",
        "active-identification",
    ],
    place: "frame replication and elimination is under `frer` of a stream",
    check: check::check,
};

/// How frames carry their sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// R-TAG (7.8).
    RTag,
    /// HSR sequence tag (7.9).
    Hsr,
    /// PRP sequence trailer (7.10).
    Prp,
}

/// The recovery functions of a stream at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The node.
    pub node: NodeIndex,
    /// Of all copies that come there.
    pub sequence: Option<RecoveryParameters>,
    /// Whether it looks for latent errors.
    pub latent: Option<LatentErrorParameters>,
    /// Of each member stream, before the other.
    pub individual: Option<RecoveryParameters>,
}

/// Frame replication and elimination of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameReplication {
    /// How its frames carry their numbers.
    pub encapsulation: Encapsulation,
    /// The member streams' paths, from the talker to a listener.
    pub paths: Vec<Vec<LinkIndex>>,
    /// Where frames are numbered.
    pub generation: NodeIndex,
    /// Recovery functions, in the order in which their nodes are met.
    pub recoveries: Vec<Recovery>,
    /// Per hop of the stream: the functions at its far end, as an index of `recoveries`.
    pub recovered: Vec<Option<u32>>,
    /// Per hop of the stream: the first hop that is the same passage, for frames of another copy.
    pub merged: Vec<u32>,
    /// Per hop of the stream: the number of the first path that its frames follow, among the paths to its listener.
    pub path: Vec<u32>,
}
