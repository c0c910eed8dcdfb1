//! No frame of a network whose slopes follow from reservations is later than its bound, at any instant of the coming and going.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one. Streams are offered, requested, withdrawn
//! and left, some displace others, cables are lost; bounds count every set of streams that may be granted at a time.

use tautwire_generate::{random_stream_reservation, seeds};
use tautwire_sim::RungEvent;
use tautwire_workbench::{Network, Options, Verdict, bounds, simulate, verify};

use crate::common::described as network;

/// A contradiction of the network of a seed, and how many streams of it are bounded, granted, and released.
fn held(seed: u64) -> (Option<String>, [u64; 3]) {
    let text = random_stream_reservation(seed);
    let network = network(&text);
    let bounds = bounds(&network);
    let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
    let verification = verify(&network, &bounds, &observation);
    let late = verification.streams.iter().flat_map(|stream| &stream.listeners);
    let late = late.filter(|judged| judged.verdict == Verdict::Contradiction);
    let late: Vec<String> = late.map(|judged| format!("{judged:?}")).collect();
    let late = (!late.is_empty() || !verification.contradictions.is_empty())
        .then(|| format!("TAUTWIRE_SEED={seed}: {late:?} {:?}\n{text}", verification.contradictions));
    let is_reserved = |stream: &usize| network.streams[*stream].name.starts_with('r');
    let bounded = (0..network.streams.len()).filter(is_reserved);
    let bounded =
        bounded.filter(|stream| bounds.streams[*stream].listeners.iter().all(|one| one.delay.is_ok()));
    let rungs = |event: fn(&RungEvent) -> bool| {
        let ladders = observation.reservations.iter().flat_map(|seen| &seen.ladder);
        ladders.filter(|rung| event(&rung.event)).count() as u64
    };
    let granted = rungs(|event| matches!(event, RungEvent::Reserved(_)));
    let released = rungs(|event| matches!(event, RungEvent::Released(_)));
    (late, [bounded.count() as u64, granted, released])
}

#[test]
fn no_frame_is_later_than_its_bound_while_slopes_change() {
    let seeds = seeds(60);
    let mut sums = [0; 3];
    for &seed in &seeds {
        let (late, counts) = held(seed);
        assert!(late.is_none(), "{}", late.unwrap_or_default());
        sums = std::array::from_fn(|place| sums[place] + counts[place]);
    }
    if seeds.len() >= 60 {
        let [bounded, granted, released] = sums;
        assert!(bounded > 120 && granted > 200 && released > 100, "there is something to hold: {sums:?}");
    }
}

/// A stream with a burst of ten frames and a slope of one frame in 1.25 ms, together with one of a high rate that comes and goes.
const ALONE: &str = "name: alone
network-control: none
vlans:
  1:
    tagged: all
defaults: {rate: 100 Mbit/s, traffic-class-table: stream-reservation}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  c: {type: end-station}
  s: {type: bridge}
links:
  - {between: [a, s], rate: 1 Gbit/s}
  - {between: [b, s], rate: 1 Gbit/s}
  - {between: [s, c]}
stream-reservation:
  shaping: reserved
  classes: [{class: A, priority: 3, interval: 1250 us, delta-bandwidth: 75}]
  bridges: {join-time: 2 ms, leave-time: 5 ms}
  end-stations: {join-time: 2 ms, leave-time: 5 ms}
streams:
  - {name: bursts, talker: a, listeners: c, priority: 3, payload: 80 B, traffic: {type: periodic, interval: 12500 us, burst: 10}, reservation: {frames-per-interval: 1}}
  - {name: steady, talker: b, listeners: c, priority: 3, payload: 80 B, traffic: {type: periodic, interval: 25 us}, reservation: {advertise-at: 100 ms}}
run: {duration: 200 ms}
";

fn observed_and_bound(network: &Network, stream: usize) -> (u64, u64) {
    let observation = simulate(network, &mut Options::default());
    let seen = observation.streams[stream].listeners[0].delay.max().expect("frames").as_ps();
    let bound = bounds(network).streams[stream].listeners[0].delay.clone().expect("a bound");
    (seen, bound.as_ps())
}

#[test]
fn the_set_of_all_streams_is_not_the_worst() {
    let network = network(ALONE);
    let (seen, bound) = observed_and_bound(&network, 0);
    // Nine frames of 122 octets at 123 octets in 1.25 ms: 11 ms at the talker, and the bound has as much again at the bridge.
    assert!(seen > 10_000_000_000 && seen <= bound && bound < 40_000_000_000, "{seen} of {bound}");
    // With the idleSlope of all reservations from the start on, as their sum would have it, it would be a tenth.
    let all = ALONE.replace("  shaping: reserved\n", "").replace(
        "traffic-class-table: stream-reservation}",
        "traffic-class-table: stream-reservation, \
         classes: {3: {transmission-selection: credit-based, idle-slope: 41 Mbit/s}}}",
    );
    let (seen, _) = observed_and_bound(&crate::common::described(&all), 0);
    assert!(seen < 2_000_000_000, "{seen}");
}

#[test]
fn a_branch_without_a_listener_carries_nothing() {
    let text = ALONE.replace("listeners: c, priority: 3, payload: 80 B, traffic: {type: periodic, interval: 25 us}, reservation: {advertise-at: 100 ms}",
        "listeners: [c, a], priority: 3, payload: 80 B, traffic: {type: periodic, interval: 25 us}, reservation: {attach-at: [10 ms, 150 ms]}");
    let network = network(&text);
    let observation = simulate(&network, &mut Options::default());
    let steady = &observation.streams[1];
    let (first, second) = (steady.listeners[0].delay.count(), steady.listeners[1].delay.count());
    assert!(first > 7_000 && second > 1_500 && second < 2_100, "{first} and {second}");
    assert!(steady.consumed > 4_000 && steady.dropped.is_empty(), "the other copies end at the bridge");
    // Without: all frames go both ways.
    let flooded = network_without_pruning(&text);
    let observation = simulate(&flooded, &mut Options::default());
    let (first, second) = (observation.streams[1].delivered, observation.streams[1].created * 2);
    assert!(first + 4 >= second, "{first} of {second}");
}

fn network_without_pruning(text: &str) -> Network {
    network(&text.replace("  shaping: reserved\n", ""))
}

#[test]
fn the_scenario_is_proven_and_its_slopes_follow() {
    let path = "../../scenarios/reserved-slopes.yaml";
    let network = network(&std::fs::read_to_string(path).expect("a scenario"));
    let bounds = bounds(&network);
    let observation = simulate(&network, &mut Options::default());
    let verification = verify(&network, &bounds, &observation);
    assert_eq!(verification.verdict, Verdict::Proven, "{:?}", verification.streams);
    let video = &observation.reservations[0];
    let slopes = |name: &str| -> Vec<u64> {
        let at = |port: tautwire_model::network::PortIndex| {
            network.nodes[network.ports[port.index()].node.index()].name == name
        };
        let all = observation.reservations.iter().flat_map(|seen| &seen.ladder);
        let mut shaped: Vec<_> = all
            .filter_map(|rung| match rung.event {
                RungEvent::Shaped(port, slope) if at(port) => Some((rung.at, slope.as_bps())),
                _ => None,
            })
            .collect();
        shaped.sort_unstable();
        shaped.into_iter().map(|(_, slope)| slope).collect()
    };
    // Video 8 x 543 x 8000, preview two frames of 243 octets in each 125 us, voice 163 in each 250 us.
    assert_eq!(slopes("right"), [34_752_000, 65_856_000, 5_216_000, 34_752_000]);
    assert!(video.ladder.iter().any(|rung| rung.event.name() == "shaped"));
    let recorded = observation.streams[0].listeners[1].delay.count();
    assert!((15_000..16_100).contains(&recorded), "two seconds of four: {recorded}");
}

/// A slope that falls at once leaves the frames of a released stream in front of those of others.
#[test]
fn a_slope_that_falls_too_early_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    let cases = tautwire_generate::cases(2_000);
    plant(Some(PlantedFault::SlopeLoweredAtOnce));
    let found = (0..cases).find(|seed| held(*seed).0.is_some());
    plant(None);
    assert!(found.is_some(), "not found in {cases} networks");
}
