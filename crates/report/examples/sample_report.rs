//! Writes the report of a made-up run, for those who work on the page: `sample_report FILE`.

use std::path::PathBuf;
use std::process::ExitCode;

use tautwire_report::{Manifest, NetworkDocument, RunFolder, Summary, histogram, html};

#[path = "../src/fixture.rs"]
mod fixture;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return ExitCode::from(2);
    };
    let (network, bounds, observation) = fixture::line();
    let text = "# A made-up network, see crates/report/src/fixture.rs.\nname: vehicle\n";
    let run = RunFolder {
        manifest: Manifest::new(
            &network.name,
            text,
            Some(1),
            &["verify".to_owned(), "vehicle.yaml".to_owned()],
        ),
        summary: Summary::new(&network, Some(&bounds), Some(&observation)),
        network: NetworkDocument::new(&network, text),
        histograms: histogram::of_observation(&observation),
    };
    match std::fs::write(&path, html(&run)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(3),
    }
}
