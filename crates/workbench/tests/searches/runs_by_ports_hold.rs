//! A run by ports is a run by instants: for networks of every kind and all scenarios, whatever the windows are. Faults in the
//! order of frames and ports, planted here, are found by that comparison.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use tautwire_generate::{Backbone, Dice, KINDS, Topology, cases, random_network};
use tautwire_model::network::{
    Delay, Distribution, NodeIndex, Parts, StreamIndex, TimelineAction, TimelineEvent,
};
use tautwire_model::{Network, load_text};
use tautwire_sim::{Driver, Observation, Options, OrderFault, is_plain, run_by_ports, run_with_processors};
use tautwire_units::{Bits, Duration};

/// Frames that small windows are aimed at.
const WINDOW: u64 = 100;

fn by_instants(network: &Network) -> Observation {
    tautwire_sim::run(network, &mut Options { driver: Driver::Eliding, ..Options::default() })
}

fn by_ports(network: &Network, window_frames: u64, fault: Option<OrderFault>) -> Option<Observation> {
    run_by_ports(network, window_frames, fault).map(|(observation, _)| observation)
}

/// Whether a network runs by ports.
fn has_order(network: &Network) -> bool {
    is_plain(network) && by_ports(network, WINDOW, None).is_some()
}

/// Compares the runs of a network that may run by ports; whether it may.
fn hold_together(name: &str, network: &Network) -> bool {
    if !is_plain(network) {
        return false;
    }
    let Some(found) = by_ports(network, WINDOW, None) else { return false };
    let expected = by_instants(network);
    assert_eq!(found, expected, "{name}, small windows");
    assert_eq!(by_ports(network, 2, None).as_ref(), Some(&expected), "{name}, least windows");
    assert_eq!(tautwire_sim::run(network, &mut Options::default()), expected, "{name}");
    for processors in [2, 3, 7] {
        let found = run_with_processors(network, WINDOW, processors, None);
        assert_eq!(found.as_ref(), Some(&expected), "{name}, {processors} processors");
    }
    true
}

fn drawn(draw: fn(u64) -> String, seed: u64) -> Option<Network> {
    load_text("drawn", &draw(seed)).network
}

#[test]
fn networks_of_every_kind_run_the_same() {
    let mut held = std::collections::BTreeMap::new();
    for (name, draw) in KINDS {
        for seed in 0..cases(if name == "network" { 250 } else { 12 }) {
            let Some(network) = drawn(draw, seed) else { continue };
            *held.entry(name).or_insert(0) += u64::from(hold_together(&format!("{name} {seed}"), &network));
        }
    }
    assert!(held["network"] >= cases(40), "{held:?}");
}

/// Stages and hosts that take their time, coarse clocks, links with errors and varying delays, cables that are open at first, and a
/// timeline.
fn vary(network: &mut Parts, dice: &mut Dice) {
    let uniform = |dice: &mut Dice, most_ns: u64| Delay {
        constant: Duration::from_ns(dice.between(0, most_ns)),
        random: Distribution::Uniform {
            min: Duration::ZERO,
            max: Duration::from_ns(dice.between(0, most_ns)),
        },
        ..Delay::default()
    };
    for stage in network.devices.iter_mut().flat_map(|device| &mut device.stages) {
        if dice.chance(50) {
            (stage.occupancy, stage.latency) = (uniform(dice, 8_000), uniform(dice, 5_000));
        }
    }
    for host in &mut network.hosts {
        if dice.chance(30) {
            (host.transmit, host.queue_limit) = (uniform(dice, 9_000), 1 + u32::from(dice.chance(50)) * 20);
        }
    }
    for node in &mut network.nodes {
        node.clock.granularity = Duration::from_ps(*dice.one_of(&[1, 1, 8_000, 40_000]));
    }
    for link in &mut network.links {
        if dice.chance(20) {
            (link.phy_delay.max, link.bit_error_rate) =
                (link.phy_delay.min + Duration::from_us(2), 10_u64.pow(13));
        }
    }
    if dice.chance(40) {
        return;
    }
    let few =
        |dice: &mut Dice, count: usize| usize::try_from(dice.between(0, count as u64 - 1)).expect("few");
    // Few, or so many that most windows end at one.
    let most = *dice.one_of(&[12, 12, 12, 200]);
    for _ in 0..dice.between(1, most) {
        let stream = StreamIndex::at(few(dice, network.streams.len()));
        let cable = u32::try_from(few(dice, network.links.len() / 2)).expect("few");
        let node = NodeIndex::at(few(dice, network.nodes.len()));
        let (at, shaper) =
            (Duration::from_us(dice.between(0, 8_000)), network.streams[stream.index()].shaper);
        let action = match dice.between(0, 8) {
            0 => TimelineAction::StartStream(stream),
            1 => TimelineAction::StopStream(stream),
            2 => TimelineAction::CutCable(cable),
            3 | 4 => TimelineAction::MendCable(cable),
            5 => TimelineAction::StopNode(node),
            6 => TimelineAction::StartNode(node),
            7 => TimelineAction::ChangeBitErrorRate(cable, 10_u64.pow(14)),
            _ => match shaper {
                Some(mut shaper) => {
                    shaper.committed_burst_size += Bits::new(800);
                    TimelineAction::ChangeShaper(stream, shaper)
                }
                None => continue,
            },
        };
        network.events.push(TimelineEvent { at, action });
    }
    network.events.sort_by_key(|event| event.at);
}

#[test]
fn networks_with_other_settings_and_timelines_run_the_same() {
    let (mut held, mut with_events) = (0, 0);
    for seed in 0..cases(200) {
        let network = drawn(random_network, seed).expect("a network");
        let network = network.altered(|parts| vary(parts, &mut Dice::new(seed ^ 0x5eed)));
        if hold_together(&format!("varied {seed}"), &network) {
            held += 1;
            with_events += u64::from(!network.events.is_empty());
        }
    }
    assert!(held >= cases(100) && with_events >= cases(50), "{held}, {with_events} of them with a timeline");
}

#[test]
fn lines_meshes_and_trees_run_the_same() {
    let topologies = [Topology::Line, Topology::Mesh { width: 4 }, Topology::Tree { branching: 3 }];
    let mut held = 0;
    for (topology, seed) in topologies.into_iter().flat_map(|topology| [(topology, 1), (topology, 2)]) {
        let backbone =
            Backbone { topology, bridges: 12, streams: 120, duration_ms: 5, seed, ..Backbone::LINE_20 };
        let network = load_text("backbone", &backbone.describe()).network.expect("a network");
        held += u64::from(hold_together(&format!("{backbone:?}"), &network));
    }
    assert!(held >= 4, "{held}");
}

#[test]
fn scenarios_run_the_same() {
    let folder = "../../scenarios";
    let mut held = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the scenarios") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let name = path.display().to_string();
        let Some(mut network) = tautwire_model::load(&path).expect("readable").network else { continue };
        network.set_duration(network.run.duration.min(Duration::from_ms(100)));
        if hold_together(&name, &network) {
            held.push(name);
        }
    }
    assert!(held.len() >= 12, "{held:?}");
}

/// Where nothing has happened for long, windows are long. What begins then, at its talker, at an overloaded port or before a cut
/// cable, is in memory for a short time none the less.
#[test]
fn memory_does_not_grow_with_the_time_before() {
    let quiet = |offset: &str, events: &str| {
        format!(
            "
name: quiet
network-control: none
allow: [port::overload]
defaults: {{rate: 1 Gbit/s}}
nodes: {{a: {{type: end-station}}, b: {{type: end-station}}, c: {{type: end-station}}, s: {{type: bridge}}}}
links: [{{name: cable, between: [a, s]}}, {{between: [b, s]}}, {{between: [s, c], rate: 10 Mbit/s}}]
streams:
  - {{name: one, talker: a, listeners: c, payload: 46 B, traffic: {{type: periodic, interval: 5 us, offset: {offset}}}}}
  - {{name: two, talker: b, listeners: c, payload: 46 B, traffic: {{type: periodic, interval: 5 us, offset: {offset}}}}}
{events}
run: {{duration: 1200 ms}}
"
        )
    };
    let cut = "events: [{at: 1 ms, cut-link: cable}]";
    for (name, text) in
        [("late", quiet("1 s", "")), ("overloaded", quiet("0 s", "")), ("cut", quiet("1 us", cut))]
    {
        let network = load_text("quiet", &text).network.expect("a network");
        let (observation, places) = run_by_ports(&network, WINDOW, None).expect("no circle");
        // A queue takes 256 frames by default; two hosts create 400 each, or as many again before the window is ended.
        assert!(places < 2_500, "{name}: {places}");
        assert_eq!(observation, by_instants(&network), "{name}");
    }
}

/// Three bridges in a ring, each with a station whose stream goes to the station before: each cable of the ring comes behind another.
const RING: &str = "
name: ring
nodes: {a: {type: end-station}, b: {type: end-station}, c: {type: end-station},
  x: {type: bridge}, y: {type: bridge}, z: {type: bridge}}
defaults: {rate: 1 Gbit/s}
links: [{between: [a, x]}, {between: [b, y]}, {between: [c, z]},
  {between: [x, y]}, {between: [y, z]}, {between: [z, x]}]
streams:
  - {name: one, talker: a, listeners: c, route: [x, y, z], payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
  - {name: two, talker: b, listeners: a, route: [y, z, x], payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
  - {name: three, talker: c, listeners: b, route: [z, x, y], payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
run: {duration: 10 ms}
";

#[test]
fn a_circle_of_ports_has_no_order() {
    let network = load_text("ring", RING).network.expect("a network");
    assert!(is_plain(&network) && !has_order(&network));
    let open = network.altered(|parts| {
        parts.streams.pop();
    });
    assert!(has_order(&open), "two of the three streams go round no circle");
}

/// What the assertion says by which ports in the wrong order or a part that keeps frames are found where frames are left behind: that of the statistics.
const NOT_CONSERVED: &str = "are conserved";

/// Whether a run with a planted fault is not that by instants. Another panic than that assertion finds nothing: it goes on.
fn is_found(network: &Network, fault: OrderFault) -> bool {
    let is_of_parts = matches!(fault, OrderFault::HorizonAhead | OrderFault::NotHandedOn);
    let run = || match is_of_parts {
        true => run_with_processors(network, WINDOW, 3, Some(fault)),
        false => by_ports(network, WINDOW, Some(fault)),
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(seen) => seen != Some(by_instants(network)),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map_or("", String::as_str);
            let may_lose = matches!(fault, OrderFault::PortsReversed | OrderFault::NotHandedOn);
            if !may_lose || !words.contains(NOT_CONSERVED) {
                resume_unwind(panic);
            }
            true
        }
    }
}

#[test]
fn faults_in_the_order_are_found() {
    for fault in [
        OrderFault::RingsReversed,
        OrderFault::NotSorted,
        OrderFault::WakeForgotten,
        OrderFault::PortsReversed,
        OrderFault::HorizonAhead,
        OrderFault::NotHandedOn,
    ] {
        let found = (0..200).any(|seed| {
            let network = drawn(random_network, seed);
            let network = network.filter(has_order);
            network.is_some_and(|network| is_found(&network, fault))
        });
        assert!(found, "{fault:?}");
    }
}
