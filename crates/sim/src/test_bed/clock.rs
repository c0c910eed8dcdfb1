//! The system clock of a station, disciplined once an interval by a servo on the quickest of some readings, like phc2sys.
//!
//! The clock of the interface counts as the common time: the error of its own protocol is not included. The servo has
//! run for [`BEFORE`] intervals when a run begins, as a test bed waits until its clocks are stable. Invariant: a clock
//! that is not stepped never runs backwards. Not here: the servo itself (`tautwire-core`).

use tautwire_core::gptp::{Adjustment, Reading, Servo, quickest};
use tautwire_model::network::TestClocks;
use tautwire_observe::Moments;
use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::random::Random;

/// Corrections before a run begins.
const BEFORE: u32 = 60;
/// Offsets from here on are stepped.
const STEP_MIN: Duration = Duration::from_s(1);
/// The fastest that a clock is run.
const RATE_MAX_PPB: u32 = 500_000;

/// One station's.
pub(super) struct SystemClock {
    settings: TestClocks,
    servo: Servo,
    random: Random,
    /// Parts in 10^12 by which it runs fast by itself.
    drift: i64,
    /// Parts in 10^12 by which it is run faster.
    rate: i64,
    /// At the last correction: how far it was ahead, in picoseconds.
    ahead: i128,
    /// When that was.
    since: SimTime,
    /// The last reading: logs go forward.
    last_ps: i64,
    /// Offsets at the corrections of the run, without their signs.
    pub(super) offsets: Moments,
}

impl SystemClock {
    /// One that has been disciplined for a while.
    pub(super) fn new(settings: &TestClocks, mut random: Random) -> Self {
        let tolerance = i64::from(settings.tolerance_ppb) * 1_000;
        let drift =
            i64::try_from(random.up_to(2 * tolerance.unsigned_abs())).expect("parts in 10^12") - tolerance;
        let servo = Servo::new(STEP_MIN, RATE_MAX_PPB);
        let mut clock = Self {
            settings: *settings,
            servo: servo.with_weights(settings.proportional, settings.integral),
            random,
            drift,
            rate: 0,
            ahead: 0,
            since: SimTime::ZERO,
            last_ps: i64::MIN,
            offsets: Moments::default(),
        };
        for _ in 0..BEFORE {
            clock.ahead += clock.gained(settings.interval);
            clock.correct();
        }
        clock
    }

    /// What it gains in a span, rounded down.
    fn gained(&self, span: Duration) -> i128 {
        (i128::from(span.as_ps()) * i128::from(self.drift + self.rate)).div_euclid(1_000_000_000_000)
    }

    /// Reads the interface's clock some times, and corrects this one by the quickest reading.
    fn correct(&mut self) {
        let settings = self.settings;
        let mut readings = Vec::with_capacity(settings.readings.into());
        for _ in 0..settings.readings {
            let takes = i128::from(self.random.delay(&settings.reading, 0).as_ps());
            // At which part of it the other clock is read is not known.
            let within = u64::try_from(takes).expect("a delay");
            let other = i128::from(self.random.up_to(within.max(1)).min(within));
            readings.push(Reading { before: self.ahead, other, after: self.ahead + takes });
        }
        let behind = quickest(&readings).expect("some readings");
        match self.servo.sample(behind, settings.interval) {
            Adjustment::Step(by) => self.ahead += by,
            Adjustment::StepAndRate(by, rate) => (self.ahead, self.rate) = (self.ahead + by, rate),
            Adjustment::Rate(rate) => self.rate = rate,
        }
    }

    /// What it reads at `time`, which does not go back, in picoseconds.
    pub(super) fn reading(&mut self, time: SimTime) -> i64 {
        while time.since(self.since) >= self.settings.interval {
            self.ahead += self.gained(self.settings.interval);
            self.since = self.since + self.settings.interval;
            self.correct();
            let off = u64::try_from(self.ahead.unsigned_abs()).unwrap_or(u64::MAX);
            self.offsets.add(Duration::from_ps(off));
        }
        let ahead = self.ahead + self.gained(time.since(self.since));
        let reads = i128::from(time.since_start().as_ps()) + ahead;
        self.last_ps = self.last_ps.max(i64::try_from(reads).unwrap_or(i64::MAX));
        self.last_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;
    use tautwire_model::network::{Delay, Distribution};

    fn settings(tolerance_ppb: u32) -> TestClocks {
        let (min, max) = (Duration::from_ns(3_632), Duration::from_us(6));
        TestClocks {
            tolerance_ppb,
            interval: Duration::from_s(1),
            proportional: 350,
            integral: 150,
            readings: 5,
            reading: Delay { random: Distribution::Uniform { min, max }, ..Delay::default() },
        }
    }

    fn offsets(settings: &TestClocks) -> Moments {
        let mut clock = SystemClock::new(settings, Random::new(1, Purpose::TestClock, 0));
        for ms in 0..200_000 {
            let before = clock.last_ps;
            let reads = clock.reading(SimTime::ZERO + Duration::from_ms(ms));
            assert!(reads >= before, "it goes forward");
            assert!(ms > 0 || reads != 0, "it is off from the start, maybe by less than nothing");
        }
        assert_eq!(clock.offsets.count(), 199);
        clock.offsets
    }

    #[test]
    fn a_clock_of_50_ppm_is_kept_within_the_length_of_a_reading() {
        let worst = offsets(&settings(50_000)).max().expect("corrections");
        assert!(worst < Duration::from_us(6), "{worst}");
    }

    #[test]
    fn without_a_servo_it_goes_away() {
        let none = TestClocks { proportional: 0, integral: 0, ..settings(50_000) };
        assert!(offsets(&none).max() > Some(Duration::from_us(100)));
    }

    #[test]
    fn one_reading_in_place_of_the_quickest_of_five_errs_more() {
        let reading = Delay {
            random: Distribution::Uniform { min: Duration::from_us(4), max: Duration::from_us(200) },
            ..Delay::default()
        };
        let five = TestClocks { reading, ..settings(0) };
        let one = TestClocks { readings: 1, ..five };
        let mean = |settings| offsets(settings).mean().expect("corrections");
        assert!(mean(&one) * 2 > mean(&five) * 3, "{} and {}", mean(&one), mean(&five));
    }
}
