//! The resources that each listener's reservation needs at each bridge, and the users.

use tautwire_core::central::{
    Controller, Pair, Path, PathShare, Share, StreamPaths, UserConfiguration, UserSide, UserStream,
};
use tautwire_core::srp::{hop_latency_ns, idle_slope};
use tautwire_model::Network;
use tautwire_model::central::CentralConfiguration;
use tautwire_model::network::{Hop, NodeIndex, PortIndex, Stream, StreamIndex};
use tautwire_model::srp::ReservedStream;
use tautwire_units::Duration;
use tautwire_wire::srp::TalkerValue;

use super::is_bridge;
use crate::plan::index;

fn reserved(network: &Network, stream: u32) -> (&ReservedStream, &Stream) {
    let reserved = &network.srp.as_ref().expect("stream reservation").streams[stream as usize];
    (reserved, &network.streams[reserved.stream.index()])
}

/// The stream of a pair.
pub(super) fn stream(network: &Network, pair: Pair) -> StreamIndex {
    reserved(network, pair.stream).0.stream
}

/// The listener of a pair.
pub(super) fn listener(network: &Network, pair: Pair) -> NodeIndex {
    reserved(network, pair.stream).1.listeners[pair.listener as usize]
}

fn settings(network: &Network) -> &CentralConfiguration {
    let reservation = network.srp.as_ref().expect("stream reservation");
    reservation.central.as_ref().expect("central configuration")
}

/// The hops of a stream to one of its listeners, the talker's own first.
fn hops(stream: &Stream, listener: u32) -> Vec<&Hop> {
    let last = stream.hops.iter().position(|hop| hop.listener == Some(listener));
    let mut hops = Vec::new();
    let mut next = last;
    while let Some(place) = next {
        let hop = &stream.hops[place];
        hops.push(hop);
        next = hop.previous.map(|previous| previous as usize);
    }
    hops.reverse();
    hops
}

/// The class of a talker among those of the domain.
fn class(network: &Network, talker: &TalkerValue) -> usize {
    let classes = &network.srp.as_ref().expect("stream reservation").classes;
    let found = classes.iter().position(|class| class.domain.priority == talker.priority);
    found.expect("a reserved stream has a class")
}

/// What a listener needs: egress ports of bridges on its way, the class there, bits in a second.
pub(super) fn shares(network: &Network, pair: Pair) -> Vec<(PortIndex, usize, u64)> {
    let (reserved, stream) = reserved(network, pair.stream);
    let class = class(network, &reserved.talker);
    let classes = &network.srp.as_ref().expect("stream reservation").classes;
    let slope = idle_slope(&reserved.talker, &classes[class]);
    let at_bridges = hops(stream, pair.listener).into_iter().map(|hop| hop.port);
    let at_bridges = at_bridges.filter(|port| is_bridge(network, network.ports[port.index()].node.index()));
    at_bridges.map(|port| (port, class, slope)).collect()
}

/// The talker's declaration to a listener: with the latency of the bridges on the path added, as MSRP adds it.
pub(super) fn talker(network: &Network, pair: Pair) -> TalkerValue {
    let mut talker = reserved(network, pair.stream).0.talker;
    let reservation = network.srp.as_ref().expect("stream reservation");
    for (port, class, _) in shares(network, pair) {
        let node = network.ports[port.index()].node.index();
        let links = network.ports[port.index()].links.expect("a port on the way of a stream");
        let rate = network.links[links.egress.index()].rate;
        let percent: u64 =
            reservation.classes[..=class].iter().map(|class| u64::from(class.delta_percent)).sum();
        let device: Duration = reservation.nodes[node].device_latency;
        let class = &reservation.classes[class];
        let hop = hop_latency_ns(device, rate, class, percent.min(100), &talker);
        talker.accumulated_latency_ns = talker.accumulated_latency_ns.saturating_add(hop);
    }
    talker
}

/// The node at the other end of a port's cable.
fn beyond(network: &Network, port: PortIndex) -> NodeIndex {
    let links = network.ports[port.index()].links.expect("a port on the way of a stream");
    network.ports[network.links[links.egress.index()].to.index()].node
}

/// The edge bridge of a stream's talker, and its port to it.
pub(super) fn talker_edge(network: &Network, stream: u32) -> (NodeIndex, PortIndex) {
    let first = reserved(network, stream).1.hops.first().expect("a reserved stream has a way").port;
    let links = network.ports[first.index()].links.expect("a port on the way of a stream");
    let port = network.links[links.egress.index()].to;
    (network.ports[port.index()].node, port)
}

/// The edge bridge of a listener, and its port to it.
pub(super) fn listener_edge(network: &Network, pair: Pair) -> (NodeIndex, PortIndex) {
    let (_, stream) = reserved(network, pair.stream);
    let last = hops(stream, pair.listener).last().expect("a listener has a way").port;
    debug_assert_eq!(beyond(network, last), stream.listeners[pair.listener as usize]);
    (network.ports[last.index()].node, last)
}

/// Place of a port among those of its node that have cables.
pub(super) fn place(network: &Network, port: PortIndex) -> usize {
    let ports = network.srp_ports(network.ports[port.index()].node);
    ports.iter().position(|own| *own == port).expect("a port with a cable")
}

/// How many listeners each reserved stream has: what messages may number.
pub(super) fn listeners(network: &Network) -> Vec<u32> {
    let reserved = &network.srp.as_ref().expect("stream reservation").streams;
    let listeners =
        |reserved: &ReservedStream| index(network.streams[reserved.stream.index()].listeners.len());
    reserved.iter().map(listeners).collect()
}

/// All pairs of the reserved streams.
pub(super) fn pairs(network: &Network) -> Vec<Pair> {
    let of = |(stream, listeners): (u32, u32)| (0..listeners).map(move |listener| Pair { stream, listener });
    (0..).zip(listeners(network)).flat_map(of).collect()
}

/// The CNC of a network.
pub(super) fn controller(network: &Network) -> Controller {
    let streams = index(network.srp.as_ref().expect("stream reservation").streams.len());
    let path = |pair: Pair| Path {
        shares: shares(network, pair)
            .into_iter()
            .map(|(port, class, slope)| PathShare {
                bridge: network.ports[port.index()].node.0,
                share: Share {
                    port: u16::try_from(place(network, port)).expect("fewer than 2^16 ports of a node"),
                    class: u8::try_from(class).expect("at most eight classes"),
                    slope,
                },
            })
            .collect(),
        cables: hops(reserved(network, pair.stream).1, pair.listener)
            .iter()
            .map(|hop| {
                let links = network.ports[hop.port.index()].links;
                links.expect("a port on the way of a stream").egress.0 / 2
            })
            .collect(),
    };
    let listeners = |stream: u32| index(reserved(network, stream).1.listeners.len());
    let of_stream = |stream: u32| (0..listeners(stream)).map(move |listener| Pair { stream, listener });
    let paths =
        (0..streams).map(|stream| StreamPaths { listeners: of_stream(stream).map(path).collect() }).collect();
    let side = match settings(network).cuc {
        Some(cuc) => UserSide::Configuration(cuc.0),
        None => UserSide::Edges(
            (0..streams)
                .map(|stream| {
                    let listeners = of_stream(stream).map(|pair| listener_edge(network, pair).0.0);
                    (talker_edge(network, stream).0.0, listeners.collect())
                })
                .collect(),
        ),
    };
    Controller::new(paths, side)
}

/// The CUC of a network.
pub(super) fn users(network: &Network) -> UserConfiguration {
    let reserved = &network.srp.as_ref().expect("stream reservation").streams;
    let users = reserved.iter().map(|reserved| {
        let stream = &network.streams[reserved.stream.index()];
        UserStream {
            talker: stream.talker.0,
            listeners: stream.listeners.iter().map(|listener| listener.0).collect(),
        }
    });
    UserConfiguration::new(users.collect(), settings(network).cnc.0)
}
