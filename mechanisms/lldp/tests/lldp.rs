//! LLDP in runs: learned and expired neighbours, the frames of a capture, and refused descriptions.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use tautwire_lldp::{AdminStatus, LldpObservation, LldpSection};
use tautwire_workbench::network::PortIndex;
use tautwire_workbench::{
    MECHANISMS, Network, Observation, Options, TraceRecorder, load_text, simulate, simulate_with,
};

const SCENARIO: &str = include_str!("../../../scenarios/lldp.yaml");

fn network(text: &str) -> Network {
    let loaded = load_text("lldp.yaml", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

fn run(network: &Network) -> Observation {
    simulate(network, &mut Options::default())
}

/// The known neighbours of each port, in words.
fn known(seen: &LldpObservation) -> BTreeSet<String> {
    let ports = seen.ports.iter();
    ports
        .flat_map(|port| {
            port.neighbours.iter().map(|neighbour| {
                let system = neighbour.system_name.as_deref().unwrap_or("?");
                format!("{}:{} knows {system}:{}", port.node, port.name, neighbour.port)
            })
        })
        .collect()
}

/// The expected neighbours: both ends of every cable of which one sends and the other learns.
fn expected(network: &Network, section: &LldpSection) -> BTreeSet<String> {
    let status = |port: PortIndex| {
        section.ports[port.index()].as_ref().map_or(AdminStatus::Disabled, |port| port.config.status)
    };
    let name = |port: PortIndex| {
        let port = &network.ports[port.index()];
        format!("{}:{}", network.nodes[port.node.index()].name, port.name)
    };
    let heard = network.links.iter().filter(|link| status(link.from).sends() && status(link.to).learns());
    heard.map(|link| format!("{} knows {}", name(link.to), name(link.from))).collect()
}

#[test]
fn every_receiving_port_knows_the_transmitting_neighbour_and_nobody_else() {
    let lldp = MECHANISMS.iter().find(|mechanism| mechanism.key().name == "lldp").expect("in the list");
    let mut neighbours = 0;
    for seed in 0..60 {
        let network = network(&lldp.draw(seed));
        if !network.events.is_empty() {
            continue;
        }
        let section = network.section::<LldpSection>().expect("drawn with LLDP");
        let seen = run(&network);
        let seen = seen.mechanisms.of::<LldpObservation>().expect("it was run");
        assert_eq!(known(seen), expected(&network, section), "seed {seed}");
        neighbours += known(seen).len();
    }
    assert!(neighbours > 60, "{neighbours}");
}

#[test]
fn a_station_that_falls_silent_is_forgotten_when_its_time_has_passed() {
    let network = network(SCENARIO);
    let seen = run(&network);
    let lldp = seen.mechanisms.of::<LldpObservation>().expect("it was run");
    let mut expected = expected(&network, network.section().expect("it has LLDP"));
    assert!(expected.remove("front:p1 knows camera:p1") && expected.remove("camera:p1 knows front:p1"));
    assert_eq!(known(lldp), expected);
    let front = lldp.ports.iter().find(|port| (&*port.node, &*port.name) == ("front", "p1")).expect("a port");
    assert_eq!(front.statistics.aged_out, 1);
}

#[test]
fn a_node_that_is_back_sends_and_gets_a_frame_at_once() {
    let text = SCENARIO.replace(
        "{at: 12 s, stop-node: camera}",
        "{at: 12 s, stop-node: camera}\n  - {at: 13 s, start-node: camera}",
    );
    let seen = run(&network(&text));
    let lldp = seen.mechanisms.of::<LldpObservation>().expect("it was run");
    assert!(known(lldp).contains("camera:p1 knows front:p1"));
    let camera = lldp.ports.iter().find(|port| port.node == "camera").expect("a port");
    let learned = camera.neighbours[0].learned.as_ps();
    assert!((13_000_000_000_000..13_001_000_000_000).contains(&learned), "{learned}");
}

#[test]
fn what_a_node_knew_before_it_stopped_is_not_what_it_knows_since() {
    let text = SCENARIO.replace(
        "{at: 12 s, stop-node: camera}",
        "{at: 12 s, stop-node: recorder}\n  - {at: 13 s, start-node: recorder}",
    );
    let seen = run(&network(&text));
    let lldp = seen.mechanisms.of::<LldpObservation>().expect("it was run");
    let recorder = lldp.ports.iter().find(|port| port.node == "recorder").expect("a port");
    assert!(recorder.neighbours[0].learned.as_ps() >= 13_000_000_000_000, "{recorder:?}");
}

#[test]
fn a_mended_cable_carries_frames_at_once_whatever_its_ends_did_meanwhile() {
    let text = SCENARIO.replace(
        "{at: 12 s, stop-node: camera}",
        "{at: 2 s, cut-link: \"camera:p1\"}\n  - {at: 3 s, stop-node: camera}\n  - {at: 4 s, start-node: camera}\n  - {at: 21500 ms, mend-link: \"camera:p1\"}",
    );
    let seen = run(&network(&text));
    let lldp = seen.mechanisms.of::<LldpObservation>().expect("it was run");
    for node in ["camera", "front"] {
        let port = lldp.ports.iter().find(|port| (&*port.node, &*port.name) == (node, "p1")).expect("a port");
        let learned = port.neighbours[0].learned.as_ps();
        assert!((21_500_000_000_000..21_501_000_000_000).contains(&learned), "{port:?}");
    }
}

#[test]
fn links_that_come_and_go_elsewhere_change_no_bound() {
    let calm = tautwire_workbench::bounds(&network(SCENARIO));
    let events: String =
        (1..20).map(|at| format!("\n  - {{at: {at} s, cut-link: \"recorder:p1\"}}\n  - {{at: {at}500 ms, mend-link: \"recorder:p1\"}}")).collect();
    let text = SCENARIO.replace("  - {at: 12 s, stop-node: camera}", events.trim_start_matches('\n'));
    let stormy = tautwire_workbench::bounds(&network(&text));
    assert_eq!(calm.streams[0].listeners[0].delay, stormy.streams[0].listeners[0].delay);
}

#[test]
fn without_the_section_nothing_of_it_is_in_the_run() {
    let start = SCENARIO.find("lldp:\n").expect("the section");
    let end = SCENARIO.find("streams:\n").expect("what is behind it");
    let network = network(&format!("{}{}", &SCENARIO[..start], &SCENARIO[end..]));
    assert_eq!(network.streams.len(), 2);
    assert_eq!(run(&network).mechanisms.of::<LldpObservation>(), None);
}

/// What tshark prints of a capture.
fn tshark(capture: &Path, arguments: &[&str]) -> Vec<String> {
    let output = Command::new("tshark").arg("-r").arg(capture).arg("-n").args(arguments).output();
    let output = output.expect("tshark runs: `tools/setup tshark` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn its_frames_in_a_capture_are_read_by_wireshark_and_none_is_malformed() {
    let text =
        SCENARIO.replace("interval: 2 ms}", "interval: 1 s}").replace("interval: 10 ms}", "interval: 1 s}");
    let network = network(&text);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lldp-{}.pcapng", std::process::id()));
    let file = File::create(&path).expect("a scratch file");
    let mut recorder = TraceRecorder::new(&network, None, Some(file)).expect("begun");
    let seen = simulate_with(&network, &mut Options::default(), &mut recorder);
    recorder.finish().expect("written");
    let lldp = seen.mechanisms.of::<LldpObservation>().expect("it was run");
    let sent: u64 = lldp.ports.iter().map(|port| port.statistics.sent).sum();
    // The camera's are not counted any more, but they are in the capture.
    let of_camera = tshark(&path, &["-Y", "lldp && lldp.tlv.system.name == \"camera\""]).len() as u64;
    assert!(of_camera > 3);
    assert_eq!(tshark(&path, &["-Y", "lldp"]).len() as u64, sent + of_camera);
    assert_eq!(tshark(&path, &["-Y", "lldp && (_ws.malformed || _ws.expert.severity >= 6291456)"]), [""; 0]);
    let fields = [
        "-Y",
        "lldp && lldp.tlv.system.name == \"rear\"",
        "-T",
        "fields",
        "-e",
        "lldp.time_to_live",
        "-e",
        "eth.dst",
    ];
    let lines: BTreeSet<String> = tshark(&path, &fields).into_iter().collect();
    assert_eq!(lines, BTreeSet::from(["11\t01:80:c2:00:00:0e".to_owned()]));
    std::fs::remove_file(&path).expect("a file that was written");
}

#[test]
fn bounds_of_its_ranges_are_taken() {
    for key in ["message-tx-interval", "message-fast-tx"] {
        for (value, taken) in [
            ("1 s", true),
            ("3600 s", true),
            ("0 s", false),
            ("999999999999 ps", false),
            ("1000000000001 ps", false),
            ("3600000000001 ns", false),
            ("3601 s", false),
        ] {
            let text = SCENARIO.replace("message-tx-interval: 5 s", &format!("{key}: {value}"));
            let loaded = load_text("range", &text);
            let refused = loaded.diagnostics.iter().any(|fault| fault.code == "value::range");
            assert_eq!(!refused, taken, "{key}: {value}: {:?}", loaded.diagnostics);
        }
    }
}

#[test]
fn wrong_keys_of_a_description_are_diagnosed() {
    for (from, to, code) in [
        ("message-tx-interval: 5 s", "message-tx-interval: 1500 ms", "value::range"),
        ("message-tx-interval: 5 s", "message-tx-interval: 2 h", "value::range"),
        ("message-tx-interval: 5 s", "message-fast-tx: 0 s", "value::range"),
        ("message-tx-hold-multiplier: 2", "message-tx-hold-multiplier: 11", "value::range"),
        ("rx-only", "listening", "value::word"),
        ("recorder: {admin", "recoder: {admin", "name::unknown-node"),
        ("admin-status: rx-only", "ports: {p9: {admin-status: rx-only}}", "name::unknown-port"),
        (
            "lldp:\n",
            "harts: {elementary-cycle: 10 ms, trigger: 10 us, turn-around: 10 us}\nlldp:\n",
            "form::conflict",
        ),
        (
            "100 ppm}}",
            "100 ppm}, classes: {7: {transmission-selection: credit-based, idle-slope: 10 Mbit/s}}}",
            "form::conflict",
        ),
    ] {
        assert!(SCENARIO.contains(from), "{from}");
        let loaded = load_text("lldp.yaml", &SCENARIO.replacen(from, to, 1));
        let codes: Vec<&str> = loaded.diagnostics.iter().map(|fault| fault.code).collect();
        assert!(loaded.has_errors() && codes.contains(&code), "{to}: {:#?}", loaded.diagnostics);
    }
    let off = SCENARIO
        .replace("lldp:\n", "lldp:\n  admin-status: disabled\n")
        .replace("admin-status: rx-only", "admin-status: disabled");
    let loaded = load_text("lldp.yaml", &off);
    assert!(!loaded.has_errors() && loaded.diagnostics.iter().any(|fault| fault.code == "form::no-effect"));
}
