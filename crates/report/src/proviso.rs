//! The provisos of a proven row: losses by failures that the description states, messages that newer ones replace, the
//! time until all nodes have network time.
//!
//! One vocabulary for bounds and runs, and for tables, results and page: the words follow *proven*, the reasons are in
//! lines of their own. They follow from the description and its bounds; a run in which something was lost in such a
//! way has them, too. A proviso does not change a verdict: a row that is proven with one is proven. Not here: the
//! cause of a lost copy (`cause.rs`).

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::{Network, StreamIndex};
use tautwire_sim::ListenerObservation;

use crate::as6802;
use crate::cause::Cause;
use crate::summary::{ListenerSummary, Summary};
use crate::verdict::{ListenerVerification, Verdict};

/// What a proven row is proven but for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Proviso {
    /// Frames that are sent before all nodes have network time may be lost.
    OnceSynchronised,
    /// Of messages that come faster than their virtual link sends, the newest alone is sent.
    ForTheNewest,
    /// Failures that the description states may take frames.
    ButForLosses,
}

impl Proviso {
    /// All of them, from best to worst.
    pub const ALL: [Self; 3] = [Self::OnceSynchronised, Self::ForTheNewest, Self::ButForLosses];

    /// Its name in results.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::OnceSynchronised => "once-synchronised",
            Self::ForTheNewest => "for-the-newest",
            Self::ButForLosses => "but-for-losses",
        }
    }

    /// The words after *proven*.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnceSynchronised => "once synchronised",
            Self::ForTheNewest => "for the newest",
            Self::ButForLosses => "but for losses",
        }
    }
}

/// A reason for a proviso.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvisoSummary {
    /// Which one.
    pub proviso: Proviso,
    /// What fails, which link keeps the newest message, or until when there is no network time.
    pub text: String,
}

/// The worst proviso of a row; none if it is not proven, or without any.
pub(crate) fn of(
    network: &Network,
    stream: StreamIndex,
    row: &ListenerVerification,
    seen: Option<&ListenerObservation>,
) -> Option<Proviso> {
    if row.verdict != Verdict::Proven {
        return None;
    }
    let took = |cause| {
        seen.is_some_and(|seen| {
            let in_host = seen.application.as_ref().map_or(0, |host| row.causes.count(&host.dropped, cause));
            row.causes.count(&seen.dropped, cause) + in_host > 0
        })
    };
    let is_replaced = row.may_be_lost.iter().any(tautwire_analysis::Limit::is_meant);
    // Over two networks a failure that takes one copy loses nothing.
    let loses = seen.is_none_or(|seen| seen.lost != Some(0));
    if !row.stated.is_empty() || loses && took(Cause::Failure) {
        Some(Proviso::ButForLosses)
    } else if is_replaced {
        Some(Proviso::ForTheNewest)
    } else if as6802::begins_without(network, stream).is_some() || loses && took(Cause::StartUp) {
        Some(Proviso::OnceSynchronised)
    } else {
        None
    }
}

/// All reasons for provisos of a row.
pub(crate) fn reasons(
    network: &Network,
    stream: StreamIndex,
    row: &ListenerVerification,
) -> Vec<ProvisoSummary> {
    if row.verdict != Verdict::Proven {
        return Vec::new();
    }
    let failures = row.stated.iter().map(|failure| (Proviso::ButForLosses, failure.text(network)));
    let meant = row.may_be_lost.iter().filter(|limit| limit.is_meant());
    let newest = meant.map(|limit| {
        let comes = limit.needed.map_or_else(|| "any number".to_owned(), |needed| needed.to_string());
        (Proviso::ForTheNewest, format!("a buffer for one message, at which {comes} may arrive"))
    });
    let start = as6802::begins_without(network, stream)
        .map(|until| (Proviso::OnceSynchronised, format!("all nodes have network time after {until}")));
    let all = failures.chain(newest).chain(start);
    all.map(|(proviso, text)| ProvisoSummary { proviso, text }).collect()
}

/// A line for each reason, with the streams that it concerns; nothing if there is none.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let mut text = String::new();
    for proviso in Proviso::ALL.into_iter().rev() {
        let of = |listener: &'_ ListenerSummary| {
            let own = listener.apart_from.iter().filter(move |one| one.proviso == proviso);
            own.map(|one| one.text.clone()).collect::<Vec<_>>()
        };
        for (reason, streams) in crate::loss::grouped(summary, of) {
            writeln!(text, "proven {}: {streams}: {reason}", proviso.name())
                .expect("a string can be written");
        }
    }
    text
}
