//! Rules of the source tree that no compiler checks: headers, sizes, forbidden marks and words, arrows between crates, links.
//!
//! Every rule collects the offending lines, so that one run shows them all.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold no text of the project's own.
const SKIPPED: [&str; 5] = ["target", "node_modules", "runs", "__pycache__", "dist"];

/// units <- wire <- core <- model <- { analysis, sim } <- report <- admission <- workbench <- cli; observe is above
/// core, below sim and report; synthesis above model, below workbench; captures above sim, below report; mechanisms above sim, below
/// workbench; live above sim and
/// linux, below cli. A crate may use any crate that its arrows reach.
const ARROWS: [(&str, &[&str]); 18] = [
    ("units", &[]),
    ("program", &[]),
    ("wire", &["units"]),
    ("core", &["units", "wire"]),
    ("model", &["units", "wire", "core"]),
    ("generate", &["units", "wire", "core", "model"]),
    ("observe", &["units", "wire", "core"]),
    ("analysis", &["units", "wire", "core", "model", "program"]),
    ("synthesis", &["units", "wire", "core", "model"]),
    ("sim", &["units", "wire", "core", "model", "observe"]),
    ("linux", &[]),
    ("live", &["units", "wire", "core", "model", "observe", "sim", "linux"]),
    ("captures", &["units", "wire", "core", "model", "observe", "sim"]),
    ("exchange", &["units", "wire", "core", "model"]),
    ("report", &["units", "wire", "core", "model", "observe", "analysis", "sim", "captures"]),
    ("admission", &["units", "wire", "core", "model", "observe", "analysis", "sim", "captures", "report"]),
    (
        "workbench",
        &[
            "units",
            "wire",
            "core",
            "model",
            "observe",
            "analysis",
            "sim",
            "synthesis",
            "captures",
            "exchange",
            "report",
            "admission",
        ],
    ),
    (
        "cli",
        &[
            "units",
            "wire",
            "core",
            "model",
            "observe",
            "analysis",
            "sim",
            "synthesis",
            "captures",
            "exchange",
            "report",
            "admission",
            "workbench",
            "linux",
            "live",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new("../..").canonicalize().unwrap()
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) && (!name.starts_with('.') || name == ".ci") {
            walk(&path, found);
        } else if path.is_file() {
            found.push(path);
        }
    }
}

/// All files with one of these endings, as (path from the root, text), in order of path.
fn files(endings: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    let wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        endings.iter().any(|ending| name.ends_with(ending))
    };
    let read = |path: PathBuf| {
        let octets = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text = String::from_utf8_lossy(&octets).into_owned();
        (path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), text)
    };
    found.into_iter().filter(wanted).map(read).collect()
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Lines that contain one of the marks. A mark is written in two parts, so that this file does not find itself.
fn lines_with(marks: &[[&str; 2]], endings: &[&str]) -> Vec<String> {
    let marks: Vec<String> = marks.iter().map(|parts| parts.concat()).collect();
    let mut faults = Vec::new();
    for (path, text) in files(endings) {
        for (number, line) in text.lines().enumerate() {
            for mark in marks.iter().filter(|mark| line.contains(mark.as_str())) {
                faults.push(format!("{path}:{}: `{mark}`", number + 1));
            }
        }
    }
    faults
}

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

/// Tests run in the folder of their package. A program with a path of its clone would have to be built for each, and cargo does not.
#[test]
fn no_program_knows_where_it_was_built() {
    assert_none(&lines_with(&[["env!(\"CARGO_MAN", "IFEST_DIR\")"]], &[".rs"]));
}

/// Packages that one of ours rests on, each with the features with which it is built for it.
fn packages_of(package: &str) -> BTreeSet<(String, String)> {
    let mut tree = std::process::Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    tree.args(["tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}|{f}"]);
    let printed = tree.args(["--package", package]).current_dir(root()).output().unwrap();
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let of = |line: &str| {
        let (package, features) = line.trim_end_matches(" (*)").split_once('|')?;
        Some((package.to_owned(), features.to_owned()))
    };
    String::from_utf8(printed.stdout).unwrap().lines().filter_map(of).collect()
}

#[test]
fn the_command_and_the_python_module_share_what_is_built() {
    let (command, module) = (packages_of("tautwire-cli"), packages_of("tautwire-python"));
    let faults: Vec<_> = command
        .difference(&module)
        .map(|(package, features)| {
            let built: Vec<_> = module.iter().filter(|(other, _)| other == package).collect();
            format!(
                "{package} has {features} for the command, for the module {built:?}: crates/cli/Cargo.toml"
            )
        })
        .collect();
    assert_none(&faults);
}

/// Names in the section `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    names_in(manifest, "[dependencies]")
}

/// Names in a section of a manifest.
fn names_in(manifest: &str, section: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == section;
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let end =
                line.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(line.len());
            names.push(line[..end].to_owned());
        }
    }
    names
}

fn manifest(path: &str) -> String {
    fs::read_to_string(root().join(path).join("Cargo.toml")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Names of the folders in a folder.
fn folders(place: &str) -> Vec<String> {
    let names = fs::read_dir(root().join(place)).unwrap();
    names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// What a mechanism may use, which nothing but workbench uses.
const OF_MECHANISMS: [&str; 9] =
    ["units", "wire", "core", "model", "generate", "observe", "analysis", "sim", "report"];

#[test]
fn the_kernel_names_no_mechanism_that_is_a_plug_in() {
    let kernel =
        ["units", "wire", "core", "observe", "model", "analysis", "sim", "report", "admission", "cli"];
    let mut faults = Vec::new();
    for (path, text) in files(&[".rs"]) {
        if !kernel.iter().any(|name| path.starts_with(&format!("crates/{name}/src/"))) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for name in folders("mechanisms").iter().filter(|name| line.contains(name.as_str())) {
                faults.push(format!("{path}:{}: names `{name}`", number + 1));
            }
        }
    }
    assert_none(&faults);
}

/// The flow of bounds, and what it may not name: mechanisms give it services.
const FLOW: [&str; 12] = [
    "analysis.rs",
    "arrival.rs",
    "answers.rs",
    "contribution.rs",
    "explain",
    "outcome.rs",
    "passage.rs",
    "plan",
    "port",
    "service.rs",
    "session.rs",
    "slack.rs",
];
const SERVED: [&str; 8] =
    ["tdma", "harts", "time_triggered", "time-triggered", "timed", "as6802", "elementary", "standby"];

#[test]
fn the_flow_of_bounds_names_no_mechanism_that_serves() {
    let mut faults = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let Some(name) = path.strip_prefix("crates/analysis/src/") else { continue };
        if !FLOW.iter().any(|flow| name.starts_with(flow)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for name in SERVED.iter().filter(|name| line.to_lowercase().contains(**name)) {
                faults.push(format!("{path}:{}: names `{name}`", number + 1));
            }
        }
    }
    assert_none(&faults);
}

/// The event loop of a run and the door of mechanisms, which may not name these: `mechanisms.rs` lists them.
const LOOP: [&str; 27] = [
    "agenda.rs",
    "applications/",
    "clock.rs",
    "control/",
    "control_loss.rs",
    "egress.rs",
    "engine.rs",
    "fates.rs",
    "frame.rs",
    "node.rs",
    "options.rs",
    "order.rs",
    "plan.rs",
    "plugged.rs",
    "protocols.rs",
    "random.rs",
    "reception.rs",
    "recorder.rs",
    "relay.rs",
    "request_outcome.rs",
    "run.rs",
    "source.rs",
    "stages.rs",
    "stamps.rs",
    "statistics.rs",
    "talker.rs",
    "timeline.rs",
];
const RUN: [&str; 8] = ["as6802", "central", "gptp", "harts", "psfp", "srp", "tdma", "test_bed"];

/// Names of mechanisms that stay there, and why (`docs/adr/0008-one-door-for-a-mechanism.md`).
const STAYING: [(&str, &str, &str); 14] = [
    ("control/controls.rs", "gptp", "DisciplinedClock, the clock that applications see"),
    ("control/hosted.rs", "gptp", "DisciplinedClock and how it is adjusted"),
    ("control/hosted.rs", "harts", "ServerConfig, servers of a port"),
    ("control/mod.rs", "gptp", "DisciplinedClock"),
    ("control/plane/mod.rs", "gptp", "DisciplinedClock and how it is adjusted"),
    ("control/runner.rs", "gptp", "DisciplinedClock"),
    ("recorder.rs", "gptp", "DisciplinedClock"),
    ("stamps.rs", "gptp", "DisciplinedClock"),
    ("control/plane/servers.rs", "harts", "ServerConfig, servers of a port"),
    ("options.rs", "central", "AdmissionControl, which callers give"),
    ("options.rs", "harts", "HartsTest, which callers give"),
    ("engine.rs", "harts", "what callers give, and the typed field of Observation"),
    ("random.rs", "central", "a purpose of random numbers, by which draws stay as they were"),
    ("random.rs", "gptp", "a purpose of random numbers"),
];

/// The words of all identifiers and path segments of a line of Rust, without its comment and its texts: `HartsTest` is `harts_test`.
fn identifiers(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    // Every second part between quotes is a text.
    let code: String = code.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let parts = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|part| !part.is_empty());
    let snake = |part: &str| {
        let mut snake = String::new();
        let mut before = '_';
        for letter in part.chars() {
            if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
            before = letter;
        }
        snake
    };
    parts.map(snake).collect()
}

/// Whether an identifier has the name of a mechanism among its words.
fn names(identifier: &str, mechanism: &str) -> bool {
    format!("_{identifier}_").contains(&format!("_{mechanism}_"))
}

#[test]
fn the_event_loop_names_no_mechanism() {
    let mut faults = Vec::new();
    let mut found = BTreeSet::new();
    for (path, text) in files(&[".rs"]) {
        let Some(name) = path.strip_prefix("crates/sim/src/") else { continue };
        if !LOOP.iter().any(|of_loop| name.starts_with(of_loop)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let identifiers = identifiers(line);
            for mechanism in RUN.iter().filter(|name| identifiers.iter().any(|word| names(word, name))) {
                let stays = |(file, staying, _): &&(&str, &str, &str)| *file == name && staying == mechanism;
                match STAYING.iter().find(stays) {
                    Some((file, staying, _)) => drop(found.insert((*file, *staying))),
                    None => faults.push(format!("{path}:{}: names `{mechanism}`", number + 1)),
                }
            }
        }
    }
    for (file, mechanism, why) in STAYING.iter().filter(|(file, name, _)| !found.contains(&(*file, *name))) {
        faults.push(format!("{file}: does not name `{mechanism}` any more ({why})"));
    }
    assert_none(&faults);
}

#[test]
fn arrows_between_crates_point_one_way() {
    let mut faults = Vec::new();
    let mechanisms = folders("mechanisms");
    for name in &mechanisms {
        for used in dependencies(&manifest(&format!("mechanisms/{name}"))) {
            if let Some(used) = used.strip_prefix("tautwire-").filter(|used| !OF_MECHANISMS.contains(used)) {
                faults.push(format!("mechanisms/{name}: must not depend on {used}"));
            }
        }
    }
    for name in folders("crates") {
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
            faults.push(format!("crates/{name}: has no place among the arrows"));
            continue;
        };
        for used in dependencies(&manifest(&format!("crates/{name}"))) {
            let is_listed = |used: &&str| name == "workbench" && mechanisms.iter().any(|known| known == used);
            let Some(used) = used.strip_prefix("tautwire-") else { continue };
            if !allowed.contains(&used) && !is_listed(&used) {
                faults.push(format!("crates/{name}: must not depend on {used}"));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn the_core_uses_no_other_crate() {
    let mut faults = Vec::new();
    for name in ["units", "wire", "core"] {
        let text = fs::read_to_string(root().join(format!("crates/{name}/src/lib.rs"))).unwrap();
        if !text.contains("#![no_std]") && !text.contains("#![cfg_attr(not(test), no_std)]") {
            faults.push(format!("crates/{name}: is not no_std"));
        }
        for used in dependencies(&manifest(&format!("crates/{name}"))) {
            if !used.starts_with("tautwire-") {
                faults.push(format!("crates/{name}: depends on {used}"));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn exact_crates_have_no_floating_point() {
    let mut faults = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let exact = ["units", "wire", "core", "analysis"]
            .iter()
            .any(|name| path.starts_with(&format!("crates/{name}/src/")));
        // Tests may hold exact figures against rough ones.
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
        for (number, line) in code.enumerate().filter(|_| exact) {
            let code = line.split("//").next().unwrap_or_default();
            let mut words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            if words.any(|word| {
                ["f32", "f64"].iter().any(|float| word == *float || word.ends_with(&format!("_{float}")))
            }) {
                faults.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn manifests_take_what_the_workspace_fixes() {
    let of =
        |place: &str| folders(place).into_iter().map(|name| format!("{place}/{name}")).collect::<Vec<_>>();
    let members = of("crates").into_iter().chain(of("mechanisms"));
    let mut faults = Vec::new();
    for member in members.chain(["python".to_owned(), "benches".to_owned()]) {
        let text = manifest(&member);
        for line in ["version.workspace = true", "license.workspace = true", "rust-version.workspace = true"]
        {
            if !text.contains(line) {
                faults.push(format!("{member}/Cargo.toml: lacks `{line}`"));
            }
        }
        if !text.contains("[lints]\nworkspace = true") {
            faults.push(format!("{member}/Cargo.toml: does not take the workspace's lints"));
        }
    }
    assert_none(&faults);
}

/// Whether a crate of ours uses another one, also by others.
fn reaches(from: &str, to: &str) -> bool {
    from == to
        || dependencies(&manifest(from))
            .iter()
            .any(|used| folder_of(used).is_some_and(|used| reaches(&used, to)))
}

/// The folder of a crate of ours by the name of its package.
fn folder_of(package: &str) -> Option<String> {
    let name = package.strip_prefix("tautwire-")?;
    let places = ["crates", "mechanisms"].map(|place| format!("{place}/{name}"));
    places.into_iter().find(|place| root().join(place).join("Cargo.toml").exists())
}

/// What `cargo publish` asks of a crate, without building it; `make crates` does the rest.
#[test]
fn crates_can_be_published() {
    let of =
        |place: &str| folders(place).into_iter().map(|name| format!("{place}/{name}")).collect::<Vec<_>>();
    let mut faults = Vec::new();
    for line in fs::read_to_string(root().join("Cargo.toml")).unwrap().lines() {
        if line.starts_with("tautwire-") && !line.contains(", version = \"") {
            faults.push(format!("Cargo.toml: {line}: without a version"));
        }
    }
    for member in of("crates").into_iter().chain(of("mechanisms")) {
        let text = manifest(&member);
        for line in ["description = \"", "keywords.workspace", "categories.workspace", "exclude.workspace"] {
            if !text.contains(&format!("\n{line}")) {
                faults.push(format!("{member}/Cargo.toml: lacks `{line}`"));
            }
        }
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            if fs::read(root().join(&member).join(licence)).ok() != fs::read(root().join(licence)).ok() {
                faults.push(format!("{member}/{licence}: is not the licence of the project"));
            }
        }
        // The published package names only those by their version, and a circle of such cannot be published.
        for used in names_in(&text, "[dev-dependencies]") {
            let names_version = text.contains(&format!("\n{used}.workspace"))
                || text.contains(&format!("\n{used} = {{ workspace"));
            let is_circle = folder_of(&used).is_some_and(|used| used != member && reaches(&used, &member));
            if names_version && is_circle {
                faults
                    .push(format!("{member}/Cargo.toml: {used} uses this crate: name it by its path alone"));
            }
        }
    }
    for (path, text) in files(&[".rs"]) {
        let Some((_, inside)) = path.split_once("/src/") else { continue };
        let up = "../".repeat(inside.matches('/').count() + 2);
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
        let is_outside = |line: &&str| line.contains("include_") && line.contains(&format!("(\"{up}"));
        faults.extend(
            code.filter(is_outside).map(|line| format!("{path}: outside of its package: {}", line.trim())),
        );
    }
    assert_none(&faults);
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
fn the_rules_find_what_they_seek() {
    assert_eq!(links("see [a](b.md), `[c](d.md)`, ![e](f.png)"), [(1, "b.md".into()), (1, "f.png".into())]);
    assert_eq!(anchors("# What it is\ntext\n## Two, or `more`"), ["what-it-is", "two-or-more"]);
    let line = "use tautwire_core::gptp::{A}; fn f(x: HartsTest) { \"tdma\" } // srp";
    let words = identifiers(line);
    assert_eq!(words, ["use", "tautwire_core", "gptp", "a", "fn", "f", "x", "harts_test"]);
    assert!(
        names("harts_test", "harts") && names("of_test_bed", "test_bed") && !names("centrally", "central")
    );
    let text = "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\ntautwire-units.workspace = true\n[dev-dependencies]\na = \"1\"";
    assert_eq!(dependencies(text), ["serde", "tautwire-units"]);
    assert!(!lines_with(&[["fn lines", "_with"]], &["tidy.rs"]).is_empty());
    assert_eq!(comment_words("    /// Calls `tell`: it is Told."), ["calls", "it", "is", "told"]);
    assert!(comment_words("let told = 1; // 2").is_empty());
    assert_eq!(
        examples("/// ```text\n/// ```\n/// ```\n/// let x = 1;\n/// ```\n//! ```no_run\n//! ```"),
        [3, 6]
    );
}
