//! Times in ticks and parts of a tick, without accumulated rounding: for the durations of frames at a rate that does
//! not divide the tick.
//!
//! Invariants: the parts are less than a tick, so times of one scale compare by their fields in order; sums and
//! differences are exact; a change of scale rounds by less than a part, to the late side. Not here: durations in whole
//! ticks (`octet_time.rs`).

use core::num::NonZeroU64;

use tautwire_units::{BitRate, Bits};

use crate::OctetTime;

/// Picoseconds in a second.
const PS_PER_S: u64 = 1_000_000_000_000;

/// How many parts make a tick: one where all times are whole ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale(NonZeroU64);

impl Scale {
    /// No parts.
    pub(crate) const TICKS: Self = Self(NonZeroU64::MIN);

    /// The number of parts in a picosecond such that a bit at `rate` lasts a whole number of parts: the largest one
    /// below 2⁶², so that a run has fewer frames than a picosecond has parts.
    fn of(rate: BitRate) -> Option<Self> {
        let mut parts = NonZeroU64::new(rate.as_bps())?.get();
        if PS_PER_S.is_multiple_of(parts) {
            return Some(Self::TICKS);
        }
        while parts < 1 << 61 {
            parts *= 2;
        }
        (parts < 1 << 62).then(|| NonZeroU64::new(parts).map(Self)).flatten()
    }
}

/// A time: ticks, which may be negative, and parts of one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FineTime {
    pub(crate) ticks: i64,
    parts: u64,
}

impl FineTime {
    /// Whole ticks.
    #[inline]
    pub(crate) const fn of_ticks(ticks: i64) -> Self {
        Self { ticks, parts: 0 }
    }

    /// The sum of two times of a scale.
    #[inline]
    pub(crate) const fn plus(self, other: Self, scale: Scale) -> Self {
        let (ticks, parts) = (self.ticks + other.ticks, self.parts + other.parts);
        match parts.checked_sub(scale.0.get()) {
            Some(parts) => Self { ticks: ticks + 1, parts },
            None => Self { ticks, parts },
        }
    }

    /// The time from `earlier` on, of one scale.
    #[inline]
    pub(crate) const fn minus(self, earlier: Self, scale: Scale) -> Self {
        let ticks = self.ticks - earlier.ticks;
        match self.parts.checked_sub(earlier.parts) {
            Some(parts) => Self { ticks, parts },
            None => Self { ticks: ticks - 1, parts: self.parts + scale.0.get() - earlier.parts },
        }
    }

    /// The first tick that is not before it.
    #[inline]
    pub(crate) const fn ceil(self) -> i64 {
        self.ticks + (self.parts > 0) as i64
    }

    /// The same time in another scale, late by less than a part.
    #[inline]
    pub(crate) fn rescaled(self, from: Scale, to: Scale) -> Self {
        if self.parts == 0 || from == to { self } else { self.rescale(from, to) }
    }

    #[cold]
    fn rescale(self, from: Scale, to: Scale) -> Self {
        let parts = (u128::from(self.parts) * u128::from(to.0.get())).div_ceil(u128::from(from.0.get()));
        let parts = u64::try_from(parts).expect("less than a tick");
        Self { ticks: self.ticks, parts: 0 }.plus(Self { ticks: 0, parts }, to)
    }
}

/// How long octets last at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// In whole ticks, rounded up for every frame.
    Ticks(OctetTime),
    /// Exactly: picoseconds of an octet, and parts of one more.
    Exact { ticks: u64, parts: u64 },
}

impl Pace {
    /// Exact durations in picoseconds at `rate`, their scale, and how long `burst` lasts; none if the rate is zero or above 2⁶²,
    /// or that is more than 2⁶³ picoseconds.
    pub(crate) fn exact(rate: BitRate, burst: Bits) -> Option<(Self, Scale, FineTime)> {
        let scale = Scale::of(rate)?;
        let of_a_bit = u128::from(PS_PER_S) * u128::from(scale.0.get()) / u128::from(rate.as_bps());
        let octet = split(of_a_bit.checked_mul(8)?, scale);
        let burst = split(of_a_bit.checked_mul(u128::from(burst.get()))?, scale);
        let pace = Self::Exact { ticks: octet.0, parts: octet.1 };
        Some((pace, scale, FineTime { ticks: i64::try_from(burst.0).ok()?, parts: burst.1 }))
    }

    /// How long `octets` last.
    ///
    /// # Panics
    /// If that is more than 2⁶³ ticks.
    pub(crate) fn duration(self, octets: u64, scale: Scale) -> FineTime {
        let (ticks, parts) = match self {
            Self::Ticks(time) => (time.ticks_ceil(octets), 0),
            Self::Exact { ticks, parts: 0 } => (ticks * octets, 0),
            Self::Exact { ticks, parts } => {
                let (more, parts) = split(u128::from(parts) * u128::from(octets), scale);
                (ticks * octets + more, parts)
            }
        };
        FineTime { ticks: i64::try_from(ticks).expect("a frame lasts less than 2^63 ticks"), parts }
    }
}

/// Ticks, at most 2⁶⁴ of them, and parts of one more.
fn split(parts: u128, scale: Scale) -> (u64, u64) {
    let scale = u128::from(scale.0.get());
    let below = u64::try_from(parts % scale).expect("fewer parts than there are in a tick");
    (u64::try_from(parts / scale).unwrap_or(u64::MAX), below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_divides_a_second_needs_no_parts() {
        let (pace, scale, burst) = Pace::exact(BitRate::from_mbps(100), Bits::new(12_176)).expect("a rate");
        assert_eq!((pace, scale), (Pace::Exact { ticks: 80_000, parts: 0 }, Scale::TICKS));
        assert_eq!(burst, FineTime::of_ticks(121_760_000));
    }

    /// 12 Mbit/s: an octet lasts 666 666 and two thirds picoseconds, three of them 2 us.
    #[test]
    fn thirds_add_up() {
        let (pace, scale, burst) = Pace::exact(BitRate::from_mbps(12), Bits::new(8)).expect("a rate");
        let octet = pace.duration(1, scale);
        assert_eq!((octet.ticks, octet.ceil(), octet), (666_666, 666_667, burst));
        let three = octet.plus(octet, scale).plus(octet, scale);
        assert_eq!(
            (three, pace.duration(3, scale)),
            (FineTime::of_ticks(2_000_000), FineTime::of_ticks(2_000_000))
        );
        assert_eq!(three.minus(octet, scale), pace.duration(2, scale));
        assert_eq!(FineTime::of_ticks(0).minus(octet, scale).ticks, -666_667, "parts are never negative");
    }

    #[test]
    fn another_scale_is_late_by_less_than_a_part() {
        let scale = |mbps| Pace::exact(BitRate::from_mbps(mbps), Bits::new(8)).expect("a rate");
        let ((pace, thirds, _), (_, sevenths, _)) = (scale(12), scale(7));
        let octet = pace.duration(1, thirds);
        let there = octet.rescaled(thirds, sevenths);
        let back = there.rescaled(sevenths, thirds);
        assert!(back >= octet && back.minus(octet, thirds).parts <= 2, "{octet:?} {back:?}");
        assert_eq!(FineTime::of_ticks(7).rescaled(thirds, sevenths), FineTime::of_ticks(7));
        let largest_fraction = FineTime { ticks: 0, parts: thirds.0.get() - 1 };
        let rounded = largest_fraction.rescaled(thirds, sevenths);
        assert!(rounded.ceil() == 1 && rounded >= FineTime { ticks: 0, parts: sevenths.0.get() - 2 });
    }

    #[test]
    fn the_least_and_the_greatest_rates_are_exact() {
        let (pace, scale, _) = Pace::exact(BitRate::from_bps(1), Bits::new(1)).expect("a rate");
        assert_eq!(pace.duration(1_522, scale), FineTime::of_ticks(1_522 * 8 * 1_000_000_000_000));
        let (pace, scale, _) = Pace::exact(BitRate::from_bps(199_999_999_999), Bits::new(1)).expect("a rate");
        assert_eq!(pace.duration(199_999_999_999, scale), FineTime::of_ticks(8_000_000_000_000));
        assert!(Pace::exact(BitRate::ZERO, Bits::new(1)).is_none());
    }
}
