//! A run in real time next to bound and simulation: `live.json`, and the table of the command.
//!
//! Times of a live run contain what the machine adds: its floor is part of the result, and no verdict rests on them.

use std::fmt::Write as _;

use serde::Serialize;
use tautwire_analysis::Bounds;
use tautwire_model::Network;
use tautwire_sim::Observation;

use crate::grid::{TableOptions, number, render};
use crate::measured::{Measured, columns};
use crate::table::microseconds;

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
    /// Programs of attached stations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramsSummary>,
    /// In what the run differs from the description.
    pub differences: Vec<String>,
}

/// Packets of a stream that programs sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramStreamSummary {
    /// Name of the stream.
    pub stream: String,
    /// Packets that came from programs.
    pub packets: u64,
    /// Those that waited for what the stream promises.
    pub waited: u64,
    /// How long at most.
    pub wait_max_ps: u64,
    /// Those that had waited in vain when the run ended.
    pub unsent: u64,
    /// Those that were discarded, for they were longer than the stream promises.
    pub too_long: u64,
    /// Those that were discarded, for too many waited.
    pub too_many: u64,
}

/// What programs sent and received at a station.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProgramsSummary {
    /// Name of the station.
    pub station: String,
    /// Streams that its programs feed.
    pub streams: Vec<ProgramStreamSummary>,
    /// Packets from its programs that are of none of these streams.
    pub unmatched: u64,
    /// Packets that its programs were given.
    pub given: u64,
    /// Packets that their device did not take.
    pub not_given: u64,
}

impl ProgramsSummary {
    fn lines(&self) -> impl Iterator<Item = String> {
        let of_stream = |own: &ProgramStreamSummary| {
            let mut line = format!("{} of {}: {} packets", self.station, own.stream, own.packets);
            if own.waited > 0 {
                let longest = microseconds(own.wait_max_ps.into());
                write!(line, ", {} waited for the promise, at most {longest} us", own.waited)
                    .expect("a string can be written");
            }
            for (count, what) in [
                (own.too_long, "longer than promised"),
                (own.too_many, "too many that waited"),
                (own.unsent, "waited in vain"),
            ] {
                if count > 0 {
                    write!(line, ", {count} {what}").expect("a string can be written");
                }
            }
            line
        };
        let mut line = format!("{}: {} packets received", self.station, self.given);
        for (count, what) in [(self.not_given, "not taken"), (self.unmatched, "sent that are of no stream")] {
            if count > 0 {
                write!(line, ", {count} {what}").expect("a string can be written");
            }
        }
        self.streams.iter().map(of_stream).chain([line]).collect::<Vec<_>>().into_iter()
    }
}

/// A stream at a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveRow {
    /// Delays and losses.
    #[serde(flatten)]
    pub measured: Measured,
    /// Frames created.
    pub created: u64,
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
        let places = network.streams.iter().enumerate();
        let places = places.flat_map(|(stream, of)| (0..of.listeners.len()).map(move |one| (stream, one)));
        let row = |place: (usize, usize)| LiveRow {
            measured: Measured::new(network, place, bounds, [simulated, live]),
            created: live.streams[place.0].created,
        };
        let rows = places.map(row).collect();
        Self { rows, machine }
    }

    /// Frames that the live run lost, and that listeners did not receive once and in order.
    #[must_use]
    pub fn faults(&self) -> u64 {
        let lost: u64 = self.rows.iter().map(|row| row.measured.lost).sum();
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
        let mut columns = columns(["live median us", "live 99 % us", "live max us"]).to_vec();
        columns.extend([number("frames", 4), number("lost simulated", 5), number("lost live", 0)]);
        let cells = |row: &LiveRow| {
            let mut cells = row.measured.cells();
            cells.extend(
                [row.created, row.measured.simulated_lost, row.measured.lost].map(|one| one.to_string()),
            );
            cells
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
        if !machine.programs.is_empty() {
            table.push_str("\nprograms:\n");
        }
        for line in machine.programs.iter().flat_map(ProgramsSummary::lines) {
            writeln!(table, "  {line}").expect("a string can be written");
        }
        table.push_str("\nthis machine:\n");
        for line in lines.iter().chain(&machine.differences) {
            writeln!(table, "  {line}").expect("a string can be written");
        }
        table
    }
}
