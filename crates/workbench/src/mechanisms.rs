//! The list of mechanisms that are plug-ins: the one place that names them.
//!
//! Their order is that in which they act at one instant of a run, and in which their sections are resolved.

use std::path::Path;
use std::sync::LazyLock;

use tautwire_model::section::Section;
use tautwire_model::{Grammar, Loaded};

/// A mechanism: its section of the description, and its part in runs.
pub trait Mechanism: Section + tautwire_sim::PlugIn {}

impl<T: Section + tautwire_sim::PlugIn> Mechanism for T {}

/// All mechanisms.
pub static MECHANISMS: &[&dyn Mechanism] = &[&tautwire_lldp::Lldp];

static GRAMMAR: LazyLock<Grammar> =
    LazyLock::new(|| Grammar::new(MECHANISMS.iter().map(|mechanism| *mechanism as &dyn Section).collect()));

static IN_RUNS: LazyLock<Vec<&'static dyn tautwire_sim::PlugIn>> =
    LazyLock::new(|| MECHANISMS.iter().map(|mechanism| *mechanism as &dyn tautwire_sim::PlugIn).collect());

/// The grammar of descriptions: the keys of the kernel and of all mechanisms.
#[must_use]
pub fn grammar() -> &'static Grammar {
    &GRAMMAR
}

/// Reads the description in the file at `path`, and the files that it names.
///
/// Wrong input is no error of this function: see [`Loaded::diagnostics`].
///
/// # Errors
/// If the file cannot be read at all.
pub fn load(path: &Path) -> std::io::Result<Loaded> {
    grammar().load(path)
}

/// Reads a description; `name` is the path of its text, relative to which other files are found.
#[must_use]
pub fn load_text(name: &str, text: &str) -> Loaded {
    grammar().load_text(name, text)
}

/// The plug-ins of runs.
#[must_use]
pub fn in_runs() -> &'static [&'static dyn tautwire_sim::PlugIn] {
    &IN_RUNS
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::grammar;

    /// Holds a made file against the one in the tree; `TAUTWIRE_BLESS=1` writes it.
    fn published(place: &str, text: &str) {
        let path = PathBuf::from("../..").join(place);
        if std::env::var_os("TAUTWIRE_BLESS").is_some() {
            std::fs::write(&path, text).expect("a file that can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == text, "{place} is out of date: run the test with TAUTWIRE_BLESS=1");
    }

    #[test]
    fn the_published_schema_is_that_of_the_grammar() {
        published("docs/schema/tautwire.schema.json", &crate::description_schema());
    }

    #[test]
    fn the_published_reference_is_that_of_the_grammar() {
        published("docs/guide/description.md", &grammar().reference());
    }
}
