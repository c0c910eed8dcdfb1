//! Faults of a description, with their places in the text.

use core::ops::Range;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look; the network can be used.
    Warning,
    /// The network cannot be used.
    Error,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable name: `stream::unknown-node`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// Which of [`Loaded::sources`] the labels point into.
    pub source: usize,
    /// Places; the first is the fault's.
    pub labels: Vec<Label>,
}

/// A place in a text and a remark about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Octets of the text.
    pub span: Range<usize>,
    /// The remark; may be empty.
    pub text: String,
}

/// A text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its path, or what else it is called.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// Line and column (from 1, in characters) of an octet of the text.
    #[must_use]
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(offset.min(self.text.len()))];
        let line = before.matches('\n').count() + 1;
        (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
    }
}

/// A description as far as it could be read, with all its faults.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The network; none if a diagnostic is an error.
    pub network: Option<crate::Network>,
    /// The description's own text first, then files that it names (stream tables, traces).
    pub sources: Vec<Source>,
    /// Paths of the files that it names, whether they can be read or not.
    pub files: Vec<std::path::PathBuf>,
    /// All faults, in order of place.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Whether a diagnostic is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}
