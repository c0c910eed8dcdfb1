//! Every planted fault is found: with it some observation is above its bound within a few thousand
//! random networks, and without it none is.
#![cfg(feature = "planted-faults")]

mod common;

use common::{contradictions, number};
use tautwire_analysis::{PlantedFault, bounds_with_fault};
use tautwire_sim::{Options, run};

#[test]
fn every_planted_fault_is_found() {
    let cases = number("TAUTWIRE_CASES", 2_000);
    let mut left: Vec<PlantedFault> = PlantedFault::ALL.to_vec();
    let mut found = Vec::new();
    for seed in 0..cases {
        if left.is_empty() {
            break;
        }
        let text = tautwire_generate::random_network(seed);
        let network = tautwire_model::load_text("random", &text).network.expect("a whole network");
        let observed = run(&network, &mut Options { histograms: Some(false), ..Options::default() });
        let sound = bounds_with_fault(&network, None);
        assert_eq!(contradictions(&network, &sound, &observed), Vec::<String>::new(), "seed {seed}");
        left.retain(|fault| {
            let wrong = contradictions(&network, &bounds_with_fault(&network, Some(*fault)), &observed);
            if !wrong.is_empty() {
                found.push((*fault, seed));
            }
            wrong.is_empty()
        });
    }
    if std::env::var_os("TAUTWIRE_SUMMARY").is_some() {
        let path = std::env::temp_dir().join("tautwire-planted-faults.txt");
        std::fs::write(path, format!("{found:?}")).expect("a place to write");
    }
    assert!(left.is_empty(), "not found: {left:?}; found: {found:?}");
}
