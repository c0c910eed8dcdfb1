//! What differs between two results: values of the descriptions, and per stream and listener verdicts, bounds, delays and losses.
//!
//! Streams and listeners are matched by their names. A key of [`Difference`] is there if it differs, so nothing but format,
//! sides and counts is there for two equal results. Listeners are in the order of importance ([`Change`]). What is known of
//! one side alone (a bound without a run on the other side) is not compared, and `compared` says so. What has no place in a
//! listener is named in `elsewhere`. `side_by_side.rs` has all rows, those that do not differ too. Not here: which results are compared (workbench), the text for a terminal (`table.rs`).

mod listener;
mod side_by_side;
mod table;
mod values;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

pub use self::listener::{Change, ListenerChange};
pub use self::side_by_side::{ComparedRow, ComparedSide, RowSide, SideBySide};
pub use self::values::ValueChange;
use crate::run_folder::RunFolder;
use crate::summary::{ListenerSummary, StreamSummary, Summary};
use crate::verdict::Verdict;

/// The version of this format.
const FORMAT: u32 = 1;

/// What differs between two results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Version of the format, 1.
    pub format: u32,
    /// What is compared with the other.
    pub before: Side,
    /// The other.
    pub after: Side,
    /// What both sides have.
    pub compared: Compared,
    /// Values of the descriptions, in the order of their texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub description: Vec<ValueChange>,
    /// The texts of the descriptions differ, but none of their values: in comments, layout or order.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub layout: bool,
    /// Streams at listeners, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listeners: Vec<ListenerChange>,
    /// Streams at listeners without a difference.
    pub equal_listeners: usize,
    /// Further keys of `summary.json` that differ: `ports`, `hops` of a stream and so on. Empty where the sides have not the same parts.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub elsewhere: BTreeSet<String>,
}

/// One of the two results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Name of the network.
    pub network: String,
    /// Seed of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Simulated time of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ps: Option<u64>,
    /// The worst verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// Which parts both sides have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Bounds and verdicts.
    pub bounds: bool,
    /// Delays and losses of a run.
    pub run: bool,
    /// The worst that a search found.
    pub adversary: bool,
}

/// A value on both sides; absent on one, it is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair<T> {
    /// On the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<T>,
    /// On the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<T>,
}

impl<T: PartialEq> Pair<T> {
    /// The two values, if they differ.
    fn of(before: Option<T>, after: Option<T>) -> Option<Self> {
        (before != after).then_some(Self { before, after })
    }
}

impl Difference {
    /// What differs between two results.
    #[must_use]
    pub fn of(before: &RunFolder, after: &RunFolder) -> Self {
        let (one, other) = (&before.summary, &after.summary);
        let compared = Compared {
            bounds: one.verification.is_some() && other.verification.is_some(),
            run: one.run.is_some() && other.run.is_some(),
            adversary: one.adversary.is_some() && other.adversary.is_some(),
        };
        let texts = [&before.network.description, &after.network.description];
        let description = values::changes(texts[0], texts[1]);
        let (listeners, equal_listeners) = listeners(one, other, compared);
        let is_alike = one.run.is_some() == other.run.is_some()
            && one.verification.is_some() == other.verification.is_some();
        Self {
            format: FORMAT,
            before: Side::of(one),
            after: Side::of(other),
            compared,
            layout: description.is_empty() && texts[0] != texts[1],
            description,
            listeners,
            equal_listeners,
            elsewhere: if is_alike { elsewhere(one, other, compared) } else { BTreeSet::new() },
        }
    }

    /// Whether nothing differs but comments, layout and order of the descriptions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let sides = |side: &Side| (side.seed, side.duration_ps);
        let is_same_run = !self.compared.run || sides(&self.before) == sides(&self.after);
        is_same_run
            && self.description.is_empty()
            && self.listeners.is_empty()
            && self.elsewhere.is_empty()
            && self.before.network == self.after.network
    }

    /// As JSON, a line feed at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json::rows(self)
    }
}

impl Side {
    fn of(summary: &Summary) -> Self {
        Self {
            network: summary.network.clone(),
            seed: summary.run.as_ref().map(|run| run.seed),
            duration_ps: summary.run.as_ref().map(|run| run.duration_ps),
            verdict: summary.verification.as_ref().map(|found| found.verdict),
        }
    }
}

/// The listeners that differ, the most important first, and how many do not.
fn listeners(before: &Summary, after: &Summary, compared: Compared) -> (Vec<ListenerChange>, usize) {
    let (mut changed, mut equal) = (Vec::new(), 0);
    for stream in &before.streams {
        let other = named(after, &stream.name);
        for listener in &stream.listeners {
            let there = other.and_then(|other| Some((other, at(other, &listener.listener)?)));
            match ListenerChange::of(Some((stream, listener)), there, compared) {
                Some(change) => changed.push(change),
                None => equal += 1,
            }
        }
    }
    for stream in &after.streams {
        let known = named(before, &stream.name);
        for listener in &stream.listeners {
            if known.and_then(|known| at(known, &listener.listener)).is_none() {
                changed.extend(ListenerChange::of(None, Some((stream, listener)), compared));
            }
        }
    }
    changed.sort_by_key(ListenerChange::rank);
    (changed, equal)
}

fn named<'s>(summary: &'s Summary, name: &str) -> Option<&'s StreamSummary> {
    summary.streams.iter().find(|stream| stream.name == name)
}

fn at<'s>(stream: &'s StreamSummary, name: &str) -> Option<&'s ListenerSummary> {
    stream.listeners.iter().find(|listener| listener.listener == name)
}

/// Keys of the summaries that differ, and of streams of the same name, other than those that have their place.
fn elsewhere(before: &Summary, after: &Summary, compared: Compared) -> BTreeSet<String> {
    let [one, other] = [before, after].map(|summary| serde_json::to_value(summary).expect("it is JSON"));
    let placed = ["format", "network", "verification", "streams", "run", "adversary"];
    let shown = if compared.adversary { &placed[..5] } else { &placed };
    let mut found = values::keys_that_differ(&one, &other, shown);
    // Seed and duration have their place.
    if one["run"]["trace_hash"] != other["run"]["trace_hash"] {
        found.insert("trace_hash".to_owned());
    }
    let streams = |summary: &Value| summary["streams"].as_array().cloned().unwrap_or_default();
    let others = streams(&other);
    for stream in streams(&one) {
        if let Some(other) = others.iter().find(|other| other["name"] == stream["name"]) {
            let placed = ["verdict", "proviso", "deadline_ps", "listeners"];
            found.extend(values::keys_that_differ(&stream, other, &placed));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::manifest::Manifest;
    use crate::table::TableOptions;

    fn made(text: &str) -> RunFolder {
        let (network, bounds, observation) = fixture::line();
        let manifest = Manifest::new("line", text, Some(1), &["verify".to_owned()]);
        RunFolder::new(&manifest, &network, text, Some(&bounds), Some(&observation))
    }

    fn row<'a>(run: &'a mut RunFolder, stream: &str, listener: &str) -> &'a mut ListenerSummary {
        let stream = run.summary.streams.iter_mut().find(|one| one.name == stream).expect("a stream");
        stream.listeners.iter_mut().find(|one| one.listener == listener).expect("a listener")
    }

    #[test]
    fn equal_results_have_no_difference_and_comments_are_none() {
        let (one, other) = (made(fixture::DESCRIPTION), made(&format!("# more\n{}", fixture::DESCRIPTION)));
        let found = Difference::of(&one, &one);
        assert!(found.is_empty() && !found.layout);
        assert_eq!(
            found.to_text(TableOptions::default()),
            "9 streams at listeners compared: no difference\n"
        );
        let found = Difference::of(&one, &other);
        assert!(found.is_empty() && found.layout);
    }

    #[test]
    fn the_most_important_comes_first() {
        let text = fixture::DESCRIPTION;
        let before = made(text);
        let mut after = made(
            &text
                .replace("payload: 1400 B", "payload: 1450 B")
                .replace("allow: [\"port::overload\"]\n", "")
                .replace("display: {type: end-station}", "display: {type: end-station, host: x}"),
        );
        row(&mut after, "wheel-speed", "controller").observed.as_mut().expect("a run").observed_max_ps =
            Some(1);
        row(&mut after, "lidar", "controller").verdict = Some(Verdict::Proven);
        row(&mut after, "camera", "display").verdict = Some(Verdict::Missed);
        let bound = row(&mut after, "steering", "brake").bound.as_mut().expect("bounds");
        bound.delay_max_ps = bound.delay_max_ps.map(|ps| ps * 2);
        row(&mut after, "recording", "recorder").frames.as_mut().expect("a run").loss_ppm = 7;
        after.summary.streams.retain(|stream| stream.name != "logging");
        let found = Difference::of(&before, &after);
        assert!(!found.is_empty());
        let order: Vec<_> = found.listeners.iter().map(|one| (one.stream.as_str(), one.change)).collect();
        assert_eq!(
            order,
            [
                ("camera", Change::VerdictWorse),
                ("logging", Change::OnlyBefore),
                ("lidar", Change::VerdictBetter),
                ("recording", Change::MoreLost),
                ("steering", Change::BoundGreater),
                ("wheel-speed", Change::DelayLess),
            ]
        );
        let text = found.to_text(TableOptions::default());
        for shown in [
            "streams.camera.payload  1400 B              1450 B",
            "camera       verdict worse   proven → missed",
            "logging      only before     no requirement → -",
            "(+100.0 %)",
            "9 streams at listeners compared: 1 verdict worse, 1 only before, 1 verdict better, 1 more lost,",
            "3 values of the description",
        ] {
            assert!(text.contains(shown), "{shown}:\n{text}");
        }
        let back = Difference::of(&after, &before);
        assert_eq!(back.listeners[0].change, Change::VerdictWorse);
        assert_eq!(back.listeners.len(), found.listeners.len());
    }

    #[test]
    fn what_one_side_alone_has_is_not_compared() {
        let (network, bounds, _) = fixture::line();
        let text = fixture::DESCRIPTION;
        let manifest = Manifest::new("line", text, None, &["bounds".to_owned()]);
        let proven = RunFolder::new(&manifest, &network, text, Some(&bounds), None);
        let found = Difference::of(&proven, &made(text));
        assert_eq!(found.compared, Compared { bounds: true, run: false, adversary: false });
        let kinds: Vec<_> = found.listeners.iter().map(|one| one.change).collect();
        // The run alone shows that frames are late and lost.
        assert!(kinds.iter().all(|kind| *kind == Change::VerdictWorse), "{kinds:?}");
        assert!(found.listeners.iter().all(|one| one.observed_max_ps.is_none() && one.frames.is_none()));
    }
}
