//! The takeover of a TDMA network's standby in results: what it takes at most, of what that is made, and what was seen; and
//! what every kind of failure that is described adds to bounds.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_analysis::{CostRule, Failure, FailureCost, FailureCosts};
use tautwire_model::network::Network;
use tautwire_sim::{Observation, StreamObservation};
use tautwire_units::Duration;

use crate::name;
use crate::summarise::unbounded_summary;
use crate::summary::{Summary, UnboundedSummary};
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

/// What a kind of failure that is described adds to bounds: the bound of a frame is that of the network in which nothing fails,
/// and at most `added_max_ps`; what could not be sent by then is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureSummary {
    /// `stations` that stop, `links` that are cut with the bridges that stop, `frames` that are received wrong,
    /// `talkers` that babble, or `all` of these together, if there are several.
    pub failure: String,
    /// `slots` of a cycle that each station loses, the `lifetime` after which a frame is lost, or `nothing`; absent if nothing is
    /// proven with this failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<UnboundedSummary>,
    /// The takeover time of this failure: by how much it raises the bound of a stream at most. Absent if no stream has a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_max_ps: Option<u64>,
    /// The stream of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// By how much a frame of a run was later than the bound without failures at most, zero if none was; only of all that
    /// fails in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_observed_ps: Option<u64>,
}

/// What failures add, by kind; empty without TDMA, without bounds, and if nothing fails.
pub(crate) fn failures(
    network: &Network,
    has_bounds: bool,
    observation: Option<&Observation>,
) -> Vec<FailureSummary> {
    let Some(costs) = has_bounds.then(|| tautwire_analysis::failure_costs(network)).flatten() else {
        return Vec::new();
    };
    let last = costs.kinds.len() - 1;
    let summary = |(number, cost): (usize, &FailureCost)| {
        let most = cost.added_max();
        let stream = most.and_then(|_| cost.added.iter().position(|added| *added == most));
        let failure = match cost.failure {
            Failure::Stations => "stations",
            Failure::Links => "links",
            Failure::Frames => "frames",
            Failure::Talkers => "talkers",
            Failure::All => "all",
        };
        let rule = cost.rule.as_ref().ok().map(|rule| match rule {
            CostRule::Nothing => "nothing",
            CostRule::Slots => "slots",
            CostRule::Lifetime => "lifetime",
        });
        let seen = observation.filter(|_| number == last).and_then(|seen| beyond(&costs, &seen.streams));
        FailureSummary {
            failure: failure.to_owned(),
            rule: rule.map(str::to_owned),
            unbounded: cost.rule.as_ref().err().map(|reason| unbounded_summary(network, reason)),
            added_max_ps: most.map(Duration::as_ps),
            stream: stream.map(|stream| network.streams[stream].name.clone()),
            added_observed_ps: seen.map(Duration::as_ps),
        }
    };
    costs.kinds.iter().enumerate().map(summary).collect()
}

/// By how much frames were later than the bounds without failures at most, of streams that have bounds with them.
fn beyond(costs: &FailureCosts, streams: &[StreamObservation]) -> Option<Duration> {
    let added = &costs.kinds.last()?.added;
    let pairs = costs.without.streams.iter().zip(streams).zip(added);
    let pairs = pairs.filter_map(|(pair, added)| added.map(|_| pair));
    let listeners = pairs.flat_map(|(bounds, seen)| bounds.listeners.iter().zip(&seen.listeners));
    let late = listeners.filter_map(|(bound, seen)| {
        Some(seen.worst.as_ref()?.delay.saturating_sub(*bound.delay.as_ref().ok()?))
    });
    late.max()
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

/// Lines that state the takeover, and what failures add; empty without either.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let mut text = summary.takeover.as_ref().map_or_else(String::new, of_standby);
    for failure in &summary.failures {
        writeln!(text, "{}", of_failure(failure)).expect("a string can be written");
    }
    text
}

fn of_failure(failure: &FailureSummary) -> String {
    let what = match failure.failure.as_str() {
        "stations" => "stations that stop",
        "links" => "links that are lost",
        "frames" => "synchronisation frames that are lost",
        "talkers" => "talkers that babble",
        _ => "all failures",
    };
    let by = match failure.rule.as_deref() {
        Some("slots") => "slots of a cycle are lost",
        Some("lifetime") => "frames are lost after their lifetime",
        Some(_) => "no slot is lost",
        None => "",
    };
    let us = |ps: u64| microseconds(ps.into());
    match (failure.added_max_ps, &failure.stream, &failure.unbounded) {
        (_, _, Some(reason)) => format!("takeover time, {what}: none is proven ({})", reason.text),
        (Some(most), Some(stream), None) => {
            let seen =
                failure.added_observed_ps.map_or_else(String::new, |seen| format!("; seen {} us", us(seen)));
            format!("takeover time, {what}: {} us at most on top of a bound ({stream}; {by}){seen}", us(most))
        }
        _ => format!("takeover time, {what}: no stream has a bound"),
    }
}

fn of_standby(takeover: &TakeoverSummary) -> String {
    let us = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
    let mut text = String::new();
    let mut push = |line: String| writeln!(text, "{line}").expect("a string can be written");
    if takeover.cycle_ps.is_some() {
        push(format!(
            "takeover by {}: {} us at most from the master's last cycle to the standby's first (cycle {}, watch {}, error {})",
            takeover.standby,
            us(takeover.silence_max_ps),
            us(takeover.cycle_ps),
            us(takeover.watch_ps),
            us(takeover.error_ps)
        ));
    }
    if let Some(stream) = &takeover.takeover_stream {
        push(format!(
            "takeover time: {} us at most on top of a bound ({stream})",
            us(takeover.takeover_max_ps)
        ));
    }
    if takeover.silence_observed_ps.is_some() {
        push(format!(
            "takeover observed: {} us after the master's last cycle",
            us(takeover.silence_observed_ps)
        ));
    }
    text
}
