//! Whatever the event loop leaves out, it must not show: three drivers, one trace.

use tautwire_generate::random_network;
use tautwire_model::Network;
use tautwire_model::central::CentralTest;
use tautwire_sim::{Driver, NoRecorder, Observation, Options, run_with};

fn network(name: &str, text: &str) -> Network {
    let loaded = tautwire_model::load_text(name, text);
    assert!(!loaded.has_errors(), "{name}: {:#?}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

fn observe(network: &Network, driver: Driver) -> Observation {
    run_with(network, &mut Options { driver, ..Options::default() }, &mut NoRecorder)
}

fn hold_drivers_against_each_other(name: &str, network: &Network) {
    let eliding = observe(network, Driver::Eliding);
    assert_eq!(observe(network, Driver::Eliding), eliding, "{name}: the same run twice");
    for driver in [Driver::Plain, Driver::Spurious] {
        assert_eq!(observe(network, driver), eliding, "{name}: {driver:?}");
    }
}

#[test]
fn random_networks_have_one_trace() {
    for seed in 0..tautwire_generate::cases(300) {
        let name = format!("random network {seed}");
        hold_drivers_against_each_other(&name, &network(&name, &random_network(seed)));
    }
}

#[test]
fn every_scenario_has_one_trace() {
    let folder = "../../scenarios";
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the scenarios") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let loaded = tautwire_model::load(&path).expect("readable");
            // Sections of plug-ins are not this crate's, either: it refuses them.
            let Some(mut network) = loaded.network else { continue };
            // Three runs of each: a tenth of a second is enough to meet every mechanism.
            network.set_duration(network.run.duration.min(tautwire_units::Duration::from_ms(100)));
            // The test of bounds is not part of this crate.
            let network = network.altered(|parts| {
                if let Some(central) = parts.srp.as_mut().and_then(|held| held.central.as_mut()) {
                    central.test = CentralTest::Bandwidth;
                }
            });
            hold_drivers_against_each_other(&path.display().to_string(), &network);
            count += 1;
        }
    }
    assert!(count >= 30, "scenarios were found");
}

#[test]
fn another_seed_is_another_run() {
    let network = network("random", &random_network(3));
    let other = run_with(&network, &mut Options { seed: Some(99), ..Options::default() }, &mut NoRecorder);
    assert_ne!(other.trace_hash, observe(&network, Driver::Eliding).trace_hash);
}

/// Bridges without cables, as they are read from instance data, and a bridge with one station: there is less to cut than processors.
#[test]
fn more_processors_than_ports_change_nothing() {
    let bridges = "name: bridges\nnodes: {a: {type: bridge}, b: {type: bridge}}\nrun: {duration: 1 ms}\n";
    let station = "name: station\nnodes: {a: {type: end-station}, b: {type: bridge}}\nlinks: [{between: [a, b], rate: 1 Gbit/s}]\nrun: {duration: 1 ms}\n";
    for text in [bridges, station] {
        let network = network("few", text);
        let on = |processors| tautwire_sim::run(&network, &mut Options { processors, ..Options::default() });
        assert_eq!(on(8), on(1), "{text}");
    }
}
