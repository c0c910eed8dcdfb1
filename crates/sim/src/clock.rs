//! True time, and the clocks of the nodes as integer maps of it.
//!
//! Invariant: `local` never decreases, and `local(true_at(x)) >= x`, so a machine that is woken at `true_at(x)` reads at least `x`.

use tautwire_units::{Duration, Instant};

/// True time, in picoseconds since the start of the run. Only the simulator knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Never.
    pub const MAX: Self = Self(u64::MAX);

    /// True time `ps` picoseconds after the start.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The span from the start of the run.
    #[must_use]
    pub const fn since_start(self) -> Duration {
        Duration::from_ps(self.0)
    }

    /// The span from `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_ps(self.0 - earlier.0)
    }

    /// The span from `earlier`, none if that is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_ps(self.0.saturating_sub(earlier.0))
    }
}

impl core::ops::Add<Duration> for SimTime {
    type Output = Self;
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.as_ps())
    }
}

/// The clock of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalClock {
    /// Reads true time.
    Perfect,
    /// Runs fast or slow by a constant part, from an offset, in steps.
    Drifting {
        /// Reading at the start.
        offset: u64,
        /// How much faster (or slower) than true time, in 2⁻⁶⁴.
        gain: u64,
        /// How much slower (or faster) true time is than it, in 2⁻⁶⁴.
        inverse: u64,
        /// Whether it is slower instead.
        slow: bool,
        /// Picoseconds of a step, at least one.
        step: u64,
    },
}

impl LocalClock {
    /// A clock that deviates by `ppb` parts in 10⁹, reads `offset` at the start and steps by `step`.
    pub(crate) fn new(offset: Duration, ppb: i32, step: Duration) -> Self {
        if ppb == 0 && offset.is_zero() && step.as_ps() <= 1 {
            return Self::Perfect;
        }
        let deviation = u128::from(ppb.unsigned_abs());
        let gain = (deviation << 64) / 1_000_000_000;
        let rate = if ppb < 0 { (1 << 64) - gain } else { (1 << 64) + gain };
        Self::Drifting {
            offset: offset.as_ps(),
            gain: u64::try_from(gain).expect("a deviation below one"),
            inverse: u64::try_from((gain << 64) / rate).expect("a deviation below one half"),
            slow: ppb < 0,
            step: step.as_ps().max(1),
        }
    }

    /// The reading at a true time.
    #[inline]
    pub(crate) fn local(self, time: SimTime) -> Instant {
        match self {
            Self::Perfect => Instant::from_ps(time.0),
            Self::Drifting { offset, gain, slow, step, .. } => {
                let ps = unstepped(time.0, offset, gain, slow);
                Instant::from_ps(if step == 1 { ps } else { ps - ps % step })
            }
        }
    }

    /// The first true time at which the clock reads at least `reading`.
    #[inline]
    pub(crate) fn true_at(self, reading: Instant) -> SimTime {
        match self {
            Self::Perfect => SimTime(reading.as_ps()),
            Self::Drifting { offset, gain, inverse, slow, step } => {
                let mut wanted = reading.as_ps();
                if step > 1 {
                    wanted = wanted.div_ceil(step) * step;
                }
                let elapsed = wanted.saturating_sub(offset);
                // Exact except for the rounding of `inverse`, which is worth less than a picosecond.
                let mut time;
                if slow {
                    let Some(before) = elapsed.checked_sub(1) else { return SimTime::ZERO };
                    time = elapsed + high_product(before, inverse);
                    time += u64::from(unstepped(time, offset, gain, slow) < wanted);
                } else {
                    time = elapsed - high_product(elapsed, inverse);
                    let is_late = time > 0 && unstepped(time - 1, offset, gain, slow) >= wanted;
                    time -= u64::from(is_late);
                }
                debug_assert!(unstepped(time, offset, gain, slow) >= wanted, "woken when it is time");
                SimTime(time)
            }
        }
    }

    /// The true time that a span of readings lasts, rounded up.
    #[inline]
    pub(crate) fn true_span(self, span: Duration) -> Duration {
        match self {
            Self::Perfect => span,
            Self::Drifting { inverse, slow, .. } => {
                let error = high_product(span.as_ps(), inverse);
                let ps = if slow { span.as_ps() + error + 1 } else { span.as_ps() - error };
                Duration::from_ps(ps)
            }
        }
    }
}

/// The part 2⁻⁶⁴ of a product.
#[inline]
fn high_product(left: u64, right: u64) -> u64 {
    ((u128::from(left) * u128::from(right)) >> 64) as u64
}

/// The reading of a drifting clock before its steps.
#[inline]
fn unstepped(time: u64, offset: u64, gain: u64, slow: bool) -> u64 {
    let error = high_product(time, gain);
    if slow { time - error + offset } else { time + error + offset }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_woken_reads_enough_and_not_too_late() {
        for ppb in [-100_000_000, -100_000, -1, 0, 1, 50_000, 100_000, 100_000_000] {
            for step in [1, 8_000] {
                for offset in [0, 5, 1_000_000] {
                    let clock = LocalClock::new(Duration::from_ps(offset), ppb, Duration::from_ps(step));
                    let mut reading = 1_u64;
                    while reading < 1 << 55 {
                        let wanted = Instant::from_ps(reading);
                        let time = clock.true_at(wanted);
                        assert!(clock.local(time) >= wanted);
                        if time > SimTime::ZERO {
                            let before = SimTime(time.0 - 1);
                            assert!(clock.local(before) < wanted, "{ppb} {step} {offset} {reading}");
                        }
                        reading = reading * 3 + 7;
                    }
                }
            }
        }
    }

    #[test]
    fn a_clock_gains_its_part() {
        let clock = LocalClock::new(Duration::ZERO, 100_000, Duration::ZERO);
        let second = SimTime::ZERO + Duration::from_s(1);
        let gained = clock.local(second).as_ps() - second.as_ps();
        assert!((99_999_999..=100_000_000).contains(&gained), "{gained}");
        assert_eq!(LocalClock::new(Duration::ZERO, 0, Duration::ZERO), LocalClock::Perfect);
    }
}
