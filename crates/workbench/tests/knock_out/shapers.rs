//! Transmission selection: strict priority, credit-based shaper, ATS, and a talker that shapes.

use tautwire_workbench::{Options, Summary, load_text, simulate, table};

use super::{hold, hold_observed, two_talkers};

#[test]
fn strict_priority() {
    let text = two_talkers(
        "learning: {}",
        "priority: 6, payload: 64 B, traffic: {type: periodic, interval: 500 us}, deadline: 150 us",
        "priority: 0, payload: 1500 B, traffic: {type: periodic, interval: 5 ms, burst: 20}",
    )
    // From a faster line, so that the burst waits in the bridge.
    .replace("[two, bridge]", "[two, bridge], rate: 1 Gbit/s");
    hold(&text, "priority: 6", "priority: 0");
}

#[test]
fn credit_based_shaper() {
    // A burst of class 6 leaves room for class 5 only if it is spread by its credit.
    let text = two_talkers(
        "classes: {6: {transmission-selection: credit-based, idle-slope: 40 Mbit/s}}",
        "priority: 6, payload: 1000 B, traffic: {type: periodic, interval: 10 ms, burst: 30}",
        "priority: 5, payload: 200 B, traffic: {type: periodic, interval: 1 ms}, deadline: 600 us",
    );
    hold(
        &text,
        "transmission-selection: credit-based, idle-slope: 40 Mbit/s",
        "transmission-selection: strict-priority",
    );
}

#[test]
fn asynchronous_traffic_shaping() {
    // The burst of the first talker is spread by its scheduler, so the frames below pass between.
    let text = two_talkers(
        "classes: {6: {transmission-selection: ats}}",
        "priority: 6, payload: 1000 B, traffic: {type: periodic, interval: 10 ms, burst: 20}, \
         shaper: {committed-information-rate: 30 Mbit/s, committed-burst-size: 1042 B}",
        "priority: 5, payload: 200 B, traffic: {type: periodic, interval: 1 ms}, deadline: 450 us",
    );
    hold(&text, "transmission-selection: ats", "transmission-selection: strict-priority");
}

#[test]
fn shaping_at_the_talker() {
    // The talker's own shaper spreads what its application hands over at once.
    let text = two_talkers(
        "learning: {}",
        "priority: 6, payload: 1000 B, traffic: {type: periodic, interval: 10 ms, burst: 20}, \
         shaper: {committed-information-rate: 30 Mbit/s, committed-burst-size: 1042 B, shape-at-talker: true}",
        "priority: 5, payload: 200 B, traffic: {type: periodic, interval: 1 ms}, deadline: 450 us",
    );
    hold(&text, "shape-at-talker: true", "shape-at-talker: false");
}

/// One talker with two streams of one class at the bridge: one comes in bursts, one calmly.
fn one_group(device: &str, bridge: &str, bursty: u8) -> String {
    format!(
        "name: knock-out
network-control: none
vlans:
  1:
    tagged: all
devices: {{mine: {{based-on: ideal, {device}}}}}
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  one: {{type: end-station}}
  bridge: {{type: bridge, device: mine, classes: {{6: {{transmission-selection: ats}}}}, {bridge}}}
  sink: {{type: end-station}}
links:
  - {{between: [one, bridge], rate: 1 Gbit/s}}
  - {{between: [bridge, sink]}}
streams:
  - {{name: bursty, talker: one, listeners: sink, priority: {bursty}, payload: 1000 B, traffic: {{type: periodic, interval: 50 ms, burst: 20}}, shaper: {{committed-information-rate: 10 Mbit/s, committed-burst-size: 1042 B}}}}
  - {{name: calm, talker: one, listeners: sink, priority: 6, payload: 200 B, traffic: {{type: periodic, interval: 1 ms}}, shaper: {{committed-information-rate: 10 Mbit/s, committed-burst-size: 242 B}}, deadline: 8 ms}}
run: {{duration: 200 ms}}
"
    )
}

#[test]
fn max_residence_time() {
    // The group waits for the burst's last frame; what would stay too long goes, and frees the others.
    let text = one_group("switching: store-and-forward", "max-residence-time: 5 ms", 6);
    hold_observed(&text, "max-residence-time: 5 ms", "max-residence-time: none");
    // Every discard is counted at its stream and at the port by which it came.
    let network = load_text("knock-out", &text).network.expect("no errors");
    let observation = simulate(&network, &mut Options::default());
    let bridge = network.nodes.iter().find(|node| node.name == "bridge").expect("there is one");
    let discarded: Vec<u64> = observation.ports.iter().map(|port| port.scheduler_discarded).collect();
    let bursty = &observation.streams[0];
    let lost = bursty.created - bursty.delivered - bursty.in_flight;
    assert!(lost > 10, "{lost}");
    let first = bridge.ports.start as usize;
    assert_eq!(discarded.iter().sum::<u64>(), lost);
    assert_eq!(discarded[first], lost, "the first port is that of the talker");
    let summary = Summary::new(&network, None, Some(&observation));
    let table = table::ports(&summary, table::TableOptions::default());
    assert!(table.contains("ATS discards"), "{table}");
    let row = table.lines().find(|line| line.starts_with("bridge.")).expect("the port of the talker");
    assert!(row.contains(&format!(" {lost} ")) || row.ends_with(&format!(" {lost}")), "{table}");
}

#[test]
fn groups_by_upstream_class() {
    // Both streams are of class 6 at the bridge; only one of them came in class 6.
    let text =
        one_group("ats: {grouping: upstream-class}", "priority-regeneration: [0, 1, 2, 3, 4, 6, 6, 7]", 5);
    hold(&text, "grouping: upstream-class", "grouping: own-class");
}

#[test]
fn order_of_eligibility() {
    // A lane a port, the lowest first: what is eligible by the first port passes before the second's.
    let text = two_talkers(
        "device: mine, classes: {6: {transmission-selection: ats}}",
        "priority: 6, payload: 1000 B, traffic: {type: periodic, interval: 20 ms, burst: 60}, \
         shaper: {committed-information-rate: 90 Mbit/s, committed-burst-size: 60 kB}",
        "priority: 6, payload: 200 B, traffic: {type: periodic, interval: 20 ms, offset: 50 us}, \
         shaper: {committed-information-rate: 10 Mbit/s, committed-burst-size: 242 B}, deadline: 3 ms",
    )
    .replace("[one, bridge]", "[one, bridge], rate: 1 Gbit/s")
    .replace(
        "nodes:",
        "devices: {mine: {tie-rule: lowest-port, ats: {organisation: eligibility-ordered}}}\nnodes:",
    );
    hold_observed(&text, "organisation: eligibility-ordered", "organisation: interleaved-regulators");
}

#[test]
fn stream_identification() {
    // Identified by their ports, the burst has its own small bucket; by destination and VLAN both share a scheduler,
    // and the burst passes at once by the room that is meant for the other.
    let udp = |port| {
        format!("udp: {{source: 10.0.0.1, destination: 10.0.0.2, source-port: 1, destination-port: {port}}}")
    };
    let text = two_talkers(
        "device: mine, classes: {6: {transmission-selection: ats}}",
        &format!(
            "priority: 6, payload: 1000 B, traffic: {{type: periodic, interval: 10 ms, burst: 20}}, \
             shaper: {{committed-information-rate: 30 Mbit/s, committed-burst-size: 1042 B}}, {}",
            udp(1)
        ),
        "priority: 5, payload: 200 B, traffic: {type: periodic, interval: 1 ms}, deadline: 450 us",
    )
    .replace("[one, bridge]", "[one, bridge], rate: 1 Gbit/s")
    .replace(
        "streams:",
        &format!(
            "streams:\n  - {{name: wide, talker: one, listeners: sink, priority: 6, payload: 1000 B, \
             traffic: {{type: periodic, interval: 10 ms, offset: 5 ms}}, \
             shaper: {{committed-information-rate: 30 Mbit/s, committed-burst-size: 20 kB}}, {}}}",
            udp(2)
        ),
    )
    .replace("nodes:", "devices: {mine: {ats: {stream-identification: [ip-stream-identification]}}}\nnodes:");
    hold(&text, "ip-stream-identification", "null-stream-identification");
}
