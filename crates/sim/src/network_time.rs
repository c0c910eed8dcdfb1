//! Observations of network time: the difference between nodes, and since when each has it.

use tautwire_core::as6802::CliquesDetected;
use tautwire_model::Network;
use tautwire_units::Duration;

/// Observations of network time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkTimeObservation {
    /// Greatest difference of the network times of two nodes that followed one cluster, at any instant of the run.
    pub precision: Duration,
    /// The same per cluster; one without protocol control frames.
    pub clusters: Vec<Duration>,
    /// Per node; empty if clocks are corrected as stated.
    pub nodes: Vec<NodeTime>,
}

/// A node's network time in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeTime {
    /// When it first had network time, true time since the start.
    pub synchronised_at: Option<Duration>,
    /// How often it lost it, other than by giving way.
    pub lost: u64,
    /// How often it left its cluster's time for that of a cluster above.
    pub gave_way: u64,
    /// The place of the cluster that it follows at the end.
    pub cluster: Option<u16>,
    /// The longest that it was without, between two times of having it.
    pub without_max: Duration,
    /// Since when it is without at the end, if it had it before.
    pub without_since: Option<Duration>,
    /// How often its machine gave up its cycles, by too few members (synchronous clique detection) and by another clique
    /// (asynchronous).
    pub cliques: CliquesDetected,
    /// When it last found another clique, true time since the start.
    pub clique_at: Option<Duration>,
}

impl NetworkTimeObservation {
    pub(crate) fn new(network: &Network) -> Self {
        let count = network.as6802.as_ref().map_or(0, |_| network.nodes.len());
        let clusters = network.as6802.as_ref().map_or(1, |made| made.clusters.len());
        Self {
            precision: Duration::ZERO,
            clusters: vec![Duration::ZERO; clusters],
            nodes: vec![NodeTime::default(); count],
        }
    }

    /// When the last of the nodes first had network time; none if one never had, or without protocol control
    /// frames.
    #[must_use]
    pub fn synchronised_at(&self) -> Option<Duration> {
        let all: Option<Vec<Duration>> = self.nodes.iter().map(|node| node.synchronised_at).collect();
        all?.into_iter().max()
    }

    /// Takes the greatest difference of two nodes that follow a cluster at an instant.
    pub(crate) fn see(&mut self, cluster: usize, apart: Duration) {
        self.clusters[cluster] = self.clusters[cluster].max(apart);
        self.precision = self.precision.max(apart);
    }
}
