//! Random networks with frame preemption: mPackets keep to the rules of clause 99, and frames to their bounds.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::PlantedFault;
use tautwire_core::fault;
use tautwire_core::preemption::VerifyStatus;
use tautwire_generate::{
    cases, random_preemption, random_preemption_behind_gates, random_verification, seeds,
};
use tautwire_sim::{GatesObservation, PreemptionObservation};
use tautwire_workbench::{adversary, bounds, load_text};

use crate::common::{bounded, broken_parts, contradictions, described, run, untold_losses};
use crate::held::shows;

/// A seed behind gates that is tried first: its network shows a fault that few others show.
const RARE: [u64; 1] = [1_689];

/// Runs of the adversary for a row.
const RUNS: u64 = 4;

#[test]
fn frames_are_cut_by_the_rules_and_keep_to_their_bounds() {
    let (seeds, mut cut, mut listeners, mut proven) = (seeds(150), 0, 0, 0);
    for seed in &seeds {
        let text = random_preemption(*seed);
        let network = described(&text);
        let (mut found, fragments) = broken_parts(&network);
        let (all, seen) = (bounds(&network), run(&network));
        found.extend(contradictions(&network, &all, &seen));
        found.extend(untold_losses(&network, &all, &seen).0);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        cut += fragments;
        let (of_it, with_bound) = bounded(&all);
        (listeners, proven) = (listeners + of_it, proven + with_bound);
    }
    assert!(seeds.len() < 20 || cut > 8 * seeds.len(), "{cut} cuts in {} networks", seeds.len());
    assert!(seeds.len() == 1 || proven * 2 > listeners, "{proven} of {listeners} listeners have a bound");
}

#[test]
fn frames_that_are_cut_behind_gates_keep_to_their_bounds() {
    let (seeds, mut listeners, mut proven) = (seeds(80), 0, 0);
    for seed in &seeds {
        let text = random_preemption_behind_gates(*seed);
        let network = described(&text);
        let (all, seen) = (bounds(&network), run(&network));
        let mut found = contradictions(&network, &all, &seen);
        found.extend(untold_losses(&network, &all, &seen).0);
        if seed.is_multiple_of(10) {
            let chosen = adversary(&network, &all, &seen, RUNS, |_, _| {});
            found.extend(chosen.contradictions.iter().map(ToString::to_string));
        }
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        let (of_it, with_bound) = bounded(&all);
        (listeners, proven) = (listeners + of_it, proven + with_bound);
    }
    // Gates of corrected clocks, and those whose list changes, have none.
    let enough = seeds.len() == 1 || proven * 4 > listeners;
    assert!(enough, "{proven} of {listeners} listeners have a bound");
}

/// Lists that change may let the rest of a frame go on behind the old one, and gates before the first cycle are in no list.
#[test]
fn lists_by_which_frames_that_are_cut_overrun_have_a_warning() {
    let (seeds, mut overran, mut quiet) = (seeds(600), 0, 0);
    for seed in &seeds {
        let text = random_preemption_behind_gates(*seed);
        if ["guard: none", "change-gates", "admin-base-time", "time-triggered", "gptp"]
            .iter()
            .any(|other| text.contains(other))
        {
            continue;
        }
        let loaded = load_text("drawn", &text);
        let warned = loaded.diagnostics.iter().any(|fault| fault.code == "preemption::overrun");
        let network = loaded.network.expect("a network");
        let seen = run(&network);
        let gates = seen.mechanisms.of::<GatesObservation>().expect("gates");
        let overruns = gates.ports.iter().any(|port| port.transmission_overrun != [0; 8]);
        assert!(warned || !overruns, "TAUTWIRE_SEED={seed}: an overrun without a warning\n{text}");
        overran += usize::from(overruns);
        quiet += usize::from(!warned);
    }
    assert!(
        seeds.len() < 50 || overran > 3 && quiet > 3,
        "{overran} networks with overruns, {quiet} without a warning"
    );
}

#[test]
fn faults_in_bounds_of_preemption_behind_gates_are_found() {
    for planted in PlantedFault::OF_CUTS_BEHIND_GATES {
        assert!(
            shows(planted, RARE.into_iter().chain(0..cases(4_000)), random_preemption_behind_gates).is_some(),
            "{planted:?}"
        );
    }
}

#[test]
fn faults_of_preemption_are_found() {
    for planted in fault::PlantedFault::OF_PREEMPTION {
        fault::plant(Some(planted));
        let found =
            (0..cases(200)).find(|seed| !broken_parts(&described(&random_preemption(*seed))).0.is_empty());
        fault::plant(None);
        assert!(found.is_some(), "{planted:?}");
    }
}

#[test]
fn faults_in_bounds_of_preemption_are_found() {
    for planted in PlantedFault::OF_PREEMPTION {
        assert!(shows(planted, 0..cases(4_000), random_preemption).is_some(), "{planted:?}");
    }
}

/// Links are verified from the start of the run, or when they come back: nothing is cut before, and no frame is beyond its bound before, meanwhile or after.
#[test]
fn frames_keep_to_their_bounds_while_links_are_verified() {
    let (seeds, mut cut, mut listeners, mut proven) = (seeds(150), 0, 0, 0);
    let (mut succeeded, mut failed) = (0, 0);
    for seed in &seeds {
        let text = random_verification(*seed);
        let network = described(&text);
        let (mut found, fragments) = broken_parts(&network);
        let (all, seen) = (bounds(&network), run(&network));
        found.extend(contradictions(&network, &all, &seen));
        if network.events.is_empty() && !text.contains("bit-error-rate") {
            found.extend(untold_losses(&network, &all, &seen).0);
        }
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        let ports = seen.mechanisms.of::<PreemptionObservation>().map_or(&[][..], |seen| &seen.ports);
        let count = |status: VerifyStatus| {
            ports.iter().filter(|port| port.verify_count > 0 && port.verify_status == Some(status)).count()
        };
        (succeeded, failed) =
            (succeeded + count(VerifyStatus::Succeeded), failed + count(VerifyStatus::Failed));
        cut += fragments;
        let (of_it, with_bound) = bounded(&all);
        (listeners, proven) = (listeners + of_it, proven + with_bound);
    }
    let few = seeds.len() < 20;
    assert!(few || cut > 4 * seeds.len(), "{cut} cuts in {} networks", seeds.len());
    assert!(
        few || succeeded > seeds.len() && failed > seeds.len() / 10,
        "{succeeded} links, and {failed} failed"
    );
    assert!(few || proven * 5 > listeners * 2, "{proven} of {listeners} listeners have a bound");
}

#[test]
fn faults_of_verification_are_found() {
    for planted in fault::PlantedFault::OF_VERIFICATION {
        fault::plant(Some(planted));
        let found =
            (0..cases(200)).find(|seed| !broken_parts(&described(&random_verification(*seed))).0.is_empty());
        fault::plant(None);
        assert!(found.is_some(), "{planted:?}");
    }
    for planted in PlantedFault::OF_VERIFICATION {
        assert!(shows(planted, 0..cases(4_000), random_verification).is_some(), "{planted:?}");
    }
}
