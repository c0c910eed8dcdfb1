//! Schedules of small sets by complete search: found if there is one, else proven impossible.
//!
//! Unknowns are the dispatch instants, in picoseconds. What a frame needs from hop to hop is a limit of a difference.
//! Two windows of one link, of periods *T* and *P*, never overlap if for an integer *k* *W₁ + k·g ≤ x₂ − x₁ ≤ k·g + g
//! − W₂* with g = gcd(T, P). The search chooses a *k* for every pair of windows, the pair with the fewest left first.
//! Every choice is a set of differences that [`Differences`] decides exactly, and the differences are limited, so the
//! choices are finitely many: the search is complete.

use tautwire_units::Duration;

use crate::differences::Differences;
use crate::occupancy::gcd;
use crate::problem::Problem;
use crate::schedule::Schedule;

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
    problem.assert_sound();
    if (0..problem.links.len()).any(|link| overloaded(problem, link)) {
        return Outcome::Impossible;
    }
    let Some((differences, pairs)) = constraints(problem) else {
        return Outcome::Impossible;
    };
    let mut search = Search { pairs, steps: steps_max };
    match search.complete(differences) {
        Ended::Found(differences) => Outcome::Found(earliest(problem, &differences)),
        Ended::Impossible => Outcome::Impossible,
        Ended::OutOfSteps => Outcome::Undecided,
    }
}

/// Whether the windows of a link and its room are longer than the time that there is.
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

/// *lower + k·period ≤ x_to − x_from ≤ upper + k·period* for an integer *k*.
#[derive(Clone, Copy, Debug)]
struct Pair {
    from: usize,
    to: usize,
    lower: i64,
    upper: i64,
    period: i64,
}

impl Pair {
    /// First and last *k* that the differences leave.
    fn range(&self, differences: &Differences) -> (i64, i64) {
        let first = (differences.least(self.from, self.to) - self.upper).div_euclid(self.period);
        let exact = (differences.least(self.from, self.to) - self.upper).rem_euclid(self.period) == 0;
        let last = (differences.most(self.from, self.to) - self.lower).div_euclid(self.period);
        (if exact { first } else { first + 1 }, last)
    }

    #[must_use]
    fn hold(&self, differences: &mut Differences, k: i64) -> bool {
        let shift = k * self.period;
        differences.between(self.from, self.to, self.lower + shift, self.upper + shift)
    }
}

fn signed(span: Duration) -> i64 {
    i64::try_from(span.as_ps()).expect("a schedule is shorter than 100 days")
}

/// The problem in differences: variable 0 is the instant zero, the others are the hops in order. None if
/// they contradict each other at once.
fn constraints(problem: &Problem) -> Option<(Differences, Vec<Pair>)> {
    let mut variables = vec![Vec::new(); problem.links.len()];
    let hops: usize = problem.flows.iter().map(|flow| flow.hops.len()).sum();
    let mut differences = Differences::new(hops + 1);
    let mut pairs = Vec::new();
    let mut next = 1;
    for flow in &problem.flows {
        let period = signed(flow.period);
        for (index, hop) in flow.hops.iter().enumerate() {
            let variable = next + index;
            let held = match (hop.previous, flow.after(index, problem.precision)) {
                (Some(previous), Some(after)) => {
                    let (least, most) = (signed(after.min), signed(after.max));
                    least <= most && differences.between(next + previous, variable, least, most)
                }
                _ => {
                    // By all its ports at once.
                    differences.between(0, variable, 0, period - 1)
                        && differences.between(next, variable, 0, 0)
                }
            };
            let in_time = flow.deadline.is_none_or(|deadline| {
                let most = signed(deadline) - signed(flow.tail(index, problem.precision));
                let root = next + flow.root(index);
                most >= 0 && differences.between(root, variable, 0, most)
            });
            if !held || !in_time || hop.window > flow.period {
                return None;
            }
            let window = Window { variable, period: flow.period, length: hop.window };
            if let Some(room) = problem.links[hop.link].room.filter(|room| !room.length.is_zero()) {
                // As a window of its own that begins `length` before zero.
                let common = signed(Duration::from_ps(gcd(room.cycle.as_ps(), flow.period.as_ps())));
                let upper = common - signed(room.length) - signed(hop.window);
                pairs.push(Pair { from: 0, to: variable, lower: 0, upper, period: common });
            }
            pairs.extend(variables[hop.link].iter().map(|other: &Window| other.clear_of(&window)));
            variables[hop.link].push(window);
        }
        next += flow.hops.len();
    }
    if pairs.iter().any(|pair| pair.upper < pair.lower) {
        return None;
    }
    // Without rooms nothing is tied to zero, and any schedule can be turned until one flow starts there.
    let tied = problem.links.iter().any(|link| link.room.is_some_and(|room| !room.length.is_zero()));
    if !tied && hops > 0 && !differences.between(0, 1, 0, 0) {
        return None;
    }
    Some((differences, pairs))
}

/// A hop's window on its link.
#[derive(Clone, Copy, Debug)]
struct Window {
    variable: usize,
    period: Duration,
    length: Duration,
}

impl Window {
    fn clear_of(&self, other: &Self) -> Pair {
        let common = Duration::from_ps(gcd(self.period.as_ps(), other.period.as_ps()));
        Pair {
            from: self.variable,
            to: other.variable,
            lower: signed(self.length),
            upper: signed(common) - signed(other.length),
            period: signed(common),
        }
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
                let shift = first * pair.period;
                let held = differences.least(pair.from, pair.to) >= pair.lower + shift
                    && differences.most(pair.from, pair.to) <= pair.upper + shift;
                if !held {
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
