//! YANG with a base: what is exported and read into its description is that description; and what is changed in the documents is in it behind that, or
//! listed.

use std::collections::BTreeMap;

use serde_json::Value;
use tautwire_exchange::{Base, Converted, Input, Text};
use tautwire_model::network::Network;

use crate::common::{descriptions, network};

fn documents(form: &str, network: &Network) -> Vec<Text> {
    tautwire_exchange::export(form).unwrap().write(network, None).unwrap_or_default()
}

fn inputs(documents: &[Text]) -> Vec<Input> {
    let name = |text: &Text| text.file.as_deref().unwrap().rsplit_once('.').unwrap().0.to_owned();
    documents.iter().map(|text| Input { name: name(text), text: text.converted.text.clone() }).collect()
}

fn read_into(inputs: &[Input], text: &str, network: &Network) -> Result<Converted, String> {
    let yang = tautwire_exchange::import("yang").unwrap();
    yang.read_into(inputs, &Base { text, network }).map_err(|faults| faults.join("\n"))
}

#[test]
fn what_is_exported_and_read_into_its_description_leaves_it_as_it_is() {
    let mut streams = BTreeMap::<&str, usize>::new();
    for (name, text, own) in descriptions(4) {
        for form in ["yang", "yang-xml"] {
            let documents = documents(form, &own);
            let found =
                read_into(&inputs(&documents), &text, &own).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(found.text == text, "{name} {form}: {}", similar(&text, &found.text));
            assert_eq!(found.left_out, Vec::<String>::new(), "{name} {form}");
            for module in
                ["stream-identity", "scheduler-instance-table", "sequence-recovery", "stream-handle"]
            {
                let count = documents.iter().filter(|text| text.converted.text.contains(module)).count();
                *streams.entry(module).or_default() += count;
            }
        }
    }
    assert!(streams.values().all(|count| *count > 20), "{streams:?}");
}

/// Lines that differ.
fn similar(one: &str, other: &str) -> String {
    let lines = one.lines().zip(other.lines()).filter(|(one, other)| one != other).take(3);
    lines.map(|(one, other)| format!("\n- {one}\n+ {other}")).collect()
}

/// Numbers by a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn of<'t, T>(&mut self, list: &'t [T]) -> Option<&'t T> {
        if list.is_empty() { None } else { Some(&list[self.below(list.len())]) }
    }
}

/// Visits all objects.
fn objects(value: &mut Value, visit: &mut dyn FnMut(&mut serde_json::Map<String, Value>)) {
    match value {
        Value::Object(members) => {
            visit(members);
            members.values_mut().for_each(|member| objects(member, visit));
        }
        Value::Array(list) => list.iter_mut().for_each(|entry| objects(entry, visit)),
        _ => {}
    }
}

/// What all objects have under a name.
fn found(documents: &mut [Value], name: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for document in documents {
        objects(document, &mut |members| all.extend(members.get(name).cloned()));
    }
    all.dedup();
    all
}

const CHANGES: [&str; 13] = [
    "scheduler",
    "residence",
    "recovery",
    "latent",
    "encapsulation",
    "filter",
    "no filter",
    "meter",
    "slope",
    "states",
    "priority",
    "tagged",
    "express",
];

/// Changes documents of a network; none if it has nothing of the kind.
fn changed(kind: &str, documents: &mut [Value], draw: &mut Draw) -> Option<()> {
    let one = |documents: &mut [Value], visit: &mut dyn FnMut(&mut serde_json::Map<String, Value>)| {
        documents.iter_mut().for_each(|document| objects(document, visit));
    };
    let more = |value: &Value, by: u64| -> Value {
        match value {
            Value::String(text) => (text.parse::<u64>().unwrap() + by).to_string().into(),
            other => (other.as_u64().unwrap() + by).into(),
        }
    };
    let with = |documents: &mut [Value], name: &str| {
        let mut handles = Vec::new();
        one(documents, &mut |members| {
            if members.contains_key(name) {
                handles.extend(members.get("stream-handle").or(members.get("stream")).cloned());
            }
        });
        handles
    };
    match kind {
        // At all bridges: a description has one.
        "scheduler" => {
            let handles = with(documents, "schedulers");
            let handle = draw.of(&handles)?.clone();
            one(documents, &mut |members| {
                if members.get("stream-handle") == Some(&handle) && members.contains_key("schedulers") {
                    let scheduler = &mut members["schedulers"]["scheduler-instance-table"][0];
                    let rate = scheduler["committed-information-rate"].clone();
                    let rate: u64 = rate.as_str().unwrap().parse().unwrap();
                    scheduler["committed-information-rate"] = (2 * rate).to_string().into();
                    scheduler["committed-burst-size"] = more(&scheduler["committed-burst-size"], 800);
                }
            });
        }
        "residence" => {
            found(documents, "max-residence-time").first()?;
            let document = draw.below(documents.len());
            one(&mut documents[document..=document], &mut |members| {
                if members.contains_key("max-residence-time") {
                    members.insert("max-residence-time".into(), 23_000_000.into());
                }
            });
        }
        "recovery" | "latent" => {
            let handles = with(documents, "take-no-sequence");
            let handle = draw.of(&handles)?.clone();
            one(documents, &mut |members| {
                let is_it = members.get("stream") == Some(&handle) && members.contains_key("reset-timeout");
                if is_it && (kind == "recovery" || members["individual-recovery"] == false) {
                    if kind == "latent" {
                        members.insert("latent-error-detection".into(), true.into());
                        let parameters = serde_json::json!({"difference": 3, "period": 500, "paths": 2, "reset-period": 9_000});
                        members.insert("latent-error-detection-parameters".into(), parameters);
                        return;
                    }
                    members["reset-timeout"] = more(&members["reset-timeout"], 7);
                    members["take-no-sequence"] = (members["take-no-sequence"] == false).into();
                    if members.contains_key("history-length") {
                        members["history-length"] = more(&members["history-length"], 3);
                    }
                }
            });
        }
        "encapsulation" => {
            found(documents, "encapsulation").first()?;
            one(documents, &mut |members| {
                if members.contains_key("encapsulation") {
                    members.insert("encapsulation".into(), serde_json::json!({"prp-sequence-tag": {}}));
                }
            });
        }
        "filter" | "no filter" => {
            let mut tables = 0;
            one(documents, &mut |members| tables += usize::from(is_policed(members)));
            if tables == 0 {
                return None;
            }
            let (chosen, row) = (draw.below(tables), draw.below(8));
            let mut number = 0;
            one(documents, &mut |members| {
                if is_policed(members) {
                    let rows = members["stream-filter-instance-table"].as_array_mut().unwrap();
                    let row = row % rows.len();
                    match kind {
                        _ if number != chosen => {}
                        "filter" => rows[row]["max-sdu-size"] = more(&rows[row]["max-sdu-size"], 700),
                        _ => drop(rows.remove(row)),
                    }
                    number += 1;
                }
            });
        }
        _ => {
            let (leaf, by) = match kind {
                "meter" => ("excess-burst-size", 100),
                "slope" => ("admin-idle-slope", 1_000_000),
                "states" => ("gate-states-value", 0),
                "priority" => ("default-priority", 0),
                "tagged" => ("vlan-transmitted", 0),
                _ => ("priority6", 0),
            };
            // Other tables have leaves of this name.
            let is_it = |value: &Value| kind != "express" || value == "express" || value == "preemptable";
            let count = found(documents, leaf).iter().filter(|value| is_it(value)).count();
            let chosen = draw.below(count.max(1));
            let (mut number, mut done) = (0, false);
            one(documents, &mut |members| {
                let Some(value) = members.get(leaf).cloned().filter(is_it) else { return };
                if number == chosen {
                    let other = match kind {
                        "states" => (value.as_u64().unwrap() ^ 128).into(),
                        "priority" => ((value.as_u64().unwrap() + 3) % 8).into(),
                        "tagged" if value == "tagged" => "untagged".into(),
                        "tagged" => "tagged".into(),
                        "express" if value == "express" => "preemptable".into(),
                        "express" => "express".into(),
                        _ => more(&value, by),
                    };
                    members.insert(leaf.into(), other);
                    done = true;
                }
                number += 1;
            });
            return done.then_some(());
        }
    }
    Some(())
}

/// Whether it is a table of stream filters without schedulers.
fn is_policed(members: &serde_json::Map<String, Value>) -> bool {
    let rows = members.get("stream-filter-instance-table").and_then(Value::as_array);
    rows.is_some_and(|rows| !rows.is_empty() && rows.iter().all(|row| row["schedulers"].is_null()))
}

/// What documents have of a bridge, without numbers of rows, and without the streams' functions, which are there if they are used.
fn compared(document: &Value) -> Value {
    let mut document = document.clone();
    objects(&mut document, &mut |members| {
        members.remove("stream-filter-instance-id");
        members.remove("index");
    });
    document.as_object_mut().unwrap().remove("ieee802-dot1cb-stream-identification:stream-identity");
    document
}

#[test]
fn what_is_changed_in_documents_is_in_the_description_behind_that_or_listed() {
    let mut taken = BTreeMap::<&str, usize>::new();
    let mut faults = Vec::new();
    for (number, (name, text, own)) in descriptions(4).into_iter().enumerate() {
        let exported = documents("yang", &own);
        for (of_kind, kind) in CHANGES.iter().enumerate() {
            let mut changed_documents: Vec<Value> =
                exported.iter().map(|text| serde_json::from_str(&text.converted.text).unwrap()).collect();
            let mut draw = Draw((number * 100 + of_kind) as u64);
            if changed_documents.is_empty() || changed(kind, &mut changed_documents, &mut draw).is_none() {
                continue;
            }
            let mut files = inputs(&exported);
            for (file, document) in files.iter_mut().zip(&changed_documents) {
                file.text = document.to_string();
            }
            let found = match read_into(&files, &text, &own) {
                Ok(found) => found,
                // A value behind an anchor is at several places.
                Err(why) if why.contains("an anchor or an alias") => continue,
                Err(why) => panic!("{name} {kind}: {why}"),
            };
            let loaded = tautwire_workbench::load_text("net.yaml", &found.text);
            let Some(back) = loaded.network else {
                let why =
                    loaded.diagnostics.iter().find(|one| one.severity == tautwire_model::Severity::Error);
                let why = why.unwrap();
                // What the bridges are configured as may be wrong; a text that nobody understands is ours.
                let ours = ["text::", "key::", "value::"].iter().any(|code| why.code.starts_with(code));
                if ours {
                    faults.push(format!("{name} {kind}: {} {}", why.code, why.message));
                }
                continue;
            };
            if !found.left_out.is_empty() {
                continue;
            }
            let again = documents("yang", &back);
            for ((one, file), other) in changed_documents.iter().zip(&files).zip(&again) {
                let other: Value = serde_json::from_str(&other.converted.text).unwrap();
                // Frames without a tag have other priorities, so all that follows from these is other.
                let is_same = if *kind == "tagged" {
                    found_in(one, "vlan-registration-entry") == found_in(&other, "vlan-registration-entry")
                } else {
                    compared(one) == compared(&other)
                };
                // What an export leaves out is in no document.
                let is_whole = exported.iter().all(|text| {
                    text.converted.left_out.iter().all(|line| !line.contains("carry their numbers"))
                });
                if !is_same && (is_whole || *kind != "encapsulation") {
                    faults.push(format!(
                        "{name} {kind} {}: {}",
                        file.name,
                        similar(&pretty(one), &pretty(&other))
                    ));
                }
            }
            *taken.entry(kind).or_default() += 1;
        }
    }
    let first: Vec<String> = faults.iter().take(12).map(|fault| fault.chars().take(700).collect()).collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), first.join("\n"));
    assert!(CHANGES.iter().all(|kind| taken.contains_key(kind)), "{taken:?}");
}

fn found_in(document: &Value, name: &str) -> Vec<Value> {
    found(&mut [document.clone()], name)
}

fn pretty(document: &Value) -> String {
    serde_json::to_string_pretty(&compared(document)).unwrap()
}

/// Handles are a device's own.
#[test]
fn streams_are_found_whatever_their_handles() {
    let mut found_ones = 0;
    for (name, text, own) in descriptions(3) {
        let exported = documents("yang", &own);
        let is_clear = exported.iter().all(|text| {
            text.converted.left_out.iter().all(|line| !line.contains("what distinguishes"))
                && text.converted.text.contains("stream-identity")
        });
        if exported.is_empty() || !is_clear {
            continue;
        }
        let mut files = inputs(&exported);
        for file in &mut files {
            let mut document: Value = serde_json::from_str(&file.text).unwrap();
            objects(&mut document, &mut |members| {
                for key in ["handle", "stream-handle"] {
                    if let Some(handle) = members.get(key).and_then(Value::as_u64) {
                        members.insert(key.into(), (9_999 - handle).into());
                    }
                }
                if let Some(Value::Array(list)) = members.get_mut("stream") {
                    list.iter_mut().for_each(|handle| *handle = (9_999 - handle.as_u64().unwrap()).into());
                }
            });
            file.text = document.to_string();
        }
        let found = read_into(&files, &text, &own).unwrap();
        assert!(found.text == text, "{name}: {}", similar(&text, &found.text));
        assert_eq!(found.left_out, Vec::<String>::new(), "{name}");
        found_ones += 1;
    }
    assert!(found_ones > 5, "{found_ones}");
}

#[test]
fn what_a_description_cannot_have_of_streams_is_listed() {
    let text = "\
name: net
vlans: {1: {tagged: all}}
devices: {d: {classes: {6: {transmission-selection: ats}}}}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge, device: d}, t: {type: bridge, device: d}}
links: [{between: [a, s], rate: 1 Gbit/s}, {between: [s, t], rate: 1 Gbit/s}, {between: [t, b], rate: 1 Gbit/s}]
streams:   # one
  - name: x
    talker: a
    listeners: b
    priority: 6
    payload: 100 B
    traffic: {type: periodic, interval: 1 ms}
    shaper: {committed-information-rate: 2 Mbit/s, committed-burst-size: 142 B}
";
    let own = network(text);
    let mut files = inputs(&documents("yang", &own));
    let read = |files: &[Input]| read_into(files, text, &own);
    // One bridge alone has another rate.
    let whole = files[0].text.clone();
    files[0].text = whole.replace("\"2000000\"", "\"3000000\"");
    let found = read(&files).unwrap();
    assert_eq!(found.text, text);
    assert_eq!(found.left_out.len(), 2, "{:?}", found.left_out);
    assert!(found.left_out[0].starts_with("bridge s: 3 Mbit/s and 1136 bit of the scheduler of stream x;"));
    // Both have it, and the second a step.
    files[1].text = files[1].text.replace("\"2000000\"", "\"3000300\"").replace(": 1136", ": 1144");
    let found = read(&files).unwrap();
    assert_eq!(found.left_out, Vec::<String>::new());
    let line = "    shaper: {rate-step: 100000 ppb, committed-information-rate: 3 Mbit/s, committed-burst-size: 142 B}";
    assert!(found.text.contains(line) || found.text.contains("rate-step: 100000 ppb"), "{}", found.text);
    assert!(found.text.contains("streams:   # one\n"));
    // Whose handle is not known.
    files.truncate(1);
    files[0].text = whole.replace("\"handle\": 1", "\"handle\": 5");
    let found = read(&files).unwrap();
    let lines = found.left_out.join("\n");
    for line in [
        "the scheduler of handle 1, which no function identifies",
        "bridge s: that stream x has no scheduler; that of the base stays",
        "bridge t: it has no document, and stays as the base has it",
    ] {
        assert!(lines.contains(line), "{line}\n{lines}");
    }
    files[0].text = whole.replace("\"name\": \"s\"", "\"name\": \"z\"");
    assert_eq!(read(&files).unwrap_err(), "s: the base has no bridge `z`; its bridges: s, t");
    let tc = tautwire_exchange::import("tc").unwrap();
    let why = tc.read_into(&files, &Base { text, network: &own }).unwrap_err();
    assert_eq!(why, ["files of tc take no base: those of yang, uni, gptp do"]);
}
