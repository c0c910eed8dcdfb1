//! `tautwire agent` and `tautwire master`.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;
use tautwire_linux::Namespace;

use crate::bridge::BRIDGED;
use crate::common::{command, folder, tautwire};
use crate::gptp::TIMED;
use crate::processes::{Running, attached, namespace, said, started, status_of, terminate};
use crate::watched::{counts, running};

/// The bridge and two stations by agents: as in a live run. Without an agent of the bridge, which runs by itself, the stations alone are
/// observed. Master and agents outlive each other.
#[test]
fn agents_run_for_a_master_and_outlive_it() {
    let folder = folder("agents");
    let Some(bridge) = namespace() else { return };
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
    // Meanwhile it says what all of them have counted: one sends, another receives.
    let partial = running(&folder, "killed");
    let status = status_of(&partial, |status| {
        counts(status)[1] > 0 && status["ports"].as_array().map_or(0, Vec::len) == 4
    });
    let [sent, received, missing] = counts(&status);
    assert!(sent > 0 && received > 0 && missing == 0, "{status}");
    assert!(
        status["streams"][0]["delay_max_ps"].is_u64() && status["streams"][0]["bound_ps"].is_u64(),
        "{status}"
    );
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

/// gPTP runs at the nodes of agents: one follows the other's clock, which is three seconds behind its own.
#[test]
fn agents_have_gptp() {
    let folder = folder("agents-gptp");
    let Some(one) = namespace() else { return };
    let other = attached(&one, "left", 1);
    fs::write(folder.join("net.yaml"), TIMED.replace("{duration: 1 s}", "{duration: 3 s, warm-up: 1500 ms}"))
        .unwrap();
    let agents = [("m.sock", &one), ("f.sock", &other)].map(|(socket, within)| {
        let arguments = ["agent", "--listen", socket, "--ordinary-priority"];
        started(within, &folder, &arguments, "waits for a master")
    });
    let all = ["master", "net.yaml", "--agent", "m=m.sock", "--agent", "f=f.sock", "--out", "run"];
    let ended = tautwire(&folder, &all);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text = fs::read_to_string(folder.join("run/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&text).unwrap();
    let clocks = summary["clocks"].as_array().unwrap();
    for (clock, node) in clocks.iter().zip(["m", "f"]) {
        assert_eq!((&clock["node"], &clock["grandmaster"]), (&node.into(), &"m".into()), "{clock}");
        let mean = clock["offset_mean_ps"].as_i64().unwrap_or(i64::MAX);
        assert!(mean.abs() < 100_000_000_000, "{clock}");
    }
    assert_eq!(clocks.len(), 2, "{summary}");
    for (mut agent, _, _) in agents {
        terminate(&agent);
        assert_eq!(agent.wait().unwrap().code(), Some(0));
    }
}
