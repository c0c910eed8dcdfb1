//! Every description of the corpus of broken ones ends with exit code 2 and a diagnostic at a line.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;
use std::path::PathBuf;

use common::{folder, root, tautwire};

fn corpus() -> Vec<PathBuf> {
    let directory = root().join("crates/model/tests/broken");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    files
}

#[test]
fn every_broken_description_is_refused_at_a_line() {
    let folder = folder("broken");
    let files = corpus();
    assert!(files.len() >= 60, "{} files", files.len());
    for path in files {
        let path = path.to_str().unwrap();
        let ended = tautwire(&folder, &["check", path]);
        assert_eq!(ended.code, 2, "{path}: {}", ended.stderr);
        // The place is in the description, or in a table of the same name.
        let stem = path.strip_suffix("yaml").unwrap();
        let mut places =
            ["yaml", "csv"].iter().filter_map(|end| ended.stderr.split_once(&format!("{stem}{end}:")));
        let has_line = places.any(|(_, place)| place.starts_with(|c: char| c.is_ascii_digit()));
        assert!(has_line, "{path} has no line:\n{}", ended.stderr);
        assert!(ended.stdout.contains("error"), "{path}: {}", ended.stdout);
    }
}

#[test]
fn every_subcommand_refuses_it_with_nothing_on_stdout() {
    let folder = folder("broken-others");
    // A few from all over the corpus: the way there is the same for all.
    for path in corpus().iter().step_by(9) {
        for command in ["bounds", "simulate", "verify"] {
            let ended = tautwire(&folder, &[command, path.to_str().unwrap(), "--json"]);
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{command} {}", path.display());
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "a refused description leaves no results");
}

#[test]
fn programs_get_every_fault_with_its_place() {
    let folder = folder("broken-json");
    for path in corpus() {
        let ended = tautwire(&folder, &["check", path.to_str().unwrap(), "--json"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (2, ""), "{}", path.display());
        let value: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(value["valid"], false, "{}", path.display());
        let faults = value["diagnostics"].as_array().unwrap();
        assert!(faults.iter().any(|fault| fault["severity"] == "error"), "{}", path.display());
        for fault in faults {
            assert!(fault["line"].as_u64().unwrap() >= 1 && fault["code"].is_string(), "{fault}");
        }
    }
}
