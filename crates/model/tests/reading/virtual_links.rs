//! Virtual links as they are resolved: addresses, both networks, lengths, tables, the rule for the jitter.

use tautwire_core::policing::Account;
use tautwire_core::redundancy::RedundantNetwork;
use tautwire_core::virtual_link::LinkBuffer;
use tautwire_model::network::{Network, PortIndex, Stream};
use tautwire_model::virtual_link::{bandwidth, end_system_jitter, network_of, policing_parameters};
use tautwire_units::{Bits, Bytes, Duration};
use tautwire_wire::MacAddress;

fn network(streams: &str) -> Network {
    let text = format!(
        "network-control: none
defaults: {{rate: 100 Mbit/s, clock: {{tolerance: 100 ppm}}}}
nodes:
  x: {{type: end-station}}
  y: {{type: end-station}}
  a1: {{type: bridge}}
  a2: {{type: bridge}}
  b1: {{type: bridge}}
links:
  - {{between: [x, a1]}}
  - {{between: [a1, a2]}}
  - {{between: [a2, y]}}
  - {{between: [x, b1]}}
  - {{between: [b1, y]}}
streams:
{streams}"
    );
    let loaded = tautwire_model::load_text("links", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    loaded.network.expect("a whole network")
}

fn stream(name: &str, payload: &str, link: &str) -> String {
    format!(
        "  - {{name: {name}, talker: x, listeners: y, priority: 2, payload: {payload}, \
         traffic: {{type: periodic, interval: 64 ms}}, virtual-link: {{{link}}}}}\n"
    )
}

fn only(network: &Network) -> &Stream {
    &network.streams[0]
}

#[test]
fn a_link_has_its_address_no_tag_and_its_priority_everywhere() {
    let network = network(&stream("one", "100 B", "id: 4660, bag: 128 ms"));
    let stream = only(&network);
    assert_eq!(stream.destination, MacAddress([0x03, 0, 0, 0, 0x12, 0x34]));
    assert!(stream.hops.iter().all(|hop| !hop.tagged.vlan && hop.priority.index() == 2));
    let link = stream.virtual_link.expect("a link");
    assert_eq!((link.buffer, link.skew_max, link.regulated), (LinkBuffer::Queueing(64), None, true));
    assert_eq!(link.policing.expect("policed").account, Account::Frames);
}

#[test]
fn a_redundant_link_has_a_way_over_each_network() {
    let network = network(&stream("one", "100 B", "id: 1, bag: 4 ms, redundancy: true"));
    let stream = only(&network);
    let way: Vec<(&str, RedundantNetwork)> = (0..stream.hops.len())
        .map(|hop| {
            let node = network.ports[stream.hops[hop].port.index()].node;
            (network.nodes[node.index()].name.as_str(), network_of(stream, hop))
        })
        .collect();
    use RedundantNetwork::{A, B};
    assert_eq!(way, [("x", A), ("a1", A), ("a2", A), ("x", B), ("b1", B)]);
    let ends: Vec<usize> = (0..5).filter(|hop| stream.hops[*hop].listener == Some(0)).collect();
    assert_eq!(ends, [2, 4], "both copies reach the listener");
}

#[test]
fn switches_have_tables_with_the_lengths_of_all_sub_links() {
    let settings = "id: 9, bag: 8 ms, policing: octets, policing-jitter: 400 us, policing-jitter-step: 50 us";
    let network = network(&format!(
        "{}{}",
        stream("one", "{min: 20 B, max: 100 B}", settings),
        stream("two", "500 B", &format!("{settings}, sub-link: 2"))
    ));
    let table = |hop| policing_parameters(&network, only(&network), hop);
    let (first, second) = (table(0).expect("of b1"), table(1));
    // The shortest way is that over B: one switch, and then the listener, which does not police.
    assert_eq!(second, None);
    assert_eq!((first.octets_min, first.octets_max), (64, 518), "padded, and the longest of both");
    assert_eq!((first.account, first.jitter), (Account::Octets, Duration::from_us(400)));
    assert_eq!(first.bag, Duration::from_ns(7_998_400), "8 ms less 100 ppm of both clocks");
}

#[test]
fn every_further_switch_grants_a_step_more() {
    let network =
        network(&stream("one", "100 B", "id: 1, bag: 4 ms, redundancy: true, policing-jitter-step: 7 us"));
    let jitter = |hop| policing_parameters(&network, only(&network), hop).map(|table| table.jitter);
    let us = |us| Some(Duration::from_us(us));
    assert_eq!([0, 1, 2, 3, 4].map(jitter), [us(500), us(507), None, us(500), None]);
}

/// The rule of the standard: 40 us and a longest frame, with its 20 octets, of every link.
#[test]
fn the_jitter_of_an_end_system_follows_the_rule() {
    let port = PortIndex(0);
    let of = |streams: &str| end_system_jitter(&network(streams), port);
    let full = |number: u32| {
        stream(&format!("s{number}"), "1500 B", &format!("id: {number}, bag: 8 ms, redundancy: true"))
    };
    let three: String = (0..3).map(full).collect();
    assert_eq!(of(&full(0)), Duration::from_ns(40_000 + 123_040), "(20 + 1518) · 8 bit at 100 Mbit/s");
    assert_eq!(of(&three), Duration::from_ns(40_000 + 3 * 123_040));
    let twice =
        format!("{}{}", full(0), stream("sub", "1500 B", "id: 0, bag: 8 ms, redundancy: true, sub-link: 2"));
    assert_eq!(of(&twice), of(&full(0)), "sub-virtual-links are one link");
}

/// The development switch of the other profile takes every whole millisecond up to 255.
#[test]
fn the_development_switch_has_bags_of_integral_milliseconds() {
    for bag in [1, 3, 100, 255] {
        let link = format!("id: 1, bag: {bag} ms, profile: development-switch, buffer: overwriting");
        let network = network(&stream("one", "64 B", &link));
        let link = only(&network).virtual_link.expect("a link");
        assert_eq!((link.bag, link.buffer), (Duration::from_ms(bag), LinkBuffer::Overwriting));
        let (bits, rate) = bandwidth(&link);
        assert_eq!(bits, Bits::new((64 + 18 + 20) * 8));
        assert_eq!(rate.as_bps(), (816_000_u64).div_ceil(bag), "a frame a BAG");
        assert_eq!(link.frames, (Bytes::new(82), Bytes::new(82)));
    }
}
