//! Random networks in which messages come back, by hosts whose threads receive and send: no frame is later than its bound, at the
//! listener's port or at its application, and a response counts from its request.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_analysis::Bounds;
use tautwire_generate::{random_responses, seeds};
use tautwire_workbench::network::Traffic;
use tautwire_workbench::{Network, Options, bounds, load_text, simulate, verify};

/// The network of a seed; none if it overloads a port.
fn network(seed: u64) -> Option<Network> {
    let loaded = load_text("drawn", &random_responses(seed));
    let known = |code: &str| ["port::overload", "class::overload"].contains(&code);
    assert!(
        loaded.network.is_some() || loaded.diagnostics.iter().any(|one| known(one.code)),
        "seed {seed}: {:#?}",
        loaded.diagnostics
    );
    loaded.network
}

/// What a run contradicts.
fn contradictions(network: &Network, bounds: &Bounds) -> Vec<String> {
    let found = verify(network, bounds, &simulate(network, &mut Options::default())).contradictions;
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn no_frame_is_later_than_its_bound() {
    let mut seeds = seeds(300);
    seeds.truncate(50_000);
    let (mut answers, mut bounded, mut by_stacks, mut drawn) = (0, 0, 0, 0);
    for seed in &seeds {
        let Some(network) = network(*seed) else { continue };
        drawn += 1;
        let bounds = bounds(&network);
        let found = contradictions(&network, &bounds);
        assert!(
            found.is_empty(),
            "TAUTWIRE_SEED={seed} cargo test -p tautwire-workbench --test searches answers_hold\n{found:#?}\n{}",
            random_responses(*seed)
        );
        for (stream, bounds) in network.streams.iter().zip(&bounds.streams) {
            let is_bounded = bounds.listeners.iter().all(|listener| listener.delay.is_ok());
            if matches!(stream.traffic, Traffic::Response { .. }) {
                answers += 1;
                bounded += u64::from(is_bounded);
                by_stacks += u64::from(is_bounded && network.has_stacks(stream.talker));
            }
        }
    }
    assert!(seeds.len() < 100 || drawn * 4 > seeds.len() * 3, "{drawn} of {} are drawn", seeds.len());
    assert!(
        seeds.len() < 100 || (bounded * 2 > answers && by_stacks * 2 > bounded),
        "{bounded} of {answers} answers are bounded, {by_stacks} of hosts with stacks"
    );
}

/// What random networks seldom show: responses that come in bunches, for their requests are answered as late as may be or at
/// once, and a lower class that waits for them.
const BUNCHES: &str = "
name: bunches
network-control: none
vlans:
  1:
    tagged: all
hosts: {slow: {receive: {min: 1 us, max: 2500 us}}}
defaults: {rate: 100 Mbit/s}
nodes: {a: {type: end-station}, b: {type: end-station, host: slow}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [s, b]}]
streams:
  - {name: ask, talker: a, listeners: b, priority: 5, payload: 100 B, traffic: {type: periodic, interval: 300 us}}
  - {name: tell, talker: b, listeners: a, priority: 5, payload: 1200 B, traffic: {type: response, to: ask}}
  - {name: lower, talker: b, listeners: a, priority: 2, payload: 100 B, traffic: {type: periodic, interval: 290 us}}
run: {duration: 200 ms}
";

fn described(text: &str) -> Network {
    let loaded = load_text("described", text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

#[test]
fn responses_that_come_in_bunches_have_bounds() {
    let network = described(BUNCHES);
    let bounds = bounds(&network);
    assert_eq!(contradictions(&network, &bounds), Vec::<String>::new());
    assert!(bounds.streams.iter().all(|stream| stream.listeners[0].delay.is_ok()));
}

/// What a thread receives and what makes responses come in bunches, left out of the bounds, is found.
#[test]
fn faults_of_what_comes_back_are_found() {
    use tautwire_analysis::{PlantedFault, bounds_with_fault};
    for fault in PlantedFault::OF_ANSWERS {
        let wrong = |network: &Network, fault| {
            !contradictions(network, &bounds_with_fault(network, fault)).is_empty()
        };
        let bunches = described(BUNCHES);
        assert!(!wrong(&bunches, None));
        let drawn = (0..500).filter_map(network);
        let mut all = std::iter::once(bunches).chain(drawn);
        assert!(all.any(|network| wrong(&network, Some(fault))), "{fault:?}");
    }
}

/// By hand: a request of 1 us on the line each way, a thread that is woken for 5 us and takes 10 us for each frame, both ways.
#[test]
fn a_thread_delays_what_it_sends_by_what_it_receives() {
    let text = |flood: &str| {
        format!(
            "
name: thread
network-control: none
vlans:
  1:
    tagged: all
hosts: {{pc: {{threads: {{one: {{service: 10 us, wake-up: 5 us}}}}, stacks: {{all: {{thread: one}}}}}}}}
defaults: {{rate: 1 Gbit/s}}
nodes: {{a: {{type: end-station, host: pc}}, b: {{type: end-station}}}}
links: [{{between: [a, b], length: 0 m}}]
streams:
  - {{name: tell, talker: a, listeners: b, payload: 101 B, traffic: {{type: periodic, interval: 1 ms}}}}
  - {{name: flood, talker: b, listeners: a, payload: 101 B, traffic: {{type: periodic, interval: 1 ms, burst: {flood}}}}}
run: {{duration: 20 ms}}
"
        )
    };
    let bound = |flood: &str| {
        let network = described(&text(flood));
        let bounds = bounds(&network);
        assert_eq!(contradictions(&network, &bounds), Vec::<String>::new());
        bounds.streams[0].listeners[0].delay.clone().map(|delay| delay.as_ps() / 1_000_000)
    };
    // Wake-up, the frames of the burst and its own, the line; spreads of the flood's way add parts of a service.
    for (flood, least) in [("1", 5 + 20 + 1), ("4", 5 + 50 + 1), ("20", 5 + 210 + 1)] {
        let found = bound(flood).expect("it is bounded");
        assert!((least..least + 3 + least / 50).contains(&found), "{flood}: {found}, not {least}");
    }
    // 110 frames of 10 us in a millisecond are more than it can do.
    assert!(matches!(bound("110"), Err(tautwire_analysis::Unbounded::Host { .. })));
}

/// A time-triggered answer to a rate-constrained question, and a rate-constrained one to a time-triggered question, by hosts with
/// one thread for both ways, and by hosts without stacks.
#[test]
fn answers_of_another_kind_have_bounds() {
    const STACKS: &str = "{threads: {all: {service: {min: 5 us, max: 40 us}, wake-up: {min: 1 us, max: 60 us}}}, stacks: {one: {thread: all}}}";
    const PLAIN: &str = "{transmit: {min: 1 us, max: 90 us}, receive: {min: 1 us, max: 150 us}}";
    for (host, seed) in [(STACKS, 1), (STACKS, 2), (PLAIN, 1), (PLAIN, 2)] {
        let network = described(&format!(
            "
name: kinds
network-control: none
vlans:
  1:
    tagged: all
hosts: {{h: {host}}}
defaults: {{rate: 100 Mbit/s, host: h, device: store-and-forward, clock: {{tolerance: 100 ppm}}}}
time-triggered: {{precision: 5 us, integration-cycle: 4 ms}}
nodes: {{a: {{type: end-station}}, b: {{type: end-station}}, s: {{type: bridge}}}}
links: [{{between: [a, s]}}, {{between: [s, b]}}]
streams:
  - {{name: ask-1, talker: a, listeners: b, priority: 5, payload: 100 B, traffic: {{type: periodic, interval: 2500 us, jitter: 300 us}}, virtual-link: {{id: 1, bag: 2 ms}}}}
  - {{name: tell-1, talker: b, listeners: a, payload: 100 B, traffic: {{type: response, to: ask-1, turn-around: 20 us}}, time-triggered: {{id: 1, period: 2 ms, offset: 300 us, release: free}}}}
  - {{name: ask-2, talker: b, listeners: a, payload: 100 B, traffic: {{type: periodic, interval: 2100 us}}, time-triggered: {{id: 2, period: 2 ms, offset: 900 us, release: free}}}}
  - {{name: tell-2, talker: a, listeners: b, priority: 4, payload: 400 B, traffic: {{type: response, to: ask-2}}, virtual-link: {{id: 2, bag: 1 ms}}}}
run: {{duration: 500 ms, seed: {seed}}}
"
        ));
        let bounds = bounds(&network);
        assert_eq!(contradictions(&network, &bounds), Vec::<String>::new());
        for (stream, bounds) in network.streams.iter().zip(&bounds.streams) {
            assert!(bounds.listeners[0].delay.is_ok(), "{}: {:?}", stream.name, bounds.listeners[0]);
        }
    }
}
