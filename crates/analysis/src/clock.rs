//! Clocks that are wrong by at most their tolerance, and roundings of time to the safe side.
//!
//! A port is analysed in the time of its own node: there its line and its idle slopes run exactly at
//! their rates, and what comes from elsewhere runs fast or slow. [`Deviation`] is the largest factor
//! between two such times, so one number serves both directions: `1/(1 − ρ) <= 1 + deviation`.
//! Not here: offsets (delays are differences) and drifts of one run (`sim`).

use tautwire_model::Network;
use tautwire_model::network::Clock;

/// Parts per billion in one.
const PPB: u128 = 1_000_000_000;
/// The same.
const PPB_64: u64 = 1_000_000_000;
/// Picoseconds in a second.
pub(crate) const PS_PER_S: u128 = 1_000_000_000_000;

/// The factor by which spans of one clock and true time differ at most, less one, in parts in 10⁹.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deviation(u64);

impl Deviation {
    /// Of a clock: `ρ/(1 − ρ)`, rounded up. The rate of a clock that may stop counts as just above zero.
    pub(crate) fn of(clock: &Clock) -> Self {
        Self::of_ppb(clock.tolerance_ppb)
    }

    /// The same of a tolerance in parts in 10⁹.
    pub(crate) fn of_ppb(tolerance_ppb: u32) -> Self {
        let rho = u128::from(tolerance_ppb).min(PPB - 1);
        let deviation = (rho * PPB).div_ceil(PPB - rho);
        Self(u64::try_from(deviation).expect("at most 10^18"))
    }

    /// The longest that a span of `ps` on one of two such clocks is on the other.
    pub(crate) fn stretch(self, ps: u64) -> u64 {
        if self.0 == 0 {
            return ps;
        }
        if let Some(product) = ps.checked_mul(PPB_64 + self.0) {
            return product.div_ceil(PPB_64);
        }
        let stretched = (u128::from(ps) * (PPB + u128::from(self.0))).div_ceil(PPB);
        u64::try_from(stretched).unwrap_or(u64::MAX)
    }

    /// The shortest.
    pub(crate) fn shrink(self, ps: u64) -> u64 {
        if self.0 == 0 {
            return ps;
        }
        if let Some(product) = ps.checked_mul(PPB_64) {
            return product / (PPB_64 + self.0);
        }
        let shrunk = u128::from(ps) * PPB / (PPB + u128::from(self.0));
        u64::try_from(shrunk).expect("not longer than it was")
    }

    /// The factor, as a fraction.
    pub(crate) const fn factor(self) -> (u64, u64) {
        (PPB_64.saturating_add(self.0), PPB_64)
    }

    /// A rate on one clock, as fast as it can seem on the other; rounded up.
    pub(crate) fn fastest(self, bps: u64) -> u64 {
        self.stretch(bps)
    }
}

/// By how much one timed step may be late on a node's clock compared with exact arithmetic: the step of its readings,
/// and the roundings of the maps between its time and true time. Zero for a perfect clock.
pub(crate) fn slack_ps(clock: &Clock) -> u64 {
    let perfect = clock.tolerance_ppb == 0 && clock.granularity.as_ps() <= 1;
    if perfect { 0 } else { clock.granularity.as_ps().max(1) + 2 }
}

/// By how much a servo may run the clocks of a network faster or slower yet, parts in 10⁹.
pub(crate) fn servo(network: &Network) -> u64 {
    let servo = network.gptp.as_ref().and_then(|gptp| gptp.servo);
    u64::from(servo.map_or(0, |servo| servo.rate_max_ppb))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(tolerance_ppb: u32) -> Clock {
        Clock { tolerance_ppb, ..Clock::default() }
    }

    #[test]
    fn a_deviation_covers_both_directions() {
        let deviation = Deviation::of(&clock(100_000));
        assert_eq!(deviation, Deviation(100_011), "1/(1 - 1e-4) - 1, rounded up");
        let second = 1_000_000_000_000;
        assert!(deviation.stretch(second) >= second + second / 10_000);
        assert!(deviation.shrink(second) <= second - second / 10_001);
        assert_eq!(Deviation::of(&clock(0)).stretch(7), 7);
        assert!(Deviation::of(&clock(u32::MAX)).stretch(second) >= second * 1_000_000, "no clock at all");
    }

    #[test]
    fn a_perfect_clock_has_no_slack() {
        assert_eq!(slack_ps(&clock(0)), 0);
        assert_eq!(slack_ps(&clock(1)), 3);
    }
}
