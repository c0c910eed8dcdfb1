//! Schedules of scheduled traffic (IEEE Std 802.1Q-2022, 8.6.8.4): offsets of time-aware talkers, and lists of gates.
//!
//! `describe.rs` makes a [`Problem`] of the network, the searches of this crate solve it, and `lists.rs` makes the lists
//! of its ports; `kept.rs` finds the windows of streams that stay where they are. In its queue a frame is alone, so that
//! a lost frame gives its window to no other one. Not here: the proof that the network with these lists keeps its
//! deadlines (`tautwire-analysis`).

mod describe;
mod kept;
mod lists;

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::gates::PortGates;
use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_units::Duration;

pub use self::describe::Gated;
use crate::check::{Fault, check};
use crate::conflict::{FlowConflict, conflict};
use crate::exact::{Outcome, exact_with, is_overloaded};
use crate::first_fit::first_fit_with;
use crate::network::{HOPS_MAX, STEPS_MAX, Verdict};
use crate::outside::{Search, checked, question};
use crate::problem::{Problem, Room};
use crate::schedule::{Kept, Schedule};

/// How often rooms are made for other traffic.
const ROUNDS_MAX: usize = 4;

/// Requirements on a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateOptions {
    /// Most difference of two clocks that windows must allow for.
    pub precision: Duration,
    /// Whether streams with an offset, and their windows, stay where they are.
    pub keep: bool,
}

/// A schedule of the time-aware streams of a network.
#[derive(Clone, Debug)]
pub struct GateSchedule {
    /// How the search ended.
    pub verdict: Verdict,
    /// The solved problem.
    pub described: Gated,
    /// The schedule; without some streams unless all are scheduled.
    pub schedule: Schedule,
    /// The network with its offsets and gates.
    pub network: Network,
    /// Why a stream was left out, if one was.
    pub conflict: Option<FlowConflict>,
}

impl GateSchedule {
    /// The offset of each flow; none if it was left out.
    #[must_use]
    pub fn offsets(&self) -> Vec<(StreamIndex, Option<Duration>)> {
        let offset = |(flow, stream): (usize, &StreamIndex)| {
            let dispatch = self.schedule.dispatch[flow].as_ref();
            (*stream, dispatch.map(|dispatch| self.described.offset(flow, dispatch[0])))
        };
        self.described.streams.iter().enumerate().map(offset).collect()
    }
}

/// Searches for offsets and gates of all time-aware streams of a network; none if it has no such streams. Offsets and
/// gates that the description states are ignored, unless they are to be kept.
///
/// # Errors
/// Why no gates can be found for this network, each a sentence.
///
/// # Panics
/// If the checker finds a fault in the result: a fault of this crate.
pub fn schedule_gates(network: &Network, options: &GateOptions) -> Option<Result<GateSchedule, Vec<String>>> {
    Some(Gated::new(network, options)?.and_then(|described| {
        let kept = if options.keep { kept::kept(network, &described)? } else { Kept::default() };
        found(network, described, &kept)
    }))
}

/// The same by a search outside of this crate, which may find none of what it is asked.
///
/// # Errors
/// As [`schedule_gates`]; or why what the search found is no schedule.
pub fn schedule_gates_by(
    network: &Network,
    options: &GateOptions,
    search: &mut Search<'_>,
) -> Option<Result<GateSchedule, Vec<String>>> {
    Some(Gated::new(network, options)?.and_then(|described| {
        let kept = if options.keep { kept::kept(network, &described)? } else { Kept::default() };
        found_by(network, described, &kept, search)
    }))
}

/// Asks a search until its lists have an interval for the largest frame of other classes, wherever that is in the cycle.
fn found_by(
    network: &Network,
    described: Gated,
    kept: &Kept,
    search: &mut Search<'_>,
) -> Result<GateSchedule, Vec<String>> {
    let mut rooms: BTreeMap<usize, Room> = BTreeMap::new();
    loop {
        let asked = question(&described.problem, kept, &rooms);
        let answer = checked(&asked, search(&asked)).map_err(|why| vec![why])?;
        let lists = lists::lists(network, &described, &answer.schedule)?;
        let mut is_new = false;
        for (link, room) in lists.crowded {
            let of_all = described.whole_cycle(link).ok_or_else(|| {
                vec![format!("the cycle of {} is too long", described.problem.links[link].name)]
            })?;
            let before = rooms.get(&link).map_or(Duration::ZERO, |before| before.length);
            if room.length > before {
                rooms.insert(link, Room { cycle: of_all, length: room.length });
                is_new = true;
            }
        }
        if !is_new {
            return Ok(with_lists(
                network,
                described,
                (answer.verdict, answer.schedule, lists.gates),
                answer.conflict,
            ));
        }
    }
}

fn found(network: &Network, mut described: Gated, kept: &Kept) -> Result<GateSchedule, Vec<String>> {
    let (verdict, schedule, gates) = with_rooms(network, &mut described, kept)?;
    let left_out = schedule.dispatch.iter().position(Option::is_none);
    let conflict = left_out.map(|flow| conflict_of(network, &described, &schedule, kept, flow));
    Ok(with_lists(network, described, (verdict, schedule, gates), conflict))
}

/// The network with the offsets and lists of a schedule.
fn with_lists(
    network: &Network,
    described: Gated,
    (verdict, schedule, gates): WithGates,
    conflict: Option<FlowConflict>,
) -> GateSchedule {
    let found = GateSchedule { verdict, described, schedule, network: network.clone(), conflict };
    let offsets: Vec<(StreamIndex, Duration)> =
        found.offsets().into_iter().filter_map(|(stream, offset)| Some((stream, offset?))).collect();
    GateSchedule { network: network.with_gates(gates, &offsets), ..found }
}

/// How a search ended, its schedule, and the gates of that.
type WithGates = (Verdict, Schedule, Vec<(PortIndex, PortGates)>);

/// A schedule and its gates, with the rooms that other traffic needs.
///
/// Rooms are at the ends of cycles, where they need not be: that a search finds none with them there proves nothing, unless there is none without
/// them or a line has no time for all.
fn with_rooms(network: &Network, described: &mut Gated, kept: &Kept) -> Result<WithGates, Vec<String>> {
    let mut is_impossible = false;
    for round in 0..ROUNDS_MAX {
        let (verdict, schedule) = solve(&described.problem, kept);
        is_impossible |= verdict == Verdict::Impossible && (round == 0 || is_overloaded(&described.problem));
        let verdict = match verdict {
            Verdict::Impossible if !is_impossible => Verdict::LeftOut,
            verdict => verdict,
        };
        let lists = lists::lists(network, described, &schedule)?;
        if lists.crowded.is_empty() {
            return Ok((verdict, schedule, lists.gates));
        }
        // Room for the largest frame of other classes, whose queue would else be blocked for ever: also where a stream was left out.
        for (link, room) in lists.crowded {
            described.problem.links[link].room = Some(room);
        }
    }
    Err(vec!["no interval is left for the largest frames of other classes".to_owned()])
}

/// The least conflict of a flow that was left out. Some of the flows may need room for other traffic where all of them did not come so far.
fn conflict_of(
    network: &Network,
    described: &Gated,
    schedule: &Schedule,
    kept: &Kept,
    flow: usize,
) -> FlowConflict {
    conflict(&described.problem, schedule, flow, |flows| {
        let renumbered = flows.iter().enumerate();
        let kept = renumbered.filter_map(|(new, flow)| Some((new, kept.get(flow)?.clone())));
        let found = with_rooms(network, &mut described.of_flows(flows), &kept.collect());
        found.map_or(Verdict::LeftOut, |(verdict, ..)| verdict)
    })
}

/// A schedule, and whether it has all flows.
fn solve(problem: &Problem, kept: &Kept) -> (Verdict, Schedule) {
    let placement = first_fit_with(problem, kept);
    let hops: usize = problem.flows.iter().map(|flow| flow.hops.len()).sum();
    let (verdict, schedule) = if placement.left_out.is_empty() {
        (Verdict::Scheduled, placement.schedule)
    } else if hops > HOPS_MAX {
        (Verdict::LeftOut, placement.schedule)
    } else {
        match exact_with(problem, kept, STEPS_MAX) {
            Outcome::Found(schedule) => (Verdict::Scheduled, schedule),
            Outcome::Impossible => (Verdict::Impossible, placement.schedule),
            Outcome::Undecided => (Verdict::LeftOut, placement.schedule),
        }
    };
    assert_holds(problem, &schedule);
    (verdict, schedule)
}

fn assert_holds(problem: &Problem, schedule: &Schedule) {
    let faults = check(problem, schedule);
    let wrong = faults.iter().any(|fault| !matches!(fault, Fault::TooLong { .. }));
    assert!(!wrong, "the schedule found is none: {}", faults[0]);
}
