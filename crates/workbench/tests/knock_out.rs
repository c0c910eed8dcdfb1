//! Every mechanism earns its place: with it a scenario keeps its deadlines, without it a frame is late.
//!
//! Both answers are held to: the bounds prove the deadlines with the mechanism, and the simulation
//! misses one of them without.

use tautwire_workbench::{Network, Options, load_text, simulate, verify};

/// Whether every deadline is proven, and whether every deadline was kept.
fn answers(text: &str) -> (bool, bool) {
    let loaded = load_text("knock-out", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    let network: Network = loaded.network.expect("no errors");
    let bounds = tautwire_analysis::bounds(&network);
    let observation = simulate(&network, &mut Options::default());
    assert_eq!(verify(&network, &bounds, &observation).contradictions, []);
    let (mut proven, mut kept) = (true, true);
    for (index, stream) in network.streams.iter().enumerate() {
        let Some(deadline) = stream.deadline else { continue };
        for listener in &bounds.streams[index].listeners {
            proven &= listener.delay.as_ref().is_ok_and(|delay| *delay <= deadline);
        }
        let observed = &observation.streams[index];
        kept &= observed.listeners.iter().all(|listener| listener.late == 0);
        kept &= observed.delivered + observed.in_flight == observed.created;
    }
    (proven, kept)
}

fn hold(text: &str, mechanism: &str, instead: &str) {
    assert_eq!(answers(text), (true, true), "with its mechanism");
    assert!(text.contains(mechanism));
    let (proven, kept) = answers(&text.replace(mechanism, instead));
    assert!(!proven, "nothing is proven without `{mechanism}`");
    assert!(!kept, "a frame is late without `{mechanism}`");
}

/// Two talkers, one bridge, one line for both.
fn two_talkers(classes: &str, first: &str, second: &str) -> String {
    format!(
        "name: knock-out
network-control: none
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  one: {{type: end-station}}
  two: {{type: end-station}}
  bridge: {{type: bridge, {classes}}}
  sink: {{type: end-station}}
links:
  - {{between: [one, bridge]}}
  - {{between: [two, bridge]}}
  - {{between: [bridge, sink]}}
streams:
  - {{name: first, talker: one, listeners: sink, {first}}}
  - {{name: second, talker: two, listeners: sink, {second}}}
run: {{duration: 100 ms}}
"
    )
}

#[test]
fn strict_priority() {
    let text = two_talkers(
        "learning: {}",
        "priority: 6, payload: 64 B, traffic: {type: periodic, interval: 500 us}, deadline: 150 us",
        "priority: 0, payload: 1500 B, traffic: {type: periodic, interval: 5 ms, burst: 20}",
    )
    // From a faster line, so that the burst stands in the bridge.
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

#[test]
fn learned_forwarding() {
    // Once an answer has taught the bridge where the sink is, frames for it leave the other line alone.
    let text = "name: knock-out
network-control: none
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
nodes:
  one: {type: end-station}
  two: {type: end-station}
  bridge: {type: bridge, learning: {table-size: 16}}
  sink: {type: end-station}
links:
  - {between: [one, bridge]}
  - {between: [two, bridge]}
  - {between: [bridge, sink]}
streams:
  - {name: answer, talker: sink, listeners: one, payload: 46 B, traffic: {type: periodic, interval: 1 ms}, route: learned}
  - {name: data, talker: one, listeners: sink, payload: 1000 B, traffic: {type: periodic, interval: 100 us, offset: 1 ms}, route: learned}
run: {duration: 100 ms}
";
    let consumed = |text: &str| {
        let network = load_text("learned", text).network.expect("no errors");
        simulate(&network, &mut Options::default()).streams[1].consumed
    };
    assert_eq!(consumed(text), 0, "nobody else is bothered");
    let deaf = text.replace("table-size: 16", "table-size: 16, ageing-time: 1 us");
    assert!(consumed(&deaf) > 900, "an address that is forgotten at once is flooded for");
}
