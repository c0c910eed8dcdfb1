//! Bridges: from a link's end to the queues of the ports behind it.
//!
//! A received frame is checked, its source is learned, it passes its ATS scheduler once, and is put into the queue of
//! every port of its branch. Not here: the queues (`egress.rs`).

use tautwire_core::ats::AtsDiscard;
use tautwire_model::network::NodeIndex;
use tautwire_units::Instant;

use crate::clock::SimTime;
use crate::control::Shut;
use crate::engine::Engine;
use crate::fates::{Fate, Whereabouts};
use crate::frame::{Aim, Slot, octets_of};
use crate::plan::{NONE, Taken};
use crate::recorder::Recorder;
use crate::result::DropReason;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A frame has passed a link and the stages behind it.
    #[inline]
    pub(crate) fn receive(&mut self, link: u32, place: u32) {
        let slot = self.slab.get(place);
        if self.may_fail {
            let node = &self.nodes[self.links[link as usize].to_node as usize];
            if !node.up || slot.received < node.up_since {
                return self.drop_on_line(place, DropReason::NodeDown);
            }
        }
        if PLUGGED && slot.aim == Aim::RECEPTION {
            return self.take_in(link, place);
        }
        if PLUGGED && !slot.marks.is_corrupted() && !self.is_accepted(place) {
            return self.drop_on_line(place, DropReason::AcceptanceWindow);
        }
        let slot = self.slab.get(place);
        if slot.aim == Aim::DELIVERY {
            let (corrupted, slot) = (slot.marks.is_corrupted(), *slot);
            if corrupted {
                return self.drop_on_line(place, DropReason::BitError);
            }
            self.slab.remove(place);
            return self.deliver(&slot, self.now);
        }
        let aim = slot.aim.hop_or_branch();
        if slot.marks.is_corrupted() {
            let cut_through = match aim {
                Ok(_) => self.plan.hops[slot.hop as usize].cut_through,
                Err(branch) => self.plan.branches[branch as usize].cut_through,
            };
            if cut_through == 0 {
                return self.drop_on_line(place, DropReason::BitError);
            }
        }
        let link = &self.links[link as usize];
        if slot.payload > link.to_mtu {
            return self.drop_on_line(place, DropReason::Oversize);
        }
        let branch = match aim {
            Ok(hop) => return self.pass_on(place, hop),
            Err(branch) => branch,
        };
        let mut only_port = None;
        if link.to_learning {
            let (node, port) = (link.to_node, link.to_port);
            only_port = self.consult_database(place, node, port);
        }
        self.take_branch(place, branch, only_port);
    }

    /// A frame has reached an end station.
    #[inline]
    pub(crate) fn deliver(&mut self, slot: &Slot, time: SimTime) {
        match self.plan.hops[slot.hop as usize].taker.who() {
            Taken::Listener(listener) => self.hand_over(slot, time, listener),
            Taken::Otherwise(reception) => self.take_managed(slot, time, reception),
        }
    }

    /// A listener takes a frame.
    #[inline]
    pub(crate) fn hand_over(&mut self, slot: &Slot, time: SimTime, listener: u32) {
        self.recorder.delivered(time, slot.stream, listener, slot.number, time.since(slot.created));
        self.statistics.received(slot.stream, listener, slot.number, slot.created, time);
        if PLUGGED {
            self.plugged_delivery(slot, listener, time);
        }
    }

    /// Hands a frame to where it is aimed.
    #[inline]
    pub(crate) fn take_aim(&mut self, place: u32, aim: Aim) {
        match aim.hop_or_branch() {
            Ok(hop) => self.pass_on(place, hop),
            Err(branch) => self.take_branch(place, branch, None),
        }
    }

    /// Hands a frame to the queues of the ports of a branch; of `only_port` if its address is known.
    pub(crate) fn take_branch(&mut self, place: u32, branch: u32, only_port: Option<u32>) {
        let (first, end) = self.plan.branches[branch as usize].children;
        if end - first == 1 && only_port.is_none() {
            return self.pass_on(place, self.plan.children[first as usize]);
        }
        self.replicate(place, (first, end), only_port);
    }

    /// Hands a frame to the queue of the port of one hop.
    #[inline(always)]
    fn pass_on(&mut self, place: u32, hop_index: u32) {
        let hop = &self.plan.hops[hop_index as usize];
        if hop.scheduler != NONE {
            let (scheduler, port) = (hop.scheduler, hop.port);
            let slot = *self.slab.get(place);
            return match self.schedule(scheduler, &slot, port) {
                Ok(at) => self.enqueue_scheduled(place, hop_index, at),
                Err(_) if PLUGGED && self.filters.is_shut(hop_index, Shut::NotReserved) => {
                    self.filter(place, hop_index);
                }
                Err(_) => {
                    self.slab.remove(place);
                    self.lose(&slot, DropReason::ResidenceTime, Whereabouts::Hop(hop_index));
                }
            };
        }
        self.enqueue(place, hop_index);
    }

    /// Hands copies of a frame to the queues of several ports.
    fn replicate(&mut self, place: u32, (first, end): (u32, u32), only_port: Option<u32>) {
        let slot = *self.slab.get(place);
        let mut scheduler = NONE;
        let mut eligible = Ok(Instant::ZERO);
        let mut used = false;
        let mut discarded = false;
        for child in first..end {
            let hop_index = self.plan.children[child as usize];
            let (port, own_scheduler) = {
                let hop = &self.plan.hops[hop_index as usize];
                (hop.port, hop.scheduler)
            };
            if only_port.is_some_and(|only| only != port) {
                self.statistics.fates.note(slot.stream, Fate::Withheld, Whereabouts::Hop(hop_index));
                continue;
            }
            if own_scheduler == NONE {
                eligible = Ok(Instant::ZERO);
            } else if own_scheduler != scheduler {
                // A frame is charged once, however many ports it goes to.
                eligible = self.schedule(own_scheduler, &slot, port);
            }
            scheduler = own_scheduler;
            let Ok(at) = eligible else {
                // Where it is not reserved it would not have gone anyway.
                let withheld = PLUGGED && self.filters.is_shut(hop_index, Shut::NotReserved);
                discarded |= !withheld;
                let fate = if withheld { Fate::Withheld } else { Fate::Lost(DropReason::ResidenceTime) };
                self.statistics.fates.note(slot.stream, fate, Whereabouts::Hop(hop_index));
                continue;
            };
            let copy = if used {
                self.statistics.streams[slot.stream as usize].replicated += 1;
                self.slab.insert(slot)
            } else {
                place
            };
            used = true;
            if own_scheduler == NONE {
                self.enqueue(copy, hop_index);
            } else {
                self.enqueue_scheduled(copy, hop_index, at);
            }
        }
        match (used, discarded) {
            (true, false) => {}
            (true, true) => {
                self.statistics.streams[slot.stream as usize].replicated += 1;
                self.count_loss(&slot, DropReason::ResidenceTime);
            }
            (false, true) => {
                self.slab.remove(place);
                self.count_loss(&slot, DropReason::ResidenceTime);
            }
            (false, false) => {
                // A learned address behind the port of reception, or behind another branch.
                self.statistics.streams[slot.stream as usize].consumed += 1;
                self.slab.remove(place);
            }
        }
    }

    /// Learns a frame's source, and gives the port on which its destination was learned.
    fn consult_database(&mut self, place: u32, node: u32, port: u32) -> Option<u32> {
        let slot = self.slab.get(place);
        let state = &mut self.nodes[node as usize];
        let database = state.database.as_mut()?;
        let stream = &self.network.streams[slot.stream as usize];
        let now = state.clock.local(self.now);
        let hop = slot.hop - self.plan.first_hop[slot.stream as usize];
        let (_, vlan) = stream.received(&stream.hops[hop as usize], NodeIndex(node));
        database.learn(now, vlan, stream.source, port);
        if !self.plan.learned[slot.stream as usize] {
            return None;
        }
        database.lookup(now, stream.vlan, stream.destination)
    }

    /// The assigned eligibility time of a frame at a bridge, as it came.
    #[inline]
    fn schedule(&mut self, scheduler: u32, slot: &Slot, port: u32) -> Result<Instant, AtsDiscard> {
        let upstream = &self.plan.hops[slot.hop as usize];
        let node = self.ports[port as usize].as_ref().expect("a hop's port").node;
        let octets = u64::from(octets_of(slot.payload, upstream.overhead).get());
        let state = &mut self.nodes[node as usize];
        let arrival = state.clock.local(slot.arrival);
        state.ats.process(self.schedulers[scheduler as usize], arrival, octets)
    }
}
