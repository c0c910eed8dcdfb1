//! The log of what was admitted and taken back: a line is on disk before the decision is given.
//!
//! A line is a JSON object with a check over itself and the check of the line before, so that a line
//! that was cut short by a crash, and any later change, is seen. A last line that is cut short was never
//! acknowledged and is taken off. One process may have the folder at a time.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tautwire_report::sha256;

use crate::decision::{Decision, Outcome};

/// Name of the log in its folder.
const NAME: &str = "reservations.jsonl";

/// What one request changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) outcome: Outcome,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) admitted: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) withdrawn: Vec<String>,
    /// Descriptions that came with the request, of streams that it admitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) new: Vec<Value>,
}

impl Change {
    /// The decision as it is told again: what it changed, without the reasons of what it refused.
    pub(crate) fn decision(&self) -> Decision {
        let decision = Decision::empty(self.id.clone(), self.outcome);
        Decision { admitted: self.admitted.clone(), withdrawn: self.withdrawn.clone(), ..decision }
    }
}

/// A line of the log.
#[derive(Serialize, Deserialize)]
struct Line {
    change: Change,
    check: String,
}

/// Why a log cannot be used.
#[derive(Debug)]
pub enum LogError {
    /// It cannot be read or written.
    Io(PathBuf, io::Error),
    /// Another process has it.
    InUse(PathBuf),
    /// A line before the last is not what was written.
    Damaged {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// It names a stream that the description has not.
    UnknownStream(String),
    /// A stream that it describes no longer fits the description.
    Unfit(String),
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::InUse(path) => write!(f, "{}: another process has it", path.display()),
            Self::Damaged { path, line } => {
                write!(f, "{}:{line}: not what was written; restore the file from a copy", path.display())
            }
            Self::Unfit(why) => write!(f, "what was admitted no longer fits the description: {why}"),
            Self::UnknownStream(name) => {
                write!(f, "stream `{name}` is admitted, but the description has no such stream")
            }
        }
    }
}

impl std::error::Error for LogError {}

/// An open log.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    /// Check of the last line.
    check: String,
    /// Octets of whole lines.
    length: u64,
}

impl Log {
    /// Opens the log of a folder, which is made if need be, and reads what stands in it.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Vec<Change>), LogError> {
        let path = folder.join(NAME);
        let failed = |error| LogError::Io(path.clone(), error);
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(LogError::InUse(path)),
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut octets = Vec::new();
        file.read_to_end(&mut octets).map_err(failed)?;
        let (changes, check, length) =
            read(&octets).map_err(|line| LogError::Damaged { path: path.clone(), line })?;
        if length < octets.len() {
            file.set_len(length as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::Start(length as u64)).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        // The name of a file that was just made must outlast a crash, too.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok((Self { file, path, check, length: length as u64 }, changes))
    }

    /// Writes a change to disk. After a failure the log stands as it stood before.
    pub(crate) fn append(&mut self, change: &Change) -> Result<(), LogError> {
        let check = check(&self.check, change);
        let line = Line { change: change.clone(), check: check.clone() };
        let mut text = serde_json::to_string(&line).expect("a change is JSON");
        text.push('\n');
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // A part of the line may be there: it must not come before a later one.
            let undone = self.file.set_len(self.length);
            let undone = undone.and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
            return Err(LogError::Io(self.path.clone(), undone.err().unwrap_or(error)));
        }
        self.check = check;
        self.length += text.len() as u64;
        Ok(())
    }
}

/// The changes of a log, the check of its last whole line, and the octets of its whole lines; or the
/// number of a line that is damaged.
fn read(octets: &[u8]) -> Result<(Vec<Change>, String, usize), usize> {
    let (mut changes, mut last, mut length) = (Vec::new(), String::new(), 0);
    for (number, text) in octets.split_inclusive(|octet| *octet == b'\n').enumerate() {
        let line = serde_json::from_slice::<Line>(text).ok();
        let whole = line.filter(|line| text.ends_with(b"\n") && line.check == check(&last, &line.change));
        let Some(line) = whole else {
            // The last line may have been cut short, at any place.
            let is_last = length + text.len() == octets.len();
            if is_last && !text.ends_with(b"\n") {
                break;
            }
            return Err(number + 1);
        };
        length += text.len();
        last = line.check;
        changes.push(line.change);
    }
    Ok((changes, last, length))
}

/// The check of a line behind one with the check `before`.
fn check(before: &str, change: &Change) -> String {
    let text = serde_json::to_string(change).expect("a change is JSON");
    let mut check = sha256(format!("{before}{text}").as_bytes());
    check.truncate(16);
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<u8> {
        let (mut text, mut last) = (Vec::new(), String::new());
        for number in 0..3 {
            let admitted = vec![format!("s{number}")];
            let (withdrawn, new) = (Vec::new(), Vec::new());
            let change = Change { id: None, outcome: Outcome::Granted, admitted, withdrawn, new };
            last = check(&last, &change);
            let line = Line { change, check: last.clone() };
            text.extend(serde_json::to_vec(&line).expect("JSON"));
            text.push(b'\n');
        }
        text
    }

    #[test]
    fn a_log_that_is_cut_anywhere_keeps_its_whole_lines() {
        let text = lines();
        for length in 0..=text.len() {
            let whole = text[..length].iter().filter(|octet| **octet == b'\n').count();
            let (changes, _, kept) = read(&text[..length]).expect("a cut is no damage");
            assert_eq!(changes.len(), whole);
            assert!(kept <= length);
        }
    }

    #[test]
    fn a_changed_log_is_damaged() {
        let text = lines();
        for place in 0..text.len() {
            let mut changed = text.clone();
            changed[place] ^= 1;
            let found = read(&changed);
            let is_last_end = place == text.len() - 1;
            assert!(found.is_err() || is_last_end, "octet {place} of {}", text.len());
        }
        let first = text.iter().position(|octet| *octet == b'\n').expect("a line") + 1;
        assert_eq!(read(&text[first..]), Err(1), "a line is missing");
    }
}
