//! Networks of SAE AS6802 that are drawn: those whose clocks keep their precision, and the network time of a run.

use tautwire_sim::{NetworkTimeObservation, Observation};
use tautwire_workbench::{Network, Severity, load_text};

/// The network of a description that a seed drew; none if its clocks are worse than its precision, which is the only error that
/// it may have.
pub(crate) fn synchronised(seed: u64, text: &str) -> Option<Network> {
    let loaded = load_text("synchronised", text);
    let mut errors = loaded.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let known = errors.all(|one| one.code == "time-triggered::synchronisation");
    assert!(known, "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
    loaded.network
}

/// The network time of a run.
pub(crate) fn network_time(observation: &Observation) -> &NetworkTimeObservation {
    observation.network_time.as_ref().expect("a time-triggered network")
}
