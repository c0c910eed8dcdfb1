//! `tautwire schedule` of time-aware streams: offsets of talkers and lists of gates.

use std::fmt::Write as _;

use tautwire_workbench::network::Traffic;
use tautwire_workbench::{
    Duration, GateOptions, ScheduleVerdict, ScheduledChange, ScheduledGates, StreamIndex,
};

use super::schedule::{Schedule, aligned, write};
use super::{message, text as read};
use crate::exit::Exit;
use crate::output;

/// Writes and shows what was found.
pub(super) fn show(arguments: &Schedule, found: Result<ScheduledGates, Vec<String>>) -> Result<Exit, Exit> {
    let path = &arguments.input.path;
    let found = found.map_err(|reasons| {
        message(&format!("{}: no gates can be scheduled: {}", path.display(), reasons.join("; ")));
        Exit::DeadlineMissed
    })?;
    if let Some(place) = &arguments.out {
        write(path, place, |name, text| found.written(name, text))?;
    }
    let text = if arguments.input.json {
        format!("{:#}\n", found.to_json())
    } else {
        let mut text = table(&found) + &reasons(&found);
        if !found.unproven.is_empty() {
            let _ = writeln!(
                text,
                "`tautwire bounds {} --explain STREAM`, with the schedule in it, says how a bound came about",
                path.display()
            );
        }
        text
    };
    output::result(&text)?;
    Ok(if found.holds() { Exit::Holds } else { Exit::DeadlineMissed })
}

/// Writes and shows a change in a run.
pub(super) fn show_change(arguments: &Schedule, at: Duration, options: &GateOptions) -> Result<Exit, Exit> {
    let path = &arguments.input.path;
    let own = read(path)?;
    let Some(found) = ScheduledChange::find(&path.display().to_string(), &own, options, at) else {
        message(&format!("{}: no stream to add: give it a `time-aware:` and no `offset`", path.display()));
        return Err(Exit::WrongInput);
    };
    let found = found.map_err(|reasons| {
        message(&format!("{}: the lists cannot change: {}", path.display(), reasons.join("; ")));
        Exit::DeadlineMissed
    })?;
    let holds = found.holds();
    if holds && let Some(place) = &arguments.out {
        write(path, place, |_, _| Some(found.text.clone()))?;
    }
    let text = if arguments.input.json {
        format!("{:#}\n", found.to_json())
    } else {
        let change = &found.change;
        let ports: Vec<String> = change.lists.iter().map(|(port, _)| found.gates.port_name(*port)).collect();
        let name = |stream: StreamIndex| found.gates.network.streams[stream.index()].name.clone();
        let streams: Vec<String> = change.streams.iter().map(|(stream, _)| name(*stream)).collect();
        let ended: Vec<String> = found.ended.iter().map(|stream| name(*stream)).collect();
        let mut text = table(&found.gates) + "\n";
        if !ended.is_empty() {
            let _ = writeln!(text, "windows are given back: {}", ended.join(", "));
        }
        let _ = writeln!(text, "{}: new lists are set at {}", change.at, ports.join(", "));
        let _ = writeln!(text, "{}: they begin", found.begin);
        if !streams.is_empty() {
            let _ = writeln!(text, "{}: talkers start: {}", change.start, streams.join(", "));
        }
        text.push_str(if holds {
            "proven: no stream is lost or late before, during and after the change\n"
        } else {
            "refused: a stream is not proven before, during and after the change\n"
        });
        text.push_str(&reasons(&found.gates));
        text
    };
    output::result(&text)?;
    Ok(if holds { Exit::Holds } else { Exit::DeadlineMissed })
}

/// A schedule for people.
fn table(found: &ScheduledGates) -> String {
    let network = &found.network;
    let mut rows =
        vec![["stream", "interval", "offset", "there by", "jitter", "deadline", ""].map(str::to_owned)];
    for one in &found.streams {
        let stream = &network.streams[one.stream.index()];
        let interval = match stream.traffic {
            Traffic::Periodic { interval, .. } => interval.to_string(),
            _ => String::new(),
        };
        let deadline = stream.deadline.map(|deadline| deadline.to_string()).unwrap_or_default();
        let verdict = match (one.is_proven, stream.deadline) {
            (true, Some(_)) => "proven",
            (true, None) => "",
            (false, _) => "not proven",
        };
        let time = |time: Option<_>| {
            time.map_or("-".to_owned(), |time: tautwire_workbench::Duration| time.to_string())
        };
        let Some(offset) = one.offset else {
            let left_out = ["left out", "", "", &deadline, ""].map(str::to_owned);
            let [offset, bound, jitter, deadline, verdict] = left_out;
            rows.push([stream.name.clone(), interval, offset, bound, jitter, deadline, verdict]);
            continue;
        };
        rows.push([
            stream.name.clone(),
            interval,
            offset.to_string(),
            time(one.bound),
            time(one.jitter),
            deadline,
            verdict.to_owned(),
        ]);
    }
    let mut text = aligned(&rows, |column| matches!(column, 0 | 6));
    let mut rows = vec![["port", "cycle", "entries", "scheduled"].map(str::to_owned)];
    for port in &found.ports {
        let tenths = port.ppm.div_ceil(1_000);
        let share = format!("{}.{} %", tenths / 10, tenths % 10);
        rows.push([found.port_name(port.port), port.cycle.to_string(), port.entries.to_string(), share]);
    }
    if rows.len() > 1 {
        text.push('\n');
        text.push_str(&aligned(&rows, |column| column == 0));
    }
    let all = found.streams.len();
    let placed = found.streams.iter().filter(|stream| stream.offset.is_some()).count();
    let _ = match found.verdict {
        ScheduleVerdict::Scheduled => writeln!(text, "\nall {placed} streams are scheduled"),
        ScheduleVerdict::Impossible => {
            writeln!(text, "\nno schedule holds all streams: {placed} of {all} as shown")
        }
        ScheduleVerdict::LeftOut => writeln!(
            text,
            "\n{placed} of {all} streams are scheduled; whether a schedule of all streams exists is unknown"
        ),
    };
    let names = |streams: &[StreamIndex]| {
        let name = |stream: &StreamIndex| network.streams[stream.index()].name.clone();
        streams.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    if let Some((streams, is_proven)) = &found.conflict {
        let how = if *is_proven { "no schedule has all of" } else { "the search does not place together" };
        let _ = writeln!(text, "{how}: {}", names(streams));
    }
    if !found.others.is_empty() {
        let _ = writeln!(text, "not proven with these gates: {}", names(&found.others));
    }
    text
}

/// Why streams are not proven, a line for each listener.
fn reasons(found: &ScheduledGates) -> String {
    let mut text = String::new();
    for one in &found.unproven {
        let stream = &found.network.streams[one.stream.index()].name;
        let listener = &found.network.nodes[one.listener.index()].name;
        let _ = writeln!(text, "{stream} to {listener}: {}", one.text);
    }
    text
}
