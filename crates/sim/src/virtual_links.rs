//! Virtual links in a run: regulators of the talkers, policers of the bridges, redundancy managers of
//! the listeners (ARINC 664 part 7), those of time-triggered links over two networks included.
//!
//! All of it is decided at the start. A network without virtual links has none of it: the values of a talker's
//! scheduler, a hop's listener and its filter show that without further fields. Not here: the machines
//! (`tautwire-core`), their settings (`tautwire-model`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tautwire_core::policing::{Policer, PolicingDiscard};
use tautwire_core::redundancy::{
    Elimination, PeriodRedundancy, RedundancyManager, RedundantNetwork, period_at,
};
use tautwire_core::virtual_link::{Kept, VirtualLink};
use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_model::virtual_link::{network_of, policing_parameters};
use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::fates::Whereabouts;
use crate::frame::{Aim, Slot, octets_of};
use crate::plan::{HopFlags, NONE, Plan, Taker, index};
use crate::recorder::Recorder;
use crate::result::{DropReason, VirtualLinkObservation};
use crate::talker::TalkerShaper;

/// The epoch of a regulator's entry among its host's sources: no talker uses it.
pub(crate) const RELEASE: u32 = u32::MAX;

/// A virtual link at its talker.
#[derive(Clone, Debug)]
struct Link {
    regulator: VirtualLink<u32>,
    node: u32,
    /// Its first stream, whose entry among the host's sources its releases use.
    stream: u32,
    /// Whether the end system keeps the BAG.
    regulated: bool,
    /// Whether a release is among the sources.
    armed: bool,
    /// Identifier.
    id: u16,
    /// Frames that left.
    frames: u64,
    /// When the first and the last of them did.
    left: Option<(SimTime, SimTime)>,
}

/// A listener of a redundant virtual link.
#[derive(Clone, Debug)]
struct Receiver {
    manager: Manager,
    node: u32,
}

/// How a receiver knows copies.
#[derive(Clone, Debug)]
enum Manager {
    /// By their numbers.
    Numbers(RedundancyManager),
    /// By the period in which they come.
    Periods(PeriodRedundancy),
}

/// How a hop delivers frames to a listener.
#[derive(Clone, Copy, Debug)]
struct Reception {
    listener: u32,
    receiver: u32,
    network: RedundantNetwork,
    /// Of a time-triggered link: around when frames of period zero come by this hop, and the period.
    timing: (Duration, Duration),
}

/// All virtual links of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct VirtualLinks {
    links: Vec<Link>,
    /// Per stream: its link, and its place among the sub-virtual-links.
    of_stream: Vec<(u32, u32)>,
    policers: Vec<Policer>,
    /// Per hop, or none at all.
    policer_of_hop: Vec<u32>,
    receivers: Vec<Receiver>,
    receptions: Vec<Reception>,
}

impl VirtualLinks {
    /// Those of a network; marks talkers' schedulers and hops.
    pub(crate) fn new(network: &Network, plan: &mut Plan, shapers: &mut [TalkerShaper]) -> Self {
        let mut all = Self::default();
        if network.streams.iter().all(|stream| stream.virtual_link.is_none()) {
            all.police_control_frames(network, plan);
            all.receive_timed(network, plan);
            return all;
        }
        all.of_stream = vec![(NONE, 0); network.streams.len()];
        all.policer_of_hop = vec![NONE; plan.hops.len()];
        let mut link_of: BTreeMap<u16, u32> = BTreeMap::new();
        let mut policer_of: BTreeMap<(u16, u32), u32> = BTreeMap::new();
        let mut receiver_of: BTreeMap<(u16, u32), u32> = BTreeMap::new();
        for (number, stream) in network.streams.iter().enumerate() {
            let Some(settings) = stream.virtual_link else { continue };
            let link = *link_of.entry(settings.id).or_insert_with(|| {
                let sub_links = network.streams.iter().filter_map(|other| other.virtual_link);
                let count = sub_links.filter(|other| other.id == settings.id).count();
                all.links.push(Link {
                    regulator: VirtualLink::new(settings.bag, settings.buffer, count),
                    node: stream.talker.0,
                    stream: index(number),
                    regulated: settings.regulated,
                    armed: false,
                    id: settings.id,
                    frames: 0,
                    left: None,
                });
                index(all.links.len() - 1)
            });
            let before = all.of_stream.iter().filter(|(other, _)| *other == link).count();
            all.of_stream[number] = (link, index(before));
            shapers[number] = TalkerShaper::Regulator;
            for hop in 0..stream.hops.len() {
                let place = plan.first_hop[number] as usize + hop;
                let links = network.ports[stream.hops[hop].port.index()].links;
                let to = network.links[links.expect("a hop's port is connected").egress.index()].to;
                if let Some(parameters) = policing_parameters(network, stream, hop) {
                    let policer = *policer_of.entry((settings.id, to.0)).or_insert_with(|| {
                        all.policers.push(Policer::new(parameters));
                        index(all.policers.len() - 1)
                    });
                    all.policer_of_hop[place] = policer;
                    plan.hops[place].flags.add(HopFlags::INSPECTED, true);
                }
                let (Some(listener), Some(skew_max)) = (stream.hops[hop].listener, settings.skew_max) else {
                    continue;
                };
                let NodeIndex(node) = network.ports[to.index()].node;
                let receiver = *receiver_of.entry((settings.id, node)).or_insert_with(|| {
                    let manager = Manager::Numbers(RedundancyManager::new(skew_max));
                    all.receivers.push(Receiver { manager, node });
                    index(all.receivers.len() - 1)
                });
                plan.hops[place].taker = Taker::reception(index(all.receptions.len()));
                let network = network_of(stream, hop);
                let timing = (Duration::ZERO, Duration::ZERO);
                all.receptions.push(Reception { listener, receiver, network, timing });
            }
        }
        all.police_control_frames(network, plan);
        all.receive_timed(network, plan);
        all
    }

    /// The switches next to synchronisation masters police their protocol control frames.
    fn police_control_frames(&mut self, network: &Network, plan: &mut Plan) {
        let Some(synchronisation) = &network.as6802 else { return };
        self.policer_of_hop.resize(plan.hops.len(), NONE);
        for number in synchronisation.frames.iter().flatten().map(|stream| stream.index()) {
            let stream = &network.streams[number];
            for hop in 0..stream.hops.len() {
                let place = plan.first_hop[number] as usize + hop;
                if let Some(parameters) = policing_parameters(network, stream, hop) {
                    self.policers.push(Policer::new(parameters));
                    self.policer_of_hop[place] = index(self.policers.len() - 1);
                    plan.hops[place].flags.add(HopFlags::INSPECTED, true);
                }
            }
        }
    }

    /// Listeners of time-triggered links over two networks.
    fn receive_timed(&mut self, network: &Network, plan: &mut Plan) {
        for (number, stream) in network.streams.iter().enumerate() {
            let Some(link) = stream.time_triggered.as_ref().filter(|link| link.redundant) else { continue };
            let first = self.receivers.len();
            self.receivers.extend(stream.listeners.iter().map(|listener| Receiver {
                manager: Manager::Periods(PeriodRedundancy::default()),
                node: listener.0,
            }));
            for (hop, point) in link.points.iter().enumerate() {
                let Some(listener) = stream.hops[hop].listener else { continue };
                let place = plan.first_hop[number] as usize + hop;
                plan.hops[place].taker = Taker::reception(index(self.receptions.len()));
                // The window begins again every period: its middle behind the dispatch point.
                let (period, window) = (link.period.as_ps(), point.window);
                let middle = (window.opens.as_ps() + window.length.as_ps() / 2) % period;
                let behind = (middle + period - point.offset.as_ps() % period) % period;
                let timing = (point.offset + Duration::from_ps(behind), link.period);
                let receiver = index(first) + listener;
                let network = network_of(stream, hop);
                self.receptions.push(Reception { listener, receiver, network, timing });
            }
        }
    }

    /// Whether listeners must take frames in the order in which they come.
    pub(crate) fn are_redundant(&self) -> bool {
        !self.receivers.is_empty()
    }

    /// The output of every link's end system.
    pub(crate) fn observations(&self) -> Vec<VirtualLinkObservation> {
        let of_link = |link: &Link| {
            let span = link.left.map_or(Duration::ZERO, |(first, last)| last.since(first));
            VirtualLinkObservation { id: link.id, frames: link.frames, span }
        };
        self.links.iter().map(of_link).collect()
    }

    /// The places of the frames that wait for their BAG.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.links.iter().flat_map(|link| link.regulator.waiting())
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A host hands a frame to its virtual link.
    pub(crate) fn hand_to_link(&mut self, place: u32) {
        let stream = self.slab.get(place).stream as usize;
        let (number, sub_link) = self.virtual_links.of_stream[stream];
        let link = &mut self.virtual_links.links[number as usize];
        if self.may_fail && !self.nodes[link.node as usize].up {
            return self.drop_at_talker(place, DropReason::NodeDown);
        }
        self.slab.get_mut(place).queued = self.now;
        if !link.regulated {
            let sequence = link.regulator.number();
            return self.let_go(place, sequence);
        }
        let now = self.nodes[link.node as usize].clock.local(self.now);
        match link.regulator.offer(now, sub_link as usize, place) {
            Kept::Queued => {}
            Kept::Overwrote(old) => self.drop_at_talker(old, DropReason::Overwritten),
            Kept::Full => self.drop_at_talker(place, DropReason::LinkQueueFull),
        }
        self.release(number);
    }

    /// Releases what may leave now, and sees to the next release.
    fn release(&mut self, number: u32) {
        let link = &mut self.virtual_links.links[number as usize];
        let clock = self.nodes[link.node as usize].clock;
        if let Some((place, sequence)) = link.regulator.release(clock.local(self.now)) {
            self.let_go(place, sequence);
        }
        let link = &mut self.virtual_links.links[number as usize];
        if let Some(at) = link.regulator.release_at().filter(|_| !link.armed) {
            link.armed = true;
            let entry = (clock.true_at(at).max(self.now), link.stream, RELEASE);
            let node = link.node;
            let host = self.hosts[node as usize].as_mut().expect("a talker is an end station");
            host.sources.push(Reverse(entry));
            self.arm_sources(node);
        }
    }

    /// An entry among a host's sources that is no frame of its stream: of a regulator, or void.
    #[cold]
    pub(crate) fn take_other(&mut self, node: u32, stream: u32, epoch: u32) {
        if epoch == RELEASE {
            let (number, _) = self.virtual_links.of_stream[stream as usize];
            self.virtual_links.links[number as usize].armed = false;
            self.release(number);
        }
        self.arm_sources(node);
    }

    fn let_go(&mut self, place: u32, sequence: u8) {
        let now = self.now;
        let slot = self.slab.get_mut(place);
        slot.sequence = sequence;
        slot.held_before = now.saturating_since(slot.queued);
        let stream = slot.stream as usize;
        let link = &mut self.virtual_links.links[self.virtual_links.of_stream[stream].0 as usize];
        link.frames += 1;
        link.left = Some((link.left.map_or(now, |(first, _)| first), now));
        match self.plan.talker_aim(stream) {
            Some(aim) => self.take_aim(place, aim),
            None => self.drop_at_talker(place, DropReason::NoRoute),
        }
    }

    /// A node has stopped: its virtual links forget their frames and numbers, and received numbers of those that it listens to.
    pub(crate) fn reset_links(&mut self, node: u32) {
        for receiver in self.virtual_links.receivers.iter_mut().filter(|receiver| receiver.node == node) {
            match &mut receiver.manager {
                Manager::Numbers(manager) => manager.reset(),
                Manager::Periods(manager) => manager.reset(),
            }
        }
        for number in 0..self.virtual_links.links.len() {
            let link = &mut self.virtual_links.links[number];
            if link.node == node {
                let lost: Vec<u32> = link.regulator.waiting().collect();
                link.regulator.reset();
                lost.into_iter().for_each(|place| self.drop_at_talker(place, DropReason::NodeDown));
            }
        }
    }

    /// The checks of a bridge before it forwards a frame that it will have received at `received`: the VLANs of the
    /// port, and the policing of its virtual link. The reason, if the frame is discarded.
    #[cold]
    pub(crate) fn inspect(
        &mut self,
        hop: usize,
        place: u32,
        received: SimTime,
        ring: u32,
    ) -> Option<DropReason> {
        if self.plan.filtered[hop] || (PLUGGED && self.filters.is_far_end_shut(hop)) {
            return Some(DropReason::IngressFiltering);
        }
        let policer = *self.virtual_links.policer_of_hop.get(hop)?;
        let slot = self.slab.get(place);
        // A damaged frame is discarded before, and charges nothing.
        if policer == NONE || slot.marks.is_corrupted() {
            return None;
        }
        let octets = octets_of(slot.payload, self.plan.hops[hop].overhead);
        let node = self.links[ring as usize].to_node;
        let now = self.nodes[node as usize].clock.local(received);
        let judged = self.virtual_links.policers[policer as usize].police(now, u64::from(octets.get()));
        judged.err().map(|discard| match discard {
            PolicingDiscard::Length => DropReason::PolicedLength,
            PolicingDiscard::Rate => DropReason::PolicedRate,
        })
    }

    /// A copy of a frame has reached an end station that is no listener, or a redundant listener.
    #[cold]
    pub(crate) fn take_managed(&mut self, slot: &Slot, time: SimTime, reception: Option<u32>) {
        let Some(reception) = reception else {
            self.statistics.streams[slot.stream as usize].consumed += 1;
            return;
        };
        let end = Whereabouts::End(slot.hop);
        let reception = self.virtual_links.receptions[reception as usize];
        let node = self.virtual_links.receivers[reception.receiver as usize].node as usize;
        let clock = self.nodes[node].clock;
        // A node without network time cannot distinguish periods.
        let timed = self.timed().filter(|timed| timed.is_synchronised(node));
        let network = timed.map(|timed| timed.network(node, clock, slot.received));
        let judged = match &mut self.virtual_links.receivers[reception.receiver as usize].manager {
            Manager::Numbers(manager) => manager.receive(clock.local(time), reception.network, slot.sequence),
            Manager::Periods(manager) => {
                let (middle, period) = reception.timing;
                let Some(network) = network else { return self.lose(slot, DropReason::Unsynchronised, end) };
                manager.receive(period_at(network, middle, period))
            }
        };
        match judged {
            Ok(()) => {
                self.statistics.is_taken(slot.stream, reception.listener, slot.number);
                self.hand_over(slot, time, reception.listener);
            }
            Err(Elimination::Integrity) => self.lose(slot, DropReason::IntegrityCheck, end),
            Err(Elimination::Redundant) => self.lose(slot, DropReason::Eliminated, end),
        }
    }

    /// A frame goes from its host to its virtual link, or on.
    #[inline]
    pub(crate) fn leave_host(&mut self, place: u32) {
        match self.slab.get(place).aim {
            Aim::DELIVERY => self.hand_to_link(place),
            aim => self.take_aim(place, aim),
        }
    }
}
