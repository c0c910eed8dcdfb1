//! Slack: what is kept of a passage, or of what a class sends, may stand above what was last proven of it.
//!
//! A bound at a port is proven for all that may come within what the ports before it are known to let through.
//! If more is assumed of these than they let through, the bound is greater and still a bound. So what is kept need
//! not follow each change: a change that stays below it ends there, and nothing behind it is evaluated. Invariant
//! of a session with slack: every time and burst that is kept is at least the one that follows from those kept
//! before it; where all are equal, the bounds are those of the whole analysis.
//!
//! Slack is given when what is kept is exceeded: a part of the time itself, but of a stream with a deadline no more
//! than a share of what its deadline leaves.

use crate::analysis::Analysis;
use crate::curve::{Line, volume};
use crate::passage::{Brought, Passage, Shaped};
use crate::plan::NONE;
use crate::port_plan::Selection;
use crate::result::Method;

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
        let stream = analysis.plan.stream(of.stream);
        let mut slack = sending >> self.shift;
        if let Some(deadline) = stream.deadline {
            let Some(delay) = analysis.delay_max(of.stream) else { return new };
            let grown = delay.as_ps().saturating_add(next.saturating_sub(before));
            // Two of them at each hop take half of what is left.
            let share = 4 * stream.hops.len() as u64;
            slack = slack.min(deadline.as_ps().saturating_sub(grown) / share);
        }
        // What comes to a scheduler stays as it is: more than its bucket holds would not be covered by it. At a
        // talker nothing comes later.
        let class = analysis.plan.port(of.port).classes[usize::from(of.class)].0;
        let ready = if of.previous == NONE || class == Selection::Ats { 0 } else { slack };
        new.later(ready, slack)
    }

    /// What to keep of what a class sends, that is no longer within what is `known` of it.
    pub(crate) fn widened_output(self, known: Option<Line>, new: Option<Line>) -> Option<Line> {
        known
            .and(new)
            .map_or(new, |line| Some(Line { burst: line.burst + (line.burst >> self.shift), ..line }))
    }
}

impl Passage {
    /// Whether all that later ports and listeners take from a passage is within what is kept in this one.
    pub(crate) fn holds(&self, new: &Self) -> bool {
        let shaped = |kept: &Shaped, new: &Shaped| {
            (kept.line, kept.tagged, kept.origin_min) == (new.line, new.tagged, new.origin_min)
                && new.way_max <= kept.way_max
        };
        (self.reason, self.hop_reason) == (new.reason, new.hop_reason)
            && (self.method == Method::None) == (new.method == Method::None)
            && within(self.ready_max, new.ready_max)
            && within(self.next_max, new.next_max)
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
            next_max: add(self.next_max, ready + sending),
            hop_max: add(self.hop_max, ready + sending),
            sending_max: add(self.sending_max, sending),
            queued: Brought { promised: grown(self.queued.promised), shaped: grown(self.queued.shaped) },
            shaped: self
                .shaped
                .map(|shaped| Shaped { way_max: shaped.way_max.saturating_add(ready + sending), ..shaped }),
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
