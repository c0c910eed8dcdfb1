//! Windows of a credit-based class: counted in the time in which its gate is open, where credit is earned (802.1Q-2022, 8.6.8.2).
//!
//! Let *O* be the time in which the gate of the class is open. Credit changes by idleSlope while *O* passes and by what is charged, and is constant
//! otherwise. So in place of time, all bounds of `credit_based.rs` count *O*: what of it is not usable ([`CreditWindows::blocked`]), how much
//! other time passes in it ([`CreditWindows::beside`]), and how much of it a window holds ([`CreditWindows::earning`]).
//!
//! Where the list changes, idleSlope is the operIdleSlope of the list that runs, which the machine takes at the begin of a list; credit stays as it is.
//! So credit changes by *∫I dO* with *I* between the least and the greatest slope of all lists (`port_plan.rs`), and with these two the terms
//! hold: from an instant on at which credit is not positive it grows by the greatest slope at most, and frames wait for the least one.
//! Of *O* over the change is not usable what is not of the openings of the first list, of the last, or of those between, and a window over the change
//! holds openings of all three in their order. Before a change is set, frames look ahead along the old list: as much of *O* is not usable in addition,
//! once for each change, and one frame may be on the line behind a close that nobody foresaw. Other time in *O* over the change is
//! that of a cycle of either list and all between at once, and the greater of the shares of both lists of what follows.

use super::periodic::{Once, Periodic};
use super::port::{Gated, Opening, taken};
use super::times::{ORIGIN, Times};
use crate::curve::{Curve, Line, MICRO};
use crate::windows::{CreditWindows, TIME};

/// Openings without an end count as so long: 2^50 ps.
const LONG: u64 = 1 << 50;

/// Openings of a cycle of the first list, of all that is over the change, and of a cycle of the last list; only the last if the list does not change.
type Openings = [Vec<Opening>; 3];

impl Gated {
    /// Its windows as credit knows them.
    pub(super) fn credit(&self, class: usize) -> CreditWindows {
        let first = self.timing.first;
        // The slope may be the lesser one before the first cycle.
        let once = match self.once(class) {
            _ if self.is_open(class) => Once::default(),
            once => Once { time: first, ..once },
        };
        let unearned = taken(&self.unearned(class), once);
        if self.open[class].is_all() || !self.credit.frozen_when_closed {
            let blocked =
                if self.credit.frozen_when_closed { self.blocking_once(class) } else { self.once(class) };
            return CreditWindows {
                unearned,
                blocked: blocked.before(&self.usable(class).others().most()),
                beside: Line { burst: u128::from(once.time) * MICRO, rate: 0 },
                earning: Curve::least_of([Line { burst: 0, rate: TIME }]),
                same: 0,
                gaps: Line::default(),
                starts_slower: first > 0,
            };
        }
        let (open, error) = (&self.open[class], self.timing.error);
        let openings = self.openings_over_change(class);
        let closed = open.others().grown(error, error);
        let alike = |higher: &usize| {
            let at_first = first == 0 || self.is_open_at_first(*higher) == self.is_open_at_first(class);
            at_first && self.open[*higher] == self.open[class] && self.goes_before(*higher, class)
        };
        let same: Vec<usize> = (0..8).filter(alike).collect();
        let behind = same.iter().map(|higher| self.behind(*higher)).max().unwrap_or(0);
        // A frame that started before a change was set.
        let frame = |higher: &usize| self.frames[*higher].map_or(0, |one| self.timing.time(one.wire_max));
        let frame = same.iter().map(frame).max().unwrap_or(0);
        let at_first = if self.is_open_at_first(class) { first } else { 0 };
        let blocked_once = self.blocking_once(class);
        let blocked_once =
            Once { more: blocked_once.more + self.unforeseen_time(self.guard(class)), ..blocked_once };
        CreditWindows {
            unearned,
            blocked: blocked_once.before(&blocked(open, &openings, error)),
            beside: beside(open, &closed, error, once.time),
            earning: Once { time: at_first, more: 0 }.before(&self.busy(class).most()),
            same: same.iter().fold(0, |all, higher| all | 1 << higher),
            gaps: gaps(&openings, behind, self.unforeseen_time(frame)),
            starts_slower: first > 0,
        }
    }

    /// When a class need not earn credit: while its gate is closed, and before that where a frame need not fit,
    /// depending on the device.
    fn unearned(&self, class: usize) -> Times {
        let (open, error, guard) = (&self.open[class], self.timing.error, self.guard(class));
        if open.is_all() {
            return open.others();
        }
        let guard = guard.saturating_add(error - self.timing.late);
        let within = |begin: u64, end: u64| {
            open.each(begin.max(end), |from, to| {
                Some((from + begin, to.checked_sub(end)?)).filter(|(from, to)| from < to)
            })
        };
        // Where a frame seems not to fit, too, before a change is set.
        let unforeseen = self.unforeseen.iter().filter(|_| self.credit.frozen_in_guard);
        let seems =
            unforeseen.map(|change| (change.differs.saturating_sub(guard + error), change.set + error));
        match (self.credit.frozen_when_closed, self.credit.frozen_in_guard) {
            (true, is_frozen) => {
                let earned = within(error, if is_frozen { guard } else { error });
                seems.fold(earned.others(), |unearned, part| unearned.with(part))
            }
            (false, true) => {
                let guards = open.grown(error, error).and(&within(0, guard).others());
                seems.fold(guards, |unearned, part| unearned.with(part))
            }
            (false, false) => open.and(&open.others()),
        }
    }

    /// What blocks a class once, when the first cycle opens its gate.
    fn blocking_once(&self, class: usize) -> Once {
        Once { time: 0, ..self.once(class) }
    }

    /// How much longer gates may be otherwise than a frame foresees that takes so long, all changes together.
    fn unforeseen_time(&self, frame: u64) -> u64 {
        let error = self.timing.error;
        let of = |change: &super::changes::Unforeseen| {
            let long = (change.set + frame + 2 * error).saturating_sub(change.differs);
            if long == 0 { 0 } else { long + 2 * error }
        };
        self.unforeseen.iter().map(of).sum()
    }

    fn openings_over_change(&self, class: usize) -> Openings {
        let guard = self.guard(class);
        self.open[class].stretches().map(|parts| {
            let opening = |part: (u64, u64)| Opening {
                to: part.1.min(part.0.saturating_add(LONG)),
                ..self.opening(class, guard, part)
            };
            parts.into_iter().map(opening).collect()
        })
    }
}

/// Of the time in which a gate is open, what is not usable: over that time alone.
fn blocked(open: &Times, openings: &Openings, error: u64) -> Curve {
    let all = Curve::least_of([Line { burst: 0, rate: TIME }]);
    // One that may be all blocked, and longer or shorter than in the list, is a time of which nothing is known here.
    let is_short = |one: &Opening| one.to - one.from <= one.blocked + one.guard + 4 * error;
    if error > 0 && openings.iter().flatten().any(is_short) {
        return all;
    }
    let [first, between, last] = openings.each_ref().map(|openings| {
        let (mut at, mut parts) = (0, Vec::new());
        for one in openings {
            // Each may be shorter than in the list; what is not usable of it is not.
            let length = (one.to - one.from).saturating_sub(2 * error).max(1);
            let (blocked, guard) = (one.blocked + 2 * error, one.guard + 2 * error);
            parts.push((at, at + blocked.min(length)));
            parts.push((at + length.saturating_sub(guard), at + length));
            at += length;
        }
        (at, parts)
    });
    // A list in which it always is has no openings.
    let periodic = |(length, parts): (u64, Vec<(u64, u64)>), is_all: bool| match length {
        0 if is_all => Some(Periodic::none(1)),
        0 => None,
        _ => Some(Periodic::of(length, parts)),
    };
    if !open.is_changed() {
        return periodic(last, false).map_or(all, |last| last.most());
    }
    let [first_is_all, last_is_all] = open.lists().map(Periodic::is_all);
    let Some((first, last)) = periodic(first, first_is_all).zip(periodic(last, last_is_all)) else {
        return all;
    };
    let parts = between.1.into_iter().map(|(from, to)| (ORIGIN + from, ORIGIN + to)).collect();
    Times::changed(first, (ORIGIN, ORIGIN + between.0), parts, last).most()
}

/// How much time passes at closed gates while they are open for a time, at most.
fn beside(open: &Times, closed: &Times, error: u64, once: u64) -> Line {
    let list = |(open, closed): (&Periodic, &Periodic)| {
        let parts = open.whole_parts().into_iter();
        let open: u64 = parts.map(|(from, to)| (to - from).saturating_sub(2 * error).max(1)).sum();
        // The total of a cycle at once is more than any window has in addition to that rate.
        (closed.total(), (u128::from(closed.total()) * u128::from(TIME)).div_ceil(u128::from(open.max(1))))
    };
    let lists = open.lists().into_iter().zip(closed.lists()).map(list);
    let (total, rate) =
        lists.fold((0, 0), |(total, rate), (of_list, share)| (of_list + total, share.max(rate)));
    let total =
        if open.is_changed() { total + closed.between() } else { list((open.last(), closed.last())).0 };
    let burst = u128::from(total.saturating_add(once)) * MICRO;
    Line { burst, rate: u64::try_from(rate).unwrap_or(u64::MAX) }
}

/// How much longer than gates are open frames may be on the line, in so much of that time: so long behind each close, and so long once.
fn gaps(openings: &Openings, behind: u64, once: u64) -> Line {
    let list = |openings: &[Opening]| {
        let open: u64 = openings.iter().map(|one| one.to - one.from).sum();
        let all = u128::from(behind) * openings.len() as u128;
        (all, (all * u128::from(TIME)).div_ceil(u128::from(open.max(1))))
    };
    let [first, between, last] = openings.each_ref().map(|openings| list(openings));
    let rate = u64::try_from(first.1.max(last.1)).unwrap_or(u64::MAX);
    Line { burst: (first.0 + between.0 + last.0 + u128::from(once)) * MICRO, rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::volume;

    /// Instants before and behind the change that are looked at.
    const AROUND: u64 = 120;

    #[test]
    fn what_is_not_usable_of_open_time_is_counted_over_a_change() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for case in 0..300 {
            let (one, two, between) = (4 + draw(20), 4 + draw(20), draw(30));
            let mut parts = |most: u64, count: u64| -> Vec<(u64, u64)> {
                let from = |draw: &mut dyn FnMut(u64) -> u64| draw(most.max(1));
                let part = |draw: &mut dyn FnMut(u64) -> u64| {
                    let from = from(draw);
                    (from, (from + 1 + draw(9)).min(most))
                };
                (0..=draw(count)).map(|_| part(&mut draw)).filter(|(from, to)| from < to).collect()
            };
            let (first, last) = (Periodic::of(one, parts(one, 3)), Periodic::of(two, parts(two, 3)));
            let middle =
                parts(between, 5).into_iter().map(|(from, to)| (ORIGIN + from, ORIGIN + to)).collect();
            let open = Times::changed(first, (ORIGIN, ORIGIN + between), middle, last);
            if open.lists().iter().any(|list| list.total() == 0) {
                continue;
            }
            let (begin, guard) = (draw(4), draw(4));
            let openings = open.stretches().map(|parts| {
                let opening = |(from, to): (u64, u64)| Opening { from, to, blocked: begin, guard };
                parts.into_iter().map(opening).collect::<Vec<_>>()
            });
            let curve = blocked(&open, &openings, 0);
            // Of each instant whether it is open, and of these whether it is not usable.
            let ends: Vec<Option<u64>> =
                (0..2 * AROUND + between).map(|at| open.end_of(ORIGIN - AROUND + at)).collect();
            let mut since = 0;
            let of = |(at, end): (usize, &Option<u64>)| {
                let Some(end) = *end else {
                    since = at as u64 + 1;
                    return (0, 0);
                };
                let at = at as u64;
                let left = end - (ORIGIN - AROUND + at);
                // Where the first one begins is not seen.
                let is_blocked = since > 0 && at - since < begin;
                (1, u64::from(is_blocked || left <= guard))
            };
            let instants: Vec<(u64, u64)> = ends.iter().enumerate().map(of).collect();
            for from in 0..instants.len() {
                let (mut length, mut taken) = (0, 0);
                for (is_open, is_taken) in &instants[from..] {
                    (length, taken) = (length + is_open, taken + is_taken);
                    let most = curve.lines().iter().map(|line| line.burst + volume(line.rate, length)).min();
                    let most = most.expect("a curve has lines");
                    assert!(most >= u128::from(taken) * MICRO, "case {case}: {taken} of {length}, {most}");
                }
            }
            // And how long it is closed meanwhile.
            let closed = open.others();
            let line = beside(&open, &closed, 0, 0);
            for from in 0..instants.len() {
                let (mut length, mut shut) = (0, 0);
                for (is_open, _) in &instants[from..] {
                    (length, shut) = (length + is_open, shut + 1 - is_open);
                    assert!(
                        line.burst + volume(line.rate, length) >= u128::from(shut) * MICRO,
                        "case {case}"
                    );
                }
            }
        }
    }
}
