//! Frames of protocols that were lost in a run: their kind, place, reason and number.
//!
//! Not here: frames of applications, which are counted for each listener (`fates.rs`); the effect of a loss on its
//! protocol (in the protocol's own results).

use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};

use crate::result::DropReason;

/// Frames of a protocol that were lost at one place for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlLoss {
    /// The stream that carried them; none if a node refused frames of several.
    pub stream: Option<StreamIndex>,
    /// Where.
    pub place: LossPlace,
    /// Why.
    pub reason: LossReason,
    /// How many, those of the warm-up too.
    pub frames: u64,
}

/// Where frames were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossPlace {
    /// At an egress port, on its line, or in the stages behind that.
    Port(PortIndex),
    /// At a node.
    Node(NodeIndex),
}

/// Why frames of a protocol were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// The data plane dropped them.
    Dropped(DropReason),
    /// The protocol of this name received them and refused them: it cannot read them, or they name what it does not know.
    Refused(&'static str),
}
