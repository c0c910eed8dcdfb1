//! Stream tables: CSV (RFC 4180) whose heading names keys of a stream, a dot for a key within a key.
//!
//! A row becomes the same tree as a stream of the description, so that the same grammar holds for it
//! and every fault has its cell. An empty cell is a key that is not there. Several listeners stand in
//! one cell, apart by spaces; a list of eight or a route as well.

use std::borrow::Cow;
use std::collections::HashSet;

use super::faults::{Faults, did_you_mean};
use super::language::STREAM;
use super::shape::Kind;
use super::tree::{Key, Node, Place, Value};
use super::{codes, form};

static GRAMMAR: Kind = Kind::Object(&STREAM);

/// The rows of a table as streams, with all faults of form reported.
pub(crate) fn read<'t>(source: u32, text: &'t str, faults: &mut Faults) -> Vec<Node<'t>> {
    let mut records = records(source, text, faults);
    if records.is_empty() {
        return Vec::new();
    }
    let heading = records.remove(0);
    let known = check_heading(&heading, faults);
    let mut rows = Vec::with_capacity(records.len());
    for record in records {
        if record.len() != heading.len() {
            let message = format!("{} cells in this row, {} in the heading", record.len(), heading.len());
            faults.error(
                codes::TABLE,
                record[0].place,
                message,
                "give every row as many cells as the heading",
            );
            continue;
        }
        let mut row = row(&heading, &known, record);
        let reported = faults.errors();
        let owner = row.place;
        form::check(&mut row, &GRAMMAR, owner, faults);
        if faults.errors() == reported {
            rows.push(row);
        }
    }
    rows
}

#[derive(Clone, Debug)]
struct Cell<'t> {
    place: Place,
    text: Cow<'t, str>,
}

/// Which columns name keys of a stream, each for the first time; the others are reported, once.
fn check_heading(heading: &[Cell<'_>], faults: &mut Faults) -> Vec<bool> {
    let mut seen: HashSet<&str> = HashSet::with_capacity(heading.len());
    heading
        .iter()
        .map(|cell| {
            let path = cell.text.trim();
            if !seen.insert(path) {
                let message = format!("`{path}` heads two columns");
                faults.error(codes::DUPLICATE_KEY, cell.place, message, "remove one of them");
                return false;
            }
            let known = is_key(path);
            if !known {
                let message = format!("`{path}` is no key of a stream");
                let keys = STREAM.keys().map(|key| key.name);
                let help = did_you_mean(path, "a key", keys) + "; a key within a key is `traffic.interval`";
                faults.error(codes::UNKNOWN_KEY, cell.place, message, help);
            }
            known
        })
        .collect()
}

/// Whether a stream has the key `path`, as far as it does not depend on the type of its traffic.
fn is_key(path: &str) -> bool {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let Some(key) = STREAM.key(first) else { return false };
    let Some(rest) = rest else { return true };
    let within = |kind: &Kind| match kind {
        Kind::Object(shape) => shape.key(rest).is_some(),
        Kind::Tagged(shapes) => rest == "type" || shapes.iter().any(|(_, shape)| shape.key(rest).is_some()),
        _ => false,
    };
    match &key.kind {
        Kind::OneOf(kinds) => kinds.iter().any(within),
        kind => within(kind),
    }
}

fn row<'t>(heading: &[Cell<'t>], known: &[bool], record: Vec<Cell<'t>>) -> Node<'t> {
    let place = Place { end: record.last().map_or(0, |cell| cell.place.end), ..record[0].place };
    let mut entries: Vec<(Key<'t>, Node<'t>)> = Vec::with_capacity(record.len());
    for ((head, known), cell) in heading.iter().zip(known).zip(record) {
        if !known || cell.text.trim().is_empty() {
            continue;
        }
        insert(&mut entries, &head.text, cell);
    }
    Node { place, value: Value::Map(entries) }
}

/// Puts a cell under `path`, `traffic.interval`.
fn insert<'t>(entries: &mut Vec<(Key<'t>, Node<'t>)>, path: &str, cell: Cell<'t>) {
    let place = cell.place;
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let key = Key { place, text: Cow::Owned(first.trim().to_owned()) };
    let Some(rest) = rest else {
        let list = matches!(first, "listeners" | "route") && cell.text.trim().contains(' ');
        let value = if list {
            let words = cell.text.split_whitespace();
            Value::List(
                words.map(|word| Node { place, value: Value::Scalar(word.to_owned().into()) }).collect(),
            )
        } else {
            Value::Scalar(Cow::Owned(cell.text.trim().to_owned()))
        };
        entries.push((key, Node { place, value }));
        return;
    };
    let position = entries.iter().position(|(known, _)| known.text == first).unwrap_or_else(|| {
        entries.push((key, Node { place, value: Value::Map(Vec::new()) }));
        entries.len() - 1
    });
    if let Value::Map(inner) = &mut entries[position].1.value {
        insert(inner, rest, cell);
    }
}

/// The records of the text; blank lines and lines that begin with `#` are none.
fn records<'t>(source: u32, text: &'t str, faults: &mut Faults) -> Vec<Vec<Cell<'t>>> {
    let octets = text.as_bytes();
    let mut records = Vec::new();
    let mut at = 0;
    while at < octets.len() {
        let line_end = text[at..].find('\n').map_or(octets.len(), |end| at + end);
        let line = text[at..line_end].trim();
        if line.is_empty() || line.starts_with('#') {
            at = line_end + 1;
            continue;
        }
        let mut record = Vec::new();
        let reported = faults.errors();
        loop {
            let (cell, end) = cell(source, text, at, faults);
            record.push(cell);
            at = end + 1;
            if octets.get(end) != Some(&b',') {
                break;
            }
        }
        if faults.errors() == reported {
            records.push(record);
        }
    }
    records
}

/// The cell that begins at `start`, and where the comma or the end of the line behind it stands.
fn cell<'t>(source: u32, text: &'t str, start: usize, faults: &mut Faults) -> (Cell<'t>, usize) {
    let place = |start: usize, end: usize| {
        let number = |octet: usize| u32::try_from(octet).unwrap_or(u32::MAX);
        Place { source, start: number(start), end: number(end) }
    };
    let end_of_plain = |from: usize| text[from..].find([',', '\n']).map_or(text.len(), |end| from + end);
    if !text[start..].starts_with('"') {
        let end = end_of_plain(start);
        let cell =
            Cell { place: place(start, end), text: Cow::Borrowed(text[start..end].trim_end_matches('\r')) };
        return (cell, end);
    }
    let mut content = String::new();
    let mut at = start + 1;
    loop {
        let Some(quote) = text[at..].find('"') else {
            let help = "close the quote, or double the one within";
            faults.error(codes::TABLE, place(start, start + 1), "this quote is not closed".to_owned(), help);
            return (Cell { place: place(start, text.len()), text: Cow::Owned(content) }, text.len());
        };
        content.push_str(&text[at..at + quote]);
        at += quote + 1;
        if text[at..].starts_with('"') {
            content.push('"');
            at += 1;
        } else {
            return (Cell { place: place(start, at), text: Cow::Owned(content) }, end_of_plain(at));
        }
    }
}
