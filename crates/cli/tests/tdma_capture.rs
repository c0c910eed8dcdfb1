//! What a run with TDMA writes as pcapng is decoded by another: `tshark` of Wireshark, which `tools/setup tshark`
//! installs. Synchronisation frames are RTnet's, with their numbers and stamps, also those of a standby that
//! has taken over; ordinary frames are tunnelled; none is malformed.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{folder, root, tautwire};

/// Fields of all frames, by tab.
fn decoded(capture: &Path, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-T", "fields"]);
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let output = command.output().expect("`tshark` can be run: `tools/setup tshark` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn a_start_up_is_decoded_message_by_message_and_nobody_asks_for_an_address() {
    let folder = folder("tdma-start-up-capture");
    let scenario = root().join("scenarios/tdma-start-up.yaml");
    let arguments = ["simulate", scenario.to_str().unwrap(), "--trace", "pcapng", "--out", "run"];
    let ended = tautwire(&folder, &arguments);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let fields = ["frame.interface_name", "_ws.col.Protocol", "_ws.col.Info", "_ws.malformed"];
    let frames = decoded(&folder.join("run/frames.pcapng"), &fields);
    assert!(frames.iter().all(|frame| frame[3].is_empty()), "no frame is malformed");
    assert!(frames.iter().all(|frame| frame[1] != "ARP"), "addresses are known before anything is sent");
    // What each station sends, on its own line.
    let sent = |from: &str, what: &str| {
        let own = |frame: &&Vec<String>| frame[0].starts_with(from) && frame[2].starts_with(what);
        frames.iter().filter(own).count()
    };
    for slave in ["slave-a.", "slave-b."] {
        assert_eq!(sent(slave, "Request Calibration"), 10, "{slave}");
        assert_eq!(sent(slave, "New Announce"), 1, "{slave}");
        assert_eq!(sent(slave, "Acknowledge"), 1, "{slave}: four pieces are a burst");
        assert!(sent(slave, "Ready") >= 1, "{slave}");
    }
    assert_eq!(sent("master.", "Reply Calibration"), 20);
    // The calibration of slave B, with a slot in every other cycle left to the master, outlasts the interval.
    assert_eq!(sent("master.", "Stage 1 Config"), 3);
    assert_eq!((sent("master.", "Stage 2 Config"), sent("master.", "Stage 2 Fragment")), (2, 6));
}

#[test]
fn a_run_is_decoded_and_no_frame_is_malformed() {
    let folder = folder("tdma-capture");
    let scenario = root().join("scenarios/tdma.yaml");
    let scenario = scenario.to_str().unwrap();
    let arguments = ["simulate", scenario, "--duration", "70ms", "--trace", "pcapng", "--out", "run"];
    let ended = tautwire(&folder, &arguments);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let fields = [
        "frame.interface_name",
        "tdma.sync.cycle",
        "tdma.sync.xmit_stamp",
        "tdma.sync.sched_xmit",
        "rtmac.header.flags.tunnel",
        "_ws.malformed",
    ];
    let frames = decoded(&folder.join("run/frames.pcapng"), &fields);
    assert!(frames.iter().all(|frame| frame[5].is_empty()), "no frame is malformed");
    let tunnelled = frames.iter().filter(|frame| frame[4] == "1" || frame[4] == "True").count();
    assert!(tunnelled > 0 && tunnelled < frames.len(), "{tunnelled} of {}", frames.len());
    // The master's line until it fails at 60.2 ms, then the standby's; the numbers go on.
    let opened = |from: &str| -> Vec<(u64, u64, u64)> {
        let sent = frames.iter().filter(|frame| frame[0].starts_with(from) && !frame[1].is_empty());
        let number = |text: &String| text.parse().unwrap();
        sent.map(|frame| (number(&frame[1]), number(&frame[2]), number(&frame[3]))).collect()
    };
    let (master, standby) = (opened("master."), opened("standby."));
    assert_eq!(master.iter().map(|frame| frame.0).collect::<Vec<_>>(), (0..=60).collect::<Vec<_>>());
    let taken_over: Vec<u64> = standby.iter().map(|frame| frame.0).collect();
    assert_eq!(taken_over[..9], (61..=69).collect::<Vec<_>>(), "a fast clock opens one more until 70 ms");
    // By the sender's clock a cycle is a millisecond; the first of the standby leaves 60 us late and says so.
    assert!(master.iter().all(|(_, transmitted, scheduled)| transmitted == scheduled));
    assert!(master.windows(2).all(|pair| pair[1].2 - pair[0].2 == 1_000_000));
    let late: Vec<u64> = standby.iter().map(|(_, transmitted, scheduled)| transmitted - scheduled).collect();
    assert_eq!(late[0], 60_000);
    assert!(late[1..].iter().all(|late| *late == 0), "{late:?}");
}
