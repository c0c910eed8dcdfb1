//! Places of the parts of a description in its text, by the keys that lead to them.
//!
//! Diagnostics of a resolved network, which has no places of its own, point to these.

use std::ops::Range;

use crate::text::faults::Faults;
use crate::text::tree::{self, Node, Value};

/// The text of a description, read for places.
#[derive(Debug)]
pub struct Places<'t> {
    root: Node<'t>,
}

impl<'t> Places<'t> {
    /// Reads the text of a description that has no faults.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { root: tree::read(0, text, &mut Faults::default()) }
    }

    /// The place of what `keys` lead to: keys of mappings, and names or numbers (from 0) of the elements of lists. Where the text
    /// has no such key (a default, a stream of a table), the place of the last one that it has.
    #[must_use]
    pub fn of<K: AsRef<str>>(&self, keys: &[K]) -> Range<usize> {
        let (mut node, mut place) = (&self.root, self.root.anchor());
        for key in keys {
            let key = key.as_ref();
            let next = match &node.value {
                Value::Map(entries) => {
                    entries.iter().find(|(name, _)| name.text == key).map(|(name, value)| {
                        let is_scalar = matches!(value.value, Value::Scalar(_));
                        (value, if is_scalar { value.place } else { name.place })
                    })
                }
                Value::List(items) => items
                    .iter()
                    .find(|item| item.get("name").and_then(Node::text) == Some(key))
                    .or_else(|| items.get(key.parse::<usize>().ok()?))
                    .map(|item| (item, item.anchor())),
                Value::Scalar(_) | Value::Nothing => None,
            };
            let Some((next, at)) = next else { break };
            (node, place) = (next, at);
        }
        place.start as usize..place.end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
nodes:
  a: {type: end-station, clock: {tolerance: 50 ppm}}
links:
  - {between: [a, b], rate: 1 Gbit/s}
  - {between: [b, c]}
streams:
  - {talker: a, name: x}
";

    fn place(keys: &[&str]) -> Range<usize> {
        Places::new(TEXT).of(keys)
    }

    #[test]
    fn keys_lead_to_their_places() {
        assert_eq!(&TEXT[place(&["nodes", "a"])], "a");
        assert_eq!(&TEXT[place(&["nodes", "a", "clock", "tolerance"])], "50 ppm");
        assert_eq!(&TEXT[place(&["links", "0", "rate"])], "1 Gbit/s");
        assert_eq!(place(&["streams", "x"]).start, TEXT.find("talker").expect("it is there"));
    }

    #[test]
    fn what_is_not_stated_has_the_place_of_what_it_is_of() {
        assert_eq!(place(&["links", "1", "rate"]), place(&["links", "1"]));
        assert_eq!(&TEXT[place(&["nodes", "b"])], "nodes");
        assert_eq!(&TEXT[place(&["gptp"])], "nodes");
        assert_eq!(&TEXT[place(&["streams", "y"])], "streams");
    }
}
