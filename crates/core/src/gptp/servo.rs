//! A servo: follows the grandmaster's time with a clock whose rate can be set (proportional and integral, in integers).
//!
//! The standard leaves it open. With these weights (7/10 and 3/10 of the offset per interval) an offset is halved in
//! about an interval, and a constant difference of rate leaves none. If the difference of rate alone makes an offset
//! that is stepped in every interval, two successive steps measure the rate.

use tautwire_units::Duration;

/// What to do to the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adjustment {
    /// Set it forward by so many picoseconds (back, if negative).
    Step(i128),
    /// Set it forward by so many picoseconds, and run it faster by so many parts in 10¹² than it runs by itself.
    StepAndRate(i128, i64),
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
    /// Share of the offset per interval that changes the rate at once, and permanently, in thousandths.
    weights: (u16, u16),
    integral: i64,
    /// Whether the last offset was stepped.
    stepped: bool,
}

impl Servo {
    /// A servo that steps offsets of `step_min` and more and otherwise changes the rate by at most `rate_max_ppb`.
    #[must_use]
    pub fn new(step_min: Duration, rate_max_ppb: u32) -> Self {
        Self {
            step_min,
            rate_max: i64::from(rate_max_ppb) * 1_000,
            weights: (700, 300),
            integral: 0,
            stepped: false,
        }
    }

    /// The same with other weights, in thousandths.
    #[must_use]
    pub fn with_weights(self, proportional: u16, integral: u16) -> Self {
        Self { weights: (proportional, integral), ..self }
    }

    /// The clock was `offset` picoseconds behind the grandmaster; the last sample was `interval` ago. Rounded down.
    pub fn sample(&mut self, offset: i128, interval: Duration) -> Adjustment {
        let interval = i128::from(interval.as_ps().max(1));
        let rate = (offset * 1_000_000_000_000).div_euclid(interval);
        let limit = i128::from(self.rate_max);
        let bound = |rate: i128| i64::try_from(rate.clamp(-limit, limit)).expect("within the bounds");
        let again =
            core::mem::replace(&mut self.stepped, offset.unsigned_abs() >= u128::from(self.step_min.as_ps()));
        if self.stepped {
            if !again {
                return Adjustment::Step(offset);
            }
            // It was right an interval ago: what it is off by now is its rate.
            self.integral = bound(i128::from(self.integral) + rate);
            return Adjustment::StepAndRate(offset, self.integral);
        }
        let share = |weight: u16| (rate * i128::from(weight)).div_euclid(1_000);
        if !planted!(IntegralForgotten) {
            self.integral = bound(i128::from(self.integral) + share(self.weights.1));
        }
        Adjustment::Rate(bound(share(self.weights.0) + i128::from(self.integral)))
    }
}

/// A reading of another clock between two of one's own, as software reads a network interface's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// One's own clock before, picoseconds.
    pub before: i128,
    /// The other clock, picoseconds.
    pub other: i128,
    /// One's own clock behind.
    pub after: i128,
}

/// How far one's own clock is behind the other by the quickest of some readings, which has the least error, as in
/// phc2sys; rounded down. None without readings.
#[must_use]
pub fn quickest(readings: &[Reading]) -> Option<i128> {
    let best = readings.iter().min_by_key(|reading| reading.after - reading.before)?;
    Some(best.other - (best.before + best.after).div_euclid(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_follows_an_interface_by_the_quickest_of_five_readings() {
        // Once a second; 20 ppm slow and 300 us behind; readings take 4 us and now and then 190 us.
        let interval = Duration::from_s(1);
        let mut servo = Servo::new(Duration::from_s(1), 500_000).with_weights(350, 150);
        let (mut offset, mut rate, mut state) = (300_000_000_i128, 0_i64, 1_u64);
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let mut worst = 0;
        for second in 0..200 {
            let mut read = || {
                let long = if draw() % 20 == 0 { 190_000_000 } else { 4_000_000 };
                let at = i128::from(draw() % 1_000_000);
                Reading { before: 0, other: offset + at + 1_500_000, after: long }
            };
            let readings: [Reading; 5] = core::array::from_fn(|_| read());
            let quickest_reading = quickest(&readings).expect("five readings");
            if let Adjustment::Rate(set) = servo.sample(quickest_reading, interval) {
                rate = set;
            }
            offset += 20_000_000 - i128::from(rate);
            if second > 60 {
                worst = offset.abs().max(worst);
            }
        }
        assert!(worst < 5_000_000, "{worst} ps");
        assert_eq!(quickest(&[]), None);
    }

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
                Adjustment::StepAndRate(..) => panic!("it is never far off"),
                Adjustment::Rate(set) => rate = set,
            }
            // Picoseconds that it falls behind: 125 ms by 50 ppm less what is set.
            offset += (50_000_000 - i128::from(rate)) * 125 / 1_000;
        }
        assert_eq!(steps, 0);
        assert!(offset.abs() < 1_000, "{offset} ps");
        assert_eq!(servo.sample(-2_000_000_000, interval), Adjustment::Step(-2_000_000_000));
    }

    #[test]
    fn a_rate_that_alone_makes_a_step_in_every_interval_is_found() {
        // 200 ppm, as two clocks may differ that keep to 100 ppm: 25 us in an eighth of a second, and 20 us are stepped.
        let interval = Duration::from_ms(125);
        let mut servo = Servo::new(Duration::from_us(20), 500_000);
        let (mut offset, mut rate, mut steps) = (0_i128, 0_i64, 0);
        for _ in 0..100 {
            match servo.sample(offset, interval) {
                Adjustment::Step(by) => (offset, steps) = (offset - by, steps + 1),
                Adjustment::StepAndRate(by, set) => (offset, rate, steps) = (offset - by, set, steps + 1),
                Adjustment::Rate(set) => rate = set,
            }
            offset += (200_000_000 - i128::from(rate)) * 125 / 1_000;
        }
        assert_eq!(steps, 2);
        assert!(offset.abs() < 1_000, "{offset} ps");
    }
}
