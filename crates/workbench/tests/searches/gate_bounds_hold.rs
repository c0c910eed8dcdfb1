//! Random networks with gates: no frame is beyond its bound, what is proven arrives, and bounds with a fault in them are found.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::{PlantedFault, bounds_with_fault};
use tautwire_generate::{cases, random_corrected_gates, random_gate_changes, random_gates, seeds};
use tautwire_workbench::bounds;

use crate::common::{bounded, contradictions, described, run, untold_losses};

/// Seeds that are tried first: their networks show faults that few others show.
const RARE: [u64; 2] = [494, 2_310];

#[test]
fn no_frame_behind_gates_is_beyond_its_bound() {
    let (seeds, mut listeners, mut proven) = (seeds(150), 0, 0);
    for seed in &seeds {
        let text = random_gates(*seed);
        let network = described(&text);
        let (all, seen) = (bounds(&network), run(&network));
        let mut found = contradictions(&network, &all, &seen);
        found.extend(untold_losses(&network, &all, &seen).0);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        let (of_it, with_bound) = bounded(&all);
        (listeners, proven) = (listeners + of_it, proven + with_bound);
    }
    // Gates of corrected clocks, and those whose list changes, have none.
    let enough = seeds.len() == 1 || proven * 5 > listeners * 2;
    assert!(enough, "{proven} of {listeners} listeners have a bound");
}

#[test]
fn no_frame_behind_corrected_gates_is_beyond_its_bound() {
    let (seeds, mut listeners, mut proven) = (seeds(60), 0, 0);
    for seed in &seeds {
        let text = random_corrected_gates(*seed);
        let network = described(&text);
        let all = bounds(&network);
        let found = contradictions(&network, &all, &run(&network));
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        let (of_it, with_bound) = bounded(&all);
        (listeners, proven) = (listeners + of_it, proven + with_bound);
    }
    assert!(seeds.len() == 1 || proven * 2 > listeners, "{proven} of {listeners} listeners have a bound");
}

#[test]
fn no_frame_is_beyond_its_bound_while_gates_change() {
    let (seeds, mut listeners, mut proven) = (seeds(100), 0, 0);
    for seed in &seeds {
        let text = random_gate_changes(*seed);
        let network = described(&text);
        let (all, seen) = (bounds(&network), run(&network));
        let mut found = contradictions(&network, &all, &seen);
        found.extend(untold_losses(&network, &all, &seen).0);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        let (of_it, with_bound) = bounded(&all);
        (listeners, proven) = (listeners + of_it, proven + with_bound);
    }
    println!("{proven} of {listeners} listeners have a bound");
    // Some changes meet others, or have no place in the list before.
    assert!(seeds.len() == 1 || proven * 2 > listeners, "{proven} of {listeners} listeners have a bound");
}

#[test]
fn faults_in_bounds_of_gates_that_change_are_found() {
    for fault in PlantedFault::OF_CHANGED_GATES {
        let found = (0..cases(1_000)).find(|seed| {
            let network = described(&random_gate_changes(*seed));
            !contradictions(&network, &bounds_with_fault(&network, Some(fault)), &run(&network)).is_empty()
        });
        println!("{fault:?}: seed {found:?}");
        assert!(found.is_some(), "{fault:?}");
    }
}

#[test]
fn faults_in_bounds_of_corrected_gates_are_found() {
    for fault in PlantedFault::OF_CORRECTED_GATES {
        let found = (0..cases(1_000)).find(|seed| {
            let network = described(&random_corrected_gates(*seed));
            !contradictions(&network, &bounds_with_fault(&network, Some(fault)), &run(&network)).is_empty()
        });
        assert!(found.is_some(), "{fault:?}");
    }
}

#[test]
fn faults_in_bounds_of_gates_are_found() {
    for fault in PlantedFault::OF_GATES {
        let found = RARE.into_iter().chain(0..cases(4_000)).find(|seed| {
            let network = described(&random_gates(*seed));
            !contradictions(&network, &bounds_with_fault(&network, Some(fault)), &run(&network)).is_empty()
        });
        assert!(found.is_some(), "{fault:?}");
    }
}
