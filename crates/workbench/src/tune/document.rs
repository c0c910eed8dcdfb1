//! The result of a search, as tables and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tautwire_report::Verdict;
use tautwire_units::Duration;

use super::{Change, Tuned, TunedRow};

impl Tuned {
    /// For people: the changes, rows that were not proven, a summary line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        match &self.conflict {
            None if self.changes.is_empty() => {}
            None => text.push_str(&changes(&self.changes)),
            Some(conflict) => {
                let rows = conflict.rows.iter().map(|row| {
                    let deadline = row.deadline.to_string();
                    let tried = row.tried.iter().map(|change| format!("{} {}", change.path, change.new));
                    let tried = tried.collect::<Vec<_>>().join(", ");
                    vec![row.stream.clone(), row.listener.clone(), deadline, bound(row.bound), tried]
                });
                let heading = ["stream", "listener", "deadline", "bound", "with"];
                let set = if conflict.is_smallest {
                    "not proven together, and each can be with the others left out"
                } else {
                    "not proven together; the set may not be a smallest one"
                };
                let alone = conflict.rows.iter().all(|row| row.stream == conflict.rows[0].stream);
                let set = if alone && conflict.is_smallest { "not proven with any values" } else { set };
                let _ = writeln!(text, "{set}:\n{}", table(&heading, rows.collect()));
            }
        }
        let rows: Vec<&TunedRow> =
            self.rows.iter().filter(|row| row.verdict_before != Verdict::Proven).collect();
        if !rows.is_empty() && self.conflict.is_none() {
            let rows = rows.into_iter().map(|row| {
                let name = row.verdict_after.name().to_owned();
                let (before, after) = (bound(row.before), bound(row.after));
                vec![row.stream.clone(), row.listener.clone(), row.deadline.to_string(), before, after, name]
            });
            let heading = ["stream", "listener", "deadline", "bound before", "bound now", "verdict"];
            let _ = writeln!(text, "{}", table(&heading, rows.collect()));
        }
        let (before, after, all) = self.proven();
        let _ = write!(text, "proven: {before} of {all} as described");
        let _ = match (&self.text, self.changes.is_empty()) {
            (Some(_), true) => write!(text, ", nothing to change"),
            (Some(_), false) => write!(text, ", {after} of {all} with these values"),
            (None, _) => write!(text, ", {after} of {all} at best"),
        };
        text.push_str(if self.cut_short { "; the budget is spent\n" } else { "\n" });
        text
    }

    /// As JSON: keys in snake_case, units in their names.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let changes = |changes: &[Change]| {
            let one = |change: &Change| {
                json!({
                    "kind": change.kind.name(),
                    "path": change.path,
                    "line": change.line,
                    "at": change.at,
                    "old": change.old,
                    "was": change.was,
                    "new": change.new,
                })
            };
            changes.iter().map(one).collect::<Vec<_>>()
        };
        let rows = self.rows.iter().map(|row| {
            json!({
                "stream": row.stream,
                "listener": row.listener,
                "deadline_ps": row.deadline.as_ps(),
                "bound_before_ps": row.before.map(Duration::as_ps),
                "verdict_before": row.verdict_before,
                "bound_ps": row.after.map(Duration::as_ps),
                "verdict": row.verdict_after,
            })
        });
        let conflict = self.conflict.as_ref().map(|conflict| {
            let rows = conflict.rows.iter().map(|row| {
                json!({
                    "stream": row.stream,
                    "listener": row.listener,
                    "deadline_ps": row.deadline.as_ps(),
                    "bound_ps": row.bound.map(Duration::as_ps),
                    "verdict": row.verdict,
                    "tried": changes(&row.tried),
                })
            });
            json!({"rows": rows.collect::<Vec<_>>(), "is_smallest": conflict.is_smallest})
        });
        json!({
            "proven": self.text.is_some(),
            "changes": changes(&self.changes),
            "rows": rows.collect::<Vec<_>>(),
            "conflict": conflict,
            "runs": self.runs,
            "cut_short": self.cut_short,
            "text": self.text,
        })
    }
}

fn changes(changes: &[Change]) -> String {
    let rows = changes
        .iter()
        .map(|change| vec![change.path.clone(), change.at.clone(), change.before(), change.new.clone()]);
    format!("{}\n", table(&["setting", "of", "was", "now"], rows.collect()))
}

fn bound(bound: Option<Duration>) -> String {
    bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string())
}

/// Columns as wide as their cells.
fn table(heading: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut rows = rows;
    rows.insert(0, heading.iter().map(|&cell| cell.to_owned()).collect());
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}
