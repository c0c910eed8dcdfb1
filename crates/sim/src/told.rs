//! What a listener was told of a stream that it asked for: by its talker's declarations, by central configuration, or by the
//! ACMaster of HaRTES.
//!
//! An end station that did not ask is told of failures too, for MSRP floods what talkers declare: that is nobody's answer.
//! Not here: whether frames came, and what stream reservation tells (`srp/told.rs`).

use tautwire_model::network::{NodeIndex, StreamIndex};

use crate::harts::{AdmissionEvent, HartsObservation};

/// What became of a listener's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Whether it asked at any time.
    pub asked: bool,
    /// Whether it asks at the end of the run.
    pub asks: bool,
    /// Whether it asks at the end and the last answer is a refusal.
    pub refused: bool,
    /// Whether it was granted at any time, as far as it was told so.
    pub granted: bool,
    /// The last failure code that held while it asked (802.1Q-2022 Table 46-15).
    pub failure: Option<u8>,
}

impl HartsObservation {
    /// What a listener was told by the ACMaster; none if its stream is not asked for.
    #[must_use]
    pub fn told(&self, stream: StreamIndex, listener: NodeIndex) -> Option<Told> {
        self.requests.iter().find(|request| request.stream == stream)?;
        let mut told = Told::default();
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
