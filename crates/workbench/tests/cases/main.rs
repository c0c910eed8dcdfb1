//! Small descriptions that once gave a wrong answer, and their neighbours: one module for each kind of fault.
//!
//! The inputs are in `inputs/`. Searches that draw descriptions are test targets of their own.

mod adversary;
mod clocks;
mod control;
mod cqf;
mod files;
mod frer;
mod gate_changes;
mod gates;
mod known_instants;
mod listeners;
mod losses;
mod mutations;
mod paths;
mod plane;
mod preemption;
mod profiles;
mod provisos;
mod psfp;
mod shaping;
mod tightness;
mod tune;

use std::path::{Path, PathBuf};

use tautwire_workbench::{Bounds, Network, Observation, Options, Verification, load_text, simulate, verify};

/// The path of an input.
fn input(name: &str) -> PathBuf {
    Path::new("tests/cases/inputs").join(name)
}

/// The text of an input.
fn text(name: &str) -> String {
    std::fs::read_to_string(input(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The network of a description without errors.
fn network(text: &str) -> Network {
    let loaded = load_text("case", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

/// Codes of all faults of a description.
fn codes(text: &str) -> Vec<&'static str> {
    load_text("case", text).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// Bounds, a run, and their comparison.
fn answer(text: &str) -> (Network, Bounds, Observation, Verification) {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    let bounds = tautwire_workbench::bounds_in_run(&network, &observation);
    let verification = verify(&network, &bounds, &observation);
    (network, bounds, observation, verification)
}
