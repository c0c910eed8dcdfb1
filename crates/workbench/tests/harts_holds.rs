//! No frame of a random HaRTES network is later than its bound; and servers keep a stream from others.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one. Clocks drift, hosts and sources jitter;
//! servers are of all kinds, in one another or not, with long and short periods; what they cannot promise is
//! unbounded, and what is bounded is counted, so that the search is seen to have found bounds.

mod common;

use tautwire_generate::{random_harts, seeds};
use tautwire_workbench::{Options, Verdict, bounds, simulate, verify};

use common::described as network;

#[test]
fn no_frame_is_later_than_its_bound() {
    let seeds = seeds(60);
    let mut bounded = 0;
    for &seed in &seeds {
        let text = random_harts(seed);
        let network = network(&text);
        let bounds = bounds(&network);
        let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
        let verification = verify(&network, &bounds, &observation);
        for judged in verification.streams.iter().flat_map(|stream| &stream.listeners) {
            assert_ne!(judged.verdict, Verdict::Contradiction, "TAUTWIRE_SEED={seed}: {judged:?}\n{text}");
        }
        let proven = bounds.streams.iter().flat_map(|stream| &stream.listeners);
        bounded += proven.filter(|listener| listener.delay.is_ok()).count();
    }
    assert!(bounded >= seeds.len(), "the search has bounds to hold: {bounded}");
}

/// A stream of small frames beside bursts of another talker of the same priority.
const BESIDE_BURSTS: &str = "name: knock-out
network-control: none
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  c: {type: end-station}
  s: {type: bridge}
links:
  - {between: [a, s]}
  - {between: [b, s], rate: 1 Gbit/s}
  - {between: [s, c]}
harts:
  elementary-cycle: 500 us
  trigger: 10 us
  turn-around: 10 us
  reserve: [{stream: first}]
streams:
  - {name: first, talker: a, listeners: c, payload: 100 B, traffic: {type: periodic, interval: 1 ms, offset: 200 us}, deadline: 1500 us}
  - {name: second, talker: b, listeners: c, payload: 1000 B, traffic: {type: periodic, interval: 3 ms, burst: 20}}
run: {duration: 100 ms}
";

/// Whether the deadline of the first stream is proven, and how many of its frames were late.
fn first_of(text: &str) -> (bool, u64) {
    let network = network(text);
    let proven = bounds(&network).streams[0].listeners[0].delay.is_ok();
    let observation = simulate(&network, &mut Options::default());
    (proven, observation.streams[0].listeners[0].late)
}

#[test]
fn without_its_server_a_stream_waits_behind_bursts() {
    assert_eq!(first_of(BESIDE_BURSTS), (true, 0));
    let (proven, late) = first_of(&BESIDE_BURSTS.replace("reserve: [{stream: first}]", "reserve: []"));
    assert!(!proven && late > 0, "behind the burst: {late} late");
}

#[test]
fn the_background_has_what_reservations_leave() {
    // Small frames every 50 us take 23 % of the line by their server; what is left holds four frames of the five.
    let delivered = |text: &str| {
        let observation = simulate(&network(text), &mut Options::default());
        observation.streams[1].delivered
    };
    let more = BESIDE_BURSTS.replace("interval: 3 ms, burst: 20", "interval: 100 us, burst: 1");
    let more = more.replace("network-control: none", "network-control: none\nallow: [port::overload]");
    let free = delivered(&more.replace("interval: 1 ms, offset", "interval: 90 ms, offset"));
    let taken = delivered(&more.replace("interval: 1 ms, offset", "interval: 50 us, offset"));
    assert!(taken < free && taken * 2 > free, "{taken} of {free}");
}

#[test]
fn the_scenario_is_proven_and_kept() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/harts.yaml");
    let network = network(&std::fs::read_to_string(path).expect("a scenario"));
    let bounds = bounds(&network);
    let observation = simulate(&network, &mut Options::default());
    for (stream, (proven, observed)) in
        network.streams.iter().zip(bounds.streams.iter().zip(&observation.streams))
    {
        let Some(deadline) = stream.deadline else { continue };
        let bound = proven.listeners[0].delay.clone().expect("a stream with a server");
        assert!(bound <= deadline, "{}: {bound} of {deadline}", stream.name);
        assert_eq!(observed.listeners[0].late, 0, "{}", stream.name);
        assert!(observed.delivered > 100, "{}", stream.name);
    }
}
