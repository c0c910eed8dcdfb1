//! Crates: which may use which, what their manifests take from the workspace, what they may hold, and that they can be published.

use std::collections::BTreeSet;
use std::fs;

use crate::{assert_none, files, folders, lines_with, manifest, root};

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

/// What a mechanism may use, which nothing but workbench uses.
const OF_MECHANISMS: [&str; 9] =
    ["units", "wire", "core", "model", "generate", "observe", "analysis", "sim", "report"];

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
pub(crate) fn dependencies(manifest: &str) -> Vec<String> {
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

#[test]
fn the_names_of_a_section_are_found() {
    let text = "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\ntautwire-units.workspace = true\n[dev-dependencies]\na = \"1\"";
    assert_eq!(dependencies(text), ["serde", "tautwire-units"]);
}
