//! Requests: one JSON object a line.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::unique_keys;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Admit streams.
    Reserve,
    /// Gives the decision that `reserve` would give, and changes nothing.
    WhatIf,
    /// Take streams back.
    Withdraw,
    /// Admit streams in the place of others; all or nothing.
    Replace,
    /// Admit streams in the place of themselves, as `new` describes them; all or nothing.
    Modify,
    /// Lists the admitted streams.
    List,
}

/// What becomes of several streams of which some cannot be admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// None of them is.
    #[default]
    AllOrNothing,
    /// In their order, each that can be is.
    BestEffort,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The operation.
    pub op: Operation,
    /// The asker's name for this request: repeated, it is answered as the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The streams, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<String>,
    /// Streams that the description does not have, or has with other values: with the keys of its `streams`. They come
    /// after `streams`, if these do not name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<Value>,
    /// Whether a refusal contains the payload, interval or rate with which a stream would have fitted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suggest: bool,
    /// For `replace`: the streams that go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead_of: Vec<String>,
    /// For `reserve` and `what-if`.
    #[serde(default)]
    pub mode: Mode,
}

/// The name of a described stream.
pub(crate) fn name_of(stream: &Value) -> Option<&str> {
    stream.get("name")?.as_str()
}

/// Whether a key `file` occurs anywhere in it.
fn names_file(value: &Value) -> bool {
    match value {
        Value::Object(keys) => keys.contains_key("file") || keys.values().any(names_file),
        Value::Array(items) => items.iter().any(names_file),
        _ => false,
    }
}

/// Why a line is no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError(pub(crate) String);

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RequestError {}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn parse(line: &str) -> Result<Self, RequestError> {
        let like = "a request looks like {\"op\": \"reserve\", \"streams\": [\"a\", \"b\"]}";
        // A list would be read as the values of the keys, in their order.
        if !line.trim_start().starts_with('{') && serde_json::from_str::<Value>(line).is_ok() {
            return Err(RequestError(format!("the line is no JSON object; {like}")));
        }
        let request: Self =
            serde_json::from_str(line).map_err(|error| RequestError(format!("{error}; {like}")))?;
        unique_keys::check(line).map_err(RequestError)?;
        request.check().map(|()| request)
    }

    /// A request for streams by their names, without an id, all or nothing.
    #[must_use]
    pub fn of(op: Operation, streams: Vec<String>) -> Self {
        let mode = Mode::AllOrNothing;
        Self { op, id: None, streams, new: Vec::new(), suggest: false, instead_of: Vec::new(), mode }
    }

    /// Names of all requested streams, the described ones first.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = self.streams.clone();
        for name in self.new.iter().filter_map(name_of) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Holds the parts against each other.
    fn check(&self) -> Result<(), RequestError> {
        let wrong = |text: &str| Err(RequestError(text.to_owned()));
        match self.op {
            _ if self.new.iter().any(|new| name_of(new).is_none()) => {
                wrong("each stream in `new` needs a `name`, and the other keys of a stream")
            }
            // A client may not read the files that this process may.
            _ if self.new.iter().any(names_file) => {
                wrong("`new` names no `file`: a stream that replays one stands in the description")
            }
            Operation::List if !self.names().is_empty() => wrong("`list` takes no `streams`"),
            Operation::List => Ok(()),
            Operation::Withdraw if !self.new.is_empty() => wrong("`withdraw` takes no `new`"),
            Operation::Modify if self.new.is_empty() || !self.streams.is_empty() => {
                wrong("`modify` needs `new`, the new descriptions of the streams, and no `streams`")
            }
            Operation::Modify if self.mode == Mode::BestEffort => {
                wrong("`modify` is all or nothing: remove `mode`")
            }
            _ if self.names().is_empty() => wrong("`streams` is empty: name at least one stream"),
            Operation::Replace if self.instead_of.is_empty() => {
                wrong("`replace` needs `instead_of`, the streams to replace")
            }
            Operation::Replace if self.mode == Mode::BestEffort => {
                wrong("`replace` is all or nothing: remove `mode`")
            }
            Operation::Reserve | Operation::WhatIf | Operation::Withdraw | Operation::Modify
                if !self.instead_of.is_empty() =>
            {
                wrong("only `replace` takes `instead_of`")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_request() {
        let request = Request::parse(r#"{"op": "reserve", "streams": ["a"], "mode": "best-effort"}"#);
        let request = request.expect("a request");
        assert_eq!((request.op, request.mode), (Operation::Reserve, Mode::BestEffort));
        assert_eq!(request.streams, ["a"]);
    }

    #[test]
    fn wrong_requests_are_reported() {
        for (line, part) in [
            ("reserve a", "a request looks like"),
            ("[]", "the line is no JSON object; a request looks like"),
            ("7", "the line is no JSON object"),
            (
                r#"{"op": "reserve", "new": [{"name": "a", "traffic": {"type": "replay", "file": "/etc/passwd"}}]}"#,
                "`new` names no `file`",
            ),
            (
                r#"{"op": "what-if", "new": [{"name": "a", "traffic": {"<<": {"file": "x"}}}]}"#,
                "`new` names no `file`",
            ),
            (r#"{"op": "reserve"}"#, "`streams` is empty"),
            (r#"{"op": "list", "streams": ["a"]}"#, "takes no `streams`"),
            (r#"{"op": "replace", "streams": ["a"]}"#, "`instead_of`"),
            (r#"{"op": "withdraw", "streams": ["a"], "instead_of": ["b"]}"#, "only `replace`"),
            (r#"{"op": "replace", "streams": ["a"], "instead_of": ["b"], "mode": "best-effort"}"#, "all or"),
            (r#"{"op": "modify", "streams": ["a"]}"#, "`modify` needs `new`"),
            (r#"{"op": "reserve", "op": "list", "streams": ["a"]}"#, "duplicate field `op`"),
            (r#"{"op": "reserve", "new": [{"name": "a", "name": "b"}]}"#, "the key `name` occurs twice"),
            (r#"{"op": "reserve", "new": [{"talker": "a"}]}"#, "needs a `name`"),
            (r#"{"op": "withdraw", "new": [{"name": "a"}]}"#, "takes no `new`"),
            (r#"{"op": "reserve", "streams": ["a"], "deadline": 1}"#, "unknown field `deadline`"),
        ] {
            let error = Request::parse(line).expect_err(line).to_string();
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
