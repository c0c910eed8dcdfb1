//! Clock precision in results: how far every node's time of the grandmaster was off.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_analysis::{Bounds, SyncLosses, clock_precision, corrected_precision};
use tautwire_model::network::Network;
use tautwire_sim::Observation;
use tautwire_units::Duration;

use crate::name;
use crate::summary::Summary;
use crate::table::microseconds;

/// A node's time in a run with gPTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClockSummary {
    /// The node.
    pub node: String,
    /// Whom it follows at the end of the run; itself, if it is the grandmaster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grandmaster: Option<String>,
    /// Ports that are capable of gPTP at the end.
    pub capable_ports: u32,
    /// When it first had the time of a grandmaster, true time since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synchronised_ps: Option<u64>,
    /// Samples after the warm-up in which it had the time.
    pub count: u64,
    /// Samples in which it had none.
    pub without: u64,
    /// Least offset: its time of the grandmaster, less the reading of that one's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_min_ps: Option<i64>,
    /// Mean offset, to the nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_mean_ps: Option<i64>,
    /// Greatest offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_max_ps: Option<i64>,
    /// Sample standard deviation of the offsets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_sd_ps: Option<u64>,
    /// What its offset is never beyond, either way, from the grandmaster that it follows at the end: proven while no message is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_ps: Option<u64>,
    /// Least offset of its corrected clock, by which its applications send and stamp; none without a servo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_min_ps: Option<i64>,
    /// Greatest offset of its corrected clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_max_ps: Option<i64>,
    /// What its corrected clock is never beyond, either way, from the grandmaster that it follows at the end: proven while no message is lost, if that
    /// grandmaster was followed since the middle of the warm-up and the clock was not stepped since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected_bound_ps: Option<u64>,
    /// How often its corrected clock was stepped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
}

/// The clocks of a run.
pub(crate) fn summaries(
    network: &Network,
    bounds: Option<&Bounds>,
    observation: &Observation,
) -> Vec<ClockSummary> {
    let bound = |seen: &tautwire_sim::ClockObservation| {
        clock_precision(network, bounds?, seen.grandmaster?, seen.node).map(Duration::as_ps)
    };
    let corrected = |seen: &tautwire_sim::ClockObservation| {
        seen.corrected.as_ref()?;
        corrected_precision(network, bounds?, seen.grandmaster?, seen.node, SyncLosses::None)
            .map(Duration::as_ps)
    };
    let summary = |seen: &tautwire_sim::ClockObservation| ClockSummary {
        node: name::node(network, seen.node).to_owned(),
        grandmaster: seen.grandmaster.map(|node| name::node(network, node).to_owned()),
        capable_ports: seen.capable_ports,
        synchronised_ps: seen.synchronised_at.map(Duration::as_ps),
        count: seen.offset.count(),
        without: seen.without,
        offset_min_ps: seen.offset.min_ps(),
        offset_mean_ps: seen.offset.mean_ps(),
        offset_max_ps: seen.offset.max_ps(),
        offset_sd_ps: seen.offset.standard_deviation_ps(),
        bound_ps: bound(seen),
        corrected_min_ps: seen.corrected.as_ref().and_then(|corrected| corrected.offset.min_ps()),
        corrected_max_ps: seen.corrected.as_ref().and_then(|corrected| corrected.offset.max_ps()),
        corrected_bound_ps: corrected(seen),
        steps: seen.corrected.as_ref().map(|corrected| corrected.steps),
    };
    observation.clocks.iter().map(summary).collect()
}

/// A table of the clocks, a row for each node; empty without gPTP.
#[must_use]
pub fn table(summary: &Summary) -> String {
    if summary.clocks.is_empty() {
        return String::new();
    }
    let widest = summary.clocks.iter().map(|clock| clock.node.chars().count()).max().unwrap_or(0).max(11);
    let mut text = format!(
        "{:widest$}  {:widest$}  {:>10}  {:>10}  {:>10}  {:>8}  {:>7}\n",
        "clock", "grandmaster", "least us", "mean", "greatest", "bound", "without"
    );
    let rule = |width: usize| "─".repeat(width);
    let rules = [rule(widest), rule(widest), rule(10), rule(10), rule(10), rule(8), rule(7)];
    writeln!(text, "{}", rules.join("  ")).expect("a string can be written");
    for clock in &summary.clocks {
        let us = |ps: Option<i64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
        writeln!(
            text,
            "{:widest$}  {:widest$}  {:>10}  {:>10}  {:>10}  {:>8}  {:>7}",
            clock.node,
            clock.grandmaster.as_deref().unwrap_or("-"),
            us(clock.offset_min_ps),
            us(clock.offset_mean_ps),
            us(clock.offset_max_ps),
            us(clock.bound_ps.and_then(|bound| i64::try_from(bound).ok())),
            clock.without
        )
        .expect("a string can be written");
    }
    text.push_str(&corrected(summary));
    text
}

/// A row for each corrected clock; empty without a servo.
fn corrected(summary: &Summary) -> String {
    let mut text = String::new();
    let clocks = summary.clocks.iter().filter_map(|clock| Some((clock, clock.steps?)));
    for (clock, steps) in clocks {
        let us = |ps: Option<i64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
        let bound = clock.corrected_bound_ps.and_then(|bound| i64::try_from(bound).ok());
        writeln!(
            text,
            "{}: corrected clock {} to {} us off{}, {steps} steps",
            clock.node,
            us(clock.corrected_min_ps),
            us(clock.corrected_max_ps),
            bound.map_or_else(String::new, |bound| format!(" (bound {})", us(Some(bound))))
        )
        .expect("a string can be written");
    }
    text
}
