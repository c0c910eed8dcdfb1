//! The bounds of linear programs of paths against runs and against the adversary; and faults that are planted in the programs.
//!
//! `TAUTWIRE_CASES` sets how many networks are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::{Method, PlantedFault, bounds_with_fault};
use tautwire_generate::{cases, random_network, random_paths, random_traffic, seeds};
use tautwire_workbench::{Accuracy, Network, bounds_by, load_text};

use crate::common::described;
use crate::held::beyond;

/// Runs of the adversary for a row.
const RUNS: u64 = 8;

fn drawn(seed: u64) -> Network {
    described(&random_paths(seed))
}

#[test]
fn no_frame_is_later_than_the_bound_of_its_path() {
    let (mut all, mut by_path) = (0, 0);
    for seed in seeds(40) {
        let network = drawn(seed);
        let bounds = bounds_by(&network, Accuracy::Paths);
        let found = beyond(&network, &bounds, RUNS);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {found:?}\n{}", random_paths(seed));
        let listeners = bounds.streams.iter().flat_map(|stream| &stream.listeners);
        all += listeners.clone().count();
        by_path += listeners.filter(|listener| listener.method == Method::PathProgram).count();
    }
    assert!(by_path * 4 > all || all < 20, "{by_path} of {all} by programs");
}

/// Networks of all shapers, in which programs reach from one shaper to the next.
#[test]
fn no_frame_of_a_shaped_network_is_later_than_the_bound_of_its_path() {
    for seed in seeds(40) {
        let network = load_text("random", &random_network(seed)).network.expect("no errors");
        let found = beyond(&network, &bounds_by(&network, Accuracy::Paths), RUNS);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {found:?}\n{}", random_network(seed));
    }
}

/// A program only adds a bound to those of ports.
#[test]
fn bounds_of_paths_are_never_looser() {
    // Traffic that comes back is settled by an iteration, which may end elsewhere for each method.
    let answered = |seed| load_text("drawn", &random_traffic(seed, &[])).network;
    let networks = seeds(20).into_iter().map(|seed| (seed, Some(drawn(seed))));
    let networks = networks.chain((0..4).map(|seed| (seed, answered(seed))));
    for (seed, network) in networks.filter_map(|(seed, network)| Some((seed, network?))) {
        let (fast, tight) = (bounds_by(&network, Accuracy::Frames), bounds_by(&network, Accuracy::Paths));
        for (fast, tight) in fast.streams.iter().zip(&tight.streams) {
            for (fast, tight) in fast.listeners.iter().zip(&tight.listeners) {
                let (Ok(fast), Ok(tight)) = (&fast.delay, &tight.delay) else {
                    assert!(fast.delay.is_err(), "seed {seed}: a bound is lost");
                    continue;
                };
                assert!(tight <= fast, "seed {seed}: {tight} above {fast}");
            }
        }
    }
}

#[test]
fn faults_in_programs_are_found() {
    for fault in PlantedFault::OF_PATHS {
        let is_found = |seed: &u64| {
            let network = drawn(*seed);
            !beyond(&network, &bounds_with_fault(&network, Some(fault)), RUNS).is_empty()
        };
        let limit = cases(100);
        assert!((0..limit).any(|seed| is_found(&seed)), "{fault:?} is not found in {limit} networks");
    }
}
