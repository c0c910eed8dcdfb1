//! Talkers and their hosts: from an application to the queue of the port.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Stream, StreamIndex, Traffic, frame_length};
use tautwire_units::{Bytes, Duration};

use crate::clock::{LocalClock, SimTime};
use crate::engine::Engine;
use crate::frame::{Aim, Marks, Slot, octets_of};
use crate::plan::{NONE, Plan, index};
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::DropReason;
use crate::source::Source;
use crate::time_triggered::is_locked;

/// The talker of a stream. The fields that every frame touches come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Talker {
    pub(crate) running: bool,
    /// Grows when the source starts anew: entries of an older epoch are void.
    pub(crate) epoch: u32,
    pub(crate) node: u32,
    pub(crate) shaper: TalkerShaper,
    /// Number of its next frame: as many were created.
    pub(crate) number: u32,
    first_hop: u32,
    /// Where its host sends its frames; none if nowhere.
    aim: Option<Aim>,
    /// Octets of its frames in addition to their payload.
    pub(crate) overhead: u8,
    pub(crate) source: Source,
}

/// The shaper of a stream at its talker, before its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TalkerShaper {
    /// Nothing.
    None,
    /// A scheduler of the node's bank.
    Scheduler(u32),
    /// The regulator of its virtual link.
    Regulator,
}

pub(crate) fn talkers(
    network: &Network,
    plan: &Plan,
    clocks: &[LocalClock],
    shapers: &[TalkerShaper],
    seed: u64,
) -> Vec<Talker> {
    let talker = |(number, stream): (usize, &Stream)| {
        let NodeIndex(node) = stream.talker;
        // An application that follows network time begins with it.
        let start = if is_locked(stream) {
            tautwire_units::Instant::ZERO
        } else {
            clocks[node as usize].local(SimTime::ZERO)
        };
        let line = stream.hops.first().and_then(|hop| network.ports[hop.port.index()].links);
        let line = line.map(|links| network.links[links.egress.index()].rate).unwrap_or_default();
        debug_assert!(frame_length(stream.payload_max, stream.tagged).get() <= u64::from(u16::MAX));
        let first_hop = plan.first_hop[number];
        Talker {
            first_hop,
            aim: plan.talker_aim(number),
            overhead: plan.hops.get(first_hop as usize).map_or(0, |hop| hop.overhead),
            source: Source::new(stream, line, start, || Random::new(seed, Purpose::Source, number)),
            running: stream.started,
            epoch: 0,
            node,
            shaper: shapers[number],
            number: 0,
        }
    };
    network.streams.iter().enumerate().map(talker).collect()
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Puts the coming frame of a stream into its host's list.
    pub(crate) fn offer_source(&mut self, stream: u32) {
        if let Some(entry) = self.offered(stream) {
            let node = self.talkers[stream as usize].node as usize;
            let host = self.hosts[node].as_mut().expect("a talker is an end station");
            host.sources.push(entry);
        }
    }

    /// The entry of the coming frame of a stream in its host's list, if one comes.
    #[inline]
    fn offered(&self, stream: u32) -> Option<Reverse<(SimTime, u32, u32)>> {
        let talker = &self.talkers[stream as usize];
        let (mut time, _) = talker.source.peek()?;
        if PLUGGED
            && is_locked(&self.network.streams[stream as usize])
            && let Some(timed) = self.timed()
        {
            if !timed.is_synchronised(talker.node as usize) {
                return None;
            }
            time = timed.reading(talker.node as usize, time);
        }
        if PLUGGED && let Some(local) = self.oscillator_at(talker.node as usize, time) {
            time = local;
        }
        let time = self.nodes[talker.node as usize].clock.true_at(time).max(self.now);
        Some(Reverse((time, stream, talker.epoch)))
    }

    /// Arms a host's sources with their first frame.
    pub(crate) fn arm_sources(&mut self, node: u32) {
        if !PLUGGED && self.by_ports.is_some() {
            return;
        }
        let Some(host) = &self.hosts[node as usize] else { return };
        let entity = self.first_source + node;
        match host.sources.peek() {
            Some(Reverse((time, _, _))) => self.agenda.set(entity, *time),
            None => self.agenda.clear(entity),
        }
    }

    /// The first frame of a host's sources is due.
    pub(crate) fn take_source(&mut self, node: u32) {
        let host = self.hosts[node as usize].as_mut().expect("an armed host");
        let Reverse((_, stream, epoch)) = *host.sources.peek().expect("an armed host has a frame");
        let talker = &mut self.talkers[stream as usize];
        if !talker.running || talker.epoch != epoch {
            host.sources.pop();
            return self.take_other(node, stream, epoch);
        }
        let (_, mut payload) = talker.source.peek().expect("a frame that was offered");
        talker.source.advance();
        let number = talker.number;
        talker.number += 1;
        if PLUGGED && let Some(datagrams) = self.network.streams[stream as usize].datagrams {
            payload = datagrams.payload(number);
        }
        // The next frame takes the place of this one: one way through the list instead of two.
        let next = self.offered(stream);
        let sources = &mut self.hosts[node as usize].as_mut().expect("an armed host").sources;
        let first = sources.peek_mut();
        match (first, next) {
            (Some(mut first), Some(next)) => *first = next,
            (Some(first), None) => drop(PeekMut::pop(first)),
            (None, _) => {}
        }
        self.arm_sources(node);
        self.create(stream, number, payload, self.now);
    }

    /// An application answers a request that is under way since `since`: with a frame, or those of a datagram.
    pub(crate) fn create_next(&mut self, stream: u32, since: SimTime) {
        let answer = &self.network.streams[stream as usize];
        for _ in 0..self.network.frames_a_message(StreamIndex(stream)) {
            let number = self.talkers[stream as usize].number;
            self.talkers[stream as usize].number += 1;
            let payload = answer.datagrams.map_or(answer.payload_max, |datagrams| datagrams.payload(number));
            if let Traffic::Response { to, .. } = answer.traffic {
                self.announce_answer(StreamIndex(stream), number, to);
            }
            self.create(stream, number, payload, since);
        }
    }

    /// A frame of which the delay counts from `since`, and where its host sends it.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        stream: u32,
        number: u32,
        payload: Bytes,
        since: SimTime,
    ) -> (u32, Option<Aim>) {
        let now = self.now;
        let payload = u16::try_from(payload.get()).expect("a checked payload");
        self.recorder.created(now, stream, number, u32::from(payload));
        let talker = &self.talkers[stream as usize];
        let place = self.slab.insert(Slot {
            created: since,
            received: since,
            arrival: now,
            queued: now,
            held_before: Duration::ZERO,
            stream,
            number,
            hop: talker.first_hop,
            aim: Aim::DELIVERY,
            behind: NONE,
            payload,
            marks: Marks::default(),
            sequence: 0,
        });
        (place, talker.aim)
    }

    /// An application creates a frame, of which the delay counts from `since`.
    #[inline]
    fn create(&mut self, stream: u32, number: u32, payload: Bytes, since: SimTime) {
        let now = self.now;
        let (place, aim) = self.insert(stream, number, payload, since);
        let Some(aim) = aim else {
            return self.drop_at_talker(place, DropReason::NoRoute);
        };
        let payload = self.slab.get(place).payload;
        let talker = &self.talkers[stream as usize];
        let (node, overhead) = (talker.node as usize, talker.overhead);
        if PLUGGED && self.send_through_stack(place, node) {
            return;
        }
        let ring = index(self.links.len() + node);
        let host = self.hosts[node].as_mut().expect("a talker is an end station");
        if self.rings[ring as usize].len() >= host.queue_limit {
            return self.drop_at_talker(place, DropReason::HostQueueFull);
        }
        let octets = u64::from(octets_of(payload, overhead).get());
        let ready = (now + host.random.delay(&host.transmit, octets)).max(host.last_out);
        host.last_out = ready;
        self.hand_down(place, node, ready, aim);
    }

    /// A host hands a frame down at `ready`: to its virtual link, its shaper, the mechanism that takes it, or its port.
    #[inline]
    pub(crate) fn hand_down(&mut self, place: u32, node: usize, mut ready: SimTime, aim: Aim) {
        let now = self.now;
        let slot = self.slab.get(place);
        let talker = &self.talkers[slot.stream as usize];
        let octets = u64::from(octets_of(slot.payload, talker.overhead).get());
        let ring = index(self.links.len() + node);
        if talker.shaper == TalkerShaper::Regulator {
            return if ready == now {
                self.hand_to_link(place)
            } else {
                self.fly(ring, place, ready, Aim::DELIVERY)
            };
        }
        if let TalkerShaper::Scheduler(scheduler) = talker.shaper {
            let state = &mut self.nodes[node];
            let arrival = state.clock.local(ready);
            match state.ats.process(scheduler, arrival, octets) {
                Ok(eligible) => {
                    let handed = ready;
                    ready = state.clock.true_at(eligible).max(ready);
                    self.slab.get_mut(place).held_before = ready.since(handed);
                }
                Err(_) => return self.drop_at_talker(place, DropReason::ResidenceTime),
            }
        }
        if PLUGGED && self.hand_to_runner(place, node, ready, aim) {
            return;
        }
        if ready == now {
            self.take_aim(place, aim);
        } else {
            self.fly(ring, place, ready, aim);
        }
    }
}
