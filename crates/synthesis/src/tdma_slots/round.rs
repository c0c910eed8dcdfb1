//! A round: the slots of all requests and, behind them, of their responses, as near to each other as may be.
//!
//! In: the problem and the order of the responses. Out: places counted from the first slot. The requests of a station
//! are adjacent, as many slots as it has requests, because a request leaves in the first slot that comes. Every
//! response is placed where it is ready whichever of these slots its request had: request and response are in one
//! round. In a given order the earliest places make all responses and the round as early as possible at once. Rounds
//! that interleave have a given distance, and no slot of one overlaps a slot of another: a slot takes the first place
//! that is free in all of them. Not here: rounds in the cycle (`plan.rs`).

use tautwire_units::Duration;

use super::problem::{Cost, SlotProblem};

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

/// Rounds that interleave: their distance, and their number in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interleaved {
    pub(super) apart: Duration,
    pub(super) rounds: u64,
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

    /// The same for rounds that interleave; none if they are so near that a slot meets itself.
    pub(super) fn interleaved(
        problem: &SlotProblem,
        orders: &[Vec<usize>],
        others: Interleaved,
    ) -> Option<Self> {
        let mut round = Self { places: Vec::new(), meetings: Vec::new() };
        for order in orders {
            let first = round.places.len();
            let mut from = Duration::ZERO;
            for pair in order {
                from = round.put_between(problem, problem.pairs[*pair].request, from, others)?;
            }
            let last = round.places.len() - 1;
            for pair in order {
                let known = &problem.pairs[*pair];
                let ready = round.places[last].offset + known.ready;
                round.put_between(problem, known.response, ready, others)?;
                round.meetings.push(Meeting { pair: *pair, first, last, response: round.places.len() - 1 });
            }
        }
        Some(round)
    }

    /// Puts a slot where it is free in all rounds, the first place from `from` on; gives where.
    fn put_between(
        &mut self,
        problem: &SlotProblem,
        transfer: usize,
        from: Duration,
        others: Interleaved,
    ) -> Option<Duration> {
        let own = problem.up(problem.slots_apart(transfer, transfer));
        if others.apart < own {
            return None;
        }
        let mut offset = problem.up(from);
        // Every step is forward, and behind all other slots of all rounds there is a place.
        'place: loop {
            for place in &self.places {
                let behind = problem.up(problem.slots_apart(place.transfer, transfer));
                let before = problem.up(problem.slots_apart(transfer, place.transfer));
                for number in 0..others.rounds {
                    let far = others.apart * number;
                    // That slot in a later round and in an earlier one.
                    for (at, shift) in [(place.offset + far, Duration::ZERO), (place.offset, far)] {
                        let here = offset + shift;
                        if here < at + behind && at < here + before {
                            offset = (at + behind).saturating_sub(shift);
                            continue 'place;
                        }
                    }
                }
            }
            break;
        }
        self.places.push(Place { transfer, offset });
        Some(offset)
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

    /// For each pair: from the request in its station's queue to the last bit of the response at most, with rounds that
    /// begin this far apart.
    pub(super) fn round_trips(
        &self,
        problem: &SlotProblem,
        gap: Duration,
    ) -> impl Iterator<Item = (usize, Duration)> {
        self.meetings.iter().map(move |meeting| {
            let apart = self.places[meeting.response].offset - self.places[meeting.first].offset;
            (meeting.pair, gap + apart + problem.pairs[meeting.pair].way)
        })
    }

    /// The cost of these round trips.
    pub(super) fn cost(&self, problem: &SlotProblem, gap: Duration) -> Cost {
        Cost::of(self.round_trips(problem, gap).map(|(pair, round_trip)| (problem.pairs[pair], round_trip)))
    }
}
