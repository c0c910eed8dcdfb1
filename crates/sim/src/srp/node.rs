//! A node of stream reservation: its machine as it begins, and what its applications do.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::central::EdgeBridge;
use tautwire_core::srp::{SrpBridge, SrpNode, SrpPart, SrpStation, TimerSteps, VlanNode};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex};
use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::{MvrpValue, StreamId};

use super::Srp;
use super::reservation::RungEvent;
use crate::clock::SimTime;
use crate::random::{Purpose, Random};

/// State of a node in addition to its machine.
pub(super) struct Node {
    /// Draws of its software's times.
    pub(super) random: Random,
    /// Reserved streams that it talks, and those that it sends now.
    pub(super) talks: Vec<u32>,
    pub(super) sends: BTreeSet<u32>,
    /// Streams that it sent: not sent again before their talker's promise has room for a full burst.
    pub(super) held: BTreeMap<u32, Instant>,
    /// Streams that it requests as soon as they are offered.
    pub(super) waits_for: Vec<u32>,
    /// Reservations of a bridge, by egress port.
    reserved: BTreeSet<(usize, StreamId)>,
}

/// The drawn values of a node that starts.
pub(super) struct Drawn {
    /// When the steps of its timers begin, after it.
    phase: Duration,
    /// The seed of its machines.
    seed: u64,
}

impl Node {
    /// A node that begins.
    pub(super) fn new(network: &Network, number: usize, seed: u64) -> (Self, Drawn) {
        let reservation = network.srp.as_ref().expect("stream reservation");
        let mut random = Random::new(seed, Purpose::Reservation, number);
        let tick = reservation.nodes[number].tick;
        let phase = tick.map_or(Duration::ZERO, |tick| random.span_up_to(tick.period));
        let drawn = Drawn { phase, seed: random.up_to(u64::MAX) };
        let talks = reservation.streams.iter().zip(0..);
        let talks =
            talks.filter(|(reserved, _)| network.streams[reserved.stream.index()].talker.index() == number);
        let node = Self {
            random,
            talks: talks.map(|(_, stream)| stream).collect(),
            sends: BTreeSet::new(),
            held: BTreeMap::new(),
            waits_for: Vec::new(),
            reserved: BTreeSet::new(),
        };
        (node, drawn)
    }
}

/// The machine of a node that begins when its clock reads `now`.
pub(super) fn machine(network: &Network, node: NodeIndex, now: Instant, drawn: Drawn) -> SrpNode {
    let settings = &network.srp.as_ref().expect("stream reservation").nodes[node.index()];
    let ports = network.srp_ports(node);
    let steps = settings.tick.map(|tick| TimerSteps {
        period: tick.period,
        from: now + drawn.phase,
        restart: tick.restarts,
    });
    let part = part(network, node, now, drawn.seed);
    SrpNode::new(part, vlans(network, node, &ports, now, drawn.seed), ports.len(), steps)
}

fn part(network: &Network, node: NodeIndex, now: Instant, seed: u64) -> SrpPart {
    let reservation = network.srp.as_ref().expect("stream reservation");
    let (config, ports) = network.srp_bridge(node);
    let central = reservation.central.as_ref();
    if ports.is_empty() || central.is_some_and(|central| central.cuc.is_some()) {
        return SrpPart::None;
    }
    let timing = reservation.nodes[node.index()].timing;
    match network.nodes[node.index()].kind {
        NodeKind::Bridge { .. } if central.is_some() => {
            let speaks: Vec<bool> =
                ports.iter().map(|port| reservation.pdus[port.index()].is_some()).collect();
            SrpPart::Edge(Box::new(EdgeBridge::new(&speaks, timing, seed, &reservation.classes, now)))
        }
        NodeKind::Bridge { .. } => SrpPart::Bridge(Box::new(SrpBridge::new(config, seed, now))),
        NodeKind::EndStation { .. } => {
            SrpPart::Station(Box::new(SrpStation::new(timing, seed, &reservation.classes, now)))
        }
    }
}

fn vlans(network: &Network, node: NodeIndex, ports: &[PortIndex], now: Instant, seed: u64) -> VlanNode {
    let reservation = network.srp.as_ref().expect("stream reservation");
    let Some(vlans) = reservation.vlan_registration.as_ref().filter(|_| !ports.is_empty()) else {
        return VlanNode::none();
    };
    let timing = reservation.nodes[node.index()].timing;
    let mut part = match network.nodes[node.index()].kind {
        NodeKind::Bridge { .. } => {
            let forbidden = ports.iter().enumerate().flat_map(|(place, port)| {
                vlans.forbidden(network, *port).map(move |vlan| (place, MvrpValue(vlan.number())))
            });
            VlanNode::bridge(ports.len(), forbidden, timing, seed, now)
        }
        NodeKind::EndStation { .. } => VlanNode::station(timing, seed, now),
    };
    for vlan in &vlans.always[node.index()] {
        part.want(now, MvrpValue(vlan.number()), None, true);
    }
    part
}

impl Srp<'_> {
    /// Records what a bridge reserved and released.
    pub(super) fn note_reserved(&mut self, node: NodeIndex, machine: &SrpNode, now: SimTime) {
        let SrpPart::Bridge(bridge) = machine.part() else { return };
        let held: BTreeSet<(usize, StreamId)> =
            bridge.reservations().map(|(port, stream, _)| (port, stream)).collect();
        let before = std::mem::replace(&mut self.nodes[node.index()].reserved, held.clone());
        let ports = self.network.srp_ports(node);
        for (port, stream) in held.symmetric_difference(&before) {
            let Some(known) = self.ladders.known(*stream) else { continue };
            let at = ports[*port];
            let event = if held.contains(&(*port, *stream)) {
                RungEvent::Reserved(at)
            } else {
                RungEvent::Released(at)
            };
            self.rung(known, now, node, event);
        }
    }
}
