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

use crate::cause::{Cause, Causes};
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
    /// Frames that came to its port and were lost in its host, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped_in_host: BTreeMap<String, u64>,
    /// By reason who took them, where it was not the network of its own accord: `failure`, one that the description states;
    /// `start-up`, before there was network time; `meant`, a virtual link that is there to take them out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub causes: BTreeMap<String, String>,
    /// Copies and frames that failures took: a cut cable, a stopped node, a bit error, and cycles of TDMA or network time that these
    /// kept away.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_by_failures: u64,
    /// Copies lost for any reason, in its host too, parts per million of those created for it, rounded up. Of a redundant virtual
    /// link, or a stream with recovery functions: frames of which no copy was taken, of those created.
    pub loss_ppm: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ListenerFrames {
    /// What a listener observed of a stream of which so many frames were created.
    pub(crate) fn of(seen: &ListenerObservation, created: u64, causes: Causes) -> Self {
        let (lost, all) = match seen.lost {
            Some(lost) => (lost, created),
            None => (lost(seen), created),
        };
        let in_host = dropped_in_host(seen);
        let in_host_all: u64 = in_host.iter().map(|(_, count)| count).sum();
        let named = |dropped: &[(DropReason, u64)]| {
            dropped.iter().map(|(reason, n)| (reason.name().to_owned(), *n)).collect()
        };
        let reasons = seen.dropped.iter().chain(in_host).map(|(reason, _)| *reason);
        let cause =
            |reason: DropReason| Some((reason.name().to_owned(), causes.cause(reason).name()?.to_owned()));
        Self {
            delivered: seen.delivered,
            in_flight: seen.in_flight,
            withheld: seen.withheld,
            dropped: named(&seen.dropped),
            dropped_in_host: named(in_host),
            causes: reasons.filter_map(cause).collect(),
            lost_by_failures: causes.count(&seen.dropped, Cause::Failure)
                + causes.count(in_host, Cause::Failure),
            loss_ppm: parts_per_million(lost + in_host_all, all),
        }
    }
}

/// What was lost between a listener's port and its application.
fn dropped_in_host(seen: &ListenerObservation) -> &[(DropReason, u64)] {
    seen.application.as_ref().map_or(&[], |host| &host.dropped)
}

/// Copies lost on their way to a listener for any reason; one that was eliminated because the other had come is none. Over two
/// networks: frames of which no copy was taken.
pub(crate) fn lost(seen: &ListenerObservation) -> u64 {
    let taken = |(reason, _): &&(DropReason, u64)| *reason != DropReason::Eliminated;
    seen.lost.unwrap_or_else(|| seen.dropped.iter().filter(taken).map(|(_, count)| count).sum())
}

/// Copies that the network, or the listener's host, discarded without a stated failure, and that were
/// not to be eliminated. Over two networks no more than the frames of which no copy was taken. A discarded datagram
/// counts, if no piece of it may have been taken otherwise.
pub(crate) fn discarded(seen: &ListenerObservation, causes: Causes) -> u64 {
    let all = |dropped: &[(DropReason, u64)]| causes.count(dropped, Cause::Network);
    let in_host = dropped_in_host(seen);
    let pieces: u64 = seen.dropped.iter().chain(in_host).map(|(_, count)| count).sum();
    let given_up = seen.datagrams.as_ref().map_or(0, |datagrams| datagrams.given_up.saturating_sub(pieces));
    let on_way = all(&seen.dropped);
    seen.lost.map_or(on_way, |lost| on_way.min(lost)) + all(in_host) + given_up
}

/// Causes in the form of a table, those with the most losses first.
fn causes(listener: &ListenerSummary) -> Option<String> {
    let frames = listener.frames.as_ref()?;
    let lost = |name: &&String| **name != DropReason::Eliminated.name();
    let on_way = frames.dropped.iter().filter(|(name, _)| lost(name));
    let mut causes: Vec<(u64, String)> = on_way
        .map(|(name, count)| {
            let by = frames.causes.get(name).filter(|by| *by != "meant");
            (*count, by.map_or_else(|| name.clone(), |by| format!("{name} ({by})")))
        })
        .chain(frames.dropped_in_host.iter().map(|(name, count)| {
            let by = frames.causes.get(name).map_or_else(String::new, |by| format!(", {by}"));
            (*count, format!("{name} (in the host{by})"))
        }))
        .collect();
    let given_up = listener.datagrams.as_ref().map_or(0, |datagrams| datagrams.given_up);
    if given_up > 0 {
        causes.push((given_up, "datagrams given up".to_owned()));
    }
    causes.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let texts = causes.iter().map(|(count, cause)| format!("{count} {cause}"));
    (!causes.is_empty()).then(|| texts.collect::<Vec<_>>().join(", "))
}

/// A table of the lost frames, their listeners and the reasons, a row for each listener; empty if nothing was lost.
#[must_use]
pub fn table(summary: &Summary, options: TableOptions) -> String {
    let columns = [text("losses", 0), text("listener", 0), number("share", 0), text("copies and causes", 0)];
    let row = |stream: &StreamSummary, listener: &ListenerSummary| {
        let (causes, share) = (causes(listener)?, listener.frames.as_ref()?.loss_ppm);
        Some(vec![stream.name.clone(), listener.listener.clone(), per_cent(share), causes])
    };
    let pairs = described(summary).flat_map(|s| s.listeners.iter().map(move |l| (s, l)));
    let rows: Vec<Vec<String>> = pairs.filter_map(|(s, l)| row(s, l)).collect();
    render(&columns, &rows, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes_of(frames: ListenerFrames) -> Option<String> {
        causes(&ListenerSummary { frames: Some(frames), ..ListenerSummary::default() })
    }

    #[test]
    fn two_copies_of_which_one_came_are_no_loss() {
        let dropped = vec![(DropReason::QueueFull, 3), (DropReason::Eliminated, 90)];
        let seen = ListenerObservation { delivered: 107, dropped, lost: Some(0), ..Default::default() };
        let causes = Causes::default();
        assert_eq!((lost(&seen), discarded(&seen, causes)), (0, 0));
        let frames = ListenerFrames::of(&seen, 100, causes);
        assert_eq!((frames.loss_ppm, frames.lost_by_failures), (0, 0));
        assert_eq!(causes_of(frames).as_deref(), Some("3 queue-full"));
        let alone = ListenerObservation { lost: None, ..seen };
        assert_eq!((lost(&alone), discarded(&alone, causes)), (3, 3));
    }

    #[test]
    fn losses_by_failures_have_their_cause() {
        let dropped = vec![(DropReason::QueueFull, 1), (DropReason::LinkDown, 4)];
        let seen = ListenerObservation { delivered: 5, dropped, ..Default::default() };
        let frames = ListenerFrames::of(&seen, 10, Causes::default());
        assert_eq!((frames.lost_by_failures, discarded(&seen, Causes::default())), (4, 1));
        assert_eq!(frames.loss_ppm, 500_000);
        assert_eq!(causes_of(frames).as_deref(), Some("4 link-down (failure), 1 queue-full"));
    }

    #[test]
    fn what_the_host_discards_is_discarded_and_named() {
        let application = tautwire_sim::ApplicationObservation {
            dropped: vec![(DropReason::SocketBufferFull, 2), (DropReason::NodeDown, 1)],
            ..Default::default()
        };
        let seen = ListenerObservation { application: Some(Box::new(application)), ..Default::default() };
        assert_eq!(discarded(&seen, Causes::default()), 2);
        let frames = ListenerFrames::of(&seen, 6, Causes::default());
        assert_eq!((frames.loss_ppm, frames.lost_by_failures), (500_000, 1));
        let expected = "2 socket-buffer-full (in the host), 1 node-down (in the host, failure)";
        assert_eq!(causes_of(frames).as_deref(), Some(expected));
    }
}
