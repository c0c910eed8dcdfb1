//! gPTP in a run: how near the nodes' times come to the grandmaster's, and what faults do to it.

use tautwire_model::Network;
use tautwire_sim::{ClockObservation, Driver, NoRecorder, Observation, Options, run_with};
use tautwire_units::Duration;

const SCENARIO: &str = include_str!("../../../../scenarios/precision-time.yaml");

fn network(text: &str) -> Network {
    let loaded = tautwire_model::load_text("gptp.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

fn run(text: &str) -> (Network, Observation) {
    let network = network(text);
    let seen = run_with(&network, &mut Options::default(), &mut NoRecorder);
    (network, seen)
}

/// Stamps without steps.
fn exact() -> String {
    SCENARIO.replace("stamp-quantum: 8 ns, ", "")
}

fn with_event(text: &str, event: &str) -> String {
    text.replace("streams:", &format!("events:\n  - {event}\nstreams:"))
}

fn of<'o>(network: &Network, seen: &'o Observation, name: &str) -> &'o ClockObservation {
    let found = seen.clocks.iter().find(|clock| network.nodes[clock.node.index()].name == name);
    found.expect("a node")
}

/// The greatest offset of any node, in picoseconds.
fn worst(seen: &Observation) -> i64 {
    let ends = seen.clocks.iter().flat_map(|clock| [clock.offset.min_ps(), clock.offset.max_ps()]);
    ends.flatten().map(i64::abs).max().expect("samples")
}

fn masters<'n>(network: &'n Network, seen: &Observation) -> Vec<&'n str> {
    let name =
        |clock: &ClockObservation| network.nodes[clock.grandmaster.expect("a master").index()].name.as_str();
    seen.clocks.iter().map(name).collect()
}

#[test]
fn every_node_follows_the_best_clock_over_a_ring() {
    let (network, seen) = run(&exact());
    assert_eq!(masters(&network, &seen), ["master"; 6]);
    for clock in &seen.clocks {
        assert_eq!(clock.without, 0, "{}", network.nodes[clock.node.index()].name);
        assert_eq!(clock.capable_ports, u32::try_from(network.gptp_ports(clock.node).len()).expect("few"));
        assert!(clock.synchronised_at.expect("in time") < Duration::from_s(5));
    }
    // Exact stamps: what is left are roundings, and the drift of rates over a sync interval.
    assert!(worst(&seen) < 5_000, "{} ps", worst(&seen));
    let master = of(&network, &seen, "master");
    assert_eq!((master.offset.min_ps(), master.offset.max_ps()), (Some(0), Some(0)));
}

#[test]
fn steps_of_stamps_are_errors_of_the_time() {
    let (_, seen) = run(SCENARIO);
    let (_, exact) = run(&exact());
    assert!(worst(&seen) > worst(&exact), "{} ps", worst(&seen));
    // Two links and a bridge: some steps each.
    assert!(worst(&seen) < 100_000, "{} ps", worst(&seen));
}

#[test]
fn half_of_an_asymmetry_that_is_not_configured_is_an_error() {
    let uneven = "{between: [listener, three], length: 50 m}";
    let even = exact();
    assert!(even.contains(uneven));
    let skewed = even.replace(
        uneven,
        "{between: [listener, three], propagation-delay: 600 ns, backward: {propagation-delay: 200 ns}}",
    );
    let (network, seen) = run(&skewed);
    let offset = of(&network, &seen, "listener").offset.mean_ps().expect("samples");
    assert!((offset.abs() - 200_000).abs() < 5_000, "{offset} ps");
    let configured = if offset > 0 { "-200 ns" } else { "200 ns" };
    let skewed = skewed.replace(
        "    reserve: {priority1: 101}",
        &format!("    reserve: {{priority1: 101}}\n    listener: {{asymmetries: {{p1: {configured}}}}}"),
    );
    let (network, seen) = run(&skewed);
    let offset = of(&network, &seen, "listener").offset.mean_ps().expect("samples");
    assert!(offset.abs() < 5_000, "{offset} ps");
}

#[test]
fn the_next_best_clock_takes_over_from_a_lost_master() {
    let (network, seen) = run(&with_event(&exact(), "{at: 5 s, stop-node: master}"));
    for name in ["reserve", "listener", "one", "two", "three"] {
        let clock = of(&network, &seen, name);
        let master = clock.grandmaster.expect("a master");
        assert_eq!(network.nodes[master.index()].name, "reserve", "{name}");
        assert_eq!(clock.without, 0, "{name} had the time again after the warm-up");
    }
    assert!(worst(&seen) < 5_000, "{} ps", worst(&seen));
}

#[test]
fn a_ring_keeps_the_time_when_a_link_is_lost() {
    let (network, seen) = run(&with_event(&exact(), "{at: 5 s, cut-link: c}"));
    assert_eq!(masters(&network, &seen), ["master"; 6]);
    assert!(worst(&seen) < 5_000, "{} ps", worst(&seen));
    assert_eq!(of(&network, &seen, "three").capable_ports, 2);
}

#[test]
fn another_domain_is_not_heard() {
    let text = exact().replace("reserve: {priority1: 101}", "listener: {domain: 1}");
    let (network, seen) = run(&text);
    let alone = of(&network, &seen, "listener");
    assert_eq!(alone.capable_ports, 0);
    assert_eq!(network.nodes[alone.grandmaster.expect("itself").index()].name, "listener");
    assert_eq!(of(&network, &seen, "three").capable_ports, 2);
}

#[test]
fn a_long_link_is_not_capable() {
    let text = exact()
        .replace("{between: [listener, three], length: 50 m}", "{between: [listener, three], length: 300 m}");
    let (network, seen) = run(&text);
    assert_eq!(of(&network, &seen, "listener").capable_ports, 0, "more than 800 ns");
}

/// The scenario with a servo, and a talker whose frames the listener stamps by the same time.
fn corrected(text: &str) -> String {
    text.replace("gptp:\n", "gptp:\n  servo: {}\n")
        .replace("defaults:", "hosts: {h: {time-stamp: {point: start-of-frame}}}\ndefaults:\n  host: h")
}

/// The greatest distance of a corrected clock from its grandmaster's, in picoseconds.
fn corrected_worst(clock: &ClockObservation) -> i64 {
    let offset = &clock.corrected.as_ref().expect("an end station").offset;
    offset.min_ps().expect("samples").abs().max(offset.max_ps().expect("samples").abs())
}

#[test]
fn clocks_that_are_corrected_send_and_stamp_by_one_time() {
    let (network, seen) = run(&corrected(SCENARIO));
    for name in ["reserve", "listener"] {
        let clock = of(&network, &seen, name);
        assert!(corrected_worst(clock) < 200_000, "{name}: {} ps", corrected_worst(clock));
        let steps = clock.corrected.as_ref().expect("an end station").steps;
        assert!((1..=3).contains(&steps), "{name} began seconds away: {steps}");
    }
    assert!(of(&network, &seen, "one").corrected.is_none(), "a bridge");
    // The delay by the stamps of both ends is the true one; without correction they are a second apart.
    let latency = |seen: &Observation| {
        let stamped = seen.streams[0].listeners[0].stamped.as_ref().expect("stamps");
        stamped.latency.mean_ps().expect("frames")
    };
    let true_mean = seen.streams[0].listeners[0].delay.mean().expect("frames").as_ps();
    let measured = latency(&seen);
    assert!((0..100_000_000).contains(&measured), "{measured} of {true_mean}");
    let (_, free) = run(&corrected(SCENARIO).replace("  servo: {}\n", ""));
    assert!(latency(&free).abs() > 900_000_000_000, "a second: {}", latency(&free));
}

#[test]
fn a_talker_keeps_the_pace_of_the_grandmaster() {
    // 90 ppm fast by itself: of 60 000 frames five or six too many in 12 s; corrected, as many as of true time at +30 ppm.
    let text = exact()
        .replace("talker: master", "talker: listener")
        .replace("listeners: listener", "listeners: master");
    let text =
        text.replace("interval: 200 us", "interval: 20 us").replace("payload: 1400 B", "payload: 100 B");
    let text = text.replace("offset: 1 s}", "offset: 0 s}");
    let created = |text: &str| i64::try_from(run(text).1.streams[0].created).expect("few");
    let (free, led) = (created(&text), created(&corrected(&text)));
    let due = |ppm: i64| 600_000 + 600_000 * ppm / 1_000_000;
    assert!((free - due(90)).abs() <= 2, "{free}");
    // Until it receives the grandmaster's announce it runs free.
    assert!(led >= due(30) - 2 && led <= due(90) - 10, "{led}");
}

#[test]
fn a_corrected_clock_runs_on_when_the_grandmaster_is_lost() {
    // No other node may become one: for three sync intervals the time is known, then the clock runs on as it was.
    let text = SCENARIO
        .replace("reserve: {priority1: 101}", "reserve: {priority1: 255}\n    listener: {priority1: 255}");
    let text =
        text.replace("  bridges: {", "  bridges: {priority1: 255, ").replace("warm-up: 10 s", "warm-up: 7 s");
    let text = corrected(&with_event(&text, "{at: 8 s, stop-node: master}"));
    let (network, seen) = run(&text);
    let clock = of(&network, &seen, "listener");
    assert!(clock.without > 300, "no time behind: {}", clock.without);
    assert!(corrected_worst(clock) < 1_000_000, "{} ps", corrected_worst(clock));
    // In another domain it is never corrected.
    let alone = SCENARIO.replace("reserve: {priority1: 101}", "listener: {domain: 1}");
    let (network, seen) = run(&corrected(&alone));
    let clock = of(&network, &seen, "listener");
    assert_eq!(clock.grandmaster.map(|node| network.nodes[node.index()].name.as_str()), Some("listener"));
    assert_eq!(clock.corrected.as_ref().expect("an end station").steps, 0);
}

#[test]
fn every_event_loop_gives_the_same_times() {
    let network = network(SCENARIO);
    let with = |driver| {
        let duration = Some(Duration::from_s(11));
        run_with(&network, &mut Options { driver, duration, ..Options::default() }, &mut NoRecorder)
    };
    let eliding = with(Driver::Eliding);
    for driver in [Driver::Plain, Driver::Spurious] {
        assert_eq!(with(driver), eliding);
    }
}
