//! `tautwire report`: a run folder as one HTML file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use tautwire_workbench::RunFolder;

use super::message;
use crate::exit::Exit;
use crate::{output, signals};

pub(super) const HELP: &str = "\
Examples:
  tautwire report runs/in-vehicle-1
  tautwire report runs/in-vehicle-1 --out in-vehicle.html

Exit codes: 0 written, 2 no run folder, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folder of a run
    #[arg(value_name = "RUN")]
    pub(super) run: PathBuf,
    /// File to write [default: report.html in the run's folder]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print the path of the report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(arguments: &Report) -> Result<Exit, Exit> {
    let run = RunFolder::read(&arguments.run).map_err(|error| {
        message(&format!("{} is not a run folder: {error}", arguments.run.display()));
        Exit::WrongInput
    })?;
    let place = arguments.out.clone().unwrap_or_else(|| arguments.run.join("report.html"));
    write_atomically(&place, &tautwire_workbench::html(&run)).map_err(|error| {
        message(&format!("cannot write {}: {error}", place.display()));
        Exit::Failure
    })?;
    output::result(&if arguments.json {
        format!("{:#}\n", json!({"report": place.to_string_lossy()}))
    } else {
        format!("{}\n", place.display())
    })?;
    Ok(Exit::Holds)
}

/// Writes a file under a temporary name and renames it: it is there completely or not at all.
fn write_atomically(place: &Path, text: &str) -> io::Result<()> {
    let mut name = place.as_os_str().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    signals::remove_on_kill(Path::new(&name));
    fs::write(&name, text).and_then(|()| fs::rename(&name, place)).inspect_err(|_| {
        // The reported error is the first one.
        let _ = fs::remove_file(&name);
    })
}
