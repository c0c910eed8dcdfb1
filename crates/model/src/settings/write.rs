//! Writes other values into a text: over the present ones, or with their keys where there is none.

use super::{Setting, Written, range};
use crate::text::tree::Node;

/// The text with these values.
pub(super) fn written(text: &str, mut changed: Vec<(&Setting, &str)>) -> String {
    changed.sort_by_key(|(setting, _)| &setting.place);
    changed.sort_by_key(|(setting, _)| match setting.place {
        Written::Over((at, _)) | Written::Added(at, ..) => at,
    });
    let (mut made, mut copied) = (String::with_capacity(text.len()), 0);
    let mut rest = changed.as_slice();
    while let Some((first, value)) = rest.first() {
        let here = rest.iter().take_while(|(setting, _)| setting.place == first.place).count();
        match &first.place {
            Written::Over(place) => {
                let place = range(*place);
                made.push_str(&text[copied..place.start]);
                made.push_str(value);
                copied = place.end;
            }
            Written::Added(at, before, after) => {
                made.push_str(&text[copied..*at]);
                // Keys that go to one place share the text around them.
                let keys =
                    rest[..here].iter().map(|(setting, value)| format!("{}: {value}", setting.key.name()));
                let between = if before.ends_with('{') || before.trim() == "," { ", " } else { before };
                made.push_str(&format!("{before}{}{after}", keys.collect::<Vec<_>>().join(between)));
                copied = *at;
            }
        }
        rest = &rest[here..];
    }
    made.push_str(&text[copied..]);
    made
}

/// Where a key goes in a mapping, with the text before and behind it: after the first value that ends in its line,
/// which in a stream is its name, and in a node its type.
pub(crate) fn place_in(text: &str, mapping: &Node<'_>) -> Option<(usize, String, String)> {
    let entries = mapping.entries();
    let first = &entries.first()?.0.place;
    if first.source != 0 {
        return None;
    }
    let start = first.start as usize;
    // A mapping by lines begins where its first key does; the target of an alias is elsewhere.
    let opening = text.get(mapping.place.start as usize..start)?;
    let in_braces = opening.lines().any(|line| line.split('#').next().is_some_and(|code| code.contains('{')));
    let ends = entries.iter().filter(|(_, value)| value.text().is_some()).map(|(_, value)| value.place);
    let in_line = |end: &usize| {
        let rest = text[*end..].split(['\n', '\r']).next().unwrap_or_default().trim_start();
        rest.is_empty() || rest.starts_with('#')
    };
    if in_braces {
        let end = ends.map(|place| place.end as usize).next();
        return Some(match end {
            Some(end) => (end, ", ".to_owned(), String::new()),
            None => (start, String::new(), ", ".to_owned()),
        });
    }
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = " ".repeat(text[line..start].chars().count());
    let end_of_line =
        if text[line..].split('\n').next().is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" };
    let plain = ends.filter(|place| !text[place.start as usize..place.end as usize].contains('\n'));
    let end = plain.map(|place| place.end as usize).find(in_line);
    Some(match end {
        Some(end) => {
            let behind = text[end..].find(['\n', '\r']).map_or(text.len(), |length| end + length);
            (behind, format!("{end_of_line}{indent}"), String::new())
        }
        None => (start, String::new(), format!("{end_of_line}{indent}")),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::SettingKey;
    use crate::Grammar;

    const TEXT: &str = "\
# A comment.
defaults: {rate: 100 Mbit/s, queue-limit: {frames: 64}}   # few
nodes:
  a: {type: end-station}
  b:
    type: end-station   # the listener
    ports:
      p1: {queue-limit: {octets: 9000 B}}
  sw: {type: bridge, classes: {5: {transmission-selection: credit-based, idle-slope: 20 Mbit/s}}}
links: [{between: [a, sw]}, {between: [sw, b]}]
streams:
  - name: x   # by lines
    talker: a
    listeners: b
    payload: 100 B
    traffic: {type: periodic, interval: 1 ms}
  - {name: y, talker: a, listeners: b, priority: 5, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
";

    /// The text with values at paths, as diff lines.
    fn changed(text: &str, values: &[(&str, &str)]) -> Vec<String> {
        let settings = Grammar::kernel().settings("t", text).expect("well formed");
        let number = |path: &str| {
            let paths = || settings.list.iter().map(|setting| setting.path.as_str()).collect::<Vec<_>>();
            settings
                .list
                .iter()
                .position(|setting| setting.path == path)
                .unwrap_or_else(|| panic!("{path}: {:?}", paths()))
        };
        let changes: BTreeMap<usize, String> =
            values.iter().map(|(path, value)| (number(path), (*value).to_owned())).collect();
        let made = settings.with(&changes);
        assert!(crate::load_text("t", &made).network.is_some(), "{made}");
        let known: Vec<&str> = text.lines().collect();
        made.lines().filter(|line| !known.contains(line)).map(str::to_owned).collect()
    }

    #[test]
    fn a_value_replaces_the_one_that_is_there() {
        let slope = [("nodes.sw.classes.5.idle-slope", "34.5 Mbit/s")];
        assert_eq!(
            changed(TEXT, &slope),
            [
                "  sw: {type: bridge, classes: {5: {transmission-selection: credit-based, idle-slope: 34.5 Mbit/s}}}"
            ]
        );
        assert_eq!(
            changed(
                TEXT,
                &[("defaults.queue-limit.frames", "90"), ("nodes.b.ports.p1.queue-limit.octets", "1 MB")]
            ),
            [
                "defaults: {rate: 100 Mbit/s, queue-limit: {frames: 90}}   # few",
                "      p1: {queue-limit: {octets: 1 MB}}"
            ]
        );
        let settings = Grammar::kernel().settings("t", TEXT).expect("well formed");
        let slope = settings.list.iter().find(|one| one.key == SettingKey::IdleSlope).expect("one");
        assert_eq!((slope.stated.as_deref(), slope.line, slope.classes.len()), (Some("20 Mbit/s"), 9, 2));
    }

    #[test]
    fn a_key_is_added_in_its_mapping() {
        assert_eq!(changed(TEXT, &[("streams.x.priority", "6")]), ["    priority: 6"]);
        let bare = TEXT.replace(" priority: 5,", "");
        assert!(
            changed(&bare, &[("streams.y.priority", "3")])[0]
                .starts_with("  - {name: y, priority: 3, talker: a,")
        );
        let bare = TEXT.replace(", queue-limit: {frames: 64}", "");
        let both = [("nodes.a.queue-limit.frames", "2000"), ("nodes.a.queue-limit.octets", "4 MB")];
        assert_eq!(
            changed(&bare, &both),
            ["  a: {type: end-station, queue-limit: {frames: 2000, octets: 4 MB}}"]
        );
        let both = [("nodes.b.queue-limit.frames", "2000")];
        assert_eq!(changed(&bare, &both), ["    queue-limit: {frames: 2000}"]);
        let crlf = TEXT.replace('\n', "\r\n");
        assert_eq!(changed(&crlf, &[("streams.x.priority", "6")]), ["    priority: 6"]);
    }

    #[test]
    fn a_comment_says_nothing_of_the_mapping_below_it() {
        let text = TEXT
            .replace("  b:\n", "  b:   # {\n    # one, two,\n")
            .replace("  - name: x", "  # {x,\n  - name: x");
        let text = text.replace(", queue-limit: {frames: 64}", "");
        let values = [("nodes.b.queue-limit.frames", "9"), ("streams.x.priority", "6")];
        assert_eq!(changed(&text, &values), ["    queue-limit: {frames: 9}", "    priority: 6"]);
    }

    #[test]
    fn a_value_behind_an_anchor_is_one_setting() {
        let text = TEXT.replace("traffic: {type: periodic, interval: 1 ms}\n  -", "traffic: {type: periodic, interval: 1 ms}\n    shaper: &s {committed-information-rate: 1 Mbit/s, committed-burst-size: 200 B}\n  -");
        let text = text.replace("priority: 5,", "priority: 5, shaper: *s,");
        let settings = Grammar::kernel().settings("t", &text).expect("well formed");
        let rate =
            settings.list.iter().find(|one| one.key == SettingKey::CommittedInformationRate).expect("one");
        assert_eq!(
            (rate.path.as_str(), rate.streams.len()),
            ("streams.x.shaper.committed-information-rate", 2)
        );
    }
}
