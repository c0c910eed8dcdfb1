//! What a run with TDMA writes as pcapng is decoded by another: `tshark` of Wireshark, which `tools/setup tshark`
//! installs. Synchronisation frames are RTnet's, with their numbers and stamps, also those of a standby that
//! has taken over; ordinary frames are tunnelled; none is malformed.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{folder, root, tautwire};

/// Fields of all frames, by tab.
fn decoded(capture: &Path, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-T", "fields"]);
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let output = command.output().expect("`tshark` can be run: `tools/setup tshark` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn a_start_up_is_decoded_message_by_message_and_nobody_asks_for_an_address() {
    let folder = folder("tdma-start-up-capture");
    let scenario = root().join("scenarios/tdma-start-up.yaml");
    let arguments = ["simulate", scenario.to_str().unwrap(), "--trace", "pcapng", "--out", "run"];
    let ended = tautwire(&folder, &arguments);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let fields = ["frame.interface_name", "_ws.col.Protocol", "_ws.col.Info", "_ws.malformed"];
    let frames = decoded(&folder.join("run/frames.pcapng"), &fields);
    assert!(frames.iter().all(|frame| frame[3].is_empty()), "no frame is malformed");
    assert!(frames.iter().all(|frame| frame[1] != "ARP"), "addresses are known before anything is sent");
    // What each station sends, on its own line.
    let sent = |from: &str, what: &str| {
        let own = |frame: &&Vec<String>| frame[0].starts_with(from) && frame[2].starts_with(what);
        frames.iter().filter(own).count()
    };
    for slave in ["slave-a.", "slave-b."] {
        assert_eq!(sent(slave, "Request Calibration"), 10, "{slave}");
        assert_eq!(sent(slave, "New Announce"), 1, "{slave}");
        assert_eq!(sent(slave, "Acknowledge"), 1, "{slave}: four pieces are a burst");
        assert!(sent(slave, "Ready") >= 1, "{slave}");
    }
    assert_eq!(sent("master.", "Reply Calibration"), 20);
    // The calibration of slave B, with a slot in every other cycle left to the master, outlasts the interval.
    assert_eq!(sent("master.", "Stage 1 Config"), 3);
    assert_eq!((sent("master.", "Stage 2 Config"), sent("master.", "Stage 2 Fragment")), (2, 6));
    // Behind the switch they are the same.
    let came = |to: &str, what: &str| {
        let there =
            |frame: &&Vec<String>| frame[0].contains(&format!("> {to}.")) && frame[2].starts_with(what);
        frames.iter().filter(there).count()
    };
    assert_eq!(came("slave-a", "Stage 1 Config") + came("slave-b", "Stage 1 Config"), 3);
    assert_eq!(came("slave-a", "Stage 2") + came("slave-b", "Stage 2"), 8);
    assert_eq!((came("master", "Request Calibration"), came("slave-a", "Reply Calibration")), (20, 10));
    assert_eq!((came("slave-a", "New Announce"), came("slave-b", "New Announce")), (1, 1));
}

#[test]
fn a_run_is_decoded_and_no_frame_is_malformed() {
    let folder = folder("tdma-capture");
    let scenario = root().join("scenarios/tdma.yaml");
    let scenario = scenario.to_str().unwrap();
    let arguments = ["simulate", scenario, "--duration", "70ms", "--trace", "pcapng", "--out", "run"];
    let ended = tautwire(&folder, &arguments);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let fields = [
        "frame.interface_name",
        "tdma.sync.cycle",
        "tdma.sync.xmit_stamp",
        "tdma.sync.sched_xmit",
        "rtmac.header.flags.tunnel",
        "_ws.malformed",
    ];
    let frames = decoded(&folder.join("run/frames.pcapng"), &fields);
    assert!(frames.iter().all(|frame| frame[5].is_empty()), "no frame is malformed");
    let tunnelled = frames.iter().filter(|frame| frame[4] == "1" || frame[4] == "True").count();
    assert!(tunnelled > 0 && tunnelled < frames.len(), "{tunnelled} of {}", frames.len());
    // The master's line until it fails at 60.2 ms, then the standby's; the numbers go on.
    let opened = |from: &str| -> Vec<(u64, u64, u64)> {
        let sent = frames.iter().filter(|frame| frame[0].starts_with(from) && !frame[1].is_empty());
        let number = |text: &String| text.parse().unwrap();
        sent.map(|frame| (number(&frame[1]), number(&frame[2]), number(&frame[3]))).collect()
    };
    let (master, standby) = (opened("master."), opened("standby."));
    assert_eq!(master.iter().map(|frame| frame.0).collect::<Vec<_>>(), (0..=60).collect::<Vec<_>>());
    let taken_over: Vec<u64> = standby.iter().map(|frame| frame.0).collect();
    assert_eq!(taken_over[..9], (61..=69).collect::<Vec<_>>(), "a fast clock opens one more until 70 ms");
    // By the sender's clock a cycle is a millisecond; the first of the standby leaves 60 us late, by its own time stamps.
    assert!(master.iter().all(|(_, transmitted, scheduled)| transmitted == scheduled));
    assert!(master.windows(2).all(|pair| pair[1].2 - pair[0].2 == 1_000_000));
    let late: Vec<u64> = standby.iter().map(|(_, transmitted, scheduled)| transmitted - scheduled).collect();
    assert_eq!(late[0], 60_000);
    assert!(late[1..].iter().all(|late| *late == 0), "{late:?}");
}

#[test]
fn fragments_are_put_together_by_another_also_those_that_are_tunnelled() {
    let folder = folder("tdma-fragments");
    let scenario = root().join("scenarios/tdma-both-stacks.yaml");
    let arguments = ["simulate", scenario.to_str().unwrap(), "--trace", "pcapng", "--out", "run"];
    let ended = tautwire(&folder, &arguments);
    assert!(ended.code <= 1, "{}", ended.stderr);
    let fields = ["frame.interface_name", "ip.fragment.count", "udp.dstport", "udp.length", "_ws.malformed"];
    let frames = decoded(&folder.join("run/frames.pcapng"), &fields);
    assert!(frames.iter().all(|frame| frame[4].is_empty()), "no frame is malformed");
    // Datagrams that are complete where their last piece leaves the camera: pieces, and length with the UDP header.
    let complete = |port: &str, count: &str, length: &str| {
        let is_complete =
            |frame: &&Vec<String>| frame[0].starts_with("camera.") && frame[1..4] == [count, port, length];
        frames.iter().filter(is_complete).count()
    };
    assert_eq!(complete("5000", "3", "4008"), 15, "every 20 ms of 300");
    assert_eq!(complete("514", "2", "2508"), 20, "every 15 ms of 300");
}

#[test]
fn a_capture_names_every_slot_that_an_answer_missed() {
    let folder = folder("tdma-missed");
    // An answer needs more than the 100 us between the two slots, so it leaves a cycle later.
    let text = "name: missed\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts: {pc: {transmit: 10 us, receive: 15 us}}
defaults: {rate: 100 Mbit/s, host: pc}\nnodes:\n  master: {type: end-station}\n  slave: {type: end-station}
  s: {type: bridge}\nlinks:\n  - {between: [master, s]}\n  - {between: [slave, s]}\nrun: {duration: 100 ms}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  slots:
    - {owner: master, offset: 200 us, length: 100 us}\n    - {owner: slave, offset: 300 us, length: 100 us}\nstreams:
  - {name: opening, talker: master, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
  - {name: question, talker: master, listeners: slave, priority: 5, payload: 494 B,
     traffic: {type: periodic, interval: 10 ms, offset: 50 us}}
  - {name: answer, talker: slave, listeners: master, priority: 5, payload: 494 B, traffic: {type: response, to: question}}
";
    std::fs::write(folder.join("missed.yaml"), text).unwrap();
    let ended = tautwire(&folder, &["simulate", "missed.yaml", "--trace", "pcapng", "--out", "run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let frames = decoded(&folder.join("run/frames.pcapng"), &["frame.interface_name", "frame.comment"]);
    let comments_of: Vec<&str> =
        frames.iter().filter(|frame| frame[0].starts_with("s.p1")).map(|frame| frame[1].as_str()).collect();
    let comments_of: Vec<&str> = comments_of.into_iter().filter(|comment| !comment.is_empty()).collect();
    let expected = |question: usize| format!("missed the slot of slave at 300 us of cycle {}", 10 * question);
    assert_eq!(comments_of, (0..10).map(expected).collect::<Vec<_>>());
    // The same in the table of slots, in which the slave's was missed ten times.
    let row = ended.stdout.lines().find(|line| line.starts_with("slave ")).expect("a row");
    let numbers: Vec<&str> = row.split_whitespace().rev().take(4).collect();
    assert_eq!(numbers, ["0", "10", "90", "10"], "unheard, missed, empty, used: {row}");
}

#[test]
fn slots_that_an_unheard_cycle_and_an_expired_frame_cost_are_named_too() {
    let folder = folder("tdma-unheard");
    // The slave's cable is cut while the cycles 10 to 12 are opened: an answer of cycle 10 finds no slot before cycle
    // 13. From 30.5 ms on nothing is received for longer than a frame may wait.
    let text = "name: unheard\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts: {pc: {transmit: 10 us, receive: 15 us}}
defaults: {rate: 100 Mbit/s, host: pc}\nnodes:\n  master: {type: end-station}\n  slave: {type: end-station}
  s: {type: bridge}\nlinks:\n  - {between: [master, s]}\n  - {name: to-slave, between: [slave, s]}\nrun: {duration: 60 ms}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  lifetime: 4 ms\n  slots:
    - {owner: master, offset: 200 us, length: 100 us}\n    - {owner: slave, offset: 400 us, length: 100 us}\nstreams:
  - {name: opening, talker: master, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
  - {name: report, talker: slave, listeners: master, priority: 5, payload: 200 B,
     traffic: {type: periodic, interval: 10 ms, offset: 100 us}}
events:\n  - {at: 9500 us, cut-link: to-slave}\n  - {at: 12500 us, mend-link: to-slave}
  - {at: 29500 us, cut-link: to-slave}\n  - {at: 36500 us, mend-link: to-slave}\n";
    std::fs::write(folder.join("unheard.yaml"), text).unwrap();
    let ended = tautwire(&folder, &["simulate", "unheard.yaml", "--trace", "pcapng", "--out", "run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let fields = ["frame.interface_name", "tdma.sync.cycle", "frame.comment"];
    let frames = decoded(&folder.join("run/frames.pcapng"), &fields);
    // What the master sees: what it sends, and what comes to it.
    let at_master =
        frames.iter().filter(|frame| frame[0].starts_with("master.") || frame[0].starts_with("s.p1"));
    let comments_of: Vec<(&str, &str)> = at_master
        .filter(|frame| !frame[2].is_empty())
        .map(|frame| (frame[1].as_str(), frame[2].as_str()))
        .collect();
    let slots = |cycles: std::ops::RangeInclusive<u32>| -> Vec<String> {
        cycles.map(|cycle| format!("missed the slot of slave at 400 us of cycle {cycle}")).collect()
    };
    let waited = slots(10..=12).join("; ");
    let expired = slots(30..=33)
        .iter()
        .map(|text| format!("frame 3 of report, never sent, {text}"))
        .collect::<Vec<_>>();
    assert_eq!(comments_of, [("", waited.as_str()), ("35", expired.join("; ").as_str())]);
    // The table counts them as missed, and as unheard.
    let row = ended.stdout.lines().find(|line| line.starts_with("slave ")).expect("a row");
    let numbers: Vec<&str> = row.split_whitespace().rev().take(4).collect();
    assert_eq!(numbers, ["10", "7", "45", "5"], "unheard, missed, empty, used: {row}");
}
