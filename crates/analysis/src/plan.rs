//! The network as the analysis wants it: flat tables, made once, in the order in which they are read.
//!
//! An [`Entry`] is the passage of a stream through a port: all that does not depend on other streams'
//! delays is computed here, least times included. Entries of a stream stand together, in the order of
//! its hops; those of a port, of a reception port and of a scheduler group are lists of their numbers.
//! Not here: what depends on the traffic of others (`port.rs`, `regulator.rs`).

use tautwire_model::network::{Network, NodeKind};
use tautwire_units::Bytes;

use self::frame::{frames, ps_ceil, ps_floor};
use crate::clock::Deviation;
use crate::curve::Line;
use crate::delay::{Reception, Row, delay_max};
use crate::host::{self, Sending};
use crate::order::{Component, components};
use crate::port_plan::{PortPlan, port_plan};
use crate::timeline::{ShaperRange, Timeline};
use crate::virtual_link::{LinkPlan, PolicerPlan, policer};

mod entry;
mod frame;
mod reception;

pub(crate) use self::entry::Entry;
pub(crate) use self::frame::{tag_ratio, wire};

/// "None" for the indices of this module.
pub(crate) const NONE: u32 = u32::MAX;
/// The lane of what a node sends of its own.
pub(crate) const OWN_LANE: u16 = u16::MAX;

/// A scheduler group.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    /// Its entries: a range of [`Plan::group_entries`], one for each frame.
    pub(crate) entries: (u32, u32),
    pub(crate) residence_max: Option<u64>,
}

/// The tables.
#[derive(Debug)]
pub(crate) struct Plan<'network> {
    pub(crate) network: &'network Network,
    pub(crate) entries: Vec<Entry>,
    /// First entry of each stream, and the end.
    pub(crate) first_entry: Vec<u32>,
    pub(crate) ports: Vec<Option<PortPlan>>,
    pub(crate) port_entries: Vec<u32>,
    pub(crate) receptions: Vec<Option<Reception>>,
    pub(crate) reception_entries: Vec<Vec<u32>>,
    pub(crate) groups: Vec<GroupPlan>,
    pub(crate) group_entries: Vec<u32>,
    /// Over the run, per scheduler, the widest of its streams.
    pub(crate) schedulers: Vec<ShaperRange>,
    /// Entries of each scheduler that are one frame each.
    pub(crate) scheduler_users: Vec<u32>,
    pub(crate) components: Vec<Component>,
    /// What a stream's talker shapes it to, in true time, bits of the wire.
    pub(crate) talker_shapers: Vec<Option<ShaperRange>>,
    /// Virtual links, per stream.
    pub(crate) links: Vec<Option<LinkPlan>>,
    /// Per entry, what the switch polices before it; empty without virtual links.
    pub(crate) policers: Vec<Option<PolicerPlan>>,
    /// Per stream, from its application to its port, of a talker with protocol stacks.
    pub(crate) sending: Vec<Option<Sending>>,
    #[cfg(feature = "planted-faults")]
    pub(crate) fault: Option<crate::PlantedFault>,
}

impl<'network> Plan<'network> {
    pub(crate) fn new(network: &'network Network) -> Self {
        let timeline = Timeline::of(network);
        let hop_count = network.streams.iter().map(|stream| stream.hops.len()).sum();
        let mut plan = Self {
            network,
            entries: Vec::with_capacity(hop_count),
            first_entry: Vec::with_capacity(network.streams.len() + 1),
            ports: (0..network.ports.len()).map(|port| port_plan(network, &timeline, port)).collect(),
            port_entries: Vec::new(),
            receptions: vec![None; network.ports.len()],
            reception_entries: vec![Vec::new(); network.ports.len()],
            groups: Vec::new(),
            group_entries: Vec::new(),
            schedulers: Vec::new(),
            scheduler_users: vec![0; network.schedulers.len()],
            components: Vec::new(),
            talker_shapers: Vec::new(),
            links: Vec::with_capacity(network.streams.len()),
            policers: Vec::new(),
            sending: host::sending(network, &timeline),
            #[cfg(feature = "planted-faults")]
            fault: None,
        };
        plan.receive_all();
        let hosts = host_delays(network, &plan.sending);
        for number in 0..network.streams.len() {
            plan.add_stream(number, &timeline, &hosts);
        }
        plan.first_entry.push(index(plan.entries.len()));
        plan.list_policers();
        plan.list_by_port();
        plan.list_by_group();
        plan.shapers(&timeline);
        plan.finish_ports();
        plan.finish_minima();
        plan.order();
        plan
    }

    /// The entries at a port.
    pub(crate) fn at_port(&self, port: u32) -> &[u32] {
        let Some(plan) = &self.ports[port as usize] else { return &[] };
        &self.port_entries[plan.entries.0 as usize..plan.entries.1 as usize]
    }

    /// The entries of a group, one for each frame.
    pub(crate) fn in_group(&self, group: u32) -> &[u32] {
        let (first, end) = self.groups[group as usize].entries;
        &self.group_entries[first as usize..end as usize]
    }

    /// A connected port.
    pub(crate) fn port(&self, port: u32) -> &PortPlan {
        self.ports[port as usize].as_ref().expect("a stream passes connected ports only")
    }

    fn add_stream(&mut self, number: usize, timeline: &Timeline, hosts: &[u64]) {
        let network = self.network;
        let stream = &network.streams[number];
        let first = index(self.entries.len());
        self.first_entry.push(first);
        let talker = Deviation::of(&network.nodes[stream.talker.index()].clock);
        let held_up = self.sending[number].is_some_and(|sending| sending.max.is_none());
        let promise = timeline
            .arrival(network, number)
            .filter(|_| !held_up)
            .map(|curve| Line::new(curve.burst.get(), talker.fastest(curve.rate.as_bps())));
        let shaper = stream.shaper.filter(|_| stream.shaped_at_talker).map(|shaper| {
            let rate = shaper.committed_information_rate.as_bps();
            timeline.shaper(index(number), stream.talker, rate, shaper.committed_burst_size.get())
        });
        self.talker_shapers.push(shaper);
        self.links.push(LinkPlan::new(network, stream, hosts[stream.talker.index()]));
        for (position, hop) in stream.hops.iter().enumerate() {
            let mut entry = self.entry(number, position, promise, hosts);
            if let (Some(sending), None) = (self.sending[number], hop.previous) {
                entry.queue_min = signed(sending.min);
            }
            let twin = stream.hops[..position].iter().any(|other| {
                other.previous == hop.previous && other.class == hop.class && other.scheduler == hop.scheduler
            });
            self.entries.push(Entry {
                primary: !twin,
                previous: hop.previous.map_or(NONE, |previous| first + previous),
                ..entry
            });
        }
    }

    /// The policers of the bridges before the entries' ports.
    fn list_policers(&mut self) {
        if self.links.iter().all(Option::is_none) {
            return;
        }
        let table = |entry: &Entry| {
            let before = self.entries.get(entry.previous as usize)?;
            let hop = entry.previous - self.first_entry[entry.stream as usize];
            policer(self.network, &self.network.streams[entry.stream as usize], hop as usize, before)
        };
        self.policers = self.entries.iter().map(table).collect();
    }

    fn list_by_port(&mut self) {
        let mut counts = vec![0_u32; self.network.ports.len() + 1];
        for entry in &self.entries {
            counts[entry.port as usize + 1] += 1;
        }
        for port in 0..self.network.ports.len() {
            counts[port + 1] += counts[port];
        }
        for (port, plan) in self.ports.iter_mut().enumerate() {
            if let Some(plan) = plan {
                plan.entries = (counts[port], counts[port + 1]);
            }
        }
        self.port_entries = vec![0; self.entries.len()];
        for (number, entry) in self.entries.iter().enumerate() {
            let place = &mut counts[entry.port as usize];
            self.port_entries[*place as usize] = index(number);
            *place += 1;
            if entry.reception != NONE && entry.primary {
                self.reception_entries[entry.reception as usize].push(index(number));
            }
        }
    }

    fn list_by_group(&mut self) {
        let mut of_group: Vec<Vec<u32>> = vec![Vec::new(); self.network.scheduler_groups.len()];
        for (number, entry) in self.entries.iter().enumerate() {
            if entry.group != NONE && entry.primary {
                of_group[entry.group as usize].push(index(number));
                self.scheduler_users[entry.scheduler as usize] += 1;
            }
        }
        for (group, list) in self.network.scheduler_groups.iter().zip(of_group) {
            let first = index(self.group_entries.len());
            self.group_entries.extend(list);
            let entries = (first, index(self.group_entries.len()));
            let residence_max = group.max_residence_time.map(|time| time.as_ps());
            self.groups.push(GroupPlan { entries, residence_max });
        }
    }

    fn shapers(&mut self, timeline: &Timeline) {
        let network = self.network;
        self.schedulers = network
            .schedulers
            .iter()
            .map(|scheduler| {
                let rate = scheduler.committed_information_rate.as_bps();
                let burst = scheduler.committed_burst_size.get();
                ShaperRange {
                    rate_min: rate,
                    rate_max: rate,
                    burst_min: burst,
                    burst_sum: burst,
                    constant: true,
                    deviation_ppb: scheduler.clock_rate_deviation_max_ppb,
                }
            })
            .collect();
        for entry in self.entries.iter().filter(|entry| entry.scheduler != NONE && entry.primary) {
            let scheduler = &network.schedulers[entry.scheduler as usize];
            let rate = scheduler.committed_information_rate.as_bps();
            let node = network.ports[entry.port as usize].node;
            let range = timeline.shaper(entry.stream, node, rate, scheduler.committed_burst_size.get());
            let widest = &mut self.schedulers[entry.scheduler as usize];
            widest.rate_min = widest.rate_min.min(range.rate_min);
            widest.rate_max = widest.rate_max.max(range.rate_max);
            widest.burst_min = widest.burst_min.min(range.burst_min);
            // Every stream that shares it may change it.
            let unchanged = timeline.shaper(NONE, node, rate, scheduler.committed_burst_size.get()).burst_sum;
            let changes = range.burst_sum.saturating_sub(unchanged);
            widest.burst_sum = widest.burst_sum.max(unchanged).saturating_add(changes);
            widest.constant &= range.constant;
        }
    }

    /// What of a port depends on the frames that pass it.
    fn finish_ports(&mut self) {
        let network = self.network;
        for (number, port) in self.ports.iter_mut().enumerate() {
            let Some(plan) = port else { continue };
            let entries = &self.port_entries[plan.entries.0 as usize..plan.entries.1 as usize];
            let control = plan.control.map(|(_, _, bits)| Bytes::new(bits / 8) - Bytes::MEDIA_OVERHEAD);
            let at_port = || entries.iter().map(|entry| &self.entries[*entry as usize]);
            let frame_max = at_port().map(|entry| entry.frame_max).chain(control).max();
            let frame_min = at_port().map(|entry| entry.frame_min).chain(control).min();
            let (Some(frame_max), Some(frame_min)) = (frame_max, frame_min) else { continue };
            let row = network
                .device(network.ports[number].node)
                .map_or_else(Row::default, |device| Row::of_transmission(&device.stages));
            plan.stages_too_slow = [frame_min, frame_max]
                .iter()
                .any(|frame| row.occupancy_max(*frame) > ps_floor(wire(*frame), plan.rate));
            let links = network.ports[number].links.expect("a planned port is connected");
            let link = &network.links[links.egress.index()];
            let behind = link.propagation.as_ps();
            let stage_max = row.latency_max(frame_max);
            plan.stages_jitter = stage_max - row.latency_min(frame_min);
            for entry in entries {
                let entry = &mut self.entries[*entry as usize];
                let sent = |frame: Bytes| (frame.get() + 8) * 8;
                let most = |frame| {
                    plan.deviation.stretch(ps_ceil(sent(frame), plan.rate) + plan.slack)
                        + stage_max
                        + behind
                        + link.phy_delay.max.as_ps()
                };
                entry.transmission_max = (most(entry.frame_min), most(entry.frame_max));
                let least = plan.deviation.shrink(ps_floor(sent(entry.frame_min), plan.rate));
                let least = least.saturating_sub(plan.slack)
                    + row.latency_min(entry.frame_min)
                    + behind
                    + link.phy_delay.min.as_ps();
                entry.next_min = signed(least);
            }
        }
    }

    /// Adds up the least times along the trees.
    fn finish_minima(&mut self) {
        for number in 0..self.entries.len() {
            let previous = self.entries[number].previous;
            let here = if previous == NONE { 0 } else { self.entries[previous as usize].next_min };
            let entry = &mut self.entries[number];
            entry.here_min = here;
            entry.ready_min = here + entry.queue_min;
            entry.next_min += entry.ready_min;
        }
    }

    fn order(&mut self) {
        let edges: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| entry.previous != NONE)
            .map(|entry| (self.entries[entry.previous as usize].port, entry.port))
            .collect();
        self.components = components(self.ports.len(), &edges);
    }
}

/// The longest that a frame may take from the application to the port, per host: the host keeps the
/// order of all its frames, so a small one may stand behind a large one.
fn host_delays(network: &Network, sending: &[Option<Sending>]) -> Vec<u64> {
    let mut delays = vec![0; network.nodes.len()];
    for (stream, sending) in network.streams.iter().zip(sending) {
        if let Some(sending) = sending {
            let delay: &mut u64 = &mut delays[stream.talker.index()];
            *delay = sending.max.unwrap_or(0).max(*delay);
        } else if let NodeKind::EndStation { host } = &network.nodes[stream.talker.index()].kind {
            let largest = frames(stream, stream.tagged).1.max(frames(stream, true).1);
            let most = delay_max(&network.hosts[host.index()].transmit, largest);
            let delay = &mut delays[stream.talker.index()];
            *delay = most.max(*delay);
        }
    }
    delays
}

/// A span as a signed one.
pub(crate) fn signed(ps: u64) -> i64 {
    i64::try_from(ps).expect("a span of at most 106 days")
}

/// An index as it is stored.
pub(crate) fn index(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 elements")
}
