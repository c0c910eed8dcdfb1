//! Random networks of every mechanism that is a plug-in, as it draws them itself: they have no faults, no frame is later or earlier
//! than its bound, and what is proven arrives. A mechanism that is new in the list is searched here without a line more.
//!
//! `TAUTWIRE_CASES` sets how many are drawn of each, `TAUTWIRE_SEED` draws one.

use tautwire_generate::seeds;
use tautwire_workbench::{MECHANISMS, Options, bounds, load_text, simulate, verify};

use crate::common::untold_losses;

#[test]
fn no_frame_of_a_mechanism_s_network_is_beyond_its_bound() {
    for mechanism in MECHANISMS {
        let (name, seeds) = (mechanism.key().name, seeds(150));
        let (mut bounded, mut listeners) = (0, 0);
        for seed in &seeds {
            let text = mechanism.draw(*seed);
            let loaded = load_text(name, &text);
            assert!(!loaded.has_errors(), "{name}, seed {seed}: {:#?}\n{text}", loaded.diagnostics);
            let network = loaded.network.expect("no errors");
            let all = bounds(&network);
            let seen = simulate(&network, &mut Options { seed: Some(*seed), ..Options::default() });
            let verified = verify(&network, &all, &seen);
            let mut found: Vec<String> = verified.contradictions.iter().map(ToString::to_string).collect();
            if network.events.is_empty() {
                found.extend(untold_losses(&network, &all, &seen).0);
            }
            assert!(found.is_empty(), "TAUTWIRE_SEED={seed}, {name}: {found:?}\n{text}");
            let (of_it, with_bound) = crate::common::bounded(&all);
            (listeners, bounded) = (listeners + of_it, bounded + with_bound);
        }
        let enough = seeds.len() < 20 || bounded * 2 > listeners;
        assert!(
            enough,
            "{name}: {bounded} of {listeners} listeners have a bound: what is drawn is overloaded"
        );
    }
}
