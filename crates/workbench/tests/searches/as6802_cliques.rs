//! A network of SAE AS6802 that separates into two parts: the larger one keeps network time, the smaller one loses it
//! because of too few members, joins when the cable is repaired, and at no time do two parts count differently. Then
//! all switches stop, and the network starts anew.

use tautwire_sim::NodeTime;
use tautwire_units::Duration;
use tautwire_workbench::{Network, Options, load_text, simulate, verify};

const NETWORK: &str = "name: cliques
network-control: none
vlans:
  1:
    tagged: all
time-triggered:
  precision: 9 us
  integration-cycle: 4 ms
  synchronisation:
    masters: [a1, a2, a3, b1, b2]
    compression-masters: [switch-a, switch-b]
    max-transmission-delay: 500 us
defaults: {rate: 100 Mbit/s, device: store-and-forward, clock: {tolerance: 100 ppm}}
nodes:
  a1: {type: end-station}
  a2: {type: end-station}
  a3: {type: end-station}
  b1: {type: end-station}
  b2: {type: end-station}
  switch-a: {type: bridge}
  switch-b: {type: bridge}
links:
  - {between: [a1, switch-a]}
  - {between: [a2, switch-a]}
  - {between: [a3, switch-a]}
  - {between: [b1, switch-b]}
  - {between: [b2, switch-b]}
  - {name: between, between: [switch-a, switch-b]}
streams:
  - {name: t, talker: b1, listeners: a1, payload: 100 B, traffic: {type: periodic, interval: 2 ms},
     time-triggered: {id: 1, period: 2 ms, offset: 200 us, release: locked}}
EVENTS
run: {duration: 700 ms, seed: SEED}
";

/// A run without contradictions: the network times of all nodes.
fn run(events: &str, seed: u64) -> (Network, Vec<NodeTime>) {
    let text = NETWORK.replace("EVENTS", events).replace("SEED", &seed.to_string());
    let loaded = load_text("cliques.yaml", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    let network = loaded.network.expect("no errors");
    let observation = simulate(&network, &mut Options::default());
    let bounds = tautwire_analysis::bounds(&network);
    let found = verify(&network, &bounds, &observation).contradictions;
    assert!(found.is_empty(), "seed {seed}: {found:?}");
    let time = observation.network_time.expect("a time-triggered network");
    let proven = network.precision_bound().expect("it is synchronised");
    assert!(time.precision <= proven, "seed {seed}: {} apart", time.precision);
    (network, time.nodes)
}

#[test]
fn the_larger_part_keeps_network_time_and_the_smaller_one_joins_it_again() {
    for seed in 1..9 {
        let cut = "events:\n  - {at: 150 ms, cut-link: between}\n  - {at: 300 ms, mend-link: between}";
        let (network, nodes) = run(cut, seed);
        let again = network.resynchronisation_max().expect("it is synchronised");
        for (node, time) in network.nodes.iter().zip(&nodes) {
            assert!(time.without_since.is_none() && time.synchronised_at.is_some(), "{}", node.name);
            if ["a1", "a2", "a3", "switch-a"].contains(&node.name.as_str()) {
                assert_eq!(time.lost, 0, "seed {seed}: {}", node.name);
            } else {
                let without = time.without_max;
                assert!(time.lost >= 1, "seed {seed}: {}", node.name);
                assert!(without >= Duration::from_ms(130), "seed {seed}: {} for {without}", node.name);
                assert!(
                    without <= Duration::from_ms(150) + again,
                    "seed {seed}: {} for {without}",
                    node.name
                );
            }
        }
    }
}

#[test]
fn a_network_that_has_stopped_starts_anew_in_the_stated_time() {
    for seed in 1..9 {
        let stop = "events:
  - {at: 150 ms, stop-node: switch-a}
  - {at: 150 ms, stop-node: switch-b}
  - {at: 250 ms, start-node: switch-a}
  - {at: 250 ms, start-node: switch-b}";
        let (network, nodes) = run(stop, seed);
        let again = network.resynchronisation_max().expect("it is synchronised");
        for (node, time) in network.nodes.iter().zip(&nodes) {
            assert!(time.lost >= 1 && time.without_since.is_none(), "seed {seed}: {}", node.name);
            let without = time.without_max;
            assert!(without <= Duration::from_ms(100) + again, "seed {seed}: {} for {without}", node.name);
        }
    }
}
