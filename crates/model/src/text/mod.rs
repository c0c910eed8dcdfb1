//! The text of a description: its tree, its grammar, and its faults.
//!
//! A text is first read into a tree whose nodes keep their places ([`tree`]). Then the tree is compared with the
//! grammar ([`language`], tables of [`shape`]s), and every fault of form is collected ([`form`]); JSON Schema and
//! reference are made from the same tables. `resolve` interprets the text.

pub(crate) mod codes;
pub(crate) mod csv;
pub(crate) mod faults;
pub(crate) mod form;
pub(crate) mod language;
pub(crate) mod measure;
pub(crate) mod plain;
pub(crate) mod reference;
pub(crate) mod scalar;
pub(crate) mod schema;
pub(crate) mod shape;
pub(crate) mod table;
pub(crate) mod tree;
