//! Time per octet as a fixed-point number: the duration of a frame by one multiplication.

use tautwire_units::{BitRate, Bytes, Duration};

/// Binary digits after the point.
const FRACTION_BITS: u32 = 24;

/// Picoseconds per octet in a picosecond.
const PS_BITS_PER_OCTET: u128 = 8_000_000_000_000;

/// The time that one octet takes at some rate, in ticks of a clock, rounded up to 2⁻²⁴ tick.
///
/// The duration of *n* octets is never below the exact one and above it by less than
/// *n*·2⁻²⁴ + 1 ticks; where an octet lasts a whole number of ticks, as in picoseconds at every
/// standard rate, it is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OctetTime(u64);

impl OctetTime {
    /// The time per octet at `rate`, in ticks of `tick`; none if the rate or the tick is zero or an
    /// octet lasts more than 2⁴⁰ ticks.
    #[must_use]
    pub fn new(rate: BitRate, tick: Duration) -> Option<Self> {
        let divisor = u128::from(rate.as_bps()) * u128::from(tick.as_ps());
        if divisor == 0 {
            return None;
        }
        let ticks = (PS_BITS_PER_OCTET << FRACTION_BITS).div_ceil(divisor);
        u64::try_from(ticks).ok().map(Self)
    }

    /// Ticks that `octets` last, rounded up.
    ///
    /// # Panics
    /// If that is more than 2⁶⁴.
    #[inline]
    #[must_use]
    pub fn ticks_ceil(self, octets: u64) -> u64 {
        // Most products fit 64 bits; a branch is cheaper than a wide product everywhere.
        let ticks = match self.0.checked_mul(octets) {
            Some(product) if product <= u64::MAX - ((1 << FRACTION_BITS) - 1) => {
                return (product + ((1 << FRACTION_BITS) - 1)) >> FRACTION_BITS;
            }
            _ => (u128::from(self.0) * u128::from(octets)).div_ceil(1 << FRACTION_BITS),
        };
        u64::try_from(ticks).expect("a duration of at most 2^64 ticks")
    }

    /// The fewest octets that last for so many ticks, or longer.
    #[must_use]
    pub fn octets_ceil(self, ticks: u64) -> u64 {
        let Some(before) = ticks.checked_sub(1) else { return 0 };
        let octets = (u128::from(before) << FRACTION_BITS) / u128::from(self.0) + 1;
        u64::try_from(octets).unwrap_or(u64::MAX)
    }

    /// The duration of `octets`, rounded up, as a time in picoseconds.
    #[inline]
    #[must_use]
    pub fn duration_ceil(self, octets: Bytes) -> Duration {
        Duration::from_ps(self.ticks_ceil(octets.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_units::Bits;

    const PS: Duration = Duration::from_ps(1);

    #[test]
    fn standard_rates_are_exact() {
        for mbps in [10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000] {
            let rate = BitRate::from_mbps(mbps);
            let time = OctetTime::new(rate, PS).expect("a rate");
            for octets in [1, 64, 1_522, 9_018, 1 << 30] {
                assert_eq!(time.duration_ceil(Bytes::new(octets)), rate.duration_ceil(Bits::new(octets * 8)));
            }
        }
    }

    #[test]
    fn the_octets_of_a_time_are_the_fewest() {
        for bps in [3, 33_000_000, 100_000_000, 999_999_999] {
            let Some(time) = OctetTime::new(BitRate::from_bps(bps), PS) else { continue };
            for ticks in [0, 1, 79_999, 80_000, 80_001, 123_456_789] {
                let octets = time.octets_ceil(ticks);
                assert!(time.ticks_ceil(octets) >= ticks);
                assert!(octets == 0 || time.ticks_ceil(octets - 1) < ticks);
            }
        }
    }

    #[test]
    fn other_rates_are_never_short() {
        for bps in [1, 3, 33_000_000, 999_999_999] {
            let rate = BitRate::from_bps(bps);
            let Some(time) = OctetTime::new(rate, PS) else {
                assert!(bps < 100);
                continue;
            };
            for octets in [1, 1_522, 65_536] {
                let exact = rate.duration_ceil(Bits::new(octets * 8)).as_ps();
                let ticks = time.ticks_ceil(octets);
                assert!(
                    exact <= ticks && ticks <= exact + (octets >> 24) + 1,
                    "{bps} bit/s: {exact} {ticks}"
                );
            }
        }
    }

    #[test]
    fn coarse_ticks_keep_their_fraction() {
        // At 10 Gbit/s an octet lasts a tenth of an 8 ns tick.
        let time = OctetTime::new(BitRate::from_gbps(10), Duration::from_ns(8)).expect("a rate");
        assert_eq!(time.ticks_ceil(1_000), 101, "2^-24 above 100 is rounded up");
        assert_eq!(time.ticks_ceil(999), 100);
        assert_eq!(OctetTime::new(BitRate::ZERO, PS), None);
    }
}
