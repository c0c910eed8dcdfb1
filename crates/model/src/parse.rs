//! From texts to a description that is well formed: the first of the stages, of which `load.rs` is the list.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::grammar::Grammar;
use crate::resolve::models;
use crate::text::faults::Faults;
use crate::text::shape::Kind;
use crate::text::tree::{Node, Value};
use crate::text::{codes, csv, form, language, table, tree};
use crate::{Source, trace};

/// Faults of streams that run together.
const TOGETHER: [&str; 2] = [codes::OVERLOAD, codes::CLASS_OVERLOAD];

static STREAM: Kind = Kind::Object(&language::STREAM);
static STREAMS: Kind = Kind::List(0, usize::MAX, &STREAM);

/// The texts of a description. Trees borrow from them, so they are read first and kept to the end.
pub(crate) struct Texts {
    main: Source,
    /// Tables that the main text names; read when it is.
    tables: OnceCell<Vec<Source>>,
    /// Streams from elsewhere.
    further: Option<Source>,
    directory: PathBuf,
    stem: Option<String>,
}

impl Texts {
    /// The text of the file at path `name`, and further streams.
    pub(crate) fn new(name: &str, text: &str, more: Option<&str>) -> Self {
        let path = Path::new(name);
        Self {
            main: Source { name: name.to_owned(), text: text.to_owned() },
            tables: OnceCell::new(),
            further: more.map(|more| Source { name: "further streams".to_owned(), text: more.to_owned() }),
            directory: path.parent().unwrap_or(Path::new("")).to_owned(),
            stem: path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        }
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn into_sources(self, files: Vec<Source>) -> Vec<Source> {
        let tables = self.tables.into_inner().unwrap_or_default();
        std::iter::once(self.main).chain(tables).chain(self.further).chain(files).collect()
    }
}

/// A description whose form is right: a tree with places, which no name of is resolved yet.
pub(crate) struct Draft<'t> {
    /// The keys that it may have.
    pub(crate) grammar: &'static Grammar,
    /// The main text.
    pub(crate) root: Node<'t>,
    /// Streams of its tables and from elsewhere.
    pub(crate) rows: Vec<Node<'t>>,
    /// The device models that are compiled in.
    pub(crate) builtin: Vec<Node<'static>>,
    /// Where files that it names are found.
    pub(crate) directory: &'t Path,
    /// Name of its file.
    pub(crate) stem: Option<&'t str>,
    /// Errors that are meant.
    pub(crate) allowed: Vec<&'static str>,
}

/// Reads all texts and reports all faults of form; none if the main one has such.
pub(crate) fn parse<'t>(
    grammar: &'static Grammar,
    texts: &'t Texts,
    faults: &mut Faults,
) -> Option<Draft<'t>> {
    let mut root = tree::read(0, &texts.main.text, faults);
    let is_readable = faults.errors() == 0;
    if is_readable {
        let owner = root.anchor();
        form::check(&mut root, grammar.root(), owner, faults);
    }
    let tables = texts.tables.get_or_init(|| read_tables(&root, &texts.directory, faults));
    let mut rows: Vec<Node<'t>> = Vec::new();
    for (index, source) in tables.iter().enumerate() {
        rows.extend(table::read(number(index + 1), &source.text, faults));
    }
    if let Some(source) = &texts.further {
        let streams = read_streams(number(tables.len() + 1), &source.text, faults);
        let named: HashSet<&str> = streams.iter().filter_map(|node| node.get("name")?.text()).collect();
        let stays =
            |node: &Node<'_>| node.get("name").and_then(Node::text).is_none_or(|name| !named.contains(name));
        rows.retain(stays);
        root.retain_items("streams", stays);
        rows.extend(streams);
    }
    faults.number_files_from(number(tables.len() + 1 + usize::from(texts.further.is_some())));
    trace::take(root.items_mut("streams").iter_mut().chain(&mut rows), &texts.directory, faults);
    let stated = || root.get("allow").map_or(&[][..], Node::items).iter().filter_map(Node::text);
    let mut allowed: Vec<&str> =
        codes::ALLOWED.iter().copied().filter(|code| stated().any(|stated| stated == *code)).collect();
    if texts.further.is_some() {
        allowed.extend(TOGETHER);
    }
    let (directory, stem) = (&*texts.directory, texts.stem.as_deref());
    is_readable.then(|| Draft { grammar, root, rows, builtin: models::builtin(), directory, stem, allowed })
}

/// The streams of a list, with all faults of form reported.
fn read_streams<'t>(source: u32, text: &'t str, faults: &mut Faults) -> Vec<Node<'t>> {
    let mut list = tree::read(source, text, faults);
    let owner = list.anchor();
    form::check(&mut list, &STREAMS, owner, faults);
    match list.value {
        Value::List(streams) => streams,
        _ => Vec::new(),
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 files")
}

fn read_tables(root: &Node<'_>, directory: &Path, faults: &mut Faults) -> Vec<Source> {
    let mut sources = Vec::new();
    for item in root.get("stream-tables").map_or(&[][..], Node::items) {
        let Some(file) = item.text() else { continue };
        let path = directory.join(file);
        faults.names(&path);
        let text = trace::octets_of(&path).and_then(csv::decoded);
        match text {
            Ok(text) => sources.push(Source { name: path.display().to_string(), text }),
            Err(reason) => {
                let help = "name a table as UTF-8 or UTF-16, relative to the description";
                faults.error(codes::FILE, item.place, format!("`{file}` {reason}"), help);
            }
        }
    }
    sources
}
