//! Texts of the project: headers, sizes, marks and words that are not to be there.

use std::fs;

use crate::{assert_none, files, folders, lines_with, manifest, root};

#[test]
fn every_rust_file_has_a_header() {
    let faults: Vec<_> = files(&[".rs"])
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(path, _)| format!("{path}: does not open with `//! `"))
        .collect();
    assert_none(&faults);
}

#[test]
fn no_file_is_over_a_thousand_lines() {
    let faults: Vec<_> = files(&[".rs", ".py", ".pyi", ".ts", ".tsx", ".js", ".md"])
        .into_iter()
        // A page that a test keeps equal to its source is as long as what it lists.
        .filter(|(_, text)| !text.contains("This page is made from the grammar"))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > 1_000)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert_none(&faults);
}

/// It says what a user must know; git has the rest.
#[test]
fn the_changelog_is_short() {
    let lines = fs::read_to_string(root().join("CHANGELOG.md")).unwrap().lines().count();
    assert!((1..150).contains(&lines), "CHANGELOG.md: {lines} lines of 149 at most; shorten what is there");
}

#[test]
fn nothing_is_left_open_or_switched_off() {
    let marks = [
        ["todo", "!("],
        ["unimplemented", "!("],
        ["#[ig", "nore"],
        ["#[should_", "panic"],
        ["mark.", "xfail"],
    ];
    assert_none(&lines_with(&marks, &[".rs", ".py"]));
}

#[test]
fn no_path_of_a_machine_is_written_down() {
    let marks = [["/ro", "ot/"], ["/ho", "me/"], ["/wo", "rk/"], ["/Us", "ers/"], [".cargo/", "registry"]];
    let endings =
        [".rs", ".py", ".pyi", ".toml", ".md", ".yaml", ".csv", ".sh", "Makefile", "run", "setup", ".json"];
    assert_none(&lines_with(&marks, &endings));
}

/// Lines of a text on which an example in documentation begins that rustdoc would compile: a fence without a word, or with one of Rust's.
fn examples(text: &str) -> Vec<usize> {
    let (mut found, mut is_open) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
        let Some(word) = comment.and_then(|comment| comment.trim_start().strip_prefix("```")) else {
            continue;
        };
        let is_rust =
            word.is_empty() || ["rust", "no_run", "compile_fail"].iter().any(|mark| word.starts_with(mark));
        if !is_open && is_rust {
            found.push(number + 1);
        }
        is_open = !is_open;
    }
    found
}

#[test]
fn examples_are_written_where_they_are_run() {
    let mut faults = Vec::new();
    let of =
        |place: &str| folders(place).into_iter().map(|name| format!("{place}/{name}")).collect::<Vec<_>>();
    for member in of("crates").into_iter().chain(of("mechanisms")) {
        if !manifest(&member).contains("doctest = false") {
            continue;
        }
        let own = format!("{member}/src/");
        for (path, text) in files(&[".rs"]).into_iter().filter(|(path, _)| path.contains(&own)) {
            let lines = examples(&text).into_iter();
            faults
                .extend(lines.map(|line| format!("{path}:{line}: `doctest = false` in {member}/Cargo.toml")));
        }
    }
    assert_none(&faults);
}

/// Words of everyday speech that a comment must not use for a term of the field, and what it says instead.
const IDIOMS: [(&[&str], &str); 7] = [
    (&["told", "tells"], "a value is given, a message sent, a node notified, a fault reported"),
    (&["beside"], "in addition to, together with, next to"),
    (&["reckon", "reckons", "reckoned", "reckoning"], "a bound counts, computes or uses something"),
    (&["hears", "heard"], "a node receives or learns"),
    (&["stands", "stood"], "a reservation exists or is granted, a value is in its place"),
    (&["manner", "manners"], "the way in which something is done"),
    (&["whom"], "name the node, the stream or the caller"),
];

/// Files whose comments are also text that users read and other files repeat.
fn is_repeated(text: &str) -> bool {
    ["JsonSchema", "#[doc = $doc]", "\ncodes! {"].iter().any(|mark| text.contains(mark))
}

/// The words of the comment of a line of Rust, in lower case, without code between back quotes.
fn comment_words(line: &str) -> Vec<String> {
    let line = line.trim_start();
    let Some(comment) = line.strip_prefix("//") else { return Vec::new() };
    // Every second part between back quotes is code.
    let prose = comment.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    prose.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn comments_use_the_terms_of_the_field() {
    let mut faults = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let in_source = ["crates/", "mechanisms/"].iter().any(|place| path.starts_with(place));
        if !in_source || !path.contains("/src/") || is_repeated(&text) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for word in comment_words(line) {
                if let Some((_, remedy)) = IDIOMS.iter().find(|(words, _)| words.contains(&word.as_str())) {
                    faults.push(format!("{path}:{}: `{word}` in a comment; plainer: {remedy}", number + 1));
                }
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn words_and_examples_are_found() {
    assert_eq!(comment_words("    /// Calls `tell`: it is Told."), ["calls", "it", "is", "told"]);
    assert!(comment_words("let told = 1; // 2").is_empty());
    assert_eq!(
        examples("/// ```text\n/// ```\n/// ```\n/// let x = 1;\n/// ```\n//! ```no_run\n//! ```"),
        [3, 6]
    );
}
