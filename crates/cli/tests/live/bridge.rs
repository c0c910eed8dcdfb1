//! `tautwire bridge`: frames between interfaces, its counters, and what it lacks.

use std::fs;
use std::io::Read as _;

use serde_json::Value;
use tautwire_linux::{Clock, FramePort as _};

use crate::common::{command, folder, tautwire};
use crate::processes::{frame, namespace, received, send_signal, started, station, status_of};

/// A bridge between a talker and a listener; class 6 of its port to the listener is shaped.
pub(crate) const BRIDGED: &str = "\
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

#[test]
fn a_bridge_forwards_between_interfaces_until_it_is_stopped() {
    forwards("bridge", &[], "");
}

#[test]
fn a_bridge_forwards_by_sockets_of_xdp() {
    forwards("bridge-xdp", &["--xdp"], ", by XDP in the driver");
}

/// A bridge with these options besides; its word on a port ends so.
fn forwards(name: &str, options: &[&str], by: &str) {
    let folder = folder(name);
    let Some(bridge) = namespace() else { return };
    let [left, right] = [station(&bridge, "left", 1), station(&bridge, "right", 2)];
    let filters = "type: bridge\n    stream-filters: {stream-filter-instance-table: {4: {stream-handle: one, max-sdu-size: 500 B}}}\n";
    fs::write(folder.join("net.yaml"), BRIDGED.replace("type: bridge\n", filters)).unwrap();
    let usual = ["bridge", "net.yaml", "--node", "s", "--ordinary-priority", "--status", "status", "--json"];
    let arguments = [&usual[..], options].concat();
    let (mut child, words, lines) = started(&bridge, &folder, &arguments, "forwards");
    let word = format!("port p1 on left: 100 Mbit/s paced on 10 Gbit/s{by}");
    assert!(words.iter().any(|line| line.ends_with(&word)), "{words:?}");
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
    // It shows what it has counted each second: when that is all, it is stopped.
    status_of(&folder.join("status"), |status| status["ports"][0]["received_frames"] == 4);
    // Another of ours gets none of its interfaces.
    let second = ["bridge", "net.yaml", "--node", "s", "--ordinary-priority", "--duration", "1ms"];
    let refused = bridge.inside(|| command(&folder, &second).output()).unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("interface left for port `p1`: another process of tautwire has it"), "{stderr}");
    send_signal(&child, "HUP");
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
    assert_eq!(status["mechanisms"][0]["name"], "stream_filters", "{status}");
    assert_eq!(fs::read_to_string(folder.join("status/status.json")).unwrap(), stdout);
    let metrics = fs::read_to_string(folder.join("status/metrics.prom")).unwrap();
    for line in [
        "tautwire_bridge_received_frames_total{bridge=\"s\",port=\"p1\",interface=\"left\"} 4",
        "tautwire_bridge_dropped_frames_total{bridge=\"s\",port=\"p1\",interface=\"left\",reason=\"same-port\"} 1",
        "tautwire_bridge_stream_filter_frames_total{bridge=\"s\",stream_filter=\"4\",frames=\"matching\"} 1",
        "tautwire_bridge_stream_filter_blocked{bridge=\"s\",stream_filter=\"4\"} 0",
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
    fs::write(folder.join("alone.yaml"), "name: alone\nnodes: {s: {type: bridge}}\n").unwrap();
    let cases = [
        ("net.yaml", "t", 2, "no node `t`; nearest: "),
        ("net.yaml", "a", 2, "`a` is an end station, and no bridge"),
        ("alone.yaml", "s", 2, "no link leads to `s`"),
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
    let Some(bridge) = namespace() else { return };
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
