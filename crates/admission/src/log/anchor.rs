//! The anchor of the log: the least number of its lines, and the check of the last of them, in a separate file.
//!
//! The checks of the log's lines show that a line is missing between two others; the anchor shows that lines are
//! missing at the end, or all of them. It is written after the log's line and before the decision is given, so the log
//! may be a line ahead of it, and is never behind. Two records take turns: one that a crash leaves half written is not
//! valid, and the other one still is.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tautwire_report::sha256;

const NAME: &str = "reservations.anchor";

/// Octets of a record, the end of its line included.
const RECORD: usize = 160;

/// How far the log goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// How often the log was compacted.
    pub(crate) generation: u64,
    /// Its lines since.
    pub(crate) lines: u64,
    /// The check of the last.
    pub(crate) check: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    generation: u64,
    lines: u64,
    check: String,
    sum: String,
}

/// The contents of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// There was no file.
    Nothing,
    /// There is a file, in which no record is valid.
    Unreadable,
    /// The last valid record.
    Mark(Mark),
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Anchor {
    file: File,
    /// Which record is written next.
    next: usize,
    /// Its temporary path, and its final one, until its first record is written.
    unnamed: Option<(PathBuf, PathBuf)>,
}

impl Anchor {
    /// Opens the anchor of a folder; one that is not there gets its name with its first mark.
    pub(crate) fn open(folder: &Path) -> io::Result<(Self, Found)> {
        let path = Self::path(folder);
        let was_there = path.exists();
        let new = path.with_extension("anchor.new");
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let mut file = match was_there {
            true => options.open(&path)?,
            false => options.create(true).truncate(true).open(&new)?,
        };
        let unnamed = (!was_there).then_some((new, path));
        let mut octets = Vec::new();
        Read::by_ref(&mut file).take(2 * RECORD as u64).read_to_end(&mut octets)?;
        let marks =
            octets.chunks(RECORD).enumerate().filter_map(|(slot, record)| Some((mark(record)?, slot)));
        let last = marks.max_by_key(|(mark, _)| (mark.generation, mark.lines));
        let next = last.as_ref().map_or(0, |(_, slot)| 1 - slot);
        let found = match last {
            Some((mark, _)) => Found::Mark(mark),
            None if was_there => Found::Unreadable,
            None => Found::Nothing,
        };
        Ok((Self { file, next, unnamed }, found))
    }

    /// The path of a folder's anchor.
    pub(crate) fn path(folder: &Path) -> PathBuf {
        folder.join(NAME)
    }

    /// Writes a mark to disk. After a failure the one before is valid.
    pub(crate) fn set(&mut self, mark: &Mark) -> io::Result<()> {
        let Mark { generation, lines, check } = mark.clone();
        let sum = sum(generation, lines, &check);
        let record = Record { generation, lines, check, sum };
        let mut text = serde_json::to_vec(&record).expect("a record is JSON");
        text.resize(RECORD - 1, b' ');
        text.push(b'\n');
        let place = (self.next * RECORD) as u64;
        let written = self.write(place, &text).and_then(|()| match &self.unnamed {
            Some((from, to)) => std::fs::rename(from, to),
            None => Ok(()),
        });
        match written {
            Ok(()) => (self.next, self.unnamed) = (1 - self.next, None),
            // A record that may have reached the disk must not count.
            Err(_) => drop(self.write(place, &[b' '; RECORD])),
        }
        written
    }

    fn write(&mut self, place: u64, octets: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(place))?;
        self.file.write_all(octets)?;
        self.file.sync_data()
    }
}

/// The mark of a record, if it is valid.
fn mark(record: &[u8]) -> Option<Mark> {
    let Record { generation, lines, check, sum: found } = serde_json::from_slice(record).ok()?;
    (found == sum(generation, lines, &check)).then_some(Mark { generation, lines, check })
}

fn sum(generation: u64, lines: u64, check: &str) -> String {
    let mut sum = sha256(format!("{generation} {lines} {check}").as_bytes());
    sum.truncate(16);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_half_written_record_the_one_before_counts() {
        let folder = std::env::temp_dir().join(format!("tautwire-anchor-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let marks: Vec<Mark> =
            (1..=5).map(|lines| Mark { generation: 1, lines, check: format!("{lines:016x}") }).collect();
        let (mut anchor, found) = Anchor::open(&folder).expect("opened");
        assert_eq!(found, Found::Nothing);
        for (number, mark) in marks.iter().enumerate() {
            anchor.set(mark).expect("written");
            let octets = std::fs::read(Anchor::path(&folder)).expect("there");
            let written = number % 2 * RECORD;
            for place in written..octets.len().min(written + RECORD - 1) {
                let mut torn = octets.clone();
                torn[place] ^= 0x40;
                let last = torn.chunks(RECORD).filter_map(super::mark).max_by_key(|mark| mark.lines);
                assert_eq!(last.as_ref(), number.checked_sub(1).map(|before| &marks[before]), "{place}");
            }
            assert_eq!(Anchor::open(&folder).expect("opened").1, Found::Mark(mark.clone()));
        }
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
