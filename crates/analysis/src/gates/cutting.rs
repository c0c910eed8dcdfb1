//! Gates of a port that preempts (IEEE Std 802.1Q-2022, 6.7.2, 8.6.8.4 and 12.30): what cuts and holds leave of the windows.
//!
//! An express class is as behind gates alone, except that a preemptable frame keeps it off for no longer than what of it is not cut, and not at all while the MAC
//! *holds* preemptable frames and nothing of them is left ([`Cutting::quiet`]). A preemptable class may start outside of holds alone. What has begun goes on
//! whether its gate is open or not, so where frames may be cut, or wait for a release, a rest may *linger* in the windows of another class: at each begin of a
//! part of its windows a class waits for the rest of one lower frame, whole, with the head of a continuation. Express frames and this rest share the time from
//! the begin on, and each part counts whole, so both are taken from all of it. Behind the start a frame waits for express frames, cuts and holds
//! ([`Pushed`]). Lists that change have no bound here. Not here: express classes' windows, which are `port.rs`.

use tautwire_core::gates::{GateParameters, HoldAdvances, Operation};

use super::periodic::Periodic;
use super::port::Gated;
use crate::curve::{Curve, Line, MICRO};
use crate::precedence::Precedence;
use crate::windows::Pushed;

/// What a MAC merge sublayer does behind the gates of a port.
#[derive(Clone, Debug)]
pub(super) struct Cutting {
    pub(super) precedence: Precedence,
    /// When preemptable frames may be held.
    held: Periodic,
    /// When they surely are, and nothing of them is left on the line.
    quiet: Periodic,
    /// Whether a preemptable frame may be on the line that was cut, or was held, while the gate of its class was open.
    lingers: bool,
}

/// Holds as the list of a port asks for them, by its cycle.
pub(super) struct Holds<'a> {
    pub(super) parameters: &'a GateParameters,
    pub(super) advances: HoldAdvances,
    /// By how much these may be longer or shorter in the time in which windows are known.
    pub(super) drift: u64,
}

impl Holds<'_> {
    /// From each request that changes something to the release behind it, in a cycle that begins with the MAC holding or not; the entry that asks and the one
    /// that lets go, if there is one in the cycle.
    fn of_cycle(&self, mut from: Option<u64>) -> (Vec<(u64, Option<u64>)>, bool) {
        let end = self.parameters.cycle_time.ceil().as_ps();
        let (mut at, mut found) = (0_u64, Vec::new());
        for entry in &self.parameters.control_list {
            if at >= end {
                break;
            }
            match (entry.operation, from) {
                (Operation::SetAndHoldMac, None) => from = Some(at),
                (Operation::SetAndReleaseMac, Some(begun)) => {
                    found.push((begun, Some(at)));
                    from = None;
                }
                _ => {}
            }
            at = at.saturating_add(entry.time_interval.as_ps());
        }
        found.extend(from.map(|begun| (begun, None)));
        (found, from.is_some())
    }

    /// The longest that the MAC holds, if edges are off by `error`, and time that a cut takes behind.
    fn held(&self, error: u64, cut: u64) -> Periodic {
        let period = self.parameters.cycle_time.floor().as_ps();
        let ends_held = self.of_cycle(None).1;
        let (holds, _) = self.of_cycle(ends_held.then_some(0));
        let before = error.saturating_add(self.advances.hold.as_ps());
        let behind = error.saturating_add(self.advances.release.as_ps()).saturating_add(cut);
        // One without an end is held until the next cycle, which begins so.
        let parts = holds.iter().map(|(from, to)| (*from, to.unwrap_or(period).max(from + 1)));
        let within = Periodic::of(period, parts);
        within.grown(before, behind)
    }

    /// When it surely holds, and so long that what was on the line is out.
    fn quiet(&self, error: u64, rest: u64) -> Periodic {
        let period = self.parameters.cycle_time.floor().as_ps();
        // In the first cycle it holds nothing at the begin.
        let (holds, _) = self.of_cycle(None);
        let least = error.saturating_add(rest).saturating_sub(self.advances.hold.as_ps());
        // What is more than that cannot be quiet before the cycle with the entry begins.
        let parts = holds.iter().filter_map(|(from, to)| {
            let (from, to) = (from + least, to.unwrap_or(period).saturating_sub(error));
            (from < to).then_some((from, to))
        });
        Periodic::of(period, parts)
    }
}

impl Cutting {
    /// Of a port whose other properties are known.
    pub(super) fn of(gated: &Gated, precedence: Precedence, holds: &Holds<'_>) -> Self {
        let timing = &gated.timing;
        let cut = timing.time(precedence.cut_bits);
        let error = timing.error.saturating_add(holds.drift);
        let held = holds.held(error, cut);
        let quiet = holds.quiet(error, timing.time(precedence.blocking_max));
        #[cfg(feature = "planted-faults")]
        let held = match gated.fault {
            Some(crate::PlantedFault::HoldsForgotten) => Periodic::none(held.period()),
            _ => held,
        };
        let busy = |cut: bool| {
            let used = |class: &usize| gated.frames[*class].is_some() && precedence.is_cut(*class) == cut;
            let none = Periodic::none(held.period());
            (0..8).filter(used).fold(none, |all, class| all.or(gated.busy(class).last()))
        };
        let (express, cut) = (busy(false), busy(true));
        let lingers = timing.first > 0 || cut.and(&express.or(&held)).total() > 0;
        Self { precedence, held, quiet, lingers }
    }

    /// When a preemptable frame may keep off a class.
    pub(super) fn on_line(&self, gated: &Gated, lower: usize, class: usize) -> Periodic {
        if !self.lingers {
            gated.busy(lower).last().clone()
        } else if self.precedence.is_cut(class) {
            Periodic::all(self.quiet.period())
        } else {
            self.quiet.others()
        }
    }

    /// Whether what of a class is on the line says nothing of its gate.
    pub(super) fn is_anywhere(&self, class: usize) -> bool {
        self.lingers && self.precedence.is_cut(class)
    }

    /// Whether a preemptable class may always start.
    pub(super) fn is_never_held(&self) -> bool {
        self.held.total() == 0
    }

    /// When frames of a preemptable class may start that have `guard` before each close: with the rests of others, and without what these leave.
    pub(super) fn starts(&self, gated: &Gated, class: usize, guard: u64) -> (Periodic, Periodic) {
        let (open, error) = (gated.open[class].last(), gated.timing.error);
        let parts = open.whole_parts().into_iter().filter_map(|(from, to)| {
            let to = (to + u64::from(guard > 0)).checked_sub(guard.saturating_add(error))?;
            (from + error < to).then_some((from + error, to))
        });
        let may = if open.is_all() { open.clone() } else { Periodic::of(open.period(), parts) };
        let may = may.and(&self.held.others());
        if may.is_all() {
            return (may.clone(), may);
        }
        let rest = self.rest(gated, class);
        let left = may.whole_parts().into_iter().filter_map(|(from, to)| {
            let from = from.saturating_add(rest);
            (from < to).then_some((from, to))
        });
        let left = Periodic::of(may.period(), left);
        (may, left)
    }

    /// What of frames that have begun may go on before a class when it may start.
    fn rest(&self, gated: &Gated, class: usize) -> u64 {
        #[cfg(feature = "planted-faults")]
        if gated.fault == Some(crate::PlantedFault::OpeningsUnblocked) {
            return 0;
        }
        let lower = gated.below(class).map(|(_, frames)| gated.timing.time(frames.wire_max)).max();
        let head = if self.lingers { gated.timing.time(self.precedence.cut_bits) } else { 0 };
        lower.unwrap_or(0).saturating_add(head).saturating_add(gated.timing.error)
    }

    /// How much of some time a class has that cuts another, with what partial frames at the ends of its parts add.
    pub(super) fn share(&self, gated: &Gated, class: usize, of: &Periodic) -> Option<Curve> {
        let busy = gated.busy(class).last().clone();
        // Before the first cycle gates have other states.
        if gated.timing.first > 0 || busy.is_all() {
            return None;
        }
        let share = busy.and(of);
        if share.total() == 0 {
            return Some(Curve::zero());
        }
        let cuts = 2 * gated.timing.time(self.precedence.cut_bits);
        let more = |line: &Line| Line { burst: line.burst + u128::from(cuts) * MICRO, ..*line };
        Some(Curve::least_of(share.grown(0, cuts).most().lines().iter().map(more)))
    }

    /// What may keep a frame of a class on the line that has begun.
    pub(super) fn pushed(&self, gated: &Gated, class: usize) -> Option<Pushed> {
        if !self.is_anywhere(class) {
            return None;
        }
        let all = Periodic::all(self.held.period());
        let by = |other: usize| {
            let cuts = self.precedence.cuts(other, class) && gated.frames[other].is_some();
            cuts.then(|| self.share(gated, other, &all)).flatten()
        };
        Some(Pushed { held: self.held.most(), by: std::array::from_fn(by) })
    }
}
