//! `tautwire live`: results next to bound and simulation, captures, refusals, and that a run that is killed leaves nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::common::{Ended, command, folder, root, tautwire};
use crate::processes::{Running, namespace};

fn scenario(name: &str) -> String {
    root().join("scenarios").join(name).display().to_string()
}

/// Whether a run could not be made because namespaces cannot; which is said aloud.
fn is_left_out(ended: &Ended) -> bool {
    let is_so = ended.code == 3 && ended.stderr.contains("a network namespace cannot be made");
    if is_so {
        // The harness keeps what a passing test prints, but not what it writes to stderr.
        std::io::stderr().write_all(format!("SKIPPED: {}\n", ended.stderr).as_bytes()).unwrap();
    }
    is_so
}

#[test]
fn a_run_is_put_next_to_bound_and_simulation() {
    let folder = folder("live");
    let arguments = ["live", &scenario("two-stations.yaml"), "--ordinary-priority", "--json", "--out", "run"];
    let ended = tautwire(&folder, &arguments);
    if is_left_out(&ended) {
        return;
    }
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap();
    let row = &shown["rows"][0];
    assert_eq!((&row["stream"], &row["listener"]), (&"samples".into(), &"controller".into()));
    assert_eq!((&row["created"], &row["lost"]), (&101.into(), &0.into()));
    // The line alone takes so long: 100 octets and what is around them at 100 Mbit/s.
    assert!(row["measured_p50_ps"].as_u64().unwrap() > 10_000_000, "{row}");
    assert!(row["simulated_max_ps"].as_u64().unwrap() <= row["bound_ps"].as_u64().unwrap());
    assert_eq!(fs::read_to_string(folder.join("run/live.json")).unwrap(), ended.stdout);
    assert_eq!(tautwire(&folder, &["report", "run"]).code, 0);
}

#[test]
fn a_run_is_captured_and_analysed() {
    let folder = folder("live-analysed");
    let net = scenario("two-stations.yaml");
    let ended =
        tautwire(&folder, &["live", &net, "--ordinary-priority", "--capture", "--json", "--out", "run"]);
    if is_left_out(&ended) {
        return;
    }
    let arguments = ["analyse", "run/frames.pcapng", "--against", &net, "--json", "--out", "found"];
    let found = tautwire(&folder, &arguments);
    let [live, shown] =
        [&ended, &found].map(|ended| serde_json::from_str::<Value>(&ended.stdout).expect(&ended.stderr));
    let [live, row] = [&live["rows"][0], &shown["rows"][0]];
    assert_eq!(live["measured_max_ps"], row["measured_max_ps"], "{row}");
    assert_eq!((&row["delay_from"], &row["lost"]), (&"creation".into(), &0.into()), "{row}");
    assert_eq!(row["delivered"], live["created"], "{row}");
    assert_eq!(fs::read_to_string(folder.join("found/captures.json")).unwrap(), found.stdout);
    assert_eq!(tautwire(&folder, &["report", "found"]).code, 0);
}

#[test]
fn what_is_not_run_live_is_named_and_leaves_no_folder() {
    let folder = folder("live-refused");
    let ended = tautwire(&folder, &["live", &scenario("harts.yaml"), "--out", "run"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("a live run has no HaRTES (`harts`) yet"), "{}", ended.stderr);
    assert!(fs::read_dir(&folder).unwrap().next().is_none());
}

/// A run that is killed takes the interface of programs with it, and the next one can make it.
#[test]
fn a_killed_run_leaves_no_interface_to_programs() {
    let folder = folder("live-attached");
    let Some(within) = namespace() else { return };
    let file = format!("/proc/{}/fd/{}", std::process::id(), within.as_fd().as_raw_fd());
    let has_interface = || {
        let seen = within.inside(|| fs::read_to_string("/proc/thread-self/net/dev")).unwrap();
        seen.contains("tautwire:")
    };
    let attached = format!("plc={file}");
    let net = scenario("programs.yaml");
    let arguments =
        ["live", &net, "--attach", &attached, "--ordinary-priority", "--duration", "60s", "--out", "run"];
    for _ in 0..2 {
        let mut child = Running(command(&folder, &arguments).spawn().unwrap());
        assert!((0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            has_interface()
        }));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!has_interface() && !folder.join("run").exists());
    }
    let wrong = |attached: &str| {
        let ended = tautwire(&folder, &["live", &net, "--attach", attached, "--duration", "20ms"]);
        (ended.code, ended.stderr)
    };
    let (code, words) = wrong("plc=none-such");
    assert!(code == 2 && words.contains("there is no network namespace `none-such`"), "{code} {words}");
    let (code, words) = wrong("plc");
    assert!(code == 2 && words.contains("write a station and a namespace"), "{code} {words}");
}

/// Names of the interfaces of this process's namespace, and of namespaces that have one.
fn surroundings() -> (Vec<String>, usize) {
    let interfaces = fs::read_to_string("/proc/self/net/dev").unwrap();
    let names =
        interfaces.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim().to_owned());
    let named = fs::read_dir("/run/netns").map_or(0, Iterator::count);
    (names.collect(), named)
}

/// Namespaces that a process refers to by descriptors or is in, as the kernel names them.
fn namespaces_of(process: &Path) -> BTreeSet<String> {
    let folders = [process.join("fd"), process.join("task")];
    let names = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let links = names.flat_map(|entry| [entry.path(), entry.path().join("ns/net")]);
    let targets = links.filter_map(|link| fs::read_link(link).ok());
    targets.map(|target| target.display().to_string()).filter(|target| target.starts_with("net:[")).collect()
}

/// Processes that refer to one of these namespaces.
fn users(namespaces: &BTreeSet<String>) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes.filter(|process| !namespaces_of(process).is_disjoint(namespaces)).collect()
}

#[test]
fn a_killed_run_leaves_nothing_behind() {
    let folder = folder("live-killed");
    let before = surroundings();
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    let is_slow = std::env::var("TAUTWIRE_TIMES").is_ok_and(|times| times != "1");
    let mut most = 0;
    for number in 0..if is_slow { 20 } else { 4 } {
        let out = format!("run-{number}");
        let arguments = [
            "live",
            &scenario("two-stations.yaml"),
            "--duration",
            "30s",
            "--ordinary-priority",
            "--out",
            &out,
        ];
        let mut child = Running(command(&folder, &arguments).spawn().unwrap());
        // Killed at different points: namespaces are made, probed, or run.
        std::thread::sleep(Duration::from_millis(30 + 70 * (number % 8)));
        let process = PathBuf::from(format!("/proc/{}", child.id()));
        let mut made = namespaces_of(&process);
        made.remove(&own.display().to_string());
        most = most.max(made.len());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!folder.join(&out).exists(), "no folder that looks complete");
        // No process is left that could keep a namespace, its interfaces or descriptors.
        assert_eq!(users(&made), Vec::<PathBuf>::new(), "run {number}");
        assert!(!process.exists());
    }
    assert_eq!(surroundings(), before);
    assert_eq!(fs::read_link("/proc/self/ns/net").unwrap(), own);
    // A namespace for each of the two stations, unless they cannot be made here.
    let can = tautwire(&folder, &["live", &scenario("two-stations.yaml"), "--ordinary-priority"]);
    assert!(is_left_out(&can) || most >= 2, "no run was killed while it had namespaces");
}
