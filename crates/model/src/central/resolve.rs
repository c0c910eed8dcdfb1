//! `model`, `cnc`, `cuc` and `management` of `stream-reservation:`, and the streams of the channels.

use std::collections::VecDeque;

use tautwire_core::Priority;
use tautwire_core::central::ChannelTiming;
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::VlanId;

use crate::central::{CentralConfiguration, CentralTest, ManagementChannel};
use crate::frame::wire_bits;
use crate::network::{
    ArrivalCurve, Delay, Hop, Identified, LinkIndex, NodeIndex, NodeKind, PortIndex, Stream, StreamIndex,
    Traffic,
};
use crate::resolve::layered;
use crate::resolve::models::delay;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::srp::codes;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Payload of a frame that only acknowledges.
const PAYLOAD_MIN: Bytes = Bytes::new(46);

/// The entity that decides on reservations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    FullyDistributed,
    CentralizedNetwork,
    FullyCentralized,
}

impl Model {
    pub(crate) fn of(node: &Node<'_>) -> Self {
        match node.get("model").and_then(Node::text) {
            Some("centralized-network-distributed-user") => Self::CentralizedNetwork,
            Some("fully-centralized") => Self::FullyCentralized,
            _ => Self::FullyDistributed,
        }
    }

    /// Whether a port with a cable sends MRPDUs: bridges among themselves only without a CNC.
    pub(crate) fn speaks_msrp(self, topology: &Topology<'_>, port: PortIndex) -> bool {
        let described = &topology.ports[port.index()];
        let Some(links) = described.links else { return false };
        let far = topology.ports[topology.links[links.egress.index()].to.index()].node;
        match self {
            Self::FullyDistributed => true,
            Self::CentralizedNetwork => !(topology.is_bridge(described.node) && topology.is_bridge(far)),
            Self::FullyCentralized => false,
        }
    }
}

/// Reads what the model needs and adds the streams of its channels. `ends` are talker and listeners of each reserved stream.
pub(crate) fn central(
    node: &Node<'_>,
    model: Model,
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    ends: &[(usize, Vec<usize>)],
    priority: Priority,
    faults: &mut Faults,
) -> Option<CentralConfiguration> {
    if model == Model::FullyDistributed {
        for key in ["cnc", "cuc", "management"] {
            if let Some(part) = node.get(key) {
                let message =
                    format!("`{key}` has no effect in the fully distributed model, in which bridges decide");
                let help = "choose a `model` with a CNC, or remove the key";
                faults.error(codes::RESERVATION, part.anchor(), message, help);
            }
        }
        return None;
    }
    let cnc = entity(node, "cnc", topology, faults);
    let cuc = match model {
        Model::FullyCentralized => Some(entity(node, "cuc", topology, faults)),
        _ => None,
    };
    if let (None, Some(part)) = (cuc, node.get("cuc")) {
        let message = "a network whose users speak MSRP with their bridges has no CUC".to_owned();
        let help = "remove `cuc`, or write `model: fully-centralized`";
        faults.error(codes::RESERVATION, part.anchor(), message, help);
    }
    let (message_size, timing) = management(node, faults);
    if model == Model::CentralizedNetwork {
        edges(node, topology, ends, faults);
    }
    let (cnc, cuc) = (cnc?, cuc.map_or(Some(None), |cuc| cuc.map(Some))?);
    let mut time = |part: &str, key: &str| {
        let found = node.get(part).and_then(|part| part.get(key));
        found.map_or(Delay::default(), |node| delay(node, faults))
    };
    let (cnc_processing, computation) = (time("cnc", "processing"), time("cnc", "computation"));
    let cuc_processing = time("cuc", "processing");
    let test = match node.get("cnc").and_then(|cnc| cnc.get("test")).and_then(Node::text) {
        Some("bounds") => CentralTest::Bounds,
        _ => CentralTest::Bandwidth,
    };
    let mut configuration = Vec::new();
    for described in &topology.nodes {
        let own = node.get("nodes").and_then(|nodes| nodes.get(&described.name));
        let layers: Vec<&Node<'_>> = [own, node.get("bridges")].into_iter().flatten().collect();
        let found = layered(&layers, "configuration");
        configuration.push(found.map_or(Delay::default(), |node| delay(node, faults)));
    }
    reached(node, topology, ends, (cnc, cuc), faults);
    let slowest = topology.links.iter().map(|link| link.rate).min();
    let longest = slowest.map_or(Duration::ZERO, |rate| rate.duration_ceil(wire_bits(message_size, true)));
    if longest > timing.retry {
        let place = node.get("management").map_or(node.anchor(), Node::anchor);
        let message = format!(
            "a management message takes {longest} to send and would be repeated after {}",
            timing.retry
        );
        faults.error(
            codes::RESERVATION,
            place,
            message,
            "raise `retry` above the time of a message and its acknowledgement",
        );
    }
    let channels = channels(topology, streams, (cnc, cuc), priority, message_size, timing.pace);
    Some(CentralConfiguration {
        cnc,
        cuc,
        test,
        cnc_processing,
        computation,
        cuc_processing,
        configuration,
        message_size,
        timing,
        channels,
    })
}

/// The node of a CNC or CUC.
fn entity(node: &Node<'_>, key: &str, topology: &Topology<'_>, faults: &mut Faults) -> Option<NodeIndex> {
    let named = node.get(key).and_then(|part| part.get("node"));
    let Some(named) = named else {
        let message = format!("the `model` needs a {}", key.to_uppercase());
        let help = format!("add `{key}: {{node: NAME}}`");
        faults.error(codes::RESERVATION, node.anchor(), message, &help);
        return None;
    };
    let found = topology.node(named.text()?, named.place, faults)?;
    if topology.is_bridge(found) {
        let message = format!("a bridge cannot be the {}", key.to_uppercase());
        faults.error(codes::RESERVATION, named.anchor(), message, "name an end station");
        return None;
    }
    Some(found)
}

fn management(node: &Node<'_>, faults: &mut Faults) -> (Bytes, ChannelTiming) {
    let part = node.get("management");
    let span = |key: &str| part.and_then(|part| part.parsed::<Duration>(key));
    let size: Option<Bytes> = part.and_then(|part| part.parsed("message-size"));
    let size = size.unwrap_or(Bytes::new(512));
    let timing = ChannelTiming {
        pace: span("pace").unwrap_or(Duration::from_ms(1)),
        retry: span("retry").unwrap_or(Duration::from_ms(100)),
    };
    if timing.retry < timing.pace {
        let message = format!(
            "messages leave {} apart, and would be repeated after {} already",
            timing.pace, timing.retry
        );
        let place = part.map_or(node.anchor(), Node::anchor);
        faults.error(codes::RESERVATION, place, message, "raise `retry` to `pace` at least");
    }
    (size, timing)
}

/// Users that speak MSRP need a bridge to speak with.
fn edges(node: &Node<'_>, topology: &Topology<'_>, ends: &[(usize, Vec<usize>)], faults: &mut Faults) {
    let alone = |station: &usize| {
        let described = &topology.nodes[*station];
        let far = described.ports.clone().map(PortIndex).filter_map(|port| {
            let links = topology.ports[port.index()].links?;
            Some(topology.ports[topology.links[links.egress.index()].to.index()].node)
        });
        far.into_iter().next().is_some_and(|far| !topology.is_bridge(far))
    };
    let users = ends.iter().flat_map(|(talker, listeners)| listeners.iter().chain([talker]));
    if let Some(station) = users.into_iter().find(|station| alone(station)) {
        let message = format!(
            "`{}` reserves streams and has no bridge as a neighbour that could take its requests",
            topology.nodes[*station].name
        );
        let help = "connect it to a bridge, or choose another `model`";
        faults.error(codes::RESERVATION, node.anchor(), message, help);
    }
}

/// Configuring nodes reach configured ones: the CNC every bridge, the CUC the CNC and every user.
fn reached(
    node: &Node<'_>,
    topology: &Topology<'_>,
    ends: &[(usize, Vec<usize>)],
    (cnc, cuc): (NodeIndex, Option<NodeIndex>),
    faults: &mut Faults,
) {
    let bridges = (0..topology.nodes.len()).map(NodeIndex::at).filter(|other| topology.is_bridge(*other));
    let of_cnc = bridges.map(|other| ("cnc", cnc, other));
    let users = ends.iter().flat_map(|(talker, listeners)| listeners.iter().chain([talker]));
    let users = users.map(|user| NodeIndex::at(*user)).chain([cnc]);
    let of_cuc = cuc.into_iter().flat_map(|cuc| users.clone().map(move |other| ("cuc", cuc, other)));
    let mut all = of_cnc.chain(of_cuc).filter(|(_, from, to)| from != to);
    if let Some((key, from, to)) = all.find(|(_, from, to)| way(topology, *from, *to).is_none()) {
        let name = |node: NodeIndex| &topology.nodes[node.index()].name;
        let place = node.get(key).and_then(|part| part.get("node")).map_or(node.anchor(), Node::anchor);
        let message =
            format!("no path leads from the {} at `{}` to `{}`", key.to_uppercase(), name(from), name(to));
        faults.error(codes::RESERVATION, place, message, "connect the two by links and bridges");
    }
}

/// CNC and every bridge; CUC and every other end station; CUC and CNC.
fn channels(
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    (cnc, cuc): (NodeIndex, Option<NodeIndex>),
    priority: Priority,
    size: Bytes,
    pace: Duration,
) -> Vec<ManagementChannel> {
    let mut ends = Vec::new();
    for node in (0..topology.nodes.len()).map(NodeIndex::at) {
        match (&topology.nodes[node.index()].kind, cuc) {
            (NodeKind::Bridge { .. }, _) => ends.push((cnc, node)),
            (NodeKind::EndStation { .. }, Some(cuc)) if node != cuc && node != cnc => ends.push((cuc, node)),
            _ => {}
        }
    }
    ends.extend(cuc.filter(|cuc| *cuc != cnc).map(|cuc| (cuc, cnc)));
    let mut channels = Vec::new();
    for (one, other) in ends {
        for (from, to) in [(one, other), (other, one)] {
            let Some(way) = way(topology, from, to) else { continue };
            let stream = StreamIndex::at(streams.list.len() + streams.protocol.len());
            streams.protocol.push(frames(topology, (from, to), &way, priority, size, pace));
            channels.push(ManagementChannel { from, to, stream });
        }
    }
    channels
}

/// The links from one node to another; there is one way, without loops.
fn way(topology: &Topology<'_>, from: NodeIndex, to: NodeIndex) -> Option<Vec<LinkIndex>> {
    let mut reached: Vec<Option<LinkIndex>> = vec![None; topology.nodes.len()];
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        if node != from && !topology.is_bridge(node) {
            continue;
        }
        for port in topology.nodes[node.index()].ports.clone() {
            let Some(links) = topology.ports[port as usize].links else { continue };
            let next = topology.ports[topology.links[links.egress.index()].to.index()].node;
            if next != from && reached[next.index()].is_none() {
                reached[next.index()] = Some(links.egress);
                open.push_back(next);
            }
        }
    }
    let mut way = Vec::new();
    let mut node = to;
    while node != from {
        let link = reached[node.index()]?;
        way.push(link);
        node = topology.ports[topology.links[link.index()].from.index()].node;
    }
    way.reverse();
    Some(way)
}

/// The frames of a channel's direction: at most one in a pace.
fn frames(
    topology: &Topology<'_>,
    (from, to): (NodeIndex, NodeIndex),
    way: &[LinkIndex],
    priority: Priority,
    size: Bytes,
    pace: Duration,
) -> Stream {
    let name = |node: NodeIndex| &topology.nodes[node.index()].name;
    let burst = wire_bits(size, true);
    let last = way.len() - 1;
    let hop = |(number, link): (usize, &LinkIndex)| {
        let port = topology.links[link.index()].from;
        Hop {
            port,
            previous: number.checked_sub(1).map(|before| StreamIndex::at(before).0),
            class: topology.ports[port.index()].class_table.class_of(priority, true),
            priority,
            tagged: true.into(),
            listener: (number == last).then_some(0),
            written: None,
            scheduler: None,
            identified: Identified::Own,
        }
    };
    let source = topology.ports[topology.links[way[0].index()].from.index()].address;
    let destination = topology.ports[topology.links[way[last].index()].to.index()].address;
    Stream {
        name: format!("control:{}>{}", name(from), name(to)),
        talker: from,
        listeners: vec![to],
        destination,
        source,
        vlan: VlanId::DEFAULT,
        tagged: true,
        priority,
        udp: None,
        payload_min: PAYLOAD_MIN,
        payload_max: size,
        payload_drawn: None,
        traffic: Traffic::Protocol,
        open_phase: false,
        arrival: BitRate::per_period_ceil(burst, pace).ok().map(|rate| ArrivalCurve { rate, burst }),
        deadline: None,
        count_late: Vec::new(),
        shaper: None,
        shaped_at_talker: false,
        started: true,
        hops: way.iter().enumerate().map(hop).collect(),
        learned: false,
        virtual_link: None,
        time_triggered: None,
        replication: None,
        stack: None,
        time_aware: None,
        datagrams: None,
    }
}
