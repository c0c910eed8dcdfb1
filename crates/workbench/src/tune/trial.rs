//! A trial: the description with other values, loaded and bounded like any other, and its bounds for the rows.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tautwire_analysis::{LimitKind, LimitPlace};
use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_model::settings::{SettingKey, Settings};
use tautwire_report::{Verdict, judge};
use tautwire_units::Duration;

use super::knob::{Here, Knob};

/// The knobs that differ from the description, with their values.
pub(super) type State = BTreeMap<usize, u64>;

/// A stream at a listener.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) stream: StreamIndex,
    pub(super) listener: usize,
    pub(super) deadline: Option<Duration>,
}

/// The bounds of a row.
#[derive(Clone, Debug)]
pub(super) struct RowOutcome {
    pub(super) bound: Option<Duration>,
    pub(super) verdict: Verdict,
    /// Limits that may be too small on its way.
    losses: usize,
    /// Whether what is required of it holds.
    pub(super) holds: bool,
}

/// A limit that may be too small, and what would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Needed {
    pub(super) key: SettingKey,
    pub(super) port: PortIndex,
    pub(super) class: TrafficClass,
    pub(super) needed: u64,
}

/// The result of a trial.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// As the trial's rows.
    pub(super) rows: Vec<RowOutcome>,
    pub(super) needed: BTreeSet<Needed>,
}

/// The distance to a proof of all rows, the less the better: rows that do not hold, those of them without a bound,
/// limits that are too small, and by how much bounds exceed deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Missing {
    pub(super) rows: usize,
    unbounded: usize,
    losses: usize,
    late_ps: u128,
}

impl Outcome {
    /// The distance of the required rows to their proofs.
    pub(super) fn missing(&self, rows: &[Row], required: &[bool]) -> Missing {
        let mut missing = Missing { rows: 0, unbounded: 0, losses: 0, late_ps: 0 };
        for (number, outcome) in self.rows.iter().enumerate().filter(|(number, _)| required[*number]) {
            if outcome.holds {
                continue;
            }
            missing.rows += 1;
            missing.losses += outcome.losses;
            match (outcome.bound, rows[number].deadline) {
                (None, _) => missing.unbounded += 1,
                (Some(bound), Some(deadline)) => {
                    missing.late_ps += u128::from(bound.saturating_sub(deadline).as_ps());
                }
                (Some(_), None) => {}
            }
        }
        missing
    }
}

/// All that trials need, and those that were made.
pub(super) struct Trial<'a> {
    name: &'a str,
    /// As described.
    pub(super) network: &'a Network,
    pub(super) settings: &'a Settings,
    pub(super) knobs: &'a [Knob],
    pub(super) rows: Vec<Row>,
    known: BTreeMap<State, Option<Rc<Outcome>>>,
    stop: &'a mut dyn FnMut() -> bool,
    runs_max: u64,
    pub(super) runs: u64,
    /// Whether a trial was not made for want of budget.
    pub(super) cut_short: bool,
}

impl<'a> Trial<'a> {
    pub(super) fn new(
        name: &'a str,
        network: &'a Network,
        settings: &'a Settings,
        knobs: &'a [Knob],
        runs_max: u64,
        stop: &'a mut dyn FnMut() -> bool,
    ) -> Self {
        let rows = network.streams.iter().enumerate().flat_map(|(number, stream)| {
            let row =
                move |listener| Row { stream: StreamIndex::at(number), listener, deadline: stream.deadline };
            (0..stream.listeners.len()).map(row)
        });
        let rows = rows.collect();
        Self {
            name,
            network,
            settings,
            knobs,
            rows,
            known: BTreeMap::new(),
            stop,
            runs_max,
            runs: 0,
            cut_short: false,
        }
    }

    /// The result of the description.
    pub(super) fn described(&mut self) -> Rc<Outcome> {
        self.runs += 1;
        let outcome = Rc::new(self.judged(self.network));
        self.known.insert(State::new(), Some(Rc::clone(&outcome)));
        outcome
    }

    /// The rows that must hold: those with a deadline, and those that hold without one.
    pub(super) fn required(&self, described: &Outcome) -> Vec<bool> {
        let required = |(row, outcome): (&Row, &RowOutcome)| row.deadline.is_some() || outcome.holds;
        self.rows.iter().zip(&described.rows).map(required).collect()
    }

    /// The description with the values of a state.
    pub(super) fn text(&self, state: &State) -> String {
        let value = |(knob, value): (&usize, &u64)| {
            let knob = &self.knobs[*knob];
            (knob.setting, knob.range.unit.written(*value))
        };
        self.settings.with(&state.iter().map(value).collect())
    }

    /// What a state gives; none if the description does not take its values, or the budget is spent.
    pub(super) fn outcome(&mut self, state: &State) -> Option<Rc<Outcome>> {
        if let Some(known) = self.known.get(state) {
            return known.clone();
        }
        if self.runs >= self.runs_max || (self.stop)() {
            self.cut_short = true;
            return None;
        }
        let loaded = crate::load_text(self.name, &self.text(state));
        let outcome = loaded.network.map(|network| {
            self.runs += 1;
            Rc::new(self.judged(&network))
        });
        self.known.insert(state.clone(), outcome.clone());
        outcome
    }

    fn judged(&self, network: &Network) -> Outcome {
        let bounds = crate::bounds(network);
        let verification = judge(network, Some(&bounds), None);
        let mut needed = BTreeSet::new();
        let row = |row: &Row| {
            let judged = &verification.streams[row.stream.index()].listeners[row.listener];
            let limits = judged.may_be_lost.iter().filter(|limit| !limit.is_meant());
            for limit in limits.clone() {
                let LimitPlace::Class(port, class) = limit.at else { continue };
                let key = match limit.kind {
                    LimitKind::QUEUE_FRAMES => SettingKey::QueueFrames,
                    LimitKind::QUEUE_OCTETS => SettingKey::QueueOctets,
                    _ => continue,
                };
                needed.extend(limit.needed.map(|needed| Needed { key, port, class, needed }));
            }
            let bound = judged.bound.as_ref().and_then(|bound| bound.as_ref().ok().copied());
            let losses = limits.count();
            let holds = match row.deadline {
                Some(_) => judged.verdict == Verdict::Proven,
                None => bound.is_some() && losses == 0,
            };
            RowOutcome { bound, verdict: judged.verdict, losses, holds }
        };
        let rows = self.rows.iter().map(row).collect();
        Outcome { rows, needed }
    }

    /// Values of a knob that are worth a trial from a state.
    pub(super) fn tries(&self, knob: usize, state: &State, outcome: &Outcome) -> Vec<u64> {
        let (network, settings, knobs) = (self.network, self.settings, self.knobs);
        knobs[knob].tries(&Here { network, settings, knobs, knob, state, outcome })
    }

    /// The state with another value of a knob.
    pub(super) fn set(&self, state: &State, knob: usize, value: u64) -> State {
        let mut state = state.clone();
        if value == self.knobs[knob].range.old {
            state.remove(&knob);
        } else {
            state.insert(knob, value);
        }
        state
    }

    /// A knob's value in a state.
    pub(super) fn value(&self, state: &State, knob: usize) -> u64 {
        state.get(&knob).copied().unwrap_or(self.knobs[knob].range.old)
    }
}
