//! What `tune` finds is known by hand, is the least that does, and all that changes in the text.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tautwire_model::document;
use tautwire_model::settings::{Setting, SettingKey};
use tautwire_workbench::{NotTuned, TuneKind, TuneOptions, Tuned, Verdict, bounds, judge, load_text, tune};

use super::{network, text};

/// What is found with these kinds of values.
fn found(text: &str, kinds: &[TuneKind], least: bool) -> Tuned {
    let mut options = TuneOptions { kinds: kinds.to_vec(), least, runs: 3_000, stop: &mut || false };
    let tuned = tune("case", text, &mut options).expect("a description with deadlines");
    assert!(!tuned.cut_short, "{} runs", tuned.runs);
    if let Some(found) = &tuned.text {
        assert!(is_proven(found), "{found}");
        assert!(tuned.gives("case", found));
        let mut differ = Vec::new();
        differences("", &document(text), &document(found), &mut differ);
        let changed: Vec<&str> = tuned.changes.iter().map(|change| change.path.as_str()).collect();
        let is_reported = |path: &String| changed.contains(&path.as_str());
        assert!(differ.iter().all(is_reported) && differ.len() == changed.len(), "{differ:?} {changed:?}");
    }
    tuned
}

/// Whether all rows with a deadline are proven.
fn is_proven(text: &str) -> bool {
    let loaded = load_text("case", text);
    let Some(network) = loaded.network else { return false };
    let verification = judge(&network, Some(&bounds(&network)), None);
    verification.streams.iter().all(|stream| stream.verdict <= Verdict::Proven)
}

/// The paths at which two descriptions differ.
fn differences(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    let under = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in b {
                differences(&under(key), a.get(key).unwrap_or(&Value::Null), value, found);
            }
            found.extend(a.keys().filter(|key| !b.contains_key(*key)).map(|key| under(key)));
        }
        (Value::Null, Value::Object(b)) => {
            b.iter().for_each(|(key, value)| differences(&under(key), &Value::Null, value, found));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (number, (a, b)) in a.iter().zip(b).enumerate() {
                let name = a["name"].as_str().map_or_else(|| number.to_string(), str::to_owned);
                differences(&under(&name), a, b, found);
            }
        }
        _ if one != other => found.push(path.to_owned()),
        _ => {}
    }
}

/// The new values, by their paths.
fn values(tuned: &Tuned) -> Vec<(&str, &str)> {
    tuned.changes.iter().map(|change| (change.path.as_str(), change.new.as_str())).collect()
}

/// Lines of a text that another one has not.
fn new_lines<'a>(text: &str, other: &'a str) -> Vec<&'a str> {
    let known: Vec<&str> = text.lines().collect();
    assert_eq!(known.len(), other.lines().count(), "{other}");
    known.iter().zip(other.lines()).filter(|(one, other)| **one != *other).map(|(_, other)| other).collect()
}

#[test]
fn two_slopes_are_raised_to_the_least_that_proves() {
    let text = text("tune-slopes.yaml");
    let tuned = found(&text, &[TuneKind::IdleSlope, TuneKind::QueueLimit], false);
    let found_text = tuned.text.as_deref().expect("the line has room");
    assert_eq!(tuned.changes.len(), 2, "{}", tuned.to_text());
    let lines = new_lines(&text, found_text);
    assert!(lines.iter().all(|line| line.contains("idle-slope")), "{lines:?}");
    assert!(tuned.changes.iter().all(|change| change.kind == TuneKind::IdleSlope), "{}", tuned.to_text());
    // One less of any of them is too little.
    for change in &tuned.changes {
        let mbit: f64 = change.new.trim_end_matches(" Mbit/s").parse().expect("megabits");
        let less = format!("idle-slope: {:.1} Mbit/s", mbit - 0.1);
        let fails = found_text.replace(&format!("idle-slope: {}", change.new), &less);
        assert!(fails != found_text && !is_proven(&fails), "{}", tuned.to_text());
    }
}

#[test]
fn a_slope_alone_is_as_great_as_by_hand() {
    // With an ample second bridge: three frames of 8336 bit at I, and 247.2 us on the three lines, are 1500 us at 19.97 Mbit/s.
    let text = text("tune-slopes.yaml").replace("15 Mbit/s", "100 Mbit/s");
    let tuned = found(&text, &[TuneKind::IdleSlope], false);
    let changed = values(&tuned);
    assert_eq!(changed, [("nodes.near.classes.5.idle-slope", "20 Mbit/s")], "{}", tuned.to_text());
    assert!(!is_proven(&text.replace("10 Mbit/s", "19.9 Mbit/s")));
}

/// A talker, a bridge and a listener, with what a test sets.
fn line(bridge: &str, streams: &str) -> String {
    format!(
        "# Kept.
name: line
network-control: none
vlans: {{1: {{tagged: all}}}}
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  a: {{type: end-station}}
  b: {{type: end-station}}
  c: {{type: end-station}}
  z: {{type: end-station}}
  sw: {{type: bridge{bridge}}}   # the bridge
links: [{{between: [a, sw]}}, {{between: [b, sw]}}, {{between: [c, sw]}}, {{between: [sw, z], rate: 10 Mbit/s}}]
streams:
{streams}"
    )
}

#[test]
fn a_slope_gives_way_to_one_that_needs_more_than_is_left() {
    // Of 10 Mbit/s class 3 has five, of which its stream needs little; class 5 has four, and would be late with the five that are left.
    let shaped = ", classes: {5: {transmission-selection: credit-based, idle-slope: 4 Mbit/s}, 3: {transmission-selection: credit-based, idle-slope: 5 Mbit/s}}";
    let streams = "  - {name: x, talker: a, listeners: z, priority: 5, payload: 1000 B, deadline: 5600 us, traffic: {type: periodic, interval: 40 ms, burst: 4}}
  - {name: y, talker: b, listeners: z, priority: 3, payload: 100 B, deadline: 30 ms, traffic: {type: periodic, interval: 40 ms}}
";
    let text = line(shaped, streams);
    assert!(!is_proven(&text.replace("4 Mbit/s", "5 Mbit/s")));
    let tuned = found(&text, &[TuneKind::IdleSlope], false);
    let mbit = |change: &tautwire_workbench::Change| -> f64 {
        change.new.trim_end_matches(" Mbit/s").parse().expect("megabits")
    };
    let new: Vec<f64> = tuned.changes.iter().map(mbit).collect();
    assert_eq!(new.len(), 2, "{}", tuned.to_text());
    assert!(new[0] > 5.0 && new[1] < 5.0 && new[0] + new[1] <= 10.0, "{}", tuned.to_text());
}

#[test]
fn a_limit_is_raised_to_what_is_needed() {
    // Ten frames come in the time in which one leaves: nine wait while one is on the line.
    let burst = "  - {name: x, talker: a, listeners: z, priority: 3, payload: 100 B, deadline: 50 ms, traffic: {type: periodic, interval: 100 ms, burst: 10}}\n";
    for (limit, path) in [
        (", queue-limit: {frames: 4}", "nodes.sw.queue-limit.frames"),
        (", classes: {3: {queue-limit: {frames: 4}}}", "nodes.sw.classes.3.queue-limit.frames"),
    ] {
        let text = line(limit, burst);
        let tuned = found(&text, &[TuneKind::QueueLimit], false);
        let new: u64 = values(&tuned)[0].1.parse().expect("a number");
        assert_eq!(values(&tuned), [(path, new.to_string().as_str())]);
        assert!((9..=10).contains(&new), "{new}");
        let fails = text.replace("frames: 4", &format!("frames: {}", new - 1));
        assert!(!is_proven(&fails) && is_proven(&text.replace("frames: 4", &format!("frames: {new}"))));
    }
    // A default is written where it holds.
    let burst = burst.replace("burst: 10", "burst: 1100").replace("50 ms", "1 s").replace("100 ms", "2 s");
    let tuned = found(&line("", &burst), &[TuneKind::QueueLimit], false);
    let lines = new_lines(&line("", &burst), tuned.text.as_deref().expect("a limit does"));
    // All 1100 are handed to the port of the talker at once; on a line ten times as fast 990 of them come before they leave the bridge.
    assert_eq!(lines, ["  a: {type: end-station, queue-limit: {frames: 1100}}"]);
    assert!(tuned.changes.iter().all(|change| change.old.is_none() && change.before() == "1024 (default)"));
}

#[test]
fn a_rate_covers_its_stream_and_no_more() {
    // 1042 octets of the wire a millisecond: 8.336 Mbit/s, so 8.34 is the least of three digits.
    let shaped = "  - {name: x, talker: a, listeners: z, priority: 3, payload: 1000 B, deadline: 5 ms, traffic: {type: periodic, interval: 1 ms}, shaper: {committed-information-rate: 1 Mbit/s, committed-burst-size: 1042 B}}\n";
    let text = line(", classes: {3: {transmission-selection: ats}}", shaped);
    let tuned = found(&text, &TuneKind::ALL, false);
    assert_eq!(values(&tuned), [("streams.x.shaper.committed-information-rate", "8.34 Mbit/s")]);
    assert!(!is_proven(&text.replace("1 Mbit/s, committed", "8.33 Mbit/s, committed")));
}

#[test]
fn a_burst_lets_its_frames_pass_at_once() {
    // The second of two frames waits for its 3048 bit at 3.1 Mbit/s, nearly a millisecond, unless the burst holds both.
    let shaped = "  - {name: x, talker: a, listeners: z, priority: 3, payload: 339 B, deadline: 1 ms, traffic: {type: periodic, interval: 10 ms, burst: 2}, shaper: {committed-information-rate: 3.1 Mbit/s, committed-burst-size: 381 B}}\n";
    let text = line(", classes: {3: {transmission-selection: ats}}", shaped);
    let both = text.replace("381 B}", "762 B}");
    assert!(!is_proven(&text) && is_proven(&both));
    let tuned = found(&text, &TuneKind::ALL, false);
    assert_eq!(tuned.changes.len(), 1, "{}", tuned.to_text());
    assert_eq!(tuned.changes[0].kind, TuneKind::Ats);
}

/// A stream of 100 octets a frame, which take 0.11 ms on the slow line.
fn urgent(name: &str, talker: &str, priority: &str, deadline: &str) -> String {
    format!(
        "  - {{name: {name}, talker: {talker}, listeners: z{priority}, payload: 100 B, deadline: {deadline}, traffic: {{type: periodic, interval: 10 ms}}}}\n"
    )
}

#[test]
fn a_priority_is_raised_by_as_little_as_does() {
    let streams = urgent("x", "a", "", "250 us")
        + &urgent("y", "b", ", priority: 2", "50 ms")
        + &urgent("w", "c", ", priority: 2", "50 ms");
    let text = line("", &streams);
    let tuned = found(&text, &TuneKind::ALL, false);
    assert_eq!(values(&tuned), [("streams.x.priority", "3")]);
    let lines = new_lines(&text, tuned.text.as_deref().expect("found"));
    assert!(lines[0].starts_with("  - {name: x, priority: 3, talker: a,"), "{lines:?}");
    for less in 0..3 {
        assert!(!is_proven(&text.replace("name: x,", &format!("name: x, priority: {less},"))));
    }
}

#[test]
fn what_cannot_be_proven_together_is_named() {
    // Each can be the first, and waits for one frame on the line; the second waits for another one, too.
    let tight = |name, talker| urgent(name, talker, ", priority: 3", "250 us");
    let text = line("", &(tight("x", "a") + &tight("y", "b") + &urgent("w", "c", ", priority: 3", "50 ms")));
    let tuned = found(&text, &TuneKind::ALL, false);
    let conflict = tuned.conflict.as_ref().expect("there is only one first");
    let names: Vec<&str> = conflict.rows.iter().map(|row| row.stream.as_str()).collect();
    assert_eq!((names, conflict.is_smallest, tuned.text.is_none()), (vec!["x", "y"], true, true));
    assert!(conflict.rows.iter().all(|row| row.bound > Some(row.deadline)), "{}", tuned.to_text());
    // One that is lost alone is a conflict alone.
    let text = line("", &(urgent("x", "a", "", "150 us") + &urgent("y", "b", ", priority: 2", "50 ms")));
    let tuned = found(&text, &TuneKind::ALL, false);
    let rows = &tuned.conflict.as_ref().expect("a frame under way is waited for").rows;
    assert_eq!(rows.iter().map(|row| row.stream.as_str()).collect::<Vec<_>>(), ["x"]);
    assert!(tuned.to_text().contains("not proven with any values"), "{}", tuned.to_text());
}

#[test]
fn more_than_enough_is_lowered() {
    let text = text("tune-slopes.yaml").replace("10 Mbit/s", "90 Mbit/s").replace("15 Mbit/s", "90 Mbit/s");
    assert!(is_proven(&text));
    let tuned = found(&text, &TuneKind::ALL, false);
    assert_eq!((tuned.changes.len(), tuned.text.as_deref()), (0, Some(text.as_str())));
    let tuned = found(&text, &[TuneKind::IdleSlope], true);
    assert!(!tuned.changes.is_empty(), "{}", tuned.to_text());
    for change in &tuned.changes {
        let mbit: f64 = change.new.trim_end_matches(" Mbit/s").parse().expect("megabits");
        assert!(mbit < 90.0);
    }
}

#[test]
fn a_key_can_be_added_wherever_it_is_a_default() {
    let folder = Path::new("../../scenarios");
    let mut added = 0;
    for entry in std::fs::read_dir(folder).expect("scenarios") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "yaml") {
            continue;
        }
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("a text");
        let settings = tautwire_workbench::grammar().settings(&name, &text).expect("well formed");
        let open = settings.list.iter().enumerate().filter(|(_, setting)| setting.stated.is_none());
        let Some(network) = load_text(&name, &text).network else { continue };
        let value = |setting: &Setting| match setting.key {
            SettingKey::QueueFrames => "4000".to_owned(),
            SettingKey::QueueOctets => "8 MB".to_owned(),
            // As it is: of a time-triggered link no other is taken.
            _ => network.streams[setting.streams[0].index()].priority.to_string(),
        };
        let changes: BTreeMap<usize, String> =
            open.clone().map(|(number, setting)| (number, value(setting))).collect();
        let written = settings.with(&changes);
        let mut differ = Vec::new();
        differences("", &document(&text), &document(&written), &mut differ);
        let mut meant: Vec<String> = open.map(|(_, setting)| setting.path.clone()).collect();
        differ.sort();
        meant.sort();
        assert_eq!(differ, meant, "{name}");
        assert!(load_text(&name, &written).network.is_some(), "{name}:\n{written}");
        added += meant.len();
    }
    assert!(added > 300, "{added}");
}

#[test]
fn a_description_without_deadlines_is_reported() {
    let mut options =
        TuneOptions { kinds: TuneKind::ALL.to_vec(), least: false, runs: 9, stop: &mut || false };
    let text = text("tune-slopes.yaml");
    assert_eq!(tune("case", "nodes: 3", &mut options), Err(NotTuned::Faulty));
    let without = text.replace("    deadline: 1500 us\n", "");
    assert_eq!(tune("case", &without, &mut options), Err(NotTuned::NoDeadline));
    // A spent budget is reported.
    assert_eq!(network(&text).streams.len(), 1);
    options.runs = 2;
    let tuned = tune("case", &text, &mut options).expect("a description with deadlines");
    assert!(tuned.cut_short && tuned.text.is_none(), "{}", tuned.to_text());
    assert!(tuned.to_text().ends_with("; the budget is spent\n"));
}
