//! Distances in a network, counted in links.

use std::collections::VecDeque;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Stream};

/// Links on the longest path of a stream to one of its listeners.
pub(super) fn links_max(stream: &Stream) -> usize {
    let ends = stream.hops.iter().filter(|hop| hop.listener.is_some());
    let links = ends.map(|hop| {
        std::iter::successors(Some(hop), |hop| hop.previous.map(|before| &stream.hops[before as usize]))
            .count()
    });
    links.max().unwrap_or(0)
}

/// The two nodes that are farthest apart by the shortest paths, and the links between them; none without a link.
pub(super) fn farthest(network: &Network) -> Option<(usize, NodeIndex, NodeIndex)> {
    let mut neighbours = vec![Vec::new(); network.nodes.len()];
    for link in &network.links {
        let node = |port: tautwire_model::network::PortIndex| network.ports[port.index()].node;
        neighbours[node(link.from).index()].push(node(link.to));
    }
    let from = |first: usize| {
        let mut links: Vec<Option<usize>> = vec![None; network.nodes.len()];
        let mut next = VecDeque::from([NodeIndex::at(first)]);
        links[first] = Some(0);
        let mut last = (0, NodeIndex::at(first));
        while let Some(node) = next.pop_front() {
            let here = links[node.index()].expect("a node that was reached");
            last = (here, node);
            for other in &neighbours[node.index()] {
                if links[other.index()].is_none() {
                    links[other.index()] = Some(here + 1);
                    next.push_back(*other);
                }
            }
        }
        (last.0, NodeIndex::at(first), last.1)
    };
    (0..network.nodes.len())
        .map(from)
        .max_by_key(|(links, from, _)| (*links, std::cmp::Reverse(from.index())))
}
