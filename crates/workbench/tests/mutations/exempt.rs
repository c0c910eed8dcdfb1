//! Lists with reasons, read when a test runs: known faults that are not yet fixed (`known_faults.txt`), and keys that
//! no search draws (`not_drawn.txt`). A line is a name or a part of a message, ` :: ` and the reason.

use std::path::Path;

use crate::trial::Fault;

/// The entries of a list, each with its reason.
pub(crate) fn listed(file: &str) -> Vec<(String, String)> {
    let path = Path::new("tests/mutations").join(file);
    let text = std::fs::read_to_string(&path).expect("a list");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &str| {
        let (entry, reason) =
            line.split_once(" :: ").unwrap_or_else(|| panic!("{file}: no reason in `{line}`"));
        (entry.to_owned(), reason.to_owned())
    };
    lines.map(split).collect()
}

/// Faults that the search goes on behind.
pub(crate) struct Known(Vec<(String, String)>);

impl Known {
    /// Those that are listed.
    pub(crate) fn read() -> Self {
        Self(listed("known_faults.txt"))
    }

    /// Whether a fault of the description at `path` is one of them.
    pub(crate) fn is(&self, path: &str, fault: &Fault) -> bool {
        let scenario = path.rsplit('/').next().unwrap_or(path);
        let signature = format!("{scenario}: {}: {}", fault.kind, fault.message);
        self.0.iter().any(|(parts, _)| parts.split(" & ").all(|part| signature.contains(part)))
    }
}
