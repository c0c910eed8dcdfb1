//! What stdout and stderr can show: colours, letters beyond ASCII, and how many columns.
//!
//! Colours only on a terminal, and not if `NO_COLOR` is set; a pipe gets plain text.

use std::env;
use std::io::{self, IsTerminal};

/// Columns where the width is unknown: pipes and files.
const COLUMNS: usize = 120;

/// How to write to a stream of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Whether somebody looks on.
    pub(crate) interactive: bool,
    /// Whether colours are wanted.
    pub(crate) colour: bool,
    /// Whether lines may be drawn with letters beyond ASCII.
    pub(crate) unicode: bool,
    /// Width.
    pub(crate) columns: usize,
}

impl Terminal {
    /// Of this process's stderr.
    pub(crate) fn of_stderr() -> Self {
        Self::of(io::stderr().is_terminal())
    }

    /// Of this process's stdout.
    pub(crate) fn of_stdout() -> Self {
        Self::of(io::stdout().is_terminal())
    }

    fn of(is_terminal: bool) -> Self {
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let interactive = is_terminal && !dumb;
        let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            interactive,
            colour: interactive && !plain,
            unicode: locale().to_ascii_uppercase().replace('-', "").contains("UTF8"),
            columns: columns().filter(|_| interactive).unwrap_or(COLUMNS),
        }
    }
}

/// The locale's name for letters, in the order in which POSIX looks for it.
fn locale() -> String {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    names.iter().filter_map(|name| env::var(name).ok()).find(|value| !value.is_empty()).unwrap_or_default()
}

/// The width that the shell tells its children, if it does.
fn columns() -> Option<usize> {
    env::var("COLUMNS").ok()?.parse().ok().filter(|columns| (40..=400).contains(columns))
}
