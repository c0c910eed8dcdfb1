//! Latent error detection (IEEE Std 802.1CB-2017, 7.4.4): over `paths` paths each packet that passes should have
//! `paths - 1` discarded copies. If their number differs by more than `difference`, a path has failed although packets
//! still pass.
//!
//! In: time, and the counters of the sequence recovery function. Out: how many tests found an error. A test is made
//! every `period`, and the accumulated difference is cleared every `reset_period`. At one instant the test is before
//! the reset.

use tautwire_units::{Duration, Instant};

use super::RecoveryCounters;

/// Parameters of a detection (10.4.1.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatentErrorParameters {
    /// How far the number of discarded packets may stray.
    pub difference: u32,
    /// From one test to the next.
    pub period: Duration,
    /// Paths over which packets come.
    pub paths: u16,
    /// From one reset to the next.
    pub reset_period: Duration,
}

/// A detection.
#[derive(Clone, Debug)]
pub struct LatentErrorDetection {
    parameters: LatentErrorParameters,
    /// CurBaseDifference.
    base: i128,
    next_test: Instant,
    next_reset: Instant,
    errors: u64,
    resets: u64,
}

impl LatentErrorDetection {
    /// One that begins now.
    ///
    /// # Panics
    /// If a period is zero.
    #[must_use]
    pub fn new(parameters: LatentErrorParameters, now: Instant) -> Self {
        assert!(!parameters.period.is_zero() && !parameters.reset_period.is_zero(), "periods");
        let (next_test, next_reset) =
            (now.saturating_add(parameters.period), now.saturating_add(parameters.reset_period));
        Self { parameters, base: 0, next_test, next_reset, errors: 0, resets: 0 }
    }

    /// Makes the tests and resets that are due, with counters as they have been since the last call.
    pub fn settle(&mut self, now: Instant, counters: &RecoveryCounters) {
        let strayed = self.strayed(counters);
        let is_error = (strayed - self.base).unsigned_abs() > u128::from(self.parameters.difference);
        let before_reset = now.min(self.next_reset);
        let tests = passed(&mut self.next_test, self.parameters.period, before_reset);
        self.errors += if is_error && !planted!(LatentErrorOverlooked) { tests } else { 0 };
        let resets = passed(&mut self.next_reset, self.parameters.reset_period, now);
        if resets > 0 {
            self.resets += resets;
            self.base = strayed;
            // Nothing has strayed since.
            passed(&mut self.next_test, self.parameters.period, now);
        }
    }

    /// Copies that are missing, or too many.
    fn strayed(&self, counters: &RecoveryCounters) -> i128 {
        i128::from(counters.passed) * (i128::from(self.parameters.paths) - 1) - i128::from(counters.discarded)
    }

    /// Tests that found an error.
    #[must_use]
    pub const fn errors(&self) -> u64 {
        self.errors
    }

    /// Resets so far (10.8.10).
    #[must_use]
    pub const fn resets(&self) -> u64 {
        self.resets
    }
}

/// How often a periodic instant comes up to `now`; moves it behind that.
fn passed(next: &mut Instant, period: Duration, now: Instant) -> u64 {
    if *next > now {
        return 0;
    }
    let times = now.since(*next).as_ps() / period.as_ps() + 1;
    let behind = Duration::from_ps(times.saturating_mul(period.as_ps()));
    *next = next.saturating_add(behind);
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    fn counted(passed: u64, discarded: u64) -> RecoveryCounters {
        RecoveryCounters { passed, discarded, ..RecoveryCounters::default() }
    }

    fn detection(paths: u16) -> LatentErrorDetection {
        let (period, reset_period) = (Duration::from_ms(2_000), Duration::from_ms(30_000));
        LatentErrorDetection::new(LatentErrorParameters { difference: 5, period, paths, reset_period }, at(0))
    }

    #[test]
    fn copies_that_do_not_come_are_found_until_the_reset() {
        let mut detection = detection(2);
        detection.settle(at(1_999), &counted(1_000, 0));
        assert_eq!(detection.errors(), 0, "no test before the first period is over");
        detection.settle(at(2_000), &counted(1_000, 995));
        assert_eq!(detection.errors(), 0, "five are allowed");
        detection.settle(at(4_000), &counted(2_000, 1_994));
        assert_eq!(detection.errors(), 1);
        detection.settle(at(30_000), &counted(2_000, 1_994));
        assert_eq!(
            (detection.errors(), detection.resets()),
            (14, 1),
            "13 tests more, the last one before the reset"
        );
        detection.settle(at(40_000), &counted(2_000, 1_994));
        assert_eq!(
            (detection.errors(), detection.resets()),
            (14, 1),
            "what strayed before the reset is forgotten"
        );
        detection.settle(at(42_000), &counted(2_100, 2_088));
        assert_eq!(detection.errors(), 15);
    }

    #[test]
    fn three_paths_bring_two_copies() {
        let mut detection = detection(3);
        detection.settle(at(2_000), &counted(100, 200));
        assert_eq!(detection.errors(), 0);
        detection.settle(at(4_000), &counted(200, 300));
        assert_eq!(detection.errors(), 1);
    }

    #[test]
    fn a_long_time_is_settled_as_many_short_ones() {
        let mut long = detection(2);
        let mut short = detection(2);
        let counters = counted(50, 20);
        long.settle(at(2_000), &counters);
        long.settle(at(400_000), &counters);
        for time in 1..=400 {
            short.settle(at(time * 1_000), &counters);
        }
        // Between 2 s and the first reset at 30 s.
        short.settle(at(400_000), &counters);
        assert_eq!((long.errors(), long.resets()), (short.errors(), short.resets()));
        assert_eq!((long.errors(), long.resets()), (15, 13));
    }
}
