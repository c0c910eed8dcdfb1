//! Sequence tags of IEEE Std 802.1CB in a written capture, as Wireshark reads them: nothing malformed, and each copy has the number of its frame.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use tautwire_report::TraceRecorder;
use tautwire_sim::{Options, run_with};

const SCENARIO: &str = include_str!("../../../../scenarios/frame-replication.yaml");

/// What tshark prints of a capture with these arguments, one line a frame.
fn tshark(capture: &Path, arguments: &[&str]) -> Vec<String> {
    let output = Command::new("tshark").arg("-r").arg(capture).arg("-n").args(arguments).output();
    let output = output.expect("tshark runs: `tools/setup tshark` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// The scenario with this encapsulation, captured.
fn captured(encapsulation: &str) -> PathBuf {
    captured_of(
        encapsulation,
        &SCENARIO.replace("encapsulation: r-tag", &format!("encapsulation: {encapsulation}")),
    )
}

/// A description, captured.
fn captured_of(name: &str, text: &str) -> PathBuf {
    let loaded = tautwire_model::load_text("copies.yaml", text);
    let network = loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let name = format!("{name}-{}.pcapng", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let file = File::create(&path).expect("a scratch file");
    let mut recorder = TraceRecorder::new(&network, None, Some(file)).expect("begun");
    let _ = run_with(&network, &mut Options::default(), &mut recorder);
    recorder.finish().expect("written");
    path
}

/// Copies have the destination, VLAN and priority of their path between s1 and s4, and those of the stream elsewhere.
#[test]
fn what_active_identification_writes_is_decoded() {
    let members = "[{vlan: 2, priority: 5, destination-mac: \"03:00:00:00:00:02\"}, {vlan: 3, priority: 7}]";
    let text = SCENARIO
        .replace("vlans: {1: {tagged: all}}", "vlans: {1: {tagged: all}, 2: {tagged: all}, 3: {tagged: all}}")
        .replace(
            "    priority: 6\n    payload: 200 B",
            "    priority: 6\n    destination: \"03:00:00:00:00:01\"\n    payload: 200 B",
        )
        .replace("    frer:\n", &format!("    frer:\n      dmac-vlan-stream-identification: {members}\n"));
    let capture = captured_of("members", &text);
    let fields = ["frame.interface_name", "eth.dst", "vlan.id", "vlan.priority"];
    let arguments: Vec<&str> = ["-Y", "eth.dst[0] == 3", "-T", "fields", "-E", "separator=|"]
        .into_iter()
        .chain(fields.iter().flat_map(|field| ["-e", *field]))
        .collect();
    // The status frames go to the motor's own address.
    let mut seen: Vec<String> = tshark(&capture, &arguments);
    seen.sort();
    seen.dedup();
    let expected = [
        "controller.p1 > s1.p1|03:00:00:00:00:01|1|6",
        "s1.p2 > s2.p1|03:00:00:00:00:02|2|5",
        "s1.p3 > s3.p1|03:00:00:00:00:01|3|7",
        "s2.p2 > s4.p1|03:00:00:00:00:02|2|5",
        "s3.p2 > s5.p1|03:00:00:00:00:01|3|7",
        "s4.p3 > motor.p1|03:00:00:00:00:01|1|6",
        "s5.p2 > s4.p2|03:00:00:00:00:01|3|7",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn tags_of_every_encapsulation_are_decoded() {
    for (encapsulation, protocol, number, size) in [
        ("r-tag", "ieee8021cb", "ieee8021cb.seq", None),
        ("hsr-sequence-tag", "hsr", "hsr.sequence_nr", Some("hsr.lsdu_size")),
        (
            "prp-sequence-tag",
            "prp.trailer.prp1_suffix == 0x88fb",
            "prp.trailer.prp_sequence_nr",
            Some("prp.trailer.prp_size"),
        ),
    ] {
        let capture = captured(encapsulation);
        // The trailer is looked for where it is asked for.
        let preference = ["-o", "prp.enable:TRUE"];
        let prp: &[&str] = if encapsulation.starts_with("prp") { &preference } else { &[] };
        let read = |filter: &str, field: &str| -> Vec<String> {
            tshark(&capture, &[prp, &["-Y", filter, "-T", "fields", "-e", field]].concat())
        };
        let numbers = read(protocol, number);
        let parsed = |text: &String| -> u32 {
            let digits = text.trim_start_matches("0x");
            u32::from_str_radix(digits, if digits == text { 10 } else { 16 }).expect("a number")
        };
        let mut count = std::collections::BTreeMap::new();
        for number in numbers.iter().map(parsed) {
            *count.entry(number).or_insert(0) += 1;
        }
        // Two links of the short way and three of the long one; fewer while the short way is cut.
        assert_eq!(count.len(), 200, "{encapsulation}: 200 orders and their numbers");
        assert_eq!((count[&3], count[&60]), (5, 3), "{encapsulation}");
        if let Some(size) = size {
            let sizes = read(protocol, size);
            assert!(sizes.iter().map(parsed).all(|size| size == 206), "{encapsulation}: {:?}", sizes.first());
        }
        assert_eq!(read("_ws.malformed", "frame.number"), [""; 0], "{encapsulation}");
    }
}
