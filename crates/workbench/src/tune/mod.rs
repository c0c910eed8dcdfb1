//! Parameters that prove all deadlines, found and written into a description.
//!
//! Bounds decide, and nothing else: every trial is the text of the description with other values, loaded and bounded
//! like a user's ([`trial`]). A row (a stream at a listener) with a deadline must be proven; one without must keep its
//! bound, and lose nothing that it did not lose. The search ([`search`]) makes the single change that helps most,
//! again and again, and then undoes what it can; where it finds nothing, [`conflict`] names a smallest set of streams
//! that it cannot prove together. The search is not complete: that it finds nothing is no proof that there is nothing.
//!
//! A kind of knob is a file: [`idle_slope`], [`ats`], [`queue_limit`], [`priority`]. Not here: places in the text
//! (`tautwire_model::settings`).

mod ats;
mod change;
mod conflict;
mod document;
mod grid;
mod idle_slope;
mod knob;
mod priority;
mod queue_limit;
mod search;
mod trial;

use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_report::{Verdict, judge};
use tautwire_units::Duration;

pub use self::change::Change;
pub use self::conflict::{Conflict, InConflict};
pub use self::knob::Kind as TuneKind;
use self::search::Search;
use self::trial::{State, Trial};

/// Runs of bounds that a search may take by default.
pub const TUNE_RUNS: u64 = 5_000;

/// The values to tune, and the limit of the search.
pub struct TuneOptions<'a> {
    /// Kinds of parameters that may change.
    pub kinds: Vec<TuneKind>,
    /// Whether stated values that are more than enough are lowered.
    pub least: bool,
    /// Most runs of bounds.
    pub runs: u64,
    /// Called before each run of bounds: whether to end the search now.
    pub stop: &'a mut dyn FnMut() -> bool,
}

/// Why nothing can be tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTuned {
    /// The description has errors.
    Faulty,
    /// No stream has a deadline.
    NoDeadline,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// The description with the values found: all rows are proven in it. None if none were found.
    pub text: Option<String>,
    /// Its changes.
    pub changes: Vec<Change>,
    /// Rows with a deadline, in order.
    pub rows: Vec<TunedRow>,
    /// The reason, if there is no such text.
    pub conflict: Option<Conflict>,
    /// Runs of bounds that were made.
    pub runs: u64,
    /// Whether the budget ended the search.
    pub cut_short: bool,
}

/// A stream with a deadline at one of its listeners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunedRow {
    /// Name of the stream.
    pub stream: String,
    /// Name of the listener.
    pub listener: String,
    /// Its deadline.
    pub deadline: Duration,
    /// Its bound as described.
    pub before: Option<Duration>,
    /// Its verdict as described.
    pub verdict_before: Verdict,
    /// Its bound with the values that come nearest.
    pub after: Option<Duration>,
    /// Its verdict with them.
    pub verdict_after: Verdict,
}

/// Finds values that prove all rows of the description `text`, whose path is `name`.
///
/// # Errors
/// Why there is nothing to find.
///
/// # Panics
/// If the text found is not what was tried: a fault of the program.
pub fn tune(name: &str, text: &str, options: &mut TuneOptions<'_>) -> Result<Tuned, NotTuned> {
    let network = crate::load_text(name, text).network.ok_or(NotTuned::Faulty)?;
    if network.streams.iter().all(|stream| stream.deadline.is_none()) {
        return Err(NotTuned::NoDeadline);
    }
    let settings = crate::grammar().settings(name, text).ok_or(NotTuned::Faulty)?;
    let knobs = knob::knobs(&network, &settings, &options.kinds);
    let mut trial = Trial::new(name, &network, &settings, &knobs, options.runs, options.stop);
    let before = trial.described();
    let required = trial.required(&before);
    let mut search = Search { trial: &mut trial, required: required.clone() };
    let found = search.find(State::new());
    let mut state = found.state;
    let mut conflict = None;
    if found.proven {
        if options.least {
            state = search.lower(state, &options.kinds);
        }
    } else {
        conflict = Some(conflict::smallest(&mut trial, &required, &state));
    }
    let after = trial.outcome(&state).unwrap_or_else(|| before.clone());
    let text = found.proven.then(|| trial.text(&state));
    let rows = trial.rows.iter().enumerate().filter_map(|(number, row)| {
        let stream = &network.streams[row.stream.index()];
        Some(TunedRow {
            stream: stream.name.clone(),
            listener: network.nodes[stream.listeners[row.listener].index()].name.clone(),
            deadline: stream.deadline?,
            before: before.rows[number].bound,
            verdict_before: before.rows[number].verdict,
            after: after.rows[number].bound,
            verdict_after: after.rows[number].verdict,
        })
    });
    let tuned = Tuned {
        text,
        rows: rows.collect(),
        changes: change::changes(&network, &settings, &knobs, &state),
        conflict,
        runs: trial.runs,
        cut_short: trial.cut_short,
    };
    if let Some(text) = &tuned.text {
        assert!(tuned.gives(name, text), "the text found is not what was tried");
    }
    Ok(tuned)
}

impl Tuned {
    /// Whether the written description, read again, gives the reported bounds and verdicts.
    #[must_use]
    pub fn gives(&self, name: &str, text: &str) -> bool {
        crate::load_text(name, text).network.is_some_and(|network| self.is_of(&network))
    }

    /// Whether these are the bounds and verdicts of a network.
    #[must_use]
    pub fn is_of(&self, network: &Network) -> bool {
        let bounds = crate::bounds(network);
        let verification = judge(network, Some(&bounds), None);
        let mut known_rows = self.rows.iter();
        for (number, stream) in network.streams.iter().enumerate() {
            let judged = &verification.streams[StreamIndex::at(number).index()];
            for listener in judged.listeners.iter().filter(|_| stream.deadline.is_some()) {
                let bound = listener.bound.as_ref().and_then(|bound| bound.as_ref().ok().copied());
                let same = |row: &TunedRow| {
                    row.stream == stream.name && row.after == bound && row.verdict_after == listener.verdict
                };
                if !known_rows.next().is_some_and(same) {
                    return false;
                }
            }
        }
        known_rows.next().is_none()
    }

    /// How many rows are proven as described, how many with the values found, and how many there are.
    #[must_use]
    pub fn proven(&self) -> (usize, usize, usize) {
        let count =
            |of: fn(&TunedRow) -> Verdict| self.rows.iter().filter(|row| of(row) == Verdict::Proven).count();
        (count(|row| row.verdict_before), count(|row| row.verdict_after), self.rows.len())
    }
}
