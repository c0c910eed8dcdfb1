//! The search for a frame that is lost without a failure and without a limit that is reported as too small: random
//! networks of every kind with small limits of queues, buffers and hosts.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use crate::common::{avionics, described, limit, network, run, untold_losses, without_cause};
use tautwire_generate::{
    TdmaFailure, random_harts, random_host_stacks, random_scheduled, random_tdma, seeds,
};
use tautwire_workbench::network::{PortIndex, StreamIndex};
use tautwire_workbench::{LimitKind, LimitPlace, Network, losses};

/// Draws networks with limits and compares their losses with the reported limits.
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
fn no_frame_at_a_known_instant_is_lost_that_must_not_be() {
    search(100, |seed| described(&random_scheduled(seed)));
}

#[test]
fn no_frame_of_a_stack_is_lost_that_must_not_be() {
    search(150, |seed| described(&random_host_stacks(seed)));
}

/// Where cells of a shared buffer are reported as too few, with the sufficient number: written at their ports, it is enough.
#[test]
fn the_advised_cells_are_enough() {
    let seeds = seeds(200);
    let mut mended = 0;
    for seed in &seeds {
        let network = network(*seed).altered(|network| limit(network, *seed));
        let found_first = cells(&network);
        let advised: Vec<_> =
            found_first.iter().filter_map(|(port, needed)| Some((*port, (*needed)?))).collect();
        let written = network.altered(|network| {
            for (port, needed) in &advised {
                let buffer = network.ports[port.index()].shared_buffer.as_mut().expect("it is its limit");
                buffer.cells = u32::try_from(*needed).expect("a value of the key");
            }
        });
        let left = cells(&written);
        for (port, _) in &advised {
            let is_reported = |list: &[(PortIndex, Option<u64>)]| {
                list.iter().any(|(other, needed)| other == port && needed.is_some())
            };
            assert!(!is_reported(&left), "TAUTWIRE_SEED={seed}: {found_first:?}, then {left:?}");
        }
        mended += advised.len();
    }
    assert!(seeds.len() < 20 || mended > 20, "buffers are too small: {mended}");
}

/// Ports whose shared buffers may be too small, and how many cells would do.
fn cells(network: &Network) -> Vec<(PortIndex, Option<u64>)> {
    let limits_found = losses(network, &tautwire_analysis::bounds(network));
    let mut found = Vec::new();
    for (number, stream) in network.streams.iter().enumerate() {
        for listener in 0..stream.listeners.len() {
            for limit in limits_found.at(StreamIndex::at(number), listener) {
                if let (LimitKind::BUFFER_CELLS, LimitPlace::Class(port, _)) = (limit.kind, limit.at) {
                    found.push((port, limit.needed));
                }
            }
        }
    }
    found
}
