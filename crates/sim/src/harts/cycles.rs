//! Elementary cycles in a run: the cycles that masters open, the frames that nodes decode and send, and their observation.
//!
//! A trigger message is not forwarded beyond the node at the end of the cable. When the node's host has received it,
//! the node sends the polled messages; the start of their delay is looked up by the master and the cycle that the
//! message names.

use std::collections::{BTreeMap, VecDeque};

use tautwire_core::harts::{Opened, Station};
use tautwire_model::network::{NodeIndex, NodeKind, StreamIndex};
use tautwire_wire::harts::{FttMessage, Polled};

use super::Run;
use super::observed::{ListeningObservation, MasterObservation};
use super::stations::{neighbour, ports, short};
use crate::clock::SimTime;
use crate::control::Plane;

/// Cycles of a master of which it is known when their messages were released.
const CYCLES_NOTED: usize = 256;

/// The observed cycles at a node.
pub(super) struct AtNode {
    pub(super) master: MasterObservation,
    pub(super) listening: ListeningObservation,
    /// Of the last cycles of its master that polled anything: when that was released, by stream.
    released: VecDeque<(u32, Vec<(u16, SimTime)>)>,
    /// Trigger messages in its host, by the time at which they are decoded.
    decoding: BTreeMap<(SimTime, u64), FttMessage>,
    decoded: u64,
}

impl AtNode {
    pub(super) fn new(node: NodeIndex) -> Self {
        Self {
            master: MasterObservation::of(node),
            listening: ListeningObservation::of(node),
            released: VecDeque::new(),
            decoding: BTreeMap::new(),
            decoded: 0,
        }
    }

    /// When it has decoded the next trigger message.
    pub(super) fn next(&self) -> Option<SimTime> {
        self.decoding.first_key_value().map(|((at, _), _)| *at)
    }

    /// Its master has opened a cycle.
    pub(super) fn counted(&mut self, opened: &Opened) {
        let seen = &mut self.master;
        seen.cycles += 1;
        seen.polled += opened.released.len() as u64;
        seen.dropped = u64::from(opened.missed);
        seen.relayed += opened.relayed.len() as u64;
        seen.longest = seen.longest.max(opened.taken);
    }

    /// It stops.
    pub(super) fn forget(&mut self) {
        self.decoding.clear();
    }

    /// When the messages of a stream that a cycle polls were released.
    fn released(&self, cycle: u32, stream: u16) -> Vec<SimTime> {
        let of = self.released.iter().rev().filter(|(noted, _)| *noted == cycle).flat_map(|(_, all)| all);
        of.filter(|(id, _)| *id == stream).map(|(_, at)| *at).collect()
    }
}

impl Run<'_> {
    /// A node's host has a trigger message to receive.
    pub(super) fn decode(&mut self, node: NodeIndex, message: FttMessage, now: SimTime) {
        let NodeKind::EndStation { host } = self.network.nodes[node.index()].kind else { return };
        let receive = &self.network.hosts[host.index()].receive;
        let octets = message.octets() as u64 + 18;
        let at = now + self.receptions.delay(receive, octets.max(64));
        let state = &mut self.nodes[node.index()];
        state.decoded += 1;
        state.decoding.insert((at, state.decoded), message);
    }

    /// A node processes the trigger messages that it has decoded by now.
    pub(super) fn heed(&mut self, node: NodeIndex, station: &mut Station, plane: &dyn Plane) {
        let now = plane.now();
        let state = &mut self.nodes[node.index()];
        while state.next().is_some_and(|at| at <= now) {
            let (_, message) = state.decoding.pop_first().expect("it has just been there");
            station.process(plane.reading(node, now), short(node.index()), &message);
        }
    }

    /// Updates a master's counts of messages in the pools of its switch.
    pub(super) fn count_held(&self, node: NodeIndex, station: &mut Station, plane: &dyn Plane) {
        let Some(master) = &mut station.cycles else { return };
        for relayed in self.harts.ftt.relayed.iter().filter(|relayed| relayed.switch == node) {
            let pooled = plane.pooled(node, relayed.stream);
            let id = short(relayed.stream.index());
            while master.scheduler.held(id) < pooled && master.scheduler.hold(id) {}
        }
    }

    /// A master has opened a cycle.
    pub(super) fn opened(
        &mut self,
        node: NodeIndex,
        station: &Station,
        opened: Opened,
        plane: &mut dyn Plane,
    ) {
        let network = self.network;
        self.nodes[node.index()].counted(&opened);
        for id in &opened.relayed {
            plane.let_go(node, StreamIndex(u32::from(*id)));
        }
        if !opened.is_announced {
            return;
        }
        for (id, _) in &opened.released {
            let talker = network.streams[usize::from(*id)].talker;
            self.nodes[talker.index()].listening.polled += 1;
        }
        let triggers = &self.harts.ftt.triggers;
        let sends = ports(network, node).into_iter().filter(|port| triggers[port.index()].is_some());
        for port in sends {
            self.nodes[neighbour(network, port).index()].listening.sent += 1;
        }
        let Some(master) = station.cycles.as_ref().filter(|_| !opened.released.is_empty()) else { return };
        let since = |(id, cycle): &(u16, u32)| (*id, plane.true_at(node, master.begin(*cycle)));
        let released = opened.released.iter().map(since).collect();
        let noted = &mut self.nodes[node.index()].released;
        if noted.len() == CYCLES_NOTED {
            noted.pop_front();
        }
        noted.push_back((opened.cycle, released));
    }

    /// A node has decoded a trigger message, and sends what of it is its own.
    pub(super) fn polled(
        &mut self,
        node: NodeIndex,
        (master, cycle): (u16, u32),
        polled: &[Polled],
        plane: &mut dyn Plane,
    ) {
        self.nodes[node.index()].listening.heard += 1;
        for Polled { stream: id, frames } in polled {
            let stream = StreamIndex(u32::from(*id));
            let released = self.nodes.get(usize::from(master)).map(|master| master.released(cycle, *id));
            let mut since = released.unwrap_or_default().into_iter();
            for _ in 0..*frames {
                let since = since.next().unwrap_or(plane.now());
                if plane.is_sending(stream) {
                    self.nodes[node.index()].listening.answered += 1;
                    plane.send_message(stream, since);
                }
            }
        }
    }
}
