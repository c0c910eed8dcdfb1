//! gPTP in a run: the machines of all nodes, their messages on the links with stamps, and how far every node's idea of the time is off.
//!
//! A message is a frame of its port's own stream. It is stamped where the bit behind its start delimiter passes the interface: by the
//! sender's clock when it leaves, by the receiver's when it comes, rounded down to the node's quantum and late by its error. Between a
//! message's arrival and what follows from it stands the node's processing; that is the residence time of a bridge. True time
//! only samples the result: a node's time of the grandmaster, less what the grandmaster's clock then reads.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use tautwire_core::gptp::peer_delay::reading_ps;
use tautwire_core::gptp::{DisciplinedClock, GptpNode};
use tautwire_model::Network;
use tautwire_model::gptp::GptpSettings;
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_observe::SignedMoments;
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::ptp::{PTP_ETHER_TYPE, PtpMessage};

use crate::clock::{LocalClock, SimTime};
use crate::discipline::Discipline;
use crate::engine::Engine;
use crate::plan::{NONE, index};
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::DropReason;

/// Octets before the time-stamp point: preamble and start delimiter.
const PREAMBLE: Bytes = Bytes::new(8);

/// What was observed of a node's time.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockObservation {
    /// The node.
    pub node: NodeIndex,
    /// Whom it follows at the end of the run, itself perhaps; none without a grandmaster.
    pub grandmaster: Option<NodeIndex>,
    /// Ports that are capable (asCapable) at the end.
    pub capable_ports: u32,
    /// Its time of the grandmaster, less the reading of that grandmaster's clock, in samples after the warm-up.
    pub offset: SignedMoments,
    /// Samples in which it had no time.
    pub without: u64,
    /// When it first had the time of a grandmaster, true time since the start.
    pub synchronised_at: Option<Duration>,
    /// Its corrected clock, of an end station in a network with a servo.
    pub corrected: Option<CorrectedObservation>,
}

/// What was observed of a corrected clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorrectedObservation {
    /// Its reading, less that of its grandmaster's clock, in samples after the warm-up.
    pub offset: SignedMoments,
    /// How often it was stepped.
    pub steps: u64,
}

/// gPTP of a run.
pub(crate) struct Gptp {
    pub(crate) nodes: Vec<Node>,
    agenda: BTreeSet<(SimTime, u32)>,
    /// Per stream of the network: the port that sends its messages, or [`NONE`].
    senders: Vec<u32>,
    on_line: Vec<VecDeque<Flying>>,
    next_sample: SimTime,
    told: u64,
}

/// A message on its way.
struct Flying {
    number: u32,
    message: Rc<PtpMessage>,
    /// When its time-stamp point passes the receiver.
    comes: SimTime,
}

/// What a node is told.
enum Item {
    Sent(usize, Rc<PtpMessage>, Instant),
    Received(usize, Rc<PtpMessage>, Instant),
}

pub(crate) struct Node {
    /// None while the node is stopped.
    pub(crate) machine: Option<GptpNode>,
    ports: Vec<u32>,
    inbox: BTreeMap<(SimTime, u64), Item>,
    busy_until: SimTime,
    random: Random,
    due: Option<SimTime>,
    offset: SignedMoments,
    without: u64,
    synchronised_at: Option<Duration>,
    /// Of an end station in a network with a servo.
    pub(crate) discipline: Option<Discipline>,
}

impl Gptp {
    /// The corrected clock of a node, if it has one.
    pub(crate) fn disciplined(&self, node: usize) -> Option<DisciplinedClock> {
        self.nodes[node].discipline.as_ref().map(|discipline| discipline.clock)
    }

    /// None in a network without gPTP.
    pub(crate) fn new(network: &Network, clocks: &[LocalClock], seed: u64) -> Option<Self> {
        let gptp = network.gptp.as_ref()?;
        let mut senders = vec![NONE; network.streams.len()];
        for (port, stream) in gptp.messages.iter().enumerate() {
            if let Some(stream) = stream {
                senders[stream.index()] = index(port);
            }
        }
        let mut run = Self {
            nodes: Vec::new(),
            agenda: BTreeSet::new(),
            senders,
            on_line: (0..network.streams.len()).map(|_| VecDeque::new()).collect(),
            next_sample: SimTime::ZERO + network.run.warm_up.max(gptp.sample_interval),
            told: 0,
        };
        for (number, clock) in clocks.iter().enumerate() {
            let node = NodeIndex::at(number);
            run.nodes.push(Node {
                machine: Some(GptpNode::new(network.gptp_node(node), clock.local(SimTime::ZERO))),
                ports: network.gptp_ports(node).into_iter().map(|port| port.0).collect(),
                inbox: BTreeMap::new(),
                busy_until: SimTime::ZERO,
                random: Random::new(seed, Purpose::Gptp, number),
                due: None,
                offset: SignedMoments::default(),
                without: 0,
                synchronised_at: None,
                discipline: Discipline::new(network, node, clock.local(SimTime::ZERO)),
            });
            run.schedule(number, *clock, SimTime::ZERO);
        }
        Some(run)
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.agenda.first().map(|(time, _)| *time).into_iter().chain([self.next_sample]).min()
    }

    /// What was observed.
    pub(crate) fn observations(self, network: &Network) -> Vec<ClockObservation> {
        let of = |(number, node): (usize, Node)| {
            let machine = node.machine.as_ref();
            let capable = |machine: &GptpNode| {
                (0..node.ports.len()).filter(|port| machine.peer_delay(*port).is_capable()).count()
            };
            ClockObservation {
                node: NodeIndex::at(number),
                grandmaster: machine.and_then(|machine| grandmaster(network, machine)),
                capable_ports: machine.map_or(0, |machine| index(capable(machine))),
                offset: node.offset,
                without: node.without,
                synchronised_at: node.synchronised_at,
                corrected: node.discipline.map(|discipline| discipline.observed),
            }
        };
        self.nodes.into_iter().enumerate().map(of).collect()
    }

    fn schedule(&mut self, number: usize, clock: LocalClock, now: SimTime) {
        let node = &mut self.nodes[number];
        let timers = node.machine.as_ref().map(|machine| clock.true_at(machine.deadline()));
        let told = node.inbox.first_key_value().map(|((at, _), _)| *at);
        let due = timers.into_iter().chain(told).min().map(|due| due.max(now));
        if due != node.due {
            let before = std::mem::replace(&mut node.due, due);
            if let Some(before) = before {
                self.agenda.remove(&(before, index(number)));
            }
            self.agenda.extend(due.map(|due| (due, index(number))));
        }
    }

    fn tell(&mut self, number: usize, at: SimTime, item: Item) {
        self.told += 1;
        self.nodes[number].inbox.insert((at, self.told), item);
    }
}

/// The node whose clock a machine follows.
fn grandmaster(network: &Network, machine: &GptpNode) -> Option<NodeIndex> {
    let identity = machine.grandmaster()?.identity;
    (0..network.nodes.len()).map(NodeIndex::at).find(|node| network.gptp_identity(*node) == identity)
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    pub(crate) fn gptp(&mut self) -> &mut Gptp {
        self.driven.as_mut().and_then(|driven| driven.gptp.as_mut()).expect("gPTP")
    }

    fn gptp_settings(&self, node: usize) -> GptpSettings {
        self.network.gptp.as_ref().expect("gPTP").nodes[node]
    }

    /// Does all that gPTP has to do now.
    #[cold]
    pub(crate) fn drive_gptp(&mut self) {
        if self.network.gptp.is_none() {
            return;
        }
        let now = self.now;
        while let Some((_, node)) = self.gptp().agenda.first().copied().filter(|(time, _)| *time <= now) {
            self.act_gptp(node as usize);
        }
        if self.gptp().next_sample <= now {
            let interval = self.network.gptp.as_ref().expect("gPTP").sample_interval;
            self.gptp().next_sample = now + interval;
            self.sample_clocks();
        }
    }

    fn act_gptp(&mut self, number: usize) {
        let now = self.now;
        let clock = self.nodes[number].clock;
        let local = clock.local(now);
        let node = &mut self.gptp().nodes[number];
        let mut messages = Vec::new();
        if let Some(machine) = &mut node.machine {
            while let Some(entry) = node.inbox.first_entry().filter(|entry| entry.key().0 <= now) {
                match entry.remove() {
                    Item::Sent(port, message, left) => machine.sent(port, &message, left),
                    Item::Received(port, message, came) => machine.receive(local, port, &message, came),
                }
            }
            if machine.deadline() <= local {
                machine.advance(local);
            }
            if node.synchronised_at.is_none() && machine.grandmaster_time(local).is_some() {
                node.synchronised_at = Some(now.since_start());
            }
            while let Some((port, message)) = machine.poll() {
                messages.push((node.ports[port], message));
            }
        }
        for (port, message) in messages {
            self.send_message(port, message);
        }
        self.discipline(number);
        self.gptp().schedule(number, clock, now);
    }

    fn send_message(&mut self, port: u32, message: PtpMessage) {
        let gptp = self.network.gptp.as_ref().expect("gPTP");
        let stream = gptp.messages[port as usize].expect("a port with a cable has messages").0;
        let mut octets = Vec::new();
        message.emit(&mut octets);
        let number = self.talkers[stream as usize].number;
        self.talkers[stream as usize].number += 1;
        let flying = Flying { number, message: Rc::new(message), comes: self.now };
        self.gptp().on_line[stream as usize].push_back(flying);
        self.recorder.contents(stream, number, PTP_ETHER_TYPE, &octets);
        let (place, aim) = self.insert(stream, number, Bytes::new(octets.len() as u64), self.now);
        match aim {
            Some(aim) => self.take_aim(place, aim),
            None => self.drop_at_talker(place, DropReason::NoRoute),
        }
    }

    /// A message's transmission begins: its stamps are known.
    pub(crate) fn stamp_message(&mut self, stream: u32, number: u32, start: SimTime, flight: Duration) {
        let network = self.network;
        if network.gptp.is_none() || self.gptp().senders[stream as usize] == NONE {
            return;
        }
        let port = self.gptp().senders[stream as usize];
        let links = network.ports[port as usize].links.expect("it has a cable");
        let left = start + network.links[links.egress.index()].rate.duration_ceil(PREAMBLE.bits());
        let node = network.ports[port as usize].node.index();
        let clock = self.nodes[node].clock;
        let settings = self.gptp_settings(node);
        let gptp = self.gptp();
        let flying = gptp.on_line[stream as usize].iter_mut().find(|flying| flying.number == number);
        let flying = flying.expect("a message on its way");
        flying.comes = left + flight;
        let message = Rc::clone(&flying.message);
        let own = &mut gptp.nodes[node];
        let stamp = stamp(&settings, clock, left, &mut own.random);
        let place = own.ports.iter().position(|own| *own == port).expect("a port with a cable");
        gptp.tell(node, left, Item::Sent(place, message, stamp));
        let now = self.now;
        self.gptp().schedule(node, clock, now);
        self.arm_timeline();
    }

    /// Whether a delivered frame was a message of gPTP; then its node has it to process.
    pub(crate) fn take_message(&mut self, stream: u32, number: u32, time: SimTime) -> bool {
        let network = self.network;
        if network.gptp.is_none() || self.gptp().senders[stream as usize] == NONE {
            return false;
        }
        let sender = self.gptp().senders[stream as usize];
        let links = network.ports[sender as usize].links.expect("it has a cable");
        let to = network.links[links.egress.index()].to;
        let node = network.ports[to.index()].node.index();
        // A link keeps the order of frames: those before it were lost.
        let mut found = None;
        while let Some(flying) = self.gptp().on_line[stream as usize].pop_front() {
            if flying.number == number {
                found = Some(flying);
                break;
            }
        }
        let flying = found.expect("a message on its way");
        let clock = self.nodes[node].clock;
        let settings = self.gptp_settings(node);
        let gptp = self.gptp();
        let own = &mut gptp.nodes[node];
        let came = stamp(&settings, clock, flying.comes, &mut own.random);
        let place = own.ports.iter().position(|own| *own == to.0).expect("a port with a cable");
        own.busy_until = own.busy_until.max(time) + own.random.delay(&settings.processing, 0);
        let done = own.busy_until;
        gptp.tell(node, done, Item::Received(place, flying.message, came));
        let now = self.now;
        self.gptp().schedule(node, clock, now);
        self.arm_timeline();
        true
    }

    /// How far every node's time is off.
    fn sample_clocks(&mut self) {
        let now = self.now;
        for number in 0..self.nodes.len() {
            let local = self.nodes[number].clock.local(now);
            let network = self.network;
            let node = &self.gptp().nodes[number];
            let known = node
                .machine
                .as_ref()
                .and_then(|machine| Some((machine.grandmaster_time(local)?, grandmaster(network, machine)?)));
            let offset = known.map(|(time, master)| {
                let reading = self.nodes[master.index()].clock.local(now);
                i64::try_from(time - reading_ps(reading)).unwrap_or(i64::MAX)
            });
            let node = &mut self.gptp().nodes[number];
            if let (Some((time, _)), Some(offset), Some(discipline)) = (known, offset, &mut node.discipline) {
                let ahead = discipline.clock.reading(local) - time + i128::from(offset);
                discipline.observed.offset.add(i64::try_from(ahead).unwrap_or(i64::MAX));
            }
            match offset {
                Some(offset) => node.offset.add(offset),
                None => node.without += 1,
            }
        }
    }

    /// A cable is cut or mended.
    #[cold]
    pub(crate) fn gptp_link(&mut self, cable: u32, up: bool) {
        if self.network.gptp.is_none() {
            return;
        }
        let link = &self.network.links[cable as usize * 2];
        for port in [link.from, link.to] {
            self.gptp_port(port, up);
        }
        self.arm_timeline();
    }

    fn gptp_port(&mut self, port: PortIndex, up: bool) {
        let now = self.now;
        let number = self.network.ports[port.index()].node.index();
        let clock = self.nodes[number].clock;
        let node = &mut self.gptp().nodes[number];
        let place = node.ports.iter().position(|own| *own == port.0).expect("a port with a cable");
        if let Some(machine) = &mut node.machine {
            machine.set_up(clock.local(now), place, up);
        }
        self.gptp().schedule(number, clock, now);
    }

    /// A node stops, or comes back anew; its neighbours see their links go and come.
    #[cold]
    pub(crate) fn gptp_node(&mut self, number: usize, up: bool) {
        let (now, network) = (self.now, self.network);
        if network.gptp.is_none() {
            return;
        }
        let clock = self.nodes[number].clock;
        let config = network.gptp_node(NodeIndex::at(number));
        let node = &mut self.gptp().nodes[number];
        node.machine = up.then(|| GptpNode::new(config, clock.local(now)));
        node.inbox.clear();
        self.gptp().schedule(number, clock, now);
        for port in network.gptp_ports(NodeIndex::at(number)) {
            let links = network.ports[port.index()].links.expect("it has a cable");
            self.gptp_port(network.links[links.egress.index()].to, up);
        }
        self.arm_timeline();
    }
}

/// A stamp of what passes at a true time.
fn stamp(settings: &GptpSettings, clock: LocalClock, at: SimTime, random: &mut Random) -> Instant {
    let reading = clock.local(at + random.delay(&settings.stamp_error, 0)).as_ps();
    let quantum = settings.stamp_quantum.as_ps().max(1);
    Instant::from_ps(reading / quantum * quantum)
}
