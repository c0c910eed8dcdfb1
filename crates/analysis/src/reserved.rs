//! A credit-based class whose idleSlope follows from the streams that are reserved at the port, at every instant of a run.
//!
//! Premises (`core`, `cbs.rs`; `sim`, `srp/grants.rs`): a stream *j* adds `I_j` from its grant on; released slope
//! stays until no frame waits and the credit is not negative; a frame of a stream without a grant does not come to the
//! queue. All up to a ceiling.
//!
//! - Let *s* be the last instant with an empty queue and no negative credit before a frame that comes at *a* and
//!   starts at *e*, `S` the streams granted at some time since *s* and up to *a*, `g_j` when (not before *s*).
//!   idleSlope does not fall in between. As in `credit_based.rs` the credit at *e* is at most what was earned in the
//!   last *w*, with the same longest time *w*, in which no slope of the class itself counts. So `∫ I` from *s* to `e −
//!   w` is at most what was sent, and that is at most `Σ_S (b_j + r_j·(a − g_j))`, less the frame's own bits `c`. With
//!   `r_j <= I_j`: `e − a <= w + (Σ_S b_j − c) / min(Σ_S I_j, ceiling)`.
//! - Any `S` that contains the frame's own stream is possible: the greatest quotient over all of them holds. It is
//!   found by adding the others by falling `b_j / I_j` as long as that raises it. Above the ceiling all bursts count,
//!   if a bandwidth test keeps those granted at a time within it: in the long run no more comes then than is served.
//!   Without such a test there is no bound.
//! - So a stream alone, with a large burst and a small slope, may wait longer than together with others: the set of
//!   all streams is not the worst one.
//!
//! Bursts are token buckets over the complete run, so a stream that comes and goes adds its burst once. Not here: the
//! other terms of the class, which use the ceiling (`credit_based.rs`), and other orders than first come, first
//! served.

use tautwire_units::Bytes;

use crate::curve::{Line, MICRO, span, volume};
use crate::queue_bound::QueueBound;

/// A class of a port that reservations shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReservedPort {
    pub(crate) class: usize,
    /// The most that idleSlope becomes.
    pub(crate) ceiling: u64,
    /// Whether a bandwidth test keeps what is granted at a time within the ceiling.
    pub(crate) tested: bool,
    /// The slopes that streams need, by their numbers.
    pub(crate) slopes: Vec<(u32, u64)>,
}

impl ReservedPort {
    /// The slope that a stream needs.
    pub(crate) fn slope(&self, stream: u32) -> Option<u64> {
        let place = self.slopes.binary_search_by_key(&stream, |(known, _)| *known).ok()?;
        Some(self.slopes[place].1)
    }

    /// The least idleSlope with which a frame of it may be sent, if each of its streams adds at least so much.
    pub(crate) fn slope_min(&self, of_streams: Option<u64>) -> u64 {
        of_streams.unwrap_or(1).min(self.ceiling)
    }
}

/// The arrivals of a stream in the class, and the slope that it adds: bits on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Granted {
    pub(crate) line: Line,
    pub(crate) slope: u64,
    pub(crate) frame_min: Bytes,
}

/// A stream in charged bits: burst less its smallest frame, burst, slope.
#[derive(Clone, Copy, Debug)]
struct Need {
    without_own: u128,
    burst: u128,
    slope: u64,
}

/// The longest wait of a frame, given `held`, the longest time in which its class sends nothing: none if a stream
/// sends more than was reserved for it, or more may be granted than is served. `port`: the ceiling, and whether grants
/// are tested; `charged`: charged bits per bit on the wire; `overhead`: octets charged in addition to a frame.
pub(crate) fn wait_max(
    granted: impl Iterator<Item = Granted>,
    port: (u64, bool),
    charged: (u64, u64),
    overhead: u64,
) -> Option<u64> {
    let (ceiling, tested) = port;
    let mut needs = Vec::new();
    for one in granted {
        let line = one.line.in_bits(charged);
        if line.rate > one.slope {
            return None;
        }
        let own = u128::from((one.frame_min.get() + overhead) * 8) * MICRO;
        let without_own = line.burst.saturating_sub(own);
        needs.push(Need { without_own, burst: line.burst, slope: one.slope });
    }
    // By falling quotient of burst and slope.
    needs.sort_unstable_by(|one, other| {
        let (first, second) = (one.burst * u128::from(other.slope), other.burst * u128::from(one.slope));
        second.cmp(&first).then(one.slope.cmp(&other.slope))
    });
    let mut sums = Vec::with_capacity(needs.len() + 1);
    sums.push((0_u128, 0_u64));
    for need in &needs {
        let (burst, slope) = sums.last().copied().expect("it has one");
        sums.push((burst + need.burst, slope.saturating_add(need.slope)));
    }
    let (all_bursts, all_slopes) = sums.last().copied().expect("it has one");
    if all_slopes > ceiling && !tested {
        return None;
    }
    let mut most = 0;
    for (number, need) in needs.iter().enumerate() {
        // The first `others` of the rest, in addition to the stream itself.
        let with = |others: usize| {
            let (burst, slope) = sums[others + usize::from(others > number)];
            let (burst, slope) =
                if others > number { (burst - need.burst, slope - need.slope) } else { (burst, slope) };
            (need.without_own + burst, need.slope.saturating_add(slope))
        };
        let raises = |others: usize| {
            let next = needs[others + usize::from(others >= number)];
            let (burst, slope) = with(others);
            next.burst * u128::from(slope) > burst * u128::from(next.slope)
        };
        // Once one does not raise it none behind does.
        let (mut low, mut high) = (0, needs.len() - 1);
        while low < high {
            let middle = low.midpoint(high);
            if raises(middle) { low = middle + 1 } else { high = middle }
        }
        let (burst, slope) = with(low);
        most = most.max(span(burst, slope)?);
        if all_slopes > ceiling {
            most = most.max(span(all_bursts - need.burst + need.without_own, ceiling)?);
        }
    }
    Some(most)
}

/// The bound of all frames of the class.
pub(crate) fn queue_bound(held: u64, wait: u64, ceiling: u64) -> QueueBound {
    let latency = volume(ceiling, held);
    let own = Line { burst: volume(ceiling, wait), rate: 0 };
    QueueBound {
        before: latency + own.burst,
        rate: ceiling,
        lead: 0,
        // The frame's own bits are taken off already.
        weight: (0, 1),
        slack: 0,
        bits_min: 0,
        latency,
        higher: Line::default(),
        own,
        is_by_links: false,
    }
}

/// The most that waits, micro-bits charged: all bursts, and what comes while the class sends nothing.
pub(crate) fn backlog(
    granted: impl Iterator<Item = Granted>,
    ceiling: u64,
    charged: (u64, u64),
    held: u64,
) -> u128 {
    let (mut burst, mut rate) = (0, 0_u64);
    for one in granted {
        let line = one.line.in_bits(charged);
        burst += line.burst;
        rate = rate.saturating_add(line.rate);
    }
    burst + volume(rate.min(ceiling), held)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(bits: u64, rate: u64, slope: u64) -> Granted {
        Granted { line: Line::new(bits, rate), slope, frame_min: Bytes::new(125 - 20) }
    }

    /// Frames of 1000 bits of the wire, all of them charged.
    fn wait_us(granted: &[Granted], ceiling: u64) -> Option<u64> {
        wait_max(granted.iter().copied(), (ceiling, true), (1, 1), 20).map(|ps| ps / 1_000_000)
    }

    #[test]
    fn the_worst_set_is_not_always_that_of_all() {
        let (slow, quick) = (granted(5_000, 1_000_000, 1_000_000), granted(1_000, 9_000_000, 9_000_000));
        assert_eq!(wait_us(&[slow], 100_000_000), Some(4_000), "4000 bits at 1 Mbit/s");
        assert_eq!(wait_us(&[quick], 100_000_000), Some(0), "nothing is before it");
        // Together 5000 bits at 10 Mbit/s: but before the quick one is granted the slow one waits as alone.
        assert_eq!(wait_us(&[slow, quick], 100_000_000), Some(4_000));
    }

    #[test]
    fn the_set_is_the_worst_of_all_sets() {
        let all = [
            granted(3_000, 1_000_000, 2_000_000),
            granted(9_000, 1_000_000, 3_000_000),
            granted(2_000, 1_000_000, 1_500_000),
            granted(7_000, 1_000_000, 6_000_000),
            granted(1_000, 100_000, 250_000),
        ];
        let mut worst = 0;
        for set in 1_u32..32 {
            let within: Vec<usize> = (0..5).filter(|place| set & (1 << place) != 0).collect();
            let burst: u128 = within.iter().map(|place| all[*place].line.burst).sum();
            let slope: u64 = within.iter().map(|place| all[*place].slope).sum();
            worst = worst.max(span(burst - 1_000 * MICRO, slope).expect("a span") / 1_000_000);
        }
        assert_eq!(wait_us(&all, u64::MAX), Some(worst));
    }

    #[test]
    fn above_the_ceiling_all_bursts_count() {
        let all = [granted(2_000, 6_000_000, 6_000_000); 3];
        assert_eq!(wait_us(&all, 18_000_000), Some(277), "5000 bits at 18 Mbit/s");
        assert_eq!(wait_us(&all, 10_000_000), Some(500), "5000 bits at 10 Mbit/s");
        assert_eq!(wait_us(&[granted(2_000, 7, 6)], 10), None, "more than was reserved");
    }
}
