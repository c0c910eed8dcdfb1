//! The adversary: searches, within what a description leaves open, for the run in which a stream is latest.
//!
//! Its result lies between what one run shows and what is proven; its distance to the bound limits the looseness of
//! the proof. It varies the start of streams without a stated offset, phases of independent clocks, jitter frame by
//! frame, the gaps of random traffic, sizes, drawn delays, and the seed of all else. A choice that is written down
//! gives the same run again.
//!
//! Not here: how results are shown (`report`).

mod choices;
mod dice;
mod freedom;
mod moves;
mod record;
mod rows;
mod search;

use serde::{Deserialize, Serialize};
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_report::{AdversaryRow, Contradiction, Summary};
use tautwire_sim::Observation;
use tautwire_units::Duration;

pub use choices::{Choices, ClockChoice, StreamChoice};

use crate::Bounds;
use choices::Chosen;
use dice::Dice;
use search::Search;

/// Runs for a row by default.
pub const ADVERSARY_RUNS: u64 = 60;

/// Transmissions of the complete search for each run of a row: in a large network, or one that must run for long, rows
/// have fewer runs.
const HOPS: u64 = 1_000_000;

/// The result of an adversary.
#[derive(Clone, Debug, PartialEq)]
pub struct Adversary {
    /// Runs that it made.
    pub runs: u64,
    /// Per stream and listener, in the network's order.
    pub rows: Vec<FoundRow>,
    /// What contradicts a bound, and in which run: a fault of this program.
    pub contradictions: Vec<Contradiction>,
    /// The choices of the run that contradicts.
    pub contradicting: Option<Choices>,
}

/// The worst that was found of a stream at a listener.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRow {
    /// The stream.
    pub stream: StreamIndex,
    /// The listener, an index of the stream's.
    pub listener: usize,
    /// Whether something was open that may make it later; if not, the described run is all there is.
    pub is_free: bool,
    /// The greatest delay of all runs, the described one too.
    pub worst: Option<Duration>,
    /// The choices of that run; none: it is the described one.
    pub choices: Option<Choices>,
}

/// Searches for the worst runs of a network of which one was observed, with up to `runs` of them for each row.
/// `progress` is called with the number of rows done and of all rows.
///
/// # Panics
/// If bounds or observation are of another network.
#[must_use]
pub fn adversary(
    network: &Network,
    bounds: &Bounds,
    observation: &Observation,
    runs: u64,
    mut progress: impl FnMut(usize, usize),
) -> Adversary {
    let mut search = Search::new(network, bounds, observation);
    let victims = search.victims();
    let free: Vec<bool> = victims.iter().map(|victim| victim.is_free(network, &search.freedom)).collect();
    if runs > 0 && free.contains(&true) {
        let all = Chosen::none(network);
        search.run_for_all(&all);
    }
    let searched = free.iter().filter(|free| **free).count().max(1) as u64;
    let hops = runs.saturating_mul(HOPS) / searched;
    for (number, (victim, is_free)) in victims.iter().zip(&free).enumerate() {
        progress(number, victims.len());
        if *is_free {
            let mut dice = Dice::new(network.run.seed, number as u64 + 1);
            search.climb(victim, (runs, hops), &mut dice);
        }
    }
    progress(victims.len(), victims.len());
    let is_free = |stream: usize, listener: usize| {
        let same = |victim: &rows::Victim| victim.stream == stream && victim.listener == listener;
        victims.iter().position(same).is_some_and(|place| free[place])
    };
    let rows = search.best.iter().enumerate().flat_map(|(stream, listeners)| {
        let (search, is_free) = (&search, &is_free);
        listeners.iter().enumerate().map(move |(listener, best)| FoundRow {
            stream: StreamIndex::at(stream),
            listener,
            is_free: is_free(stream, listener),
            worst: best.delay,
            choices: best.chosen.as_ref().map(|chosen| chosen.named(network, &search.freedom)),
        })
    });
    let (contradicting, contradictions) = match &search.contradicted {
        Some((chosen, found)) => (Some(chosen.named(network, &search.freedom)), found.clone()),
        None => (None, Vec::new()),
    };
    Adversary { runs: search.runs, rows: rows.collect(), contradictions, contradicting }
}

impl Adversary {
    /// Adds what was found to a summary of the same network.
    pub fn add_to(&self, summary: &mut Summary) {
        let rows = self.rows.iter().map(|row| AdversaryRow {
            stream: row.stream,
            listener: row.listener,
            is_free: row.is_free,
            worst: row.worst,
        });
        summary.add_adversary(self.runs, rows, &self.contradictions);
    }

    /// The choices, as a file from which a run is repeated.
    #[must_use]
    pub fn document(&self, network: &Network, bounds: &Bounds) -> ChoicesDocument {
        let mut runs: Vec<Choices> = self.contradicting.iter().cloned().collect();
        let mut rows = Vec::new();
        for row in &self.rows {
            let stream = &network.streams[row.stream.index()];
            let run = row.choices.as_ref().map(|choices| {
                runs.iter().position(|known| known == choices).unwrap_or_else(|| {
                    runs.push(choices.clone());
                    runs.len() - 1
                })
            });
            let bound = bounds.streams[row.stream.index()].listeners[row.listener].delay.as_ref().ok();
            rows.push(RowDocument {
                stream: stream.name.clone(),
                listener: network.nodes[stream.listeners[row.listener].index()].name.clone(),
                delay_max_ps: row.worst.map(Duration::as_ps),
                bound_ps: bound.map(|bound| bound.as_ps()),
                run,
            });
        }
        ChoicesDocument { network: network.name.clone(), rows, runs }
    }
}

/// `adversary.json`: for each row which run makes it latest, and what was chosen for each run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoicesDocument {
    /// Name of the network.
    pub network: String,
    /// Per stream and listener.
    pub rows: Vec<RowDocument>,
    /// The runs. One that contradicts a bound comes first.
    pub runs: Vec<Choices>,
}

/// A row of [`ChoicesDocument`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowDocument {
    /// The stream.
    pub stream: String,
    /// The listener.
    pub listener: String,
    /// The greatest delay found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_max_ps: Option<u64>,
    /// The bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_ps: Option<u64>,
    /// The run in which it was, a place of the runs; absent: the described one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
}

impl ChoicesDocument {
    /// The choices of the run that makes a stream latest, of all its listeners; without a name those of the first run.
    ///
    /// # Errors
    /// If there is no such stream, or nothing was chosen for it, a sentence.
    pub fn choices(&self, stream: Option<&str>) -> Result<&Choices, String> {
        let Some(name) = stream else {
            return self.runs.first().ok_or_else(|| "it holds no run".to_owned());
        };
        let of_it = self.rows.iter().filter(|row| row.stream == name);
        let row = of_it.max_by_key(|row| row.delay_max_ps).ok_or_else(|| format!("no stream `{name}`"))?;
        let run = row.run.ok_or_else(|| format!("`{name}` is latest in the run as described"))?;
        self.runs.get(run).ok_or_else(|| format!("there is no run {run}"))
    }

    /// Its text.
    ///
    /// # Panics
    /// Never: it has string keys only.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("it has string keys only") + "\n"
    }

    /// Reads it.
    ///
    /// # Errors
    /// If it is something else.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}
