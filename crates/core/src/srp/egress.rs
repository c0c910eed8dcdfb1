//! An egress port of a bridge: which streams it can take, and what is locked for them (IEEE Std 802.1Q-2022, 35.2.4).
//!
//! Streams that listeners request are served by rank, then by the age of their reservation, then by the order of
//! arrival; the others are tested against the remaining bandwidth. While all requested streams are served, their order
//! does not matter: a stream that leaves frees bandwidth, one that comes takes it, and of the streams without a
//! request only those are tested again whose verdict depends on the difference. As soon as one requested stream is not
//! served, all requested streams of the port are tested again.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::MacAddress;
use tautwire_wire::srp::{FailureCode, Rank, StreamId};

use super::bandwidth::PortBandwidth;

/// A stream as a port sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    pub(super) class: usize,
    /// Bits in a second.
    pub(super) slope: u64,
    pub(super) rank: Rank,
    /// Whether a listener requests it at the port.
    pub(super) asked: bool,
    pub(super) arrived: u64,
}

/// Reservations of the bridge, over all ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pool {
    pub(super) count: usize,
    pub(super) max: usize,
}

impl Pool {
    pub(super) const fn is_free(&self) -> bool {
        self.count < self.max
    }
}

/// The state of a stream at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Slot {
    verdict: Result<(), FailureCode>,
    /// None if it cannot go out here whatever else does.
    candidate: Option<Candidate>,
}

/// The reservation of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Lock {
    since: Instant,
    class: usize,
    slope: u64,
    rank: Rank,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Egress {
    slots: BTreeMap<StreamId, Slot>,
    /// Streams without a request: rank, class, slope.
    idle: BTreeSet<(Rank, usize, u64, StreamId)>,
    asked: BTreeSet<StreamId>,
    reserved: BTreeMap<StreamId, Lock>,
    /// Streams that were preempted, until they are served again.
    preempted: BTreeSet<StreamId>,
    bandwidth: PortBandwidth,
    /// Bandwidth of streams that cannot be displaced, for those that displace others.
    urgent: PortBandwidth,
}

/// The candidate of a stream at a port, or why it cannot leave there; none if it does not concern the port.
pub(super) type News = Option<Result<Candidate, FailureCode>>;

/// The first of all identifiers, and the last.
const FIRST: StreamId = StreamId { source: MacAddress([0; 6]), unique: 0 };
const LAST: StreamId = StreamId { source: MacAddress([0xff; 6]), unique: u16::MAX };

impl Egress {
    /// A port that promised nothing.
    pub(super) fn new(bandwidth: PortBandwidth) -> Self {
        Self {
            slots: BTreeMap::new(),
            idle: BTreeSet::new(),
            asked: BTreeSet::new(),
            reserved: BTreeMap::new(),
            preempted: BTreeSet::new(),
            urgent: bandwidth.clone(),
            bandwidth,
        }
    }

    pub(super) const fn bandwidth(&self) -> &PortBandwidth {
        &self.bandwidth
    }

    /// Reserved streams, with the time of their reservation.
    pub(super) fn reserved(&self) -> impl Iterator<Item = (StreamId, Instant)> {
        self.reserved.iter().map(|(stream, lock)| (*stream, lock.since))
    }

    /// Since when a stream is reserved.
    pub(super) fn since(&self, stream: &StreamId) -> Option<Instant> {
        self.reserved.get(stream).map(|lock| lock.since)
    }

    /// Whether a stream can go out; none if it is none of the port's.
    pub(super) fn verdict(&self, stream: &StreamId) -> Option<Result<(), FailureCode>> {
        self.slots.get(stream).map(|slot| slot.verdict)
    }

    /// A stream is not registered any more: it does not count as preempted.
    pub(super) fn forget(&mut self, stream: &StreamId) {
        self.preempted.remove(stream);
    }

    /// Takes the changes of streams, tests all requested ones again if that is needed or `again` is set, and gives the
    /// streams whose verdict changed.
    pub(super) fn update(
        &mut self,
        now: Instant,
        news: impl Iterator<Item = (StreamId, News)>,
        again: bool,
        pool: &mut Pool,
    ) -> BTreeSet<StreamId> {
        let mut changed = BTreeSet::new();
        let mut touched = Vec::new();
        let mut simple = !again && !planted!(ReadyNotLocked) && self.reserved.len() == self.asked.len();
        for (stream, news) in news {
            let candidate = news.and_then(Result::ok);
            let before = self.slots.get(&stream).copied();
            let known = before.and_then(|slot| slot.candidate);
            simple &= self.is_simple(&stream, known, candidate);
            self.index(&stream, known, candidate);
            match news {
                None => drop(self.slots.remove(&stream)),
                Some(news) => {
                    // The verdict of a candidate is decided below.
                    let registration = before.map_or(Err(FailureCode(0)), |slot| slot.verdict);
                    let verdict = news.map_or_else(Err, |_| registration);
                    self.slots.insert(stream, Slot { verdict, candidate });
                }
            }
            if self.verdict(&stream) != before.map(|slot| slot.verdict) {
                changed.insert(stream);
            }
            touched.push((stream, candidate));
        }
        if !(simple && self.settle_simply(now, &touched, pool, &mut changed)) {
            self.decide(now, pool, &mut changed);
        }
        changed
    }

    /// Whether it does not matter in which order the change of a stream is looked at: its figures are the same, or nothing is locked
    /// for it.
    fn is_simple(&self, stream: &StreamId, before: Option<Candidate>, after: Option<Candidate>) -> bool {
        let (Some(before), Some(after)) = (before, after) else { return true };
        let figures = |candidate: Candidate| (candidate.class, candidate.slope, candidate.rank);
        figures(before) == figures(after) || !self.reserved.contains_key(stream)
    }

    fn index(&mut self, stream: &StreamId, before: Option<Candidate>, after: Option<Candidate>) {
        if let Some(before) = before {
            self.idle.remove(&(before.rank, before.class, before.slope, *stream));
            self.asked.remove(stream);
        }
        match after {
            Some(after) if after.asked => {
                self.asked.insert(*stream);
            }
            Some(after) => {
                self.idle.insert((after.rank, after.class, after.slope, *stream));
            }
            None => {}
        }
    }

    /// Reserves and releases for the changed streams alone, if all requested ones have room; else changes nothing.
    fn settle_simply(
        &mut self,
        now: Instant,
        touched: &[(StreamId, Option<Candidate>)],
        pool: &mut Pool,
        changed: &mut BTreeSet<StreamId>,
    ) -> bool {
        let (mut bandwidth, mut urgent, mut count) =
            (self.bandwidth.clone(), self.urgent.clone(), pool.count);
        let mut gone = BTreeSet::new();
        let mut come = Vec::new();
        for (stream, candidate) in touched {
            let asking = candidate.filter(|candidate| candidate.asked);
            match (self.reserved.get(stream), asking) {
                (Some(lock), None) => {
                    bandwidth.release(lock.class, lock.slope);
                    if lock.rank == Rank::Emergency {
                        urgent.release(lock.class, lock.slope);
                    }
                    count -= 1;
                    gone.insert(*stream);
                }
                (None, Some(candidate)) => come.push((*stream, candidate)),
                _ => {}
            }
        }
        for (_, candidate) in &come {
            if count >= pool.max || bandwidth.reserve(candidate.class, candidate.slope).is_err() {
                return false;
            }
            if candidate.rank == Rank::Emergency {
                urgent.reserve(candidate.class, candidate.slope).expect("all together have room");
            }
            count += 1;
        }
        pool.count = count;
        self.reserved.retain(|stream, _| !gone.contains(stream));
        for (stream, Candidate { class, slope, rank, .. }) in come {
            self.reserved.insert(stream, Lock { since: now, class, slope, rank });
        }
        let before = core::mem::replace(&mut self.bandwidth, bandwidth);
        let urgent_before = core::mem::replace(&mut self.urgent, urgent);
        let mut again: BTreeSet<StreamId> = BTreeSet::new();
        for (rank, before, after) in
            [(Rank::Emergency, &urgent_before, &self.urgent), (Rank::NonEmergency, &before, &self.bandwidth)]
        {
            again.extend(self.between(rank, before, after));
        }
        again.extend(touched.iter().filter(|(_, candidate)| candidate.is_some()).map(|(stream, _)| *stream));
        for stream in again {
            self.judge(&stream, gone.contains(&stream), pool, changed);
        }
        true
    }

    /// Streams without a request whose verdict changes with the reserved bandwidth: their slope is between the
    /// bandwidth left before and the bandwidth left after.
    fn between(&self, rank: Rank, before: &PortBandwidth, after: &PortBandwidth) -> Vec<StreamId> {
        let mut found = Vec::new();
        for class in 0..before.classes() {
            for (one, other) in before.rooms(class).into_iter().zip(after.rooms(class)) {
                if one != other {
                    let (low, high) = (one.min(other) + 1, one.max(other));
                    let range = (rank, class, low, FIRST)..=(rank, class, high, LAST);
                    found.extend(self.idle.range(range).map(|(.., stream)| *stream));
                }
            }
        }
        found
    }

    /// Tests all streams requested at the port, and then the others.
    fn decide(&mut self, now: Instant, pool: &mut Pool, changed: &mut BTreeSet<StreamId>) {
        let before = core::mem::take(&mut self.reserved);
        pool.count -= before.len();
        self.bandwidth.clear();
        self.urgent.clear();
        let mut asked: Vec<_> = self
            .asked
            .iter()
            .map(|stream| {
                let candidate = self.slots[stream].candidate.expect("who is asked for may go out");
                let since = before.get(stream).map(|lock| lock.since);
                ((candidate.rank, since.is_none(), since, candidate.arrived, *stream), candidate)
            })
            .collect();
        asked.sort_unstable_by_key(|(key, _)| *key);
        for ((rank, _, since, _, stream), Candidate { class, slope, .. }) in asked {
            let verdict = if !pool.is_free() {
                Err(FailureCode::BRIDGE_RESOURCES)
            } else if planted!(ReadyNotLocked) {
                self.bandwidth.test(class, slope)
            } else {
                self.bandwidth.reserve(class, slope)
            };
            if verdict.is_ok() {
                pool.count += 1;
                self.reserved.insert(stream, Lock { since: since.unwrap_or(now), class, slope, rank });
                if rank == Rank::Emergency {
                    self.urgent = self.bandwidth.clone();
                }
            }
        }
        let all: Vec<StreamId> = self
            .slots
            .iter()
            .filter(|(_, slot)| slot.candidate.is_some())
            .map(|(stream, _)| *stream)
            .collect();
        for stream in all {
            self.judge(&stream, before.contains_key(&stream), pool, changed);
        }
    }

    /// Records whether a stream is served, or could be. A reservation that is lost was preempted: its failure reason
    /// stays until it is served again.
    fn judge(
        &mut self,
        stream: &StreamId,
        was_reserved: bool,
        pool: &Pool,
        changed: &mut BTreeSet<StreamId>,
    ) {
        let Some(Slot { verdict: before, candidate: Some(candidate) }) = self.slots.get(stream).copied()
        else {
            return;
        };
        let Candidate { class, slope, rank, asked, .. } = candidate;
        let free = if pool.is_free() { Ok(()) } else { Err(FailureCode::BRIDGE_RESOURCES) };
        let verdict = if self.reserved.contains_key(stream) {
            Ok(())
        } else if asked {
            free.and_then(|()| self.bandwidth.test(class, slope))
        } else {
            let held = if rank == Rank::Emergency { &self.urgent } else { &self.bandwidth };
            held.test(class, slope).and(free)
        };
        if verdict.is_ok() {
            self.preempted.remove(stream);
        } else if was_reserved {
            self.preempted.insert(*stream);
        }
        let gave_way = self.preempted.contains(stream);
        let verdict = verdict.map_err(|code| if gave_way { FailureCode::PREEMPTED } else { code });
        if verdict != before {
            changed.insert(*stream);
            self.slots.get_mut(stream).expect("it was found").verdict = verdict;
        }
    }
}
