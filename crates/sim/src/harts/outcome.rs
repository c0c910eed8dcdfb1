//! The answer of the ACMaster to a listener that requested a stream.

use tautwire_model::network::{NodeIndex, StreamIndex};

use super::observed::{AdmissionEvent, HartsObservation};
use crate::request_outcome::RequestOutcome;

impl HartsObservation {
    /// The answer of the ACMaster to a listener; none if its stream is not requested.
    #[must_use]
    pub fn outcome(&self, stream: StreamIndex, listener: NodeIndex) -> Option<RequestOutcome> {
        self.requests.iter().find(|request| request.stream == stream)?;
        let mut outcome = RequestOutcome::default();
        for rung in self.ladder.iter().filter(|rung| rung.stream == stream && rung.node == listener) {
            match rung.event {
                AdmissionEvent::Asked => (outcome.asked, outcome.asks) = (true, true),
                AdmissionEvent::Acknowledged => (outcome.granted, outcome.refused) = (true, false),
                AdmissionEvent::Refused => outcome.refused = true,
                AdmissionEvent::Released => (outcome.asks, outcome.refused) = (false, false),
                AdmissionEvent::CutOff => outcome.refused = false,
                _ => {}
            }
        }
        Some(outcome)
    }
}
