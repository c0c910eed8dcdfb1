//! Policing of a stream where it enters a bridge: size, and least distance of its frames; early ones are discarded, or wait in a pool.

use tautwire_units::{Duration, Instant};

/// The action on a frame that comes too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violator {
    /// It is discarded.
    Discard,
    /// It waits in the memory pool until it is due.
    Reshape,
}

/// The result for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policed {
    /// It goes on at once.
    Pass,
    /// It is forwarded at this time.
    At(Instant),
    /// It is larger than promised.
    TooLarge,
    /// It comes too early.
    TooEarly,
    /// It would have to wait, and the pool is full.
    PoolFull,
}

/// A stream's policer, with its memory pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StreamPolicer {
    size: u32,
    distance: Duration,
    violator: Violator,
    /// Frames that the pool holds in addition to the one that is forwarded.
    pool: u32,
    /// When the next frame is due.
    due: Instant,
}

impl StreamPolicer {
    /// A policer of frames of at most `size` octets, `distance` apart; its pool holds `pool` frames.
    #[must_use]
    pub const fn new(size: u32, distance: Duration, violator: Violator, pool: u32) -> Self {
        Self { size, distance, violator, pool, due: Instant::ZERO }
    }

    /// A frame of `octets` comes in.
    pub fn police(&mut self, now: Instant, octets: u32) -> Policed {
        if octets > self.size {
            return Policed::TooLarge;
        }
        if now >= self.due {
            self.due = now + self.distance;
            return Policed::Pass;
        }
        if self.violator == Violator::Discard {
            return Policed::TooEarly;
        }
        // Rounded up: frames that wait, this one included.
        let waiting = self.due.since(now).as_ps().div_ceil(self.distance.as_ps().max(1));
        if waiting > u64::from(self.pool) {
            return Policed::PoolFull;
        }
        let at = self.due;
        self.due = at + self.distance;
        Policed::At(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    #[test]
    fn early_frames_are_discarded_and_count_for_nothing() {
        let mut policer = StreamPolicer::new(100, Duration::from_us(125), Violator::Discard, 0);
        assert_eq!(policer.police(us(0), 100), Policed::Pass);
        assert_eq!(policer.police(us(124), 100), Policed::TooEarly);
        assert_eq!(policer.police(us(125), 101), Policed::TooLarge);
        assert_eq!(policer.police(us(125), 100), Policed::Pass);
    }

    #[test]
    fn early_frames_wait_while_the_pool_has_room() {
        let mut policer = StreamPolicer::new(100, Duration::from_us(100), Violator::Reshape, 2);
        assert_eq!(policer.police(us(0), 64), Policed::Pass);
        assert_eq!(policer.police(us(10), 64), Policed::At(us(100)));
        assert_eq!(policer.police(us(20), 64), Policed::At(us(200)));
        assert_eq!(policer.police(us(30), 64), Policed::PoolFull);
        assert_eq!(policer.police(us(130), 64), Policed::At(us(300)), "one has gone on");
        assert_eq!(policer.police(us(400), 64), Policed::Pass);
    }
}
