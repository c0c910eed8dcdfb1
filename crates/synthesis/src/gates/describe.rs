//! From the time-aware streams of a network to a problem: what their frames need at each port, and which ports get gates.
//!
//! A frame is dispatched when the gate of its class opens for it. Bridges have gates at each port that such a frame
//! leaves, and a talker whose port frames of other classes leave, too; elsewhere the talker dispatches when its frame comes to
//! the port. All times are rounded to a common multiple of a nanosecond and of the ticks of the devices, to the safe
//! side, so the instants that a search finds are such multiples. A burst is one frame whose window holds all of it.

use std::collections::BTreeMap;

use tautwire_core::gates::GuardPolicy;
use tautwire_model::Network;
use tautwire_model::gates::{GateClock, PortGates, TimeAware};
use tautwire_model::network::{
    Clock, Delay, DelayRange, Distribution, Hop as Passage, NodeKind, PortIndex, StagePosition, Stream,
    StreamIndex, Traffic, TransmissionSelection, frame_length,
};
use tautwire_model::time_triggered::Timing;
use tautwire_units::{Bytes, Duration};

use super::GateOptions;
use crate::occupancy::gcd;
use crate::problem::{Flow, Hop, InQueue, Link, Problem};

/// Octets of preamble and start delimiter before a frame, and of the gap behind it.
const PREAMBLE: Bytes = Bytes::new(8);
const GAP: Bytes = Bytes::new(12);

/// The longest common tick of the devices, picoseconds: a millisecond.
const QUANTUM_MAX: u64 = 1_000_000_000;

/// A network's time-aware streams as a problem.
#[derive(Clone, Debug)]
pub struct Gated {
    /// The problem; its flows are the network's time-aware streams, in order.
    pub problem: Problem,
    /// The stream of every flow.
    pub streams: Vec<StreamIndex>,
    /// The port that every link leaves from.
    pub ports: Vec<PortIndex>,
    /// Per link, the gates that its port is to have, without their list; none if it needs none.
    pub(super) gates: Vec<Option<PortGates>>,
    /// Per link, the largest frame of other traffic, if there is any.
    pub(super) others: Vec<Option<Bytes>>,
    /// Per flow and hop, how long the gate is open from the dispatch on.
    pub(super) open: Vec<Vec<Duration>>,
    /// Per flow, from the release of a frame to its dispatch at the talker.
    lead: Vec<Duration>,
}

impl Gated {
    /// The problem of a network; none if it has no time-aware stream.
    ///
    /// # Errors
    /// Why no gates can be found for it, each a sentence.
    pub fn new(network: &Network, options: &GateOptions) -> Option<Result<Self, Vec<String>>> {
        if !network.streams.iter().any(|stream| stream.time_aware.is_some()) {
            return None;
        }
        let mut made = Maker::new(network, options);
        made.check_network();
        for (number, stream) in network.streams.iter().enumerate() {
            if let Some(required) = stream.time_aware {
                made.check_stream(stream);
                made.made.streams.push(StreamIndex::at(number));
                made.flow(stream, required);
            }
        }
        Some(if made.reasons.is_empty() { Ok(made.made) } else { Err(made.reasons) })
    }

    /// The same of some of its flows, in which nothing is kept for other traffic.
    pub(super) fn of_flows(&self, flows: &[usize]) -> Self {
        let mut some = self.clone();
        some.problem.links.iter_mut().for_each(|link| link.room = None);
        some.problem.flows = flows.iter().map(|flow| self.problem.flows[*flow].clone()).collect();
        some.streams = flows.iter().map(|flow| self.streams[*flow]).collect();
        some.open = flows.iter().map(|flow| self.open[*flow].clone()).collect();
        some.lead = flows.iter().map(|flow| self.lead[*flow]).collect();
        some
    }

    /// The least common multiple of the periods of all flows of a link; none if it is too long for its type.
    pub(super) fn whole_cycle(&self, link: usize) -> Option<Duration> {
        let flows = self.problem.flows.iter().filter(|flow| flow.hops.iter().any(|hop| hop.link == link));
        let common = |cycle: u64, period: u64| (cycle / gcd(cycle, period)).checked_mul(period);
        flows.map(|flow| flow.period.as_ps()).try_fold(1, common).map(Duration::from_ps)
    }

    /// The offset at which the talker of a flow releases its frames, if it dispatches them at an instant.
    #[must_use]
    pub fn offset(&self, flow: usize, dispatch: Duration) -> Duration {
        dispatch - self.lead[flow]
    }

    /// The dispatch instant of an offset.
    pub(super) fn dispatch(&self, flow: usize, offset: Duration) -> Duration {
        offset + self.lead[flow]
    }
}

struct Maker<'a> {
    network: &'a Network,
    timing: Timing<'a>,
    quantum: u64,
    /// Link by port, and queue by port and class.
    links: BTreeMap<PortIndex, usize>,
    queues: BTreeMap<(PortIndex, usize), usize>,
    /// Classes of time-aware streams, a bit each, by port.
    classes: BTreeMap<PortIndex, u8>,
    /// A stream that is not time-aware, by port and class.
    foreign: BTreeMap<(PortIndex, usize), StreamIndex>,
    made: Gated,
    reasons: Vec<String>,
}

impl<'a> Maker<'a> {
    fn new(network: &'a Network, options: &GateOptions) -> Self {
        let problem = Problem { precision: options.precision, ..Problem::default() };
        let made = Gated {
            problem,
            streams: Vec::new(),
            ports: Vec::new(),
            gates: Vec::new(),
            others: Vec::new(),
            open: Vec::new(),
            lead: Vec::new(),
        };
        let timing = Timing::of_gates(network, options.precision);
        let others = network.streams.iter().enumerate().filter(|(_, stream)| stream.time_aware.is_none());
        let foreign = others.flat_map(|(number, stream)| {
            stream.hops.iter().map(move |hop| ((hop.port, hop.class.index()), StreamIndex::at(number)))
        });
        let mut classes: BTreeMap<PortIndex, u8> = BTreeMap::new();
        let timed = network.streams.iter().filter(|stream| stream.time_aware.is_some());
        for hop in timed.flat_map(|stream| &stream.hops) {
            *classes.entry(hop.port).or_default() |= 1 << hop.class.index();
        }
        let mut maker = Self {
            network,
            timing,
            quantum: 1_000,
            links: BTreeMap::new(),
            queues: BTreeMap::new(),
            classes,
            foreign: foreign.collect(),
            made,
            reasons: Vec::new(),
        };
        maker.quantum = maker.quantum();
        maker.made.problem.precision = maker.up(options.precision);
        maker
    }

    /// A common multiple of a nanosecond and the ticks of all gates.
    fn quantum(&mut self) -> u64 {
        let timed = self.network.streams.iter().filter(|stream| stream.time_aware.is_some());
        let mut ticks: Vec<u64> = timed
            .flat_map(|stream| &stream.hops)
            .map(|hop| self.network.stated_gates(hop.port).tick.as_ps().max(1))
            .collect();
        ticks.sort_unstable();
        ticks.dedup();
        let common = |quantum: u64, tick: u64| (quantum / gcd(quantum, tick)).checked_mul(tick);
        match ticks.iter().try_fold(1_000, |quantum, tick| common(quantum, *tick)) {
            Some(quantum) if quantum <= QUANTUM_MAX => quantum,
            _ => {
                self.reasons.push("the ticks of the devices have no common multiple up to 1 ms".to_owned());
                1_000
            }
        }
    }

    fn up(&self, time: Duration) -> Duration {
        Duration::from_ps(time.as_ps().div_ceil(self.quantum) * self.quantum)
    }

    fn down(&self, time: Duration) -> Duration {
        Duration::from_ps(time.as_ps() / self.quantum * self.quantum)
    }

    fn port_name(&self, port: PortIndex) -> String {
        let port = &self.network.ports[port.index()];
        format!("{}:{}", self.network.nodes[port.node.index()].name, port.name)
    }

    fn check_network(&mut self) {
        let network = self.network;
        let other = [
            (network.tdma.is_some(), "`tdma`"),
            (network.harts.is_some(), "`harts`"),
            (network.srp.is_some(), "`stream-reservation`"),
            (network.time_triggered.is_some(), "`time-triggered`"),
            (network.cyclic.is_some(), "`cyclic-queuing-and-forwarding`"),
        ];
        for (_, key) in other.into_iter().filter(|(is_there, _)| *is_there) {
            self.reasons.push(format!("time-aware streams and {key} are not scheduled together"));
        }
        if network.gate_clock() == GateClock::Gptp {
            self.reasons.push("gates follow a clock that is corrected, and have no bound then".to_owned());
        }
    }

    fn check_stream(&mut self, stream: &Stream) {
        let (network, name) = (self.network, &stream.name);
        let mut nodes = vec![stream.talker];
        nodes.extend(stream.hops.iter().map(|hop| network.ports[hop.port.index()].node));
        nodes.dedup();
        for node in nodes {
            let node = &network.nodes[node.index()];
            if !is_true(&node.clock) {
                self.reasons.push(format!("`{name}` passes {}, whose clock is not true", node.name));
            }
        }
        if let NodeKind::EndStation { host } = network.nodes[stream.talker.index()].kind {
            let host = &network.hosts[host.index()];
            if host.is_class_blind || !host.stacks.stacks.is_empty() || stream.shaped_at_talker {
                self.reasons.push(format!("the host of `{name}` decides when its frames leave"));
            }
        }
        for (number, hop) in stream.hops.iter().enumerate() {
            if let Some(why) = self.unfit(stream, number, hop) {
                self.reasons.push(format!("`{name}` at {}: {why}", self.port_name(hop.port)));
            }
        }
        self.reasons.dedup();
    }

    /// Why a port has no gates for the frames of a stream.
    fn unfit(&self, stream: &Stream, number: usize, hop: &Passage) -> Option<String> {
        let (network, class) = (self.network, hop.class.index());
        let port = &network.ports[hop.port.index()];
        let device = network.device(port.node);
        let has_stages = device.is_some_and(|device| {
            device.two_stage
                || device.stages.iter().any(|stage| stage.position == StagePosition::Transmission)
        });
        if has_stages {
            return Some("stages of its device are between the gates and the line".to_owned());
        }
        if network.cut_through(stream, number).is_some() {
            return Some("its frames are cut through".to_owned());
        }
        if port.classes[class].selection != TransmissionSelection::StrictPriority {
            return Some(format!("class {class} is shaped"));
        }
        let control = network
            .network_control
            .is_some_and(|control| port.class_table.class_of(control.priority, true).index() == class);
        if control {
            return Some(format!("network control is of class {class}, too"));
        }
        let other = &network.streams[self.foreign.get(&(hop.port, class))?.index()];
        Some(format!("`{}` is of class {class}, too, and not time-aware", other.name))
    }

    fn link(&mut self, hop: &Passage) -> usize {
        let port = hop.port;
        if let Some(link) = self.links.get(&port) {
            return *link;
        }
        let name = self.port_name(port);
        let others = self.timing.others(port);
        let is_bridge = self.network.device(self.network.ports[port.index()].node).is_some();
        let link = self.made.ports.len();
        self.made.problem.links.push(Link { name, room: None });
        self.made.ports.push(port);
        self.made.others.push(others);
        // Without gates a frame of a lower class may be in transmission.
        let has_classes = self.classes.get(&port).is_some_and(|classes| classes.count_ones() > 1);
        let gates = (is_bridge || has_classes || others.is_some()).then(|| self.network.stated_gates(port));
        self.made.gates.push(gates);
        self.links.insert(port, link);
        link
    }

    fn flow(&mut self, stream: &Stream, required: TimeAware) {
        let Traffic::Periodic { interval, jitter, burst, .. } = stream.traffic else {
            unreachable!("time-aware streams are periodic")
        };
        if !interval.as_ps().is_multiple_of(self.quantum) {
            self.reasons.push(format!(
                "the interval of `{}`, {interval}, is no multiple of {}",
                stream.name,
                Duration::from_ps(self.quantum)
            ));
            return;
        }
        let handed = handed_over(self.network, stream);
        let roots = stream.hops.iter().filter(|hop| hop.previous.is_none()).copied().collect::<Vec<_>>();
        let is_held = roots.iter().map(|hop| self.link(hop)).collect::<Vec<_>>();
        let is_held = is_held.into_iter().any(|link| self.made.gates[link].is_some());
        // Behind gates a frame waits for its window; without them its window is as long as it may be late.
        let spread = handed.max - handed.min + jitter;
        let (lead, before, late) = match is_held {
            true => (self.up(handed.max + jitter), self.up(spread), Duration::ZERO),
            false => (self.down(handed.min), Duration::ZERO, spread + (handed.min - self.down(handed.min))),
        };
        let mut hops: Vec<Hop> = Vec::with_capacity(stream.hops.len());
        let mut open = Vec::with_capacity(stream.hops.len());
        // Per hop, how late its first frame may start, and the distance of the frames of a burst.
        let mut passed: Vec<(Duration, Duration)> = Vec::with_capacity(stream.hops.len());
        for (number, at) in stream.hops.iter().enumerate() {
            let link = self.link(at);
            let previous = at.previous.map(|previous| previous as usize);
            let frame = frame_length(stream.payload_max, at.tagged);
            let own = self.timing.line_time(at.port, frame + PREAMBLE + GAP);
            let late =
                self.timing.lateness_max(at.port) + if previous.is_none() { late } else { Duration::ZERO };
            let apart = previous.map_or(own, |previous| own.max(passed[previous].1));
            let more = apart * u64::from(burst - 1);
            let guarded =
                self.made.gates[link].as_ref().map_or(frame, |gates| self.guarded(gates, at, frame));
            let opened = self.up(late + more + self.timing.line_time(at.port, guarded + PREAMBLE));
            let gap = self.timing.line_time(at.port, GAP);
            let ready = previous.map(|previous| self.ready(stream, previous, passed[previous].0));
            // Another frame that came while its gate is open could leave in its window.
            let until = if self.made.gates[link].is_some() { opened } else { self.up(late + more) };
            hops.push(Hop {
                link,
                previous,
                window: self.up(late + more + own).max(self.up(opened + gap)),
                arrival: self.arrival(stream, number, late + more),
                ready: ready.unwrap_or_default(),
                queue: Some(self.in_queue(at, before, until)),
            });
            open.push(opened);
            passed.push((late, apart));
        }
        let least = self.up(required.earliest);
        if least > required.latest || before + Duration::from_ps(self.quantum) > interval {
            let name = &stream.name;
            self.reasons.push(format!(
                "no offset of `{name}` is a multiple of the common tick, or its host is slower than that"
            ));
            return;
        }
        // The offsets are multiples of the common tick, counted from the least.
        let start = DelayRange { min: least + lead, max: required.latest + lead };
        self.made.open.push(open);
        self.made.lead.push(lead);
        self.made.problem.flows.push(Flow {
            name: stream.name.clone(),
            period: interval,
            deadline: stream.deadline.map(|deadline| deadline.saturating_sub(lead)),
            start,
            hops,
        });
    }

    /// The frame whose time the guard of a class keeps.
    fn guarded(&self, gates: &PortGates, at: &Passage, frame: Bytes) -> Bytes {
        if gates.guard != GuardPolicy::MaxSdu {
            return frame;
        }
        let mtu = self.network.ports[at.port.index()].mtu;
        frame.max(frame_length(gates.payload_max(at.class.index(), mtu), true))
    }

    fn in_queue(&mut self, at: &Passage, before: Duration, until: Duration) -> InQueue {
        let queues = &mut self.made.problem.queues;
        let queue = *self.queues.entry((at.port, at.class.index())).or_insert_with(|| {
            *queues += 1;
            *queues - 1
        });
        InQueue { queue, before, until: self.up(until.max(Duration::from_ps(1))) }
    }

    /// From a dispatch to the last bits of the first and of the last frame at the other end.
    fn arrival(&self, stream: &Stream, hop: usize, late: Duration) -> DelayRange {
        let span = self.timing.to_end(stream, hop);
        let usual = self.timing.lateness_max(stream.hops[hop].port);
        DelayRange { min: self.down(span.min), max: self.up(span.max - usual + late) }
    }

    /// From a dispatch, which may be so late, to the queues behind its link.
    fn ready(&self, stream: &Stream, hop: usize, late: Duration) -> DelayRange {
        let span = self.timing.to_buffer(stream, hop);
        let usual = self.timing.lateness_max(stream.hops[hop].port);
        DelayRange { min: self.down(span.min), max: self.up(span.max - usual + late) }
    }
}

/// Whether a clock keeps true time, except for its reading.
fn is_true(clock: &Clock) -> bool {
    clock.tolerance_ppb == 0 && clock.drift_ppb.unwrap_or(0) == 0 && clock.granularity.as_ps() <= 1
}

/// From the application to the port of the talker.
fn handed_over(network: &Network, stream: &Stream) -> DelayRange {
    let NodeKind::EndStation { host } = network.nodes[stream.talker.index()].kind else {
        return DelayRange::default();
    };
    let delay: Delay = network.hosts[host.index()].transmit;
    let (least, most) = match delay.random {
        Distribution::Zero => (Duration::ZERO, Duration::ZERO),
        Distribution::Uniform { min, max } | Distribution::Normal { min, max, .. } => (min, max),
    };
    let fixed = |payload: Bytes| {
        let octets = frame_length(payload, stream.tagged).get();
        (delay.constant + delay.per_octet * octets).saturating_sub(delay.less)
    };
    DelayRange { min: fixed(stream.payload_min) + least, max: fixed(stream.payload_max) + most }
}
