//! Instants of a port whose list may change: those of the first list before, those between, and those of the last list from there on.
//!
//! A port without changes has those of its list alone, and all cycles are alike. Otherwise times count from an arbitrary origin, so far ahead that the
//! first list may be continued into the past as far as is needed. A window of any length lies in cycles of the first list, in cycles of the last, or
//! over the change: [`Times::most`] looks at all three. Not here: what is between two lists (`changes.rs`).

use super::periodic::{PARTS_MAX, Periodic, each_window, longest, most_above};
use crate::curve::Curve;

/// Where changes are counted from: the first list may go on for as long before it.
pub(super) const ORIGIN: u64 = 1 << 60;
/// An instant before all others, and one behind them.
const ENDLESS: (u64, u64) = (0, 1 << 62);
/// Gaps between two lists that are looked at one by one.
const BETWEEN_MAX: usize = 4 * PARTS_MAX;

/// Instants at which something holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Times {
    changed: Option<Box<Changed>>,
    /// Its cycles begin where the change ends.
    last: Periodic,
}

/// The time before the last list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Changed {
    /// It holds until `from`, where one of its cycles ends.
    first: Periodic,
    from: u64,
    to: u64,
    /// From there up to `to`: in order, neither empty nor touching.
    between: Vec<(u64, u64)>,
    /// Whether a window over the change is forgotten.
    #[cfg(feature = "planted-faults")]
    is_forgotten: bool,
}

impl From<Periodic> for Times {
    fn from(last: Periodic) -> Self {
        Self { changed: None, last }
    }
}

impl Changed {
    /// So many more cycles of the first list count as between, and of the last one.
    fn unrolled(&self, last: &Periodic, before: u64, behind: u64) -> Self {
        let period = self.first.period();
        let from = self.from - before * period;
        let earlier = (0..before).flat_map(|cycle| shifted(&self.first, from + cycle * period));
        let later = (0..behind).flat_map(|cycle| shifted(last, self.to + cycle * last.period()));
        let between = earlier.chain(self.between.iter().copied()).chain(later).collect();
        Self { from, to: self.to + behind * last.period(), between: merged(between), ..self.clone() }
    }

    /// Where a cycle of the first list begins far from the change, so that cycles around it are those of one list.
    fn early(&self) -> u64 {
        self.from - (self.from - ORIGIN / 2) / self.first.period() * self.first.period()
    }

    /// Where one of the last list does.
    fn late(&self, last: &Periodic) -> u64 {
        self.to + (2 * ORIGIN - self.to) / last.period() * last.period()
    }

    /// Where the part of an instant ends, if it is one of the set.
    fn end_of(&self, last: &Periodic, instant: u64) -> Option<u64> {
        let mut at = instant;
        if at < self.from {
            let period = self.first.period();
            // Counted from the begin of its cycle.
            let within = period - 1 - (self.from - 1 - at) % period;
            let end = if self.first.is_all() { self.from } else { self.first.end_of(within)? - within + at };
            if end < self.from {
                return Some(end);
            }
            at = self.from;
        }
        if at < self.to {
            let place = self.between.partition_point(|(_, to)| *to <= at);
            match self.between.get(place).filter(|(from, _)| *from <= at) {
                Some((_, to)) if *to < self.to => return Some(*to),
                Some(_) => at = self.to,
                None => return (at > instant).then_some(at),
            }
        }
        if last.is_all() {
            return Some(ENDLESS.1);
        }
        let within = (at - self.to) % last.period();
        match last.end_of(within) {
            Some(end) => Some(at + (end - within)),
            None => (at > instant).then_some(at),
        }
    }

    /// Its parts that are not of the same cycles as all others: where one begins before or ends behind, it is complete.
    fn whole_parts(&self, last: &Periodic) -> Vec<(u64, u64)> {
        let mut parts = self.between.clone();
        if let Some(part) = parts.first_mut().filter(|part| part.0 == self.from) {
            part.0 = if self.first.is_all() {
                ENDLESS.0
            } else {
                let ends = self.first.parts().last().filter(|(_, to)| *to == self.first.period());
                // One that reaches over the end of a cycle began in it: its other part is no further back.
                ends.map_or(part.0, |(from, _)| part.0 - (self.first.period() - from))
            };
        }
        if let Some(part) = parts.last_mut().filter(|part| part.1 == self.to) {
            part.1 = if last.is_all() {
                ENDLESS.1
            } else {
                last.parts().first().filter(|(from, _)| *from == 0).map_or(part.1, |(_, to)| part.1 + to)
            };
        }
        parts
    }

    /// Parts of one cycle of each list, and of what is between, in the order in which windows may hold them.
    fn sequence(&self, last: &Periodic) -> Vec<(u64, u64)> {
        let span = (self.from, self.to);
        let kept = merged(longest(gaps(&self.between, span), BETWEEN_MAX));
        let one = Self { between: gaps(&kept, span), first: self.first.joined(), ..self.clone() };
        one.unrolled(&last.joined(), 1, 1).between
    }
}

impl Times {
    /// Of a list that changes: the first one until `from`, these parts up to `to`, and the last one from there on.
    pub(super) fn changed(
        first: Periodic,
        (from, to): (u64, u64),
        between: Vec<(u64, u64)>,
        last: Periodic,
    ) -> Self {
        let changed = Changed {
            first,
            from,
            to,
            between: merged(between),
            #[cfg(feature = "planted-faults")]
            is_forgotten: false,
        };
        Self { changed: Some(Box::new(changed)), last }
    }

    /// The same without the windows over the change.
    #[cfg(feature = "planted-faults")]
    pub(super) fn forgotten(mut self) -> Self {
        if let Some(changed) = &mut self.changed {
            changed.is_forgotten = true;
        }
        self
    }

    /// Those of the last list, which are all if it does not change.
    pub(super) fn last(&self) -> &Periodic {
        &self.last
    }

    /// Those of the first list, and of the last.
    pub(super) fn lists(&self) -> [&Periodic; 2] {
        [self.changed.as_deref().map_or(&self.last, |changed| &changed.first), &self.last]
    }

    /// How long those are that lie between the lists.
    pub(super) fn between(&self) -> u64 {
        let parts = self.changed.iter().flat_map(|changed| &changed.between);
        parts.map(|(from, to)| to - from).sum()
    }

    /// Complete parts, in order: of a cycle of the first list, of the change with a cycle of either list around it, and of a cycle of the last list, far from
    /// each other. Of a list that does not change only the last are there; a list in which it is every instant has none.
    pub(super) fn stretches(&self) -> [Vec<(u64, u64)>; 3] {
        let of_list = |list: &Periodic, begin: u64| -> Vec<(u64, u64)> {
            let parts = if list.is_all() { Vec::new() } else { list.whole_parts() };
            parts.into_iter().map(|(from, to)| (begin + from, begin + to)).collect()
        };
        let Some(changed) = &self.changed else {
            let period = self.last.period();
            return [Vec::new(), Vec::new(), of_list(&self.last, ORIGIN / period * period)];
        };
        let around = changed.unrolled(&self.last, 1, 1).whole_parts(&self.last);
        [of_list(&changed.first, changed.early()), around, of_list(&self.last, changed.late(&self.last))]
    }

    /// Whether the list changes.
    pub(super) fn is_changed(&self) -> bool {
        self.changed.is_some()
    }

    /// Whether it is every instant.
    pub(super) fn is_all(&self) -> bool {
        let is_between =
            |changed: &Changed| changed.from == changed.to || changed.between == [(changed.from, changed.to)];
        let is_all = |changed: &Changed| changed.first.is_all() && is_between(changed);
        self.last.is_all() && self.changed.as_deref().is_none_or(is_all)
    }

    /// Whether there is any instant.
    pub(super) fn is_any(&self) -> bool {
        let before = |changed: &Changed| changed.first.total() > 0 || !changed.between.is_empty();
        self.last.total() > 0 || self.changed.as_deref().is_some_and(before)
    }

    /// Whether there are instants of it in every cycle of the first list and of the last one.
    pub(super) fn comes_again(&self) -> bool {
        self.last.total() > 0 && self.changed.as_deref().is_none_or(|changed| changed.first.total() > 0)
    }

    /// All other instants.
    pub(super) fn others(&self) -> Self {
        let changed = self.changed.as_deref().map(|changed| {
            let between = gaps(&changed.between, (changed.from, changed.to));
            Box::new(Changed { first: changed.first.others(), between, ..changed.clone() })
        });
        Self { changed, last: self.last.others() }
    }

    /// The union of both sets.
    pub(super) fn or(&self, other: &Self) -> Self {
        let last = self.last.or(&other.last);
        let (Some(one), Some(two)) = (&self.changed, &other.changed) else {
            assert!(self.changed.is_none() && other.changed.is_none(), "both are of one port");
            return Self { changed: None, last };
        };
        let (from, to) = (one.from.min(two.from), one.to.max(two.to));
        let aligned = |changed: &Changed, last: &Periodic| {
            let before = (changed.from - from) / changed.first.period();
            changed.unrolled(last, before, (to - changed.to) / last.period())
        };
        let (one, two) = (aligned(one, &self.last), aligned(two, &other.last));
        let between = one.between.iter().chain(&two.between).copied().collect();
        let changed = Changed { first: one.first.or(&two.first), between: merged(between), ..one };
        Self { changed: Some(Box::new(changed)), last }
    }

    /// The intersection of both sets.
    pub(super) fn and(&self, other: &Self) -> Self {
        self.others().or(&other.others()).others()
    }

    /// Without the instants of one part.
    pub(super) fn without(&self, part: (u64, u64)) -> Self {
        self.others().with(part).others()
    }

    /// With the instants of one part, if the list changes.
    pub(super) fn with(&self, (from, to): (u64, u64)) -> Self {
        let Some(changed) = &self.changed else { return self.clone() };
        let before = changed.from.saturating_sub(from).div_ceil(changed.first.period());
        let behind = to.saturating_sub(changed.to).div_ceil(self.last.period());
        let mut changed = changed.unrolled(&self.last, before, behind);
        changed.between.push((from, to));
        changed.between = merged(changed.between);
        Self { changed: Some(Box::new(changed)), last: self.last.clone() }
    }

    /// Each part as `of` changes it, which moves begin and end by `reach` at most.
    pub(super) fn each(&self, reach: u64, of: impl Fn(u64, u64) -> Option<(u64, u64)>) -> Self {
        if self.is_all() {
            return self.clone();
        }
        let repeated = |set: &Periodic, begin: u64| {
            if set.is_all() {
                return set.clone();
            }
            let period = set.period();
            let back = reach.div_ceil(period) * period;
            let parts = set.whole_parts().into_iter();
            let parts = parts.filter_map(|(from, to)| of(begin + from, begin + to));
            Periodic::of(period, parts.map(|(from, to)| (from + back - begin, to + back - begin)))
        };
        let period = self.last.period();
        let Some(changed) = &self.changed else {
            return repeated(&self.last, ORIGIN / period * period).into();
        };
        let before = reach.div_ceil(changed.first.period()) + 1;
        let behind = reach.div_ceil(period) + 1;
        let wide = changed.unrolled(&self.last, 2 * before, 2 * behind);
        let (early, late) = (changed.early(), changed.late(&self.last));
        let (from, to) = (wide.from + before * changed.first.period(), wide.to - behind * period);
        let parts = wide.whole_parts(&self.last).into_iter().filter_map(|part| {
            let (begin, end) = of(part.0, part.1)?;
            let begin = if part.0 == ENDLESS.0 { part.0 } else { begin };
            let end = if part.1 == ENDLESS.1 { part.1 } else { end };
            Some((begin.max(from), end.min(to))).filter(|(begin, end)| begin < end)
        });
        let mut repeats = changed.clone();
        (repeats.first, repeats.from, repeats.to) = (repeated(&changed.first, early), from, to);
        repeats.between = merged(parts.collect());
        Self { changed: Some(repeats), last: repeated(&self.last, late) }
    }

    /// Each part longer by so much before and behind it.
    pub(super) fn grown(&self, before: u64, behind: u64) -> Self {
        let longer = |from: u64, to: u64| Some((from.saturating_sub(before), to.saturating_add(behind)));
        self.each(before.max(behind), longer)
    }

    /// What of it lies in a span, as if that came again.
    pub(super) fn within(&self, begin: u64, length: u64) -> Periodic {
        let all = self.with((begin, begin)).with((begin + length, begin + length));
        let parts = all.changed.iter().flat_map(|changed| &changed.between);
        let parts = parts.map(|(from, to)| (*from.max(&begin), *to.min(&(begin + length))));
        let parts = parts.filter(|(from, to)| from < to);
        Periodic::of(length, parts.map(|(from, to)| (from - begin, to - begin)))
    }

    /// Where the part of an instant ends, if it is one of the set.
    pub(super) fn end_of(&self, instant: u64) -> Option<u64> {
        match &self.changed {
            None => self.last.end_of(instant),
            Some(changed) => changed.end_of(&self.last, instant),
        }
    }

    /// The most of it in a window of each length.
    pub(super) fn most(&self) -> Curve {
        let Some(changed) = &self.changed else { return self.last.most() };
        if !self.is_any() {
            return Curve::zero();
        }
        let mut points = vec![(0, 0)];
        let lists = [changed.first.joined(), self.last.joined()];
        for list in &lists {
            each_window(&list.whole_parts(), Some(list.period()), |begin, (_, to), sum| {
                points.push((to - begin, sum));
            });
        }
        #[cfg(feature = "planted-faults")]
        let is_forgotten = changed.is_forgotten;
        #[cfg(not(feature = "planted-faults"))]
        let is_forgotten = false;
        if !is_forgotten {
            let over = changed.sequence(&self.last);
            each_window(&over, None, |begin, (_, to), sum| points.push((to - begin, sum)));
        }
        // Cycles of a list that are longer in a window add its own rate, which no line is below.
        let rate = lists.iter().map(Periodic::share).max().unwrap_or(0);
        most_above(points, rate)
    }
}

/// The parts of one cycle that begins at an instant.
fn shifted(set: &Periodic, begin: u64) -> impl Iterator<Item = (u64, u64)> {
    set.parts().iter().map(move |(from, to)| (begin + from, begin + to))
}

/// In order, and those that touch as one.
pub(super) fn merged(mut parts: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    parts.retain(|(from, to)| from < to);
    parts.sort_unstable();
    let mut kept: Vec<(u64, u64)> = Vec::with_capacity(parts.len());
    for (from, to) in parts {
        match kept.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => kept.push((from, to)),
        }
    }
    kept
}

/// What is between parts of a span.
fn gaps(parts: &[(u64, u64)], (from, to): (u64, u64)) -> Vec<(u64, u64)> {
    let ends = std::iter::once(from).chain(parts.iter().map(|part| part.1));
    let begins = parts.iter().map(|part| part.0).chain(std::iter::once(to));
    ends.zip(begins).filter(|(from, to)| from < to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::MICRO;

    /// Instants before and behind the change that are looked at.
    const AROUND: u64 = 200;

    /// A set, and whether an instant of the span is in it.
    struct Drawn {
        times: Times,
        inside: Vec<bool>,
    }

    fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    /// Two lists of these periods, and what is between.
    fn drawn(draw: &mut impl FnMut(u64) -> u64, (one, two, between): (u64, u64, u64)) -> Drawn {
        let mut parts = |most: u64, count: u64| -> Vec<(u64, u64)> {
            let one = |draw: &mut dyn FnMut(u64) -> u64| {
                let from = draw(most);
                (from, (from + 1 + draw(8)).min(most))
            };
            let full = draw(8) == 0;
            if full { vec![(0, most)] } else { (0..draw(count)).map(|_| one(draw)).collect() }
        };
        let (first, last) = (Periodic::of(one, parts(one, 4)), Periodic::of(two, parts(two, 4)));
        let middle = merged(if between == 0 { Vec::new() } else { parts(between, 6) });
        let is_in = |set: &Periodic, at: u64| set.parts().iter().any(|(from, to)| *from <= at && at < *to);
        let inside = (0..2 * AROUND + between).map(|at| {
            if at < AROUND {
                is_in(&first, one - 1 - (AROUND - 1 - at) % one)
            } else if at < AROUND + between {
                middle.iter().any(|(from, to)| *from <= at - AROUND && at - AROUND < *to)
            } else {
                is_in(&last, (at - AROUND - between) % two)
            }
        });
        let inside = inside.collect();
        let placed = middle.iter().map(|(from, to)| (ORIGIN + from, ORIGIN + to)).collect();
        Drawn { times: Times::changed(first, (ORIGIN, ORIGIN + between), placed, last), inside }
    }

    fn instants(times: &Times, count: usize) -> Vec<bool> {
        (0..count as u64).map(|at| times.end_of(ORIGIN - AROUND + at).is_some()).collect()
    }

    #[test]
    fn sets_over_a_change_are_what_their_words_say() {
        for seed in 0..1_500 {
            let mut draw = draws(seed);
            let shape = (3 + draw(20), 3 + draw(20), draw(30));
            let (one, two) = (drawn(&mut draw, shape), drawn(&mut draw, shape));
            let count = one.inside.len();
            let both = |of: fn(bool, bool) -> bool| -> Vec<bool> {
                one.inside.iter().zip(&two.inside).map(|(one, two)| of(*one, *two)).collect()
            };
            assert_eq!(instants(&one.times, count), one.inside, "seed {seed}: {:?}", one.times);
            let (before, behind) = (draw(12), draw(12));
            let grown_two = two.times.grown(before, behind);
            // Sets that have been unrolled differently are compared, too.
            assert_eq!(instants(&one.times.or(&two.times), count), both(|a, b| a || b), "seed {seed}");
            assert_eq!(instants(&one.times.and(&two.times), count), both(|a, b| a && b), "seed {seed}");
            assert_eq!(instants(&one.times.others(), count), both(|a, _| !a), "seed {seed}");
            let near = |at: usize| {
                let first = at.saturating_sub(behind as usize);
                (first..=at + before as usize).any(|near| two.inside.get(near).copied().unwrap_or(false))
            };
            let grown: Vec<bool> = (40..count - 40).map(near).collect();
            let found = instants(&grown_two, count)[40..count - 40].to_vec();
            assert_eq!(found, grown, "seed {seed}, {before} {behind}: {:?}", two.times);
            let all: Vec<bool> =
                one.inside[40..count - 40].iter().zip(&grown).map(|(a, b)| *a && *b).collect();
            assert_eq!(
                instants(&one.times.and(&grown_two), count)[40..count - 40].to_vec(),
                all,
                "seed {seed}"
            );
            for at in 0..count - 40 {
                let end = one.times.end_of(ORIGIN - AROUND + at as u64).map(|end| end - (ORIGIN - AROUND));
                let first = (at..count).find(|at| !one.inside[*at]).map(|end| end as u64);
                match (end, one.inside[at]) {
                    (None, inside) => assert!(!inside, "seed {seed}"),
                    // What is all of the last list has no end.
                    (Some(end), true) => assert!(first.is_none_or(|first| first == end), "seed {seed}, {at}"),
                    (Some(_), false) => panic!("seed {seed}, {at}"),
                }
            }
        }
    }

    #[test]
    fn parts_shrink_at_the_ends_that_they_have() {
        for seed in 0..1_500 {
            let mut draw = draws(seed);
            let shape = (3 + draw(20), 3 + draw(20), draw(30));
            let one = drawn(&mut draw, shape);
            let (before, behind) = (draw(4), draw(4));
            let less = |from: u64, to: u64| {
                let (from, to) = (from + before, to.checked_sub(behind)?);
                (from < to).then_some((from, to))
            };
            let found = instants(&one.times.each(before.max(behind), less), one.inside.len());
            let is_whole =
                |at: usize| (at - before as usize..=at + behind as usize).all(|near| one.inside[near]);
            for (at, found) in found.iter().enumerate().take(one.inside.len() - 40).skip(40) {
                assert_eq!(*found, is_whole(at), "seed {seed}, {at}: {before} {behind} {:?}", one.times);
            }
        }
    }

    #[test]
    fn no_window_over_a_change_holds_more_than_its_curve() {
        let mut touched = 0;
        for seed in 0..400 {
            let mut draw = draws(seed);
            let shape = (3 + draw(20), 3 + draw(20), draw(30));
            let one = drawn(&mut draw, shape);
            let most = one.times.most();
            let sums: Vec<u128> = std::iter::once(0)
                .chain(one.inside.iter().scan(0, |sum, inside| {
                    *sum += u128::from(*inside) * MICRO;
                    Some(*sum)
                }))
                .collect();
            for length in 0..sums.len() as u64 {
                let of = |from: usize| sums[from + length as usize] - sums[from];
                let worst = (0..sums.len() - length as usize).map(of).max().expect("a window");
                let curve = most.at(length).expect("known");
                assert!(curve >= worst, "seed {seed}, {length}: {curve} below {worst} {:?}", one.times);
                touched += usize::from(length > 20 && worst > 0 && curve <= worst + 2);
            }
        }
        assert!(touched > 1_000, "{touched}");
    }
}
