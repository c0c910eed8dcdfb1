//! Stuck senders: what a node repeats, as a stream of its own from there on, and the recovery functions that discard it.
//!
//! A repeat has the number of the last frame before it, in one queue with which it goes on, so it comes behind it to the next recovery
//! functions. They know it as long as they have not begun anew since that frame. Let two frames of the stream be created at most `distance` apart over
//! the run: its period and jitter, or what the largest frame takes of a constant rate. (Of other traffic a least distance says nothing here: a
//! talker may pause for longer than any timer.) And let no stated failure and no limit that may be too small take its frames on the way over the
//! node. (Limits are known when there are bounds, so one that may be too small comes back as a doubt.) Then
//!
//! - an *individual* recovery function at the end of this way gets a frame at least every `distance + d_max - d_min` of this way, and what it
//!   discards starts its timer again, too;
//! - a *sequence* recovery function by the vector algorithm passes a frame at least every `distance + d_max - d_min` over all ways.
//!
//! With a reset timeout that is longer, on the node's clock, no repeat goes further. The match algorithm knows the last number alone, so a repeat
//! between copies of other ways passes it. Elsewhere bounds count repeats behind the function as well, listeners may get them, and frames
//! may be lost: a function that begins anew with an old number discards new ones.

use tautwire_core::frer::RecoveryAlgorithm;
use tautwire_model::Network;
use tautwire_model::frer::Repeats;
use tautwire_model::network::{NodeIndex, Stream, StreamIndex, TimelineAction, Traffic};
use tautwire_model::wire_bits;

use crate::analysis::Analysis;
use crate::clock::{Deviation, servo, slack_ps};
use crate::loss::{Limit, LimitKind, LimitPlace, Overflow, Whose, loses_on, works_on};
use crate::passage::NO_REASON;
use crate::plan::{NONE, signed};
use crate::result::Bounds;

/// The time for which a recovery function knows a frame that is repeated.
pub(crate) const REPEATS: LimitKind =
    LimitKind::new("recovery-timeout", "ps", "reset-timeout for repeats of {stream} at {place}");

/// Doubts of this mechanism begin here.
const FIRST_DOUBT: usize = 1 << 15;

/// Whether a listener of a stream may get frames that are repeated.
pub(super) fn are_taken(
    network: &Network,
    bounds: &Bounds,
    (number, stream): (StreamIndex, &Stream),
    listener: usize,
) -> bool {
    let is_open = |node: NodeIndex| {
        let at = LimitPlace::StreamAt(number, node);
        bounds.overflows.iter().any(|overflow| overflow.limit.kind == REPEATS && overflow.limit.at == at)
    };
    network.repeats.iter().filter(|repeats| repeats.of == number).any(|repeats| {
        let own = &network.streams[repeats.stream.index()];
        let leads = |hop: &usize| {
            let end = own.hops[*hop].listener;
            end.is_some_and(|end| own.listeners[end as usize] == stream.listeners[listener])
        };
        (0..own.hops.len()).filter(leads).any(|last| {
            let before = |hop: &usize| own.hops[*hop].previous.map(|hop| hop as usize);
            let mut way = std::iter::successors(Some(last), before);
            let ends: Vec<End> = first_functions(network, repeats).collect();
            let end = way.find_map(|hop| ends.iter().find(|end| end.hop == hop));
            // The node may be behind all functions.
            end.is_none_or(|end| is_open(end.node))
        })
    })
}

/// A recovery function that repeats meet first.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The hop at whose far end it is, in the stream of repeats.
    hop: usize,
    recovery: u32,
    node: NodeIndex,
}

fn first_functions<'n>(network: &'n Network, repeats: &'n Repeats) -> impl Iterator<Item = End> + 'n {
    let replication =
        network.streams[repeats.of.index()].replication.as_deref().expect("a stream with copies");
    let own = &network.streams[repeats.stream.index()];
    let at = |hop: usize| replication.recovered[repeats.hops[hop] as usize];
    let before = |hop: usize| own.hops[hop].previous.map(|hop| hop as usize);
    let is_first = move |hop: usize| {
        std::iter::successors(before(hop), move |hop| before(*hop)).all(|hop| at(hop).is_none())
    };
    (0..own.hops.len()).filter(move |hop| is_first(*hop)).filter_map(move |hop| {
        let recovery = at(hop)?;
        Some(End { hop, recovery, node: replication.recoveries[recovery as usize].node })
    })
}

/// Repeats that may pass functions of which the bounds assume that they do not, since frames may be lost before.
pub(super) fn doubts(network: &Network, bounds: &Bounds) -> Vec<u16> {
    let counted: Vec<&Overflow> =
        bounds.overflows.iter().filter(|overflow| overflow.limit.kind != REPEATS).collect();
    let loses = |repeats: &Repeats| {
        let stream = (repeats.of, &network.streams[repeats.of.index()]);
        first_functions(network, repeats)
            .any(|end| loses_on(network, &counted, stream, repeats.hops[end.hop] as usize))
    };
    let all = network.repeats.iter().enumerate().filter(|(_, repeats)| loses(repeats));
    all.map(|(number, _)| doubt(number)).collect()
}

fn doubt(number: usize) -> u16 {
    u16::try_from(FIRST_DOUBT + number).unwrap_or(u16::MAX)
}

/// The greatest distance of two frames of a stream as they are created, true time; none if it may pause.
fn distance_max(network: &Network, number: StreamIndex) -> Option<u64> {
    let stream = &network.streams[number.index()];
    let pauses = |action: &TimelineAction| matches!(action, TimelineAction::StartStream(of) | TimelineAction::StopStream(of) | TimelineAction::ChangeTraffic(of, ..) if *of == number);
    let longest = match &stream.traffic {
        Traffic::Periodic { interval, jitter, .. } => interval.as_ps().saturating_add(jitter.as_ps()),
        // Behind a frame of the largest size.
        Traffic::ConstantRate { rate, .. } => {
            rate.duration_ceil(wire_bits(stream.payload_max, stream.tagged)).as_ps()
        }
        _ => return None,
    };
    if !stream.started || servo(network) > 0 || network.events.iter().any(|event| pauses(&event.action)) {
        return None;
    }
    let clock = &network.nodes[stream.talker.index()].clock;
    Some(Deviation::of(clock).stretch(longest).saturating_add(2 * slack_ps(clock)))
}

impl Analysis<'_> {
    /// Whether repeats come no further than to a function before an entry.
    pub(super) fn repeats_end_before(&self, number: u32) -> bool {
        let network = self.plan.network;
        let stream = self.plan.entries[number as usize].stream;
        let Some(found) = network.repeats.iter().position(|repeats| repeats.stream.0 == stream) else {
            return false;
        };
        #[cfg(feature = "planted-faults")]
        if self.plan.fault == Some(crate::PlantedFault::RepeatsForgotten) {
            return true;
        }
        let first = self.plan.first_entry[stream as usize];
        let before =
            |number: u32| Some(self.plan.entries[number as usize].previous).filter(|before| *before != NONE);
        std::iter::successors(before(number), |number| before(*number)).any(|number| {
            let hop = (number - first) as usize;
            first_functions(network, &network.repeats[found])
                .any(|end| end.hop == hop && self.knows_repeats(found, end))
        })
    }

    /// The longest time in which a function gets no frame of the stream that is repeated, on the clock of its node; none: no bound.
    fn silence(&self, found: usize, end: End, is_individual: bool) -> Option<u64> {
        let network = self.plan.network;
        let repeats = &network.repeats[found];
        let hop = repeats.hops[end.hop];
        if self.plan.learned.doubted.contains(&doubt(found))
            || !works_on(network, self.plan.stream(repeats.of.0), hop as usize)
        {
            return None;
        }
        let apart = if is_individual {
            let number = (self.plan.first_entry[repeats.of.index()] + hop) as usize;
            let passage = &self.passages[number];
            let most = passage.next_max.filter(|_| passage.reason == NO_REASON)?;
            u64::try_from(signed(most) - self.plan.entries[number].next_min).unwrap_or(0)
        } else {
            self.spread(repeats.of.0, end.recovery)?.apart()
        };
        let distance = distance_max(network, repeats.of)?;
        #[cfg(feature = "planted-faults")]
        let distance = match self.plan.stream(repeats.of.0).traffic {
            Traffic::ConstantRate { .. }
                if self.plan.fault == Some(crate::PlantedFault::DistanceOfRateForgotten) =>
            {
                0
            }
            _ => distance,
        };
        Some(self.on_clock(end.node, distance.saturating_add(apart)))
    }

    /// The reset timeouts of the functions at an end that may know repeats, and how long each gets nothing.
    fn timers(&self, found: usize, end: End) -> impl Iterator<Item = (Option<u64>, Option<u64>)> {
        let replication = self.plan.stream(self.plan.network.repeats[found].of.0).replication.as_deref();
        let recovery = &replication.expect("a stream with copies").recoveries[end.recovery as usize];
        let knows_all = |algorithm| matches!(algorithm, RecoveryAlgorithm::Vector { .. });
        let sequence = recovery.sequence.filter(|sequence| knows_all(sequence.algorithm));
        let both = [(recovery.individual, true), (sequence, false)];
        both.into_iter().filter_map(move |(parameters, is_individual)| {
            let timeout = parameters?.reset_timeout.map(|timeout| timeout.as_ps());
            Some((timeout, self.silence(found, end, is_individual)))
        })
    }

    /// The reset timeout of the sequence function at an end.
    fn timeout(&self, found: usize, end: End) -> Option<u64> {
        let replication = self.plan.stream(self.plan.network.repeats[found].of.0).replication.as_deref();
        let recovery = &replication.expect("a stream with copies").recoveries[end.recovery as usize];
        recovery.sequence?.reset_timeout.map(|timeout| timeout.as_ps())
    }

    /// Whether repeats of a stream may pass the functions that they meet first.
    pub(super) fn repeats_pass(&self, stream: u32) -> bool {
        let network = self.plan.network;
        let all = network.repeats.iter().enumerate().filter(|(_, repeats)| repeats.of.0 == stream);
        all.flat_map(|(found, repeats)| first_functions(network, repeats).map(move |end| (found, end)))
            .any(|(found, end)| !self.knows_repeats(found, end))
    }

    /// Whether the functions at an end discard all repeats that come there.
    fn knows_repeats(&self, found: usize, end: End) -> bool {
        let outlasts = |(timeout, silence): (Option<u64>, Option<u64>)| {
            silence.is_some_and(|silence| timeout.is_none_or(|timeout| timeout > silence))
        };
        self.timers(found, end).any(outlasts)
    }

    /// Functions that may pass repeats.
    pub(super) fn repeat_overflows(&self, all: &mut Vec<Overflow>) {
        for (found, repeats) in self.plan.network.repeats.iter().enumerate() {
            for end in first_functions(self.plan.network, repeats) {
                if self.knows_repeats(found, end) {
                    continue;
                }
                // The first of the functions that may know repeats, and what it needs; nothing would do for another.
                let (timeout, silence) =
                    self.timers(found, end).next().unwrap_or_else(|| (self.timeout(found, end), None));
                let limit = Limit {
                    kind: REPEATS,
                    at: LimitPlace::StreamAt(repeats.of, end.node),
                    limit: timeout.unwrap_or(u64::MAX),
                    needed: silence.map(|silence| silence + 1),
                };
                let overflow = Overflow { whose: Whose::Stream(repeats.of), limit };
                if !all.contains(&overflow) {
                    all.push(overflow);
                }
            }
        }
    }
}
