//! How frames of a stream come to a server: at most so many in any window, and the least window of so many.

use crate::clock::PS_PER_S;

/// How frames of a stream come: at most `burst` at once every `interval`, and by `jitter` nearer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrivals {
    Periodic {
        interval: u64,
        jitter: u64,
        burst: u64,
        extra: u64,
    },
    /// As many frames of `least` bits as a token bucket holds.
    Bucket {
        bps: u64,
        burst: u64,
        least: u64,
        jitter: u64,
    },
}

impl Arrivals {
    /// Most frames in a closed window.
    pub(super) fn frames(self, span: u64) -> u64 {
        match self {
            Self::Periodic { interval, jitter, burst, extra } => {
                burst.saturating_mul(span.saturating_add(jitter) / interval + 1).saturating_add(extra)
            }
            Self::Bucket { bps, burst, least, jitter } => {
                let span = u128::from(span) + u128::from(jitter);
                let earned = (u128::from(bps) * span).div_ceil(PS_PER_S);
                u64::try_from((u128::from(burst) + earned) / u128::from(least)).unwrap_or(u64::MAX)
            }
        }
    }

    /// The least window in which so many frames come.
    pub(super) fn distance(self, frames: u64) -> u64 {
        match self {
            Self::Periodic { interval, jitter, burst, extra } => {
                let periods = frames.saturating_sub(extra).saturating_sub(1) / burst;
                periods.saturating_mul(interval).saturating_sub(jitter)
            }
            Self::Bucket { bps, burst, least, jitter } => {
                let missing = (u128::from(frames) * u128::from(least)).saturating_sub(u128::from(burst));
                let span = missing.saturating_sub(1) * PS_PER_S / u128::from(bps.max(1));
                u64::try_from(span).unwrap_or(u64::MAX).saturating_sub(jitter)
            }
        }
    }

    /// After how many frames the distance to a server that lets `frames` pass every `period` is as it was, or
    /// greater; none if the server is slower.
    pub(super) fn repeats(self, period: u64, frames: u64) -> Option<u64> {
        match self {
            Self::Periodic { interval, burst, .. } => {
                let enough =
                    u128::from(period) * u128::from(burst) <= u128::from(interval) * u128::from(frames);
                enough.then_some(burst * frames)
            }
            Self::Bucket { bps, least, .. } => {
                let enough =
                    u128::from(period) * u128::from(bps) <= u128::from(frames) * u128::from(least) * PS_PER_S;
                enough.then_some(frames + 1)
            }
        }
    }

    /// Time for each frame in the long run, rounded down.
    pub(super) fn pace(self) -> u64 {
        match self {
            Self::Periodic { interval, burst, .. } => interval / burst.max(1),
            Self::Bucket { bps, least, .. } => {
                u64::try_from(u128::from(least) * PS_PER_S / u128::from(bps.max(1))).unwrap_or(u64::MAX)
            }
        }
    }

    pub(super) fn with_jitter(self, more: u64) -> Self {
        match self {
            Self::Periodic { interval, jitter, burst, extra } => {
                Self::Periodic { interval, jitter: jitter.saturating_add(more), burst, extra }
            }
            Self::Bucket { bps, burst, least, jitter } => {
                Self::Bucket { bps, burst, least, jitter: jitter.saturating_add(more) }
            }
        }
    }
}
