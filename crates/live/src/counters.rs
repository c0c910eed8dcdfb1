//! What a node counts, and what its listeners observe; the counts of all nodes give the observation of the run.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_observe::{DelayParts, Histogram};
use tautwire_sim::{DropReason, HopObservation, ListenerObservation, StreamObservation, WorstFrame};
use tautwire_units::{Duration, Instant};
use tautwire_wire::LiveMessage;

/// A listener of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listener {
    pub(crate) seen: ListenerObservation,
    last: Option<Instant>,
    /// The greatest number that came, and one.
    pub(crate) next: u64,
    /// Numbers below it that have not come: spans, from the first to the one behind the last. A frame adds at most one.
    missing: BTreeMap<u64, u64>,
}

impl Listener {
    /// Whether a number below the greatest has not come yet; it has now.
    fn was_missing(&mut self, number: u64) -> bool {
        let span = self.missing.range(..=number).next_back().map(|(first, end)| (*first, *end));
        let Some((first, end)) = span.filter(|(_, end)| number < *end) else { return false };
        self.missing.remove(&first);
        for (first, end) in [(first, number), (number + 1, end)] {
            if first < end {
                self.missing.insert(first, end);
            }
        }
        true
    }
}

/// The counts of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) created: BTreeMap<u32, u64>,
    pub(crate) replicated: BTreeMap<u32, u64>,
    pub(crate) consumed: BTreeMap<u32, u64>,
    /// Frames that a port did not take, by stream and hop: nothing is reserved or registered there.
    pub(crate) withheld: BTreeMap<(u32, u32), u64>,
    /// By stream, hop and reason.
    pub(crate) dropped: BTreeMap<(u32, u32, DropReason), u64>,
    pub(crate) hops: BTreeMap<(u32, u32), HopObservation>,
    pub(crate) listeners: BTreeMap<(u32, u32), Listener>,
    /// Frames that came and are none of the description's.
    pub(crate) foreign: u64,
    /// Frames of a listener that came after one with a greater number.
    pub(crate) out_of_order: u64,
    /// Frames that a listener had received before.
    pub(crate) duplicates: u64,
    /// By how much transmissions were later than their instants.
    pub(crate) lateness: Histogram,
    pub(crate) lateness_max: Duration,
    pub(crate) transmissions: u64,
    /// Octets from destination address to FCS that were sent.
    pub(crate) octets: u64,
    /// What listeners received, each frame with its listener and the instant, if it is to be kept.
    pub(crate) receptions: Option<Vec<(LiveMessage, u32, Instant)>>,
    /// How many of them at most, and when the first one came for which there was no room.
    pub(crate) receptions_max: usize,
    pub(crate) full_at: Option<Instant>,
    /// Whether an interface was down.
    pub(crate) was_down: bool,
}

impl Counters {
    pub(crate) fn replicated(&mut self, stream: u32) {
        *self.replicated.entry(stream).or_default() += 1;
    }

    pub(crate) fn consumed(&mut self, stream: u32) {
        *self.consumed.entry(stream).or_default() += 1;
    }

    /// The port of a hop does not take a frame, which is no loss.
    pub(crate) fn withheld(&mut self, stream: u32, hop: u32) {
        *self.withheld.entry((stream, hop)).or_default() += 1;
    }

    /// A listener's control machine took a frame; when it was created is not known there.
    pub(crate) fn taken(&mut self, stream: u32, listener: u32) {
        self.listeners.entry((stream, listener)).or_default().seen.delivered += 1;
    }

    pub(crate) fn dropped(&mut self, stream: u32, hop: u32, reason: DropReason) {
        *self.dropped.entry((stream, hop, reason)).or_default() += 1;
    }

    /// A transmission that was due began so late.
    pub(crate) fn late(&mut self, late: Duration) {
        self.lateness.add(late);
        self.lateness_max = self.lateness_max.max(late);
        self.transmissions += 1;
    }

    /// A frame passed a hop.
    pub(crate) fn passed(&mut self, (stream, hop): (u32, u32), parts: &DelayParts, is_counted: bool) {
        let seen = self.hops.entry((stream, hop)).or_default();
        seen.max = seen.max.max(parts.total());
        if !is_counted {
            return;
        }
        seen.frames += 1;
        seen.sums += parts;
    }

    /// A listener received a frame: whether for the first time; none if its sums have no room for the delay, which is that of no run.
    pub(crate) fn received(
        &mut self,
        network: &Network,
        message: &LiveMessage,
        listener: u32,
        now: Instant,
    ) -> Option<bool> {
        if let Some(receptions) = &mut self.receptions {
            if receptions.len() < self.receptions_max {
                receptions.push((*message, listener, now));
            } else {
                self.full_at.get_or_insert(now);
            }
        }
        let stream = &network.streams[message.stream as usize];
        let own = self.listeners.entry((message.stream, listener)).or_insert_with(|| Listener {
            seen: ListenerObservation {
                histogram: Some(Histogram::default()),
                late_at: stream.count_late.iter().map(|span| (*span, 0)).collect(),
                ..ListenerObservation::default()
            },
            ..Listener::default()
        });
        let number = u64::from(message.number);
        if number >= own.next {
            if number > own.next {
                own.missing.insert(own.next, number);
            }
            own.next = number + 1;
        } else if own.was_missing(number) {
            self.out_of_order += 1;
        } else {
            self.duplicates += 1;
            return Some(false);
        }
        let created = Duration::from_ns(message.created);
        let delay = now.saturating_since(Instant::ZERO + created);
        let seen = &mut own.seen;
        seen.delivered += 1;
        if seen.worst.is_none_or(|worst| delay > worst.delay) {
            seen.worst = Some(WorstFrame { number: message.number, created, delay });
        }
        seen.late += u64::from(stream.deadline.is_some_and(|deadline| delay > deadline));
        for (span, late) in &mut seen.late_at {
            *late += u64::from(delay > *span);
        }
        if created < network.run.warm_up {
            return Some(true);
        }
        seen.delay.checked_add(delay)?;
        if let Some(histogram) = &mut seen.histogram {
            histogram.add(delay);
        }
        if let Some(last) = own.last {
            seen.interval.checked_add(now.saturating_since(last))?;
        }
        own.last = Some(now);
        Some(true)
    }

    /// Adds what another node counted.
    pub(crate) fn merge(&mut self, other: Self) {
        fn add<K: Ord>(to: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
            for (key, count) in from {
                *to.entry(key).or_default() += count;
            }
        }
        add(&mut self.created, other.created);
        add(&mut self.replicated, other.replicated);
        add(&mut self.consumed, other.consumed);
        add(&mut self.withheld, other.withheld);
        add(&mut self.dropped, other.dropped);
        // Each hop and each listener is at one node.
        self.hops.extend(other.hops);
        self.listeners.extend(other.listeners);
        self.foreign += other.foreign;
        self.out_of_order += other.out_of_order;
        self.duplicates += other.duplicates;
        self.lateness.merge(&other.lateness);
        self.lateness_max = self.lateness_max.max(other.lateness_max);
        self.transmissions += other.transmissions;
        self.octets += other.octets;
    }

    /// The observation of a stream; `in_flight`: copies in nodes at the end, by hop. A copy of which nothing is known was lost between two
    /// nodes, for the reason `between`.
    pub(crate) fn stream(
        &self,
        network: &Network,
        number: u32,
        in_flight: &BTreeMap<u32, u64>,
        between: DropReason,
    ) -> StreamObservation {
        let stream = &network.streams[number as usize];
        let count = |of: &BTreeMap<u32, u64>| of.get(&number).copied().unwrap_or(0);
        let withheld = || self.withheld.range((number, 0)..=(number, u32::MAX));
        let (created, replicated) = (count(&self.created), count(&self.replicated));
        let consumed = count(&self.consumed) + withheld().map(|(_, count)| count).sum::<u64>();
        let own = || {
            self.dropped.range((number, 0, DropReason::ALL[0])..).take_while(|((of, ..), _)| *of == number)
        };
        let mut listeners = Vec::with_capacity(stream.listeners.len());
        for listener in 0..stream.listeners.len() {
            let listener = u32::try_from(listener).expect("listeners are counted in u32");
            let way = way(stream, listener);
            let seen = self.listeners.get(&(number, listener)).map(|own| own.seen.clone());
            let mut seen = seen.unwrap_or_default();
            let on_way = |hop: &u32| way.contains(hop);
            seen.in_flight = in_flight.iter().filter(|(hop, _)| on_way(hop)).map(|(_, count)| count).sum();
            let dropped =
                own().filter(|((_, hop, _), _)| on_way(hop)).map(|((.., reason), count)| (*reason, *count));
            seen.dropped = by_reason(dropped);
            seen.withheld = withheld().filter(|((_, hop), _)| on_way(hop)).map(|(_, count)| count).sum();
            let known = seen.delivered
                + seen.in_flight
                + seen.withheld
                + seen.dropped.iter().map(|(_, count)| count).sum::<u64>();
            let unknown = (between, created.saturating_sub(known));
            seen.dropped = by_reason(seen.dropped.iter().copied().chain([unknown]));
            listeners.push(seen);
        }
        let delivered = listeners.iter().map(|listener| listener.delivered).sum();
        let in_flight = in_flight.values().sum();
        let dropped: Vec<_> = own().map(|((.., reason), count)| (*reason, *count)).collect();
        let known = delivered + consumed + in_flight + dropped.iter().map(|(_, count)| count).sum::<u64>();
        let unknown = (between, (created + replicated).saturating_sub(known));
        let hops = (0..stream.hops.len()).map(|hop| u32::try_from(hop).expect("hops are counted in u32"));
        StreamObservation {
            created,
            replicated,
            delivered,
            consumed,
            in_flight,
            dropped: by_reason(dropped.into_iter().chain([unknown])),
            listeners,
            hops: hops.map(|hop| self.hops.get(&(number, hop)).copied().unwrap_or_default()).collect(),
        }
    }
}

/// The hops from the talker to a listener.
fn way(stream: &tautwire_model::network::Stream, listener: u32) -> Vec<u32> {
    let mut way = Vec::new();
    let last = stream.hops.iter().position(|hop| hop.listener == Some(listener));
    let mut at = last.and_then(|hop| u32::try_from(hop).ok());
    while let Some(hop) = at {
        way.push(hop);
        at = stream.hops[hop as usize].previous;
    }
    way
}

/// Counts by reason, in the order of the reasons, without those that did not occur.
fn by_reason(counts: impl Iterator<Item = (DropReason, u64)>) -> Vec<(DropReason, u64)> {
    let mut sums = BTreeMap::new();
    for (reason, count) in counts.filter(|(_, count)| *count > 0) {
        *sums.entry(reason).or_default() += count;
    }
    sums.into_iter().collect()
}
