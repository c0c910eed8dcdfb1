//! Streams that cannot be proven together: each of them can be left out of the search, and then the others are proven.
//!
//! A deletion filter: requirements of streams are left out, one after the other, and those without which the search
//! still finds nothing stay out. These streams go on disturbing the others. The set is a smallest one for this search,
//! which is not complete.

use std::collections::BTreeSet;

use tautwire_model::network::StreamIndex;
use tautwire_report::Verdict;
use tautwire_units::Duration;

use super::change::{self, Change};
use super::search::{Found, Search};
use super::trial::{State, Trial};

/// Streams that the search cannot prove together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Their rows.
    pub rows: Vec<InConflict>,
    /// Whether it was tried of each whether the others can do without it; false if the budget was spent before.
    pub is_smallest: bool,
}

/// A row of a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InConflict {
    /// Name of the stream.
    pub stream: String,
    /// Name of the listener.
    pub listener: String,
    /// Its deadline.
    pub deadline: Duration,
    /// Its bound where the others of the set are proven, or, alone in it, where it comes nearest.
    pub bound: Option<Duration>,
    /// Its verdict there.
    pub verdict: Verdict,
    /// The changes that were tried there.
    pub tried: Vec<Change>,
}

/// A smallest set; `nearest` is where the search for all ended.
pub(super) fn smallest(trial: &mut Trial<'_>, required: &[bool], nearest: &State) -> Conflict {
    let mut filter = Filter { trial, required };
    let open = filter.open(nearest);
    let mut set = filter.all();
    for stream in &open {
        let alone = BTreeSet::from([*stream]);
        if let Some(state) = filter.fails(&alone) {
            return filter.conflict(vec![(*stream, state)]);
        }
    }
    if filter.fails(&open).is_some() {
        set.clone_from(&open);
    }
    // Those that are proven go first.
    let mut order: Vec<StreamIndex> = set.iter().copied().collect();
    order.sort_by_key(|stream| open.contains(stream));
    let mut states = Vec::new();
    for stream in order {
        let mut others = set.clone();
        others.remove(&stream);
        match filter.search(&others) {
            Found { proven: false, .. } if !filter.trial.cut_short => set = others,
            found => states.push((stream, found.state)),
        }
    }
    states.sort_by_key(|(stream, _)| *stream);
    filter.conflict(states)
}

struct Filter<'f, 'a> {
    trial: &'f mut Trial<'a>,
    required: &'f [bool],
}

impl Filter<'_, '_> {
    /// Streams with a deadline.
    fn all(&self) -> BTreeSet<StreamIndex> {
        self.trial.rows.iter().filter(|row| row.deadline.is_some()).map(|row| row.stream).collect()
    }

    /// Those that are not proven in a state.
    fn open(&mut self, state: &State) -> BTreeSet<StreamIndex> {
        let outcome = self.trial.outcome(state).expect("where a search ended");
        let rows = self.trial.rows.iter().zip(&outcome.rows);
        rows.filter(|(row, found)| row.deadline.is_some() && !found.holds)
            .map(|(row, _)| row.stream)
            .collect()
    }

    /// A search in which of the streams with a deadline only these are required.
    fn search(&mut self, streams: &BTreeSet<StreamIndex>) -> Found {
        let rows = self.trial.rows.iter().zip(self.required);
        let required = rows
            .map(|(row, required)| *required && (row.deadline.is_none() || streams.contains(&row.stream)));
        let required = required.collect();
        Search { trial: self.trial, required }.find(State::new())
    }

    /// Where a search for these ends, if it fails, and not for want of budget.
    fn fails(&mut self, streams: &BTreeSet<StreamIndex>) -> Option<State> {
        let found = self.search(streams);
        (!found.proven && !self.trial.cut_short).then_some(found.state)
    }

    fn conflict(&mut self, streams: Vec<(StreamIndex, State)>) -> Conflict {
        let mut rows = Vec::new();
        for (stream, state) in streams {
            let Some(outcome) = self.trial.outcome(&state) else { continue };
            let trial = &*self.trial;
            let described = &trial.network.streams[stream.index()];
            for (row, found) in trial.rows.iter().zip(&outcome.rows) {
                let Some(deadline) = row.deadline.filter(|_| row.stream == stream && !found.holds) else {
                    continue;
                };
                rows.push(InConflict {
                    stream: described.name.clone(),
                    listener: trial.network.nodes[described.listeners[row.listener].index()].name.clone(),
                    deadline,
                    bound: found.bound,
                    verdict: found.verdict,
                    tried: change::changes(trial.network, trial.settings, trial.knobs, &state),
                });
            }
        }
        Conflict { rows, is_smallest: !self.trial.cut_short }
    }
}
