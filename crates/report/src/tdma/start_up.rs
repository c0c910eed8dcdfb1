//! Start-ups in results: what each station of a TDMA network knew, and when its streams began.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::Network;
use tautwire_sim::{Observation, StartUpObservation};
use tautwire_units::Duration;

use crate::name;
use crate::summary::Summary;
use crate::table::microseconds;

/// A station's start-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartUpSummary {
    /// The node.
    pub node: String,
    /// Stations in its table of addresses at the end of the run, itself among them.
    pub known: u32,
    /// How long a synchronisation frame travels to it, as calibration found; zero of the master.
    pub travel_ps: u64,
    /// When its streams began, the last time if it came back; true time since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_ps: Option<u64>,
    /// How often it has come back and run again.
    #[serde(default)]
    pub returns: u32,
    /// How often the master declared it dead.
    #[serde(default)]
    pub declared_dead: u32,
}

/// The start-ups of a run.
pub(crate) fn summaries(network: &Network, observation: &Observation) -> Vec<StartUpSummary> {
    let summary = |seen: &StartUpObservation| StartUpSummary {
        node: name::node(network, seen.node).to_owned(),
        known: seen.known,
        travel_ps: seen.travel.as_ps(),
        running_ps: seen.running_at.map(Duration::as_ps),
        returns: seen.returns,
        declared_dead: seen.declared_dead,
    };
    observation.start_up.iter().map(summary).collect()
}

/// A table of the stations; empty without a start-up.
#[must_use]
pub fn table(summary: &Summary) -> String {
    if summary.start_up.is_empty() {
        return String::new();
    }
    let widest =
        summary.start_up.iter().map(|station| station.node.chars().count()).max().unwrap_or(0).max(7);
    let mut text = format!(
        "{:widest$}  {:>5}  {:>9}  {:>12}  {:>5}  {:>4}\n",
        "station", "known", "travel us", "running us", "again", "dead"
    );
    let rule = |width: usize| "─".repeat(width);
    writeln!(text, "{}", [rule(widest), rule(5), rule(9), rule(12), rule(5), rule(4)].join("  "))
        .expect("a string can be written");
    for station in &summary.start_up {
        let running = station.running_ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
        let travel = microseconds(station.travel_ps.into());
        let (again, dead) = (station.returns, station.declared_dead);
        writeln!(
            text,
            "{:widest$}  {:>5}  {travel:>9}  {running:>12}  {again:>5}  {dead:>4}",
            station.node, station.known
        )
        .expect("a string can be written");
    }
    text
}
