//! What reservations set in a run: idleSlopes, ATS parameters, and which frames a port takes (IEEE Std 802.1Q-2022, 34.3, 35.2.4, 8.8.7).
//!
//! A bridge's port takes frames of a stream from the instant at which it is reserved there until that is given back, a talker's while
//! the stream is sent. idleSlope of a class follows (`core`, `cbs.rs`): more is there before the first frame can come, less when
//! nothing is left. An ATS scheduler has committed rate and burst while a stream that passes it is reserved behind it, whoever
//! granted that, and none before and after; one that several streams share has the sum of all of them. In a network
//! whose description shapes, none of this happens.

use std::collections::BTreeSet;

use tautwire_model::Network;
use tautwire_model::network::{PortIndex, ShaperSettings, StreamIndex};
use tautwire_model::srp::ReservedStream;
use tautwire_units::BitRate;

use super::Srp;
use crate::engine::Engine;
use crate::fates::{Fate, Whereabouts};
use crate::node::deviation_ppb;
use crate::plan::{Manners, Plan, index};
use crate::recorder::Recorder;
use crate::reservation::RungEvent;

/// The reserved classes of a run.
pub(super) struct Shaping {
    /// Per reserved class of the network: the streams that are granted.
    granted: Vec<BTreeSet<StreamIndex>>,
    /// Per hop of the plan: whether its port takes the stream's frames.
    open: Vec<bool>,
    /// Per reserved stream: the ports of its talker.
    talker_ports: Vec<Vec<PortIndex>>,
    /// Per ATS scheduler of the network: who is reserved behind it; none if others than reserved streams pass it.
    regulated: Vec<Option<BTreeSet<(StreamIndex, PortIndex)>>>,
    /// Changes that are not yet done: node, port, reserved stream, granted or given back.
    changes: Vec<(u32, PortIndex, u32, bool)>,
}

impl Shaping {
    /// Nothing is granted; none if the description shapes.
    pub(super) fn new(network: &Network, plan: &Plan) -> Option<Self> {
        let classes = &network.reserved_classes;
        let reservation = network.srp.as_ref().filter(|_| !classes.is_empty())?;
        let talker_ports = |reserved: &ReservedStream| {
            let hops = network.streams[reserved.stream.index()].hops.iter();
            hops.filter(|hop| hop.previous.is_none()).map(|hop| hop.port).collect()
        };
        Some(Self {
            granted: vec![BTreeSet::new(); classes.len()],
            open: vec![false; plan.hops.len()],
            talker_ports: reservation.streams.iter().map(talker_ports).collect(),
            regulated: regulated(network),
            changes: Vec::new(),
        })
    }
}

/// The ATS schedulers that streams of reserved classes alone pass.
fn regulated(network: &Network) -> Vec<Option<BTreeSet<(StreamIndex, PortIndex)>>> {
    let mut regulated = vec![Some(BTreeSet::new()); network.schedulers.len()];
    for (number, stream) in network.streams.iter().enumerate() {
        for hop in &stream.hops {
            let mut classes = network.reserved_classes_at(hop.port);
            let is_own = classes.any(|class| {
                let streams = &class.streams;
                class.class == hop.class
                    && streams.binary_search_by_key(&StreamIndex::at(number), |(known, _)| *known).is_ok()
            });
            if let Some(scheduler) = hop.scheduler.filter(|_| !is_own) {
                regulated[scheduler.index()] = None;
            }
        }
    }
    regulated
}

impl Srp {
    /// Notes what a rung of a ladder means for the ports.
    pub(super) fn note_shaping(&mut self, stream: u32, node: u32, event: RungEvent) {
        let Some(shaping) = &mut self.shaping else { return };
        let (ports, granted) = match event {
            RungEvent::Reserved(port) => (vec![port], true),
            RungEvent::Released(port) => (vec![port], false),
            RungEvent::Started => (shaping.talker_ports[stream as usize].clone(), true),
            RungEvent::Stopped => (shaping.talker_ports[stream as usize].clone(), false),
            _ => return,
        };
        shaping.changes.extend(ports.into_iter().map(|port| (node, port, stream, granted)));
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Whether a port takes the frames of a hop of a reserved class.
    pub(crate) fn is_granted(&self, hop: u32) -> bool {
        let srp = self.driven.as_ref().and_then(|driven| driven.srp.as_ref());
        srp.and_then(|srp| srp.shaping.as_ref()).is_none_or(|shaping| shaping.open[hop as usize])
    }

    /// Whether a hop is of a reserved class and its port takes no frames of the stream.
    pub(crate) fn is_not_granted(&self, hop: u32) -> bool {
        self.plan.hops[hop as usize].manners.has(Manners::RESERVED) && !self.is_granted(hop)
    }

    /// The port of a hop does not take a frame: nobody behind it has a reservation.
    #[cold]
    pub(crate) fn filter(&mut self, place: u32, hop: u32) {
        let slot = self.slab.remove(place);
        self.statistics.fates.note(slot.stream, Fate::Withheld, Whereabouts::Hop(hop));
        self.statistics.streams[slot.stream as usize].consumed += 1;
    }

    /// Before anything is reserved, no ATS scheduler of reserved streams has parameters.
    pub(crate) fn begin_shaping(&mut self) {
        let Some(shaping) = self.driven.as_ref().and_then(|driven| driven.srp.as_ref()?.shaping.as_ref())
        else {
            return;
        };
        for (scheduler, _) in shaping.regulated.iter().enumerate().filter(|(_, users)| users.is_some()) {
            let group = &self.network.scheduler_groups[self.network.schedulers[scheduler].group.index()];
            let node = self.network.ports[group.reception_port.index()].node;
            self.nodes[node.index()].ats.remove_parameters(self.schedulers[scheduler]);
        }
    }

    /// A stream is reserved behind its ATS scheduler, or is not any more.
    fn regulate(&mut self, (node, port, number, granted): (u32, PortIndex, u32, bool)) {
        let network = self.network;
        let stream = network.srp.as_ref().expect("stream reservation").streams[number as usize].stream;
        let hops = network.streams[stream.index()].hops.iter().filter(|hop| hop.port == port);
        for place in hops.filter_map(|hop| hop.scheduler) {
            let shaping = self.srp().shaping.as_mut().expect("something is shaped");
            let Some(users) = &mut shaping.regulated[place.index()] else { continue };
            let had = !users.is_empty();
            if granted {
                users.insert((stream, port));
            } else {
                users.remove(&(stream, port));
            }
            let has = !users.is_empty();
            if had == has {
                continue;
            }
            let described = &network.schedulers[place.index()];
            let own = self.schedulers[place.index()];
            let settings = ShaperSettings {
                committed_information_rate: described.committed_information_rate,
                committed_burst_size: described.committed_burst_size,
            };
            let state = &mut self.nodes[node as usize];
            if has {
                let deviation = deviation_ppb(network, described, self.seed);
                let parameters = state.parameters(&settings, deviation);
                state.ats.set_parameters(own, parameters);
            } else {
                state.ats.remove_parameters(own);
            }
            let told = has.then_some((settings.committed_information_rate, settings.committed_burst_size));
            let now = self.now;
            self.srp().rung(number, now, node, RungEvent::Regulated(port, told));
        }
    }

    /// A node stops: its ports grant nothing any more.
    pub(super) fn ungrant_node(&mut self, number: usize) {
        let network = self.network;
        let Some(reservation) = network.srp.as_ref() else { return };
        for (class, reserved) in network.reserved_classes.iter().enumerate() {
            if network.ports[reserved.port.index()].node.index() != number {
                continue;
            }
            let Some(shaping) = &mut self.srp().shaping else { return };
            for stream in shaping.granted[class].clone() {
                let known = reservation.streams.iter().position(|known| known.stream == stream);
                let known = index(known.expect("only reserved streams are granted"));
                shaping.changes.push((index(number), reserved.port, known, false));
            }
        }
    }

    /// Does what reservations changed.
    pub(super) fn shape(&mut self) {
        let changes = self.srp().shaping.as_mut().map(|shaping| std::mem::take(&mut shaping.changes));
        for change in changes.unwrap_or_default() {
            self.change_shaping(change);
            self.regulate(change);
        }
    }

    fn change_shaping(&mut self, (node, port, number, granted): (u32, PortIndex, u32, bool)) {
        let network = self.network;
        let stream = network.srp.as_ref().expect("stream reservation").streams[number as usize].stream;
        let first = self.plan.first_hop[stream.index()] as usize;
        for (place, hop) in network.streams[stream.index()].hops.iter().enumerate() {
            if hop.port == port {
                let shaping = self.srp().shaping.as_mut().expect("something is shaped");
                shaping.open[first + place] = granted;
            }
        }
        for (class, reserved) in network.reserved_classes.iter().enumerate() {
            let is_member = || reserved.streams.binary_search_by_key(&stream, |(known, _)| *known).is_ok();
            if reserved.port != port || !is_member() {
                continue;
            }
            let shaping = self.srp().shaping.as_mut().expect("something is shaped");
            let members = &mut shaping.granted[class];
            let changed = if granted { members.insert(stream) } else { members.remove(&stream) };
            let Some(ceiling) = reserved.idle_slope_max.filter(|_| changed) else { continue };
            let slopes = reserved.streams.iter().filter(|(known, _)| members.contains(known));
            let sum = slopes.fold(BitRate::ZERO, |sum, (_, slope)| sum.saturating_add(*slope)).min(ceiling);
            let now = self.now;
            self.srp().rung(number, now, node, RungEvent::Shaped(port, sum));
            if let Some(state) = &mut self.ports[port.index()] {
                let local = state.clock.local(now);
                state.egress.reserve_idle_slope(local, reserved.class, sum, ceiling);
                self.service(port.0);
            }
        }
    }
}
