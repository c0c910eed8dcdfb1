//! Protocol control frames of a run (SAE AS6802), as Wireshark reads them from the capture: nothing malformed, every
//! kind there, and transparent clocks that grow on the way.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use tautwire_report::TraceRecorder;
use tautwire_sim::{Options, run_with};
use tautwire_units::Duration;

#[test]
fn protocol_control_frames_of_a_run_are_decoded_and_none_is_malformed() {
    let loaded = tautwire_model::load_text("as6802.yaml", include_str!("../../../scenarios/as6802.yaml"));
    let mut network = loaded.network.expect("a network");
    // The frames of the start-up are counted too.
    network.run.warm_up = Duration::ZERO;
    let name = format!("control-frames-{}.pcapng", std::process::id());
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut recorder =
        TraceRecorder::new(&network, None, Some(File::create(&capture).expect("a scratch file")))
            .expect("begun");
    let options = &mut Options { duration: Some(Duration::from_ms(60)), ..Options::default() };
    let seen = run_with(&network, options, &mut recorder);
    recorder.finish().expect("written");
    let fields = |arguments: &[&str]| -> Vec<String> {
        let mut command = Command::new("tshark");
        command.arg("-r").arg(&capture).args(["-n", "-Y", "eth.type == 0x891d"]).args(arguments);
        let output = command.output().expect("tshark runs: `tools/setup tshark` installs it");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
    };
    let complaints = fields(&["-T", "fields", "-e", "_ws.malformed", "-e", "_ws.expert.message"]);
    assert!(complaints.iter().all(|line| line.trim().is_empty()), "{complaints:?}");
    // As many as left all ports.
    let frames =
        network.streams.iter().zip(&seen.streams).filter(|(stream, _)| stream.name.starts_with("pcf:"));
    let sent: u64 = frames.flat_map(|(_, seen)| &seen.hops).map(|hop| hop.frames).sum();
    assert_eq!(complaints.len() as u64, sent);
    let kinds = fields(&["-T", "fields", "-e", "tte_pcf.type"]);
    for kind in ["0x02", "0x04", "0x08"] {
        assert!(kinds.iter().any(|seen| seen == kind), "no frame of type {kind}");
    }
    // The first switch has a frame for as long as its preamble, octets and check are on the line.
    let clocks = fields(&["-T", "fields", "-e", "tte_pcf.tc"]);
    let ns: Vec<u64> = clocks
        .iter()
        .map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number") >> 16)
        .collect();
    assert!(ns.iter().any(|ns| *ns < 5) && ns.iter().any(|ns| *ns > 2 * 5_760), "{ns:?}");
    std::fs::remove_file(&capture).expect("it was written");
}
