//! The tests to choose from, by name.

use tautwire_model::Network;

use crate::bounds::EndToEndBounds;
use crate::harts::HartsResponseTime;
use crate::srp::Bandwidth;
use crate::test::AdmissionTest;

/// A test with the parameters that a description gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Test {
    /// Proven end-to-end bounds against every deadline.
    #[default]
    Bounds,
    /// Bandwidth per port and class, that of stream reservation; no proof.
    Bandwidth,
    /// Response times of HaRTES (equation 3), for a description with `harts`.
    ResponseTime,
}

impl Test {
    /// All of them, by the names that [`Test::from_name`] takes.
    pub const NAMES: [&'static str; 3] = ["bounds", "bandwidth", "response-time"];

    /// The test of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|known| *known == name)?;
        Some([Self::Bounds, Self::Bandwidth, Self::ResponseTime][place])
    }

    /// The test itself, for a network.
    #[must_use]
    pub fn of(self, network: &Network) -> Box<dyn AdmissionTest> {
        match self {
            Self::Bounds => Box::new(EndToEndBounds),
            Self::Bandwidth => Box::new(Bandwidth::default()),
            Self::ResponseTime => Box::new(HartsResponseTime::of(network)),
        }
    }
}
