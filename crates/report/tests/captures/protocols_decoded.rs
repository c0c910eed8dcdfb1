//! The control protocols of a written capture, as Wireshark reads them: nothing malformed, and the values that the run had.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use tautwire_model::Network;
use tautwire_report::TraceRecorder;
use tautwire_sim::{Observation, Options, run_with};
use tautwire_units::Duration;

const SCENARIO: &str = include_str!("../../../../scenarios/stream-reservation.yaml");

/// What tshark prints of a capture with these arguments, one line a frame.
fn tshark(capture: &Path, arguments: &[&str]) -> Vec<String> {
    let output = Command::new("tshark").arg("-r").arg(capture).arg("-n").args(arguments).output();
    let output = output.expect("tshark runs: `tools/setup tshark` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// The values of a field in the frames of a filter.
fn field(capture: &Path, filter: &str, field: &str) -> Vec<String> {
    tshark(capture, &["-Y", filter, "-T", "fields", "-e", field])
}

fn captured() -> (Network, Observation, std::path::PathBuf) {
    // Few frames of data: the protocols are looked at.
    let scenario = SCENARIO
        .replace("interval: 125 us}", "interval: 50 ms}")
        .replace("interval: 250 us}", "interval: 50 ms}");
    let text = format!("{scenario}gptp: {{nodes: {{N1: {{priority1: 100}}}}}}\n");
    let loaded = tautwire_model::load_text("decoded.yaml", &text);
    let network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("protocols-{}.pcapng", std::process::id()));
    let file = File::create(&path).expect("a scratch file");
    let mut recorder = TraceRecorder::new(&network, None, Some(file)).expect("begun");
    let options = &mut Options { duration: Some(Duration::from_ms(2_500)), ..Options::default() };
    let seen = run_with(&network, options, &mut recorder);
    recorder.finish().expect("written");
    (network, seen, path)
}

#[test]
fn gptp_and_msrp_of_a_run_are_decoded_with_their_values_and_none_is_malformed() {
    let (network, seen, capture) = captured();
    let complaints = tshark(
        &capture,
        &["-Y", "(_ws.malformed || _ws.expert) && (mrp-msrp || ptp)", "-T", "fields", "-e", "frame.number"],
    );
    assert_eq!(complaints, [""; 0]);
    let count = |prefix: &str| -> u64 {
        let streams = network.streams.iter().zip(&seen.streams);
        streams.filter(|(stream, _)| stream.name.starts_with(prefix)).map(|(_, seen)| seen.created).sum()
    };
    assert_eq!(tshark(&capture, &["-Y", "mrp-msrp"]).len() as u64, count("msrp:"));
    assert_eq!(tshark(&capture, &["-Y", "ptp"]).len() as u64, count("gptp:"));
    // The offers of camera and audio, as their talkers send them.
    let reservation = network.srp.as_ref().expect("stream reservation");
    for reserved in &reservation.streams[..2] {
        let source = &network.streams[reserved.stream.index()].source;
        let filter = format!("mrp-msrp.attribute_type == 1 && eth.src == {source}");
        let frames = field(&capture, &filter, "mrp-msrp.tspec_max_frame_size");
        let size = reserved.talker.frame_size_max.to_string();
        assert!(frames.iter().any(|sizes| sizes.split(',').any(|found| found == size)), "{frames:?}");
        let addresses = field(&capture, &filter, "mrp-msrp.stream_da");
        let destination = reserved.talker.destination.to_string();
        assert!(addresses.iter().any(|all| all.contains(&destination)), "{addresses:?}, not {destination}");
    }
    // Listener ready is 2 of the four-packed events; every bridge passed it on.
    let ready = field(&capture, "mrp-msrp.attribute_type == 3", "mrp-msrp.four_packed_event");
    assert!(
        ready.iter().filter(|events| events.split(',').any(|event| event == "2")).count() >= 4,
        "{ready:?}"
    );
    // All announce the clock of N1 in the end, and follow-ups hold its rate.
    let identity = field(&capture, "ptp.v2.messagetype == 0xb", "ptp.v2.an.grandmasterclockidentity");
    let bytes = network.gptp_identity(network.streams[0].talker).0;
    let expected = format!("0x{}", bytes.map(|octet| format!("{octet:02x}")).concat());
    assert_eq!(identity.last(), Some(&expected), "{identity:?}");
    for message in ["0x0", "0x2", "0x3", "0x8", "0xa", "0xb"] {
        let filter = format!("ptp.v2.messagetype == {message}");
        assert!(!tshark(&capture, &["-Y", &filter]).is_empty(), "{message}");
    }
    std::fs::remove_file(&capture).expect("ours");
}

#[test]
fn mvrp_of_a_run_is_decoded_with_its_vlan_and_events() {
    let scenario = include_str!("../../../../scenarios/vlan-registration.yaml")
        .replace("interval: 250 us}", "interval: 50 ms}")
        .replace("interval: 500 us}", "interval: 50 ms}");
    let loaded = tautwire_model::load_text("decoded.yaml", &scenario);
    let network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mvrp-{}.pcapng", std::process::id()));
    let file = File::create(&capture).expect("a scratch file");
    let mut recorder = TraceRecorder::new(&network, None, Some(file)).expect("begun");
    let seen = run_with(&network, &mut Options::default(), &mut recorder);
    recorder.finish().expect("written");
    let complaints = tshark(&capture, &["-Y", "(_ws.malformed || _ws.expert) && mrp-mvrp"]);
    assert_eq!(complaints, [""; 0]);
    let streams = network.streams.iter().zip(&seen.streams);
    let mvrp = streams.filter(|(stream, _)| stream.name.starts_with("mvrp:"));
    let created: u64 = mvrp.map(|(_, seen)| seen.created).sum();
    assert_eq!(tshark(&capture, &["-Y", "mrp-mvrp"]).len() as u64, created);
    assert_eq!(tshark(&capture, &["-Y", "mrp-mvrp && eth.dst != 01:80:c2:00:00:21"]), [""; 0]);
    // New (0), JoinIn (1), JoinMt (3) or Lv (5) of VLAN 2, at the upper place of three in an octet; zero in a leave-all.
    let screen = &network.nodes.iter().position(|node| node.name == "screen").expect("a node");
    let source = network.ports[network.nodes[*screen].ports.start as usize].address;
    let events = field(&capture, &format!("mrp-mvrp && eth.src == {source}"), "mrp-mvrp.three_packed_event");
    let vlans = field(&capture, &format!("mrp-mvrp && eth.src == {source}"), "mrp-mvrp.vid");
    assert!(vlans.iter().all(|all| all.split(',').all(|vlan| ["0", "2"].contains(&vlan))), "{vlans:?}");
    let first = (events.first().expect("it declares"), vlans.first().expect("it declares"));
    assert_eq!((first.0.split(',').next(), first.1.as_str()), (Some("0"), "2"), "{events:?}");
    assert!(events.iter().any(|all| all.split(',').next() == Some("5")), "it leaves: {events:?}");
    std::fs::remove_file(&capture).expect("ours");
}

#[test]
fn captures_of_shaped_classes_and_corrected_clocks_are_decoded() {
    let scenario = include_str!("../../../../scenarios/avb.yaml")
        .replace("interval: 125 us}", "interval: 50 ms}")
        .replace("interval: 250 us}", "interval: 50 ms}")
        .replace("rate: 10 Mbit/s", "rate: 100 kbit/s");
    let loaded = tautwire_model::load_text("decoded.yaml", &scenario);
    let network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("avb-{}.pcapng", std::process::id()));
    let file = File::create(&capture).expect("a scratch file");
    let mut recorder = TraceRecorder::new(&network, None, Some(file)).expect("begun");
    let seen = run_with(&network, &mut Options::default(), &mut recorder);
    recorder.finish().expect("written");
    let complaints =
        tshark(&capture, &["-Y", "(_ws.malformed || _ws.expert) && (mrp-msrp || mrp-mvrp || ptp)"]);
    assert_eq!(complaints, [""; 0]);
    for (protocol, prefix) in [("mrp-msrp", "msrp:"), ("mrp-mvrp", "mvrp:"), ("ptp", "gptp:")] {
        let streams = network.streams.iter().zip(&seen.streams);
        let own = streams.filter(|(stream, _)| stream.name.starts_with(prefix));
        let created: u64 = own.map(|(_, seen)| seen.created).sum();
        assert_eq!(tshark(&capture, &["-Y", protocol]).len() as u64, created, "{protocol}");
    }
    // The talkers were granted, and offer the values of the description: the priority and the VLAN of class A and B.
    let priorities = field(&capture, "mrp-msrp.attribute_type == 1", "mrp-msrp.priority");
    assert!(priorities.iter().any(|all| all.contains('3')) && priorities.iter().any(|all| all.contains('2')));
    let tagged = field(&capture, "vlan.id == 2", "vlan.priority");
    assert!(tagged.iter().any(|all| all == "3") && tagged.iter().any(|all| all == "2"), "{}", tagged.len());
    std::fs::remove_file(&capture).expect("ours");
}
