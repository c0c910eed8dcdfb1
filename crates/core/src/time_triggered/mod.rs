//! Time-triggered traffic (SAE AS6802, combined with ARINC 664 and best effort): slots of a port, acceptance windows,
//! and how other traffic leaves room for it.
//!
//! Times of slots and windows are network time: the readings of the synchronised clocks of all nodes, which differ by
//! at most the precision. Not here: the port that acts on them (`port.rs`), the synchronisation itself.

pub mod dispatcher;

use tautwire_units::{Duration, Instant};

/// How time-triggered frames and those of other traffic share a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Integration {
    /// A time-triggered frame waits for the frame that is under way.
    Shuffling,
    /// No other frame begins that would not end before the next slot.
    TimelyBlock,
    /// The frame in transmission is cut; its receiver drops it because of its FCS, and it is sent again in full.
    Preemption,
}

/// The use of a slot without a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EmptySlot {
    /// It passes: nothing else begins in it.
    Kept,
    /// Other traffic may use it.
    Released,
}

/// A span of network time that comes back every period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Distance of two of its beginnings, above zero.
    pub period: Duration,
    /// The first beginning.
    pub opens: Duration,
    /// How long it is open; at a period or more it is never shut.
    pub length: Duration,
}

impl Window {
    /// Whether it is open at `now`, both ends included.
    #[must_use]
    pub fn is_open(&self, now: Instant) -> bool {
        let period = u128::from(self.period.as_ps());
        let since = (u128::from(now.as_ps()) + period - u128::from(self.opens.as_ps()) % period) % period;
        since <= u128::from(self.length.as_ps()) || planted!(WindowIgnored)
    }

    /// Whether two of them are ever open at once; one that shuts as the other opens is not.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.period.as_ps(), other.period.as_ps());
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let common = u128::from(a.max(1));
        let opens = |window: &Self| u128::from(window.opens.as_ps()) % common;
        let apart = (opens(other) + common - opens(self)) % common;
        let both = !self.length.is_zero() && !other.length.is_zero();
        both && (apart < u128::from(self.length.as_ps()) || common - apart < u128::from(other.length.as_ps()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(period: u64, opens: u64, length: u64) -> Window {
        Window {
            period: Duration::from_us(period),
            opens: Duration::from_us(opens),
            length: Duration::from_us(length),
        }
    }

    #[test]
    fn a_window_is_open_once_a_period_ends_included() {
        let window = window(100, 30, 5);
        let open = |us| window.is_open(Instant::ZERO + Duration::from_us(us));
        assert_eq!([0, 29, 30, 35, 36, 130, 136].map(open), [false, false, true, true, false, true, false]);
        let across = self::window(100, 98, 5);
        let open = |us| across.is_open(Instant::ZERO + Duration::from_us(us));
        assert_eq!([97, 98, 100, 103, 104, 203].map(open), [false, true, true, true, false, true]);
        let later = self::window(100, 230, 5);
        assert!(later.is_open(Instant::ZERO + Duration::from_us(31)), "counted from any beginning");
    }

    /// Against every microsecond of the time until both come back together.
    #[test]
    fn windows_meet_if_a_common_instant_is_in_both() {
        for (one, other) in [(4, 6), (5, 5), (3, 9), (7, 2)] {
            for first in 0..one {
                for second in 0..other {
                    for (a, b) in [(1, 1), (2, 1), (1, 3), (3, 2)] {
                        let (left, right) = (window(one, first, a), window(other, second, b));
                        let inside = |w: &Window, at: u64| {
                            let (period, opens) = (w.period.as_ps(), w.opens.as_ps());
                            (at + period - opens % period) % period < w.length.as_ps()
                        };
                        let us = Duration::from_us(1).as_ps();
                        let expected =
                            (0..one * other).any(|at| inside(&left, at * us) && inside(&right, at * us));
                        assert_eq!(left.meets(&right), expected, "{left:?} {right:?}");
                        assert_eq!(right.meets(&left), expected);
                    }
                }
            }
        }
    }
}
