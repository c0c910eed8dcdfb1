//! The list of the mechanisms with services, and the calls of the flow to all of them.
//!
//! A new mechanism is a line here and a file or folder of its own (CONTRIBUTING.md, "How to add a mechanism").

use tautwire_model::Network;

use crate::cqf::Cycles;
use crate::frer::Copies;
use crate::gates::Gates;
use crate::harts::Harts;
use crate::preemption::Preemption;
use crate::psfp::StreamFilters;
use crate::result::Bounds;
use crate::service::{Misses, ServiceKind, Silence};
use crate::tdma::Slots;
use crate::time_triggered::TimedLinks;

/// All of them. What one carries no later one does.
pub(crate) const KINDS: [&dyn ServiceKind; 8] =
    [&Slots, &Harts, &TimedLinks, &Cycles, &StreamFilters, &Gates, &Preemption, &Copies];

/// Why every step of a session analyses a network completely, if a service requires it.
pub(crate) fn why_not_stepwise(network: &Network) -> Option<&'static str> {
    KINDS.iter().find_map(|kind| kind.why_not_stepwise(network))
}

/// Whether a service settles how responses come and what hosts do.
pub(crate) fn settle_answers(network: &Network) -> bool {
    KINDS.iter().any(|kind| kind.settles_answers(network))
}

/// What services must not rest on, as these bounds do not bear it.
pub(crate) fn doubts(network: &Network, bounds: &Bounds) -> Vec<u16> {
    KINDS.iter().flat_map(|kind| kind.doubts(network, bounds)).collect()
}

/// Nodes that stated failures silence, although their frames do not pass any of these.
pub(crate) fn silences(network: &Network, misses: Misses<'_>) -> Vec<Silence> {
    KINDS.iter().flat_map(|kind| kind.silences(network, misses)).collect()
}
