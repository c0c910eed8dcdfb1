//! Random networks of scheduled streams, whose frames are released at known instants: no frame is beyond a bound or before the least one, in a run and in
//! those that an adversary chooses; bounds are near to what is seen; and faults in them are found.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::{Method, PlantedFault};
use tautwire_generate::{cases, random_scheduled, random_scheduled_changes, random_scheduled_rings, seeds};
use tautwire_workbench::{Bounds, Network, adversary, bounds};

use crate::common::{contradictions, described, run, untold_losses};
use crate::held::shows;

/// Runs of the adversary for a row.
const RUNS: u64 = 4;

/// Streams of which a hop is bounded by the instants of their frames.
fn timed<'a>(network: &'a Network, all: &'a Bounds) -> impl Iterator<Item = usize> + 'a {
    let is_timed = |number: &usize| {
        all.streams[*number].hops.iter().any(|hop| hop.method == Method::Carried("release-instants"))
    };
    (0..network.streams.len()).filter(is_timed)
}

/// Draws networks: no frame is beyond a bound, and most bounds by instants are near to what is seen.
fn hold(draw: fn(u64) -> String, networks: u64) {
    let (seeds, mut count, mut near) = (seeds(networks), 0, 0);
    for seed in &seeds {
        let text = draw(*seed);
        let network = described(&text);
        let (all, seen) = (bounds(&network), run(&network));
        let mut found = contradictions(&network, &all, &seen);
        found.extend(untold_losses(&network, &all, &seen).0);
        if seed.is_multiple_of(5) {
            let chosen = adversary(&network, &all, &seen, RUNS, |_, _| {});
            found.extend(chosen.contradictions.iter().map(ToString::to_string));
        }
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        for number in timed(&network, &all) {
            let (Some(most), Ok(bound)) =
                (seen.streams[number].listeners[0].delay.max(), &all.streams[number].listeners[0].delay)
            else {
                continue;
            };
            count += 1;
            near += usize::from(most.as_ps() * 5 >= bound.as_ps() * 4);
        }
    }
    assert!(
        seeds.len() == 1 || (count > seeds.len() / 2 && near * 5 > count * 2),
        "{near} of {count} near, {} networks",
        seeds.len()
    );
}

#[test]
fn no_scheduled_frame_is_beyond_its_bound() {
    hold(random_scheduled, 150);
}

/// Each port of the ring comes behind another.
#[test]
fn no_scheduled_frame_is_beyond_its_bound_in_a_ring() {
    hold(random_scheduled_rings, 100);
}

#[test]
fn faults_in_bounds_by_instants_are_found() {
    for fault in PlantedFault::OF_INSTANTS {
        assert!(shows(fault, 0..cases(1_000), random_scheduled).is_some(), "{fault:?}");
    }
}

#[test]
fn faults_in_bounds_by_instants_in_rings_are_found() {
    for fault in PlantedFault::OF_INSTANTS_IN_RINGS {
        assert!(shows(fault, 0..cases(1_000), random_scheduled_rings).is_some(), "{fault:?}");
    }
}

/// Lists change in the run: bounds by instants hold before, in and behind a change.
#[test]
fn no_scheduled_frame_is_beyond_its_bound_while_lists_change() {
    let (seeds, mut count, mut changed) = (seeds(150), 0, 0);
    for seed in &seeds {
        let text = random_scheduled_changes(*seed);
        let network = described(&text);
        let (all, seen) = (bounds(&network), run(&network));
        let mut found = contradictions(&network, &all, &seen);
        found.extend(untold_losses(&network, &all, &seen).0);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        for (stream, bounds) in network.streams.iter().zip(&all.streams) {
            let changes =
                stream.hops.iter().zip(&bounds.hops).filter(|(hop, _)| network.gates_change(hop.port));
            for (_, bound) in changes {
                changed += 1;
                count += usize::from(bound.method == Method::Carried("release-instants"));
            }
        }
    }
    println!("{count} of {changed} hops over changes have bounds by instants, {} networks", seeds.len());
    assert!(seeds.len() == 1 || count > seeds.len() / 2, "{count} of {changed}");
}

#[test]
fn faults_in_bounds_by_instants_over_changes_are_found() {
    for fault in PlantedFault::OF_INSTANTS_OVER_CHANGES {
        assert!(shows(fault, 0..cases(1_000), random_scheduled_changes).is_some(), "{fault:?}");
    }
}
