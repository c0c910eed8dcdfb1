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
    assert_eq!(listed.stderr, "");
}

#[test]
fn what_another_test_admitted_is_reported_if_it_does_not_hold() {
    let folder = folder("admit-otherwise");
    let arguments = ["admit", &scenario(), "--all", "--test", "bandwidth", "--state", "state"];
    assert_eq!(tautwire(&folder, &arguments).stderr, "");
    fs::write(folder.join("list"), "{\"op\": \"list\"}\n").unwrap();
    let again = ["admit", &scenario(), "--state", "state", "--requests", "list", "--test"];
    let [same, other] =
        ["bandwidth", "bounds"].map(|test| tautwire(&folder, &[&again[..], &[test]].concat()));
    assert_eq!((same.stderr.as_str(), same.stdout.matches("admitted").count()), ("", 3));
    assert_eq!(other.stdout, same.stdout, "it stays admitted");
    assert!(other.stderr.contains("would not be admitted now"), "{}", other.stderr);
    assert!(other.stderr.contains("view-left, up to"), "{}", other.stderr);
}

#[test]
fn wrong_requests_and_damaged_logs_are_reported() {
    let folder = folder("admit-wrong");
    for (line, part) in [
        ("reserve view-left", "a request looks like"),
        (r#"{"op": "withdraw", "streams": ["view-left"]}"#, "view-left: it is not admitted"),
        (r#"{"op": "reserve", "streams": ["view-lift"]}"#, "no such stream; nearest: view-left"),
        (
            r#"{"op": "reserve", "streams": ["view-left", "view-left"]}"#,
            "view-left: the request names it twice",
        ),
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
    assert!(ended.stderr.contains("reservations.jsonl:1: the line was changed"), "{}", ended.stderr);
}

#[test]
fn a_log_with_missing_lines_is_reported_and_can_be_accepted() {
    let folder = folder("admit-cut");
    let arguments = ["admit", &scenario(), "--all", "--state", "state"];
    assert_eq!(tautwire(&folder, &arguments).code, 1);
    let log = folder.join("state/reservations.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    for rest in ["", &text[..text.len() / 2]] {
        fs::write(&log, rest).unwrap();
        let ended = tautwire(&folder, &arguments);
        assert_eq!(ended.code, 2);
        assert!(
            ended.stderr.contains("the file has 0 lines, and at least 1 were written"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("--accept-log"), "{}", ended.stderr);
        assert_eq!(fs::read_to_string(&log).unwrap(), rest, "it is left as it is");
    }
    let accepted = tautwire(&folder, &[&arguments[..], &["--accept-log"]].concat());
    assert!(accepted.stderr.contains("reservations.jsonl.found-1"), "{}", accepted.stderr);
    assert!(accepted.stdout.contains("admitted   view-left"), "{}", accepted.stdout);
    fs::write(folder.join("list"), r#"{"op": "list"}"#).unwrap();
    let listed = tautwire(&folder, &["admit", &scenario(), "--state", "state", "--requests", "list"]);
    assert_eq!((listed.code, listed.stdout.lines().count()), (0, 2), "{}", listed.stderr);
}

/// A file in the socket's place was deleted.
#[test]
fn what_is_no_socket_stays_and_a_socket_that_is_used_too() {
    let folder = folder("admit-no-socket");
    fs::write(folder.join("thesis.txt"), "years of work").unwrap();
    std::os::unix::fs::symlink("thesis.txt", folder.join("link")).unwrap();
    for place in ["thesis.txt", "link"] {
        let ended = tautwire(&folder, &["admit", &scenario(), "--listen", place]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains("the path is a file and not a socket"), "{}", ended.stderr);
    }
    assert_eq!(fs::read_to_string(folder.join("thesis.txt")).unwrap(), "years of work");
    let listener = std::os::unix::net::UnixListener::bind(folder.join("used")).unwrap();
    let ended = tautwire(&folder, &["admit", &scenario(), "--listen", "used"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("another process listens on it"), "{}", ended.stderr);
    drop(listener);
}

#[test]
fn clients_of_a_socket_are_limited_and_sent_away_when_they_idle() {
    let folder = folder("admit-limits");
    let arguments =
        ["admit", &scenario(), "--listen", "socket", "--connections", "2", "--idle-timeout", "500ms"];
    let mut server = command(&folder, &arguments).spawn().unwrap();
    let connect = || loop {
        match UnixStream::connect(folder.join("socket")) {
            Ok(client) => return client,
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    // The first sends a letter now and then, and never a line; the second nothing.
    let (mut slow, mut idle, third) = (connect(), connect(), connect());
    let mut replies = String::new();
    BufReader::new(third).read_line(&mut replies).unwrap();
    assert!(replies.contains("2 clients are connected"), "{replies}");
    let mut letters = 0;
    while slow.write_all(b"x").is_ok() {
        letters += 1;
        assert!(letters < 10_000, "it may go on for ever");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut nothing = Vec::new();
    assert_eq!(std::io::Read::read_to_end(&mut idle, &mut nothing).unwrap(), 0, "it is closed");
    // Whose place is free again.
    let answer = loop {
        let mut client = connect();
        let mut answer = String::new();
        let _ = writeln!(client, r#"{{"op": "list"}}"#);
        let _ = BufReader::new(client).read_line(&mut answer);
        if !answer.contains("connected") {
            break answer;
        }
    };
    assert!(answer.contains("granted"), "{answer}");
    // When a signal ends it, it removes its socket.
    let asked = std::process::Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(asked.success());
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&server.wait().unwrap()), Some(15));
    assert!(!folder.join("socket").exists());
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

/// A stream that the scenario has not.
const EXTRA: &str = r#"{"name": "extra", "talker": "right", "listeners": "recorder", "priority": 5,
    "payload": "PAYLOAD B", "deadline": "2 ms", "traffic": {"type": "periodic", "interval": "1 ms"}}"#;

fn extra(op: &str, payload: u32) -> String {
    let stream = EXTRA.replace("PAYLOAD", &payload.to_string()).replace('\n', " ");
    format!(r#"{{"op": "{op}", "new": [{stream}]}}"#)
}

/// The decisions on these requests, one after the other.
fn decisions(folder: &Path, more: &[&str], requests: &[String]) -> Vec<Value> {
    fs::write(folder.join("requests"), requests.join("\n")).unwrap();
    let scenario = scenario();
    let arguments = [&["admit", &scenario, "--json", "--requests", "requests"], more].concat();
    let ended = tautwire(folder, &arguments);
    assert!(ended.stderr.is_empty(), "{}", ended.stderr);
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn requests_bring_streams_along_and_change_them() {
    let folder = folder("admit-new");
    let state = ["--state", "state"];
    let list = r#"{"op": "list"}"#.to_owned();
    let requests = [
        r#"{"op": "reserve", "streams": ["view-left"]}"#.to_owned(),
        extra("what-if", 100),
        extra("reserve", 100),
        extra("reserve", 200),
        extra("modify", 1_400),
        extra("modify", 200),
        list.clone(),
    ];
    let replies = decisions(&folder, &state, &requests);
    let outcomes: Vec<&str> = replies.iter().map(|one| one["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["granted", "granted", "granted", "refused", "refused", "granted", "granted"]);
    assert_eq!(replies[3]["refused"][0]["reason"]["limit"], "already-admitted");
    assert_eq!(
        replies[4]["refused"][0]["reason"]["stream"], "view-left",
        "who would be late: {}",
        replies[4]
    );
    assert_eq!(replies[5]["withdrawn"], replies[5]["admitted"]);
    assert_eq!(replies[6]["admitted"], serde_json::json!(["view-left", "extra"]));
    // The description is kept with what is admitted, and after it is taken back.
    let withdraw = r#"{"op": "withdraw", "streams": ["extra"]}"#.to_owned();
    let again = r#"{"op": "reserve", "streams": ["extra"]}"#.to_owned();
    let replies = decisions(&folder, &state, &[list, withdraw, again]);
    assert_eq!(replies[0]["admitted"], serde_json::json!(["view-left", "extra"]));
    assert_eq!(replies[2]["outcome"], "granted", "{}", replies[2]);
    // A request that does not fit the description is an error, and nothing has changed.
    let wrong = extra("reserve", 100).replace("recorder", "recoder").replace("extra", "other");
    let replies = decisions(&folder, &state, &[wrong, r#"{"op": "list"}"#.to_owned()]);
    assert!(replies[0]["error"].as_str().unwrap().contains("recoder"), "{}", replies[0]);
    assert_eq!(replies[1]["admitted"].as_array().unwrap().len(), 2);
}

/// A suggestion is granted when it is requested; a little more is not.
#[test]
fn what_would_have_fitted_fits() {
    let folder = folder("admit-suggest");
    let reserve = r#"{"op": "reserve", "streams": ["view-left", "view-right"]}"#.to_owned();
    let rear = r#"{"op": "what-if", "streams": ["view-rear"], "suggest": true}"#.to_owned();
    for test in ["bounds", "bandwidth"] {
        let state = ["--test", test];
        let third = if test == "bounds" { rear.clone() } else { rear.replace("view-rear", "view-rear-slow") };
        let fill = reserve.replace("\"view-right\"", "\"view-right\", \"view-rear\"");
        let fill = if test == "bounds" { reserve.clone() } else { fill };
        let replies = decisions(&folder, &state, &[fill.clone(), third]);
        let fits = &replies[1]["refused"][0]["fits"];
        let payload = fits["payload_bytes"].as_u64();
        let with = |payload: u64| {
            let (interval, deadline) =
                if test == "bounds" { ("125 us", "350 us") } else { ("500 us", "1 ms") };
            let stream = format!(
                r#"{{"name": "new", "talker": "rear", "listeners": "recorder", "priority": 5, "payload": "{payload} B",
                "deadline": "{deadline}", "traffic": {{"type": "periodic", "interval": "{interval}"}}}}"#
            );
            format!(r#"{{"op": "what-if", "new": [{}]}}"#, stream.replace('\n', " "))
        };
        let payload = payload.unwrap_or_else(|| panic!("{test}: a smaller one fits: {}", replies[1]));
        let tried = decisions(&folder, &state, &[fill, with(payload), with(payload + 1)]);
        assert_eq!(tried[1]["outcome"], "granted", "{test}: {payload} B: {}", tried[1]);
        assert_eq!(tried[2]["outcome"], "refused", "{test}: {payload} B and one: {}", tried[2]);
    }
}

#[test]
fn the_test_of_harts_needs_harts() {
    let folder = folder("admit-harts");
    let refused = tautwire(&folder, &["admit", &scenario(), "--all", "--test", "response-time"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("the description has no `harts`"), "{}", refused.stderr);
    let harts = root().join("scenarios/harts.yaml").display().to_string();
    let decided = tautwire(&folder, &["admit", &harts, "--all", "--test", "response-time"]);
    assert!(decided.stdout.contains("admitted"), "{}{}", decided.stdout, decided.stderr);
}

/// A request of the loop that is killed: what it does, and its line.
#[derive(Clone, Copy)]
enum Change {
    In(&'static str),
    Out(&'static str),
}

impl Change {
    fn line(self) -> String {
        match self {
            Self::In("extra") => extra("reserve", 64),
            Self::In(name) => format!(r#"{{"op": "reserve", "streams": ["{name}"]}}"#),
            Self::Out(name) => format!(r#"{{"op": "withdraw", "streams": ["{name}"]}}"#),
        }
    }

    fn done(self, admitted: &mut BTreeSet<String>) {
        match self {
            Self::In(name) => admitted.insert(name.to_owned()),
            Self::Out(name) => admitted.remove(name),
        };
    }
}

/// Requests streams and their withdrawal in turn until the process is killed, with `waiting` requests in progress;
/// gives the acknowledged changes, and those that may have been done without an answer.
fn ask_until_killed(
    folder: &Path,
    first: usize,
    answers: usize,
    waiting: usize,
) -> (Vec<Change>, Vec<Change>) {
    let arguments = ["admit", &scenario(), "--json", "--state", "state"];
    let mut child = command(folder, &arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut asked = Vec::new();
    for number in 0..answers + waiting {
        let name = ["view-left", "view-rear-slow", "extra"][number % 3];
        let reserve = (first + number / 3).is_multiple_of(2);
        asked.push(if reserve { Change::In(name) } else { Change::Out(name) });
    }
    for change in &asked {
        writeln!(input, "{}", change.line()).unwrap();
    }
    for _ in 0..answers {
        output.read_line(&mut String::new()).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let under_way = asked.split_off(answers);
    (asked, under_way)
}

#[test]
fn being_killed_loses_and_repeats_nothing() {
    let folder = folder("admit-killed");
    fs::write(folder.join("list"), "{\"op\": \"list\"}\n").unwrap();
    let kills = usize::try_from(tautwire_generate::cases(8)).unwrap();
    let mut admitted: BTreeSet<String> = BTreeSet::new();
    for kill in 0..kills {
        let (asked, under_way) = ask_until_killed(&folder, kill, kill % 7, 1 + kill % 3);
        asked.iter().for_each(|change| change.done(&mut admitted));
        // Of those under way as many as it came to, in their order.
        let mut may_be = vec![admitted.clone()];
        for change in under_way {
            change.done(&mut admitted);
            may_be.push(admitted.clone());
        }
        let listed =
            tautwire(&folder, &["admit", &scenario(), "--json", "--state", "state", "--requests", "list"]);
        let decision: Value = serde_json::from_str(&listed.stdout).unwrap();
        let names = decision["admitted"].as_array().unwrap();
        let kept: BTreeSet<String> = names.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        assert_eq!(kept.len(), names.len(), "nothing is admitted twice");
        assert!(may_be.contains(&kept), "kill {kill}: {kept:?}, not one of {may_be:?}");
        admitted = kept;
    }
}
