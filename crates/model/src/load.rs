//! From a file or a text to the network and all its faults.

use std::path::Path;

use crate::build;
use crate::text::faults::Faults;
use crate::text::shape::Kind;
use crate::text::tree::{Node, Place};
use crate::text::{codes, form, language, table, tree};
use crate::{Loaded, Source};

static GRAMMAR: Kind = Kind::Object(&language::NETWORK);

/// Reads the description in the file at `path`, and the files that it names.
///
/// Wrong input is no error of this function: see [`Loaded::diagnostics`].
///
/// # Errors
/// If the file cannot be read at all.
pub fn load(path: &Path) -> std::io::Result<Loaded> {
    let octets = std::fs::read(path)?;
    let name = path.display().to_string();
    match String::from_utf8(octets) {
        Ok(text) => Ok(load_text(&name, &text)),
        Err(error) => Ok(not_utf8(name, &error)),
    }
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

/// Reads a description; `name` is the path of its text, relative to which other files are found.
#[must_use]
pub fn load_text(name: &str, text: &str) -> Loaded {
    let mut faults = Faults::default();
    let main = Source { name: name.to_owned(), text: text.to_owned() };
    let mut root = tree::read(0, &main.text, &mut faults);
    let readable = faults.errors() == 0;
    if readable {
        let owner = root.anchor();
        form::check(&mut root, &GRAMMAR, owner, &mut faults);
    }
    let directory = Path::new(name).parent().unwrap_or(Path::new(""));
    let tables = read_tables(&root, directory, &mut faults);
    let mut rows: Vec<Node<'_>> = Vec::new();
    for (index, source) in tables.iter().enumerate() {
        rows.extend(table::read(number(index + 1), &source.text, &mut faults));
    }
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let network = if readable {
        let input = build::Input { root: &root, rows: &rows, directory, stem: stem.as_deref() };
        build::build(&input, &mut faults)
    } else {
        None
    };
    let allowed: Vec<&str> =
        root.get("allow").map_or(&[][..], Node::items).iter().filter_map(Node::text).collect();
    faults.allow(&allowed);
    let network = network.filter(|_| faults.errors() == 0);
    let diagnostics = faults.into_sorted();
    drop(rows);
    drop(root);
    let sources = std::iter::once(main).chain(tables).collect();
    Loaded { network, sources, diagnostics }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 files")
}

fn read_tables(root: &Node<'_>, directory: &Path, faults: &mut Faults) -> Vec<Source> {
    let mut sources = Vec::new();
    for item in root.get("stream-tables").map_or(&[][..], Node::items) {
        let Some(file) = item.text() else { continue };
        match std::fs::read_to_string(directory.join(file)) {
            Ok(text) => sources.push(Source { name: directory.join(file).display().to_string(), text }),
            Err(error) => {
                let message = format!("`{file}` cannot be read: {error}");
                faults.error(codes::FILE, item.place, message, "the path is relative to the description");
            }
        }
    }
    sources
}
