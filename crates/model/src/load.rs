//! From a file or a text to the network and all its faults.

use std::collections::HashSet;
use std::path::Path;

use crate::grammar::Grammar;
use crate::resolve;
use crate::text::faults::Faults;
use crate::text::shape::Kind;
use crate::text::tree::{Node, Place, Value};
use crate::text::{codes, csv, form, language, plain, table, tree};
use crate::{Loaded, Source, trace};

/// Faults of streams that run together.
const TOGETHER: [&str; 2] = [codes::OVERLOAD, codes::CLASS_OVERLOAD];

static STREAM: Kind = Kind::Object(&language::STREAM);
static STREAMS: Kind = Kind::List(0, usize::MAX, &STREAM);

impl Grammar {
    /// Reads the description in the file at `path`, and the files that it names.
    ///
    /// Wrong input is no error of this function: see [`Loaded::diagnostics`].
    ///
    /// # Errors
    /// If the file cannot be read at all.
    pub fn load(&'static self, path: &Path) -> std::io::Result<Loaded> {
        let octets = std::fs::read(path)?;
        let name = path.display().to_string();
        match String::from_utf8(octets) {
            Ok(text) => Ok(self.load_text(&name, &text)),
            Err(error) => Ok(not_utf8(name, &error)),
        }
    }

    /// Reads a description; `name` is the path of its text, relative to which other files are found.
    #[must_use]
    pub fn load_text(&'static self, name: &str, text: &str) -> Loaded {
        load_with(self, name, text, None)
    }

    /// Reads a description with further streams: `more` is a list of them, in YAML or JSON, as it would stand under
    /// `streams`. One that has the name of a stream of the description takes its place. The streams of `more` stand
    /// behind the others. They need not all run together: that all of them would overload a line or a class is no fault.
    #[must_use]
    pub fn load_text_with_streams(&'static self, name: &str, text: &str, more: &str) -> Loaded {
        load_with(self, name, text, Some(more))
    }
}

/// [`Grammar::load`] of what the kernel itself knows.
///
/// # Errors
/// If the file cannot be read at all.
pub fn load(path: &Path) -> std::io::Result<Loaded> {
    Grammar::kernel().load(path)
}

/// [`Grammar::load_text`] of what the kernel itself knows.
#[must_use]
pub fn load_text(name: &str, text: &str) -> Loaded {
    Grammar::kernel().load_text(name, text)
}

fn not_utf8(name: String, error: &std::string::FromUtf8Error) -> Loaded {
    let valid = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let mut faults = Faults::default();
    let start = u32::try_from(valid).unwrap_or(u32::MAX);
    let place = Place { source: 0, start, end: start.saturating_add(1) };
    faults.error(
        codes::UTF8,
        place,
        "the text is no UTF-8 from here on".to_owned(),
        "save the file as UTF-8",
    );
    Loaded { network: None, sources: vec![Source { name, text }], diagnostics: faults.into_sorted() }
}

/// The text of a description as plain values: mappings in the order of the text, aliases resolved, quantities as texts. Null if it
/// is no YAML.
#[must_use]
pub fn document(text: &str) -> serde_json::Value {
    plain::plain(&tree::read(0, text, &mut Faults::default()))
}

fn load_with(grammar: &'static Grammar, name: &str, text: &str, more: Option<&str>) -> Loaded {
    let mut faults = Faults::default();
    let main = Source { name: name.to_owned(), text: text.to_owned() };
    let mut root = tree::read(0, &main.text, &mut faults);
    let readable = faults.errors() == 0;
    if readable {
        let owner = root.anchor();
        form::check(&mut root, grammar.root(), owner, &mut faults);
    }
    let directory = Path::new(name).parent().unwrap_or(Path::new(""));
    let mut tables = read_tables(&root, directory, &mut faults);
    let further = more.map(|more| Source { name: "further streams".to_owned(), text: more.to_owned() });
    let mut rows: Vec<Node<'_>> = Vec::new();
    for (index, source) in tables.iter().enumerate() {
        rows.extend(table::read(number(index + 1), &source.text, &mut faults));
    }
    if let Some(source) = &further {
        let streams = read_streams(number(tables.len() + 1), &source.text, &mut faults);
        let named: HashSet<&str> = streams.iter().filter_map(|node| node.get("name")?.text()).collect();
        let stays =
            |node: &Node<'_>| node.get("name").and_then(Node::text).is_none_or(|name| !named.contains(name));
        rows.retain(stays);
        root.retain_items("streams", stays);
        rows.extend(streams);
    }
    faults.number_files_from(number(tables.len() + 1 + usize::from(further.is_some())));
    trace::take(root.items_mut("streams").iter_mut().chain(&mut rows), directory, &mut faults);
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let network = if readable {
        let stem = stem.as_deref();
        let input = resolve::Input { grammar, root: &root, rows: &rows, directory, stem };
        resolve::build(&input, &mut faults)
    } else {
        None
    };
    let mut allowed: Vec<&str> =
        root.get("allow").map_or(&[][..], Node::items).iter().filter_map(Node::text).collect();
    if more.is_some() {
        allowed.extend(TOGETHER);
    }
    faults.allow(&allowed);
    let network = network.filter(|_| faults.errors() == 0);
    let traces = faults.take_files();
    let diagnostics = faults.into_sorted();
    drop(rows);
    drop(root);
    tables.extend(further);
    tables.extend(traces);
    let sources = std::iter::once(main).chain(tables).collect();
    Loaded { network, sources, diagnostics }
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
