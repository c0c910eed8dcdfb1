//! Egress ports: from the queue of a class to the ring of the link behind the port.
//!
//! The port itself is `core`'s; this file polls it at the right instants, and carries what it sends to the next node:
//! through the stages after the selection, over the line, and through the stages of the bridge at its end, once per
//! branch.

use tautwire_core::{Selection, TrafficClass};
use tautwire_observe::DelayParts;
use tautwire_units::{Bytes, Duration, Instant};

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::{Aim, Handle, Slot, octets_of};
use crate::options::Driver;
use crate::plan::{HopFlags, NONE, Taken, Taker};
use crate::protocols::Leaving;
use crate::recorder::{Recorder, Transmission};
use crate::result::DropReason;
use crate::stages::Passage;
use crate::started::LastPart;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Puts a frame into the queue of the port of `hop`.
    #[inline]
    pub(crate) fn enqueue(&mut self, place: u32, hop_index: u32) {
        if PLUGGED && self.is_taken_before(place, hop_index) {
            return;
        }
        let slot = self.slab.get_mut(place);
        slot.hop = hop_index;
        slot.queued = SimTime::from_ps(self.now.as_ps() - slot.held_before.as_ps());
        self.put(place, hop_index, Instant::ZERO);
    }

    /// As `enqueue`, for a frame that its scheduler holds until `eligible`, whatever is queued before it until then.
    pub(crate) fn enqueue_scheduled(&mut self, place: u32, hop_index: u32, eligible: Instant) {
        if PLUGGED && self.is_taken_before(place, hop_index) {
            return;
        }
        self.order.schedule(place);
        let port = self.plan.hops[hop_index as usize].port;
        let clock = self.ports[port as usize].as_ref().expect("a hop's port is connected").clock;
        let slot = self.slab.get_mut(place);
        (slot.hop, slot.queued) = (hop_index, self.now);
        slot.held_before = clock.true_at(eligible).saturating_since(self.now);
        self.put(place, hop_index, eligible);
    }

    /// Whether something else than the queue takes a frame that reaches the port of a hop.
    #[inline]
    fn is_taken_before(&mut self, place: u32, hop_index: u32) -> bool {
        let flags = self.plan.hops[hop_index as usize].flags;
        if !flags.has(HopFlags::BEFORE_QUEUEING) {
            return false;
        }
        if flags.has(HopFlags::PRUNED) {
            self.filter(place, hop_index);
        } else if flags.has(HopFlags::TIME_TRIGGERED) {
            self.hold_timed(place, hop_index);
        } else if flags.has(HopFlags::POOLED) {
            self.pool(place, hop_index);
        } else {
            if flags.has(HopFlags::REPEATED) {
                self.remember(place, hop_index);
            }
            let is_shut = flags.has(HopFlags::SHUT) && self.is_shut_out(place, hop_index);
            return is_shut || (flags.has(HopFlags::MARKED) && self.heed_marks(place, hop_index));
        }
        true
    }

    /// As `enqueue`, whatever the frame waited for before: since `queued` it has waited for its port.
    #[inline]
    pub(crate) fn put(&mut self, place: u32, hop_index: u32, eligible: Instant) {
        if !PLUGGED && self.by_ports.is_some() {
            return self.give_to_port(place, hop_index, eligible);
        }
        self.put_into(place, hop_index, self.plan.hops[hop_index as usize].class, eligible);
    }

    /// As `put`, into the queue of another class.
    #[inline(always)]
    pub(crate) fn put_into(&mut self, place: u32, hop_index: u32, class: u8, eligible: Instant) {
        let hop = &self.plan.hops[hop_index as usize];
        let port_index = hop.port;
        let slot = self.slab.get(place);
        let octets = octets_of(slot.payload, hop.overhead);
        let payload = slot.payload;
        let handle = Handle { slot: place, octets, class: TrafficClass::new(class).expect("a class") };
        let port = self.ports[port_index as usize].as_mut().expect("a hop's port is connected");
        if payload > port.mtu {
            return self.drop_frame(place, DropReason::Oversize);
        }
        if self.may_fail {
            if !self.nodes[port.node as usize].up {
                return self.drop_frame(place, DropReason::NodeDown);
            }
            if !self.links[port.link as usize].up {
                return self.drop_frame(place, DropReason::LinkDown);
            }
        }
        if PLUGGED
            && port.egress.is_gated()
            && port.egress.exceeds_max_sdu(handle.class, octets.get() as u32 - u32::from(hop.overhead))
        {
            return self.drop_frame(place, DropReason::MaxSdu);
        }
        let local = port.clock.local(self.now);
        let armed = !port.egress.is_empty();
        if port.egress.enqueue(local, hop.lane, eligible, handle).is_err() {
            return self.enqueue_over(port_index, local, (hop_index, eligible), handle);
        }
        let entity = self.first_port + port_index;
        if PLUGGED && port.egress.is_watched() {
            return self.arm_watched(port_index);
        }
        if port.egress.busy_until() > local {
            if !armed {
                self.agenda.set(entity, port.clock.true_at(port.egress.busy_until()));
            }
        } else if self.driver == Driver::Eliding && self.agenda.next_time() > self.now {
            self.select(port_index, local);
        } else {
            self.agenda.set(entity, self.now);
        }
    }

    /// Puts a frame into a full queue in place of the oldest, if the class gives that up; else the frame is lost.
    #[cold]
    pub(crate) fn enqueue_over(
        &mut self,
        port_index: u32,
        local: Instant,
        (hop, eligible): (u32, Instant),
        handle: Handle,
    ) {
        let lane = self.plan.hops[hop as usize].lane;
        let port = self.ports[port_index as usize].as_mut().expect("a hop's port is connected");
        let mut lost = Vec::new();
        let taken = port.egress.enqueue_over(local, lane, eligible, handle, |oldest| lost.push(oldest.slot));
        for place in lost.into_iter().chain(taken.is_err().then_some(handle.slot)) {
            self.drop_frame(place, DropReason::QueueFull);
        }
        if taken.is_ok() {
            self.ask(port_index);
        }
    }

    /// Has a port select at this instant, after all frames of the instant have come (ADR 2). It may be polled whatever
    /// it waits for: early polls change nothing.
    #[cold]
    pub(crate) fn ask(&mut self, port_index: u32) {
        if !PLUGGED && self.by_ports.is_some() {
            return self.ask_by_ports(port_index);
        }
        let port = self.ports[port_index as usize].as_ref().expect("a port that is asked is connected");
        if PLUGGED && port.egress.is_watched() {
            return self.arm_watched(port_index);
        }
        self.agenda.set(self.first_port + port_index, self.now);
    }

    /// Polls a port, and arms its next wake-up.
    #[inline]
    pub(crate) fn service(&mut self, port_index: u32) {
        if PLUGGED && self.serve_started(port_index) {
            return;
        }
        let port = self.ports[port_index as usize].as_ref().expect("an armed port is connected");
        self.select(port_index, port.clock.local(self.now));
    }

    /// As `service`, at a port whose clock reads `local` now.
    #[inline]
    fn select(&mut self, port_index: u32, local: Instant) {
        let entity = self.first_port + port_index;
        let port = self.ports[port_index as usize].as_mut().expect("an armed port is connected");
        match port.egress.select(local) {
            Selection::Transmit { frame, held } => {
                let busy_until = port.clock.true_at(port.egress.busy_until());
                let has_more = PLUGGED && (port.egress.started().is_some() || port.egress.has_more());
                let waits = !port.egress.is_empty() || has_more;
                if PLUGGED && port.egress.may_change() {
                    return self.begin(port_index, frame, held, busy_until);
                }
                if PLUGGED && let Some(started) = self.resumed(port_index) {
                    let port = self.ports[port_index as usize].as_ref().expect("it was just served");
                    let rest = port.egress.started().map_or(0, |started| u64::from(started.rest()));
                    let last_part = started.goes_on(self.now, rest);
                    self.transmit(
                        port_index,
                        frame,
                        started.held,
                        (started.selected, busy_until),
                        Some(last_part),
                    );
                } else {
                    self.transmit(port_index, frame, held, (self.now, busy_until), None);
                }
                if waits || self.driver != Driver::Eliding {
                    self.agenda.set(entity, busy_until);
                } else {
                    self.agenda.clear(entity);
                }
            }
            Selection::Wait(at) => {
                let mut time = port.clock.true_at(at);
                if self.driver == Driver::Spurious {
                    let early = self.spurious.up_to(time.since(self.now).as_ps() - 1);
                    time = self.now + Duration::from_ps(early + 1);
                }
                self.agenda.set(entity, time);
                if PLUGGED {
                    self.verification_sent(port_index);
                }
            }
            Selection::Idle => self.agenda.clear(entity),
        }
    }

    /// Sends a frame that was selected at `selected`: computes when the next node receives it, and puts it into the ring of the link. Of a frame that
    /// was sent in parts the last one is in transmission.
    #[inline]
    pub(crate) fn transmit(
        &mut self,
        port_index: u32,
        frame: Handle,
        held: Duration,
        (selected, busy_until): (SimTime, SimTime),
        last_part: Option<LastPart>,
    ) {
        self.order.leave(self.network, &self.plan, self.slab.get(frame.slot), frame.slot);
        let port = self.ports[port_index as usize].as_mut().expect("it was just served");
        let slot = self.slab.get_mut(frame.slot);
        let octets = u64::from(frame.octets.get());
        let link = &mut self.links[port.link as usize];
        let (start, end) = if port.staged {
            let stages = &self.plan.transmission[port.node as usize];
            let passage = Passage { octets, class: frame.class.number(), cut_through: false };
            let ready = port.stages.pass(stages, selected, passage, &mut link.random);
            let start = ready.max(port.line_free);
            let occupied = port.egress.wire_time(octets + Bytes::MEDIA_OVERHEAD.get());
            port.line_free = port.clock.true_at(port.clock.local(start) + occupied);
            (start, port.line_free)
        } else {
            (selected, busy_until)
        };
        // The last bit leaves before the gap, and not before it was received, whatever the clocks of a cut-through frame compute.
        let last = SimTime::from_ps(end.as_ps() - port.gap.as_ps()).max(start).max(slot.received);
        let received = link.reception(last_part.map_or(start, |part| part.begun), last);
        if link.errs {
            slot.marks.corrupt(link.corrupts(last_part.map_or(octets, |part| part.octets) * 8));
        }
        let line = port.link;
        if PLUGGED {
            let &mut Slot { stream, number, hop, received: came, .. } = slot;
            let is_merging = port.egress.is_merging();
            if self.carries_octets(stream) {
                let flight = received.since(last);
                self.octets_leave(Leaving { stream, number, hop, link: line, came, start, flight });
            }
            if is_merging {
                let begun = last_part.map_or(start, |part| part.begun);
                self.last_part_sent(port_index, frame.slot, (begun, end), octets);
            }
            self.note_cycle(port_index, stream, number, start, end);
        }
        let slot = self.slab.get_mut(frame.slot);
        self.statistics.transmitted(start, line, slot.stream, slot.number);
        // A time-triggered frame waits for its point, and by shuffling for the frame under way.
        let timed = PLUGGED && self.plan.hops[slot.hop as usize].flags.has(HopFlags::TIME_TRIGGERED);
        let held = if timed { selected.saturating_since(slot.queued) } else { held + slot.held_before };
        let mut parts = delay_parts(slot, selected, held, start, last, received);
        if let Some(part) = last_part {
            parts.transmission -= part.off_line;
            parts.queueing += part.off_line;
        }
        self.statistics.passed(slot.hop, slot.created, received.since(slot.received), &parts);
        if self.recorder.takes_transmissions() {
            self.recorder.transmitted(&Transmission {
                queued: slot.queued,
                released: (slot.queued + slot.held_before).min(selected),
                selected,
                parts,
                start,
                end,
                received,
                port: port_index,
                class: frame.class.number(),
                stream: slot.stream,
                number: slot.number,
                hop: slot.hop - self.plan.first_hop[slot.stream as usize],
                octets: u32::from(frame.octets.get()),
            });
        }
        slot.received = received;
        slot.held_before = Duration::ZERO;
        let (ring, to_bridge) = (line, self.links[line as usize].to_bridge);
        if PLUGGED && self.plan.hops[slot.hop as usize].flags.has(HopFlags::ASKED) {
            return self.fly(ring, frame.slot, received, Aim::RECEPTION);
        }
        if !to_bridge {
            if self.counts_early && received <= self.end && !self.slab.get(frame.slot).marks.is_corrupted() {
                let slot = self.slab.remove(frame.slot);
                return self.deliver(&slot, received);
            }
            return self.fly(ring, frame.slot, received, Aim::DELIVERY);
        }
        let line = LineTimes { start, last, received };
        self.branch_out(ring, frame.slot, frame.octets.get(), &line);
    }

    /// Sends a frame on through the stages of the bridge at the far end, once per branch.
    #[inline]
    pub(crate) fn branch_out(&mut self, ring: u32, place: u32, octets: u16, line: &LineTimes) {
        let mut held = Duration::ZERO;
        let hop = self.slab.get(place).hop;
        if self.plan.hops[hop as usize].flags.has(HopFlags::INSPECTED) {
            match self.first_look(hop, place, line.received, ring) {
                Ok(span) => held = span,
                Err(reason) => return self.drop_frame(place, reason),
            }
        }
        self.send_behind(ring, place, octets, line, held);
    }

    /// What the bridge at the far end looks at first: how long it holds the frame, or why that goes no further.
    #[cold]
    pub(crate) fn first_look(
        &mut self,
        hop: u32,
        place: u32,
        received: SimTime,
        ring: u32,
    ) -> Result<Duration, DropReason> {
        if let Some(reason) = self.inspect(hop as usize, place, received, ring) {
            return Err(reason);
        }
        if !PLUGGED {
            return Ok(Duration::ZERO);
        }
        // A frame that is reshaped waits in its memory pool, and holds up no other.
        Ok(self.police_stream(hop, place, received, ring)?.since(received))
    }

    /// Sends a frame on through the stages of the bridge where it is, once per branch; before them it is held.
    #[inline]
    pub(crate) fn send_behind(
        &mut self,
        ring: u32,
        place: u32,
        octets: u16,
        line: &LineTimes,
        held: Duration,
    ) {
        let slot = self.slab.get(place);
        let (stream, hop_index) = (slot.stream, slot.hop as usize);
        if PLUGGED && self.is_heard_in_passing(hop_index) {
            self.statistics.streams[stream as usize].replicated += 1;
            let copy = *self.slab.get(place);
            let copy = self.slab.insert(copy);
            self.fly(ring, copy, line.received, Aim::DELIVERY);
        }
        let hop = &self.plan.hops[hop_index];
        if hop.next != NONE && !self.links[ring as usize].to_learning {
            let (next, port, class) = (hop.next, hop.next_port, hop.next_class);
            let (profile, cut_through) = (hop.profile, hop.cut_through);
            let by_ports = !PLUGGED && self.by_ports.is_some();
            if !by_ports {
                self.touch(stream, next, port, class);
            }
            let (arrival, ready) = self.pass_stages(ring, profile, class, cut_through, octets, line);
            self.slab.get_mut(place).arrival = arrival;
            if by_ports {
                return self.fly_to_port(ring, place, ready + held, next);
            }
            return self.fly(ring, place, ready + held, Aim::hop(next));
        }
        let (first, end) = self.plan.branches_behind[hop_index];
        if first == end && PLUGGED && self.plan.hops[hop_index].taker != Taker::NOBODY {
            // To the bridge itself.
            return self.fly(ring, place, line.received, Aim::DELIVERY);
        }
        if first == end {
            return self.drop_frame(place, DropReason::NoRoute);
        }
        let slot = *self.slab.get(place);
        for branch_index in first..end {
            let branch = &self.plan.branches[branch_index as usize];
            let (profile, class, cut_through) = (branch.profile, branch.class, branch.cut_through);
            let (arrival, ready) = self.pass_stages(ring, profile, class, cut_through, octets, line);
            let slot = Slot { arrival, ..slot };
            let place = if branch_index == first {
                *self.slab.get_mut(place) = slot;
                place
            } else {
                self.statistics.streams[slot.stream as usize].replicated += 1;
                self.slab.insert(slot)
            };
            self.fly(ring, place, ready + held, Aim::branch(branch_index));
        }
    }

    /// When a frame's arrival is recognised at the end of a link, and when it reaches the queue.
    #[inline]
    fn pass_stages(
        &mut self,
        ring: u32,
        profile: u16,
        class: u8,
        cut_through: u16,
        octets: u16,
        line: &LineTimes,
    ) -> (SimTime, SimTime) {
        let link = &mut self.links[ring as usize];
        let begin = if cut_through > 0 && cut_through < octets {
            // The rest of the frame is still to come: that much earlier than its last bit.
            let octet = line.last.since(line.start).as_ps() / (u64::from(octets) + 8);
            let left = octet * u64::from(octets - cut_through);
            SimTime::from_ps(line.received.as_ps() - left)
        } else {
            line.received
        };
        let profile = &self.plan.profiles[profile as usize];
        let passage = Passage { octets: u64::from(octets), class, cut_through: cut_through > 0 };
        let mut arrival = link.stages.pass(&profile.reception, begin, passage, &mut link.random);
        let ready = link.stages.pass(&profile.processing, arrival, passage, &mut link.random);
        if !link.recognition_max.is_zero() {
            arrival = arrival + link.random.span_up_to(link.recognition_max);
        }
        (arrival, ready)
    }

    /// Loads the data that the passage of a hop will need into the caches while the frame is in transit: in large
    /// networks each cache line would else be waited for when the arrival is due.
    #[inline]
    fn touch(&self, stream: u32, hop: u32, port: u32, class: u8) {
        let port = self.ports[port as usize].as_ref().expect("a hop's port is connected");
        let class = TrafficClass::new(class).expect("a class");
        let lines = (
            self.plan.hops[hop as usize].lane,
            self.statistics.hop_frames(hop),
            port.egress.frames(class),
            port.egress.is_empty(),
            port.link,
        );
        std::hint::black_box(lines);
        if let Taken::Listener(listener) = self.plan.hops[hop as usize].taker.who() {
            self.statistics.touch(stream, listener);
        }
    }

    /// Puts a frame into a ring, to be due at `due`.
    #[inline]
    pub(crate) fn fly(&mut self, ring: u32, place: u32, due: SimTime, aim: Aim) {
        let slot = self.slab.get_mut(place);
        (slot.queued, slot.aim) = (due, aim);
        let is_first = self.rings[ring as usize].insert(&mut self.slab, place);
        if is_first && (PLUGGED || self.by_ports.is_none()) {
            self.agenda.set(1 + ring, due);
        }
    }
}

/// When a frame is on the line.
pub(crate) struct LineTimes {
    /// First bit of the preamble leaves.
    pub(crate) start: SimTime,
    /// Last bit leaves.
    pub(crate) last: SimTime,
    /// Last bit is received.
    pub(crate) received: SimTime,
}

impl LineTimes {
    /// Of a frame whose last bit is in now, of which nothing else counts any more.
    pub(crate) const fn over(now: SimTime) -> Self {
        Self { start: now, last: now, received: now }
    }
}

/// The parts of a delay at one hop. A cut-through frame is selected before its last bit is in: the saved time is
/// subtracted from its waiting, then from its transmission.
#[inline]
pub(crate) fn delay_parts(
    slot: &Slot,
    selected: SimTime,
    held: Duration,
    start: SimTime,
    last: SimTime,
    received: SimTime,
) -> DelayParts {
    let saved = slot.received.saturating_since(slot.queued);
    let waited = selected.since(slot.queued);
    let waiting = waited.saturating_sub(saved);
    let shaping = held.min(waiting);
    let behind = start.since(selected);
    let overlap = saved.saturating_sub(waited);
    DelayParts {
        processing: slot.queued.saturating_since(slot.received) + behind.saturating_sub(overlap),
        shaping,
        queueing: waiting - shaping,
        transmission: last.since(start).saturating_sub(overlap.saturating_sub(behind)),
        propagation: received.since(last),
    }
}
