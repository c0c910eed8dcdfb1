//! Recovery functions: how far apart copies come, and what that means to history, timer and order.

use tautwire_core::frer::{RecoveryAlgorithm, RecoveryParameters};
use tautwire_model::Network;
use tautwire_model::frer::FrameReplication;
use tautwire_model::network::{NodeIndex, Stream, StreamIndex, TimelineAction};
use tautwire_units::Duration;

use super::repeats;
use crate::analysis::Analysis;
use crate::clock::{Deviation, slack_ps};
use crate::curve::{MICRO, volume};
use crate::loss::{Limit, LimitKind, LimitPlace, Overflow, Whose};
use crate::passage::NO_REASON;
use crate::plan::signed;
use crate::result::Bounds;
use crate::virtual_link::Messages;

/// Numbers that the recovery functions of a stream at a node keep.
pub const HISTORY: LimitKind =
    LimitKind::new("recovery-history", "numbers", "history of {stream} at {place}");

/// What is proven of the sequence recovery function of a stream at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryBounds {
    /// The stream.
    pub stream: StreamIndex,
    /// The node.
    pub node: NodeIndex,
    /// How far apart two copies of a frame come at most, on the node's clock; none: no bound.
    pub skew: Option<Duration>,
    /// The least history that discards no first copy, as long as no frame is lost on all paths; none: no bound.
    pub history: Option<u64>,
    /// How much later than a frame that was created after it a frame may pass; none: no bound.
    pub reordering: Option<Duration>,
    /// Whether no copy passes twice.
    pub passes_once: bool,
}

impl RecoveryBounds {
    /// In words: `copies meet at s4 within 12 us: a history of 2 numbers suffices, ...`.
    #[must_use]
    pub fn text(&self, network: &Network) -> String {
        let node = &network.nodes[self.node.index()].name;
        let (Some(skew), Some(history), Some(order)) = (self.skew, self.history, self.reordering) else {
            return format!("copies meet at {node} within no bound");
        };
        let order = if order.is_zero() {
            "frames keep their order".to_owned()
        } else {
            format!("frames come up to {order} behind later ones")
        };
        let once = if self.passes_once { "no copy passes twice" } else { "a copy may pass twice" };
        format!(
            "copies meet at {node} within {skew}: a history of {history} numbers suffices, {once}, {order}"
        )
    }
}

/// Per stream and listener: whether several copies of a frame may be taken there.
pub(crate) fn taken_twice(network: &Network, bounds: &Bounds, stream: usize, listener: usize) -> bool {
    let described = &network.streams[stream];
    let Some(replication) = described.replication.as_deref() else { return false };
    let mut ends = (0..described.hops.len())
        .filter(|hop| described.hops[*hop].listener.is_some_and(|one| one as usize == listener));
    let passes_once = |end: usize| {
        let mut way =
            std::iter::successors(Some(end), |hop| described.hops[*hop].previous.map(|hop| hop as usize));
        // Where no function is on the way one copy comes.
        let Some(last) = way.find_map(|hop| replication.recovered[hop]) else { return true };
        let node = replication.recoveries[last as usize].node;
        let of = |one: &&RecoveryBounds| one.stream.index() == stream && one.node == node;
        bounds.recoveries.iter().find(of).is_some_and(|one| one.passes_once)
    };
    !ends.all(passes_once)
        || repeats::are_taken(network, bounds, (StreamIndex::at(stream), described), listener)
}

/// Copies on their way to a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// Least and greatest time from the application, true time.
    pub(super) min: i64,
    pub(super) max: u64,
}

impl Spread {
    pub(super) fn apart(self) -> u64 {
        u64::try_from(signed(self.max) - self.min).unwrap_or(0)
    }
}

impl Analysis<'_> {
    /// How copies reach a recovery function of a stream, over all ways.
    pub(super) fn spread(&self, stream: u32, recovery: u32) -> Option<Spread> {
        let replication = self.plan.stream(stream).replication.as_deref()?;
        let first = self.plan.first_entry[stream as usize];
        let mut spread = Spread { min: i64::MAX, max: 0 };
        for (hop, at) in (0_u32..).zip(&replication.recovered) {
            if *at != Some(recovery) {
                continue;
            }
            let number = (first + hop) as usize;
            let passage = &self.passages[number];
            spread.max = spread.max.max(passage.next_max.filter(|_| passage.reason == NO_REASON)?);
            spread.min = spread.min.min(self.plan.entries[number].next_min);
        }
        #[cfg(feature = "planted-faults")]
        if self.plan.fault == Some(crate::PlantedFault::GapOfCopiesForgotten) {
            spread.min = signed(spread.max);
        }
        (spread.min < i64::MAX).then_some(spread)
    }

    /// Most frames of a stream that are created within a closed window of true time.
    fn created_within(&self, stream: u32, window: u64) -> Option<u64> {
        let network = self.plan.network;
        let described = self.plan.stream(stream);
        let clock = &network.nodes[described.talker.index()].clock;
        let messages = Messages::of(network, stream, 0, &self.plan.learned);
        let by_period = messages.map(|messages| messages.within(Deviation::of(clock).stretch(window) + 1));
        let entry = &self.plan.entries[self.plan.entries_of(stream).next()? as usize];
        let by_promise = entry.promise.map(|line| {
            let bits = line.burst + volume(line.rate, window.saturating_add(entry.talker_slack));
            u64::try_from(bits / (MICRO * u128::from(entry.wire_min()))).unwrap_or(u64::MAX)
        });
        match (by_period, by_promise) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The least distance of two frames as they are created, true time; what is known of it.
    fn distance_min(&self, stream: u32) -> u64 {
        let (mut known, mut beyond) = (0, 1_u64 << 50);
        if self.created_within(stream, 0) != Some(1) {
            return 0;
        }
        // The longest window with one frame.
        while beyond - known > 1 {
            let middle = known + (beyond - known) / 2;
            match self.created_within(stream, middle) {
                Some(1) => known = middle,
                _ => beyond = middle,
            }
        }
        known
    }

    /// Whether a recovery function of a stream passes no copy twice.
    pub(super) fn passes_once(&self, stream: u32, recovery: u32) -> bool {
        let network = self.plan.network;
        let Some(replication) = self.plan.stream(stream).replication.as_deref() else { return false };
        let described = &replication.recoveries[recovery as usize];
        let (Some(parameters), Some(spread)) = (described.sequence, self.spread(stream, recovery)) else {
            return false;
        };
        let begins_anew = |action: &TimelineAction| matches!(action, TimelineAction::StopNode(node) | TimelineAction::StartNode(node) if *node == described.node);
        if network.events.iter().any(|event| begins_anew(&event.action)) {
            return false;
        }
        let skew = self.on_clock(described.node, spread.apart());
        let outlasts = parameters.reset_timeout.is_none_or(|timeout| timeout.as_ps() > skew);
        let is_known = match parameters.algorithm {
            RecoveryAlgorithm::Vector { .. } => true,
            // A repeat between two copies makes the second one new.
            RecoveryAlgorithm::Match => {
                !self.repeats_pass(stream) && self.created_within(stream, spread.apart()) == Some(1)
            }
        };
        outlasts && is_known
    }

    /// A true span as the clock of a node may measure it at most.
    pub(super) fn on_clock(&self, node: NodeIndex, ps: u64) -> u64 {
        let clock = &self.plan.network.nodes[node.index()].clock;
        Deviation::of(clock).stretch(ps).saturating_add(2 * slack_ps(clock))
    }

    /// What is proven of all recovery functions.
    pub(crate) fn recoveries(&self) -> Vec<RecoveryBounds> {
        let mut found = Vec::new();
        for stream in 0..crate::plan::index(self.plan.stream_count()) {
            let Some(replication) = self.plan.stream(stream).replication.as_deref() else { continue };
            let distance = self.distance_min(stream);
            for (number, recovery) in (0_u32..).zip(&replication.recoveries) {
                let spread = self.spread(stream, number);
                let apart = spread.map(Spread::apart);
                found.push(RecoveryBounds {
                    stream: StreamIndex(stream),
                    node: recovery.node,
                    skew: apart.map(|apart| Duration::from_ps(self.on_clock(recovery.node, apart))),
                    history: self.history(stream, apart),
                    reordering: apart.map(|apart| Duration::from_ps(apart.saturating_sub(distance))),
                    passes_once: self.passes_once(stream, number),
                });
            }
        }
        found
    }

    /// The history that discards no first copy where copies come so far apart.
    fn history(&self, stream: u32, apart: Option<u64>) -> Option<u64> {
        Some(self.created_within(stream, apart?)?.saturating_add(1))
    }

    /// Histories that may be too short.
    pub(crate) fn history_overflows(&self, found: &mut Vec<Overflow>) {
        for stream in 0..crate::plan::index(self.plan.stream_count()) {
            let described = self.plan.stream(stream);
            let Some(replication) = described.replication.as_deref() else { continue };
            for (number, recovery) in (0_u32..).zip(&replication.recoveries) {
                let apart = self.spread(stream, number).map(Spread::apart);
                let sequence = recovery.sequence.map(|parameters| (parameters, apart));
                // A member stream keeps its order but where it was one with others before.
                let apart = if meets_before(replication, described, number) { apart } else { Some(0) };
                let individual = recovery.individual.map(|parameters| (parameters, apart));
                for (parameters, apart) in sequence.into_iter().chain(individual) {
                    let needed = self.history(stream, apart);
                    self.hold(stream, recovery.node, parameters, needed, found);
                }
            }
        }
        self.repeat_overflows(found);
    }

    fn hold(
        &self,
        stream: u32,
        node: NodeIndex,
        parameters: RecoveryParameters,
        needed: Option<u64>,
        found: &mut Vec<Overflow>,
    ) {
        let RecoveryAlgorithm::Vector { history_length } = parameters.algorithm else { return };
        let limit = u64::from(history_length);
        if needed.is_none_or(|needed| needed > limit) {
            let stream = StreamIndex(stream);
            let limit = Limit { kind: HISTORY, at: LimitPlace::StreamAt(stream, node), limit, needed };
            found.push(Overflow { whose: Whose::Stream(stream), limit });
        }
    }
}

/// Whether copies meet before they come to a function, on any way.
fn meets_before(replication: &FrameReplication, stream: &Stream, recovery: u32) -> bool {
    let mut ends = (0..stream.hops.len()).filter(|hop| replication.recovered[*hop] == Some(recovery));
    let before = |end: usize| stream.hops[end].previous.map(|hop| hop as usize);
    ends.any(|end| {
        std::iter::successors(before(end), |hop| before(*hop)).any(|hop| replication.recovered[hop].is_some())
    })
}
