//! `tautwire analyse`: tables, results and faults, with the capture of a simulated run.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;

use common::{folder, root, tautwire};
use serde_json::Value;

#[test]
fn a_capture_is_put_next_to_bound_and_simulation() {
    let folder = folder("analyse");
    let net = root().join("scenarios/shaped-line.yaml").display().to_string();
    assert_eq!(tautwire(&folder, &["simulate", &net, "--trace", "pcapng", "--out", "run"]).code, 0);
    let ended =
        tautwire(&folder, &["analyse", "run/frames.pcapng", "--against", &net, "--json", "--out", "found"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap();
    let row = &shown["rows"][0];
    assert_eq!((&row["stream"], &row["listener"]), (&"loop".into(), &"x".into()));
    assert_eq!((&row["lost"], &row["is_above_bound"]), (&0.into(), &false.into()));
    let [captured, simulated, bound] =
        ["measured_max_ps", "simulated_max_ps", "bound_ps"].map(|key| row[key].as_u64().unwrap());
    assert!(captured <= simulated + 1_000 && captured <= bound && captured > 0, "{row}");
    assert_eq!(fs::read_to_string(folder.join("found/captures.json")).unwrap(), ended.stdout);
    assert_eq!(tautwire(&folder, &["report", "found"]).code, 0);
    let table = tautwire(&folder, &["analyse", "run/frames.pcapng", "--against", &net, "--out", "found"]);
    assert!(
        table.stdout.contains("3 rows: delays count from the first bit at a.p1 > s1.p1"),
        "{}",
        table.stdout
    );
}

#[test]
fn wrong_usage_is_named_and_leaves_no_folder() {
    let folder = folder("analyse-refused");
    let net = root().join("scenarios/two-stations.yaml").display().to_string();
    fs::write(folder.join("text.pcap"), "no capture").unwrap();
    for (arguments, expected) in [
        (&["text.pcap"][..], "text.pcap is neither a pcap nor a pcapng file"),
        (&["none.pcap"][..], "none.pcap cannot be read"),
        (&[][..], "name a capture"),
        (&["text.pcap", "--at", "sensor.p1"][..], "NODE.PORT=FILE"),
        (&["text.pcap", "--clock", "text.pcap=5"][..], "unit"),
        (&["text.pcap", "--clock", "other.pcap=5us"][..], "of a file that is analysed"),
    ] {
        let all = [&["analyse", "--against", &net, "--out", "found"], arguments].concat();
        let ended = tautwire(&folder, &all);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments:?}: {}", ended.stderr);
        assert!(!folder.join("found").exists());
    }
}
