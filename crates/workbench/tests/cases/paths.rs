//! Ten crafted networks in which long bursts meet over several bridges: bounds of paths against those of another program, and against the
//! adversary.
//!
//! `peers.csv` has, for each stream of the class that is compared, the least bound that panco gives by its four methods, made safe for
//! frames as the page in `docs/validation` says, in picoseconds.

use std::collections::BTreeMap;

use tautwire_analysis::Method;
use tautwire_workbench::{Accuracy, Network, Options, adversary, bounds_by, simulate};

use crate::{network, text};

/// Runs of the adversary for a stream.
const RUNS: u64 = 20;
/// What is lost where numbers in floating point are rounded to weights, at most.
const ROUNDED_PS: u64 = 1_000;

/// The networks, and the streams of each with the least bound of the other program.
fn compared() -> BTreeMap<String, Vec<(String, u64)>> {
    let mut all: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for line in text("paths/peers.csv").lines().skip(1) {
        let [name, stream, bound] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        all.entry(name.to_owned())
            .or_default()
            .push((stream.to_owned(), bound.parse().expect("picoseconds")));
    }
    assert_eq!(all.len(), 10);
    all
}

fn crafted(name: &str) -> Network {
    network(&text(&format!("paths/{name}.yaml")))
}

#[test]
fn no_bound_of_a_path_is_above_the_least_of_four_methods() {
    let mut by_path = 0;
    for (name, streams) in compared() {
        let network = crafted(&name);
        let bounds = bounds_by(&network, Accuracy::Paths);
        for (stream, least) in streams {
            let number = network.streams.iter().position(|known| known.name == stream).expect("a stream");
            let listener = &bounds.streams[number].listeners[0];
            by_path += usize::from(listener.method == Method::PathProgram);
            let bound = listener.delay.clone().expect("a bound").as_ps();
            assert!(bound <= least + ROUNDED_PS, "{name}, {stream}: {bound} ps above {least} ps");
        }
    }
    assert!(by_path > 30, "{by_path} by programs");
}

#[test]
fn no_run_of_a_crafted_network_is_beyond_a_bound() {
    for name in compared().keys() {
        let network = crafted(name);
        let bounds = bounds_by(&network, Accuracy::Paths);
        let observation = simulate(&network, &mut Options::default());
        let found = adversary(&network, &bounds, &observation, RUNS, |_, _| {});
        assert!(found.contradictions.is_empty(), "{name}: {:?}", found.contradictions);
    }
}
