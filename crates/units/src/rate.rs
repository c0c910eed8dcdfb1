//! Bit rates, and conversions between sizes and times by them.

use core::fmt;

use crate::{Bits, Duration};

/// Picoseconds in a second.
const PS_PER_S: u128 = 1_000_000_000_000;

/// A rate in whole bits per second; the meaning of a bit (of the wire, of the frame) is the user's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

/// Why a number of bits per second is no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateError {
    /// Nothing ever arrives at a rate of zero.
    Zero,
}

impl BitRate {
    /// No rate at all; useful as the start of a sum.
    pub const ZERO: Self = Self(0);

    /// A rate of `bps` bits per second.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate of `mbps` megabits (10⁶ bits) per second.
    #[must_use]
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }

    /// A rate of `gbps` gigabits (10⁹ bits) per second.
    #[must_use]
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps * 1_000_000_000)
    }

    /// Bits per second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The shortest span in which `bits` pass: `bits / rate`, rounded up to a picosecond.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn duration_ceil(self, bits: Bits) -> Duration {
        let ps = (u128::from(bits.get()) * PS_PER_S).div_ceil(u128::from(self.0));
        Duration::from_ps(u64::try_from(ps).expect("a transmission of at most 213 days"))
    }

    /// `bits / rate`, rounded down to a picosecond.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn duration_floor(self, bits: Bits) -> Duration {
        let ps = u128::from(bits.get()) * PS_PER_S / u128::from(self.0);
        Duration::from_ps(u64::try_from(ps).expect("a transmission of at most 213 days"))
    }

    /// The most bits that pass within `span`: `rate · span`, rounded up.
    #[must_use]
    pub fn bits_ceil(self, span: Duration) -> Bits {
        let bits = (u128::from(self.0) * u128::from(span.as_ps())).div_ceil(PS_PER_S);
        Bits::new(u64::try_from(bits).expect("fewer than 2^64 bits"))
    }

    /// The rate at which `bits` pass every `period`, rounded up to a bit per second.
    ///
    /// # Errors
    /// [`RateError::Zero`] for a period of no time.
    pub fn per_period_ceil(bits: Bits, period: Duration) -> Result<Self, RateError> {
        if period.is_zero() {
            return Err(RateError::Zero);
        }
        let bps = (u128::from(bits.get()) * PS_PER_S).div_ceil(u128::from(period.as_ps()));
        Ok(Self(u64::try_from(bps).unwrap_or(u64::MAX)))
    }

    /// The rate of a clock that runs fast by at most `ppb` parts in 10⁹, rounded up.
    #[must_use]
    pub fn fastest(self, ppb: u64) -> Self {
        let bps = u128::from(self.0) * (1_000_000_000 + u128::from(ppb));
        Self(u64::try_from(bps.div_ceil(1_000_000_000)).unwrap_or(u64::MAX))
    }

    /// The rate of a clock that runs slow by at most `ppb` parts in 10⁹, rounded down:
    /// `rate / (1 + ppb/10⁹)`.
    #[must_use]
    pub fn slowest(self, ppb: u64) -> Self {
        let bps = u128::from(self.0) * 1_000_000_000 / (1_000_000_000 + u128::from(ppb));
        Self(u64::try_from(bps).unwrap_or(u64::MAX))
    }

    /// `self + other`, or the largest rate there is.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self - other`, or none where `other` is larger.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(bps) => Some(Self(bps)),
            None => None,
        }
    }
}

/// Exact, in the largest unit that needs at most three decimals: `1 Gbit/s`, `2.5 Gbit/s`, `1200 kbit/s`.
impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s")] {
            if self.0 >= unit && self.0.is_multiple_of(unit / 1_000) {
                crate::text::write_decimal(f, self.0, unit)?;
                return write!(f, " {name}");
            }
        }
        write!(f, "{} bit/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_bit_is_an_integral_number_of_picoseconds_at_every_standard_rate() {
        for mbps in [10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000] {
            let rate = BitRate::from_mbps(mbps);
            let bit = Bits::new(1);
            assert_eq!(rate.duration_ceil(bit), rate.duration_floor(bit), "{rate}");
        }
    }

    #[test]
    fn every_rounding_keeps_its_side() {
        let third = BitRate::from_bps(3);
        assert_eq!(third.duration_ceil(Bits::new(1)).as_ps(), 333_333_333_334);
        assert_eq!(third.duration_floor(Bits::new(1)).as_ps(), 333_333_333_333);
        assert_eq!(third.bits_ceil(Duration::from_ps(1)), Bits::new(1));
        assert_eq!(third.fastest(1).as_bps(), 4);
        assert_eq!(third.slowest(1).as_bps(), 2);
    }

    #[test]
    fn a_rate_is_printed_exactly() {
        for (bps, text) in [
            (2_500_000_000, "2.5 Gbit/s"),
            (1_000_000_000, "1 Gbit/s"),
            (1_200_000, "1.2 Mbit/s"),
            (1_234_567, "1234.567 kbit/s"),
            (7, "7 bit/s"),
        ] {
            assert_eq!(BitRate::from_bps(bps).to_string(), text);
        }
    }
}
