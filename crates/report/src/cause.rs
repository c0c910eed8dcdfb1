//! The cause of a lost copy: the network, a failure that the description states, the start of network time, or a
//! virtual link that eliminates copies by design.
//!
//! Most reasons determine the cause. For some the run and the description do: the loss of an expired frame is a
//! failure's where no limit is too small for it and something fails that keeps cycles from its station; a frame
//! without network time is lost to the start if no node lost that time again, and to a failure if one did and
//! something fails. A loss without a stated failure is the network's own.

use tautwire_analysis::limits::LIFETIME;
use tautwire_analysis::{CYCLES, Limit, StatedFailure};
use tautwire_model::network::Network;
use tautwire_sim::{DropReason, Observation};

/// The cause of a lost copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// The network, of its own accord: a deadline is missed.
    Network,
    /// A failure that the description states.
    Failure,
    /// Nodes had no network time yet.
    StartUp,
    /// A virtual link is there to take it out: an older message, a second copy.
    Meant,
}

impl Cause {
    /// How results name it; nothing for the network's own.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Network => None,
            Self::Failure => Some("failure"),
            Self::StartUp => Some("start-up"),
            Self::Meant => Some("meant"),
        }
    }
}

/// The causes, at one listener, of reasons that do not determine it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Causes {
    expired: Cause,
    unsynchronised: Cause,
    out_of_order: Cause,
}

impl Default for Causes {
    /// Where nothing fails.
    fn default() -> Self {
        Self { expired: Cause::Network, unsynchronised: Cause::Network, out_of_order: Cause::Meant }
    }
}

impl Causes {
    /// Those of a run, whichever the listener.
    pub(crate) fn of_run(network: &Network, observation: Option<&Observation>) -> Self {
        let fails = network.may_lose_frames();
        let nodes = observation.and_then(|seen| seen.network_time.as_ref()).map(|seen| &seen.nodes[..]);
        let unsynchronised = match nodes {
            // The network does not start, whatever fails.
            None => Cause::Network,
            Some(nodes) if nodes.iter().any(|node| node.synchronised_at.is_none()) => Cause::Network,
            Some(nodes) if nodes.iter().all(|node| node.lost + node.gave_way == 0) => Cause::StartUp,
            Some(_) if fails => Cause::Failure,
            // Clusters follow one another as they start.
            Some(nodes) if nodes.iter().all(|node| node.lost == 0) => Cause::StartUp,
            Some(_) => Cause::Network,
        };
        let out_of_order = if fails { Cause::Failure } else { Cause::Meant };
        Self { unsynchronised, out_of_order, ..Self::default() }
    }

    /// Those at a listener, with what may fail on the way to it, and limits that may be too small.
    pub(crate) fn at(self, stated: &[StatedFailure], limits: &[Limit]) -> Self {
        let is_too_short = limits.iter().any(|limit| limit.kind == LIFETIME);
        let misses_cycles = stated.iter().any(|failure| matches!(failure, StatedFailure::Misses(_, CYCLES)));
        let expired = if misses_cycles && !is_too_short { Cause::Failure } else { Cause::Network };
        Self { expired, ..self }
    }

    /// The cause of losses with this reason.
    pub(crate) const fn cause(self, reason: DropReason) -> Cause {
        match reason {
            DropReason::BitError | DropReason::LinkDown | DropReason::NodeDown => Cause::Failure,
            DropReason::Overwritten | DropReason::Eliminated => Cause::Meant,
            DropReason::IntegrityCheck => self.out_of_order,
            DropReason::Expired => self.expired,
            DropReason::Unsynchronised => self.unsynchronised,
            _ => Cause::Network,
        }
    }

    /// How many of these copies have this cause.
    pub(crate) fn count(self, dropped: &[(DropReason, u64)], by: Cause) -> u64 {
        dropped.iter().filter(|(reason, _)| self.cause(*reason) == by).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use tautwire_analysis::LimitPlace;
    use tautwire_model::network::NodeIndex;

    use super::*;

    #[test]
    fn frames_expire_by_a_failure_where_one_keeps_cycles_away_and_they_live_long_enough() {
        let at = NodeIndex::at(0);
        let limit = Limit { kind: LIFETIME, at: LimitPlace::Node(at), limit: 1, needed: Some(2) };
        let expired = |stated: &[StatedFailure], limits: &[Limit]| {
            Causes::default().at(stated, limits).cause(DropReason::Expired)
        };
        assert_eq!(expired(&[StatedFailure::Misses(at, CYCLES)], &[]), Cause::Failure);
        assert_eq!(expired(&[StatedFailure::Misses(at, CYCLES)], &[limit]), Cause::Network);
        assert_eq!(expired(&[StatedFailure::Stops(at)], &[]), Cause::Network);
    }
}
