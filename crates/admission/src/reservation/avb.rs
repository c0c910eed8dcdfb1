//! A run of AVB: stations and bridges of MSRP, whose processors take their time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use tautwire_core::mrp::{JoinRule, MrpTiming};
use tautwire_core::srp::{
    AddressTable, BridgeConfig, Offer, PortConfig, SrClass, SrpBridge, SrpStation, VlanLimits,
};
use tautwire_units::{BitRate, Duration, Instant};
use tautwire_wire::MacAddress;
use tautwire_wire::mrp::{ListenerDeclaration, MrpPdu, MsrpValue, Rank, StreamId, TalkerValue};

use super::outcome::{AtBridge, Outcome, RequestOutcome};
use super::random::Random;
use super::scenario::{JoinKind, Scenario, StreamRequest};

/// Time of an MRPDU on a line, nanoseconds.
const LINE_NS: u64 = 20_000;
/// The longest run behind the warm-up.
const END_NS: u64 = 30_000_000_000;
/// The window of the rate limit, nanoseconds.
const WINDOW_NS: u64 = 300_000_000;

/// A bridge or a station, by number: bridges first.
type Node = usize;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Ask(usize, bool),
    Arrive(Node, usize, Vec<u8>),
    Done(Node),
    Timer(Node),
}

struct Processor {
    waiting: VecDeque<(usize, Vec<u8>)>,
    busy: bool,
}

enum Machine {
    Bridge(Box<SrpBridge>),
    Station(Box<SrpStation>),
}

struct Run<'s> {
    scenario: &'s Scenario,
    random: Random,
    now: u64,
    sequence: u64,
    agenda: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Event>,
    machines: Vec<Machine>,
    processors: Vec<Processor>,
    /// The far end of every port.
    peers: BTreeMap<(Node, usize), (Node, usize)>,
    ports: Vec<usize>,
    /// The time at which each node's next timer is in the agenda.
    timers: Vec<u64>,
    start: u64,
    asked: Vec<Option<u64>>,
    /// Listeners that wait for their talkers before they ask.
    waiting: Vec<bool>,
    outcome: Outcome,
    /// The last MRPDUs of every port.
    sent: BTreeMap<(Node, usize), VecDeque<u64>>,
}

pub(super) fn run(scenario: &Scenario) -> Outcome {
    let mut run = Run::new(scenario);
    let end = run.start + END_NS;
    while let Some(Reverse((time, number))) = run.agenda.pop() {
        let done = run.outcome.requests.iter().all(|request| request.latency_ns.is_some());
        if time > end || done {
            break;
        }
        run.now = time;
        let event = run.events.remove(&number).expect("an entry has an event");
        run.take(event);
    }
    run.outcome
}

fn timing(scenario: &Scenario, bridge: bool) -> MrpTiming {
    let join = Duration::from_ns(scenario.avb.join_ns.max(1));
    let default = MrpTiming::default();
    if bridge {
        // Three in one and a half milliseconds are no limit: a bridge takes longer over each.
        let own = Duration::from_ns(scenario.avb.bridge_join_ns.max(1));
        let join = if scenario.avb.limited { own } else { Duration::from_ms(1) };
        let repeat = Duration::from_ns(scenario.avb.bridge_repeat_ns);
        return MrpTiming { join, repeat, ..default };
    }
    let rule = match scenario.avb.join {
        JoinKind::AtOnce => JoinRule::AtOnce,
        JoinKind::After => JoinRule::After(join),
        JoinKind::Random => JoinRule::Random,
    };
    MrpTiming { join, rule, ..default }
}

impl<'s> Run<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        let mut random = Random::new(scenario.seed);
        let bridges = scenario.switches;
        let mut ports = vec![0_usize; bridges + scenario.nodes.len()];
        let mut peers = BTreeMap::new();
        let mut connect = |one: Node, other: Node| {
            let ends = ((one, ports[one]), (other, ports[other]));
            ports[one] += 1;
            ports[other] += 1;
            peers.insert(ends.0, ends.1);
            peers.insert(ends.1, ends.0);
        };
        for (one, other) in &scenario.links {
            connect(*one, *other);
        }
        for (number, node) in scenario.nodes.iter().enumerate() {
            connect(node.switch, bridges + number);
        }
        let classes = [SrClass::a(), SrClass::b()];
        let mut machines = Vec::new();
        for (number, ports) in ports.iter().enumerate() {
            let seed = random.next();
            machines.push(if number < bridges {
                let port = PortConfig {
                    rate: BitRate::from_mbps(100),
                    frame_size_max: 1_500,
                    device: Duration::from_us(5),
                };
                let config = BridgeConfig {
                    id: number as u64,
                    classes: classes.to_vec(),
                    ports: vec![port; *ports],
                    timing: timing(scenario, true),
                    streams_max: 1_000,
                    reservations_max: scenario.avb.reservations_max,
                    fan_in_max: 1_000,
                    vlans: VlanLimits::default(),
                    addresses: AddressTable::default(),
                };
                Machine::Bridge(Box::new(SrpBridge::new(config, seed, Instant::ZERO)))
            } else {
                let station = SrpStation::new(timing(scenario, false), seed, &classes, Instant::ZERO);
                Machine::Station(Box::new(station))
            });
        }
        let warm = scenario.avb.warm_up_ns;
        let start = warm + random.up_to(warm);
        let count = machines.len();
        let request = |request: &StreamRequest| RequestOutcome {
            name: request.name.clone(),
            bridges: vec![AtBridge::default(); bridges],
            ..RequestOutcome::default()
        };
        let mut run = Self {
            outcome: Outcome {
                requests: scenario.requests.iter().map(request).collect(),
                ..Outcome::default()
            },
            asked: vec![None; scenario.requests.len()],
            waiting: vec![false; scenario.requests.len()],
            scenario,
            random,
            now: 0,
            sequence: 0,
            agenda: BinaryHeap::new(),
            events: BTreeMap::new(),
            processors: (0..count).map(|_| Processor { waiting: VecDeque::new(), busy: false }).collect(),
            machines,
            peers,
            ports,
            timers: vec![u64::MAX; count],
            start,
            sent: BTreeMap::new(),
        };
        for number in 0..scenario.installed.len() {
            for talker in [true, false] {
                run.declare(&scenario.installed[number], 1_000 + number, talker);
            }
        }
        for number in 0..scenario.requests.len() {
            for talker in [true, false] {
                let at =
                    scenario.requests[number].at_ns + run.random.up_to(scenario.requests[number].jitter_ns);
                run.at(start + at, Event::Ask(number, talker));
            }
        }
        for node in 0..count {
            run.poll(node);
        }
        run
    }

    fn at(&mut self, time: u64, event: Event) {
        self.sequence += 1;
        self.agenda.push(Reverse((time, self.sequence)));
        self.events.insert(self.sequence, event);
    }

    fn instant(&self) -> Instant {
        Instant::ZERO + Duration::from_ns(self.now)
    }

    fn take(&mut self, event: Event) {
        let now = self.instant();
        match event {
            Event::Ask(number, talker) => {
                if talker {
                    self.asked[number] = Some(self.now);
                } else if self.scenario.avb.listener_waits {
                    self.waiting[number] = true;
                    return self.attach();
                }
                self.declare(&self.scenario.requests[number], number, talker);
            }
            Event::Arrive(node, port, octets) => {
                self.trace(node, &octets, true);
                self.processors[node].waiting.push_back((port, octets));
                self.work(node);
            }
            Event::Done(node) => {
                self.processors[node].busy = false;
                let (port, octets) = self.processors[node].waiting.pop_front().expect("it was worked on");
                let (pdu, _) = MrpPdu::parse(&octets).expect("what is written is read");
                match &mut self.machines[node] {
                    Machine::Bridge(bridge) => bridge.receive(now, port, &pdu),
                    Machine::Station(station) => station.receive(now, &pdu),
                };
                self.poll(node);
                self.work(node);
                self.ready(node);
                self.attach();
            }
            Event::Timer(node) => {
                self.timers[node] = u64::MAX;
                match &mut self.machines[node] {
                    Machine::Bridge(bridge) => bridge.advance(now),
                    Machine::Station(station) => station.advance(now),
                };
                self.poll(node);
            }
        }
    }

    /// Listeners that waited for a talker that is there now ask.
    fn attach(&mut self) {
        for number in 0..self.waiting.len() {
            let request = &self.scenario.requests[number];
            let id = stream(self.scenario.node(&request.talker), number);
            let node = self.scenario.switches + self.scenario.node(&request.listener);
            let Machine::Station(station) = &self.machines[node] else { continue };
            if self.waiting[number] && matches!(station.offer(id), Offer::Advertised(_)) {
                self.waiting[number] = false;
                self.declare(request, number, false);
            }
        }
    }

    /// A talker or listener declares.
    fn declare(&mut self, request: &StreamRequest, number: usize, talker: bool) {
        let now = self.instant();
        let name = if talker { &request.talker } else { &request.listener };
        let node = self.scenario.switches + self.scenario.node(name);
        let id = stream(self.scenario.node(&request.talker), number);
        let [.., high, low] = number.to_be_bytes();
        let value = TalkerValue {
            stream: id,
            destination: MacAddress([0x91, 0xe0, 0xf0, 0, high, low]),
            vlan: 2,
            frame_size_max: request.payload.max(46),
            interval_frames_max: 1,
            priority: request.priority,
            rank: Rank::NonEmergency,
            accumulated_latency_ns: 0,
        };
        if let Machine::Station(station) = &mut self.machines[node] {
            if talker {
                station.advertise(now, value);
            } else {
                station.attach(now, id, u32::MAX);
            }
        }
        self.poll(node);
    }

    /// Begins the first MRPDU that waits for a node's processor.
    fn work(&mut self, node: Node) {
        if self.processors[node].busy {
            return;
        }
        let Some((_, octets)) = self.processors[node].waiting.front() else { return };
        let times = &self.scenario.avb;
        let (pdu, _) = MrpPdu::<MsrpValue>::parse(octets).expect("what is written is read");
        let mut spread = &times.other;
        for declared in pdu.declarations() {
            match declared.value {
                MsrpValue::Listener(_) => spread = &times.listener,
                MsrpValue::TalkerAdvertise(_) | MsrpValue::TalkerFailed(..) if spread != &times.listener => {
                    spread = &times.talker;
                }
                _ => {}
            }
        }
        let is_bridge = node < self.scenario.switches;
        let spread = if is_bridge { spread } else { &times.station };
        let mut time = self.random.spread(spread);
        if let Some(load) = self.scenario.load {
            // What packets leave of the processor, parts in 10⁹; a tenth of it at least.
            let taken = load.packets_per_second.saturating_mul(times.packet_ns).min(900_000_000);
            time = time * 1_000_000_000 / (1_000_000_000 - taken);
        }
        self.processors[node].busy = true;
        self.at(self.now + time, Event::Done(node));
    }

    /// Sends what a node has to send now, and arms its timer.
    fn poll(&mut self, node: Node) {
        let now = self.instant();
        for port in 0..self.ports[node] {
            loop {
                let pdu = match &mut self.machines[node] {
                    Machine::Bridge(bridge) => bridge.poll_transmit(now, port),
                    Machine::Station(station) => station.poll_transmit(now),
                };
                let Some(pdu) = pdu else { break };
                let mut octets = Vec::new();
                pdu.emit(&mut octets);
                self.trace(node, &octets, false);
                self.count(node, port);
                let (peer, at) = self.peers[&(node, port)];
                let delay = LINE_NS + self.scenario.load.map_or(0, |load| self.random.up_to(load.frame_ns));
                self.at(self.now + delay, Event::Arrive(peer, at, octets));
            }
        }
        let deadline = match &self.machines[node] {
            Machine::Bridge(bridge) => bridge.deadline(),
            Machine::Station(station) => station.deadline(),
        };
        let time = deadline.as_ps().div_ceil(1_000).max(self.now + 1);
        if deadline < Instant::MAX && time < self.timers[node] {
            self.timers[node] = time;
            self.at(time, Event::Timer(node));
        }
    }

    /// Most MRPDUs of a port in the window of the rate limit.
    fn count(&mut self, node: Node, port: usize) {
        let sent = self.sent.entry((node, port)).or_default();
        sent.push_back(self.now);
        while sent.front().is_some_and(|first| first + WINDOW_NS <= self.now) {
            sent.pop_front();
        }
        self.outcome.pdus_in_300_ms = self.outcome.pdus_in_300_ms.max(sent.len() as u64);
    }

    /// Notes declarations of requests at bridges.
    fn trace(&mut self, node: Node, octets: &[u8], comes: bool) {
        let bridges = self.scenario.switches;
        if node >= bridges {
            return;
        }
        let (pdu, _) = MrpPdu::<MsrpValue>::parse(octets).expect("what is written is read");
        for declared in pdu.declarations() {
            let (id, listener) = match declared.value {
                MsrpValue::TalkerAdvertise(talker) => (talker.stream, false),
                MsrpValue::Listener(stream) if declared.declaration == Some(ListenerDeclaration::Ready) => {
                    (stream, true)
                }
                _ => continue,
            };
            let number = usize::from(id.unique);
            if number >= self.scenario.requests.len() {
                continue;
            }
            let at = &mut self.outcome.requests[number].bridges[node];
            let slot = match (listener, comes) {
                (false, true) => &mut at.talker_in_ns,
                (false, false) => &mut at.talker_out_ns,
                (true, true) => &mut at.listener_in_ns,
                (true, false) => &mut at.listener_out_ns,
            };
            if slot.is_none() {
                *slot = Some(self.now);
                self.outcome.tests += u64::from(comes);
            }
        }
    }

    /// A talker whose listener is ready: its application sees it at its next look.
    fn ready(&mut self, node: Node) {
        let bridges = self.scenario.switches;
        let Machine::Station(station) = &self.machines[node] else { return };
        for (number, request) in self.scenario.requests.iter().enumerate() {
            let talker = self.scenario.node(&request.talker);
            if bridges + talker != node || self.outcome.requests[number].latency_ns.is_some() {
                continue;
            }
            let ready = matches!(
                station.listeners(stream(talker, number)),
                Some(ListenerDeclaration::Ready | ListenerDeclaration::ReadyFailed)
            );
            let (true, Some(asked)) = (ready, self.asked[number]) else { continue };
            let waited = self.now - asked;
            let tick = self.scenario.avb.tick_ns;
            let seen = if tick == 0 { waited } else { waited.div_ceil(tick) * tick };
            self.outcome.requests[number].granted = true;
            self.outcome.requests[number].latency_ns = Some(seen);
        }
    }
}

fn stream(talker: usize, number: usize) -> StreamId {
    let [.., high, low] = talker.to_be_bytes();
    let address = [2, 0, 0, 0, high, low];
    StreamId { source: MacAddress(address), unique: u16::try_from(number).expect("fewer than 2^16 requests") }
}
