//! Any value of a description, changed in its text: comments, layout and order of everything else stay.
//!
//! A value is named by the keys that lead to it, with points between them. An element of a list is named by its `name`,
//! a cable by the nodes `between` which it is (`links.a-b.rate`), anything else by its number from 0. A key that its
//! mapping does not have yet is added. Only loading shows whether the description accepts the value.

use super::place_in;
use crate::text::faults::{Faults, nearest};
use crate::text::tree::{self, Node, Value};

/// The text with `value`, as YAML in one line, at `key`.
///
/// # Errors
/// If nothing in the text is named so, and the key cannot be added; the message says what there is.
pub fn with_value(text: &str, key: &str, value: &str) -> Result<String, String> {
    let mut faults = Faults::default();
    let root = tree::read(0, text, &mut faults);
    if faults.errors() > 0 {
        return Err("the description is no YAML".to_owned());
    }
    let (mut node, mut rest, mut done) = (&root, key, String::new());
    while let Some((name, child)) = child(node, rest, &done)? {
        if is_alias(node) {
            return Err(format!("`{done}` is an alias: write its value out to change it"));
        }
        done = if done.is_empty() { name.clone() } else { format!("{done}.{name}") };
        node = child;
        rest = rest[name.len()..].strip_prefix('.').unwrap_or_default();
        if rest.is_empty() {
            let (start, end) = (node.place.start as usize, end_of(text, node));
            // `key:` has nothing after it, and its place is before the colon.
            let (colon, space) = if text[start..].starts_with(':') { (1, " ") } else { (0, "") };
            let (start, end) = (start + colon, end.max(start + colon));
            return Ok(format!("{}{space}{value}{}", &text[..start], &text[end..]));
        }
    }
    if is_alias(node) {
        return Err(format!("`{done}` is an alias: write its value out to change it"));
    }
    added(text, node, rest, value).ok_or_else(|| {
        let place = if done.is_empty() { "the description".to_owned() } else { format!("`{done}`") };
        format!("{place} is no mapping that takes the key `{rest}`")
    })
}

/// The text of the value at `key`; none if nothing is named so, or if it is elsewhere, behind an anchor.
#[must_use]
pub fn value_at<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut faults = Faults::default();
    let root = tree::read(0, text, &mut faults);
    let (mut node, mut rest) = (&root, key);
    while let Ok(Some((name, child))) = child(node, rest, "") {
        if is_alias(node) {
            return None;
        }
        node = child;
        rest = rest[name.len()..].strip_prefix('.').unwrap_or_default();
        if rest.is_empty() {
            return text.get(node.place.start as usize..end_of(text, node));
        }
    }
    None
}

/// The text with one more element, as YAML in one line, at the end of the list with a key of the description itself.
///
/// # Errors
/// If the list is elsewhere, behind an anchor, or written so that nothing can be added to it.
pub fn with_element(text: &str, key: &str, value: &str) -> Result<String, String> {
    let mut faults = Faults::default();
    let root = tree::read(0, text, &mut faults);
    if faults.errors() > 0 {
        return Err("the description is no YAML".to_owned());
    }
    let Some(list) = root.get(key) else { return with_value(text, key, &format!("[{value}]")) };
    let Some(last) = list.items().last() else { return with_value(text, key, &format!("[{value}]")) };
    let unlike =
        || format!("`{key}` is written in a way to which nothing can be added: write its elements in lines");
    if is_alias(list) {
        return Err(unlike());
    }
    let end = end_of(text, last);
    if text[list.place.start as usize..].starts_with('[') {
        return Ok(format!("{}, {value}{}", &text[..end], &text[end..]));
    }
    let start = last.place.start as usize;
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[line..start];
    if before.trim() != "-" {
        return Err(unlike());
    }
    let behind = text[end..].find(['\n', '\r']).map_or(text.len(), |length| end + length);
    let end_of_line = if text[behind..].starts_with('\r') { "\r\n" } else { "\n" };
    Ok(format!("{}{end_of_line}{before}{value}{}", &text[..behind], &text[behind..]))
}

/// Whether a value at `key` would be one at other places, too: what the keys lead through is behind an anchor. Gives the keys of that.
#[must_use]
pub fn shared_at(text: &str, key: &str) -> Option<String> {
    let mut faults = Faults::default();
    let root = tree::read(0, text, &mut faults);
    let (mut node, mut rest, mut done) = (&root, key, String::new());
    while let Ok(Some((name, child))) = child(node, rest, &done) {
        done = if done.is_empty() { name.clone() } else { format!("{done}.{name}") };
        let key_of = |entries: &[(tree::Key<'_>, Node<'_>)]| {
            entries.iter().find(|(key, _)| key.text == name).map(|(key, _)| key.place.end as usize)
        };
        let before = match &node.value {
            Value::Map(entries) => key_of(entries).and_then(|end| text.get(end..child.place.start as usize)),
            _ => None,
        };
        let is_anchor =
            before.is_some_and(|before| before.split('#').next().is_some_and(|code| code.contains('&')));
        if is_anchor || is_alias(child) {
            return Some(done);
        }
        node = child;
        rest = rest[name.len()..].strip_prefix('.').unwrap_or_default();
    }
    None
}

/// The entry or element that the keys begin with, with its name; none if a mapping has no such key.
fn child<'n, 't>(
    node: &'n Node<'t>,
    keys: &str,
    place: &str,
) -> Result<Option<(String, &'n Node<'t>)>, String> {
    let begins =
        |name: &str| keys.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    match &node.value {
        Value::Map(entries) => {
            // A name may have points itself: the longest that fits.
            let fitting = entries.iter().filter(|(key, _)| begins(&key.text));
            let found = fitting.max_by_key(|(key, _)| key.text.len());
            Ok(found.map(|(key, value)| (key.text.clone().into_owned(), value)))
        }
        Value::List(items) => {
            let names: Vec<_> =
                items.iter().enumerate().map(|(number, item)| name_of(item, number)).collect();
            let fitting = names.iter().zip(items).filter(|(name, _)| begins(name));
            let found = fitting.max_by_key(|(name, _)| name.len());
            let Some((name, item)) = found else {
                let wanted = keys.split('.').next().unwrap_or(keys);
                let near = nearest(wanted, names.iter().map(String::as_str));
                let near = near
                    .or(names.first().map(String::as_str))
                    .map_or_else(String::new, |near| format!("; there is `{near}`"));
                return Err(format!("`{place}` has no `{wanted}`{near}"));
            };
            Ok(Some((name.clone(), item)))
        }
        _ => Ok(None),
    }
}

/// Whether what is below a node is elsewhere, behind an anchor.
fn is_alias(node: &Node<'_>) -> bool {
    let below = match &node.value {
        Value::Map(entries) => entries.first().map(|(key, _)| key.place.start),
        Value::List(items) => items.first().map(|item| item.place.start),
        _ => None,
    };
    below.is_some_and(|start| !(node.place.start..node.place.end.max(node.place.start + 1)).contains(&start))
}

/// Behind the last octet of a node's own text, or of the alias in its place: what is in lines ends with its last value.
fn end_of(text: &str, node: &Node<'_>) -> usize {
    let place = node.place.end as usize;
    let is_bracketed = text.get(..place).is_some_and(|text| text.ends_with(['}', ']']));
    let below = match &node.value {
        _ if is_bracketed || is_alias(node) => None,
        Value::Map(entries) => entries.iter().map(|(_, value)| end_of(text, value)).max(),
        Value::List(items) => items.iter().map(|item| end_of(text, item)).max(),
        _ => None,
    };
    below.unwrap_or(place)
}

/// What names an element of a list.
fn name_of(item: &Node<'_>, number: usize) -> String {
    let ends = || {
        let ends = item.get("between")?.items();
        Some(ends.iter().filter_map(Node::text).collect::<Vec<_>>().join("-")).filter(|ends| !ends.is_empty())
    };
    let name = item.get("name").and_then(Node::text).map(str::to_owned);
    name.or_else(ends).unwrap_or_else(|| number.to_string())
}

/// The text with a key that its mapping does not have, and those below it.
fn added(text: &str, mapping: &Node<'_>, keys: &str, value: &str) -> Option<String> {
    let Value::Map(entries) = &mapping.value else { return None };
    let mut keys: Vec<_> = keys.split('.').collect();
    let first = keys.remove(0);
    let braces = "}".repeat(keys.len());
    let below: String = keys.iter().map(|key| format!("{{{key}: ")).collect();
    let new = format!("{first}: {below}{value}{braces}");
    if entries.is_empty() {
        let (start, end) = (mapping.place.start as usize, mapping.place.end as usize);
        return (text.get(start..end)?.starts_with('{'))
            .then(|| format!("{}{{{new}}}{}", &text[..start], &text[end..]));
    }
    let (at, before, after) = place_in(text, mapping)?;
    Some(format!("{}{before}{new}{after}{}", &text[..at], &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# The network.
name: n
defaults: {rate: 100 Mbit/s, host: &h {receive: 1 us}}   # all
nodes:
  a: {type: end-station, host: *h}
  b:
    type: bridge   # a comment
    classes:
      5: {idle-slope: 20 Mbit/s}
    traffic-class-table:
      - 0
      - 1
  c: {}
links:
  - {between: [a, b]}
  - between: [b, c]
    rate: 1 Gbit/s
streams:
  - name: x.y
    payload:
    listeners: [a, c]
";

    /// The lines that a change leaves different.
    fn changed(key: &str, value: &str) -> Vec<String> {
        let text = with_value(TEXT, key, value).unwrap_or_else(|why| panic!("{key}: {why}"));
        let mut faults = Faults::default();
        tree::read(0, &text, &mut faults);
        assert_eq!(faults.errors(), 0, "{text}");
        text.lines().filter(|line| !TEXT.lines().any(|known| known == *line)).map(str::to_owned).collect()
    }

    #[test]
    fn values_are_found_and_elements_added() {
        assert_eq!(value_at(TEXT, "links.b-c.rate"), Some("1 Gbit/s"));
        assert_eq!(value_at(TEXT, "links.a-b.rate"), None);
        for (text, expected) in [
            ("a: [1, 2]  # x\nb: 3\n", "a: [1, 2, 9]  # x\nb: 3\n"),
            ("a:\n  - 1\n  - {x: 2}  # y\nb: 3\n", "a:\n  - 1\n  - {x: 2}  # y\n  - 9\nb: 3\n"),
            ("a:\n- x: 1\n  y: 2", "a:\n- x: 1\n  y: 2\n- 9"),
            ("a:\r\n- 1\r\nb: 3\r\n", "a:\r\n- 1\r\n- 9\r\nb: 3\r\n"),
            ("a: []\n", "a: [9]\n"),
            ("b: 3\n", "b: 3\na: [9]\n"),
        ] {
            assert_eq!(with_element(text, "a", "9").as_deref(), Ok(expected), "{text}");
        }
        assert!(with_element("b: &l [1]\na: *l\n", "a", "9").is_err());
        assert!(with_element("a: [", "a", "9").is_err());
    }

    #[test]
    fn a_value_is_changed_and_nothing_else() {
        for (key, value, line) in [
            ("name", "m", "name: m"),
            ("defaults.rate", "1 Gbit/s", "defaults: {rate: 1 Gbit/s, host: &h {receive: 1 us}}   # all"),
            ("nodes.b.type", "end-station", "    type: end-station   # a comment"),
            ("nodes.b.classes.5.idle-slope", "7 Mbit/s", "      5: {idle-slope: 7 Mbit/s}"),
            ("nodes.b.traffic-class-table.1", "3", "      - 3"),
            ("links.b-c.rate", "10 Mbit/s", "    rate: 10 Mbit/s"),
            ("streams.x.y.listeners", "[a]", "    listeners: [a]"),
            ("streams.x.y.listeners.1", "b", "    listeners: [a, b]"),
            ("streams.x.y.payload", "9 B", "    payload: 9 B"),
            ("nodes.a.host", "{receive: 2 us}", "  a: {type: end-station, host: {receive: 2 us}}"),
        ] {
            assert_eq!(changed(key, value), [line], "{key}");
        }
        let table = with_value(TEXT, "nodes.b.traffic-class-table", "[0, 2]").expect("a list in lines");
        assert!(table.contains("      [0, 2]\n  c: {}\n"), "{table}");
    }

    #[test]
    fn a_key_is_added_to_its_mapping() {
        for (key, value, line) in [
            ("links.a-b.length", "5 m", "  - {length: 5 m, between: [a, b]}"),
            ("run.seed", "7", "run: {seed: 7}"),
            ("nodes.b.queue-limit.frames", "64", "    queue-limit: {frames: 64}"),
            ("nodes.c.type", "end-station", "  c: {type: end-station}"),
            ("streams.x.y.priority", "5", "    priority: 5"),
        ] {
            assert_eq!(changed(key, value), [line], "{key}");
        }
    }

    #[test]
    fn what_cannot_be_changed_is_named() {
        for (key, words) in [
            ("streams.z.payload", "`streams` has no `z`; there is `x.y`"),
            ("links.a-c.rate", "`links` has no `a-c`; there is `a-b`"),
            ("nodes.a.host.receive", "`nodes.a.host` is an alias"),
            ("name.first", "`name` is no mapping that takes the key `first`"),
        ] {
            let why = with_value(TEXT, key, "1").expect_err(key);
            assert!(why.contains(words), "{key}: {why}");
        }
        assert!(with_value("a: [1", "a", "1").is_err());
    }
}
