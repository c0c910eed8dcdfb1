//! The admission test of synchronous streams: the windows of every switch on their paths, by their own schedules.
//!
//! Equation 3 covers the asynchronous window. What the synchronous window of a switch polls and relays depends on
//! synchronous streams alone, so the proven bounds of these are the test: each must be taken in time at every switch,
//! with or without a deadline, because a message that is not would be lost. Not here: the schedule's analysis
//! (`tautwire-analysis`).

use tautwire_analysis::bounds;
use tautwire_model::Network;
use tautwire_model::network::{NodeKind, StreamIndex};

use crate::bounds::{missed, wanted};
use crate::decision::RefusalReason;

/// Whether a stream is polled, and whether servers carry it nowhere.
pub(super) fn is_synchronous(network: &Network, stream: StreamIndex) -> (bool, bool) {
    let Some(harts) = &network.harts else { return (false, false) };
    let hops = network.streams[stream.index()].hops.iter();
    let nodes = hops.map(|hop| network.ports[hop.port.index()].node);
    let mut bridges =
        nodes.filter(|node| matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. }));
    let polled = harts.ftt.polled(stream).is_some();
    (polled, polled && bridges.all(|node| harts.ftt.is_synchronous_at(stream, node)))
}

/// Why the last of some streams, which is synchronous, must not join the others; those that are not are left out.
pub(super) fn refuse(network: &Network, streams: &[StreamIndex]) -> Option<RefusalReason> {
    let all: Vec<StreamIndex> =
        streams.iter().copied().filter(|stream| is_synchronous(network, *stream).0).collect();
    let part = network.with_only(&all);
    let proven = bounds(&part).streams;
    // The new one first.
    let pairs = part.streams.iter().zip(&proven).rev();
    let mut refusals = pairs.map(|(stream, proven)| missed(&part, stream, wanted(stream)?, proven, None));
    refusals.find_map(|refusal| refusal)
}
