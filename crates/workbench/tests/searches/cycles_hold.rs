//! Random networks that forward in cycles: no frame is beyond its interval, early or late, none is lost, and bounds with a fault are found.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::{PlantedFault, bounds_with_fault};
use tautwire_generate::{cases, random_cycles, seeds};
use tautwire_workbench::bounds;

use crate::common::{bounded, contradictions, described, run, untold_losses};

#[test]
fn no_cyclic_frame_is_beyond_its_interval() {
    let (mut listeners, mut proven) = (0, 0);
    for seed in seeds(120) {
        let text = random_cycles(seed);
        let network = described(&text);
        let (all, seen) = (bounds(&network), run(&network));
        let mut found = contradictions(&network, &all, &seen);
        found.extend(untold_losses(&network, &all, &seen).0);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        let (of_it, with_bound) = bounded(&all);
        (listeners, proven) = (listeners + of_it, proven + with_bound);
    }
    assert_eq!(proven, listeners, "all have a bound");
}

#[test]
fn faults_in_bounds_of_cycles_are_found() {
    for fault in PlantedFault::OF_CYCLES {
        let found = (0..cases(400)).find(|seed| {
            let network = described(&random_cycles(*seed));
            !contradictions(&network, &bounds_with_fault(&network, Some(fault)), &run(&network)).is_empty()
        });
        assert!(found.is_some(), "{fault:?}");
    }
}
