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
