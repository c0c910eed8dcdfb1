//! HaRTES in a run: masters open elementary cycles with trigger messages, nodes send what is polled, switches police.
//!
//! A trigger message is a frame of its port's own stream and goes no further than the node at the end of the cable. When the
//! node's host has received it, the node sends what it polls; since when that waits, from which its delay counts, is looked up by
//! the master and the cycle that the message names. A node that misses one sends nothing that is polled until the next. A policed
//! frame is judged when its last bit is in; one that is reshaped reaches the device's stages that much later. Not here: the servers
//! (`core`), the schedule (`core`).

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use tautwire_core::harts::servers::{ServerConfig, ServerKind, ServerWindow};
use tautwire_core::harts::{FttNode, Scheduled, SynchronousScheduler};
use tautwire_model::Network;
use tautwire_model::harts::Harts;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex, StreamIndex};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::harts::{FTT, FttMessage, Polled};

use super::admission::Admission;
use super::relayed::relay;
use crate::clock::{LocalClock, SimTime};
use crate::control::contents::Frame;
use crate::control::{CycleFrame, Cycles, Holding, Policing};
use crate::engine::Engine;
use crate::harts::{HartsObservation, ListeningObservation, MasterObservation};
use crate::plan::index;
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;

/// How long a node waits for an answer before it asks again, where admission is not described.
const PATIENCE: Duration = Duration::from_ms(100);

/// Cycles of a master of which it is known when their messages were released.
const CYCLES_NOTED: usize = 256;

/// Masters and nodes of a run.
pub(crate) struct Ftt {
    /// Per node.
    pub(super) masters: Vec<Option<Master>>,
    /// Per node.
    nodes: Vec<Option<Node>>,
    /// Trigger messages in their nodes' hosts, by the time at which they are decoded.
    decoding: BTreeMap<(SimTime, u64), (u32, FttMessage)>,
    decoded: u64,
    random: Random,
}

/// The master of a switch.
pub(super) struct Master {
    pub(super) scheduler: SynchronousScheduler,
    /// The first cycle begins here on the switch's clock.
    base: Instant,
    /// Its next cycle does.
    next: Instant,
    /// Of the last cycles that polled anything: when that was released, by stream.
    released: VecDeque<(u32, Vec<(u16, SimTime)>)>,
    seen: MasterObservation,
}

struct Node {
    machine: FttNode,
    /// The cycle whose trigger message it heard last.
    heard: Option<u32>,
    seen: ListeningObservation,
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// What holds for the data plane from the start. What is asked for has no server before a switch has derived it: its frames go by
    /// the background server, and those of its ports that it may get stand closed.
    pub(crate) fn begin_harts(&mut self) {
        let network = self.network;
        let Some(harts) = &network.harts else { return };
        let is_asked = |stream| harts.admission.as_ref().is_some_and(|own| own.request(stream).is_some());
        self.note_cycles(harts.cycle);
        for reservation in harts.reservations.iter().filter(|reservation| !is_asked(reservation.stream)) {
            if let Some(police) = reservation.police {
                self.police(reservation.stream, Some(police.policer()));
            }
        }
        for relayed in &harts.ftt.relayed {
            let pool = Some(relayed.pool).filter(|_| !is_asked(relayed.stream));
            self.set_pool(relayed.switch, relayed.stream, pool);
        }
        for request in harts.admission.iter().flat_map(|admission| &admission.requests) {
            self.close_servers(request.stream);
        }
    }

    fn close_servers(&mut self, stream: StreamIndex) {
        let network = self.network;
        let harts = network.harts.as_ref().expect("a network with HaRTES");
        let closed = ServerConfig {
            parent: None,
            kind: ServerKind::Deferrable,
            capacity: Some(0),
            period: 1,
            priority: 0,
            window: ServerWindow::Asynchronous,
        };
        let is_reserved = harts.reservations.iter().any(|known| known.stream == stream);
        let first = self.plan.first_hop[stream.index()] as usize;
        for (place, hop) in network.streams[stream.index()].hops.iter().enumerate() {
            let Some(lane) = network.server_of(stream, hop.port) else { continue };
            let background = network.background_server(hop.port);
            if let Some(background) = background.and_then(|lane| u16::try_from(lane).ok()) {
                self.plan.hops[first + place].lane = background;
            }
            let node = network.ports[hop.port.index()].node;
            let served = is_reserved && !harts.ftt.is_synchronous_at(stream, node);
            if let Some(port) = self.ports[hop.port.index()].as_mut().filter(|_| served) {
                port.egress.install_server(Instant::ZERO, lane, closed, None);
            }
        }
    }
}

impl Ftt {
    /// None in a network without HaRTES.
    pub(crate) fn new(network: &Network, clocks: &[LocalClock], seed: u64) -> Option<Self> {
        let harts = network.harts.as_ref()?;
        let nodes = 0..network.nodes.len();
        Some(Self {
            masters: nodes.clone().map(|node| master(network, harts, node, clocks)).collect(),
            nodes: nodes.map(|node| station(network, harts, node)).collect(),
            decoding: BTreeMap::new(),
            decoded: 0,
            random: Random::new(seed, Purpose::Ftt, 0),
        })
    }

    /// When something is to be done next; `clock` gives that of a node, `living` of one that is not stopped.
    pub(crate) fn next(
        &self,
        clock: impl Fn(usize) -> LocalClock,
        living: impl Fn(usize) -> Option<LocalClock>,
    ) -> Option<SimTime> {
        let masters = self.masters.iter().enumerate();
        let opens = masters.filter_map(|(node, master)| Some(clock(node).true_at(master.as_ref()?.next)));
        let decoded = self.decoding.first_key_value().map(|((at, _), _)| *at);
        let nodes = self.nodes.iter().enumerate();
        let asks = nodes
            .filter_map(|(node, state)| Some(living(node)?.true_at(state.as_ref()?.machine.deadline()?)));
        opens.chain(decoded).chain(asks).min()
    }

    /// A switch forgets all messages of relayed streams.
    pub(crate) fn empty_pools(&mut self, node: usize) {
        if let Some(master) = &mut self.masters[node] {
            master.scheduler.empty_pools();
        }
    }

    /// What was observed.
    pub(crate) fn observation(
        self,
        admission: Option<Admission>,
        frames: Vec<CycleFrame>,
        overflowed: impl Fn(NodeIndex) -> u64,
    ) -> HartsObservation {
        let mut seen = HartsObservation {
            masters: self
                .masters
                .into_iter()
                .flatten()
                .map(|master| MasterObservation { overflowed: overflowed(master.seen.switch), ..master.seen })
                .collect(),
            frames,
            nodes: self.nodes.into_iter().flatten().map(|node| node.seen).collect(),
            ..HartsObservation::default()
        };
        if let Some(admission) = admission {
            admission.finish(&mut seen);
        }
        seen
    }
}

fn master(network: &Network, harts: &Harts, node: usize, clocks: &[LocalClock]) -> Option<Master> {
    let NodeKind::Bridge { .. } = network.nodes[node].kind else { return None };
    let sends = |port: usize| harts.ftt.triggers.get(port).copied().flatten().is_some();
    let relays = harts.ftt.relayed.iter().any(|relayed| relayed.switch.index() == node);
    if !relays && !network.nodes[node].ports.clone().any(|port| sends(port as usize)) {
        return None;
    }
    let window = harts.ftt.windows[node].unwrap_or_default();
    let mut scheduler = SynchronousScheduler::new(harts.ftt.policy, window);
    let stands =
        |stream| harts.admission.as_ref().is_none_or(|admission| admission.request(stream).is_none());
    let here = harts.ftt.polled.iter().filter(|polled| polled.switch.index() == node);
    for polled in here.filter(|polled| stands(polled.stream)) {
        assert!(scheduler.add(polled.config), "a checked message fits its window");
    }
    relay(network, node, &mut scheduler);
    let cycle = harts.cycle.as_ps();
    let base = Instant::from_ps(clocks[node].local(SimTime::ZERO).as_ps().div_ceil(cycle) * cycle);
    let seen = MasterObservation::of(NodeIndex::at(node));
    Some(Master { scheduler, base, next: base, released: VecDeque::new(), seen })
}

impl Master {
    fn note_released(&mut self, cycle: u32, released: Vec<(u16, SimTime)>) {
        if released.is_empty() {
            return;
        }
        if self.released.len() == CYCLES_NOTED {
            self.released.pop_front();
        }
        self.released.push_back((cycle, released));
    }

    /// When the messages of a stream that a cycle polls were released.
    fn released(&self, cycle: u32, stream: u16) -> Vec<SimTime> {
        let of = self.released.iter().rev().filter(|(noted, _)| *noted == cycle).flat_map(|(_, all)| all);
        of.filter(|(id, _)| *id == stream).map(|(_, at)| *at).collect()
    }
}

fn station(network: &Network, harts: &Harts, node: usize) -> Option<Node> {
    let NodeKind::EndStation { .. } = network.nodes[node].kind else { return None };
    let number = index(node);
    let triggered = harts.ftt.triggers.iter().flatten();
    let master = triggered
        .map(|stream| &network.streams[stream.index()])
        .find(|stream| stream.listeners.iter().any(|listener| listener.0 == number))?
        .talker;
    let short = |node: u32| u16::try_from(node).unwrap_or(u16::MAX);
    let patience = harts.admission.as_ref().map_or(PATIENCE, |admission| admission.patience);
    let mut machine = FttNode::new(short(number), short(master.0), patience);
    for polled in &harts.ftt.polled {
        let stream = &network.streams[polled.stream.index()];
        // What is asked for is held when it is granted.
        let is_asked =
            harts.admission.as_ref().is_some_and(|admission| admission.request(polled.stream).is_some());
        if stream.talker.0 != number || is_asked {
            continue;
        }
        if let Some(held) = network.harts_request(polled.stream) {
            machine.hold(held);
        }
    }
    Some(Node { machine, heard: None, seen: ListeningObservation::of(NodeIndex::at(node)) })
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    pub(crate) fn ftt(&mut self) -> Option<&mut Ftt> {
        self.driven.as_mut()?.ftt.as_mut()
    }

    /// The machine of an end station.
    pub(crate) fn ftt_node(&mut self, node: usize) -> Option<&mut FttNode> {
        Some(&mut self.ftt()?.nodes[node].as_mut()?.machine)
    }

    /// The master of a switch takes a synchronous stream into its schedule, or out of it; what its pool still holds is lost.
    pub(crate) fn schedule_stream(&mut self, stream: StreamIndex, node: usize, schedule: Option<Scheduled>) {
        let harts = self.network.harts.as_ref().expect("a network with HaRTES");
        if !harts.ftt.is_synchronous_at(stream, NodeIndex::at(node)) {
            return;
        }
        let Some(master) = self.ftt().and_then(|ftt| ftt.masters[node].as_mut()) else { return };
        let scheduler = &mut master.scheduler;
        match schedule {
            // Not new: another consumer, at a slower line, or one that left.
            Some(Scheduled::Polled(config)) => {
                let _ = scheduler.add(config) || scheduler.change(config);
            }
            Some(Scheduled::Relayed(config, pool)) => {
                if scheduler.relay(config, pool) {
                    self.set_pool(NodeIndex::at(node), stream, Some(pool));
                } else {
                    scheduler.change(config);
                }
            }
            None => {
                scheduler.remove(u16::try_from(stream.index()).unwrap_or(u16::MAX));
                let is_relayed = harts.ftt.relayed(stream, NodeIndex::at(node)).is_some();
                if is_relayed {
                    self.set_pool(NodeIndex::at(node), stream, None);
                }
            }
        }
    }

    /// Does all that masters and nodes have to do now.
    pub(crate) fn drive_ftt(&mut self) {
        if self.network.harts.is_none() {
            return;
        }
        for node in 0..self.nodes.len() {
            let local = self.nodes[node].clock.local(self.now);
            while self
                .ftt()
                .is_some_and(|ftt| ftt.masters[node].as_ref().is_some_and(|master| master.next <= local))
            {
                self.open_cycle(node);
            }
        }
        let now = self.now;
        while let Some((_, (node, message))) = self.ftt().and_then(|ftt| {
            let ((at, _), _) = ftt.decoding.first_key_value()?;
            if *at <= now { ftt.decoding.pop_first() } else { None }
        }) {
            self.heed_trigger(node as usize, &message);
        }
    }

    /// A master opens a cycle: every node at its switch is sent the trigger message.
    fn open_cycle(&mut self, node: usize) {
        let network = self.network;
        let harts = network.harts.as_ref().expect("a network with HaRTES");
        let clock = self.nodes[node].clock;
        let up = self.nodes[node].up;
        self.count_held(node);
        let Some(master) = self.ftt().and_then(|ftt| ftt.masters[node].as_mut()) else { return };
        let cycle = master.scheduler.cycle();
        let polled = master.scheduler.next_cycle();
        let relayed = master.scheduler.relayed().to_vec();
        let base = master.base;
        master.next += harts.cycle;
        let begin = |number: u32| clock.true_at(base + harts.cycle * u64::from(number));
        let released: Vec<(u16, SimTime)> =
            master.scheduler.released().iter().map(|(id, number)| (*id, begin(*number))).collect();
        master.seen.cycles += 1;
        master.seen.polled += released.len() as u64;
        master.seen.dropped = u64::from(master.scheduler.missed());
        master.seen.relayed += relayed.len() as u64;
        master.seen.longest = master.seen.longest.max(master.scheduler.taken());
        self.send_relayed(node, &relayed);
        if !up {
            return;
        }
        for (id, _) in &released {
            let talker = network.streams[usize::from(*id)].talker.index();
            if let Some(node) = self.ftt().and_then(|ftt| ftt.nodes[talker].as_mut()) {
                node.seen.polled += 1;
            }
        }
        if let Some(master) = self.ftt().and_then(|ftt| ftt.masters[node].as_mut()) {
            master.note_released(cycle, released);
        }
        let message = FttMessage::Trigger { master: u16::try_from(node).unwrap_or(u16::MAX), cycle, polled };
        let mut octets = Vec::new();
        message.emit(&mut octets);
        let frame = Rc::new(Frame::new(FTT, octets));
        for port in network.nodes[node].ports.clone() {
            if let Some(stream) = harts.ftt.triggers[port as usize] {
                self.send_trigger(stream.0, PortIndex(port), &frame);
            }
        }
    }

    fn send_trigger(&mut self, stream: u32, port: PortIndex, frame: &Rc<Frame>) {
        let links = self.network.ports[port.index()].links.expect("a port with trigger messages has a cable");
        let far = self.network.ports[self.network.links[links.egress.index()].to.index()].node;
        if let Some(node) = self.ftt().and_then(|ftt| ftt.nodes[far.index()].as_mut()) {
            node.seen.sent += 1;
        }
        let octets = Bytes::new(frame.octets.len() as u64);
        let payload = octets.max(self.network.streams[stream as usize].payload_min);
        self.send_frame(stream, Rc::clone(frame), payload);
    }

    /// A message of HaRTES was delivered: the node reads it if it is a trigger message; a switch may send another one on as it is.
    pub(crate) fn take_ftt(&mut self, stream: u32, frame: &Rc<Frame>, time: SimTime) {
        match FttMessage::parse(&frame.octets) {
            Ok((message @ FttMessage::Trigger { .. }, _)) => {
                self.take_trigger(stream, message, frame.octets.len() as u64, time);
            }
            _ => self.take_ftt_message(stream, frame),
        }
    }

    /// A trigger message was delivered: its node's host has it to receive.
    fn take_trigger(&mut self, stream: u32, message: FttMessage, octets: u64, time: SimTime) {
        let network = self.network;
        let node = network.streams[stream as usize].listeners[0];
        let NodeKind::EndStation { host } = network.nodes[node.index()].kind else { return };
        if let Some(ftt) = self.ftt() {
            let receive = &network.hosts[host.index()].receive;
            let at = time + ftt.random.delay(receive, (octets + 18).max(64));
            ftt.decoded += 1;
            ftt.decoding.insert((at, ftt.decoded), (node.0, message));
        }
        self.arm_timeline();
    }

    /// A node has decoded a trigger message, and sends what of it is its own.
    fn heed_trigger(&mut self, node: usize, message: &FttMessage) {
        let FttMessage::Trigger { master, cycle, .. } = *message else { return };
        if !self.nodes[node].up {
            return;
        }
        let (now, local) = (self.now, self.nodes[node].clock.local(self.now));
        let Some(state) = self.ftt().and_then(|ftt| ftt.nodes[node].as_mut()) else { return };
        let polled = state.machine.receive(local, message);
        state.heard = Some(cycle);
        state.seen.heard += 1;
        for Polled { stream: id, frames } in polled {
            let stream = StreamIndex(u32::from(id));
            let released = self.ftt().and_then(|ftt| ftt.masters.get(usize::from(master))?.as_ref());
            let mut since = released.map(|master| master.released(cycle, id)).unwrap_or_default().into_iter();
            for _ in 0..frames {
                let since = since.next().unwrap_or(now);
                if self.talkers[stream.index()].running {
                    if let Some(state) = self.ftt().and_then(|ftt| ftt.nodes[node].as_mut()) {
                        state.seen.answered += 1;
                    }
                    self.create_next(stream.0, since);
                }
            }
        }
    }
}
