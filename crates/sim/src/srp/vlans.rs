//! VLANs that end stations declare and bridges register in a run (MVRP, IEEE Std 802.1Q-2022, clause 11 and 35.1.2.2).
//!
//! A station declares the VLAN of a stream from its offer to its withdrawal, or from its request to its end. A bridge passes on
//! what it registered, and a frame of such a VLAN leaves a bridge only by ports that have it registered (8.6.4), and comes in by them
//! alone where ingress filtering is on (8.6.2). MVRP's MRPDUs are in `pdus.rs`, its times and its processor those of MSRP's node.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::srp::mrp::{MrpTiming, Participant, Relay};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex, Stream, Traffic};
use tautwire_units::Instant;
use tautwire_wire::VlanId;
use tautwire_wire::srp::{MrpPdu, MvrpValue};

use crate::engine::Engine;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::vlan_registration::VlanObservation;

/// Who wants a VLAN: a reserved stream, and whether its talker; none: a listener of streams that nobody reserves.
pub(super) type Reason = Option<(u32, bool)>;

/// MVRP of a node.
pub(super) struct VlanNode {
    machine: Machine,
    wanted: BTreeMap<MvrpValue, BTreeSet<Reason>>,
    /// Whether a registration changed that was not looked at.
    pub(super) changed: bool,
}

enum Machine {
    Bridge(Relay<MvrpValue>),
    /// An end station takes part with its first port.
    Station(Box<Participant<MvrpValue>>),
    None,
}

impl VlanNode {
    /// MVRP of a node that begins at `now`.
    pub(super) fn new(network: &Network, number: usize, now: Instant, seed: u64) -> Self {
        let mut node = Self::stopped();
        let reservation = network.srp.as_ref().expect("stream reservation");
        let Some(vlans) = &reservation.vlan_registration else { return node };
        let ports = network.srp_ports(NodeIndex::at(number));
        let timing: MrpTiming = reservation.nodes[number].timing;
        let participant =
            |place: u64| Participant::new(timing, seed.wrapping_mul(1_000).wrapping_add(500 + place), now);
        if ports.is_empty() {
            return node;
        }
        node.machine = match network.nodes[number].kind {
            NodeKind::Bridge { .. } => {
                let mut relay = Relay::new((0..).take(ports.len()).map(participant).collect());
                for (place, port) in ports.iter().enumerate() {
                    for vlan in vlans.forbidden(network, *port) {
                        relay.forbid(place, MvrpValue(vlan.number()));
                    }
                }
                Machine::Bridge(relay)
            }
            NodeKind::EndStation { .. } => Machine::Station(Box::new(participant(0))),
        };
        for vlan in &vlans.always[number] {
            node.want(now, *vlan, None, true);
        }
        node
    }

    /// Of a node that takes no part.
    pub(super) fn stopped() -> Self {
        Self { machine: Machine::None, wanted: BTreeMap::new(), changed: true }
    }

    /// A station wants a VLAN for a reason, or for that one no more.
    pub(super) fn want(&mut self, now: Instant, vlan: VlanId, reason: Reason, wants: bool) {
        let Machine::Station(participant) = &mut self.machine else { return };
        let value = MvrpValue(vlan.number());
        let reasons = self.wanted.entry(value).or_default();
        let before = !reasons.is_empty();
        if wants {
            reasons.insert(reason);
        } else {
            reasons.remove(&reason);
        }
        match (before, !reasons.is_empty()) {
            (false, true) => participant.join(now, value, None, true),
            (true, false) => participant.leave(now, value),
            _ => {}
        }
    }

    /// When its timers are to be looked at next.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match &self.machine {
            Machine::Bridge(relay) => Some(relay.deadline()),
            Machine::Station(participant) => Some(participant.deadline()),
            Machine::None => None,
        }
    }

    pub(super) fn receive(&mut self, now: Instant, port: usize, pdu: &MrpPdu<MvrpValue>) {
        match &mut self.machine {
            Machine::Bridge(relay) => self.changed |= relay.receive(now, port, pdu),
            Machine::Station(participant) if port == 0 => {
                participant.receive(now, pdu);
                heed(participant);
            }
            Machine::Station(_) | Machine::None => {}
        }
    }

    pub(super) fn advance(&mut self, now: Instant) {
        match &mut self.machine {
            Machine::Bridge(relay) => self.changed |= relay.advance(now),
            Machine::Station(participant) => {
                participant.advance(now);
                heed(participant);
            }
            Machine::None => {}
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Instant, port: usize) -> Option<MrpPdu<MvrpValue>> {
        match &mut self.machine {
            Machine::Bridge(relay) => relay.poll_transmit(now, port),
            Machine::Station(participant) if port == 0 => participant.poll_transmit(now),
            Machine::Station(_) | Machine::None => None,
        }
    }

    /// The link of a port goes down, or comes up.
    pub(super) fn link(&mut self, now: Instant, port: usize, up: bool) {
        match &mut self.machine {
            Machine::Bridge(relay) if up => relay.link_up(now, port),
            Machine::Bridge(relay) => self.changed |= relay.link_down(now, port),
            Machine::Station(participant) if port == 0 && up => participant.redeclare(now),
            Machine::Station(participant) if port == 0 => {
                participant.flush(now);
                heed(participant);
            }
            Machine::Station(_) | Machine::None => {}
        }
    }

    /// Whether a bridge has a VLAN registered at a port.
    fn is_registered(&self, port: usize, vlan: VlanId) -> bool {
        match &self.machine {
            Machine::Bridge(relay) => relay.is_registered(port, &MvrpValue(vlan.number())),
            Machine::Station(_) | Machine::None => false,
        }
    }
}

/// A station does nothing with what it hears.
fn heed(participant: &mut Participant<MvrpValue>) {
    while participant.poll_indication().is_some() {}
}

/// Registered VLANs of a run and what they let pass.
pub(super) struct Vlans {
    /// Hops of the plan that leave a bridge's port, by port and VLAN; and those that come in where ingress filtering is on.
    leave: BTreeMap<(u32, VlanId), Vec<u32>>,
    enter: BTreeMap<(u32, VlanId), Vec<u32>>,
    /// Per hop: whether its VLAN is not registered at the port that it leaves by; at the one that it comes in by.
    shut_out: Vec<bool>,
    shut_in: Vec<bool>,
    seen: BTreeMap<(u32, VlanId), VlanObservation>,
}

impl Vlans {
    /// None is registered; none in a run without MVRP.
    pub(super) fn new(network: &Network, plan: &Plan) -> Option<Self> {
        network.srp.as_ref()?.vlan_registration.as_ref()?;
        let mut vlans = Self {
            leave: BTreeMap::new(),
            enter: BTreeMap::new(),
            shut_out: vec![false; plan.hops.len()],
            shut_in: vec![false; plan.hops.len()],
            seen: BTreeMap::new(),
        };
        for (stream, first) in network.streams.iter().zip(&plan.first_hop) {
            for (place, hop) in (0..).zip(&stream.hops) {
                let at = first + place;
                if leaves(network, stream, hop.port) {
                    vlans.leave.entry((hop.port.0, stream.vlan)).or_default().push(at);
                    vlans.shut_out[at as usize] = true;
                }
                if let Some(port) = enters(network, stream, hop.port) {
                    vlans.enter.entry((port.0, stream.vlan)).or_default().push(at);
                    vlans.shut_in[at as usize] = true;
                }
            }
        }
        Some(vlans)
    }

    /// What was observed, by port and VLAN.
    pub(super) fn observations(self) -> Vec<VlanObservation> {
        self.seen.into_values().collect()
    }
}

/// Whether frames of a stream leave a port only where their VLAN is registered.
pub(crate) fn leaves(network: &Network, stream: &Stream, port: PortIndex) -> bool {
    let is_bridge = network.device(network.ports[port.index()].node).is_some();
    is_bridge && is_dynamic(network, stream)
}

/// The port behind `port` if frames of a stream come in there only where their VLAN is registered.
pub(crate) fn enters(network: &Network, stream: &Stream, port: PortIndex) -> Option<PortIndex> {
    let links = network.ports[port.index()].links.expect("a hop's port is connected");
    let to = network.links[links.egress.index()].to;
    let is_bridge = network.device(network.ports[to.index()].node).is_some();
    (is_bridge && network.ports[to.index()].ingress_filtering && is_dynamic(network, stream)).then_some(to)
}

fn is_dynamic(network: &Network, stream: &Stream) -> bool {
    let vlans = network.srp.as_ref().and_then(|reservation| reservation.vlan_registration.as_ref());
    stream.traffic != Traffic::Protocol && vlans.is_some_and(|vlans| vlans.vlans.contains(&stream.vlan))
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    fn vlans(&self) -> Option<&Vlans> {
        self.driven.as_ref()?.srp.as_ref()?.vlans.as_ref()
    }

    /// Whether a frame's VLAN is not registered at the port that it would leave by.
    pub(crate) fn is_shut_out(&self, hop: u32) -> bool {
        self.vlans().is_some_and(|vlans| vlans.shut_out[hop as usize])
    }

    /// Whether a frame's VLAN is not registered at the port that it comes in by.
    pub(crate) fn is_shut_in(&self, hop: usize) -> bool {
        self.vlans().is_some_and(|vlans| vlans.shut_in[hop])
    }

    /// A port does not take a frame whose VLAN is not registered there.
    #[cold]
    pub(crate) fn filter_vlan(&mut self, place: u32, hop: u32) {
        let stream = self.slab.get(place).stream;
        let key = (self.plan.hops[hop as usize].port, self.network.streams[stream as usize].vlan);
        if let Some(vlans) = &mut self.srp().vlans {
            let seen = vlans.seen.entry(key).or_insert_with(|| VlanObservation::new(PortIndex(key.0), key.1));
            seen.filtered += 1;
        }
        self.filter(place, hop);
    }

    /// A station offers a stream or asks for it, or does so no more.
    pub(super) fn want_vlan(&mut self, number: usize, local: Instant, stream: u32, talks: bool, wants: bool) {
        let reservation = self.network.srp.as_ref().expect("stream reservation");
        let vlan = self.network.streams[reservation.streams[stream as usize].stream.index()].vlan;
        let dynamic = reservation.vlan_registration.as_ref();
        if dynamic.is_some_and(|vlans| vlans.vlans.contains(&vlan)) {
            self.srp().nodes[number].vlans.want(local, vlan, Some((stream, talks)), wants);
        }
    }

    /// Looks at what a bridge has registered, after it changed.
    pub(super) fn settle_vlans(&mut self, number: usize) {
        let (now, network) = (self.now, self.network);
        let reservation = network.srp.as_ref().expect("stream reservation");
        let Some(settings) = &reservation.vlan_registration else { return };
        let is_bridge = network.device(NodeIndex::at(number)).is_some();
        let srp = self.srp();
        if !std::mem::take(&mut srp.nodes[number].vlans.changed) || !is_bridge {
            return;
        }
        let node = &srp.nodes[number];
        let vlans = srp.vlans.as_mut().expect("MVRP is there");
        for (place, port) in node.ports.iter().enumerate() {
            for vlan in &settings.vlans {
                let registered = node.vlans.is_registered(place, *vlan);
                let seen = vlans.seen.entry((*port, *vlan));
                let seen = seen.or_insert_with(|| VlanObservation::new(PortIndex(*port), *vlan));
                if registered == seen.is_registered() {
                    continue;
                }
                seen.changes.push((now.since_start(), registered));
                for hop in vlans.leave.get(&(*port, *vlan)).into_iter().flatten() {
                    vlans.shut_out[*hop as usize] = !registered;
                }
                for hop in vlans.enter.get(&(*port, *vlan)).into_iter().flatten() {
                    vlans.shut_in[*hop as usize] = !registered;
                }
            }
        }
    }
}
