//! Stream tables: text tables ([`csv`]) whose heading names keys of a stream, a dot for a key within a key.
//!
//! A row becomes the same tree as a stream of the description, so that the same grammar holds for it and every fault
//! has its cell. An empty cell is a missing key. Several listeners are in one cell, separated by blanks or, where the
//! cell is quoted or the separator is another one, by commas; so is a route.

use std::borrow::Cow;
use std::collections::HashSet;

use super::csv::{self, Cell};
use super::faults::{Faults, did_you_mean};
use super::language::{STREAM, synonyms};
use super::shape::Kind;
use super::tree::{Key, Node, Place, Value};
use super::{codes, form};

/// The separators of a list's elements within a cell.
const LIST: [char; 4] = [' ', ',', '\t', '\u{a0}'];

static GRAMMAR: Kind = Kind::Object(&STREAM);

/// The rows of a table as streams, with all faults of form reported.
pub(crate) fn read<'t>(source: u32, text: &'t str, faults: &mut Faults) -> Vec<Node<'t>> {
    let Some(table) = csv::read(source, text, faults) else { return Vec::new() };
    let heading = table.heading;
    let known = check_heading(&heading, faults);
    let mut rows = Vec::with_capacity(table.rows.len());
    for record in table.rows {
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

/// Which columns name keys of a stream, each for the first time; the others are reported, once.
fn check_heading(heading: &[Cell<'_>], faults: &mut Faults) -> Vec<bool> {
    let mut seen: HashSet<&str> = HashSet::with_capacity(heading.len());
    heading
        .iter()
        .map(|cell| {
            let path = &*cell.text;
            if !seen.insert(path) {
                let message = format!("two columns have the heading `{path}`");
                faults.error(codes::DUPLICATE_KEY, cell.place, message, "remove one of them");
                return false;
            }
            let known = synonyms::has(&STREAM, path);
            if !known {
                let message = format!("a stream has no key `{path}`");
                let help = match synonyms::meant(path, |path| synonyms::has(&STREAM, path)) {
                    Some(key) => format!("did you mean `{key}`?"),
                    None => {
                        let keys = STREAM.keys().map(|key| key.name);
                        did_you_mean(path, "a key", keys) + "; a key within a key is `traffic.interval`"
                    }
                };
                faults.error(codes::UNKNOWN_KEY, cell.place, message, help);
            }
            known
        })
        .collect()
}

fn row<'t>(heading: &[Cell<'t>], known: &[bool], record: Vec<Cell<'t>>) -> Node<'t> {
    let place = Place { end: record.last().map_or(0, |cell| cell.place.end), ..record[0].place };
    let mut entries: Vec<(Key<'t>, Node<'t>)> = Vec::with_capacity(record.len());
    for ((head, known), cell) in heading.iter().zip(known).zip(record) {
        if !known || cell.text.is_empty() {
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
        let list = matches!(first, "listeners" | "route") && cell.text.contains(LIST);
        let value = if list {
            let words = cell.text.split(LIST).filter(|word| !word.is_empty());
            Value::List(
                words.map(|word| Node { place, value: Value::Scalar(word.to_owned().into()) }).collect(),
            )
        } else {
            Value::Scalar(Cow::Owned(cell.text.into_owned()))
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
