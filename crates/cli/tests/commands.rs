//! The subcommands on networks that are right: what they print, keep and end with.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{command, folder, tautwire};
use serde_json::Value;

/// A control loop and a camera over one bridge; the loop's deadline is the caller's.
fn small(folder: &Path, deadline: &str) -> PathBuf {
    let text = format!(
        "name: small
vlans: {{1: {{tagged: all}}}}
defaults: {{ rate: 100 Mbit/s, clock: {{ tolerance: 100 ppm }} }}
nodes:
  sensor: {{ type: end-station }}
  camera: {{ type: end-station }}
  control: {{ type: end-station }}
  bridge: {{ type: bridge }}
links:
  - {{ between: [sensor, bridge], length: 10 m }}
  - {{ between: [camera, bridge], length: 10 m }}
  - {{ between: [control, bridge], length: 10 m }}
streams:
  - {{ name: loop, talker: sensor, listeners: control, priority: 6, payload: 100 B, deadline: {deadline},
      traffic: {{ type: periodic, interval: 1 ms }} }}
  - {{ name: video, talker: camera, listeners: control, priority: 4, payload: 1400 B, deadline: 2 ms,
      traffic: {{ type: periodic, interval: 1 ms, burst: 4, jitter: 20 us }} }}
run: {{ duration: 100 ms }}
"
    );
    let path = folder.join("small.yaml");
    fs::write(&path, text).unwrap();
    path
}

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
fn traces_are_written_next_to_the_results() {
    let folder = folder("traces");
    small(&folder, "500 us");
    let arguments = ["simulate", "small.yaml", "--out", "run", "--trace", "parquet", "--trace", "pcapng"];
    assert_eq!(tautwire(&folder, &arguments).code, 0);
    let parquet = fs::read(folder.join("run/frames.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let capture = fs::read(folder.join("run/frames.pcapng")).unwrap();
    assert_eq!(capture[..4], [0x0a, 0x0d, 0x0d, 0x0a], "a section header block");
    let traced = fs::read(folder.join("run/summary.json")).unwrap();
    assert_eq!(tautwire(&folder, &["simulate", "small.yaml", "--out", "plain"]).code, 0);
    assert_eq!(traced, fs::read(folder.join("plain/summary.json")).unwrap(), "a trace changes nothing");
}

#[test]
fn check_counts_what_it_read() {
    let folder = folder("check");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["check", "small.yaml"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.stdout, "small.yaml: 4 nodes, 3 links, 2 streams; no faults\n");
    let ended = tautwire(&folder, &["check", "small.yaml", "--json"]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &value["valid"]), (0, &Value::Bool(true)));
}

#[test]
fn faults_are_drawn_where_they_are_all_at_once() {
    let folder = folder("faults");
    let path = small(&folder, "500 parsecs");
    let text = fs::read_to_string(&path).unwrap().replace("talker: camera", "talker: camra");
    fs::write(&path, text).unwrap();
    let ended = tautwire(&folder, &["check", "small.yaml"]);
    assert_eq!(ended.code, 2);
    insta::assert_snapshot!("faults", ended.stderr);
}

#[test]
fn a_bound_is_explained_hop_by_hop() {
    let folder = folder("explain-bound");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["bounds", "small.yaml", "--explain", "video"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    insta::assert_snapshot!("explain_bound", ended.stdout);
}

#[test]
fn a_program_that_gave_a_bound_is_named() {
    let folder = folder("explain-path");
    let crafted = include_str!("../../workbench/tests/cases/inputs/paths/long-bursts.yaml");
    std::fs::write(folder.join("long.yaml"), crafted).expect("a file");
    let explained = |method: &str| {
        tautwire(&folder, &["bounds", "long.yaml", "--method", method, "--explain", "own"]).stdout
    };
    let (fast, tight) = (explained("fast"), explained("tight"));
    assert!(tight.contains("by the linear program of its path"), "{tight}");
    assert!(!fast.contains("linear program"), "{fast}");
    let listed = tautwire(&folder, &["bounds", "long.yaml", "--method", "tight", "--json"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(listed.stdout.contains(r#""method": "path-program""#), "{}", listed.stdout);
}

#[test]
fn the_story_of_the_worst_frame_adds_up() {
    let folder = folder("explain-run");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["simulate", "small.yaml", "--explain", "loop"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    insta::assert_snapshot!("explain_run", ended.stdout);
}

#[test]
fn an_unknown_stream_gets_similar_names() {
    let folder = folder("unknown-stream");
    small(&folder, "500 us");
    for command in ["bounds", "simulate"] {
        let ended = tautwire(&folder, &[command, "small.yaml", "--explain", "vidio"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
        assert_eq!(ended.stderr, "tautwire: no stream `vidio`; nearest: video, loop\n");
    }
}

#[test]
fn a_report_is_one_file_that_needs_no_other() {
    let folder = folder("report");
    small(&folder, "500 us");
    assert_eq!(tautwire(&folder, &["verify", "small.yaml", "--out", "run"]).code, 0);
    let ended = tautwire(&folder, &["report", "run"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "run/report.html\n"), "{}", ended.stderr);
    let page = fs::read_to_string(folder.join("run/report.html")).unwrap();
    assert!(page.contains("video") && !page.contains("src=\"http"), "{} octets", page.len());
    let ended = tautwire(&folder, &["report", "run", "--out", "else.html", "--json"]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(value["report"], "else.html");
    assert!(folder.join("else.html").is_file());
}

#[test]
fn results_never_replace_what_is_no_run() {
    let folder = folder("replace");
    small(&folder, "500 us");
    fs::create_dir(folder.join("mine")).unwrap();
    fs::write(folder.join("mine/thesis.txt"), "years of work").unwrap();
    let ended = tautwire(&folder, &["simulate", "small.yaml", "--out", "mine"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    assert!(folder.join("mine/thesis.txt").is_file());
    fs::write(folder.join("file"), "").unwrap();
    let ended = tautwire(&folder, &["simulate", "small.yaml", "--out", "file/run"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (3, ""), "{}", ended.stderr);
}

/// The second run replaced the first: both are `net-1`.
#[test]
fn a_run_of_another_file_of_the_same_name_gets_another_folder() {
    let folder = folder("same-name");
    for place in ["one", "two", "three"] {
        fs::create_dir(folder.join(place)).unwrap();
        fs::copy(small(&folder, "1 ms"), folder.join(place).join("net.yaml")).unwrap();
    }
    let run = |file: &str| tautwire(&folder, &["simulate", file]).stderr;
    let file_of = |run: &str| {
        let text = fs::read_to_string(folder.join("runs").join(run).join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        manifest["file"].as_str().unwrap().to_owned()
    };
    assert!(run("one/net.yaml").contains("results in runs/net-1\n"));
    let second = run("two/net.yaml");
    assert!(second.contains("results in runs/net-1-2\n"), "{second}");
    assert!(
        second.contains("runs/net-1 is kept, as it has results of ") && second.contains("one/net.yaml"),
        "{second}"
    );
    assert!(run("three/net.yaml").contains("results in runs/net-1-3\n"));
    assert!(file_of("net-1").ends_with("one/net.yaml") && file_of("net-1-2").ends_with("two/net.yaml"));
    // The same file again, changed or not, takes its own folder, however it is named.
    fs::write(
        folder.join("two/net.yaml"),
        fs::read_to_string(folder.join("one/net.yaml")).unwrap() + "# more\n",
    )
    .unwrap();
    assert!(run("./one/../two/net.yaml").contains("results in runs/net-1-2\n"));
    assert!(run("one/net.yaml").contains("results in runs/net-1\n"));
    assert_eq!(fs::read_dir(folder.join("runs")).unwrap().count(), 3);
}

#[test]
fn what_is_asked_to_end_leaves_nothing_half_done() {
    let folder = folder("asked-to-end");
    let path = small(&folder, "1 ms").display().to_string();
    // What this test was started to ignore, its children ignore, too.
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1), ("-KILL", 9)] {
        if ignored >> (number - 1) & 1 == 1 {
            continue;
        }
        let mut running = command(&folder, &["simulate", &path, "--duration", "3600s"]).spawn().unwrap();
        let partial = || {
            let entries = fs::read_dir(folder.join("runs")).into_iter().flatten();
            entries.filter(|entry| entry.as_ref().unwrap().path().join(".lock").exists()).count()
        };
        while partial() == 0 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        // It has made its folder; in a moment it has registered what to remove at a signal.
        std::thread::sleep(std::time::Duration::from_millis(200));
        let pid = running.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let ended = running.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(number));
        assert_eq!(partial(), usize::from(number == 9), "{signal}");
    }
    // What was killed could take nothing away: the next run does.
    assert_eq!(tautwire(&folder, &["simulate", &path]).code, 0);
    assert_eq!(fs::read_dir(folder.join("runs")).unwrap().count(), 1);
}

#[test]
fn results_below_a_file_are_a_failure_in_one_line() {
    let folder = folder("below-a-file");
    let path = small(&folder, "1 ms").display().to_string();
    fs::write(folder.join("file"), "").unwrap();
    fs::write(folder.join("runs"), "").unwrap();
    for arguments in [&["--out", "file/run"][..], &["--out", "file/a/b"], &[]] {
        let ended = tautwire(&folder, &[&["simulate", path.as_str()], arguments].concat());
        assert_eq!(ended.code, 3);
        assert!(
            ended.stderr.contains("is not a folder") && ended.stderr.lines().count() == 1,
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn a_reader_that_has_gone_is_no_fault() {
    let folder = folder("pipe");
    small(&folder, "500 us");
    for arguments in [&["verify", "small.yaml", "--json"][..], &["schema"], &["--help"]] {
        let mut child =
            command(&folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("cannot"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn schemas_are_json_and_name_themselves() {
    let folder = folder("schema");
    for of in ["description", "summary"] {
        let ended = tautwire(&folder, &["schema", of]);
        let value: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(ended.code, 0);
        assert!(value["$schema"].as_str().unwrap().contains("json-schema.org"), "{of}");
    }
}

#[test]
fn a_schedule_is_found_and_written_into_the_description() {
    let folder = folder("schedule");
    let text = fs::read_to_string(common::root().join("scenarios/to-be-scheduled.yaml")).unwrap();
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

#[test]
fn differences_of_two_results_are_shown() {
    let folder = folder("diff");
    small(&folder, "500 us");
    assert_eq!(tautwire(&folder, &["verify", "small.yaml", "--seed", "7"]).code, 0);
    let same = tautwire(&folder, &["diff", "runs/small-7", "small.yaml"]);
    assert_eq!(
        same.stdout, "2 streams at listeners compared: no difference\n",
        "the run's seed is taken over"
    );
    assert_eq!((same.code, same.stderr.as_str()), (0, ""));
    let text = fs::read_to_string(folder.join("small.yaml")).unwrap();
    // Too late for the loop; a greater picture delays the loop, too.
    let text =
        text.replace("deadline: 500 us", "deadline: 20 us").replace("payload: 1400 B", "payload: 1500 B");
    fs::write(folder.join("other.yaml"), text).unwrap();
    let ended = tautwire(&folder, &["diff", "runs/small-7", "other.yaml", "--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    let keys: Vec<_> = json["description"].as_array().unwrap().iter().map(|one| &one["key"]).collect();
    assert_eq!(keys, ["streams.loop.deadline", "streams.video.payload"]);
    let first = &json["listeners"][0];
    assert_eq!((&first["stream"], &first["change"]), (&Value::from("loop"), &Value::from("verdict-worse")));
    assert_eq!(first["verdict"]["after"], "missed");
    assert!(first["bound_delay_max_ps"]["after"].as_u64() > first["bound_delay_max_ps"]["before"].as_u64());
    let shown = tautwire(&folder, &["diff", "small.yaml", "other.yaml"]);
    assert!(shown.stdout.contains("proven → missed"), "{}", shown.stdout);
    // What is known of one side alone is not compared.
    assert_eq!(tautwire(&folder, &["bounds", "small.yaml", "--out", "kept"]).code, 0);
    let ended = tautwire(&folder, &["diff", "runs/small-7", "kept", "--json"]);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &json["compared"]["run"]), (0, &Value::from(false)), "{}", ended.stdout);
    for (arguments, words) in
        [(["kept", "absent.yaml"], "cannot read"), ([".", "kept"], "is not a run folder")]
    {
        let ended = tautwire(&folder, &[&["diff"][..], &arguments].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

#[test]
fn a_first_description_is_written_and_holds() {
    let folder = folder("new");
    let list = tautwire(&folder, &["new"]).stdout;
    assert_eq!(list.lines().count(), 4, "{list}");
    for line in list.lines() {
        let template = line.split_whitespace().next().unwrap();
        let file = format!("my {template}.yaml");
        let ended = tautwire(&folder, &["new", template, &file]);
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
        let verified = tautwire(&folder, &["verify", &file, "--duration", "50ms"]);
        assert_eq!(verified.code, 0, "{template}: {}{}", verified.stdout, verified.stderr);
        assert_eq!(verified.stderr.lines().count(), 1, "no warning: {}", verified.stderr);
        let text = fs::read_to_string(folder.join(&file)).unwrap();
        assert!(text.contains(&format!("name: \"my {template}\"\n")) && text.contains("  # "), "{text}");
        assert_eq!(tautwire(&folder, &["new", template, &file]).code, 2, "it is not overwritten");
    }
    assert_eq!(tautwire(&folder, &["new", "boat"]).code, 2);
    assert!(tautwire(&folder, &["new", "audio", "--name", "hall"]).stdout.contains("\nname: hall\n"));
}

#[test]
fn several_files_are_checked_and_stdin_is_one() {
    let folder = folder("check-several");
    small(&folder, "500 us");
    fs::write(folder.join("faulty.yaml"), "nodes: 3\n").unwrap();
    let ended = tautwire(&folder, &["check", "small.yaml", "faulty.yaml", "absent.yaml", "small.yaml"]);
    assert_eq!(ended.code, 2);
    assert_eq!(ended.stdout.matches("small.yaml: 4 nodes").count(), 2, "{}", ended.stdout);
    assert!(ended.stderr.contains("cannot read absent.yaml"), "{}", ended.stderr);
    let ended = tautwire(&folder, &["check", "small.yaml", "faulty.yaml", "--json"]);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&json[0]["valid"], &json[1]["valid"]), (&Value::from(true), &Value::from(false)));
    let quiet = tautwire(&folder, &["check", "--quiet", "small.yaml"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    let quiet = tautwire(&folder, &["verify", "-q", "small.yaml", "--out", "kept"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    let quiet = tautwire(&folder, &["check", "-q", "faulty.yaml"]);
    assert!(quiet.code == 2 && quiet.stdout.is_empty() && !quiet.stderr.is_empty());
    let described = fs::read(folder.join("small.yaml")).unwrap();
    for (arguments, words) in [
        (&["check", "-"][..], "-: 4 nodes"),
        (&["bounds", "-"], "2 streams: 2 proven"),
        (&["tune", "-", "--least"], "name: small"),
    ] {
        let mut child = command(&folder, arguments);
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &described).unwrap();
        let output = child.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(printed.contains(words), "{arguments:?}: {printed}");
    }
}

/// A process that is ended with the test.
struct Ending(std::process::Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lines of what a process writes, as they come.
fn lines(from: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The next line that contains `part`.
fn await_line(lines: &mpsc::Receiver<String>, part: &str) -> String {
    loop {
        let line =
            lines.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| panic!("no line with {part}"));
        if line.contains(part) {
            return line;
        }
    }
}

#[test]
fn a_watched_description_is_verified_again_when_it_changes() {
    let folder = folder("watch");
    let text = fs::read_to_string(small(&folder, "500 us")).unwrap();
    let with_table = text.replace("streams:\n", "stream-tables: [more.csv]\nstreams:\n");
    fs::write(folder.join("small.yaml"), &with_table).unwrap();
    let heading = "name,talker,listeners,payload,traffic.type,traffic.interval,deadline\n";
    fs::write(folder.join("more.csv"), heading.to_owned() + "row,sensor,control,60 B,periodic,1 ms,5 ms\n")
        .unwrap();
    let mut process = command(&folder, &["verify", "small.yaml", "--watch"]);
    let mut process = Ending(process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let stdout = lines(process.0.stdout.take().unwrap());
    let stderr = lines(process.0.stderr.take().unwrap());
    await_line(&stderr, "watching 2 files");
    assert!(await_line(&stdout, "row").ends_with("proven"));
    // A file that the description names changes.
    fs::write(folder.join("more.csv"), heading.to_owned() + "row,sensor,control,60 B,periodic,1 ms,12 us\n")
        .unwrap();
    await_line(&stderr, "watching 2 files");
    assert!(await_line(&stdout, "row").ends_with("missed"));
    // A fault is shown, and the command goes on.
    fs::write(folder.join("small.yaml"), with_table.replace("rate: 100 Mbit/s", "speed: 100 Mbit/s"))
        .unwrap();
    await_line(&stderr, "did you mean `rate`?");
    await_line(&stderr, "watching");
    // An editor may put a new file in the place of the old one.
    fs::write(folder.join("new.yaml"), text.replace("500 us", "60 us")).unwrap();
    fs::rename(folder.join("new.yaml"), folder.join("small.yaml")).unwrap();
    await_line(&stderr, "watching 1 file");
    assert!(await_line(&stdout, "loop").ends_with("not proven"));
}

#[test]
fn stdin_cannot_be_watched() {
    let ended = tautwire(&folder("watch-stdin"), &["check", "-", "--watch"]);
    assert_eq!((ended.code, &*ended.stderr), (2, "tautwire: --watch needs a file: stdin does not change\n"));
}

#[test]
fn a_network_is_written_in_other_forms_and_what_they_lack_is_listed() {
    let folder = folder("export");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["export", "tc", "small.yaml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("#!/bin/sh\n") && ended.stdout.contains("\n'bridge')\n  tc qdisc"));
    assert_eq!(ended.stderr, "tautwire: not in tc: VLAN 1: its members are set up by `bridge vlan`\n");
    let ended = tautwire(&folder, &["export", "dot", "small.yaml", "--to", "small.dot", "--quiet"]);
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "", ""));
    let text = fs::read_to_string(folder.join("small.dot")).unwrap();
    assert!(text.contains("\"sensor\" -- \"bridge\""), "{text}");
    let ended = tautwire(&folder, &["export", "graphml", "small.yaml", "--to", "nowhere/small.graphml"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert_eq!(tautwire(&folder, &["export", "svg", "small.yaml"]).code, 2);
    // A document for each bridge.
    let ended = tautwire(&folder, &["export", "yang", "small.yaml", "--to", "yang"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let document = fs::read_to_string(folder.join("yang/bridge.json")).unwrap();
    assert!(
        ended.stderr.contains("tautwire: not in yang: cables: rates, lengths and delays\n"),
        "{}",
        ended.stderr
    );
    assert_eq!(tautwire(&folder, &["export", "yang", "small.yaml"]).stdout, document);
    let ended =
        tautwire(&folder, &["export", "yang-xml", "small.yaml", "--node", "bridge", "--to", "one.xml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(fs::read_to_string(folder.join("one.xml")).unwrap().starts_with("<interfaces xmlns="));
    let ended = tautwire(&folder, &["export", "yang", "small.yaml", "--node", "sensor"]);
    assert_eq!((ended.code, &*ended.stderr), (2, "tautwire: yang is of bridges, and `sensor` is none\n"));
}

#[test]
fn neighbours_of_hosts_become_a_description() {
    let folder = folder("import");
    let file = |name: &str, own: &str, far: &str, port: &str| {
        let text = format!(
            r#"{{"lldp": {{"interface": {{"{own}": {{"chassis": {{"{far}": {{"id": {{"type": "mac", "value": "x"}},
                "capability": [{{"type": "Bridge", "enabled": {}}}]}}}},
                "port": {{"id": {{"type": "ifname", "value": "{port}"}},
                "auto-negotiation": {{"current": "100BaseTXFD - full duplex mode"}}}}}}}}}}}}"#,
            far == "bridge"
        );
        fs::write(folder.join(name), text).unwrap();
    };
    file("sensor.json", "eth0", "bridge", "swp1");
    file("bridge.json", "swp1", "sensor", "eth0");
    let ended = tautwire(&folder, &["import", "lldp", "sensor.json", "bridge.json", "--to", "lab.yaml"]);
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "", ""));
    assert_eq!(
        tautwire(&folder, &["check", "lab.yaml"]).stdout,
        "lab.yaml: 2 nodes, 1 link, 0 streams; no faults\n"
    );
    let text = fs::read_to_string(folder.join("lab.yaml")).unwrap();
    assert!(text.contains("between: [\"sensor:eth0\", \"bridge:swp1\"], rate: 100 Mbit/s"), "{text}");
    let again = tautwire(&folder, &["import", "lldp", "sensor.json", "--to", "lab.yaml"]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    let one = tautwire(&folder, &["import", "lldp", "sensor.json"]);
    assert!(one.stderr.starts_with("tautwire: not from lldp: sensor: whether it bridges"), "{}", one.stderr);
    fs::write(folder.join("none.json"), "{}").unwrap();
    assert_eq!(tautwire(&folder, &["import", "lldp", "none.json"]).code, 2);
    assert_eq!(tautwire(&folder, &["import", "lldp", "missing.json"]).code, 2);
}
