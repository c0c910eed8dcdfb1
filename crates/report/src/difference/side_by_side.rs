//! Two runs side by side: each stream at each listener with the values of both, what differs first.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Change, Difference, Pair, at, named};
use crate::manifest::Manifest;
use crate::proviso::Proviso;
use crate::run_folder::RunFolder;
use crate::summary::{ListenerSummary, StreamSummary, Summary};
use crate::verdict::Verdict;

/// Two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideBySide {
    /// The first.
    pub before: ComparedSide,
    /// The second.
    pub after: ComparedSide,
    /// What differs.
    pub difference: Difference,
    /// Streams at listeners: those that differ, the most important first, then the others in the order of the description.
    pub rows: Vec<ComparedRow>,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedSide {
    /// Name of its folder.
    pub name: String,
    /// Where its report is.
    pub address: String,
    /// Where it comes from.
    pub manifest: Manifest,
}

/// A stream at a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedRow {
    /// Name of the stream.
    pub stream: String,
    /// Name of the listener.
    pub listener: String,
    /// What differs most, if anything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Values of both.
    #[serde(flatten)]
    pub sides: Pair<RowSide>,
}

/// Values of a stream at a listener; a part that was not computed is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowSide {
    /// Verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What it is proven but for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proviso: Option<Proviso>,
    /// Deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ps: Option<u64>,
    /// Bound of the delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_ps: Option<u64>,
    /// Greatest observed delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ps: Option<u64>,
    /// 99 % of the observed delays are at most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ps: Option<u64>,
    /// Mean observed delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_ps: Option<u64>,
    /// Copies that came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<u64>,
    /// Copies lost for any reason, in its host too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
}

impl SideBySide {
    /// Of two runs; each with the name of its folder and where its report is.
    #[must_use]
    pub fn new(before: (&RunFolder, &str, &str), after: (&RunFolder, &str, &str)) -> Self {
        let difference = Difference::of(before.0, after.0);
        let [one, other] = [before, after].map(|(run, ..)| &run.summary);
        let mut changes: BTreeMap<(&str, &str), (usize, Change)> = BTreeMap::new();
        for (place, change) in difference.listeners.iter().enumerate() {
            changes.insert((&change.stream, &change.listener), (place, change.change));
        }
        let mut rows: Vec<(usize, ComparedRow)> = Vec::new();
        for (stream, listener) in names(one, other) {
            let changed = changes.get(&(stream, listener));
            let of = |summary| find(summary, stream, listener);
            rows.push((
                changed.map_or(usize::MAX, |(place, _)| *place),
                ComparedRow {
                    stream: stream.to_owned(),
                    listener: listener.to_owned(),
                    change: changed.map(|(_, change)| *change),
                    sides: Pair { before: of(one), after: of(other) },
                },
            ));
        }
        rows.sort_by_key(|(place, _)| *place);
        let side = |(run, name, address): (&RunFolder, &str, &str)| ComparedSide {
            name: name.to_owned(),
            address: address.to_owned(),
            manifest: run.manifest.clone(),
        };
        Self {
            before: side(before),
            after: side(after),
            rows: rows.into_iter().map(|(_, row)| row).collect(),
            difference,
        }
    }
}

/// Streams and listeners of both, those of the second alone last.
fn names<'s>(before: &'s Summary, after: &'s Summary) -> Vec<(&'s str, &'s str)> {
    let all = |summary: &'s Summary| {
        let ends = |stream: &'s StreamSummary| {
            stream.listeners.iter().map(|listener| (stream.name.as_str(), listener.listener.as_str()))
        };
        summary.streams.iter().flat_map(ends)
    };
    let new = all(after).filter(|(stream, listener)| find(before, stream, listener).is_none());
    all(before).chain(new).collect()
}

fn find(summary: &Summary, stream: &str, listener: &str) -> Option<RowSide> {
    let stream = named(summary, stream)?;
    Some(RowSide::of(stream, at(stream, listener)?))
}

impl RowSide {
    fn of(stream: &StreamSummary, listener: &ListenerSummary) -> Self {
        let (seen, frames) = (listener.observed.as_ref(), listener.frames.as_ref());
        let lost = frames.map(|frames| frames.dropped.values().chain(frames.dropped_in_host.values()).sum());
        Self {
            verdict: listener.verdict,
            proviso: listener.proviso,
            deadline_ps: stream.deadline_ps,
            bound_ps: listener.bound.as_ref().and_then(|bound| bound.delay_max_ps),
            max_ps: seen.and_then(|seen| seen.observed_max_ps),
            p99_ps: seen.and_then(|seen| Some(seen.delays.quantiles.as_ref()?.delay_p99_ps)),
            mean_ps: seen.and_then(|seen| seen.delays.delay_mean_ps),
            delivered: frames.map(|frames| frames.delivered),
            lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn every_listener_has_a_row_and_what_differs_comes_first() {
        let (network, bounds, observation) = fixture::line();
        let manifest = Manifest::new("line", "text", Some(1), &["verify".to_owned()]);
        let before = RunFolder::new(&manifest, &network, "text", Some(&bounds), Some(&observation));
        let mut after = before.clone();
        let lidar = after.summary.streams.iter_mut().find(|one| one.name == "lidar").expect("a stream");
        lidar.listeners[0].observed.as_mut().expect("a run").observed_max_ps = Some(1);
        let mut new = after.summary.streams[0].clone();
        new.name = "new".to_owned();
        after.summary.streams.push(new);
        after.summary.streams.retain(|stream| stream.name != "logging");
        let found = SideBySide::new((&before, "one", "/run/0/one"), (&after, "two", "/run/0/two"));
        assert_eq!(found.rows.len(), 10);
        let first: Vec<_> = found.rows[..3].iter().map(|row| (row.stream.as_str(), row.change)).collect();
        let expected = [
            ("logging", Some(Change::OnlyBefore)),
            ("new", Some(Change::OnlyAfter)),
            ("lidar", Some(Change::DelayLess)),
        ];
        assert_eq!(first, expected);
        assert!(
            found.rows[3..].iter().all(|row| row.change.is_none() && row.sides.before == row.sides.after)
        );
        let Pair { before: Some(one), after: Some(other) } = &found.rows[2].sides else {
            panic!("both are there")
        };
        assert_eq!(other.max_ps, Some(1));
        assert!(one.max_ps > other.max_ps && one.bound_ps == other.bound_ps && one.delivered > Some(0));
        assert!(found.rows[0].sides.after.is_none() && found.rows[1].sides.before.is_none());
        assert_eq!((found.before.name.as_str(), found.after.address.as_str()), ("one", "/run/0/two"));
        let json = serde_json::to_value(&found).expect("JSON");
        assert_eq!(json["rows"][2]["after"]["max_ps"], 1);
    }
}
