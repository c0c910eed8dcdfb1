//! Whether protocol control frames (SAE AS6802) come in time, which everything that depends on network time assumes: a
//! frame in transit for longer than the greatest transmission delay is not accepted.
//!
//! Time-triggered frames delay control frames, and control frames make the time by which these are sent. Bounds of
//! both are those of a network whose clocks are synchronised, and they are synchronised for as long as these bounds
//! keep control frames in time: no first control frame can be too late. Where they do not, nothing is known about the
//! clocks, and about frames that are sent by them.

use tautwire_model::Network;
use tautwire_model::as6802::SyncRole;
use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_units::Duration;

use crate::result::Bounds;
use crate::service::Misses;

/// The nodes whose control frames may come too late, with the cluster of each, in the order of the network. Those of
/// faulty nodes are left out: averages leave them out, or `uncontained` reports them.
pub fn late_control_frames<'a>(
    network: &'a Network,
    bounds: &'a Bounds,
) -> impl Iterator<Item = (NodeIndex, u16)> + use<'a> {
    let made = network.as6802.iter();
    let frames = made.flat_map(|made| made.frames.iter().zip(&made.cluster_of));
    let faulty = network.faulty_nodes();
    frames.filter_map(move |(stream, cluster)| {
        let stream: StreamIndex = (*stream)?;
        let talker = network.streams[stream.index()].talker;
        let deadline = network.transmission_deadline_of(*cluster);
        let mut listeners = bounds.streams[stream.index()].listeners.iter();
        let in_time = |most| deadline.is_some_and(|deadline| most <= deadline);
        let late = listeners.any(|one| !one.delay.as_ref().is_ok_and(|most| in_time(*most)));
        (late && !faulty.contains(&talker)).then_some((talker, *cluster))
    })
}

/// The clusters whose nodes have no proven network time because of late control frames: those with late frames, and
/// those that follow them.
pub(super) fn late_clusters(network: &Network, bounds: &Bounds) -> Vec<u16> {
    let late: Vec<u16> = late_control_frames(network, bounds).map(|(_, cluster)| cluster).collect();
    let Some(made) = &network.as6802 else { return Vec::new() };
    let follows = |cluster: &u16| {
        let mut all = made.above(*cluster).into_iter().chain([*cluster]);
        all.any(|of| late.contains(&of))
    };
    network.clusters().filter(follows).collect()
}

/// Nodes to which the control frames of every compression master of their cluster may be lost.
pub(super) fn timeless_nodes(network: &Network, misses: Misses<'_>) -> impl Iterator<Item = NodeIndex> {
    let made = network.as6802.as_ref();
    let is_timeless = move |node: &NodeIndex| {
        let Some(made) = made else { return false };
        let cluster = made.cluster_of[node.index()];
        let compresses = |master: &usize| {
            made.cluster_of[*master] == cluster
                && matches!(made.roles[*master], SyncRole::CompressionMaster(_))
        };
        let masters = (0..network.nodes.len()).filter(compresses);
        let frames = masters.filter_map(|master| made.frames[master]);
        let missed: Vec<bool> = frames.filter_map(|frames| misses(frames, *node)).collect();
        !missed.is_empty() && missed.iter().all(|misses| *misses)
    };
    (0..network.nodes.len()).map(NodeIndex::at).filter(is_timeless)
}

/// The greatest difference between the network times of two nodes that follow a cluster, with control frames as late
/// as in `bounds`; none if nothing is proven.
#[must_use]
pub fn proven_precision(network: &Network, bounds: &Bounds, cluster: u16) -> Option<Duration> {
    let late = late_clusters(network, bounds).contains(&cluster);
    network.precision_bound_of(cluster).filter(|_| !late)
}
