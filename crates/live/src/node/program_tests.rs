//! Packets of programs at nodes in virtual time.

use tautwire_model::network::NodeIndex;
use tautwire_units::{Duration, Instant};

use super::together::Together;
use crate::plan::Plan;
use crate::program::Programs;

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
