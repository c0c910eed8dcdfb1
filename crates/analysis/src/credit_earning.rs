//! For how long a credit-based class may earn credit, with the higher classes frame by frame.
//!
//! From the last instant at which the line was idle or started a frame below the class, the line is occupied by that
//! frame, by higher classes, and by the class itself in all the time that these leave: its credit falls then, by the
//! rate of the line less the slope, and is greatest when the higher classes have left the line free
//! (`credit_based.rs`).

use crate::curve::{scaled, span_floor, volume, volume_floor};
use crate::response_time::{Coming, JUMPS_MAX, Walk};

/// For how long at most a class of `slope` may earn credit, less the credit that it loses while it sends, picoseconds;
/// none if the credit grows without end, or the computation needs too many frames. At most `num/den` bits on the wire
/// correspond to one charged bit.
pub(crate) fn earning_max(
    latency: u128,
    rate: u64,
    higher: Coming<'_>,
    slope: u64,
    (num, den): (u64, u64),
) -> Option<u64> {
    let cap = higher.1;
    let mut walk = Walk::of(latency, rate, higher, u64::MAX);
    let slope = u64::try_from(scaled(u128::from(slope), num, den)).ok().filter(|slope| *slope > 0)?;
    let falls = rate.checked_sub(slope)?;
    // By a line that leaves less than the slope credit would still be earned when the line of the port is free.
    walk.least_left = slope - 1;
    let flattest = cap.lines().last().filter(|line| line.rate <= falls)?;
    let (mut sent, mut longest) = (0, 0);
    loop {
        let free = walk.free(sent)?;
        longest = longest.max(free.saturating_sub(span_floor(sent, slope)));
        let Some(next) = walk.peek() else { return Some(longest) };
        // Whatever comes later has the class sent for longer.
        let earned = latency + flattest.burst + volume(flattest.rate, next);
        if earned <= volume(slope, longest) + volume_floor(falls, next) {
            return Some(longest);
        }
        sent = sent.max(volume_floor(rate, next).saturating_sub(latency + walk.above(next)?));
        if walk.looked_at() > JUMPS_MAX {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{Curve, Line, MICRO};
    use crate::stairs::testing::{RATE, stairs};
    use crate::stairs::{Stairs, Step};

    #[test]
    fn credit_is_earned_while_frames_above_go_and_lost_between_them() {
        let cap = |bits| Curve::least_of([Line::new(bits, RATE / 10 * 7)]);
        let earned = |latency: u64, above: &[(u64, u64, u64)], slope: u64| {
            earning_max(u128::from(latency) * MICRO, RATE, (&stairs(above), &cap(100)), slope, (1, 1))
        };
        assert_eq!(earned(7, &[], RATE / 4), Some(7), "a lower frame");
        assert_eq!(earned(7, &[(2, 20, 0), (3, 40, 0)], RATE / 4), Some(12), "and two above");
        assert_eq!(
            earned(7, &[(2, 10, 0)], RATE / 4),
            Some(9),
            "the next comes when one of the class is through: 10 + 2 − 4·1 < 9"
        );
        // At a tenth of the line: free at 9, then 1 of its own, which takes ten times as long to earn again.
        assert_eq!(earned(7, &[(2, 10, 0)], RATE / 10), Some(9));
        assert_eq!(earned(7, &[(6, 10, 0)], RATE / 2), None, "60 % and 50 %");
    }

    /// The greatest `t − sent(t)/I` over all instants, where the class has sent at least what the line had left before each.
    fn earned_by_definition(latency: u128, higher: &Stairs, cap: &Curve, slope: u64) -> f64 {
        let at = |curve: &Curve, ps: u64| {
            curve.lines().iter().map(|line| line.burst + volume(line.rate, ps)).min()
        };
        let frames = |step: &Step, ps: u64| {
            let bits =
                step.lines.iter().map(|line| line.burst + volume_floor(line.rate, ps)).min().unwrap_or(0);
            bits / MICRO / u128::from(step.bits) * u128::from(step.bits) * MICRO
        };
        let (mut sent, mut most) = (0, 0.0_f64);
        for ps in 0..3_000_u64 {
            // Frames that arrive at this instant are served after it.
            let earlier = |step: &Step| ps.checked_sub(1).map_or(0, |ps| frames(step, ps));
            let steps = higher.lanes.iter().flat_map(|lane| &lane.steps);
            let before = steps.map(earlier).sum::<u128>() + at(&higher.rest, ps).unwrap();
            let above = before.min(at(cap, ps).unwrap());
            sent = sent.max(volume(RATE, ps).saturating_sub(latency + above));
            most = most.max(ps as f64 - sent as f64 * 1e6 / slope as f64);
        }
        most
    }

    #[test]
    fn credit_is_never_earned_for_longer_than_bounded() {
        let (mut found, mut curved) = (0, 0);
        for seed in 0..2_000_u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut draw = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            let streams: Vec<_> = (0..draw(3))
                .map(|_| (1 + draw(6), [10, 16, 20, 40, 50][draw(5) as usize], draw(30)))
                .collect();
            let rest = Curve::least_of([
                Line::new(draw(5), RATE / 10 * draw(9)),
                Line::new(5 + draw(30), RATE / 100 * draw(30)),
            ]);
            let flat = RATE / 100 * (30 + draw(40));
            let cap = Curve::least_of([
                Line::new(draw(12), RATE / 10 * (3 + draw(9))),
                Line::new(12 + draw(60), flat),
            ]);
            let (latency, slope) = (u128::from(draw(20)) * MICRO, RATE / 100 * (1 + draw(60)));
            let higher = Stairs { rest, ..stairs(&streams) };
            let Some(earned) = earning_max(latency, RATE, (&higher, &cap), slope, (1, 1)) else { continue };
            let least = earned_by_definition(latency, &higher, &cap, slope);
            assert!(earned as f64 + 1e-3 >= least, "seed {seed}: {earned} and {least}");
            found += 1;
            curved += u32::from(higher.rest.rate() > Some(0) && !higher.lanes.is_empty());
        }
        assert!(found > 500 && curved > 200, "{found} found, {curved} with a curve beside frames");
    }
}
