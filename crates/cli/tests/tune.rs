//! `tautwire tune`: where the description and the report about it go, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;

use common::{folder, root, tautwire};
use serde_json::Value;

const INPUT: &str = "crates/workbench/tests/cases/inputs/tune-slopes.yaml";

#[test]
fn the_description_is_written_and_bounds_prove_it() {
    let folder = folder("tune");
    let given = fs::read_to_string(root().join(INPUT)).unwrap();
    fs::write(folder.join("given.yaml"), &given).unwrap();
    assert_eq!(tautwire(&folder, &["bounds", "given.yaml"]).code, 1);
    let only = ["tune", "given.yaml", "--only", "idle-slope,queue-limit"];
    // To stdout, the table separately.
    let ended = tautwire(&folder, &only);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("1 of 1 with these values"), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), given.lines().count());
    // To a file, the table to stdout.
    let to_file = tautwire(&folder, &[&only[..], &["--out", "tuned.yaml"]].concat());
    assert_eq!((to_file.code, to_file.stdout.as_str()), (0, ended.stderr.as_str()));
    assert_eq!(fs::read_to_string(folder.join("tuned.yaml")).unwrap(), ended.stdout);
    assert_eq!(tautwire(&folder, &["bounds", "tuned.yaml"]).code, 0);
    // Over itself, and then there is nothing more to do.
    assert_eq!(tautwire(&folder, &["tune", "tuned.yaml", "--out", "tuned.yaml"]).code, 0);
    assert_eq!(fs::read_to_string(folder.join("tuned.yaml")).unwrap(), ended.stdout);
    let json = tautwire(&folder, &[&only[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(found["text"], ended.stdout.as_str());
    let paths: Vec<&str> =
        found["changes"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["nodes.near.classes.5.idle-slope", "nodes.far.classes.5.idle-slope"]);
}

#[test]
fn nothing_is_written_if_nothing_is_found() {
    let folder = folder("tune-conflict");
    let given = fs::read_to_string(root().join(INPUT)).unwrap();
    fs::write(folder.join("given.yaml"), &given).unwrap();
    let ended = tautwire(&folder, &["tune", "given.yaml", "--only", "queue-limit", "--out", "tuned.yaml"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("not proven with any values:\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("tuned.yaml is not written"), "{}", ended.stderr);
    assert!(!folder.join("tuned.yaml").exists());
    let spent = tautwire(&folder, &["tune", "given.yaml", "--budget", "1"]);
    assert!(spent.code == 1 && spent.stdout.ends_with("; the budget is spent\n"), "{}", spent.stdout);
    fs::write(folder.join("free.yaml"), given.replace("    deadline: 1500 us\n", "")).unwrap();
    for wrong in
        [&["tune", "free.yaml"][..], &["tune", "none.yaml"], &["tune", "given.yaml", "--only", "wires"]]
    {
        assert_eq!(tautwire(&folder, wrong).code, 2, "{wrong:?}");
    }
    let lost = tautwire(&folder, &["tune", "given.yaml", "--out", "not-there/tuned.yaml"]);
    assert_eq!(lost.code, 3, "{}", lost.stderr);
}
