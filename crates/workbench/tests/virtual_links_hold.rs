//! Random networks of virtual links, with a babbling end system and a failed cable: no frame is later than
//! its bound, policing discards nothing of those that keep their BAG, and what goes over both networks
//! is neither lost nor taken twice when one of them fails.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_generate::random_avionics;
use tautwire_sim::{DropReason, StreamObservation};
use tautwire_workbench::{Network, Options, load_text, simulate, verify};

fn network(seed: u64) -> Network {
    let text = random_avionics(seed);
    let loaded = load_text("avionics", &text);
    assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn dropped(observed: &StreamObservation, reason: DropReason) -> u64 {
    observed.dropped.iter().find(|(other, _)| *other == reason).map_or(0, |(_, count)| *count)
}

#[test]
fn virtual_links_keep_what_they_promise() {
    let seeds: Vec<u64> = match number("TAUTWIRE_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("TAUTWIRE_CASES").map_or(400, |cases| cases.min(20_000))).collect(),
    };
    let (mut links, mut bounded, mut wide, mut failed, mut babbled) = (0, 0, 0, 0, 0);
    for seed in &seeds {
        let network = network(*seed);
        let bounds = tautwire_analysis::bounds(&network);
        let observation = simulate(&network, &mut Options::default());
        let found = verify(&network, &bounds, &observation).contradictions;
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        for (number, stream) in network.streams.iter().enumerate() {
            let (observed, bounds) = (&observation.streams[number], &bounds.streams[number]);
            let link = stream.virtual_link.expect("all are virtual links");
            assert_eq!(observed.in_flight, 0, "seed {seed}: {} has come or is lost", stream.name);
            let cut = dropped(observed, DropReason::PolicedRate);
            assert_eq!(dropped(observed, DropReason::PolicedLength), 0, "seed {seed}: {}", stream.name);
            if !link.regulated {
                babbled += cut;
                continue;
            }
            links += 1;
            if bounds.listeners.iter().any(|listener| listener.delay.is_err()) {
                continue;
            }
            bounded += 1;
            assert_eq!(cut, 0, "seed {seed}: policing discarded frames of {}, which is bounded", stream.name);
            let Some(skew_max) = link.skew_max else { continue };
            let skews = bounds.listeners.iter().map(|listener| listener.skew.expect("both are bounded"));
            if skews.max().is_some_and(|skew| skew > skew_max) {
                wide += 1;
                continue;
            }
            let lost = dropped(observed, DropReason::LinkDown);
            failed += u64::from(lost > 0);
            let left = observed.created - dropped(observed, DropReason::Overwritten);
            let listeners = stream.listeners.len() as u64;
            assert_eq!(observed.delivered, left * listeners, "seed {seed}: {} once and all", stream.name);
        }
    }
    if seeds.len() > 1 {
        assert!(bounded * 10 > links * 6, "{bounded} of {links} are bounded");
        assert!(wide > 20 && wide * 2 < links, "the copies of {wide} of {links} may be too far apart");
        assert!(failed > 20 && babbled > 1_000, "{failed} over a failed network, {babbled} frames policed");
    }
}
