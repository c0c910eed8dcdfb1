//! The adversary against drawn networks of every kind: no run that the description allows is beyond a bound.
//!
//! `TAUTWIRE_CASES` sets how many are drawn of each, `TAUTWIRE_SEED` draws one.

use tautwire_generate::{KINDS, seeds};
use tautwire_workbench::{adversary, bounds_in_run, load_text};

use crate::common::run;

/// Runs for a row: built to be bad, then a few moves.
const RUNS: u64 = 3;

#[test]
fn no_chosen_run_is_beyond_a_bound() {
    let (mut drawn, mut held) = (0, 0);
    for (kind, draw) in KINDS {
        for seed in seeds(2) {
            drawn += 1;
            // Some kinds draw what `check` refuses, too.
            let Some(network) = load_text(kind, &draw(seed)).network else { continue };
            held += 1;
            let observation = run(&network);
            let bounds = bounds_in_run(&network, &observation);
            let found = adversary(&network, &bounds, &observation, RUNS, |_, _| {});
            let texts: Vec<String> = found.contradictions.iter().map(ToString::to_string).collect();
            assert!(
                texts.is_empty(),
                "TAUTWIRE_SEED={seed}, {kind}: {texts:?}\n{:#?}\n{}",
                found.contradicting,
                draw(seed)
            );
        }
    }
    assert!(2 * held >= drawn, "{held} of {drawn}");
}
