//! The rate of one clock to another, as its difference from one times 2⁴¹: the unit of the cumulative scaled rate offset
//! (IEEE Std 802.1AS-2020, 11.4.4.3.6).

use tautwire_units::Duration;

const BITS: u32 = 41;

/// A rate ratio less one, times 2⁴¹.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RateOffset(i64);

impl RateOffset {
    /// The offset of a field of a follow-up.
    #[must_use]
    pub fn from_scaled(scaled: i32) -> Self {
        Self(i64::from(scaled))
    }

    /// The field of a follow-up; the nearest that it can hold.
    #[must_use]
    pub fn to_scaled(self) -> i32 {
        let bounded = self.0.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
        i32::try_from(bounded).expect("within the bounds")
    }

    /// The rate of a clock on which `other` passes while `own` passes here, rounded down; none if no time passed, or if
    /// one clock were more than twice as fast.
    #[must_use]
    pub fn of(other: i128, own: Duration) -> Option<Self> {
        let own = i128::from(own.as_ps());
        if own == 0 || other <= own / 2 || other >= own * 2 {
            return None;
        }
        let scaled = ((other - own) << BITS).div_euclid(own);
        i64::try_from(scaled).ok().map(Self)
    }

    /// The ratio through two: of the first clock to the second, of that to the third. Rounded down.
    #[must_use]
    pub fn through(self, next: Self) -> Self {
        let product = (i128::from(self.0) * i128::from(next.0)) >> BITS;
        Self(self.0 + next.0 + i64::try_from(product).expect("ratios are near one"))
    }

    /// A span here as a span there, in picoseconds, rounded down.
    #[must_use]
    pub fn there(self, ps: i128) -> i128 {
        ps + ((ps * i128::from(self.0)) >> BITS)
    }

    /// A span there as a span here, in picoseconds, rounded down.
    #[must_use]
    pub fn here(self, ps: i128) -> i128 {
        (ps << BITS).div_euclid((1 << BITS) + i128::from(self.0))
    }

    /// Parts in 10⁹, rounded down.
    #[must_use]
    pub fn as_ppb(self) -> i64 {
        i64::try_from((i128::from(self.0) * 1_000_000_000) >> BITS).expect("ratios are near one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_and_applied() {
        let second = Duration::from_s(1);
        let fast = RateOffset::of(1_000_100_000_000, second).expect("near one");
        assert_eq!(fast.as_ppb(), 99_999, "100 ppm, rounded down");
        assert_eq!(fast.there(1_000_000_000_000), 1_000_100_000_000 - 1);
        assert!((fast.here(1_000_100_000_000) - 1_000_000_000_000).abs() <= 1);
        let slow = RateOffset::of(999_900_000_000, second).expect("near one");
        assert_eq!(fast.through(slow).as_ppb(), -11, "(1 + a)(1 - a) = 1 - a², and roundings");
        assert_eq!(RateOffset::of(1, Duration::ZERO), None);
        assert_eq!(RateOffset::of(3_000_000_000_000, second), None);
        assert_eq!(RateOffset::from_scaled(-7).to_scaled(), -7);
    }
}
