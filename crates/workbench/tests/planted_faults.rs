//! Ten faults planted in the machines and ten in the bounds: the search finds each of them.
//!
//! One test, for a fault of the machines is planted in the whole process.
#![cfg(feature = "planted-faults")]

mod common;

use tautwire_analysis::Bounds;
use tautwire_core::fault;
use tautwire_generate::cases;
use tautwire_workbench::Network;

/// The first seed whose network contradicts its bounds.
fn search(cases: u64, bounds: impl Fn(&Network) -> Bounds) -> Option<u64> {
    (0..cases).find(|seed| {
        let network = common::network(*seed);
        !common::contradictions(&network, &bounds(&network), &common::run(&network)).is_empty()
    })
}

#[test]
fn every_planted_fault_is_found() {
    let cases = cases(2_000);
    let mut missed = Vec::new();
    for planted in fault::PlantedFault::ALL {
        fault::plant(Some(planted));
        match search(cases, tautwire_analysis::bounds) {
            Some(seed) => println!("machine {planted:?}: seed {seed}"),
            None => missed.push(format!("machine {planted:?}")),
        }
    }
    fault::plant(None);
    for planted in tautwire_analysis::PlantedFault::ALL {
        match search(cases, |network| tautwire_analysis::bounds_with_fault(network, Some(planted))) {
            Some(seed) => println!("bound {planted:?}: seed {seed}"),
            None => missed.push(format!("bound {planted:?}")),
        }
    }
    assert!(missed.is_empty(), "not found in {cases} cases: {missed:?}");
}
