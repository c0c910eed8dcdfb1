//! The search: repeatedly the single change that helps most; then each change is reduced as far as possible.
//!
//! Where no single change helps, two together are tried. All accepted changes were tried as they are, so nothing
//! depends on monotony. Not here: what is tried of a knob (its kind's file), which rows must hold (`mod.rs`,
//! `conflict.rs`).

use std::collections::BTreeSet;
use std::rc::Rc;

use tautwire_model::network::PortIndex;

use super::grid;
use super::knob::Kind;
use super::trial::{Missing, Outcome, State, Trial};

/// Changes that others are tried with, where none helps alone.
const PARTNERS: usize = 8;
/// How often what can be taken back is looked for anew.
const PASSES: usize = 4;

/// A search for values with which the rows that are required hold.
pub(super) struct Search<'s, 'a> {
    pub(super) trial: &'s mut Trial<'a>,
    /// Per row.
    pub(super) required: Vec<bool>,
}

/// Where a search ended.
pub(super) struct Found {
    pub(super) state: State,
    /// Whether all rows that are required hold there.
    pub(super) proven: bool,
}

/// A change that was tried.
struct Tried {
    missing: Missing,
    knob: usize,
    state: State,
    outcome: Rc<Outcome>,
}

impl Search<'_, '_> {
    /// Searches from a state, which the description must take.
    pub(super) fn find(&mut self, from: State) -> Found {
        let mut state = from;
        let Some(mut outcome) = self.trial.outcome(&state) else { return Found { state, proven: false } };
        loop {
            let missing = self.missing(&outcome);
            if missing.rows == 0 {
                return Found { state: self.taken_back(state), proven: true };
            }
            let near = self.near(&outcome);
            let all: Vec<usize> = (0..self.trial.knobs.len()).collect();
            let far: Vec<usize> = all.iter().copied().filter(|knob| !near.contains(knob)).collect();
            let better = self
                .single(&near, &state, &outcome)
                .or_else(|| self.single(&far, &state, &outcome))
                .or_else(|| self.double(&near, &state, &outcome));
            let Some(better) = better else { return Found { state, proven: false } };
            let proves = better.missing.rows < missing.rows;
            (state, outcome) = (better.state, better.outcome);
            if proves {
                // As little of it as proves as many: what is left may be of use to others.
                state = self.nearer(&state, better.knob, better.missing.rows);
                outcome = self.trial.outcome(&state).expect("tried before");
            }
        }
    }

    fn missing(&self, outcome: &Outcome) -> Missing {
        outcome.missing(&self.trial.rows, &self.required)
    }

    /// Whether at most so many rows are missing in a state.
    fn holds(&mut self, state: &State, rows: usize) -> bool {
        let outcome = self.trial.outcome(state);
        outcome.is_some_and(|outcome| self.missing(&outcome).rows <= rows)
    }

    /// Knobs at the ports that rows which do not hold pass, and of streams that pass there.
    fn near(&self, outcome: &Outcome) -> Vec<usize> {
        let network = self.trial.network;
        let open = self.trial.rows.iter().zip(&outcome.rows).zip(&self.required);
        let open = open.filter(|((_, found), required)| **required && !found.holds);
        let passed = open.flat_map(|((row, _), _)| &network.streams[row.stream.index()].hops);
        let ports: BTreeSet<PortIndex> = passed.map(|hop| hop.port).collect();
        let is_near = |knob: &usize| {
            let setting = &self.trial.settings.list[self.trial.knobs[*knob].setting];
            let mut hops = setting.streams.iter().flat_map(|stream| &network.streams[stream.index()].hops);
            setting.classes.iter().any(|(port, _)| ports.contains(port))
                || hops.any(|hop| ports.contains(&hop.port))
        };
        (0..self.trial.knobs.len()).filter(is_near).collect()
    }

    /// All changes of one of the knobs that the description takes.
    fn changes(&mut self, knobs: &[usize], state: &State, outcome: &Outcome) -> Vec<Tried> {
        let mut tried = Vec::new();
        for knob in knobs.iter().copied() {
            for value in self.trial.tries(knob, state, outcome) {
                let state = self.trial.set(state, knob, value);
                if let Some(outcome) = self.trial.outcome(&state) {
                    tried.push(Tried { missing: self.missing(&outcome), knob, state, outcome });
                }
            }
        }
        tried
    }

    /// The change of one of the knobs that leaves least missing, and less than there is.
    fn single(&mut self, knobs: &[usize], state: &State, outcome: &Outcome) -> Option<Tried> {
        let missing = self.missing(outcome);
        let tried = self.changes(knobs, state, outcome).into_iter();
        tried.filter(|tried| tried.missing < missing).min_by_key(|tried| tried.missing)
    }

    /// The same of two knobs: the best of each is tried with all changes of the others.
    fn double(&mut self, knobs: &[usize], state: &State, outcome: &Outcome) -> Option<Tried> {
        let missing = self.missing(outcome);
        let mut first = self.changes(knobs, state, outcome);
        first.sort_by_key(|tried| tried.missing);
        let mut seen = BTreeSet::new();
        first.retain(|tried| seen.len() < PARTNERS && seen.insert(tried.knob));
        for tried in first {
            let others: Vec<usize> = knobs.iter().copied().filter(|knob| *knob != tried.knob).collect();
            let second = self.changes(&others, &tried.state, &tried.outcome).into_iter();
            let best = second.filter(|second| second.missing < missing).min_by_key(|second| second.missing);
            if best.is_some() {
                return best;
            }
        }
        None
    }

    /// The state with a knob as near to what is described as leaves at most so many rows missing.
    fn nearer(&mut self, state: &State, knob: usize, rows: usize) -> State {
        let old = self.trial.knobs[knob].range.old;
        let without = self.trial.set(state, knob, old);
        if self.holds(&without, rows) {
            return without;
        }
        let now = self.trial.value(state, knob);
        let digits = self.trial.knobs[knob].digits();
        let old = if now > old { grid::floor(old, digits) } else { grid::ceil(old, digits) };
        self.halved(state, knob, (grid::rank(old, digits), grid::rank(now, digits)), rows)
    }

    /// The state with the knob's value of the number nearest to `bad` that leaves at most so many rows missing: `good`, as it is now,
    /// does.
    fn halved(&mut self, state: &State, knob: usize, (bad, good): (u64, u64), rows: usize) -> State {
        let digits = self.trial.knobs[knob].digits();
        let (mut bad, mut good, mut best) = (bad, good, state.clone());
        while bad.abs_diff(good) > 1 {
            let middle = bad.min(good) + bad.abs_diff(good) / 2;
            let tried = self.trial.set(state, knob, grid::value(middle, digits));
            if self.holds(&tried, rows) {
                (good, best) = (middle, tried);
            } else {
                bad = middle;
            }
        }
        best
    }

    /// The state without changes that are not needed, and with as little as does of those that are.
    fn taken_back(&mut self, mut state: State) -> State {
        for _ in 0..PASSES {
            let before = state.clone();
            // The last change is undone first.
            let changed: Vec<usize> = state.keys().rev().copied().collect();
            for knob in &changed {
                let old = self.trial.knobs[*knob].range.old;
                let without = self.trial.set(&state, *knob, old);
                if self.holds(&without, 0) {
                    state = without;
                }
            }
            for knob in changed {
                if state.contains_key(&knob) {
                    state = self.nearer(&state, knob, 0);
                }
            }
            if state == before {
                break;
            }
        }
        state
    }

    /// The state, in which all rows hold, with each stated value as low as possible. A priority has no least value,
    /// and a rate that covers its stream is the least already.
    pub(super) fn lower(&mut self, mut state: State, kinds: &[Kind]) -> State {
        for _ in 0..PASSES {
            let before = state.clone();
            for knob in 0..self.trial.knobs.len() {
                let of = &self.trial.knobs[knob];
                let stated = self.trial.settings.list[of.setting].stated.as_deref();
                let is_number = stated.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()));
                if !kinds.contains(&of.kind) || of.kind == Kind::Priority || !is_number {
                    continue;
                }
                let (digits, least) = (of.digits(), of.range.least);
                let now = grid::ceil(self.trial.value(&state, knob), digits);
                let ranks = (grid::rank(least, digits).saturating_sub(1), grid::rank(now, digits));
                state = self.halved(&state, knob, ranks, 0);
            }
            if state == before {
                break;
            }
        }
        state
    }
}
