//! State of links, ports, hosts and nodes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tautwire_core::EgressPort;
use tautwire_core::ats::{AtsParameters, AtsSchedulers};
use tautwire_core::forwarding::FilteringDatabase;
use tautwire_model::Network;
use tautwire_model::network::{
    Delay, Link, Node, NodeIndex, NodeKind, Port, PortIndex, Scheduler, ShaperSettings,
};
use tautwire_units::{BitRate, Bytes, Duration};

use crate::clock::{LocalClock, SimTime};
use crate::frame::Handle;
use crate::plan::Plan;
use crate::random::{Purpose, Random};
use crate::stages::Stages;
use crate::talker::TalkerShaper;

/// One direction of a cable, and the reception side of the port at its end. The fields that every frame touches come
/// first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct LinkState {
    /// Delay on the cable and the least of the PHYs.
    pub(crate) propagation: Duration,
    /// The variation of the PHYs' delays above the least.
    pub(crate) phy_range: Duration,
    pub(crate) last_received: SimTime,
    /// Largest delay of the recognition of an arrival at the end.
    pub(crate) recognition_max: Duration,
    pub(crate) to_node: u32,
    pub(crate) to_port: u32,
    /// Largest payload that the port at the end takes.
    pub(crate) to_mtu: u16,
    pub(crate) up: bool,
    pub(crate) to_bridge: bool,
    /// Whether the bridge at the end learns addresses.
    pub(crate) to_learning: bool,
    /// Whether errors occur.
    pub(crate) errs: bool,
    /// Stages of the device at the end, this port's state.
    pub(crate) stages: Stages,
    /// Mean bits between errors; none for a line without errors.
    pub(crate) error_distance: Option<u64>,
    /// Bits until the next error.
    pub(crate) bits_to_error: u64,
    pub(crate) random: Random,
}

impl LinkState {
    pub(crate) fn new(network: &Network, link: &Link, number: usize, stages: u32, seed: u64) -> Self {
        let to = &network.ports[link.to.index()];
        let mut state = Self {
            propagation: link.propagation + link.phy_delay.min,
            phy_range: link.phy_delay.max - link.phy_delay.min,
            last_received: SimTime::ZERO,
            up: link.up,
            to_node: to.node.0,
            to_port: link.to.0,
            to_bridge: matches!(network.nodes[to.node.index()].kind, NodeKind::Bridge { .. }),
            to_mtu: u16::try_from(to.mtu.get()).unwrap_or(u16::MAX),
            to_learning: matches!(
                network.nodes[to.node.index()].kind,
                NodeKind::Bridge { learning: Some(_), .. }
            ),
            recognition_max: network
                .device(to.node)
                .map_or(Duration::ZERO, |device| device.ats.arrival_recognition_delay_max),
            stages: Stages::new(stages),
            errs: false,
            error_distance: None,
            bits_to_error: 0,
            random: Random::new(seed, Purpose::Link, number),
        };
        state.set_bit_error_rate(link.bit_error_rate);
        state
    }

    /// Sets the chance of a wrong bit, in 10⁻¹⁸.
    pub(crate) fn set_bit_error_rate(&mut self, rate: u64) {
        self.error_distance = 1_000_000_000_000_000_000_u64.checked_div(rate).map(|bits| bits.max(1));
        self.errs = self.error_distance.is_some();
        if let Some(distance) = self.error_distance {
            self.bits_to_error = self.random.exponential(distance);
        }
    }

    /// Whether a frame of `bits` is received wrong.
    #[inline]
    pub(crate) fn corrupts(&mut self, bits: u64) -> bool {
        let Some(distance) = self.error_distance else { return false };
        if self.bits_to_error >= bits {
            self.bits_to_error -= bits;
            return false;
        }
        self.bits_to_error = self.random.exponential(distance);
        true
    }

    /// When a frame is received whose first bit leaves at `start` and its last at `last`: none begins to be received before the one
    /// before it has come.
    #[inline(always)]
    pub(crate) fn reception(&mut self, start: SimTime, last: SimTime) -> SimTime {
        let mut received = last + self.propagation;
        if !self.phy_range.is_zero() {
            received = received + self.random.span_up_to(self.phy_range);
            received = received.max(self.last_received + last.since(start));
        }
        received = received.max(self.last_received);
        self.last_received = received;
        received
    }
}

/// The egress side of a port. After `egress` come the fields that every frame touches, in one cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct PortState {
    pub(crate) egress: EgressPort<Handle>,
    pub(crate) clock: LocalClock,
    /// How long the gap behind a frame lasts.
    pub(crate) gap: Duration,
    pub(crate) node: u32,
    pub(crate) link: u32,
    pub(crate) mtu: u16,
    /// Whether there are stages between selection and wire.
    pub(crate) staged: bool,
    /// When the line is free, behind the stages.
    pub(crate) line_free: SimTime,
    pub(crate) stages: Stages,
}

/// A host: between applications and port.
#[derive(Clone, Debug)]
pub(crate) struct HostState {
    /// The coming frames of its streams: when, stream, and the source's epoch.
    pub(crate) sources: BinaryHeap<Reverse<(SimTime, u32, u32)>>,
    pub(crate) transmit: Delay,
    pub(crate) queue_limit: u32,
    pub(crate) last_out: SimTime,
    pub(crate) random: Random,
}

/// Everything else of a node.
#[derive(Clone, Debug)]
pub(crate) struct NodeState {
    pub(crate) up: bool,
    /// When it last came up: what it had received before is lost.
    pub(crate) up_since: SimTime,
    pub(crate) clock: LocalClock,
    pub(crate) database: Option<FilteringDatabase>,
    /// Schedulers of a bridge, or of a talker that shapes.
    pub(crate) ats: AtsSchedulers,
    /// Tick of their clock, if its device has one.
    pub(crate) quantum: Option<Duration>,
}

impl NodeState {
    pub(crate) fn new(network: &Network, number: usize, clock: LocalClock, seed: u64) -> Self {
        let node = &network.nodes[number];
        let mut random = Random::new(seed, Purpose::Ats, number);
        let learning = match &node.kind {
            NodeKind::Bridge { learning, .. } => *learning,
            NodeKind::EndStation { .. } => None,
        };
        let mut state = Self {
            up: true,
            up_since: SimTime::ZERO,
            clock,
            database: learning
                .map(|learning| FilteringDatabase::new(learning.table_size as usize, learning.ageing_time)),
            ats: AtsSchedulers::new(None, Bytes::MEDIA_OVERHEAD.get(), Duration::ZERO),
            quantum: None,
        };
        if let Some(device) = network.device(NodeIndex::at(number)) {
            let ats = &device.ats;
            let later = ats.processing_delay_max + random.span_up_to(ats.clock_offset_variation_max);
            state.ats = AtsSchedulers::new(ats.time_quantum, ats.charged_overhead.get(), later);
            state.quantum = ats.time_quantum;
        }
        state
    }

    /// Parameters of a scheduler whose clock deviates from that of the ports by parts in 10⁹.
    pub(crate) fn parameters(&self, settings: &ShaperSettings, deviation_ppb: i64) -> AtsParameters {
        let bps = i128::from(settings.committed_information_rate.as_bps());
        let rate = bps * (1_000_000_000 + i128::from(deviation_ppb)) / 1_000_000_000;
        let rate = BitRate::from_bps(u64::try_from(rate.max(1)).expect("about a rate"));
        AtsParameters::new(rate, settings.committed_burst_size, self.quantum)
            .expect("the description's rates were checked")
    }
}

/// Octets of the gap behind a frame (IEEE Std 802.3, 4.4.2).
const INTER_PACKET_GAP: u64 = 12;

pub(crate) fn port_states(network: &Network, plan: &Plan, clocks: &[LocalClock]) -> Vec<Option<PortState>> {
    let state = |(number, port): (usize, &Port)| {
        let config = network.port_config(PortIndex::at(number))?;
        let node = port.node.index();
        let mut egress = EgressPort::new(config);
        egress.start_gates(clocks[node].local(SimTime::ZERO));
        Some(PortState {
            gap: clocks[node].true_span(egress.wire_time(INTER_PACKET_GAP)),
            egress,
            clock: clocks[node],
            node: port.node.0,
            link: port.links?.egress.0,
            mtu: u16::try_from(port.mtu.get()).unwrap_or(u16::MAX),
            staged: !plan.transmission[node].is_empty(),
            line_free: SimTime::ZERO,
            stages: Stages::new(plan.stage_count[node]),
        })
    };
    network.ports.iter().enumerate().map(state).collect()
}

pub(crate) fn host_states(network: &Network, seed: u64) -> Vec<Option<HostState>> {
    let state = |(number, node): (usize, &Node)| {
        let NodeKind::EndStation { host } = &node.kind else { return None };
        let host = &network.hosts[host.index()];
        Some(HostState {
            sources: BinaryHeap::new(),
            transmit: host.transmit,
            queue_limit: host.queue_limit,
            last_out: SimTime::ZERO,
            random: Random::new(seed, Purpose::Host, number),
        })
    };
    network.nodes.iter().enumerate().map(state).collect()
}

/// The clocks of all nodes. All readings are shifted alike if one would begin below zero.
pub(crate) fn clocks(network: &Network, seed: u64) -> Vec<LocalClock> {
    let least = network.nodes.iter().map(|node| node.clock.offset.as_ps()).min().unwrap_or(0).min(0);
    let clock = |(number, node): (usize, &Node)| {
        let ppb = node.clock.drift_ppb.unwrap_or_else(|| {
            let most = u64::from(node.clock.tolerance_ppb);
            let drawn = Random::new(seed, Purpose::Clock, number).up_to(2 * most);
            i32::try_from(drawn).expect("a tolerance is below one") - node.clock.tolerance_ppb as i32
        });
        let offset = u64::try_from(node.clock.offset.as_ps() - least).expect("the least is taken off");
        LocalClock::new(Duration::from_ps(offset), ppb, node.clock.granularity)
    };
    network.nodes.iter().enumerate().map(clock).collect()
}

/// How much faster a scheduler's clock is than that of the ports, parts in 10⁹: drawn for every pair of
/// reception and transmission port.
pub(crate) fn deviation_ppb(network: &Network, scheduler: &Scheduler, seed: u64) -> i64 {
    if scheduler.clock_rate_deviation_max_ppb == 0 {
        return 0;
    }
    let reception = network.scheduler_groups[scheduler.group.index()].reception_port;
    let ports = network.ports.len();
    // Behind the numbers of the nodes, which draw their offsets.
    let pair = network.nodes.len() + reception.index() * ports + scheduler.transmission_port.index();
    let most = i64::from(scheduler.clock_rate_deviation_max_ppb);
    let drawn = Random::new(seed, Purpose::Ats, pair).up_to(2 * most.unsigned_abs());
    i64::try_from(drawn).expect("twice a number of 32 bits") - most
}

/// Puts the network's schedulers into the banks of their bridges, and gives each its number there.
pub(crate) fn add_schedulers(network: &Network, nodes: &mut [NodeState], seed: u64) -> Vec<u32> {
    let mut groups = Vec::with_capacity(network.scheduler_groups.len());
    for group in &network.scheduler_groups {
        let node = network.ports[group.reception_port.index()].node;
        groups.push(nodes[node.index()].ats.add_group(group.max_residence_time));
    }
    let add = |scheduler: &Scheduler| {
        let group = &network.scheduler_groups[scheduler.group.index()];
        let node = &mut nodes[network.ports[group.reception_port.index()].node.index()];
        let settings = ShaperSettings {
            committed_information_rate: scheduler.committed_information_rate,
            committed_burst_size: scheduler.committed_burst_size,
        };
        let parameters = node.parameters(&settings, deviation_ppb(network, scheduler, seed));
        node.ats.add_scheduler(groups[scheduler.group.index()], parameters)
    };
    network.schedulers.iter().map(add).collect()
}

/// Gives every stream that its talker shapes a scheduler in the talker's bank.
pub(crate) fn add_talker_schedulers(network: &Network, nodes: &mut [NodeState]) -> Vec<TalkerShaper> {
    let add = |stream: &tautwire_model::network::Stream| match &stream.shaper {
        Some(shaper) if stream.shaped_at_talker => {
            let node = &mut nodes[stream.talker.index()];
            let group = node.ats.add_group(None);
            let parameters = node.parameters(shaper, 0);
            TalkerShaper::Scheduler(node.ats.add_scheduler(group, parameters))
        }
        _ => TalkerShaper::None,
    };
    network.streams.iter().map(add).collect()
}
