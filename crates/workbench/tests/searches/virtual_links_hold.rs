//! Random networks of virtual links, with a babbling end system and a failed cable: no frame is later than
//! its bound, policing discards nothing of those that keep their BAG, and what goes over both networks
//! is neither lost nor taken twice when one of them fails.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use crate::common::{avionics, broken_promises, dropped, run_links};
use tautwire_generate::seeds;
use tautwire_sim::DropReason;

#[test]
fn virtual_links_keep_what_they_promise() {
    let mut seeds = seeds(400);
    seeds.truncate(20_000);
    let (mut links, mut bounded, mut wide, mut failed, mut babbled) = (0, 0, 0, 0, 0);
    for seed in &seeds {
        let network = avionics(*seed);
        let bounds = tautwire_analysis::bounds(&network);
        let (observation, mut found) = run_links(&network);
        found.extend(broken_promises(&network, &bounds, &observation));
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        for (number, stream) in network.streams.iter().enumerate() {
            let (observed, bounds) = (&observation.streams[number], &bounds.streams[number]);
            let link = stream.virtual_link.expect("all are virtual links");
            if !link.regulated {
                babbled += dropped(observed, DropReason::PolicedRate);
                continue;
            }
            links += 1;
            if bounds.listeners.iter().any(|listener| listener.delay.is_err()) {
                continue;
            }
            bounded += 1;
            let Some(skew_max) = link.skew_max else { continue };
            let skews = bounds.listeners.iter().map(|listener| listener.skew.expect("both are bounded"));
            if skews.max().is_some_and(|skew| skew > skew_max) {
                wide += 1;
            } else {
                failed += u64::from(dropped(observed, DropReason::LinkDown) > 0);
            }
        }
    }
    if seeds.len() > 1 {
        assert!(bounded * 10 > links * 6, "{bounded} of {links} are bounded");
        assert!(wide > 20 && wide * 2 < links, "the copies of {wide} of {links} may be too far apart");
        assert!(failed > 20 && babbled > 1_000, "{failed} over a failed network, {babbled} frames policed");
    }
}
