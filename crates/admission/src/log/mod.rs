//! The log of admissions and releases: a line is on disk before the decision is given.
//!
//! A line is a JSON object with a check over itself and the check of the line before, so that a line that was cut
//! short by a crash, and any later change, is detected; the anchor (`anchor.rs`) detects lines that are missing at the
//! end. A last line that is cut short was never acknowledged and is removed. One process may have the folder at a
//! time. A log that has grown is compacted: one line with the present state replaces all others. That line has the
//! check of the last one before, which the anchor knows.

pub(crate) mod anchor;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tautwire_report::sha256;

use self::anchor::{Anchor, Found, Mark};
use crate::decision::{Decision, Outcome};
use crate::unique_keys;

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
    /// The decision as it is given again: what it changed, without the reasons of what it refused.
    pub(crate) fn decision(&self) -> Decision {
        let decision = Decision::empty(self.id.clone(), self.outcome);
        Decision { admitted: self.admitted.clone(), withdrawn: self.withdrawn.clone(), ..decision }
    }
}

/// The present state: the first line of a log that was compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// How often it was compacted.
    pub(crate) generation: u64,
    /// The check of the last line before.
    pub(crate) before: String,
    /// In the order in which they were admitted.
    pub(crate) admitted: Vec<String>,
    /// Descriptions that came with requests.
    pub(crate) new: Vec<Value>,
    /// The last answers to requests with an id, in their order.
    pub(crate) answered: Vec<Change>,
}

/// A line of the log.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    change: Option<Change>,
    check: String,
}

/// The contents of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// The state when it was compacted.
    pub(crate) state: State,
    /// What changed since.
    pub(crate) changes: Vec<Change>,
    /// The check of each line.
    checks: Vec<String>,
    /// Octets of complete lines.
    length: usize,
}

impl Contents {
    fn mark(&self) -> Mark {
        Mark {
            generation: self.state.generation,
            lines: self.checks.len() as u64,
            check: self.checks.last().cloned().unwrap_or_default(),
        }
    }

    /// Whether the log goes at least as far as the anchor.
    fn reaches(&self, anchor: &Mark) -> bool {
        if self.state.generation == anchor.generation {
            let last = usize::try_from(anchor.lines).ok().map(|lines| match lines {
                0 => Some(""),
                lines => self.checks.get(lines - 1).map(String::as_str),
            });
            return last.flatten().is_some_and(|check| check == anchor.check);
        }
        // It was compacted, and the anchor not yet set.
        self.state.generation == anchor.generation + 1 && self.state.before == anchor.check
    }
}

/// Why a log cannot be used.
#[derive(Debug)]
pub enum LogError {
    /// It cannot be read or written.
    Io(PathBuf, io::Error),
    /// Another process has locked it.
    InUse(PathBuf),
    /// A line before the last is not what was written.
    Damaged {
        /// The log.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Lines at its end are missing, or it is not the log that its anchor belongs to.
    CutOff {
        /// The log.
        path: PathBuf,
        /// How many lines there are.
        lines: u64,
        /// How many there were at least.
        expected: u64,
    },
    /// It has lines and no anchor, or one that cannot be read.
    NoAnchor {
        /// The log.
        path: PathBuf,
        /// The anchor.
        anchor: PathBuf,
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
            Self::InUse(path) => write!(f, "{}: another process uses it", path.display()),
            Self::Damaged { path, line } => {
                write!(f, "{}:{line}: the line was changed; restore the file from a copy", path.display())
            }
            Self::CutOff { path, lines, expected } if lines < expected => write!(
                f,
                "{}: the file has {lines} lines, and at least {expected} were written; restore it from a copy",
                path.display()
            ),
            Self::CutOff { path, .. } => {
                write!(f, "{}: the anchor belongs to another log; restore both from a copy", path.display())
            }
            Self::NoAnchor { path, anchor } => write!(
                f,
                "{}: lines may be missing, as {} does not exist or is not readable; restore it from a copy",
                path.display(),
                anchor.display()
            ),
            Self::Unfit(why) => write!(f, "the admitted streams no longer fit the description: {why}"),
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
    /// The file before the last compaction, whose lock another process may wait for.
    before: Option<File>,
    path: PathBuf,
    anchor: Anchor,
    /// Its last line.
    mark: Mark,
    /// Octets of complete lines.
    length: u64,
}

impl Log {
    /// Opens the log of a folder, which is made if need be, and reads it.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Contents), LogError> {
        let path = folder.join(NAME);
        let failed = |error| LogError::Io(path.clone(), error);
        let (mut file, octets) = locked(folder, &path)?;
        let contents = read(&octets).map_err(|line| LogError::Damaged { path: path.clone(), line })?;
        let (mut anchor, found) = Anchor::open(folder).map_err(failed)?;
        let mark = contents.mark();
        match found {
            Found::Mark(anchor) if !contents.reaches(&anchor) => {
                return Err(LogError::CutOff { path, lines: mark.lines, expected: anchor.lines });
            }
            Found::Nothing if mark.lines == 0 => {}
            Found::Nothing | Found::Unreadable => {
                return Err(LogError::NoAnchor { anchor: Anchor::path(folder), path });
            }
            Found::Mark(_) => {}
        }
        if contents.length < octets.len() {
            file.set_len(contents.length as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::Start(contents.length as u64)).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        anchor.set(&mark).map_err(failed)?;
        // The names of files that were just made must outlast a crash, too.
        synchronise(folder).map_err(failed)?;
        let length = contents.length as u64;
        Ok((Self { file, before: None, path, anchor, mark, length }, contents))
    }

    /// Opens the log of a folder and takes its contents as they are: lines that cannot be read are left out, whatever
    /// the checks and the anchor. If these find a fault, the file is first copied, and the path of the copy is
    /// returned.
    pub(crate) fn accept(folder: &Path) -> Result<(Self, Contents, Option<PathBuf>), LogError> {
        let path = folder.join(NAME);
        let failed = |error| LogError::Io(path.clone(), error);
        let (file, octets) = locked(folder, &path)?;
        let (anchor, found) = Anchor::open(folder).map_err(failed)?;
        let sound = read(&octets).ok().filter(|contents| match &found {
            Found::Mark(anchor) => contents.reaches(anchor),
            Found::Nothing => contents.checks.is_empty(),
            Found::Unreadable => false,
        });
        let copy = sound.is_none().then(|| {
            let mut names = (1_u32..).map(|number| folder.join(format!("{NAME}.found-{number}")));
            names.find(|name| !name.exists()).expect("a number that is free")
        });
        if let Some(copy) = &copy {
            std::fs::write(copy, &octets).map_err(failed)?;
        }
        let contents = sound.unwrap_or_else(|| as_found(&octets));
        let generation = match &found {
            Found::Mark(mark) => mark.generation.max(contents.state.generation),
            _ => contents.state.generation,
        };
        let mark = Mark { generation, ..contents.mark() };
        let length = octets.len() as u64;
        Ok((Self { file, before: None, path, anchor, mark, length }, contents, copy))
    }

    /// Writes a change to disk. After a failure the log is as it was before.
    pub(crate) fn append(&mut self, change: &Change) -> Result<(), LogError> {
        let check = check(&self.mark.check, change);
        let line = Line { state: None, change: Some(change.clone()), check: check.clone() };
        let text = text(&line);
        let mark = Mark { lines: self.mark.lines + 1, check, ..self.mark };
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        if let Err(error) = written.and_then(|()| self.anchor.set(&mark)) {
            // A part of the line may be there: it must not come before a later one.
            let undone = self.file.set_len(self.length);
            let undone = undone.and_then(|()| self.file.seek(SeekFrom::Start(self.length)));
            return Err(LogError::Io(self.path.clone(), undone.err().unwrap_or(error)));
        }
        self.mark = mark;
        self.length += text.len() as u64;
        Ok(())
    }

    /// Whether lines since the last compaction are many compared with `entries`, of which the state consists.
    pub(crate) fn has_grown(&self, entries: usize) -> bool {
        self.mark.lines > 256 + 2 * entries as u64
    }

    /// Replaces all lines by one with the present state. After a failure the log is as it was.
    pub(crate) fn compact(&mut self, state: State) -> Result<(), LogError> {
        let path = self.path.clone();
        self.replace(state).map_err(|error| LogError::Io(path, error))
    }

    fn replace(&mut self, state: State) -> io::Result<()> {
        let before = self.mark.check.clone();
        let state = State { generation: self.mark.generation + 1, before, ..state };
        let check = check(&state.before, &state);
        let mark = Mark { generation: state.generation, lines: 1, check: check.clone() };
        let text = text(&Line { state: Some(state), change: None, check });
        let new = self.path.with_extension("jsonl.new");
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&new)?;
        file.try_lock().map_err(io::Error::from)?;
        file.write_all(&text)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        // From here on the new file is the log.
        self.before = Some(std::mem::replace(&mut self.file, file));
        self.length = text.len() as u64;
        self.mark = mark;
        synchronise(self.path.parent().unwrap_or(Path::new(".")))?;
        self.anchor.set(&self.mark)
    }
}

/// The log of a folder, locked, and its contents.
fn locked(folder: &Path, path: &Path) -> Result<(File, Vec<u8>), LogError> {
    let failed = |error| LogError::Io(path.to_owned(), error);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut options = OpenOptions::new();
    let mut file = options.read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(std::fs::TryLockError::WouldBlock) => return Err(LogError::InUse(path.to_owned())),
        Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
    }
    let mut octets = Vec::new();
    file.read_to_end(&mut octets).map_err(failed)?;
    Ok((file, octets))
}

fn synchronise(folder: &Path) -> io::Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all())
}

fn text(line: &Line) -> Vec<u8> {
    let mut text = serde_json::to_vec(line).expect("a line is JSON");
    text.push(b'\n');
    text
}

/// The contents of a log; or the number of a line that is damaged.
fn read(octets: &[u8]) -> Result<Contents, usize> {
    let mut contents = Contents::default();
    for (number, text) in octets.split_inclusive(|octet| *octet == b'\n').enumerate() {
        let Some(line) = complete_line(text, contents.checks.last(), number == 0) else {
            // The last line may have been cut short, at any place.
            let is_last = contents.length + text.len() == octets.len();
            if is_last && !text.ends_with(b"\n") {
                break;
            }
            return Err(number + 1);
        };
        contents.length += text.len();
        contents.checks.push(line.check);
        contents.state = line.state.unwrap_or(contents.state);
        contents.changes.extend(line.change);
    }
    Ok(contents)
}

/// The line in `text` after one with the check `before`, if it is complete. Only the first may have the state.
fn complete_line(text: &[u8], before: Option<&String>, is_first: bool) -> Option<Line> {
    let line = parsed(text.strip_suffix(b"\n")?)?;
    let before = before.map_or("", String::as_str);
    let right = match (&line.state, &line.change) {
        (Some(state), None) => is_first && line.check == check(&state.before, state),
        (None, Some(change)) => line.check == check(before, change),
        _ => false,
    };
    right.then_some(line)
}

/// The line in `text`, if no key occurs twice in it.
fn parsed(text: &[u8]) -> Option<Line> {
    let text = std::str::from_utf8(text).ok()?;
    unique_keys::check(text).ok()?;
    serde_json::from_str(text).ok()
}

/// All lines that can be read, whatever their checks are.
fn as_found(octets: &[u8]) -> Contents {
    let mut contents = Contents::default();
    for line in octets.split(|octet| *octet == b'\n').filter_map(parsed) {
        if let Some(state) = line.state {
            contents = Contents { state, ..Contents::default() };
        }
        contents.changes.extend(line.change);
        contents.checks.push(line.check);
    }
    contents
}

/// The check of a line behind one with the check `before`.
fn check<T: Serialize>(before: &str, what: &T) -> String {
    let text = serde_json::to_string(what).expect("what is logged is JSON");
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
            text.extend(super::text(&Line { state: None, change: Some(change), check: last.clone() }));
        }
        text
    }

    #[test]
    fn a_log_that_is_cut_anywhere_keeps_its_complete_lines() {
        let text = lines();
        for length in 0..=text.len() {
            let complete = text[..length].iter().filter(|octet| **octet == b'\n').count();
            let contents = read(&text[..length]).expect("a cut is no damage");
            assert_eq!(contents.changes.len(), complete);
            assert!(contents.length <= length);
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
