//! One stream on its way to one listener: what came, how late, in which order, and where the rest was last seen.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::network::Stream;
use tautwire_units::Duration;

use crate::Sighting;
use crate::numbers::OfStream;
use crate::observed::{Given, Point};
use crate::places::Side;

/// The hops from the talker to a listener, in order.
pub(crate) fn hops_to(stream: &Stream, listener: u32) -> Vec<u32> {
    let last = stream.hops.iter().position(|hop| hop.listener == Some(listener));
    let last = last.and_then(|hop| u32::try_from(hop).ok());
    let mut way: Vec<u32> = std::iter::successors(last, |hop| stream.hops[*hop as usize].previous).collect();
    way.reverse();
    way
}

/// A point on the way of a stream, with the frames that passed it.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    pub(crate) hop: u32,
    pub(crate) point: usize,
    /// The first sighting of each number.
    pub(crate) first: BTreeMap<u32, Sighting>,
    /// Sightings, in order.
    pub(crate) all: Vec<Sighting>,
}

/// The passages of a stream, from its talker on: each interface at each hop.
pub(crate) fn passages(stream: &Stream, of: &OfStream) -> Vec<Passage> {
    let depth =
        |hop: u32| std::iter::successors(Some(hop), |hop| stream.hops[*hop as usize].previous).count();
    let mut by_place: BTreeMap<(usize, u32, Side, usize), Passage> = BTreeMap::new();
    for sighting in &of.sightings {
        let Sighting { hop, point, side, .. } = *sighting;
        let passage = by_place.entry((depth(hop), hop, side, point)).or_insert_with(|| Passage {
            hop,
            point,
            first: BTreeMap::new(),
            all: Vec::new(),
        });
        passage.all.push(*sighting);
        if !sighting.is_changed {
            passage.first.entry(sighting.number).or_insert(*sighting);
        }
    }
    by_place.into_values().collect()
}

/// From where a delay counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The creation that the frame states.
    Creation,
    /// The first bit that passes this passage.
    FirstBit(usize),
}

/// A stream on its way to a listener.
#[derive(Clone, Debug)]
pub(crate) struct Way<'p> {
    /// Passages on it, in order.
    pub(crate) on: Vec<&'p Passage>,
    /// The one at the listener, as the last of them; none: nothing captured there.
    pub(crate) last: Option<&'p Passage>,
    /// From where delays count; none: there are no two stamps that can be compared.
    pub(crate) from: Option<Start>,
    /// By how much the two clocks may differ.
    pub(crate) precision: Duration,
}

impl<'p> Way<'p> {
    pub(crate) fn new(given: &Given<'_>, points: &[Point], hops: &[u32], passages: &'p [Passage]) -> Self {
        let on: Vec<&Passage> = passages.iter().filter(|passage| hops.contains(&passage.hop)).collect();
        let last = on.iter().copied().rfind(|passage| Some(&passage.hop) == hops.last());
        let mut way = Self { on, last, from: None, precision: Duration::ZERO };
        let Some(last) = last else { return way };
        let has_times = |passage: &Passage| passage.all.iter().any(|one| one.times.is_some());
        if !has_times(last) {
            return way;
        }
        if last.all.iter().any(|one| one.created.is_some()) {
            way.from = Some(Start::Creation);
            return way;
        }
        let is_first = |passage: &&Passage| {
            let is_before = passage.point != last.point || passage.hop != last.hop;
            is_before
                && has_times(passage)
                && given.are_comparable(points[passage.point].file_number, points[last.point].file_number)
        };
        if let Some(place) = way.on.iter().position(is_first) {
            way.from = Some(Start::FirstBit(place));
            way.precision =
                given.precision(points[way.on[place].point].file_number, points[last.point].file_number);
        }
        way
    }

    /// When a frame started by the clock of the listener's captures.
    pub(crate) fn start(&self, number: u32) -> Option<i128> {
        match self.from? {
            Start::Creation => self.on.iter().find_map(|passage| passage.first.get(&number)?.created),
            Start::FirstBit(place) => Some(self.on[place].first.get(&number)?.times?.0),
        }
    }

    /// Whether a frame that did not come to the listener was to come there while something was captured.
    pub(crate) fn was_due(&self, number: u32, points: &[Point], bound: Option<Duration>) -> bool {
        let Some(last) = self.last else { return false };
        let (first, end) = (last.first.keys().next(), last.first.keys().next_back());
        if first.is_some_and(|first| *first < number) && end.is_some_and(|end| number < *end) {
            return true;
        }
        let point = &points[last.point];
        let (Some(start), Some(bound)) = (self.start(number), bound) else { return false };
        let due = start + i128::from(bound.as_ps()) + i128::from(self.precision.as_ps());
        point.begin.is_some_and(|begin| begin + i128::from(self.precision.as_ps()) <= start)
            && point.end.is_some_and(|end| due <= end)
    }

    /// The last passage at which a frame was seen, as a place on the way.
    pub(crate) fn last_seen(&self, number: u32) -> Option<usize> {
        self.on.iter().rposition(|passage| passage.first.contains_key(&number))
    }
}

/// All numbers of a stream that were seen.
pub(crate) fn seen_numbers(of: &OfStream) -> BTreeSet<u32> {
    of.sightings.iter().filter(|one| !one.is_changed).map(|one| one.number).collect()
}
