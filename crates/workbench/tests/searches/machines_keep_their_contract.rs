//! Machines of control mechanisms keep their contract (`tautwire_core::control::Machine`) in drawn networks of every
//! kind: a run with needless wake-ups, in which each answer is checked, observes the same as a run without them.
//!
//! `TAUTWIRE_CASES` sets how many networks are drawn of each kind, `TAUTWIRE_SEED` draws one.

use tautwire_generate::{KINDS, seeds};
use tautwire_model::network::Network;
use tautwire_units::Duration;
use tautwire_workbench::{Options, load_text, simulate};

use tautwire_sim::Driver;

/// Long enough for elections, reservations and start-ups of what is drawn, short enough for three runs.
const END: Duration = Duration::from_ms(1_500);

#[test]
fn machines_keep_their_contract() {
    let mut with_machines = 0;
    for (name, draw) in KINDS {
        for seed in seeds(6) {
            let Some(mut network) = load_text(name, &draw(seed)).network else { continue };
            if !network.streams.iter().any(|stream| stream.traffic.is_control()) {
                continue;
            }
            network.set_duration(network.run.duration.min(END));
            with_machines += 1;
            let run = |network: &Network, driver| {
                simulate(network, &mut Options { driver, seed: Some(seed), ..Options::default() })
            };
            let same = run(&network, Driver::Spurious) == run(&network, Driver::Eliding);
            assert!(same, "TAUTWIRE_SEED={seed}, {name}: needless wake-ups change the run");
        }
    }
    assert!(with_machines >= 6, "networks with machines are drawn");
}
