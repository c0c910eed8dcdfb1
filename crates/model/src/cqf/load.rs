//! The frames of a stream in a cycle, and the places in the cycle where its talker hands them over.

use tautwire_units::Duration;

use super::CyclicForwarding;
use crate::network::{Stream, Traffic};

/// What a talker hands over in each cycle at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleLoad {
    /// Frames.
    pub frames: u64,
    /// The first of them, from the start of the cycle, least.
    pub earliest: Duration,
    /// The last of them, greatest.
    pub latest: Duration,
}

impl CyclicForwarding {
    /// The frames of a stream in a cycle, on a clock that reads `reading` when the run begins; none if it is not known when its talker
    /// hands them over.
    #[must_use]
    pub fn load(&self, stream: &Stream, reading: Duration) -> Option<CycleLoad> {
        let Traffic::Periodic { interval, offset, jitter, burst, drawn: false } = stream.traffic else {
            return None;
        };
        if stream.datagrams.is_some() || interval.is_zero() {
            return None;
        }
        let (cycle, interval) = (self.cycle_time.as_ps(), interval.as_ps());
        // Over all cycles its frames come at all multiples of this.
        let grid = greatest_divisor(cycle, interval);
        let first =
            i128::from(reading.as_ps()) + i128::from(offset.as_ps()) - i128::from(self.base_time.as_ps());
        let place = u64::try_from(first.rem_euclid(i128::from(grid))).expect("within a cycle");
        Some(CycleLoad {
            frames: cycle.div_ceil(interval).saturating_mul(u64::from(burst)),
            earliest: Duration::from_ps(place),
            latest: Duration::from_ps(cycle - grid + place).saturating_add(jitter),
        })
    }
}

const fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
