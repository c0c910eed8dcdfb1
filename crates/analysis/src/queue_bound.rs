//! How long a frame waits in a queue that is served at a rate: the common form of all methods.
//!
//! Let a class get at least `rate·t − latency − higher(t)` within any window of *t* in which it has
//! frames, counted from an instant at which no frame of it or above it was waiting. A frame that comes
//! *x* after that instant starts at the latest *w* after it, with
//! `rate·w <= latency + higher(w) + own(x) − its own bits`, and so waits `w − x`. `higher` and `own`
//! are concave and piecewise linear; for every line of `higher` the greatest `w − x` lies where the
//! rate of `own` falls to the rate that is left, and the least over these lines holds.
//! Sources: Le Boudec and Thiran, Network Calculus, 2001, 1.4 (deviation); frame-accurate in the last
//! term as in Specht and Samii, ECRTS 2016, eq. 9.

use crate::curve::{Curve, Line, MICRO, crossing, span, volume};

/// The greatest wait of the frames of one queue, in the time of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueBound {
    /// Micro-bits that go before a frame and with it.
    pub(crate) before: u128,
    /// Rate that is left for them.
    pub(crate) rate: u64,
    /// How long before the frame the first of them came, at most taken off.
    pub(crate) lead: u64,
    /// Weight of a frame's own bits in `before`.
    pub(crate) weight: (u64, u64),
    /// Picoseconds that timed steps may be late.
    pub(crate) slack: u64,
    /// The least frame for which it holds, in bits.
    pub(crate) bits_min: u64,
    /// What goes ahead in `before`: fixed part, higher classes, own class.
    pub(crate) latency: u128,
    pub(crate) higher: Line,
    pub(crate) own: Line,
    /// Whether it is of what all classes receive together by each link (`all_classes.rs`).
    pub(crate) is_by_links: bool,
}

impl QueueBound {
    /// From the queue to the start of transmission of a frame of `bits`; none if that is beyond time, or it does not hold for such.
    pub(crate) fn start_max(&self, bits: u64) -> Option<u64> {
        if bits < self.bits_min {
            return None;
        }
        let (weight, one) = (u128::from(self.weight.0), u128::from(self.weight.1));
        let own = u128::from(bits) * MICRO;
        let own = if weight == one { own } else { own * weight / one };
        let end = span(self.before.saturating_sub(own), self.rate)?;
        Some(end.saturating_sub(self.lead).saturating_add(self.slack))
    }

    /// Whether the wait of frames of up to so many bits falls in a line with their bits.
    pub(crate) fn is_line_up_to(&self, bits: u64) -> bool {
        let own = u128::from(bits) * MICRO * u128::from(self.weight.0) / u128::from(self.weight.1);
        let end = self.before.checked_sub(own).and_then(|before| span(before, self.rate));
        end.is_some_and(|end| end >= self.lead)
    }
}

/// The greatest wait in a queue; none if the arrival rate exceeds the service rate. `bits` is the frame for which the
/// least bound is computed; it holds for all.
pub(crate) fn queue_bound(
    latency: u128,
    rate: u64,
    higher: &Curve,
    own: &Curve,
    bits: u64,
) -> Option<QueueBound> {
    let mut best: Option<(u64, QueueBound)> = None;
    for line in higher.lines().iter().rev() {
        let Some(left) = rate.checked_sub(line.rate).filter(|left| *left > 0) else { break };
        let flat = own.lines().partition_point(|own| own.rate > left);
        let Some(own_flat) = own.lines().get(flat) else { continue };
        let (own_line, at, lead) = match flat.checked_sub(1).map(|steep| own.lines()[steep]) {
            None => (*own_flat, 0, 0),
            Some(steep) => {
                let lead = crossing(steep, *own_flat);
                (steep, lead + 1, lead)
            }
        };
        let before = latency + line.burst + own_line.burst + volume(own_line.rate, at);
        let bound = QueueBound {
            before,
            rate: left,
            lead,
            weight: (1, 1),
            slack: 0,
            bits_min: 0,
            latency,
            higher: *line,
            own: own_line,
            is_by_links: false,
        };
        let Some(wait) = bound.start_max(bits) else { continue };
        if best.is_some_and(|(least, _)| least < wait) {
            break;
        }
        best = Some((wait, bound));
    }
    best.map(|(_, bound)| bound)
}

/// The most that waits in a queue, micro-bits: the greatest vertical distance of what comes and what
/// is served. None if more comes than is served.
pub(crate) fn backlog(latency: u128, rate: u64, higher: &Curve, own: &Curve) -> Option<u128> {
    let mut least: Option<u128> = None;
    for line in higher.lines() {
        let Some(left) = rate.checked_sub(line.rate).filter(|left| *left > 0) else { continue };
        let Some(held) = span(latency + line.burst, left) else { continue };
        for own in own.lines().iter().filter(|own| own.rate <= left) {
            let most = own.burst + volume(own.rate, held);
            least = Some(least.map_or(most, |least: u128| least.min(most)));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: u64 = 1_000_000_000;
    /// 1500 octets of data, tagged, on the wire.
    const FRAME: u64 = 1_542 * 8;

    fn bucket(bits: u64, rate: u64) -> Curve {
        Curve::least_of([Line::new(bits, rate)])
    }

    fn wait_ns(latency: u64, higher: &Curve, own: &Curve) -> Option<u64> {
        let bound = queue_bound(u128::from(latency) * MICRO, GIGABIT, higher, own, FRAME)?;
        bound.start_max(FRAME).map(|ps| ps / 1_000)
    }

    /// Equations 2 to 4 of the published switch's evaluation: the queueing part of one flow.
    #[test]
    fn the_published_contention_bounds() {
        let flow = bucket(FRAME, 100_000_000);
        let two = bucket(2 * FRAME, 200_000_000);
        assert_eq!(wait_ns(FRAME, &Curve::zero(), &flow), Some(12_336), "against best effort");
        assert_eq!(wait_ns(0, &Curve::zero(), &two), Some(12_336), "two flows of a class");
        assert_eq!(wait_ns(FRAME, &flow, &flow), Some(27_413), "below a class of 100 Mbit/s");
    }

    #[test]
    fn the_own_rate_counts_once_it_is_above_what_is_left() {
        // 40 frames in a burst, but not faster than they can come by a link of 2 Gbit/s.
        let own = Curve::least_of([Line::new(FRAME, 2 * GIGABIT), Line::new(40 * FRAME, 100_000_000)]);
        // They cross at 39·12336/1.9e9 s = 253.2126 us; by then 253.2126 us of service are over.
        let wait = wait_ns(0, &Curve::zero(), &own).expect("a bound");
        let crossing_ns = 39.0 * FRAME as f64 / 1.9;
        let arrived = FRAME as f64 + 2.0 * crossing_ns;
        let expected = (arrived - FRAME as f64) - crossing_ns;
        assert!((wait as f64 - expected).abs() <= 2.0, "{wait} and {expected}");
    }

    #[test]
    fn too_much_has_no_bound() {
        let full = bucket(FRAME, GIGABIT);
        assert_eq!(wait_ns(0, &full, &bucket(FRAME, 1)), None);
        assert_eq!(wait_ns(0, &Curve::zero(), &bucket(FRAME, GIGABIT + 1)), None);
        assert!(wait_ns(0, &Curve::zero(), &full).is_some(), "exactly full is not too much");
        assert_eq!(backlog(0, GIGABIT, &Curve::zero(), &bucket(FRAME, GIGABIT + 1)), None);
    }

    #[test]
    fn a_backlog_is_a_burst_and_what_comes_meanwhile() {
        let own = bucket(2 * FRAME, 100_000_000);
        let most = backlog(u128::from(FRAME) * MICRO, GIGABIT, &Curve::zero(), &own);
        assert_eq!(most, Some(u128::from(2 * FRAME) * MICRO + 1_233_600_000));
    }
}
