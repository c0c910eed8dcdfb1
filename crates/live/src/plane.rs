//! The data plane that nodes in real time share: ports with their lines, frames, and what happens to them in order of time.
//!
//! Everything happens at its own instant, however late it is called: a port selects when its line is free. Invariant: the instants
//! of what happens never decrease.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use tautwire_core::ats::{AtsParameters, AtsSchedulers};
use tautwire_core::{EgressPort, Selection, TrafficClass};
use tautwire_model::Network;
use tautwire_model::network::{
    Delay, NodeIndex, NodeKind, PortIndex, SchedulerIndex, ShaperSettings, StagePosition, StreamIndex,
};
use tautwire_observe::DelayParts;
use tautwire_units::{BitRate, Bits, Bytes, Duration, Instant};

use crate::frames::{Handle, Slab};

/// Octets of the gap behind a frame (IEEE Std 802.3, 4.4.2).
const INTER_PACKET_GAP: u64 = 12;

/// A port that is connected.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) egress: EgressPort<Handle>,
    pub(crate) index: PortIndex,
    /// When to select next.
    wake: Option<Instant>,
    /// Frames on the line, each with the instant at which it is to leave this node.
    pub(crate) line: VecDeque<(Instant, u32)>,
    gap: Duration,
    /// Of its cable, where there is none.
    pub(crate) propagation: Duration,
    pub(crate) mtu: u16,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due<E> {
    /// What was put for this instant, and of what.
    Event(E, u32),
    /// This port selects.
    Selection(usize),
}

/// Ports and frames of a node. `E`: what happens to frames besides; `M`: what is known of a frame.
#[derive(Debug)]
pub(crate) struct Plane<E, M> {
    pub(crate) now: Instant,
    pub(crate) ports: Vec<Port>,
    pub(crate) slab: Slab<M>,
    events: BinaryHeap<Reverse<(Instant, u64, E, u32)>>,
    order: u64,
    /// The shortest time that a frame takes on a line: what is selected late by less is not sent late.
    slack: Duration,
}

impl<E: Ord + Copy, M: Copy> Plane<E, M> {
    pub(crate) fn new(network: &Network, node: NodeIndex) -> Self {
        let ports: Vec<Port> = network.nodes[node.index()]
            .ports
            .clone()
            .filter_map(|port| connected(network, PortIndex(port)))
            .collect();
        let slack = ports.iter().map(|port| port.egress.wire_time(64)).min().unwrap_or(Duration::ZERO);
        let (events, slab) = (BinaryHeap::new(), Slab::default());
        Self { now: Instant::ZERO, ports, slab, events, order: 0, slack }
    }

    pub(crate) fn put(&mut self, at: Instant, event: E, of: u32) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event, of)));
    }

    /// The same, behind all else of its instant and in the order of what it is of: as talkers act in a run.
    pub(crate) fn put_behind(&mut self, at: Instant, event: E, of: u32) {
        self.events.push(Reverse((at, 1 << 63 | u64::from(of), event, of)));
    }

    /// The next that is due before `now`, or then, if that counts.
    pub(crate) fn next(&mut self, now: Instant, or_then: bool) -> Option<Due<E>> {
        let is_due = |at: Instant| at < now || or_then && at == now;
        let event = self.events.peek().map(|Reverse((at, ..))| *at);
        let wake = (0..self.ports.len()).filter_map(|port| Some((self.ports[port].wake?, port))).min();
        // Frames that come at an instant come before the selections of that instant.
        match (event, wake) {
            (Some(at), wake) if is_due(at) && wake.is_none_or(|(wake, _)| at <= wake) => {
                let Reverse((at, _, event, of)) = self.events.pop().expect("it was looked at");
                self.now = self.now.max(at);
                Some(Due::Event(event, of))
            }
            (_, Some((wake, port))) if is_due(wake) => {
                self.now = self.now.max(wake);
                Some(Due::Selection(port))
            }
            _ => None,
        }
    }

    pub(crate) fn place(&self, port: PortIndex) -> usize {
        self.ports.iter().position(|own| own.index == port).expect("a port of this node")
    }

    /// Puts a frame into a queue; gives those that are lost by it, itself or older ones.
    pub(crate) fn enqueue(&mut self, at: usize, lane: u16, eligible: Instant, handle: Handle) -> Vec<u32> {
        let now = self.now;
        let port = &mut self.ports[at];
        let mut lost = Vec::new();
        let mut taken = port.egress.enqueue(now, lane, eligible, handle);
        if taken.is_err() {
            taken = port.egress.enqueue_over(now, lane, eligible, handle, |oldest| lost.push(oldest.slot));
        }
        if taken.is_ok() {
            let free = port.egress.busy_until().max(now);
            port.wake = Some(port.wake.map_or(free, |wake| wake.min(free)));
        } else {
            lost.push(handle.slot);
        }
        lost
    }

    /// A class of a port has an idleSlope from now on, of at most `ceiling`.
    pub(crate) fn reserve_idle_slope(
        &mut self,
        port: PortIndex,
        class: TrafficClass,
        slope: BitRate,
        ceiling: BitRate,
    ) {
        let now = self.now;
        if let Some(port) = self.ports.iter_mut().find(|own| own.index == port) {
            port.egress.reserve_idle_slope(now, class, slope, ceiling);
            if !port.egress.is_empty() {
                let free = port.egress.busy_until().max(now);
                port.wake = Some(port.wake.map_or(free, |wake| wake.min(free)));
            }
        }
    }

    /// A port selects: the frame that it sends, and the parts of its delay. It leaves the node earlier by what its interface takes for it
    /// at `rate`, so that its last bit leaves as described; if that is none, it takes no time.
    pub(crate) fn select(&mut self, number: usize, rate: Option<BitRate>) -> Option<(u32, DelayParts)> {
        let now = self.now;
        let port = &mut self.ports[number];
        match port.egress.select(now) {
            Selection::Transmit { frame, held } => {
                let end = port.egress.busy_until();
                port.wake = (!port.egress.is_empty()).then_some(end);
                let last = Instant::from_ps(end.as_ps() - port.gap.as_ps());
                let received = last + port.propagation;
                let bits = Bits::new(u64::from(frame.octets) * 8);
                let lead = rate.map_or(Duration::ZERO, |rate| rate.duration_ceil(bits));
                let lead = lead.min(received.saturating_since(now));
                port.line.push_back((Instant::from_ps(received.as_ps() - lead.as_ps()), frame.slot));
                let slot = self.slab.get(frame.slot);
                let waited = now.saturating_since(slot.queued);
                let shaping = (held + slot.held).min(waited);
                let parts = DelayParts {
                    processing: slot.queued.saturating_since(slot.received),
                    shaping,
                    queueing: waited - shaping,
                    transmission: last.saturating_since(now),
                    propagation: received.since(last),
                };
                Some((frame.slot, parts))
            }
            Selection::Wait(at) => {
                port.wake = Some(at.max(now + Duration::from_ps(1)));
                None
            }
            Selection::Idle => {
                port.wake = None;
                None
            }
        }
    }

    /// The next frame of a port that is to leave by `now`, and when it was to.
    pub(crate) fn leaving(&mut self, port: usize, now: Instant) -> Option<(Instant, u32)> {
        self.ports[port].line.pop_front_if(|(due, _)| *due <= now)
    }

    /// When it must be called next: the exact instant of a transmission, or early enough for one.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let line = self.ports.iter().filter_map(|port| port.line.front().map(|(due, _)| *due));
        let wakes = self.ports.iter().filter_map(|port| port.wake);
        let event = self.events.peek().map(|Reverse((at, ..))| *at);
        line.chain(wakes.chain(event).map(|at| at + self.slack)).min()
    }

    /// Whether no frames are here but so many, and nothing is to happen.
    pub(crate) fn is_done(&self, but: usize) -> bool {
        self.slab.len() == but && self.events.is_empty()
    }
}

/// A port of the network, if it is connected.
fn connected(network: &Network, index: PortIndex) -> Option<Port> {
    let port = &network.ports[index.index()];
    let mut egress = EgressPort::new(network.port_config(index)?);
    egress.start_gates(Instant::ZERO);
    let link = &network.links[port.links?.egress.index()];
    Some(Port {
        gap: egress.wire_time(INTER_PACKET_GAP),
        egress,
        index,
        wake: None,
        line: VecDeque::new(),
        propagation: link.propagation + link.phy_delay.min,
        mtu: u16::try_from(port.mtu.get()).unwrap_or(u16::MAX),
    })
}

/// The schedulers of asynchronous traffic shaping in a node.
#[derive(Debug)]
pub(crate) struct Schedulers {
    ats: AtsSchedulers,
    /// Those of the network's that are here, and of streams that are shaped here, as numbers in the bank.
    own: BTreeMap<SchedulerIndex, u32>,
    shapers: BTreeMap<u32, u32>,
}

impl Schedulers {
    pub(crate) fn new(network: &Network, node: NodeIndex) -> Self {
        let device = network.device(node);
        let mut ats = device.map_or_else(
            || AtsSchedulers::new(None, Bytes::MEDIA_OVERHEAD.get(), Duration::ZERO),
            |device| {
                let ats = &device.ats;
                AtsSchedulers::new(ats.time_quantum, ats.charged_overhead.get(), ats.processing_delay_max)
            },
        );
        let parameters = |settings: ShaperSettings| parameters(network, node, settings);
        let (mut own, mut shapers) = (BTreeMap::new(), BTreeMap::new());
        for (number, group) in network.scheduler_groups.iter().enumerate() {
            if network.ports[group.reception_port.index()].node != node {
                continue;
            }
            let made = ats.add_group(group.max_residence_time);
            let of_group =
                network.schedulers.iter().enumerate().filter(|(_, one)| one.group.index() == number);
            for (place, scheduler) in of_group {
                let settings = ShaperSettings {
                    committed_information_rate: scheduler.committed_information_rate,
                    committed_burst_size: scheduler.committed_burst_size,
                };
                own.insert(SchedulerIndex::at(place), ats.add_scheduler(made, parameters(settings)));
            }
        }
        for (number, stream) in network.streams.iter().enumerate() {
            if let (true, true, Some(shaper)) =
                (stream.talker == node, stream.shaped_at_talker, stream.shaper)
            {
                let made = ats.add_group(None);
                shapers.insert(StreamIndex::at(number).0, ats.add_scheduler(made, parameters(shaper)));
            }
        }
        Self { ats, own, shapers }
    }

    /// The scheduler of a hop; of the talker's shaper at its first one.
    pub(crate) fn of(&self, network: &Network, stream: u32, hop: u32) -> Option<u32> {
        let next = &network.streams[stream as usize].hops[hop as usize];
        match next.previous {
            Some(_) => next.scheduler.and_then(|scheduler| self.own.get(&scheduler)),
            None => self.shapers.get(&stream),
        }
        .copied()
    }

    /// A scheduler has these parameters from now on, or none.
    pub(crate) fn set(
        &mut self,
        network: &Network,
        scheduler: SchedulerIndex,
        settings: Option<ShaperSettings>,
    ) {
        let Some(own) = self.own.get(&scheduler).copied() else { return };
        let group = &network.scheduler_groups[network.schedulers[scheduler.index()].group.index()];
        let node = network.ports[group.reception_port.index()].node;
        match settings {
            Some(settings) => self.ats.set_parameters(own, parameters(network, node, settings)),
            None => self.ats.remove_parameters(own),
        }
    }

    /// The eligibility time of a frame; none if it is discarded.
    pub(crate) fn process(&mut self, scheduler: u32, arrival: Instant, octets: u64) -> Option<Instant> {
        self.ats.process(scheduler, arrival, octets).ok()
    }
}

/// Parameters of a scheduler in a node.
fn parameters(network: &Network, node: NodeIndex, settings: ShaperSettings) -> AtsParameters {
    let quantum = network.device(node).and_then(|device| device.ats.time_quantum);
    let (rate, burst) = (settings.committed_information_rate, settings.committed_burst_size);
    AtsParameters::new(rate, burst, quantum).expect("the description's rates were checked")
}

/// The least that a delay is, of a frame of so many octets.
pub(crate) fn least(delay: &Delay, octets: u64) -> Duration {
    (delay.constant + delay.per_octet * octets).saturating_sub(delay.less)
}

/// What the host or the device takes before a frame's arrival is recognised, and behind that before it is queued for a port: the least
/// of it.
pub(crate) fn least_delays(
    network: &Network,
    (port, class): (PortIndex, TrafficClass),
    octets: u64,
) -> [Duration; 2] {
    let least = |delay: &Delay| least(delay, octets);
    let port = &network.ports[port.index()];
    match &network.nodes[port.node.index()].kind {
        NodeKind::EndStation { host } => [Duration::ZERO, least(&network.hosts[host.index()].transmit)],
        NodeKind::Bridge { device, .. } => {
            let algorithm = port.classes[class.index()].selection.algorithm();
            let stages = &network.devices[device.index()].stages;
            [StagePosition::Reception, StagePosition::Processing].map(|position| {
                let own = stages.iter().filter(|stage| stage.position == position);
                let own = own.filter(|stage| stage.only_for.is_none_or(|only| only == algorithm));
                own.map(|stage| least(&stage.latency)).sum()
            })
        }
    }
}
