//! Schedules of small sets by complete search: found if there is one, else proven impossible.
//!
//! Unknowns are the dispatch instants, in picoseconds. What a frame needs from hop to hop is a limit of a difference.
//! Two windows of one link, of periods *T* and *P*, never overlap if for an integer *k* *W₁ + k·g ≤ x₂ − x₁ ≤ k·g + g
//! − W₂* with g = gcd(T, P). Stays in one queue are such windows, too; their ends belong to different instants. The
//! search chooses a *k* for every pair of windows, the pair with the fewest left first. Every choice is a set of
//! differences that [`Differences`] decides exactly, and the differences are limited, so the choices are finitely many:
//! the search is complete.

use tautwire_units::Duration;

use crate::differences::Differences;
use crate::occupancy::gcd;
use crate::problem::Problem;
use crate::schedule::{Kept, Schedule};

/// How a complete search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A schedule of all flows.
    Found(Schedule),
    /// There is none.
    Impossible,
    /// The steps allowed were used up.
    Undecided,
}

/// Searches for a schedule of all flows, in at most so many steps (choices tried).
///
/// # Panics
/// If the problem is not sound: [`Problem::assert_sound`].
#[must_use]
pub fn exact(problem: &Problem, steps_max: u64) -> Outcome {
    exact_with(problem, &Kept::default(), steps_max)
}

/// The same with flows that stay where they are.
///
/// # Panics
/// As [`exact`].
#[must_use]
pub fn exact_with(problem: &Problem, kept: &Kept, steps_max: u64) -> Outcome {
    problem.assert_sound();
    if is_overloaded(problem) {
        return Outcome::Impossible;
    }
    let Some((differences, pairs)) = constraints(problem, kept) else {
        return Outcome::Impossible;
    };
    let mut search = Search { pairs, steps: steps_max };
    match search.complete(differences) {
        Ended::Found(differences) => Outcome::Found(earliest(problem, &differences)),
        Ended::Impossible => Outcome::Impossible,
        Ended::OutOfSteps => Outcome::Undecided,
    }
}

/// Whether the windows of any link and its room, wherever that is, are longer than the time that there is.
pub(crate) fn is_overloaded(problem: &Problem) -> bool {
    (0..problem.links.len()).any(|link| overloaded(problem, link))
}

/// Whether those of one are.
fn overloaded(problem: &Problem, link: usize) -> bool {
    let hops = problem.flows.iter().flat_map(|flow| flow.hops.iter().map(move |hop| (flow.period, hop)));
    let windows = hops.filter(|(_, hop)| hop.link == link).map(|(period, hop)| (period, hop.window));
    let room = problem.links[link].room.map(|room| (room.cycle, room.length));
    let shares: Vec<(u128, u128)> =
        windows.chain(room).map(|(period, span)| (period.as_ps().into(), span.as_ps().into())).collect();
    // A common multiple that is too large for its type proves nothing; the search decides.
    let common = shares.iter().try_fold(1_u128, |common, (period, _)| {
        let (mut a, mut b) = (common, *period);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        (common / a).checked_mul(*period)
    });
    let Some(common) = common else { return false };
    let taken = shares
        .iter()
        .try_fold(0_u128, |taken, (period, span)| taken.checked_add((common / period).checked_mul(*span)?));
    taken.is_none_or(|taken| taken > common)
}

/// An instant of a variable, and a time after it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    variable: usize,
    after: i64,
}

/// From a mark to another one, every period.
#[derive(Clone, Copy, Debug)]
struct Window {
    begin: Mark,
    end: Mark,
    period: u64,
}

/// *first.end + k·period ≤ second.begin* and *second.end ≤ first.begin + (k + 1)·period* for an integer *k*.
#[derive(Clone, Copy, Debug)]
struct Pair {
    first: Window,
    second: Window,
    period: i64,
}

impl Pair {
    /// First and last *k* that the differences leave.
    fn range(&self, differences: &Differences) -> (i64, i64) {
        let ((from, to, upper), (low_from, low_to, lower)) = (self.upper(), self.lower());
        let beyond = differences.least(from, to) - upper;
        let exact = beyond.rem_euclid(self.period) == 0;
        let first = beyond.div_euclid(self.period) + i64::from(!exact);
        let last = (differences.most(low_from, low_to) - lower).div_euclid(self.period);
        (first, last)
    }

    /// Variables and the least difference from one to the other, for *k* = 0.
    fn lower(&self) -> (usize, usize, i64) {
        let (from, to) = (self.first.end, self.second.begin);
        (from.variable, to.variable, from.after - to.after)
    }

    /// The same with the greatest.
    fn upper(&self) -> (usize, usize, i64) {
        let (from, to) = (self.first.begin, self.second.end);
        (from.variable, to.variable, from.after - to.after + self.period)
    }

    fn is_held(&self, differences: &Differences, k: i64) -> bool {
        let ((from, to, upper), (low_from, low_to, lower)) = (self.upper(), self.lower());
        let shift = k * self.period;
        differences.least(low_from, low_to) >= lower + shift && differences.most(from, to) <= upper + shift
    }

    #[must_use]
    fn hold(&self, differences: &mut Differences, k: i64) -> bool {
        let ((from, to, upper), (low_from, low_to, lower)) = (self.upper(), self.lower());
        let shift = k * self.period;
        differences.at_most(from, to, upper + shift) && differences.at_least(low_from, low_to, lower + shift)
    }
}

fn signed(span: Duration) -> i64 {
    i64::try_from(span.as_ps()).expect("a schedule is shorter than 100 days")
}

/// The problem in differences: variable 0 is the instant zero, the others are the hops in order. None if
/// they contradict each other at once.
fn constraints(problem: &Problem, kept: &Kept) -> Option<(Differences, Vec<Pair>)> {
    let mut windows = vec![Vec::new(); problem.links.len()];
    let mut stays = vec![Vec::new(); problem.queues];
    let hops: usize = problem.flows.iter().map(|flow| flow.hops.len()).sum();
    let mut differences = Differences::new(hops + 1);
    let mut pairs = Vec::new();
    let mut next = 1;
    for (number, flow) in problem.flows.iter().enumerate() {
        for (index, hop) in flow.hops.iter().enumerate() {
            let variable = next + index;
            let held = match (hop.previous, flow.after(index, problem.precision)) {
                (Some(previous), Some(after)) => {
                    let (least, most) = (signed(after.min), signed(after.max));
                    least <= most && differences.between(next + previous, variable, least, most)
                }
                _ => {
                    // By all its ports at once.
                    differences.between(0, variable, signed(flow.start.min), signed(flow.start.max))
                        && differences.between(next, variable, 0, 0)
                }
            };
            let in_time = flow.deadline.is_none_or(|deadline| {
                let most = signed(deadline) - signed(flow.tail(index, problem.precision));
                let root = next + flow.root(index);
                most >= 0 && differences.between(root, variable, 0, most)
            });
            let is_kept = kept.get(&number).is_none_or(|at| {
                let at = signed(at[index]);
                differences.between(0, variable, at, at)
            });
            if !held || !in_time || !is_kept || hop.window > flow.period {
                return None;
            }
            let mark = |variable: usize, after: i64| Mark { variable, after };
            let (begin, end) = (mark(variable, 0), mark(variable, signed(hop.window)));
            let window = Window { begin, end, period: flow.period.as_ps() };
            if let Some(room) = problem.links[hop.link].room.filter(|room| !room.length.is_zero()) {
                let room = Window {
                    begin: mark(0, -signed(room.length)),
                    end: mark(0, 0),
                    period: room.cycle.as_ps(),
                };
                pairs.push(room.clear_of(&window));
            }
            pairs.extend(windows[hop.link].iter().map(|other: &Window| other.clear_of(&window)));
            windows[hop.link].push(window);
            if let Some(queue) = hop.queue {
                let begin = match hop.previous {
                    Some(previous) => {
                        mark(next + previous, signed(hop.ready.min) - signed(problem.precision))
                    }
                    None => mark(variable, -signed(queue.before)),
                };
                if hop.previous.is_none() && queue.before + queue.until > flow.period {
                    return None;
                }
                let stay = Window { begin, end: mark(variable, signed(queue.until)), ..window };
                pairs.extend(stays[queue.queue].iter().map(|other: &Window| other.clear_of(&stay)));
                stays[queue.queue].push(stay);
            }
        }
        next += flow.hops.len();
    }
    // Without rooms and required offsets nothing is tied to zero, and any schedule can be turned until one flow starts there.
    let tied = problem.links.iter().any(|link| link.room.is_some_and(|room| !room.length.is_zero()));
    let tied = tied || !kept.is_empty() || problem.flows.iter().any(|flow| !flow.starts_anywhere());
    if !tied && let Some(first) = problem.flows.iter().find(|flow| !flow.hops.is_empty()) {
        let start = signed(first.start.min);
        if !differences.between(0, 1, start, start) {
            return None;
        }
    }
    Some((differences, pairs))
}

impl Window {
    fn clear_of(&self, other: &Self) -> Pair {
        let common = Duration::from_ps(gcd(self.period, other.period));
        Pair { first: *self, second: *other, period: signed(common) }
    }
}

enum Ended {
    Found(Differences),
    Impossible,
    OutOfSteps,
}

struct Search {
    pairs: Vec<Pair>,
    steps: u64,
}

impl Search {
    /// Searches all that the differences leave.
    fn complete(&mut self, mut differences: Differences) -> Ended {
        let Some(open) = self.propagate(&mut differences) else { return Ended::Impossible };
        let Some(pair) = open else { return Ended::Found(differences) };
        let (first, last) = pair.range(&differences);
        for k in first..=last {
            let Some(left) = self.steps.checked_sub(1) else { return Ended::OutOfSteps };
            self.steps = left;
            let mut branch = differences.clone();
            if !pair.hold(&mut branch, k) {
                continue;
            }
            match self.complete(branch) {
                Ended::Impossible => {}
                ended => return ended,
            }
        }
        Ended::Impossible
    }

    /// Holds every pair that has one *k* left, until nothing changes. The pair with the fewest left, if one has
    /// several; none at all if one has none.
    fn propagate(&self, differences: &mut Differences) -> Option<Option<Pair>> {
        loop {
            let mut changed = false;
            let mut fewest: Option<(i64, Pair)> = None;
            for pair in &self.pairs {
                let (first, last) = pair.range(differences);
                if first > last {
                    return None;
                }
                if first < last {
                    if fewest.is_none_or(|(count, _)| last - first < count) {
                        fewest = Some((last - first, *pair));
                    }
                    continue;
                }
                if !pair.is_held(differences, first) {
                    changed = true;
                    if !pair.hold(differences, first) {
                        return None;
                    }
                }
            }
            if !changed {
                return Some(fewest.map(|(_, pair)| pair));
            }
        }
    }
}

/// The earliest instants that the differences leave; they satisfy all of them.
fn earliest(problem: &Problem, differences: &Differences) -> Schedule {
    let mut next = 1;
    let mut dispatch = Vec::with_capacity(problem.flows.len());
    for flow in &problem.flows {
        let instants = (next..next + flow.hops.len()).map(|variable| {
            let ps = u64::try_from(differences.least(0, variable)).expect("no dispatch is before zero");
            Duration::from_ps(ps)
        });
        dispatch.push(Some(instants.collect()));
        next += flow.hops.len();
    }
    Schedule { dispatch }
}
