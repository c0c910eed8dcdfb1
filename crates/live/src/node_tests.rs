//! Nodes in virtual time, without sockets: delays as in the simulator, and what is counted of frames that are not as sent.

use tautwire_sim::{Observation, StreamObservation};

use super::together::{Together, does_as_in_a_run, scenario, without_chance};
use super::*;

/// The machines that a run drives are driven alike here: they say the same at the same instants, and have the same effects.
#[test]
fn control_machines_do_as_in_a_run() {
    for name in [
        "lldp.yaml",
        "stream-reservation.yaml",
        "reserved-slopes.yaml",
        "reserved-ats.yaml",
        "reserved-emergency.yaml",
        "vlan-registration.yaml",
    ] {
        let mut network = without_chance(scenario(name)).altered(|parts| parts.events.clear());
        network.set_duration(network.run.duration.min(Duration::from_s(6)));
        assert_eq!(
            crate::support::refusals_but(&network, Some(tautwire_workbench::in_runs())),
            [""; 0],
            "{name}"
        );
        let plan = Plan::new(&network);
        let mut together = Together::new(&network, &plan);
        together.run_until(Instant::ZERO + network.run.duration);
        let control = together.control();
        let (_, streams, _) = together.observed();
        let simulated: Observation =
            tautwire_workbench::simulate(&network, &mut tautwire_workbench::Options::default());
        // What happens at several nodes at one instant is in any order.
        let ladders = |seen: &Observation| {
            let mut reservations = seen.reservations.clone();
            reservations.iter_mut().for_each(|one| one.ladder.sort_by_key(|rung| (rung.at, rung.node)));
            reservations
        };
        assert_eq!(ladders(&control), ladders(&simulated), "{name}");
        assert_eq!(control.vlan_registrations, simulated.vlan_registrations, "{name}");
        assert!(control.mechanisms == simulated.mechanisms, "{name}: {:?}", control.mechanisms);
        for ((live, simulated), stream) in streams.iter().zip(&simulated.streams).zip(&network.streams) {
            let counts = |seen: &StreamObservation| {
                (
                    seen.created,
                    seen.replicated,
                    seen.delivered,
                    seen.consumed,
                    seen.in_flight,
                    seen.dropped.clone(),
                )
            };
            assert_eq!(counts(live), counts(simulated), "{name}: {}", stream.name);
            for (live, simulated) in live.listeners.iter().zip(&simulated.listeners) {
                assert_eq!(live.withheld, simulated.withheld, "{name}: {}", stream.name);
                if !stream.traffic.is_control() {
                    assert_eq!(live.delay.count(), simulated.delay.count(), "{name}: {}", stream.name);
                }
            }
        }
    }
}

#[test]
fn delays_are_those_of_the_simulator_to_a_nanosecond() {
    let network = without_chance(scenario("shaped-line.yaml"));
    let simulated = does_as_in_a_run("shaped-line", &network);
    for (seen, stream) in simulated.streams.iter().zip(&network.streams) {
        assert!(seen.listeners.iter().all(|listener| listener.delay.count() > 50), "{}", stream.name);
        assert_eq!((&seen.dropped, seen.consumed), (&vec![], 0), "{}", stream.name);
    }
}

/// The scenario of filters without its timeline: what that changes is so from the beginning.
pub(crate) fn policed() -> Network {
    let text = std::fs::read_to_string("../../scenarios/filtering-and-policing.yaml").expect("it is there");
    let (text, _) = text.split_once("events:").expect("it has a timeline");
    let babbling = "priority: 5\n    payload: 250 B\n    traffic: {type: ";
    let text = text
        .replace(
            &format!("{babbling}periodic, interval: 1 ms}}"),
            &format!("{babbling}poisson, mean-interval: 300 us}}"),
        )
        .replace(
            "started: false\n    traffic: {type: file, octets: 900 B}",
            "traffic: {type: periodic, interval: 20 ms, offset: 41 ms}",
        )
        .replace("interval: 900 us", "interval: 400 us");
    let loaded = tautwire_workbench::load_text("policed.yaml", &format!("{text}run: {{duration: 80 ms}}\n"));
    without_chance(loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

/// Stream filters, gates and meters pass and discard the same frames, at the same instants.
#[test]
fn filters_do_as_in_a_run() {
    let simulated = does_as_in_a_run("policed", &policed());
    let reasons: Vec<DropReason> =
        simulated.streams.iter().flat_map(|seen| &seen.dropped).map(|(reason, _)| *reason).collect();
    let filtering =
        [DropReason::Red, DropReason::FilterMaxSdu, DropReason::IntervalOctets, DropReason::StreamGateClosed];
    for reason in filtering {
        assert!(reasons.contains(&reason), "{reason:?} in {reasons:?}");
    }
    for name in ["cyclic.yaml", "cyclic-long-lines.yaml"] {
        let network = without_chance(scenario(name));
        assert_eq!(crate::support::refusals_but(&network, Some(tautwire_workbench::in_runs())), [""; 0]);
        does_as_in_a_run(name, &network);
    }
}

/// Random networks with filters, those that can be run live: without their timelines.
#[test]
fn filters_of_random_networks_do_as_in_a_run() {
    let seeds = tautwire_generate::seeds(60);
    let (mut run, mut discarded) = (0, 0);
    for seed in &seeds {
        let text = tautwire_generate::random_stream_filters(*seed);
        let loaded = tautwire_workbench::load_text("random.yaml", &text);
        let network = without_chance(loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
        let network = network.altered(|parts| parts.events.clear());
        let in_runs = tautwire_workbench::in_runs();
        // Messages of gPTP take no time of a live line.
        if network.gptp.is_some() || !crate::support::refusals_but(&network, Some(in_runs)).is_empty() {
            continue;
        }
        let simulated = does_as_in_a_run(&format!("TAUTWIRE_SEED={seed}"), &network);
        run += 1;
        discarded +=
            simulated.streams.iter().flat_map(|seen| &seen.dropped).map(|(_, frames)| *frames).sum::<u64>();
    }
    assert!(
        seeds.len() < 20 || run * 4 > seeds.len() && discarded > 100,
        "{run} networks, {discarded} frames"
    );
}

/// A bridge between a talker and a listener, and a second listener that is none of the first stream.
const THREE: &str = "\
name: three
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  s: {type: bridge}
  x: {type: end-station}
  y: {type: end-station}
links: [{between: [a, s]}, {between: [s, x]}, {between: [s, y]}]
streams:
  - {name: one, talker: a, listeners: x, tagged: false, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
  - {name: other, talker: a, listeners: y, tagged: false, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
run: {duration: 4500 us}
";

/// A network of which the talker's frames of the first stream are taken from the line, each with its instant, and the three other nodes.
struct Taken<'n> {
    network: &'n Network,
    plan: &'n Plan,
    frames: Vec<(Instant, Vec<u8>)>,
}

impl<'n> Taken<'n> {
    fn new(network: &'n Network, plan: &'n Plan) -> Self {
        let mut talker = Node::new(network, plan, NodeIndex(0), 1);
        let mut frames = Vec::new();
        while let Some(now) = talker.deadline() {
            talker.settle(now);
            talker.emit(now, |_, frame| {
                let (header, data) = EthernetHeader::parse(frame).expect("a header");
                assert_eq!((header.ether_type, header.tag), (EtherType::LOCAL_EXPERIMENTAL, None));
                let (message, _) = LiveMessage::parse(data, true).expect("as it was made");
                if message.stream == 0 {
                    frames.push((now, frame.to_vec()));
                }
                None
            });
        }
        assert!(talker.is_done());
        assert_eq!(frames.len(), 5);
        Self { network, plan, frames }
    }

    /// A node that receives these frames at its first port, a millisecond apart, and has done all with them.
    fn at(&self, node: u32, frames: &[&[u8]]) -> (Node<'n>, Vec<Vec<u8>>) {
        let mut node = Node::new(self.network, self.plan, NodeIndex(node), 1);
        let port = node.plane.ports[0].index;
        let (mut now, mut sent) = (Instant::ZERO, Vec::new());
        for frame in frames {
            now += Duration::from_ms(1);
            node.receive(now, port, frame);
        }
        now += Duration::from_ms(1);
        node.settle(now);
        node.emit(now + Duration::from_ms(1), |_, frame| {
            sent.push(frame.to_vec());
            None
        });
        (node, sent)
    }

    fn frame(&self, number: usize) -> &[u8] {
        &self.frames[number].1
    }

    /// What the listener observes of the stream.
    fn listener(&self, frames: &[&[u8]]) -> (StreamObservation, Counters) {
        let (mut node, _) = self.at(2, frames);
        node.counters.created.insert(0, 5);
        (node.counters.stream(self.network, 0, &BTreeMap::new(), DropReason::SocketBufferFull), node.counters)
    }
}

fn three() -> Network {
    let loaded = tautwire_workbench::load_text("three.yaml", THREE);
    loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

#[test]
fn frames_that_are_none_of_the_network_are_foreign() {
    let network = three();
    let plan = Plan::new(&network);
    let taken = Taken::new(&network, &plan);
    let good = taken.frame(0);
    let changed = |at: usize, to: &[u8]| {
        let mut frame = good.to_vec();
        frame[at..at + to.len()].copy_from_slice(to);
        frame
    };
    let cases: [(&str, Vec<u8>); 8] = [
        ("no octet", Vec::new()),
        ("no whole header", good[..13].to_vec()),
        ("a header alone", good[..14].to_vec()),
        ("half of its data", good[..60].to_vec()),
        ("another destination", changed(0, &[2, 0, 0, 0, 9, 9])),
        ("another source", changed(6, &[2, 0, 0, 0, 9, 9])),
        ("IPv4", changed(12, &[0x08, 0x00])),
        ("a stream that there is not", changed(14, &[0, 0, 0, 2])),
    ];
    // At the bridge, and at the listener.
    for (node, passed) in [(1, 1), (2, 0)] {
        for (name, frame) in &cases {
            let (node, sent) = taken.at(node, &[frame, good]);
            assert_eq!((node.counters.foreign, sent.len()), (1, passed), "{name}");
            assert!(node.is_done(), "{name}: it is kept nowhere");
        }
        // What checks readiness is none of either.
        assert_eq!(taken.at(node, &[&changed(12, &[0x88, 0xb6])]).0.counters.foreign, 0);
    }
    // A frame of the other listener's stream, and one that comes by a port of another hop.
    let mut other = changed(14, &[0, 0, 0, 1]);
    other[..6].copy_from_slice(&network.streams[1].destination.0);
    assert_eq!(taken.at(2, &[&other]).0.counters.foreign, 1);
    assert_eq!(taken.at(3, &[good]).0.counters.foreign, 1);
}

#[test]
fn a_frame_that_was_changed_on_its_way_is_a_loss_at_its_listener() {
    let network = three();
    let plan = Plan::new(&network);
    let taken = Taken::new(&network, &plan);
    // Behind the fields by which it is forwarded: CRC, number, time, and the last octet.
    for at in [14 + 7, 14 + 8, 14 + 13, 14 + 99] {
        let mut frame = taken.frame(1).to_vec();
        frame[at] ^= 0x40;
        let (seen, counters) = taken.listener(&[taken.frame(0), &frame, taken.frame(2)]);
        let [listener] = &seen.listeners[..] else { panic!("{:?}", seen.listeners) };
        let lost = [(DropReason::BitError, 1), (DropReason::SocketBufferFull, 2)];
        assert_eq!((listener.delivered, &listener.dropped[..]), (2, &lost[..]), "octet {at}");
        assert_eq!((counters.foreign, counters.duplicates, counters.out_of_order), (0, 0, 0), "octet {at}");
        // A bridge passes it on as it is.
        let (_, sent) = taken.at(1, &[&frame]);
        assert_eq!(sent, [frame], "octet {at}");
    }
}

#[test]
fn a_frame_that_comes_again_is_counted_once() {
    let network = three();
    let plan = Plan::new(&network);
    let taken = Taken::new(&network, &plan);
    let [first, second] = [taken.frame(0), taken.frame(1)];
    let (seen, counters) = taken.listener(&[first, first, second, first, second]);
    assert_eq!((seen.delivered, seen.listeners[0].delivered), (2, 2));
    assert_eq!((counters.duplicates, counters.out_of_order, counters.foreign), (3, 0, 0));
}

#[test]
fn a_frame_that_was_overtaken_is_counted_as_such_and_received() {
    let network = three();
    let plan = Plan::new(&network);
    let taken = Taken::new(&network, &plan);
    let frames = [0, 3, 1, 4, 2].map(|number| taken.frame(number));
    let (seen, counters) = taken.listener(&frames);
    assert_eq!((seen.delivered, &seen.dropped), (5, &vec![]));
    // Number 1 and number 2 came behind number 3.
    assert_eq!((counters.out_of_order, counters.duplicates, counters.foreign), (2, 0, 0));
    // Those that came once more are repeated, not overtaken.
    let (_, counters) = taken.listener(&[&frames[..], &[taken.frame(2)]].concat());
    assert_eq!((counters.out_of_order, counters.duplicates), (2, 1));
}

/// A call that is late makes transmissions late, and changes no decision.
#[test]
fn a_late_call_changes_no_decision() {
    let network = without_chance(scenario("shaped-line.yaml"));
    let plan = Plan::new(&network);
    let order = |step: Duration| {
        let mut node = Node::new(&network, &plan, NodeIndex(0), network.run.seed);
        let (mut now, mut sent) = (Instant::ZERO, Vec::new());
        while now < Instant::ZERO + Duration::from_ms(20) {
            node.settle(now);
            node.emit(now, |port, frame| {
                sent.push((port, frame.to_vec()));
                None
            });
            now += step;
        }
        (sent, node.counters.lateness_max)
    };
    let (early, little) = order(Duration::from_us(1));
    let (late, much) = order(Duration::from_us(777));
    assert!(little < Duration::from_us(1) && much > Duration::from_us(500), "{little} {much}");
    assert!(late.len() > 50 && early.starts_with(&late), "{} of {}", late.len(), early.len());
}
