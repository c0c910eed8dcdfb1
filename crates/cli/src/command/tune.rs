//! `tautwire tune`: parameters that prove all deadlines, written into the description.

use std::path::Path;
use std::time::Instant;

use tautwire_workbench::{NotTuned, TUNE_RUNS, TuneKind, TuneOptions, Tuned};

use super::{load, message, scenario, text};
use crate::args::{self, Budget, Tune};
use crate::exit::Exit;
use crate::output;

pub(super) fn run(arguments: &Tune) -> Result<Exit, Exit> {
    let path = &arguments.input.path;
    // Its faults are shown, those of its files too.
    scenario(path)?;
    let name = path.display().to_string();
    let text = text(path)?;
    let tuned = tuned(arguments, &name, &text)?;
    if let Some(place) = &arguments.out {
        write(&tuned, place)?;
    }
    let report = tuned.to_text();
    match (&arguments.out, &tuned.text) {
        _ if arguments.input.json => output::result(&format!("{:#}\n", tuned.to_json()))?,
        (None, Some(text)) => {
            output::note(&report);
            output::result(text)?;
        }
        _ => output::result(&report)?,
    }
    Ok(if tuned.text.is_some() { Exit::Holds } else { Exit::DeadlineMissed })
}

fn tuned(arguments: &Tune, name: &str, text: &str) -> Result<Tuned, Exit> {
    let begin = Instant::now();
    let time = match arguments.budget {
        Some(Budget::Time(time)) => Some(std::time::Duration::from_nanos(time.as_ps() / 1_000)),
        _ => None,
    };
    let runs = match arguments.budget {
        Some(Budget::Runs(runs)) => runs,
        Some(Budget::Time(_)) => u64::MAX,
        None => TUNE_RUNS,
    };
    let only = arguments.only.iter().map(|kind| match kind {
        args::TuneKind::IdleSlope => TuneKind::IdleSlope,
        args::TuneKind::Ats => TuneKind::Ats,
        args::TuneKind::QueueLimit => TuneKind::QueueLimit,
        args::TuneKind::Priority => TuneKind::Priority,
    });
    let kinds = if arguments.only.is_empty() { TuneKind::ALL.to_vec() } else { only.collect() };
    let stop = &mut || time.is_some_and(|time| begin.elapsed() > time);
    let mut options = TuneOptions { kinds, least: arguments.least, runs, stop };
    tautwire_workbench::tune(name, text, &mut options).map_err(|reason| {
        message(&match reason {
            NotTuned::Faulty => format!("{name} has faults"),
            NotTuned::NoDeadline => format!("{name}: no stream has a deadline: nothing to prove"),
        });
        Exit::WrongInput
    })
}

/// Writes the description, reads it again, and compares it with the reported result.
fn write(tuned: &Tuned, place: &Path) -> Result<(), Exit> {
    let Some(text) = &tuned.text else {
        message(&format!("{} is not written: no such values are found", place.display()));
        return Ok(());
    };
    std::fs::write(place, text).map_err(|error| {
        message(&format!("cannot write {}: {error}", place.display()));
        Exit::Failure
    })?;
    if !load(place)?.network.is_some_and(|network| tuned.is_of(&network)) {
        message(&format!(
            "{} has other bounds than are told: files that the description names are sought beside it",
            place.display()
        ));
        return Err(Exit::Failure);
    }
    message(&format!("description with these values in {}", place.display()));
    Ok(())
}
