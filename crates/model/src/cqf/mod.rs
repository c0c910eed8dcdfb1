//! Cyclic queuing and forwarding, resolved (IEEE Std 802.1Q-2022, Annex T).
//!
//! It is made of stream gates and gates: `resolve.rs` gives the bridges those that the section describes, and a run knows nothing else.
//! `check.rs` holds the network against the conditions under which no frame is received in another cycle than its own, or left over at the
//! end of one. `load.rs` counts the frames of a cycle, for the check and for bounds, and `line.rs` says how the cycles of a line are
//! received. Not here: bounds (`tautwire-analysis`).

pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod language;
pub mod line;
pub mod load;
pub(crate) mod resolve;

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::{Priority, TrafficClass};
use tautwire_units::Duration;

use crate::blocks::Block;
use crate::network::{Network, NodeIndex, Port, PortIndex, StreamIndex};

/// What the description's stages know of it.
pub(crate) static BLOCK: Block = Block {
    name: "cyclic queuing and forwarding",
    is_in: |network| network.cyclic.is_some(),
    port_keys: &[],
    words: &["cyclic-queuing-and-forwarding", "cqf", "cyclic-queueing", "cyclic-queuing"],
    place: "cyclic queuing is under `cyclic-queuing-and-forwarding` of the description",
    check: check::check,
};

/// What all cyclic streams of a network have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CyclicForwarding {
    /// Length of a cycle.
    pub cycle_time: Duration,
    /// Start of a cycle, on the clock of each bridge.
    pub base_time: Duration,
    /// Time at the end of each cycle in which no cyclic frame is sent.
    pub dead_time: Duration,
    /// Greatest difference of the clocks of two nodes.
    pub precision: Duration,
    /// The internal priorities of its buffers, in the order in which these are sent: two or more.
    pub priorities: Vec<Priority>,
    /// The bridges.
    pub bridges: Vec<NodeIndex>,
    /// The streams.
    pub streams: BTreeSet<StreamIndex>,
    /// How the bridges receive the cycles of the ports from which cyclic frames come.
    pub lines: BTreeMap<PortIndex, line::Reception>,
}

impl CyclicForwarding {
    /// The classes of its priorities at a port.
    #[must_use]
    pub fn classes(&self, port: &Port) -> Vec<TrafficClass> {
        let class = |priority: &Priority| port.class_table.of_priority[priority.index()];
        self.priorities.iter().map(class).collect()
    }

    /// Whether it has two buffers: one is sent while the other one is filled.
    #[must_use]
    pub fn takes_turns(&self) -> bool {
        self.priorities.len() == 2
    }

    /// How many cycles later than a port a frame is sent by the bridge behind it.
    #[must_use]
    pub fn cycles_behind(&self, port: PortIndex) -> u64 {
        self.lines.get(&port).map_or(1, |line| line.cycles)
    }

    /// The time of a cycle in which cyclic frames are sent.
    #[must_use]
    pub fn open_time(&self) -> Duration {
        self.cycle_time.saturating_sub(self.dead_time)
    }

    /// In a network in which streams have other places.
    pub(crate) fn moved(&self, place: &[Option<StreamIndex>]) -> Self {
        let streams = self.streams.iter().filter_map(|stream| place[stream.index()]).collect();
        Self { streams, ..self.clone() }
    }
}

impl Network {
    /// Its cyclic queuing and forwarding, if a port belongs to one of its bridges.
    #[must_use]
    pub fn cyclic_at(&self, port: PortIndex) -> Option<&CyclicForwarding> {
        self.cyclic.as_ref().filter(|cyclic| cyclic.bridges.contains(&self.ports[port.index()].node))
    }
}
