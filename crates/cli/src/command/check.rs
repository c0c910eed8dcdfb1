//! `tautwire check`: every fault of a description, and the rules of a profile that it keeps.

use std::fmt::Write as _;

use serde_json::json;
use tautwire_workbench::{Profile, ProfileCheck, RuleVerdict};

use super::load;
use crate::args::Check;
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::{diagnostics, output};

pub(super) fn run(arguments: &Check) -> Result<Exit, Exit> {
    let path = &arguments.input.path;
    let mut loaded = load(path)?;
    let profile = arguments.profile.as_deref().and_then(Profile::named);
    let checked = profile.and_then(|profile| ProfileCheck::of(profile, &mut loaded));
    if arguments.input.json {
        let mut value = json!({
            "file": path.to_string_lossy(),
            "valid": !loaded.has_errors(),
            "diagnostics": diagnostics::json(&loaded),
        });
        if profile.is_some() {
            value["profile"] = checked.as_ref().map_or(serde_json::Value::Null, ProfileCheck::to_json);
        }
        output::result(&format!("{value:#}\n"))?;
    } else {
        output::note(&diagnostics::drawn(&loaded, Terminal::of_stderr()));
        let counted = diagnostics::counted(&loaded.diagnostics);
        let size = loaded.network.as_ref().map_or_else(String::new, |network| {
            let (nodes, cables) = (network.nodes.len(), network.links.len().div_ceil(2));
            let sizes = [(nodes, "node"), (cables, "link"), (network.streams.len(), "stream")];
            format!("{}; ", sizes.map(|(count, name)| plural(count, name)).join(", "))
        });
        let rules = checked.as_ref().map_or_else(String::new, table);
        output::result(&format!("{rules}{}: {size}{counted}\n", path.display()))?;
    }
    Ok(if loaded.has_errors() { Exit::WrongInput } else { Exit::Holds })
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
