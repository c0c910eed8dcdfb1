//! Frame replication and elimination: the scenario fails without it, without one of its paths, and with the shortest history.

use tautwire_analysis::{losses, stated_failures};
use tautwire_model::network::StreamIndex;
use tautwire_sim::RecoveryObservation;
use tautwire_workbench::{Duration, Network, Options, bounds, load_text, simulate, verify};

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

const POLICED: &str = include_str!("../../../../scenarios/policed-replication.yaml");

/// Whether the policed orders are proven, and how many are lost.
fn policed(text: &str) -> (bool, u64) {
    let loaded = load_text("knock-out", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    let network: Network = loaded.network.expect("no errors");
    let (all, seen) = (bounds(&network), simulate(&network, &mut Options::default()));
    assert_eq!(verify(&network, &all, &seen).contradictions, []);
    let is_lossless =
        !losses(&network, &all).may_be_lost(StreamIndex(0), 0) && stated_failures(&network)[0][0].is_empty();
    let listener = &all.streams[0].listeners[0];
    let in_time = listener.delay.as_ref().is_ok_and(|delay| *delay <= Duration::from_ms(2));
    (in_time && is_lossless, seen.streams[0].listeners[0].lost.expect("counted"))
}

#[test]
fn policing_and_replication_of_orders() {
    assert_eq!(policed(POLICED), (true, 0));
    let altered = |from: &str, to: &str| {
        assert!(POLICED.contains(from), "{from}");
        policed(&POLICED.replace(from, to))
    };
    // One path: it is cut, and its gate shuts.
    let (frer, rest) =
        (POLICED.find("    frer:").expect("keys"), POLICED.find("  - name: measurements").expect("a stream"));
    let alone = format!("{}    route: [s1, s2, s4]\n{}", &POLICED[..frer], &POLICED[rest..]);
    let loaded = load_text("knock-out", &alone);
    let network = loaded.network.expect("no errors");
    let seen = simulate(&network, &mut Options::default());
    assert!(seen.streams[0].delivered * 3 < seen.streams[0].created * 2, "{}", seen.streams[0].delivered);
    // The meter behind the elimination, with a bucket for one path alone.
    let (is_proven, lost) = altered("committed-burst-size: 1600 B", "committed-burst-size: 460 B");
    assert!(!is_proven && lost > 0, "{lost} lost by a bucket that forgets the gap of copies");
    // The sensor without its meter.
    let (is_proven, _) = altered(", flow-meter-ref: 2}", "}");
    assert!(!is_proven, "nothing bounds what the sensor sends");
}

const MEMBERS: &str = include_str!("../../../../scenarios/member-streams.yaml");

/// The orders are proven by the priority of the copies on the long way, and each copy keeps to the VLAN of its way.
#[test]
fn copies_with_an_identification_of_their_own() {
    let judged = |text: &str| {
        let network = load_text("knock-out", text).network.expect("no errors");
        let (all, seen) = (bounds(&network), simulate(&network, &mut Options::default()));
        assert_eq!(verify(&network, &all, &seen).contradictions, []);
        let delay = *all.streams[0].listeners[0].delay.as_ref().expect("a bound");
        let in_time = delay <= network.streams[0].deadline.expect("a deadline");
        (in_time && !losses(&network, &all).may_be_lost(StreamIndex(0), 0), seen.streams[0].listeners[0].lost)
    };
    assert_eq!(judged(MEMBERS), (true, Some(0)));
    // With the priority of the stream the copies wait for the pictures.
    assert!(!judged(&MEMBERS.replace(", priority: 7}", "}")).0);
    // Each VLAN has the ports of its way alone.
    let (short, long) = ("00:02\", vlan: 2}", "00:03\", vlan: 3,");
    let crossed = MEMBERS.replace(short, "00:02\", vlan: 3}").replace(long, "00:03\", vlan: 2,");
    let loaded = load_text("knock-out", &crossed);
    assert!(loaded.diagnostics.iter().any(|one| one.code == "frer::impossible"), "{:#?}", loaded.diagnostics);
}

const STUCK: &str = include_str!("../../../../scenarios/stuck-sender.yaml");

/// Without functions that know repeats the motor gets them.
#[test]
fn a_stuck_sender() {
    let judged = |text: &str| {
        let loaded = load_text("knock-out", text);
        assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
        let network: Network = loaded.network.expect("no errors");
        let (all, seen) = (bounds(&network), simulate(&network, &mut Options::default()));
        assert_eq!(verify(&network, &all, &seen).contradictions, []);
        let taken = seen.mechanisms.of::<RecoveryObservation>().expect("functions").repeats[0].taken;
        (losses(&network, &all).may_be_lost(StreamIndex(0), 0), taken)
    };
    assert_eq!(judged(STUCK), (false, 0));
    // Functions that begin anew after each frame.
    let forgetful = STUCK
        .replace("reset-timeout: 10 ms", "reset-timeout: 1 ms")
        .replace("interval: 500 us", "interval: 2 ms");
    let (may_be_lost, taken) = judged(&forgetful.replace("interval: 150 us", "interval: 1200 us"));
    assert!(may_be_lost && taken > 20, "{taken} repeats taken");
}
