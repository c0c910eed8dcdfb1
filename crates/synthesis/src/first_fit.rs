//! Schedules of large sets: flow by flow, hop by hop, each at the first free instant.
//!
//! Shortest periods first, because they have the fewest places. A frame is sent on as soon as the next link is free
//! for it. If it comes too late, it starts later at the talker by its shortest wait: it then waits less and arrives no
//! later. Flows without a place are put first and all begins again, a few times; the round that places the most is
//! kept. A placement is a valid schedule; that a flow is left out proves nothing ([`crate::exact`]).

use tautwire_units::Duration;

use crate::occupancy::Occupancy;
use crate::problem::{Flow, Problem};
use crate::schedule::{Kept, Schedule};

/// How often the order is changed before flows are left out.
const ROUNDS_MAX: usize = 6;

/// How many starts are tried for a flow with a deadline.
const STARTS_MAX: usize = 256;

/// A schedule and the flows that are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The schedule of the others.
    pub schedule: Schedule,
    /// Flows that found no place, as indices of [`Problem::flows`], in order.
    pub left_out: Vec<usize>,
}

/// Places as many flows as it can.
///
/// # Panics
/// If the problem is not sound: [`Problem::assert_sound`].
#[must_use]
pub fn first_fit(problem: &Problem) -> Placement {
    first_fit_with(problem, &Kept::default())
}

/// The same with flows that stay where they are.
///
/// # Panics
/// As [`first_fit`].
#[must_use]
pub fn first_fit_with(problem: &Problem, kept: &Kept) -> Placement {
    problem.assert_sound();
    let mut order: Vec<usize> = (0..problem.flows.len()).filter(|flow| !kept.contains_key(flow)).collect();
    order.sort_by_key(|index| {
        let flow = &problem.flows[*index];
        let windows: Duration = flow.hops.iter().map(|hop| hop.window).sum();
        (flow.period, core::cmp::Reverse(windows))
    });
    let mut best: Option<Placement> = None;
    for _ in 0..ROUNDS_MAX {
        let round = place_all(problem, &order, kept);
        let better = best.as_ref().is_none_or(|best| round.left_out.len() < best.left_out.len());
        let left_out = round.left_out.clone();
        if better {
            best = Some(round);
        }
        if left_out.is_empty() {
            break;
        }
        // A stable sort: those that were left out go first, in their order.
        order.sort_by_key(|index| !left_out.contains(index));
    }
    best.expect("at least one round is run")
}

fn place_all(problem: &Problem, order: &[usize], kept: &Kept) -> Placement {
    let mut links = vec![Occupancy::default(); problem.links.len()];
    for (link, occupancy) in problem.links.iter().zip(&mut links) {
        if let Some(room) = link.room.filter(|room| !room.length.is_zero()) {
            let begin = room.cycle - room.length;
            occupancy.take(begin.as_ps(), room.length.as_ps(), room.cycle.as_ps());
        }
    }
    let queues = vec![Occupancy::default(); problem.queues];
    let mut taken = Taken { precision: problem.precision, links, queues };
    let mut dispatch = vec![None; problem.flows.len()];
    let mut left_out = Vec::new();
    for (flow, at) in kept {
        let ps: Vec<u64> = at.iter().map(|at| at.as_ps()).collect();
        taken.take(&problem.flows[*flow], &ps);
        dispatch[*flow] = Some(at.clone());
    }
    for index in order {
        let flow = &problem.flows[*index];
        match place(flow, &mut taken) {
            Some(at) => {
                taken.take(flow, &at);
                dispatch[*index] = Some(at.into_iter().map(Duration::from_ps).collect());
            }
            None => left_out.push(*index),
        }
    }
    left_out.sort_unstable();
    Placement { schedule: Schedule { dispatch }, left_out }
}

/// The occupied times of links and queues.
struct Taken {
    precision: Duration,
    links: Vec<Occupancy>,
    queues: Vec<Occupancy>,
}

impl Taken {
    fn take(&mut self, flow: &Flow, dispatch: &[u64]) {
        let period = flow.period.as_ps();
        for (number, (hop, at)) in flow.hops.iter().zip(dispatch).enumerate() {
            self.links[hop.link].take(*at, hop.window.as_ps(), period);
            if let Some((queue, begin, length)) = flow.stay(number, self.precision, dispatch) {
                self.queues[queue].take(begin, length, period);
            }
        }
    }
}

/// Dispatch instants of a flow's hops, in picoseconds; none if it found no place.
fn place(flow: &Flow, taken: &mut Taken) -> Option<Vec<u64>> {
    let mut start = flow.start.min.as_ps();
    for _ in 0..STARTS_MAX {
        let way = follow(flow, taken, start)?;
        if way.start < way.start_last {
            // The talker sends by all its ports at once: when the last of them is free.
            start = way.start_last;
            continue;
        }
        if !way.late && way.shared == 0 {
            return Some(way.dispatch);
        }
        // Without a wait it cannot be quicker; where a queue is not free, it comes later.
        let later = way.wait_min.filter(|_| way.late).unwrap_or(u64::MAX);
        let later = if way.shared > 0 { later.min(way.shared) } else { later };
        if later == u64::MAX {
            return None;
        }
        start = way.start.checked_add(later)?;
        if start > flow.start.max.as_ps() {
            return None;
        }
    }
    None
}

/// A frame's way as it is when the talker dispatches it from some instant on.
struct Way {
    dispatch: Vec<u64>,
    /// The earliest dispatch at the talker.
    start: u64,
    /// The latest, if it sends by several ports.
    start_last: u64,
    /// The shortest wait above zero behind the talker.
    wait_min: Option<u64>,
    /// Whether a listener gets it behind the deadline, or the next frame may come before it is sent on.
    late: bool,
    /// By how much it must move so that it is alone in the first queue where it is not; zero if there is none.
    shared: u64,
}

fn follow(flow: &Flow, taken: &mut Taken, start: u64) -> Option<Way> {
    let (period, precision) = (flow.period.as_ps(), taken.precision);
    let mut way = Way {
        dispatch: Vec::with_capacity(flow.hops.len()),
        start: u64::MAX,
        start_last: 0,
        wait_min: None,
        late: false,
        shared: 0,
    };
    for (index, hop) in flow.hops.iter().enumerate() {
        let (ready, latest) = match (hop.previous, flow.after(index, precision)) {
            (Some(previous), Some(after)) => {
                let before = way.dispatch[previous];
                (before + after.min.as_ps(), before + after.max.as_ps())
            }
            // A period later is the place that was tried first.
            _ => (start, flow.start.max.as_ps()),
        };
        let at = taken.links[hop.link].next_free(ready, hop.window.as_ps(), period)?;
        way.late |= at > latest;
        if hop.previous.is_none() {
            way.start = way.start.min(at);
            way.start_last = way.start_last.max(at);
        } else if at > ready {
            way.wait_min = Some(way.wait_min.map_or(at - ready, |wait| wait.min(at - ready)));
        }
        way.dispatch.push(at);
        if let Some((queue, begin, length)) = flow.stay(index, precision, &way.dispatch) {
            let free = taken.queues[queue].next_free(begin, length, period)?;
            if free > begin {
                way.shared = free - begin;
                return Some(way);
            }
        }
        if let Some(deadline) = flow.deadline {
            let since_talker = at - way.dispatch[flow.root(index)];
            way.late |= since_talker + flow.tail(index, precision).as_ps() > deadline.as_ps();
        }
    }
    Some(way)
}
