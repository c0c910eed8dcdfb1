//! Stream reservation in a run: MSRP's machines of all nodes, their MRPDUs on the links, and the talkers that they start and stop.
//!
//! An MRPDU is a frame of its port's own stream (`pdus.rs`). At its end it waits for the node's processor, which takes MRPDUs one
//! after the other, and is heard when that is done (`node.rs`, `drive.rs`). What happens is written into the ladders of the streams
//! (`said.rs`, `../reservation.rs`).

mod central;
mod drive;
mod faults;
mod node;
mod pdus;
mod request;
mod said;
mod shaping;
mod talkers;
mod vlans;

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_wire::srp::StreamId;

pub use self::central::AdmissionControl;
pub(crate) use self::pdus::{MSRP, MVRP};
pub(crate) use self::vlans::{enters, leaves};

use self::central::Central;
use self::node::Node;
use self::request::{Request, requests};
use self::shaping::Shaping;
use self::vlans::Vlans;
use crate::clock::{LocalClock, SimTime};
use crate::plan::{NONE, Plan, index};
use crate::refusal::Refusal;
use crate::reservation::{Declaration, ReservationObservation, Rung, RungEvent};
use crate::vlan_registration::VlanObservation;

/// Stream reservation of a run.
pub(crate) struct Srp {
    nodes: Vec<Node>,
    /// When each node acts next.
    agenda: BTreeSet<(SimTime, u32)>,
    /// What applications ask for, in order of time, and how many of it are done.
    requests: Vec<Request>,
    requested: usize,
    /// Per stream of the network: the port that sends its MRPDUs, or [`NONE`].
    senders: Vec<u32>,
    /// Reserved streams by identifier.
    known: BTreeMap<StreamId, u32>,
    ladders: Vec<Vec<Rung>>,
    /// What was said last of a stream at a port: reserved stream, port, whether sent, whether of the talker.
    said: BTreeMap<(u32, u32, bool, bool), Declaration>,
    /// Central configuration; none: bridges decide among themselves.
    central: Option<Central>,
    /// What reservations set at the ports; none: the description shapes.
    shaping: Option<Shaping>,
    /// Registered VLANs; none: VLANs are where the description has them.
    vlans: Option<Vlans>,
}

impl Srp {
    /// None in a network without stream reservation.
    pub(crate) fn new(
        network: &Network,
        plan: &Plan,
        clocks: &[LocalClock],
        seed: u64,
        admission: Option<Box<dyn AdmissionControl>>,
    ) -> Option<Self> {
        let reservation = network.srp.as_ref()?;
        let mut senders = vec![NONE; network.streams.len()];
        let vlans = reservation.vlan_registration.iter().flat_map(|vlans| vlans.pdus.iter().enumerate());
        for (port, stream) in reservation.pdus.iter().enumerate().chain(vlans) {
            if let Some(stream) = stream {
                senders[stream.index()] = index(port);
            }
        }
        let numbered = reservation.streams.iter().zip(0..);
        let mut srp = Self {
            nodes: Vec::new(),
            agenda: BTreeSet::new(),
            requests: requests(network),
            requested: 0,
            senders,
            known: numbered.map(|(reserved, number)| (reserved.talker.stream, number)).collect(),
            ladders: vec![Vec::new(); reservation.streams.len()],
            said: BTreeMap::new(),
            central: Central::new(network, clocks, seed, admission),
            shaping: Shaping::new(network, plan),
            vlans: Vlans::new(network, plan),
        };
        for (number, clock) in clocks.iter().enumerate() {
            let node = Node::new(network, number, clock.local(SimTime::ZERO), seed);
            srp.nodes.push(node);
            srp.schedule(network, number, *clock, SimTime::ZERO);
        }
        Some(srp)
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<SimTime> {
        let request = self.requests.get(self.requested).map(|request| request.at);
        let central = self.central.as_ref().and_then(Central::next);
        let nodes = self.agenda.first().map(|(time, _)| *time);
        nodes.into_iter().chain(request).chain(central).min()
    }

    /// The next request that is due by `now`.
    fn take_request(&mut self, now: SimTime) -> Option<Request> {
        let request = self.requests.get(self.requested).copied().filter(|request| request.at <= now)?;
        self.requested += 1;
        Some(request)
    }

    /// What was observed.
    pub(crate) fn observations(
        self,
        network: &Network,
    ) -> (Vec<ReservationObservation>, Vec<VlanObservation>, Vec<Refusal>) {
        let reserved = network.srp.as_ref().expect("stream reservation").streams.iter();
        let ladders = reserved.zip(self.ladders);
        let ladders =
            ladders.map(|(reserved, ladder)| ReservationObservation { stream: reserved.stream, ladder });
        let vlans = self.vlans.map_or_else(Vec::new, Vlans::observations);
        (ladders.collect(), vlans, self.central.map_or_else(Vec::new, Central::refusals))
    }

    /// Puts a node's next instant into the agenda.
    fn schedule(&mut self, network: &Network, number: usize, clock: LocalClock, now: SimTime) {
        let node = &mut self.nodes[number];
        let settings = &network.srp.as_ref().expect("stream reservation").nodes[number];
        let timers = node.timers(settings).map(|at| clock.true_at(at));
        let heard = node.inbox.front().map(|(at, ..)| *at);
        let due = timers.into_iter().chain(heard).min().map(|due| due.max(now));
        if due != node.due {
            let key = index(number);
            if let Some(before) = node.due {
                self.agenda.remove(&(before, key));
            }
            self.agenda.extend(due.map(|due| (due, key)));
            self.nodes[number].due = due;
        }
    }

    fn rung(&mut self, stream: u32, at: SimTime, node: u32, event: RungEvent) {
        self.note_shaping(stream, node, event);
        self.ladders[stream as usize].push(Rung { at: at.since_start(), node: NodeIndex(node), event });
    }
}
