//! Random networks that forward in cycles: no frame is beyond its interval, early or late, none is lost, and bounds with a fault are found.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::PlantedFault;
use tautwire_generate::{cases, random_cycles};

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
