//! The credit-based shaper (IEEE Std 802.1Q-2022, 8.6.8.2 and Annex L), any number of classes in any
//! place among strict priority and ATS classes.
//!
//! All in the time of the port's node, in which line and idle slopes keep their ratio exactly.
//!
//! - loCredit: a frame starts at credit >= 0 and costs `R − I` while its charged bits `c` pass:
//!   `V_min = −c_max·(R − I)/R`.
//! - hiCredit: let τ be the last instant at which the line was idle or took up a frame below the class.
//!   At τ the credit of the class, and of every credit-based class above, is not positive: with a frame
//!   waiting and credit >= 0 it would have been served; without one it is at most zero, as no frame of it is
//!   on the line, even if a device still charges the last one. No eligible frame of another higher class
//!   waits. From τ on the line serves that lower frame, higher classes and the class itself. Credit
//!   grows most while the class sends nothing: `V_max = I·w` with the longest such time
//!   `w = (L_low + Σ_strict b + Σ_credit −V_min) / (R − Σ_strict r − Σ_credit I)`.
//!   For credit-based classes alone this is the bound of Cao, Cuijpers, Bril and Lukkien (2016) and of
//!   Mohammadpour, Stai and Le Boudec (2019): class A `I_A·L_low/R`, class B
//!   `I_B·(L_low + L_A·(R − I_A)/R)/(R − I_A)`.
//! - Service: from the last instant with an empty queue, nothing charged and no negative credit before a frame to its
//!   start at `e` no credit is lost, because that would make such an instant. So credit grows by `I` times the span
//!   and shrinks by what was sent since: `I·(e − s) <= V_max + sent`.
//!   So the class is served like a queue of rate `I` and latency `V_max/I` in charged bits (De Azua and
//!   Boyer, RTNS 2014, theorem 4): `wait = (V_max + Σ b − c)/I`.
//! - Towards lower classes: from τ on it sends at most `−V_min + I·t` charged bits; and at most what
//!   came within a window longer by its own greatest wait.
//!
//! - Onto the link: frames whose last bits leave within a window of *t* began at most the longest frame's
//!   time before it, so they are at most `V_max − V_min + I·(t + c_max/R)` charged bits, and what of the
//!   last one is charged after its last bit.
//!
//! Not here: which classes there are (`port.rs`).

use crate::clock::PS_PER_S;
use crate::curve::{Curve, Line, MICRO, scaled, span, volume};

/// A credit-based class at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shaper {
    /// Least and greatest idleSlope of the run.
    pub(crate) slope_min: u64,
    /// Greatest.
    pub(crate) slope_max: u64,
    /// Least that frames are charged with: before the first cycle of its gate it may be less than it is while the gate is open.
    pub(crate) slope_floor: u64,
    /// Rate of the line.
    pub(crate) rate: u64,
    /// The same less the loss because each frame takes a whole number of picoseconds: a frame is charged for as long.
    pub(crate) rate_charged: u64,
    /// Largest charged frame, bits.
    pub(crate) charged_max: u64,
    /// Bits of the wire to one that is charged, at most.
    pub(crate) wire_per_charged: (u64, u64),
    /// How late a timed step may be, picoseconds.
    pub(crate) slack: u64,
}

impl Shaper {
    /// −V_min, micro-bits, rounded up.
    pub(crate) fn debt_max(&self) -> u128 {
        let left = self.rate.saturating_sub(self.slope_floor);
        scaled(u128::from(self.charged_max) * MICRO, left, self.rate_charged)
    }

    /// V_max, micro-bits, rounded up, of a class that earns credit for at most so long.
    pub(crate) fn credit_in(&self, held: u64) -> u128 {
        volume(self.slope_max, held)
    }

    /// The longest time in which it sends nothing and earns credit, picoseconds; none if that is unlimited.
    /// `rate_served`: the rate of the line, less roundings; `blocking`: the largest frame below the class, micro-bits.
    pub(crate) fn held_max(&self, rate_served: u64, blocking: u128, higher: &Curve) -> Option<u64> {
        let own = scaled(u128::from(self.slope_max), self.wire_per_charged.0, self.wire_per_charged.1);
        let lines = higher.lines().iter().filter_map(|line| {
            let left = rate_served.checked_sub(line.rate).filter(|left| u128::from(*left) >= own)?;
            Some(span(blocking + line.burst, left)?.saturating_add(self.slack))
        });
        lines.min()
    }

    /// Rate-latency service in charged bits: the rate, and the latency times the rate in micro-bits.
    pub(crate) fn service(&self, credit_max: u128) -> (u64, u128) {
        if self.rate_charged == self.rate {
            return (self.slope_min, credit_max);
        }
        // A frame is charged as more bits than it has; the latency stays the same and is less than at the full slope.
        let slope = u128::from(self.slope_min) * u128::from(self.rate_charged) / u128::from(self.rate);
        (u64::try_from(slope).expect("at most the slope"), credit_max)
    }

    /// What it sends at most from an instant on at which its credit is not positive, bits of the wire.
    pub(crate) fn output(&self) -> Line {
        let late = volume(self.slope_max, self.slack);
        Line { burst: self.debt_max() + late, rate: self.slope_max }.in_bits(self.wire_per_charged)
    }

    /// What it sends at most while so much time passes in which it earns credit, from any instant on, in bits of the wire.
    pub(crate) fn at_any_time(&self, credit_max: u128) -> Line {
        let late = volume(self.slope_max, self.slack);
        // The frame that is under way may have nothing left of it that is charged.
        let beside = u128::from(tautwire_units::Bytes::MEDIA_OVERHEAD.bits().get()) * MICRO;
        let burst = credit_max + self.debt_max() + late + beside;
        Line { burst, rate: self.slope_max }.in_bits(self.wire_per_charged)
    }

    /// What it sends at most within any window, frames by their last bits, in bits of the wire.
    pub(crate) fn onto_link(&self, credit_max: u128) -> Line {
        let longest = span(u128::from(self.charged_max) * MICRO, self.rate).unwrap_or(u64::MAX);
        let begun = volume(self.slope_max, longest.saturating_add(self.slack));
        // Of the last frame's gap at most this is charged after its last bit.
        let gap = u128::from(self.charged_max.min(12 * 8)) * MICRO;
        let burst = credit_max + self.debt_max() + begun + gap;
        Line { burst, rate: self.slope_max }.in_bits(self.wire_per_charged)
    }

    /// hiCredit in bits, rounded up.
    pub(crate) fn hi_credit_bits(credit_max: u128) -> i64 {
        i64::try_from(credit_max.div_ceil(MICRO)).unwrap_or(i64::MAX)
    }

    /// loCredit in bits, rounded down. A frame's time on the line is rounded up to a picosecond.
    pub(crate) fn lo_credit_bits(&self) -> i64 {
        let rounding = u128::from(self.rate).div_ceil(PS_PER_S / MICRO);
        -i64::try_from((self.debt_max() + rounding).div_ceil(MICRO)).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue_bound::queue_bound;

    const RATE: u64 = 100_000_000;
    const FRAME: u64 = 1_542 * 8;

    fn shaper(slope: u64) -> Shaper {
        Shaper {
            slope_min: slope,
            slope_max: slope,
            slope_floor: slope,
            rate: RATE,
            rate_charged: RATE,
            charged_max: FRAME,
            wire_per_charged: (1, 1),
            slack: 0,
        }
    }

    fn bits(credit: Option<u128>) -> Option<u128> {
        credit.map(|credit| credit / MICRO)
    }

    fn credit_max(shaper: Shaper, rate: u64, blocking: u128, higher: &Curve) -> Option<u128> {
        shaper.held_max(rate, blocking, higher).map(|held| shaper.credit_in(held))
    }

    /// Class A at 50 %, class B at 25 % of 100 Mbit/s, frames of 12336 bits everywhere.
    #[test]
    fn the_credits_of_two_classes_are_the_published_ones() {
        let (a, b) = (shaper(50_000_000), shaper(25_000_000));
        let low = u128::from(FRAME) * MICRO;
        let credit_a = credit_max(a, RATE, low, &Curve::zero());
        assert_eq!(bits(credit_a), Some(6_168), "I_A·L/R");
        assert_eq!(a.debt_max() / MICRO, 6_168);
        let above_b = Curve::zero().plus(&Curve::least_of([a.output()]));
        // I_B·(L + L_A·(R − I_A)/R)/(R − I_A) = 0.25·(12336 + 6168)/0.5
        assert_eq!(bits(credit_max(b, RATE, low, &above_b)), Some(9_252));
        assert_eq!(Shaper::hi_credit_bits(9_252 * MICRO + 1), 9_253);
        assert_eq!(b.lo_credit_bits(), -9_253, "a picosecond of rounding away from −9252");
    }

    /// Class A below control data of 10 Mbit/s and one frame of burst.
    #[test]
    fn strict_priority_above_lets_credit_grow() {
        let control = Curve::least_of([Line::new(FRAME, 10_000_000)]);
        let credit = credit_max(shaper(50_000_000), RATE, u128::from(FRAME) * MICRO, &control);
        // 0.5·(12336 + 12336)/0.9
        assert_eq!(bits(credit), Some(13_706));
        assert_eq!(credit_max(shaper(95_000_000), RATE, 0, &control), None, "95 % and 10 %");
    }

    /// A frame of 1936 bits takes 11 us, or a picosecond longer; its debt is paid at the slope.
    #[test]
    fn what_is_rounded_up_on_the_line_is_charged() {
        let exact = Shaper { rate: 176_000_000, rate_charged: 176_000_000, ..shaper(30_000_000) };
        let rounded = Shaper { rate_charged: 175_999_950, ..exact };
        assert!(rounded.debt_max() > exact.debt_max());
        assert_eq!(exact.service(0), (30_000_000, 0));
        assert_eq!(rounded.service(0), (29_999_991, 0));
    }

    #[test]
    fn a_class_waits_for_its_latency_and_its_own_frames_at_its_slope() {
        let a = shaper(50_000_000);
        let credit = credit_max(a, RATE, u128::from(FRAME) * MICRO, &Curve::zero()).expect("bounded");
        let (rate, latency) = a.service(credit);
        let own = Curve::least_of([Line::new(2 * FRAME, 40_000_000)]);
        let bound = queue_bound(latency, rate, &Curve::zero(), &own, FRAME).expect("bounded");
        // 123.36 us for the lower frame, 246.72 us for the one ahead.
        assert_eq!(bound.start_max(FRAME), Some(370_080_000));
    }
}
