//! Captures of a real network next to bound and simulation: `captures.json`, and the table of the command.
//!
//! A delay counts from the first bit that was captured, so what a talker's host took before is not part of it. If it is nonetheless above
//! the bound, the network is not the described one, or the clocks are not as stated: it is no contradiction of the bound.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use tautwire_analysis::Bounds;
use tautwire_captures::Captured;
use tautwire_model::Network;
use tautwire_sim::Observation;

use crate::grid::{TableOptions, number, render};
use crate::measured::{Measured, columns};
use crate::table::microseconds;

/// A stream at a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureRow {
    /// Delays and losses.
    #[serde(flatten)]
    pub measured: Measured,
    /// From where captured delays count: a place, or `creation`; none: no two stamps can be compared.
    pub delay_from: Option<String>,
    /// Where the frames of the listener were captured; none: nowhere.
    pub delay_to: Option<String>,
    /// By how much each delay may be wrong because of the clocks.
    pub precision_ps: u64,
    /// Frames with a delay.
    pub delays: u64,
    /// Whether the greatest delay is above the bound, whatever the clocks.
    pub is_above_bound: bool,
    /// Frames of the stream that were captured anywhere, or whose numbers are missing.
    pub frames: u64,
    /// Frames that came to the listener.
    pub delivered: u64,
    /// Frames of which captures do not show whether they were lost: they passed at the edge of one.
    pub at_the_edge: u64,
    /// Frames later than the deadline.
    pub late: u64,
    /// Frames that came again.
    pub repeated: u64,
    /// Frames that came behind one with a greater number.
    pub misordered: u64,
    /// Frames that do not fit their CRC; they are lost, too.
    pub changed: u64,
    /// Frames without a delay, for others are equal to them and one of these is missing.
    pub doubtful: u64,
    /// Frames that came before they were sent, by the clocks.
    pub early: u64,
    /// Where frames were lost.
    pub losses: Vec<CaptureLoss>,
}

/// Frames that were seen at one place and not at the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureLoss {
    /// The last place at which they were seen; none: nowhere.
    pub behind: Option<String>,
    /// The next place.
    pub before: String,
    /// How many.
    pub frames: u64,
}

/// An interface that captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapturePoint {
    /// File.
    pub file: String,
    /// Interface, if it has a name.
    pub interface: Option<String>,
    /// Where it captured.
    pub place: String,
    /// Frames, foreign ones included.
    pub frames: u64,
}

/// Frames that are none of the network's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForeignRow {
    /// Destination address.
    pub destination: String,
    /// Source address.
    pub source: String,
    /// Type, in hexadecimal digits.
    pub ether_type: String,
    /// How many.
    pub frames: u64,
}

/// Bound, simulation and captures of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureSummary {
    /// Per stream and listener.
    pub rows: Vec<CaptureRow>,
    /// Interfaces that captured.
    pub points: Vec<CapturePoint>,
    /// Frames that are none of the network's.
    pub foreign: Vec<ForeignRow>,
    /// Frames that may be of several streams.
    pub undecided: u64,
    /// Frames of which too little was captured.
    pub too_short: u64,
    /// Frames where their stream does not pass.
    pub astray: u64,
    /// Frames that nothing had which was captured nearer to the talker.
    pub unmatched: u64,
    /// What is to be known of the captures, each one sentence.
    pub remarks: Vec<String>,
}

impl CaptureSummary {
    /// Of results of one network.
    #[must_use]
    pub fn new(network: &Network, bounds: &Bounds, simulated: &Observation, captured: &Captured) -> Self {
        let row = |row: &tautwire_captures::Row| {
            let runs = [simulated, &captured.observation];
            let measured = Measured::new(network, (row.stream, row.listener), bounds, runs);
            let surely = |max: u64| max.saturating_sub(row.precision.as_ps());
            let above = measured
                .measured_max_ps
                .zip(measured.bound_ps)
                .is_some_and(|(max, bound)| surely(max) > bound);
            let seen = &captured.observation.streams[row.stream].listeners[row.listener];
            CaptureRow {
                delay_from: row.from.clone(),
                delay_to: row.to.clone(),
                precision_ps: row.precision.as_ps(),
                delays: seen.delay.count(),
                is_above_bound: above,
                frames: captured.observation.streams[row.stream].created,
                delivered: seen.delivered,
                at_the_edge: row.at_the_edge,
                late: seen.late,
                repeated: row.repeated,
                misordered: row.misordered,
                changed: row.changed,
                doubtful: row.doubtful,
                early: row.early,
                measured,
                losses: row
                    .losses
                    .iter()
                    .map(|loss| CaptureLoss {
                        behind: loss.behind.clone(),
                        before: loss.before.clone(),
                        frames: loss.frames,
                    })
                    .collect(),
            }
        };
        let point = |point: &tautwire_captures::Point| CapturePoint {
            file: point.file.clone(),
            interface: point.interface.clone(),
            place: point.place.clone(),
            frames: point.frames,
        };
        let foreign = |frames: &tautwire_captures::ForeignFrames| ForeignRow {
            destination: frames.destination.to_string(),
            source: frames.source.to_string(),
            ether_type: format!("{:04x}", frames.kind),
            frames: frames.frames,
        };
        Self {
            rows: captured.rows.iter().map(row).collect(),
            points: captured.points.iter().map(point).collect(),
            foreign: captured.foreign.iter().map(foreign).collect(),
            undecided: captured.undecided,
            too_short: captured.too_short,
            astray: captured.astray,
            unmatched: captured.unmatched,
            remarks: captured.remarks.clone(),
        }
    }

    /// Frames that were lost, changed, late, or did not come once and in order, and delays above their bounds.
    #[must_use]
    pub fn faults(&self) -> u64 {
        let of = |row: &CaptureRow| {
            row.measured.lost + row.late + row.repeated + row.misordered + u64::from(row.is_above_bound)
        };
        self.rows.iter().map(of).sum()
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: all of it can be written.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!("{:#}\n", serde_json::to_value(self).expect("plain values"))
    }

    /// The rows, and below them where delays count from, where frames were lost, and what else was captured.
    #[must_use]
    pub fn table(&self, options: TableOptions) -> String {
        let mut columns = columns(["captured median us", "captured 99 % us", "captured max us"]).to_vec();
        columns.extend([number("frames", 4), number("lost", 0), number("again", 5), number("overtaken", 6)]);
        let cells = |row: &CaptureRow| {
            let mut cells = row.measured.cells();
            let counted = [row.frames, row.measured.lost, row.repeated, row.misordered];
            cells.extend(counted.map(|one| one.to_string()));
            cells
        };
        let rows: Vec<_> = self.rows.iter().map(cells).collect();
        let mut table = render(&columns, &rows, options);
        table.push('\n');
        for line in self.lines() {
            writeln!(table, "{line}").expect("a string can be written");
        }
        table
    }

    /// The lines below the table.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        // Rows whose delays count alike share a line.
        let mut alike: BTreeMap<(String, u64), usize> = BTreeMap::new();
        for row in &self.rows {
            let what = match (&row.delay_from, &row.delay_to) {
                (Some(from), Some(_)) if from == "creation" => {
                    "delays count from the creation that frames state".to_owned()
                }
                (Some(from), Some(_)) => format!("delays count from the first bit at {from}"),
                (None, Some(_)) => {
                    "no delays: no other place was captured by the clock of the listener's, or by one with a \
                                    stated offset (`--clock`, `--one-clock`)"
                        .to_owned()
                }
                (_, None) => "no frames of the listener: nothing was captured there".to_owned(),
            };
            *alike.entry((what, row.precision_ps)).or_default() += 1;
        }
        for ((what, precision), count) in alike {
            let within = if precision > 0 {
                format!(", and may be wrong by {} us", microseconds(precision.into()))
            } else {
                String::new()
            };
            lines.push(format!("{count} rows: {what}{within}"));
        }
        for row in &self.rows {
            let who = format!("{} at {}", row.measured.stream, row.measured.listener);
            for loss in &row.losses {
                let behind = loss.behind.as_ref().map_or_else(
                    || format!("before {}", loss.before),
                    |behind| format!("between {behind} and {}", loss.before),
                );
                lines.push(format!("{who}: {} frames were lost {behind}", loss.frames));
            }
            let counted = [
                (row.changed, "frames were changed: they do not fit their CRC"),
                (row.at_the_edge, "frames passed at the edge of a capture, and may have come"),
                (row.doubtful, "frames have no delay: others are equal to them, and one of these is missing"),
                (row.early, "frames came before they were sent: the offset of the clocks is not as stated"),
                (row.late, "frames were later than the deadline"),
            ];
            for (count, what) in counted.into_iter().filter(|(count, _)| *count > 0) {
                lines.push(format!("{who}: {count} {what}"));
            }
            if row.is_above_bound {
                lines.push(format!(
                    "{who}: above its bound, so the network is not as described, or the clocks are not as stated"
                ));
            }
        }
        let foreign: u64 = self.foreign.iter().map(|row| row.frames).sum();
        let counted = [
            (foreign, "frames are none of the network's"),
            (self.undecided, "frames may be of several streams, and count for none"),
            (self.too_short, "frames were cut before what they are known by"),
            (self.unmatched, "frames of streams are equal to none that was captured nearer to the talker"),
        ];
        for (count, what) in counted.into_iter().filter(|(count, _)| *count > 0) {
            lines.push(format!("{count} {what}"));
        }
        lines.extend(self.remarks.iter().cloned());
        lines
    }
}
