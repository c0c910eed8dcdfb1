//! Values of two descriptions that differ, by the keys that lead to them.
//!
//! Elements of a list are matched by their `name`, cables by the nodes `between` which they are; lists of anything else are
//! compared as a whole. Texts that are no YAML (a description with tables behind it) are compared by lines.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

/// A value that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueChange {
    /// The keys that lead to it: `streams.video.payload`, or the lines of the texts.
    pub key: String,
    /// On the first side; absent if it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// On the second side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// What differs between two descriptions.
pub(super) fn changes(before: &str, after: &str) -> Vec<ValueChange> {
    if before == after {
        return Vec::new();
    }
    let mut found = Vec::new();
    match [before, after].map(tautwire_model::well_formed_document) {
        [Some(one), Some(other)] => compare("", Some(&one), Some(&other), &mut found),
        _ => found.extend(lines(before, after)),
    }
    found
}

/// The keys of two mappings whose values differ, without those that are `placed`.
pub(super) fn keys_that_differ(before: &Value, after: &Value, placed: &[&str]) -> BTreeSet<String> {
    let none = Map::new();
    let [one, other] = [before, after].map(|value| value.as_object().unwrap_or(&none));
    let keys = one.keys().chain(other.keys());
    let differ = keys.filter(|key| one.get(*key) != other.get(*key));
    differ.filter(|key| !placed.contains(&key.as_str())).cloned().collect()
}

/// A value as it would be written: a text as it is, everything else as JSON.
pub(super) fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn compare(key: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<ValueChange>) {
    if before == after {
        return;
    }
    if let (Some(before), Some(after)) = (before, after)
        && let (Some(one), Some(other)) = (parts(before), parts(after))
    {
        let added = other.iter().filter(|(name, _)| one.iter().all(|(known, _)| known != name));
        let names = one.iter().chain(added).map(|(name, _)| name);
        for name in names {
            let [before, after] =
                [&one, &other].map(|parts| parts.iter().find(|(known, _)| known == name).map(|(_, v)| *v));
            let under = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            compare(&under, before, after, found);
        }
        return;
    }
    found.push(ValueChange { key: key.to_owned(), before: before.cloned(), after: after.cloned() });
}

/// The values below a value, with their names; none if it is compared as a whole.
fn parts(value: &Value) -> Option<Vec<(String, &Value)>> {
    match value {
        Value::Object(entries) => Some(entries.iter().map(|(key, value)| (key.clone(), value)).collect()),
        Value::Array(items) => {
            let mut parts: Vec<(String, &Value)> = Vec::new();
            for item in items {
                let name = identity(item)?;
                // The second of two equal names is not the first.
                let number = parts.iter().filter(|(known, _)| known.split('#').next() == Some(&name)).count();
                let name = if number == 0 { name } else { format!("{name}#{}", number + 1) };
                parts.push((name, item));
            }
            Some(parts)
        }
        _ => None,
    }
}

/// What distinguishes an element of a list from the others.
fn identity(item: &Value) -> Option<String> {
    let named = item.get("name").map(written);
    let between = || {
        let ends = item.get("between")?.as_array()?;
        Some(ends.iter().map(written).collect::<Vec<_>>().join("-"))
    };
    named.or_else(between)
}

/// The lines from the first to the last that differs.
fn lines(before: &str, after: &str) -> Option<ValueChange> {
    let [one, other] = [before, after].map(|text| text.lines().collect::<Vec<_>>());
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let rest = one.len().min(other.len()) - same;
    let behind = one.iter().rev().zip(other.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let [one, other] = [one, other].map(|lines| lines[same..lines.len() - behind].join("\n"));
    let value = |text: String| (!text.is_empty()).then_some(Value::String(text));
    (one != other).then(|| ValueChange {
        key: format!("line {}", same + 1),
        before: value(one),
        after: value(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> Vec<String> {
        let side = |value: Option<Value>| value.as_ref().map_or_else(|| "-".to_owned(), written);
        let line = |one: ValueChange| format!("{}: {} > {}", one.key, side(one.before), side(one.after));
        changes(before, after).into_iter().map(line).collect()
    }

    #[test]
    fn elements_are_matched_by_name_and_cables_by_their_ends() {
        let before = "name: n\nlinks: [{between: [a, b], rate: 1 Gbit/s}, {between: [a, b]}, {between: [b, c]}]\n\
            streams: [{name: x, payload: 1 B}, {name: y, listeners: [a, b]}]\n";
        let after = "name: n\nlinks: [{between: [b, c], length: 5 m}, {between: [a, b], rate: 10 Gbit/s}, {between: [a, b]}]\n\
            streams: [{name: z}, {name: y, listeners: [a]}, {payload: 2 B, name: x}]\nrun: {seed: 2}\n";
        assert_eq!(
            shown(before, after),
            [
                "links.a-b.rate: 1 Gbit/s > 10 Gbit/s",
                "links.b-c.length: - > 5 m",
                "streams.x.payload: 1 B > 2 B",
                "streams.y.listeners: [\"a\",\"b\"] > [\"a\"]",
                "streams.z: - > {\"name\":\"z\"}",
                "run: - > {\"seed\":2}",
            ]
        );
        assert_eq!(shown("a: 1 # x\nb: 2\n", "b: 2\na: 1\n"), Vec::<String>::new());
    }

    #[test]
    fn texts_that_are_no_yaml_are_compared_by_lines() {
        let table = "name: n\nstreams: {\nname,talker\nx,a\ny,b\n";
        assert_eq!(shown(table, &table.replace("x,a", "x,c")), ["line 4: x,a > x,c"]);
        assert_eq!(shown(table, &format!("{table}z,c\n")), ["line 6: - > z,c"]);
    }
}
