//! `tautwire check`: every fault of descriptions, and the rules of a profile that they keep.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;
use tautwire_workbench::{Loaded, PROFILES, Profile, ProfileCheck, RuleVerdict};

use super::{load, once_or_watched, show};
use crate::args::Again;
use crate::exit::Exit;
use crate::{diagnostics, output};

pub(super) const HELP: &str = "\
Examples:
  tautwire check scenarios/in-vehicle.yaml
  tautwire check scenarios/in-vehicle.yaml --json | jq '.diagnostics[].message'
  tautwire check scenarios/avb.yaml --profile 802.1BA
  tautwire check --quiet scenarios/*.yaml || echo 'some have errors'
  tautwire new audio | tautwire check -
  tautwire check net.yaml --watch

A breach of a profile's rule is an error, with the rule and its source. The table lists all rules:
kept, broken, not applicable, and unknown where no public text states them.

Exit codes: 0 no errors (warnings are shown), 2 errors or an unreadable file, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Descriptions of networks (YAML); `-` is stdin
    #[arg(value_name = "NETWORK", required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// Print the result as JSON, for several files as a list
    #[arg(long)]
    pub(super) json: bool,
    /// Also check the rules of this TSN profile, as far as public texts state them
    #[arg(long, value_name = "PROFILE", value_parser = PossibleValuesParser::new(PROFILES.map(|profile| profile.name)), ignore_case = true)]
    pub(super) profile: Option<String>,
    #[command(flatten)]
    pub(super) again: Again,
}

pub(super) fn run(arguments: &Check) -> Result<Exit, Exit> {
    once_or_watched(arguments.again.watch, &arguments.paths, || once(arguments))
}

fn once(arguments: &Check) -> Result<Exit, Exit> {
    let profile = arguments.profile.as_deref().and_then(Profile::named);
    let mut found = Vec::new();
    let mut exit = Exit::Holds;
    for path in &arguments.paths {
        // The others are checked whatever one of them is.
        let mut loaded = match load(path) {
            Ok(loaded) => loaded,
            Err(failed) => {
                exit = failed;
                continue;
            }
        };
        let rules = profile.and_then(|profile| ProfileCheck::of(profile, &mut loaded));
        if loaded.has_errors() {
            exit = Exit::WrongInput;
        }
        if !arguments.json {
            checked(path, &loaded, rules.as_ref())?;
            continue;
        }
        let mut value = json!({
            "file": path.to_string_lossy(),
            "valid": !loaded.has_errors(),
            "diagnostics": diagnostics::json(&loaded),
        });
        if profile.is_some() {
            value["profile"] = rules.as_ref().map_or(serde_json::Value::Null, ProfileCheck::to_json);
        }
        found.push(value);
    }
    if !found.is_empty() {
        let value = if arguments.paths.len() == 1 { found.remove(0) } else { found.into() };
        output::result(&format!("{value:#}\n"))?;
    }
    Ok(exit)
}

/// Shows the faults of a description, the rules of a profile, and a line that counts.
fn checked(path: &Path, loaded: &Loaded, rules: Option<&ProfileCheck>) -> Result<(), Exit> {
    show(loaded);
    let counted = diagnostics::counted(&loaded.diagnostics);
    let size = loaded.network.as_ref().map_or_else(String::new, |network| {
        let (nodes, cables) = (network.nodes.len(), network.links.len().div_ceil(2));
        let sizes = [(nodes, "node"), (cables, "link"), (network.streams.len(), "stream")];
        format!("{}; ", sizes.map(|(count, name)| plural(count, name)).join(", "))
    });
    let rules = rules.map_or_else(String::new, table);
    output::result(&format!("{rules}{}: {size}{counted}\n", path.display()))
}

/// The rules with their verdicts and sources, and how many have each verdict.
fn table(checked: &ProfileCheck) -> String {
    let mut text = format!("{}: {}\n\n", checked.profile.name, checked.profile.about);
    let width = checked.rows.iter().map(|row| row.rule.id.len()).max().unwrap_or(0);
    for row in &checked.rows {
        let (rule, verdict) = (row.rule, row.verdict.name());
        let _ = writeln!(text, "{verdict:<14}  {:<width$}  {}", rule.id, rule.says);
        let why = row.why.map_or_else(String::new, |why| format!("; {why}"));
        let _ = writeln!(
            text,
            "{:<14}  {:<width$}  {}: {}{why}",
            "",
            "",
            rule.source.kind.name(),
            rule.source.text
        );
    }
    let counted = [RuleVerdict::Kept, RuleVerdict::Broken, RuleVerdict::NotApplicable, RuleVerdict::Unknown]
        .map(|verdict| format!("{} {}", checked.count(verdict), verdict.name()));
    let _ = writeln!(text, "\n{} rules: {}", checked.rows.len(), counted.join(", "));
    text
}

/// `1 link`, `2 links`.
fn plural(count: usize, name: &str) -> String {
    format!("{count} {name}{}", if count == 1 { "" } else { "s" })
}
