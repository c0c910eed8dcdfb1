//! What an adversary found, next to what was observed and what is proven.
//!
//! Not here: the search (`workbench`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::StreamIndex;
use tautwire_units::Duration;

use crate::contradiction::Contradiction;
use crate::name;
use crate::summary::{ListenerSummary, Summary};
use crate::verdict::Verdict;

/// The worst that was found of a stream at a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdversaryRow {
    /// The stream.
    pub stream: StreamIndex,
    /// The listener, an index of the stream's.
    pub listener: usize,
    /// Whether something was open that may make it later.
    pub is_free: bool,
    /// The greatest delay.
    pub worst: Option<Duration>,
}

/// A search for the worst runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdversarySearch {
    /// Runs that were made.
    pub runs: u64,
    /// Observations of them above their bounds, each a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<String>,
}

/// The worst delay that a search found, and how near the bound comes to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdversarySummary {
    /// The greatest delay of all its runs, the described one too; absent if no frame arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_max_ps: Option<u64>,
    /// Bound over that delay, in thousandths, to the nearest; absent without a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_to_worst_mille: Option<u64>,
    /// Whether the description leaves open anything that may make it later. If not, nothing was searched.
    pub open: bool,
}

impl Summary {
    /// Adds what an adversary found; a contradiction makes its row's verdict.
    pub fn add_adversary(
        &mut self,
        runs: u64,
        rows: impl Iterator<Item = AdversaryRow>,
        contradictions: &[Contradiction],
    ) {
        let texts: Vec<String> = contradictions.iter().map(|one| format!("{one} (adversary)")).collect();
        self.adversary = Some(AdversarySearch { runs, contradictions: texts.clone() });
        for row in rows {
            let is_contradicted = contradictions.iter().any(|one| one.is_of(row.stream, row.listener));
            let stream = &mut self.streams[row.stream.index()];
            let listener = &mut stream.listeners[row.listener];
            listener.adversary = Some(of_row(&row, listener));
            if is_contradicted {
                listener.verdict = Some(Verdict::Contradiction);
                stream.verdict = Some(Verdict::Contradiction);
            }
        }
        let Some(verification) = self.verification.as_mut().filter(|_| !texts.is_empty()) else { return };
        verification.verdict = Verdict::Contradiction;
        verification.contradictions.extend(texts);
        verification.streams.clear();
        for verdict in self.streams.iter().filter_map(|stream| stream.verdict) {
            *verification.streams.entry(name::kebab(&format!("{verdict:?}"))).or_default() += 1;
        }
    }
}

fn of_row(row: &AdversaryRow, listener: &ListenerSummary) -> AdversarySummary {
    let bound = listener.bound.as_ref().and_then(|bound| bound.delay_max_ps);
    let worst = row.worst.map(Duration::as_ps);
    let ratio = bound.zip(worst.filter(|worst| *worst > 0));
    AdversarySummary {
        delay_max_ps: worst,
        bound_to_worst_mille: ratio.map(|(bound, worst)| {
            let (bound, worst) = (u128::from(bound), u128::from(worst));
            let mille = (bound * 1_000 + worst / 2) / worst;
            u64::try_from(mille).unwrap_or(u64::MAX)
        }),
        open: row.is_free,
    }
}
