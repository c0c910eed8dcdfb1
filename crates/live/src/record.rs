//! What a node has counted and received in a run, and its form on a channel between processes: words of 64 bits.
//!
//! Receptions go one by one, so that what is gathered is counted as if the listener's node were here.

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_observe::{DelayParts, SignedMoments};
use tautwire_sim::{ClassObservation, ClockObservation, DropReason, HopObservation, PortObservation};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::LiveMessage;

use crate::counters::Counters;
use crate::worker::Station;

/// Most frames that the listeners of a node may receive in a run with a master: its record holds each of them in four words, 1.8 GiB of all.
pub const RECEPTIONS_MAX: usize = 60_000_000;

/// What a node has.
#[derive(Clone, Debug)]
pub struct NodeRecord {
    pub(crate) counters: Counters,
    pub(crate) ports: Vec<(PortIndex, PortObservation)>,
    /// Frames in it at the end, by stream and hop.
    pub(crate) in_flight: Vec<(u32, u32)>,
    /// Frames that its sockets lost.
    pub(crate) socket_lost: u64,
    /// What its gPTP observed, in a network that has it.
    pub(crate) clock: Option<ClockObservation>,
}

impl NodeRecord {
    pub(crate) fn of(station: Station<'_>) -> std::io::Result<Self> {
        use tautwire_linux::FramePort as _;
        let mut socket_lost = 0;
        for (_, socket) in &station.ports {
            socket_lost += socket.lost()?;
        }
        let node = station.node;
        Ok(Self {
            ports: node.port_observations().collect(),
            in_flight: node.in_flight().collect(),
            socket_lost,
            counters: node.counters,
            clock: None,
        })
    }

    /// Whether an interface of it was down in the run.
    #[must_use]
    pub const fn was_down(&self) -> bool {
        self.counters.was_down
    }

    /// As words.
    #[must_use]
    pub fn words(&self) -> Vec<u64> {
        let own = &self.counters;
        let kept = own.receptions.as_ref().map_or(0, Vec::len);
        let mut to = Words(Vec::with_capacity(kept * 4 + 1024));
        for map in [&own.created, &own.replicated, &own.consumed] {
            to.list(map.len());
            map.iter().for_each(|(stream, count)| to.all(&[u64::from(*stream), *count]));
        }
        to.list(own.dropped.len());
        for ((stream, hop, reason), count) in &own.dropped {
            let reason = DropReason::ALL.iter().position(|known| known == reason).unwrap_or_default();
            to.all(&[u64::from(*stream), u64::from(*hop), reason as u64, *count]);
        }
        to.list(own.hops.len());
        for ((stream, hop), seen) in &own.hops {
            let DelayParts { processing, shaping, queueing, transmission, propagation } = seen.sums;
            to.all(&[u64::from(*stream), u64::from(*hop), seen.frames, seen.max.as_ps()]);
            to.all(&[processing, shaping, queueing, transmission, propagation].map(Duration::as_ps));
        }
        to.all(&[own.foreign, own.transmissions, own.octets, own.lateness_max.as_ps(), self.socket_lost]);
        to.list(usize::from(own.was_down));
        let steps: Vec<_> = own.lateness.steps().collect();
        to.list(steps.len());
        steps.iter().for_each(|(least, _, count)| to.all(&[least.as_ps(), u64::from(*count)]));
        let receptions = own.receptions.as_deref().unwrap_or_default();
        to.list(receptions.len());
        for (message, listener, at) in receptions {
            let LiveMessage { stream, number, created, payload, is_of_program: _ } = *message;
            to.all(&[u64::from(stream) << 32 | u64::from(number), created]);
            to.all(&[u64::from(*listener) << 16 | u64::from(payload), at.as_ps()]);
        }
        to.list(self.in_flight.len());
        self.in_flight.iter().for_each(|(stream, hop)| to.all(&[u64::from(*stream), u64::from(*hop)]));
        to.list(self.ports.len());
        for (port, seen) in &self.ports {
            to.all(&[
                u64::from(port.0),
                seen.frames,
                seen.octets.get(),
                seen.busy.as_ps(),
                seen.scheduler_discarded,
            ]);
            for class in &seen.classes {
                to.all(&[class.frames, class.backlog_frames_max.into(), class.backlog_octets_max.get()]);
                to.all(&[
                    class.dropped,
                    class.hi_credit_bits.cast_unsigned(),
                    class.lo_credit_bits.cast_unsigned(),
                ]);
            }
        }
        to.list(usize::from(self.clock.is_some()));
        if let Some(clock) = &self.clock {
            let grandmaster = clock.grandmaster.map_or(0, |node| u64::from(node.0) + 1);
            to.all(&[grandmaster, clock.capable_ports.into(), clock.without]);
            to.list(usize::from(clock.synchronised_at.is_some()));
            to.0.extend(clock.synchronised_at.map(Duration::as_ps));
            to.all(&clock.offset.words());
        }
        to.0
    }

    /// Reads words of a node of this network; none if they are not such.
    #[must_use]
    pub fn read(words: &[u64], network: &Network, node: NodeIndex) -> Option<Self> {
        let nodes = network.nodes.len() as u64;
        let listeners = network.streams.iter().map(|stream| stream.listeners.len() as u64).sum::<u64>();
        // A table adds the counts of all nodes up for each listener, and frames to copies of them.
        let room = u64::MAX / 4 / nodes.max(1) / listeners.max(1);
        let mut from = Reader { words, network, room, octets: u64::MAX / nodes.max(1) };
        let mut counters = Counters::default();
        for map in [&mut counters.created, &mut counters.replicated, &mut counters.consumed] {
            for _ in 0..from.list(2)? {
                map.insert(from.stream()?, from.count()?);
            }
        }
        for _ in 0..from.list(4)? {
            let (stream, hop) = from.hop()?;
            let reason = *DropReason::ALL.get(usize::try_from(from.next()?).ok()?)?;
            counters.dropped.insert((stream, hop, reason), from.count()?);
        }
        for _ in 0..from.list(9)? {
            let at = from.hop()?;
            let [frames, max] = [from.count()?, from.next()?];
            let mut part = || Some(Duration::from_ps(from.next()?));
            let sums = DelayParts {
                processing: part()?,
                shaping: part()?,
                queueing: part()?,
                transmission: part()?,
                propagation: part()?,
            };
            let parts = [sums.shaping, sums.queueing, sums.transmission, sums.propagation];
            let add = |sum: u64, part: &Duration| sum.checked_add(part.as_ps());
            parts.iter().try_fold(sums.processing.as_ps(), add)?;
            counters.hops.insert(at, HopObservation { frames, sums, max: Duration::from_ps(max) });
        }
        counters.foreign = from.count()?;
        counters.transmissions = from.count()?;
        counters.octets = from.octets()?;
        counters.lateness_max = Duration::from_ps(from.next()?);
        let socket_lost = from.count()?;
        counters.was_down = match from.next()? {
            0 => false,
            1 => true,
            _ => return None,
        };
        for _ in 0..from.list(2)? {
            let (least, count) = (Duration::from_ps(from.next()?), u32::try_from(from.next()?).ok()?);
            counters.lateness.add_equal(least, count);
        }
        for _ in 0..from.list(4)? {
            let [frame, created, listener, at] = [from.next()?, from.next()?, from.next()?, from.next()?];
            let message = LiveMessage {
                stream: u32::try_from(frame >> 32).ok()?,
                number: (frame & 0xffff_ffff) as u32,
                created,
                payload: (listener & 0xffff) as u16,
                is_of_program: false,
            };
            let listener = u32::try_from(listener >> 16).ok()?;
            let own = &network.streams.get(message.stream as usize)?.listeners;
            own.get(listener as usize).filter(|own| **own == node)?;
            // A creation that no instant reaches is none.
            (created <= network.run.duration.as_ps().div_ceil(1000)).then_some(())?;
            counters.received(network, &message, listener, Instant::from_ps(at))?;
        }
        let count = from.list(2)?;
        let in_flight = (0..count).map(|_| from.hop()).collect::<Option<Vec<_>>>()?;
        let mut ports = Vec::new();
        for _ in 0..from.list(5 + 8 * 6)? {
            let port = u32::try_from(from.next()?).ok()?;
            network.nodes[node.index()].ports.contains(&port).then_some(())?;
            ports.push((PortIndex(port), from.port()?));
        }
        let clock = match from.next()? {
            0 => None,
            1 => Some(from.clock(node)?),
            _ => return None,
        };
        let is_whole = from.words.is_empty() && clock.is_some() == network.gptp.is_some();
        is_whole.then_some(Self { counters, ports, in_flight, socket_lost, clock })
    }
}

struct Words(Vec<u64>);

impl Words {
    fn all(&mut self, words: &[u64]) {
        self.0.extend_from_slice(words);
    }

    fn list(&mut self, length: usize) {
        self.0.push(length as u64);
    }
}

struct Reader<'a> {
    words: &'a [u64],
    network: &'a Network,
    /// What its counts of frames may still add up to, and those of octets: so little that no sum over the records of a run overflows.
    room: u64,
    octets: u64,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<u64> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }

    /// A count of frames.
    fn count(&mut self) -> Option<u64> {
        let count = self.next()?;
        self.room = self.room.checked_sub(count)?;
        Some(count)
    }

    /// A count of octets.
    fn octets(&mut self) -> Option<u64> {
        let count = self.next()?;
        self.octets = self.octets.checked_sub(count)?;
        Some(count)
    }

    /// The length of a list of which each entry has so many words: not more than there are.
    fn list(&mut self, of: usize) -> Option<usize> {
        let length = usize::try_from(self.next()?).ok()?;
        (length <= self.words.len() / of).then_some(length)
    }

    fn stream(&mut self) -> Option<u32> {
        let stream = u32::try_from(self.next()?).ok()?;
        self.network.streams.get(stream as usize).map(|_| stream)
    }

    fn hop(&mut self) -> Option<(u32, u32)> {
        let stream = self.stream()?;
        let hop = u32::try_from(self.next()?).ok()?;
        self.network.streams[stream as usize].hops.get(hop as usize).map(|_| (stream, hop))
    }

    fn clock(&mut self, node: NodeIndex) -> Option<ClockObservation> {
        let grandmaster = match self.next()? {
            0 => None,
            number => Some(NodeIndex(u32::try_from(number - 1).ok()?)),
        };
        if grandmaster.is_some_and(|node| node.index() >= self.network.nodes.len()) {
            return None;
        }
        let (capable_ports, without) = (u32::try_from(self.next()?).ok()?, self.count()?);
        let synchronised_at = match self.next()? {
            0 => None,
            1 => Some(Duration::from_ps(self.next()?)),
            _ => return None,
        };
        let (offset, rest) = self.words.split_first_chunk::<8>()?;
        self.words = rest;
        let offset = SignedMoments::of_words(*offset)?;
        let corrected = None;
        Some(ClockObservation {
            node,
            grandmaster,
            capable_ports,
            offset,
            without,
            synchronised_at,
            corrected,
        })
    }

    fn port(&mut self) -> Option<PortObservation> {
        let [frames, octets, busy, scheduler_discarded] =
            [self.count()?, self.octets()?, self.next()?, self.count()?];
        let mut classes = [ClassObservation::default(); 8];
        for class in &mut classes {
            *class = ClassObservation {
                frames: self.count()?,
                backlog_frames_max: u32::try_from(self.next()?).ok()?,
                backlog_octets_max: Bytes::new(self.next()?),
                dropped: self.count()?,
                hi_credit_bits: self.next()?.cast_signed(),
                lo_credit_bits: self.next()?.cast_signed(),
            };
        }
        Some(PortObservation {
            frames,
            octets: Bytes::new(octets),
            busy: Duration::from_ps(busy),
            scheduler_discarded,
            classes,
        })
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
