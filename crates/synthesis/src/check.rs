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
    /// The talker dispatches behind its period.
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
    /// A window reaches into what is kept for other traffic.
    InRoom {
        /// Link.
        link: usize,
        /// Flow.
        flow: usize,
        /// When the window begins.
        at: Duration,
    },
    /// The common period of a link's flows is too long to be laid out: the link is not checked.
    TooLong {
        /// Link.
        link: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => write!(f, "not the flows and hops of the problem"),
            Self::BehindPeriod { flow, hop } => write!(f, "flow {flow}, hop {hop}: behind the period"),
            Self::Apart { flow, hop } => write!(f, "flow {flow}, hop {hop}: apart from the first"),
            Self::TooEarly { flow, hop, ready } => write!(f, "flow {flow}, hop {hop}: before {ready}"),
            Self::HeldTooLong { flow, hop } => {
                write!(f, "flow {flow}, hop {hop}: the next frame may come first")
            }
            Self::TooLate { flow, hop, latency } => write!(f, "flow {flow}, hop {hop}: latency {latency}"),
            Self::Overlap { link, first, second, at } => {
                write!(f, "link {link}: flows {first} and {second} overlap at {at}")
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
    for link in 0..problem.links.len() {
        check_link(problem, schedule, link, &mut faults);
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
                if *at >= flow.period {
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
                if *at + problem.precision > next {
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

/// A window laid out on a link.
struct Laid {
    begin: u128,
    end: u128,
    flow: usize,
}

fn check_link(problem: &Problem, schedule: &Schedule, link: usize, faults: &mut Vec<Fault>) {
    let windows: Vec<(usize, u128, u128, u128)> = problem
        .flows
        .iter()
        .zip(&schedule.dispatch)
        .enumerate()
        .filter_map(|(index, (flow, dispatch))| {
            let hop = flow.hops.iter().position(|hop| hop.link == link)?;
            let at = dispatch.as_ref()?[hop];
            let ps = |span: Duration| u128::from(span.as_ps());
            Some((index, ps(at), ps(flow.hops[hop].window), ps(flow.period)))
        })
        .collect();
    let room = problem.links[link].room;
    let mut periods = windows.iter().map(|window| window.3).chain(room.map(|room| room.cycle.as_ps().into()));
    let common = periods.try_fold(1, common_multiple);
    let count = |common: u128| windows.iter().map(|window| common / window.3).sum::<u128>();
    let Some(common) = common.filter(|common| count(*common) <= WINDOWS_MAX) else {
        faults.push(Fault::TooLong { link });
        return;
    };
    let mut laid: Vec<Laid> = Vec::new();
    for (flow, at, length, period) in windows {
        for turn in 0..common / period {
            let begin = (at + turn * period) % common;
            laid.push(Laid { begin, end: begin + length, flow });
        }
    }
    laid.sort_by_key(|window| (window.begin, window.flow));
    check_room(problem, link, &laid, faults);
    check_overlaps(link, &laid, common, faults);
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

fn check_overlaps(link: usize, laid: &[Laid], common: u128, faults: &mut Vec<Fault>) {
    // The window that ends last so far; the last of all reaches into the next common period.
    let Some(last) = laid.iter().max_by_key(|window| window.end) else { return };
    let (mut end, mut flow) = (last.end.saturating_sub(common), last.flow);
    for window in laid {
        if window.begin < end {
            faults.push(Fault::Overlap { link, first: flow, second: window.flow, at: shown(window.begin) });
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
