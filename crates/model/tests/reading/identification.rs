//! Stream identification: which frames find which ATS scheduler, by real headers.

use tautwire_model::network::{IdentificationFunction, Network};
use tautwire_model::{Severity, load_text};
use tautwire_units::{BitRate, Bits};

/// Two talkers behind one bridge, whose streams come together to the next, with ATS there.
fn described(device: &str, streams: &str) -> String {
    let mut text = format!(
        "
devices: {{looking: {{ats: {{{device}}}}}}}
vlans: {{1: {{tagged: all}}}}
defaults: {{rate: 100 Mbit/s}}
nodes:
  a: {{type: end-station}}
  b: {{type: end-station}}
  s: {{type: bridge}}
  t: {{type: bridge, device: looking, classes: {{6: {{transmission-selection: ats}}}}, traffic-class-table: identity}}
  x: {{type: end-station}}
  y: {{type: end-station}}
links:
  - {{between: [a, s]}}
  - {{between: [b, s]}}
  - {{between: [s, t]}}
  - {{between: [t, x]}}
  - {{between: [t, y]}}
streams:
"
    );
    for (number, stream) in streams.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        text += &format!(
            "  - {{name: s{number}, priority: 6, payload: 100 B, traffic: {{type: periodic, interval: 1 ms}}, shaper: {{committed-information-rate: 2 Mbit/s, committed-burst-size: 142 B}}, {stream}}}\n"
        );
    }
    text
}

/// The network, and its warnings.
fn network(device: &str, streams: &str) -> (Network, Vec<&'static str>) {
    let text = described(device, streams);
    let loaded = load_text("test", &text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    let warnings = loaded.diagnostics.iter().filter(|fault| fault.severity == Severity::Warning);
    let codes = warnings.map(|fault| fault.code).collect();
    (loaded.network.expect("no errors"), codes)
}

/// Per stream, the scheduler before the last port.
fn schedulers(network: &Network) -> Vec<u32> {
    let last = |stream: &tautwire_model::network::Stream| {
        stream.hops.iter().filter_map(|hop| hop.scheduler).next_back().expect("a scheduler").0
    };
    network.streams.iter().map(last).collect()
}

const THREE: &str = "
    talker: a, listeners: x
    talker: b, listeners: x
    talker: b, listeners: y";

#[test]
fn without_a_function_all_streams_are_distinguished() {
    let (network, warnings) = network("stream-identification: []", THREE);
    assert_eq!(schedulers(&network), [0, 1, 2]);
    assert_eq!(warnings.len(), 0);
}

#[test]
fn null_looks_at_the_destination() {
    let (network, warnings) = network("stream-identification: [null-stream-identification]", THREE);
    assert_eq!(schedulers(&network), [0, 0, 1]);
    assert_eq!(warnings, ["shaper::shared-filter"]);
    assert_eq!(network.schedulers[0].committed_information_rate, BitRate::from_mbps(4));
    assert_eq!(network.schedulers[0].committed_burst_size, Bits::new(2 * 142 * 8));
    assert_eq!(
        network.devices.last().expect("two").stream_identification,
        [IdentificationFunction::NullStream]
    );
}

#[test]
fn null_looks_at_the_vlan() {
    let streams = "
        talker: a, listeners: x, vlan: 5
        talker: b, listeners: x, vlan: 6
        talker: b, listeners: x, vlan: 6, identification: {type: null-stream-identification, vlan: any}";
    let (network, _) = network("stream-identification: [null-stream-identification]", streams);
    assert_eq!(schedulers(&network), [0, 1, 1], "the first filter that matches");
    let streams = streams.replace(
        "talker: a, listeners: x, vlan: 5",
        "talker: a, listeners: x, vlan: 5, identification: {type: null-stream-identification, vlan: any}",
    );
    let (network, _) = self::network("stream-identification: [null-stream-identification]", &streams);
    assert_eq!(schedulers(&network), [0, 0, 0], "a filter that is wider and stands first takes all");
}

#[test]
fn source_looks_at_the_talker() {
    let (network, _) = network("stream-identification: [smac-vlan-stream-identification]", THREE);
    assert_eq!(schedulers(&network), [0, 1, 1]);
}

fn udp(port: u16) -> String {
    format!("udp: {{source: 10.0.0.1, destination: 10.0.0.2, source-port: 5000, destination-port: {port}}}")
}

#[test]
fn ip_looks_at_addresses_and_ports() {
    let streams = format!(
        "
        talker: a, listeners: x, {}
        talker: a, listeners: x, {}
        talker: a, listeners: x, {}
        talker: b, listeners: x, {}
        talker: b, listeners: y",
        udp(1),
        udp(2),
        udp(1),
        udp(1)
            + ", identification: {type: ip-stream-identification, fields: [ip-destination, next-protocol]}"
    );
    let (network, warnings) = network("stream-identification: [ip-stream-identification]", &streams);
    // The default scheduler, of the stream without IPv4, comes first.
    assert_eq!(schedulers(&network), [1, 2, 1, 1, 0]);
    assert_eq!(warnings, ["shaper::shared-filter"; 3]);
    // The first filter of the fourth stream's kind takes all that has IPv4.
    let mut lines: Vec<&str> = streams.lines().collect();
    let wide = lines.remove(4);
    lines.insert(1, wide);
    let (network, _) = self::network("stream-identification: [ip-stream-identification]", &lines.join("\n"));
    assert_eq!(schedulers(&network), [1, 1, 1, 1, 0]);
}

#[test]
fn masks_look_at_what_they_mask() {
    let mask =
        "identification: {type: mask-and-match-stream-identification, source-mac-mask: 'ff:ff:ff:ff:ff:ff'";
    let port = "msdu-mask: 'ffff0000000000000000000000000000000000000000000000ff'";
    let streams = format!(
        "
        talker: a, listeners: x, {}, {mask}, {port}}}
        talker: a, listeners: x, {}, {mask}, {port}}}
        talker: b, listeners: x, {}, {mask}, {port}}}
        talker: a, listeners: y, {mask}}}",
        udp(1),
        udp(2),
        udp(1),
    );
    let (network, warnings) = network("time-quantum: 1 ns", &streams);
    assert_eq!(schedulers(&network), [0, 1, 2, 3]);
    assert_eq!(warnings.len(), 0);
}

#[test]
fn filters_beyond_the_device_are_left_out() {
    let device = "stream-identification: [smac-vlan-stream-identification], schedulers-per-group: 1";
    let (network, warnings) = network(device, THREE);
    assert_eq!(schedulers(&network), [1, 0, 0]);
    assert_eq!(warnings, ["shaper::schedulers"]);
}

#[test]
fn frames_without_a_tag_match_by_their_address_alone() {
    let streams = "
        talker: a, listeners: x, tagged: false
        talker: b, listeners: x, tagged: false";
    let text = described("stream-identification: [null-stream-identification]", streams)
        .replace("vlans: {1: {tagged: all}}\n", "")
        .replace("defaults: {", "defaults: {default-priority: 6, ");
    let loaded = load_text("test", &text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    assert_eq!(schedulers(&loaded.network.expect("no errors")), [0, 0]);
}

#[test]
fn pairs_of_ports_have_clock_rates_of_their_own() {
    let pairs = "clock-rate-deviation-max: 10 ppm, scheduler-timing-characteristics: [{reception-port: 1, transmission-port: 2, clock-rate-deviation-max: 30 ppm}, {reception-port: 1, transmission-port: 3, clock-rate-deviation-max: 1 ppm}]";
    let streams = "
        talker: a, listeners: x
        talker: b, listeners: y
        talker: b, listeners: [x, y]";
    let (network, _) = network(pairs, streams);
    let of = |number: usize| {
        let scheduler = &network.schedulers[number];
        (network.port_number(scheduler.transmission_port), scheduler.clock_rate_deviation_max_ppb)
    };
    assert_eq!(
        [of(0), of(1), of(2)],
        [(1, 30_000), (2, 1_000), (1, 30_000)],
        "of several pairs the greatest"
    );
    let (network, _) = self::network("clock-rate-deviation-max: 10 ppm", streams);
    assert!(network.schedulers.iter().all(|scheduler| scheduler.clock_rate_deviation_max_ppb == 10_000));
}

/// Two paths from s1 to s4; these keys at the copied stream, this encapsulation, and this is at the bridge behind s4.
fn copied(keys: &str, encapsulation: &str, behind: &str) -> tautwire_model::Loaded {
    let text = format!(
        "vlans: {{1: {{tagged: all}}}}
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
devices: {{looking: {{ats: {{stream-identification: [ip-stream-identification, null-stream-identification]}}}}}}
nodes:
  a: {{type: end-station}}
  b: {{type: end-station}}
  s1: {{type: bridge, device: looking}}
  s2: {{type: bridge}}
  s3: {{type: bridge}}
  s4: {{type: bridge}}
  s5: {{type: bridge{behind}}}
links: [{{between: [a, s1]}}, {{between: [s1, s2]}}, {{between: [s2, s4]}}, {{between: [s1, s3]}}, {{between: [s3, s4]}}, {{between: [s4, s5]}}, {{between: [s5, b]}}]
streams:
  - name: copied
    talker: a
    listeners: b
    payload: 100 B
    udp: {{source: 10.0.0.1, destination: 10.0.0.2, source-port: 5000, destination-port: 5001}}
    traffic: {{type: periodic, interval: 1 ms}}
    identification: {keys}
    frer:
      encapsulation: {encapsulation}
      sequence-recovery: [{{reset-timeout: 10 ms, history-length: 8}}]
  - name: plain
    talker: a
    listeners: b
    payload: 100 B
    udp: {{source: 10.0.0.1, destination: 10.0.0.2, source-port: 5000, destination-port: 5002}}
    traffic: {{type: periodic, interval: 1 ms}}
"
    );
    load_text("copied.yaml", &text)
}

/// Codes of the faults.
fn codes(loaded: &tautwire_model::Loaded) -> Vec<&'static str> {
    loaded.diagnostics.iter().map(|fault| fault.code).collect()
}

#[test]
fn a_sequence_tag_hides_the_headers_behind_it() {
    let ip = "{type: ip-stream-identification}";
    for tag in ["r-tag", "hsr-sequence-tag"] {
        assert_eq!(codes(&copied(ip, tag, "")), ["stream::identification"], "{tag}");
    }
    // A trailer is behind them.
    assert_eq!(codes(&copied(ip, "prp-sequence-tag", "")), [""; 0]);
    // A second function, which s4 uses; by the address alone it would take the other stream's frames, too.
    let by_address = format!("[{ip}, {{type: null-stream-identification}}]");
    assert_eq!(codes(&copied(&by_address, "r-tag", "")), ["frer::impossible"]);
    // The EtherType of the R-TAG, or that of HSR.
    let by_mask = format!("[{ip}, {{type: mask-and-match-stream-identification, msdu-mask: 'ffff'}}]");
    for tag in ["r-tag", "hsr-sequence-tag"] {
        assert_eq!(codes(&copied(&by_mask, tag, "")), [""; 0], "{tag}");
    }
    // A sequence number is not the same in all frames.
    let by_number = "{type: mask-and-match-stream-identification, msdu-mask: 'ffff0000ffff'}";
    assert_eq!(codes(&copied(by_number, "r-tag", "")), ["stream::identification"]);
}

#[test]
fn functions_of_802_1cb_look_at_the_wire_and_filters_behind_them() {
    use tautwire_core::identification::StreamIdentification;
    use tautwire_model::network::{Identified, Layer};
    let both =
        "[{type: ip-stream-identification}, {type: mask-and-match-stream-identification, msdu-mask: 'ffff'}]";
    let filters = ", stream-filters: {stream-filter-instance-table: {0: {stream-handle: copied, max-sdu-size: 2000 B}}}";
    let loaded = copied(both, "r-tag", filters);
    assert_eq!(codes(&loaded), [""; 0]);
    let network = loaded.network.expect("no errors");
    let functions: Vec<(String, Layer, Vec<bool>)> = network
        .identities
        .iter()
        .map(|of| {
            let node = &network.nodes[network.ports[of.port.index()].node.index()].name;
            let is_ip = |row: &tautwire_model::network::Identity| {
                matches!(row.function, Some(StreamIdentification::Ip { .. }))
            };
            (node.clone(), of.layer, of.list.iter().map(is_ip).collect())
        })
        .collect();
    let expected = [
        // The bridge that numbers frames, whose device has functions for all streams.
        ("s1", Layer::Wire, vec![true, true]),
        // Behind an R-TAG, on both paths; s4 knows the other stream without a function.
        ("s4", Layer::Wire, vec![false]),
        ("s4", Layer::Wire, vec![false, false]),
        // Frames have no tag there.
        ("s5", Layer::Relay, vec![true, false]),
    ];
    let expected = expected.map(|(node, layer, is_ip)| (node.to_owned(), layer, is_ip));
    let mut found = functions;
    found.sort_by(|a, b| (&a.0, a.2.len()).cmp(&(&b.0, b.2.len())));
    assert_eq!(found, expected);
    assert!(
        network.streams.iter().flat_map(|stream| &stream.hops).all(|hop| hop.identified == Identified::Own)
    );
}

#[test]
fn filters_take_frames_for_those_of_the_stream_that_they_match_first() {
    let text = described("time-quantum: 1 ns", &format!(
        "talker: a, listeners: x, {}, identification: {{type: ip-stream-identification, fields: [ip-destination]}}
         talker: b, listeners: x, {}
         talker: b, listeners: y",
        udp(1), udp(2)
    ))
    .replace("classes: {6: {transmission-selection: ats}}", "stream-filters: {stream-filter-instance-table: {0: {stream-handle: s0, stream-gate-ref: 1}, 1: {stream-handle: s1}}}, stream-gates: {stream-gate-instance-table: {1: {admin-ipv: 3}}}");
    let loaded = load_text("test", &text);
    // The row of s1 takes nothing.
    assert_eq!(codes(&loaded), ["form::no-effect", "shaper::shared-filter"], "{:#?}", loaded.diagnostics);
    let network = loaded.network.expect("no errors");
    let last = |stream: usize| network.streams[stream].hops.last().expect("hops").class.number();
    assert_eq!([last(0), last(1), last(2)], [3, 3, 6], "the internal priority of the gate of s0");
    // Without s0 its function is still there.
    let other = network.with_only(&[tautwire_model::network::StreamIndex(1)]);
    let hop = &other.streams[0].hops[1];
    let (filters, found) = other
        .filter_behind(tautwire_model::network::StreamIndex(0), &other.streams[0], hop)
        .expect("a filter");
    assert_eq!(filters.filters[found].id, 0);
}

#[test]
fn ports_are_in_the_first_fragment_alone() {
    let streams = "
        talker: a, listeners: x, udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 5000, destination-port: 1}, datagram: 3000 B, identification: {type: ip-stream-identification}";
    let text = described("time-quantum: 1 ns", streams)
        .replace("payload: 100 B, ", "")
        .replace("2 Mbit/s, committed-burst-size: 142 B", "40 Mbit/s, committed-burst-size: 1600 B");
    let loaded = load_text("test", &text);
    assert!(codes(&loaded).contains(&"stream::identification"), "{:#?}", loaded.diagnostics);
    let text = text.replace(
        "type: ip-stream-identification",
        "type: ip-stream-identification, fields: [ip-source, dscp]",
    );
    let loaded = load_text("test", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
}
