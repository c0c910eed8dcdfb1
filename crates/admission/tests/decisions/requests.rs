//! Lines that are nearly requests, and `new` streams that are nearly descriptions: none makes the parser or the server panic, what is
//! read is written and read again as the same, and what is not granted leaves everything as it was.
//!
//! Random text alone seldom gets past the first brace; these begin with complete requests and change characters, values and keys.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tautwire_admission::{
    AdmissionServer, Channel, Decision, LogError, Operation, Outcome, Request, RequestError, Test,
};
use tautwire_model::{Grammar, Network};

const DESCRIPTION: &str = include_str!("../../../../scenarios/admission.yaml");

/// A stream that can be admitted.
fn stream() -> Value {
    json!({
        "name": "extra", "talker": "right", "listeners": "recorder", "priority": 5, "payload": "64 B",
        "deadline": "2 ms", "traffic": {"type": "periodic", "interval": "1 ms"},
    })
}

/// Complete requests of every kind.
fn complete_requests() -> Vec<Value> {
    vec![
        json!({"op": "reserve", "streams": ["view-left"]}),
        json!({"op": "reserve", "id": "a/1", "new": [stream()], "suggest": true, "mode": "best-effort"}),
        json!({"op": "what-if", "streams": ["view-right"], "new": [stream()]}),
        json!({"op": "replace", "streams": ["view-right"], "instead_of": ["view-left"]}),
        json!({"op": "modify", "new": [stream()]}),
        json!({"op": "withdraw", "streams": ["view-left", "extra"]}),
        json!({"op": "list"}),
    ]
}

/// Replacements of a value: of other kinds, too long, too great, or words with a meaning elsewhere.
fn any_value() -> impl Strategy<Value = Value> {
    let words = [
        "",
        "recorder",
        "view-left",
        "64 B",
        "-1 B",
        "1 s",
        "0 ns",
        "125 us",
        "99999999999999999999 B",
        "1e9 s",
        "{type: periodic",
        "all",
        "extra: ]",
        "\u{0}",
        "\n- x",
        "# no",
        "*a",
        "&a",
        "periodic",
        "~",
        "\"",
        "'",
        "!!binary x",
        "%",
        "stream-reservation",
        "{}",
    ];
    prop_oneof![
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!([["recorder"], {"a": 1}])),
        "\\PC{0,12}".prop_map(Value::from),
    ]
}

/// Puts a value in the place of one of the request's, or under a key that it has not, wherever that is.
fn change(request: &mut Value, place: usize, value: Value, renames: bool) {
    fn places<'v>(value: &'v mut Value, found: &mut Vec<&'v mut Value>) {
        match value {
            Value::Object(map) => map.values_mut().for_each(|inner| places(inner, found)),
            Value::Array(all) => all.iter_mut().for_each(|inner| places(inner, found)),
            leaf => found.push(leaf),
        }
    }
    if renames {
        let streams = request.get_mut("new").and_then(|new| new.get_mut(0)).and_then(Value::as_object_mut);
        if let Some(keys) = streams.filter(|keys| !keys.is_empty()) {
            let known: Vec<String> = keys.keys().cloned().collect();
            let key = &known[place % known.len()];
            let old = keys.remove(key).unwrap();
            keys.insert(value.as_str().unwrap_or("shaping").to_owned(), old);
        }
        return;
    }
    let mut found = Vec::new();
    places(request, &mut found);
    let count = found.len().max(1);
    if let Some(leaf) = found.into_iter().nth(place % count) {
        *leaf = value;
    }
}

/// Sends lines one after the other, and at last the request for the list.
struct Lines {
    left: Vec<String>,
    decisions: Vec<Decision>,
}

impl Channel for Lines {
    type Error = LogError;

    fn next(&mut self) -> Result<Option<Result<Request, RequestError>>, LogError> {
        Ok(self.left.pop().map(|line| Request::parse(&line)))
    }

    fn reply(&mut self, _: &Network, decision: Decision) -> Result<(), LogError> {
        self.decisions.push(decision);
        Ok(())
    }
}

/// The decisions on lines, with the list before and behind each.
fn decisions(lines: &[String]) -> Vec<Decision> {
    let list = r#"{"op": "list"}"#.to_owned();
    let mut left = vec![list.clone()];
    for line in lines.iter().rev() {
        left.extend([line.clone(), list.clone()]);
    }
    let mut channel = Lines { left, decisions: Vec::new() };
    let server = AdmissionServer::open(Grammar::kernel(), "admission.yaml", DESCRIPTION, Test::Bounds, None);
    server.unwrap().serve(&mut channel).unwrap();
    channel.decisions
}

/// Whether what was not granted left the list as it was.
fn holds(lines: &[String]) {
    let replies = decisions(lines);
    assert_eq!(replies.len(), 2 * lines.len() + 1, "each is answered");
    for (place, line) in lines.iter().enumerate() {
        let [before, decision, behind] = &replies[2 * place..=2 * place + 2] else { panic!("three") };
        let changes = Request::parse(line)
            .is_ok_and(|request| !matches!(request.op, Operation::List | Operation::WhatIf));
        if decision.outcome != Outcome::Granted && decision.outcome != Outcome::Partly || !changes {
            assert_eq!(before.admitted, behind.admitted, "{line}");
        }
    }
}

#[test]
fn complete_requests_are_read_and_written_as_the_same() {
    for request in complete_requests() {
        let read = Request::parse(&request.to_string()).unwrap();
        assert_eq!(Request::parse(&serde_json::to_string(&read).unwrap()), Ok(read));
    }
    holds(&complete_requests().iter().map(Value::to_string).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_makes_the_parser_panic(
        place in 0_usize..7,
        flips in vec((any::<usize>(), any::<char>()), 0..6),
        cut in 0_usize..10,
    ) {
        let mut characters: Vec<char> = complete_requests()[place].to_string().chars().collect();
        for (at, other) in flips {
            let length = characters.len();
            characters[at % length] = other;
        }
        characters.truncate(characters.len() - cut);
        let line: String = characters.into_iter().collect();
        if let Ok(request) = Request::parse(&line) {
            let written = serde_json::to_string(&request).unwrap();
            prop_assert_eq!(Request::parse(&written), Ok(request));
        }
    }

    #[test]
    fn any_text_is_answered_with_the_form_of_a_request(line in "\\PC{0,60}") {
        prop_assert!(Request::parse(&line).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_nearly_a_request_changes_nothing_unless_it_is_granted(
        changes in vec((1_usize..5, any::<usize>(), any_value(), any::<bool>()), 1..6),
    ) {
        let mut lines = vec![complete_requests()[0].to_string()];
        for (which, place, value, renames) in changes {
            let mut request = complete_requests()[which].clone();
            change(&mut request, place, value, renames);
            lines.push(request.to_string());
        }
        holds(&lines);
    }
}
