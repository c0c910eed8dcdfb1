//! `tautwire diff`: what differs between two results.

use std::path::Path;

use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{Compared, RunFolder};

use super::{message, scenario};
use crate::args::Diff;
use crate::exit::Exit;
use crate::output;
use crate::terminal::Terminal;

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
