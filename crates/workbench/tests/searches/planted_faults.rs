//! Faults planted in the machines and in the bounds: the searches find each of them.
//!
//! A fault of the machines is planted in the thread of its test. Those of shapers and queues are searched in networks
//! of all shapers, those of virtual links, of HaRTES and of TDMA in networks of these.

use crate::common::{
    avionics, broken_admissions, broken_gates, broken_promises, contradictions, described, limit, network,
    run, run_links, run_slots, untold_losses,
};
use tautwire_analysis::{Bounds, PlantedFault, bounds, bounds_with_fault};
use tautwire_core::fault;
use tautwire_generate::{
    TdmaFailure, cases, random_gates, random_harts, random_harts_admission, random_tdma,
};
use tautwire_workbench::Network;

/// What random networks seldom show: a queue that is empty with credit left, while its last frame is still charged, and then
/// frames that this credit lets pass at once.
const CHARGED_FOR_LONGER: &str = include_str!("../cases/inputs/cbs-charged-overhead.yaml");

/// And: a class whose second frame of a busy period waits longer than its first.
const LATER_WAITS_LONGEST: &str = include_str!("../cases/inputs/later-frame-waits-longest.yaml");

/// The first network of shapers that contradicts its bounds: those above, then by seed.
fn search(cases: u64, bounds: impl Fn(&Network) -> Bounds) -> Option<u64> {
    let drawn = (0..cases).map(network);
    let networks = [CHARGED_FOR_LONGER, LATER_WAITS_LONGEST].into_iter().map(described).chain(drawn);
    let wrong = |network: &Network| !contradictions(network, &bounds(network), &run(network)).is_empty();
    networks.zip(0..).find(|(network, _)| wrong(network)).map(|(_, place)| place)
}

/// The first seed whose network of virtual links breaks a promise.
fn search_avionics(cases: u64, bounds: impl Fn(&Network) -> Bounds) -> Option<u64> {
    (0..cases).find(|seed| {
        let network = avionics(*seed);
        let (observation, overwritten) = run_links(&network);
        !overwritten.is_empty() || !broken_promises(&network, &bounds(&network), &observation).is_empty()
    })
}

/// Cases that random networks of servers do not show, because their talkers keep to their reservations and their
/// windows have room: a talker that sends five times as much, together with one that does not, until it stops; and
/// more messages at once than a synchronous window has room for.
const HARTS: [&str; 2] = [
    "name: babbler
network-control: none
vlans:
  1:
    tagged: all
allow: [port::overload]
defaults: {rate: 100 Mbit/s}
nodes: {a: {type: end-station}, b: {type: end-station}, c: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [b, s]}, {between: [s, c]}]
harts:
  elementary-cycle: 500 us
  trigger: 10 us
  turn-around: 10 us
  reserve: [{stream: loud, every: 1, capacity: 1100 B}, {stream: meek}]
events: [{at: 50 ms, stop-stream: loud}]
streams:
  - {name: loud, talker: a, listeners: c, priority: 6, payload: 1000 B, traffic: {type: periodic, interval: 90 us}}
  - {name: meek, talker: b, listeners: c, priority: 3, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
run: {duration: 500 ms}
",
    "name: full
network-control: none
vlans:
  1:
    tagged: all
hosts: {node: {transmit: {min: 2 us, max: 6 us}, receive: {min: 1 us, max: 5 us}}}
defaults: {rate: 100 Mbit/s, host: node}
nodes: {a: {type: end-station}, c: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [s, c]}]
harts:
  elementary-cycle: 500 us
  trigger: 10 us
  turn-around: 10 us
  synchronous: 35 us
  polled: [{stream: p0}, {stream: p1}, {stream: p2}, {stream: p3}, {stream: p4}]
streams:
  - {name: p0, talker: a, listeners: c, priority: 7, payload: 100 B, traffic: {type: polled}}
  - {name: p1, talker: a, listeners: c, priority: 7, payload: 100 B, traffic: {type: polled}}
  - {name: p2, talker: a, listeners: c, priority: 7, payload: 100 B, traffic: {type: polled}}
  - {name: p3, talker: a, listeners: c, priority: 7, payload: 100 B, traffic: {type: polled}}
  - {name: p4, talker: a, listeners: c, priority: 7, payload: 100 B, traffic: {type: polled}}
run: {duration: 100 ms}
",
];

/// The first of the networks of servers that contradicts its bounds: those above, then by seed.
fn search_harts(cases: u64) -> Option<u64> {
    let drawn = (0..cases).map(random_harts);
    let texts = HARTS.iter().map(|text| (*text).to_owned()).chain(drawn);
    let wrong = |text: &String| {
        let network = described(text);
        !contradictions(&network, &bounds(&network), &run(&network)).is_empty()
    };
    texts.zip(0..).find(|(text, _)| wrong(text)).map(|(_, place)| place)
}

/// The first seed whose network of servers breaks a promise of admission.
fn search_admission(cases: u64) -> Option<u64> {
    (0..cases).find(|seed| {
        let network = described(&random_harts_admission(*seed));
        !broken_admissions(&network, &bounds(&network), &run(&network)).is_empty()
    })
}

/// What random networks with TDMA seldom show: a thread that serves what comes just before its station's slot, and then a message
/// that would have been in time for it.
const BOTH_WAYS: &str = "name: both-ways
network-control: none
vlans:
  1:
    tagged: all
hosts:
  pc: {threads: {all: {service: 24 us}}, interfaces: {card: {}}, stacks: {one: {interface: card, thread: all}}}
defaults: {rate: 100 Mbit/s}
nodes: {m: {type: end-station}, a: {type: end-station}, b: {type: end-station, host: pc}, s: {type: bridge}}
links: [{between: [m, s]}, {between: [a, s]}, {between: [b, s]}]
tdma:
  cycle: 1 ms
  synchronisation: opening
  slots: [{owner: a, offset: 310 us, length: 20 us}, {owner: b, offset: 360 us, length: 20 us}]
streams:
  - {name: opening, talker: m, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
  - {name: heard, talker: a, listeners: b, payload: 46 B, traffic: {type: periodic, interval: 1100 us}}
  - {name: state, talker: b, listeners: a, payload: 46 B, traffic: {type: periodic, interval: 3001 us, offset: 100 us}}
run: {duration: 1 s}
";

/// In the same way: a cycle whose opening is received earlier or later by the delay of the bridge, so that slots are
/// now nearer and now farther apart, and messages that come about a slot's start again and again.
const UNEVEN_SLOTS: &str = "name: uneven-slots
network-control: none
vlans:
  1:
    tagged: all
devices: {slow: {stages: [{name: passage, position: processing, latency: {min: 1 us, max: 100 us}}]}}
defaults: {rate: 100 Mbit/s, device: slow}
nodes: {m: {type: end-station}, a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [m, s]}, {between: [a, s]}, {between: [b, s]}]
tdma:
  cycle: 2 ms
  synchronisation: opening
  slots: [{owner: a, offset: 800 us, length: 300 us}]
streams:
  - {name: opening, talker: m, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
  - {name: state, talker: a, listeners: b, payload: 46 B, traffic: {type: periodic, interval: 2001 us}}
run: {duration: 10 s}
";

/// Seeds that are tried first: their networks show faults that few others show.
const RARE: [u64; 3] = [26, 51, 131];

/// The first seed of a network with TDMA, with or without a failure, that a run shows to be wrong; before them, as zero, those above.
fn search_slots(cases: u64, bounds: impl Fn(&Network) -> Bounds) -> Option<u64> {
    let wrong = |text: &str, seed: u64| {
        let network = described(text);
        !run_slots(&network, &bounds(&network), seed).wrong.is_empty()
    };
    [0].into_iter().chain(RARE).chain(1..cases).find(|seed| {
        (*seed == 0 && [BOTH_WAYS, UNEVEN_SLOTS].into_iter().any(|text| wrong(text, 0)))
            || TdmaFailure::ALL.into_iter().any(|failure| wrong(&random_tdma(*seed, failure), *seed))
    })
}

/// Every fault, planted in the machines of this test's thread, is found; fails with those that are not.
fn find_in_machines(faults: &[fault::PlantedFault], search: impl Fn() -> Option<u64>) {
    let found = |planted: &fault::PlantedFault| {
        fault::plant(Some(*planted));
        (format!("machine {planted:?}"), search())
    };
    all_found(faults.iter().map(found));
    fault::plant(None);
}

/// Every fault, planted in the bounds, is found.
fn find_in_bounds(faults: &[PlantedFault], search: impl Fn(PlantedFault) -> Option<u64>) {
    all_found(faults.iter().map(|planted| (format!("bound {planted:?}"), search(*planted))));
}

fn all_found(searches: impl Iterator<Item = (String, Option<u64>)>) {
    let missed: Vec<_> = searches.filter(|(_, found)| found.is_none()).map(|(what, _)| what).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// The bounds of a network with a fault.
fn wrong(planted: PlantedFault) -> impl Fn(&Network) -> Bounds {
    move |network| bounds_with_fault(network, Some(planted))
}

/// How many networks a search for a fault may draw.
fn most() -> u64 {
    cases(2_000)
}

#[test]
fn faults_of_shapers_and_queues_are_found() {
    find_in_machines(&fault::PlantedFault::ALL, || search(most(), bounds));
}

#[test]
fn faults_of_the_bounds_of_shapers_and_queues_are_found() {
    find_in_bounds(&PlantedFault::ALL, |planted| search(most(), wrong(planted)));
}

#[test]
fn faults_of_what_waits_are_found() {
    let search = |planted: PlantedFault| {
        (0..most()).find(|seed| {
            let network = network(*seed).altered(|network| limit(network, *seed));
            let bounds = bounds_with_fault(&network, Some(planted));
            !untold_losses(&network, &bounds, &run(&network)).0.is_empty()
        })
    };
    find_in_bounds(&PlantedFault::OF_QUEUES, search);
}

#[test]
fn faults_of_virtual_links_are_found() {
    find_in_machines(&fault::PlantedFault::OF_VIRTUAL_LINKS, || search_avionics(most(), bounds));
    find_in_bounds(&PlantedFault::OF_VIRTUAL_LINKS, |planted| search_avionics(most(), wrong(planted)));
}

#[test]
fn faults_of_servers_are_found() {
    assert_eq!(search_harts(10), None, "without a fault");
    find_in_machines(&fault::PlantedFault::OF_HARTS, || search_harts(most()));
    find_in_machines(&fault::PlantedFault::OF_HARTS_ADMISSION, || search_admission(most()));
}

#[test]
fn faults_of_gates_are_found() {
    let search =
        |cases: u64| (0..cases).find(|seed| !broken_gates(&described(&random_gates(*seed))).0.is_empty());
    assert_eq!(search(10), None, "without a fault");
    find_in_machines(&fault::PlantedFault::OF_GATES, || search(most()));
}

#[test]
fn faults_of_slots_are_found() {
    assert_eq!(search_slots(1, bounds), None, "without a fault");
    find_in_machines(&fault::PlantedFault::OF_TDMA, || search_slots(most(), bounds));
    find_in_bounds(&PlantedFault::OF_TDMA, |planted| search_slots(most(), wrong(planted)));
}
