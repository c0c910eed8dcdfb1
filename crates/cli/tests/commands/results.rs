//! What is kept of a run: folders, reports, traces, schemas; and comparisons of them.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::common::{command, folder, tautwire};
use crate::small;

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
