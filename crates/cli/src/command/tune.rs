//! `tautwire tune`: parameters that prove all deadlines, written into the description.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use tautwire_workbench::{Duration, NotTuned, TUNE_RUNS, TuneKind, TuneOptions, Tuned};

use super::{load, message, scenario, text};
use crate::args::{Input, positive};
use crate::exit::Exit;
use crate::output;

pub(super) const HELP: &str = "\
Examples:
  tautwire tune slow.yaml --out tuned.yaml
  tautwire tune slow.yaml --only idle-slope,queue-limit > tuned.yaml
  tautwire tune scenarios/in-vehicle.yaml --least --only idle-slope --out least.yaml

Changes as few values as it can, each by as little as proves all deadlines. Comments and layout of
the description stay. Streams without a deadline keep their bounds. What is written is loaded again
and must have the bounds that are told. If nothing is found, nothing is written, and a smallest set
of streams is named that the search cannot prove together.

Exit codes: 0 every deadline is proven, 1 no such values are found, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Tune {
    #[command(flatten)]
    pub(super) input: Input,
    /// Change values of these kinds alone, separated by commas
    #[arg(long, value_name = "KINDS", value_enum, value_delimiter = ',')]
    pub(super) only: Vec<Kind>,
    /// Also lower every stated rate, burst and limit to the least that proves all deadlines
    #[arg(long)]
    pub(super) least: bool,
    /// Most runs of bounds, or the longest time, with its unit [default: 5000 runs]
    #[arg(long, value_name = "RUNS|TIME", value_parser = budget)]
    pub(super) budget: Option<Budget>,
    /// Write the description to this file, and what has changed to stdout
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

/// Kinds of values that can be tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Idle slopes of credit-based classes
    IdleSlope,
    /// Committed information rates and burst sizes of ATS schedulers
    #[value(alias = "shaper")]
    Ats,
    /// Limits of queues, frames and octets
    QueueLimit,
    /// Priorities of streams
    Priority,
}

/// How long a search may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// Runs of bounds.
    Runs(u64),
    /// Time.
    Time(Duration),
}

/// A number of runs, or a duration with its unit.
fn budget(text: &str) -> Result<Budget, String> {
    text.parse().map(Budget::Runs).or_else(|_| positive(text).map(Budget::Time))
}

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
        Kind::IdleSlope => TuneKind::IdleSlope,
        Kind::Ats => TuneKind::Ats,
        Kind::QueueLimit => TuneKind::QueueLimit,
        Kind::Priority => TuneKind::Priority,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_runs_or_a_time_with_its_unit() {
        assert_eq!(budget("250"), Ok(Budget::Runs(250)));
        assert_eq!(budget("10s"), Ok(Budget::Time(Duration::from_s(10))));
        assert!(budget("10").is_ok() && budget("0s").is_err());
    }
}
