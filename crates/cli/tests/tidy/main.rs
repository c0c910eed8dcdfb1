//! Rules of the source tree that no compiler checks. Every rule collects the offending lines, so that one run shows them all.
//!
//! Here is how files are found; the rules are of texts (`text.rs`), documents (`documents.rs`), crates (`crates.rs`), and of where the
//! names of mechanisms may be (`mechanisms.rs`).

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod crates;
mod documents;
mod mechanisms;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold no text of the project's own.
const SKIPPED: [&str; 5] = ["target", "node_modules", "runs", "__pycache__", "dist"];

pub(crate) fn root() -> PathBuf {
    Path::new("../..").canonicalize().unwrap()
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) && (!name.starts_with('.') || name == ".ci") {
            walk(&path, found);
        } else if path.is_file() {
            found.push(path);
        }
    }
}

/// All files with one of these endings, as (path from the root, text), in order of path.
pub(crate) fn files(endings: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    let wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        endings.iter().any(|ending| name.ends_with(ending))
    };
    let read = |path: PathBuf| {
        let octets = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text = String::from_utf8_lossy(&octets).into_owned();
        (path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), text)
    };
    found.into_iter().filter(wanted).map(read).collect()
}

pub(crate) fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Lines that contain one of the marks. A mark is written in two parts, so that this file does not find itself.
pub(crate) fn lines_with(marks: &[[&str; 2]], endings: &[&str]) -> Vec<String> {
    let marks: Vec<String> = marks.iter().map(|parts| parts.concat()).collect();
    let mut faults = Vec::new();
    for (path, text) in files(endings) {
        for (number, line) in text.lines().enumerate() {
            for mark in marks.iter().filter(|mark| line.contains(mark.as_str())) {
                faults.push(format!("{path}:{}: `{mark}`", number + 1));
            }
        }
    }
    faults
}

pub(crate) fn manifest(path: &str) -> String {
    fs::read_to_string(root().join(path).join("Cargo.toml")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Names of the folders in a folder.
pub(crate) fn folders(place: &str) -> Vec<String> {
    let names = fs::read_dir(root().join(place)).unwrap();
    names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn lines_with_a_mark_are_found() {
    assert!(!lines_with(&[["fn lines", "_with"]], &["main.rs"]).is_empty());
}
