//! `tautwire schedule`: dispatch points of time-triggered virtual links; offsets and gates of time-aware streams.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use tautwire_workbench::{
    Duration, GateOptions, Network, ScheduleVerdict, Scheduled, ScheduledGates, with_dispatch_points,
};

use super::{load, message, schedule_gates, text};
use crate::args::{Input, duration};
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::{diagnostics, output};

pub(super) const HELP: &str = "\
Examples:
  tautwire schedule scenarios/to-be-scheduled.yaml
  tautwire schedule scenarios/to-be-scheduled.yaml --json | jq '.links[].points[0].offset_ps'
  tautwire schedule scenarios/to-be-scheduled.yaml --out scheduled.yaml

Time-triggered virtual links get dispatch points. Time-aware streams get offsets, and the ports on
their paths lists of gates; the bounds of the network with them are shown.

With --at streams without an offset are added to those that have one, in a run: the description gets
events that set new lists, begin all of them at one instant and start the talkers behind it. They
are refused unless no stream is lost or late before, during and after the change.

Offsets in the description are ignored. Large sets are scheduled link by link. For small sets a
complete search finds a schedule or proves that there is none. A checker with separate code verifies
the margins of every schedule.

Exit codes: 0 all are scheduled, and gates proven, 1 some are not, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Schedule {
    #[command(flatten)]
    pub(super) input: Input,
    /// Write the description with the found offsets, and gates, to this file
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Keep offsets that time-aware streams state, and their windows
    #[arg(long)]
    pub(super) keep: bool,
    /// Change the lists in a run, for streams without an offset and those that ended: set them at this instant, with its unit
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "keep")]
    pub(super) at: Option<Duration>,
    /// Greatest difference of two clocks for which windows of gates leave time, with its unit
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) precision: Option<Duration>,
}

pub(super) fn run(arguments: &Schedule) -> Result<Exit, Exit> {
    let path = &arguments.input.path;
    let network = network(path)?;
    let options = GateOptions { precision: arguments.precision.unwrap_or_default(), keep: arguments.keep };
    if let Some(at) = arguments.at {
        return schedule_gates::show_change(arguments, at, &options);
    }
    if let Some(found) = ScheduledGates::find(&network, &options) {
        return schedule_gates::show(arguments, found);
    }
    let Some(found) = Scheduled::find(&network) else {
        message(&format!(
            "{}: nothing to schedule: give streams a `time-aware:`, or a `time-triggered:`",
            path.display()
        ));
        return Err(Exit::WrongInput);
    };
    let found = found.map_err(|faults| {
        message(&format!(
            "{}: the raster or the ports do not allow the schedule: {}",
            path.display(),
            faults.join("; ")
        ));
        Exit::DeadlineMissed
    })?;
    if let Some(place) = &arguments.out {
        write(path, place, |name, text| with_dispatch_points(name, text, &found.network))?;
    }
    let text = if arguments.input.json { format!("{:#}\n", found.to_json()) } else { table(&found) };
    output::result(&text)?;
    Ok(match found.verdict {
        ScheduleVerdict::Scheduled => Exit::Holds,
        ScheduleVerdict::Impossible | ScheduleVerdict::LeftOut => Exit::DeadlineMissed,
    })
}

/// Writes the description with its schedule.
pub(super) fn write(
    path: &Path,
    place: &Path,
    scheduled: impl Fn(&str, &str) -> Option<String>,
) -> Result<(), Exit> {
    let name = path.display().to_string();
    // Of this file alone: what it names stays where it is.
    let own = text(path)?;
    let Some(text) = scheduled(&name, &own) else {
        message(&format!(
            "{name}: the streams or ports are described in a table or by an alias, not in this text; use --json"
        ));
        return Err(Exit::WrongInput);
    };
    std::fs::write(place, text).map_err(|error| {
        message(&format!("cannot write {}: {error}", place.display()));
        Exit::Failure
    })?;
    message(&format!("description with its schedule in {}", place.display()));
    Ok(())
}

/// The network of a description, its faults shown; that links have no schedule yet is none here.
fn network(path: &Path) -> Result<Network, Exit> {
    let mut loaded = load(path)?;
    loaded.diagnostics.retain(|found| found.code != "time-triggered::unscheduled");
    output::note(&diagnostics::drawn(&loaded, Terminal::of_stderr()));
    loaded.network.ok_or_else(|| {
        message(&format!("{}: {}", path.display(), diagnostics::counted(&loaded.diagnostics)));
        Exit::WrongInput
    })
}

/// A schedule for people.
fn table(found: &Scheduled) -> String {
    let network = &found.network;
    let mut rows = vec![["link", "period", "from", "sent at", "there by"].map(str::to_owned)];
    for link in &found.links {
        let stream = &network.streams[link.stream.index()];
        let timed = stream.time_triggered.as_ref().expect("a time-triggered link");
        let period = timed.period.to_string();
        let Some(offsets) = &link.offsets else {
            rows.push([stream.name.clone(), period, "-".into(), "left out".into(), String::new()]);
            continue;
        };
        let latency = link.latency_max.map(|most| most.to_string()).unwrap_or_default();
        for (number, (hop, offset)) in stream.hops.iter().zip(offsets).enumerate() {
            let port = &network.ports[hop.port.index()];
            let from = format!("{}:{}", network.nodes[port.node.index()].name, port.name);
            let first = |text: &String| if number == 0 { text.clone() } else { String::new() };
            rows.push([first(&stream.name), first(&period), from, offset.to_string(), first(&latency)]);
        }
    }
    // Times to the right.
    let mut text = aligned(&rows, |column| matches!(column, 0 | 2));
    let busiest = found.loads.iter().max_by_key(|(_, ppm)| *ppm);
    if let Some((port, ppm)) = busiest {
        let port = &network.ports[port.index()];
        let node = &network.nodes[port.node.index()].name;
        let tenths = ppm.div_ceil(1_000);
        let _ = writeln!(
            text,
            "\nbusiest line: {node}:{}, {}.{} % of its time in slots",
            port.name,
            tenths / 10,
            tenths % 10
        );
    }
    let placed = found.links.iter().filter(|link| link.offsets.is_some()).count();
    let _ = match found.verdict {
        ScheduleVerdict::Scheduled => writeln!(text, "all {placed} links are scheduled"),
        ScheduleVerdict::Impossible => {
            writeln!(text, "no schedule holds all links: {placed} of {} as shown", found.links.len())
        }
        ScheduleVerdict::LeftOut => {
            writeln!(
                text,
                "{placed} of {} links are scheduled; whether a schedule of all links exists is unknown",
                found.links.len()
            )
        }
    };
    text
}

/// Rows as text, some columns to the left and all others to the right.
pub(super) fn aligned<const N: usize>(rows: &[[String; N]], is_left: impl Fn(usize) -> bool) -> String {
    let mut text = String::new();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = widths[column];
            let _ =
                if is_left(column) { write!(line, "{cell:<pad$}  ") } else { write!(line, "{cell:>pad$}  ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
