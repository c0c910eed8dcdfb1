//! From a network's time-triggered virtual links to a problem, and from a schedule to dispatch points.
//!
//! The margins are those of [`Timing`]: how late a frame may begin, the tolerances of the clocks, stages of devices,
//! the precision. A raster's time for other traffic is the room of every link. A deadline counts from the application:
//! an application that runs free waits up to a period for its dispatch point, one that is locked is assumed to hand
//! its frames over in time.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::{
    DelayRange, Distribution, NodeKind, PortIndex, Stream, StreamIndex, frame_length,
};
use tautwire_model::time_triggered::{Release, TimeTriggeredLink, Timing};
use tautwire_units::Duration;

use crate::check::{Fault, check};
use crate::exact::{Outcome, exact};
use crate::first_fit::first_fit;
use crate::outside::{Search, checked, question};
use crate::problem::{Flow, Hop, Link, Problem, Room};
use crate::schedule::{Kept, Schedule};

/// Steps that the complete search may take where first fit leaves flows out.
pub(crate) const STEPS_MAX: u64 = 20_000;
/// Most hops that the complete search is tried with.
pub(crate) const HOPS_MAX: usize = 60;

/// A network's links as a problem.
#[derive(Clone, Debug)]
pub struct Described {
    /// The problem; its flows are the network's time-triggered virtual links, in order.
    pub problem: Problem,
    /// The stream of every flow.
    pub streams: Vec<StreamIndex>,
    /// The port that every link leaves from.
    pub ports: Vec<PortIndex>,
}

/// How the search for a schedule ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All links are scheduled.
    Scheduled,
    /// There is no schedule of all links: proven by complete search.
    Impossible,
    /// Some links were left out, and it is not known whether they must be.
    LeftOut,
}

/// A schedule of a network.
#[derive(Clone, Debug)]
pub struct NetworkSchedule {
    /// How the search ended.
    pub verdict: Verdict,
    /// The solved problem.
    pub described: Described,
    /// The schedule; without some links unless all are scheduled.
    pub schedule: Schedule,
}

impl Described {
    /// The problem of a network; none if it has no time-triggered traffic.
    #[must_use]
    pub fn new(network: &Network) -> Option<Self> {
        let timing = Timing::new(network)?;
        let settings = network.time_triggered?;
        let room = settings
            .raster
            .map(|raster| Room { cycle: raster.cycle, length: raster.cycle.saturating_sub(raster.window) });
        let mut place = vec![None; network.ports.len()];
        let mut described = Self { problem: Problem::default(), streams: Vec::new(), ports: Vec::new() };
        described.problem.precision = settings.precision;
        for (number, stream) in network.streams.iter().enumerate() {
            let Some(link) = &stream.time_triggered else { continue };
            for hop in &stream.hops {
                place[hop.port.index()].get_or_insert_with(|| {
                    described.ports.push(hop.port);
                    let port = &network.ports[hop.port.index()];
                    let name = format!("{}:{}", network.nodes[port.node.index()].name, port.name);
                    described.problem.links.push(Link { name, room });
                    described.ports.len() - 1
                });
            }
            described.problem.flows.push(flow(network, &timing, stream, link, &place));
            described.streams.push(StreamIndex::at(number));
        }
        Some(described)
    }

    /// The dispatch points of a schedule, as [`Network::with_dispatch_offsets`] takes them.
    #[must_use]
    pub fn offsets(&self, schedule: &Schedule) -> Vec<(StreamIndex, Vec<Duration>)> {
        let found = self.streams.iter().zip(&schedule.dispatch);
        found.filter_map(|(stream, dispatch)| Some((*stream, dispatch.clone()?))).collect()
    }
}

fn flow(
    network: &Network,
    timing: &Timing<'_>,
    stream: &Stream,
    link: &TimeTriggeredLink,
    place: &[Option<usize>],
) -> Flow {
    let range = |span: tautwire_model::time_triggered::Span| DelayRange { min: span.min, max: span.max };
    let hop = |(number, hop): (usize, &tautwire_model::network::Hop)| {
        let previous = hop.previous.map(|previous| previous as usize);
        Hop {
            link: place[hop.port.index()].expect("the ports of its hops are known"),
            previous,
            window: timing.slot_length(stream, number),
            arrival: range(timing.to_end(stream, number)),
            ready: previous
                .map_or_else(DelayRange::default, |previous| range(timing.to_buffer(stream, previous))),
            queue: None,
        }
    };
    let waits = match link.release {
        Release::Free => link.period,
        Release::Locked => Duration::ZERO,
    };
    let waits = waits + handed_over_within(network, stream);
    Flow {
        name: stream.name.clone(),
        period: link.period,
        deadline: stream.deadline.map(|deadline| deadline.saturating_sub(waits)),
        start: DelayRange { min: Duration::ZERO, max: link.period - Duration::from_ps(1) },
        hops: stream.hops.iter().enumerate().map(hop).collect(),
    }
}

/// From the application to the place from which the talker dispatches, at most.
fn handed_over_within(network: &Network, stream: &Stream) -> Duration {
    let NodeKind::EndStation { host } = network.nodes[stream.talker.index()].kind else {
        return Duration::ZERO;
    };
    let delay = network.hosts[host.index()].transmit;
    let random = match delay.random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { max, .. } | Distribution::Normal { max, .. } => max,
    };
    let octets = frame_length(stream.payload_max, stream.tagged).get();
    (delay.constant + delay.per_octet * octets).saturating_sub(delay.less) + random
}

/// Searches for a schedule of all time-triggered virtual links of a network; none if it has no such traffic. Offsets
/// that the description states are ignored.
///
/// First fit; where that leaves links out of a small set, complete search.
///
/// # Panics
/// If the checker finds a fault in the result: a fault of this crate.
#[must_use]
pub fn schedule(network: &Network) -> Option<NetworkSchedule> {
    let described = Described::new(network)?;
    let placement = first_fit(&described.problem);
    let hops: usize = described.problem.flows.iter().map(|flow| flow.hops.len()).sum();
    let (verdict, schedule) = if placement.left_out.is_empty() {
        (Verdict::Scheduled, placement.schedule)
    } else if hops > HOPS_MAX {
        (Verdict::LeftOut, placement.schedule)
    } else {
        match exact(&described.problem, STEPS_MAX) {
            Outcome::Found(schedule) => (Verdict::Scheduled, schedule),
            Outcome::Impossible => (Verdict::Impossible, placement.schedule),
            Outcome::Undecided => (Verdict::LeftOut, placement.schedule),
        }
    };
    let faults = check(&described.problem, &schedule);
    let wrong = faults.iter().any(|fault| !matches!(fault, Fault::TooLong { .. }));
    assert!(!wrong, "the schedule found is none: {}", faults[0]);
    Some(NetworkSchedule { verdict, described, schedule })
}

/// The same by a search outside of this crate.
///
/// # Errors
/// Its schedule is none: a sentence.
pub fn schedule_by(network: &Network, search: &mut Search<'_>) -> Option<Result<NetworkSchedule, String>> {
    let described = Described::new(network)?;
    let asked = question(&described.problem, &Kept::default(), &BTreeMap::new());
    let answer = search(&asked);
    Some(checked(&asked, answer).map(|answer| NetworkSchedule {
        verdict: answer.verdict,
        described,
        schedule: answer.schedule,
    }))
}
