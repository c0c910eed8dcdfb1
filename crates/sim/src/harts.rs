//! What a run observed of HaRTES: what masters polled, and what nodes heard and answered.

use tautwire_model::network::NodeIndex;
use tautwire_units::Duration;

/// What was observed of masters and nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HartsObservation {
    /// Switches that send trigger messages.
    pub masters: Vec<MasterObservation>,
    /// Their nodes.
    pub nodes: Vec<ListeningObservation>,
}

/// A switch's master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MasterObservation {
    /// The switch.
    pub switch: NodeIndex,
    /// Elementary cycles.
    pub cycles: u64,
    /// Synchronous messages that were polled.
    pub polled: u64,
    /// Messages that were still waiting when the next of their stream was released.
    pub dropped: u64,
    /// The most that the messages of one cycle took.
    pub longest: Duration,
}

/// A node at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListeningObservation {
    /// The node.
    pub node: NodeIndex,
    /// Trigger messages that it was sent.
    pub sent: u64,
    /// Those that it decoded.
    pub heard: u64,
    /// Messages of its own that were polled.
    pub polled: u64,
    /// Those that it sent: in a cycle whose trigger message it missed it is silent.
    pub answered: u64,
}

impl MasterObservation {
    pub(crate) fn of(switch: NodeIndex) -> Self {
        Self { switch, cycles: 0, polled: 0, dropped: 0, longest: Duration::ZERO }
    }
}

impl ListeningObservation {
    pub(crate) fn of(node: NodeIndex) -> Self {
        Self { node, sent: 0, heard: 0, polled: 0, answered: 0 }
    }
}
