//! The network as the analysis wants it: flat tables, made once, in the order in which they are read.
//!
//! An [`Entry`] is the passage of a stream through a port: all that does not depend on other streams'
//! delays is computed here, least times included. Entries of a stream stand together, in the order of
//! its hops; those of a port, of a reception port and of a scheduler group are lists of their numbers.
//! Not here: what depends on the traffic of others (`port.rs`, `regulator.rs`).

use tautwire_model::network::{
    Mechanism, Network, NodeKind, PortIndex, StagePosition, Stream, Switching, TransmissionSelection,
    frame_length,
};
use tautwire_units::Bytes;

use crate::clock::{Deviation, PS_PER_S, slack_ps};
use crate::curve::Line;
use crate::delay::{Reception, Row, delay_max, delay_min};
use crate::order::{Component, components};
use crate::port_plan::{PortPlan, port_plan};
use crate::timeline::{ShaperRange, Timeline};
use crate::virtual_link::{LinkPlan, PolicerPlan, policer};

/// "None" for the indices of this module.
pub(crate) const NONE: u32 = u32::MAX;
/// The lane of what a node sends of its own.
pub(crate) const OWN_LANE: u16 = u16::MAX;

/// A stream's passage through a port.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) stream: u32,
    /// The entry before, or [`NONE`] at the talker.
    pub(crate) previous: u32,
    pub(crate) port: u32,
    pub(crate) class: u8,
    pub(crate) lane: u16,
    /// Whether its frames are tagged on the wire behind the port.
    pub(crate) tagged: bool,
    /// Reception port, or [`NONE`].
    pub(crate) reception: u32,
    pub(crate) scheduler: u32,
    pub(crate) group: u32,
    /// Whether it is the one that counts where several entries are one frame (multicast).
    pub(crate) primary: bool,
    pub(crate) frame_min: Bytes,
    pub(crate) frame_max: Bytes,
    /// What its talker promises, in bits of the wire here and true time, but for roundings of its clock.
    pub(crate) promise: Option<Line>,
    /// How much later a frame may come than its talker's clock should have it.
    pub(crate) talker_slack: u64,
    /// From the last bit received to the ATS arrival time and to the queue, least.
    pub(crate) arrival_min: i64,
    pub(crate) queue_min: i64,
    /// Latencies of its own stages up to there, greatest (true time).
    pub(crate) own_latency: (u64, u64),
    /// What cut-through saves at least.
    pub(crate) saved_min: u64,
    /// From the start of transmission to the last bit at the next node: smallest and largest frame, greatest.
    pub(crate) transmission_max: (u64, u64),
    /// From the application: least times to the last bit here, to the queue, and to the next node.
    pub(crate) here_min: i64,
    pub(crate) ready_min: i64,
    pub(crate) next_min: i64,
}

impl Entry {
    /// Bits of the wire of its smallest frame.
    pub(crate) fn wire_min(&self) -> u64 {
        wire(self.frame_min)
    }

    /// Bits of the wire of its largest frame.
    pub(crate) fn wire_max(&self) -> u64 {
        wire(self.frame_max)
    }

    /// Bits that are charged, with `overhead` octets beside the frame, to one of the wire: at most.
    pub(crate) fn charged_per_wire(&self, overhead: u64) -> (u64, u64) {
        greatest_ratio(self.frame_min, self.frame_max, overhead, Bytes::MEDIA_OVERHEAD.get())
    }

    /// Bits of the wire to one that is charged: at most.
    pub(crate) fn wire_per_charged(&self, overhead: u64) -> (u64, u64) {
        greatest_ratio(self.frame_min, self.frame_max, Bytes::MEDIA_OVERHEAD.get(), overhead)
    }
}

/// Bits of the wire of a frame.
pub(crate) fn wire(octets: Bytes) -> u64 {
    (octets + Bytes::MEDIA_OVERHEAD).bits().get()
}

/// The greatest `(frame + above)/(frame + below)`, which is at one of the two ends.
fn greatest_ratio(min: Bytes, max: Bytes, above: u64, below: u64) -> (u64, u64) {
    let at = |frame: Bytes| (frame.get() + above, frame.get() + below);
    if above >= below { at(min) } else { at(max) }
}

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
            #[cfg(feature = "planted-faults")]
            fault: None,
        };
        plan.receive_all();
        let hosts = host_delays(network);
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

    /// Collects, per reception port, what comes by it.
    fn receive_all(&mut self) {
        let network = self.network;
        for stream in &network.streams {
            for hop in &stream.hops {
                let egress = &network.ports[hop.port.index()];
                let link = &network.links[egress.links.expect("a hop's port is connected").egress.index()];
                if !matches!(
                    network.nodes[network.ports[link.to.index()].node.index()].kind,
                    NodeKind::Bridge { .. }
                ) {
                    continue;
                }
                let (min, max) = frames(stream, hop.tagged);
                let clock = &network.nodes[egress.node.index()].clock;
                let reception = self.receptions[link.to.index()].get_or_insert(Reception {
                    frame_min: min,
                    frame_max: max,
                    line_bps: Deviation::of(clock).fastest(link.rate.as_bps()),
                    copies: 1,
                    occupancy: (0, 0),
                    latency: (0, 0),
                    jitter: (link.phy_delay.max - link.phy_delay.min).as_ps() + slack_ps(clock),
                    cut_through: false,
                });
                reception.frame_min = reception.frame_min.min(min);
                reception.frame_max = reception.frame_max.max(max);
            }
        }
        self.use_stages();
    }

    /// Which stages the frames of each reception port pass, and how often one frame.
    fn use_stages(&mut self) {
        let network = self.network;
        let mut mechanisms = vec![0_u8; network.ports.len()];
        for stream in &network.streams {
            for (number, hop) in stream.hops.iter().enumerate() {
                let Some(previous) = hop.previous else { continue };
                let before = &stream.hops[previous as usize];
                let link = network.ports[before.port.index()].links.expect("connected").egress;
                let to = network.links[link.index()].to.index();
                let Some(reception) = &mut self.receptions[to] else { continue };
                let port = &network.ports[hop.port.index()];
                mechanisms[to] |= 1 << (mechanism(port.classes[hop.class.index()].selection) as u8);
                reception.cut_through |= cut_through(network, stream, number).is_some();
                let mut branches: Vec<_> = stream
                    .hops
                    .iter()
                    .filter(|other| other.previous == Some(previous))
                    .map(|other| {
                        (
                            other.class,
                            network.ports[other.port.index()].classes[other.class.index()].selection,
                            rate_behind(network, other.port),
                        )
                    })
                    .map(|(class, selection, rate)| (class, mechanism(selection) as u8, rate))
                    .collect();
                if branches.len() > 1 {
                    branches.sort_unstable();
                    branches.dedup();
                    reception.copies = reception.copies.max(branches.len() as u64);
                }
            }
        }
        for (port, used) in mechanisms.into_iter().enumerate() {
            let Some(reception) = &mut self.receptions[port] else { continue };
            let Some(device) = network.device(network.ports[port].node) else { continue };
            let in_use = device.stages.iter().filter(|stage| {
                stage.position != StagePosition::Transmission
                    && stage.only_for.is_none_or(|only| used & (1 << (only as u8)) != 0)
            });
            for stage in in_use {
                let most = delay_max(&stage.latency, reception.frame_max);
                if stage.position == StagePosition::Reception {
                    reception.latency.0 += most;
                }
                reception.latency.1 += most;
                let (large, small) = &mut reception.occupancy;
                *large = (*large).max(delay_max(&stage.occupancy, reception.frame_max));
                *small = (*small).max(delay_max(&stage.occupancy, reception.frame_min));
            }
        }
    }

    fn add_stream(&mut self, number: usize, timeline: &Timeline, hosts: &[u64]) {
        let network = self.network;
        let stream = &network.streams[number];
        let first = index(self.entries.len());
        self.first_entry.push(first);
        let talker = Deviation::of(&network.nodes[stream.talker.index()].clock);
        let promise = timeline
            .arrival(network, number)
            .map(|curve| Line::new(curve.burst.get(), talker.fastest(curve.rate.as_bps())));
        let shaper = stream.shaper.filter(|_| stream.shaped_at_talker).map(|shaper| {
            let rate = shaper.committed_information_rate.as_bps();
            timeline.shaper(index(number), stream.talker, rate, shaper.committed_burst_size.get())
        });
        self.talker_shapers.push(shaper);
        self.links.push(LinkPlan::new(network, stream, hosts[stream.talker.index()]));
        for (position, hop) in stream.hops.iter().enumerate() {
            let entry = self.entry(number, position, promise, hosts);
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

    /// All of an entry but its place among the others.
    fn entry(&self, number: usize, position: usize, promise: Option<Line>, hosts: &[u64]) -> Entry {
        let network = self.network;
        let stream = &network.streams[number];
        let hop = &stream.hops[position];
        let port = &network.ports[hop.port.index()];
        let plan = self.port(hop.port.0);
        let (frame_min, frame_max) = frames(stream, hop.tagged);
        let ratio = tag_ratio(stream, stream.tagged, hop.tagged);
        let promise = promise.map(|line| line.in_bits(ratio));
        let mut entry = Entry {
            stream: index(number),
            previous: NONE,
            port: hop.port.0,
            class: hop.class.number(),
            lane: network.lane(stream, position),
            tagged: hop.tagged,
            reception: NONE,
            scheduler: hop.scheduler.map_or(NONE, |scheduler| scheduler.0),
            group: hop.scheduler.map_or(NONE, |scheduler| network.schedulers[scheduler.index()].group.0),
            primary: true,
            frame_min,
            frame_max,
            promise,
            talker_slack: slack_ps(&network.nodes[stream.talker.index()].clock),
            arrival_min: 0,
            queue_min: 0,
            own_latency: (0, 0),
            saved_min: 0,
            transmission_max: (0, 0),
            here_min: 0,
            ready_min: 0,
            next_min: 0,
        };
        match (&network.nodes[port.node.index()].kind, hop.previous) {
            (NodeKind::Bridge { device, .. }, Some(previous)) => {
                let device = &network.devices[device.index()];
                let before = &stream.hops[previous as usize];
                let link = network.ports[before.port.index()].links.expect("connected").egress;
                let to = network.links[link.index()].to;
                entry.reception = to.0;
                let (received_min, received_max) = frames(stream, before.tagged);
                let mechanism = mechanism(port.classes[hop.class.index()].selection);
                let reception = Row::of(&device.stages, mechanism, &[StagePosition::Reception]);
                let both = [StagePosition::Reception, StagePosition::Processing];
                let both = Row::of(&device.stages, mechanism, &both);
                entry.own_latency = (reception.latency_max(received_max), both.latency_max(received_max));
                entry.arrival_min = signed(reception.latency_min(received_min));
                entry.queue_min = signed(both.latency_min(received_min));
                if let Some(header) = cut_through(network, stream, position) {
                    let upstream = &network.nodes[network.ports[before.port.index()].node.index()].clock;
                    let rate = network.links[link.index()].rate.as_bps();
                    let left = |frame: Bytes| frame.get().saturating_sub(header) * 8;
                    let deviation = Deviation::of(upstream);
                    let saved_max = deviation.stretch(ps_ceil(left(received_max), rate)) + slack_ps(upstream);
                    entry.saved_min = deviation
                        .shrink(ps_floor(left(received_min), rate))
                        .saturating_sub(slack_ps(upstream) + received_min.get());
                    entry.queue_min -= signed(saved_max);
                    entry.arrival_min -= signed(saved_max);
                }
                if mechanism == Mechanism::Ats && hop.scheduler.is_some() {
                    let hold = plan.deviation.shrink(device.ats.processing_delay_max.as_ps());
                    let held = entry.arrival_min + signed(hold.saturating_sub(plan.slack));
                    entry.queue_min = entry.queue_min.max(held);
                }
            }
            (NodeKind::EndStation { host }, _) => {
                let host = &network.hosts[host.index()];
                entry.own_latency = (hosts[port.node.index()], hosts[port.node.index()]);
                entry.queue_min = signed(delay_min(&host.transmit, frames(stream, stream.tagged).0));
            }
            (NodeKind::Bridge { .. }, None) => {}
        }
        entry
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
fn host_delays(network: &Network) -> Vec<u64> {
    let mut delays = vec![0; network.nodes.len()];
    for stream in &network.streams {
        if let NodeKind::EndStation { host } = &network.nodes[stream.talker.index()].kind {
            let largest = frames(stream, stream.tagged).1.max(frames(stream, true).1);
            let most = delay_max(&network.hosts[host.index()].transmit, largest);
            let delay = &mut delays[stream.talker.index()];
            *delay = most.max(*delay);
        }
    }
    delays
}

/// Smallest and largest frame of a stream.
fn frames(stream: &Stream, tagged: bool) -> (Bytes, Bytes) {
    (frame_length(stream.payload_min, tagged), frame_length(stream.payload_max, tagged))
}

/// Bits of the wire with one tagging to one bit with another: at most. Without a tag a frame is padded
/// up to 46 octets of data; there a tag adds most.
pub(crate) fn tag_ratio(stream: &Stream, from: bool, to: bool) -> (u64, u64) {
    let ratio = |payload| (wire(frame_length(payload, to)), wire(frame_length(payload, from)));
    let (min, max) = (stream.payload_min, stream.payload_max);
    match (from, to) {
        (false, true) => ratio(Bytes::new(46).clamp(min, max)),
        (true, false) => {
            let (small, large) = (ratio(min), ratio(max));
            if small.0 * large.1 >= large.0 * small.1 { small } else { large }
        }
        _ => (1, 1),
    }
}

/// Octets that must be in before a frame is forwarded, if it is cut through at this hop.
fn cut_through(network: &Network, stream: &Stream, hop: usize) -> Option<u64> {
    let this = &stream.hops[hop];
    let port = &network.ports[this.port.index()];
    let Switching::CutThrough { header } = network.device(port.node)?.switching else { return None };
    let before = &stream.hops[this.previous? as usize];
    let same = rate_behind(network, before.port) == rate_behind(network, this.port);
    let ats = port.classes[this.class.index()].selection == TransmissionSelection::Ats;
    (same && !ats).then_some(header.get())
}

fn rate_behind(network: &Network, port: PortIndex) -> u64 {
    let link = network.ports[port.index()].links.expect("a hop's port is connected").egress;
    network.links[link.index()].rate.as_bps()
}

fn mechanism(selection: TransmissionSelection) -> Mechanism {
    match selection {
        TransmissionSelection::StrictPriority => Mechanism::StrictPriority,
        TransmissionSelection::CreditBased { .. } => Mechanism::CreditBased,
        TransmissionSelection::Ats => Mechanism::Ats,
    }
}

fn ps_ceil(bits: u64, rate: u64) -> u64 {
    u64::try_from((u128::from(bits) * PS_PER_S).div_ceil(u128::from(rate))).expect("a frame ends")
}

fn ps_floor(bits: u64, rate: u64) -> u64 {
    u64::try_from(u128::from(bits) * PS_PER_S / u128::from(rate)).expect("a frame ends")
}

/// A span as a signed one.
pub(crate) fn signed(ps: u64) -> i64 {
    i64::try_from(ps).expect("a span of at most 106 days")
}

/// An index as it is stored.
pub(crate) fn index(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 elements")
}
