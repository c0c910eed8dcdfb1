//! Stream reservation in a run: MSRP's machines of all nodes, their MRPDUs on the links, and the talkers that they start and stop.
//!
//! An MRPDU is a frame of its port's own stream; what it says travels beside it, by its number. At its end it waits for the node's
//! processor, which takes MRPDUs one after the other, and is heard when that is done. A node's timers run on its clock, in steps if
//! its software looks at them in steps. What happens is written into the ladders of the streams (`reservation.rs`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use tautwire_core::srp::station::Offer;
use tautwire_core::srp::{SrpBridge, SrpStation};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex};
use tautwire_model::reservation::SrpNode as Settings;
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::mrp::{
    AttributeEvent, AttributeValue, Declared, ListenerDeclaration, MrpPdu, MsrpValue, StreamId,
};

use crate::clock::{LocalClock, SimTime};
use crate::engine::Engine;
use crate::plan::{NONE, index};
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::reservation::{Declaration, ReservationObservation, Rung, RungEvent};
use crate::result::DropReason;

type Pdu = Rc<MrpPdu<MsrpValue>>;

/// Stream reservation of a run.
pub(crate) struct Srp {
    nodes: Vec<Node>,
    /// When each node acts next.
    agenda: BTreeSet<(SimTime, u32)>,
    /// What applications ask for, in order of time, and how many of it are done.
    requests: Vec<Request>,
    requested: usize,
    /// Per stream of the network: the port that sends its MRPDUs, or [`NONE`].
    senders: Vec<u32>,
    /// Per stream of the network: MRPDUs on their way, by number.
    on_line: Vec<VecDeque<(u32, Pdu)>>,
    /// Reserved streams by identifier.
    known: BTreeMap<StreamId, u32>,
    ladders: Vec<Vec<Rung>>,
    /// What was said last of a stream at a port: reserved stream, port, whether sent, whether of the talker.
    said: BTreeMap<(u32, u32, bool, bool), Declaration>,
}

/// What an application asks for.
#[derive(Clone, Copy, Debug)]
struct Request {
    at: SimTime,
    node: u32,
    stream: u32,
    event: RungEvent,
}

struct Node {
    machine: Machine,
    /// Ports with cables; the machine numbers them so.
    ports: Vec<u32>,
    /// Heard, until the processor is done with them.
    inbox: VecDeque<(SimTime, usize, Pdu)>,
    busy_until: SimTime,
    /// Where the steps of its timers begin.
    step_from: Instant,
    random: Random,
    /// Reserved streams that it talks, and those that it sends now.
    talks: Vec<u32>,
    sends: BTreeSet<u32>,
    /// Streams that it sent: not sent again before what their talker promises has room for a whole burst.
    held: BTreeMap<u32, Instant>,
    /// Streams that it asks for as soon as they are offered.
    waits_for: Vec<u32>,
    /// Reservations of a bridge, by egress port.
    reserved: BTreeSet<(usize, StreamId)>,
    /// Its entry of the agenda.
    due: Option<SimTime>,
}

enum Machine {
    Bridge(Box<SrpBridge>),
    Station(Box<SrpStation>),
    /// Of a node that is stopped, or without a cable.
    None,
}

impl Srp {
    /// None in a network without stream reservation.
    pub(crate) fn new(network: &Network, clocks: &[LocalClock], seed: u64) -> Option<Self> {
        let reservation = network.reservation.as_ref()?;
        let mut senders = vec![NONE; network.streams.len()];
        for (port, stream) in reservation.pdus.iter().enumerate() {
            if let Some(stream) = stream {
                senders[stream.index()] = index(port);
            }
        }
        let mut requests = Vec::new();
        for (number, reserved) in reservation.streams.iter().enumerate() {
            let stream = &network.streams[reserved.stream.index()];
            let mut ask = |at: Option<Duration>, node: NodeIndex, event: RungEvent| {
                let at = at.map(|at| SimTime::ZERO + at);
                requests.extend(at.map(|at| Request { at, node: node.0, stream: index(number), event }));
            };
            ask(Some(reserved.advertise_at), stream.talker, RungEvent::Offered);
            ask(reserved.withdraw_at, stream.talker, RungEvent::Withdrawn);
            for (listener, at) in stream.listeners.iter().zip(&reserved.attach_at) {
                ask(Some(*at), *listener, RungEvent::Asked);
                ask(reserved.detach_at, *listener, RungEvent::Detached);
            }
        }
        requests.sort_by_key(|request| request.at);
        let numbered = reservation.streams.iter().zip(0..);
        let mut srp = Self {
            nodes: Vec::new(),
            agenda: BTreeSet::new(),
            requests,
            requested: 0,
            senders,
            on_line: vec![VecDeque::new(); network.streams.len()],
            known: numbered.map(|(reserved, number)| (reserved.talker.stream, number)).collect(),
            ladders: vec![Vec::new(); reservation.streams.len()],
            said: BTreeMap::new(),
        };
        for (number, clock) in clocks.iter().enumerate() {
            let node = Node::new(network, number, clock.local(SimTime::ZERO), seed);
            srp.nodes.push(node);
            srp.schedule(network, number, *clock, SimTime::ZERO);
        }
        Some(srp)
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<SimTime> {
        let request = self.requests.get(self.requested).map(|request| request.at);
        self.agenda.first().map(|(time, _)| *time).into_iter().chain(request).min()
    }

    /// The next request that is due by `now`.
    fn take_request(&mut self, now: SimTime) -> Option<Request> {
        let request = self.requests.get(self.requested).copied().filter(|request| request.at <= now)?;
        self.requested += 1;
        Some(request)
    }

    /// What was observed.
    pub(crate) fn observations(self, network: &Network) -> Vec<ReservationObservation> {
        let reserved = network.reservation.as_ref().expect("stream reservation").streams.iter();
        let ladders = reserved.zip(self.ladders);
        ladders.map(|(reserved, ladder)| ReservationObservation { stream: reserved.stream, ladder }).collect()
    }

    /// Puts a node's next instant into the agenda.
    fn schedule(&mut self, network: &Network, number: usize, clock: LocalClock, now: SimTime) {
        let node = &mut self.nodes[number];
        let settings = &network.reservation.as_ref().expect("stream reservation").nodes[number];
        let timers = node.timers(settings).map(|at| clock.true_at(at));
        let heard = node.inbox.front().map(|(at, ..)| *at);
        let due = timers.into_iter().chain(heard).min().map(|due| due.max(now));
        if due != node.due {
            let key = index(number);
            if let Some(before) = node.due {
                self.agenda.remove(&(before, key));
            }
            self.agenda.extend(due.map(|due| (due, key)));
            self.nodes[number].due = due;
        }
    }

    fn rung(&mut self, stream: u32, at: SimTime, node: u32, event: RungEvent) {
        self.ladders[stream as usize].push(Rung { at: at.since_start(), node: NodeIndex(node), event });
    }

    /// Writes what an MRPDU says that is not what the one before it said there. A value that is left counts only
    /// if it is the one said last, and nothing else takes its place.
    fn say(&mut self, pdu: &MrpPdu<MsrpValue>, at: SimTime, node: u32, port: u32, sent: bool) {
        let all = || pdu.declarations().filter_map(|declared| said(&declared));
        for (stream, said) in all().filter(|(_, said)| said.value().is_none()) {
            self.say_of(stream, said, at, node, port, sent);
        }
        for (stream, said) in all() {
            let Some(known) = self.known.get(&stream) else { continue };
            let before = self.said.get(&(*known, port, sent, said.declaration().is_talker()));
            if said.value().is_some() && said.value() == before.map(|before| Value::of(*before)) {
                self.say_of(stream, said, at, node, port, sent);
            }
        }
    }

    fn say_of(&mut self, stream: StreamId, said: Said, at: SimTime, node: u32, port: u32, sent: bool) {
        let Some(stream) = self.known.get(&stream).copied() else { return };
        let said = said.declaration();
        if self.said.insert((stream, port, sent, said.is_talker()), said) != Some(said) {
            let port = PortIndex(port);
            let event = if sent { RungEvent::Sent(port, said) } else { RungEvent::Received(port, said) };
            self.rung(stream, at, node, event);
        }
    }
}

/// Which attribute type of a stream is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Advertise,
    Failed,
    Listener,
    /// Left already.
    None,
}

impl Value {
    const fn of(said: Declaration) -> Self {
        match said {
            Declaration::TalkerAdvertise => Self::Advertise,
            Declaration::TalkerFailed(_) => Self::Failed,
            Declaration::ListenerReady
            | Declaration::ListenerReadyFailed
            | Declaration::ListenerAskingFailed => Self::Listener,
            Declaration::TalkerLeave | Declaration::ListenerLeave => Self::None,
        }
    }
}

/// What is said of a stream: that it is declared, or that a value is left.
#[derive(Clone, Copy, Debug)]
enum Said {
    Declared(Declaration),
    Left(Value),
}

impl Said {
    /// The value that is left.
    const fn value(self) -> Option<Value> {
        match self {
            Self::Declared(_) => None,
            Self::Left(value) => Some(value),
        }
    }

    const fn declaration(self) -> Declaration {
        match self {
            Self::Declared(said) => said,
            Self::Left(Value::Listener) => Declaration::ListenerLeave,
            Self::Left(_) => Declaration::TalkerLeave,
        }
    }
}

/// What is said of a stream; nothing if only a registrar's state is told.
fn said(declared: &Declared<MsrpValue>) -> Option<(StreamId, Said)> {
    let stream = declared.value.stream()?;
    let leaves = declared.event == AttributeEvent::Lv;
    if matches!(declared.event, AttributeEvent::In | AttributeEvent::Mt) {
        return None;
    }
    let said = match (declared.value, declared.declaration) {
        (MsrpValue::TalkerAdvertise(_), _) if leaves => Said::Left(Value::Advertise),
        (MsrpValue::TalkerFailed(..), _) if leaves => Said::Left(Value::Failed),
        (MsrpValue::Listener(_), _) if leaves => Said::Left(Value::Listener),
        (MsrpValue::TalkerAdvertise(_), _) => Said::Declared(Declaration::TalkerAdvertise),
        (MsrpValue::TalkerFailed(_, failure), _) => Said::Declared(Declaration::TalkerFailed(failure.code.0)),
        (MsrpValue::Listener(_), said) => Said::Declared(match said? {
            ListenerDeclaration::Ready => Declaration::ListenerReady,
            ListenerDeclaration::ReadyFailed => Declaration::ListenerReadyFailed,
            ListenerDeclaration::AskingFailed => Declaration::ListenerAskingFailed,
            ListenerDeclaration::Ignore => return None,
        }),
        (MsrpValue::Domain(_), _) => return None,
    };
    Some((stream, said))
}

impl Node {
    fn new(network: &Network, number: usize, now: Instant, seed: u64) -> Self {
        let reservation = network.reservation.as_ref().expect("stream reservation");
        let mut random = Random::new(seed, Purpose::Reservation, number);
        let settings = &reservation.nodes[number];
        let phase = settings.tick.map_or(Duration::ZERO, |tick| random.span_up_to(tick.period));
        let talks = reservation.streams.iter().zip(0..);
        let talks =
            talks.filter(|(reserved, _)| network.streams[reserved.stream.index()].talker.index() == number);
        Self {
            machine: Machine::new(network, number, now, random.up_to(u64::MAX)),
            ports: network.srp_ports(NodeIndex::at(number)).into_iter().map(|port| port.0).collect(),
            inbox: VecDeque::new(),
            busy_until: SimTime::ZERO,
            step_from: now + phase,
            random,
            talks: talks.map(|(_, stream)| stream).collect(),
            sends: BTreeSet::new(),
            held: BTreeMap::new(),
            waits_for: Vec::new(),
            reserved: BTreeSet::new(),
            due: None,
        }
    }

    /// When its timers are looked at next, on its clock.
    fn timers(&self, settings: &Settings) -> Option<Instant> {
        let deadline = match &self.machine {
            Machine::Bridge(machine) => machine.deadline(),
            Machine::Station(machine) => machine.deadline(),
            Machine::None => return None,
        };
        let Some(tick) = settings.tick else { return Some(deadline) };
        // Behind an MRPDU a whole step passes first.
        let from = if tick.restarts { self.step_from + tick.period } else { self.step_from };
        if deadline <= from {
            return Some(from);
        }
        let steps = deadline.since(from).as_ps().div_ceil(tick.period.as_ps());
        Some(from + tick.period * steps)
    }

    fn receive(&mut self, now: Instant, port: usize, pdu: &Pdu) -> bool {
        match &mut self.machine {
            Machine::Bridge(machine) => machine.receive(now, port, pdu),
            Machine::Station(machine) => port == 0 && machine.receive(now, pdu),
            Machine::None => false,
        }
    }

    fn advance(&mut self, now: Instant) -> bool {
        match &mut self.machine {
            Machine::Bridge(machine) => machine.advance(now),
            Machine::Station(machine) => machine.advance(now),
            Machine::None => false,
        }
    }

    fn poll_transmit(&mut self, now: Instant, port: usize) -> Option<MrpPdu<MsrpValue>> {
        match &mut self.machine {
            Machine::Bridge(machine) => machine.poll_transmit(now, port),
            Machine::Station(machine) if port == 0 => machine.poll_transmit(now),
            Machine::Station(_) | Machine::None => None,
        }
    }
}

impl Machine {
    fn new(network: &Network, number: usize, now: Instant, seed: u64) -> Self {
        let reservation = network.reservation.as_ref().expect("stream reservation");
        let node = NodeIndex::at(number);
        let (config, ports) = network.srp_bridge(node);
        if ports.is_empty() {
            return Self::None;
        }
        match network.nodes[number].kind {
            NodeKind::Bridge { .. } => Self::Bridge(Box::new(SrpBridge::new(config, seed, now))),
            NodeKind::EndStation { .. } => {
                let timing = reservation.nodes[number].timing;
                Self::Station(Box::new(SrpStation::new(timing, seed, &reservation.classes, now)))
            }
        }
    }
}

impl<R: Recorder> Engine<'_, R> {
    fn srp(&mut self) -> &mut Srp {
        self.driven.as_mut().and_then(|driven| driven.srp.as_mut()).expect("stream reservation")
    }

    fn has_srp(&self) -> bool {
        self.network.reservation.is_some()
    }

    /// Does all that stream reservation has to do now.
    #[cold]
    pub(crate) fn drive_srp(&mut self) {
        if !self.has_srp() {
            return;
        }
        let now = self.now;
        while let Some(request) = self.srp().take_request(now) {
            if self.nodes[request.node as usize].up {
                self.srp().rung(request.stream, now, request.node, request.event);
                self.ask(request);
                self.settle_srp(request.node as usize, true);
            }
        }
        while let Some((_, node)) = self.srp().agenda.first().copied().filter(|(time, _)| *time <= now) {
            self.act_srp(node as usize);
        }
    }

    /// An application asks its station.
    fn ask(&mut self, request: Request) {
        let local = self.nodes[request.node as usize].clock.local(self.now);
        let reservation = self.network.reservation.as_ref().expect("stream reservation");
        let reserved = &reservation.streams[request.stream as usize];
        let id = reserved.talker.stream;
        let node = &mut self.srp().nodes[request.node as usize];
        let Machine::Station(station) = &mut node.machine else { return };
        match request.event {
            RungEvent::Offered => station.advertise(local, reserved.talker),
            RungEvent::Withdrawn => station.withdraw(local, id),
            RungEvent::Asked if reserved.when_offered => node.waits_for.push(request.stream),
            RungEvent::Asked => station.attach(local, id, reserved.latency_max_ns),
            RungEvent::Detached => {
                node.waits_for.retain(|stream| *stream != request.stream);
                station.detach(local, id);
            }
            _ => {}
        }
    }

    /// A node hears what its processor is done with, and looks at its timers.
    fn act_srp(&mut self, number: usize) {
        let (now, network) = (self.now, self.network);
        let clock = self.nodes[number].clock;
        let local = clock.local(now);
        let settings = &network.reservation.as_ref().expect("stream reservation").nodes[number];
        let node = &mut self.srp().nodes[number];
        let mut changed = false;
        while let Some((_, port, pdu)) = node.inbox.pop_front_if(|(at, ..)| *at <= now) {
            changed |= node.receive(local, port, &pdu);
            if settings.tick.is_some_and(|tick| tick.restarts) {
                node.step_from = local;
            }
        }
        let mut pdus = Vec::new();
        if node.timers(settings).is_some_and(|at| at <= local) {
            changed |= node.advance(local);
            for port in 0..node.ports.len() {
                pdus.extend(node.poll_transmit(local, port).map(|pdu| (node.ports[port], pdu)));
            }
        }
        for (port, pdu) in pdus {
            self.send_pdu(port, pdu);
        }
        self.settle_srp(number, changed);
    }

    /// After something happened at a node: talkers start and stop, waiting listeners ask, the ladder tells of reservations.
    fn settle_srp(&mut self, number: usize, changed: bool) {
        let (now, network) = (self.now, self.network);
        let clock = self.nodes[number].clock;
        if changed {
            match self.srp().nodes[number].machine {
                Machine::Bridge(_) => self.tell_reserved(number),
                Machine::Station(_) => self.heed_listeners(number, clock.local(now)),
                Machine::None => {}
            }
        }
        self.srp().schedule(network, number, clock, now);
    }

    /// Tells what a bridge reserved and gave back.
    fn tell_reserved(&mut self, number: usize) {
        let now = self.now;
        let srp = self.srp();
        let node = &mut srp.nodes[number];
        let Machine::Bridge(bridge) = &node.machine else { return };
        let held: BTreeSet<(usize, StreamId)> =
            bridge.reservations().map(|(port, stream, _)| (port, stream)).collect();
        let before = std::mem::replace(&mut node.reserved, held.clone());
        let ports = node.ports.clone();
        for (port, stream) in held.symmetric_difference(&before) {
            let Some(known) = srp.known.get(stream).copied() else { continue };
            let at = PortIndex(ports[*port]);
            let event = if held.contains(&(*port, *stream)) {
                RungEvent::Reserved(at)
            } else {
                RungEvent::Released(at)
            };
            srp.rung(known, now, index(number), event);
        }
    }

    /// Starts the streams of a talker that listeners are ready for, stops others; asks for what was waited for.
    fn heed_listeners(&mut self, number: usize, local: Instant) {
        let (now, network) = (self.now, self.network);
        let reserved = &network.reservation.as_ref().expect("stream reservation").streams;
        let srp = self.srp();
        let node = &mut srp.nodes[number];
        let Machine::Station(station) = &mut node.machine else { return };
        let offered = |stream: &u32| station.offer(reserved[*stream as usize].talker.stream) != Offer::None;
        let (asked, waiting) = std::mem::take(&mut node.waits_for).into_iter().partition(offered);
        node.waits_for = waiting;
        let asked: Vec<u32> = asked;
        for stream in asked {
            let wanted = &reserved[stream as usize];
            station.attach(local, wanted.talker.stream, wanted.latency_max_ns);
        }
        let mut starts = Vec::new();
        for stream in &node.talks {
            let said = station.listeners(reserved[*stream as usize].talker.stream);
            let ready = matches!(said, Some(ListenerDeclaration::Ready | ListenerDeclaration::ReadyFailed));
            // What promised no more than it has sent is not sent again.
            let spent = node.held.get(stream) == Some(&Instant::MAX);
            if ready != node.sends.contains(stream) && !(ready && spent) {
                starts.push((*stream, ready));
            }
        }
        for (stream, ready) in starts {
            let srp = self.srp();
            let (event, of) = (if ready { RungEvent::Started } else { RungEvent::Stopped }, index(number));
            srp.rung(stream, now, of, event);
            let sends = &mut srp.nodes[number].sends;
            let stream = if ready { sends.insert(stream) } else { sends.remove(&stream) }.then_some(stream);
            let place = stream.expect("it changed");
            let stream = reserved[place as usize].stream;
            if ready {
                let held = srp.nodes[number].held.get(&place).copied();
                self.start_stream(stream, held);
            } else {
                let whole = network.streams[stream.index()].arrival.map_or(Duration::ZERO, |promise| {
                    if promise.rate.as_bps() == 0 {
                        Duration::MAX
                    } else {
                        promise.rate.duration_ceil(promise.burst)
                    }
                });
                let held = Instant::from_ps(local.as_ps().saturating_add(whole.as_ps()));
                srp.nodes[number].held.insert(place, held);
                self.talkers[stream.index()].running = false;
            }
        }
    }

    /// Hands an MRPDU to a port.
    fn send_pdu(&mut self, port: u32, pdu: MrpPdu<MsrpValue>) {
        let reservation = self.network.reservation.as_ref().expect("stream reservation");
        let stream = reservation.pdus[port as usize].expect("a port with a cable has MRPDUs").0;
        let mut octets = Vec::new();
        pdu.emit(&mut octets);
        let number = self.talkers[stream as usize].number;
        self.talkers[stream as usize].number += 1;
        self.recorder.contents(stream, number, MsrpValue::ETHER_TYPE, &octets);
        self.srp().on_line[stream as usize].push_back((number, Rc::new(pdu)));
        let (place, aim) = self.insert(stream, number, Bytes::new(octets.len() as u64), self.now);
        match aim {
            Some(aim) => self.take_aim(place, aim),
            None => self.drop_frame(place, DropReason::NoRoute),
        }
    }

    /// A transmission begins; MRPDUs are told.
    #[inline]
    pub(crate) fn tell_pdu(&mut self, stream: u32, number: u32, start: SimTime) {
        if self.has_srp() {
            let srp = self.srp();
            let port = srp.senders[stream as usize];
            let found = srp.on_line[stream as usize].iter().find(|(other, _)| *other == number);
            if let Some(pdu) = found.map(|(_, pdu)| Rc::clone(pdu)) {
                let node = self.network.ports[port as usize].node.0;
                self.srp().say(&pdu, start, node, port, true);
            }
        }
    }

    /// Whether a delivered frame was an MRPDU; then its node has it to process.
    pub(crate) fn take_pdu(&mut self, stream: u32, number: u32, time: SimTime) -> bool {
        if !self.has_srp() || self.srp().senders[stream as usize] == NONE {
            return false;
        }
        let network = self.network;
        let reservation = network.reservation.as_ref().expect("stream reservation");
        let sender = self.srp().senders[stream as usize];
        let links = network.ports[sender as usize].links.expect("it has a cable");
        let to = network.links[links.egress.index()].to;
        let number_of_node = network.ports[to.index()].node.index();
        // A link keeps the order of frames: those before it were lost.
        let mut pdu = None;
        while let Some((first, sent)) = self.srp().on_line[stream as usize].pop_front() {
            if first == number {
                pdu = Some(sent);
                break;
            }
        }
        let pdu = pdu.expect("an MRPDU on its way");
        let srp = self.srp();
        srp.say(&pdu, time, index(number_of_node), to.0, false);
        let node = &mut srp.nodes[number_of_node];
        let settings = &reservation.nodes[number_of_node];
        let port = node.ports.iter().position(|port| *port == to.0).expect("a port with a cable");
        let mut octets = Vec::new();
        pdu.emit(&mut octets);
        let octets = octets.len() as u64 + 18;
        let mut taken = node.random.delay(&settings.processing, octets);
        let types = |talker: bool| {
            let said = pdu.declarations().filter_map(|declared| said(&declared));
            said.map(|(_, said)| said.declaration()).filter(|said| said.is_talker() == talker).count() > 0
        };
        if types(true) {
            taken += node.random.delay(&settings.talker_processing, octets);
        }
        if types(false) {
            taken += node.random.delay(&settings.listener_processing, octets);
        }
        node.busy_until = node.busy_until.max(time) + taken;
        node.inbox.push_back((node.busy_until, port, pdu));
        let clock = self.nodes[number_of_node].clock;
        let now = self.now;
        self.srp().schedule(network, number_of_node, clock, now);
        self.arm_timeline();
        true
    }

    /// A cable is cut or mended: the ports at its ends forget, or declare anew.
    #[cold]
    pub(crate) fn srp_link(&mut self, cable: u32, up: bool) {
        if !self.has_srp() {
            return;
        }
        let link = &self.network.links[cable as usize * 2];
        for port in [link.from, link.to] {
            self.srp_port(port, up);
        }
        self.arm_timeline();
    }

    fn srp_port(&mut self, port: PortIndex, up: bool) {
        let number = self.network.ports[port.index()].node.index();
        let local = self.nodes[number].clock.local(self.now);
        let node = &mut self.srp().nodes[number];
        let place = node.ports.iter().position(|own| *own == port.0).expect("a port with a cable");
        let mut changed = false;
        match &mut node.machine {
            Machine::Bridge(bridge) if up => bridge.link_up(local, place),
            Machine::Bridge(bridge) => changed = bridge.link_down(local, place),
            Machine::Station(station) if up && place == 0 => station.link_up(local),
            Machine::Station(station) if place == 0 => changed = station.link_down(local),
            Machine::Station(_) | Machine::None => {}
        }
        self.settle_srp(number, changed);
    }

    /// A node stops, or comes back and asks for all that it had asked for; its neighbours see their links go and come.
    #[cold]
    pub(crate) fn srp_node(&mut self, number: usize, up: bool) {
        if !self.has_srp() {
            return;
        }
        let (now, network, seed) = (self.now, self.network, self.seed);
        let clock = self.nodes[number].clock;
        let sends = self.srp().nodes[number].sends.clone();
        let reserved = &network.reservation.as_ref().expect("stream reservation").streams;
        for stream in sends {
            self.talkers[reserved[stream as usize].stream.index()].running = false;
            self.srp().rung(stream, now, index(number), RungEvent::Stopped);
        }
        let due = self.srp().nodes[number].due;
        let mut node = Node::new(network, number, clock.local(now), seed);
        if !up {
            node.machine = Machine::None;
        }
        node.due = due;
        self.srp().nodes[number] = node;
        if up {
            let srp = self.srp();
            let again = srp.requests[..srp.requested].to_vec();
            for request in again.into_iter().filter(|request| request.node as usize == number) {
                self.ask(request);
            }
        }
        self.settle_srp(number, false);
        for port in network.srp_ports(NodeIndex::at(number)) {
            let links = network.ports[port.index()].links.expect("it has a cable");
            self.srp_port(network.links[links.egress.index()].to, up);
        }
        self.arm_timeline();
    }
}
