//! A least set of flows that a search does not place together, in general with one that it left out.
//!
//! Flows are taken away, many at once and then fewer, as long as the search still fails; what is left needs each of its
//! flows for that. The one that was left out is taken away last, and only if it is proven that the others fail without it. Where the complete search
//! decided, the conflict is proven; else it is what the search could not do.

use crate::network::Verdict;
use crate::problem::Problem;
use crate::schedule::Schedule;

/// Most searches for a conflict.
const SEARCHES_MAX: u32 = 400;

/// Flows of which one finds no place with the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowConflict {
    /// Them, in order. The one that was left out is among them, unless the others have no schedule without it either.
    pub flows: Vec<usize>,
    /// Whether it is proven that no schedule has all of them.
    pub is_proven: bool,
}

/// The least conflict of a flow that was left out, by a search of some flows of a problem, given by their numbers.
pub(crate) fn conflict(
    problem: &Problem,
    schedule: &Schedule,
    left_out: usize,
    solve: impl Fn(&[usize]) -> Verdict,
) -> FlowConflict {
    let mut searches = 0;
    let mut fails = |flows: &[usize]| {
        searches += 1;
        (searches <= SEARCHES_MAX).then(|| solve(flows)).filter(|it| *it != Verdict::Scheduled)
    };
    let placed: Vec<usize> = (0..problem.flows.len())
        .filter(|flow| schedule.dispatch[*flow].is_some() || *flow == left_out)
        .collect();
    // Those that it meets are mostly enough.
    let own = &problem.flows[left_out].hops;
    let meets = |flow: &usize| {
        problem.flows[*flow].hops.iter().any(|hop| own.iter().any(|mine| mine.link == hop.link))
    };
    let near: Vec<usize> = placed.iter().copied().filter(meets).collect();
    let (mut flows, mut verdict) = match fails(&near) {
        Some(verdict) => (near, verdict),
        None => {
            let verdict = fails(&placed).unwrap_or(Verdict::LeftOut);
            (placed, verdict)
        }
    };
    let mut chunk = flows.len().div_ceil(2).max(1);
    loop {
        let (mut at, before) = (0, flows.len());
        while at < flows.len() {
            let end = (at + chunk).min(flows.len());
            let rest: Vec<usize> = flows
                .iter()
                .enumerate()
                .filter(|(place, flow)| !(at..end).contains(place) || **flow == left_out)
                .map(|(_, flow)| *flow)
                .collect();
            if rest.len() == flows.len() {
                at = end;
                continue;
            }
            match fails(&rest) {
                Some(found) => (flows, verdict) = (rest, found),
                None => at = end,
            }
        }
        // One that was needed may not be with fewer of the others: a search that is not complete may fail with less, too.
        if chunk == 1 && flows.len() == before {
            break;
        }
        chunk = chunk.div_ceil(2);
    }
    let rest: Vec<usize> = flows.iter().copied().filter(|flow| *flow != left_out).collect();
    if !rest.is_empty() && fails(&rest) == Some(Verdict::Impossible) {
        return least_impossible(rest, fails);
    }
    FlowConflict { flows, is_proven: verdict == Verdict::Impossible }
}

/// The least set of some flows that is proven to have no schedule.
fn least_impossible(
    mut flows: Vec<usize>,
    mut fails: impl FnMut(&[usize]) -> Option<Verdict>,
) -> FlowConflict {
    let mut at = 0;
    while at < flows.len() {
        let mut rest = flows.clone();
        rest.remove(at);
        match fails(&rest) {
            Some(Verdict::Impossible) => flows = rest,
            _ => at += 1,
        }
    }
    FlowConflict { flows, is_proven: true }
}
