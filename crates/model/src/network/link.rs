//! Links: one for each direction of a cable.

use tautwire_units::{BitRate, Duration};

use super::PortIndex;

/// One direction of a cable.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Sending port.
    pub from: PortIndex,
    /// Receiving port.
    pub to: PortIndex,
    /// Bits of the wire per second, at a perfect clock.
    pub rate: BitRate,
    /// Delay on the cable.
    pub propagation: Duration,
    /// Delay of the two PHYs, least and most, drawn per frame; keeps the order of frames.
    pub phy_delay: DelayRange,
    /// Chance of a bit to be received wrong, in 10⁻¹⁸.
    pub bit_error_rate: u64,
    /// Whether the link is up at the start.
    pub up: bool,
}

/// A least and a most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayRange {
    /// Least.
    pub min: Duration,
    /// Most.
    pub max: Duration,
}
