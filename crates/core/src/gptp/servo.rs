//! A servo: follows the grandmaster's time with a clock whose rate can be set (proportional and integral, in integers).
//!
//! The standard leaves it open. With these weights (7/10 and 3/10 of the offset per interval) an offset is halved in about an
//! interval, and a constant difference of rate leaves none.

use tautwire_units::Duration;

/// What to do to the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adjustment {
    /// Set it forward by so many picoseconds (back, if negative).
    Step(i128),
    /// Run it faster by so many parts in 10¹² than it runs by itself.
    Rate(i64),
}

/// A servo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Servo {
    /// From here on an offset is stepped.
    step_min: Duration,
    /// The fastest and slowest that the clock is run, in parts in 10¹².
    rate_max: i64,
    integral: i64,
}

impl Servo {
    /// A servo that steps offsets of `step_min` and more and otherwise changes the rate by at most `rate_max_ppb`.
    #[must_use]
    pub fn new(step_min: Duration, rate_max_ppb: u32) -> Self {
        Self { step_min, rate_max: i64::from(rate_max_ppb) * 1_000, integral: 0 }
    }

    /// The clock was `offset` picoseconds behind the grandmaster; the last sample was `interval` ago. Rounded down.
    pub fn sample(&mut self, offset: i128, interval: Duration) -> Adjustment {
        if offset.unsigned_abs() >= u128::from(self.step_min.as_ps()) {
            return Adjustment::Step(offset);
        }
        let interval = i128::from(interval.as_ps().max(1));
        let rate = (offset * 1_000_000_000_000).div_euclid(interval);
        let bound = |rate: i128| {
            let limit = i128::from(self.rate_max);
            i64::try_from(rate.clamp(-limit, limit)).expect("within the bounds")
        };
        self.integral = bound(i128::from(self.integral) + (rate * 3).div_euclid(10));
        Adjustment::Rate(bound((rate * 7).div_euclid(10) + i128::from(self.integral)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_wrong_is_brought_in_line() {
        // 50 ppm slow and 900 us behind; a sample every eighth of a second.
        let interval = Duration::from_ms(125);
        let mut servo = Servo::new(Duration::from_ms(1), 500_000);
        let (mut offset, mut rate) = (900_000_000_i128, 0_i64);
        let mut steps = 0;
        for _ in 0..200 {
            match servo.sample(offset, interval) {
                Adjustment::Step(by) => {
                    offset -= by;
                    steps += 1;
                }
                Adjustment::Rate(set) => rate = set,
            }
            // Picoseconds that it falls behind: 125 ms by 50 ppm less what is set.
            offset += (50_000_000 - i128::from(rate)) * 125 / 1_000;
        }
        assert_eq!(steps, 0);
        assert!(offset.abs() < 1_000, "{offset} ps");
        assert_eq!(servo.sample(-2_000_000_000, interval), Adjustment::Step(-2_000_000_000));
    }
}
