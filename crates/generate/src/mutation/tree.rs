//! A description as a tree without places, from YAML or JSON and back: the input of mutations.
//!
//! Scalars stay text. A written tree reads back as the same tree.

use std::collections::HashMap;
use std::fmt::Write as _;

use granit_parser::{Event, Parser, ScalarStyle};

/// A node of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// `key:` or `~`.
    Nothing,
    /// Any scalar.
    Scalar(String),
    /// A sequence.
    List(Vec<Self>),
    /// A mapping, in order of the text.
    Map(Vec<(String, Self)>),
}

/// A step from a node to one below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value under a key.
    Key(String),
    /// An element of a list.
    Item(usize),
}

/// The way from the root to a node.
pub type Path = Vec<Step>;

impl Tree {
    /// Reads one document of YAML, aliases resolved; none if it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut open: Vec<(Self, Option<String>, usize)> = Vec::new();
        let mut anchors = HashMap::new();
        let mut root = None;
        for next in Parser::new_from_str(text) {
            let (event, _) = next.ok()?;
            let (done, anchor) = match event {
                Event::Scalar(text, style, anchor, _) => {
                    // A text where a key is due is one, whatever its value.
                    let key_due = matches!(open.last(), Some((Self::Map(_), None, _)));
                    let nothing = style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null");
                    (
                        if nothing && !key_due { Self::Nothing } else { Self::Scalar(text.into_owned()) },
                        anchor,
                    )
                }
                Event::SequenceStart(_, anchor, _) => {
                    open.push((Self::List(Vec::new()), None, anchor));
                    continue;
                }
                Event::MappingStart(_, anchor, _) => {
                    open.push((Self::Map(Vec::new()), None, anchor));
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let (done, _, anchor) = open.pop()?;
                    (done, anchor)
                }
                Event::Alias(anchor) => (anchors.get(&anchor).cloned()?, 0),
                _ => continue,
            };
            if anchor != 0 {
                anchors.insert(anchor, done.clone());
            }
            match open.last_mut() {
                None => root = Some(done),
                Some((Self::List(items), ..)) => items.push(done),
                Some((Self::Map(entries), key, _)) => match (key.take(), done) {
                    (Some(name), value) => entries.push((name, value)),
                    (None, Self::Scalar(name)) => *key = Some(name),
                    _ => return None,
                },
                Some(_) => return None,
            }
        }
        root
    }

    /// As YAML: sections and their entries on lines of their own, what is below in braces.
    #[must_use]
    pub fn write(&self) -> String {
        let mut text = String::new();
        let Self::Map(sections) = self else {
            self.write_flow(&mut text);
            return text + "\n";
        };
        for (section, value) in sections {
            write_scalar(section, &mut text);
            text.push(':');
            match value {
                Self::Map(entries) if entries.len() > 1 => {
                    for (key, value) in entries {
                        text.push_str("\n  ");
                        write_scalar(key, &mut text);
                        text.push_str(": ");
                        value.write_flow(&mut text);
                    }
                }
                Self::List(items) if !items.is_empty() => {
                    for item in items {
                        text.push_str("\n  - ");
                        item.write_flow(&mut text);
                    }
                }
                Self::Nothing => {}
                _ => {
                    text.push(' ');
                    value.write_flow(&mut text);
                }
            }
            text.push('\n');
        }
        text
    }

    fn write_flow(&self, text: &mut String) {
        match self {
            Self::Nothing => text.push('~'),
            Self::Scalar(scalar) => write_scalar(scalar, text),
            Self::List(items) => {
                text.push('[');
                for (place, item) in items.iter().enumerate() {
                    text.push_str(if place > 0 { ", " } else { "" });
                    item.write_flow(text);
                }
                text.push(']');
            }
            Self::Map(entries) => {
                text.push('{');
                for (place, (key, value)) in entries.iter().enumerate() {
                    text.push_str(if place > 0 { ", " } else { "" });
                    write_scalar(key, text);
                    text.push_str(": ");
                    value.write_flow(text);
                }
                text.push('}');
            }
        }
    }

    /// The node at the end of a way.
    #[must_use]
    pub fn at(&self, path: &[Step]) -> Option<&Self> {
        path.iter().try_fold(self, |node, step| match (node, step) {
            (Self::Map(entries), Step::Key(key)) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
            }
            (Self::List(items), Step::Item(place)) => items.get(*place),
            _ => None,
        })
    }

    /// As [`Self::at`], to change it.
    pub fn at_mut(&mut self, path: &[Step]) -> Option<&mut Self> {
        path.iter().try_fold(self, |node, step| match (node, step) {
            (Self::Map(entries), Step::Key(key)) => {
                entries.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node)
            }
            (Self::List(items), Step::Item(place)) => items.get_mut(*place),
            _ => None,
        })
    }

    /// Puts a value at the end of a way, in place of what is there or as something new; false if there is no such way.
    pub fn set(&mut self, path: &[Step], value: Self) -> bool {
        if let Some(there) = self.at_mut(path) {
            *there = value;
            return true;
        }
        let Some((last, above)) = path.split_last() else { return false };
        match (self.at_mut(above), last) {
            (Some(Self::Map(entries)), Step::Key(key)) => entries.push((key.clone(), value)),
            (Some(Self::List(items)), Step::Item(_)) => items.push(value),
            (Some(nothing @ Self::Nothing), Step::Key(key)) => {
                *nothing = Self::Map(vec![(key.clone(), value)])
            }
            (Some(nothing @ Self::Nothing), Step::Item(_)) => *nothing = Self::List(vec![value]),
            _ => return false,
        }
        true
    }

    /// Takes away what is at the end of a way; false if nothing is.
    pub fn remove(&mut self, path: &[Step]) -> bool {
        let Some((last, above)) = path.split_last() else { return false };
        match (self.at_mut(above), last) {
            (Some(Self::Map(entries)), Step::Key(key)) => {
                let before = entries.len();
                entries.retain(|(name, _)| name != key);
                entries.len() < before
            }
            (Some(Self::List(items)), Step::Item(place)) if *place < items.len() => {
                items.remove(*place);
                true
            }
            _ => false,
        }
    }

    /// The text of a scalar.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// The entries of a mapping; none of anything else.
    #[must_use]
    pub fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a list; none of anything else.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

/// A scalar, in quotes where it could be read as something else.
fn write_scalar(text: &str, out: &mut String) {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '+');
    let plain = text.chars().all(inside)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !text.ends_with(' ')
        && text != "null";
    if plain {
        out.push_str(text);
    } else {
        // The escapes of a string of JSON, as far as Rust's debug form has them as well.
        let _ = write!(out, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let text = "name: x\nnodes:\n  a: {type: end-station, about: 'it''s: a \"node\"'}\nlinks: [{between: ['a:1', b]}]\nnone:\nempty: {}\n";
        let tree = Tree::read(text).expect("YAML");
        assert_eq!(Tree::read(&tree.write()), Some(tree.clone()), "{}", tree.write());
        assert_eq!(
            tree.get("nodes").and_then(|nodes| nodes.get("a")?.get("type")?.text()),
            Some("end-station")
        );
    }

    #[test]
    fn a_way_sets_and_removes() {
        let mut tree = Tree::read("a: {b: [1, 2]}\nc:\n").expect("YAML");
        let key = |key: &str| Step::Key(key.to_owned());
        assert!(tree.set(&[key("a"), key("b"), Step::Item(1)], Tree::Scalar("3".to_owned())));
        assert!(tree.set(&[key("c"), key("d")], Tree::Nothing));
        assert!(tree.remove(&[key("a"), key("b"), Step::Item(0)]));
        assert!(!tree.remove(&[key("e"), key("b")]));
        assert_eq!(tree.write(), "a: {b: [3]}\nc: {d: ~}\n");
    }
}
