//! `--watch`: a command runs again whenever a description changes, or a file that it names.
//!
//! Changes are found by looking at the files again and again: that works on every file system, for editors that write a file in place and
//! for those that put a new one in its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::exit::Exit;
use crate::output;
use crate::terminal::Terminal;

/// Distance of two looks. A change is acted on when two looks find the same, so after twice this time.
const DISTANCE: Duration = Duration::from_millis(100);

/// What is seen of a file: when it was changed, and its size; none if it cannot be read.
type Seen = Option<(SystemTime, u64)>;

/// Runs the command, and runs it again after every change of the files that `files` names; ends when the process is ended by a signal,
/// or when the command fails for another reason than its input.
pub(crate) fn watched(
    files: impl Fn() -> Vec<PathBuf>,
    mut command: impl FnMut() -> Result<Exit, Exit>,
) -> Result<Exit, Exit> {
    loop {
        // Before the command: what changes while it runs counts as a change.
        let paths = files();
        let before = seen(&paths);
        if Terminal::of_stdout().interactive {
            output::result("\u{1b}[2J\u{1b}[H")?;
        }
        let ended = command();
        if matches!(ended, Ok(Exit::Failure) | Err(Exit::Failure)) {
            return ended;
        }
        if !output::is_quiet() {
            let count = paths.len();
            output::note(&format!("tautwire: watching {count} file{}\n", if count == 1 { "" } else { "s" }));
        }
        await_change(&paths, &before);
    }
}

/// Returns when the files are others than before and stay as they are. A description that is away is awaited.
fn await_change(paths: &[PathBuf], before: &[Seen]) {
    let mut last = before.to_vec();
    loop {
        thread::sleep(DISTANCE);
        let now = seen(paths);
        if now != before && now == last && now.first().is_some_and(Option::is_some) {
            return;
        }
        last = now;
    }
}

fn seen(paths: &[PathBuf]) -> Vec<Seen> {
    paths.iter().map(|path| seen_of(path)).collect()
}

fn seen_of(path: &Path) -> Seen {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}
