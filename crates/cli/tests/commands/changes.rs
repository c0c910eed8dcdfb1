//! A stream that is added in a run: the change of gate lists, or why there is none.

use std::fs;

use serde_json::Value;

use crate::common::{folder, root, tautwire};

/// The scenario with these texts in place of others.
fn scenario(replaced: &[(&str, &str)]) -> String {
    let mut text = fs::read_to_string(root().join("scenarios/schedule-to-be-changed.yaml")).unwrap();
    for (old, new) in replaced {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text = text.replace(old, new);
    }
    text
}

#[test]
fn a_change_that_is_proven_is_written() {
    let folder = folder("change-in-a-run");
    fs::write(folder.join("open.yaml"), scenario(&[])).unwrap();
    let ended = tautwire(&folder, &["schedule", "open.yaml", "--at", "10ms", "--out", "changed.yaml"]);
    let told = "tautwire: description with its schedule in changed.yaml\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (0, told));
    insta::assert_snapshot!("change", ended.stdout);
    let ended = tautwire(&folder, &["schedule", "open.yaml", "--at", "10ms", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    insta::assert_snapshot!("change_json", ended.stdout);
    let verified = tautwire(&folder, &["verify", "changed.yaml"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn a_change_that_is_not_proven_is_refused_with_its_reasons() {
    let folder = folder("refused-change");
    // Three frames of the firmware, of 123.36 us each, come to a queue of one and wait for windows.
    let text = scenario(&[
        (
            "      s2:\n        gate-",
            "      s2:\n        classes: {0: {queue-limit: {frames: 1}}}\n        gate-",
        ),
        ("    payload: 1500 B\n", "    payload: 1500 B\n    deadline: 600 us\n"),
    ]);
    fs::write(folder.join("open.yaml"), text).unwrap();
    let ended = tautwire(&folder, &["schedule", "open.yaml", "--at", "10ms", "--out", "changed.yaml"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    assert!(!folder.join("changed.yaml").exists(), "a change that is not safe is not written");
    insta::assert_snapshot!("refused_change", ended.stdout);
    let ended = tautwire(&folder, &["schedule", "open.yaml", "--at", "10ms", "--json"]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &value["change"]["safe"]), (1, &Value::Bool(false)));
    insta::assert_snapshot!("refused_change_json", format!("{:#}\n", value["unproven"]));
}

#[test]
fn a_change_in_the_first_cycle_has_no_bound() {
    let folder = folder("change-in-the-first-cycle");
    fs::write(folder.join("open.yaml"), scenario(&[])).unwrap();
    let ended = tautwire(&folder, &["schedule", "open.yaml", "--at", "0s", "--json"]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    let reasons = value["unproven"].as_array().unwrap();
    let of =
        |one: &Value| one["reason"] == "no-bound" && one["bound_ps"].is_null() && one["listener"] == "motor";
    assert!(reasons.len() == 2 && reasons.iter().all(of), "{reasons:#?}");
}
