//! Runs the binary in a folder of its own and returns its output and its exit code.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run of the binary left.
#[derive(Debug)]
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

/// Root of the tree.
pub fn root() -> PathBuf {
    Path::new("../..").canonicalize().unwrap()
}

/// An empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The binary, to be run in `folder` with nothing of the surroundings that decides how it writes.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tautwire"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    for name in ["LC_ALL", "LC_CTYPE", "LANG", "COLUMNS", "NO_COLOR", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command
}

/// Runs the binary in `folder`. It may end as it will, but never by a panic or a signal.
pub fn tautwire(folder: &Path, arguments: &[&str]) -> Ended {
    let output = command(folder, arguments).output().unwrap();
    let ended = Ended {
        code: output.status.code().expect("it was not killed"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    assert!(!ended.stderr.contains("panicked"), "{arguments:?}: {}", ended.stderr);
    ended
}
