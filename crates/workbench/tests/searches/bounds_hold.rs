//! The search for a frame later than its bound: random networks, simulated and analysed.
//!
//! `TAUTWIRE_CASES` sets how many are drawn; seeds that ever failed are in `failing_seeds.txt` and are run first. A
//! failing case is run by hand with
//! `TAUTWIRE_SEED=n cargo test -p tautwire-workbench --test searches bounds_hold`, and printed with
//! `cargo run -p tautwire-generate --example drawn -- network n`.

use crate::common::{bounded, contradictions, network, run};
use tautwire_generate::{number, seeds};

#[test]
fn no_frame_is_later_than_its_bound() {
    let mut seeds = seeds(1_000);
    if number("TAUTWIRE_SEED").is_none() {
        let kept = include_str!("failing_seeds.txt").lines().map(|line| line.parse().expect("a seed"));
        seeds.splice(0..0, kept);
    }
    let (mut all, mut proven) = (0, 0);
    for seed in &seeds {
        let network = network(*seed);
        let bounds = tautwire_analysis::bounds(&network);
        let found = contradictions(&network, &bounds, &run(&network));
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        let (listeners, with) = bounded(&bounds);
        (all, proven) = (all + listeners, proven + with);
    }
    assert!(seeds.len() == 1 || proven * 10 > all * 6, "{proven} of {all} have a bound");
}
