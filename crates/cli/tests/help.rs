//! The help of every subcommand, as golden texts.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;

use common::{folder, tautwire};

#[test]
fn every_help_is_as_agreed() {
    let folder = folder("help");
    let mut text = tautwire(&folder, &["--help"]).stdout;
    for command in [
        "new",
        "check",
        "bounds",
        "simulate",
        "verify",
        "analyse",
        "admit",
        "schedule",
        "plan",
        "tune",
        "report",
        "diff",
        "serve",
        "export",
        "import",
        "study",
        "schema",
        "completions",
        "man",
    ] {
        let ended = tautwire(&folder, &[command, "--help"]);
        assert_eq!(ended.code, 0, "{command}");
        assert_eq!(ended.stderr, "", "{command}");
        text.push_str(&format!("\n---- tautwire {command} --help\n\n{}", ended.stdout));
    }
    insta::assert_snapshot!("help", text);
}

/// A line of 100 letters at most is shown as it is written; of a longer one the last words would have a line of their own.
#[test]
fn no_help_is_broken_within_a_line() {
    let folder = folder("help-lines");
    for command in ["live", "bridge", "agent", "master", "schedule", "verify", "admit", "study", "serve"] {
        let text = tautwire(&folder, &[command, "--help"]).stdout;
        let lines: Vec<&str> = text.lines().collect();
        for three in lines.windows(3) {
            let is_prose = |line: &str| line.starts_with(|letter: char| letter.is_ascii_alphabetic());
            let is_rest = three.iter().all(|line| is_prose(line)) && three[1].len() < 20;
            assert!(!is_rest, "{command}: {three:?}");
        }
    }
}

#[test]
fn completions_know_the_subcommands() {
    let folder = folder("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ended = tautwire(&folder, &["completions", shell]);
        assert_eq!(ended.code, 0, "{shell}");
        for word in ["verify", "simulate", "explain"] {
            assert!(ended.stdout.contains(word), "{shell}: {word}");
        }
    }
}

/// A page for the command and for each of its subcommands, which name themselves, their options and their examples.
#[test]
fn manual_pages_are_those_of_the_help() {
    let folder = folder("man");
    let ended = tautwire(&folder, &["man", "man1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let page = |name: &str| fs::read_to_string(folder.join("man1").join(format!("{name}.1"))).unwrap();
    let of_command = page("tautwire");
    let listed = of_command.lines().filter_map(|line| line.strip_prefix("tautwire\\-")?.strip_suffix("(1)"));
    let listed: Vec<_> = listed.collect();
    assert!(listed.len() > 15, "{listed:?}");
    assert_eq!(ended.stdout, format!("man1: {} pages\n", fs::read_dir(folder.join("man1")).unwrap().count()));
    for name in listed {
        let text = page(&format!("tautwire-{name}"));
        let title = format!(".TH tautwire-{name} 1  \"Tautwire {}\" Tautwire\n", env!("CARGO_PKG_VERSION"));
        assert!(text.contains(&title), "{text}");
        assert!(text.contains("Examples:") && text.contains("Exit codes:"), "{text}");
    }
    assert!(page("tautwire-bounds").contains("explain"));
    let ended = tautwire(&folder, &["man", "man1/tautwire.1"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("cannot write man1/tautwire.1"), "{}", ended.stderr);
}

#[test]
fn wrong_usage_ends_with_2_and_a_reason_on_stderr() {
    let folder = folder("usage");
    for (arguments, expected) in [
        (&["verify"][..], "<NETWORK>"),
        (&["veryfy", "a.yaml"][..], "'verify'"),
        (&["simulate", "a.yaml", "--duration", "5"][..], "unit"),
        (&["simulate", "a.yaml", "--seed", "one"][..], "--seed"),
        (&["simulate", "a.yaml", "--trace", "csv"][..], "parquet"),
        (&["completions", "cmd"][..], "bash"),
        (&["check", "not-there.yaml"][..], "not-there.yaml"),
        (&["verify", "."][..], "cannot read"),
        (&["report", "not-there"][..], "not-there"),
    ] {
        let ended = tautwire(&folder, arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn no_arguments_show_the_help_and_end_with_2() {
    let ended = tautwire(&folder("nothing"), &[]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("Exit codes:"), "{}", ended.stderr);
}

#[test]
fn the_version_is_that_of_the_package() {
    let ended = tautwire(&folder("version"), &["--version"]);
    assert_eq!((ended.code, ended.stdout), (0, format!("tautwire {}\n", env!("CARGO_PKG_VERSION"))));
}
