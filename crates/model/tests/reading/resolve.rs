//! What descriptions mean: VLANs, trees, routes, groups, tables, traces, timelines.

use std::path::PathBuf;

use tautwire_core::TrafficClass;
use tautwire_model::network::{Stream, TimelineAction, Traffic};
use tautwire_model::{Network, Severity, load, load_text};
use tautwire_units::{BitRate, Bits, Bytes, Duration};
use tautwire_wire::MacAddress;

fn network(text: &str) -> Network {
    let loaded = load_text("test.yaml", text);
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    loaded.network.expect("a network")
}

fn stream<'n>(network: &'n Network, name: &str) -> &'n Stream {
    network.streams.iter().find(|stream| stream.name == name).expect("a stream")
}

/// The egress ports of a stream, `node:port`.
fn way(network: &Network, name: &str) -> Vec<String> {
    let port_name = |port: &tautwire_model::network::Port| {
        format!("{}:{}", network.nodes[port.node.index()].name, port.name)
    };
    stream(network, name).hops.iter().map(|hop| port_name(&network.ports[hop.port.index()])).collect()
}

/// Three bridges in a ring, an end station at each; links in the order a, b, c, then the ring.
const RING: &str = "
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  c: {type: end-station}
  s: {type: bridge}
  t: {type: bridge}
  u: {type: bridge}
links:
  - {between: ['a:p', 's:a']}
  - {between: ['b:p', 't:b']}
  - {between: ['c:p', 'u:c']}
  - {name: st, between: ['s:t', 't:s']}
  - {name: tu, between: ['t:u', 'u:t']}
  - {name: us, between: ['u:s', 's:u']}
";

fn ring(rest: &str) -> Network {
    network(&format!("{RING}{rest}"))
}

const PERIODIC: &str = "payload: 100 B, traffic: {type: periodic, interval: 1 ms}";

#[test]
fn the_shortest_way_is_taken_and_a_stated_one_obeyed() {
    let network = ring(&format!(
        "streams:\n  - {{name: short, talker: a, listeners: c, {PERIODIC}}}\n  - {{name: long, talker: a, listeners: c, route: ['a:p', st, tu, 'c:p'], {PERIODIC}}}\n  - {{name: ends, talker: a, listeners: c, route: ['s:a', 't:s', 't:u', 'u:c'], {PERIODIC}}}\n"
    ));
    assert_eq!(way(&network, "short"), ["a:p", "s:u", "u:c"]);
    assert_eq!(way(&network, "long"), ["a:p", "s:t", "t:u", "u:c"]);
    assert_eq!(way(&network, "ends"), way(&network, "long"));
    for route in ["[s, t, u]", "[a, s, t, u, c]"] {
        let network = ring(&format!(
            "streams:\n  - {{name: x, talker: a, listeners: c, route: {route}, {PERIODIC}}}\n"
        ));
        assert_eq!(way(&network, "x"), ["a:p", "s:t", "t:u", "u:c"], "{route}");
    }
}

#[test]
fn a_link_that_is_mended_later_is_a_way_only_where_there_is_no_other() {
    let described = |down: [&str; 2], events: &str| {
        let mut text = RING.replace("name: st,", &format!("name: st, up: {},", down[0]));
        text = text.replace("['c:p', 'u:c']", &format!("['c:p', 'u:c'], up: {}", down[1]));
        network(&format!(
            "{text}streams:\n  - {{name: ab, talker: a, listeners: b, {PERIODIC}}}\n  - {{name: ac, talker: a, listeners: c, {PERIODIC}}}\nevents:\n{events}"
        ))
    };
    let network =
        described(["false", "false"], "  - {at: 3 ms, mend-link: st}\n  - {at: 4 ms, mend-link: 'u:c'}\n");
    // The ring goes round; to `c` there is no other way.
    assert_eq!(way(&network, "ab"), ["a:p", "s:u", "u:t", "t:b"]);
    assert_eq!(way(&network, "ac"), ["a:p", "s:u", "u:c"]);
    let of_cables: Vec<bool> = network.links.chunks(2).map(|pair| pair[0].up).collect();
    assert_eq!(of_cables, [true, true, true, false, true, true]);
    let warnings: Vec<(u64, &TimelineAction)> =
        network.events.iter().map(|event| (event.at.as_ps() / 1_000_000_000, &event.action)).collect();
    let (cut, mend) = (TimelineAction::CutCable(2), TimelineAction::MendCable);
    assert_eq!(warnings, [(0, &cut), (3, &mend(3)), (4, &mend(2))]);
}

#[test]
fn events_that_change_what_there_is_are_no_fault() {
    let warnings = |down: &str, events: &str| {
        let text = RING.replace("name: st,", &format!("name: st, up: {down},"));
        let text = text.replace("['c:p', 'u:c']", &format!("['c:p', 'u:c'], up: {down}"));
        let streams = format!(
            "streams: [{{name: x, talker: a, listeners: b, {PERIODIC}}}, {{name: y, talker: b, listeners: a, payload: 100 B, \
             traffic: {{type: response, to: x}}}}]"
        );
        let text = format!("{text}{streams}\nevents:\n{events}run: {{duration: 10 ms}}\n");
        let loaded = load_text("test.yaml", &text);
        assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
        loaded.diagnostics.len()
    };
    // Both are down at the start, the one a way none the less.
    let mended = "  - {at: 3 ms, mend-link: st}\n  - {at: 4 ms, mend-link: 'u:c'}\n";
    assert_eq!((warnings("false", mended), warnings("true", mended)), (0, 2));
    let again =
        "  - {at: 3 ms, cut-link: st}\n  - {at: 3 ms, mend-link: st}\n  - {at: 10 ms, cut-link: st}\n";
    assert_eq!((warnings("true", again), warnings("false", again)), (0, 1), "cut at the start");
    // Traffic begins anew.
    let starts =
        "  - {at: 3 ms, start-stream: x}\n  - {at: 4 ms, stop-stream: y}\n  - {at: 5 ms, start-stream: y}\n";
    assert_eq!(warnings("true", starts), 0);
    let node = "  - {at: 3 ms, stop-node: t}\n  - {at: 4 ms, start-node: t}\n  - {at: 5 ms, stop-node: t}\n";
    assert_eq!(warnings("true", node), 0);
}

#[test]
fn a_tree_shares_the_links_that_its_ways_share() {
    let network = ring(&format!("streams:\n  - {{name: x, talker: a, listeners: [b, c], {PERIODIC}}}\n"));
    assert_eq!(way(&network, "x"), ["a:p", "s:t", "t:b", "s:u", "u:c"]);
    let previous: Vec<_> = stream(&network, "x").hops.iter().map(|hop| hop.previous).collect();
    assert_eq!(previous, [None, Some(0), Some(1), Some(0), Some(3)]);
}

#[test]
fn flooding_keeps_to_the_spanning_tree() {
    let text = format!(
        "streams:\n  - {{name: x, talker: b, listeners: all, {PERIODIC}}}\n  - {{name: y, talker: b, listeners: c, route: learned, {PERIODIC}}}\n"
    );
    let network = ring(&text);
    // The tree grows from s, the first bridge: its links to t and u stay, that between them is cut.
    assert_eq!(network.vlans[0].active_cables, [0, 1, 2, 3, 5]);
    assert_eq!(way(&network, "x"), ["b:p", "t:s", "s:a", "s:u", "u:c"]);
    let x = stream(&network, "x");
    assert_eq!(x.destination, MacAddress::BROADCAST);
    assert_eq!(x.listeners.len(), 2);
    let y = stream(&network, "y");
    assert!(y.learned);
    assert_eq!(y.hops.len(), 5, "the VLAN flooded");
    assert_eq!(y.hops.iter().filter(|hop| hop.listener.is_some()).count(), 1);
    assert_eq!(y.destination, network.ports[2].address, "that of the listener's port");
}

#[test]
fn a_stated_topology_binds_every_stream() {
    let vlans = "vlans:\n  1: {active-topology: ['a:p', 'b:p', 'c:p', st, tu]}\n";
    let network = ring(&format!("{vlans}streams:\n  - {{name: x, talker: a, listeners: c, {PERIODIC}}}\n"));
    assert_eq!(way(&network, "x"), ["a:p", "s:t", "t:u", "u:c"]);
}

#[test]
fn members_tags_and_priorities_follow_the_vlan() {
    let text = "
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  s: {type: bridge, ports: {a: {}, t: {}}}
  t: {type: bridge, ports: {s: {pvid: 10, default-priority: 3, priority-regeneration: [0, 1, 2, 3, 4, 5, 6, 7]}, b: {}}, untagged-class: 5}
links:
  - {between: [a, 's:a']}
  - {between: ['s:t', 't:s']}
  - {between: ['t:b', b]}
vlans:
  10: {tagged: [s, t], untagged: 's:t'}
  20: {tagged: [s, 't:s', 't:b']}
streams:
  - {name: x, talker: a, listeners: b, vlan: 10, priority: 6, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
  - {name: y, talker: a, listeners: b, vlan: 20, priority: 6, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
";
    let network = network(text);
    let x = stream(&network, "x");
    assert_eq!(x.hops.iter().map(|hop| hop.tagged.vlan).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(x.hops.iter().map(|hop| hop.priority.number()).collect::<Vec<_>>(), [6, 6, 3]);
    assert_eq!(x.hops.iter().map(|hop| hop.class.number()).collect::<Vec<_>>(), [6, 6, 5]);
    let y = stream(&network, "y");
    assert_eq!(y.hops.iter().map(|hop| hop.class.number()).collect::<Vec<_>>(), [6, 6, 6]);
    assert_eq!(network.vlans.iter().map(|vlan| vlan.id.number()).collect::<Vec<_>>(), [1, 10, 20]);
}

/// Two talkers through one bridge port into an ATS class; priority 6 and 7 are both mapped to class 6.
fn shaped(device: &str) -> Network {
    let mut text = format!(
        "
vlans: {{1: {{tagged: all}}}}
devices:
  mine: {{{device}}}
defaults: {{rate: 100 Mbit/s, device: mine}}
nodes:
  a: {{type: end-station}}
  b: {{type: end-station}}
  s: {{type: bridge}}
  t: {{type: bridge, traffic-class-table: [0, 1, 2, 3, 4, 5, 6, 6], classes: {{6: {{transmission-selection: ats}}}}, max-residence-time: 1 ms}}
links:
  - {{between: [a, s]}}
  - {{between: [s, t]}}
  - {{between: [t, b]}}
streams:
"
    );
    for (name, priority) in [("x", 6), ("y", 7), ("z", 7)] {
        text += &format!(
            "  - {{name: {name}, talker: a, listeners: b, priority: {priority}, {PERIODIC}, shaper: {{committed-information-rate: 2 Mbit/s, committed-burst-size: 142 B}}}}\n"
        );
    }
    network(&text)
}

#[test]
fn groups_are_made_by_upstream_class_or_own_class() {
    let upstream = shaped("about: by the standard");
    assert_eq!(upstream.scheduler_groups.len(), 2, "classes 6 and 7 at the port before");
    assert_eq!(upstream.scheduler_groups[1].class, TrafficClass::new(7).expect("a class"));
    assert_eq!(upstream.scheduler_groups[0].max_residence_time, Some(Duration::from_ms(1)));
    let own = shaped("ats: {grouping: own-class}");
    assert_eq!(own.scheduler_groups.len(), 1);
    assert_eq!(own.schedulers.len(), 3);
    let reception = &own.ports[own.scheduler_groups[0].reception_port.index()];
    assert_eq!(own.nodes[reception.node.index()].name, "t");
}

#[test]
fn streams_beyond_the_schedulers_share_a_default_one() {
    let network = shaped("ats: {grouping: own-class, schedulers-per-group: 1}");
    assert_eq!(network.schedulers.len(), 2);
    let of = |name: &str| stream(&network, name).hops[2].scheduler.expect("a scheduler");
    assert_eq!((of("x").0, of("y").0, of("z").0), (1, 0, 0));
    assert_eq!(network.schedulers[0].committed_information_rate, BitRate::from_mbps(4));
    assert_eq!(network.schedulers[0].committed_burst_size, Bits::new(2 * 142 * 8));
}

#[test]
fn a_port_overrides_its_node_its_device_and_the_defaults_key_by_key() {
    let network = network(
        "
devices:
  mine:
    queue-limit: {frames: 7}
    classes: {6: {transmission-selection: credit-based, idle-slope: 10 Mbit/s}}
defaults: {rate: 100 Mbit/s, mtu: 1000 B, queue-limit: {frames: 9, octets: 9 kB}}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  s: {type: bridge, device: mine, ports: {one: {classes: {6: {idle-slope: 20 Mbit/s}}}, two: {mtu: 1200 B}}}
links:
  - {between: [a, 's:one']}
  - {between: ['s:two', b]}
",
    );
    let [a, _, one, two] = &network.ports[..] else { panic!("four ports") };
    assert_eq!((a.mtu, one.mtu, two.mtu), (Bytes::new(1_000), Bytes::new(1_000), Bytes::new(1_200)));
    assert_eq!((a.classes[0].limit_frames, one.classes[0].limit_frames), (9, 7));
    assert_eq!(one.classes[0].limit_octets, Bytes::new(9_000));
    let slope = |port: &tautwire_model::network::Port| match port.classes[6].selection {
        tautwire_model::network::TransmissionSelection::CreditBased { idle_slope } => Some(idle_slope),
        _ => None,
    };
    assert_eq!(slope(one), Some(BitRate::from_mbps(20)));
    assert_eq!(slope(two), Some(BitRate::from_mbps(10)));
    assert_eq!(slope(a), None);
}

#[test]
fn directions_of_a_cable_may_differ() {
    let network = network(
        "
nodes:
  a: {type: end-station}
  b: {type: end-station}
links:
  - {between: [a, b], rate: 10 Gbit/s, length: 200 m, phy-delay: 100 ns, bit-error-rate: 1e-12, backward: {phy-delay: {min: 1 us, max: 2 us}, bit-error-rate: 1e-9}}
",
    );
    let [forward, backward] = &network.links[..] else { panic!("two directions") };
    assert_eq!(forward.propagation, Duration::from_us(1));
    assert_eq!(
        (forward.phy_delay.min, forward.phy_delay.max),
        (Duration::from_ns(100), Duration::from_ns(100))
    );
    assert_eq!(
        (backward.phy_delay.min, backward.phy_delay.max),
        (Duration::from_us(1), Duration::from_us(2))
    );
    assert_eq!((forward.bit_error_rate, backward.bit_error_rate), (1_000_000, 1_000_000_000));
}

#[test]
fn a_promise_covers_the_full_timeline() {
    let network = ring(&format!(
        "streams:\n  - {{name: x, talker: a, listeners: c, {PERIODIC}}}\n  - {{name: y, talker: a, listeners: c, started: false, {PERIODIC}}}\nevents:\n  - {{at: 5 ms, change-traffic: {{stream: x, traffic: {{type: periodic, interval: 500 us}}}}}}\n  - {{at: 2 ms, start-stream: y}}\n  - {{at: 3 ms, stop-stream: y}}\n  - {{at: 4 ms, start-stream: y}}\n  - {{at: 4 ms, cut-link: st}}\n  - {{at: 6 ms, mend-link: 's:t'}}\n"
    ));
    let times: Vec<u64> = network.events.iter().map(|event| event.at.as_ps() / 1_000_000_000).collect();
    assert_eq!(times, [2, 3, 4, 4, 5, 6]);
    assert_eq!(network.events[3].action, TimelineAction::CutCable(3));
    assert_eq!(network.events[5].action, TimelineAction::MendCable(3));
    let frame = Bits::new((100 + 22 + 20) * 8);
    let x = stream(&network, "x").arrival.expect("a promise");
    assert_eq!((x.rate, x.burst), (BitRate::from_bps(frame.get() * 2_000), frame * 2));
    let y = stream(&network, "y").arrival.expect("a promise");
    assert_eq!((y.rate, y.burst), (BitRate::from_bps(frame.get() * 1_000), frame * 2), "it starts twice");
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

#[test]
fn a_table_gives_the_same_as_the_description() {
    let table = "name,talker,listeners,priority,payload,traffic.type,traffic.interval,shaper.committed-information-rate,shaper.committed-burst-size\n\
                 # a comment\n\
                 x,a,b c,6,100 B,periodic,1 ms,,\n\
                 \"y\",b,c,,\"1400 B\",periodic,\"2 ms\",10 Mbit/s,2 kB\n";
    std::fs::write(folder().join("streams.csv"), table).expect("a file");
    std::fs::write(folder().join("table.yaml"), format!("{RING}stream-tables: [streams.csv]\n"))
        .expect("a file");
    let of_table = load(&folder().join("table.yaml")).expect("a file");
    assert_eq!(of_table.sources.len(), 2);
    let of_table = of_table.network.expect("a network");
    let listed = ring(
        "name: table\nstreams:\n  - {name: x, talker: a, listeners: [b, c], priority: 6, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}\n  - {name: y, talker: b, listeners: c, payload: 1400 B, traffic: {type: periodic, interval: 2 ms}, shaper: {committed-information-rate: 10 Mbit/s, committed-burst-size: 2 kB}}\n",
    );
    assert_eq!(of_table, listed);
}

#[test]
fn captures_are_replayed_as_mac_client_data_since_the_first_frame() {
    // A pcap by hand: microseconds, little endian, two frames of 60 and 118 octets, the second tagged.
    let mut pcap: Vec<u8> = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        pcap.extend(word.to_le_bytes());
    }
    for (seconds, micros, length, kind) in
        [(1_000_000, 5, 60, [0x08, 0x00]), (1_000_000, 905, 118, [0x81, 0x00])]
    {
        for word in [seconds, micros, 14_u32, length] {
            pcap.extend(word.to_le_bytes());
        }
        pcap.extend([0; 12]);
        pcap.extend(kind);
    }
    std::fs::write(folder().join("trace.pcap"), pcap).expect("a file");
    let text = format!(
        "{RING}streams:\n  - {{name: x, talker: a, listeners: b, traffic: {{type: replay, file: trace.pcap}}}}\n"
    );
    std::fs::write(folder().join("replay.yaml"), text).expect("a file");
    let loaded = load(&folder().join("replay.yaml")).expect("a file");
    let network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let x = stream(&network, "x");
    let frames = vec![(Duration::ZERO, Bytes::new(46)), (Duration::from_us(900), Bytes::new(100))];
    assert_eq!(x.traffic, Traffic::Replay { frames });
    assert_eq!((x.payload_min, x.payload_max), (Bytes::new(46), Bytes::new(100)));
}

#[test]
fn the_last_frame_of_a_file_is_its_smallest() {
    let sizes = |traffic: &str, events: &str| {
        let network = ring(&format!(
            "streams:\n  - {{name: x, talker: a, listeners: b, payload: 1000 B, traffic: {{{traffic}}}}}\n{events}"
        ));
        let x = stream(&network, "x").clone();
        (x.payload_min.get(), x.payload_max.get(), x.drawn() == (Bytes::new(1_000), Bytes::new(1_000)))
    };
    assert_eq!(sizes("type: file, octets: 10050 B", ""), (50, 1_000, true));
    assert_eq!(sizes("type: file, octets: 10 kB", ""), (1_000, 1_000, true));
    assert_eq!(sizes("type: file, octets: 7 B", ""), (7, 1_000, true));
    let event =
        "events:\n  - {at: 5 ms, change-traffic: {stream: x, traffic: {type: file, octets: 2300 B}}}\n";
    assert_eq!(sizes("type: periodic, interval: 1 ms", event), (300, 1_000, true));
}

#[test]
fn a_stream_has_the_sizes_of_all_traffic_that_it_ever_has() {
    std::fs::write(folder().join("sizes.csv"), "time,payload\n0 us,46 B\n500 us,1400 B\n").expect("a file");
    let of = |stream_key: &str, event: &str| {
        let text = format!(
            "{RING}streams:\n  - {{name: x, talker: a, listeners: b, {stream_key}}}\nevents:\n  - {{at: 5 ms, \
             change-traffic: {{stream: x, traffic: {{{event}}}}}}}\n"
        );
        std::fs::write(folder().join("sizes.yaml"), text).expect("a file");
        let loaded = load(&folder().join("sizes.yaml")).expect("a file");
        let network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
        let x = stream(&network, "x").clone();
        [(x.payload_min, x.payload_max), x.drawn()].map(|(min, max)| (min.get(), max.get()))
    };
    let (periodic, replay) = ("type: periodic, interval: 1 ms", "type: replay, file: sizes.csv");
    let stated = |traffic: &str| format!("payload: 128 B, traffic: {{{traffic}}}");
    assert_eq!(of(&stated(periodic), replay), [(46, 1_400), (128, 128)]);
    assert_eq!(of(&stated(replay), periodic), [(46, 1_400), (128, 128)]);
    assert_eq!(of(&format!("traffic: {{{replay}}}"), periodic), [(46, 1_400), (46, 1_400)], "none is stated");
}

#[test]
fn a_merge_of_anchors_is_read_in_place() {
    let text = RING
        .replace("a: {type: end-station}", "a: &station {type: end-station}")
        .replace("b: {type: end-station}", "b: *station");
    assert_eq!(network(&text), network(RING));
}

#[test]
fn rates_of_schedulers_rise_by_the_step() {
    let mut text =
        RING.replace("{rate: 100 Mbit/s}", "{rate: 100 Mbit/s, classes: {6: {transmission-selection: ats}}}");
    text += "vlans: {1: {tagged: all}}\nstreams:\n  - {name: x, talker: a, listeners: c, route: [s, t, u], priority: 6, payload: 100 B, traffic: {type: periodic, interval: 1 ms}, shaper: {committed-information-rate: 2 Mbit/s, committed-burst-size: 142 B, rate-step: 500 ppm}}\n";
    let network = network(&text);
    let rates: Vec<u64> = stream(&network, "x")
        .hops
        .iter()
        .filter_map(|hop| {
            Some(network.schedulers[hop.scheduler?.index()].committed_information_rate.as_bps())
        })
        .collect();
    assert_eq!(rates, [2_000_000, 2_001_000, 2_002_001]);
}

#[test]
fn a_flooded_frame_leaves_its_talker_once_and_enters_every_port() {
    let more = "  - {between: ['a:q', 't:a']}\n  - {between: ['c:q', 's:c']}\n";
    let text = format!("{RING}{more}streams:\n  - {{name: x, talker: a, listeners: all, {PERIODIC}}}\n");
    let network = network(&text);
    let mut way = way(&network, "x");
    way.sort();
    assert_eq!(way, ["a:p", "s:c", "s:t", "s:u", "t:a", "t:b", "u:c"]);
    let x = stream(&network, "x");
    assert_eq!(x.listeners.len(), 2);
    assert_eq!(x.hops.iter().filter(|hop| hop.previous.is_none()).count(), 1);
}

/// Further streams come after those of the description, or replace one of the same name.
#[test]
fn further_streams_are_read_as_its_own() {
    let text = "
nodes: {a: {type: end-station}, b: {type: end-station}}
links: [{between: [a, b], rate: 1 Gbit/s}]
streams:
  - {name: x, talker: a, listeners: b, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
  - {name: y, talker: a, listeners: b, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
";
    let stream = |name: &str, payload: &str| {
        format!(
            r#"{{"name": "{name}", "talker": "b", "listeners": "a", "payload": "{payload}",
            "traffic": {{"type": "periodic", "interval": "2 ms"}}}}"#
        )
    };
    let more = format!("[{}, {}]", stream("x", "300 B"), stream("z", "200 B"));
    let loaded = tautwire_model::Grammar::kernel().load_text_with_streams("net.yaml", text, &more);
    let streams = loaded.network.expect("no errors").streams.clone();
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    assert_eq!(names, ["y", "x", "z"]);
    assert_eq!(streams[1].payload_max.get(), 300);
    let wrong = tautwire_model::Grammar::kernel().load_text_with_streams(
        "net.yaml",
        text,
        &format!("[{}]", stream("z", "200")),
    );
    assert_eq!(wrong.diagnostics[0].source, 1, "the fault stands in the further streams");
    assert!(wrong.network.is_none());
    let none = tautwire_model::Grammar::kernel().load_text_with_streams("net.yaml", text, "{}");
    assert!(none.network.is_none(), "not a list");
}

/// The check counts the frames of a cycle by the offsets of their talkers, those that state none too: no search may choose others.
#[test]
fn talkers_of_cycles_keep_the_offsets_that_are_checked() {
    let text = "
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
cyclic-queuing-and-forwarding: {cycle-time: 500 us, priorities: [5, 6], dead-time: 50 us}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [s, b]}]
streams:
  - {name: cyclic, talker: a, listeners: b, priority: 6, payload: 100 B, traffic: {type: periodic, interval: 500 us}}
  - {name: other, talker: a, listeners: b, priority: 1, payload: 100 B, traffic: {type: periodic, interval: 500 us}}
";
    let network = network(text);
    assert!(!stream(&network, "cyclic").open_phase);
    assert!(stream(&network, "other").open_phase);
}
