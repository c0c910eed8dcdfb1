//! Frame replication and elimination: the scenario fails without it, without one of its paths, and with the shortest history.

use tautwire_workbench::{Network, Options, load_text, simulate};

const SCENARIO: &str = include_str!("../../../../scenarios/frame-replication.yaml");

/// Orders that were made, came, and are lost.
fn orders(text: &str) -> (u64, u64, u64) {
    let loaded = load_text("knock-out", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    let network: Network = loaded.network.expect("no errors");
    let seen = simulate(&network, &mut Options::default());
    let orders = &seen.streams[0];
    let lost =
        orders.listeners[0].lost.unwrap_or_else(|| orders.created - orders.delivered - orders.in_flight);
    (orders.created, orders.delivered, lost)
}

#[test]
fn orders_of_frame_replication() {
    let (created, delivered, lost) = orders(SCENARIO);
    // The last one is on its way when the run ends.
    assert_eq!((delivered, lost), (created - 1, 0), "each order comes once");
    let (frer, rest) =
        (SCENARIO.find("    frer:").expect("keys"), SCENARIO.find("  - name: status").expect("a stream"));
    let alone = format!("{}    route: [s1, s2, s4]\n{}", &SCENARIO[..frer], &SCENARIO[rest..]);
    let (_, _, lost) = orders(&alone);
    assert!(lost > 40, "{lost} orders are lost with one path");
    // Without elimination at s4 both copies come.
    let twice = SCENARIO
        .replace("algorithm: vector", "algorithm: match")
        .replace("node: s4\n          ", "node: motor\n          ");
    let twice = twice
        .replace("deadline: 1 ms", "deadline: 5 ms")
        .replace("length: 200 m", "propagation-delay: 400 us")
        .replace("{node: s4, individual", "{node: motor, individual");
    let (created, delivered, _) = orders(&twice);
    assert!(
        delivered > created + 20,
        "{delivered} of {created}: match takes copies that cross for new frames"
    );
}
