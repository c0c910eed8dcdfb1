//! Compares the models of `devices/` with their sources' figures.

use std::path::PathBuf;

use tautwire_model::network::{
    AtsOrganisation, Delay, DeviceModel, Distribution, Grouping, SelectionAlgorithm, StagePosition,
};
use tautwire_model::{Network, load_text};
use tautwire_units::{Bytes, Duration};

fn network(device: &str) -> Network {
    let text = format!(
        "nodes:\n  a: {{type: end-station}}\n  b: {{type: end-station}}\n  s: {{type: bridge, device: {device}}}\n\
         links:\n  - {{between: [a, s], rate: 1 Gbit/s}}\n  - {{between: [s, b], rate: 1 Gbit/s}}\n"
    );
    let loaded = load_text("device.yaml", &text);
    assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
    loaded.network.expect("a network")
}

fn fixed(delay: &Delay, frame: Bytes) -> Duration {
    assert_eq!(delay.random, Distribution::Zero);
    delay.constant + delay.per_octet * frame.get() - delay.less
}

/// The sum of the stages of a position that a frame of a class passes.
fn sum(
    device: &DeviceModel,
    position: StagePosition,
    mechanism: SelectionAlgorithm,
    frame: Bytes,
) -> Duration {
    device
        .stages
        .iter()
        .filter(|stage| stage.position == position)
        .filter(|stage| stage.only_for.is_none_or(|only| only == mechanism))
        .map(|stage| fixed(&stage.latency, frame))
        .sum()
}

/// The printed totals of a table: payload and nanoseconds.
fn printed(table: &str) -> Vec<(u64, u64)> {
    let path = PathBuf::from("../../papers/ats-fpga-switch/data").join(table);
    let text = std::fs::read_to_string(path).expect("a table");
    let columns: Vec<&str> = text.lines().next().expect("a heading").split(',').collect();
    let column = |name: &str| columns.iter().position(|column| *column == name).expect("a column");
    let (payload, total) = (column("payload_bytes"), column("total_ns"));
    text.lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| (cells[payload].parse().expect("octets"), cells[total].parse().expect("nanoseconds")))
        .collect()
}

#[test]
fn the_fpga_switch_has_its_printed_latencies() {
    let network = network("aist-ats-fpga");
    let device = &network.devices[0];
    assert_eq!(device.ats.organisation, AtsOrganisation::InterleavedRegulators);
    assert_eq!(device.ats.grouping, Grouping::OwnClass);
    let mut rows = 0;
    for (table, mechanism, processing_delay_max) in [
        ("table2_ats_pmd0.csv", SelectionAlgorithm::Ats, Duration::ZERO),
        ("table3_strict_priority.csv", SelectionAlgorithm::StrictPriority, Duration::ZERO),
        ("table4_ats_pmd50.csv", SelectionAlgorithm::Ats, device.ats.processing_delay_max),
    ] {
        for (payload, total) in printed(table) {
            // The printed payload is the frame without its FCS.
            let frame = Bytes::new(payload + 4);
            let of = |position| sum(device, position, mechanism, frame);
            let wire = Duration::from_ns(8 * (frame.get() + 8));
            let processing = of(StagePosition::Processing).max(processing_delay_max);
            let latency = wire + of(StagePosition::Reception) + processing + of(StagePosition::Transmission);
            assert_eq!(latency, Duration::from_ns(total), "{table}, payload {payload}");
            rows += 1;
        }
    }
    assert_eq!(rows, 27);
}

#[test]
fn processing_delay_max_covers_the_processing_of_the_models_of_no_make() {
    for name in ["store-and-forward", "cut-through"] {
        let network = network(name);
        let device = &network.devices[0];
        let most: Duration = device
            .stages
            .iter()
            .map(|stage| match stage.latency.random {
                Distribution::Uniform { max, .. } => max,
                _ => panic!("{name}: a uniform stage"),
            })
            .sum();
        // With room for a clock that is off by a percent: the delay is counted on the bridge's own.
        assert!(device.ats.processing_delay_max >= most.stretched_ceil(10_000_000), "{name}");
    }
}

#[test]
fn the_ideal_bridge_takes_no_time_and_charges_the_wire() {
    let network = network("ideal");
    assert!(network.devices[0].stages.is_empty());
    assert_eq!(network.devices[0].ats.charged_overhead, Bytes::MEDIA_OVERHEAD);
}

/// Nanoseconds of the least `processing-delay-max` of which no warning is given, with frames of 122 octets to a class of ATS.
fn processing_delay_needed(occupancy: &str, other: &str) -> u64 {
    let is_doubted = |ns: u64| {
        let text = format!(
            "devices:\n  d:\n    stages: [{{name: forwarding, position: processing, latency: 4 us, occupancy: {occupancy}}}]\n    \
             ats: {{processing-delay-max: {ns} ns}}\n\
             defaults: {{device: d, rate: 100 Mbit/s, classes: {{6: {{transmission-selection: ats}}}}}}\n\
             nodes: {{a: {{type: end-station}}, b: {{type: end-station}}, c: {{type: end-station}}, s: {{type: bridge}}}}\n\
             vlans: {{1: {{tagged: all}}}}\nlinks: [{{between: [a, s]}}, {{between: [b, s]}}, {{between: [c, s]}}]\nstreams:\n  \
             - {{name: x, talker: a, listeners: b, priority: 6, payload: 100 B, traffic: {{type: periodic, interval: 1 ms}}, shaper: {{committed-information-rate: 2 Mbit/s, committed-burst-size: 142 B}}}}\n{other}"
        );
        let loaded = load_text("device.yaml", &text);
        assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
        loaded.diagnostics.iter().any(|fault| fault.code == "shaper::processing-delay")
    };
    let (mut too_few, mut enough) = (0, 1_000_000);
    while enough - too_few > 1 {
        let middle = u64::midpoint(too_few, enough);
        if is_doubted(middle) { too_few = middle } else { enough = middle }
    }
    enough
}

/// A frame of 1522 octets takes 123.36 us of the line, and the one behind it 11.36 us.
#[test]
fn frames_wait_for_stages_that_others_of_their_port_occupy() {
    let other = |talker: &str| {
        format!(
            "  - {{name: y, talker: {talker}, listeners: c, priority: 0, payload: 1500 B, traffic: {{type: periodic, interval: 1 ms}}}}\n"
        )
    };
    let by_length = "{constant: 1 us, per-octet: 58 ns}";
    assert_eq!(processing_delay_needed("0 s", &other("a")), 4_000);
    assert_eq!(processing_delay_needed(by_length, ""), 4_000, "no other frame comes");
    assert_eq!(processing_delay_needed(by_length, &other("b")), 4_000, "it comes by another port");
    assert_eq!(processing_delay_needed(by_length, &other("a")), 4_000 + 1_000 + 58 * 1_522 - 11_360);
    // Slower than the line: what comes before the frame before counts, too.
    assert_eq!(processing_delay_needed("200 us", &other("a")), 4_000 + 200_000 - 11_360);
    let burst = other("a").replace("interval: 1 ms", "interval: 1 ms, burst: 3");
    assert_eq!(processing_delay_needed("200 us", &burst), 4_000 + 3 * 200_000 - 2 * 123_360 - 11_360);
}
