//! `tautwire live`: results next to bound and simulation, refusals, and that a run that is killed leaves nothing. `tautwire bridge`:
//! frames between interfaces of the test's own, its counters, its gPTP, and what it lacks. `tautwire agent` and `master`.

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

/// A process that ends with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl std::ops::Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

/// Starts a command in a namespace, and reads what it says up to a line with `until`; what it says later follows.
fn started(
    within: &Namespace,
    folder: &Path,
    arguments: &[&str],
    until: &str,
) -> (Running, Vec<String>, Lines) {
    let mut started = command(folder, arguments);
    started.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Running(within.inside(|| started.spawn()).unwrap());
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
    let mut child = Running(command(&folder, &long).stderr(Stdio::null()).spawn().unwrap());
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
    let mut child = Running(command(&folder, &long).stderr(Stdio::piped()).spawn().unwrap());
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

/// Two bridges with a cable between them; the clock of the second is ahead by three seconds and fast.
const TIMED: &str = "\
name: timed
defaults: {rate: 100 Mbit/s}
nodes:
  m: {type: bridge, ports: {p1: {interface: left, address: \"02:00:5e:00:00:01\"}}}
  f:
    type: bridge
    clock: {tolerance: 10000 ppm, drift: 10000 ppm, offset: 3 s}
    ports: {p1: {interface: e0, address: \"02:00:5e:00:00:02\"}}
links: [{between: [m, f]}]
gptp:
  log-sync-interval: -4
  log-announce-interval: -3
  log-pdelay-interval: -4
  bridges: {delay-max: 50 ms}
  nodes: {m: {priority1: 100}}
streams: []
run: {duration: 1 s}
";

/// The time of a bridge in its status, once it is as wanted.
fn time_of(folder: &Path, status: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..600 {
        let text = fs::read_to_string(folder.join(status).join("status.json")).unwrap_or_default();
        let shown = serde_json::from_str::<Value>(&text).unwrap_or_default();
        if wanted(&shown["time"]) {
            return shown["time"].clone();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("never in 30 s");
}

/// By how many parts in a million the grandmaster's clock is faster than that of a bridge, by two states of it, apart by at least so many
/// nanoseconds.
fn grandmaster_ppm(folder: &Path, status: &str, apart: i64) -> i64 {
    let state = |time: &Value| {
        (time["reading_ps"].as_i64().unwrap() / 1000, time["grandmaster_ns"].as_i64().unwrap())
    };
    let first = state(&time_of(folder, status, |time| time["grandmaster_ns"].is_i64()));
    let later = |time: &Value| time["grandmaster_ns"].is_i64() && state(time).0 - first.0 >= apart;
    let last = state(&time_of(folder, status, later));
    let (own, others) = (last.0 - first.0, last.1 - first.1);
    (others - own) * 1_000_000 / own
}

#[test]
fn bridges_agree_on_a_clock_and_follow_it() {
    let folder = folder("gptp");
    let Ok(one) = Namespace::new() else {
        std::io::stderr().write_all(b"SKIPPED: a network namespace cannot be made\n").unwrap();
        return;
    };
    let other = attached(&one, "left", 1);
    fs::write(folder.join("net.yaml"), TIMED).unwrap();
    let bridges = [("m", &one), ("f", &other)].map(|(node, within)| {
        let arguments = ["bridge", "net.yaml", "--node", node, "--ordinary-priority", "--status", node];
        started(within, &folder, &arguments, "forwards").0
    });
    let follows = |time: &Value| time["is_grandmaster"] == false && time["ports"][0]["role"] == "slave";
    let time = time_of(&folder, "f", follows);
    assert_eq!(
        (&time["grandmaster"], &time["ports"][0]["capable"]),
        (&"02005e.fffe.000001".into(), &true.into()),
        "{time}"
    );
    let master = time_of(&folder, "m", |time| time["ports"][0]["role"] == "master");
    assert_eq!(master["is_grandmaster"], true, "{master}");
    // The clock of the machine that both have is slower than that of `f` by what is described.
    let found = grandmaster_ppm(&folder, "f", 900_000_000);
    assert!((-15_000..-5_000).contains(&found), "{found} ppm");
    let [mut leads, mut followed] = bridges;
    terminate(&followed);
    assert_eq!(followed.wait().unwrap().code(), Some(0));
    // With its namespace the cable goes, and with that the interface of the other, which goes on.
    drop(other);
    let gone = || !one.inside(|| fs::read_to_string("/proc/thread-self/net/dev")).unwrap().contains("left:");
    assert!((0..300).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        gone()
    }));
    std::thread::sleep(Duration::from_millis(200));
    terminate(&leads);
    assert_eq!(leads.wait().unwrap().code(), Some(0));
}

/// The configuration of `ptp4l` for 802.1AS over virtual interfaces; it measures, and sets no clock.
fn ptp4l(priority: u8) -> String {
    format!(
        "[global]\npriority1 {priority}\ngmCapable 1\nlogAnnounceInterval 0\nlogSyncInterval -3\nsyncReceiptTimeout 3\n\
         neighborPropDelayThresh 50000000\nmin_neighbor_prop_delay -20000000\nassume_two_step 1\npath_trace_enabled 1\n\
         follow_up_info 1\ntransportSpecific 0x1\nptp_dst_mac 01:80:C2:00:00:0E\nnetwork_transport L2\ndelay_mechanism P2P\n\
         time_stamping software\nfree_running 1\ntx_timestamp_timeout 50\nsummary_interval 0\n"
    )
}

/// What `ptp4l` answers of its time: a key's value.
fn time_status(folder: &Path, key: &str) -> Option<String> {
    let arguments = ["-u", "-b", "0", "-t", "1", "-s", "ptp.uds", "-i", "pmc.uds", "GET TIME_STATUS_NP"];
    let answer = Command::new("pmc").args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let line = text.lines().find(|line| line.trim_start().starts_with(key))?;
    Some(line.split_whitespace().nth(1)?.to_owned())
}

/// Against Debian's `ptp4l`, which follows and is followed. It takes half a minute, so `make test-slow` runs it.
#[test]
fn gptp_of_another_implementation_follows_and_is_followed() {
    if std::env::var("TAUTWIRE_TIMES").is_ok_and(|times| times != "1") {
        if Command::new("ptp4l").arg("-v").output().is_err() || Namespace::new().is_err() {
            std::io::stderr().write_all(b"SKIPPED: no ptp4l (package linuxptp), or no namespace\n").unwrap();
            return;
        }
        for (own, others, is_followed) in [(100, 248, true), (246, 100, false)] {
            against_ptp4l(own, others, is_followed);
        }
    }
}

fn against_ptp4l(own: u8, others: u8, is_followed: bool) {
    let folder = folder(&format!("ptp4l-{own}"));
    let one = Namespace::new().unwrap();
    let other = attached(&one, "left", 1);
    let net = TIMED
        .replace("m: {type: bridge,", "m: {type: bridge, clock: {tolerance: 500 ppm, drift: 500 ppm},")
        .replace("priority1: 100", &format!("priority1: {own}"))
        .replace("log-sync-interval: -4", "log-sync-interval: -3")
        .replace("log-announce-interval: -3", "log-announce-interval: 0")
        .replace("log-pdelay-interval: -4", "log-pdelay-interval: 0");
    fs::write(folder.join("net.yaml"), net).unwrap();
    fs::write(folder.join("ptp.cfg"), ptp4l(others)).unwrap();
    let arguments = ["bridge", "net.yaml", "--node", "m", "--ordinary-priority", "--status", "m"];
    let (mut bridge, _, _) = started(&one, &folder, &arguments, "forwards");
    let mut daemon = Command::new("ptp4l");
    daemon.args(["-f", "ptp.cfg", "-i", "e0", "--uds_address=ptp.uds"]);
    daemon.current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = Running(other.inside(|| daemon.spawn()).unwrap());
    if is_followed {
        let follows = || {
            time_status(&folder, "gmIdentity").as_deref() == Some("02005e.fffe.000001")
                && time_status(&folder, "gmPresent").as_deref() == Some("true")
        };
        assert!(
            (0..60).any(|_| {
                std::thread::sleep(Duration::from_millis(500));
                follows()
            }),
            "it never follows"
        );
        std::thread::sleep(Duration::from_secs(3));
        // Its offset from the grandmaster falls by what our clock is faster, whatever it was.
        let offset = || -> i64 { time_status(&folder, "master_offset").unwrap().parse().unwrap() };
        let system =
            || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
        let first = (system(), offset());
        std::thread::sleep(Duration::from_secs(5));
        let last = (system(), offset());
        let found = (first.1 - last.1) * 1_000_000 / (last.0 - first.0);
        assert!((250..750).contains(&found), "{found} ppm by {first:?} and {last:?}");
    } else {
        let time = time_of(&folder, "m", |time| {
            time["is_grandmaster"] == false && time["ports"][0]["role"] == "slave"
        });
        assert_eq!(time["grandmaster"], time_status(&folder, "gmIdentity").unwrap());
        let found = grandmaster_ppm(&folder, "m", 5_000_000_000);
        assert!((-750..-250).contains(&found), "{found} ppm");
    }
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    terminate(&bridge);
    assert_eq!(bridge.wait().unwrap().code(), Some(0));
}
