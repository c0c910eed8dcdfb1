//! Losses of a run whose cause does not follow from the description and its bounds.

use tautwire_analysis::stated_failures;
use tautwire_sim::{DropReason, Observation};
use tautwire_workbench::network::StreamIndex;
use tautwire_workbench::{Bounds, CYCLES, LimitKind, Network, StatedFailure, limits, losses};

/// Frames lost to failures where none is stated, expired frames without a failure or limit as the cause, and frames
/// that newer ones replaced where that cannot happen, each a sentence.
pub(crate) fn without_cause(network: &Network, bounds: &Bounds, observation: &Observation) -> Vec<String> {
    let (limits_found, stated) = (losses(network, bounds), stated_failures(network));
    let mut found = Vec::new();
    for (number, stream) in network.streams.iter().enumerate() {
        for (listener, seen) in observation.streams[number].listeners.iter().enumerate() {
            let is_bounded = bounds.streams[number].listeners[listener].delay.is_ok();
            let (failures, limits) =
                (&stated[number][listener], limits_found.at(StreamIndex::at(number), listener));
            let has = |kind: LimitKind| limits.iter().any(|limit| limit.kind == kind);
            for (reason, count) in seen.dropped.iter().filter(|_| seen.lost != Some(0)) {
                let is_reported = match reason {
                    // Over two networks the other copy may be lost to a limit.
                    DropReason::BitError | DropReason::LinkDown | DropReason::NodeDown => {
                        !failures.is_empty() || seen.lost.is_some() && !limits.is_empty()
                    }
                    DropReason::Expired => {
                        !is_bounded
                            || failures.iter().any(|one| matches!(one, StatedFailure::Misses(_, CYCLES)))
                            || has(limits::LIFETIME)
                    }
                    DropReason::Overwritten => !is_bounded || has(limits::NEWEST_MESSAGE),
                    _ => true,
                };
                if !is_reported {
                    let name = reason.name();
                    found.push(format!("{} at its listener {listener}: {count} {name}", stream.name));
                }
            }
        }
    }
    found
}
