//! The check of a schedule: every frame of a common period laid out on its link, one after the other.
//!
//! Shares no code with the searches: no greatest common divisor, no helper of [`Problem`]. It computes every instant
//! from the fields alone and looks for overlaps in the laid-out windows.

use core::fmt;

use tautwire_units::Duration;

use crate::problem::{Flow, Problem};
use crate::schedule::Schedule;

/// Most windows that are laid out for one link.
const WINDOWS_MAX: u128 = 50_000_000;

/// What is wrong with a schedule. Flows and hops are indices of the problem's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It has another number of flows, or a flow another number of hops.
    Shape,
    /// The talker dispatches outside of the range of its starts.
    BehindPeriod {
        /// Flow.
        flow: usize,
        /// Hop.
        hop: usize,
    },
    /// The talker does not dispatch by all its ports at once.
    Apart {
        /// Flow.
        flow: usize,
        /// Hop.
        hop: usize,
    },
    /// A node dispatches a frame that may not be there yet.
    TooEarly {
        /// Flow.
        flow: usize,
        /// Hop.
        hop: usize,
        /// When the frame is there at the latest.
        ready: Duration,
    },
    /// A node holds a frame so long that the next one may come.
    HeldTooLong {
        /// Flow.
        flow: usize,
        /// Hop.
        hop: usize,
    },
    /// A frame may come behind its deadline.
    TooLate {
        /// Flow.
        flow: usize,
        /// Hop.
        hop: usize,
        /// Its longest latency.
        latency: Duration,
    },
    /// Two windows of a link overlap.
    Overlap {
        /// Link.
        link: usize,
        /// The flow whose window is first.
        first: usize,
        /// The flow whose window begins before the first one's ends.
        second: usize,
        /// When the second begins.
        at: Duration,
    },
    /// Two flows are in a queue at once in which each must be alone.
    Shared {
        /// Queue.
        queue: usize,
        /// The flow that comes first.
        first: usize,
        /// The flow that comes before the first one has left.
        second: usize,
        /// When it comes, counted from a period before zero.
        at: Duration,
    },
    /// A window reaches into what is kept for other traffic.
    InRoom {
        /// Link.
        link: usize,
        /// Flow.
        flow: usize,
        /// When the window begins.
        at: Duration,
    },
    /// The common period of the flows of a link or queue is too long to be laid out: it is not checked.
    TooLong {
        /// Link, or queue.
        link: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => write!(f, "not the flows and hops of the problem"),
            Self::BehindPeriod { flow, hop } => write!(f, "flow {flow}, hop {hop}: outside of its range"),
            Self::Apart { flow, hop } => write!(f, "flow {flow}, hop {hop}: apart from the first"),
            Self::TooEarly { flow, hop, ready } => write!(f, "flow {flow}, hop {hop}: before {ready}"),
            Self::HeldTooLong { flow, hop } => {
                write!(f, "flow {flow}, hop {hop}: the next frame may come first")
            }
            Self::TooLate { flow, hop, latency } => write!(f, "flow {flow}, hop {hop}: latency {latency}"),
            Self::Overlap { link, first, second, at } => {
                write!(f, "link {link}: flows {first} and {second} overlap at {at}")
            }
            Self::Shared { queue, first, second, at } => {
                write!(f, "queue {queue}: flow {second} comes at {at}, before flow {first} has left")
            }
            Self::InRoom { link, flow, at } => write!(f, "link {link}: flow {flow} at {at} is in the room"),
            Self::TooLong { link } => write!(f, "link {link}: the common period is too long to be checked"),
        }
    }
}

/// All that is wrong with a schedule; nothing if it is one. Flows that it leaves out are not looked at.
#[must_use]
pub fn check(problem: &Problem, schedule: &Schedule) -> Vec<Fault> {
    if schedule.dispatch.len() != problem.flows.len() {
        return vec![Fault::Shape];
    }
    let mut faults = Vec::new();
    for (index, (flow, dispatch)) in problem.flows.iter().zip(&schedule.dispatch).enumerate() {
        let Some(dispatch) = dispatch else { continue };
        if dispatch.len() != flow.hops.len() {
            return vec![Fault::Shape];
        }
        check_way(problem, index, flow, dispatch, &mut faults);
    }
    let mut links = vec![Vec::new(); problem.links.len()];
    let mut queues = vec![Vec::new(); problem.queues];
    for (index, (flow, dispatch)) in problem.flows.iter().zip(&schedule.dispatch).enumerate() {
        let Some(dispatch) = dispatch else { continue };
        let period = u128::from(flow.period.as_ps());
        for (hop, at) in flow.hops.iter().zip(dispatch) {
            let at = u128::from(at.as_ps());
            let end = at + u128::from(hop.window.as_ps());
            links[hop.link].push(Laid { begin: at, end, flow: index, period });
            let Some(queue) = hop.queue else { continue };
            let comes = match hop.previous {
                Some(previous) => {
                    u128::from((dispatch[previous] + hop.ready.min).as_ps()) + period
                        - u128::from(problem.precision.as_ps())
                }
                None => at + period - u128::from(queue.before.as_ps()),
            };
            let end = at + period + u128::from(queue.until.as_ps());
            // A frame that leaves before it comes is a fault of its own.
            queues[queue.queue].push(Laid { begin: comes, end: end.max(comes), flow: index, period });
        }
    }
    for (link, windows) in links.iter().enumerate() {
        check_link(problem, link, windows, &mut faults);
    }
    for (queue, stays) in queues.iter().enumerate() {
        match laid_out(stays, None) {
            Some((laid, common)) => check_overlaps(&laid, common, &mut faults, |first, second, at| {
                Fault::Shared { queue, first, second, at }
            }),
            None => faults.push(Fault::TooLong { link: queue }),
        }
    }
    faults
}

/// From hop to hop: the clock ahead is the one that dispatches too early.
fn check_way(problem: &Problem, index: usize, flow: &Flow, dispatch: &[Duration], faults: &mut Vec<Fault>) {
    // Per hop: the dispatch at the talker of the frame that passes it.
    let mut talker: Vec<Duration> = Vec::new();
    for (number, (hop, at)) in flow.hops.iter().zip(dispatch).enumerate() {
        let (flow_index, hop_index) = (index, number);
        let mut latency = hop.arrival.max;
        match hop.previous {
            None => {
                if *at < flow.start.min || *at > flow.start.max {
                    faults.push(Fault::BehindPeriod { flow: flow_index, hop: hop_index });
                }
                if *at != dispatch[0] {
                    faults.push(Fault::Apart { flow: flow_index, hop: hop_index });
                }
                talker.push(*at);
            }
            Some(previous) => {
                let ready = dispatch[previous] + hop.ready.max + problem.precision;
                let next = dispatch[previous] + flow.period + hop.ready.min;
                if *at < ready {
                    faults.push(Fault::TooEarly { flow: flow_index, hop: hop_index, ready });
                }
                let until = hop.queue.map_or(Duration::ZERO, |queue| queue.until);
                if *at + until + problem.precision > next {
                    faults.push(Fault::HeldTooLong { flow: flow_index, hop: hop_index });
                }
                talker.push(talker[previous]);
                latency += problem.precision;
            }
        }
        latency += at.saturating_sub(talker[number]);
        if flow.deadline.is_some_and(|deadline| latency > deadline) {
            faults.push(Fault::TooLate { flow: flow_index, hop: hop_index, latency });
        }
    }
}

/// A window laid out on a link, or a stay in a queue.
#[derive(Clone, Copy)]
struct Laid {
    begin: u128,
    end: u128,
    flow: usize,
    period: u128,
}

fn check_link(problem: &Problem, link: usize, windows: &[Laid], faults: &mut Vec<Fault>) {
    let Some((laid, common)) = laid_out(windows, problem.links[link].room.map(|room| room.cycle)) else {
        faults.push(Fault::TooLong { link });
        return;
    };
    check_room(problem, link, &laid, faults);
    check_overlaps(&laid, common, faults, |first, second, at| Fault::Overlap { link, first, second, at });
}

/// All windows of a common period in order, and that period; none if it is too long.
fn laid_out(windows: &[Laid], cycle: Option<Duration>) -> Option<(Vec<Laid>, u128)> {
    let mut periods: Vec<u128> = windows.iter().map(|window| window.period).collect();
    periods.extend(cycle.map(|cycle| u128::from(cycle.as_ps())));
    periods.sort_unstable();
    periods.dedup();
    let common = periods.into_iter().try_fold(1, common_multiple)?;
    if windows.iter().map(|window| common / window.period).sum::<u128>() > WINDOWS_MAX {
        return None;
    }
    let mut laid: Vec<Laid> = Vec::new();
    for window in windows {
        for turn in 0..common / window.period {
            let begin = (window.begin + turn * window.period) % common;
            laid.push(Laid { begin, end: begin + (window.end - window.begin), ..*window });
        }
    }
    laid.sort_by_key(|window| (window.begin, window.flow));
    Some((laid, common))
}

fn check_room(problem: &Problem, link: usize, laid: &[Laid], faults: &mut Vec<Fault>) {
    let Some(room) = problem.links[link].room.filter(|room| !room.length.is_zero()) else { return };
    let cycle = u128::from(room.cycle.as_ps());
    let open = cycle - u128::from(room.length.as_ps());
    for window in laid {
        if window.begin % cycle + (window.end - window.begin) > open {
            faults.push(Fault::InRoom { link, flow: window.flow, at: shown(window.begin) });
        }
    }
}

fn check_overlaps(
    laid: &[Laid],
    common: u128,
    faults: &mut Vec<Fault>,
    fault: impl Fn(usize, usize, Duration) -> Fault,
) {
    // The window that ends last so far; the last of all reaches into the next common period.
    let Some(last) = laid.iter().max_by_key(|window| window.end) else { return };
    let (mut end, mut flow) = (last.end.saturating_sub(common), last.flow);
    for window in laid {
        if window.begin < end {
            faults.push(fault(flow, window.flow, shown(window.begin)));
        }
        if window.end > end {
            (end, flow) = (window.end, window.flow);
        }
    }
}

fn shown(ps: u128) -> Duration {
    Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// The least common multiple by counting up, which needs no divisor; periods are few and alike. None if it is
/// too long to be laid out.
fn common_multiple(a: u128, b: u128) -> Option<u128> {
    let (short, long) = (a.min(b), a.max(b));
    (1..=WINDOWS_MAX.min(100_000)).map(|times| long * times).find(|multiple| multiple % short == 0)
}
