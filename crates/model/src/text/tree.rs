//! Parses YAML into a tree whose nodes keep their places.
//!
//! Every scalar stays text: its meaning depends on its key. Duplicate keys are reported here; the first one counts.
//! The size of the tree is bounded by [`NODES_MAX`] and [`DEPTH_MAX`], aliases included, so that no text can make a
//! tree that does not fit.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle};

use super::codes;
use super::faults::Faults;

/// Most nodes of one text, aliases resolved: room for a million streams.
pub(crate) const NODES_MAX: usize = 50_000_000;
/// Most nodes that aliases make: an alias of aliases of aliases grows without end.
const ALIASED_MAX: usize = 1_000_000;
/// Deepest nesting: twice what the grammar uses.
const DEPTH_MAX: usize = 32;

/// A place in one of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Which text.
    pub(crate) source: u32,
    /// First octet.
    pub(crate) start: u32,
    /// Behind the last octet.
    pub(crate) end: u32,
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub struct Node<'t> {
    /// Its place.
    pub(crate) place: Place,
    /// What it is.
    pub(crate) value: Value<'t>,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Value<'t> {
    /// Any scalar, quoted or not.
    Scalar(Cow<'t, str>),
    /// A sequence.
    List(Vec<Node<'t>>),
    /// A mapping, in order of the text.
    Map(Vec<(Key<'t>, Node<'t>)>),
    /// Nothing: `key:` or `~`.
    Nothing,
}

/// The key of a mapping's entry.
#[derive(Clone, Debug)]
pub struct Key<'t> {
    /// Its place.
    pub(crate) place: Place,
    /// Its text.
    pub(crate) text: Cow<'t, str>,
}

impl<'t> Node<'t> {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of a list; none for anything else.
    pub fn items(&self) -> &[Node<'t>] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The elements of a list, or the node itself if it is a scalar.
    pub(crate) fn items_or_self(&self) -> &[Node<'t>] {
        match &self.value {
            Value::List(items) => items,
            Value::Scalar(_) => std::slice::from_ref(self),
            _ => &[],
        }
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> &[(Key<'t>, Node<'t>)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.entries().iter().find(|(name, _)| name.text == key).map(|(_, node)| node)
    }

    /// Takes elements off the list under `key`: those for which `stays` is false.
    pub(crate) fn retain_items(&mut self, key: &str, stays: impl FnMut(&Node<'t>) -> bool) {
        let Value::Map(entries) = &mut self.value else { return };
        if let Some((_, Self { value: Value::List(items), .. })) =
            entries.iter_mut().find(|(name, _)| name.text == key)
        {
            items.retain(stays);
        }
    }

    /// The elements of the list under `key`, to be changed.
    pub(crate) fn items_mut(&mut self, key: &str) -> &mut [Self] {
        let Value::Map(entries) = &mut self.value else { return &mut [] };
        match entries.iter_mut().find(|(name, _)| name.text == key) {
            Some((_, Self { value: Value::List(items), .. })) => items,
            _ => &mut [],
        }
    }

    /// Adds entries to a mapping.
    pub(crate) fn add(&mut self, further: impl Iterator<Item = (Key<'t>, Self)>) {
        if let Value::Map(entries) = &mut self.value {
            entries.extend(further);
        }
    }

    /// The value of a key, or its default, read as a type.
    ///
    /// # Panics
    /// If the key has no default, or one that is none of this type.
    #[must_use]
    pub fn read<T: std::str::FromStr>(&self, key: &super::shape::Key) -> T {
        let default = || key.default.and_then(|text| text.parse().ok());
        self.parsed(key.name).or_else(default).expect("a key with a default of its kind")
    }

    /// The value under `key`, parsed; none if it is missing or wrong (which `form.rs` reports).
    pub fn parsed<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.get(key)?.text()?.parse().ok()
    }

    /// A place of one line for the node: a mapping's first key.
    pub fn anchor(&self) -> Place {
        match &self.value {
            Value::Map(entries) => entries.first().map_or(self.place, |(key, _)| key.place),
            Value::List(items) => items.first().map_or(self.place, Node::anchor),
            _ => self.place,
        }
    }

    /// Behind the last octet of a node's own text: a mapping in lines has no closing bracket.
    pub(crate) fn own_end(&self) -> usize {
        match &self.value {
            Value::Map(entries) => entries.iter().map(|(_, value)| value.own_end()).max().unwrap_or(0),
            Value::List(items) => items.iter().map(Self::own_end).max().unwrap_or(0),
            _ => self.place.end as usize,
        }
        .max(if self.is_bracketed() { self.place.end as usize } else { 0 })
    }

    /// Whether a mapping or list ends where its place does: it is not in lines of its own.
    fn is_bracketed(&self) -> bool {
        match &self.value {
            Value::Map(entries) => entries.first().is_none_or(|(key, _)| key.place.start > self.place.start),
            Value::List(items) => items.first().is_none_or(|item| item.place.start > self.place.start),
            _ => true,
        }
    }

    /// Nodes of the tree below and with this one.
    fn count(&self) -> usize {
        match &self.value {
            Value::List(items) => 1 + items.iter().map(Node::count).sum::<usize>(),
            Value::Map(entries) => 1 + entries.iter().map(|(_, node)| node.count()).sum::<usize>(),
            _ => 1,
        }
    }
}

/// A container that is being read.
enum Open<'t> {
    List(Place, usize, Vec<Node<'t>>),
    Map(Place, usize, Vec<(Key<'t>, Node<'t>)>, Option<Key<'t>>),
}

/// Reads `text` (text number `source`) as one YAML document; what follows a fault of syntax is lost.
pub(crate) fn read<'t>(source: u32, text: &'t str, faults: &mut Faults) -> Node<'t> {
    let mut reader =
        Reader { source, text, open: Vec::new(), root: None, anchors: HashMap::new(), nodes: 0, aliased: 0 };
    if u32::try_from(text.len()).is_err() {
        faults.error(
            codes::TOO_LARGE,
            reader.place(0, 0),
            "the text is larger than 4 GiB".to_owned(),
            "put the streams into tables",
        );
    } else {
        let mut options = Options::default();
        options.set_emit_comments(false);
        let mut parser = Parser::new_from_str_with_options(text, options);
        while let Some(next) = parser.next_event() {
            if !reader.take(next, faults) {
                break;
            }
        }
    }
    reader.finish()
}

struct Reader<'t> {
    source: u32,
    text: &'t str,
    open: Vec<Open<'t>>,
    root: Option<Node<'t>>,
    anchors: HashMap<usize, Node<'t>>,
    nodes: usize,
    /// Nodes that aliases made.
    aliased: usize,
}

impl<'t> Reader<'t> {
    fn place(&self, start: usize, end: usize) -> Place {
        let number = |octet: usize| u32::try_from(octet.min(self.text.len())).unwrap_or(u32::MAX);
        Place { source: self.source, start: number(start), end: number(end.max(start)) }
    }

    /// Takes one event; false if reading cannot go on.
    fn take(
        &mut self,
        next: Result<(Event<'t>, granit_parser::Span), granit_parser::ScanError>,
        faults: &mut Faults,
    ) -> bool {
        let (event, span) = match next {
            Ok(next) => next,
            Err(error) => {
                let start = error.marker().byte_offset().unwrap_or(0);
                let help = "indent with spaces, quote texts that hold `: ` or `#`, close every bracket";
                faults.error(codes::YAML, self.place(start, start + 1), error.info(), help);
                return false;
            }
        };
        let range = span.byte_range().unwrap_or(0..0);
        let place = self.place(range.start, range.end);
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                let nothing = plain && matches!(&*text, "" | "~" | "null");
                let value = if nothing && !self.expects_key() { Value::Nothing } else { Value::Scalar(text) };
                self.add(Node { place, value }, anchor, faults)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(Open::List(place, anchor, Vec::new()), place, faults)
            }
            Event::MappingStart(_, anchor, _) => {
                self.open(Open::Map(place, anchor, Vec::new(), None), place, faults)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(start, anchor, items)) => {
                    let place = self.place(start.start as usize, range.end);
                    self.add(Node { place, value: Value::List(items) }, anchor, faults)
                }
                Some(Open::Map(start, anchor, entries, _)) => {
                    let place = self.place(start.start as usize, range.end);
                    self.add(Node { place, value: Value::Map(entries) }, anchor, faults)
                }
                None => false,
            },
            Event::Alias(anchor) => self.alias(anchor, place, faults),
            Event::DocumentStart(..) if self.root.is_some() => {
                let help = "write one description per file, without a second `---`";
                faults.error(codes::YAML, place, "a second document begins here".to_owned(), help);
                false
            }
            _ => true,
        }
    }

    /// Puts a copy of an anchor's node in the place of an alias.
    fn alias(&mut self, anchor: usize, place: Place, faults: &mut Faults) -> bool {
        let Some(node) = self.anchors.get(&anchor) else {
            let help = "remove the alias: an anchor cannot contain itself";
            faults.error(codes::YAML, place, "this alias is inside its own anchor".to_owned(), help);
            return false;
        };
        self.aliased += node.count();
        if self.aliased > ALIASED_MAX {
            let help = "write a table of streams instead: aliases of aliases multiply";
            faults.error(
                codes::TOO_LARGE,
                place,
                format!("aliases make more than {ALIASED_MAX} values"),
                help,
            );
            return false;
        }
        let node = Node { place, value: node.value.clone() };
        self.add(node, 0, faults)
    }

    /// Whether the next node of the innermost container is a key.
    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open::Map(_, _, _, None)))
    }

    fn open(&mut self, container: Open<'t>, place: Place, faults: &mut Faults) -> bool {
        if self.expects_key() {
            let help = "write a plain text as the key; put `{` or `[` after a key, or quote the text";
            faults.error(codes::YAML, place, "a list or mapping cannot be a key".to_owned(), help);
            return false;
        }
        if self.open.len() >= DEPTH_MAX {
            let help = "look for a bracket that is not closed: no description needs that depth";
            faults.error(codes::TOO_LARGE, place, format!("nested more than {DEPTH_MAX} deep"), help);
            return false;
        }
        self.open.push(container);
        true
    }

    /// Adds a finished node to the innermost container.
    fn add(&mut self, node: Node<'t>, anchor: usize, faults: &mut Faults) -> bool {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let help = "put the streams into tables, and look for aliases of aliases";
            faults.error(codes::TOO_LARGE, node.place, format!("more than {NODES_MAX} values"), help);
            return false;
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, _, items)) => items.push(node),
            Some(Open::Map(_, _, entries, key)) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => {
                    if let Value::Scalar(text) = node.value {
                        *key = Some(Key { place: node.place, text });
                    }
                }
            },
        }
        true
    }

    /// The root, from what was read before a fault if there was one.
    fn finish(mut self) -> Node<'t> {
        while let Some(open) = self.open.pop() {
            let node = match open {
                Open::List(place, _, items) => Node { place, value: Value::List(items) },
                Open::Map(place, _, entries, _) => Node { place, value: Value::Map(entries) },
            };
            match self.open.last_mut() {
                None => self.root = Some(node),
                Some(Open::List(_, _, items)) => items.push(node),
                Some(Open::Map(_, _, entries, key)) => {
                    if let Some(key) = key.take() {
                        entries.push((key, node));
                    }
                }
            }
        }
        let place = self.place(0, 0);
        self.root.unwrap_or(Node { place, value: Value::Nothing })
    }
}
