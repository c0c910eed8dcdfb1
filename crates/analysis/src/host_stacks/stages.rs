//! Stages of a host that flows pass one after the other, and what waits before them.

use tautwire_model::Network;
use tautwire_model::network::{HostInterface, HostStacks, NodeIndex, Pace, ReceptionOrder, StackPart};

use super::flow::{Flow, delay, group, grown, span, tail_max};
use super::server::serve;

pub(super) fn read_clock(stacks: &HostStacks, flows: &mut [Flow]) {
    let all: Vec<usize> = (0..flows.len()).collect();
    delay(flows, &all, |flow| span(&stacks.clock_read, flow));
}

/// Flows pass the threads of their stacks; `others` come to the threads with frames that nothing is known of.
pub(super) fn threads(stacks: &HostStacks, flows: &mut [Flow], others: &[u32]) {
    for (number, thread) in stacks.threads.iter().enumerate() {
        let is_here =
            |flow: &Flow| stacks.stacks[flow.stack].thread.is_some_and(|one| one as usize == number);
        let here = group(flows, is_here);
        let wake = here
            .iter()
            .map(|flow| span(&thread.wake_up, &flows[*flow]).1 + tail_max(thread.tail, &flows[*flow]));
        let wake = wake.max().unwrap_or(0);
        let takes_time = wake > 0 || here.iter().any(|flow| span(&thread.service, &flows[*flow]).1 > 0);
        if takes_time && others.iter().any(|other| *other as usize == number) {
            here.iter().for_each(|flow| flows[*flow].bucket = None);
        }
        let frames =
            waiting(flows, &here, |flows| serve(flows, &here, |flow| span(&thread.service, flow), wake));
        for (flow, frames) in here.iter().zip(frames) {
            flows[*flow].waiting = frames;
        }
    }
}

/// Most frames of each flow that wait before a part, on which the time of the part depends; none: no bound.
pub(super) fn waiting(
    flows: &mut [Flow],
    group: &[usize],
    pass: impl FnOnce(&mut [Flow]) -> bool,
) -> Vec<Option<u64>> {
    let before: Vec<_> = group.iter().map(|flow| (flows[*flow].bucket, flows[*flow].max)).collect();
    let takes_time = pass(flows);
    let of = |flow: &Flow, bucket: Option<(u64, u64)>, max: u64| {
        if !takes_time {
            return Some(1);
        }
        let (rate, burst) = flow.bucket.and(bucket)?;
        Some(grown(burst, rate, flow.max.saturating_sub(max)) / flow.least_bits.max(1))
    };
    group.iter().zip(before).map(|(flow, (bucket, max))| of(&flows[*flow], bucket, max)).collect()
}

/// Frames that wait for a receiving interface beyond its ring: of all, or of those of a class. No more come than the lines carry.
pub(super) fn beyond_ring(
    network: &Network,
    node: NodeIndex,
    (flows, group): (&mut [Flow], &[usize]),
    frames: &[Option<u64>],
    interface: &HostInterface,
) {
    let stay = |flow: &Flow| span(&interface.receive, flow).1;
    let ports = network.nodes[node.index()].ports.clone();
    let lines = ports.filter_map(|port| network.ports[port as usize].links);
    let rates: Vec<u64> = lines.map(|links| network.links[links.ingress.index()].rate.as_bps()).collect();
    let needs: Vec<Option<u64>> = group
        .iter()
        .map(|own| {
            let apart = interface.reception_order == ReceptionOrder::Classes;
            let with = |other: &usize| !apart || flows[*other].class == flows[*own].class;
            let competing = || group.iter().zip(frames).filter(|(other, _)| with(other));
            let sum = competing().try_fold(0_u64, |sum, (_, frames)| Some(sum.saturating_add((*frames)?)))?;
            let least = competing().map(|(other, _)| flows[*other].least_bits).min().unwrap_or(1).max(1);
            let longest = competing().map(|(other, _)| flows[*other].octets.1.get()).max().unwrap_or(0);
            // While all of these are brought in, one after the other.
            let service = competing().map(|(other, _)| stay(&flows[*other])).max().unwrap_or(0);
            let by_lines = rates.iter().map(|rate| 1 + grown(0, *rate, service.saturating_mul(sum)) / least);
            let most = sum.min(by_lines.sum());
            Some(most.saturating_sub(u64::from(interface.receive_ring)).saturating_mul(longest))
        })
        .collect();
    for (flow, needs) in group.iter().zip(needs) {
        flows[*flow].beyond_ring = needs;
    }
}

/// Flows pass the parts of their stacks.
pub(super) fn parts<'stacks>(
    stacks: &'stacks HostStacks,
    flows: &mut [Flow],
    list: impl Fn(usize) -> &'stacks Vec<StackPart>,
) {
    for stack in 0..stacks.stacks.len() {
        let here = group(flows, |flow| flow.stack == stack);
        for part in list(stack) {
            serve(flows, &here, |flow| (0, span(&part.occupancy, flow).1), 0);
            // It keeps the order: a small frame may wait for a large one.
            let most = here.iter().map(|flow| span(&part.latency, &flows[*flow]).1).max().unwrap_or(0);
            delay(flows, &here, |flow| (span(&part.latency, flow).0, most));
        }
    }
}

pub(super) fn longest(pace: Pace) -> u64 {
    pace.bulk.map_or(pace.interval, |bulk| bulk.interval.max(pace.interval)).as_ps()
}
