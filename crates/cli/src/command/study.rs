//! `tautwire study`: the command of the Python package, which runs studies.

use std::env;
use std::process::Command;

use clap::Args;

use super::message;
use crate::exit::Exit;

pub(super) const HELP: &str = "\
Examples:
  tautwire study load.yaml
  tautwire study load.yaml --executor dask --cluster tcp://head:8786
  tautwire study load.results
  tautwire study load.results --repeat 17

A study file names a description, the values of it that are varied, and the seeds. Rows are written
to Parquet files piece by piece. The same command goes on where it was stopped, and counts no task
twice. Options: `--out FOLDER`, `--executor serial|processes|dask|ray`, `--workers N`, `--cluster
ADDRESS`, `--share I/N`, `--anew`, `--repeat TASK`, `--quiet`, `--json`. It needs the Python package.

Exit codes: 0 all tasks are done, 1 some failed, 2 wrong input, 3 failure.";

/// What the Python package reads.
#[derive(Debug, Args)]
pub(crate) struct Study {
    /// Study file (YAML) or folder of a study, and options
    #[arg(value_name = "STUDY", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) arguments: Vec<String>,
}

/// Asks whether a Python has the package.
const ASKED: &str = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tautwire') is None)";

pub(super) fn run(arguments: &Study) -> Result<Exit, Exit> {
    let python = env::var_os("TAUTWIRE_PYTHON").unwrap_or_else(|| "python3".into());
    let has_package = Command::new(&python).args(["-c", ASKED]).status().is_ok_and(|status| status.success());
    if !has_package {
        message(&format!(
            "studies need the Python package: {} has no `tautwire` (TAUTWIRE_PYTHON names another Python)",
            python.to_string_lossy()
        ));
        return Err(Exit::WrongInput);
    }
    let ended = Command::new(&python).args(["-m", "tautwire", "study"]).args(&arguments.arguments).status();
    Ok(match ended.ok().and_then(|status| status.code()) {
        Some(0) => Exit::Holds,
        Some(1) => Exit::DeadlineMissed,
        Some(2) => Exit::WrongInput,
        _ => Exit::Failure,
    })
}
