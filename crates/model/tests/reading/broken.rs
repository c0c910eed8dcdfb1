//! The corpus of broken descriptions: one fault each, one diagnostic, at the right line.
//!
//! The first line of every file states the expected diagnostic: `# expected: CODE, line N`, with ` of FILE` if the
//! fault is in a file that the description names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tautwire_model::{Diagnostic, Grammar, Loaded, Severity, load};

fn corpus(folder: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from("tests").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

struct Expected {
    code: String,
    line: usize,
    file: Option<String>,
}

fn expected(path: &Path) -> Expected {
    let octets = std::fs::read(path).expect("a file");
    let text = String::from_utf8_lossy(&octets);
    let first = text.lines().next().expect("a first line");
    let rest = first.strip_prefix("# expected: ").expect("what is expected");
    let (code, place) = rest.split_once(", line ").expect("a code and a line");
    let (line, file) = match place.split_once(" of ") {
        Some((line, file)) => (line, Some(file.to_owned())),
        None => (place, None),
    };
    Expected { code: code.to_owned(), line: line.parse().expect("a number"), file }
}

fn of_severity(loaded: &Loaded, severity: Severity) -> Vec<&Diagnostic> {
    loaded.diagnostics.iter().filter(|fault| fault.severity == severity).collect()
}

/// Compares the diagnostics of a file with its first line; an error is the difference.
fn hold(path: &Path, severity: Severity) -> Result<(), String> {
    let expected = expected(path);
    let loaded = load(path).map_err(|error| error.to_string())?;
    let faults = of_severity(&loaded, severity);
    let [fault] = faults[..] else {
        let all: Vec<String> = faults
            .iter()
            .map(|fault| format!("{}: {} at {:?}", fault.code, fault.message, fault.labels[0].span))
            .collect();
        return Err(format!("{} faults: {all:?}", faults.len()));
    };
    let source = &loaded.sources[fault.source];
    let (line, column) = source.line_and_column(fault.labels[0].span.start);
    if fault.code != expected.code || line != expected.line {
        return Err(format!("{} at {line}:{column}, {}", fault.code, fault.message));
    }
    if expected.file.is_some_and(|file| !source.name.ends_with(&file)) {
        return Err(format!("in {}", source.name));
    }
    if fault.message.is_empty() || fault.help.as_ref().is_none_or(String::is_empty) {
        return Err("a diagnostic without a message or a remedy".to_owned());
    }
    let end = fault.labels[0].span.end;
    if end > source.text.len() + 1 || end < fault.labels[0].span.start {
        return Err(format!("a span outside the text: {:?}", fault.labels[0].span));
    }
    if (severity == Severity::Error) != loaded.network.is_none() {
        return Err("an error and a network, or neither".to_owned());
    }
    Ok(())
}

fn hold_all(folder: &str, severity: Severity) -> usize {
    let files = corpus(folder);
    let mut wrong = Vec::new();
    for path in &files {
        if let Err(reason) = hold(path, severity) {
            wrong.push(format!("{}: {reason}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    files.len()
}

#[test]
fn every_broken_description_gives_one_clear_error() {
    assert!(hold_all("broken", Severity::Error) >= 60);
}

#[test]
fn every_doubtful_description_gives_one_clear_warning() {
    assert!(hold_all("doubtful", Severity::Warning) >= 3);
}

#[test]
fn every_code_has_a_description() {
    let files = corpus("broken").into_iter().chain(corpus("doubtful"));
    let shown: BTreeSet<String> = files.map(|path| expected(&path).code).collect();
    let codes = Grammar::kernel().fault_codes();
    for (code, meaning) in &codes {
        assert!(shown.contains(*code), "no file shows {code}: {meaning}");
    }
    assert_eq!(shown.len(), codes.len());
}

/// Without its hold the list that an event sets lets frames be pushed behind the close of their gate.
#[test]
fn lists_that_events_set_are_looked_at_for_overruns() {
    let text =
        std::fs::read_to_string("tests/doubtful/no-bound-of-preemption-at-change.yaml").expect("a file");
    let held = "{operation: set-and-release-mac, gate-states: [0, 5], time-interval: 400 us}\n        - {operation: set-and-hold-mac, ";
    let free = "{gate-states: [0, 5], time-interval: 400 us}\n        - {";
    assert!(text.contains(held));
    let loaded = tautwire_model::load_text("changed.yaml", &text.replace(held, free));
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|fault| fault.code).collect();
    assert_eq!(codes.len(), 2);
    assert!(codes.contains(&"bound::unknown") && codes.contains(&"preemption::overrun"), "{codes:?}");
}

#[test]
fn all_faults_are_reported_at_once() {
    let text = "nodes:\n  a: {type: end-station, clock: {tolerance: 3}}\n  b: {typ: bridge}\nlinks:\n  - {between: [a, c], rate: 1 Gb}\nstreams:\n  - {name: x, talker: b, listeners: d, payload: 5}\n";
    let loaded = tautwire_model::load_text("many.yaml", text);
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|fault| fault.code).collect();
    for code in [
        "value::unit-missing",
        "form::unknown-key",
        "form::missing-key",
        "name::unknown-node",
        "value::unit-unknown",
    ] {
        assert!(codes.contains(&code), "{code} in {codes:?}");
    }
    // A key that is misspelt is not missing, too.
    assert_eq!(codes.len(), 7, "{:#?}", loaded.diagnostics);
    let places: Vec<usize> = loaded.diagnostics.iter().map(|fault| fault.labels[0].span.start).collect();
    assert!(places.is_sorted());
}
