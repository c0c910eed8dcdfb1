//! A clock that a servo corrects: an oscillator's readings, stepped and run faster or slower (IEEE Std 802.1AS-2020, 7.2 calls it the
//! clock of the end station's application).
//!
//! Between two corrections it is a line of the oscillator. Invariant: a change of rate does not move it, and without steps back it does
//! not go back; roundings are below a picosecond each.

use tautwire_units::Instant;

use super::servo::Adjustment;

/// Parts of a rate.
const PARTS: i128 = 1_000_000_000_000;

/// A corrected clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DisciplinedClock {
    /// The oscillator's reading at the last correction.
    since: Instant,
    /// What it read then, in picoseconds.
    base: i128,
    /// By how many parts in 10¹² it runs faster than the oscillator.
    rate: i64,
}

impl DisciplinedClock {
    /// A clock that reads what the oscillator does.
    #[must_use]
    pub const fn new(now: Instant) -> Self {
        Self { since: now, base: now.as_ps() as i128, rate: 0 }
    }

    /// What it reads when the oscillator reads `local`, in picoseconds, rounded down; also of readings before the last correction.
    #[must_use]
    pub fn reading(&self, local: Instant) -> i128 {
        let elapsed = i128::from(local.as_ps()) - i128::from(self.since.as_ps());
        self.base + (elapsed * (PARTS + i128::from(self.rate))).div_euclid(PARTS)
    }

    /// The first reading of the oscillator, from the last correction on, at which it reads at least `wanted`.
    #[must_use]
    pub fn first_at(&self, wanted: Instant) -> Instant {
        let missing = i128::from(wanted.as_ps()) - self.base;
        if missing <= 0 {
            return self.since;
        }
        let rate = PARTS + i128::from(self.rate);
        let elapsed = (missing * PARTS + rate - 1).div_euclid(rate);
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        Instant::from_ps(self.since.as_ps().saturating_add(elapsed))
    }

    /// Applies at `now` an adjustment of a servo.
    pub fn adjust(&mut self, now: Instant, adjustment: Adjustment) {
        (self.base, self.since) = (self.reading(now), now);
        match adjustment {
            Adjustment::Step(by) => self.base += by,
            Adjustment::StepAndRate(by, rate) => (self.base, self.rate) = (self.base + by, rate),
            Adjustment::Rate(rate) => self.rate = rate,
        }
    }

    /// By how many parts in 10¹² it runs faster than the oscillator.
    #[must_use]
    pub const fn rate(&self) -> i64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_units::Duration;

    #[test]
    fn rates_do_not_move_it_and_steps_do() {
        let us = |us: u64| Instant::ZERO + Duration::from_us(us);
        let mut clock = DisciplinedClock::new(us(10));
        assert_eq!(clock.reading(us(30)), 30_000_000);
        clock.adjust(us(30), Adjustment::Rate(100_000_000));
        assert_eq!(clock.reading(us(30)), 30_000_000);
        assert_eq!(clock.reading(us(10_030)), 10_030_000_000 + 1_000_000, "100 ppm of 10 ms");
        clock.adjust(us(10_030), Adjustment::Step(-500));
        assert_eq!(clock.reading(us(10_030)), 10_031_000_000 - 500);
        assert_eq!(clock.rate(), 100_000_000);
    }

    #[test]
    fn the_first_instant_of_a_reading_is_found() {
        let mut clock = DisciplinedClock::new(Instant::from_ps(5));
        for rate in [0, 1, -1, 333_333_333, -250_000_000] {
            clock.adjust(Instant::from_ps(1_000_005), Adjustment::Rate(rate));
            for wanted in (1..60).map(|step| Instant::from_ps(1_000_005 + step * 777_777_777)) {
                let local = clock.first_at(wanted);
                assert!(clock.reading(local) >= i128::from(wanted.as_ps()), "{rate}");
                let before = Instant::from_ps(local.as_ps() - 1);
                assert!(clock.reading(before) < i128::from(wanted.as_ps()), "{rate}");
            }
            assert_eq!(clock.first_at(Instant::ZERO), Instant::from_ps(1_000_005), "what is past is due");
        }
    }
}
