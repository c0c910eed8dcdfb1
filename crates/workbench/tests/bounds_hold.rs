//! The search for a frame later than its bound: random networks, simulated and analysed.
//!
//! `TAUTWIRE_CASES` sets how many are drawn; seeds that ever failed stand in `failing_seeds.txt` and are
//! run first. A failing case is run by hand with
//! `TAUTWIRE_SEED=n cargo test -p tautwire-workbench --test bounds_hold`.

use tautwire_generate::random_network;
use tautwire_workbench::{Network, Options, contradictions, load_text, simulate};

fn network(seed: u64) -> Network {
    let text = random_network(seed);
    let loaded = load_text("random", &text);
    assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

/// The contradictions of one case, and how many listeners had a bound and a frame.
fn search(seed: u64) -> (Vec<String>, usize) {
    let network = network(seed);
    let bounds = tautwire_analysis::bounds(&network);
    let observation = simulate(&network, &mut Options::default());
    let found = contradictions(&network, &bounds, &observation);
    let held = bounds.streams.iter().zip(&observation.streams).flat_map(|(proven, observed)| {
        proven
            .listeners
            .iter()
            .zip(&observed.listeners)
            .filter(|(proven, observed)| proven.delay.is_ok() && observed.worst.is_some())
    });
    (found.iter().map(ToString::to_string).collect(), held.count())
}

#[test]
fn no_frame_is_later_than_its_bound() {
    let kept = include_str!("failing_seeds.txt").lines().filter_map(|line| line.parse().ok());
    let cases: u64 = std::env::var("TAUTWIRE_CASES").map_or(2_000, |cases| cases.parse().expect("a number"));
    let one = std::env::var("TAUTWIRE_SEED").ok().map(|seed| seed.parse::<u64>().expect("a number"));
    let seeds: Vec<u64> = match one {
        Some(seed) => vec![seed],
        None => kept.chain(0..cases).collect(),
    };
    let (mut failures, mut held) = (Vec::new(), 0);
    for seed in &seeds {
        let (found, count) = search(*seed);
        held += count;
        if !found.is_empty() {
            failures.push(format!("seed {seed}:\n  {}", found.join("\n  ")));
        }
        if failures.len() >= 5 {
            break;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(one.is_some() || held > seeds.len(), "most cases have bounds: {held} in {}", seeds.len());
}
