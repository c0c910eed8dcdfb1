//! From a file or a text to the network and all its faults: the stages, one after the other.

use std::path::Path;

use crate::check::check;
use crate::grammar::Grammar;
use crate::parse::{Texts, parse};
use crate::resolve::resolve;
use crate::text::faults::Faults;
use crate::text::tree::Place;
use crate::text::{codes, plain, tree};
use crate::{Loaded, Source};

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

    /// Reads a description with further streams: `more` is a list of them, in YAML or JSON, in the form of `streams`.
    /// A stream with the name of one of the description replaces it. The streams of `more` come after the others. They
    /// need not all run at the same time: it is no fault if all of them together would overload a line or a class.
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
        "the text is not UTF-8 from here on".to_owned(),
        "save the file as UTF-8",
    );
    let sources = vec![Source { name, text }];
    Loaded { network: None, sources, files: Vec::new(), diagnostics: faults.into_sorted() }
}

/// The text of a description as plain values: mappings in the order of the text, aliases resolved, quantities as texts. Null if it
/// is no YAML.
#[must_use]
pub fn document(text: &str) -> serde_json::Value {
    plain::plain(&tree::read(0, text, &mut Faults::default()))
}

/// The same, if the text is one well formed description and nothing else.
#[must_use]
pub fn well_formed_document(text: &str) -> Option<serde_json::Value> {
    let mut faults = Faults::default();
    let root = tree::read(0, text, &mut faults);
    (faults.errors() == 0).then(|| plain::plain(&root))
}

/// The stages of a description.
fn load_with(grammar: &'static Grammar, name: &str, text: &str, more: Option<&str>) -> Loaded {
    let texts = Texts::new(name, text, more);
    let mut faults = Faults::default();
    let network = parse(grammar, &texts, &mut faults).and_then(|draft| {
        let resolved = resolve(&draft, &mut faults);
        check(&resolved, &mut faults);
        resolved.complete(&mut faults)
    });
    let (files, sources) = (faults.take_named(), texts.into_sources(faults.take_files()));
    Loaded { network, sources, files, diagnostics: faults.into_sorted() }
}
