//! The cycle timer, list execute and list config machines of a port's gates (IEEE Std 802.1Q-2022, 8.6.9.1 to 8.6.9.3) as one machine.
//!
//! In: readings of the node's clock, the time that the gates follow, changes of the list. Out: which gates are open,
//! and when a frame may start that needs the gate open for so long. It is updated edge by edge, by [`Gates::cross`],
//! and an edge that is crossed late has the same effect as one in time. Invariants: a cycle that has begun does not
//! begin again, whatever the clock is set to; the next edge is later than the one before, or at the same instant. Not
//! here: credit, queues, the line (`port/gated.rs`).
//!
//! When the list changes while a cycle runs, that cycle is not extended: its end was determined when it began. It is
//! cut if the new list begins before that.

use alloc::boxed::Box;

use tautwire_units::{Duration, Instant};

use super::{GateParameters, GateTime, Operation};

/// The gates of a port.
#[derive(Clone, Debug)]
pub struct Gates {
    /// Their states before the first cycle.
    admin_gate_states: u8,
    /// The list that runs.
    oper: Option<List>,
    /// The list that comes next.
    pending: Option<Box<Pending>>,
    at: Position,
    time: GateTime,
    /// Ticks of the device, picoseconds; one where there are none.
    tick: u64,
    change_errors: u64,
    /// When the list that runs began.
    change_time: Option<Instant>,
    /// Whether the entries that were executed ask the MAC to hold preemptable frames (HoldRequest), and when they let them go last.
    holds: bool,
    released: Option<Instant>,
    hold_count: u64,
}

/// A list as it runs.
#[derive(Clone, Debug)]
struct List {
    parameters: GateParameters,
    /// From the start of a cycle to the end of each entry, its states and its operation; the last one ends with the cycle.
    ends: Box<[(u64, u8, Operation)]>,
    /// Whether an entry makes the MAC hold frames or release them.
    has_operations: bool,
    /// Bit *n*: the gate of class *n* is always open, or ever.
    always: u8,
    ever: u8,
}

/// A list that comes next.
#[derive(Clone, Debug)]
struct Pending {
    list: List,
    /// ConfigChangeTime, and the number of the cycle that begins then.
    at: Instant,
    cycle: u64,
}

/// Which of the two lists is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Running {
    /// None has begun.
    None,
    Oper,
    /// The one that comes next, when one looks ahead.
    Pending,
}

/// An entry of a cycle, or the time before the first cycle.
#[derive(Clone, Copy, Debug)]
struct Position {
    running: Running,
    cycle: u64,
    start: Instant,
    /// When the next cycle begins.
    next: Instant,
    /// Whether that is of the pending list.
    changes: bool,
    entry: usize,
    states: u8,
    operation: Operation,
    /// When the next entry is executed, the device's ticks included.
    until: Instant,
    /// Whether that is the start of the next cycle.
    is_last: bool,
}

/// When a frame may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Now.
    Now,
    /// At the earliest at this reading of the node's clock: to be polled again then.
    At(Instant),
    /// Not as long as neither list nor clock change.
    Never,
}

/// How long before an entry a MAC gets the request to hold, and how long it needs after a release (IEEE Std 802.1Q-2022, 12.30.1.2 and 12.30.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HoldAdvances {
    /// From the request to hold preemptable frames to the entry that says so: none is on the line then (holdAdvance).
    pub hold: Duration,
    /// From the entry that lets them go until the MAC goes on (releaseAdvance).
    pub release: Duration,
}

impl List {
    fn new(parameters: GateParameters) -> Self {
        assert!(!parameters.control_list.is_empty(), "a list has an entry");
        // In a cycle that is extended entries are executed that are cut off in others.
        let cycle = parameters.cycle_time.ceil().as_ps();
        let longest = cycle.saturating_add(parameters.cycle_time_extension.as_ps());
        let mut ends = alloc::vec::Vec::with_capacity(parameters.control_list.len());
        let (mut end, mut always, mut ever) = (0_u64, u8::MAX, 0);
        for entry in &parameters.control_list {
            if end >= longest {
                break;
            }
            always &= entry.gate_states;
            ever |= if end < cycle { entry.gate_states } else { 0 };
            end = end.saturating_add(entry.time_interval.as_ps());
            ends.push((end, entry.gate_states, entry.operation));
        }
        let has_operations = ends.iter().any(|(.., operation)| *operation != Operation::SetGateStates);
        if let Some(last) = ends.last_mut() {
            last.0 = u64::MAX;
        }
        Self { always, ever, has_operations, ends: ends.into_boxed_slice(), parameters }
    }

    /// When a cycle begins.
    fn start(&self, cycle: u64) -> Instant {
        self.parameters.base_time.saturating_add(self.parameters.cycle_time.times(cycle))
    }

    /// The number of the cycle that has begun last at a time, which is not before the base time.
    fn cycle_at(&self, time: Instant) -> u64 {
        self.parameters.cycle_time.within(time.saturating_since(self.parameters.base_time))
    }
}

impl Gates {
    /// Gates whose list is set when the clock reads zero.
    ///
    /// # Panics
    /// If the list has no entry, or its cycle is shorter than a tick.
    #[must_use]
    pub fn new(admin_gate_states: u8, parameters: GateParameters, tick: Duration) -> Self {
        let mut gates = Self::without_list(admin_gate_states).with_tick(tick);
        gates.change(Instant::ZERO, parameters);
        gates
    }

    /// Gates that stay as they are: of a port that has no list.
    #[must_use]
    pub const fn without_list(states: u8) -> Self {
        Self {
            admin_gate_states: states,
            oper: None,
            pending: None,
            at: Position {
                running: Running::None,
                cycle: 0,
                start: Instant::ZERO,
                next: Instant::MAX,
                changes: true,
                entry: 0,
                states,
                operation: Operation::SetGateStates,
                until: Instant::MAX,
                is_last: true,
            },
            time: GateTime::Own,
            tick: 1,
            change_errors: 0,
            change_time: None,
            holds: false,
            released: None,
            hold_count: 0,
        }
    }

    /// The same with ticks of a device, at which alone a gate changes; zero for none.
    #[must_use]
    pub fn with_tick(self, tick: Duration) -> Self {
        Self { tick: tick.as_ps().max(1), ..self }
    }

    /// Whether there is a list.
    #[must_use]
    pub const fn has_list(&self) -> bool {
        self.oper.is_some() || self.pending.is_some()
    }

    /// The node starts when its clock reads `now`: no list runs, and that of the last change is set anew.
    pub fn start(&mut self, now: Instant) {
        let last = self.pending.take().map(|pending| pending.list).or(self.oper.take());
        self.at = self.before(Instant::MAX);
        (self.change_time, self.holds, self.released) = (None, false, None);
        if let Some(last) = last {
            self.change(now, last.parameters);
        }
    }

    /// A new list is set at `now`, up to which all edges are crossed (SetConfigChangeTime, 8.6.9.3.1).
    ///
    /// # Panics
    /// If the list has no entry, or its cycle is shorter than a tick.
    pub fn change(&mut self, now: Instant, parameters: GateParameters) {
        assert!(parameters.cycle_time.floor().as_ps() >= self.tick, "ticks are shorter than cycles");
        let time = self.time.at(now);
        let list = List::new(parameters);
        let base = list.parameters.base_time;
        let (mut at, mut cycle) = (base, 0);
        if base < time {
            self.change_errors += u64::from(self.at.running == Running::Oper);
            cycle = list.cycle_at(time);
            cycle += u64::from(list.start(cycle) < time);
            at = list.start(cycle);
        }
        self.pending = Some(Box::new(Pending { list, at, cycle }));
        match &self.oper {
            Some(oper) if self.at.running == Running::Oper => {
                let natural = oper.start(self.at.cycle + 1);
                let changes = at <= natural;
                let (cycle, start, entry) = (self.at.cycle, self.at.start, self.at.entry);
                self.at = self.entry_of(Running::Oper, (cycle, start), (at.min(natural), changes), entry);
            }
            _ => self.at = self.before(at),
        }
    }

    /// From `now` on, up to which all edges are crossed, the gates follow this time. A step back makes the cycle that runs longer; one of
    /// more than a cycle finds the cycle of the new time.
    pub fn follow(&mut self, now: Instant, time: GateTime) {
        self.time = time;
        let here = self.time.at(now);
        let Some(oper) = self.oper.as_ref().filter(|_| self.at.running == Running::Oper) else { return };
        if here.saturating_add(oper.parameters.cycle_time.ceil()) >= self.at.start {
            return;
        }
        if here >= oper.parameters.base_time {
            self.at = self.cycle(Running::Oper, oper.cycle_at(here));
        } else if self.pending.is_none() {
            let list = oper.clone();
            let at = list.parameters.base_time;
            self.oper = None;
            self.pending = Some(Box::new(Pending { list, at, cycle: 0 }));
            self.at = self.before(at);
        }
    }

    /// Whether the gate of a class is open, when all edges are crossed.
    #[must_use]
    pub const fn is_open(&self, class: usize) -> bool {
        self.at.states >> class & 1 == 1
    }

    /// The reading of the node's clock at the next edge, at which perhaps no gate changes.
    #[must_use]
    pub fn edge(&self) -> Instant {
        self.time.first(self.at.until)
    }

    /// Crosses the next edge, which is due; whether another list runs from there on.
    pub fn cross(&mut self) -> bool {
        let mut at = self.after(self.at);
        let changes = at.running == Running::Pending;
        if changes {
            at.running = Running::Oper;
            self.oper = self.pending.take().map(|pending| pending.list);
            self.change_time = Some(at.start);
        }
        match at.operation {
            Operation::SetGateStates => {}
            Operation::SetAndHoldMac => {
                self.hold_count += u64::from(!self.holds);
                self.holds = true;
            }
            Operation::SetAndReleaseMac => {
                self.released = if self.holds { Some(self.edge()) } else { self.released };
                self.holds = false;
            }
        }
        self.at = at;
        changes
    }

    /// Whether preemptable frames are held at `now`, when all edges up to it are crossed, by a MAC that gets the request `advances.hold`
    /// before an entry that says so, and needs `advances.release` to go on behind one that lets them go. And when that may be otherwise: to be asked
    /// again then, or earlier.
    #[must_use]
    pub fn hold(&self, now: Instant, advances: HoldAdvances) -> (bool, Instant) {
        let resumes =
            self.released.map_or(Instant::ZERO, |released| released.saturating_add(advances.release));
        if !self.has_operations() {
            return if resumes > now && !self.holds { (true, resumes) } else { (self.holds, Instant::MAX) };
        }
        let lists = self.oper.iter().chain(self.pending.as_ref().map(|pending| &pending.list));
        let mut left = 2 * lists.map(|list| list.ends.len()).sum::<usize>() + 2;
        let mut at = self.at;
        while left > 0 && at.until < Instant::MAX {
            let due = self.time.first(at.until);
            at = self.after(at);
            match at.operation {
                Operation::SetAndReleaseMac if self.holds => return (true, due),
                Operation::SetAndHoldMac if !self.holds => {
                    let from = Instant::from_ps(due.as_ps().saturating_sub(advances.hold.as_ps()));
                    return match resumes > now {
                        _ if from <= now => (true, due),
                        true => (true, resumes.min(from)),
                        false => (false, from),
                    };
                }
                _ => {}
            }
            left -= 1;
        }
        if resumes > now && !self.holds { (true, resumes) } else { (self.holds, Instant::MAX) }
    }

    /// Whether an entry makes the MAC hold frames or release them.
    #[must_use]
    pub fn has_operations(&self) -> bool {
        let mut lists = self.oper.iter().chain(self.pending.as_ref().map(|pending| &pending.list));
        lists.any(|list| list.has_operations)
    }

    /// How often the MAC was asked to hold preemptable frames while it did not (HoldCount, IEEE Std 802.3-2022, 30.14.1.13).
    #[must_use]
    pub const fn hold_count(&self) -> u64 {
        self.hold_count
    }

    /// Leaves out cycles that have passed by `now`, where nothing was to be done in them.
    pub fn skip_to(&mut self, now: Instant) {
        let Some(oper) = self.oper.as_ref().filter(|_| !self.at.changes) else { return };
        let mut time = self.time.at(now);
        if let Some(pending) = &self.pending {
            let GateParameters { cycle_time, cycle_time_extension, .. } = oper.parameters;
            let before = cycle_time_extension.saturating_add(cycle_time.times(2)).as_ps();
            time = time.min(Instant::from_ps(pending.at.as_ps().saturating_sub(before)));
        }
        let cycle = oper.cycle_at(time).saturating_sub(1);
        if time > self.at.next && cycle > self.at.cycle {
            self.at = self.cycle(Running::Oper, cycle);
        }
    }

    /// When a frame of a class may start that needs its gate open for `need` from then on, when all edges up to `now` are crossed.
    #[must_use]
    pub fn fit(&self, class: usize, now: Instant, need: Duration) -> Fit {
        self.fit_at(self.at, class, now, need)
    }

    /// The same of a frame that starts at `later` at the earliest, up to which edges may still be ahead.
    #[must_use]
    pub fn fit_later(&self, class: usize, later: Instant, need: Duration) -> Fit {
        let mut at = self.at;
        while at.until < Instant::MAX && self.time.first(at.until) <= later {
            at = self.after(at);
        }
        self.fit_at(at, class, later, need)
    }

    fn fit_at(&self, mut at: Position, class: usize, now: Instant, need: Duration) -> Fit {
        let mut from = now;
        // A frame that starts needs the open gate for an instant.
        let need = need.max(Duration::from_ps(1));
        // Every interval of a cycle is seen once, whatever comes next.
        let mut left = 2 * self.oper.as_ref().map_or(0, |list| list.ends.len()) + 2;
        left += 2 * self.pending.as_ref().map_or(0, |pending| pending.list.ends.len());
        while left > 0 {
            if at.states >> class & 1 == 1 {
                let end = from.saturating_add(need);
                let (close, behind) = self.close(at, class, end);
                if close >= end && from == now {
                    return Fit::Now;
                }
                // The interval of another cycle may be a little longer.
                if close.saturating_add(self.slack()) >= end && from > now {
                    return Fit::At(from);
                }
                (at, from) = (behind, close);
            } else {
                if self.is_shut_from(at, class) {
                    return Fit::Never;
                }
                from = self.time.first(at.until);
                at = self.after(at);
            }
            left -= 1;
        }
        match &self.pending {
            Some(pending) => Fit::At(self.time.first(pending.at).max(Instant::from_ps(now.as_ps() + 1))),
            None if self.falls_between_ticks() && from > now => Fit::At(from),
            None => Fit::Never,
        }
    }

    /// The reading at which the gate of a class shuts that is open now; `until` or later if it is open until then.
    #[must_use]
    pub fn close_by(&self, class: usize, until: Instant) -> Instant {
        self.close(self.at, class, until).0
    }

    /// The reading at which the list that comes next begins; never without one.
    #[must_use]
    pub fn change_at(&self) -> Instant {
        self.pending.as_ref().map_or(Instant::MAX, |pending| self.time.first(self.ticked(pending.at)))
    }

    /// The number of configuration changes with a base time in the past.
    #[must_use]
    pub const fn change_errors(&self) -> u64 {
        self.change_errors
    }

    /// When the list that runs began.
    #[must_use]
    pub const fn change_time(&self) -> Option<Instant> {
        self.change_time
    }

    /// Whether a list waits for its time.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// The number of the cycle that runs and the entry that was executed last; none before the first cycle.
    #[must_use]
    pub fn entry(&self) -> Option<(u64, usize)> {
        (self.at.running == Running::Oper).then_some((self.at.cycle, self.at.entry))
    }

    /// States of all gates.
    #[must_use]
    pub const fn states(&self) -> u8 {
        self.at.states
    }

    /// The parameters that hold; none before the first cycle.
    #[must_use]
    pub fn oper(&self) -> Option<&GateParameters> {
        self.oper.as_ref().map(|list| &list.parameters)
    }

    /// The time that the gates follow.
    #[must_use]
    pub const fn time(&self) -> GateTime {
        self.time
    }

    /// Where the gate of a class, which is open at `at`, shuts, by the node's clock, and the entry behind; no further than `until`.
    fn close(&self, mut at: Position, class: usize, until: Instant) -> (Instant, Position) {
        loop {
            let mut ends = at.until;
            if ends == Instant::MAX {
                return (ends, at);
            }
            let always = self.list(at.running).is_some_and(|list| list.always >> class & 1 == 1);
            if always && !at.changes {
                // It is open up to the change, which may come before the cycle is over.
                let change = self.pending.as_ref().filter(|_| at.running == Running::Oper);
                let Some(pending) = change else { return (Instant::MAX, at) };
                ends = self.ticked(pending.at);
                if self.time.first(ends) >= until {
                    return (self.time.first(ends), at);
                }
                at = self.cycle(Running::Pending, pending.cycle);
            } else {
                at = self.after(at);
            }
            // Entries that ticks leave no time to are not executed.
            while at.until <= ends {
                at = self.after(at);
            }
            let end = self.time.first(ends);
            if end >= until || at.states >> class & 1 == 0 || planted!(EntryShutsGate) {
                return (end, at);
            }
        }
    }

    /// Whether the gate of a class does not open any more.
    fn is_shut_from(&self, at: Position, class: usize) -> bool {
        let ever = self.list(at.running).map_or(0, |list| list.ever);
        let leads_on = at.running != Running::Pending && self.pending.is_some();
        ever >> class & 1 == 0 && !leads_on
    }

    /// By how much intervals of two cycles may differ.
    fn slack(&self) -> Duration {
        let lists = self.oper.iter().chain(self.pending.as_ref().map(|pending| &pending.list));
        let mut uneven = lists.map(|list| list.parameters.cycle_time.denominator() > 1);
        let rounded = 2 * u64::from(matches!(self.time, GateTime::Corrected(_)));
        Duration::from_ps(u64::from(uneven.any(|uneven| uneven)) + rounded)
    }

    /// Whether times of a list fall between ticks, so that the edges of one cycle are not those of another.
    fn falls_between_ticks(&self) -> bool {
        let mut lists = self.oper.iter().chain(self.pending.as_ref().map(|pending| &pending.list));
        self.tick > 1 && lists.any(|list| !list.parameters.is_multiple_of(self.tick))
    }

    fn list(&self, running: Running) -> Option<&List> {
        match running {
            Running::None => None,
            Running::Oper => self.oper.as_ref(),
            Running::Pending => self.pending.as_ref().map(|pending| &pending.list),
        }
    }

    /// The time before a list begins, where none runs.
    fn before(&self, at: Instant) -> Position {
        let (running, states) = (Running::None, self.admin_gate_states);
        let until = self.ticked(at);
        Position {
            running,
            cycle: 0,
            start: Instant::ZERO,
            next: at,
            changes: true,
            entry: 0,
            states,
            operation: Operation::SetGateStates,
            until,
            is_last: true,
        }
    }

    /// The entry behind one.
    fn after(&self, at: Position) -> Position {
        if !at.is_last {
            return self.entry_of(at.running, (at.cycle, at.start), (at.next, at.changes), at.entry + 1);
        }
        match &self.pending {
            Some(pending) if at.changes => self.cycle(Running::Pending, pending.cycle),
            _ if at.running == Running::None => at,
            _ => self.cycle(at.running, at.cycle + 1),
        }
    }

    /// The beginning of a cycle, where it is settled when the next one begins (SetCycleStartTime, 8.6.9.1.1).
    fn cycle(&self, running: Running, cycle: u64) -> Position {
        let list = self.list(running).expect("a list that runs");
        let natural = list.start(cycle.saturating_add(1));
        let extended = natural.saturating_add(list.parameters.cycle_time_extension);
        let change = self.pending.as_ref().filter(|_| running == Running::Oper).map(|pending| pending.at);
        let change = change.filter(|change| *change <= extended);
        let next = (change.unwrap_or(natural), change.is_some());
        self.entry_of(running, (cycle, list.start(cycle)), next, 0)
    }

    fn entry_of(
        &self,
        running: Running,
        (cycle, start): (u64, Instant),
        (next, changes): (Instant, bool),
        entry: usize,
    ) -> Position {
        let list = self.list(running).expect("a list that runs");
        let (end, states, operation) = list.ends[entry];
        let end = start.saturating_add(Duration::from_ps(end));
        let is_last = end >= next;
        let until = self.ticked(end.min(next));
        Position { running, cycle, start, next, changes, entry, states, operation, until, is_last }
    }

    /// The first tick at or after a time.
    fn ticked(&self, time: Instant) -> Instant {
        if self.tick == 1 {
            return time;
        }
        let ticks = time.as_ps().div_ceil(self.tick);
        Instant::from_ps(ticks.saturating_mul(self.tick))
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
