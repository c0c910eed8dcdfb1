//! The takeover of a TDMA network's standby in results: what it takes at most, of what that is made, and what was seen.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::Network;
use tautwire_sim::Observation;
use tautwire_units::Duration;

use crate::name;
use crate::summary::Summary;
use crate::table::microseconds;

/// The takeover of a standby: `silence_max_ps` = `cycle_ps` + `watch_ps` + `error_ps`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakeoverSummary {
    /// The standby.
    pub standby: String,
    /// Nominal length of the cycle that the master does not open any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle_ps: Option<u64>,
    /// How long the standby watches in the next one before it opens it itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_ps: Option<u64>,
    /// By how much both may be longer: tolerance of the clocks, travel of the synchronisation frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_ps: Option<u64>,
    /// From the start of the last cycle that the master opened to the first synchronisation frame of the standby, at
    /// most; absent if nothing is proven of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_max_ps: Option<u64>,
    /// The takeover time: by how much a failing master raises the bound of a stream at most, over that of the network in
    /// which nothing fails. Absent if no stream has both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takeover_max_ps: Option<u64>,
    /// The stream of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takeover_stream: Option<String>,
    /// What of `silence_max_ps` was seen in the run, at its longest; absent if the standby took over from no master.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_observed_ps: Option<u64>,
}

/// The takeover of a network's standby; none without one, and if there are neither bounds nor a takeover in the run.
pub(crate) fn summary(
    network: &Network,
    has_bounds: bool,
    observation: Option<&Observation>,
) -> Option<TakeoverSummary> {
    let standby = network.tdma.as_ref()?.standby?;
    let seen = observation.and_then(|seen| seen.takeover).map(Duration::as_ps);
    let proven = if has_bounds { tautwire_analysis::takeover(network) } else { None };
    if proven.is_none() && seen.is_none() {
        return None;
    }
    let silence = proven.as_ref().and_then(|one| one.silence.as_ref().ok());
    let most = proven.as_ref().and_then(tautwire_analysis::Takeover::added_max);
    let stream =
        proven.as_ref().and_then(|one| one.added.iter().position(|added| most.is_some() && *added == most));
    Some(TakeoverSummary {
        standby: name::node(network, network.streams[standby.synchronisation.index()].talker).to_owned(),
        cycle_ps: proven.as_ref().map(|one| one.cycle.as_ps()),
        watch_ps: proven.as_ref().map(|one| one.watch.as_ps()),
        error_ps: proven.as_ref().map(|one| one.error.as_ps()),
        silence_max_ps: silence.map(|most| most.as_ps()),
        takeover_max_ps: most.map(Duration::as_ps),
        takeover_stream: stream.map(|stream| network.streams[stream].name.clone()),
        silence_observed_ps: seen,
    })
}

/// Lines that state the takeover; empty without a standby.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let Some(takeover) = &summary.takeover else { return String::new() };
    let us = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
    let mut text = String::new();
    let mut say = |line: String| writeln!(text, "{line}").expect("a string can be written");
    if takeover.cycle_ps.is_some() {
        say(format!(
            "takeover by {}: {} us at most from the master's last cycle to the standby's first (cycle {}, watch {}, error {})",
            takeover.standby,
            us(takeover.silence_max_ps),
            us(takeover.cycle_ps),
            us(takeover.watch_ps),
            us(takeover.error_ps)
        ));
    }
    if let Some(stream) = &takeover.takeover_stream {
        say(format!(
            "takeover time: {} us at most on top of a bound ({stream})",
            us(takeover.takeover_max_ps)
        ));
    }
    if takeover.silence_observed_ps.is_some() {
        say(format!(
            "takeover observed: {} us after the master's last cycle",
            us(takeover.silence_observed_ps)
        ));
    }
    text
}
