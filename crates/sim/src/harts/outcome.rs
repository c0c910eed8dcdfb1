//! What a listener was told of a stream that it asked for by the ACMaster.

use tautwire_model::network::{NodeIndex, StreamIndex};

use super::observed::{AdmissionEvent, HartsObservation};
use crate::request_outcome::RequestOutcome;

impl HartsObservation {
    /// What a listener was told by the ACMaster; none if its stream is not asked for.
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
