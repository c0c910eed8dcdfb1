//! Nodes in virtual time, without sockets: delays as in the simulator, and what is counted of frames that are not as sent.

use super::*;
use crate::record::NodeRecord;
use tautwire_observe::Moments;
use tautwire_sim::{Observation, StreamObservation};
use tautwire_workbench::live::{LiveSummary, MachineSummary};
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{Manifest, Options, RunFolder};

fn scenario(name: &str) -> Network {
    let path = std::path::Path::new("../../scenarios").join(name);
    tautwire_workbench::load(&path).expect("it is there").network.expect("it has no errors")
}

/// The network as it is run live: with one clock, and the least of every random delay.
fn without_chance(network: Network) -> Network {
    network.altered(|parts| {
        for node in &mut parts.nodes {
            node.clock = tautwire_model::network::Clock::default();
        }
        for stage in parts.devices.iter_mut().flat_map(|device| &mut device.stages) {
            stage.latency.random = tautwire_model::network::Distribution::Zero;
            stage.occupancy = tautwire_model::network::Delay::default();
        }
        for host in &mut parts.hosts {
            host.transmit.random = tautwire_model::network::Distribution::Zero;
        }
        for link in &mut parts.links {
            link.phy_delay.max = link.phy_delay.min;
        }
    })
}

/// The nodes of a network, and the frames between them: each is received at the instant at which it is due.
struct Together<'n> {
    network: &'n Network,
    nodes: Vec<Node<'n>>,
}

impl<'n> Together<'n> {
    fn new(network: &'n Network, plan: &'n Plan) -> Self {
        let nodes = (0..network.nodes.len())
            .map(|node| {
                let (node, seed) = (NodeIndex::at(node), network.run.seed);
                Node::new(network, plan, node, seed).controlled(node, seed, tautwire_workbench::in_runs())
            })
            .collect();
        Self { network, nodes }
    }

    /// Calls each node when it asks for it, until `end`.
    fn run_until(&mut self, end: Instant) {
        while let Some(now) =
            self.nodes.iter().filter_map(Node::deadline).min().filter(|deadline| *deadline <= end)
        {
            self.at(now);
        }
        self.at(end);
    }

    fn at(&mut self, now: Instant) {
        let mut sent = Vec::new();
        for node in &mut self.nodes {
            node.settle(now);
            node.emit(now, |port, frame| {
                sent.push((port, frame.to_vec()));
                None
            });
        }
        // What comes at one instant comes in the order of the links, as in a run.
        sent.sort_by_key(|(port, _)| self.network.ports[port.index()].links.expect("it sends").egress);
        for (port, frame) in sent {
            let link = self.network.ports[port.index()].links.expect("it sends").egress;
            let to = self.network.links[link.index()].to;
            self.nodes[self.network.ports[to.index()].node.index()].receive(now, to, &frame);
        }
        self.nodes.iter_mut().for_each(|node| node.settle(now));
    }

    /// Counters of all nodes, and the observations of streams and ports.
    fn observed(self) -> (Counters, Vec<StreamObservation>, Vec<PortObservation>) {
        let mut in_flight: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
        let mut ports = vec![PortObservation::default(); self.network.ports.len()];
        let mut counters = Counters::default();
        for node in self.nodes {
            for (stream, hop) in node.in_flight() {
                *in_flight.entry(stream).or_default().entry(hop).or_default() += 1;
            }
            node.port_observations().for_each(|(port, seen)| ports[port.index()] = seen);
            counters.merge(node.counters);
        }
        let none = BTreeMap::new();
        let streams = (0..self.network.streams.len())
            .map(|stream| StreamIndex::at(stream).0)
            .map(|stream| {
                counters.stream(
                    self.network,
                    stream,
                    in_flight.get(&stream).unwrap_or(&none),
                    DropReason::SocketBufferFull,
                )
            })
            .collect();
        (counters, streams, ports)
    }
}

/// A network of two stations with streams from one to the other and back, whose programs feed them.
const FED: &str = "\
name: fed
vlans: {1: {tagged: all}}
defaults: {rate: 10 Mbit/s, classes: {5: {transmission-selection: credit-based, idle-slope: 3 Mbit/s}, 6: {transmission-selection: ats}}}
nodes: {a: {type: end-station}, s: {type: bridge}, x: {type: end-station}}
links: [{between: [a, s]}, {between: [s, x]}]
streams:
  - {name: credit, talker: a, listeners: x, priority: 5, payload: 128 B, traffic: {type: periodic, interval: 1 ms, burst: 2},
     udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 1, destination-port: 1}}
  - {name: shaped, talker: a, listeners: x, priority: 6, payload: {min: 46 B, max: 228 B}, traffic: {type: periodic, interval: 2 ms, offset: 300 us},
     shaper: {committed-information-rate: 2 Mbit/s, committed-burst-size: 270 B},
     udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 2, destination-port: 2}}
  - {name: described, talker: a, listeners: x, payload: 300 B, traffic: {type: periodic, interval: 5 ms}}
run: {duration: 100 ms}
";

/// A program sends far more than is promised: no frame is later than its bound, what comes is what was sent, and all else is counted.
#[test]
fn packets_of_programs_keep_the_bounds_of_their_streams() {
    let loaded = tautwire_workbench::load_text("fed.yaml", FED);
    let network = loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let bounds = tautwire_workbench::bounds(&network);
    let plan = Plan::new(&network);
    let mut together = Together::new(&network, &plan);
    for (number, node) in together.nodes.iter_mut().enumerate().filter(|(number, _)| *number != 1) {
        node.programs = Some(Programs::new(&network, NodeIndex::at(number)));
    }
    let packet = |port: u8, number: u16, length: u16| {
        let mut octets = Vec::new();
        tautwire_wire::Ipv4Header {
            traffic_class: 0,
            payload_length: length,
            identification: number,
            fragment: 0,
            time_to_live: 64,
            protocol: 17,
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
        }
        .emit(&mut octets);
        octets.extend([0, port, 0, port]);
        octets.resize(20 + usize::from(length), 7);
        octets
    };
    let mut sent: Vec<Vec<u8>> = Vec::new();
    let mut numbers = 0..;
    // Bursts at times that have nothing to do with the intervals, long and short ones.
    for step in 0..60_u64 {
        let now = Instant::ZERO + Duration::from_us(step * 1_713);
        together.run_until(now);
        for (port, count) in [(1, 1 + step % 7), (2, step % 3), (3, 1)] {
            for _ in 0..count {
                let number = numbers.next().expect("endless");
                let packet = packet(port, number, 20 + number * 37 % if port == 2 { 189 } else { 89 });
                together.nodes[0].take_packet(now, &packet);
                sent.push(packet);
            }
        }
    }
    together.run_until(Instant::ZERO + Duration::from_ms(200));
    let given = std::mem::take(&mut together.nodes[2].programs.as_mut().expect("it has some").given);
    let seen = together.nodes[0].programs.as_ref().expect("it has some").seen();
    let (counters, streams, _) = together.observed();
    for (number, (stream, own)) in network.streams.iter().zip(&streams).enumerate() {
        let listener = &own.listeners[0];
        let bound = *bounds.streams[number].listeners[0].delay.as_ref().expect("each has one");
        let worst = listener.worst.expect("each has some").delay;
        assert!(worst <= bound, "{}: {worst} later than {bound}", stream.name);
        let dropped: u64 = own.dropped.iter().map(|(_, count)| count).sum();
        assert_eq!(own.created, own.delivered + dropped, "{}", stream.name);
    }
    assert_eq!(streams[2].created, 21);
    assert_eq!([counters.foreign, counters.out_of_order, counters.duplicates], [0; 3]);
    // Those of no port of a stream go with the first of these addresses; all of them in order, and unchanged.
    let [credit, shaped] = [seen.streams[0], seen.streams[1]];
    assert_eq!((credit.packets + shaped.packets, seen.unmatched), (sent.len() as u64, 0));
    for (own, port) in [(credit, [1, 3].as_slice()), (shaped, &[2])] {
        let is_own = |packet: &&Vec<u8>| port.contains(&packet[21]);
        let (came, expected): (Vec<_>, Vec<_>) =
            (given.iter().filter(is_own).collect(), sent.iter().filter(is_own).collect());
        assert_eq!(own.unsent, (expected.len() - came.len()) as u64);
        assert_eq!(came, expected[..came.len()]);
        assert!(own.unsent > 0 && own.waited > 0 && own.too_long + own.too_many == 0, "{own:?}");
    }
    // Two in each millisecond, and one with each frame of the other stream, from the first packet on.
    assert!((47..=50).contains(&streams[1].created), "{}", streams[1].created);
    assert!((190..=202).contains(&streams[0].created), "{}", streams[0].created);
}

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
        let mut control = Observation::default();
        for node in &mut together.nodes {
            let mut own = Observation::default();
            node.observe_control(&mut own);
            control.join_control(own);
        }
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

/// That each of these delays is at most a nanosecond longer: a frame carries its creation in whole nanoseconds, rounded down.
fn agree(live: &Moments, simulated: &Moments, what: &str) {
    let count = u128::from(simulated.count());
    assert_eq!(u128::from(live.count()), count, "{what}");
    if count == 0 {
        return;
    }
    let longer = live.sum_ps().checked_sub(simulated.sum_ps());
    assert!(longer.is_some_and(|longer| longer < count * 1_000), "{what}: {longer:?} ps of {count} frames");
    for of in [Moments::min, Moments::max] {
        let [live, simulated] = [live, simulated].map(|delays| of(delays).expect("there are some").as_ps());
        assert!((simulated..simulated + 1_000).contains(&live), "{what}: {live} and {simulated} ps");
    }
}

/// That nodes in virtual time do as a run of the simulator: counts, parts of hops, counters of ports and filters, and delays to a nanosecond.
fn does_as_in_a_run(what: &str, network: &Network) -> Observation {
    let plan = Plan::new(network);
    let mut together = Together::new(network, &plan);
    together.run_until(Instant::ZERO + network.run.duration);
    let mut control = Observation::default();
    for node in &mut together.nodes {
        let mut own = Observation::default();
        node.observe_control(&mut own);
        control.join_control(own);
    }
    let (counters, streams, ports) = together.observed();
    let simulated: Observation =
        tautwire_workbench::simulate(network, &mut tautwire_workbench::Options::default());
    for ((live, simulated), stream) in streams.iter().zip(&simulated.streams).zip(&network.streams) {
        let name = format!("{what}: {}", stream.name);
        assert_eq!(live.dropped, simulated.dropped, "{name}");
        let counts = |seen: &StreamObservation| {
            (seen.created, seen.replicated, seen.delivered, seen.consumed, seen.in_flight)
        };
        assert_eq!(counts(live), counts(simulated), "{name}");
        for (live, simulated) in live.listeners.iter().zip(&simulated.listeners) {
            assert_eq!(live.dropped, simulated.dropped, "{name}");
            agree(&live.delay, &simulated.delay, &name);
            assert_eq!(live.late, simulated.late, "{name}");
        }
        for (live, simulated) in live.hops.iter().zip(&simulated.hops) {
            assert_eq!((live.frames, live.max), (simulated.frames, simulated.max), "{name}");
            assert_eq!(live.sums, simulated.sums, "{name}");
        }
    }
    assert_eq!(ports, simulated.ports, "{what}");
    // Lists of gates of ports have a table in a run alone.
    for own in control.mechanisms.tables() {
        let known = simulated.mechanisms.tables().into_iter().find(|table| table.name == own.name);
        assert_eq!(Some(own), known, "{what}");
    }
    // No node asked too late for its call.
    assert_eq!(counters.lateness_max, Duration::ZERO, "{what}");
    assert_eq!((counters.foreign, counters.out_of_order, counters.duplicates), (0, 0, 0), "{what}");
    simulated
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

/// What is read of a node's words is counted as in the node.
#[test]
fn a_record_is_read_as_it_was_written_or_not_at_all() {
    let network = without_chance(scenario("shaped-line.yaml"));
    let plan = Plan::new(&network);
    let (mut first, mut second) = (Counters::default(), Counters::default());
    for (index, record) in records(&network, &plan) {
        let words = record.words();
        let read = NodeRecord::read(&words, &network, index).expect("as it was written");
        assert_eq!((&read.ports, &read.in_flight, read.socket_lost), (&record.ports, &record.in_flight, 3));
        // Neither a part of it, nor more, nor that of a node elsewhere.
        for end in 0..words.len().min(400) {
            assert!(NodeRecord::read(&words[..end], &network, index).is_none(), "{end} words");
        }
        assert!(NodeRecord::read(&[&words[..], &[0]].concat(), &network, index).is_none());
        let other = NodeIndex::at((index.index() + 1) % network.nodes.len());
        assert!(NodeRecord::read(&words, &network, other).is_none());
        first.merge(record.counters);
        second.merge(read.counters);
    }
    let none = BTreeMap::new();
    for stream in (0..network.streams.len()).map(|stream| StreamIndex::at(stream).0) {
        let [first, second] =
            [&first, &second].map(|own| own.stream(&network, stream, &none, DropReason::Unknown));
        assert!(first.delivered > 0 && first == second, "{first:?} {second:?}");
    }
    assert_eq!((first.lateness, first.transmissions), (second.lateness, second.transmissions));
}

/// Records of the nodes of a run of 20 ms, each with its node.
fn records(network: &Network, plan: &Plan) -> Vec<(NodeIndex, NodeRecord)> {
    let mut together = Together::new(network, plan);
    for node in &mut together.nodes {
        (node.counters.receptions, node.counters.receptions_max) = (Some(Vec::new()), usize::MAX);
    }
    together.run_until(Instant::ZERO + Duration::from_ms(20));
    let record = |(number, node): (usize, Node<'_>)| {
        let (ports, in_flight) = (node.port_observations().collect(), node.in_flight().collect());
        let record = NodeRecord { ports, in_flight, socket_lost: 3, counters: node.counters, clock: None };
        (NodeIndex::at(number), record)
    };
    together.nodes.into_iter().enumerate().map(record).collect()
}

/// Whatever number is in a record: it is refused, or all that a master makes of it can be made.
#[test]
fn a_record_with_any_number_is_refused_or_adds_up() {
    let network = without_chance(scenario("shaped-line.yaml"));
    let plan = Plan::new(&network);
    let records = records(&network, &plan);
    let simulated = tautwire_workbench::simulate(&network, &mut Options::default());
    let bounds = tautwire_workbench::bounds_in_run(&network, &simulated);
    let manifest = Manifest::new("shaped-line", "", None, &[]);
    let (mut refused, mut taken) = (0, 0);
    for (place, (node, record)) in records.iter().enumerate() {
        let words = record.words();
        let receptions = record.counters.receptions.as_ref().map_or(0, Vec::len);
        for at in (0..words.len()).filter(|at| *at < 60 || receptions < 20 || at % 23 == 0) {
            for number in [u64::MAX, u64::MAX / 2, 1 << 62] {
                // The word itself, and with the one behind it.
                for end in [at + 1, (at + 2).min(words.len())] {
                    let mut changed = words.clone();
                    changed[at..end].fill(number);
                    let Some(read) = NodeRecord::read(&changed, &network, *node) else {
                        refused += 1;
                        continue;
                    };
                    taken += 1;
                    let mut all: Vec<_> = records.iter().map(|(_, record)| record.clone()).collect();
                    all[place] = read;
                    let floor = crate::floor::Floor {
                        clock_read: Duration::ZERO,
                        timer_lateness: crate::floor::Spread::default(),
                        round_trip: crate::floor::Spread::default(),
                        threads: 1,
                        priority: tautwire_linux::Priority::Ordinary,
                    };
                    let lived = crate::run::observed(&network, all, floor, DropReason::Unknown);
                    let live = &lived.observation;
                    let summary =
                        LiveSummary::new(&network, &bounds, &simulated, live, MachineSummary::default());
                    assert!(
                        summary.faults() < u64::MAX && !summary.table(TableOptions::default()).is_empty()
                    );
                    let _ = RunFolder::new(&manifest, &network, "", None, Some(live));
                }
            }
        }
    }
    assert!(refused > 500 && taken > 100, "{refused} refused, {taken} taken");
}

/// What gPTP of an agent observed goes with its record; how far it is off from a grandmaster without an agent is not known.
#[test]
fn a_record_has_the_clock_of_its_node() {
    let network = scenario("precision-time.yaml");
    let node = NodeIndex(1);
    let mut offset = tautwire_observe::SignedMoments::default();
    for ps in [-40, 7, 1_000_000] {
        offset.add(ps);
    }
    let clock = tautwire_sim::ClockObservation {
        node,
        grandmaster: Some(NodeIndex(0)),
        capable_ports: 2,
        offset,
        without: 3,
        synchronised_at: Some(Duration::from_ms(7)),
        corrected: None,
    };
    let counters = Counters::default();
    let record =
        NodeRecord { ports: vec![], in_flight: vec![], socket_lost: 0, counters, clock: Some(clock.clone()) };
    let words = record.words();
    let read = NodeRecord::read(&words, &network, node).expect("as it was written");
    assert_eq!(read.clock, record.clock);
    let without = NodeRecord { clock: None, ..record.clone() };
    assert!(NodeRecord::read(&without.words(), &network, node).is_none(), "the network has gPTP");
    assert!(
        words.iter().enumerate().all(|(end, _)| NodeRecord::read(&words[..end], &network, node).is_none())
    );
    // A node that there is not.
    let at = words.len() - 13;
    assert_eq!(words[at..][..4], [1, 2, 3, 1]);
    let mut changed = words.clone();
    changed[at] = network.nodes.len() as u64 + 1;
    assert!(NodeRecord::read(&changed, &network, node).is_none());
    let of = |nodes: &[NodeIndex]| {
        let records = nodes.iter().map(|node| (*node, record.clone())).collect();
        let lived = crate::agent::gathered(&network, records, tautwire_linux::Priority::Ordinary);
        lived.expect("a floor").observation.clocks[0].clone()
    };
    assert_eq!(of(&[node, NodeIndex(0)]), clock);
    assert_eq!(of(&[node]), tautwire_sim::ClockObservation { offset: Default::default(), ..clock });
}
