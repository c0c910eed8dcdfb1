//! What a port sends in a run by ports, if nothing but the line and the stages of the next bridge act on the frame: the steps
//! of `egress.rs` in one place, without looking anything up twice. All other frames take those.

use tautwire_observe::DelayParts;
use tautwire_units::{Duration, Instant};

use super::Input;
use crate::clock::SimTime;
use crate::egress::{LineTimes, delay_parts};
use crate::engine::Engine;
use crate::frame::{Aim, Handle};
use crate::plan::{HopFlags, NONE};
use crate::recorder::Recorder;
use crate::stages::Passage;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Sends a frame that was selected now; the line is free again at `busy_until`.
    #[inline]
    pub(super) fn send_by_ports(
        &mut self,
        port_index: u32,
        frame: Handle,
        held: Duration,
        busy_until: SimTime,
    ) {
        let selected = self.now;
        let port = self.ports[port_index as usize].as_ref().expect("a port of a hop is connected");
        let line = port.link;
        let link = &mut self.links[line as usize];
        let slot = self.slab.get_mut(frame.slot);
        // A frame that is cut through may be selected before it is received.
        if port.staged || link.errs || slot.received > slot.queued {
            return self.transmit(port_index, frame, held, (selected, busy_until), None);
        }
        debug_assert!(!self.recorder.takes_transmissions(), "nothing is recorded in a run by ports");
        self.order.leave(self.network, &self.plan, slot, frame.slot);
        let last = SimTime::from_ps(busy_until.as_ps() - port.gap.as_ps()).max(selected);
        let received = link.reception(selected, last);
        self.statistics.transmitted(selected, line, slot.stream, slot.number);
        let waiting = selected.since(slot.queued);
        let shaping = (held + slot.held_before).min(waiting);
        let parts = DelayParts {
            processing: slot.queued.since(slot.received),
            shaping,
            queueing: waiting - shaping,
            transmission: last.since(selected),
            propagation: received.since(last),
        };
        debug_assert_eq!(
            parts,
            delay_parts(slot, selected, held + slot.held_before, selected, last, received),
            "no time is saved here"
        );
        self.statistics.passed(slot.hop, slot.created, received.since(slot.received), &parts);
        (slot.received, slot.held_before) = (received, Duration::ZERO);
        if !link.to_bridge {
            if !self.counts_early || received > self.end || slot.marks.is_corrupted() {
                return self.fly(line, frame.slot, received, Aim::DELIVERY);
            }
            let slot = self.slab.remove(frame.slot);
            return self.deliver(&slot, received);
        }
        let hop = &self.plan.hops[slot.hop as usize];
        let is_plain = hop.next != NONE && !link.to_learning && hop.cut_through == 0;
        if !is_plain || hop.flags.has(HopFlags::INSPECTED) {
            let times = LineTimes { start: selected, last, received };
            return self.branch_out(line, frame.slot, frame.octets.get(), &times);
        }
        let passage =
            Passage { octets: u64::from(frame.octets.get()), class: hop.next_class, cut_through: false };
        let profile = &self.plan.profiles[hop.profile as usize];
        let mut arrival = received;
        if !profile.reception.is_empty() {
            arrival = link.stages.pass(&profile.reception, arrival, passage, &mut link.random);
        }
        let due = link.stages.pass(&profile.processing, arrival, passage, &mut link.random);
        if !link.recognition_max.is_zero() {
            arrival = arrival + link.random.span_up_to(link.recognition_max);
        }
        slot.arrival = arrival;
        slot.queued = due;
        let by_ports = self.by_ports.as_mut().expect("a run by ports");
        let goes_at_once = self.plan.hops[hop.next as usize].scheduler == NONE
            && !slot.marks.is_corrupted()
            && slot.payload <= link.to_mtu
            && due < by_ports.until
            && !self.may_fail;
        if goes_at_once && self.rings[line as usize].len() == 0 {
            slot.hop = hop.next;
            let input = Input { due, ring: line, place: frame.slot, hop: hop.next, eligible: Instant::ZERO };
            by_ports.inputs[hop.next_port as usize].push(input);
        } else {
            slot.aim = Aim::hop(hop.next);
            self.rings[line as usize].insert(&mut self.slab, frame.slot);
        }
    }
}
