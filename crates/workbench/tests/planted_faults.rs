//! Faults planted in the machines and in the bounds: the searches find each of them.
//!
//! One test, for a fault of the machines is planted in the whole process. Those of shapers and queues are sought in
//! networks of all shapers, those of virtual links, of HaRTES and of TDMA in networks of these.
#![cfg(feature = "planted-faults")]

mod common;

use common::{
    avionics, broken_admissions, broken_promises, contradictions, described, network, run, run_links,
    run_slots,
};
use tautwire_analysis::{Bounds, PlantedFault, bounds, bounds_with_fault};
use tautwire_core::fault;
use tautwire_generate::{TdmaFailure, cases, random_harts, random_harts_admission, random_tdma};
use tautwire_workbench::Network;

/// The first seed whose network of shapers contradicts its bounds.
fn search(cases: u64, bounds: impl Fn(&Network) -> Bounds) -> Option<u64> {
    (0..cases).find(|seed| {
        let network = network(*seed);
        !contradictions(&network, &bounds(&network), &run(&network)).is_empty()
    })
}

/// The first seed whose network of virtual links breaks a promise.
fn search_avionics(cases: u64, bounds: impl Fn(&Network) -> Bounds) -> Option<u64> {
    (0..cases).find(|seed| {
        let network = avionics(*seed);
        let (observation, overwritten) = run_links(&network);
        !overwritten.is_empty() || !broken_promises(&network, &bounds(&network), &observation).is_empty()
    })
}

/// The first seed whose network of servers contradicts its bounds.
fn search_harts(cases: u64) -> Option<u64> {
    (0..cases).find(|seed| {
        let network = described(&random_harts(*seed));
        !contradictions(&network, &bounds(&network), &run(&network)).is_empty()
    })
}

/// The first seed whose network of servers breaks a promise of admission.
fn search_admission(cases: u64) -> Option<u64> {
    (0..cases).find(|seed| {
        let network = described(&random_harts_admission(*seed));
        !broken_admissions(&network, &bounds(&network), &run(&network)).is_empty()
    })
}

/// The first seed of a network with TDMA, whole or with a failure, that a run shows to be wrong.
fn search_slots(cases: u64, bounds: impl Fn(&Network) -> Bounds) -> Option<u64> {
    (0..cases).find(|seed| {
        TdmaFailure::ALL.into_iter().any(|failure| {
            let network = described(&random_tdma(*seed, failure));
            !run_slots(&network, &bounds(&network), *seed).wrong.is_empty()
        })
    })
}

#[test]
fn every_planted_fault_is_found() {
    let cases = cases(2_000);
    let mut missed = Vec::new();
    let mut say = |what: String, found: Option<u64>| match found {
        Some(seed) => println!("{what}: seed {seed}"),
        None => missed.push(what),
    };
    for planted in fault::PlantedFault::ALL {
        fault::plant(Some(planted));
        say(format!("machine {planted:?}"), search(cases, bounds));
    }
    for planted in fault::PlantedFault::OF_VIRTUAL_LINKS {
        fault::plant(Some(planted));
        say(format!("machine {planted:?}"), search_avionics(cases, bounds));
    }
    for planted in fault::PlantedFault::OF_HARTS {
        fault::plant(Some(planted));
        say(format!("machine {planted:?}"), search_harts(cases));
    }
    for planted in fault::PlantedFault::OF_HARTS_ADMISSION {
        fault::plant(Some(planted));
        say(format!("machine {planted:?}"), search_admission(cases));
    }
    for planted in fault::PlantedFault::OF_TDMA {
        fault::plant(Some(planted));
        say(format!("machine {planted:?}"), search_slots(cases, bounds));
    }
    fault::plant(None);
    for planted in PlantedFault::OF_TDMA {
        let found = search_slots(cases, |network| bounds_with_fault(network, Some(planted)));
        say(format!("bound {planted:?}"), found);
    }
    for planted in PlantedFault::ALL {
        let found = search(cases, |network| bounds_with_fault(network, Some(planted)));
        say(format!("bound {planted:?}"), found);
    }
    for planted in PlantedFault::OF_VIRTUAL_LINKS {
        let found = search_avionics(cases, |network| bounds_with_fault(network, Some(planted)));
        say(format!("bound {planted:?}"), found);
    }
    assert!(missed.is_empty(), "not found in {cases} cases: {missed:?}");
}
