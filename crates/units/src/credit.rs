//! Credit of a shaper, exact.

use core::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use crate::{BitRate, Bits, Duration};

/// A signed amount of credit in units of 10⁻¹² bit: a rate in bit/s times a span in picoseconds is
/// then a whole number, and no shaper drifts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Credit(i128);

impl Credit {
    /// Neither credit nor debt.
    pub const ZERO: Self = Self(0);

    /// An amount in 10⁻¹² bit.
    #[must_use]
    pub const fn from_pico_bits(pico_bits: i128) -> Self {
        Self(pico_bits)
    }

    /// The amount in 10⁻¹² bit.
    #[must_use]
    pub const fn as_pico_bits(self) -> i128 {
        self.0
    }

    /// The credit that `rate` earns within `span`.
    #[must_use]
    pub fn earned(rate: BitRate, span: Duration) -> Self {
        Self(i128::from(rate.as_bps()) * i128::from(span.as_ps()))
    }

    /// The credit of a number of bits.
    #[must_use]
    pub fn of_bits(bits: Bits) -> Self {
        Self(i128::from(bits.get()) * 1_000_000_000_000)
    }

    /// The shortest span in which `rate` pays this debt; no time if there is none.
    ///
    /// # Panics
    /// If there is a debt and the rate is zero.
    #[must_use]
    pub fn debt_paid_after(self, rate: BitRate) -> Duration {
        if self.0 >= 0 {
            return Duration::ZERO;
        }
        let ps = self.0.unsigned_abs().div_ceil(u128::from(rate.as_bps()));
        Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Bits, rounded away from zero.
    #[must_use]
    pub fn bits_away_from_zero(self) -> i64 {
        let bits = self.0.unsigned_abs().div_ceil(1_000_000_000_000);
        let bits = i64::try_from(bits).unwrap_or(i64::MAX);
        if self.0 < 0 { -bits } else { bits }
    }
}

impl Add for Credit {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Credit {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Credit {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Credit {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Neg for Credit {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debt_is_paid_at_the_first_picosecond_that_covers_it() {
        let rate = BitRate::from_bps(7);
        let debt = -Credit::of_bits(Bits::new(1));
        let span = debt.debt_paid_after(rate);
        assert!(debt + Credit::earned(rate, span) >= Credit::ZERO);
        assert!(debt + Credit::earned(rate, Duration::from_ps(span.as_ps() - 1)) < Credit::ZERO);
        assert_eq!(Credit::ZERO.debt_paid_after(rate), Duration::ZERO);
    }

    #[test]
    fn bits_are_rounded_away_from_zero() {
        assert_eq!(Credit::from_pico_bits(1).bits_away_from_zero(), 1);
        assert_eq!(Credit::from_pico_bits(-1).bits_away_from_zero(), -1);
        assert_eq!(Credit::of_bits(Bits::new(5)).bits_away_from_zero(), 5);
    }
}
