//! Response times under strict priority with frames kept whole: all frames of the busy period, non-preemptive blocking.
//!
//! What comes of a stream whose frames are all of one size comes in whole frames: of `b + r·t` bits as many as are whole
//! ([`Step`]). A frame that comes *a* after the start of the busy period of its class starts at the least *s* with
//!
//! `s·R >= L_low + Σ_hp n(s)·l + Σ_sp n(a)·l − own`, `n(t)` frames within a closed window of *t*,
//!
//! and waits `s − a`. The greatest wait lies at an *a* at which a frame of the class may come, and all of these are looked at until
//! the busy period ends: a later frame of the class may wait longer than the first. What has no frames of one size counts by its
//! curve, and of higher classes never more than the curve of all of them says, which knows of the lines that they come by.
//! Sources: Davis, Burns, Bril and Lukkien, Controller Area Network schedulability analysis: refuted, revisited and revised,
//! Real-Time Systems 35, 2007 (all instances); FIFO within a class as in `queue_bound.rs`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tautwire_units::Bytes;

use crate::curve::{Curve, Line, MICRO, scaled, span, span_floor, volume, volume_floor};
use crate::queue_bound::QueueBound;

/// Frames of a busy period that are looked at; where there are more, there is no bound of this kind.
const FRAMES_MAX: usize = 4_096;

/// Sizes of frames of a class for which a response time each is sought; of more, for the least and the largest.
const SIZES_MAX: usize = 8;

/// What comes of one stream, whose frames are all of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Bits of a frame, on the wire.
    pub(crate) bits: u64,
    /// Token buckets that hold for it.
    pub(crate) lines: [Line; 2],
}

impl Step {
    /// How long after the first of them `count` frames may have come, at the earliest; none: never.
    fn time_of(&self, count: u64) -> Option<u64> {
        let bits = u128::from(count) * u128::from(self.bits) * MICRO;
        let by = |line: &Line| match bits.checked_sub(line.burst) {
            None | Some(0) => Some(0),
            Some(_) if line.rate == 0 => None,
            Some(missing) => Some(span_floor(missing, line.rate)),
        };
        let [one, other] = self.lines.each_ref().map(by);
        Some(one?.max(other?))
    }
}

/// What comes to a class, or to all above it: streams in whole frames, and the rest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stairs {
    pub(crate) steps: Vec<Step>,
    pub(crate) rest: Curve,
}

impl Stairs {
    /// Nothing.
    pub(crate) fn nothing() -> Self {
        Self { steps: Vec::new(), rest: Curve::zero() }
    }

    /// As if nothing came behind the first frames.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn first_frames(&self) -> Self {
        let mut first = self.clone();
        first.steps.iter_mut().flat_map(|step| &mut step.lines).for_each(|line| line.rate = 0);
        first
    }

    /// Both together.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            steps: self.steps.iter().chain(&other.steps).copied().collect(),
            rest: self.rest.plus(&other.rest),
        }
    }
}

impl Stairs {
    /// Sizes of frames, in bits, of which a response time each is sought.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = self.steps.iter().map(|step| step.bits).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() > SIZES_MAX {
            sizes = vec![sizes[0], sizes[sizes.len() - 1]];
        }
        sizes
    }

    /// In bits that are charged with so many octets beside each frame; none of the rest.
    pub(crate) fn charged(&self, overhead: u64) -> Self {
        let charged = |step: &Step| {
            let bits = step.bits - Bytes::MEDIA_OVERHEAD.bits().get() + overhead * 8;
            Step { bits, lines: step.lines.map(|line| line.in_bits((bits, step.bits))) }
        };
        Self { steps: self.steps.iter().map(charged).collect(), rest: self.rest.clone() }
    }
}

/// Frames of several streams, in order of time.
struct Frames<'a> {
    steps: &'a [Step],
    next: BinaryHeap<Reverse<(u64, usize, u64)>>,
}

impl<'a> Frames<'a> {
    fn of(steps: &'a [Step]) -> Self {
        let first = |(place, step): (usize, &Step)| Some(Reverse((step.time_of(1)?, place, 1)));
        Self { steps, next: steps.iter().enumerate().filter_map(first).collect() }
    }

    fn peek(&self) -> Option<u64> {
        self.next.peek().map(|Reverse((time, ..))| *time)
    }

    /// The bits of the next frame.
    fn take(&mut self) -> Option<u64> {
        let Reverse((_, place, count)) = self.next.pop()?;
        let step = &self.steps[place];
        if let Some(time) = step.time_of(count + 1) {
            self.next.push(Reverse((time, place, count + 1)));
        }
        Some(step.bits)
    }
}

/// The busy period of a class, walked from its start.
struct Walk<'a> {
    rate: u64,
    latency: u128,
    higher: Frames<'a>,
    rest: &'a Curve,
    /// What comes of higher classes at most, however it comes.
    cap: &'a Curve,
    /// Of higher classes, in whole frames, micro-bits.
    came: u128,
    looked_at: usize,
    /// Lines of curves count that leave more of the rate than this.
    least_left: u64,
}

impl Walk<'_> {
    /// When the line is free of all that comes above and of `own` micro-bits of the class; none if that is not found.
    fn free(&mut self, own: u128) -> Option<u64> {
        let fixed = self.latency + own;
        let capped = self.served(fixed, self.cap);
        loop {
            let stepped = self.served(fixed + self.came, self.rest);
            let free = stepped.into_iter().chain(capped).min()?;
            if self.higher.peek().is_none_or(|next| next > free) {
                return Some(free);
            }
            self.came += u128::from(self.higher.take()?) * MICRO;
            self.looked_at += 1;
            if self.looked_at > FRAMES_MAX {
                return capped;
            }
        }
    }

    /// When so much is served, and what a curve has brought until then.
    fn served(&self, fixed: u128, curve: &Curve) -> Option<u64> {
        let by = |line: &Line| {
            let left = self.rate.checked_sub(line.rate).filter(|left| *left > self.least_left)?;
            span(fixed + line.burst, left)
        };
        curve.lines().iter().filter_map(by).min()
    }
}

/// For how long a class of `slope` may earn credit at the most, less what it loses as it sends, picoseconds; none if the credit grows
/// without end, or this takes too many frames to tell.
///
/// The line is taken by a lower frame, by what is above, and by the class itself in all the time that these leave: credit falls then,
/// by the rate of the line less the slope, and is greatest when what is above has left the line free. Of the class's bits on the wire
/// at most `num/den` are one that is charged.
pub(crate) fn earning(
    latency: u128,
    rate: u64,
    (higher, cap): (&Stairs, &Curve),
    slope: u64,
    (num, den): (u64, u64),
) -> Option<u64> {
    let frames = Frames::of(&higher.steps);
    let mut walk =
        Walk { rate, latency, higher: frames, rest: &higher.rest, cap, came: 0, looked_at: 0, least_left: 0 };
    let slope = u64::try_from(scaled(u128::from(slope), num, den)).ok().filter(|slope| *slope > 0)?;
    let falls = rate.checked_sub(slope)?;
    // By a line that leaves less than the slope credit would still be earned when the line of the port is free.
    walk.least_left = slope - 1;
    let flattest = cap.lines().last().filter(|line| line.rate <= falls)?;
    let (mut sent, mut longest) = (0, 0);
    loop {
        let free = walk.free(sent)?;
        longest = longest.max(free.saturating_sub(span_floor(sent, slope)));
        let Some(next) = walk.higher.peek() else { return Some(longest) };
        // Whatever comes later has the class sent for longer.
        let earned = latency + flattest.burst + volume(flattest.rate, next);
        if earned <= volume(slope, longest) + volume_floor(falls, next) {
            return Some(longest);
        }
        let by = |curve: &Curve| curve.lines().iter().map(|line| line.burst + volume(line.rate, next)).min();
        let above = (walk.came + by(&higher.rest)?).min(by(cap)?);
        sent = sent.max(volume_floor(rate, next).saturating_sub(latency + above));
        if walk.looked_at > FRAMES_MAX {
            return None;
        }
    }
}

/// The greatest wait of the frames of a FIFO class of `bits` or more each, behind `latency` micro-bits of a lower one that are still to be
/// sent when the first of them comes, in whole frames; none if its streams are not
/// all of frames of one size, if more comes than is served, or if the busy period is too long to be looked at.
pub(crate) fn response_time(
    latency: u128,
    rate: u64,
    (higher, cap): (&Stairs, &Curve),
    own: &Stairs,
    bits: u64,
) -> Option<QueueBound> {
    if own.rest != Curve::zero() || own.steps.is_empty() {
        return None;
    }
    let (rest, frames) = (&higher.rest, Frames::of(&higher.steps));
    let mut walk = Walk { rate, latency, higher: frames, rest, cap, came: 0, looked_at: 0, least_left: 0 };
    let mut coming = Frames::of(&own.steps);
    let mut came = 0;
    let mut worst: Option<(u64, QueueBound)> = None;
    while let Some(at) = coming.peek() {
        if came > 0 && walk.free(came)? < at {
            break;
        }
        while coming.peek() == Some(at) {
            came += u128::from(coming.take()?) * MICRO;
            walk.looked_at += 1;
        }
        if walk.looked_at > FRAMES_MAX {
            return None;
        }
        let before = came.saturating_sub(u128::from(bits) * MICRO);
        let start = walk.free(before)?;
        let wait = start.saturating_sub(at);
        if worst.as_ref().is_none_or(|(most, _)| *most < wait) {
            let served = volume(rate, start);
            let rest = rest.lines().iter().map(|line| line.burst + volume(line.rate, start)).min()?;
            let above = served.saturating_sub(latency + before).min(walk.came + rest);
            let above = Line { burst: above, rate: 0 };
            let bound = QueueBound {
                before: served + u128::from(bits) * MICRO,
                rate,
                lead: at,
                weight: (1, 1),
                slack: 0,
                bits_min: bits,
                latency,
                higher: above,
                own: Line { burst: came, rate: 0 },
            };
            worst = Some((wait, bound));
        }
    }
    worst.map(|(_, bound)| bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bit in a picosecond.
    const RATE: u64 = 1_000_000_000_000;

    /// Frames of so many bits, so far apart, that may be late by `jitter`.
    fn periodic((bits, period, jitter): (u64, u64, u64)) -> Step {
        let rate = (bits * RATE).div_ceil(period);
        let line = Line { burst: u128::from(bits) * MICRO + volume(rate, jitter), rate };
        Step { bits, lines: [line; 2] }
    }

    fn wait(latency: u64, higher: &[(u64, u64, u64)], own: &[(u64, u64, u64)], bits: u64) -> Option<u64> {
        let stairs =
            |of: &[_]| Stairs { steps: of.iter().copied().map(periodic).collect(), rest: Curve::zero() };
        let cap = Curve::least_of([Line { burst: 1 << 80, rate: 0 }]);
        let bound = response_time(
            u128::from(latency.saturating_sub(1)) * MICRO,
            RATE,
            (&stairs(higher), &cap),
            &stairs(own),
            bits,
        )?;
        bound.start_max(bits)
    }

    /// The greatest wait of the own streams' frames of `bits` over all phases: time in steps, a frame of the lowest class is about
    /// to start whenever the line is free.
    fn enumerated(latency: u64, higher: &[(u64, u64, u64)], own: &[(u64, u64, u64)], bits: u64) -> u64 {
        let all: Vec<_> = higher.iter().chain(own).copied().collect();
        let combinations: u64 = all.iter().map(|(_, period, _)| period).product();
        let horizon = 3 * combinations.min(400);
        (0..combinations)
            .map(|number| run(latency, &all, higher.len(), (number, horizon), bits))
            .max()
            .unwrap()
    }

    fn run(
        latency: u64,
        all: &[(u64, u64, u64)],
        higher: usize,
        (number, horizon): (u64, u64),
        bits: u64,
    ) -> u64 {
        let (mut rest, mut phases) = (number, Vec::new());
        for (_, period, _) in all {
            phases.push(rest % period);
            rest /= period;
        }
        let begin = phases.iter().min().copied().unwrap_or(0);
        let (mut queues, mut free, mut most) = ([Vec::new(), Vec::new()], 0, 0);
        for now in 0..horizon {
            for (place, ((length, period, _), phase)) in all.iter().zip(&phases).enumerate() {
                if now >= *phase && (now - phase) % period == 0 {
                    queues[usize::from(place >= higher)].push((now, *length));
                }
            }
            if now < free {
                continue;
            }
            let queue = usize::from(queues[0].is_empty());
            if queues[queue].is_empty() {
                // The one lower frame starts as late as it may.
                free = if now + 1 == begin { now + latency } else { free };
                continue;
            }
            // Of frames that come at once the longest goes first, and that of `bits` last.
            let of_now = queues[queue].iter().filter(|(came, _)| *came == queues[queue][0].0);
            let place =
                of_now.enumerate().max_by_key(|(_, (_, length))| (*length != bits, *length)).unwrap().0;
            let (came, length) = queues[queue].remove(place);
            if queue == 1 && length == bits {
                most = most.max(now - came);
            }
            free = now + length;
        }
        most
    }

    #[test]
    fn a_later_frame_may_wait_longest() {
        // The example of Davis et al., 2007: three messages of a length of 1 ms, the last of them waits longest as the second of its
        // busy period.
        let (one, bits) = (1_000, 1_000);
        let third = wait(0, &[(one, 2_500, 0), (one, 3_500, 0)], &[(one, 3_500, 0)], bits);
        assert_eq!(
            third,
            Some(2_501),
            "response 3.5: at 0 it waits 2, at 3.5 it waits 2.5; its period is rounded down by a step"
        );
    }

    /// Three streams, of which the first are above: a lower frame, and all of them.
    fn drawn(seed: u64) -> (u64, Vec<(u64, u64, u64)>, usize) {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        // Periods that rates in bits a second divide evenly.
        let streams = (0..3).map(|_| (1 + draw(3), [4, 5, 8, 10, 16][draw(5) as usize], 0)).collect();
        (draw(4), streams, draw(3) as usize)
    }

    #[test]
    fn waits_are_those_of_the_worst_phases() {
        let (mut found, mut later) = (0, 0);
        for seed in 0..400 {
            let (latency, streams, above) = drawn(seed);
            if streams.iter().map(|(bits, period, _)| bits * 80 / period).sum::<u64>() >= 80 {
                continue;
            }
            let (higher, own) = streams.split_at(above);
            let bits = own.iter().map(|(bits, ..)| *bits).min().unwrap();
            let (bound, worst) = (wait(latency, higher, own, bits), enumerated(latency, higher, own, bits));
            assert_eq!(bound, Some(worst), "{latency} {higher:?} {own:?}");
            found += 1;
            let first: Vec<_> = own.iter().map(|(bits, ..)| (*bits, 100_000, 0)).collect();
            later += u32::from(wait(latency, higher, &first, bits) < bound);
        }
        assert!(found > 60 && later > 0, "{found} sets, {later} in which a later frame waits longest");
    }

    #[test]
    fn jitter_brings_frames_together() {
        assert_eq!(wait(0, &[(2, 10, 0)], &[(1, 100, 0)], 1), Some(2));
        assert_eq!(wait(0, &[(2, 10, 9)], &[(1, 100, 0)], 1), Some(4), "the second comes 1 behind the first");
        assert_eq!(wait(0, &[(2, 10, 10)], &[(1, 100, 0)], 1), Some(4), "both at once");
    }

    #[test]
    fn what_is_full_or_not_in_whole_frames_has_no_bound_of_this_kind() {
        assert_eq!(wait(0, &[(6, 10, 0)], &[(5, 10, 0)], 5), None);
        let own = Stairs { steps: vec![periodic((1, 10, 0))], rest: Curve::least_of([Line::new(5, 0)]) };
        assert_eq!(response_time(0, RATE, (&Stairs::nothing(), &Curve::zero()), &own, 1), None);
    }

    #[test]
    fn credit_is_earned_while_frames_above_go_and_lost_between_them() {
        let cap = |bits| Curve::least_of([Line::new(bits, RATE / 10 * 7)]);
        let earned = |latency: u64, above: &[(u64, u64, u64)], slope: u64| {
            let stairs = Stairs { steps: above.iter().copied().map(periodic).collect(), rest: Curve::zero() };
            earning(u128::from(latency) * MICRO, RATE, (&stairs, &cap(100)), slope, (1, 1))
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
            // What comes at this instant is served behind it.
            let earlier = |step: &Step| ps.checked_sub(1).map_or(0, |ps| frames(step, ps));
            let before = higher.steps.iter().map(earlier).sum::<u128>() + at(&higher.rest, ps).unwrap();
            let above = before.min(at(cap, ps).unwrap());
            sent = sent.max(volume(RATE, ps).saturating_sub(latency + above));
            most = most.max(ps as f64 - sent as f64 * 1e6 / slope as f64);
        }
        most
    }

    #[test]
    fn credit_is_never_earned_for_longer_than_told() {
        let (mut found, mut curved) = (0, 0);
        for seed in 0..2_000_u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut draw = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            let steps: Vec<Step> = (0..draw(3))
                .map(|_| periodic((1 + draw(6), [10, 16, 20, 40, 50][draw(5) as usize], draw(30))))
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
            let higher = Stairs { steps, rest };
            let Some(earned) = earning(latency, RATE, (&higher, &cap), slope, (1, 1)) else { continue };
            let least = earned_by_definition(latency, &higher, &cap, slope);
            assert!(earned as f64 + 1e-3 >= least, "seed {seed}: {earned} and {least}");
            found += 1;
            curved += u32::from(higher.rest.rate() > Some(0) && !higher.steps.is_empty());
        }
        assert!(found > 500 && curved > 200, "{found} found, {curved} with a curve beside frames");
    }

    #[test]
    fn the_curve_of_what_is_above_holds_too() {
        // Both come by one line of twice the rate: 2 bits and what comes meanwhile.
        let higher = Stairs { steps: vec![periodic((6, 1_000, 0)); 2], rest: Curve::zero() };
        let own = Stairs { steps: vec![periodic((1, 1_000, 0))], rest: Curve::zero() };
        let cap = Curve::least_of([Line::new(3, RATE / 2), Line { burst: 1 << 80, rate: 0 }]);
        let bound = response_time(0, RATE, (&higher, &cap), &own, 1).expect("a bound");
        assert_eq!(bound.start_max(1), Some(6), "3 / (1 - 1/2)");
    }
}
