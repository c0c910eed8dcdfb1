//! The output of the commands about listeners: causes of losses, refusals, and names of reasons.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;
use std::path::Path;

use common::{folder, tautwire};

/// An input of the cases of the workbench.
fn case(name: &str) -> String {
    let cases = Path::new("../workbench/tests/cases/inputs");
    fs::read_to_string(cases.join(name)).unwrap()
}

fn row<'a>(table: &'a str, starts: &[&str]) -> &'a str {
    let is_it = |line: &&str| {
        line.split_whitespace().zip(starts).filter(|(cell, want)| cell == *want).count() == starts.len()
    };
    table.lines().find(is_it).unwrap_or_else(|| panic!("no row {starts:?}\n{table}"))
}

#[test]
fn a_loss_is_shown_where_it_is_suffered() {
    let folder = folder("listeners-loss");
    fs::write(folder.join("loss.yaml"), case("loss-per-listener.yaml")).unwrap();
    let ended = tautwire(&folder, &["verify", "loss.yaml"]);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(row(&ended.stdout, &["m", "good"]).ends_with(" proven"), "{}", ended.stdout);
    assert!(row(&ended.stdout, &["m", "bad"]).ends_with(" missed"), "{}", ended.stdout);
    assert!(ended.stdout.contains("queue-full"), "{}", ended.stdout);
    let alone = tautwire(&folder, &["simulate", "loss.yaml"]);
    assert_eq!(alone.code, 1, "{}", alone.stdout);
}

#[test]
fn a_refused_stream_ends_with_1_and_a_code() {
    let folder = folder("listeners-refused");
    fs::write(folder.join("refused.yaml"), case("reservation-refused.yaml")).unwrap();
    for command in ["verify", "simulate"] {
        let ended = tautwire(&folder, &[command, "refused.yaml"]);
        assert_eq!(ended.code, 1, "{}", ended.stdout);
        assert!(ended.stdout.contains("a4 at l: refused with failure code 1"), "{}", ended.stdout);
        let failure = |stream: &str| {
            let table = ended.stdout.split("reservation ").nth(1).unwrap();
            row(table, &[stream]).split_whitespace().rev().nth(1).unwrap().to_owned()
        };
        assert_eq!(["a1", "a2", "a3", "b1", "a4"].map(failure), ["-", "-", "-", "-", "1"]);
    }
}

#[test]
fn what_failures_took_is_not_shown_as_if_nothing_had_been_lost() {
    let folder = folder("listeners-failures");
    let text = "name: cut\nnetwork-control: none\ndefaults: {rate: 100 Mbit/s}\n\
        nodes: {a: {type: end-station}, b: {type: end-station}}\nlinks: [{name: only, between: [a, b]}]\n\
        streams:\n  - {name: s, talker: a, listeners: b, payload: 100 B, deadline: 1 ms, traffic: {type: periodic, interval: 1 ms}}\n\
        events: [{at: 3 ms, cut-link: only}, {at: 5 ms, mend-link: only}]\nrun: {duration: 9500 us}\n";
    fs::write(folder.join("cut.yaml"), text).unwrap();
    let ended = tautwire(&folder, &["verify", "cut.yaml"]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(row(&ended.stdout, &["s", "b"]).ends_with("proven but for losses"), "{}", ended.stdout);
    assert!(ended.stdout.contains("link-down (failure)"), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("1 stream: 1 proven but for losses\n"), "{}", ended.stdout);
}

#[test]
fn a_reason_names_node_and_port() {
    let folder = folder("listeners-names");
    fs::write(folder.join("loss.yaml"), case("loss-per-listener.yaml")).unwrap();
    let ended = tautwire(&folder, &["bounds", "loss.yaml", "--explain", "flood"]);
    assert!(ended.stdout.contains("port sw.p4 is overloaded"), "{}", ended.stdout);
    let number = |word: &str| word.parse::<u32>().is_ok();
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    assert!(!words.windows(2).any(|pair| pair[0] == "port" && number(pair[1])), "{}", ended.stdout);
}
