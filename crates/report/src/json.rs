//! JSON for files: readable, a line feed at the end.
//!
//! Results are long lists of small things. [`rows`] gives every element of a list a line of its own, so
//! that they stay readable and comparable line by line at a third of the size of indented text.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// Indented throughout, for short values.
pub(crate) fn pretty<T: Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("it has string keys only");
    text.push('\n');
    text
}

/// The keys of the value and the elements of its lists each on a line.
pub(crate) fn rows<T: Serialize>(value: &T) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Rows::default());
    value.serialize(&mut serializer).expect("it has string keys only");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Nesting that is still indented.
const INDENTED: usize = 2;

/// Indents down to [`INDENTED`], and writes the rest in a row.
#[derive(Default)]
struct Rows {
    outer: PrettyFormatter<'static>,
    depth: usize,
}

impl Rows {
    fn separate<W: ?Sized + io::Write>(writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
}

impl Formatter for Rows {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.depth <= INDENTED { self.outer.begin_array(writer) } else { writer.write_all(b"[") }
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < INDENTED { self.outer.end_array(writer) } else { writer.write_all(b"]") }
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if self.depth <= INDENTED {
            self.outer.begin_array_value(writer, first)
        } else {
            Self::separate(writer, first)
        }
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth <= INDENTED { self.outer.end_array_value(writer) } else { Ok(()) }
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.depth <= INDENTED { self.outer.begin_object(writer) } else { writer.write_all(b"{") }
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < INDENTED { self.outer.end_object(writer) } else { writer.write_all(b"}") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if self.depth <= INDENTED {
            self.outer.begin_object_key(writer, first)
        } else {
            Self::separate(writer, first)
        }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth <= INDENTED { self.outer.end_object_value(writer) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_of_lists_are_in_one_line() {
        let value = json!({
            "empty": [],
            "name": "x",
            "run": {"seed": 1},
            "streams": [{"hops": [1, {"a": []}], "name": "s"}, {}],
        });
        let text = rows(&value);
        let expected = r#"{
  "empty": [],
  "name": "x",
  "run": {
    "seed": 1
  },
  "streams": [
    {"hops": [1, {"a": []}], "name": "s"},
    {}
  ]
}
"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }
}
