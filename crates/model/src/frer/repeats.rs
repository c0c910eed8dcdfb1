//! Frames that a stuck sender repeats: what a node sends again of a stream with copies (`repeat-frame`).
//!
//! The repeats that leave by a port are a stream of their own, which begins at the node and follows the hops of the other from there on. So a
//! run carries them and bounds count them like any frames; a recovery function knows them by the numbers of the frames that they repeat.

use tautwire_units::{BitRate, Bits, Duration};

use crate::frame::wire_bits;
use crate::frer::codes;
use crate::network::{
    ArrivalCurve, Hop, NodeIndex, NodeKind, Stream, StreamIndex, TieRule, TimelineAction, Traffic,
    TransmissionSelection,
};
use crate::resolve::events::Event;
use crate::resolve::models::Models;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};

/// The frames of a stream that a node repeats at one of its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// The stream with copies.
    pub of: StreamIndex,
    /// The node that repeats its frames.
    pub node: NodeIndex,
    /// The stream of the repeats: its hops are some of those of the other.
    pub stream: StreamIndex,
    /// Per hop of the repeats: the hop of the stream with copies.
    pub hops: Vec<u32>,
}

impl Repeats {
    /// The same, in a network in which stream *n* has the index `place[n]`; none if one of both streams is not there.
    pub(crate) fn moved(&self, place: &[Option<StreamIndex>]) -> Option<Self> {
        let at = |stream: StreamIndex| place[stream.index()];
        Some(Self { of: at(self.of)?, stream: at(self.stream)?, ..self.clone() })
    }
}

/// The node and the stream that an event names.
pub(crate) fn named(
    value: &Node<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<(NodeIndex, StreamIndex)> {
    let named = value.get("node")?;
    let node = topology.node(named.text()?, named.place, faults)?;
    Some((node, streams.find(value.get("stream")?, faults)?))
}

/// The streams of repeats, behind the protocols'.
pub(crate) fn resolve(
    (topology, models): (&Topology<'_>, &Models<'_, '_>),
    events: &[Event],
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Vec<Repeats> {
    // Per node and stream: the first event, how many there are, the least interval.
    let mut all: Vec<(NodeIndex, StreamIndex, Place, u64, Duration)> = Vec::new();
    for event in events {
        let TimelineAction::RepeatFrame(node, stream, interval) = event.timeline.action else { continue };
        match all.iter_mut().find(|known| (known.0, known.1) == (node, stream)) {
            Some((.., begins, least)) => {
                *begins += 1;
                *least = (*least).min(interval);
            }
            None => all.push((node, stream, event.place, 1, interval)),
        }
    }
    let mut found = Vec::new();
    for (node, of, place, begins, least) in all {
        let stream = &streams.list[of.index()].stream;
        if let Some((message, help)) = impossible((topology, models), node, stream) {
            faults.error(codes::FRER_REPEATS, place, message, help);
            continue;
        }
        let replication = stream.replication.as_deref().expect("a stream with copies");
        let roots = (0..stream.hops.len()).filter(|hop| {
            topology.ports[stream.hops[*hop].port.index()].node == node
                && replication.merged[*hop] as usize == *hop
        });
        let made: Vec<(Stream, Vec<u32>)> =
            roots.map(|root| behind(topology, (node, stream), root, begins, least)).collect();
        for (repeated, hops) in made {
            let stream = StreamIndex::at(streams.list.len() + streams.protocol.len());
            streams.protocol.push(repeated);
            found.push(Repeats { of, node, stream, hops });
        }
    }
    found
}

/// Why a node cannot repeat frames of a stream, with the remedy.
fn impossible(
    (topology, models): (&Topology<'_>, &Models<'_, '_>),
    node: NodeIndex,
    stream: &Stream,
) -> Option<(String, &'static str)> {
    let name = |node: NodeIndex| &topology.nodes[node.index()].name;
    let at = |hop: &Hop| topology.ports[hop.port.index()].node;
    let Some(replication) = stream.replication.as_deref() else {
        let message =
            format!("`{}` has no copies, so no number tells a repeat from another frame", stream.name);
        return Some((message, "give the stream `frer`"));
    };
    let sends: Vec<u32> =
        (0_u32..).zip(&stream.hops).filter(|(_, hop)| at(hop) == node).map(|of| of.0).collect();
    if sends.is_empty() {
        let message = format!("`{}` sends no frames of `{}`", name(node), stream.name);
        return Some((message, "name a node of its paths, and no listener"));
    }
    let before = |hop: u32| stream.hops[hop as usize].previous;
    let is_numbered = |hop: u32| {
        std::iter::successors(Some(hop), |hop| before(*hop))
            .any(|hop| at(&stream.hops[hop as usize]) == replication.generation)
    };
    if !sends.iter().all(|hop| is_numbered(*hop)) {
        let message = format!(
            "`{}` numbers the frames of `{}` behind `{}`, so its repeats would be new frames",
            name(replication.generation),
            stream.name,
            name(node)
        );
        return Some((message, "name the node that numbers them, or one behind it"));
    }
    if let NodeKind::Bridge { device, .. } = topology.nodes[node.index()].kind
        && models.device_at(device).tie_rule != TieRule::ArrivalOrder
    {
        let message =
            format!("`{}` has a queue for each reception port, and repeats come by none", name(node));
        return Some((message, "give it a device whose `tie-rule` is `arrival-order`"));
    }
    let is_behind =
        |hop: u32| std::iter::successors(before(hop), |hop| before(*hop)).any(|hop| sends.contains(&hop));
    for (number, hop) in (0_u32..).zip(&stream.hops) {
        let (is_own, is_behind) = (at(hop) == node, is_behind(number));
        let class = &topology.ports[hop.port.index()].classes[hop.class.index()];
        if (is_own || is_behind) && class.selection == TransmissionSelection::Ats {
            let message = format!(
                "`{}` sends `{}` behind ATS schedulers, with which repeats are not supported",
                name(at(hop)),
                stream.name
            );
            return Some((message, "give the stream a class without schedulers from the node on"));
        }
        let far = topology.ports[hop.port.index()].links.map(|links| topology.links[links.egress.index()].to);
        let far = far.map(|port| topology.ports[port.index()].node);
        let filters = |node: NodeIndex| topology.filters.bridges.iter().any(|filters| filters.node == node);
        if let Some(filtering) =
            [Some(at(hop)), far].into_iter().flatten().find(|node| (is_own || is_behind) && filters(*node))
        {
            let message = format!(
                "`{}` filters streams, and repeats behind filters are not supported",
                name(filtering)
            );
            return Some((message, "remove its `stream-filters`, or let another node repeat frames"));
        }
    }
    None
}

/// The repeats of a node that leave by the port of one hop, and their hops in the stream.
fn behind(
    topology: &Topology<'_>,
    (node, stream): (NodeIndex, &Stream),
    root: usize,
    begins: u64,
    interval: Duration,
) -> (Stream, Vec<u32>) {
    let mut hops: Vec<u32> = Vec::new();
    let mut listeners = Vec::new();
    let mut own: Vec<Hop> = Vec::new();
    for (number, hop) in (0_u32..).zip(&stream.hops).skip(root) {
        let previous = hop.previous.and_then(|before| hops.iter().position(|known| *known == before));
        let is_root = number as usize == root;
        if !is_root && previous.is_none() {
            continue;
        }
        let listener = hop.listener.map(|listener| {
            let node = stream.listeners[listener as usize];
            listeners.iter().position(|known| *known == node).unwrap_or_else(|| {
                listeners.push(node);
                listeners.len() - 1
            })
        });
        let index = |number: usize| u32::try_from(number).expect("few hops");
        own.push(Hop {
            previous: previous.map(index),
            listener: listener.map(index),
            scheduler: None,
            ..*hop
        });
        hops.push(number);
    }
    let port = &topology.ports[own[0].port.index()];
    let frame: Bits = wire_bits(stream.payload_max, stream.tagged);
    let repeated = Stream {
        name: format!("repeats:{}.{}.{}", stream.name, topology.nodes[node.index()].name, port.name),
        talker: node,
        listeners,
        traffic: Traffic::Protocol,
        time_aware: None,
        open_phase: false,
        arrival: BitRate::per_period_ceil(frame, interval)
            .ok()
            .map(|rate| ArrivalCurve { rate, burst: frame * begins }),
        deadline: None,
        count_late: Vec::new(),
        shaper: None,
        shaped_at_talker: false,
        started: true,
        hops: own,
        learned: false,
        replication: None,
        stack: None,
        ..stream.clone()
    };
    (repeated, hops)
}
