//! Parameters by patterns, from INI files and from NED: the first pattern that matches counts.
//!
//! One configuration is read: the stated or only one. It is its section, those that it extends, and `General`. `*` matches within a part of a name, `**` anything, `[2..5]` numbers.
//! Not here: `include`, iteration variables (`${...}`), which are refused.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::Converted;

/// A parameter as it is written.
#[derive(Debug)]
pub(super) struct Entry {
    /// File and line.
    pub(super) place: String,
    pub(super) pattern: String,
    pub(super) value: String,
    /// Whether a value was asked for that it matches.
    is_used: Cell<bool>,
}

impl Entry {
    pub(super) fn new(place: String, pattern: &str, value: &str) -> Self {
        Self { place, pattern: pattern.to_owned(), value: value.to_owned(), is_used: Cell::new(false) }
    }
}

/// Parameters in order.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    entries: Vec<Entry>,
    /// The entries whose last word is this one, in order; behind the empty word those that have wildcards there.
    by_word: BTreeMap<String, Vec<usize>>,
}

/// What says nothing about a network, but about what is shown and recorded.
const SHOWN: [&str; 12] = [
    "display-name",
    "displayStringTextFormat",
    "description",
    "recordPcap",
    "packetNameFormat",
    "vector-recording",
    "scalar-recording",
    "statistic-recording",
    "result-recording-modes",
    "displayGateSchedules",
    "gateFilter",
    "bin-recording",
];

impl Parameters {
    /// Parameters in the order in which they count.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let mut by_word: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate() {
            let last = entry.pattern.rsplit('.').next().unwrap_or("");
            let word = if last.contains(['*', '?', '[', '{']) { "" } else { last };
            by_word.entry(word.to_owned()).or_default().push(number);
        }
        Self { entries, by_word }
    }

    /// The same with more of them before and behind.
    pub(super) fn with(self, first: Vec<Entry>, last: Vec<Entry>) -> Self {
        Self::new(first.into_iter().chain(self.entries).chain(last).collect())
    }

    /// The first parameter that matches a name.
    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        let node = name.split('.').nth(1);
        let is_of =
            |entry: &Entry| match entry.pattern.strip_prefix("*.").and_then(|rest| rest.split('.').next()) {
                Some(own) if !own.contains(['*', '?', '[', '{']) => node == Some(own),
                _ => true,
            };
        let of_word = |word: &str| self.by_word.get(word).map_or(&[][..], Vec::as_slice).iter().copied();
        let mut first = None;
        for number in of_word("").chain(of_word(name.rsplit('.').next().unwrap_or(""))) {
            let entry = &self.entries[number];
            if is_of(entry) && matches(entry.pattern.as_bytes(), name.as_bytes()) {
                entry.is_used.set(true);
                first = Some(first.map_or(number, |first: usize| first.min(number)));
            }
        }
        first.map(|number| &self.entries[number])
    }

    /// Parameters that no question found and that are about the network.
    pub(super) fn unused(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| {
            let last = entry.pattern.rsplit('.').next().unwrap_or("");
            let is_shown = SHOWN.contains(&last)
                || entry.pattern.to_ascii_lowercase().contains("visualizer")
                || entry.pattern.contains("pcapRecorder");
            !entry.is_used.get() && !is_shown
        })
    }
}

/// A section.
struct Section {
    name: String,
    line: usize,
    lines: Vec<(usize, String, String)>,
    faults: Vec<String>,
}

impl Section {
    fn new(name: &str, line: usize) -> Self {
        Self { name: name.to_owned(), line, lines: Vec::new(), faults: Vec::new() }
    }
}

/// The configuration of a file: entries in the order in which they count.
pub(super) fn read(
    name: &str,
    text: &str,
    configuration: Option<&str>,
    converted: &mut Converted,
) -> Result<Vec<Entry>, String> {
    let mut sections = vec![Section::new("General", 1)];
    for (line, text) in logical(text) {
        let wrong = |what: &str| format!("{name}.ini:{line}: {what}");
        if let Some(inner) = text.strip_prefix('[') {
            if !inner.ends_with(']') {
                converted.fault(wrong("a section is `[name]`"));
            }
            let title = inner.trim_end_matches(']').trim();
            let title = title.strip_prefix("Config ").unwrap_or(title).trim();
            match sections.iter().position(|section| section.name == title) {
                Some(at) if title == "General" => {
                    let again = sections.remove(at);
                    sections.push(again);
                }
                Some(_) => converted.fault(wrong(&format!("a second section `{title}`"))),
                None => sections.push(Section::new(title, line)),
            }
            continue;
        }
        // Sections of other configurations may have what is not supported.
        let own = sections.last_mut().expect("General is there");
        if text.starts_with("include ") {
            own.faults.push(wrong("`include` is not supported: put the files into one"));
            continue;
        }
        let Some((key, value)) = text.split_once('=') else {
            own.faults.push(wrong("a line is `key = value`"));
            continue;
        };
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        if value.contains("${") {
            own.faults.push(wrong("iteration variables are not supported: write the value"));
        }
        own.lines.push((line, key, value));
    }
    let value = |section: &Section, key: &str| {
        section.lines.iter().find(|(_, own, _)| own == key).map(|(_, _, value)| value.clone())
    };
    let parents = |section: &Section| -> Vec<String> {
        let text = value(section, "extends").unwrap_or_default();
        text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    };
    let extended: Vec<String> = sections.iter().flat_map(&parents).collect();
    let runnable: Vec<&Section> = sections
        .iter()
        .filter(|section| {
            section.name != "General"
                && value(section, "abstract").as_deref() != Some("true")
                && !extended.contains(&section.name)
        })
        .collect();
    let list = |of: &mut dyn Iterator<Item = &Section>| -> String {
        of.map(|one| format!("{} (line {})", one.name, one.line)).collect::<Vec<_>>().join(", ")
    };
    let chosen = match (configuration, &runnable[..]) {
        (Some(stated), _) => sections.iter().find(|section| section.name == stated).ok_or_else(|| {
            format!("{name}.ini: no configuration `{stated}`; there are {}", list(&mut sections.iter()))
        })?,
        (None, []) => sections.iter().find(|section| section.name == "General").expect("it is there"),
        (None, [one]) => one,
        (None, several) => {
            return Err(format!(
                "{name}.ini: several configurations, {}: choose one by its name",
                list(&mut several.iter().copied())
            ));
        }
    };
    // The section, those that it extends in order, `General`.
    let mut order: Vec<&Section> = Vec::new();
    let mut next = vec![chosen.name.clone()];
    while let Some(title) = next.first().cloned() {
        next.remove(0);
        if order.iter().any(|section| section.name == title) {
            continue;
        }
        let section = sections
            .iter()
            .find(|section| section.name == title)
            .ok_or_else(|| format!("{name}.ini: no section `{title}`, which another one extends"))?;
        order.push(section);
        for fault in &section.faults {
            converted.fault(fault.clone());
        }
        let own = parents(section);
        let own = if own.is_empty() && title != "General" { vec!["General".to_owned()] } else { own };
        next.extend(own);
    }
    let entries = order.iter().flat_map(|section| &section.lines);
    Ok(entries.map(|(line, key, value)| Entry::new(format!("{name}.ini:{line}"), key, value)).collect())
}

/// Lines without comments, those of one value together: a value goes on in indented lines, while a bracket is open, and behind a backslash.
fn logical(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in text.lines().enumerate() {
        let is_indented = line.starts_with([' ', '\t']);
        let line = without_comment(line);
        let (line, is_continued) =
            line.strip_suffix('\\').map_or((line, false), |line| (line.trim_end(), true));
        if line.is_empty() && !is_continued {
            goes_on = goes_on && found.last().is_some_and(|(_, last)| is_open(last));
            continue;
        }
        if (goes_on || is_indented) && !found.is_empty() {
            let last = &mut found.last_mut().expect("a line goes on").1;
            last.push(' ');
            last.push_str(line);
        } else {
            found.push((number + 1, line.to_owned()));
        }
        let last = &found.last().expect("a line is there").1;
        goes_on = is_continued || (!last.starts_with('[') && is_open(last));
    }
    found
}

/// A line without its comment, which `#` begins outside of texts.
fn without_comment(line: &str) -> &str {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, letter) in line.char_indices() {
        match letter {
            '"' if !is_escaped => is_quoted = !is_quoted,
            '#' if !is_quoted => return line[..at].trim(),
            _ => {}
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    line.trim()
}

/// Whether a value has brackets without their ends.
fn is_open(line: &str) -> bool {
    let value = line.split_once('=').map_or("", |(_, value)| value);
    let mut depth = 0_i64;
    let mut is_quoted = false;
    for letter in value.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '[' | '{' | '(' if !is_quoted => depth += 1,
            ']' | '}' | ')' if !is_quoted => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}

/// Whether a pattern matches a name.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', b'*', rest @ ..] => (0..=name.len()).any(|taken| matches(rest, &name[taken..])),
        [b'*', rest @ ..] => {
            let most = name.iter().position(|letter| *letter == b'.').unwrap_or(name.len());
            (0..=most).any(|taken| matches(rest, &name[taken..]))
        }
        [b'?', rest @ ..] => name.first().is_some_and(|letter| *letter != b'.') && matches(rest, &name[1..]),
        [b'[', rest @ ..] => {
            let Some([b'[', after @ ..]) = Some(name) else { return false };
            let Some(end) = rest.iter().position(|letter| *letter == b']') else { return false };
            let range = range(&rest[..end]);
            let digits = after.iter().take_while(|letter| letter.is_ascii_digit()).count();
            match (range, number(&after[..digits])) {
                (Some((from, to)), Some(own)) => {
                    after.get(digits) == Some(&b']')
                        && (from..=to).contains(&own)
                        && matches(&rest[end + 1..], &after[digits + 1..])
                }
                _ => matches(rest, after),
            }
        }
        [letter, rest @ ..] => name.first() == Some(letter) && matches(rest, &name[1..]),
    }
}

/// The numbers of `2..5`, `2..` or `..5`.
fn range(text: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(text).ok()?;
    let (from, to) = text.split_once("..")?;
    let from = if from.is_empty() { 0 } else { from.parse().ok()? };
    let to = if to.is_empty() { u64::MAX } else { to.parse().ok()? };
    Some((from, to))
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_parts_of_names() {
        let is = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(is("*.client*.app[*].x", "N.client12.app[3].x"));
        assert!(!is("*.client", "N.a.client") && is("**.client", "N.a.client") && is("**", "N.a"));
        assert!(
            is("*.a[2..5].x", "N.a[4].x") && !is("*.a[2..5].x", "N.a[6].x") && is("*.a[2..].x", "N.a[99].x")
        );
        assert!(is("*.q.*[1].name", "N.q.gate[1].name") && !is("*.a[1].x", "N.a[12].x"));
    }

    #[test]
    fn the_first_entry_of_a_configuration_counts() {
        let text = "[General]\n*.a.x = 1 # one\n**.y =\n  [1,\n\n2] \n[Config A]\nabstract = true\n*.a.x = 2\n[Config B]\nextends = A\n*.b.x = \"#\"\n";
        let parameters = Parameters::new(read("omnetpp", text, None, &mut Converted::default()).unwrap());
        let get = |name: &str| parameters.get(name).map(|entry| (entry.place.as_str(), entry.value.as_str()));
        assert_eq!(get("N.a.x"), Some(("omnetpp.ini:9", "2")));
        assert_eq!(get("N.b.x"), Some(("omnetpp.ini:12", "\"#\"")));
        assert_eq!(get("N.b.y"), Some(("omnetpp.ini:3", "[1, 2]")));
        assert_eq!(get("N.c.z"), None);
        for wrong in
            ["a", "[x", "[A]\n[B]", "[A]\nextends = B", "include x.ini", "*.a = ${n=1..2}", "[A]\n[A]"]
        {
            let mut converted = Converted::default();
            let read = read("omnetpp", wrong, None, &mut converted);
            assert!(read.is_err() || !converted.faults.is_empty(), "{wrong}");
        }
    }
}
