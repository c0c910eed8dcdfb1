//! A difference as plain tables for a terminal: values of the descriptions, then streams at listeners, then a line of counts.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::listener::{Change, Copies, ListenerChange, relative};
use super::{Difference, Pair, values};
use crate::grid::{TableOptions, number, render, text};
use crate::table::{microseconds, per_cent};

impl Change {
    /// All of them, the most important first, with their words in tables and in the line of counts.
    const ALL: [(Self, &'static str); 13] = [
        (Self::VerdictWorse, "verdict worse"),
        (Self::OnlyBefore, "only before"),
        (Self::OnlyAfter, "only after"),
        (Self::VerdictBetter, "verdict better"),
        (Self::Deadline, "other deadline"),
        (Self::Proof, "other proof"),
        (Self::MoreLost, "more lost"),
        (Self::FewerLost, "fewer lost"),
        (Self::BoundGreater, "bound greater"),
        (Self::BoundLess, "bound less"),
        (Self::DelayGreater, "delay greater"),
        (Self::DelayLess, "delay less"),
        (Self::Other, "other"),
    ];

    /// Its words.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(change, _)| *change == self).map_or("", |(_, name)| name)
    }
}

impl Difference {
    /// As tables, and a line that counts.
    #[must_use]
    pub fn to_text(&self, options: TableOptions) -> String {
        let mut parts = vec![self.runs(), self.values(options), self.rows(options)];
        if self.layout {
            parts.push("the descriptions differ in comments, layout or order alone\n".to_owned());
        }
        parts.retain(|part| !part.is_empty());
        parts.push(self.outcome());
        parts.join("\n")
    }

    /// What is not alike in the runs, a line each.
    fn runs(&self) -> String {
        let mut found = String::new();
        let (before, after) = (&self.before, &self.after);
        let mut line = |text: String| writeln!(found, "{text}").expect("a string can be written");
        if before.network != after.network {
            line(format!("network: {} → {}", before.network, after.network));
        }
        match (before.seed, after.seed) {
            (Some(one), Some(other)) if one != other => line(format!("seed: {one} → {other}")),
            (None, Some(_)) => line("no run before: delays and losses are not compared".to_owned()),
            (Some(_), None) => line("no run after: delays and losses are not compared".to_owned()),
            _ => {}
        }
        if let (Some(one), Some(other)) = (before.duration_ps, after.duration_ps)
            && one != other
        {
            let [one, other] = [one, other].map(|ps| microseconds(ps.into()));
            line(format!("simulated time us: {one} → {other}"));
        }
        match (before.verdict, after.verdict) {
            (None, Some(_)) => line("no bounds before: bounds and verdicts are not compared".to_owned()),
            (Some(_), None) => line("no bounds after: bounds and verdicts are not compared".to_owned()),
            _ => {}
        }
        found
    }

    fn values(&self, options: TableOptions) -> String {
        let side = |value: &Option<serde_json::Value>| {
            value.as_ref().map_or_else(|| "-".to_owned(), |value| values::written(value).replace('\n', " / "))
        };
        let row = |one: &super::ValueChange| vec![one.key.clone(), side(&one.before), side(&one.after)];
        let rows: Vec<_> = self.description.iter().map(row).collect();
        render(&[text("description", 0), text("before", 0), text("after", 0)], &rows, options)
    }

    fn rows(&self, options: TableOptions) -> String {
        let columns = [
            text("stream", 0),
            text("listener", 2),
            text("what", 0),
            text("verdict", 0),
            number("bound us", 0),
            number("observed max", 0),
            number("effect", 3),
            number("loss", 1),
        ];
        let rows: Vec<_> = self.listeners.iter().map(row).collect();
        render(&columns, &rows, options)
    }

    fn outcome(&self) -> String {
        let all = self.listeners.len() + self.equal_listeners;
        let mut counts: BTreeMap<Change, usize> = BTreeMap::new();
        for listener in &self.listeners {
            *counts.entry(listener.change).or_default() += 1;
        }
        let mut parts: Vec<_> =
            counts.iter().map(|(change, count)| format!("{count} {}", change.name())).collect();
        if !self.description.is_empty() {
            let count = self.description.len();
            parts.push(format!("{count} value{} of the description", if count == 1 { "" } else { "s" }));
        }
        // Where listeners differ, hops and ports do.
        if self.listeners.is_empty() && !self.elsewhere.is_empty() {
            let names: Vec<_> = self.elsewhere.iter().map(String::as_str).collect();
            parts.push(format!("elsewhere: {}", names.join(", ")));
        }
        if parts.is_empty() {
            let nothing = if self.is_empty() { "no difference" } else { "no difference but in the runs" };
            parts.push(nothing.to_owned());
        }
        let streams = if all == 1 { "stream at a listener" } else { "streams at listeners" };
        format!("{all} {streams} compared: {}\n", parts.join(", "))
    }
}

fn row(change: &ListenerChange) -> Vec<String> {
    let verdict = both(&change.verdict, |verdict| verdict.name().to_owned());
    let bound = times(&change.bound_delay_max_ps);
    let loss = match &change.frames {
        Some(Pair { before: Some(before), after: Some(after) }) if losses(before) == losses(after) => {
            "=".to_owned()
        }
        pair => both(pair, |copies| per_cent(copies.loss_ppm)),
    };
    let effect = change.delay_mean_effect_mille.map_or_else(
        || "=".to_owned(),
        |mille| {
            let sign = if mille < 0 { "-" } else { "+" };
            format!("{sign}{}.{:02}", mille.unsigned_abs() / 1_000, mille.unsigned_abs() % 1_000 / 10)
        },
    );
    vec![
        change.stream.clone(),
        change.listener.clone(),
        change.change.name().to_owned(),
        verdict,
        bound,
        times(&change.observed_max_ps),
        effect,
        loss,
    ]
}

fn losses(copies: &Copies) -> (u64, u64) {
    (copies.lost, copies.loss_ppm)
}

/// Both values, or `=` if they are equal.
fn both<T>(pair: &Option<Pair<T>>, name: impl Fn(&T) -> String) -> String {
    let side = |value: &Option<T>| value.as_ref().map_or_else(|| "-".to_owned(), &name);
    pair.as_ref()
        .map_or_else(|| "=".to_owned(), |pair| format!("{} → {}", side(&pair.before), side(&pair.after)))
}

/// Both times in microseconds, and the change in per cent.
fn times(pair: &Option<Pair<u64>>) -> String {
    let mut text = both(pair, |ps| microseconds((*ps).into()));
    if let Some(pair) = pair
        && pair.before.is_some_and(|ps| ps > 0)
        && pair.after.is_some()
    {
        let ppm = relative(pair);
        let tenths = (ppm.unsigned_abs() + 500) / 1_000;
        let sign = if ppm < 0 { "-" } else { "+" };
        write!(text, " ({sign}{}.{} %)", tenths / 10, tenths % 10).expect("a string can be written");
    }
    text
}
