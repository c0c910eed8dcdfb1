//! Slack: kept values of a passage, of a class's output or its interference with lower ones, or of the terms by which
//! its entries pass, may be above the last proven ones.
//!
//! A bound at a port is proven for all arrivals within the known output of the ports before it. If a greater output is
//! assumed, the bound is greater and still a bound. So a kept value need not follow each change: a change that stays
//! below it ends there, and nothing behind it is evaluated. Invariant of a session with slack: every kept time and
//! burst is at least the one that follows from those kept before it; where all are equal, the bounds are those of the
//! complete analysis.
//!
//! Slack is added when a kept value is exceeded: a part of the time itself; for a stream with a deadline no more than
//! a share of the time that its deadline leaves. The slack of a class's terms is added to all its entries together, so
//! that they are exceeded together; an entry whose deadline leaves less passes by the terms without it.

use crate::analysis::Analysis;
use crate::contribution::Offered;
use crate::curve::{Curve, Line, volume};
use crate::passage::{Brought, Passage, Shaped};
use crate::plan::{Entry, NONE};
use crate::port::{Above, Candidates, ClassTerms};
use crate::port_plan::{PortPlan, Selection};
use crate::queue_bound::QueueBound;
use crate::result::Method;

use tautwire_units::Bytes;

/// How much slack is given: a time in `2^shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slack {
    pub(crate) shift: u32,
}

impl Slack {
    /// What to keep of a passage that is no longer within what is `known` of it.
    pub(crate) fn widened(
        self,
        analysis: &Analysis<'_>,
        entry: u32,
        known: &Passage,
        new: Passage,
    ) -> Passage {
        // Of a stream that has just come it is not known what its deadline leaves.
        if known.method == Method::None || new.method == Method::None {
            return new;
        }
        let (Some(sending), Some(next), Some(before)) = (new.sending_max, new.next_max, known.next_max)
        else {
            return new;
        };
        let of = &analysis.plan.entries[entry as usize];
        let mut slack = sending >> self.shift;
        if analysis.plan.stream(of.stream).deadline.is_some() {
            let Some(delay) = analysis.delay_max(of.stream) else { return new };
            let grown = delay.as_ps().saturating_add(next.saturating_sub(before));
            slack = slack.min(Self::share(analysis, of, grown));
        }
        let ready = if Self::is_on_time(analysis, of) { 0 } else { slack };
        new.later(ready, slack)
    }

    /// What to keep of a passage by the terms of its class with `more` slack; none if its deadline leaves less.
    pub(crate) fn with_class(
        self,
        analysis: &Analysis<'_>,
        entry: u32,
        new: Passage,
        more: u64,
    ) -> Option<Passage> {
        let (Some(sending), Some(next)) = (new.sending_max, new.next_max) else { return Some(new) };
        let of = &analysis.plan.entries[entry as usize];
        let mut slack = sending >> self.shift;
        if analysis.plan.stream(of.stream).deadline.is_some() {
            let known = &analysis.passages[entry as usize];
            // Of a stream that has just come no more is known than its way up to here.
            let (delay, before) = match known.method {
                Method::None => (next, next),
                _ => (analysis.delay_max(of.stream)?.as_ps(), known.next_max?),
            };
            let grown = delay.saturating_add(next.saturating_sub(before));
            let share = Self::share(analysis, of, grown.saturating_sub(more));
            if share < more {
                return None;
            }
            slack = slack.min(share);
        }
        let ready = if Self::is_on_time(analysis, of) { 0 } else { slack };
        Some(new.later(ready, 0))
    }

    /// The part of what a stream's deadline leaves that it may lose at one hop twice: all take half of it.
    fn share(analysis: &Analysis<'_>, of: &Entry, delay: u64) -> u64 {
        let stream = analysis.plan.stream(of.stream);
        let left = stream.deadline.map_or(u64::MAX, |deadline| deadline.as_ps().saturating_sub(delay));
        left / (4 * stream.hops.len() as u64)
    }

    /// What comes to a scheduler stays as it is: more than its bucket holds would not be covered by it. At a
    /// talker nothing comes later.
    fn is_on_time(analysis: &Analysis<'_>, of: &Entry) -> bool {
        let class = analysis.plan.port(of.port).classes[usize::from(of.class)].0;
        of.previous == NONE || class == Selection::Ats
    }

    /// What to keep of what a class sends, that is no longer within what is `known` of it.
    pub(crate) fn widened_output(self, known: Option<Line>, new: Option<Line>) -> Option<Line> {
        known
            .and(new)
            .map_or(new, |line| Some(Line { burst: line.burst + (line.burst >> self.shift), ..line }))
    }
}

impl Above {
    /// Whether what goes before the classes below is within what is kept in this.
    pub(crate) fn holds(&self, new: &Self) -> bool {
        let covers =
            |kept: &Offered, new: &Offered| kept.plain.covers(&new.plain) && kept.shaped.covers(&new.shaped);
        self.reason == new.reason && covers(&self.offered, &new.offered)
    }

    /// With slack, at a port that serves at `rate`.
    pub(crate) fn widened(&self, slack: Slack, rate: u64) -> Self {
        let Offered { plain, shaped, .. } = &self.offered;
        let grown = |curve: &Curve| curve.grown(slack.shift, rate);
        let offered = Offered::by_curves(grown(plain), grown(shaped));
        Self { offered, reason: self.reason, parts: self.parts.clone(), held: self.held.clone() }
    }
}

impl ClassTerms {
    /// Whether no frame between two sizes waits longer by new terms than by these. By each bound the wait falls
    /// linearly with the frame's bits, or is none: where both ends are below, all between are.
    pub(crate) fn holds(&self, new: &Self, plan: &PortPlan, (least, most): (Bytes, Bytes)) -> bool {
        let alike = (self.method, self.reason, self.used) == (new.method, new.reason, new.used)
            && self.shaper.is_some() == new.shaper.is_some()
            && self.lanes.len() == new.lanes.len();
        if !alike {
            return false;
        }
        let (least, most) = (self.bits(plan, least), self.bits(plan, most));
        // The values that are rounded to picoseconds, at either end and between.
        let below = |new: &QueueBound, kept: &QueueBound, bits: u64| {
            new.start_max(bits)
                .zip(kept.start_max(bits))
                .is_some_and(|(new, kept)| new.saturating_add(2) <= kept)
        };
        let covers = |kept: &QueueBound, new: &Candidates| {
            let is_line = kept.rate >= 1_000_000 && kept.is_line_up_to(most);
            let under = |new: &&QueueBound| {
                *new == kept
                    || (is_line && new.rate >= 1_000_000 && below(new, kept, least) && below(new, kept, most))
            };
            new.iter().any(|new| under(&new))
        };
        self.lanes.iter().zip(&new.lanes).all(|((lane, kept), (of, new))| {
            let is_bounded = !kept.is_empty();
            lane == of && is_bounded != new.is_empty() && kept.iter().all(|kept| covers(kept, new))
        })
    }

    /// With slack, of so much in true time; `least` is the smallest frame.
    pub(crate) fn widened(&self, slack: Slack, plan: &PortPlan, least: Bytes) -> (Self, u64) {
        let mut kept = self.clone();
        let bits = self.bits(plan, least);
        let mut most = 0;
        for (_, bounds) in &mut kept.lanes {
            let start = bounds.iter().filter_map(|bound| bound.start_max(bits)).min();
            let more = start.unwrap_or(0) >> slack.shift;
            most = most.max(more);
            for bound in bounds.iter_mut() {
                bound.slack = bound.slack.saturating_add(more);
            }
        }
        (kept, plan.deviation.stretch(most))
    }
}

impl Passage {
    /// Whether all that later ports and listeners take from a passage is within what is kept in this one.
    pub(crate) fn holds(&self, new: &Self) -> bool {
        let shaped = |kept: &Shaped, new: &Shaped| {
            (kept.line, kept.tagged, kept.origin_min) == (new.line, new.tagged, new.origin_min)
                && new.way_max <= kept.way_max
                && new.spread <= kept.spread
        };
        (self.reason, self.hop_reason) == (new.reason, new.hop_reason)
            && (self.method == Method::None) == (new.method == Method::None)
            && within(self.ready_max, new.ready_max)
            && within(self.start_max, new.start_max)
            && within(self.next_max, new.next_max)
            && within(self.spread_max, new.spread_max)
            && within(self.hop_max, new.hop_max)
            && within(self.sending_max, new.sending_max)
            && line_within(self.queued.promised, new.queued.promised)
            && line_within(self.queued.shaped, new.queued.shaped)
            && match (&self.shaped, &new.shaped) {
                (Some(kept), Some(new)) => shaped(kept, new),
                (None, None) => true,
                _ => false,
            }
    }

    /// As if it came later to its queue by `ready`, and took longer from there by `sending`.
    fn later(self, ready: u64, sending: u64) -> Self {
        let add = |time: Option<u64>, more: u64| time.map(|time| time.saturating_add(more));
        let grown = |line: Option<Line>| {
            line.map(|line| Line { burst: line.burst + volume(line.rate, ready), ..line })
        };
        Self {
            ready_max: add(self.ready_max, ready),
            start_max: add(self.start_max, ready + sending),
            next_max: add(self.next_max, ready + sending),
            spread_max: add(self.spread_max, ready + sending),
            hop_max: add(self.hop_max, ready + sending),
            sending_max: add(self.sending_max, sending),
            queued: Brought { promised: grown(self.queued.promised), shaped: grown(self.queued.shaped) },
            shaped: self.shaped.map(|shaped| Shaped {
                way_max: shaped.way_max.saturating_add(ready + sending),
                spread: shaped.spread.saturating_add(ready + sending),
                ..shaped
            }),
            ..self
        }
    }
}

/// Whether a time is within one that is kept, and is bounded if that is.
fn within(kept: Option<u64>, new: Option<u64>) -> bool {
    match (kept, new) {
        (Some(kept), Some(new)) => new <= kept,
        (None, None) => true,
        _ => false,
    }
}

/// Whether a line is within one that is kept, and has its rate.
pub(crate) fn line_within(kept: Option<Line>, new: Option<Line>) -> bool {
    match (kept, new) {
        (Some(kept), Some(new)) => kept.rate == new.rate && new.burst <= kept.burst,
        (None, None) => true,
        _ => false,
    }
}
