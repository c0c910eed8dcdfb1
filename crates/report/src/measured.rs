//! Delays measured in a real network, in a live run or by captures, next to bound and simulation.

use serde::Serialize;
use tautwire_analysis::Bounds;
use tautwire_model::Network;
use tautwire_sim::{ListenerObservation, Observation};
use tautwire_units::Duration;

use crate::grid::{Column, number, text};
use crate::name;
use crate::table::microseconds;
use crate::verdict::observed_delay;

/// A stream at a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measured {
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
    /// Median of the measured delays, after the warm-up if there is one.
    pub measured_p50_ps: Option<u64>,
    /// 99th percentile of them.
    pub measured_p99_ps: Option<u64>,
    /// Greatest of them.
    pub measured_max_ps: Option<u64>,
    /// Frames lost in the simulated run.
    pub simulated_lost: u64,
    /// Frames lost in the real network.
    pub lost: u64,
}

impl Measured {
    /// Of a stream and a listener, by their places in the network.
    pub(crate) fn new(
        network: &Network,
        (stream, listener): (usize, usize),
        bounds: &Bounds,
        [simulated, measured]: [&Observation; 2],
    ) -> Self {
        let [run, seen] = [simulated, measured].map(|one| &one.streams[stream].listeners[listener]);
        let greatest = |seen: &ListenerObservation| observed_delay(seen).map(|delay| delay.max.as_ps());
        let quantile = |ppm| {
            let most = seen.delay.max()?;
            Some(seen.histogram.as_ref()?.quantile(ppm)?.min(most).as_ps())
        };
        let described = &network.streams[stream];
        Self {
            stream: described.name.clone(),
            listener: name::node(network, described.listeners[listener]).to_owned(),
            deadline_ps: described.deadline.map(Duration::as_ps),
            bound_ps: bounds.streams[stream].listeners[listener]
                .delay
                .as_ref()
                .ok()
                .map(|bound| bound.as_ps()),
            simulated_max_ps: greatest(run),
            measured_p50_ps: quantile(500_000),
            measured_p99_ps: quantile(990_000),
            measured_max_ps: greatest(seen),
            simulated_lost: lost(run),
            lost: lost(seen),
        }
    }

    /// Its cells in the [`columns`] of a table.
    pub(crate) fn cells(&self) -> Vec<String> {
        let us = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
        vec![
            self.stream.clone(),
            self.listener.clone(),
            us(self.deadline_ps),
            self.bound_ps.map_or_else(|| "unbounded".to_owned(), |ps| us(Some(ps))),
            us(self.simulated_max_ps),
            us(self.measured_p50_ps),
            us(self.measured_p99_ps),
            us(self.measured_max_ps),
        ]
    }
}

/// The columns of a table; `titles` are those of the measured median, 99th percentile and greatest value.
pub(crate) const fn columns([median, most, greatest]: [&str; 3]) -> [Column<'_>; 8] {
    [
        text("stream", 0),
        text("listener", 0),
        number("deadline us", 3),
        number("bound us", 0),
        number("simulated max us", 0),
        number(median, 2),
        number(most, 1),
        number(greatest, 0),
    ]
}

/// Copies that were lost on their way to a listener.
fn lost(seen: &ListenerObservation) -> u64 {
    seen.dropped.iter().map(|(_, count)| count).sum()
}
