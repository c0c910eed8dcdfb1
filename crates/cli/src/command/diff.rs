//! `tautwire diff`: what differs between two results.

use std::path::{Path, PathBuf};

use clap::Args;
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{Compared, RunFolder};

use super::{message, scenario};
use crate::exit::Exit;
use crate::output;
use crate::terminal::Terminal;

pub(super) const HELP: &str = "\
Examples:
  tautwire diff runs/before runs/after
  tautwire diff first.yaml second.yaml
  tautwire diff runs/first-1 first.yaml --json | jq '.listeners[].change'

Compared are the values of the descriptions, and for each stream at each listener verdict, deadline,
bound, delays and losses. The most important rows come first: worse verdicts, then what is there on
one side alone, better verdicts, losses, bounds, delays. Two descriptions are verified as `verify`
does. A description next to a folder is computed with the parts, the seed and the time of that run.

Exit codes: 0 nothing differs, 1 something differs, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Folder of a run, or a description
    #[arg(value_name = "BEFORE")]
    pub(super) before: PathBuf,
    /// Folder of a run, or a description
    #[arg(value_name = "AFTER")]
    pub(super) after: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(arguments: &Diff) -> Result<Exit, Exit> {
    let before = side(&arguments.before)?;
    let after = side(&arguments.after)?;
    let found = tautwire_workbench::difference(&before, &after);
    output::result(&if arguments.json {
        found.to_json()
    } else {
        found.to_text(TableOptions { width: Terminal::of_stdout().columns, ..TableOptions::default() })
    })?;
    // As `diff` has it: 1 says that something differs, not that anything fails.
    Ok(if found.is_empty() { Exit::Holds } else { Exit::DeadlineMissed })
}

/// A folder has results; everything else is a description.
fn side(path: &Path) -> Result<Compared, Exit> {
    if !path.is_dir() {
        return scenario(path).map(|scenario| Compared::Scenario(Box::new(scenario)));
    }
    RunFolder::read(path).map(|run| Compared::Run(Box::new(run))).map_err(|error| {
        message(&format!("{} is not a run folder: {error}", path.display()));
        Exit::WrongInput
    })
}
