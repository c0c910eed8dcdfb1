//! The clock of a run: nanoseconds since its start, and the kernel's stamps of received frames on the same scale.

use std::time::Instant as Monotonic;

/// Nanoseconds since a start, common to all threads of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The start, by the clock that is never set.
    start: u64,
    /// By how much the system's time is ahead of that clock.
    ahead: u64,
}

impl Clock {
    /// A clock that reads zero `later` nanoseconds from now.
    #[must_use]
    pub fn starting_in(later: u64) -> Self {
        // The least of several distances: a reading may be interrupted.
        let distance = || {
            let before = read(libc::CLOCK_MONOTONIC);
            let system = read(libc::CLOCK_REALTIME);
            let after = read(libc::CLOCK_MONOTONIC);
            (after - before, system - u64::midpoint(before, after))
        };
        let (_, ahead) = (0..16).map(|_| distance()).min().expect("sixteen of them");
        Self { start: read(libc::CLOCK_MONOTONIC) + later, ahead }
    }

    /// A clock that reads zero when [`monotonic`] reads `start`.
    #[must_use]
    pub fn starting_at(start: u64) -> Self {
        Self { start, ..Self::starting_in(0) }
    }

    /// Nanoseconds since the start; zero before it.
    #[inline]
    #[must_use]
    pub fn now(self) -> u64 {
        read(libc::CLOCK_MONOTONIC).saturating_sub(self.start)
    }

    /// A stamp of the kernel, by the system's time, on this clock's scale.
    #[must_use]
    pub const fn of_stamp(self, system: u64) -> u64 {
        system.saturating_sub(self.ahead).saturating_sub(self.start)
    }
}

/// A reading of the clock that is never set and that all processes of a machine have in common, in nanoseconds.
#[must_use]
pub fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// A reading of a clock of the kernel in nanoseconds.
#[inline]
pub(crate) fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is that of `time`, which outlives the call; the clock exists on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// What a reading of the clock takes, in picoseconds.
#[must_use]
pub fn clock_read_cost() -> u64 {
    const READINGS: u32 = 10_000;
    let begun = Monotonic::now();
    for _ in 0..READINGS {
        std::hint::black_box(read(libc::CLOCK_MONOTONIC));
    }
    u64::try_from(begun.elapsed().as_nanos() * 1000 / u128::from(READINGS)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_of_now_is_between_two_readings() {
        let clock = Clock::starting_in(0);
        let before = clock.now();
        let stamp = clock.of_stamp(read(libc::CLOCK_REALTIME));
        let after = clock.now();
        // The two scales were compared within what an interrupted reading takes.
        assert!(stamp + 1_000_000 >= before && stamp <= after + 1_000_000, "{before} {stamp} {after}");
    }

    #[test]
    fn it_reads_zero_before_its_start() {
        assert_eq!(Clock::starting_in(60_000_000_000).now(), 0);
    }
}
