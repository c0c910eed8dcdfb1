//! `tautwire study`: the command of the Python package, which runs studies.

use std::env;
use std::process::Command;

use super::message;
use crate::args::Study;
use crate::exit::Exit;

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
