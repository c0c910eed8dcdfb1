//! Random networks with gates: frames keep to them, to the picosecond, and to their bounds where there are any.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_generate::{random_gates, seeds};
use tautwire_workbench::bounds;

use crate::common::{broken_gates, contradictions, described, run};

#[test]
fn frames_keep_to_gates_and_bounds() {
    let (seeds, mut looked) = (seeds(120), 0);
    for seed in &seeds {
        let text = random_gates(*seed);
        let network = described(&text);
        let (mut found, transmissions) = broken_gates(&network);
        found.extend(contradictions(&network, &bounds(&network), &run(&network)));
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        looked += transmissions;
    }
    assert!(
        seeds.len() < 20 || looked > 20 * seeds.len(),
        "{looked} transmissions in {} networks",
        seeds.len()
    );
}
