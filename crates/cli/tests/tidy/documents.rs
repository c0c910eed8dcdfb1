//! Documents: their links, and that the site has them all.

use std::collections::BTreeSet;
use std::fs;

use crate::{assert_none, files, root};

/// The targets of Markdown links and pictures in a text, with their lines; code is left out.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        // Every second part between back quotes is code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        for part in prose.split("](").skip(1) {
            if let Some(end) = part.find(')') {
                found.push((number + 1, part[..end].to_owned()));
            }
        }
    }
    found
}

/// The anchors that a Markdown text's headings make.
fn anchors(text: &str) -> Vec<String> {
    let anchor = |line: &str| {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut faults = Vec::new();
    for (path, text) in files(&[".md"]) {
        let outside = ["http://", "https://", "mailto:"];
        for (line, target) in links(&text) {
            if outside.iter().any(|scheme| target.starts_with(scheme)) {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target.as_str(), ""));
            let from = root().join(&path);
            let place = if file.is_empty() { from } else { from.parent().unwrap().join(file) };
            if !place.exists() {
                faults.push(format!("{path}:{line}: `{target}` is not there"));
            } else if !anchor.is_empty()
                && !anchors(&fs::read_to_string(&place).unwrap()).contains(&anchor.to_owned())
            {
                faults.push(format!("{path}:{line}: `{target}` has no such heading"));
            }
        }
    }
    assert_none(&faults);
}

/// `make site` finds more (links, anchors), and takes what this test does not have.
#[test]
fn the_site_lists_every_page() {
    let contents = fs::read_to_string(root().join("docs/mkdocs.yml")).unwrap();
    let nav = contents.split_once("\nnav:\n").unwrap().1;
    let listed: BTreeSet<&str> = nav.split_whitespace().filter(|word| word.ends_with(".md")).collect();
    let files = files(&[".md"]);
    let pages: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let is_shown =
        |page: &&&str| page.starts_with("docs/") || page.starts_with("papers/") || !page.contains('/');
    let missing = pages.iter().filter(is_shown).filter(|page| !listed.contains(*page));
    let missing = missing.map(|page| format!("{page}: docs/mkdocs.yml does not list it"));
    // What tools/site writes.
    let is_made = |page: &&&str| ["reports/README.md", "rust/README.md"].contains(*page);
    let gone = listed.iter().filter(|page| !is_made(page) && !pages.contains(*page));
    let gone = gone.map(|page| format!("docs/mkdocs.yml: there is no {page}"));
    assert_none(&missing.chain(gone).collect::<Vec<_>>());
}

#[test]
fn links_and_anchors_are_found() {
    assert_eq!(links("see [a](b.md), `[c](d.md)`, ![e](f.png)"), [(1, "b.md".into()), (1, "f.png".into())]);
    assert_eq!(anchors("# What it is\ntext\n## Two, or `more`"), ["what-it-is", "two-or-more"]);
}
