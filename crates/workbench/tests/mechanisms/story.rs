//! The story of the worst frame, compared with its run.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use tautwire_workbench::{Duration, Network, Options, Reason, StreamIndex, load_text, simulate, story};

/// Two cameras and a bulk stream meet a loop at a bridge, and its second bridge is shared as well.
const NETWORK: &str = "
vlans: {1: {tagged: all}}
defaults: { rate: 100 Mbit/s, clock: { tolerance: 50 ppm } }
nodes:
  sensor: { type: end-station }
  left: { type: end-station }
  right: { type: end-station }
  control: { type: end-station }
  first: { type: bridge }
  second: { type: bridge }
links:
  - { between: [sensor, first], length: 10 m }
  - { between: [left, first], length: 10 m }
  - { between: [first, second], length: 10 m }
  - { between: [right, second], length: 10 m }
  - { between: [second, control], length: 10 m }
streams:
  - { name: loop, talker: sensor, listeners: [control, right], priority: 5, payload: 100 B,
      traffic: { type: periodic, interval: 500 us, jitter: 100 us } }
  - { name: fast, talker: left, listeners: control, priority: 6, payload: 700 B,
      traffic: { type: periodic, interval: 300 us, burst: 2, jitter: 50 us } }
  - { name: same, talker: right, listeners: control, priority: 5, payload: 300 B,
      traffic: { type: periodic, interval: 400 us, burst: 3 } }
  - { name: bulk, talker: left, listeners: control, priority: 0, payload: 1500 B,
      traffic: { type: poisson, mean-interval: 400 us } }
run: { duration: 200 ms, warm-up: 10 ms }
";

fn network() -> Network {
    let loaded = load_text("story.yaml", NETWORK);
    assert!(loaded.network.is_some(), "{:?}", loaded.diagnostics);
    loaded.network.unwrap()
}

#[test]
fn parts_and_hops_add_up_to_the_delay() {
    let network = network();
    let observation = simulate(&network, &mut Options::default());
    for index in 0..network.streams.len() {
        let story = story(&network, &observation, StreamIndex::at(index)).unwrap();
        let worst = observation.streams[index].listeners.iter().filter_map(|listener| listener.worst);
        assert_eq!(Some(story.delay), worst.map(|worst| worst.delay).max(), "{}", story.stream);
        let total: Duration = story.hops.iter().map(|hop| hop.parts.total()).sum();
        assert_eq!(total, story.delay, "{story}");
        assert!(story.hops.len() >= 2, "{story}");
    }
}

#[test]
fn every_wait_is_accounted_for() {
    let network = network();
    let observation = simulate(&network, &mut Options::default());
    let mut reasons = Vec::new();
    for index in 0..network.streams.len() {
        let story = story(&network, &observation, StreamIndex::at(index)).unwrap();
        for hop in &story.hops {
            let waited: Duration = hop.waited_for.iter().map(|other| other.time).sum();
            assert_eq!(waited, hop.parts.queueing, "without shapers the line is never free\n{story}");
            reasons.extend(hop.waited_for.iter().map(|other| other.reason));
        }
    }
    for reason in [Reason::AlreadySent, Reason::HigherClass, Reason::SameClass] {
        assert!(reasons.contains(&reason), "{reason:?} does not occur: {reasons:?}");
    }
}

#[test]
fn a_stream_that_never_arrives_has_no_story() {
    let text = NETWORK.replace("run: {", "run: { stop-after-frames: 1,");
    let network = load_text("story.yaml", &text).network.unwrap();
    let observation = simulate(&network, &mut Options::default());
    let silent = observation.streams.iter().position(|stream| stream.delivered == 0).unwrap();
    assert_eq!(story(&network, &observation, StreamIndex::at(silent)), None);
}
