//! Which faults of synchronisation a network contains (SAE AS6802), and which it does not: compares the fault
//! hypothesis of the description with its events.
//!
//! A faulty high-integrity device (a command/monitor pair) is silent. A faulty standard-integrity device sends any
//! frames at any time. If such devices are synchronisation masters, the averages of the compression masters leave out
//! `faulty-masters` of them, provided that the masters are more than twice as many. No receiver is protected against a
//! faulty compression master: it claims any members at any time. Separate cliques can form where fewer than half of
//! the masters are enough to make a network. If a fault is not contained, no precision is proven, and nothing that
//! depends on the precision has a bound.

use super::SyncRole;
use crate::network::{Network, NodeIndex, TimelineAction};

/// Why the network time of a cluster is not contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncontained {
    /// A standard-integrity compression master is faulty.
    CompressionMaster(NodeIndex),
    /// More standard-integrity masters are faulty than averages leave out; this is one of them.
    Masters(NodeIndex),
    /// Frames may be lost, and half of the masters or fewer make a network: two cliques may be there.
    Cliques,
}

impl Network {
    /// Nodes whose protocol control frames are wrong at some time of the run, in the order of their numbers.
    #[must_use]
    pub fn faulty_nodes(&self) -> Vec<NodeIndex> {
        let wrong = self.events.iter().filter_map(|event| match event.action {
            TimelineAction::Babble(node, _) => Some(node),
            TimelineAction::Mistime(node, by) if !by.is_zero() => Some(node),
            _ => None,
        });
        let mut nodes: Vec<NodeIndex> = wrong.collect();
        nodes.sort_unstable_by_key(|node| node.index());
        nodes.dedup();
        nodes
    }

    /// Whether a node is a command/monitor pair.
    #[must_use]
    pub fn is_high_integrity(&self, node: NodeIndex) -> bool {
        self.as6802.as_ref().is_some_and(|made| made.high_integrity[node.index()])
    }

    /// Why the network time that the nodes of a cluster follow is not contained, because of faults of this cluster or
    /// of one of higher priority; none if it is.
    #[must_use]
    pub fn uncontained(&self, cluster: u16) -> Option<Uncontained> {
        let made = self.as6802.as_ref()?;
        let above = made.above(cluster).into_iter();
        core::iter::once(cluster).chain(above).find_map(|cluster| self.uncontained_alone(cluster))
    }

    fn uncontained_alone(&self, cluster: u16) -> Option<Uncontained> {
        let made = self.as6802.as_ref()?;
        let settings = &made.clusters[usize::from(cluster)];
        let own =
            |node: &NodeIndex| made.cluster_of[node.index()] == cluster && !made.high_integrity[node.index()];
        let faulty: Vec<NodeIndex> = self.faulty_nodes().into_iter().filter(own).collect();
        let compresses =
            |node: &&NodeIndex| matches!(made.roles[node.index()], SyncRole::CompressionMaster(_));
        if let Some(node) = faulty.iter().find(compresses) {
            return Some(Uncontained::CompressionMaster(*node));
        }
        let count = u32::try_from(faulty.len()).expect("at most 32 masters");
        if count > settings.faulty || count > 0 && settings.masters < 2 * count + 1 {
            return Some(Uncontained::Masters(faulty[0]));
        }
        let split = self.may_lose_frames() && settings.members_min * 2 <= settings.masters;
        split.then_some(Uncontained::Cliques)
    }

    /// Whether the network time of a node is contained, or it has none by protocol control frames.
    #[must_use]
    pub fn is_contained_at(&self, node: NodeIndex) -> bool {
        let of = self.as6802.as_ref().map(|made| made.cluster_of[node.index()]);
        of.is_none_or(|cluster| self.uncontained(cluster).is_none())
    }
}
