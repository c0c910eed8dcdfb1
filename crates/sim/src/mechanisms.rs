//! The mechanisms of a run, in one list. The event loop names none of them; options and results of a run have types of some.
//!
//! At one instant they act in the order of this list. Not here: what drives them (`control/`).

use tautwire_model::Network;

use crate::central::AdmissionControl;
use crate::control::{Attached, Mechanism};
use crate::options::HartsTest;
use crate::{as6802, central, gptp, harts, srp, tdma};

/// What runs are given for mechanisms: those that are plug-ins, and who tests what is asked for.
pub(crate) struct Given<'run> {
    pub(crate) mechanisms: &'run [&'static dyn Mechanism],
    pub(crate) admission: Option<Box<dyn AdmissionControl>>,
    pub(crate) harts_test: Option<HartsTest>,
}

/// Whether a network has a mechanism.
pub(crate) fn are_there(network: &Network) -> bool {
    network.tdma.is_some()
        || network.srp.is_some()
        || network.gptp.is_some()
        || network.harts.is_some()
        || network.time_triggered.is_some()
        || network.sections.keys().next().is_some()
}

/// Those of a network, in the order in which they act.
pub(crate) fn attached<'n>(network: &'n Network, seed: u64, given: Given<'_>) -> Vec<Attached<'n>> {
    for key in network.sections.keys() {
        let is_given = given.mechanisms.iter().any(|mechanism| mechanism.section() == key);
        assert!(is_given, "a run of a network with `{key}` is given its mechanism");
    }
    let mut all = Vec::new();
    all.extend(tdma::attach(network));
    all.extend(as6802::attach(network));
    all.extend(srp::attach(network, seed).or_else(|| central::attach(network, seed, given.admission)));
    all.extend(gptp::attach(network));
    all.extend(given.mechanisms.iter().filter_map(|mechanism| mechanism.attach(network)));
    all.extend(harts::attach(network, seed, given.harts_test));
    all
}
