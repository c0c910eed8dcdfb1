//! Bridges in virtual time, without sockets: the described streams as in the node of a live run, all other frames as by 802.1Q.

use super::*;
use crate::node::Node;

fn network(text: &str) -> Network {
    let loaded = tautwire_workbench::load_text("bridge.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn scenario(name: &str) -> Network {
    let path = std::path::Path::new("../../scenarios").join(name);
    let network = tautwire_workbench::load(&path).expect("it is there").network.expect("it has no errors");
    network.altered(|parts| {
        for node in &mut parts.nodes {
            node.clock = tautwire_model::network::Clock::default();
        }
    })
}

enum Either<'n> {
    Node(Box<Node<'n>>),
    Bridge(Box<Bridge<'n>>),
}

impl Either<'_> {
    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Node(node) => node.deadline(),
            Self::Bridge(bridge) => bridge.deadline(),
        }
    }
}

/// Frames that each port gave out, with the instants at which they came to the far end. The bridges are nodes of a live run, or by
/// themselves.
fn frames(network: &Network, by_themselves: bool) -> Vec<(Instant, PortIndex, Vec<u8>)> {
    let plan = Plan::new(network);
    let common = tautwire_sim::InCommon::default();
    let mut nodes: Vec<Either<'_>> = (0..network.nodes.len())
        .map(|node| {
            let index = NodeIndex::at(node);
            let ports = network.nodes[node].ports.len();
            let (seed, plug_ins) = (network.run.seed, tautwire_workbench::in_runs());
            if by_themselves && network.device(index).is_some() {
                let bridge = Bridge::new(network, &plan, index, vec![None; ports]);
                Either::Bridge(Box::new(bridge.controlled(index, plug_ins)))
            } else {
                Either::Node(Box::new(
                    Node::new(network, &plan, index, seed).controlled((index, seed, plug_ins), &common),
                ))
            }
        })
        .collect();
    let mut seen = Vec::new();
    let end = Instant::ZERO + network.run.duration;
    while let Some(now) = nodes.iter().filter_map(Either::deadline).min().filter(|now| *now <= end) {
        let mut sent = Vec::new();
        for either in &mut nodes {
            match either {
                Either::Node(node) => {
                    node.settle(now);
                    node.emit(now, |port, frame| {
                        sent.push((now, port, frame.to_vec()));
                        None
                    });
                }
                Either::Bridge(bridge) => {
                    bridge.settle(now);
                    let ports: Vec<PortIndex> = bridge.plane.ports.iter().map(|port| port.index).collect();
                    bridge.emit(now, |place, frame| {
                        let link = network.ports[ports[place].index()].links.expect("it sends").egress;
                        let link = &network.links[link.index()];
                        let there = now + link.propagation + link.phy_delay.min;
                        sent.push((there, ports[place], frame.to_vec()));
                        None
                    });
                }
            }
        }
        // What comes at one instant comes in one order, whoever sends it.
        sent.sort_by_key(|(_, port, _)| *port);
        for (there, port, frame) in sent {
            let link = network.ports[port.index()].links.expect("it sends").egress;
            let to = network.links[link.index()].to;
            match &mut nodes[network.ports[to.index()].node.index()] {
                Either::Node(node) => node.receive(there, to, &frame),
                Either::Bridge(bridge) => {
                    let place = bridge.plane.place(to);
                    bridge.receive(there, place, &frame);
                }
            }
            seen.push((there, port, frame));
        }
    }
    seen.sort();
    seen
}

#[test]
fn it_forwards_the_described_streams_as_the_node_of_a_live_run() {
    let scenarios =
        [("shaped-line.yaml", 20), ("reserved-slopes.yaml", 2_600), ("vlan-registration.yaml", 1_500)];
    let policed =
        [("policed", crate::node::tests::policed(), 80), ("cyclic.yaml", scenario("cyclic.yaml"), 20)];
    let all = scenarios.map(|(name, length)| (name, scenario(name), length)).into_iter().chain(policed);
    for (name, mut network, length) in all {
        network.set_duration(Duration::from_ms(length));
        let [nodes, bridges] = [false, true].map(|by_themselves| frames(&network, by_themselves));
        assert!(nodes.len() > 200, "{name}: {}", nodes.len());
        // Octet for octet, to the picosecond; those that end behind the end of the run aside.
        let end = Instant::ZERO + network.run.duration;
        let until = |frames: Vec<(Instant, PortIndex, Vec<u8>)>| -> Vec<_> {
            frames.into_iter().filter(|(at, ..)| *at < end).collect()
        };
        let (nodes, bridges) = (until(nodes), until(bridges));
        let first = nodes.iter().zip(&bridges).find(|(one, other)| one != other);
        assert!(
            nodes == bridges,
            "{name}: bridges by themselves send other frames, or at other instants: {first:x?}"
        );
    }
}

/// Stations in two VLANs; one port filters what it receives.
const VLANS: &str = "\
name: vlans
defaults: {rate: 100 Mbit/s}
nodes:
  s:
    type: bridge
    ports:
      p1: {}
      p2: {pvid: 5, ingress-filtering: true, priority-regeneration: [3, 1, 2, 3, 4, 5, 6, 7]}
      p3: {}
      p4: {pvid: 5}
  a: {type: end-station}
  b: {type: end-station}
  c: {type: end-station}
  d: {type: end-station}
links: [{between: [\"s:p1\", a]}, {between: [\"s:p2\", b]}, {between: [\"s:p3\", c]}, {between: [\"s:p4\", d]}]
vlans:
  1: {tagged: [\"s:p3\"], untagged: [\"s:p1\"]}
  5: {tagged: [\"s:p3\"], untagged: [\"s:p2\", \"s:p4\"]}
streams:
  - {name: one, talker: a, listeners: c, tagged: false, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
run: {duration: 10 ms}
";

/// A frame with 46 octets of data that begin with `mark`.
fn frame(destination: [u8; 6], source: u8, tag: Option<u16>, mark: u8) -> Vec<u8> {
    let mut frame = destination.to_vec();
    frame.extend([0x02, 0xaa, 0, 0, 0, source]);
    frame.extend(tag.into_iter().flat_map(|tag| [0x81, 0, tag.to_be_bytes()[0], tag.to_be_bytes()[1]]));
    frame.extend([0x08, 0x00, mark]);
    frame.resize(frame.len() + 45, 0);
    frame
}

/// What a bridge gives out for frames that come a millisecond apart, each by the port of this number: numbers of ports and octets.
fn passed(bridge: &mut Bridge<'_>, frames: &[(usize, Vec<u8>)]) -> Vec<Vec<(usize, Vec<u8>)>> {
    let mut now = bridge.plane.now + Duration::from_ms(1);
    let mut all = Vec::new();
    for (port, octets) in frames {
        bridge.receive(now, port - 1, octets);
        now += Duration::from_ms(1);
        bridge.settle(now);
        let mut sent = Vec::new();
        bridge.emit(now, |place, octets| {
            sent.push((place + 1, octets.to_vec()));
            None
        });
        sent.sort();
        all.push(sent);
    }
    all
}

fn drops(bridge: &Bridge<'_>) -> Vec<(usize, &'static str, u64)> {
    bridge.drops.iter().map(|((port, _, reason), frames)| (port + 1, *reason, *frames)).collect()
}

const BROADCAST: [u8; 6] = [0xff; 6];
const fn station(last: u8) -> [u8; 6] {
    [0x02, 0xaa, 0, 0, 0, last]
}

#[test]
fn other_frames_are_flooded_in_their_vlan_until_their_destination_is_learned() {
    let network = network(VLANS);
    let plan = Plan::new(&network);
    let mut bridge = Bridge::new(&network, &plan, NodeIndex(0), vec![None; 4]);
    let sent = passed(
        &mut bridge,
        &[
            (1, frame(BROADCAST, 1, None, 1)),
            // Priority 0 is regenerated to 3; VLAN 5 leaves port 3 with its tag.
            (2, frame(station(4), 2, None, 2)),
            (4, frame(station(2), 4, None, 3)),
            (2, frame(station(4), 2, None, 4)),
            // A tag of VLAN 5 with priority 6 and DEI: it keeps them where it has a tag, and loses it elsewhere.
            (4, frame(BROADCAST, 4, Some(0xd005), 5)),
            // One of priority alone: the VLAN of the port.
            (1, frame(station(3), 1, Some(0xa000), 6)),
        ],
    );
    assert_eq!(sent[0], [(3, frame(BROADCAST, 1, Some(0x0001), 1))]);
    assert_eq!(sent[1], [(3, frame(station(4), 2, Some(0x6005), 2)), (4, frame(station(4), 2, None, 2))]);
    assert_eq!(sent[2], [(2, frame(station(2), 4, None, 3))]);
    assert_eq!(sent[3], [(4, frame(station(4), 2, None, 4))]);
    assert_eq!(sent[4], [(2, frame(BROADCAST, 4, None, 5)), (3, frame(BROADCAST, 4, Some(0xd005), 5))]);
    assert_eq!(sent[5], [(3, frame(station(3), 1, Some(0xa001), 6))]);
    assert_eq!(drops(&bridge), []);
    // Priorities 0, 3, 6 and 5 at port 3, by the recommended classes.
    let status = bridge.status(bridge.plane.now);
    let sent: Vec<u64> = status.ports[2].classes.iter().map(|class| class.sent).collect();
    assert_eq!(sent, [0, 1, 0, 1, 0, 1, 1, 0]);
}

#[test]
fn what_is_not_forwarded_is_counted_with_its_reason() {
    let network = network(VLANS);
    let plan = Plan::new(&network);
    let mut bridge = Bridge::new(&network, &plan, NodeIndex(0), vec![None; 4]);
    let mut long = frame(BROADCAST, 1, None, 1);
    long.resize(14 + 1501, 0);
    let mut of_group = frame(BROADCAST, 1, None, 1);
    of_group[6] = 1;
    let sent = passed(
        &mut bridge,
        &[
            (1, frame([0x01, 0x80, 0xc2, 0, 0, 0x0e], 1, None, 1)),
            (1, frame(BROADCAST, 1, None, 1)[..13].to_vec()),
            (1, Vec::new()),
            (1, frame(BROADCAST, 1, Some(0x0fff), 1)),
            (1, of_group),
            (1, long),
            // VLAN 1 at a port that is no member of it, and filters.
            (2, frame(BROADCAST, 2, Some(0x0001), 1)),
            // A VLAN that there is not.
            (1, frame(BROADCAST, 1, Some(0x0007), 1)),
            // A station behind the port by which the frame came.
            (3, frame(station(4), 3, None, 1)),
            (3, frame(station(3), 4, None, 1)),
        ],
    );
    let count = sent.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(count, [0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    let expected = [
        (1, "malformed", 4),
        (1, "no-route", 1),
        (1, "oversize", 1),
        (1, "reserved-address", 1),
        (2, "ingress-filtering", 1),
        (3, "same-port", 1),
    ];
    assert_eq!(drops(&bridge), expected);
    assert!(bridge.plane.is_done(0), "no frame is kept");
}

/// Two ports take what no machine counts: 65 535 octets and a header.
#[test]
fn a_frame_as_large_as_the_largest_mtu_is_dropped() {
    let text = VLANS.replace("p1: {}", "p1: {mtu: 65535 B}").replace("p3: {}", "p3: {mtu: 65535 B}");
    let network = network(&text);
    let plan = Plan::new(&network);
    let mut bridge = Bridge::new(&network, &plan, NodeIndex(0), vec![None; 4]);
    let mut long = frame(BROADCAST, 1, None, 1);
    long.resize(14 + 65_535, 0);
    assert_eq!(passed(&mut bridge, &[(1, long)]), [vec![]]);
    assert_eq!(drops(&bridge), [(3, "oversize", 1)]);
}

/// What came has gone, was dropped or is inside, at every instant of a burst that is longer than a queue.
#[test]
fn no_frame_is_forgotten() {
    let network = network(VLANS);
    let plan = Plan::new(&network);
    let mut bridge = Bridge::new(&network, &plan, NodeIndex(0), vec![None; 4]);
    let mut now = Instant::ZERO;
    for number in 0..3_000_u32 {
        bridge.receive(now, 0, &frame(station(3), 1, None, number as u8));
        now += Duration::from_us(1);
        bridge.settle(now);
        bridge.emit(now, |_, _| None);
        let status = bridge.status(now);
        let gone: u64 = status.ports.iter().map(|port| port.sent).sum();
        let dropped: u64 = bridge.drops.values().sum();
        assert_eq!(u64::from(number) + 1, gone + dropped + status.inside, "{status:?}");
    }
    let status = bridge.status(now);
    assert!(status.inside > 0 && !bridge.drops.is_empty(), "{status:?}");
}

/// A frame on a faster interface is handed to it as much later as that takes less time for it.
#[test]
fn an_interface_gets_a_frame_so_that_its_last_bit_leaves_as_described() {
    let network = network(VLANS);
    let plan = Plan::new(&network);
    let sent_at = |rate: Option<BitRate>| {
        let mut bridge = Bridge::new(&network, &plan, NodeIndex(0), vec![rate; 4]);
        bridge.receive(Instant::ZERO, 0, &frame(BROADCAST, 1, None, 1));
        bridge.settle(Instant::ZERO);
        bridge.plane.ports[2].line.front().map(|(due, _)| due.as_ps())
    };
    // 68 octets and 8 before them at 100 Mbit/s, less 68 at the rate of the interface.
    assert_eq!(sent_at(None), Some(6_080_000));
    assert_eq!(sent_at(Some(BitRate::from_gbps(1))), Some(5_536_000));
    assert_eq!(sent_at(Some(BitRate::from_mbps(100))), Some(640_000));
}

/// Streams of one talker to one listener that their UDP ports alone distinguish, a filter for each, and one for all other frames of priority 0.
const PORTS: &str = "\
name: ports
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  s:
    type: bridge
    stream-filters:
      stream-filter-instance-table:
        1: {stream-handle: state, max-sdu-size: 500 B}
        2: {stream-handle: alarm, flow-meter-ref: 1, flow-meter-enable: true}
        3: {priority-spec: 0, max-sdu-size: 100 B}
    flow-meters:
      flow-meter-instance-table:
        1: {committed-information-rate: 8 kbit/s, committed-burst-size: 200 B, excess-information-rate: 8 kbit/s, excess-burst-size: 200 B}
  x: {type: end-station}
  y: {type: end-station}
links: [{between: [a, s]}, {between: [b, s]}, {between: [s, x]}, {between: [s, y]}]
streams:
  - {name: state, talker: a, listeners: x, destination: '02:00:00:00:00:77', priority: 3, payload: 120 B, udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 5000, destination-port: 5001}, traffic: {type: periodic, interval: 1 ms}, identification: {type: ip-stream-identification}}
  - {name: alarm, talker: a, listeners: y, destination: '02:00:00:00:00:77', priority: 3, payload: 120 B, udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 5000, destination-port: 5002}, traffic: {type: periodic, interval: 1 ms}, identification: {type: ip-stream-identification}}
run: {duration: 10 ms}
";

/// A frame goes its stream's way, and finds its stream's filter, by what the network's functions read in it.
#[test]
fn a_frame_is_of_the_stream_whose_function_it_matches() {
    let network = network(PORTS);
    let plan = Plan::new(&network);
    let node = NodeIndex::at(network.nodes.iter().position(|node| node.name == "s").expect("it is there"));
    let mut bridge = Bridge::new(&network, &plan, node, vec![None; 4]);
    let of = |stream: usize, octets: usize| {
        let stream = &network.streams[stream];
        let seen = tautwire_model::network::SeenFrames::new(
            stream,
            &stream.hops[0],
            node,
            tautwire_model::network::Layer::Relay,
        );
        let mut frame = seen.frames()[0].clone();
        frame.resize(frame.len().max(octets), 0);
        frame
    };
    let other = |octets: usize| {
        let mut frame = frame(BROADCAST, 1, None, 1);
        frame.resize(octets, 0);
        frame
    };
    // Of 142 octets with its FCS: two buckets of 200 octets hold one each, and the third frame is red.
    let frames = [
        (1, of(0, 0)),
        (1, of(1, 0)),
        (1, of(1, 0)),
        (1, of(1, 0)),
        // 502 octets of MSDU.
        (1, of(0, 12 + 4 + 502)),
        (1, other(112)),
        (1, other(113)),
    ];
    let sent = passed(&mut bridge, &frames);
    let ports: Vec<Vec<usize>> =
        sent.iter().map(|sent| sent.iter().map(|(port, _)| *port).collect()).collect();
    assert_eq!(ports, [vec![3], vec![4], vec![4], vec![], vec![], vec![2, 3, 4], vec![]]);
    // The second one is yellow: drop-eligible.
    let eligible: Vec<u8> = sent.iter().flatten().map(|(_, frame)| frame[14] & 0x10).collect();
    assert_eq!(eligible, [0, 0, 0x10, 0, 0, 0]);
    let reasons = drops(&bridge);
    assert_eq!(reasons, [(1, DropReason::FilterMaxSdu.name(), 2), (1, DropReason::Red.name(), 1)]);
    let filters = bridge.status(bridge.plane.now).filters.expect("it has some");
    let counts: Vec<_> = filters
        .filters
        .iter()
        .map(|(id, seen, _)| (*id, seen.matching, seen.not_passing_sdu, seen.red))
        .collect();
    assert_eq!(counts, [(1, 2, 1, 0), (2, 3, 0, 1), (3, 2, 1, 0)]);
}
