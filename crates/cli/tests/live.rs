//! `tautwire live`: results next to bound and simulation, refusals, and that a run that is killed leaves nothing. `tautwire bridge`:
//! frames between interfaces of the test's own, its counters, and what it lacks.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Ended, command, folder, root, tautwire};
use serde_json::Value;
use tautwire_linux::{Clock, End, FramePort as _, Namespace, PacketSocket, Waiter, add_pair};

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
        let mut child = command(&folder, &arguments).spawn().unwrap();
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

/// A bridge between a talker and a listener; class 6 of its port to the listener is shaped.
const BRIDGED: &str = "\
name: bridged
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  s:
    type: bridge
    ports:
      p1: {interface: left}
      p2: {interface: right, classes: {6: {transmission-selection: credit-based, idle-slope: 50 Mbit/s}}}
  x: {type: end-station}
links: [{between: [a, \"s:p1\"]}, {between: [\"s:p2\", x]}]
streams:
  - {name: one, talker: a, listeners: x, priority: 6, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
run: {duration: 10 ms}
";

/// A pair of interfaces between the bridge's namespace and one of a station, whose socket it gives.
fn station(bridge: &Namespace, name: &str, number: u8) -> PacketSocket {
    // The socket keeps the namespace.
    attached(bridge, name, number).inside(|| PacketSocket::open("e0")).unwrap()
}

/// The same; it gives the namespace.
fn attached(bridge: &Namespace, name: &str, number: u8) -> Namespace {
    let own = Namespace::new().unwrap();
    let end = |namespace, name: &str, last| End {
        namespace,
        name: name.to_owned(),
        address: [2, 0xaa, 0, 0, 0, last],
        mtu: 1504,
    };
    add_pair(&end(bridge, name, 0x10 + number), &end(&own, "e0", number)).unwrap();
    own
}

/// The next frame that a station receives.
fn received(socket: &PacketSocket, clock: Clock) -> Vec<u8> {
    let mut buffer = [0; 2048];
    let mut waiter = Waiter::new([socket.descriptor()]);
    let until = clock.now() + 20_000_000_000;
    while clock.now() < until {
        waiter.wait(clock, until).unwrap();
        if let Some(received) = socket.receive(&mut buffer).unwrap() {
            return received.octets.to_vec();
        }
    }
    panic!("no frame in 20 s");
}

/// A frame with 46 octets of data.
fn frame(destination: [u8; 6], source: u8, tag: u16, mark: u8) -> Vec<u8> {
    let mut frame = destination.to_vec();
    frame.extend([
        2,
        0xaa,
        0,
        0,
        0,
        source,
        0x81,
        0,
        tag.to_be_bytes()[0],
        tag.to_be_bytes()[1],
        0x08,
        0,
        mark,
    ]);
    frame.resize(64, 0);
    frame
}

type Lines = std::io::Lines<BufReader<std::process::ChildStderr>>;

/// Starts a command in a namespace, and reads what it says up to a line with `until`; what it says later follows.
fn started(
    within: &Namespace,
    folder: &Path,
    arguments: &[&str],
    until: &str,
) -> (Child, Vec<String>, Lines) {
    let mut started = command(folder, arguments);
    started.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = within.inside(|| started.spawn()).unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let words = said(&mut lines, until);
    (child, words, lines)
}

/// The lines before one with `until`.
fn said(lines: &mut Lines, until: &str) -> Vec<String> {
    let mut words = Vec::new();
    for line in lines {
        let line = line.unwrap();
        if line.contains(until) {
            return words;
        }
        words.push(line);
    }
    panic!("it ended without `{until}`: {words:?}");
}

/// Ends a process as a service manager does.
fn terminate(child: &Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_bridge_forwards_between_interfaces_until_it_is_stopped() {
    let folder = folder("bridge");
    let Ok(bridge) = Namespace::new() else {
        std::io::stderr().write_all(b"SKIPPED: a network namespace cannot be made\n").unwrap();
        return;
    };
    let [left, right] = [station(&bridge, "left", 1), station(&bridge, "right", 2)];
    fs::write(folder.join("net.yaml"), BRIDGED).unwrap();
    let arguments =
        ["bridge", "net.yaml", "--node", "s", "--ordinary-priority", "--status", "status", "--json"];
    let (mut child, words, lines) = started(&bridge, &folder, &arguments, "forwards");
    assert!(
        words.iter().any(|line| line.contains("port p1 on left: 100 Mbit/s paced on 10 Gbit/s")),
        "{words:?}"
    );
    let clock = Clock::starting_in(0);
    // A frame of the stream, a broadcast, an answer to its source alone, and one that no bridge forwards.
    let network = tautwire_workbench::load_text("net.yaml", BRIDGED).network.unwrap();
    let of_stream = frame(network.streams[0].destination.0, 1, 0xc001, 1);
    assert!(left.send(&of_stream).unwrap());
    // Its VLAN leaves these ports without a tag.
    let to = |frame: Vec<u8>| [&frame[..12], &frame[16..]].concat();
    assert_eq!(received(&right, clock), to(of_stream));
    let mut broadcast = to(frame([0xff; 6], 1, 0, 2));
    assert!(left.send(&broadcast).unwrap());
    assert_eq!(received(&right, clock), broadcast);
    broadcast[..6].copy_from_slice(&[2, 0xaa, 0, 0, 0, 1]);
    broadcast[11] = 2;
    assert!(right.send(&broadcast).unwrap());
    assert_eq!(received(&left, clock), broadcast);
    assert!(left.send(&to(frame([1, 0x80, 0xc2, 0, 0, 0x0e], 1, 0, 3))).unwrap());
    assert!(left.send(&broadcast).unwrap());
    std::thread::sleep(Duration::from_millis(300));
    terminate(&child);
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{:?}", lines.collect::<Vec<_>>());
    let status: Value = serde_json::from_str(&stdout).unwrap();
    let [one, other] = [&status["ports"][0], &status["ports"][1]];
    assert_eq!((&one["received_frames"], &one["sent_frames"]), (&4.into(), &1.into()), "{status}");
    assert_eq!((&other["received_frames"], &other["sent_frames"]), (&1.into(), &2.into()), "{status}");
    let dropped = serde_json::json!([
        {"class": null, "reason": "reserved-address", "frames": 1},
        {"class": null, "reason": "same-port", "frames": 1},
    ]);
    assert_eq!(one["dropped"], dropped);
    assert_eq!(status["streams"][0]["sent_frames"], 1, "{status}");
    assert!(other["classes"][6]["residence"]["max_ps"].as_u64().unwrap() > 0);
    assert_eq!(fs::read_to_string(folder.join("status/status.json")).unwrap(), stdout);
    let metrics = fs::read_to_string(folder.join("status/metrics.prom")).unwrap();
    for line in [
        "tautwire_bridge_received_frames_total{bridge=\"s\",port=\"p1\",interface=\"left\"} 4",
        "tautwire_bridge_dropped_frames_total{bridge=\"s\",port=\"p1\",interface=\"left\",reason=\"same-port\"} 1",
        "tautwire_bridge_residence_seconds_count{bridge=\"s\",port=\"p2\",interface=\"right\",class=\"6\"} 1",
    ] {
        assert!(metrics.lines().any(|own| own == line), "{line}\n{metrics}");
    }
    assert_eq!(fs::read_dir(folder.join("status")).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn what_a_bridge_lacks_is_one_clear_word() {
    let folder = folder("bridge-refused");
    fs::write(folder.join("net.yaml"), BRIDGED).unwrap();
    fs::write(folder.join("bare.yaml"), BRIDGED.replace("{interface: left}", "{}")).unwrap();
    fs::write(folder.join("fast.yaml"), BRIDGED.replace("rate: 100 Mbit/s", "rate: 25 Gbit/s")).unwrap();
    fs::write(
        folder.join("long.yaml"),
        BRIDGED.replace("{interface: left}", "{interface: left, mtu: 9000 B}"),
    )
    .unwrap();
    let cases = [
        ("net.yaml", "t", 2, "no node `t`; nearest: "),
        ("net.yaml", "a", 2, "`a` is an end station, and no bridge"),
        ("bare.yaml", "s", 2, "port `p1` of `s` has no `interface`: give it one under `ports`"),
    ];
    for (net, node, code, words) in cases {
        let ended = tautwire(&folder, &["bridge", net, "--node", node, "--duration", "1ms"]);
        assert_eq!((ended.code, ended.stderr.contains(words)), (code, true), "{}", ended.stderr);
    }
    let arguments = ["bridge", "net.yaml", "--node", "s", "--listen", "0.0.0.0:9100"];
    let ended = tautwire(&folder, &arguments);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("it answers on loopback alone"), "{}", ended.stderr);
    let Ok(bridge) = Namespace::new() else { return };
    let ended = |net: &str| {
        let arguments = ["bridge", net, "--node", "s", "--ordinary-priority", "--duration", "1ms"];
        let output = bridge.inside(|| command(&folder, &arguments).output()).unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, stderr) = ended("net.yaml");
    assert_eq!(
        (code, stderr.contains("interface left for port `p1`: it is not in this network namespace")),
        (3, true),
        "{stderr}"
    );
    let _stations = [station(&bridge, "left", 1), station(&bridge, "right", 2)];
    for (net, words) in [
        ("fast.yaml", "it runs at 10 Gbit/s, and the link has 25 Gbit/s"),
        ("long.yaml", "its MTU of 1504 B is below that of the port, 9000 B"),
    ] {
        let (code, stderr) = ended(net);
        assert_eq!((code, stderr.contains(words)), (3, true), "{stderr}");
    }
    assert_eq!(ended("net.yaml").0, 0);
}

/// The bridge and two stations by agents: as in a live run. Without an agent of the bridge, which runs by itself, the stations alone are
/// observed. Master and agents outlive each other.
#[test]
fn agents_run_for_a_master_and_outlive_it() {
    let folder = folder("agents");
    let Ok(bridge) = Namespace::new() else {
        std::io::stderr().write_all(b"SKIPPED: a network namespace cannot be made\n").unwrap();
        return;
    };
    let stations = [attached(&bridge, "left", 1), attached(&bridge, "right", 2)];
    let net = BRIDGED
        .replace("a: {type: end-station}", "a: {type: end-station, ports: {p1: {interface: e0}}}")
        .replace("x: {type: end-station}", "x: {type: end-station, ports: {p1: {interface: e0}}}")
        .replace("duration: 10 ms", "duration: 100 ms");
    fs::write(folder.join("net.yaml"), net).unwrap();
    let start = |within: &Namespace, socket: &str| {
        let arguments = ["agent", "--listen", socket, "--ordinary-priority"];
        started(within, &folder, &arguments, "waits for a master")
    };
    let mut agents: Vec<_> = [("a.sock", &stations[0]), ("x.sock", &stations[1]), ("s.sock", &bridge)]
        .map(|(socket, within)| start(within, socket))
        .into();
    let master = |others: &[&str]| {
        let all = ["master", "net.yaml", "--agent", "a=a.sock", "--agent", "x=x.sock"];
        tautwire(&folder, &[&all[..], others].concat())
    };
    // All three by agents.
    let ended = master(&["--agent", "s=s.sock", "--json", "--out", "run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap();
    let row = &shown["rows"][0];
    assert_eq!((&row["created"], &row["lost"]), (&101.into(), &0.into()), "{row}");
    assert!(row["measured_p50_ps"].as_u64().unwrap() > 10_000_000, "{row}");
    assert_eq!(fs::read_to_string(folder.join("run/live.json")).unwrap(), ended.stdout);
    assert_eq!(tautwire(&folder, &["report", "run"]).code, 0);
    // A master that is killed in its run: the agents give it up and take the next.
    let all = ["master", "net.yaml", "--agent", "a=a.sock", "--agent", "x=x.sock", "--agent", "s=s.sock"];
    let long = [&all[..], &["--duration", "100s", "--out", "killed"]].concat();
    let own = |child: &Child| PathBuf::from(format!("/proc/{}", child.id()));
    let mut child = command(&folder, &long).stderr(Stdio::null()).spawn().unwrap();
    for (_, _, lines) in &mut agents {
        said(lines, "runs `");
        said(lines, "runs `");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    for (_, _, lines) in &mut agents {
        said(lines, "the run is given up");
    }
    assert!(!folder.join("killed").exists());
    // An agent that is killed in a run ends it; the others take the next.
    let mut child = command(&folder, &long).stderr(Stdio::piped()).spawn().unwrap();
    for (_, _, lines) in &mut agents {
        said(lines, "runs `");
    }
    let (mut gone, _, _) = agents.pop().unwrap();
    gone.kill().unwrap();
    gone.wait().unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{stderr}");
    assert!(stderr.contains("the agent of `s` "), "{stderr}");
    assert!(!folder.join("killed").exists() && !own(&gone).exists());
    for (_, _, lines) in &mut agents {
        said(lines, "the run is given up");
    }
    // The bridge by itself: what it does is not observed.
    let arguments = ["bridge", "net.yaml", "--node", "s", "--ordinary-priority"];
    let (mut by_itself, _, _) = started(&bridge, &folder, &arguments, "forwards");
    let ended = master(&["--json", "--out", "stations"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&shown["rows"][0]["created"], &shown["rows"][0]["lost"]), (&101.into(), &0.into()));
    assert!(ended.stdout.contains("without an agent, and not observed: `s`"), "{}", ended.stdout);
    // Those that are stopped leave no socket.
    for (mut agent, _, _) in agents {
        terminate(&agent);
        assert_eq!(agent.wait().unwrap().code(), Some(0));
    }
    assert!(!folder.join("a.sock").exists() && !folder.join("x.sock").exists());
    terminate(&by_itself);
    by_itself.wait().unwrap();
    let ended = master(&[]);
    assert_eq!((ended.code, ended.stderr.contains("the agent of `a` does not answer on a.sock")), (3, true));
    let one = ["master", "net.yaml", "--agent", "a=a.sock", "--agent", "a=b.sock", "--agent", "y=b.sock"];
    let ended = tautwire(&folder, &one);
    assert_eq!(ended.code, 2);
    for words in ["`a` has two agents", "there is no node `y`", "`x` talks or listens, and has no agent"] {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
}
