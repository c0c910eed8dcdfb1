//! Random networks that forward in cycles: no frame is beyond its interval, early or late, none is lost, and bounds with a fault are found.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::PlantedFault;
use tautwire_core::fault;
use tautwire_generate::{cases, random_cycles};
use tautwire_workbench::bounds;

use crate::common::{contradictions, described, run};
use crate::held::{held, shows};

#[test]
fn no_cyclic_frame_is_beyond_its_interval() {
    held(120, random_cycles).assert_all_bounded();
}

#[test]
fn faults_in_bounds_of_cycles_are_found() {
    for fault in PlantedFault::OF_CYCLES {
        assert!(shows(fault, 0..cases(400), random_cycles).is_some(), "{fault:?}");
    }
}

/// Where cuts make room for cyclic frames, frames that are not cut make them late.
#[test]
fn faults_of_cycles_are_found() {
    for planted in fault::PlantedFault::OF_CYCLES {
        let found = (0..cases(400)).find(|seed| {
            let network = described(&random_cycles(*seed));
            fault::plant(None);
            let all = bounds(&network);
            fault::plant(Some(planted));
            !contradictions(&network, &all, &run(&network)).is_empty()
        });
        fault::plant(None);
        assert!(found.is_some(), "{planted:?}");
    }
}
