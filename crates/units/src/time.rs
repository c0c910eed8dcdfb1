//! Readings of a clock and spans of time, in picoseconds.
//!
//! An [`Instant`] is a reading of one node's clock since the start of a run (u64 picoseconds: 213
//! days); a bit lasts a whole number of picoseconds at every standard rate from 10 Mbit/s to
//! 200 Gbit/s. Overflow is a broken invariant and panics (overflow checks stay on in release).

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// A reading of one node's clock, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time, in picoseconds.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A signed difference of two readings, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockOffset(i64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The last reading that a clock can give.
    pub const MAX: Self = Self(u64::MAX);

    /// The reading `ps` picoseconds after the start of the run.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start of the run.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`.
    ///
    /// # Panics
    /// If `earlier` is later than `self`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0 - earlier.0)
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The reading `span` later, or the last reading there is.
    #[must_use]
    pub const fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// A span of `ns` nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// A span of `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// A span of `ms` milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// A span of `s` seconds.
    #[must_use]
    pub const fn from_s(s: u64) -> Self {
        Self(s * 1_000_000_000_000)
    }

    /// Picoseconds.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// True for no time at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self - other`, zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or the longest span there is.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// `self + other`; none on overflow.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(ps) => Some(Self(ps)),
            None => None,
        }
    }

    /// The smallest span that holds `self` at a clock that is wrong by at most `ppb` parts in 10⁹:
    /// `self · (1 + ppb/10⁹)`, rounded up.
    #[must_use]
    pub fn stretched_ceil(self, ppb: u64) -> Self {
        let ps = u128::from(self.0) * (1_000_000_000 + u128::from(ppb));
        Self(u64::try_from(ps.div_ceil(1_000_000_000)).unwrap_or(u64::MAX))
    }
}

impl ClockOffset {
    /// An offset of `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: i64) -> Self {
        Self(ps)
    }

    /// Signed picoseconds.
    #[must_use]
    pub const fn as_ps(self) -> i64 {
        self.0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0 - span.0)
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

/// How many times `other` fits into `self` (rounded down).
impl Div for Duration {
    type Output = u64;
    fn div(self, other: Self) -> u64 {
        self.0 / other.0
    }
}

impl Rem for Duration {
    type Output = Self;
    fn rem(self, other: Self) -> Self {
        Self(self.0 % other.0)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

/// Exact, in the largest unit that leaves at most three digits before the point of the next one:
/// `12.336 us`, `1 ms`, `800 ps`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0 => return f.write_str("0 s"),
            1..1_000 => (1, "ps"),
            1_000..1_000_000 => (1_000, "ns"),
            1_000_000..1_000_000_000 => (1_000_000, "us"),
            1_000_000_000..1_000_000_000_000 => (1_000_000_000, "ms"),
            _ => (1_000_000_000_000, "s"),
        };
        crate::text::write_decimal(f, self.0, unit)?;
        write!(f, " {name}")
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Duration(self.0), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_span_is_printed_exactly() {
        for (ps, text) in [
            (0, "0 s"),
            (800, "800 ps"),
            (12_336_000, "12.336 us"),
            (1_000_000_000, "1 ms"),
            (1_500_000_000_001, "1.500000000001 s"),
        ] {
            assert_eq!(Duration::from_ps(ps).to_string(), text);
        }
    }

    #[test]
    fn stretching_rounds_up() {
        assert_eq!(Duration::from_ps(1).stretched_ceil(1).as_ps(), 2);
        assert_eq!(Duration::from_ms(1).stretched_ceil(100_000), Duration::from_ns(1_000_100));
        assert_eq!(Duration::MAX.stretched_ceil(1), Duration::MAX);
    }
}
