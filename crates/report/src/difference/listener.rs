//! What differs of a stream at a listener, and how important that is.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::{Compared, Pair, values};
use crate::listener_frames::ListenerFrames;
use crate::proviso::Proviso;
use crate::summary::{ListenerSummary, StreamSummary};
use crate::verdict::Verdict;

/// What differs most, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The verdict is worse.
    VerdictWorse,
    /// There is no such stream or listener any more.
    OnlyBefore,
    /// The stream or listener is new.
    OnlyAfter,
    /// The verdict is better.
    VerdictBetter,
    /// The deadline.
    Deadline,
    /// What it is proven but for, or limits that may be too small.
    Proof,
    /// More copies are lost.
    MoreLost,
    /// Fewer copies are lost.
    FewerLost,
    /// The bound is greater, or gone.
    BoundGreater,
    /// The bound is less, or new.
    BoundLess,
    /// The greatest observed delay is greater.
    DelayGreater,
    /// The greatest observed delay is less.
    DelayLess,
    /// Something else: its mean, counts of frames, and what `other` names.
    Other,
}

/// A stream at a listener that differs. A key is there if it differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListenerChange {
    /// Name of the stream.
    pub stream: String,
    /// Name of the listener.
    pub listener: String,
    /// What differs most.
    pub change: Change,
    /// Verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Pair<Verdict>>,
    /// Deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ps: Option<Pair<u64>>,
    /// What it is proven but for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proviso: Option<Pair<Proviso>>,
    /// Limits that may be too small, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_be_lost: Option<Pair<Vec<String>>>,
    /// Bound of the delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_delay_max_ps: Option<Pair<u64>>,
    /// Deadline less bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_ps: Option<Pair<i64>>,
    /// Greatest observed delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_max_ps: Option<Pair<u64>>,
    /// Mean observed delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_mean_ps: Option<Pair<u64>>,
    /// Difference of the means over the root of the mean of both variances (Cohen's d), thousandths, towards zero; absent if
    /// both variances are zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_mean_effect_mille: Option<i64>,
    /// Frames later than the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<Pair<u64>>,
    /// Copies that came, and those lost for any reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<Pair<Copies>>,
    /// Further keys of the listener in `summary.json` that differ.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub other: BTreeSet<String>,
    /// For the order among equal changes: greater is more important.
    #[serde(skip)]
    weight: u128,
}

/// What became of the copies for a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Copies {
    /// Copies that it received.
    pub delivered: u64,
    /// Copies lost for any reason, in its host too.
    pub lost: u64,
    /// The same, parts per million.
    pub loss_ppm: u64,
}

impl Copies {
    fn of(frames: &ListenerFrames) -> Self {
        let lost = frames.dropped.values().chain(frames.dropped_in_host.values());
        Self { delivered: frames.delivered, lost: lost.sum(), loss_ppm: frames.loss_ppm }
    }
}

/// A listener with its stream.
type End<'s> = (&'s StreamSummary, &'s ListenerSummary);

/// Keys with a place of their own, of bounds and of a run; further ones that are there only with such.
const OF_BOUNDS: [&str; 5] = ["verdict", "bound", "margin_ps", "proviso", "may_be_lost"];
const WITH_BOUNDS: [&str; 3] = ["apart_from", "skew_bound_ps", "taken_twice"];
const OF_RUN: [&str; 2] = ["frames", "observed"];
const WITH_RUN: [&str; 5] = ["lost", "not_served", "stamped", "application", "datagrams"];

impl ListenerChange {
    /// What differs; none if nothing does.
    ///
    /// # Panics
    /// If there is neither.
    pub(super) fn of(before: Option<End<'_>>, after: Option<End<'_>>, compared: Compared) -> Option<Self> {
        let (stream, listener) = before.or(after).expect("one of both is there");
        let ends = [before, after];
        let seen =
            |end: Option<End<'_>>| end.filter(|_| compared.run).and_then(|(_, end)| end.observed.clone());
        let [seen_before, seen_after] = ends.map(seen);
        let proven = |end| proven(end, compared);
        let mut found = Self {
            stream: stream.name.clone(),
            listener: listener.listener.clone(),
            change: Change::Other,
            verdict: pair(ends.map(|end| proven(end)?.verdict)),
            deadline_ps: pair(ends.map(|end| end?.0.deadline_ps)),
            proviso: pair(ends.map(|end| proven(end)?.proviso)),
            may_be_lost: pair(ends.map(|end| {
                let limits = &proven(end)?.may_be_lost;
                (!limits.is_empty()).then(|| limits.iter().map(|limit| limit.text.clone()).collect())
            })),
            bound_delay_max_ps: pair(ends.map(|end| proven(end)?.bound.as_ref()?.delay_max_ps)),
            margin_ps: pair(ends.map(|end| proven(end)?.margin_ps)),
            observed_max_ps: pair([&seen_before, &seen_after].map(|seen| seen.as_ref()?.observed_max_ps)),
            delay_mean_ps: pair([&seen_before, &seen_after].map(|seen| seen.as_ref()?.delays.delay_mean_ps)),
            delay_mean_effect_mille: None,
            late: pair([&seen_before, &seen_after].map(|seen| seen.as_ref().map(|seen| seen.late))),
            frames: pair(ends.map(|end| end.filter(|_| compared.run)?.1.frames.as_ref().map(Copies::of))),
            other: BTreeSet::new(),
            weight: 0,
        };
        if let (Some(before), Some(after)) = (&seen_before, &seen_after)
            && found.delay_mean_ps.is_some()
        {
            found.delay_mean_effect_mille = effect(&before.delays, &after.delays);
        }
        if let (Some(before), Some(after)) = (before, after) {
            found.compare_rest(before.1, after.1, compared);
            if !found.differs() {
                return None;
            }
        }
        (found.change, found.weight) = found.judged(before.is_some(), after.is_some());
        Some(found)
    }

    /// Its place among the others.
    pub(super) fn rank(&self) -> (Change, Reverse<u128>) {
        (self.change, Reverse(self.weight))
    }

    /// Whether anything differs.
    fn differs(&self) -> bool {
        self.verdict.is_some()
            || self.deadline_ps.is_some()
            || self.proviso.is_some()
            || self.may_be_lost.is_some()
            || self.bound_delay_max_ps.is_some()
            || self.margin_ps.is_some()
            || self.observed_max_ps.is_some()
            || self.delay_mean_ps.is_some()
            || self.late.is_some()
            || self.frames.is_some()
            || !self.other.is_empty()
    }

    /// Names what else differs.
    fn compare_rest(&mut self, before: &ListenerSummary, after: &ListenerSummary, compared: Compared) {
        let [one, other] = [before, after].map(|end| serde_json::to_value(end).expect("it is JSON"));
        let mut placed = vec!["listener"];
        placed.extend(OF_BOUNDS.iter().chain(&OF_RUN));
        if !compared.bounds {
            placed.extend(WITH_BOUNDS);
        }
        if !compared.run {
            placed.extend(WITH_RUN);
        }
        if !compared.adversary {
            placed.push("adversary");
        }
        self.other = values::keys_that_differ(&one, &other, &placed);
        // What of a part with a place of its own has none: quantiles, reasons of losses.
        let parts: [(&str, bool, &[&str]); 3] = [
            ("bound", compared.bounds, &["delay_max_ps"]),
            ("observed", compared.run, &["observed_max_ps", "delay_mean_ps", "late"]),
            ("frames", compared.run, &["delivered", "loss_ppm"]),
        ];
        for (part, is_compared, placed) in parts {
            let none = Value::Null;
            let [one, other] = [&one, &other].map(|end| end.get(part).unwrap_or(&none));
            if is_compared {
                let keys = values::keys_that_differ(one, other, placed);
                self.other.extend(keys.into_iter().map(|key| format!("{part}.{key}")));
            }
        }
    }

    /// What differs most, and its weight among equal ones.
    fn judged(&self, is_before: bool, is_after: bool) -> (Change, u128) {
        if !is_after {
            return (Change::OnlyBefore, 0);
        }
        if !is_before {
            return (Change::OnlyAfter, 0);
        }
        if let Some(Pair { before, after }) = &self.verdict {
            let grade = |verdict: &Option<Verdict>| verdict.map_or(0, |verdict| verdict as u128);
            let change = if after > before { Change::VerdictWorse } else { Change::VerdictBetter };
            return (change, grade(after).max(grade(before)));
        }
        if let Some(pair) = &self.deadline_ps {
            return (Change::Deadline, relative(pair).unsigned_abs());
        }
        if self.proviso.is_some() || self.may_be_lost.is_some() {
            return (Change::Proof, 0);
        }
        if let Some(Pair { before: Some(before), after: Some(after) }) = &self.frames
            && (before.lost, before.loss_ppm) != (after.lost, after.loss_ppm)
        {
            let is_more = (after.loss_ppm, after.lost) > (before.loss_ppm, before.lost);
            let change = if is_more { Change::MoreLost } else { Change::FewerLost };
            return (change, after.loss_ppm.abs_diff(before.loss_ppm).into());
        }
        if let Some(pair) = &self.bound_delay_max_ps {
            let is_greater = pair.after.unwrap_or(u64::MAX) > pair.before.unwrap_or(u64::MAX);
            let change = if is_greater { Change::BoundGreater } else { Change::BoundLess };
            return (change, relative(pair).unsigned_abs());
        }
        if let Some(pair) = &self.observed_max_ps {
            let change = if pair.after > pair.before { Change::DelayGreater } else { Change::DelayLess };
            return (change, relative(pair).unsigned_abs());
        }
        (Change::Other, 0)
    }
}

fn pair<T: PartialEq>([before, after]: [Option<T>; 2]) -> Option<Pair<T>> {
    Pair::of(before, after)
}

/// The listener, if bounds are compared.
fn proven<'s>(end: Option<End<'s>>, compared: Compared) -> Option<&'s ListenerSummary> {
    end.filter(|_| compared.bounds).map(|(_, end)| end)
}

/// The change of a value, parts per million of the first, towards zero; the greatest if one is absent or the first is zero.
pub(super) fn relative(pair: &Pair<u64>) -> i128 {
    match (pair.before, pair.after) {
        (Some(before), Some(after)) if before > 0 => {
            (i128::from(after) - i128::from(before)) * 1_000_000 / i128::from(before)
        }
        _ => i128::MAX,
    }
}

/// The difference of two means in standard deviations, thousandths, towards zero.
fn effect(before: &crate::summary::DelayMoments, after: &crate::summary::DelayMoments) -> Option<i64> {
    let [one, other] = [before, after].map(|moments| Some((moments.delay_mean_ps?, moments.delay_sd_ps?)));
    let ((mean, sd), (other_mean, other_sd)) = (one?, other?);
    let square = |sd: u64| u128::from(sd).saturating_mul(u128::from(sd)) / 2;
    let pooled = square(sd).saturating_add(square(other_sd)).isqrt();
    let difference = (i128::from(other_mean) - i128::from(mean)) * 1_000;
    let pooled = i128::try_from(pooled).ok().filter(|pooled| *pooled > 0)?;
    i64::try_from(difference / pooled).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::DelayMoments;

    #[test]
    fn effects_are_known() {
        let moments = |mean, sd| DelayMoments {
            count: 2,
            delay_min_ps: None,
            delay_mean_ps: Some(mean),
            delay_max_ps: None,
            delay_sd_ps: Some(sd),
            quantiles: None,
            interval: None,
        };
        assert_eq!(effect(&moments(100, 20), &moments(110, 20)), Some(500));
        assert_eq!(effect(&moments(110, 20), &moments(100, 20)), Some(-500));
        assert_eq!(effect(&moments(0, 30), &moments(50, 40)), Some(50_000 / 35));
        assert_eq!(effect(&moments(100, 0), &moments(110, 0)), None);
        assert_eq!(relative(&Pair { before: Some(200), after: Some(150) }), -250_000);
    }
}
