//! Ways of a stream that are one passage, behind a recovery function or before a flow meter: what they bring together.

use tautwire_model::network::{NodeIndex, Stream};

use crate::analysis::Analysis;
use crate::curve::Line;
use crate::passage::{Brought, NO_REASON, Shaped};
use crate::plan::{NONE, Plan, signed, tag_ratio};
use crate::port_plan::ClassOrder;

/// One of several ways by which frames of a stream come to a place that they pass as one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// An entry with the tags that frames have at the place.
    pub(crate) entry: u32,
    /// The last entry before the place.
    pub(crate) behind: u32,
    /// Greatest and least time from the application.
    pub(crate) most: Option<u64>,
    pub(crate) least: i64,
    /// The last shaper, and the greatest time since.
    pub(crate) shaped: Option<(Shaped, u64)>,
    /// What comes by this way alone.
    pub(crate) alone: Brought,
}

/// Ways by which no frame is earlier than by another.
#[cfg(feature = "planted-faults")]
pub(crate) fn without_gap(mut all: Vec<Way>) -> Vec<Way> {
    let most = all.iter().filter_map(|way| way.most).max().unwrap_or(0);
    all.iter_mut().for_each(|way| way.least = signed(most));
    all
}

/// Hops of a stream, as entries of which `first` is the first, by the passage that begins at their far ends: behind one
/// recovery function, or as one of several ways.
pub(crate) fn passages_behind(stream: &Stream, first: u32, hops: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let (mut keys, mut all): (Vec<(bool, u32)>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
    for number in hops {
        let hop = (number - first) as usize;
        let key = stream.replication.as_deref().map_or((false, number), |replication| {
            let merged = (false, replication.merged[hop]);
            replication.recovered[hop].map_or(merged, |recovery| (true, recovery))
        });
        if let Some(place) = keys.iter().position(|known| *known == key) {
            all[place].push(number);
        } else {
            keys.push(key);
            all.push(vec![number]);
        }
    }
    all
}

/// Whether copies of the frames of an entry were eliminated before it, so that they may have changed their order.
pub(crate) fn is_reordered(plan: &Plan<'_>, number: u32) -> bool {
    let entry = &plan.entries[number as usize];
    let stream = plan.stream(entry.stream);
    let Some(replication) = stream.replication.as_deref() else { return false };
    let mut at = stream.hops[(number - plan.first_entry[entry.stream as usize]) as usize].previous;
    while let Some(hop) = at {
        if replication.recovered[hop as usize].is_some() {
            return true;
        }
        at = stream.hops[hop as usize].previous;
    }
    false
}

impl Analysis<'_> {
    /// Ways that are one passage bring what one of them does, grown by the gap of copies: the first represents all.
    pub(crate) fn merge_ways(&mut self, entries: &[u32]) {
        for number in entries {
            let entry = &self.plan.entries[*number as usize];
            if self.repeats_end_before(*number) {
                self.arrivals[*number as usize].is_represented = true;
                continue;
            }
            let stream = self.plan.stream(entry.stream);
            let Some(replication) = stream.replication.as_deref() else { continue };
            let first = self.plan.first_entry[entry.stream as usize];
            let place = number - first;
            #[cfg(feature = "planted-faults")]
            if self.plan.fault == Some(crate::PlantedFault::CopiesOnLinkForgotten)
                && entries
                    .iter()
                    .any(|other| other < number && self.plan.entries[*other as usize].stream == entry.stream)
            {
                self.arrivals[*number as usize].is_represented = true;
                continue;
            }
            if replication.merged[place as usize] != place {
                continue;
            }
            let same = (0_u32..).zip(&replication.merged).filter(|(_, merged)| **merged == place);
            let all: Vec<u32> =
                same.map(|(hop, _)| first + hop).filter(|other| self.is_like(*number, *other)).collect();
            if let Some((brought, is_wide)) = self.brought_by_all(*number, &all) {
                for other in &all {
                    self.arrivals[*other as usize].is_represented = other != number;
                }
                let leader = &mut self.arrivals[*number as usize];
                (leader.brought, leader.comes_by_others) = (brought, is_wide);
            }
        }
    }

    /// Whether frames of two ways wait in one queue, and are of the same sizes.
    fn is_like(&self, number: u32, other: u32) -> bool {
        let (one, other) = (&self.plan.entries[number as usize], &self.plan.entries[other as usize]);
        let sizes = |entry: &crate::plan::Entry| (entry.frame_min, entry.frame_max);
        one.class == other.class && one.scheduler == other.scheduler && sizes(one) == sizes(other)
    }

    /// What ways that are one bring together, and whether they come by several links; none if that is not less than they bring apart.
    fn brought_by_all(&self, number: u32, all: &[u32]) -> Option<(Brought, bool)> {
        if all.len() < 2 || all.iter().any(|one| self.plan.carried(*one).is_some()) {
            return None;
        }
        let entry = &self.plan.entries[number as usize];
        let is_wide = all.iter().any(|one| self.plan.entries[*one as usize].reception != entry.reception);
        let order = self.plan.port(entry.port).classes[usize::from(entry.class)].1;
        if is_wide && order != ClassOrder::Fifo {
            return None;
        }
        let mut ways = Vec::with_capacity(all.len());
        for one in all {
            let (of, arriving) = (&self.plan.entries[*one as usize], &self.arrivals[*one as usize]);
            if arriving.scheduled || of.previous == NONE {
                return None;
            }
            let shaped = arriving.policed.or(self.passages[of.previous as usize].shaped);
            let shaped = shaped.zip(arriving.queue_max);
            ways.push(Way {
                entry: *one,
                behind: of.previous,
                most: arriving.ready_max.filter(|_| arriving.reason == NO_REASON),
                least: of.ready_min,
                shaped: shaped.map(|(shaped, queue)| (shaped, shaped.way_max.saturating_add_signed(queue))),
                alone: arriving.brought,
            });
        }
        #[cfg(feature = "planted-faults")]
        if self.plan.fault == Some(crate::PlantedFault::GapOfCopiesForgotten) {
            ways = without_gap(ways);
        }
        let as_one = self.as_one(&ways);
        as_one.iter().any(Option::is_some).then(|| (least_of(&ways, as_one), is_wide))
    }

    /// What ways that are one bring together.
    pub(crate) fn together(&self, ways: &[Way]) -> Brought {
        least_of(ways, self.as_one(ways))
    }

    /// What ways bring because they are one: what the talker promises, and the output of a flow meter that all of it passes.
    fn as_one(&self, ways: &[Way]) -> [Option<Line>; 2] {
        let once = self.are_eliminated(ways[0].behind);
        [self.promised_once(ways).filter(|_| once), self.metered_once(ways, once)]
    }

    /// The promise of the talker for frames of which one copy comes, by any of these ways.
    fn promised_once(&self, ways: &[Way]) -> Option<Line> {
        let (mut most, mut least, mut line, mut slack) = (0, i64::MAX, Line::default(), 0);
        for way in ways {
            let entry = &self.plan.entries[way.entry as usize];
            most = most.max(way.most?);
            least = least.min(way.least);
            line = greater(line, entry.promise?);
            slack = entry.talker_slack;
        }
        let jitter = u64::try_from(signed(most) - least).unwrap_or(0).saturating_add(slack);
        Some(line.after_jitter(line.rate, jitter))
    }

    /// The output of the flow meter that the frames of all these ways passed, if each comes once from there.
    fn metered_once(&self, ways: &[Way], once: bool) -> Option<Line> {
        let (first, _) = ways[0].shaped?;
        let meter = self.meter_of(first)?;
        let (mut most, mut least, mut line) = (0, i64::MAX, Line::default());
        for way in ways {
            let (shaped, since) = way.shaped?;
            let is_same = (shaped.line, shaped.tagged) == (first.line, first.tagged)
                && self.meter_of(shaped) == Some(meter);
            if !is_same || !(once || self.is_behind_all(way.behind, shaped.meter)) {
                return None;
            }
            let entry = &self.plan.entries[way.entry as usize];
            let ratio = tag_ratio(self.plan.stream(entry.stream), shaped.tagged, entry.tagged);
            line = greater(line, shaped.line.in_bits(ratio));
            most = most.max(since);
            least = least.min(way.least - shaped.origin_min);
        }
        let jitter = u64::try_from(signed(most) - least).unwrap_or(0);
        Some(line.after_jitter(line.rate, jitter))
    }

    /// The bridge of a meter, and its index there.
    fn meter_of(&self, shaped: Shaped) -> Option<(NodeIndex, usize)> {
        let before = self.plan.entries.get(shaped.meter as usize)?;
        let network = self.plan.network;
        let stream = self.plan.stream(before.stream);
        let hop = &stream.hops[(shaped.meter - self.plan.first_entry[before.stream as usize]) as usize];
        let number = tautwire_model::network::StreamIndex(before.stream);
        let (filters, filter) = network.filter_behind(number, stream, hop)?;
        Some((filters.node, filters.filters[filter].config.meter?))
    }

    /// Whether no recovery function lies between the far ends of two entries of a way.
    fn is_behind_all(&self, mut at: u32, end: u32) -> bool {
        while at != end {
            if self.recovery_behind(at).is_some() || self.plan.entries[at as usize].previous == NONE {
                return false;
            }
            at = self.plan.entries[at as usize].previous;
        }
        true
    }

    /// The recovery function at the far end of an entry.
    fn recovery_behind(&self, number: u32) -> Option<u32> {
        let stream = self.plan.entries[number as usize].stream;
        let replication = self.plan.stream(stream).replication.as_deref()?;
        replication.recovered[(number - self.plan.first_entry[stream as usize]) as usize]
    }

    /// Whether the last recovery function on the way to the far end of an entry passes no copy twice.
    fn are_eliminated(&self, number: u32) -> bool {
        let entry = |number: u32| &self.plan.entries[number as usize];
        let before = |number: &u32| Some(entry(*number).previous).filter(|before| *before != NONE);
        let mut way = std::iter::successors(Some(number), before);
        let last = way.find_map(|number| self.recovery_behind(number));
        last.is_some_and(|recovery| self.passes_once(entry(number).stream, recovery))
    }
}

/// The lines of least burst and of least rate of ways: of what they bring apart, and as one.
fn least_of(ways: &[Way], as_one: [Option<Line>; 2]) -> Brought {
    let sum = |of: fn(Brought) -> Option<Line>| {
        ways.iter().try_fold(Line::default(), |sum, way| Some(sum.and(of(way.alone)?)))
    };
    let apart = [sum(Brought::least_burst), sum(Brought::least_rate)];
    let lines = || as_one.into_iter().chain(apart).flatten();
    Brought { promised: lines().min_by_key(|line| line.burst), shaped: lines().min_by_key(|line| line.rate) }
}

/// A line above both.
fn greater(one: Line, other: Line) -> Line {
    Line { burst: one.burst.max(other.burst), rate: one.rate.max(other.rate) }
}
