//! The search for a frame later than its bound: random networks, simulated and analysed.
//!
//! `TAUTWIRE_CASES` sets how many are drawn; seeds that ever failed stand in `failing_seeds.txt` and are
//! run first. A failing case is run by hand with
//! `TAUTWIRE_SEED=n cargo test -p tautwire-workbench --test bounds_hold`, and printed with
//! `cargo run -p tautwire-generate --example random_network -- n`.

use tautwire_generate::random_network;
use tautwire_workbench::{Network, Options, load_text, simulate, verify};

fn network(seed: u64) -> Network {
    let text = random_network(seed);
    let loaded = load_text("random", &text);
    assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn no_frame_is_later_than_its_bound() {
    let kept = include_str!("failing_seeds.txt").lines().map(|line| line.parse().expect("a seed"));
    let seeds: Vec<u64> = match number("TAUTWIRE_SEED") {
        Some(seed) => vec![seed],
        None => kept.chain(0..number("TAUTWIRE_CASES").unwrap_or(2_000)).collect(),
    };
    let (mut listeners, mut bounded) = (0, 0);
    for seed in &seeds {
        let network = network(*seed);
        let bounds = tautwire_analysis::bounds(&network);
        let observation = simulate(&network, &mut Options::default());
        let found = verify(&network, &bounds, &observation).contradictions;
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        for listener in bounds.streams.iter().flat_map(|stream| &stream.listeners) {
            listeners += 1;
            bounded += usize::from(listener.delay.is_ok());
        }
    }
    assert!(seeds.len() == 1 || bounded * 10 > listeners * 6, "{bounded} of {listeners} have a bound");
}
