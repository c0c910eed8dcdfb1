//! `tautwire admit --listen` is killed again and again while several clients ask: whoever got no answer sends his request again, with
//! its id, and gets the answer that the first one would have had.
//!
//! Every client changes streams of its own, by one after the other of reserve, modify, replace, batches and withdraw, in such an order that
//! each request can be granted once only: one that was lost, or done twice, makes an answer that is not "granted".
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use common::{command, folder, root, tautwire};
use serde_json::Value;

const CLIENTS: usize = 3;

/// A stream of a client that the description has not.
fn stream(client: usize, name: &str, payload: u32) -> String {
    format!(
        r#"{{"name": "c{client}-{name}", "talker": "right", "listeners": "recorder", "priority": 5, "payload": "{payload} B", "deadline": "2 ms", "traffic": {{"type": "periodic", "interval": "20 ms"}}}}"#
    )
}

/// A client's request of this number, and its streams that stand behind it.
fn request(client: usize, number: usize) -> (String, Vec<&'static str>) {
    let new = |names: &[(&str, u32)]| {
        let all: Vec<String> = names.iter().map(|(name, payload)| stream(client, name, *payload)).collect();
        format!(r#""new": [{}]"#, all.join(", "))
    };
    let by_name = |names: &[&str]| {
        let all: Vec<String> = names.iter().map(|name| format!(r#""c{client}-{name}""#)).collect();
        format!("[{}]", all.join(", "))
    };
    let (op, rest, stands) = match number % 7 {
        0 => ("reserve", new(&[("a", 64)]), vec!["a"]),
        1 => ("modify", new(&[("a", 100)]), vec!["a"]),
        2 => ("reserve", new(&[("b", 64), ("c", 80)]), vec!["a", "b", "c"]),
        3 => {
            let gone = by_name(&["b"]);
            ("replace", format!(r#"{}, "instead_of": {gone}"#, new(&[("d", 90)])), vec!["a", "c", "d"])
        }
        4 => ("withdraw", format!(r#""streams": {}"#, by_name(&["c", "d"])), vec!["a"]),
        5 => {
            let gone = by_name(&["a"]);
            ("replace", format!(r#"{}, "instead_of": {gone}"#, new(&[("e", 64), ("f", 70)])), vec!["e", "f"])
        }
        _ => ("withdraw", format!(r#""streams": {}"#, by_name(&["e", "f"])), Vec::new()),
    };
    (format!(r#"{{"op": "{op}", "id": "{client}/{number}", {rest}}}"#), stands)
}

/// Asks until it is told to stop, each request until it is answered; gives how many were.
fn ask(socket: &Path, client: usize, stop: &AtomicBool, answered: &AtomicU64) -> usize {
    let mut number = 0;
    let mut connection: Option<BufReader<UnixStream>> = None;
    // What was asked is asked until it is answered: only between requests there is an end.
    let mut under_way = false;
    while under_way || !stop.load(Ordering::Relaxed) {
        under_way = true;
        let Some(open) = &mut connection else {
            connection = UnixStream::connect(socket).ok().map(BufReader::new);
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        let mut answer = String::new();
        let said = writeln!(open.get_mut(), "{}", request(client, number).0);
        let heard = said.is_ok() && open.read_line(&mut answer).is_ok();
        // An answer that was cut off is none.
        if !heard || !answer.ends_with('\n') {
            connection = None;
            continue;
        }
        let decision: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(decision["outcome"], "granted", "{}: {answer}", request(client, number).0);
        number += 1;
        under_way = false;
        answered.fetch_add(1, Ordering::Relaxed);
    }
    number
}

#[test]
fn clients_that_ask_again_after_a_kill_lose_and_repeat_nothing() {
    let folder = folder("admit-clients");
    let scenario = root().join("scenarios/admission.yaml").display().to_string();
    let arguments = ["admit", &scenario, "--json", "--state", "state", "--listen", "socket"];
    let kills = std::env::var("TAUTWIRE_CASES").map_or(2_000, |text| text.parse().unwrap()) / 250;
    let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let socket = folder.join("socket");
    let done: Vec<usize> = thread::scope(|scope| {
        let (socket, stop, answered) = (&socket, &stop, &answered);
        let clients: Vec<_> =
            (0..CLIENTS).map(|client| scope.spawn(move || ask(socket, client, stop, answered))).collect();
        for kill in 0..kills {
            let mut server = command(&folder, &arguments).spawn().unwrap();
            let until = answered.load(Ordering::Relaxed) + 1 + kill % 11;
            while answered.load(Ordering::Relaxed) < until
                && !clients.iter().any(|client| client.is_finished())
            {
                thread::yield_now();
            }
            server.kill().unwrap();
            server.wait().unwrap();
        }
        // The last one answers what is under way.
        let mut server = command(&folder, &arguments).spawn().unwrap();
        stop.store(true, Ordering::Relaxed);
        let done: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        server.kill().unwrap();
        server.wait().unwrap();
        done.into_iter().map(|done| done.expect("every answer is `granted`")).collect()
    });
    fs::write(folder.join("list"), "{\"op\": \"list\"}\n").unwrap();
    let listed = tautwire(&folder, &["admit", &scenario, "--json", "--state", "state", "--requests", "list"]);
    let decision: Value = serde_json::from_str(&listed.stdout).unwrap();
    let names = decision["admitted"].as_array().unwrap();
    let kept: BTreeSet<String> = names.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert_eq!(kept.len(), names.len(), "nothing is admitted twice");
    let stands = |client: usize| {
        let last = done[client].checked_sub(1).map(|number| request(client, number).1).unwrap_or_default();
        last.into_iter().map(move |name| format!("c{client}-{name}"))
    };
    assert_eq!(kept, (0..CLIENTS).flat_map(stands).collect(), "after {done:?} requests");
    assert!(done.iter().sum::<usize>() as u64 >= kills, "{done:?}");
}
