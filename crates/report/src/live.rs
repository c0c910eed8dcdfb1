//! A run in real time next to bound and simulation: `live.json`, and the table of the command.
//!
//! Times of a live run contain what the machine adds: its floor is part of the result, and no verdict rests on them.

use std::fmt::Write as _;

use serde::Serialize;
use tautwire_analysis::Bounds;
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_sim::{ListenerObservation, Observation};
use tautwire_units::Duration;

use crate::grid::{TableOptions, number, render, text};
use crate::name;
use crate::table::microseconds;
use crate::verdict::observed_delay;

/// Median, 99th percentile and greatest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpreadSummary {
    /// Median.
    pub p50_ps: u64,
    /// 99th percentile.
    pub p99_ps: u64,
    /// Greatest.
    pub max_ps: u64,
}

/// What the machine adds by itself, and what a live run counts in addition to its observation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineSummary {
    /// A reading of the clock.
    pub clock_read_ps: u64,
    /// How late a thread wakes that waits for an instant, measured before the run.
    pub timer_lateness: SpreadSummary,
    /// Over an idle link and back, measured before the run.
    pub idle_round_trip: SpreadSummary,
    /// How late the run's transmissions were.
    pub transmission_lateness: SpreadSummary,
    /// Threads of the run.
    pub threads: u64,
    /// Their priority, in words.
    pub priority: String,
    /// Frames that a listener received after one with a greater number.
    pub out_of_order: u64,
    /// Frames that a listener received twice.
    pub duplicates: u64,
    /// Frames that are none of the description's.
    pub foreign: u64,
    /// In what the run differs from the description.
    pub differences: Vec<String>,
}

/// A stream at a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveRow {
    /// Stream.
    pub stream: String,
    /// Listener.
    pub listener: String,
    /// Deadline.
    pub deadline_ps: Option<u64>,
    /// Bound, if there is one.
    pub bound_ps: Option<u64>,
    /// Greatest simulated delay.
    pub simulated_max_ps: Option<u64>,
    /// Median of the live delays, after the warm-up.
    pub live_p50_ps: Option<u64>,
    /// 99th percentile of the live delays, after the warm-up.
    pub live_p99_ps: Option<u64>,
    /// Greatest live delay.
    pub live_max_ps: Option<u64>,
    /// Frames created.
    pub created: u64,
    /// Frames lost in the simulated run.
    pub simulated_lost: u64,
    /// Frames lost in the live run.
    pub live_lost: u64,
}

/// Bound, simulation and live run of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveSummary {
    /// Per stream and listener.
    pub rows: Vec<LiveRow>,
    /// The machine.
    pub machine: MachineSummary,
}

impl LiveSummary {
    /// Of results of one network.
    #[must_use]
    pub fn new(
        network: &Network,
        bounds: &Bounds,
        simulated: &Observation,
        live: &Observation,
        machine: MachineSummary,
    ) -> Self {
        let mut rows = Vec::new();
        for (index, stream) in network.streams.iter().enumerate() {
            for (listener, node) in stream.listeners.iter().enumerate() {
                let [run, seen] = [simulated, live].map(|one| &one.streams[index].listeners[listener]);
                let bound = &bounds.streams[StreamIndex::at(index).index()].listeners[listener].delay;
                let greatest = |seen| observed_delay(seen).map(|delay| delay.max.as_ps());
                let quantile = |ppm| {
                    let most = seen.delay.max()?;
                    Some(seen.histogram.as_ref()?.quantile(ppm)?.min(most).as_ps())
                };
                rows.push(LiveRow {
                    stream: stream.name.clone(),
                    listener: name::node(network, *node).to_owned(),
                    deadline_ps: stream.deadline.map(Duration::as_ps),
                    bound_ps: bound.as_ref().ok().map(|bound| bound.as_ps()),
                    simulated_max_ps: greatest(run),
                    live_p50_ps: quantile(500_000),
                    live_p99_ps: quantile(990_000),
                    live_max_ps: greatest(seen),
                    created: live.streams[index].created,
                    simulated_lost: lost(run),
                    live_lost: lost(seen),
                });
            }
        }
        Self { rows, machine }
    }

    /// Frames that the live run lost, and that listeners did not receive once and in order.
    #[must_use]
    pub fn faults(&self) -> u64 {
        let lost: u64 = self.rows.iter().map(|row| row.live_lost).sum();
        lost + self.machine.out_of_order + self.machine.duplicates
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: all of it can be written.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!("{:#}\n", serde_json::to_value(self).expect("plain values"))
    }

    /// The rows, and the machine below them.
    #[must_use]
    pub fn table(&self, options: TableOptions) -> String {
        let us = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
        let columns = [
            text("stream", 0),
            text("listener", 0),
            number("deadline us", 3),
            number("bound us", 0),
            number("simulated max us", 0),
            number("live median us", 2),
            number("live 99 % us", 1),
            number("live max us", 0),
            number("frames", 4),
            number("lost simulated", 5),
            number("lost live", 0),
        ];
        let cells = |row: &LiveRow| {
            vec![
                row.stream.clone(),
                row.listener.clone(),
                us(row.deadline_ps),
                row.bound_ps.map_or_else(|| "unbounded".to_owned(), |ps| us(Some(ps))),
                us(row.simulated_max_ps),
                us(row.live_p50_ps),
                us(row.live_p99_ps),
                us(row.live_max_ps),
                row.created.to_string(),
                row.simulated_lost.to_string(),
                row.live_lost.to_string(),
            ]
        };
        let rows: Vec<_> = self.rows.iter().map(cells).collect();
        let mut table = render(&columns, &rows, options);
        let machine = &self.machine;
        let spread = |spread: &SpreadSummary| {
            let [half, most, all] =
                [spread.p50_ps, spread.p99_ps, spread.max_ps].map(|ps| microseconds(ps.into()));
            format!("median {half}, 99 % {most}, max {all} us")
        };
        let lines = [
            format!("transmissions late by {}", spread(&machine.transmission_lateness)),
            format!("idle timer late by {}", spread(&machine.timer_lateness)),
            format!("idle round trip {}", spread(&machine.idle_round_trip)),
            format!("clock read in {} ns", machine.clock_read_ps / 1000),
            format!("{} threads, {}", machine.threads, machine.priority),
            format!(
                "{} frames out of order, {} twice, {} foreign",
                machine.out_of_order, machine.duplicates, machine.foreign
            ),
        ];
        table.push_str("\nthis machine:\n");
        for line in lines.iter().chain(&machine.differences) {
            writeln!(table, "  {line}").expect("a string can be written");
        }
        table
    }
}

/// Copies that were lost on their way to a listener.
fn lost(seen: &ListenerObservation) -> u64 {
    seen.dropped.iter().map(|(_, count)| count).sum()
}
