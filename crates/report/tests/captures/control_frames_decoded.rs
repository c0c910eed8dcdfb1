//! Protocol control frames of a run (SAE AS6802), as Wireshark reads them from the capture: nothing malformed, every
//! kind there, transparent clocks that grow on the way, and the domain and priority of each cluster.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use tautwire_model::Network;
use tautwire_report::TraceRecorder;
use tautwire_sim::{Observation, Options, run_with};
use tautwire_units::Duration;

/// The first so much of a run: the network, what was seen, and the capture.
fn run(name: &str, text: &str, duration: Duration) -> (Network, Observation, PathBuf) {
    let network = tautwire_model::load_text(name, text).network.expect("a network");
    // The frames of the start-up are counted too.
    let network = network.altered(|parts| parts.run.warm_up = Duration::ZERO);
    let capture = format!("{name}-{}.pcapng", std::process::id());
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(capture);
    let mut recorder =
        TraceRecorder::new(&network, None, Some(File::create(&capture).expect("a scratch file")))
            .expect("begun");
    let options = &mut Options { duration: Some(duration), ..Options::default() };
    let seen = run_with(&network, options, &mut recorder);
    recorder.finish().expect("written");
    (network, seen, capture)
}

/// Fields of the protocol control frames of a capture by Wireshark, a line each.
fn fields(capture: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-n", "-Y", "eth.type == 0x891d", "-T", "fields"]).args(arguments);
    let output = command.output().expect("tshark runs: `tools/setup tshark` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn protocol_control_frames_of_a_run_are_decoded_and_none_is_malformed() {
    let text = include_str!("../../../../scenarios/as6802.yaml");
    let (network, seen, capture) = run("as6802", text, Duration::from_ms(60));
    let complaints = fields(&capture, &["-e", "_ws.malformed", "-e", "_ws.expert.message"]);
    assert!(complaints.iter().all(|line| line.trim().is_empty()), "{complaints:?}");
    // As many as left all ports.
    let frames =
        network.streams.iter().zip(&seen.streams).filter(|(stream, _)| stream.name.starts_with("pcf:"));
    let sent: u64 = frames.flat_map(|(_, seen)| &seen.hops).map(|hop| hop.frames).sum();
    assert_eq!(complaints.len() as u64, sent);
    let kinds = fields(&capture, &["-e", "tte_pcf.type"]);
    for kind in ["0x02", "0x04", "0x08"] {
        assert!(kinds.iter().any(|seen| seen == kind), "no frame of type {kind}");
    }
    // The first switch has a frame for as long as its preamble, octets and check are on the line.
    let clocks = fields(&capture, &["-e", "tte_pcf.tc"]);
    let ns: Vec<u64> = clocks
        .iter()
        .map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number") >> 16)
        .collect();
    assert!(ns.iter().any(|ns| *ns < 5) && ns.iter().any(|ns| *ns > 2 * 5_760), "{ns:?}");
    std::fs::remove_file(&capture).expect("it was written");
}

/// Frames of a cluster have its domain and priority; a node that follows another cluster sends none any more.
#[test]
fn frames_of_several_clusters_are_distinguished() {
    let text = include_str!("../../../../scenarios/as6802-clusters.yaml");
    let (_, _, capture) = run("as6802-clusters", text, Duration::from_ms(250));
    let lines = fields(&capture, &["-e", "frame.time_relative", "-e", "tte_pcf.sd", "-e", "tte_pcf.sp"]);
    let mut last: [f64; 3] = [0.0; 3];
    for line in &lines {
        let (time, of) = line.split_once('\t').expect("three fields");
        let place = ["0x00\t0x05", "0x00\t0x02", "0x01\t0x01"].iter().position(|known| *known == of);
        let place = place.unwrap_or_else(|| panic!("{line}"));
        last[place] = last[place].max(time.parse().expect("seconds"));
    }
    let [tractor, trailer, cameras] = last;
    assert!(tractor > 0.2 && cameras > 0.2, "{last:?}");
    assert!(trailer > 0.1 && trailer < 0.17, "the trailer gives way at 150 ms: {last:?}");
    std::fs::remove_file(&capture).expect("it was written");
}
