//! The text of a description: its tree, its grammar, and its faults.
//!
//! A text is first read into a tree whose nodes remember their places ([`tree`]). The grammar
//! ([`language`], tables of [`shape`]s) is then held against the tree, and every fault of form is
//! collected ([`form`]); JSON Schema and reference are made from the same tables. What the text
//! means is the matter of `build`.

pub(crate) mod codes;
pub(crate) mod csv;
pub(crate) mod faults;
pub(crate) mod form;
pub(crate) mod language;
pub(crate) mod plain;
pub(crate) mod reference;
pub(crate) mod scalar;
pub(crate) mod schema;
pub(crate) mod shape;
pub(crate) mod table;
pub(crate) mod tree;

/// Holds a made file against the one in the tree; `TAUTWIRE_BLESS=1` writes it.
#[cfg(test)]
pub(crate) fn published(path: &std::path::Path, text: &str) {
    if std::env::var_os("TAUTWIRE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder that can be made");
        std::fs::write(path, text).expect("a file that can be written");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "{} is out of date: run the test with TAUTWIRE_BLESS=1", path.display());
}
