//! All terms of a stream's bound at a class of a port; per stream only its own frame is subtracted.

use tautwire_units::Bytes;

use crate::credit_based::Shaper;
use crate::curve::Line;
use crate::passage::NO_REASON;
use crate::port_plan::PortPlan;
use crate::queue_bound::QueueBound;
use crate::result::{ClassBounds, Method};

use super::Spread;

/// Bounds of a queue that all hold; which is least depends on the frame.
pub(crate) type Candidates = Vec<QueueBound>;

/// The applicable ones.
pub(super) fn candidates(bounds: impl IntoIterator<Item = Option<QueueBound>>) -> Candidates {
    bounds.into_iter().flatten().collect()
}

/// A class of a port.
#[derive(Clone, Debug)]
pub(crate) struct ClassTerms {
    pub(crate) used: bool,
    /// Per lane; a FIFO class has one bound for all, with lane [`OWN_LANE`].
    pub(crate) lanes: Vec<(u16, Candidates)>,
    pub(crate) method: Method,
    /// Why there is no bound.
    pub(crate) reason: u32,
    /// The largest frame below, bits of the wire.
    pub(crate) blocking_bits: u64,
    pub(crate) credit_max: Option<u128>,
    pub(crate) shaper: Option<Shaper>,
    /// The output of windows on the link.
    pub(crate) sent: Option<Line>,
    /// When its frames start since the run began, if that is known.
    pub(crate) since_run: Option<StartsSinceRun>,
    /// Its service in the order of arrival, if it is asked for and the class has one.
    pub(crate) fifo: Option<FifoService>,
    /// By how much bursts of its streams grow, if that is less than by all of a frame's wait.
    pub(crate) spread: Option<Spread>,
    pub(crate) bounds: ClassBounds,
}

/// When frames start since the run began (`windows.rs`), on the clock of the node: by its greatest waits behind the later of `runs`, and of when a frame comes
/// and `lower` after it.
#[derive(Clone, Debug)]
pub(crate) struct StartsSinceRun {
    pub(crate) runs: u64,
    pub(crate) lower: u64,
    pub(super) waits: Candidates,
}

/// The service of a class whose frames go in the order in which they come: by each of `lines`, a frame that starts *w* after the last
/// instant at which none was waiting has `rate·w <= latency + own`, where `own` are the bits of the class that came since and go before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FifoService {
    /// Latencies in micro-bits, and rates on the clock of the node.
    pub(crate) lines: Vec<(u128, u64)>,
    /// Bits as they are served, to one of the wire: at most.
    pub(crate) ratio: (u64, u64),
    /// How late a start may be in addition.
    pub(crate) slack: u64,
}

impl Default for ClassTerms {
    /// Of a class without arrivals.
    fn default() -> Self {
        Self {
            used: false,
            lanes: Vec::new(),
            method: Method::None,
            reason: NO_REASON,
            blocking_bits: 0,
            credit_max: None,
            shaper: None,
            sent: None,
            since_run: None,
            fifo: None,
            spread: None,
            bounds: ClassBounds::default(),
        }
    }
}

impl FifoService {
    /// Of latencies and rates; none if all rates are zero.
    pub(crate) fn of(
        lines: impl IntoIterator<Item = (u128, u64)>,
        ratio: (u64, u64),
        slack: u64,
    ) -> Option<Self> {
        let mut lines: Vec<_> = lines.into_iter().filter(|(_, rate)| *rate > 0).collect();
        lines.sort_unstable_by_key(|(latency, rate)| (*latency, core::cmp::Reverse(*rate)));
        // One with more latency matters if it is faster.
        let mut fastest = 0;
        lines.retain(|(_, rate)| {
            let is_faster = *rate > fastest;
            fastest = fastest.max(*rate);
            is_faster
        });
        (!lines.is_empty()).then_some(Self { lines, ratio, slack })
    }
}

/// Whether the second of two bounds is less for a frame of so many bits.
pub(super) fn second_is_less(one: &Option<QueueBound>, other: &Option<QueueBound>, bits: u64) -> bool {
    let wait = |bound: &Option<QueueBound>| bound.as_ref().and_then(|bound| bound.start_max(bits));
    match (wait(one), wait(other)) {
        (Some(first), Some(second)) => second < first,
        (first, second) => first.is_none() && second.is_some(),
    }
}

impl ClassTerms {
    /// And others that hold as well; `bits` are of the frame whose bounds are compared.
    pub(super) fn and(&mut self, other: Self, bits: u64) {
        let is_bounded = |terms: &Self| terms.lanes.iter().all(|(_, bounds)| !bounds.is_empty());
        if !is_bounded(&other) {
            return;
        }
        if !is_bounded(self) {
            *self = Self { sent: self.sent, ..other };
            return;
        }
        let least = |terms: &Self| {
            let bounds = terms.lanes.iter().flat_map(|(_, bounds)| bounds);
            bounds.filter_map(|bound| bound.start_max(bits)).min()
        };
        if least(&other) < least(self) {
            (self.method, self.blocking_bits) = (other.method, other.blocking_bits);
        }
        self.bounds.backlog = self.bounds.backlog.into_iter().chain(other.bounds.backlog).min();
        for ((lane, bounds), (same, more)) in self.lanes.iter_mut().zip(other.lanes) {
            debug_assert_eq!(*lane, same, "lanes of one class");
            bounds.extend(more);
        }
    }

    /// What a credit-based class sends onto the link, on the clock of the node.
    pub(crate) fn onto_link(&self) -> Option<Line> {
        self.sent
            .or_else(|| self.shaper.zip(self.credit_max).map(|(shaper, credit)| shaper.onto_link(credit)))
    }

    /// The bounds of an entry's lane.
    fn candidates(&self, lane: u16) -> Option<&Candidates> {
        let only = self.lanes.len() == 1;
        self.lanes.iter().find(|(known, _)| only || *known == lane).map(|(_, bounds)| bounds)
    }

    /// The bound of an entry's lane that is least for a frame.
    pub(crate) fn bound(&self, port: &PortPlan, lane: u16, frame: Bytes) -> Option<&QueueBound> {
        let bits = self.bits(port, frame);
        let bounds = self.candidates(lane)?.iter();
        bounds.filter(|bound| bound.start_max(bits).is_some()).min_by_key(|bound| bound.start_max(bits))
    }

    /// Further bounds of a class with one queue, lane by lane.
    pub(crate) fn take(&mut self, bounds: Vec<(u16, Candidates)>) {
        let common: Candidates = self.lanes.drain(..).flat_map(|(_, bounds)| bounds).collect();
        self.lanes = bounds;
        self.lanes.iter_mut().for_each(|(_, bounds)| bounds.extend_from_slice(&common));
    }

    /// The method of the least bound of an entry's lane for a frame.
    pub(crate) fn method_of(&self, port: &PortPlan, lane: u16, frame: Bytes) -> Method {
        let has_by_links = |bounds: &Candidates| bounds.iter().any(|bound| bound.is_by_links);
        match self.candidates(lane).filter(|bounds| has_by_links(bounds)).and(self.bound(port, lane, frame)) {
            Some(bound) if bound.is_by_links => Method::StrictPriorityByLinks,
            _ => self.method,
        }
    }

    /// From the queue to the start of transmission, on the clock of the node.
    pub(crate) fn start_max(&self, port: &PortPlan, lane: u16, frame: Bytes) -> Option<u64> {
        let bits = self.bits(port, frame);
        self.candidates(lane)?.iter().filter_map(|bound| bound.start_max(bits)).min()
    }

    /// From the creation of a frame that is ready within `ready` to its start at the latest, as far as that is known by the time since the run began.
    pub(crate) fn start_since_run(&self, port: &PortPlan, frame: Bytes, ready: u64) -> Option<u64> {
        let since = self.since_run.as_ref()?;
        let bits = self.bits(port, frame);
        let wait = since.waits.iter().filter_map(|bound| bound.start_max(bits)).min()?;
        let stretch = |time: u64| port.deviation.stretch(time);
        let from = stretch(since.runs).max(ready.saturating_add(stretch(since.lower)));
        Some(from.saturating_add(stretch(wait)))
    }

    /// Bits of a frame as its class is served: charged, or of the wire.
    pub(crate) fn bits(&self, port: &PortPlan, frame: Bytes) -> u64 {
        let overhead = if self.shaper.is_some() { port.credit_charged } else { Bytes::MEDIA_OVERHEAD.get() };
        (frame.get() + overhead) * 8
    }
}
