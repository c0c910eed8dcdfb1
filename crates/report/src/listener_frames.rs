//! What became of a stream's copies on their way to one listener: how many came, what was lost and why, and how much of it
//! failures caused that the description states. In results and as a table.
//!
//! Invariant: delivered + lost, whatever the reason, + withheld + in flight is what was created for this listener. A copy that
//! is lost before bridges replicate it counts at each listener that it was for, so rows of several listeners do not add up to
//! what the stream lost.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_sim::{DropReason, ListenerObservation};

use crate::grid::{TableOptions, number, render, text};
use crate::summarise::parts_per_million;
use crate::summary::{ListenerSummary, StreamSummary, Summary};
use crate::table::{described, per_cent};

/// What became of the copies for one listener.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListenerFrames {
    /// Copies that it received, those of the warm-up too.
    pub delivered: u64,
    /// Copies on their way to it at the end of the run.
    pub in_flight: u64,
    /// Copies that a bridge did not forward to it: nothing is reserved or registered there, or another listener has the address.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: u64,
    /// Copies lost on their way to it, by reason. One that is lost before it is replicated counts at each listener that it was for.
    pub dropped: BTreeMap<String, u64>,
    /// Those of them that failures took: a cut cable, a stopped node, a bit error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_by_failures: u64,
    /// Copies lost for any reason, parts per million of those created for it, rounded up. Of a redundant virtual link: frames of
    /// which no copy was taken, of those created.
    pub loss_ppm: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ListenerFrames {
    /// What a listener observed of a stream of which so many frames were created.
    pub(crate) fn of(seen: &ListenerObservation, created: u64) -> Self {
        let (lost, all) = match seen.lost {
            Some(lost) => (lost, created),
            None => (lost(seen), created),
        };
        Self {
            delivered: seen.delivered,
            in_flight: seen.in_flight,
            withheld: seen.withheld,
            dropped: seen.dropped.iter().map(|(reason, n)| (reason.name().to_owned(), *n)).collect(),
            lost_by_failures: count(&seen.dropped, is_failure),
            loss_ppm: parts_per_million(lost, all),
        }
    }
}

/// Whether a failure takes the frame: of a cable, of bits, of a node.
pub(crate) const fn is_failure(reason: DropReason) -> bool {
    matches!(reason, DropReason::BitError | DropReason::LinkDown | DropReason::NodeDown)
}

/// What a virtual link is there to take out: older messages, and second copies.
const fn is_meant(reason: DropReason) -> bool {
    matches!(reason, DropReason::Overwritten | DropReason::IntegrityCheck | DropReason::Eliminated)
}

fn count(dropped: &[(DropReason, u64)], counts: impl Fn(DropReason) -> bool) -> u64 {
    dropped.iter().filter(|(reason, _)| counts(*reason)).map(|(_, count)| count).sum()
}

/// Copies lost on their way to a listener for any reason; one that was eliminated because the other had come is none. Over two
/// networks: frames of which no copy was taken.
pub(crate) fn lost(seen: &ListenerObservation) -> u64 {
    seen.lost.unwrap_or_else(|| count(&seen.dropped, |reason| reason != DropReason::Eliminated))
}

/// Copies that the network, or the listener's host behind its port, discarded of its own accord: failures apart, of which no bound
/// speaks, time-triggered frames without network time where that is `excused`, and what a virtual link is there to take out. Over two
/// networks no more than the frames of which no copy was taken.
pub(crate) fn discarded(seen: &ListenerObservation, excused: bool) -> u64 {
    let is_unsent = |reason| reason == DropReason::Unsynchronised && excused;
    let counts = |reason| !is_failure(reason) && !is_meant(reason) && !is_unsent(reason);
    let in_host = seen.application.as_ref().map_or(0, |host| count(&host.dropped, counts));
    let on_way = count(&seen.dropped, counts);
    seen.lost.map_or(on_way, |lost| on_way.min(lost)) + in_host
}

/// Reasons as a table says them, those that took most first.
fn causes(frames: &ListenerFrames) -> String {
    let is_stated = |name: &str| DropReason::ALL.into_iter().any(|one| one.name() == name && is_failure(one));
    let mut causes: Vec<_> =
        frames.dropped.iter().filter(|(name, _)| *name != DropReason::Eliminated.name()).collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let cause = |(name, count): &(&String, &u64)| {
        let by = if is_stated(name) { " (failure)" } else { "" };
        format!("{count} {name}{by}")
    };
    causes.iter().map(cause).collect::<Vec<_>>().join(", ")
}

/// A table of what was lost on the way to whom and why, a row for each listener; empty if nothing was.
#[must_use]
pub fn table(summary: &Summary, options: TableOptions) -> String {
    let columns = [text("losses", 0), text("listener", 0), number("share", 0), text("copies and causes", 0)];
    let row = |stream: &StreamSummary, listener: &ListenerSummary| {
        let frames = listener.frames.as_ref()?;
        let causes = causes(frames);
        let ends = [stream.name.clone(), listener.listener.clone()];
        (!causes.is_empty()).then(|| ends.into_iter().chain([per_cent(frames.loss_ppm), causes]).collect())
    };
    let pairs = described(summary).flat_map(|s| s.listeners.iter().map(move |l| (s, l)));
    let rows: Vec<Vec<String>> = pairs.filter_map(|(s, l)| row(s, l)).collect();
    render(&columns, &rows, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_copies_of_which_one_came_are_no_loss() {
        let dropped = vec![(DropReason::QueueFull, 3), (DropReason::Eliminated, 90)];
        let seen = ListenerObservation { delivered: 107, dropped, lost: Some(0), ..Default::default() };
        assert_eq!((lost(&seen), discarded(&seen, false)), (0, 0));
        let frames = ListenerFrames::of(&seen, 100);
        assert_eq!((frames.loss_ppm, frames.lost_by_failures), (0, 0));
        assert_eq!(causes(&frames), "3 queue-full");
        let alone = ListenerObservation { lost: None, ..seen };
        assert_eq!((lost(&alone), discarded(&alone, false)), (3, 3));
    }

    #[test]
    fn what_failures_take_is_told_apart() {
        let dropped = vec![(DropReason::QueueFull, 1), (DropReason::LinkDown, 4)];
        let seen = ListenerObservation { delivered: 5, dropped, ..Default::default() };
        let frames = ListenerFrames::of(&seen, 10);
        assert_eq!((frames.lost_by_failures, discarded(&seen, false)), (4, 1));
        assert_eq!(frames.loss_ppm, 500_000);
        assert_eq!(causes(&frames), "4 link-down (failure), 1 queue-full");
    }

    #[test]
    fn what_the_host_discards_is_discarded() {
        let application = tautwire_sim::ApplicationObservation {
            dropped: vec![(DropReason::SocketBufferFull, 2), (DropReason::NodeDown, 1)],
            ..Default::default()
        };
        let seen = ListenerObservation { application: Some(Box::new(application)), ..Default::default() };
        assert_eq!(discarded(&seen, false), 2);
    }
}
