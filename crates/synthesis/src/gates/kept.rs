//! The windows of streams that run already: the dispatch instants that follow from their offsets and the lists of their ports.

use tautwire_core::gates::Openings;
use tautwire_model::Network;
use tautwire_model::gates::PortGates;
use tautwire_model::network::{Stream, Traffic};
use tautwire_units::{Duration, Instant};

use super::Gated;
use crate::check::check;
use crate::schedule::{Kept, Schedule};

/// The instants of all streams that state an offset.
///
/// # Errors
/// The streams whose gates do not hold them, each a sentence.
pub(super) fn kept(network: &Network, described: &Gated) -> Result<Kept, Vec<String>> {
    let (mut kept, mut reasons) = (Kept::default(), Vec::new());
    for (flow, number) in described.streams.iter().enumerate() {
        let stream = &network.streams[number.index()];
        if stream.open_phase {
            continue;
        }
        match instants(network, described, flow) {
            Ok(instants) => drop(kept.insert(flow, instants)),
            Err(link) => {
                let port = &described.problem.links[link].name;
                reasons.push(format!(
                    "the gates of {port} do not hold `{}`, which is to stay where it is",
                    stream.name
                ));
            }
        }
    }
    let dispatch = (0..described.streams.len()).map(|flow| kept.get(&flow).cloned()).collect();
    let faults = check(&described.problem, &Schedule { dispatch });
    if let Some(fault) = faults.first() {
        let names: Vec<&str> = described.problem.flows.iter().map(|flow| flow.name.as_str()).collect();
        reasons
            .push(format!("streams that are to stay where they are, of {}, meet: {fault}", names.join(", ")));
    }
    if reasons.is_empty() { Ok(kept) } else { Err(reasons) }
}

/// Dispatch instants at each hop of a flow: the first at which its frame is there and its gate is open for it.
///
/// # Errors
/// The link whose gates hold it nowhere.
fn instants(network: &Network, described: &Gated, flow: usize) -> Result<Vec<Duration>, usize> {
    let described_flow = &described.problem.flows[flow];
    let stream = &network.streams[described.streams[flow].index()];
    let mut found: Vec<Duration> = Vec::new();
    for (number, hop) in described_flow.hops.iter().enumerate() {
        let ready = match (hop.previous, described_flow.after(number, described.problem.precision)) {
            (Some(previous), Some(after)) => found[previous] + after.min,
            _ => described.dispatch(flow, offset(stream)),
        };
        let open = described.open[flow][number];
        let at = match (network.gates(described.ports[hop.link]), &described.gates[hop.link]) {
            (Some(gates), Some(_)) => {
                let node = network.ports[described.ports[hop.link].index()].node;
                first_open(
                    (gates, network.first_reading(node)),
                    stream.hops[number].class.index(),
                    ready,
                    open,
                )
            }
            // A port without gates is always open, whether it is to get some or not.
            _ => Some(ready),
        };
        let at = at.filter(|at| hop.previous.is_some() || *at == ready).ok_or(hop.link)?;
        found.push(at);
    }
    Ok(found)
}

fn offset(stream: &Stream) -> Duration {
    match stream.traffic {
        Traffic::Periodic { offset, .. } => offset,
        _ => Duration::ZERO,
    }
}

/// The first instant from one on at which a gate is open for a time; none if there is none.
fn first_open(
    (gates, reading): (&PortGates, Duration),
    class: usize,
    ready: Duration,
    open: Duration,
) -> Option<Duration> {
    let cycle = gates.parameters.cycle_time;
    let intervals = match gates.parameters.openings(class) {
        Openings::Always => return Some(ready),
        Openings::Never => return None,
        Openings::In(intervals) if cycle.denominator() == 1 => intervals,
        Openings::In(_) => return None,
    };
    let cycle = cycle.floor();
    // When a cycle begins, true time.
    let base = gates.parameters.base_time.since(Instant::ZERO);
    let begins = (base % cycle + cycle - reading % cycle) % cycle;
    let within = (ready + cycle - begins) % cycle;
    // Intervals may begin in the cycle before, and end in the next one.
    let all = (0..3_u64).flat_map(|turn| intervals.iter().map(move |one| (turn, one)));
    let starts = all.filter_map(|(turn, one)| {
        let begin = one.open + cycle * turn;
        let end = one.close + cycle * turn;
        let at = begin.max(within + cycle);
        (at + open <= end).then_some(at)
    });
    let at = starts.min()?;
    Some(ready + (at - (within + cycle)))
}
