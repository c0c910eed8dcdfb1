//! What a network is called, and what the command ends with.

use std::fs;

use serde_json::Value;

use crate::common::{folder, root, tautwire};
use crate::small;

#[test]
fn a_network_that_holds_is_proven_and_kept() {
    let folder = folder("verify");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["verify", "small.yaml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(ended.stderr, "tautwire: results in runs/small-1\n");
    assert_eq!(ended.stdout.matches("proven").count(), 3, "{}", ended.stdout);
    for file in ["manifest.json", "summary.json", "network.json", "streams.parquet"] {
        assert!(folder.join("runs/small-1").join(file).is_file(), "{file}");
    }
    insta::assert_snapshot!("verify", ended.stdout);
}

#[test]
fn exit_codes_give_the_verdict() {
    let folder = folder("exit-codes");
    // The loop's frame alone takes 11.4 us twice.
    for (deadline, code, verdict) in
        [("500 us", 0, "proven"), ("60 us", 1, "not proven"), ("20 us", 1, "missed")]
    {
        small(&folder, deadline);
        let ended = tautwire(&folder, &["verify", "small.yaml"]);
        assert_eq!(ended.code, code, "{deadline}: {}{}", ended.stdout, ended.stderr);
        let row = ended.stdout.lines().find(|line| line.starts_with("loop")).unwrap();
        assert!(row.ends_with(verdict), "{deadline}: {row}");
    }
    small(&folder, "60 us");
    assert_eq!(tautwire(&folder, &["bounds", "small.yaml"]).code, 1);
    assert_eq!(tautwire(&folder, &["simulate", "small.yaml"]).code, 0, "no frame is late");
    small(&folder, "20 us");
    assert_eq!(tautwire(&folder, &["simulate", "small.yaml"]).code, 1, "frames are late");
}

#[test]
fn bounds_are_kept_where_asked() {
    let folder = folder("bounds-out");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["bounds", "small.yaml", "--out", "kept"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, "tautwire: results in kept\n"));
    let read = |file: &str| fs::read_to_string(folder.join("kept").join(file)).unwrap();
    let manifest: Value = serde_json::from_str(&read("manifest.json")).unwrap();
    assert_eq!((&manifest["command"][0], manifest.get("seed")), (&Value::from("bounds"), None));
    let printed = tautwire(&folder, &["bounds", "small.yaml", "--json"]);
    assert_eq!(read("summary.json"), printed.stdout, "what is printed is what is kept");
    assert_eq!(printed.stderr, "", "nothing is kept unless asked");
    assert_eq!(
        printed.stdout.lines().filter(|line| line.contains("\"talker\"")).count(),
        2,
        "a stream a line"
    );
    assert_eq!(tautwire(&folder, &["report", "kept"]).code, 0);
    fs::create_dir(folder.join("taken")).unwrap();
    fs::write(folder.join("taken/note"), "no run").unwrap();
    assert_eq!(tautwire(&folder, &["bounds", "small.yaml", "--out", "taken"]).code, 2);
}

#[test]
fn discards_of_schedulers_are_reported() {
    let folder = folder("discards");
    small(&folder, "500 us");
    assert!(!tautwire(&folder, &["simulate", "small.yaml"]).stdout.contains("ATS schedulers"));
    let path = folder.join("small.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("bridge: { type: bridge }", "bridge: { type: bridge, classes: { 3: { transmission-selection: ats } }, traffic-class-table: [0, 0, 2, 3, 3, 5, 6, 7], max-residence-time: 100 us }");
    let shaper = "shaper: { committed-information-rate: 50 Mbit/s, committed-burst-size: 1442 B }, traffic: { type: periodic, interval: 1 ms, burst: 4";
    fs::write(&path, text.replace("traffic: { type: periodic, interval: 1 ms, burst: 4", shaper)).unwrap();
    let ended = tautwire(&folder, &["simulate", "small.yaml"]);
    let line = ended.stdout.lines().find(|line| line.ends_with("discarded by ATS schedulers"));
    assert!(line.is_some_and(|line| line.starts_with("bridge.p2: ")), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn equal_runs_give_equal_bytes_and_other_seeds_keep_the_bounds() {
    let folder = folder("seeds");
    small(&folder, "500 us");
    let run = |out: &str, seed: &str| {
        let ended = tautwire(&folder, &["verify", "small.yaml", "--seed", seed, "--out", out, "--json"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let kept = fs::read_to_string(folder.join(out).join("summary.json")).unwrap();
        assert_eq!(kept, ended.stdout, "what is printed is what is kept");
        kept
    };
    assert_eq!(run("a", "5"), run("b", "5"));
    let on = |processors: &str| {
        let ended = tautwire(&folder, &["simulate", "small.yaml", "--processors", processors, "--json"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stdout
    };
    assert_eq!(on("1"), on("3"));
    assert_eq!(tautwire(&folder, &["simulate", "small.yaml", "--processors", "0"]).code, 2);
    let other: Value = serde_json::from_str(&run("c", "6")).unwrap();
    let first: Value = serde_json::from_str(&run("a", "5")).unwrap();
    assert_ne!(first["run"]["trace_hash"], other["run"]["trace_hash"]);
    assert_eq!(first["streams"][1]["listeners"][0]["bound"], other["streams"][1]["listeners"][0]["bound"]);
}

#[test]
fn the_command_line_overrules_the_description() {
    let folder = folder("overrule");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["simulate", "small.yaml", "--duration", "10ms", "--seed", "9", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(summary["run"]["seed"], 9);
    assert_eq!(summary["run"]["duration_ps"], 10_000_000_000_u64);
    assert!(folder.join("runs/small-9/summary.json").is_file());
}

#[test]
fn a_schedule_is_found_and_written_into_the_description() {
    let folder = folder("schedule");
    let text = fs::read_to_string(root().join("scenarios/to-be-scheduled.yaml")).unwrap();
    fs::write(folder.join("open.yaml"), &text).unwrap();
    let ended = tautwire(&folder, &["schedule", "open.yaml", "--json", "--out", "closed.yaml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["verdict"], "scheduled");
    assert_eq!(json["links"].as_array().unwrap().len(), 4);
    assert_eq!(json["links"][0]["points"][0]["port"], "sensor:p1");
    let checked = tautwire(&folder, &["check", "closed.yaml"]);
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "nothing is left to remark");
    let again = tautwire(&folder, &["schedule", "closed.yaml", "--json"]);
    assert_eq!(again.stdout, ended.stdout);
    // Longer frames than the raster's half millisecond takes.
    let full = text.replace("window: 500 us", "window: 60 us");
    fs::write(folder.join("full.yaml"), full).unwrap();
    let ended = tautwire(&folder, &["schedule", "full.yaml"]);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(ended.stdout.contains("no schedule holds all links: 2 of 4"), "{}", ended.stdout);
    small(&folder, "500 us");
    assert_eq!(tautwire(&folder, &["schedule", "small.yaml"]).code, 2, "no such links");
}

#[test]
fn breaches_of_a_profile_are_errors_and_rules_have_verdicts() {
    let folder = folder("profile");
    small(&folder, "500 us");
    let plain = tautwire(&folder, &["check", "small.yaml"]);
    assert_eq!(
        (plain.code, plain.stdout.as_str()),
        (0, "small.yaml: 4 nodes, 3 links, 2 streams; no faults\n")
    );
    let kept = tautwire(&folder, &["check", "small.yaml", "--profile", "802.1dg"]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    assert!(
        kept.stdout.contains("10 rules: 2 kept, 0 broken, 0 not applicable, 8 unknown"),
        "{}",
        kept.stdout
    );
    let broken = tautwire(&folder, &["check", "small.yaml", "--profile", "802.1BA"]);
    assert_eq!(broken.code, 2, "{}", broken.stdout);
    assert!(
        broken.stderr.contains("802.1BA::gptp") && broken.stderr.contains("small.yaml:"),
        "{}",
        broken.stderr
    );
    let ended = tautwire(&folder, &["check", "small.yaml", "--profile", "802.1BA", "--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (2, ""));
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    let faults = value["diagnostics"].as_array().unwrap();
    assert!(faults.iter().any(|fault| fault["code"] == "802.1BA::gptp" && fault["severity"] == "error"));
    let rules = value["profile"]["rules"].as_array().unwrap();
    let gptp = rules.iter().find(|rule| rule["rule"] == "802.1BA::gptp").unwrap();
    assert_eq!(
        (&gptp["verdict"], &gptp["breaches"][0]),
        (&"broken".into(), &"no gPTP synchronises the network".into())
    );
    assert!(gptp["source"].as_str().unwrap().contains("802.1AS"));
    fs::write(folder.join("faulty.yaml"), "nodes: 3\n").unwrap();
    let ended = tautwire(&folder, &["check", "faulty.yaml", "--profile", "60802", "--json"]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &value["profile"]), (2, &Value::Null));
    let ended = tautwire(&folder, &["check", "small.yaml", "--profile", "802.1XX"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("802.1DP"), "{}", ended.stderr);
}
