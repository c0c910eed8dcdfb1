//! Compares the backlog of queues and pools of a network with HaRTES with their limits.
//!
//! Of a stream as many frames are at a port as come within its longest stay there. A policer that discards lets frames pass
//! that come no closer than its distance; one that reshapes keeps early ones in a pool, as many as fall due in the time by which
//! the earliest is early. A pool of a relayed stream has room where the stream has a bound.

use tautwire_core::harts::Violator;
use tautwire_model::harts::polled::Police;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::Duration;

use super::arrivals::Arrivals;
use super::{FRAMES_MAX, Servers};
use crate::loss::{Limit, LimitKind, LimitPlace, Overflow, Whose, buffer_limits};
use crate::service::Carried;

/// Picoseconds that a stream's policer wants between frames: frames that come closer are discarded.
const POLICED_DISTANCE: LimitKind = LimitKind {
    wants_less: true,
    ..LimitKind::new("policed-distance", "ps", "policing at {place}, distance of frames")
};

/// Early frames of a stream that its policer keeps.
const RESHAPE_POOL: LimitKind =
    LimitKind::new("reshape-pool-frames", "frames", "pool of early frames of {place}");

impl Servers<'_> {
    /// Adds limits that may be too small; `bounds`: per stream, hop by hop.
    pub(super) fn add_overflows(&self, bounds: &[Vec<&Carried>], found: &mut Vec<Overflow>) {
        // Frames and octets at each class of each port; none: no bound.
        let mut most = vec![[Some((0_u64, 0_u64)); 8]; self.network.ports.len()];
        let mut cells = vec![[Some(0_u64); 8]; self.network.ports.len()];
        for (number, stream) in self.network.streams.iter().enumerate() {
            let index = StreamIndex::at(number);
            for (place, hop) in stream.hops.iter().enumerate() {
                let frames = self.frames_at(index, place, &bounds[number]);
                let octets = tautwire_model::frame_length(stream.payload_max, hop.tagged).get();
                if let Some(buffer) = &self.network.ports[hop.port.index()].shared_buffer {
                    let each = octets.div_ceil(buffer.cell.get());
                    let sum = &mut cells[hop.port.index()][hop.class.index()];
                    *sum =
                        sum.zip(frames).map(|(all, frames)| all.saturating_add(frames.saturating_mul(each)));
                }
                let sum = &mut most[hop.port.index()][hop.class.index()];
                *sum = sum.zip(frames).map(|((all, held), frames)| {
                    (all.saturating_add(frames), held.saturating_add(frames.saturating_mul(octets)))
                });
            }
            self.policed(index, &bounds[number], found);
        }
        for (port, classes) in most.iter().enumerate() {
            for (class, sum) in (0_u8..8).zip(classes) {
                let limits = &self.network.ports[port].classes[usize::from(class)];
                let at = PortIndex::at(port);
                let class = tautwire_core::TrafficClass::new(class).expect("below eight");
                let mut hold = |kind, limit, needed: Option<u64>| {
                    if needed.is_none_or(|needed| needed > limit) {
                        let limit = Limit { kind, at: LimitPlace::Class(at, class), limit, needed };
                        found.push(Overflow { whose: Whose::Class(at, class), limit });
                    }
                };
                let frames = u64::from(limits.limit_frames);
                hold(LimitKind::QUEUE_FRAMES, frames, sum.map(|sum| sum.0));
                hold(LimitKind::QUEUE_OCTETS, limits.limit_octets.get(), sum.map(|sum| sum.1));
            }
        }
        for (port, needs) in cells.into_iter().enumerate() {
            if let Some(buffer) = &self.network.ports[port].shared_buffer {
                let of_port = buffer_limits(self.network, PortIndex::at(port), buffer, needs);
                found.extend(of_port.map(|(_, overflow)| overflow));
            }
        }
        for node in (0..self.network.nodes.len()).map(NodeIndex::at) {
            self.host(node, found);
        }
    }

    /// Greatest less least time from the application to where a hop begins.
    fn spread_before(&self, number: StreamIndex, place: usize, bounds: &[&Carried]) -> Option<u64> {
        let mut spread = 0_u64;
        let mut at = self.network.streams[number.index()].hops[place].previous;
        while let Some(previous) = at {
            let hop = bounds[previous as usize];
            let most = hop.hop.as_ref().ok()?.total();
            spread = spread.saturating_add(most.saturating_sub(hop.hop_min));
            at = self.network.streams[number.index()].hops[previous as usize].previous;
        }
        Some(spread)
    }

    /// How a stream's frames come to a hop.
    fn come(&self, number: StreamIndex, place: usize, bounds: &[&Carried]) -> Option<Arrivals> {
        let spread = self.spread_before(number, place, bounds)?;
        let arrivals = self.releases(number).or_else(|| self.arrivals(number))?;
        Some(arrivals.with_jitter(spread))
    }

    /// Most frames of a stream at the port of a hop.
    fn frames_at(&self, number: StreamIndex, place: usize, bounds: &[&Carried]) -> Option<u64> {
        let harts = self.network.harts.as_ref()?;
        let hop = &self.network.streams[number.index()].hops[place];
        if harts.ftt.is_trigger(number, hop.port) {
            return Some(1);
        }
        let stay = bounds[place].hop.as_ref().ok()?.total();
        Some(self.come(number, place, bounds)?.frames(stay))
    }

    /// What the policer of a stream may discard, or its pool not hold.
    fn policed(&self, number: StreamIndex, bounds: &[&Carried], found: &mut Vec<Overflow>) {
        let Some(police) = self.police(number) else { return };
        let stream = &self.network.streams[number.index()];
        let Some(place) = stream.hops.iter().position(|hop| hop.previous == Some(0)) else { return };
        let come = self.come(number, place, bounds);
        let (whose, at) = (Whose::Stream(number), LimitPlace::Stream(number));
        match police.violator {
            Violator::Discard => {
                let distance = self.late(police.distance.as_ps());
                let apart = come.map(|come| come.distance(2));
                if apart.is_none_or(|apart| apart < distance) {
                    let fits = apart.map(|apart| self.deviation.shrink(apart).saturating_sub(self.slack + 2));
                    let kind = POLICED_DISTANCE;
                    let limit = police.distance.as_ps();
                    found.push(Overflow {
                        whose,
                        limit: Limit { kind, at, limit, needed: fits.filter(|ps| *ps > 0) },
                    });
                }
            }
            Violator::Reshape => {
                let limit = u64::from(police.pool);
                let needed = come.and_then(|come| self.early_frames(&police, come));
                if needed.is_some_and(|needed| needed <= limit) {
                    return;
                }
                let kind = RESHAPE_POOL;
                let mut limit_of = Limit { kind, at, limit, needed };
                // Where frames come faster than its clock lets them go, no pool is enough.
                let pace = come.map(|come| self.deviation.shrink(come.pace()));
                if let Some(pace) = pace.filter(|pace| needed.is_none() && *pace < police.distance.as_ps()) {
                    let (kind, limit) = (POLICED_DISTANCE, police.distance.as_ps());
                    limit_of = Limit { kind, at, limit, needed: Some(pace) };
                }
                found.push(Overflow { whose, limit: limit_of });
            }
        }
    }

    /// How many early frames wait at a policer at most; none if there is no bound.
    fn early_frames(&self, police: &Police, come: Arrivals) -> Option<u64> {
        // By its clock frames fall due exactly so far apart: what is rounded is rounded once.
        let distance = self.deviation.stretch(police.distance.as_ps());
        let least = self.deviation.shrink(police.distance.as_ps()).max(1);
        let repeats = come.repeats(distance, 1).filter(|repeats| *repeats < FRAMES_MAX)?;
        let due = |frames: u64| (frames - 1).saturating_mul(distance).saturating_add(self.slack + 2);
        let early = |frames: u64| due(frames).saturating_sub(come.distance(frames));
        let earliest = (2..=FRAMES_MAX.min(repeats + FRAMES_MAX / 2)).map(early).max()?;
        Some(earliest.div_ceil(least))
    }

    /// The queue of a host.
    fn host(&self, node: NodeIndex, found: &mut Vec<Overflow>) {
        let Some(host) = self.network.host(node).filter(|_| !self.network.has_stacks(node)) else { return };
        let limit = u64::from(host.queue_limit);
        let numbers = (0..self.network.streams.len()).map(StreamIndex::at);
        let here = numbers.filter(|number| {
            let stream = &self.network.streams[number.index()];
            stream.talker == node && !stream.traffic.is_control()
        });
        let frames = |number: StreamIndex| {
            let stream = &self.network.streams[number.index()];
            match Duration::from_ps(self.transmit(stream).max) {
                Duration::ZERO => Some(1),
                most => Some(self.arrivals(number)?.frames(most.as_ps())),
            }
        };
        let needed = here.map(frames).try_fold(0_u64, |sum, more| Some(sum.saturating_add(more?)));
        if needed.is_none_or(|needed| needed > limit) {
            let limit = Limit { kind: LimitKind::HOST_QUEUE, at: LimitPlace::Node(node), limit, needed };
            found.push(Overflow { whose: Whose::Talker(node), limit });
        }
    }
}
