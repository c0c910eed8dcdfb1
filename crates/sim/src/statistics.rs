//! What a run counts while it runs, and how that becomes an [`Observation`](crate::Observation).

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::Network;
use tautwire_model::network::{Stream, StreamIndex};
use tautwire_observe::{DelayParts, Histogram, Moments};
use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::control_loss::{ControlLoss, LossPlace, LossReason};
use crate::fates::{Fate, Fates, ListenerFates, Whereabouts};
use crate::plan::{Plan, index};
use crate::result::{DropReason, HopObservation, ListenerObservation, StreamObservation, WorstFrame};

/// Counters of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamCounters {
    pub(crate) replicated: u64,
    pub(crate) consumed: u64,
    in_flight: u64,
    pub(crate) dropped: [u64; DropReason::ALL.len()],
}

/// What one listener observes. The fields that every frame touches come first, in three cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Listener {
    delay: Moments,
    interval: Moments,
    histogram: Option<Histogram>,
    /// When the last frame came; [`SimTime::MAX`] before the first.
    last: SimTime,
    /// The least span for which something is counted: the deadline, if there is no other.
    deadline: Duration,
    delivered: u64,
    worst: Option<WorstFrame>,
    late: u64,
}

/// Several spans for which a listener counts frames that are later.
#[derive(Clone, Debug)]
struct Counted {
    deadline: Option<Duration>,
    at: Vec<(Duration, u64)>,
}

/// The received numbers of frames that come in copies. A listener takes a copy that is older than its window behind the newest for one that
/// it had before.
#[derive(Clone, Debug)]
struct Taken {
    frames: u64,
    /// The newest number and one.
    end: u32,
    /// Bit `n` modulo the window: whether number `n` was taken, of those in the window.
    bits: Vec<u64>,
}

impl Taken {
    /// A listener of a stream.
    fn of(stream: &Stream) -> Self {
        // Recovery functions know copies by so many numbers at most.
        let window = if stream.replication.is_some() { 1 << 15 } else { 64 };
        Self { frames: 0, end: 0, bits: vec![0; window / 64] }
    }

    fn window(&self) -> u32 {
        index(self.bits.len()) * 64
    }

    /// Where the bit of a number is.
    fn bit(&self, number: u32) -> (usize, u64) {
        let place = number % self.window();
        (place as usize / 64, 1 << (place % 64))
    }

    fn take(&mut self, number: u32) {
        if number >= self.end {
            if number - self.end >= self.window() {
                self.bits.fill(0);
            } else {
                for between in self.end..=number {
                    let (word, bit) = self.bit(between);
                    self.bits[word] &= !bit;
                }
            }
            self.end = number + 1;
        } else if self.end - number > self.window() {
            return;
        }
        let (word, bit) = self.bit(number);
        self.frames += u64::from(self.bits[word] & bit == 0);
        self.bits[word] |= bit;
    }

    fn has(&self, number: u32) -> bool {
        let (word, bit) = self.bit(number);
        number < self.end && (self.end - number > self.window() || self.bits[word] & bit != 0)
    }
}

/// Whether copies of a stream's frames come over several paths, of which a listener takes the first copy.
pub(crate) fn is_redundant(stream: &Stream) -> bool {
    let skew_max = stream.virtual_link.and_then(|link| link.skew_max);
    stream.replication.is_some()
        || skew_max.is_some()
        || stream.time_triggered.as_ref().is_some_and(|link| link.redundant)
}

/// A value with a cache line of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line<T>(T);

/// Everything that is counted per stream.
#[derive(Clone, Debug)]
pub(crate) struct Statistics {
    warm_up: SimTime,
    pub(crate) streams: Vec<StreamCounters>,
    /// The fates of copies that no listener took.
    pub(crate) fates: Fates,
    /// Copies of protocols' frames that were lost, by stream, hop within it and reason.
    control_dropped: BTreeMap<(u32, u32, DropReason), u64>,
    hops: Vec<Line<HopObservation>>,
    first_hop: Vec<u32>,
    listeners: Vec<Listener>,
    /// By listener: of those that count for several spans.
    counted: BTreeMap<u32, Counted>,
    /// By listener of a redundant virtual link: the frames that it took.
    taken: BTreeMap<u32, Taken>,
    /// Frames of which copies are on their way at the end, by stream and number: those of streams that have such listeners.
    under_way: BTreeSet<(u32, u32)>,
    first_listener: Vec<u32>,
    pub(crate) frame_hops: u64,
    pub(crate) delivered: u64,
    pub(crate) trace_hash: u64,
}

impl Statistics {
    pub(crate) fn new(network: &Network, first_hop: Vec<u32>, histograms: bool) -> Self {
        let mut first_listener = Vec::with_capacity(network.streams.len());
        let mut listeners = Vec::new();
        let mut counted = BTreeMap::new();
        let mut taken = BTreeMap::new();
        for stream in &network.streams {
            first_listener.push(index(listeners.len()));
            if !stream.count_late.is_empty() {
                let at = stream.count_late.iter().map(|span| (*span, 0)).collect();
                let own = Counted { deadline: stream.deadline, at };
                let places = listeners.len()..listeners.len() + stream.listeners.len();
                counted.extend(places.map(|place| (index(place), own.clone())));
            }
            if is_redundant(stream) {
                let places = listeners.len()..listeners.len() + stream.listeners.len();
                taken.extend(places.map(|place| (index(place), Taken::of(stream))));
            }
            let least = stream.count_late.iter().copied().chain(stream.deadline).min();
            listeners.extend(stream.listeners.iter().map(|_| Listener {
                delay: Moments::default(),
                interval: Moments::default(),
                histogram: histograms.then(Histogram::default),
                last: SimTime::MAX,
                deadline: least.unwrap_or(Duration::MAX),
                delivered: 0,
                worst: None,
                late: 0,
            }));
        }
        let hops = first_hop.last().copied().unwrap_or_default() as usize;
        Self {
            warm_up: SimTime::ZERO + network.run.warm_up,
            streams: vec![StreamCounters::default(); network.streams.len()],
            fates: Fates::default(),
            hops: vec![Line::default(); hops],
            first_hop,
            listeners,
            counted,
            taken,
            under_way: BTreeSet::new(),
            first_listener,
            frame_hops: 0,
            delivered: 0,
            trace_hash: 0,
            control_dropped: BTreeMap::new(),
        }
    }

    /// Frames that have passed a hop.
    #[inline]
    pub(crate) fn hop_frames(&self, hop: u32) -> u64 {
        self.hops[hop as usize].0.frames
    }

    /// Loads what a delivery will need into the caches.
    #[inline]
    pub(crate) fn touch(&self, stream: u32, listener: u32) {
        let observed = &self.listeners[(self.first_listener[stream as usize] + listener) as usize];
        std::hint::black_box((observed.delay.count(), observed.interval.count(), observed.delivered));
    }

    /// A frame passed a hop.
    #[inline(always)]
    pub(crate) fn passed(&mut self, hop: u32, created: SimTime, total: Duration, parts: &DelayParts) {
        debug_assert_eq!(parts.total(), total, "the parts of a delay add up");
        let observed = &mut self.hops[hop as usize].0;
        observed.max = observed.max.max(total);
        if created < self.warm_up {
            return;
        }
        observed.frames += 1;
        observed.sums += parts;
    }

    /// A transmission began: the order of transmissions does not enter the hash, their times do.
    #[inline]
    pub(crate) fn transmitted(&mut self, start: SimTime, link: u32, stream: u32, number: u32) {
        self.frame_hops += 1;
        let first = start.as_ps() ^ (u64::from(link) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let second = (u64::from(stream) << 32) | u64::from(number);
        let mut mixed = first.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ second;
        mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        self.trace_hash = self.trace_hash.wrapping_add(mixed ^ (mixed >> 29));
    }

    /// A listener received a frame.
    #[inline(always)]
    pub(crate) fn received(
        &mut self,
        stream: u32,
        listener: u32,
        number: u32,
        created: SimTime,
        now: SimTime,
    ) {
        self.delivered += 1;
        let delay = now.since(created);
        let place = self.first_listener[stream as usize] + listener;
        let observed = &mut self.listeners[place as usize];
        observed.delivered += 1;
        if observed.worst.is_none_or(|worst| delay > worst.delay) {
            observed.worst = Some(WorstFrame { number, created: created.since_start(), delay });
        }
        if delay > observed.deadline {
            observed.late += is_late(&mut self.counted, place, delay);
        }
        if created < self.warm_up {
            return;
        }
        observed.delay.add(delay);
        if let Some(histogram) = &mut observed.histogram {
            histogram.add(delay);
        }
        if observed.last < SimTime::MAX {
            observed.interval.add(now.saturating_since(observed.last));
        }
        observed.last = now;
    }

    /// A listener of a redundant virtual link takes a frame.
    pub(crate) fn is_taken(&mut self, stream: u32, listener: u32, number: u32) {
        let place = self.first_listener[stream as usize] + listener;
        self.taken.get_mut(&place).expect("a listener of two networks").take(number);
    }

    /// A copy is on its way at the end of the run.
    pub(crate) fn is_in_flight(&mut self, stream: u32, number: u32, whereabouts: Whereabouts) {
        self.streams[stream as usize].in_flight += 1;
        self.fates.note(stream, Fate::InFlight, whereabouts);
        if !self.taken.is_empty() {
            self.under_way.insert((stream, number));
        }
    }

    #[cold]
    pub(crate) fn dropped(&mut self, stream: u32, reason: DropReason) {
        self.streams[stream as usize].dropped[reason as usize] += 1;
    }

    /// A frame of a protocol was lost at this hop of the stream, or on its line.
    #[cold]
    pub(crate) fn control_dropped(&mut self, stream: u32, hop: u32, reason: DropReason) {
        *self.control_dropped.entry((stream, hop, reason)).or_default() += 1;
    }

    /// The frames of protocols that were lost; a second copy that is eliminated is not lost.
    pub(crate) fn control_losses(&self, network: &Network) -> Vec<ControlLoss> {
        let lost = self.control_dropped.iter().filter(|((.., reason), _)| *reason != DropReason::Eliminated);
        let loss = |((stream, hop, reason), frames): (&(u32, u32, DropReason), &u64)| {
            let described = &network.streams[*stream as usize];
            let place = match described.hops.get(*hop as usize) {
                Some(hop) => LossPlace::Port(hop.port),
                None => LossPlace::Node(described.talker),
            };
            let stream = StreamIndex(*stream);
            ControlLoss { stream: Some(stream), place, reason: LossReason::Dropped(*reason), frames: *frames }
        };
        lost.map(loss).collect()
    }

    /// Adds what another part of a run has counted. The frames of a hop, and those of a listener, are of one part.
    pub(crate) fn add(&mut self, other: Self) {
        debug_assert!(self.taken.is_empty() && self.control_dropped.is_empty(), "a run by ports has none");
        for (stream, share) in self.streams.iter_mut().zip(other.streams) {
            stream.replicated += share.replicated;
            stream.consumed += share.consumed;
            stream.in_flight += share.in_flight;
            for (dropped, more) in stream.dropped.iter_mut().zip(share.dropped) {
                *dropped += more;
            }
        }
        for (hop, share) in self.hops.iter_mut().zip(other.hops) {
            if share.0 != HopObservation::default() {
                *hop = share;
            }
        }
        for (listener, share) in self.listeners.iter_mut().zip(other.listeners) {
            if share.delivered > 0 {
                *listener = share;
            }
        }
        for (place, share) in other.counted {
            if let Some(own) = self.counted.get_mut(&place) {
                for ((_, late), (_, more)) in own.at.iter_mut().zip(share.at) {
                    *late += more;
                }
            }
        }
        self.fates.add(other.fates);
        self.frame_hops += other.frame_hops;
        self.delivered += other.delivered;
        self.trace_hash = self.trace_hash.wrapping_add(other.trace_hash);
    }

    /// The observations of all streams, given the number of created frames of each.
    ///
    /// # Panics
    /// If a frame has appeared or vanished: that would be a fault of the simulator.
    pub(crate) fn into_streams(
        self,
        network: &Network,
        plan: &Plan,
        created: impl Fn(usize) -> u64,
    ) -> Vec<StreamObservation> {
        let mut listeners = self.listeners.into_iter();
        let mut counted = self.counted;
        let lost = |place: u32, stream: usize, created: u64| {
            let taken = self.taken.get(&place)?;
            let stream = index(stream);
            let under_way = self.under_way.range((stream, 0)..=(stream, u32::MAX));
            let undecided = under_way.filter(|(_, number)| !taken.has(*number)).count() as u64;
            Some(created - taken.frames - undecided)
        };
        let mut ends = self.first_listener.iter().skip(1).copied().collect::<Vec<_>>();
        ends.push(index(listeners.len()));
        self.streams
            .into_iter()
            .enumerate()
            .map(|(number, counters)| {
                let count = (ends[number] - self.first_listener[number]) as usize;
                let listeners: Vec<Listener> = listeners.by_ref().take(count).collect();
                let created = created(number);
                let delivered = listeners.iter().map(|listener| listener.delivered).sum();
                let dropped: u64 = counters.dropped.iter().sum();
                assert_eq!(
                    created + counters.replicated,
                    delivered + counters.consumed + dropped + counters.in_flight,
                    "frames of stream {number} are conserved"
                );
                let fates = self.fates.of_stream(network, plan, number);
                let ways = ways(&network.streams[number]);
                for (listener, (fates, ways)) in listeners.iter().zip(fates.iter().zip(&ways)) {
                    assert_eq!(
                        created * ways,
                        listener.delivered + fates.sum(),
                        "frames of stream {number} are conserved for each listener"
                    );
                }
                let hops = self.first_hop[number] as usize..self.first_hop[number + 1] as usize;
                StreamObservation {
                    created,
                    replicated: counters.replicated,
                    delivered,
                    consumed: counters.consumed,
                    in_flight: counters.in_flight,
                    dropped: DropReason::ALL
                        .into_iter()
                        .map(|reason| (reason, counters.dropped[reason as usize]))
                        .filter(|(_, count)| *count > 0)
                        .collect(),
                    listeners: (self.first_listener[number]..)
                        .zip(listeners.into_iter().zip(fates))
                        .map(|(place, (listener, fates))| {
                            let at = counted.remove(&place).map_or_else(Vec::new, |counted| counted.at);
                            let lost = lost(place, number, created);
                            ListenerObservation { late_at: at, lost, ..listener.observation(fates) }
                        })
                        .collect(),
                    hops: self.hops[hops].iter().map(|line| line.0).collect(),
                }
            })
            .collect()
    }
}

/// How many copies of each frame are for each listener of a stream: more than one over redundant networks.
fn ways(stream: &Stream) -> Vec<u64> {
    if stream.hops.is_empty() {
        return vec![1; stream.listeners.len()];
    }
    let mut ways = vec![0; stream.listeners.len()];
    for listener in stream.hops.iter().filter_map(|hop| hop.listener) {
        ways[listener as usize] += 1;
    }
    ways
}

/// Counts a frame that took longer than the least span of its listener; whether it missed the deadline.
#[cold]
fn is_late(counted: &mut BTreeMap<u32, Counted>, place: u32, delay: Duration) -> u64 {
    let Some(own) = counted.get_mut(&place) else { return 1 };
    for (span, frames) in &mut own.at {
        *frames += u64::from(delay > *span);
    }
    u64::from(own.deadline.is_some_and(|deadline| delay > deadline))
}

impl Listener {
    fn observation(self, fates: ListenerFates) -> ListenerObservation {
        ListenerObservation {
            delivered: self.delivered,
            dropped: fates.lost,
            withheld: fates.withheld,
            in_flight: fates.in_flight,
            delay: self.delay,
            histogram: self.histogram,
            interval: self.interval,
            worst: self.worst,
            late: self.late,
            late_at: Vec::new(),
            lost: None,
            stamped: None,
            application: None,
            datagrams: None,
        }
    }
}
