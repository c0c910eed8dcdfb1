//! Slots of a cycle: rounds of requests and responses, as many and as even as make the worst round trip least.
//!
//! In: the problem; the cycle, if it is to be kept. Out: the slots, and for each pair and round when its
//! response is ready and when its slot is: the proof that both meet in one cycle. The worst round trip is
//! the longest wait for a slot of the request, the distance of two rounds, and what follows it. A kept cycle
//! gets as many rounds as lessen it; else the cycle is as short as one round allows. All orders of responses
//! are tried for up to seven pairs of a requester; beyond that they stand in the order in which they are
//! ready. Best of all tables whose rounds are alike and do not interleave, with one requester.

use tautwire_core::tdma::Carries;
use tautwire_units::Duration;

use super::problem::SlotProblem;
use super::round::{Place, Round};

/// Pairs of one requester of which all orders are tried.
const ORDERED_MAX: usize = 7;

/// A slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedSlot {
    /// The station.
    pub owner: u32,
    /// From the start of the cycle.
    pub offset: Duration,
    /// Its length.
    pub length: Duration,
    /// What it carries.
    pub carries: Carries,
}

/// A response that is ready for its slot, whichever slot its request had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Index of the pair.
    pub pair: usize,
    /// Offset of the last slot that the request may have in this round.
    pub request: Duration,
    /// When the response is ready at the latest.
    pub ready: Duration,
    /// Offset of its slot.
    pub response: Duration,
}

/// Slots of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotPlan {
    /// Length of the cycle.
    pub cycle: Duration,
    /// Rounds in a cycle.
    pub rounds: u64,
    /// All slots, by offset.
    pub slots: Vec<PlannedSlot>,
    /// For each pair and round.
    pub answers: Vec<Answer>,
    /// From the request in the queue of its station to the last bit of its response, at most, if every station
    /// has no more requests at a time than slots in a round. Errors of the starts of slots come on top.
    pub round_trip: Duration,
}

/// Why there are no slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotFault {
    /// Nobody answers anybody.
    NoPairs,
    /// The kept cycle is shorter than one round needs.
    TooShort {
        /// The shortest cycle.
        needed: Duration,
    },
}

/// Plans the slots of a cycle; of this length if it is given, else as short as may be.
///
/// # Errors
/// If there are no pairs, or the cycle is too short.
pub fn plan(problem: &SlotProblem, cycle: Option<Duration>) -> Result<SlotPlan, SlotFault> {
    if problem.pairs.is_empty() {
        return Err(SlotFault::NoPairs);
    }
    let mut orders = by_requester(problem);
    for group in 0..orders.len() {
        if orders[group].len() > ORDERED_MAX {
            continue;
        }
        let mut best: Option<(Duration, Vec<usize>)> = None;
        let mut tried = orders.clone();
        for order in permutations(&orders[group]) {
            tried[group].clone_from(&order);
            let Ok(plan) = in_order(problem, cycle, &tried) else { continue };
            if best.as_ref().is_none_or(|(least, _)| plan.round_trip < *least) {
                best = Some((plan.round_trip, order));
            }
        }
        if let Some((_, order)) = best {
            orders[group] = order;
        }
    }
    in_order(problem, cycle, &orders)
}

/// Pairs by requester, each in the order in which they are ready.
fn by_requester(problem: &SlotProblem) -> Vec<Vec<usize>> {
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for (number, pair) in problem.pairs.iter().enumerate() {
        match groups.iter_mut().find(|(request, _)| *request == pair.request) {
            Some((_, group)) => group.push(number),
            None => groups.push((pair.request, vec![number])),
        }
    }
    for (_, group) in &mut groups {
        group.sort_by_key(|number| problem.pairs[*number].ready);
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// All orders.
fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    let Some((first, rest)) = of.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in permutations(rest) {
        for place in 0..=order.len() {
            let mut with = order.clone();
            with.insert(place, *first);
            all.push(with);
        }
    }
    all
}

/// The plan with the responses in these orders.
fn in_order(
    problem: &SlotProblem,
    cycle: Option<Duration>,
    orders: &[Vec<usize>],
) -> Result<SlotPlan, SlotFault> {
    let round = Round::new(problem, orders);
    let mut places = Vec::new();
    for transfer in &problem.alone {
        let behind = |place: &Place| place.offset + problem.slots_apart(place.transfer, *transfer);
        let earliest = places.iter().map(behind).max().unwrap_or_default();
        let offset = problem.up(earliest.max(problem.behind_openings(*transfer)));
        places.push(Place { transfer: *transfer, offset });
    }
    let first = first_round(problem, &round, &places);
    let tail = tail(problem, &round, first, &places);
    let needed = first + tail;
    let whole = cycle.unwrap_or(needed);
    if whole < needed {
        return Err(SlotFault::TooShort { needed });
    }
    let (gap, starts) = match cycle {
        Some(_) => spread(problem, whole, first, problem.down(whole - tail), round.period(problem)),
        None => (whole, vec![first]),
    };
    Ok(finish(problem, &round, places, whole, gap, &starts))
}

/// Where the first round begins.
fn first_round(problem: &SlotProblem, round: &Round, alone: &[Place]) -> Duration {
    let needed = |place: &Place| {
        let behind = alone.iter().map(|one| one.offset + problem.slots_apart(one.transfer, place.transfer));
        let from = behind.max().unwrap_or_default().max(problem.behind_openings(place.transfer));
        from.saturating_sub(place.offset)
    };
    problem.up(round.places.iter().map(needed).max().unwrap_or_default())
}

/// From the start of the last round to the end of the cycle at least: what the next one begins with comes behind.
fn tail(problem: &SlotProblem, round: &Round, first: Duration, alone: &[Place]) -> Duration {
    let begin = round.places.iter().map(|place| Place { offset: first + place.offset, ..*place });
    let next: Vec<Place> = alone.iter().copied().chain(begin).collect();
    let needed = |place: &Place| {
        let slot =
            |next: &Place| problem.slots_apart(place.transfer, next.transfer).saturating_sub(next.offset);
        let slots = next.iter().map(slot).max().unwrap_or_default();
        place.offset + slots.max(problem.before_openings(place.transfer))
    };
    problem.up(round.places.iter().map(needed).max().unwrap_or_default())
}

/// Starts of the rounds from `first` to `last`, at least `period` apart, with the least greatest distance of two.
fn spread(
    problem: &SlotProblem,
    cycle: Duration,
    first: Duration,
    last: Duration,
    period: Duration,
) -> (Duration, Vec<Duration>) {
    let mut best = (cycle, vec![first]);
    for rounds in 2_u64.. {
        // Even over the cycle, or as far as the last may be.
        let even = Duration::from_ps(cycle.as_ps() / rounds * (rounds - 1));
        let room = problem.down(even).min(last - first);
        let start =
            |number: u64| first + problem.down(Duration::from_ps(room.as_ps() * number / (rounds - 1)));
        let starts: Vec<Duration> = (0..rounds).map(start).collect();
        let apart = || starts.windows(2).map(|pair| pair[1] - pair[0]);
        if period * (rounds - 1) > last - first || apart().any(|gap| gap < period) {
            return best;
        }
        let gap = apart().max().unwrap_or_default().max(cycle - room);
        if gap < best.0 {
            best = (gap, starts);
        }
    }
    best
}

fn finish(
    problem: &SlotProblem,
    round: &Round,
    mut places: Vec<Place>,
    cycle: Duration,
    gap: Duration,
    starts: &[Duration],
) -> SlotPlan {
    let mut answers = Vec::new();
    for start in starts {
        let at = |place: usize| *start + round.places[place].offset;
        places.extend(round.places.iter().map(|one| Place { offset: *start + one.offset, ..*one }));
        answers.extend(round.meetings.iter().map(|meeting| Answer {
            pair: meeting.pair,
            request: at(meeting.last),
            ready: at(meeting.last) + problem.pairs[meeting.pair].ready,
            response: at(meeting.response),
        }));
    }
    places.sort_by_key(|place| place.offset);
    let slot = |place: &Place| {
        let own = &problem.transfers[place.transfer];
        let (owner, carries) = (own.owner, own.carries);
        PlannedSlot { owner, offset: place.offset, length: problem.up(own.length), carries }
    };
    SlotPlan {
        cycle,
        rounds: starts.len() as u64,
        slots: places.iter().map(slot).collect(),
        answers,
        round_trip: gap + round.answered(problem),
    }
}
