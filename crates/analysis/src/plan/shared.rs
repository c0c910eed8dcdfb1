//! What the streams that run have in common: hosts, schedulers, the frames of a port.
//!
//! Each function computes one of these anew from the running streams, and returns whether it has changed.

use tautwire_model::network::{NodeKind, Scheduler, SchedulerGroup, Traffic};
use tautwire_units::Bytes;

use super::frame::{frames, ps_ceil, ps_floor, wire};
use super::{GroupPlan, NONE, Plan};
use crate::delay::{Row, delay_max};
use crate::timeline::{ShaperRange, fill};
use crate::virtual_link::LinkPlan;

/// A scheduler that no event changes.
pub(super) fn constant(scheduler: &Scheduler) -> ShaperRange {
    let rate = scheduler.committed_information_rate.as_bps();
    let burst = scheduler.committed_burst_size.get();
    ShaperRange {
        rate_min: rate,
        rate_max: rate,
        burst_min: burst,
        fill_min: fill(rate, burst),
        burst_sum: burst,
        constant: true,
        deviation_ppb: scheduler.clock_rate_deviation_max_ppb,
    }
}

/// A group without entries.
pub(super) fn group(group: &SchedulerGroup) -> GroupPlan {
    let residence_max = group.max_residence_time.map(|time| time.as_ps());
    GroupPlan { entries: Vec::new(), residence_max }
}

impl Plan<'_> {
    /// The longest time of a frame from the application to the port: the host keeps the order of all its frames, so a
    /// small one may wait for a large one.
    pub(super) fn settle_host(&mut self, node: usize) -> bool {
        let network = self.network;
        let NodeKind::EndStation { host } = &network.nodes[node].kind else { return false };
        let transmit = &network.hosts[host.index()].transmit;
        let through = |number: &&u32| self.stream(**number).traffic != Traffic::Protocol;
        let most = self.talks[node].iter().filter(through).map(|number| {
            if let Some(sending) = self.sending(*number) {
                return sending.max.unwrap_or(0);
            }
            let stream = self.stream(*number);
            delay_max(transmit, frames(stream, stream.tagged).1.max(frames(stream, true).1))
        });
        let most = most.max().unwrap_or(0);
        core::mem::replace(&mut self.hosts[node], most) != most
    }

    /// The times of a host for a stream that it sends.
    pub(super) fn settle_talker(&mut self, stream: u32) {
        // Frames of control protocols are made at the interface.
        let by_host = self.stream(stream).traffic != Traffic::Protocol;
        let host = if by_host { self.hosts[self.stream(stream).talker.index()] } else { 0 };
        // Stacks have times for each stream; frames of different threads need not keep their order.
        let own = self.sending(stream).and_then(|sending| sending.max).map_or(host, |most| most.min(host));
        for entry in self.entries_of(stream) {
            let entry = &mut self.entries[entry as usize];
            let node = self.network.ports[entry.port as usize].node;
            if matches!(self.network.nodes[node.index()].kind, NodeKind::EndStation { .. }) {
                entry.own_latency = (own, own);
            }
        }
        let link = self.stream(stream).virtual_link.and_then(|link| {
            let all = &self.sub_links[&link.id];
            let host = (!all.iter().any(|one| self.is_held_up(*one))).then_some(host);
            LinkPlan::new(self.network, stream, all, (host, &self.learned))
        });
        self.links[stream as usize] = link;
    }

    /// The schedulers of a group, as wide as their streams make them.
    pub(super) fn settle_group(&mut self, group: u32) {
        let entries = core::mem::take(&mut self.groups[group as usize].entries);
        for entry in &entries {
            let scheduler = self.entries[*entry as usize].scheduler;
            self.schedulers[scheduler as usize] = constant(self.scheduler(scheduler));
        }
        for entry in &entries {
            self.widen(*entry);
        }
        self.groups[group as usize].entries = entries;
    }

    fn widen(&mut self, entry: u32) {
        let entry = &self.entries[entry as usize];
        let scheduler = self.scheduler(entry.scheduler);
        let rate = scheduler.committed_information_rate.as_bps();
        let burst = scheduler.committed_burst_size.get();
        let node = self.network.ports[entry.port as usize].node;
        let range = self.timeline.shaper(entry.stream, node, rate, burst);
        // Every stream that shares it may change it.
        let unchanged = self.timeline.shaper(NONE, node, rate, burst).burst_sum;
        let changes = range.burst_sum.saturating_sub(unchanged);
        let widest = &mut self.schedulers[entry.scheduler as usize];
        widest.rate_min = widest.rate_min.min(range.rate_min);
        widest.rate_max = widest.rate_max.max(range.rate_max);
        widest.burst_min = widest.burst_min.min(range.burst_min);
        widest.fill_min = widest.fill_min.min(range.fill_min);
        widest.burst_sum = widest.burst_sum.max(unchanged).saturating_add(changes);
        widest.constant &= range.constant;
    }

    /// What of a port depends on the frames that pass it; all its entries then have it, or the `new` one alone where
    /// it is as before.
    pub(super) fn settle_port(&mut self, number: u32, new: Option<u32>) -> bool {
        let network = self.network;
        let Some(plan) = &mut self.ports[number as usize] else { return false };
        let users = self.users[number as usize].all();
        let control = plan.control.map(|(_, _, bits)| Bytes::new(bits / 8) - Bytes::MEDIA_OVERHEAD);
        let at_port = || users.iter().map(|entry| &self.entries[*entry as usize]);
        let frame_max = at_port().map(|entry| entry.frame_max).chain(control).max();
        let frame_min = at_port().map(|entry| entry.frame_min).chain(control).min();
        let (Some(frame_max), Some(frame_min)) = (frame_max, frame_min) else { return false };
        let none = Row::default();
        let node = network.ports[number as usize].node;
        let row = self.rows.transmission(network, node).unwrap_or(&none);
        let too_slow = [frame_min, frame_max]
            .iter()
            .any(|frame| row.occupancy_max(*frame) > ps_floor(wire(*frame), plan.rate));
        let links = network.ports[number as usize].links.expect("a planned port is connected");
        let link = &network.links[links.egress.index()];
        let stage_max = row.latency_max(frame_max);
        let behind = stage_max + link.propagation.as_ps() + link.phy_delay.max.as_ps();
        let jitter = stage_max - row.latency_min(frame_min);
        let changed =
            (plan.stages_too_slow, plan.stages_jitter, plan.behind_max) != (too_slow, jitter, behind);
        (plan.stages_too_slow, plan.stages_jitter, plan.behind_max) = (too_slow, jitter, behind);
        let have_it = if changed { None } else { new };
        for entry in have_it.as_ref().map_or(users, core::slice::from_ref) {
            let entry = &mut self.entries[*entry as usize];
            let sent = |frame: Bytes| (frame.get() + 8) * 8;
            let most = |frame| plan.deviation.stretch(ps_ceil(sent(frame), plan.rate) + plan.slack) + behind;
            let small = most(entry.frame_min);
            let same = entry.frame_min == entry.frame_max;
            entry.transmission_max = (small, if same { small } else { most(entry.frame_max) });
        }
        changed
    }
}
