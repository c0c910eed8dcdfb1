//! Failures that a description states, and the streams that may lose frames by them: links with bit errors, cables
//! that are cut, nodes that stop.
//!
//! A failure may lose frames that pass it. It may also lose frames that do not pass it, if the control frames of a
//! service do not arrive (`Silence` in `service.rs`): a station that receives no cycle has no slot for them, a node
//! without network time sends nothing by it. A stream with copies over two networks loses a frame only if something
//! fails on both. Nothing here proves that a frame is lost: the failure may occur while no frame is there. Not here:
//! limits that may be too small without a failure.

use std::collections::BTreeSet;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, Stream, StreamIndex, TimelineAction};

use super::way;
use crate::services;

/// A failure that the description states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatedFailure {
    /// Bits on this cable (links 2*n* and 2*n*+1) are received wrong, all the time or from an event on.
    BitErrors(u32),
    /// This cable is down, from the start or from an event on.
    Cut(u32),
    /// This node stops.
    Stops(NodeIndex),
    /// Frames of a protocol, without which this node does not send, are lost on their way to it, or are not sent.
    Misses(NodeIndex, &'static str),
}

impl StatedFailure {
    /// In words: `bit errors between b1.p2 and b2.p1`.
    #[must_use]
    pub fn text(&self, network: &Network) -> String {
        let node = |node: &NodeIndex| &network.nodes[node.index()].name;
        let port = |at: PortIndex| {
            let port = &network.ports[at.index()];
            format!("{}.{}", node(&port.node), port.name)
        };
        let cable = |cable: &u32| {
            let link = &network.links[*cable as usize * 2];
            format!("between {} and {}", port(link.from), port(link.to))
        };
        match self {
            Self::BitErrors(at) => format!("bit errors {}", cable(at)),
            Self::Cut(at) => format!("a cut {}", cable(at)),
            Self::Stops(at) => format!("a stop of {}", node(at)),
            Self::Misses(at, what) => format!("failures on the path of {what} to {}", node(at)),
        }
    }
}

/// Per stream and listener: the stated failures that may take frames on their way to it, each once and in order.
#[must_use]
pub fn stated_failures(network: &Network) -> Vec<Vec<Vec<StatedFailure>>> {
    let failing = Failing::of(network);
    let none = |stream: &Stream| vec![Vec::new(); stream.listeners.len()];
    if failing.is_empty() {
        return network.streams.iter().map(none).collect();
    }
    let silences = services::silences(network, &|stream, node| failing.misses(network, stream, node));
    let at_listener = |stream: &Stream, listener: usize| {
        let of_stream = || silences.iter().filter(|silence| (silence.takes)(stream));
        let mut all = failing.at(network, stream, listener, |way| {
            let nodes: Vec<NodeIndex> = way.iter().flat_map(|hop| ends(network, stream, *hop)).collect();
            let on_way = of_stream().filter(|silence| silence.on_way && nodes.contains(&silence.node));
            on_way.map(|silence| silence.failure).collect()
        });
        let at_talker = of_stream().filter(|silence| !silence.on_way && silence.node == stream.talker);
        all.extend(at_talker.map(|silence| silence.failure));
        all.into_iter().collect()
    };
    let of = |stream: &Stream| (0..stream.listeners.len()).map(|one| at_listener(stream, one)).collect();
    network.streams.iter().map(of).collect()
}

/// Whether no stated failure takes frames of a stream on a way.
pub(super) fn works(network: &Network, stream: &Stream) -> impl Fn(&[usize]) -> bool {
    let failing = Failing::of(network);
    move |way: &[usize]| {
        let mut found = BTreeSet::new();
        way.iter().for_each(|hop| failing.at_hop(network, stream, *hop, &mut found));
        found.is_empty()
    }
}

/// The nodes at both ends of a hop's cable.
fn ends(network: &Network, stream: &Stream, hop: usize) -> [NodeIndex; 2] {
    let port = &network.ports[stream.hops[hop].port.index()];
    let to = port
        .links
        .map_or(port.node, |links| network.ports[network.links[links.egress.index()].to.index()].node);
    [port.node, to]
}

/// The failing cables and nodes.
#[derive(Default)]
struct Failing {
    cut: BTreeSet<u32>,
    errs: BTreeSet<u32>,
    stops: BTreeSet<NodeIndex>,
}

impl Failing {
    fn of(network: &Network) -> Self {
        let mut failing = Self::default();
        for (cable, pair) in (0..).zip(network.links.chunks(2)) {
            if pair.iter().any(|link| link.bit_error_rate > 0) {
                failing.errs.insert(cable);
            }
            if pair.iter().any(|link| !link.up) {
                failing.cut.insert(cable);
            }
        }
        for event in &network.events {
            match event.action {
                TimelineAction::CutCable(cable) => failing.cut.insert(cable),
                TimelineAction::StopNode(node) => failing.stops.insert(node),
                TimelineAction::ChangeBitErrorRate(cable, rate) if rate > 0 => failing.errs.insert(cable),
                _ => false,
            };
        }
        failing
    }

    fn is_empty(&self) -> bool {
        self.cut.is_empty() && self.errs.is_empty() && self.stops.is_empty()
    }

    /// The failures on the path to a listener, with those that `more` finds on each path; none if one of two paths has none.
    fn at(
        &self,
        network: &Network,
        stream: &Stream,
        listener: usize,
        more: impl Fn(&[usize]) -> Vec<StatedFailure>,
    ) -> BTreeSet<StatedFailure> {
        let ends = (0..stream.hops.len())
            .filter(|hop| stream.hops[*hop].listener.is_some_and(|one| one as usize == listener));
        let on_way = |end: usize| {
            let way = way(stream, end);
            let mut found: BTreeSet<StatedFailure> = more(&way).into_iter().collect();
            for hop in &way {
                self.at_hop(network, stream, *hop, &mut found);
            }
            found
        };
        let ways: Vec<BTreeSet<StatedFailure>> = ends.map(on_way).collect();
        let once = stream.virtual_link.is_some_and(|link| link.skew_max.is_some())
            || stream.time_triggered.as_ref().is_some_and(|link| link.redundant)
            || stream.replication.is_some();
        if once && ways.iter().any(BTreeSet::is_empty) {
            return BTreeSet::new();
        }
        ways.into_iter().flatten().collect()
    }

    fn at_hop(&self, network: &Network, stream: &Stream, hop: usize, found: &mut BTreeSet<StatedFailure>) {
        let port = &network.ports[stream.hops[hop].port.index()];
        if let Some(links) = port.links {
            let cable = links.egress.0 / 2;
            found.extend(self.errs.contains(&cable).then_some(StatedFailure::BitErrors(cable)));
            found.extend(self.cut.contains(&cable).then_some(StatedFailure::Cut(cable)));
        }
        let stops = ends(network, stream, hop).into_iter().filter(|node| self.stops.contains(node));
        found.extend(stops.map(StatedFailure::Stops));
    }

    /// Whether a stream's frames may be lost on their way to a node; none if it is no listener.
    fn misses(&self, network: &Network, stream: StreamIndex, node: NodeIndex) -> Option<bool> {
        let stream = &network.streams[stream.index()];
        let listener = stream.listeners.iter().position(|one| *one == node)?;
        Some(!self.at(network, stream, listener, |_| Vec::new()).is_empty())
    }
}
