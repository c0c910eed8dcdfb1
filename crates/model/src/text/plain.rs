//! A description as plain values, for programs that change it and write it anew.
//!
//! The tree keeps every scalar as text; here those with the form of integers and truth values are such. Both are read
//! alike. Not here: the meaning of the values.

use serde_json::{Map, Value as Json};

use super::tree::{Node, Value};

/// The values below a node.
pub(crate) fn plain(node: &Node<'_>) -> Json {
    match &node.value {
        Value::Nothing => Json::Null,
        Value::List(items) => Json::Array(items.iter().map(plain).collect()),
        Value::Map(entries) => {
            let of = entries.iter().map(|(key, node)| (key.text.clone().into_owned(), plain(node)));
            Json::Object(of.collect::<Map<String, Json>>())
        }
        Value::Scalar(text) => scalar(text),
    }
}

fn scalar(text: &str) -> Json {
    match text {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ => match text.parse::<i64>() {
            // `007` and `+7` stay as they are written.
            Ok(number) if number.to_string() == text => Json::from(number),
            _ => Json::String(text.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::faults::Faults;
    use super::super::tree;
    use super::*;

    #[test]
    fn values_are_those_of_the_text() {
        let text = "a: &x {n: 7, rate: 1 Gbit/s, on: true, quoted: '8', odd: 007}\nb: [*x, ~, 1e-9]\n";
        let found = plain(&tree::read(0, text, &mut Faults::default()));
        let x = serde_json::json!({"n": 7, "rate": "1 Gbit/s", "on": true, "quoted": 8, "odd": "007"});
        assert_eq!(found, serde_json::json!({"a": x.clone(), "b": [x, null, "1e-9"]}));
    }
}
