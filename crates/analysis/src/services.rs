//! The mechanisms that serve ports in ways of their own, in one list, and what the flow asks all of them.
//!
//! A new mechanism is a line here and a file or folder of its own (CONTRIBUTING.md, "How to add a mechanism").

use tautwire_model::Network;

use crate::harts::Harts;
use crate::result::Bounds;
use crate::service::{Mechanism, Misses, Silence};
use crate::tdma::Slots;
use crate::time_triggered::TimedLinks;

/// All of them. What one carries no later one does.
pub(crate) const MECHANISMS: [&dyn Mechanism; 3] = [&Slots, &Harts, &TimedLinks];

/// Why a session analyses a network as a whole, if a service makes it do so.
pub(crate) fn whole(network: &Network) -> Option<&'static str> {
    MECHANISMS.iter().find_map(|mechanism| mechanism.whole(network))
}

/// Whether a service settles how responses come and what hosts do.
pub(crate) fn settle_answers(network: &Network) -> bool {
    MECHANISMS.iter().any(|mechanism| mechanism.settles_answers(network))
}

/// What services must not rest on, as these bounds do not bear it.
pub(crate) fn doubts(network: &Network, bounds: &Bounds) -> Vec<u16> {
    MECHANISMS.iter().flat_map(|mechanism| mechanism.doubts(network, bounds)).collect()
}

/// Whom stated failures silence, though its frames pass none of these.
pub(crate) fn silences(network: &Network, misses: Misses<'_>) -> Vec<Silence> {
    MECHANISMS.iter().flat_map(|mechanism| mechanism.silences(network, misses)).collect()
}
