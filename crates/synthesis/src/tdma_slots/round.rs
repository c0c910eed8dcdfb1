//! A round: the slots of all requests and, behind them, of their responses, as near to each other as may be.
//!
//! In: the problem and the order of the responses. Out: places counted from the first slot. The requests of a
//! station stand in a row, as many slots as it has requests, for a request leaves in the first slot that
//! comes. Every response stands where it is ready whichever of these slots its request had: request and
//! response meet in one round. In a given order the earliest places make all responses and the round as
//! early as they can be at once. Not here: rounds in the cycle (`plan.rs`).

use tautwire_units::Duration;

use super::problem::SlotProblem;

/// A slot of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) transfer: usize,
    /// From the start of the round.
    pub(super) offset: Duration,
}

/// A pair in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meeting {
    pub(super) pair: usize,
    /// Indices of the places: the first and the last slot of the request, that of the response.
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) response: usize,
}

/// A round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) places: Vec<Place>,
    pub(super) meetings: Vec<Meeting>,
}

impl Round {
    /// The round in which the responses of each requester, in `orders` as indices of the pairs, follow.
    pub(super) fn new(problem: &SlotProblem, orders: &[Vec<usize>]) -> Self {
        let mut round = Self { places: Vec::new(), meetings: Vec::new() };
        for order in orders {
            let first = round.places.len();
            for pair in order {
                round.put(problem, problem.pairs[*pair].request, Duration::ZERO);
            }
            let last = round.places.len() - 1;
            for pair in order {
                let known = &problem.pairs[*pair];
                let ready = round.places[last].offset + known.ready;
                round.put(problem, known.response, ready);
                round.meetings.push(Meeting { pair: *pair, first, last, response: round.places.len() - 1 });
            }
        }
        round
    }

    /// Puts a slot behind all others, not before `from`.
    fn put(&mut self, problem: &SlotProblem, transfer: usize, from: Duration) {
        let behind = |place: &Place| place.offset + problem.slots_apart(place.transfer, transfer);
        let earliest = self.places.iter().map(behind).max().unwrap_or_default().max(from);
        self.places.push(Place { transfer, offset: problem.up(earliest) });
    }

    /// From one round to the next at least.
    pub(super) fn period(&self, problem: &SlotProblem) -> Duration {
        let after = |one: &Place, next: &Place| {
            (one.offset + problem.slots_apart(one.transfer, next.transfer)).saturating_sub(next.offset)
        };
        let all = self.places.iter().flat_map(|one| self.places.iter().map(move |next| after(one, next)));
        problem.up(all.max().unwrap_or_default())
    }

    /// From the first slot of a request to the last bit of the response, the worst of all pairs.
    pub(super) fn answered(&self, problem: &SlotProblem) -> Duration {
        let answered = |meeting: &Meeting| {
            let apart = self.places[meeting.response].offset - self.places[meeting.first].offset;
            apart + problem.pairs[meeting.pair].way
        };
        self.meetings.iter().map(answered).max().unwrap_or_default()
    }
}
