//! Writes a report for those who work on the page: `sample_report FILE [SCENARIO]`. Without a
//! scenario its run is made up.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tautwire_report::{Manifest, NetworkDocument, RunFolder, Summary, histogram, html};

#[path = "../src/fixture.rs"]
mod fixture;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(path) = arguments.next() else { return ExitCode::from(2) };
    let run = match arguments.next() {
        Some(scenario) => verified(&scenario),
        None => Some(made_up()),
    };
    let Some(run) = run else { return ExitCode::from(2) };
    match std::fs::write(&path, html(&run)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(3),
    }
}

fn made_up() -> RunFolder {
    let (network, bounds, observation) = fixture::line();
    let command = ["verify".to_owned(), "vehicle.yaml".to_owned()];
    RunFolder {
        manifest: Manifest::new(&network.name, fixture::DESCRIPTION, Some(1), &command),
        summary: Summary::new(&network, Some(&bounds), Some(&observation)),
        network: NetworkDocument::new(&network, fixture::DESCRIPTION),
        histograms: histogram::of_observation(&observation),
    }
}

fn verified(scenario: &Path) -> Option<RunFolder> {
    let loaded = tautwire_model::load(scenario).ok()?;
    let (network, text) = (loaded.network?, &loaded.sources.first()?.text);
    let observation = tautwire_sim::run_with(
        &network,
        &mut tautwire_sim::Options::default(),
        &mut tautwire_sim::NoRecorder,
    );
    let bounds = tautwire_analysis::bounds(&network);
    let command = ["verify".to_owned(), scenario.display().to_string()];
    Some(RunFolder {
        manifest: Manifest::new(&network.name, text, Some(observation.seed), &command),
        summary: Summary::new(&network, Some(&bounds), Some(&observation)),
        network: NetworkDocument::new(&network, text),
        histograms: histogram::of_observation(&observation),
    })
}
