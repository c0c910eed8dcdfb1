//! From the gates of a port to the windows of its classes.
//!
//! In: when the gate of each class is open in a cycle, the frame sizes of each, and the device's behaviour. Out: the
//! time that is taken from each class, and how much of the rest each class above can have (`windows.rs`).
//!
//! A frame that starts at the latest possible instant ends with the gate: the *guard* before a close is the time of
//! the largest frame of the class, preamble and start delimiter included, and is taken in full (802.1Q-2022, 8.6.8.4).
//! A frame in transmission when the gate opens continues: *blocking* at every opening, by a lower frame if the gate of
//! its class is open across it, until that gate closes at the latest, and by the gap after it. Edges may differ from
//! those of the list by the error of clocks and ticks ([`Timing::error`]). What is left is spent on whole frames
//! (`Gated::regained`). Before the first cycle `admin-gate-states` holds: a class that is closed then has that time taken once; one that is open has less taken than in any cycle.
//! Source: IEEE Std 802.1Q-2022, 8.6.8.4 and 8.6.9; time-division curve of Zhao, Pop and Craciunas, IEEE Access 2018,
//! with frames kept whole and any overlap.

use std::sync::Arc;

use super::changes::Unforeseen;
use super::cutting::Cutting;
use super::periodic::{Once, Periodic, Regained, least_of_frames};
use super::times::Times;
use crate::clock::PS_PER_S;
use crate::curve::{Curve, Line};
use crate::unbounded::Unbounded;
use crate::windows::{ClassWindows, Taken};

/// Bits of the gap behind a frame.
pub(super) const GAP: u64 = 96;

/// How a frame is kept from being sent while its gate shuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// It starts only if a frame of the class as large as this, or as the largest that comes, would end before.
    Frame(Option<u64>),
    /// It is not.
    None,
}

/// The frames of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames {
    /// The largest, bits of the wire.
    pub(super) wire_max: u64,
    pub(super) guard: Guard,
}

/// Times of a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Bits per second of the line, and picoseconds that each frame takes beyond it.
    pub(super) rate: u64,
    pub(super) lost: u64,
    /// By how much an edge of a gate may differ from the list, earlier or later.
    pub(super) error: u64,
    /// How much of that makes edges later and never earlier.
    pub(super) late: u64,
    /// How long the first cycle may be ahead when the port begins.
    pub(super) first: u64,
}

impl Timing {
    /// The time of so many bits, rounded up.
    pub(super) fn time(&self, bits: u64) -> u64 {
        let ps = (u128::from(bits) * PS_PER_S).div_ceil(u128::from(self.rate));
        u64::try_from(ps).unwrap_or(u64::MAX).saturating_add(self.lost)
    }
}

/// The behaviour of credit at a gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    pub(super) frozen_when_closed: bool,
    pub(super) frozen_in_guard: bool,
}

/// A port with gates.
#[derive(Clone, Debug)]
pub(super) struct Gated {
    pub(super) timing: Timing,
    /// When the gate of each class is open.
    pub(super) open: [Times; 8],
    /// Changes of its list that frames in transmission may not have known of.
    pub(super) unforeseen: Vec<Unforeseen>,
    /// Bit *n*: that of class *n* is open before the first cycle.
    pub(super) at_first: u8,
    /// The classes that have frames.
    pub(super) frames: [Option<Frames>; 8],
    /// Of each stream of a class the smallest and the largest frame, bits of the wire.
    pub(super) sizes: [Vec<(u64, u64)>; 8],
    pub(super) credit: Credit,
    /// Whether the rest of a frame of a class above whose gate has shut counts as time that is not usable, and not as a frame above.
    pub(super) keeps_off_rests: bool,
    /// What preemption does to them, if the port preempts.
    pub(super) cutting: Option<Cutting>,
    #[cfg(feature = "planted-faults")]
    pub(super) fault: Option<crate::PlantedFault>,
}

/// An interval in which a gate is open, and what of it is not usable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub(super) from: u64,
    pub(super) to: u64,
    /// From its begin on, for as long as something else may be under way.
    pub(super) blocked: u64,
    /// Before its end, in which a frame need not fit.
    pub(super) guard: u64,
}

impl Gated {
    /// Whether a gate never shuts, not before the first cycle either.
    pub(super) fn is_open(&self, class: usize) -> bool {
        let is_held = self.cut_by(class).is_some_and(|cutting| !cutting.is_never_held());
        !is_held && self.open[class].is_all() && (self.timing.first == 0 || self.is_open_at_first(class))
    }

    pub(super) fn is_open_at_first(&self, class: usize) -> bool {
        self.at_first & (1 << class) != 0
    }

    /// The time that is taken once, before the first cycle.
    pub(super) fn once(&self, class: usize) -> Once {
        if self.timing.first == 0 || self.is_open_at_first(class) {
            return Once::default();
        }
        let lower = self.below(class).map(|(_, frames)| self.timing.time(frames.wire_max)).max().unwrap_or(0);
        let rest = self.cut_by(class).map_or(0, |cutting| self.timing.time(cutting.precedence.cut_bits));
        Once { time: self.timing.first, more: lower + rest }
    }

    /// The classes that do not go before one, and what their frames keep it off for.
    pub(super) fn below(&self, class: usize) -> impl Iterator<Item = (usize, Frames)> {
        let blocks = move |lower: usize, wire_max: u64| match &self.cutting {
            Some(cutting) => cutting.precedence.blocks((lower, wire_max), class),
            None if lower < class => wire_max,
            None => 0,
        };
        let lower = move |lower: usize| {
            let frames = self.frames[lower]?;
            let wire_max = blocks(lower, frames.wire_max);
            (wire_max > 0).then_some((lower, Frames { wire_max, ..frames }))
        };
        (0..8).filter_map(lower)
    }

    /// Whether frames of a class go before those of another.
    pub(super) fn goes_before(&self, other: usize, own: usize) -> bool {
        self.cutting.as_ref().map_or(other > own, |cutting| cutting.precedence.goes_before(other, own))
    }

    /// What cuts frames of a class, if anything does.
    fn cut_by(&self, class: usize) -> Option<&Cutting> {
        self.cutting.as_ref().filter(|cutting| cutting.precedence.is_cut(class))
    }

    /// When a lower class may keep another off.
    fn on_line(&self, lower: usize, class: usize) -> Times {
        match self.cut_by(lower) {
            Some(cutting) => cutting.on_line(self, lower, class).into(),
            None => self.busy(lower),
        }
    }

    /// The guard of a class: from this time before its gate closes, its frames may not start.
    pub(super) fn guard(&self, class: usize) -> u64 {
        self.frames[class].map_or(0, |frames| self.guard_of(class, frames.wire_max))
    }

    /// The same of its frames that are not larger, in bits of the wire.
    pub(super) fn guard_of(&self, class: usize, wire_max: u64) -> u64 {
        #[cfg(feature = "planted-faults")]
        if self.fault == Some(crate::PlantedFault::GateGuardForgotten) {
            return 0;
        }
        match self.frames[class].map(|frames| frames.guard) {
            Some(Guard::Frame(of)) => self.timing.time(of.unwrap_or(wire_max) - GAP),
            Some(Guard::None) | None => 0,
        }
    }

    /// For how long something else may be under way when the gate of a class opens.
    fn blocking(&self, class: usize, opens: u64) -> u64 {
        #[cfg(feature = "planted-faults")]
        if self.fault == Some(crate::PlantedFault::OpeningsUnblocked) {
            return 0;
        }
        let Some(before) = opens.checked_sub(1) else { return 0 };
        let lower = self.below(class).map(|(lower, frames)| {
            #[cfg(feature = "planted-faults")]
            let is_forgotten = self.fault == Some(crate::PlantedFault::RestAtOpeningForgotten);
            #[cfg(feature = "planted-faults")]
            if is_forgotten && self.cut_by(lower).is_some() {
                return 0;
            }
            let wire = self.timing.time(frames.wire_max);
            // Its gate may be open a little longer, or open a little earlier, than that of the class in the list.
            let busy = self.on_line(lower, class).grown(self.timing.error, self.timing.error);
            if busy.is_all() {
                return wire;
            }
            busy.end_of(before).map_or(0, |end| wire.min(end.saturating_sub(opens)))
        });
        lower.max().unwrap_or(0).max(self.rest_above(class, opens))
    }

    /// For how long the last frame or gap of a class above, whose gate shuts by then, may be on the line when the gate of a class has opened for certain.
    fn rest_above(&self, class: usize, opens: u64) -> u64 {
        if !self.keeps_off_rests {
            return 0;
        }
        let rest = |higher: usize| {
            self.frames[higher].filter(|_| self.goes_before(higher, class))?;
            let (busy, error) = (self.busy(higher), self.timing.error);
            let end = if busy.is_all() { None } else { busy.end_of(opens + error) }?;
            let rest = end - opens - error;
            (rest <= self.behind(higher)).then_some(rest)
        };
        (0..8).filter_map(rest).max().unwrap_or(0)
    }

    /// An interval in which its gate is open, with this guard before each close.
    pub(super) fn opening(&self, class: usize, guard: u64, (from, to): (u64, u64)) -> Opening {
        let error = self.timing.error;
        let blocked = self.blocking(class, from).saturating_add(error);
        Opening { from, to, blocked, guard: guard.saturating_add(error - self.timing.late) }
    }

    /// Instants at which each of its frames may start, and does where nothing of a higher class and none of its own goes first.
    pub(super) fn usable(&self, class: usize) -> Times {
        self.usable_before(class, self.guard(class))
    }

    /// The same with another guard before each close.
    pub(super) fn usable_before(&self, class: usize, guard: u64) -> Times {
        let (open, error) = (&self.open[class], self.timing.error);
        if let Some(cutting) = self.cut_by(class) {
            return cutting.starts(self, class, guard).1.into();
        }
        if open.is_all() {
            return open.clone();
        }
        let lower = self.below(class).map(|(_, frames)| self.timing.time(frames.wire_max)).max().unwrap_or(0);
        let usable = open.each(lower + guard + error + 1, |from, to| {
            let one = self.opening(class, guard, (from, to));
            let from = one.from.saturating_add(one.blocked);
            // At the last instant from which a frame ends with the gate it may start, and with the gate none.
            let last = u64::from(guard > 0);
            let to = (one.to + last).checked_sub(one.guard)?;
            (from < to).then_some((from, to))
        });
        // Before a change is set, the gate may seem to close where it does not.
        let seems = self.unforeseen.iter().filter(|change| change.differs < change.set + guard + 2 * error);
        seems.fold(usable, |usable, change| {
            usable.without((change.differs.saturating_sub(guard + error), change.set + error))
        })
    }

    /// When frames of a class may be on the line.
    pub(super) fn busy(&self, class: usize) -> Times {
        let error = self.timing.error;
        let early = error - self.timing.late;
        let foreseen = self.open[class].grown(early, error.saturating_add(self.behind(class)));
        let Some(frames) = self.frames[class] else { return foreseen };
        // One that started before a change was set ends whatever its gate does.
        let frame = self.timing.time(frames.wire_max) + error;
        let late = self.unforeseen.iter().filter(|change| change.differs < change.set + frame + error);
        late.fold(foreseen, |busy, change| {
            busy.with((change.differs.saturating_sub(error), change.set + frame))
        })
    }

    /// For how long after its gate has shut a frame of a class, or the gap behind it, may be on the line.
    pub(super) fn behind(&self, class: usize) -> u64 {
        match self.frames[class] {
            Some(Frames { guard: Guard::None, wire_max }) => self.timing.time(wire_max),
            _ => self.timing.time(GAP),
        }
    }

    /// When a class may send; `at` names its port and class to whoever has no bound.
    pub(super) fn windows(
        &self,
        (class, is_credit): (usize, bool),
        never: &Unbounded,
        overload: &Unbounded,
    ) -> ClassWindows {
        let usable = self.usable(class);
        let is_open = self.is_open(class);
        let once = self.once(class);
        let busy = self.busy(class);
        let is_anywhere = self.cut_by(class).is_some_and(|cutting| cutting.is_anywhere(class));
        let regained = if is_credit { None } else { self.regained(class, &usable) };
        // Up to the end of what is worked for certain.
        let worked = match &regained {
            Some(regained) => regained.worked().into(),
            None => usable.clone(),
        };
        let above = |higher: usize| {
            let is_above = self.goes_before(higher, class) && self.frames[higher].is_some();
            let is_limited = is_above && !self.open[higher].is_all();
            is_limited.then(|| self.meets((higher, class), (&usable, &worked))).flatten()
        };
        let taken = match &regained {
            Some(regained) => {
                Taken { curve: once.before(&regained.most()), jumps: Some(Arc::new(regained.jumps(once))) }
            }
            None => taken(&usable.others(), once),
        };
        ClassWindows {
            is_open,
            later: 0,
            taken,
            above: std::array::from_fn(above),
            blocking_bits: self.lower_frame(class, &usable),
            unbounded: (!usable.comes_again()).then(|| never.clone()),
            overload: overload.clone(),
            sent: (!is_open && !is_anywhere).then(|| self.sent(class, &busy)).flatten(),
            credit: self.credit(class),
            pushed: self.cut_by(class).and_then(|cutting| cutting.pushed(self, class)),
        }
    }

    /// The same from an instant on at which no lower frame is under way, and the first cycle has begun; none where that is more than is known.
    pub(super) fn windows_later(
        &self,
        class: usize,
        never: &Unbounded,
        overload: &Unbounded,
    ) -> Option<ClassWindows> {
        let time = |frames: &Frames| self.timing.time(frames.wire_max);
        let lower = self.below(class).map(|(_, frames)| time(&frames)).max().unwrap_or(0);
        let any = self.frames.iter().flatten().map(time).max().unwrap_or(0);
        // A frame that has begun before the first cycle may be any.
        let later = if self.timing.first > 0 { self.timing.first.saturating_add(any) } else { lower };
        if later == 0 || self.cutting.is_some() {
            return None;
        }
        #[cfg(feature = "planted-faults")]
        let later = if self.fault == Some(crate::PlantedFault::WindowsAtOnce) { 1 } else { later };
        let timing = Timing { first: 0, ..self.timing };
        let in_cycles = Self { timing, keeps_off_rests: true, ..self.clone() };
        let windows = in_cycles.windows((class, false), never, overload);
        Some(ClassWindows { later, blocking_bits: 0, ..windows })
    }

    /// The time that is not usable, less what is sent in it for certain; none where nothing is known of that.
    ///
    /// Proof. While a frame of the class waits, usable time is spent on whole frames of it and of classes that go before it, one behind the other from
    /// the begin on at the latest. The last of them starts in that time and is sent to its end. So in a part of `u` frames start that take the least
    /// time that is not below `u` and that whole frames take: they are sent before the next part begins, if that is not closer than a frame. In between
    /// no frame surely starts, so that counts from the begin of the next part on. It is so only if no frame from before may be on the line when the
    /// gate opens, other than a lower one, whose time is not usable; and if frames are not cut. What a class above may have of usable time it may have
    /// of the time in which the last frame is sent, too: if that is one of its own, the rest is as above.
    fn regained(&self, class: usize, usable: &Times) -> Option<Regained> {
        let is_known = !usable.is_changed() && self.cut_by(class).is_none() && !self.sizes[class].is_empty();
        if !is_known || usable.last().is_all() || !usable.is_any() {
            return None;
        }
        Some(Regained::of(&usable.last().others(), |part, between| {
            self.worked(class, part, between).saturating_sub(part.1 - part.0)
        }))
    }

    /// The least time that is worked from the begin of a part of usable time on, if there is `between` before it and behind it.
    fn worked(&self, class: usize, (from, to): (u64, u64), between: u64) -> u64 {
        let (span, error, period) = (to - from, self.timing.error, self.open[class].last().period());
        let open = self.open[class].last().whole_parts();
        let holds =
            |(begin, end): &&(u64, u64)| [from, from + period].iter().any(|at| begin <= at && at < end);
        let Some((opens, _)) = open.iter().find(holds) else { return span };
        let mut sizes = self.sizes[class].clone();
        let part = Periodic::of(period, [(from, to)]);
        for higher in (0..8).filter(|higher| self.goes_before(*higher, class)) {
            if self.frames[higher].is_none() || !self.busy(higher).and(&part.clone().into()).is_any() {
                continue;
            }
            let before = self.open[higher].grown(0, self.behind(higher).saturating_add(2 * error));
            if before.end_of(opens + period - 1).is_some() {
                return span;
            }
            sizes.extend_from_slice(&self.sizes[higher]);
        }
        let times: Vec<(u64, u64)> =
            sizes.iter().map(|(least, most)| (self.timing.time(*least), self.timing.time(*most))).collect();
        let longest = times.iter().map(|(_, most)| *most).max().unwrap_or(0);
        if between < longest.saturating_add(2 * error) {
            return span;
        }
        #[cfg(feature = "planted-faults")]
        if self.fault == Some(crate::PlantedFault::LastFrameLargest) {
            return span.saturating_add(longest);
        }
        // Each time is rounded up.
        let frames = span / times.iter().map(|(least, _)| *least).min().unwrap_or(1).max(1) + 1;
        least_of_frames(span, &times).saturating_sub(frames)
    }

    /// How much of the usable time of another class the frames of one above it can have, and of the time that is worked.
    fn meets(&self, (higher, class): (usize, usize), (usable, worked): (&Times, &Times)) -> Option<Curve> {
        if let Some(cutting) = self.cut_by(class) {
            if cutting.is_anywhere(higher) {
                return None;
            }
            // With the time that the rests of lower frames may leave to it.
            return cutting.share(self, higher, &cutting.starts(self, class, self.guard(class)).0);
        }
        let busy = self.busy(higher);
        let most = if busy.and(usable).is_any() { busy.and(worked).most() } else { Curve::zero() };
        let first = self.timing.first;
        if first == 0 || !self.is_open_at_first(higher) {
            return Some(most);
        }
        // Before the first cycle both may be open.
        let frame = self.timing.time(self.frames[higher].map_or(0, |one| one.wire_max));
        Some(Once { time: first, more: frame }.before(&most))
    }

    /// The largest lower frame that may be under way when a frame of a class may start.
    fn lower_frame(&self, class: usize, usable: &Times) -> u64 {
        let meets = |lower: usize| self.timing.first > 0 || self.on_line(lower, class).and(usable).is_any();
        self.below(class)
            .filter(|(lower, _)| meets(*lower))
            .map(|(_, frames)| frames.wire_max)
            .max()
            .unwrap_or(0)
    }

    /// The time of the line that frames of a class take whose last bits come within a window.
    fn sent(&self, class: usize, busy: &Times) -> Option<Line> {
        let first = if self.is_open_at_first(class) { self.timing.first } else { 0 };
        let line = *Once { time: first, more: 0 }.before(&busy.most()).lines().last()?;
        // The first of them began before the window.
        let frame = self.timing.time(self.frames[class]?.wire_max);
        Some(line.after_jitter(line.rate, frame))
    }
}

/// Time that is taken in every cycle, and once in addition.
pub(super) fn taken(set: &Times, once: Once) -> Taken {
    if !set.is_any() && once == Once::default() {
        return Taken::nothing();
    }
    // Of a list that changes only the curve is known.
    let jumps = (!set.is_changed()).then(|| Arc::new(set.last().jumps(once)));
    Taken { curve: once.before(&set.most()), jumps }
}
