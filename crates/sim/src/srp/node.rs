//! A node of stream reservation: its machine, what it has heard and not yet processed, and what it sends and holds.
//!
//! A node's timers run on its clock, in steps if its software looks at them in steps. MRPDUs wait in the inbox until its
//! processor is done with them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tautwire_core::central::EdgeBridge;
use tautwire_core::srp::{SrpBridge, SrpStation};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind};
use tautwire_model::srp::SrpNode as Settings;
use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::StreamId;

use super::pdus::Pdu;
use super::vlans::VlanNode;
use crate::clock::SimTime;
use crate::random::{Purpose, Random};

/// A node.
pub(super) struct Node {
    pub(super) machine: Machine,
    /// Its MVRP.
    pub(super) vlans: VlanNode,
    /// Ports with cables; the machine numbers them so.
    pub(super) ports: Vec<u32>,
    /// Heard, until the processor is done with them.
    pub(super) inbox: VecDeque<(SimTime, usize, Pdu)>,
    pub(super) busy_until: SimTime,
    /// Where the steps of its timers begin.
    pub(super) step_from: Instant,
    pub(super) random: Random,
    /// Reserved streams that it talks, and those that it sends now.
    pub(super) talks: Vec<u32>,
    pub(super) sends: BTreeSet<u32>,
    /// Streams that it sent: not sent again before what their talker promises has room for a whole burst.
    pub(super) held: BTreeMap<u32, Instant>,
    /// Streams that it asks for as soon as they are offered.
    pub(super) waits_for: Vec<u32>,
    /// Reservations of a bridge, by egress port.
    pub(super) reserved: BTreeSet<(usize, StreamId)>,
    /// Its entry of the agenda.
    pub(super) due: Option<SimTime>,
}

/// What it runs.
pub(super) enum Machine {
    Bridge(Box<SrpBridge>),
    Station(Box<SrpStation>),
    /// A bridge that a CNC configures.
    Edge(Box<EdgeBridge>),
    /// Of a node that is stopped, without a cable, or whose users speak with a CUC.
    None,
}

impl Node {
    pub(super) fn new(network: &Network, number: usize, now: Instant, seed: u64) -> Self {
        let reservation = network.srp.as_ref().expect("stream reservation");
        let mut random = Random::new(seed, Purpose::Reservation, number);
        let settings = &reservation.nodes[number];
        let phase = settings.tick.map_or(Duration::ZERO, |tick| random.span_up_to(tick.period));
        let talks = reservation.streams.iter().zip(0..);
        let talks =
            talks.filter(|(reserved, _)| network.streams[reserved.stream.index()].talker.index() == number);
        let drawn = random.up_to(u64::MAX);
        Self {
            machine: Machine::new(network, number, now, drawn),
            vlans: VlanNode::new(network, number, now, drawn),
            ports: network.srp_ports(NodeIndex::at(number)).into_iter().map(|port| port.0).collect(),
            inbox: VecDeque::new(),
            busy_until: SimTime::ZERO,
            step_from: now + phase,
            random,
            talks: talks.map(|(_, stream)| stream).collect(),
            sends: BTreeSet::new(),
            held: BTreeMap::new(),
            waits_for: Vec::new(),
            reserved: BTreeSet::new(),
            due: None,
        }
    }

    /// When its timers are looked at next, on its clock.
    pub(super) fn timers(&self, settings: &Settings) -> Option<Instant> {
        let streams = match &self.machine {
            Machine::Bridge(machine) => Some(machine.deadline()),
            Machine::Station(machine) => Some(machine.deadline()),
            Machine::Edge(machine) => Some(machine.deadline()),
            Machine::None => None,
        };
        // An edge bridge without users has nothing to wait for.
        let due = streams.into_iter().chain(self.vlans.deadline()).filter(|due| *due < Instant::MAX);
        let deadline = due.min()?;
        let Some(tick) = settings.tick else { return Some(deadline) };
        // Behind an MRPDU a whole step passes first.
        let from = if tick.restarts { self.step_from + tick.period } else { self.step_from };
        if deadline <= from {
            return Some(from);
        }
        let steps = deadline.since(from).as_ps().div_ceil(tick.period.as_ps());
        Some(from + tick.period * steps)
    }

    pub(super) fn receive(&mut self, now: Instant, port: usize, pdu: &Pdu) -> bool {
        let pdu = match pdu {
            Pdu::Streams(pdu) => pdu,
            Pdu::Vlans(pdu) => {
                self.vlans.receive(now, port, pdu);
                return false;
            }
        };
        match &mut self.machine {
            Machine::Bridge(machine) => machine.receive(now, port, pdu),
            Machine::Station(machine) => port == 0 && machine.receive(now, pdu),
            Machine::Edge(machine) => {
                machine.receive(now, port, pdu);
                true
            }
            Machine::None => false,
        }
    }

    pub(super) fn advance(&mut self, now: Instant) -> bool {
        self.vlans.advance(now);
        match &mut self.machine {
            Machine::Bridge(machine) => machine.advance(now),
            Machine::Station(machine) => machine.advance(now),
            Machine::Edge(machine) => {
                machine.advance(now);
                true
            }
            Machine::None => false,
        }
    }

    /// What a port sends at `now`, of MSRP and of MVRP.
    pub(super) fn poll_transmit(&mut self, now: Instant, port: usize) -> impl Iterator<Item = Pdu> + use<> {
        let streams = match &mut self.machine {
            Machine::Bridge(machine) => machine.poll_transmit(now, port),
            Machine::Station(machine) if port == 0 => machine.poll_transmit(now),
            Machine::Edge(machine) => machine.poll_transmit(now, port),
            Machine::Station(_) | Machine::None => None,
        };
        let vlans = self.vlans.poll_transmit(now, port);
        streams.map(Pdu::Streams).into_iter().chain(vlans.map(Pdu::Vlans))
    }
}

impl Machine {
    pub(super) fn new(network: &Network, number: usize, now: Instant, seed: u64) -> Self {
        let reservation = network.srp.as_ref().expect("stream reservation");
        let node = NodeIndex::at(number);
        let (config, ports) = network.srp_bridge(node);
        let central = reservation.central.as_ref();
        if ports.is_empty() || central.is_some_and(|central| central.cuc.is_some()) {
            return Self::None;
        }
        match network.nodes[number].kind {
            NodeKind::Bridge { .. } if central.is_some() => {
                let timing = reservation.nodes[number].timing;
                let speaks: Vec<bool> =
                    ports.iter().map(|port| reservation.pdus[port.index()].is_some()).collect();
                let edge = EdgeBridge::new(&speaks, timing, seed, &reservation.classes, now);
                Self::Edge(Box::new(edge))
            }
            NodeKind::Bridge { .. } => Self::Bridge(Box::new(SrpBridge::new(config, seed, now))),
            NodeKind::EndStation { .. } => {
                let timing = reservation.nodes[number].timing;
                Self::Station(Box::new(SrpStation::new(timing, seed, &reservation.classes, now)))
            }
        }
    }
}
