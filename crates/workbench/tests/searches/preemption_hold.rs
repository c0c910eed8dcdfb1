//! Random networks with frame preemption: mPackets keep to the rules of clause 99, and frames to their bounds.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::{PlantedFault, bounds_with_fault};
use tautwire_core::fault;
use tautwire_generate::{cases, random_preemption, seeds};
use tautwire_workbench::bounds;

use crate::common::{bounded, broken_parts, contradictions, described, run, untold_losses};

#[test]
fn frames_are_cut_by_the_rules_and_keep_to_their_bounds() {
    let (seeds, mut cut, mut listeners, mut proven) = (seeds(250), 0, 0, 0);
    for seed in &seeds {
        let text = random_preemption(*seed);
        let network = described(&text);
        let (mut found, fragments) = broken_parts(&network);
        let (all, seen) = (bounds(&network), run(&network));
        found.extend(contradictions(&network, &all, &seen));
        found.extend(untold_losses(&network, &all, &seen).0);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        cut += fragments;
        let (of_it, with_bound) = bounded(&all);
        (listeners, proven) = (listeners + of_it, proven + with_bound);
    }
    assert!(seeds.len() < 20 || cut > 8 * seeds.len(), "{cut} cuts in {} networks", seeds.len());
    assert!(seeds.len() == 1 || proven * 2 > listeners, "{proven} of {listeners} listeners have a bound");
}

#[test]
fn faults_of_preemption_are_found() {
    for planted in fault::PlantedFault::OF_PREEMPTION {
        fault::plant(Some(planted));
        let found =
            (0..cases(200)).find(|seed| !broken_parts(&described(&random_preemption(*seed))).0.is_empty());
        fault::plant(None);
        assert!(found.is_some(), "{planted:?}");
    }
}

#[test]
fn faults_in_bounds_of_preemption_are_found() {
    for planted in PlantedFault::OF_PREEMPTION {
        let found = (0..cases(4_000)).find(|seed| {
            let network = described(&random_preemption(*seed));
            !contradictions(&network, &bounds_with_fault(&network, Some(planted)), &run(&network)).is_empty()
        });
        assert!(found.is_some(), "{planted:?}");
    }
}
