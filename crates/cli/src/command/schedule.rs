//! `tautwire schedule`: dispatch points of time-triggered virtual links; offsets and gates of time-aware streams.

use std::fmt::Write as _;
use std::path::Path;

use tautwire_workbench::{
    GateOptions, Network, ScheduleVerdict, Scheduled, ScheduledGates, with_dispatch_points,
};

use super::{load, message, schedule_gates, text};
use crate::args::Schedule;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::{diagnostics, output};

pub(super) fn run(arguments: &Schedule) -> Result<Exit, Exit> {
    let path = &arguments.input.path;
    let network = network(path)?;
    let options = GateOptions { precision: arguments.precision.unwrap_or_default(), keep: arguments.keep };
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
