//! Slots of a cycle: rounds of requests and responses, as many and as even as make the worst round trip least.
//!
//! In: the problem; the cycle, if it is to be kept. Out: the slots, and for each pair and round when its response is
//! ready and when its slot is: the proof that both are in one cycle. The worst round trip is the longest wait for a
//! slot of the request, the distance of two rounds, and what follows it; the number of round trips beyond their
//! deadlines counts first. A kept cycle gets as many rounds as shorten the worst round trip; else the cycle is as
//! short as one round allows. All orders of responses are tried for up to seven pairs of a requester; beyond that they
//! have the order in which they are ready. The result is the best of all tables with equal rounds that do not
//! interleave, with one requester. Rounds that interleave are tried with every distance; with one pair they are the
//! best of all that are equal and evenly spaced. Streams without requests and responses take turns in one slot where
//! that makes room (`share.rs`).

use tautwire_core::tdma::Carries;
use tautwire_units::Duration;

use super::problem::{Cost, SlotProblem};
use super::round::{Interleaved, Place, Round};
use super::share::{Turn, share};

/// Pairs of one requester of which all orders are tried, and with rounds that interleave.
const ORDERED_MAX: usize = 7;
const INTERLEAVED_ORDERED_MAX: usize = 4;
/// Distances of rounds that are tried at most for a number of rounds; of more, so many evenly.
const DISTANCES_MAX: u64 = 4_096;
/// Most rounds of a cycle that interleave.
const MOST_ROUNDS: u64 = 64;

/// The possible arrangements of the rounds of one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// One behind the other.
    Apart,
    /// A round may begin before the one before it is answered.
    Interleaved,
}

/// A slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedSlot {
    /// The station.
    pub owner: u32,
    /// From the start of the cycle.
    pub offset: Duration,
    /// Its length.
    pub length: Duration,
    /// The kind of its traffic.
    pub carries: Carries,
    /// Used in every so many cycles.
    pub every: u32,
    /// In those whose number leaves this remainder.
    pub phase: u32,
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
    /// For each pair: from the request in the queue of its station to the last bit of its response, at most, if every station
    /// has no more requests at a time than slots in a round. Errors of the starts of slots come on top.
    pub round_trips: Vec<Duration>,
    /// The worst of them.
    pub round_trip: Duration,
}

impl SlotPlan {
    fn cost(&self, problem: &SlotProblem) -> Cost {
        Cost::of(problem.pairs.iter().copied().zip(self.round_trips.iter().copied()))
    }
}

/// Why there are no slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotFault {
    /// No stream is a response to another.
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
    plan_as(problem, cycle, Rounds::Interleaved, true)
}

/// The same with a given arrangement of the rounds, and with shared slots only if they are allowed.
///
/// # Errors
/// As of [`plan`].
pub fn plan_as(
    problem: &SlotProblem,
    cycle: Option<Duration>,
    rounds: Rounds,
    shares: bool,
) -> Result<SlotPlan, SlotFault> {
    if problem.pairs.is_empty() {
        return Err(SlotFault::NoPairs);
    }
    let unshared = best_of_orders(problem, &[], cycle, rounds);
    // A cycle that becomes shorter allows no period less.
    let known = cycle.or(unshared.as_ref().ok().map(|plan| plan.cycle)).filter(|_| shares);
    let Some(shared) = known.and_then(|cycle| share(problem, cycle)) else { return unshared };
    let turns = best_of_orders(&shared.problem, &shared.turns, cycle, rounds);
    match (unshared, turns) {
        (Ok(unshared), Ok(turns)) if turns.cost(problem) < unshared.cost(problem) => Ok(turns),
        (Err(_), turns) => turns,
        (unshared, _) => unshared,
    }
}

/// The plan with the best orders of responses; transfers behind those of the network are `turns`.
fn best_of_orders(
    problem: &SlotProblem,
    turns: &[Turn],
    cycle: Option<Duration>,
    rounds: Rounds,
) -> Result<SlotPlan, SlotFault> {
    let mut orders = by_requester(problem);
    best_orders(&mut orders, ORDERED_MAX, |orders| {
        in_order(problem, turns, cycle, orders).ok().map(|plan| plan.cost(problem))
    });
    let apart = in_order(problem, turns, cycle, &orders)?;
    let Some(cycle) = cycle.filter(|_| rounds == Rounds::Interleaved) else { return Ok(apart) };
    best_orders(&mut orders, INTERLEAVED_ORDERED_MAX, |orders| {
        interleaved(problem, turns, cycle, orders, apart.cost(problem)).map(|plan| plan.cost(problem))
    });
    Ok(interleaved(problem, turns, cycle, &orders, apart.cost(problem)).unwrap_or(apart))
}

/// Puts the responses of each requester of at most `most` pairs in the order of the least cost.
fn best_orders(orders: &mut [Vec<usize>], most: usize, cost: impl Fn(&[Vec<usize>]) -> Option<Cost>) {
    for group in 0..orders.len() {
        if orders[group].len() > most {
            continue;
        }
        let mut best: Option<(Cost, Vec<usize>)> = None;
        let mut tried = orders.to_vec();
        for order in permutations(&orders[group]) {
            tried[group].clone_from(&order);
            let Some(found) = cost(&tried) else { continue };
            if best.as_ref().is_none_or(|(least, _)| found < *least) {
                best = Some((found, order));
            }
        }
        if let Some((_, order)) = best {
            orders[group] = order;
        }
    }
}

/// The best plan with rounds that interleave, if it costs less than `known`.
fn interleaved(
    problem: &SlotProblem,
    turns: &[Turn],
    cycle: Duration,
    orders: &[Vec<usize>],
    known: Cost,
) -> Option<SlotPlan> {
    let places = alone(problem);
    // No two slots share time.
    let length = |transfer: usize| problem.up(problem.transfers[transfer].length);
    let lengths = problem.pairs.iter().map(|pair| length(pair.request) + length(pair.response));
    let round = lengths.fold(problem.quantum, |sum, one| sum + one) - problem.quantum;
    let nearest = problem.pairs.iter().map(|pair| length(pair.request).max(length(pair.response)));
    let nearest = nearest.max().unwrap_or_default();
    // No round with this distance to the next costs less.
    let least_at = |gap| Cost::of(problem.pairs.iter().map(|pair| (*pair, gap + pair.ready + pair.way)));
    let mut best: Option<SlotPlan> = None;
    let rounds_max = cycle.as_ps() / round.as_ps().max(1);
    for rounds in 2..=rounds_max.min(MOST_ROUNDS) {
        let farthest = Duration::from_ps(cycle.as_ps() / (rounds - 1));
        let steps = farthest.saturating_sub(nearest).as_ps() / problem.quantum.as_ps();
        let step = problem.quantum * (1 + steps / DISTANCES_MAX);
        let mut apart = problem.up(nearest);
        while apart <= farthest {
            let gap = apart.max(cycle.saturating_sub(apart * (rounds - 1)));
            let least = best.as_ref().map_or(known, |plan| plan.cost(problem));
            if least_at(apart) >= least {
                break;
            }
            if least_at(gap) < least
                && let Some(round) = Round::interleaved(problem, orders, Interleaved { apart, rounds })
                && round.cost(problem, gap) < least
            {
                let first = first_round(problem, &round, &places);
                let tail = tail(problem, &round, first, &places);
                if first + apart * (rounds - 1) + tail <= cycle {
                    let starts: Vec<Duration> = (0..rounds).map(|number| first + apart * number).collect();
                    best = Some(finish(problem, turns, &round, places.clone(), cycle, gap, &starts));
                }
            }
            apart += step;
        }
    }
    best
}

/// Places of the slots of streams without requests and responses: before the first round.
fn alone(problem: &SlotProblem) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for own in &problem.alone {
        let behind = |place: &Place| place.offset + problem.slots_apart(place.transfer, own.transfer);
        let earliest = places.iter().map(behind).max().unwrap_or_default();
        let offset = problem.up(earliest.max(problem.behind_openings(own.transfer)));
        places.push(Place { transfer: own.transfer, offset });
    }
    places
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
    turns: &[Turn],
    cycle: Option<Duration>,
    orders: &[Vec<usize>],
) -> Result<SlotPlan, SlotFault> {
    let round = Round::new(problem, orders);
    let places = alone(problem);
    let first = first_round(problem, &round, &places);
    let tail = tail(problem, &round, first, &places);
    let needed = first + tail;
    let length = cycle.unwrap_or(needed);
    if length < needed {
        return Err(SlotFault::TooShort { needed });
    }
    let (gap, starts) = match cycle {
        Some(_) => spread(problem, length, first, problem.down(length - tail), round.period(problem)),
        None => (length, vec![first]),
    };
    Ok(finish(problem, turns, &round, places, length, gap, &starts))
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
    turns: &[Turn],
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
    let known = problem.transfers.len() - turns.len();
    let slot = |place: &Place, transfer: usize, every, phase| {
        let own = &problem.transfers[transfer];
        let (owner, carries, length) = (own.owner, own.carries, problem.up(own.length));
        PlannedSlot { owner, offset: place.offset, length, carries, every, phase }
    };
    let slots = places.iter().flat_map(|place| match place.transfer.checked_sub(known) {
        Some(turn) => {
            let Turn { period, members } = &turns[turn];
            let member = |(phase, transfer): (u32, &usize)| slot(place, *transfer, *period, phase);
            (0..*period).zip(members).map(member).collect()
        }
        None => vec![slot(place, place.transfer, 1, 0)],
    });
    let mut round_trips = vec![Duration::ZERO; problem.pairs.len()];
    for (pair, round_trip) in round.round_trips(problem, gap) {
        round_trips[pair] = round_trip;
    }
    SlotPlan {
        cycle,
        rounds: starts.len() as u64,
        slots: slots.collect(),
        answers,
        round_trip: round_trips.iter().copied().max().unwrap_or_default(),
        round_trips,
    }
}
