//! Times that come again with every cycle: sets of instants, and the most of them in any window.
//!
//! All in picoseconds. A set holds half-open parts `[from, to)` of one cycle. [`Periodic::most`] is the least concave
//! curve above the time of the set in a window of a length, and [`Periodic::jumps`] the same where a part counts in
//! full as soon as it begins. Both are exact up to [`PARTS_MAX`] parts; if there are more, the shortest gaps are
//! counted as part of the set. Not here: how these sets are made (`port.rs`).

use super::times::merged;
use crate::curve::{Curve, Line, MICRO, volume};
use crate::windows::{Jump, Jumps, TIME};

/// Parts of a cycle that are looked at one by one.
pub(super) const PARTS_MAX: usize = 64;

/// A time that is all of a set before the cycles begin, and more that is taken with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Once {
    pub(super) time: u64,
    pub(super) more: u64,
}

impl Once {
    fn is_none(self) -> bool {
        self == Self::default()
    }

    /// A curve of cycles with it before them, but never more than all time.
    pub(super) fn before(self, curve: &Curve) -> Curve {
        let line = |line: &Line| {
            // The part that exceeds the cycles' own rate.
            let time = volume(TIME - line.rate.min(TIME), self.time);
            Line { burst: line.burst + time + u128::from(self.more) * MICRO, ..*line }
        };
        Curve::least_of(curve.lines().iter().map(line).chain([Line { burst: 0, rate: TIME }]))
    }
}

/// Instants of a cycle, the same in every one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Periodic {
    period: u64,
    /// In order, neither empty nor touching, except for the first and the last at the ends of the cycle.
    parts: Vec<(u64, u64)>,
}

impl Periodic {
    /// No instant.
    pub(super) fn none(period: u64) -> Self {
        assert!(period > 0, "a cycle");
        Self { period, parts: Vec::new() }
    }

    /// All of them.
    pub(super) fn all(period: u64) -> Self {
        Self { parts: vec![(0, period)], ..Self::none(period) }
    }

    /// Those within parts that begin anywhere and may reach into the cycles behind.
    pub(super) fn of(period: u64, parts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut cut = Vec::new();
        for (from, to) in parts {
            if to.saturating_sub(from) >= period {
                return Self::all(period);
            }
            let (begin, length) = (from % period, to.saturating_sub(from));
            let end = begin + length;
            cut.push((begin, end.min(period)));
            if end > period {
                cut.push((0, end - period));
            }
        }
        Self::none(period).with(cut)
    }

    fn with(mut self, cut: Vec<(u64, u64)>) -> Self {
        self.parts = merged(cut);
        self
    }

    /// The cycle.
    pub(super) fn period(&self) -> u64 {
        self.period
    }

    /// What it holds of a cycle, in order.
    pub(super) fn parts(&self) -> &[(u64, u64)] {
        &self.parts
    }

    /// How much of a cycle it is.
    pub(super) fn total(&self) -> u64 {
        self.parts.iter().map(|(from, to)| to - from).sum()
    }

    /// Whether it is every instant.
    pub(super) fn is_all(&self) -> bool {
        self.total() == self.period
    }

    /// All other instants.
    pub(super) fn others(&self) -> Self {
        let ends = self.parts.iter().map(|(_, to)| *to);
        let begins = self.parts.iter().map(|(from, _)| *from);
        let between = std::iter::once(0).chain(ends).zip(begins.chain(std::iter::once(self.period)));
        Self::none(self.period).with(between.collect())
    }

    /// The union of both sets.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self::none(self.period).with(self.parts.iter().chain(&other.parts).copied().collect())
    }

    /// The intersection of both sets.
    pub(super) fn and(&self, other: &Self) -> Self {
        self.others().or(&other.others()).others()
    }

    /// Its parts, where one that reaches over the end of a cycle is one: it begins in the cycle and ends behind it.
    pub(super) fn whole_parts(&self) -> Vec<(u64, u64)> {
        let mut parts = self.parts.clone();
        if let [first, .., last] = parts[..]
            && first.0 == 0
            && last.1 == self.period
        {
            parts.remove(0);
            let last = parts.last_mut().expect("two at least");
            last.1 = self.period + first.1;
        }
        parts
    }

    /// Each part longer by so much before and behind it.
    pub(super) fn grown(&self, before: u64, behind: u64) -> Self {
        if self.is_all() {
            return self.clone();
        }
        let back = before.div_ceil(self.period) * self.period;
        let longer = |(from, to): (u64, u64)| (from + back - before, to + back + behind);
        Self::of(self.period, self.whole_parts().into_iter().map(longer))
    }

    /// Where the part of an instant ends, if it is one of the set.
    pub(super) fn end_of(&self, instant: u64) -> Option<u64> {
        let at = instant % self.period;
        let around = |(from, to): (u64, u64)| {
            let holds = |at: u64| from <= at && at < to;
            let place = if holds(at) { at } else { at + self.period };
            holds(place).then(|| instant + (to - place))
        };
        self.whole_parts().into_iter().find_map(around)
    }

    /// With as few parts as are looked at one by one: the shortest times between them are taken in.
    pub(super) fn joined(&self) -> Self {
        let between = self.others().whole_parts();
        if between.len() <= PARTS_MAX {
            return self.clone();
        }
        Self::of(self.period, longest(between, PARTS_MAX)).others()
    }

    /// The part of a cycle that it is, as a rate of [`TIME`], rounded up.
    pub(super) fn share(&self) -> u64 {
        share(self.total(), self.period)
    }

    /// The most of it in a window of each length, as bits of a line of [`TIME`]: the least concave curve above it.
    pub(super) fn most(&self) -> Curve {
        Regained::nothing(self).most()
    }

    /// The most of it in a closed window, each part counted in full as soon as it begins; with a time that is added
    /// once before all of it.
    pub(super) fn jumps(&self, once: Once) -> Jumps {
        Regained::nothing(self).jumps(once)
    }
}

/// Times that are taken, and how much more than the times between them is worked there: by frames that start in one and end behind it.
///
/// Such work counts from the end of the part on into which the last of these frames reaches: up to then nothing starts.
#[derive(Debug)]
pub(super) struct Regained {
    taken: Periodic,
    parts: Vec<(u64, u64)>,
    /// Per part, of the time before it.
    more: Vec<u64>,
}

impl Regained {
    fn nothing(taken: &Periodic) -> Self {
        Self::of(taken, |_, _| 0)
    }

    /// Of a set, with a function of each time between two parts, begin and end, and the length of the shorter of these parts.
    pub(super) fn of(taken: &Periodic, more: impl Fn((u64, u64), u64) -> u64) -> Self {
        let (taken, period) = (taken.joined(), taken.period());
        let parts = taken.whole_parts();
        let length = |place: usize| parts[place].1 - parts[place].0;
        let of = |place: usize| {
            let before = place.checked_sub(1).unwrap_or(parts.len() - 1);
            let from = if place == 0 { parts[before].1.checked_sub(period) } else { Some(parts[before].1) };
            // The first time of all may begin in the cycle before.
            let (from, to) = match from {
                Some(from) => (from, parts[place].0),
                None => (parts[before].1, parts[place].0 + period),
            };
            let shorter = length(before).min(length(place));
            if from < to { more((from, to), shorter).min(shorter) } else { 0 }
        };
        let more = (0..parts.len()).map(of).collect();
        Self { taken, parts, more }
    }

    /// All time that is not taken, each part of it up to the end of what is worked for certain.
    pub(super) fn worked(&self) -> Periodic {
        let left = self.parts.iter().zip(&self.more).map(|((from, to), more)| (from + more, *to));
        Periodic::of(self.taken.period(), left).others()
    }

    fn is_nothing(&self) -> bool {
        self.more.iter().all(|more| *more == 0)
    }

    /// What is taken of a cycle.
    fn total(&self) -> u64 {
        self.taken.total() - self.more.iter().sum::<u64>()
    }

    /// Calls `tell` for every part from which a window may begin, and every later one within a cycle: with what is taken up to its end, and up to there
    /// without what is worked behind the time before it.
    fn each(&self, mut tell: impl FnMut(u64, (u64, u64), (u64, u64))) {
        let (parts, period) = (&self.parts, self.taken.period());
        for (place, first) in parts.iter().enumerate() {
            let mut sum = 0;
            for later in place..place + parts.len() {
                let number = later % parts.len();
                let again = if later < parts.len() { 0 } else { period };
                let (from, to) = (parts[number].0 + again, parts[number].1 + again);
                sum += to - from;
                let most = sum;
                sum -= if later == place { 0 } else { self.more[number] };
                tell(first.0, (from, to), (sum, most));
            }
        }
    }

    /// The most that is taken in a window of each length.
    pub(super) fn most(&self) -> Curve {
        if self.parts.is_empty() {
            return Curve::zero();
        }
        let mut points = vec![(0, 0)];
        self.each(|begin, (_, to), (_, most)| points.push((to - begin, most)));
        most_above(points, share(self.total(), self.taken.period()))
    }

    /// The same in a closed window, each part counted in full as soon as it begins; with a time that is added once before all of it.
    pub(super) fn jumps(&self, once: Once) -> Jumps {
        let mut points = Vec::new();
        self.each(|begin, (from, to), (taken, _)| {
            let over = if self.is_nothing() { 0 } else { to - begin };
            points.push(Jump { at: from - begin, taken, over });
        });
        points.sort_unstable_by_key(|jump| (jump.at, std::cmp::Reverse(jump.taken)));
        let mut steps: Vec<Jump> = Vec::new();
        for jump in points {
            let last = steps.last().copied();
            let (taken, over) =
                last.map_or((0, 0), |last| (last.taken.max(jump.taken), last.over.max(jump.over)));
            match last {
                None => steps.push(jump),
                Some(last) if (taken, over) == (last.taken, last.over) => {}
                Some(_) => steps.push(Jump { at: jump.at, taken, over }),
            }
        }
        // Of a window that begins behind it, a part that is under way at its end counts.
        let longest = self.parts.iter().map(|(from, to)| to - from).max().unwrap_or(0);
        let all = if once.is_none() { 0 } else { once.time + once.more + longest };
        let (period, total) = (self.taken.period(), self.total());
        Jumps { once: all, later: once.time, period, steps, total, corrections: None }
    }
}

/// The least time that is not below `span` and that whole frames take one behind the other, of these sizes: the least and the greatest time of each.
pub(super) fn least_of_frames(span: u64, sizes: &[(u64, u64)]) -> u64 {
    /// Frames and sums of times that are looked at.
    const MOST: usize = 64;
    let (mut reached, mut least) = (vec![(0, 0)], u64::MAX);
    for _ in 0..MOST {
        let mut next = Vec::new();
        for (from, to) in
            reached.iter().flat_map(|(from, to)| sizes.iter().map(move |(one, two)| (from + one, to + two)))
        {
            if from >= span {
                least = least.min(from);
            } else if to >= span {
                return span;
            } else {
                // Sums that are near are one; a part needs an instant to count.
                next.push((from, to + 1));
            }
        }
        if next.is_empty() {
            return least;
        }
        reached = merged(next).into_iter().map(|(from, to)| (from, to - 1)).collect();
        if reached.len() > MOST {
            return span;
        }
    }
    span
}

/// Calls `tell` for every part from which a window may begin, and every later one, within a cycle if they come again, with the sum of all parts up to it.
pub(super) fn each_window(
    parts: &[(u64, u64)],
    period: Option<u64>,
    mut tell: impl FnMut(u64, (u64, u64), u64),
) {
    for (place, first) in parts.iter().enumerate() {
        let mut sum = 0;
        let again =
            period.map(|period| parts[..place].iter().map(move |(from, to)| (from + period, to + period)));
        let later = again.into_iter().flatten();
        for (from, to) in parts[place..].iter().copied().chain(later) {
            sum += to - from;
            tell(first.0, (from, to), sum);
        }
    }
}

/// The least concave curve above points and of no lower rate than one, and never more than all time.
pub(super) fn most_above(points: Vec<(u64, u64)>, rate: u64) -> Curve {
    // A line of the part that it is in the long run, above all points.
    let flat = line_above(&points, rate);
    let hull = hull(points);
    let steep = hull.windows(2).map(|pair| {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        line_above(&hull, share(high.saturating_sub(low), (to - from).max(1)))
    });
    Curve::least_of(steep.chain([flat, Line { burst: 0, rate: TIME }]).filter(|line| line.rate >= rate))
}

/// The longest of them, so many at most.
pub(super) fn longest(mut gaps: Vec<(u64, u64)>, most: usize) -> Vec<(u64, u64)> {
    gaps.sort_unstable_by_key(|(from, to)| (std::cmp::Reverse(to - from), *from));
    gaps.truncate(most);
    gaps
}

/// A part of time as a rate of [`TIME`], rounded up.
fn share(part: u64, whole: u64) -> u64 {
    let rate = (u128::from(part) * u128::from(TIME)).div_ceil(u128::from(whole));
    u64::try_from(rate).unwrap_or(TIME).min(TIME)
}

/// The lowest line of a rate above points.
fn line_above(points: &[(u64, u64)], rate: u64) -> Line {
    let above = |(at, sum): &(u64, u64)| {
        let needed = u128::from(*sum) * MICRO;
        needed.saturating_sub(crate::curve::volume_floor(rate, *at))
    };
    Line { burst: points.iter().map(above).max().unwrap_or(0), rate }
}

/// The upper hull of points, in order.
fn hull(mut points: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    points.sort_unstable();
    let mut kept: Vec<(u64, u64)> = Vec::new();
    for point in points {
        let is_below = |kept: &[(u64, u64)]| {
            let [.., one, two] = kept else { return false };
            let rise = |a: (u64, u64), b: (u64, u64)| i128::from(b.1) - i128::from(a.1);
            let run = |a: (u64, u64), b: (u64, u64)| i128::from(b.0) - i128::from(a.0);
            rise(*one, *two) * run(*one, point) <= rise(*one, point) * run(*one, *two)
        };
        while is_below(&kept) {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the first instants are in it.
    fn instants(set: &Periodic, count: u64) -> Vec<bool> {
        (0..count).map(|at| set.end_of(at).is_some()).collect()
    }

    fn drawn(seed: u64) -> (Periodic, impl FnMut(u64) -> u64) {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let period = 4 + draw(30);
        let parts: Vec<_> = (0..draw(6)).map(|_| (draw(2 * period), 1 + draw(8))).collect();
        (Periodic::of(period, parts.into_iter().map(|(from, length)| (from, from + length))), draw)
    }

    #[test]
    fn sets_are_what_their_words_say() {
        for seed in 0..500 {
            let (one, mut draw) = drawn(seed);
            let period = one.period();
            let (from, length) = (draw(period), draw(period));
            let other = Periodic::of(period, [(from, from + length)]);
            let (a, b) = (instants(&one, 2 * period), instants(&other, 2 * period));
            let both = |f: fn(bool, bool) -> bool| -> Vec<bool> {
                a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect()
            };
            assert_eq!(instants(&one.or(&other), 2 * period), both(|a, b| a || b), "seed {seed}");
            assert_eq!(instants(&one.and(&other), 2 * period), both(|a, b| a && b), "seed {seed}");
            assert_eq!(instants(&one.others(), 2 * period), both(|a, _| !a), "seed {seed}");
            let (before, behind) = (draw(9), draw(9));
            let near = |at: u64| {
                (0..=before + behind).any(|off| a[((at + 3 * period + before - off) % period) as usize])
            };
            // Shifted: an instant is in it if one of the set lies up to `before` later or `behind` earlier.
            let grown: Vec<bool> = (0..period).map(|at| near(at + period)).collect();
            assert_eq!(instants(&one.grown(before, behind), period), grown, "seed {seed}: {one:?}");
        }
    }

    /// Compares with every window between integer instants.
    #[test]
    fn no_window_holds_more_than_its_curve_and_jumps() {
        for seed in 0..500 {
            let (set, _) = drawn(seed);
            let (period, inside) = (set.period(), instants(&set, 5 * set.period()));
            let (most, jumps) = (set.most(), set.jumps(Once::default()));
            let mut touched = false;
            for length in 0..3 * period {
                let of = |from: u64| {
                    inside[from as usize..(from + length) as usize].iter().filter(|one| **one).count()
                };
                let worst = (0..period).map(of).max().unwrap() as u128 * MICRO;
                let curve = most.at(length).unwrap();
                assert!(curve >= worst, "seed {seed}, {length}: {curve} below {worst}");
                touched |= length > 0 && worst > 0 && curve <= worst + 2;
                let begun: u64 = (0..)
                    .map(|number| jumps.nth(number))
                    .map_while(|jump| jump)
                    .take_while(|jump| jump.at <= length)
                    .last()
                    .map_or(0, |jump| jump.taken);
                assert!(u128::from(begun) * MICRO >= worst, "seed {seed}, {length}: jumps {begun}");
            }
            assert!(touched || set.total() == 0, "seed {seed}: {set:?}");
        }
    }

    #[test]
    fn frames_take_the_least_of_their_sums() {
        for seed in 0..500 {
            let (_, mut draw) = drawn(seed);
            let sizes: Vec<(u64, u64)> = (0..=draw(3))
                .map(|_| {
                    let least = 3 + draw(20);
                    (least, least + draw(2) * draw(4))
                })
                .collect();
            let span = 1 + draw(79);
            let mut sums = [false; 200];
            sums[0] = true;
            for sum in 0..span as usize {
                let reach = sizes.iter().flat_map(|(least, most)| *least..=*most);
                reach
                    .filter(|_| sums[sum])
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|size| sums[sum + size as usize] = true);
            }
            let least = (span..200).find(|sum| sums[*sum as usize]).expect("a sum");
            let found = least_of_frames(span, &sizes);
            assert!(found <= least, "seed {seed}: {found} of {least}, {span} {sizes:?}");
            // Sizes that are a range count as every size in it; sums are not looked at beyond that.
            let exact = sizes.iter().all(|(least, most)| least == most);
            assert!(
                !exact || found == least || found == span,
                "seed {seed}: {found} of {least}, {span} {sizes:?}"
            );
        }
        assert_eq!(least_of_frames(100, &[(70, 70)]), 140);
        assert_eq!(least_of_frames(140, &[(70, 70)]), 140);
        assert_eq!(least_of_frames(141, &[(70, 70), (90, 90)]), 160);
        assert_eq!(least_of_frames(100, &[(60, 120)]), 100);
    }

    #[test]
    fn what_is_worked_behind_a_part_counts_from_the_next_one_on() {
        // 10 of 100 are usable, and each time 40 are worked.
        let taken = Periodic::of(100, [(10, 100)]);
        let jumps = Regained::of(&taken, |part, between| {
            assert_eq!((part, between), ((0, 10), 90));
            30
        });
        let jumps = jumps.jumps(Once::default());
        let steps: Vec<_> =
            (0..3).map(|number| jumps.nth(number).map(|jump| (jump.at, jump.taken, jump.over))).collect();
        assert_eq!(steps, [Some((0, 90, 90)), Some((100, 150, 190)), Some((200, 210, 290))]);
    }

    #[test]
    fn many_parts_are_joined() {
        let many =
            Periodic::of(100_000, (0..500).map(|number| (number * 200, number * 200 + 50 + number % 7)));
        assert!(many.joined().whole_parts().len() <= PARTS_MAX);
        assert!(many.joined().total() > many.total());
        assert_eq!(many.and(&many.joined()), many);
    }
}
