//! Synchronisation by protocol control frames in a run (SAE AS6802): the machines of all nodes, their frames on
//! the links, and how far the network times of the nodes are apart.
//!
//! A frame is one of its maker's own stream and goes the way of that. Every node adds to its transparent clock how long it
//! had the frame, by its own clock, from the last bit received (from the machine, where it is made) to the first bit
//! sent; the receiver adds what the cable and the least of the PHYs take. So what leaves by a hop is a copy of its own,
//! in the octets and in a capture. A bridge that is on the way hears a frame and passes it on.
//!
//! Every cluster has a time of its own. A machine tells start and number of a cycle; network time counts on from there. The number begins again
//! with every cluster cycle: the time that goes on is that next to the node's own, or to that of others; after
//! a loss by all it is the next that is not before. True time only compares.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use tautwire_core::as6802::{
    CliquesDetected, CommandMonitor, Maker, PcfType, ProtocolControlFrame, SyncNode, to_transparent_clock,
    transparent_time,
};
use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_model::synchronisation::{PCF_PAYLOAD, SyncCluster, SyncRole};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::EtherType;

use crate::clock::{LocalClock, SimTime};
use crate::control::contents::Frame;
use crate::engine::Engine;
use crate::frame::Slot;
use crate::plan::{NONE, Taker, index};
use crate::protocols::Leaving;
use crate::recorder::Recorder;

/// Octets on the line before the padding and check: preamble, header, data, check.
const PCF_ON_LINE: Bytes = Bytes::new(8 + 14 + PCF_PAYLOAD.get() + 4);

/// What was observed of network time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkTimeObservation {
    /// Greatest difference of the network times of two nodes that followed one cluster, at any instant of the run.
    pub precision: Duration,
    /// The same per cluster; one without protocol control frames.
    pub clusters: Vec<Duration>,
    /// Per node; empty if clocks are corrected as stated.
    pub nodes: Vec<NodeTime>,
}

/// A node's network time in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeTime {
    /// When it first had network time, true time since the start.
    pub synchronised_at: Option<Duration>,
    /// How often it lost it, other than by giving way.
    pub lost: u64,
    /// How often it left its cluster's time for that of a cluster above.
    pub gave_way: u64,
    /// The place of the cluster that it follows at the end.
    pub cluster: Option<u16>,
    /// The longest that it was without, between two times of having it.
    pub without_max: Duration,
    /// Since when it is without at the end, if it had it before.
    pub without_since: Option<Duration>,
    /// How often its machine gave up its cycles, by too few members (synchronous clique detection) and by another clique
    /// (asynchronous).
    pub cliques: CliquesDetected,
    /// When it last found another clique, true time since the start.
    pub clique_at: Option<Duration>,
}

impl NetworkTimeObservation {
    pub(crate) fn new(network: &Network) -> Self {
        let count = network.synchronisation.as_ref().map_or(0, |_| network.nodes.len());
        let clusters = network.synchronisation.as_ref().map_or(1, |made| made.clusters.len());
        Self {
            precision: Duration::ZERO,
            clusters: vec![Duration::ZERO; clusters],
            nodes: vec![NodeTime::default(); count],
        }
    }

    /// When the last of the nodes first had network time; none if one never had, or without protocol control
    /// frames.
    #[must_use]
    pub fn synchronised_at(&self) -> Option<Duration> {
        let all: Option<Vec<Duration>> = self.nodes.iter().map(|node| node.synchronised_at).collect();
        all?.into_iter().max()
    }

    /// Takes the greatest difference of two nodes that follow a cluster at an instant.
    pub(crate) fn see(&mut self, cluster: usize, apart: Duration) {
        self.clusters[cluster] = self.clusters[cluster].max(apart);
        self.precision = self.precision.max(apart);
    }
}

/// The machines of a run.
pub(crate) struct ControlFrames {
    nodes: Vec<Node>,
    agenda: BTreeSet<(SimTime, u32)>,
    /// Per stream: the node whose frames it carries, or [`NONE`].
    makers: Vec<u32>,
    /// Per cluster: the latest network time of any node, and when that was.
    latest: Vec<(Instant, SimTime)>,
}

struct Node {
    /// None while the node is stopped.
    machine: Option<SyncNode>,
    due: Option<SimTime>,
    /// Cluster, start and number of the cycle that network time counts from.
    cycle: Option<(u16, Instant, u32)>,
    /// Places of the clusters that its own gives way to, the highest first.
    above: Vec<u16>,
    babble: Option<Babble>,
    /// How much later its frames leave than they should, and those that have not left.
    mistimed: Duration,
    late: VecDeque<(SimTime, ProtocolControlFrame)>,
    /// Of a high-integrity device.
    pair: Option<CommandMonitor>,
    /// What its machine has found of cliques.
    detected: CliquesDetected,
}

/// Frames that a faulty master makes beside those of its machine.
#[derive(Clone, Copy, Debug)]
struct Babble {
    next: SimTime,
    interval: Duration,
    count: u32,
}

impl Babble {
    /// The next one: of all kinds, of any cycle, every fourth under the name of another; of a compression master
    /// with all members.
    fn frame(&mut self, cluster: &SyncCluster, cycles: u32, role: SyncRole) -> ProtocolControlFrame {
        let count = self.count;
        self.count = count.wrapping_add(1);
        self.next = self.next + self.interval;
        let membership_new = match role {
            SyncRole::Master(number) if count % 4 == 3 => 1 << ((u32::from(number) + 1) % cluster.masters),
            SyncRole::Master(number) => 1 << number,
            SyncRole::CompressionMaster(_) | SyncRole::Client => u32::MAX >> (32 - cluster.masters),
        };
        ProtocolControlFrame {
            integration_cycle: count / 3 % cycles,
            membership_new,
            sync_priority: cluster.sync_priority,
            sync_domain: cluster.domain,
            kind: [PcfType::Integration, PcfType::ColdStart, PcfType::ColdStartAcknowledge]
                [(count % 3) as usize],
            transparent_clock: 0,
        }
    }
}

impl Node {
    /// What leaves a node of the frames that its machine has made now: a faulty one adds to them, or holds them up; of a
    /// pair nothing leaves then.
    fn let_out(
        &mut self,
        network: &Network,
        number: usize,
        made: Vec<ProtocolControlFrame>,
        now: SimTime,
    ) -> Vec<ProtocolControlFrame> {
        let mut offered = made.clone();
        let synchronisation = network.synchronisation.as_ref().expect("a machine of it");
        if let Some(babble) = self.babble.as_mut().filter(|babble| babble.next <= now) {
            let cluster = synchronisation.cluster(NodeIndex::at(number));
            offered.push(babble.frame(cluster, synchronisation.cycles, synchronisation.roles[number]));
        }
        if !self.mistimed.is_zero() {
            let at = now + self.mistimed;
            self.late.extend(offered.drain(..).map(|frame| (at, frame)));
        }
        while self.late.front().is_some_and(|(at, _)| *at <= now) {
            offered.extend(self.late.pop_front().map(|(_, frame)| frame));
        }
        let passes = self.pair.as_mut().is_none_or(|pair| pair.passes(&offered, &made));
        if passes { offered } else { Vec::new() }
    }

    /// Its fault is over: it is repaired.
    fn repair(&mut self) {
        self.late.clear();
        self.pair = self.pair.map(|_| CommandMonitor::default());
    }
}

/// A node's machine.
fn machine(network: &Network, node: usize, now: Instant) -> SyncNode {
    let (part, above) = network.synchronised_node(NodeIndex::at(node)).expect("every node has a part");
    SyncNode::new(part, &above, now)
}

impl ControlFrames {
    /// None in a network without.
    pub(crate) fn new(network: &Network, clocks: &[LocalClock]) -> Option<Self> {
        let synchronisation = network.synchronisation.as_ref()?;
        let mut makers = vec![NONE; network.streams.len()];
        for (node, stream) in synchronisation.frames.iter().enumerate() {
            if let Some(stream) = stream {
                makers[stream.index()] = index(node);
            }
        }
        let node = |(number, clock): (usize, &LocalClock)| Node {
            machine: Some(machine(network, number, clock.local(SimTime::ZERO))),
            due: None,
            cycle: None,
            above: synchronisation.above(synchronisation.cluster_of[number]),
            babble: None,
            mistimed: Duration::ZERO,
            late: VecDeque::new(),
            pair: network.is_high_integrity(NodeIndex::at(number)).then(CommandMonitor::default),
            detected: CliquesDetected::default(),
        };
        let mut run = Self {
            nodes: clocks.iter().enumerate().map(node).collect(),
            agenda: BTreeSet::new(),
            makers,
            latest: vec![(Instant::ZERO, SimTime::ZERO); synchronisation.clusters.len()],
        };
        for (number, clock) in clocks.iter().enumerate() {
            run.schedule(number, *clock, SimTime::ZERO);
        }
        Some(run)
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.agenda.first().map(|(time, _)| *time)
    }

    fn schedule(&mut self, number: usize, clock: LocalClock, now: SimTime) {
        let node = &mut self.nodes[number];
        let due = node.machine.as_ref().and_then(SyncNode::deadline).map(|at| clock.true_at(at).max(now));
        let babble = node.babble.filter(|_| node.machine.is_some()).map(|babble| babble.next.max(now));
        let late = node.late.front().map(|(at, _)| (*at).max(now));
        let due = due.into_iter().chain(babble).chain(late).min();
        if due != node.due {
            if let Some(before) = std::mem::replace(&mut node.due, due) {
                self.agenda.remove(&(before, index(number)));
            }
            self.agenda.extend(due.map(|due| (due, index(number))));
        }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    fn synchronisation(&self) -> Option<&ControlFrames> {
        self.driven.as_ref()?.synchronisation.as_ref()
    }

    fn synchronisation_mut(&mut self) -> Option<&mut ControlFrames> {
        self.driven.as_mut()?.synchronisation.as_mut()
    }

    /// What was observed of network time; none without time-triggered traffic.
    pub(crate) fn network_time_observation(&self) -> Option<NetworkTimeObservation> {
        self.timed().map(|timed| timed.observed.clone())
    }

    /// Does all that the machines have to do now.
    pub(crate) fn drive_synchronisation(&mut self) {
        let now = self.now;
        while let Some((_, node)) = self
            .synchronisation()
            .and_then(|run| run.agenda.first().copied())
            .filter(|(time, _)| *time <= now)
        {
            self.act_synchronisation(node as usize);
        }
    }

    fn act_synchronisation(&mut self, number: usize) {
        let (now, clock, network) = (self.now, self.nodes[number].clock, self.network);
        let local = clock.local(now);
        let Some(run) = self.synchronisation_mut() else { return };
        let node = &mut run.nodes[number];
        let mut frames = Vec::new();
        let mut cycle = None;
        let before = node.detected;
        if let Some(machine) = &mut node.machine {
            machine.advance(local);
            frames.extend(core::iter::from_fn(|| machine.poll()));
            let own = network.synchronisation.as_ref().map_or(0, |made| made.cluster_of[number]);
            cycle = machine.time(local).map(|time| {
                let cluster = time.above.map_or(own, |place| node.above[place]);
                (cluster, time.start, time.cycle)
            });
            frames = node.let_out(network, number, frames, now);
        }
        // None of a node that is stopped, and anew of one that begins.
        node.detected = node.machine.as_ref().map(SyncNode::detected).unwrap_or_default();
        let after = node.detected;
        run.schedule(number, clock, now);
        self.note_cliques(number, before, after);
        for frame in frames {
            self.send_control_frame(number, frame);
        }
        self.set_network_time(number, cycle);
    }

    /// A machine's frame goes to its port, as the first of its way.
    fn send_control_frame(&mut self, node: usize, frame: ProtocolControlFrame) {
        let network = self.network;
        let synchronisation = network.synchronisation.as_ref().expect("a machine of it");
        let stream = synchronisation.frames[node].expect("clients make no frames").0;
        let mut octets = Vec::with_capacity(ProtocolControlFrame::LENGTH);
        frame.emit(&mut octets);
        self.send_frame(stream, Frame::new(EtherType::PCF, octets), PCF_PAYLOAD);
    }

    /// A frame begins to leave by a hop, which it came to at `came` (both true time): what leaves, if it can be read.
    pub(crate) fn pass_control_frame(&mut self, leaving: Leaving) -> Option<Rc<Frame>> {
        let Leaving { stream, number, hop, came, start, .. } = leaving;
        let network = self.network;
        let first = self.plan.first_hop[stream as usize];
        let at = &network.streams[stream as usize].hops[(hop - first) as usize];
        let clock = self.nodes[network.ports[at.port.index()].node.index()].clock;
        let had = clock.local(start).saturating_since(clock.local(came));
        let previous = at.previous.map(|previous| first + previous);
        let came_as = self.driven().contents.behind(stream, number, previous.unwrap_or(NONE))?;
        let (frame, _) = ProtocolControlFrame::parse(&came_as.octets).ok()?;
        let took = transparent_time(frame.transparent_clock);
        let took =
            took.saturating_add(previous.map_or(Duration::ZERO, |previous| self.cable(stream, previous)));
        let transparent_clock = to_transparent_clock(took.saturating_add(had));
        let mut octets = Vec::with_capacity(ProtocolControlFrame::LENGTH);
        ProtocolControlFrame { transparent_clock, ..frame }.emit(&mut octets);
        self.driven().contents.write(stream, number, hop, octets)
    }

    /// What the receiver behind a hop adds to a transparent clock.
    fn cable(&self, stream: u32, hop: u32) -> Duration {
        let network = self.network;
        let place = (hop - self.plan.first_hop[stream as usize]) as usize;
        let port = network.streams[stream as usize].hops[place].port;
        let links = network.ports[port.index()].links.expect("a hop's port is connected");
        let link = &network.links[links.egress.index()];
        link.rate.duration_floor(PCF_ON_LINE.bits()) + link.propagation + link.phy_delay.min
    }

    /// Whether the bridge at the end of a hop hears a frame that it also passes on.
    pub(crate) fn is_heard_in_passing(&self, hop: usize) -> bool {
        let (first, end) = self.plan.branches_behind[hop];
        first != end && self.plan.hops[hop].taker != Taker::NOBODY && self.synchronisation().is_some()
    }

    /// A protocol control frame was delivered: the listener's machine has it.
    pub(crate) fn take_control_frame(&mut self, slot: &Slot, listener: u32, frame: &Frame) {
        let network = self.network;
        let Ok((frame, _)) = ProtocolControlFrame::parse(&frame.octets) else { return };
        let node = network.streams[slot.stream as usize].listeners[listener as usize].index();
        let local = self.nodes[node].clock.local(self.now);
        let took =
            transparent_time(frame.transparent_clock).saturating_add(self.cable(slot.stream, slot.hop));
        let frame = ProtocolControlFrame { transparent_clock: to_transparent_clock(took), ..frame };
        let roles = &network.synchronisation.as_ref().expect("it is there").roles;
        let run = self.synchronisation_mut().expect("it is there");
        let maker = match roles[run.makers[slot.stream as usize] as usize] {
            SyncRole::Master(number) => Maker::Master(1 << number),
            SyncRole::CompressionMaster(channel) => Maker::Compression(channel),
            SyncRole::Client => unreachable!("clients make no frames"),
        };
        if let Some(machine) = &mut run.nodes[node].machine {
            machine.receive(local, maker, frame);
        }
        self.act_synchronisation(node);
        self.arm_timeline();
    }

    /// A node's machine tells the cycle that network time counts from, or that there is none.
    fn set_network_time(&mut self, number: usize, cycle: Option<(u16, Instant, u32)>) {
        let run = self.synchronisation_mut().expect("a machine of it");
        let before = std::mem::replace(&mut run.nodes[number].cycle, cycle);
        if before == cycle {
            return;
        }
        let gives_way = run.nodes[number].machine.as_ref().is_some_and(SyncNode::gives_way);
        let had = self.timed().is_some_and(|timed| timed.is_synchronised(number));
        let moves = before.zip(cycle).is_some_and(|((before, ..), (after, ..))| before != after);
        if had && (cycle.is_none() || moves) {
            self.observe_network_time();
            self.lose_network_time(number);
        }
        if let Some((cluster, start, cycle)) = cycle {
            self.count_from(number, cluster, start, cycle);
        }
        self.note_node_time(number, had, gives_way);
    }

    /// A cluster's time at a node is so many cycles since a reading of its clock.
    fn count_from(&mut self, number: usize, cluster: u16, start: Instant, cycle: u32) {
        let (now, network) = (self.now, self.network);
        let settings = network.time_triggered.expect("a time-triggered network");
        let whole = network.cluster_cycle().expect("it is synchronised").as_ps();
        let local = self.nodes[number].clock.local(now);
        let within =
            settings.integration_cycle.as_ps() * u64::from(cycle) + local.saturating_since(start).as_ps();
        let timed = self.timed().expect("a time-triggered network");
        let follows = |node: &usize| timed.follows(*node) == Some(cluster);
        let near = core::iter::once(number).chain(0..self.nodes.len()).find(follows);
        let time = match near {
            Some(node) => {
                // The nearest that is the same time of a cluster cycle.
                let near = timed.network(node, self.nodes[node].clock, now).as_ps() + whole / 2;
                let behind = (near + whole - within % whole) % whole;
                near.saturating_sub(behind)
            }
            None => {
                let (latest, at) = self.synchronisation().expect("it is there").latest[usize::from(cluster)];
                let latest = latest.as_ps() + now.since(at).as_ps();
                latest + (within % whole + whole - latest % whole) % whole
            }
        };
        let correction = i64::try_from(i128::from(time) - i128::from(local.as_ps()))
            .expect("clocks that are less than 106 days apart");
        let run = self.synchronisation_mut().expect("it is there");
        run.latest[usize::from(cluster)] = (Instant::from_ps(time), now);
        self.observe_network_time();
        self.follow(number, cluster);
        self.correct_clock(number, correction);
        self.observe_network_time();
    }

    /// Notes what a node's machine has found of cliques.
    fn note_cliques(&mut self, number: usize, before: CliquesDetected, after: CliquesDetected) {
        if before == after {
            return;
        }
        let now = self.now.since_start();
        let Some(timed) = self.timed_mut() else { return };
        let node = &mut timed.observed.nodes[number];
        node.cliques.synchronous += after.synchronous.saturating_sub(before.synchronous);
        node.cliques.asynchronous += after.asynchronous.saturating_sub(before.asynchronous);
        if after.asynchronous > before.asynchronous {
            node.clique_at = Some(now);
        }
    }

    /// Notes since when a node has network time, or is without.
    fn note_node_time(&mut self, number: usize, had: bool, gives_way: bool) {
        let now = self.now.since_start();
        let Some(timed) = self.timed_mut() else { return };
        let follows = timed.follows(number);
        let node = &mut timed.observed.nodes[number];
        node.cluster = follows;
        if follows.is_some() && !had {
            node.synchronised_at.get_or_insert(now);
            if let Some(since) = node.without_since.take() {
                node.without_max = node.without_max.max(now.saturating_sub(since));
            }
        } else if had && follows.is_none() {
            if gives_way {
                node.gave_way += 1;
            } else {
                node.lost += 1;
            }
            node.without_since = Some(now);
        }
    }

    /// A master begins to make frames without end, or ends it.
    #[cold]
    pub(crate) fn babble(&mut self, number: usize, interval: Option<Duration>) {
        let now = self.now;
        let babble = interval.map(|interval| Babble { next: now, interval, count: 0 });
        self.fail_synchronisation(number, |node| node.babble = babble);
    }

    /// A master's frames leave so much later from now on.
    #[cold]
    pub(crate) fn mistime(&mut self, number: usize, by: Duration) {
        self.fail_synchronisation(number, |node| node.mistimed = by);
    }

    fn fail_synchronisation(&mut self, number: usize, change: impl FnOnce(&mut Node)) {
        let (now, clock) = (self.now, self.nodes[number].clock);
        let Some(run) = self.synchronisation_mut() else { return };
        let node = &mut run.nodes[number];
        change(node);
        if node.babble.is_none() && node.mistimed.is_zero() {
            node.repair();
        }
        run.schedule(number, clock, now);
        self.arm_timeline();
    }

    /// A node stops, or comes back anew.
    #[cold]
    pub(crate) fn synchronised_node(&mut self, number: usize, up: bool) {
        let (now, network, clock) = (self.now, self.network, self.nodes[number].clock);
        let Some(run) = self.synchronisation_mut() else { return };
        run.nodes[number].machine = up.then(|| machine(network, number, clock.local(now)));
        run.schedule(number, clock, now);
        self.act_synchronisation(number);
        self.arm_timeline();
    }
}
