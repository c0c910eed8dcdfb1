//! The answer to a listener that requested a stream by MSRP or of a CUC.

use tautwire_model::network::NodeIndex;

use super::reservation::{Declaration, ReservationObservation, RungEvent};
use crate::central::ControlNote;
use crate::request_outcome::RequestOutcome;

impl ReservationObservation {
    /// The answer to a listener.
    #[must_use]
    pub fn outcome(&self, listener: NodeIndex) -> RequestOutcome {
        let mut outcome = RequestOutcome::default();
        // The present answer; a listener of central configuration that is not served any more receives code 0.
        let mut code = None;
        for rung in self.ladder.iter().filter(|rung| rung.node == listener) {
            match rung.event {
                RungEvent::Asked => (outcome.asked, outcome.asks) = (true, true),
                RungEvent::Detached => outcome.asks = false,
                RungEvent::Received(_, Declaration::TalkerFailed(failed)) => code = Some(failed),
                RungEvent::Received(_, Declaration::TalkerAdvertise | Declaration::TalkerLeave) => {
                    code = None
                }
                RungEvent::ControlReceived(_, ControlNote::Refused(failed)) => code = Some(failed),
                RungEvent::ControlReceived(_, ControlNote::Served) => (outcome.granted, code) = (true, None),
                _ => {}
            }
            if outcome.asks && code.is_some_and(|code| code > 0) {
                outcome.failure = code;
            }
        }
        outcome.refused = outcome.asks && code.is_some_and(|code| code > 0);
        outcome
    }

    /// The last failure code that one of these listeners received during its request, of the first that received any.
    #[must_use]
    pub fn failure(&self, listeners: &[NodeIndex]) -> Option<u8> {
        listeners.iter().find_map(|listener| self.outcome(*listener).failure)
    }
}
