//! The search for a frame that is lost although nothing fails and no limit is said to be too small: random networks of every
//! kind with small limits of queues, buffers and hosts.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use crate::common::{avionics, described, limit, network, run, untold_losses, without_cause};
use tautwire_generate::{TdmaFailure, random_harts, random_host_stacks, random_tdma, seeds};
use tautwire_workbench::Network;

/// Draws networks with limits and holds their losses against what was told.
fn search(cases: u64, drawn: impl Fn(u64) -> Network) {
    let seeds = seeds(cases);
    let (mut safe, mut lost) = (0, 0);
    for seed in &seeds {
        let network = drawn(*seed).altered(|network| limit(network, *seed));
        let bounds = tautwire_analysis::bounds(&network);
        let observation = run(&network);
        let (mut found, kept, dropped) = untold_losses(&network, &bounds, &observation);
        found.extend(without_cause(&network, &bounds, &observation));
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        (safe, lost) = (safe + kept, lost + dropped);
    }
    assert!(seeds.len() == 1 || (safe > 0 && lost > 0), "{safe} safe, {lost} lost: nothing was tried");
}

#[test]
fn no_frame_is_lost_that_must_not_be() {
    search(600, network);
}

#[test]
fn no_frame_of_a_virtual_link_is_lost_that_must_not_be() {
    search(150, avionics);
}

#[test]
fn no_frame_of_a_server_is_lost_that_must_not_be() {
    search(150, |seed| described(&random_harts(seed)));
}

#[test]
fn no_frame_of_a_station_is_lost_that_must_not_be() {
    search(150, |seed| described(&random_tdma(seed, TdmaFailure::Nothing)));
}

#[test]
fn no_frame_of_a_stack_is_lost_that_must_not_be() {
    search(150, |seed| described(&random_host_stacks(seed)));
}
