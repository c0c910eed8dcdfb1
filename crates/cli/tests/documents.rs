//! What README and guide show is what the command prints.
//!
//! A block `yaml` that opens with `# name.yaml` is written to that file. In a block `console`, lines with `$ tautwire`
//! are run, and the lines after them are compared with stdout; a line `...` matches any lines. `TAUTWIRE_UPDATE=1`
//! writes the output into the documents instead, where no `...` is.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use common::{folder, root, tautwire};

/// A fenced block: its language, its lines, and the number of its first line from 0.
struct Block<'a> {
    language: &'a str,
    lines: Vec<&'a str>,
    first: usize,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some(Block { language, lines: Vec::new(), first: number + 1 }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// The commands of a block, each with the lines that are shown behind it and where these begin.
fn commands<'a>(block: &Block<'a>) -> Vec<(&'a str, Vec<&'a str>, usize)> {
    let mut commands: Vec<(&str, Vec<&str>, usize)> = Vec::new();
    for (index, line) in block.lines.iter().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command, Vec::new(), block.first + index + 1));
        } else if let Some((_, shown, _)) = commands.last_mut() {
            shown.push(line);
        }
    }
    commands
}

/// Whether lines are as shown, where `...` matches any lines.
fn matches(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..])),
        Some((line, rest)) => printed.first() == Some(line) && matches(rest, &printed[1..]),
    }
}

/// Runs what a document shows; gives the document as it should be, and what is wrong with it.
fn walk(name: &str, text: &str, folder: &Path) -> (String, Vec<String>) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut faults, mut shift) = (Vec::new(), 0_isize);
    for block in blocks(text) {
        let named = block.lines.first().and_then(|line| line.strip_prefix("# "));
        let is_file = |name: &&str| name.ends_with(".yaml") && !name.contains([' ', '/']);
        if let Some(file) = named.filter(is_file).filter(|_| block.language == "yaml") {
            fs::write(folder.join(file), block.lines.join("\n") + "\n").unwrap();
        }
        if block.language != "console" {
            continue;
        }
        for (command, shown, first) in commands(&block) {
            let Some(arguments) = command.strip_prefix("tautwire ") else { continue };
            let ended = tautwire(folder, &arguments.split_whitespace().collect::<Vec<_>>());
            let printed: Vec<&str> = ended.stdout.trim_end().lines().map(str::trim_end).collect();
            if !matches(&shown, &printed) {
                faults.push(format!("{name}:{first}: `{command}` prints\n{}{}", ended.stdout, ended.stderr));
                if !shown.contains(&"...") {
                    let start = first.checked_add_signed(shift).unwrap();
                    let new = printed.iter().map(|&line| line.to_owned());
                    lines.splice(start..start + shown.len(), new);
                    shift += isize::try_from(printed.len()).unwrap() - isize::try_from(shown.len()).unwrap();
                }
            }
        }
    }
    (lines.join("\n") + "\n", faults)
}

#[test]
fn documents_show_what_is_printed() {
    let mut documents = vec![PathBuf::from("README.md")];
    for place in ["docs/guide", "docs/mechanisms"] {
        let pages = fs::read_dir(root().join(place)).into_iter().flatten();
        documents.extend(pages.map(|entry| Path::new(place).join(entry.unwrap().file_name())));
    }
    documents.sort();
    let mut faults = Vec::new();
    for document in documents.iter().filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let name = document.to_str().unwrap();
        let folder = folder(&format!("documents-{}", name.replace('/', "-")));
        symlink(root().join("scenarios"), folder.join("scenarios")).unwrap();
        let text = fs::read_to_string(root().join(document)).unwrap();
        let (right, found) = walk(name, &text, &folder);
        if std::env::var_os("TAUTWIRE_UPDATE").is_some() {
            fs::write(root().join(document), right).unwrap();
        }
        faults.extend(found);
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_document_that_lies_is_found() {
    let folder = folder("documents-lie");
    let text = "```console\n$ tautwire --version\ntautwire 0.0.0\n```\nand\n```console\n$ make demo\nthis is not run\n```\n";
    let (right, faults) = walk("lie.md", text, &folder);
    assert_eq!(faults.len(), 1);
    assert_eq!(right, text.replace("0.0.0", env!("CARGO_PKG_VERSION")));
    assert_eq!(walk("right.md", &right, &folder).1, Vec::<String>::new());
    assert!(matches(&["a", "...", "z"], &["a", "b", "c", "z"]) && !matches(&["a", "..."], &["b"]));
}
