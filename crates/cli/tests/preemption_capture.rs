//! mPackets in a capture: `tshark` puts the fragments of cut frames together, and all checks are right; it knows those that verify and respond.

mod common;

use std::process::Command;

use common::{folder, root, tautwire};

#[test]
fn tshark_puts_fragments_together() {
    let folder = folder("preemption-capture");
    let scenario = root().join("scenarios/frame-preemption.yaml");
    let scenario = scenario.to_str().expect("a path of text");
    let ended = tautwire(&folder, &["simulate", scenario, "--trace", "pcapng", "--out", "run"]);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(folder.join("run/frames.pcapng")).args(["-T", "fields", "-E", "separator=;"]);
    for field in
        ["frame.time_epoch", "fpp.checksum.status", "fpp.mcrc32", "fpp.reassembled.length", "_ws.malformed"]
    {
        tshark.args(["-e", field]);
    }
    let decoded = tshark.output().expect("tshark runs");
    assert!(decoded.status.success(), "{}", String::from_utf8_lossy(&decoded.stderr));
    let decoded = String::from_utf8(decoded.stdout).expect("text");
    let rows: Vec<Vec<&str>> = decoded.lines().map(|line| line.split(';').collect()).collect();
    // All ports of the scenario may cut frames, so all packets are mPackets, in order of time.
    assert!(rows.windows(2).all(|two| two[0][0] <= two[1][0]), "in order");
    let count = |of: fn(&Vec<&str>) -> bool| rows.iter().filter(|row| of(row)).count();
    // A frame that is put together is known by its length; its last fragment has no check of its own.
    let is_wrong = |row: &Vec<&str>| row[1] != "1" && row[3].is_empty() || !row[4].is_empty();
    assert_eq!(count(is_wrong), 0, "all checks are right");
    let (fragments, whole) = (count(|row| !row[2].is_empty()), count(|row| !row[3].is_empty()));
    assert!(whole > 300 && fragments >= whole, "{fragments} fragments, {whole} frames put together");
}

#[test]
fn tshark_knows_mpackets_of_verification() {
    let folder = folder("verification-capture");
    let scenario = root().join("scenarios/preemption-verification.yaml");
    let scenario = scenario.to_str().expect("a path of text");
    let ended = tautwire(&folder, &["simulate", scenario, "--trace", "pcapng", "--out", "run"]);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(folder.join("run/frames.pcapng")).args(["-T", "fields", "-E", "separator=;"]);
    for field in ["_ws.col.Info", "fpp.checksum.status", "_ws.malformed"] {
        tshark.args(["-e", field]);
    }
    let decoded = tshark.output().expect("tshark runs");
    assert!(decoded.status.success(), "{}", String::from_utf8_lossy(&decoded.stderr));
    let decoded = String::from_utf8(decoded.stdout).expect("text");
    // It states no status for the check of a request.
    let count = |row: &str| decoded.lines().filter(|line| *line == row).count();
    // Nine ports verify at the start, one of them three times in vain, and two when their cable is mended.
    assert_eq!((count("[Verify];;"), count("[Respond];1;")), (9 + 2 + 2, 8 + 2));
}
