//! Response times under strict priority, frame by frame: all frames of the busy period, non-preemptive blocking.
//!
//! Arrivals are frame by frame (`stairs.rs`). A frame that comes *a* after the start of the busy period of its class
//! starts at the least *s* with
//!
//! `s·R >= L_low + hp(s) + sp(a) − own`, `hp(t)` and `sp(t)` bits of frames above and of the class within a closed window of *t*,
//!
//! and waits `s − a`. The greatest wait occurs at an *a* at which a frame of the class may come, and all of these are
//! examined until the busy period ends: a later frame of the class may wait longer than the first. Streams with
//! several frame sizes count by their curve, and higher classes never more than by the curve of all of them. The
//! backlog is greatest at such an *a*, too: the arrivals less what the line has left to the class by then.
//! Sources: Davis, Burns, Bril and Lukkien, Controller Area Network schedulability analysis: refuted, revisited and revised,
//! Real-Time Systems 35, 2007 (all instances); FIFO within a class as in `queue_bound.rs`.

use crate::curve::{Curve, Line, MICRO, span, span_floor, volume, volume_floor};
use crate::queue_bound::QueueBound;
use crate::stairs::{Frames, Stairs};

/// Jumps of a busy period that are looked at; where there are more, there is no bound of this kind.
pub(crate) const JUMPS_MAX: usize = 4_096;

/// What goes before a class or comes to it: frame by frame, and a curve of all of it.
pub(crate) type Coming<'a> = (&'a Stairs, &'a Curve);

/// The busy period of a class, walked from its start.
pub(crate) struct Walk<'a> {
    rate: u64,
    latency: u128,
    higher: Frames<'a>,
    /// When so many micro-bits of higher classes had come, or were taken of the line, and before when nothing starts then: the jumps up to here.
    jumps: Vec<(u64, u128, u64)>,
    taken: usize,
    rest: &'a Curve,
    /// Whether there is no rest.
    is_all_in_jumps: bool,
    /// Upper bound of the arrivals of higher classes, in any form.
    cap: &'a Curve,
    /// Lines of curves count that leave more of the rate than this.
    pub(crate) least_left: u64,
    /// Rate of the line, where what comes above may cut a frame that has started: waits are to the end of a frame, less its own time.
    line: Option<u64>,
}

impl<'a> Walk<'a> {
    /// Nothing that comes later than `until` after the start can count.
    pub(crate) fn of(latency: u128, rate: u64, (higher, cap): Coming<'a>, until: u64) -> Self {
        let frames = Frames::of(higher, until);
        let jumps = vec![(0, frames.all(), frames.over())];
        Self {
            rate,
            latency,
            higher: frames,
            jumps,
            taken: 0,
            rest: &higher.rest,
            is_all_in_jumps: higher.is_integral(),
            cap,
            least_left: 0,
            line: None,
        }
    }

    /// How many jumps were looked at.
    pub(crate) fn looked_at(&self) -> usize {
        self.taken
    }

    /// When the next frames come of higher classes.
    pub(crate) fn peek(&self) -> Option<u64> {
        self.higher.peek()
    }

    fn take(&mut self, time: u64) {
        self.higher.take();
        self.taken += 1;
        let (all, over) = (self.higher.all(), self.higher.over());
        match self.jumps.last_mut() {
            Some((last, came, until)) if *last == time => (*came, *until) = (all, over),
            Some((_, came, until)) if (*came, *until) == (all, over) => {}
            _ => self.jumps.push((time, all, over)),
        }
    }

    /// When the line is free of all that comes above and of `own` micro-bits of the class; none if that is not found.
    pub(crate) fn free(&mut self, own: u128) -> Option<u64> {
        let fixed = self.latency + own;
        let capped = self.served(fixed, self.cap);
        loop {
            let stepped = self.served(fixed + self.higher.all(), self.rest);
            let stepped = stepped.map(|free| free.max(self.higher.over()));
            let free = stepped.into_iter().chain(capped).min()?;
            if self.higher.peek().is_none_or(|next| next > free) {
                return Some(free);
            }
            self.take_until(free);
            if self.taken > JUMPS_MAX {
                return capped;
            }
        }
    }

    fn take_until(&mut self, now: u64) {
        while let Some(next) = self.higher.peek().filter(|next| *next <= now && self.taken <= JUMPS_MAX) {
            self.take(next);
        }
    }

    /// The same for no more bits than before, of a frame that starts at `at` or later; `known` is what was found for one that came
    /// before with no more bits, and its place among the jumps.
    fn free_again(&self, own: u128, at: u64, known: &mut (u64, usize)) -> Option<u64> {
        let fixed = self.latency + own;
        let capped = self.served(fixed, self.cap);
        let (mut free, mut place) = (known.0.max(at), known.1);
        let mut came = None;
        loop {
            while self.jumps[place].0 > free {
                place -= 1;
            }
            while self.jumps.get(place + 1).is_some_and(|(time, ..)| *time <= free) {
                place += 1;
            }
            let (_, by_now, over) = self.jumps[place];
            if came == Some((by_now, over)) {
                *known = (free, place);
                return Some(free);
            }
            came = Some((by_now, over));
            let stepped = self.served(fixed + by_now, self.rest).map(|free| free.max(over));
            free = stepped.into_iter().chain(capped).min()?;
        }
    }

    /// Whether some starts are by the end of a part of windows, and not by the bits before them alone.
    fn has_waited(&self) -> bool {
        self.higher.over() > 0
    }

    /// The bits of higher classes before an instant, up to which their frames were enumerated, micro-bits.
    pub(crate) fn above(&self, now: u64) -> Option<u128> {
        self.above_from(now, self.jumps.partition_point(|(time, ..)| *time < now.max(1)) - 1)
    }

    /// The same, of which `place` is the last jump before that instant.
    fn above_from(&self, now: u64, place: usize) -> Option<u128> {
        let by = |curve: &Curve| curve.lines().iter().map(|line| line.burst + volume(line.rate, now)).min();
        let rest = if self.is_all_in_jumps { 0 } else { by(self.rest)? };
        let mut least = self.jumps[place].1 + rest;
        let mut is_known = false;
        for line in self.cap.lines() {
            is_known = true;
            // Bursts of a curve grow from line to line.
            if line.burst >= least {
                break;
            }
            least = least.min(line.burst + volume(line.rate, now));
        }
        is_known.then_some(least)
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

/// When a busy period ends at the latest, by curves.
pub(crate) fn end_of(latency: u128, rate: u64, higher: &Curve, own: &Curve) -> u64 {
    let ends = higher.lines().iter().flat_map(|above| {
        let left = rate.checked_sub(above.rate);
        own.lines().iter().filter_map(move |own| {
            let left = left?.checked_sub(own.rate).filter(|left| *left > 0)?;
            span(latency + above.burst + own.burst, left)
        })
    });
    ends.min().unwrap_or(u64::MAX)
}

/// The arrivals of a FIFO class frame by frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ResponseTimes {
    /// The greatest waits of frames of each size, and of larger ones.
    pub(crate) waits: Vec<QueueBound>,
    /// The most that waits, micro-bits; a frame that is being sent counts by what is left of it.
    pub(crate) backlog: Option<u128>,
}

impl ResponseTimes {
    /// And others that hold as well.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.waits.extend(other.waits);
        self.backlog = self.backlog.into_iter().chain(other.backlog).min();
        self
    }
}

/// A wait: of a frame that comes at `at`, by when so much has come of its class, micro-bits, and starts at `start`.
#[derive(Clone, Copy, Default)]
struct Wait {
    at: u64,
    start: u64,
    came: u128,
}

impl Wait {
    fn time(self) -> u64 {
        self.start.saturating_sub(self.at)
    }
}

/// The greatest waits in a FIFO class behind `latency` micro-bits of a lower frame, which are still to be sent when
/// the first of its frames comes; none if its streams do not all have frames of one size, if the load exceeds the
/// rate, or if the busy period is too long to be examined.
pub(crate) fn response_times(latency: u128, rate: u64, higher: Coming<'_>, own: Coming<'_>) -> ResponseTimes {
    if !own.0.is_integral() {
        return ResponseTimes::default();
    }
    waits_of(latency, (rate, None), higher, own, &own.0.sizes())
}

/// The same of a class in which each frame counts as the largest of its stream: for all of its frames alike.
pub(crate) fn response_times_in_slots(
    latency: u128,
    rate: u64,
    higher: Coming<'_>,
    own: Coming<'_>,
) -> ResponseTimes {
    let Some(least) = own.0.sizes().first().copied().filter(|_| own.0.is_integral()) else {
        return ResponseTimes::default();
    };
    // The busy period ends by the bits that the frames have, so by the curve.
    let mut found = waits_of(latency, (rate, None), higher, own, &[least]);
    for wait in &mut found.waits {
        // A frame that is smaller than its slot waits no longer.
        let own = u128::from(least) * MICRO;
        *wait = QueueBound {
            before: wait.before.saturating_sub(if wait.weight.0 == 0 { 0 } else { own }),
            weight: (0, 1),
            bits_min: 0,
            ..*wait
        };
    }
    found
}

/// The same of frames that are cut on a line of rate `line` by what comes above, up to their end: a wait is up to that, less the frame's own time.
pub(crate) fn response_times_to_end(
    latency: u128,
    (rate, line): (u64, u64),
    higher: Coming<'_>,
    own: Coming<'_>,
) -> ResponseTimes {
    if !own.0.is_integral() {
        return ResponseTimes::default();
    }
    waits_of(latency, (rate, Some(line)), higher, own, &own.0.sizes())
}

/// The same of frames of these sizes, the least of all that come first.
fn waits_of(
    latency: u128,
    (rate, line): (u64, Option<u64>),
    higher: Coming<'_>,
    own: Coming<'_>,
    sizes: &[u64],
) -> ResponseTimes {
    let until = end_of(latency, rate, higher.1, own.1);
    let mut walk = Walk { line, ..Walk::of(latency, rate, higher, until) };
    let coming = Frames::of(own.0, until);
    if coming.came == 0 {
        return ResponseTimes::default();
    }
    let Some((waits, backlog)) = busy_period(&mut walk, coming, sizes) else {
        return ResponseTimes::default();
    };
    let bound = |(bits, wait): (&u64, Wait)| queue_bound(&walk, *bits, wait);
    ResponseTimes { waits: sizes.iter().zip(waits).map(bound).collect(), backlog: Some(backlog) }
}

/// The same of a class of which a curve is known, in steps of its smallest frame.
pub(crate) fn stepwise(
    latency: u128,
    rate: u64,
    higher: Coming<'_>,
    own: &Curve,
    frame_min: u64,
) -> ResponseTimes {
    // A burst in some hundreds of steps at the most.
    let burst = own.lines().last().map_or(0, |line| line.burst / MICRO / 256);
    let step = u64::try_from(burst).unwrap_or(u64::MAX).max(frame_min);
    let Some(steps) = Stairs::in_steps(own, step) else { return ResponseTimes::default() };
    let capped = Curve::least_of(
        own.lines().iter().map(|line| Line { burst: line.burst + u128::from(step) * MICRO, ..*line }),
    );
    waits_of(latency, (rate, None), higher, (&steps, &capped), &[frame_min])
}

/// The greatest waits of frames of each size, the least first, and the most that waits, over one busy period.
fn busy_period(walk: &mut Walk<'_>, mut coming: Frames<'_>, sizes: &[u64]) -> Option<(Vec<Wait>, u128)> {
    let mut worst = vec![Wait::default(); sizes.len()];
    let mut known = vec![(0, 0); sizes.len()];
    let (mut at, mut sent, mut backlog, mut taken, mut place) = (0, 0_u128, 0, 0, 0);
    loop {
        let came = u128::from(coming.came) * MICRO;
        backlog = backlog.max(came.saturating_sub(sent));
        let to_end = walk.line.is_some();
        let without = |bits: u64| if to_end { came } else { came.saturating_sub(u128::from(bits) * MICRO) };
        let last = Wait { at, start: walk.free(without(sizes[0]))?, came };
        if taken + walk.looked_at() > JUMPS_MAX {
            return None;
        }
        for ((bits, worst), known) in sizes.iter().zip(&mut worst).zip(&mut known) {
            // A larger frame starts sooner, at least by the time that it is longer.
            let sooner = if to_end { 0 } else { span_floor(u128::from(*bits - sizes[0]) * MICRO, walk.rate) };
            // But not where a part of windows is waited for.
            let surely = if walk.has_waited() { 0 } else { sooner };
            if last.time().saturating_sub(surely) > worst.time() || worst.came == 0 {
                let start =
                    if sooner == 0 { last.start } else { walk.free_again(without(*bits), at, known)? };
                let wait = Wait { start, ..last };
                if wait.time() > worst.time() || worst.came == 0 {
                    *worst = wait;
                }
            }
        }
        let Some(next) = coming.peek() else { break };
        if last.start < next && walk.free(came)? < next {
            break;
        }
        walk.take_until(next);
        while walk.jumps.get(place + 1).is_some_and(|(time, ..)| *time < next) {
            place += 1;
        }
        let above = walk.above_from(next, place)?;
        sent = sent.max(volume_floor(walk.rate, next).saturating_sub(walk.latency + above));
        at = next;
        taken += coming.take_until(at);
    }
    Some((worst, backlog))
}

/// As a bound for frames of `bits` and more.
fn queue_bound(walk: &Walk<'_>, bits: u64, wait: Wait) -> QueueBound {
    let served = volume(walk.rate, wait.start);
    // Up to the end of a frame its own bits have passed, too.
    let own = if walk.line.is_some() { 0 } else { u128::from(bits) * MICRO };
    let above = served.saturating_sub(walk.latency + wait.came.saturating_sub(own));
    let above = walk.above(wait.start).map_or(above, |most| above.min(most));
    // A larger frame does not start before the end of a part of windows either.
    let (own, weight) = match walk.line {
        None if walk.has_waited() => (0, (0, 1)),
        None => (own, (1, 1)),
        Some(line) => (own, (walk.rate, line)),
    };
    QueueBound {
        before: served + own,
        rate: walk.rate,
        lead: wait.at,
        weight,
        slack: 0,
        bits_min: bits,
        latency: walk.latency,
        higher: Line { burst: above, rate: 0 },
        own: Line { burst: wait.came, rate: 0 },
        is_by_links: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stairs::testing::{RATE, stairs};
    use crate::stairs::{ByLine, LaneStairs, Step};

    fn anything() -> Curve {
        Curve::least_of([Line { burst: 1 << 80, rate: 0 }])
    }

    fn wait(latency: u64, higher: &[(u64, u64, u64)], own: &[(u64, u64, u64)], bits: u64) -> Option<u64> {
        let latency = u128::from(latency.saturating_sub(1)) * MICRO;
        let (higher, own, cap) = (stairs(higher), stairs(own), anything());
        of_size(&response_times(latency, RATE, (&higher, &cap), (&own, &cap)), bits)
    }

    fn of_size(times: &ResponseTimes, bits: u64) -> Option<u64> {
        times.waits.iter().filter_map(|bound| bound.start_max(bits)).min()
    }

    /// The greatest wait of the own streams' frames of `bits` over all phases: time in steps, a frame of the lowest
    /// class starts whenever the line is free.
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
    fn overload_and_flows_without_frames_have_no_bound_of_this_kind() {
        assert_eq!(wait(0, &[(6, 10, 0)], &[(5, 10, 0)], 5), None);
        let own = Stairs { rest: Curve::least_of([Line::new(5, 0)]), ..stairs(&[(1, 10, 0)]) };
        let nothing = (&Stairs::nothing(), &Curve::zero());
        assert_eq!(response_times(0, RATE, nothing, (&own, &anything())), ResponseTimes::default());
    }

    #[test]
    fn the_curve_of_what_is_above_holds_too() {
        // Both come by one line of twice the rate: 2 bits and what comes meanwhile.
        let (higher, own) = (stairs(&[(6, 1_000, 0), (6, 1_000, 0)]), stairs(&[(1, 1_000, 0)]));
        let cap = Curve::least_of([Line::new(3, RATE / 2), Line { burst: 1 << 80, rate: 0 }]);
        let times = response_times(0, RATE, (&higher, &cap), (&own, &anything()));
        assert_eq!(of_size(&times, 1), Some(6), "3 / (1 - 1/2)");
    }

    #[test]
    fn what_is_given_up_has_no_bound() {
        // 5 000 frames above go before the larger of two frames, more than are looked at.
        let (higher, own) = (stairs(&[(1, 2, 0)]), stairs(&[(1, 1_000_000, 0), (3, 1_000_000, 0)]));
        let cap = Curve::least_of([Line::new(10, RATE / 10 * 6)]);
        let of_three = |latency: u128| {
            let times = response_times(latency * MICRO, RATE, (&higher, &cap), (&own, &anything()));
            of_size(&times, 3)
        };
        assert_eq!(of_three(50), Some(103), "50 and 1 before it, and 52 above");
        assert!(of_three(5_000).is_none_or(|wait| wait >= 10_000), "{:?}", of_three(5_000));
    }

    /// Streams that come by one line of so many bits a second, in frames of so many bits.
    fn by_line(of: &[(u64, u64, u64)], rate: u64) -> Stairs {
        let mut all = stairs(of);
        let steps: Vec<Step> = all.lanes.drain(..).flat_map(|lane| lane.steps).collect();
        let sizes = (of.iter().map(|one| one.0).min().unwrap(), of.iter().map(|one| one.0).max().unwrap());
        let line = ByLine::of([Line::new(sizes.1, rate)], sizes);
        all.lanes = vec![LaneStairs { steps, line }];
        all
    }

    #[test]
    fn what_comes_by_one_line_comes_one_behind_the_other() {
        let nothing = (&Stairs::nothing(), &Curve::zero());
        let four = [(6, 1_000, 0); 4];
        let wait = |own: &Stairs, latency: u128| {
            let times = response_times(latency * MICRO, RATE, nothing, (own, &anything()));
            (of_size(&times, 6), times.backlog.map(|most| most / MICRO))
        };
        assert_eq!(wait(&stairs(&four), 5), (Some(23), Some(24)), "from four lines at once");
        assert_eq!(
            wait(&by_line(&four, RATE), 5),
            (Some(5), Some(11)),
            "each goes when the next is in: at 6 one is sent 1"
        );
        assert_eq!(
            wait(&by_line(&four, 2 * RATE), 5),
            (Some(14), Some(20)),
            "the last comes at 9, and starts at 5 + 18"
        );
        assert_eq!(
            wait(&by_line(&[(6, 100, 0), (6, 100, 95)], RATE), 0),
            (Some(0), Some(6)),
            "nor closer for jitter"
        );
    }
}
