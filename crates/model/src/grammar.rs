//! The keys of a description: those of the kernel, and those of mechanisms with sections of their own.

use std::sync::LazyLock;

use crate::section::Section;
use crate::text::language;
use crate::text::shape::{Key, Kind, Shape};
use crate::text::{codes, reference, schema};

/// The grammar of descriptions: parser, diagnostics, JSON Schema and reference are made from it.
pub struct Grammar {
    sections: Vec<&'static dyn Section>,
    root: Kind,
}

static KERNEL: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(Vec::new()));

impl std::fmt::Debug for Grammar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys = self.sections.iter().map(|section| section.key().name);
        f.debug_list().entries(keys).finish()
    }
}

impl Grammar {
    /// That of the kernel and of these sections; to be made once and kept, for its tables are never freed.
    #[must_use]
    pub fn new(sections: Vec<&'static dyn Section>) -> Self {
        let own: Vec<Key> = sections.iter().map(|section| *section.key()).collect();
        let mut keys = language::NETWORK.keys.to_vec();
        if !own.is_empty() {
            keys.push(Box::leak(own.into_boxed_slice()));
        }
        let root: &'static Shape =
            Box::leak(Box::new(Shape { keys: Box::leak(keys.into_boxed_slice()), ..language::NETWORK }));
        Self { sections, root: Kind::Object(root) }
    }

    /// That of the kernel alone.
    #[must_use]
    pub fn kernel() -> &'static Self {
        &KERNEL
    }

    pub(crate) fn root(&'static self) -> &'static Kind {
        &self.root
    }

    pub(crate) fn sections(&self) -> &[&'static dyn Section] {
        &self.sections
    }

    fn shape(&self) -> &'static Shape {
        match self.root {
            Kind::Object(shape) => shape,
            _ => unreachable!("a description is a mapping"),
        }
    }

    /// The shapes of all mappings, in the order in which they are first named.
    #[cfg(test)]
    pub(crate) fn shapes(&self) -> Vec<&'static Shape> {
        reference::shapes(self.shape())
    }

    /// Every code that a diagnostic can have, with what it means.
    #[must_use]
    pub fn fault_codes(&self) -> Vec<(&'static str, &'static str)> {
        codes::catalogue()
    }

    /// The JSON Schema of a description: the contents of `docs/schema/tautwire.schema.json`.
    #[must_use]
    pub fn schema(&self) -> serde_json::Value {
        schema::schema(self.shape())
    }

    /// The reference of every key: the contents of `docs/guide/description.md`.
    #[must_use]
    pub fn reference(&self) -> String {
        reference::reference(self.shape(), &self.fault_codes())
    }
}
