//! What the applications of a node send: frames of streams at their times, answers, packets of programs.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, Traffic, frame_length};
use tautwire_sim::Creations;
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::LiveMessage;

use super::{Event, Node};
use crate::frames::{Marks, Slot};
use crate::plane::least;
use crate::program::Pace;

/// An application that sends a stream.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) creations: Creations,
    /// The number of its next frame.
    pub(super) number: u32,
    /// How often it began or stopped.
    pub(super) start: u32,
    /// Since when it sends, if it does.
    pub(super) since: Option<Instant>,
}

impl Node<'_> {
    pub(super) fn add_sources(&mut self, node: NodeIndex, seed: u64) {
        for (number, stream) in self.network.streams.iter().enumerate() {
            if stream.talker != node {
                continue;
            }
            let is_started = stream.started;
            let stream = StreamIndex::at(number);
            let creations = Creations::new(self.network, stream, seed);
            let since = is_started.then_some(Instant::ZERO);
            self.sources.insert(stream.0, Source { creations, number: 0, start: 0, since });
            if is_started {
                self.offer(stream.0);
            }
        }
    }

    /// Puts the next frame of a stream among the events, if it comes before the end or at it, as in a simulated run.
    pub(super) fn offer(&mut self, stream: u32) {
        let source = &self.sources[&stream];
        let next = source.creations.next_at().map(|at| Instant::ZERO + at);
        if let Some(at) = next.filter(|at| *at <= self.end) {
            self.plane.put_behind(at, Event::Creation(source.start), stream);
        }
    }

    /// A talker creates the next frame of a stream.
    pub(super) fn create(&mut self, stream: u32, start: u32) {
        let source = self.sources.get_mut(&stream).expect("a source of this node");
        if source.start != start {
            return;
        }
        let Some(creation) = source.creations.next() else { return };
        let at = Instant::ZERO + creation.at;
        match self.programs.as_mut().and_then(|programs| programs.feeds.get_mut(&stream)) {
            Some(feed) => {
                if matches!(feed.pace, Pace::Places) {
                    self.send_packet(stream);
                    self.offer(stream);
                }
            }
            None => {
                self.offer(stream);
                let payload = u16::try_from(creation.payload.get()).expect("a checked payload");
                self.send(stream, (at, at), payload, None);
            }
        }
    }

    /// An application answers a request: with a frame whose delay counts from the request, or a program's packet.
    pub(super) fn answer(&mut self, stream: u32, asked: Instant) {
        let Some(source) = self.sources.get(&stream).filter(|source| source.since.is_some()) else { return };
        if self.programs.as_ref().is_some_and(|programs| programs.feeds.contains_key(&stream)) {
            return self.send_packet(stream);
        }
        let described = &self.network.streams[stream as usize];
        let payload = u16::try_from(described.payload_max.get()).expect("a checked payload");
        if let (Traffic::Response { to, .. }, Some(control)) = (&described.traffic, &mut self.control) {
            control.hosted.answers((StreamIndex(stream), source.number), *to);
        }
        self.send(stream, (asked, self.plane.now), payload, None);
    }

    /// A program has sent a packet, which goes as soon as its stream promises.
    pub(crate) fn take_packet(&mut self, now: Instant, packet: &[u8]) {
        let taken = self.programs.as_mut().and_then(|programs| programs.take(now, packet));
        let Some((stream, discarded)) = taken else { return };
        let Some(reason) = discarded else { return self.offer_packet(stream) };
        *self.counters.created.entry(stream).or_default() += 1;
        let hop = self.plan.behind(stream, None).first().copied().unwrap_or(0);
        self.counters.dropped(stream, hop, reason);
    }

    /// Puts the next packet of a program among the events, if its stream is sent and it may go before the end.
    pub(super) fn offer_packet(&mut self, stream: u32) {
        let Some(since) = self.sources.get(&stream).and_then(|source| source.since) else { return };
        let Some(feed) = self.programs.as_mut().and_then(|programs| programs.feeds.get_mut(&stream)) else {
            return;
        };
        let at = feed.next(self.plane.now.max(since)).filter(|at| *at <= self.end && !feed.is_put);
        if let Some(at) = at {
            feed.is_put = true;
            self.plane.put(at, Event::Packet, stream);
        }
    }

    /// The next packet of a program goes.
    pub(super) fn send_packet(&mut self, stream: u32) {
        let now = self.plane.now;
        let is_sent = self.sources.get(&stream).is_some_and(|source| source.since.is_some());
        let Some(feed) = self.programs.as_mut().and_then(|programs| programs.feeds.get_mut(&stream)) else {
            return;
        };
        feed.is_put = false;
        if let Some((packet, payload)) = is_sent.then(|| feed.take(now)).flatten() {
            self.send(stream, (now, now), payload, Some(&packet));
            self.offer_packet(stream);
        }
    }

    /// Creates a frame of a stream at `at`, whose delay counts from `created`, with a program's packet in it, if there is one.
    pub(super) fn send(
        &mut self,
        stream: u32,
        (created, at): (Instant, Instant),
        payload: u16,
        packet: Option<&[u8]>,
    ) {
        let source = self.sources.get_mut(&stream).expect("a source of this node");
        let message = LiveMessage {
            stream,
            number: source.number,
            created: created.as_ps() / 1000,
            payload,
            is_of_program: packet.is_some(),
        };
        source.number += 1;
        *self.counters.created.entry(stream).or_default() += 1;
        let mut data = self.plane.slab.room();
        message.emit(packet.unwrap_or_default(), &mut data);
        let zero = Duration::ZERO;
        let slot = Slot {
            message,
            received: created,
            queued: at,
            held: zero,
            hop: 0,
            marks: Marks::default(),
            to: None,
            data,
        };
        let place = self.plane.slab.insert(slot);
        self.pass_on(place, None);
    }

    /// A listener has received a frame: its application answers, if it does, before the end of the run or at it.
    pub(super) fn asked(&mut self, message: &LiveMessage, (hop, port): (u32, PortIndex), received: Instant) {
        let Some(answers) = self.answers.get(&message.stream) else { return };
        let created = Instant::ZERO + Duration::from_ns(message.created);
        let tagged = self.network.streams[message.stream as usize].hops[hop as usize].tagged;
        let octets = frame_length(Bytes::new(message.payload.into()), tagged).get();
        let receive = self.network.reception(self.network.ports[port.index()].node);
        let at_application = received + receive.map_or(Duration::ZERO, |receive| least(receive, octets));
        for (stream, turn_around) in answers {
            let at = at_application + *turn_around;
            if at <= self.end {
                self.plane.put(at, Event::Answer(created), *stream);
            }
        }
    }
}

/// Streams in which applications of a node answer, by that of the requests, and their turn-around.
pub(super) fn answers(network: &Network, node: NodeIndex) -> BTreeMap<u32, Vec<(u32, Duration)>> {
    let mut found: BTreeMap<u32, Vec<(u32, Duration)>> = BTreeMap::new();
    for (number, stream) in network.streams.iter().enumerate().filter(|(_, own)| own.talker == node) {
        let Traffic::Response { to, turn_around } = stream.traffic else { continue };
        found.entry(to.0).or_default().push((StreamIndex::at(number).0, turn_around));
    }
    found
}
