//! `tautwire admit`: decisions, what it keeps, and that being killed loses and repeats nothing.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use common::{command, folder, root, tautwire};
use serde_json::Value;

fn scenario() -> String {
    root().join("scenarios/admission.yaml").display().to_string()
}

#[test]
fn bounds_refuse_what_bandwidth_admits() {
    let folder = folder("admit-all");
    let bounds = tautwire(&folder, &["admit", &scenario(), "--all"]);
    assert_eq!(bounds.code, 1, "{}", bounds.stderr);
    let refused: Vec<&str> = bounds.stdout.lines().filter(|line| line.starts_with("refused")).collect();
    assert!(refused[0].contains("view-rear: view-left, up to") && refused.len() == 2, "{refused:?}");
    let bandwidth = tautwire(&folder, &["admit", &scenario(), "--all", "--test", "bandwidth"]);
    assert_eq!(bandwidth.stdout.matches("admitted").count(), 3, "{}", bandwidth.stdout);
    assert!(bandwidth.stdout.contains("refused    view-rear-slow: class 5 of port bridge."));
}

#[test]
fn requests_are_answered_in_order_and_kept() {
    let folder = folder("admit-requests");
    let requests = root().join("scenarios/admission.requests.jsonl").display().to_string();
    let arguments = ["admit", &scenario(), "--json", "--state", "state", "--requests", &requests];
    let ended = tautwire(&folder, &arguments);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let decisions: Vec<Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outcomes: Vec<&str> = decisions.iter().map(|one| one["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["granted", "refused", "refused", "granted", "granted", "granted"]);
    assert_eq!(decisions[4]["repeated"], true, "the first request again is not done again");
    assert_eq!(decisions[5]["admitted"], serde_json::json!(["view-left", "view-rear-slow"]));
    // What is kept is what a second process begins with.
    fs::write(folder.join("list"), "{\"op\": \"list\"}\n").unwrap();
    let listed = tautwire(&folder, &["admit", &scenario(), "--state", "state", "--requests", "list"]);
    assert_eq!(listed.stdout, "admitted   view-left\nadmitted   view-rear-slow\n");
}

#[test]
fn wrong_requests_and_damaged_logs_are_told() {
    let folder = folder("admit-wrong");
    for (line, part) in [
        ("reserve view-left", "a request looks like"),
        (r#"{"op": "withdraw", "streams": ["view-left"]}"#, "view-left: it is not admitted"),
        (r#"{"op": "reserve", "streams": ["view-lift"]}"#, "no such stream; nearest: view-left"),
        (r#"{"op": "reserve", "streams": ["view-left", "view-left"]}"#, "view-left: it stands twice"),
    ] {
        fs::write(folder.join("requests"), line).unwrap();
        let ended = tautwire(&folder, &["admit", &scenario(), "--requests", "requests"]);
        assert!(ended.stdout.contains(part), "{line}: {}", ended.stdout);
        assert_eq!(ended.code, if line.contains("withdraw") { 1 } else { 2 }, "{line}");
    }
    fs::create_dir(folder.join("state")).unwrap();
    fs::write(folder.join("state/reservations.jsonl"), "{\"change\":{}}\n").unwrap();
    let ended = tautwire(&folder, &["admit", &scenario(), "--all", "--state", "state"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("reservations.jsonl:1: not what was written"), "{}", ended.stderr);
}

/// Two clients of one socket, and a second process in the place of one that was killed.
#[test]
fn a_socket_answers_several_clients() {
    let folder = folder("admit-socket");
    let arguments = ["admit", &scenario(), "--state", "state", "--listen", "socket"];
    let ask = |client: &mut UnixStream, line: &str| -> Value {
        writeln!(client, "{line}").unwrap();
        let mut answer = String::new();
        BufReader::new(client).read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    };
    let connect = || loop {
        match UnixStream::connect(folder.join("socket")) {
            Ok(client) => return client,
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    let mut server = command(&folder, &arguments).spawn().unwrap();
    let (mut one, mut other) = (connect(), connect());
    let reserve = r#"{"op": "reserve", "streams": ["view-left"]}"#;
    assert_eq!(ask(&mut one, reserve)["outcome"], "granted");
    assert_eq!(ask(&mut other, reserve)["refused"][0]["reason"]["limit"], "already-admitted");
    assert_eq!(ask(&mut other, "reserve")["outcome"], "wrong");
    drop(one);
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(UnixStream::connect(folder.join("socket")).is_err());
    let mut server = command(&folder, &arguments).spawn().unwrap();
    assert_eq!(ask(&mut connect(), r#"{"op": "list"}"#)["admitted"], serde_json::json!(["view-left"]));
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Asks in turn for streams and for their withdrawal until the process is killed; gives the acknowledged
/// changes, and the one that may have been done without an answer.
fn ask_until_killed(folder: &Path, first: usize, answers: usize) -> Vec<(bool, String)> {
    let arguments = ["admit", &scenario(), "--json", "--state", "state"];
    let mut child = command(folder, &arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut asked = Vec::new();
    for number in 0..=answers {
        let name = ["view-left", "view-rear-slow"][number % 2];
        let reserve = (first + number / 2).is_multiple_of(2);
        let op = if reserve { "reserve" } else { "withdraw" };
        writeln!(input, "{{\"op\": \"{op}\", \"streams\": [\"{name}\"]}}").unwrap();
        asked.push((reserve, name.to_owned()));
        if number < answers {
            output.read_line(&mut String::new()).unwrap();
        }
    }
    // The last request is under way.
    child.kill().unwrap();
    child.wait().unwrap();
    asked
}

#[test]
fn being_killed_loses_and_repeats_nothing() {
    let folder = folder("admit-killed");
    fs::write(folder.join("list"), "{\"op\": \"list\"}\n").unwrap();
    let kills = std::env::var("TAUTWIRE_CASES").map_or(2_000, |text| text.parse().unwrap()) / 250;
    let mut admitted: BTreeSet<String> = BTreeSet::new();
    for kill in 0..kills {
        let change = |admitted: &mut BTreeSet<String>, (reserve, name): &(bool, String)| {
            if *reserve {
                admitted.insert(name.clone())
            } else {
                admitted.remove(name)
            };
        };
        let mut asked = ask_until_killed(&folder, kill, kill % 5);
        let last = asked.pop().unwrap();
        asked.iter().for_each(|asked| change(&mut admitted, asked));
        let mut with_last = admitted.clone();
        change(&mut with_last, &last);
        let listed =
            tautwire(&folder, &["admit", &scenario(), "--json", "--state", "state", "--requests", "list"]);
        let decision: Value = serde_json::from_str(&listed.stdout).unwrap();
        let names = decision["admitted"].as_array().unwrap();
        let kept: BTreeSet<String> = names.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        assert_eq!(kept.len(), names.len(), "nothing is admitted twice");
        assert!(
            kept == admitted || kept == with_last,
            "kill {kill}: {kept:?}, not {admitted:?} or {with_last:?}"
        );
        admitted = kept;
    }
}
