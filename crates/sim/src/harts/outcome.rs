//! What a listener was told of a stream that it asked for by the ACMaster.

use tautwire_model::network::{NodeIndex, StreamIndex};

use super::observed::{AdmissionEvent, HartsObservation};
use crate::request_outcome::RequestOutcome;

impl HartsObservation {
    /// What a listener was told by the ACMaster; none if its stream is not asked for.
    #[must_use]
    pub fn told(&self, stream: StreamIndex, listener: NodeIndex) -> Option<RequestOutcome> {
        self.requests.iter().find(|request| request.stream == stream)?;
        let mut told = RequestOutcome::default();
        for rung in self.ladder.iter().filter(|rung| rung.stream == stream && rung.node == listener) {
            match rung.event {
                AdmissionEvent::Asked => (told.asked, told.asks) = (true, true),
                AdmissionEvent::Acknowledged => (told.granted, told.refused) = (true, false),
                AdmissionEvent::Refused => told.refused = true,
                AdmissionEvent::Released => (told.asks, told.refused) = (false, false),
                AdmissionEvent::CutOff => told.refused = false,
                _ => {}
            }
        }
        Some(told)
    }
}
