//! `tautwire admit --listen` is killed again and again while several clients send requests: a client without an answer
//! sends its request again, with its id, and gets the answer that the first one would have had.
//!
//! Every client changes streams of its own, by one after the other of reserve, modify, replace, batches and withdraw, in such an order that
//! each request can be answered as it must be once only: one that was lost, or done twice, makes another answer. Among them are
//! best-effort batches of which a part fits (`partly`), and what-ifs, of which nothing may stay.
//!
//! The window between a change's line on disk and its answer is hit on purpose: every client leaves some answers
//! unread, has the server killed once the line is there, sends the request again, and must receive that it was
//! answered before.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::{command, folder, root, tautwire};
use serde_json::Value;

const CLIENTS: usize = 3;
/// How many requests a client makes before it begins again.
const ROUND: usize = 10;
/// Requests of a round whose first answer is left unread: a batch of which a part fits, and two replacements.
const UNREAD: [usize; 3] = [2, 4, 8];

/// A stream of a client that the description has not. One of 1500 octets has a deadline that nothing keeps.
fn stream(client: usize, name: &str, payload: u32) -> String {
    let deadline = if payload < 1_500 { "2 ms" } else { "150 us" };
    format!(
        r#"{{"name": "c{client}-{name}", "talker": "right", "listeners": "recorder", "priority": 5, "payload": "{payload} B", "deadline": "{deadline}", "traffic": {{"type": "periodic", "interval": "20 ms"}}}}"#
    )
}

/// A request, its required result, and the state after it.
struct Asked {
    line: String,
    outcome: &'static str,
    admitted: Vec<&'static str>,
}

/// Shared state of the clients and of the thread that kills the server.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    answered: AtomicU64,
    /// Answers with the mark that they were given before.
    repeated: AtomicU64,
    /// Clients that left an answer unread and wait for a kill.
    unread: AtomicUsize,
    killed: AtomicU64,
}

/// A client's request of this number.
fn request(client: usize, number: usize) -> Asked {
    let new = |names: &[(&str, u32)]| {
        let all: Vec<String> = names.iter().map(|(name, payload)| stream(client, name, *payload)).collect();
        format!(r#""new": [{}]"#, all.join(", "))
    };
    let by_name = |names: &[&str]| {
        let all: Vec<String> = names.iter().map(|name| format!(r#""c{client}-{name}""#)).collect();
        format!("[{}]", all.join(", "))
    };
    let mut outcome = "granted";
    let (op, rest, admitted) = match number % ROUND {
        0 => ("reserve", new(&[("a", 64)]), vec!["a"]),
        1 => ("what-if", new(&[("b", 64), ("c", 80)]), vec!["a"]),
        2 => {
            outcome = "partly";
            let batch = new(&[("b", 64), ("late", 1_500), ("c", 80)]);
            ("reserve", format!(r#"{batch}, "mode": "best-effort""#), vec!["a", "b", "c"])
        }
        3 => ("modify", new(&[("a", 100)]), vec!["a", "b", "c"]),
        4 => {
            let gone = by_name(&["b"]);
            ("replace", format!(r#"{}, "instead_of": {gone}"#, new(&[("d", 90)])), vec!["a", "c", "d"])
        }
        5 => ("withdraw", format!(r#""streams": {}"#, by_name(&["c", "d"])), vec!["a"]),
        6 => ("reserve", new(&[("b", 64), ("c", 80)]), vec!["a", "b", "c"]),
        7 => ("withdraw", format!(r#""streams": {}"#, by_name(&["b", "c"])), vec!["a"]),
        8 => {
            let gone = by_name(&["a"]);
            ("replace", format!(r#"{}, "instead_of": {gone}"#, new(&[("e", 64), ("f", 70)])), vec!["e", "f"])
        }
        _ => ("withdraw", format!(r#""streams": {}"#, by_name(&["e", "f"])), Vec::new()),
    };
    let line = format!(r#"{{"op": "{op}", "id": "{client}/{number}", {rest}}}"#);
    Asked { line, outcome, admitted }
}

/// Waits until the complete line of a request is in the log, or the server is gone.
fn on_disk(log: &Path, client: usize, number: usize, shared: &Shared, killed: u64) -> bool {
    let id = format!(r#""id":"{client}/{number}""#);
    for _ in 0..60_000 {
        let text = fs::read_to_string(log).unwrap_or_default();
        let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
        if complete.lines().rev().any(|line| line.contains(&id)) {
            return true;
        }
        if shared.killed.load(Ordering::SeqCst) != killed {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("{client}/{number} comes to no line of the log: {}", request(client, number).line);
}

/// Waits for the next kill behind `killed`, once the line of a request is on disk; whether it is.
fn leave_unread(folder: &Path, client: usize, number: usize, shared: &Shared, killed: u64) -> bool {
    if !on_disk(&folder.join("state/reservations.jsonl"), client, number, shared, killed) {
        return false;
    }
    shared.unread.fetch_add(1, Ordering::SeqCst);
    while shared.killed.load(Ordering::SeqCst) == killed && !shared.stop.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    shared.unread.fetch_sub(1, Ordering::SeqCst);
    true
}

/// Sends requests until it is stopped, each one until it is answered; gives their number.
fn ask(folder: &Path, client: usize, shared: &Shared) -> usize {
    let socket = &folder.join("socket");
    // Whether this request was left unread once it was on disk.
    let mut must_repeat = false;
    let mut number = 0;
    let mut connection: Option<BufReader<UnixStream>> = None;
    // A request is repeated until it is answered: the client only stops between requests.
    let mut under_way = false;
    while under_way || !shared.stop.load(Ordering::SeqCst) {
        under_way = true;
        let Some(open) = &mut connection else {
            connection = UnixStream::connect(socket).ok().map(BufReader::new);
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        let mut answer = String::new();
        let asked = request(client, number);
        // Known before it is sent: what is sent to a server that is gone by then waits for no other kill.
        let killed = shared.killed.load(Ordering::SeqCst);
        let sent = writeln!(open.get_mut(), "{}", asked.line);
        let leave = UNREAD.contains(&(number % ROUND)) && !must_repeat && !shared.stop.load(Ordering::SeqCst);
        if sent.is_ok() && leave {
            must_repeat = leave_unread(folder, client, number, shared, killed);
            connection = None;
            continue;
        }
        let heard = sent.is_ok() && open.read_line(&mut answer).is_ok();
        // An answer that was cut off is none.
        if !heard || !answer.ends_with('\n') {
            connection = None;
            continue;
        }
        let decision: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(decision["outcome"], asked.outcome, "{}: {answer}", asked.line);
        let repeated = decision["repeated"] == true;
        assert!(repeated || !must_repeat, "on disk before: {}: {answer}", asked.line);
        shared.repeated.fetch_add(u64::from(repeated), Ordering::SeqCst);
        must_repeat = false;
        number += 1;
        under_way = false;
        shared.answered.fetch_add(1, Ordering::SeqCst);
    }
    number
}

#[test]
fn clients_that_ask_again_after_a_kill_lose_and_repeat_nothing() {
    let folder = folder("admit-clients");
    let scenario = root().join("scenarios/admission.yaml").display().to_string();
    let arguments = ["admit", &scenario, "--json", "--state", "state", "--listen", "socket"];
    let kills = tautwire_generate::cases(8);
    let shared = Shared::default();
    let done: Vec<usize> = thread::scope(|scope| {
        let (folder, shared) = (&folder, &shared);
        let clients: Vec<_> =
            (0..CLIENTS).map(|client| scope.spawn(move || ask(folder, client, shared))).collect();
        for kill in 0..kills {
            let mut server = command(folder, &arguments).spawn().unwrap();
            let until = shared.answered.load(Ordering::SeqCst) + 1 + kill % 11;
            while shared.answered.load(Ordering::SeqCst) < until
                && shared.unread.load(Ordering::SeqCst) == 0
                && !clients.iter().any(|client| client.is_finished())
            {
                thread::yield_now();
            }
            server.kill().unwrap();
            server.wait().unwrap();
            shared.killed.fetch_add(1, Ordering::SeqCst);
            // The thread that waited for it goes on.
            while shared.unread.load(Ordering::SeqCst) > 0 {
                thread::yield_now();
            }
        }
        // The last one answers what is under way.
        let mut server = command(folder, &arguments).spawn().unwrap();
        shared.stop.store(true, Ordering::SeqCst);
        let done: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        server.kill().unwrap();
        server.wait().unwrap();
        done.into_iter().map(|done| done.expect("every answer is as it must be")).collect()
    });
    fs::write(folder.join("list"), "{\"op\": \"list\"}\n").unwrap();
    let listed = tautwire(&folder, &["admit", &scenario, "--json", "--state", "state", "--requests", "list"]);
    let decision: Value = serde_json::from_str(&listed.stdout).unwrap();
    let names = decision["admitted"].as_array().unwrap();
    let kept: BTreeSet<String> = names.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert_eq!(kept.len(), names.len(), "nothing is admitted twice");
    let admitted = |client: usize| {
        let last =
            done[client].checked_sub(1).map(|number| request(client, number).admitted).unwrap_or_default();
        last.into_iter().map(move |name| format!("c{client}-{name}"))
    };
    assert_eq!(kept, (0..CLIENTS).flat_map(admitted).collect(), "after {done:?} requests");
    let repeated = shared.repeated.load(Ordering::SeqCst);
    assert!(repeated > 0, "no answer was lost between disk and client: {done:?}");
    assert!(done.iter().any(|done| *done > UNREAD[0]), "no batch of which a part fits: {done:?}");
    assert!(done.iter().sum::<usize>() as u64 >= kills / 2, "{done:?}");
}
