//! Dispatch instants of every hop, and what follows from them.

use std::collections::BTreeMap;

use tautwire_units::Duration;

use crate::problem::Problem;

/// Dispatch instants that stay as they are, by flow.
pub type Kept = BTreeMap<usize, Vec<Duration>>;

/// When each frame leaves each port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Of every flow, the dispatch instant of the frame of period zero at each of its hops. At the talker
    /// it is below the period; behind it, it goes on counting: the frame is the same. None: the flow is not in the schedule.
    pub dispatch: Vec<Option<Vec<Duration>>>,
}

/// When the last bit of a frame may arrive at the far end of a hop, by the clock there; both
/// belong to it. The frame of period *k* comes *k* periods later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptanceWindow {
    /// Earliest; zero if it would be before zero.
    pub begin: Duration,
    /// Latest.
    pub end: Duration,
}

impl Schedule {
    /// Dispatch instant within the period: what a port's table holds.
    #[must_use]
    pub fn offset(&self, problem: &Problem, flow: usize, hop: usize) -> Option<Duration> {
        let dispatch = self.dispatch[flow].as_ref()?[hop];
        Some(dispatch % problem.flows[flow].period)
    }

    /// When the frame may arrive behind a hop, by the clock there.
    #[must_use]
    pub fn acceptance(&self, problem: &Problem, flow: usize, hop: usize) -> Option<AcceptanceWindow> {
        let dispatch = self.dispatch[flow].as_ref()?[hop];
        let arrival = problem.flows[flow].hops[hop].arrival;
        Some(AcceptanceWindow {
            begin: (dispatch + arrival.min).saturating_sub(problem.precision),
            end: dispatch + arrival.max + problem.precision,
        })
    }

    /// Longest time from the dispatch at the talker to the last bit behind a hop.
    #[must_use]
    pub fn latency_max(&self, problem: &Problem, flow: usize, hop: usize) -> Option<Duration> {
        let dispatch = self.dispatch[flow].as_ref()?;
        let flow = &problem.flows[flow];
        Some(dispatch[hop] - dispatch[flow.root(hop)] + flow.tail(hop, problem.precision))
    }

    /// Number of flows in it.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.dispatch.iter().flatten().count()
    }
}
