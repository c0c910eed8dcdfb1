//! What stdout and stderr can show: colours, letters beyond ASCII, and how many columns.
//!
//! Colours only on a terminal, and not if `NO_COLOR` is set; a pipe gets plain text.

use std::env;
use std::io::{self, IsTerminal};

use terminal_size::{Height, Width, terminal_size_of};

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
        Self::of(io::stderr().is_terminal(), terminal_size_of(io::stderr()))
    }

    /// Of this process's stdout.
    pub(crate) fn of_stdout() -> Self {
        Self::of(io::stdout().is_terminal(), terminal_size_of(io::stdout()))
    }

    fn of(is_terminal: bool, size: Option<(Width, Height)>) -> Self {
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let interactive = is_terminal && !dumb && !crate::output::is_quiet();
        let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            interactive,
            colour: interactive && !plain,
            unicode: locale().to_ascii_uppercase().replace('-', "").contains("UTF8"),
            columns: if interactive { columns(env::var("COLUMNS").ok().as_deref(), size) } else { COLUMNS },
        }
    }
}

/// The locale's name for letters, in the order in which POSIX looks for it.
fn locale() -> String {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    names.iter().filter_map(|name| env::var(name).ok()).find(|value| !value.is_empty()).unwrap_or_default()
}

/// The width that the user states, or that of the terminal; never so narrow that nothing fits.
fn columns(stated: Option<&str>, size: Option<(Width, Height)>) -> usize {
    let stated =
        stated.and_then(|columns| columns.parse().ok()).filter(|columns| (40..=400).contains(columns));
    let measured = size.map(|(Width(columns), _)| usize::from(columns)).filter(|columns| *columns > 0);
    stated.or(measured.map(|columns| columns.max(40))).unwrap_or(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_wide_as_its_terminal() {
        let size = |columns| Some((Width(columns), Height(24)));
        assert_eq!(columns(None, size(80)), 80);
        assert_eq!(columns(Some("132"), size(80)), 132, "what is stated goes first");
        assert_eq!(columns(Some("wide"), size(200)), 200);
        assert_eq!(columns(None, size(7)), 40);
        assert_eq!(columns(None, None), COLUMNS);
    }
}
