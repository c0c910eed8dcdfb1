//! The adversary against drawn networks of every kind: no run that the description allows is beyond a bound.
//!
//! `TAUTWIRE_CASES` sets how many are drawn of each, `TAUTWIRE_SEED` draws one.

use tautwire_generate::{KINDS, seeds};
use tautwire_workbench::{adversary, bounds_in_run};

use crate::common::{described, run};

/// Runs for a row: built to be bad, then a few moves.
const RUNS: u64 = 6;

#[test]
fn no_chosen_run_is_beyond_a_bound() {
    for (kind, draw) in KINDS {
        for seed in seeds(2) {
            let network = described(&draw(seed));
            let observation = run(&network);
            let bounds = bounds_in_run(&network, &observation);
            let found = adversary(&network, &bounds, &observation, RUNS, |_, _| {});
            let told: Vec<String> = found.contradictions.iter().map(ToString::to_string).collect();
            assert!(
                told.is_empty(),
                "TAUTWIRE_SEED={seed}, {kind}: {told:?}\n{:#?}\n{}",
                found.contradicting,
                draw(seed)
            );
        }
    }
}
