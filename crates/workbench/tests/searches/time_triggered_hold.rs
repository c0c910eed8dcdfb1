//! Random time-triggered networks with drifting clocks: no frame is later than its bound, time-triggered or
//! not; what the schedule holds is never lost by it; the last message of a period wins; none is taken outside of its window. Without
//! any of that, and without the guard of slots, the search finds it.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_generate::{random_time_triggered, random_time_triggered_resets, seeds};
use tautwire_sim::{DropReason, Observation};
use tautwire_workbench::{Bounds, Network, Options, load_text, simulate, verify};

use crate::common::{dropped, run_links, without_cause};

/// The tight network of a seed if its links do not meet, else the loose one.
fn network(seed: u64) -> (Network, bool) {
    if let Some(network) = load_text("timed", &random_time_triggered(seed, true)).network {
        return (network, true);
    }
    let text = random_time_triggered(seed, false);
    let loaded = load_text("timed", &text);
    assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
    (loaded.network.expect("no errors"), false)
}

/// A run, and what of it is wrong, each a sentence.
fn broken(network: &Network, bounds: &Bounds) -> (Observation, Vec<String>) {
    let (observation, mut found) = run_links(network);
    let late = verify(network, bounds, &observation).contradictions;
    found.extend(late.iter().map(ToString::to_string));
    (observation, found)
}

#[test]
fn no_frame_is_later_than_its_bound() {
    let mut seeds = seeds(100);
    seeds.truncate(20_000);
    let (mut bounded, mut tight, mut close, mut missed, mut others) = (0, 0, 0, 0, 0);
    for seed in &seeds {
        let (network, is_tight) = network(*seed);
        tight += u64::from(is_tight);
        let bounds = tautwire_analysis::bounds(&network);
        let (observation, found) = broken(&network, &bounds);
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        let untold = without_cause(&network, &bounds, &observation);
        assert!(untold.is_empty(), "seed {seed}:\n  {}", untold.join("\n  "));
        for (number, stream) in network.streams.iter().enumerate() {
            let (observed, bounds) = (&observation.streams[number], &bounds.streams[number]);
            let Ok(bound) = &bounds.listeners[0].delay else {
                missed += dropped(observed, DropReason::AcceptanceWindow);
                continue;
            };
            if stream.time_triggered.is_none() {
                others += 1;
                continue;
            }
            bounded += 1;
            let lost: u64 = observed
                .dropped
                .iter()
                .filter(|(reason, _)| *reason != DropReason::Overwritten)
                .map(|(_, count)| count)
                .sum();
            assert_eq!(lost, 0, "seed {seed}: {} is lost: {:?}", stream.name, observed.dropped);
            let seen = observed.listeners[0].worst.map(|worst| worst.delay);
            close += u64::from(seen.is_some_and(|seen| seen.as_ps() * 10 > bound.as_ps() * 9));
        }
    }
    if seeds.len() > 1 {
        let cases = seeds.len() as u64;
        assert!(
            bounded > 2 * cases && others > cases,
            "{bounded} links and {others} other streams are bounded"
        );
        assert!(tight * 10 > cases && tight < cases, "{tight} of {cases} are tight");
        assert!(close * 4 > bounded, "{close} of {bounded} links come close to their bounds");
        assert!(missed > 0, "no narrow acceptance window was missed");
    }
}

#[test]
fn what_is_reset_within_a_frame_delays_none() {
    let mut seeds = seeds(250);
    seeds.truncate(10_000);
    let mut lost = 0;
    for seed in &seeds {
        let Some(network) = load_text("resets", &random_time_triggered_resets(*seed)).network else {
            continue;
        };
        let bounds = tautwire_analysis::bounds(&network);
        let observation = simulate(&network, &mut Options::default());
        let late = verify(&network, &bounds, &observation).contradictions;
        assert!(late.is_empty(), "seed {seed}: {late:?}");
        lost += observation.streams.iter().map(|seen| dropped(seen, DropReason::NodeDown)).sum::<u64>();
    }
    assert!(lost * 4 > seeds.len() as u64 || seeds.len() == 1, "{lost} frames are lost");
}

#[test]
fn a_forgotten_guard_behind_shuffled_frames_the_first_message_and_no_windows_are_found() {
    use tautwire_analysis::PlantedFault;
    use tautwire_core::fault;
    let contradicts = |planted: Option<PlantedFault>| {
        (0..2_000_u64).find(|seed| {
            let (network, _) = network(*seed);
            let bounds = tautwire_analysis::bounds_with_fault(&network, planted);
            !broken(&network, &bounds).1.is_empty()
        })
    };
    assert!(contradicts(Some(PlantedFault::GuardForgotten)).is_some(), "in the bound");
    for planted in fault::PlantedFault::OF_TIME_TRIGGERED {
        fault::plant(Some(planted));
        let found = contradicts(None);
        fault::plant(None);
        assert!(found.is_some(), "{planted:?} in the machine");
    }
}
