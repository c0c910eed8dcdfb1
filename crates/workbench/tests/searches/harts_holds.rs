//! No frame of a random HaRTES network is later than its bound; and servers keep a stream from others.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one. Clocks drift, hosts and sources jitter;
//! servers are of all kinds, in one another or not, with long and short periods; half of the networks have synchronous
//! streams by one of the three schedulers, and some streams are policed. What cannot be promised is unbounded, and what is
//! bounded is counted, so that the search is seen to have found bounds.

use tautwire_generate::{random_harts, retagged, seeds};
use tautwire_sim::DropReason;
use tautwire_workbench::{Options, Verdict, Verification, bounds, simulate, verify};

use crate::common::described as network;

#[test]
fn no_frame_is_later_than_its_bound() {
    let seeds = seeds(60);
    let (mut bounded, mut synchronous, mut policed) = (0, 0, 0);
    for &seed in &seeds {
        let text = random_harts(seed);
        let network = network(&text);
        let bounds = bounds(&network);
        let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
        let verification = verify(&network, &bounds, &observation);
        assert_held(&verification, seed, &text);
        let is_proven =
            |stream: &usize| bounds.streams[*stream].listeners.iter().any(|one| one.delay.is_ok());
        let is_own = |stream: &usize, letter: char| network.streams[*stream].name.starts_with(letter);
        let all = || (0..network.streams.len()).filter(is_proven);
        bounded += all().filter(|stream| is_own(stream, 'r')).count();
        synchronous += all().filter(|stream| is_own(stream, 'p')).count();
        for stream in 0..network.streams.len() {
            policed += dropped(&observation, stream, DropReason::PolicedRate);
            policed += dropped(&observation, stream, DropReason::QueueFull);
        }
        for (stream, observed) in observation.streams.iter().enumerate() {
            // A message that is proven to be polled in time is polled, and answered by nodes that receive everything.
            if is_own(&stream, 'p') && is_proven(&stream) {
                assert!(observed.created > 5, "seed {seed}: {}", network.streams[stream].name);
            }
        }
        let harts = observation.harts.expect("masters");
        assert!(harts.nodes.iter().all(|node| node.heard + 1 >= node.sent), "seed {seed}: {harts:?}");
    }
    if seeds.len() >= 60 {
        let found = (bounded, synchronous, policed);
        assert!(bounded > 60 && synchronous > 30 && policed > 100, "there is something to hold: {found:?}");
    }
}

fn assert_held(verification: &Verification, seed: u64, text: &str) {
    for judged in verification.streams.iter().flat_map(|stream| &stream.listeners) {
        assert_ne!(judged.verdict, Verdict::Contradiction, "TAUTWIRE_SEED={seed}: {judged:?}\n{text}");
    }
}

/// Tags come and go on the way, and stages take time for each octet.
#[test]
fn no_frame_is_beyond_its_bounds_whatever_its_tag() {
    for seed in seeds(60) {
        let text = retagged(&random_harts(seed), seed);
        let network = network(&text);
        let bounds = bounds(&network);
        let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
        assert_held(&verify(&network, &bounds, &observation), seed, &text);
    }
}

fn dropped(observation: &tautwire_sim::Observation, stream: usize, reason: DropReason) -> u64 {
    let dropped = &observation.streams[stream].dropped;
    dropped.iter().find(|(other, _)| *other == reason).map_or(0, |(_, count)| *count)
}

/// A stream of small frames together with bursts of another talker of the same priority.
const WITH_BURSTS: &str = "name: knock-out
network-control: none
vlans:
  1:
    tagged: all
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
    assert_eq!(first_of(WITH_BURSTS), (true, 0));
    let (proven, late) = first_of(&WITH_BURSTS.replace("reserve: [{stream: first}]", "reserve: []"));
    assert!(!proven && late > 0, "behind the burst: {late} late");
}

#[test]
fn the_background_has_what_reservations_leave() {
    // Small frames every 50 us take 23 % of the line by their server; what is left holds four frames of the five.
    let delivered = |text: &str| {
        let observation = simulate(&network(text), &mut Options::default());
        observation.streams[1].delivered
    };
    let more = WITH_BURSTS.replace("interval: 3 ms, burst: 20", "interval: 100 us, burst: 1");
    let more = more.replace("network-control: none", "network-control: none\nallow: [port::overload]");
    let free = delivered(&more.replace("interval: 1 ms, offset", "interval: 90 ms, offset"));
    let taken = delivered(&more.replace("interval: 1 ms, offset", "interval: 50 us, offset"));
    assert!(taken < free && taken * 2 > free, "{taken} of {free}");
}

/// A polled stream together with a flood, on a cable that a test can make noisy.
const POLLED: &str = "name: polled
network-control: none
vlans:
  1:
    tagged: all
allow: [port::overload]
hosts:
  node: {transmit: {min: 2 us, max: 6 us}, receive: {min: 1 us, max: 5 us}}
defaults: {rate: 100 Mbit/s, host: node}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  c: {type: end-station}
  s: {type: bridge}
links:
  - {between: [a, s]}
  - {between: [b, s]}
  - {between: [s, c]}
harts:
  elementary-cycle: 500 us
  trigger: 10 us
  turn-around: 10 us
  synchronous: 60 us
  polled: [{stream: first, every: 2}]
streams:
  - {name: first, talker: a, listeners: c, priority: 7, payload: 100 B, traffic: {type: polled}, deadline: 100 us}
  - {name: flood, talker: b, listeners: c, payload: 1000 B, traffic: {type: constant-rate, rate: 95 Mbit/s}}
run: {duration: 100 ms}
";

#[test]
fn a_polled_stream_is_through_within_the_synchronous_window() {
    assert_eq!(first_of(POLLED), (true, 0));
    let observation = simulate(&network(POLLED), &mut Options::default());
    assert!((99..=101).contains(&observation.streams[0].delivered), "every second cycle of 200");
    // The same frames without the window wait behind the flood.
    let plain = POLLED.replace("  polled: [{stream: first, every: 2}]\n", "");
    let plain = plain.replace("traffic: {type: polled}", "traffic: {type: periodic, interval: 1 ms}");
    let (proven, late) = first_of(&plain);
    assert!(!proven && late > 0, "behind the flood: {late} late");
}

#[test]
fn a_node_that_misses_a_trigger_message_is_silent() {
    let noisy = POLLED.replace("{between: [a, s]}", "{between: [a, s], bit-error-rate: 0.0002}");
    let observation = simulate(&network(&noisy), &mut Options::default());
    let harts = observation.harts.as_ref().expect("masters");
    let node = harts.nodes.iter().find(|node| node.polled > 0).expect("node a");
    assert!(node.heard < node.sent, "some trigger messages are damaged: {node:?}");
    assert!(node.answered < node.polled && node.answered > 0, "silent in those cycles: {node:?}");
    assert_eq!(observation.streams[0].created, node.answered, "nothing is sent unasked");
    assert_eq!(observation.streams[0].listeners[0].late, 0, "what is sent is in time");
}

/// A talker that sends five times as much as its reservation.
const BABBLING: &str = "name: babbling
network-control: none
vlans:
  1:
    tagged: all
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  s: {type: bridge}
links:
  - {between: [a, s]}
  - {between: [s, b]}
harts:
  elementary-cycle: 500 us
  trigger: 10 us
  turn-around: 10 us
  reserve: [{stream: first, every: 1, capacity: 200 B, police: {distance: 500 us}}]
streams:
  - {name: first, talker: a, listeners: b, payload: 100 B, traffic: {type: periodic, interval: 100 us}, deadline: 3 ms}
run: {duration: 100 ms}
";

#[test]
fn a_policed_talker_is_bounded_though_it_babbles() {
    assert_eq!(first_of(BABBLING), (true, 0));
    let policed = |text: &str, reason| dropped(&simulate(&network(text), &mut Options::default()), 0, reason);
    let early = policed(BABBLING, DropReason::PolicedRate);
    assert!((795..=805).contains(&early), "four of five: {early}");
    let reshaped = BABBLING.replace("distance: 500 us", "distance: 500 us, early: reshape, pool: 3");
    assert_eq!(first_of(&reshaped), (true, 0));
    let full = policed(&reshaped, DropReason::QueueFull);
    assert!((790..=800).contains(&full), "the pool takes three first: {full}");
    let long = BABBLING.replace("distance: 500 us", "distance: 500 us, frame-max: 100 B");
    assert!(policed(&long, DropReason::PolicedLength) >= 1000);
    // Without, its queue grows without end.
    let (proven, late) = first_of(&BABBLING.replace(", police: {distance: 500 us}", ""));
    assert!(!proven && late > 100, "{late} late");
}

#[test]
fn plain_stations_see_an_ethernet_of_less_bandwidth() {
    // A flood of a plain station gets what trigger message, turn-around and synchronous window leave: 420 us of 500.
    let throughput = |text: &str| simulate(&network(text), &mut Options::default()).streams[1].delivered;
    let flood = POLLED.replace("rate: 95 Mbit/s", "rate: 99 Mbit/s");
    let (with, without) =
        (throughput(&flood), throughput(&flood.replace("synchronous: 60 us", "synchronous: 50 us")));
    // 1042 octets of the wire take 83.36 us: five in 420 us, five in 430 us; four fit 400 us.
    assert!((990..=1000).contains(&with), "{with}");
    assert_eq!(with, without, "what does not fit is postponed");
    let less = throughput(&flood.replace("synchronous: 60 us", "synchronous: 80 us"));
    assert!((790..=800).contains(&less), "{less}");
}

#[test]
fn a_stream_that_its_window_cannot_poll_in_time_has_no_bound() {
    // Lead and one message fit, a second of the same cycle does not.
    let text = POLLED.replace(
        "polled: [{stream: first, every: 2}]",
        "polled: [{stream: other, every: 1}, {stream: first, every: 1}]",
    );
    let text = text.replace(
        "streams:\n",
        "streams:\n  - {name: other, talker: a, listeners: c, priority: 7, payload: 100 B, traffic: {type: polled}}\n",
    );
    let network = network(&text.replace("synchronous: 60 us", "synchronous: 35 us"));
    let bounds = bounds(&network);
    assert!(bounds.streams[0].listeners[0].delay.is_ok(), "the first of them");
    assert!(bounds.streams[1].listeners[0].delay.is_err(), "the second waits for ever");
    let observation = simulate(&network, &mut Options::default());
    assert_eq!(observation.streams[1].delivered, 0);
    let dropped: u64 = observation.harts.expect("masters").masters.iter().map(|master| master.dropped).sum();
    assert!(dropped > 150, "{dropped}");
}

#[test]
fn the_scenarios_are_proven_and_kept() {
    for name in ["harts", "harts-synchronous"] {
        let path = format!("../../scenarios/{name}.yaml");
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
}
