//! The time that is looked at frame by frame: a common period that comes again, or several in a row where lists change.
//!
//! Over changes (`changes.rs`) so many periods are looked at as lie between the first and the last one, and some before and behind. Each of them has its
//! place in true time. The first follows the last, as if the old lists came back: that never happens, and what it does to frames ends after a while. So
//! results hold if three periods in a row before the changes are alike, and three behind them, and no frame is under way for longer than a
//! period: then every earlier or later period is as these, and the periods between are as they are ([`Course::is_steady`]). Others are left out.

use std::ops::Range;

use tautwire_model::network::PortIndex;

use super::super::changes::Changes;
use super::releases::{Releases, common, is_true};
use super::{Frame, Span, UNKNOWN};
use crate::analysis::Analysis;

/// Periods before the one with the first change, and behind the one with the last.
const MARGIN: u64 = 5;
/// Most frames under way for longer than this are not looked at over changes: 50 ms.
const STAY_MAX: u64 = 50_000_000_000;

/// Periods in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Course {
    /// One of them.
    pub(super) period: u64,
    /// How many.
    pub(super) count: u64,
    /// How many periods of the run are before the first of them; less than zero if that is before the run.
    pub(super) lead: i64,
}

impl Course {
    /// One that comes again.
    pub(super) fn of(period: u64) -> Self {
        Self { period, count: 1, lead: 0 }
    }

    /// Over all changes of lists whose instants are known; none if there are none, or too many frames.
    pub(super) fn over_changes(analysis: &Analysis<'_>, releases: &Releases) -> Option<Self> {
        let network = analysis.plan.network;
        let (mut period, mut span): (u64, Option<(u64, u64)>) = (releases.course.period, None);
        for (number, port) in network.ports.iter().enumerate() {
            let at = PortIndex::at(number);
            let gates = network.gates(at).filter(|_| network.gates_change(at));
            let is_used =
                analysis.plan.ports[number].is_some() && is_true(&network.nodes[port.node.index()].clock);
            let Some(changes) = gates.filter(|_| is_used).and_then(|gates| Changes::of(network, at, gates))
            else {
                continue;
            };
            let cycles = changes.lists.iter().map(|list| list.cycle_time.numerator());
            period = cycles.into_iter().try_fold(period, common)?;
            let (first, last) = changes.true_span(network, at);
            span = Some(span.map_or((first, last), |(from, to)| (from.min(first), to.max(last))));
        }
        let (first, last) = span?;
        // Streams for which lists change start behind that, and are looked at from there on. What ends is there before.
        let last = releases.streams.iter().flatten().map(|one| one.offset).fold(last, u64::max);
        let ends = || releases.streams.iter().flatten().filter_map(|one| one.end);
        let (first, last) = (ends().fold(first, u64::min), ends().fold(last, u64::max));
        let known = |entry: &u32| {
            let stream = analysis.plan.entries[*entry as usize].stream;
            releases.streams[stream as usize].is_ok()
        };
        let entries = (0..crate::plan::index(analysis.plan.entries.len())).filter(known);
        let stays = entries.filter_map(|entry| analysis.passages[entry as usize].next_max);
        let stay = stays.filter(|stay| *stay <= STAY_MAX).max().unwrap_or(0);
        let period = period.checked_mul(stay.div_ceil(period).max(1))?;
        let lead = i64::try_from(first / period).ok()? - i64::try_from(MARGIN).ok()?;
        let count = last / period - first / period + 1 + 2 * MARGIN;
        let course = Self { period, count, lead };
        releases.is_within(course.all()?).then_some(course)
    }

    /// All of it.
    pub(super) fn all(self) -> Option<u64> {
        self.period.checked_mul(self.count).filter(|all| *all < 1 << 59)
    }

    /// The place of the first instant in true time.
    pub(super) fn begin(self) -> i128 {
        i128::from(self.lead) * i128::from(self.period)
    }

    /// Of frames of all periods, those of one that is as all before it.
    pub(super) fn first(self, count: usize) -> Range<usize> {
        let each = self.each(count);
        if self.count == 1 { 0..count } else { each..2 * each }
    }

    /// When that one begins.
    pub(super) fn first_begin(self) -> u64 {
        if self.count == 1 { 0 } else { self.period }
    }

    /// Those of the frames that are of the run.
    pub(super) fn of_run(self, count: usize) -> Range<usize> {
        let each = self.each(count);
        if self.count == 1 { 0..count } else { each..count - 2 * each }
    }

    fn each(self, frames: usize) -> usize {
        frames / usize::try_from(self.count).expect("less than the frames")
    }

    /// Whether frames come and go alike before all changes, and behind them. Those come that are `present`.
    pub(super) fn is_steady(self, frames: &[Frame], present: Range<usize>) -> bool {
        if frames.is_empty() || self.count == 1 {
            return true;
        }
        let each = self.each(frames.len());
        let alike = |number: usize| {
            let (one, next) = (&frames[number * each..][..each], &frames[(number + 1) * each..][..each]);
            one.iter().zip(next).all(|(one, next)| self.later(one) == *next)
        };
        let count = frames.len() / each;
        let ends = |frame: &Frame| {
            frame.next.latest == UNKNOWN || frame.next.latest - frame.released.earliest <= self.period
        };
        [1, 2, count - 4, count - 3].into_iter().all(alike)
            && self
                .of_run(frames.len())
                .filter(|number| present.contains(number))
                .all(|number| ends(&frames[number]))
    }

    /// The frame of the next period, if that is alike.
    fn later(self, frame: &Frame) -> Frame {
        let later = |span: Span| Span {
            earliest: span.earliest + self.period,
            latest: if span.latest == UNKNOWN { UNKNOWN } else { span.latest + self.period },
        };
        Frame {
            released: later(frame.released),
            here: later(frame.here),
            queued: later(frame.queued),
            start: later(frame.start),
            next: later(frame.next),
        }
    }
}
