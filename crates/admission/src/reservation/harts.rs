//! A run of HaRTES: nodes, the masters of the switches, and the ACMaster with its test, equation 3.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use tautwire_core::ftt::{
    AcAction, AcConfig, AcMaster, FttLink, FttNode, RequestState, SwitchConfig, SwitchMaster, Topology,
};
use tautwire_units::{BitRate, Bytes, Duration, Instant};
use tautwire_wire::ftt::{FttMessage, FttStream, FttTerms};

use super::outcome::{Outcome, RequestOutcome};
use super::random::Random;
use super::scenario::{Scenario, StreamRequest};
use crate::harts::{ElementaryCycle, HartsSet, Reserved};

/// Identifiers: nodes from 1, switches from 20001, the ACMasters above.
const SWITCHES: u16 = 20_001;
const ACMASTER: u16 = 40_001;
const STANDBY: u16 = 40_002;
/// A line of 100 Mbit/s: nanoseconds of an octet.
const OCTET_NS: u64 = 80;
/// From the last bit received in a switch to its queue.
const SWITCH_NS: u64 = 5_000;
/// The longest run.
const END_NS: u64 = 60_000_000_000;

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A node asks: request, and whether it is the producer.
    Ask(usize, bool),
    /// A message comes to the processor of its receiver.
    Arrive(u16, FttMessage),
    /// The processor is through with the first message that waits.
    Done(u16),
    /// The test of a stream ends.
    Tested(u16),
    /// A machine's time has come.
    Timer,
}

/// A node's processor.
#[derive(Debug, Default)]
struct Processor {
    waiting: VecDeque<FttMessage>,
    busy: bool,
}

struct Run<'s> {
    scenario: &'s Scenario,
    random: Random,
    now: u64,
    sequence: u64,
    agenda: BinaryHeap<Reverse<(u64, u64, Event)>>,
    nodes: Vec<FttNode>,
    switches: Vec<SwitchMaster>,
    masters: Vec<AcMaster>,
    processors: BTreeMap<u16, Processor>,
    topology: Topology,
    set: HartsSet,
    /// Octets of control messages by port (from, to) and cycle.
    spent: BTreeMap<(u16, u16), (u64, u64)>,
    /// Where in its cycle the network begins.
    phase: u64,
    slow: bool,
    /// What is drawn for the tests of the run, thousandths of a deviation, if it lasts.
    noise: Option<i64>,
    outcome: Outcome,
    /// When each producer asked, and when a pair was complete at the ACMaster.
    asked: Vec<Option<u64>>,
    complete: BTreeMap<u16, u64>,
}

pub(super) fn run(scenario: &Scenario) -> Outcome {
    let mut run = Run::new(scenario);
    for number in 0..scenario.requests.len() {
        let request = &scenario.requests[number];
        for producer in [true, false] {
            let at = request.at_ns + run.random.up_to(request.jitter_ns);
            run.at(at, Event::Ask(number, producer));
        }
    }
    while let Some(Reverse((time, _, event))) = run.agenda.pop() {
        if time > END_NS || run.outcome.requests.iter().all(|request| request.latency_ns.is_some()) {
            break;
        }
        run.now = time;
        run.take(event);
    }
    run.outcome.tests = run.masters[0].tests();
    run.outcome
}

impl<'s> Run<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        let times = &scenario.harts;
        let mut topology = Topology::default();
        for (one, other) in &scenario.links {
            topology.link(switch(*one), switch(*other));
        }
        for (number, node) in scenario.nodes.iter().enumerate() {
            topology.attach(id(number), switch(node.switch));
        }
        topology.attach(ACMASTER, switch(times.acmaster_switch));
        topology.attach(STANDBY, switch(times.acmaster_switch));
        let mut random = Random::new(scenario.seed);
        let master = |me: u16, other: u16| AcConfig {
            me,
            other: times.replicated.then_some(other),
            active: me == ACMASTER,
            life: 0,
            patience: Duration::from_s(5),
            alive: Duration::from_s(1),
            topology: topology.clone(),
            size_max: 1_542,
        };
        let mut masters = vec![AcMaster::new(master(ACMASTER, STANDBY), Instant::ZERO)];
        if times.replicated {
            masters.push(AcMaster::new(master(STANDBY, ACMASTER), Instant::ZERO));
        }
        let place = |(number, node): (usize, &super::scenario::Place)| {
            FttNode::new(id(number), switch(node.switch), Duration::from_s(10))
        };
        let phase = random.up_to(times.cycle_ns - 1);
        let slow = random.up_to(999) < times.test.slow_permille;
        let mut run = Self {
            nodes: scenario.nodes.iter().enumerate().map(place).collect(),
            switches: (0..scenario.switches)
                .map(|number| SwitchMaster::new(switch_config(scenario, number)))
                .collect(),
            set: set(scenario),
            outcome: Outcome {
                requests: scenario
                    .requests
                    .iter()
                    .map(|request| RequestOutcome { name: request.name.clone(), ..RequestOutcome::default() })
                    .collect(),
                ..Outcome::default()
            },
            asked: vec![None; scenario.requests.len()],
            scenario,
            random,
            now: 0,
            sequence: 0,
            agenda: BinaryHeap::new(),
            masters,
            processors: BTreeMap::new(),
            topology,
            spent: BTreeMap::new(),
            phase,
            slow,
            noise: None,
            complete: BTreeMap::new(),
        };
        for request in &scenario.installed {
            let reserved = run.reserved(request);
            run.set.streams.push(reserved);
        }
        run
    }

    fn at(&mut self, time: u64, event: Event) {
        self.sequence += 1;
        self.agenda.push(Reverse((time, self.sequence, event)));
    }

    fn instant(&self) -> Instant {
        Instant::ZERO + Duration::from_ns(self.now)
    }

    fn take(&mut self, event: Event) {
        let now = self.instant();
        match event {
            Event::Ask(number, producer) => {
                let request = &self.scenario.requests[number];
                let stream = self.stream(number);
                let name = if producer { &request.talker } else { &request.listener };
                let node = self.scenario.node(name);
                if producer {
                    self.asked[number] = Some(self.now);
                }
                self.nodes[node].request(now, stream);
            }
            Event::Arrive(to, message) => {
                self.processors.entry(to).or_default().waiting.push_back(message);
                self.work(to);
            }
            Event::Done(to) => {
                let processor = self.processors.entry(to).or_default();
                processor.busy = false;
                let message = processor.waiting.pop_front().expect("a message was worked on");
                self.receive(to, &message);
                self.poll();
                self.work(to);
                return self.answered();
            }
            Event::Tested(stream) => {
                self.processors.entry(ACMASTER).or_default().busy = false;
                self.tested(stream);
            }
            Event::Timer => {
                for node in &mut self.nodes {
                    node.advance(now);
                }
                for master in &mut self.masters {
                    master.advance(now);
                }
            }
        }
        self.poll();
        self.work(ACMASTER);
    }

    /// Begins the first message that waits, if the processor is free.
    fn work(&mut self, at: u16) {
        let times = &self.scenario.harts;
        let processor = self.processors.entry(at).or_default();
        let Some(message) = processor.waiting.front().filter(|_| !processor.busy) else { return };
        let spread = match (at, message) {
            (ACMASTER.., _) => &times.handling,
            (SWITCHES.., FttMessage::Config { .. }) => &times.configure,
            (SWITCHES.., _) => &times.relay,
            _ => &times.node,
        };
        processor.busy = true;
        let time = self.random.spread(spread);
        self.at(self.now + time, Event::Done(at));
    }

    fn receive(&mut self, to: u16, message: &FttMessage) {
        let now = self.instant();
        match to {
            ACMASTER.. => {
                if let (ACMASTER, FttMessage::Add { stream, .. }) = (to, message) {
                    self.complete.insert(stream.id, self.now);
                }
                self.outcome.replicated += u64::from(matches!(message, FttMessage::Replicated { .. }));
                self.masters[usize::from(to - ACMASTER)].receive(now, message);
            }
            SWITCHES.. => self.switches[usize::from(to - SWITCHES)].receive(now, message),
            _ => drop(self.nodes[usize::from(to - 1)].receive(now, message)),
        }
    }

    /// Sends what the machines have to send, and begins a test.
    fn poll(&mut self) {
        let mut sent = Vec::new();
        for (number, node) in self.nodes.iter_mut().enumerate() {
            while let Some((to, message)) = node.poll() {
                sent.push((id(number), to, message));
            }
        }
        for (number, master) in self.switches.iter_mut().enumerate() {
            while let Some((to, message)) = master.poll() {
                sent.push((switch(number), to, message));
            }
        }
        let mut tests = Vec::new();
        for (number, master) in self.masters.iter_mut().enumerate() {
            let from = if number == 0 { ACMASTER } else { STANDBY };
            while let Some(action) = master.poll() {
                match action {
                    AcAction::Send { to, message } => sent.push((from, to, message)),
                    AcAction::Test { stream, .. } => tests.push(stream.id),
                }
            }
        }
        for (from, to, message) in sent {
            let time = self.travel(from, to, &message);
            self.at(time, Event::Arrive(to, message));
        }
        for stream in tests {
            self.processors.entry(ACMASTER).or_default().busy = true;
            let time = self.test_time(stream);
            self.at(self.now + time, Event::Tested(stream));
        }
        let deadline = self.masters.iter().filter_map(AcMaster::deadline).min();
        if let Some(deadline) = deadline {
            let time = deadline.as_ps().div_ceil(1_000).max(self.now);
            let known =
                self.agenda.iter().any(|Reverse((at, _, event))| *event == Event::Timer && *at <= time);
            if !known {
                self.at(time, Event::Timer);
            }
        }
    }

    /// How long the test of a stream takes now.
    fn test_time(&mut self, stream: u16) -> u64 {
        let test = &self.scenario.harts.test;
        let time = if test.links == 0 {
            on_table(&test.table, self.set.streams.len() as u64, false)
        } else {
            let new = self.reserved(&self.scenario.requests[usize::from(stream) - 1]).links.len();
            let links = new + self.set.streams.iter().map(|stream| stream.links.len()).sum::<usize>();
            let table: Vec<(u64, u64)> =
                test.table.iter().map(|(streams, time)| ((streams + 1) * test.links, *time)).collect();
            on_table(&table, links as u64, true)
        };
        let time = if self.slow { time * test.slow_factor_permille / 1_000 } else { time };
        let drawn = match self.noise {
            Some(drawn) => drawn,
            None => self.random.normal_milli().clamp(-3_000, 3_000),
        };
        self.noise = test.noise_lasts.then_some(drawn);
        let noise = drawn * i64::try_from(test.noise_permille).unwrap_or(0);
        let noise = i128::from(time) * i128::from(noise) / 1_000_000;
        u64::try_from(i128::from(time) + noise).unwrap_or(0)
    }

    /// The result of equation 3.
    fn tested(&mut self, id: u16) {
        let number = usize::from(id) - 1;
        let place = self.outcome.requests.iter().filter(|request| request.place.is_some()).count();
        let new = self.reserved(&self.scenario.requests[number]);
        let violation = self.set.admits(&new).violation;
        let request = &mut self.outcome.requests[number];
        request.place = Some(place as u64);
        request.test_ns = self.complete.get(&id).map(|since| self.now - since);
        let result = match violation {
            None => {
                self.set.streams.push(new);
                Ok(())
            }
            Some(violation) => Err(u16::try_from(violation.stream).unwrap_or(u16::MAX)),
        };
        let now = self.instant();
        self.masters[0].tested(now, id, result);
    }

    /// Notes the producers that are answered.
    fn answered(&mut self) {
        for (number, request) in self.scenario.requests.iter().enumerate() {
            let node = self.scenario.node(&request.talker);
            let state = self.nodes[node].state(self.stream(number).id);
            let outcome = &mut self.outcome.requests[number];
            if let (Some(asked), Some(RequestState::Granted | RequestState::Refused(_)), None) =
                (self.asked[number], state, outcome.latency_ns)
            {
                outcome.granted = state == Some(RequestState::Granted);
                outcome.latency_ns = Some(self.now - asked);
            }
        }
    }

    /// When a message that is sent now is received.
    fn travel(&mut self, from: u16, to: u16, message: &FttMessage) -> u64 {
        let wire = (message.octets().max(46) + 18 + 20) as u64;
        let line = wire * OCTET_NS;
        // A switch's master stands in its switch: no line in between.
        let (first, last) = (self.switch_of(from), self.switch_of(to));
        let mut time = self.now;
        if from != first {
            time += line + SWITCH_NS;
        }
        let mut here = first;
        let way = self.way(first, last);
        for next in way.into_iter().chain((to != last).then_some(to)) {
            time = self.port((here, next), time, wire) + line + if next == to { 0 } else { SWITCH_NS };
            here = next;
        }
        time
    }

    /// When a control message begins to leave a port of a switch: not before the window, within the capacity of the
    /// control channel, and behind a frame that is under way.
    fn port(&mut self, port: (u16, u16), ready: u64, wire: u64) -> u64 {
        let times = &self.scenario.harts;
        let mut begin = ready;
        if let Some(load) = self.scenario.load {
            let share = load.packets_per_second.saturating_mul(load.frame_ns);
            let share = share.min(999_999_999);
            if self.random.up_to(999_999_999) < share {
                begin += self.random.up_to(load.frame_ns);
            }
            // In the load's own queue the frames before it go first: as many as a line that busy has waiting.
            while !times.control_first && self.random.up_to(999_999_999) < share {
                begin += load.frame_ns;
            }
        }
        loop {
            let since = (begin + self.phase) % times.cycle_ns;
            let number = (begin + self.phase) / times.cycle_ns;
            if since < times.before_ns {
                begin += times.before_ns - since;
                continue;
            }
            let (cycle, octets) = self.spent.get(&port).copied().unwrap_or((number, 0));
            let octets = if cycle == number { octets } else { 0 };
            let fits = since + wire * OCTET_NS <= times.cycle_ns && octets + wire <= times.control_octets;
            if !fits || cycle > number {
                begin += times.cycle_ns - since;
                continue;
            }
            self.spent.insert(port, (number, octets + wire));
            return begin;
        }
    }

    fn switch_of(&self, at: u16) -> u16 {
        if (SWITCHES..ACMASTER).contains(&at) {
            at
        } else {
            self.topology.switch_of(at).expect("it is attached")
        }
    }

    /// The switches behind `first` up to `last`.
    fn way(&self, first: u16, last: u16) -> Vec<u16> {
        let mut topology = self.topology.clone();
        topology.attach(u16::MAX, first);
        topology.attach(u16::MAX - 1, last);
        let way = topology.switches(u16::MAX, u16::MAX - 1).unwrap_or_default();
        way.into_iter().skip(1).collect()
    }

    fn stream(&self, number: usize) -> FttStream {
        let request = &self.scenario.requests[number];
        let nanoseconds = |time: u64| u32::try_from(time).unwrap_or(u32::MAX);
        FttStream {
            id: id(number),
            size: u16::try_from(request.wire()).unwrap_or(u16::MAX),
            period_ns: nanoseconds(request.interval_ns),
            deadline_ns: nanoseconds(request.deadline_ns),
            priority: request.priority,
            producer: id(self.scenario.node(&request.talker)),
            offset_ns: None,
            terms: FttTerms::NONE,
        }
    }

    /// A stream as equation 3 sees it.
    fn reserved(&self, request: &StreamRequest) -> Reserved {
        let (from, to) = (id(self.scenario.node(&request.talker)), id(self.scenario.node(&request.listener)));
        let switches = self.topology.switches(from, to).unwrap_or_default();
        let mut stations = vec![from];
        stations.extend(switches);
        stations.push(to);
        let links = stations.windows(2).map(|pair| u32::from(pair[0]) << 16 | u32::from(pair[1])).collect();
        Reserved {
            period: Duration::from_ns(request.interval_ns),
            wire: Bytes::new(request.wire()),
            priority: request.priority,
            deadline: Duration::from_ns(request.deadline_ns),
            links,
            server: None,
        }
    }
}

/// What the master of a switch knows: lines to its nodes and to other switches, all alike.
fn switch_config(scenario: &Scenario, number: usize) -> SwitchConfig {
    let line = FttLink { rate: BitRate::from_mbps(100) };
    let nodes = scenario.nodes.iter().enumerate().filter(|(_, node)| node.switch == number);
    let nodes = nodes.map(|(node, _)| id(node));
    let ends = scenario.links.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
    let others = ends.filter(|(here, _)| *here == number).map(|(_, other)| switch(other));
    SwitchConfig {
        switch: switch(number),
        acmaster: ACMASTER,
        cycle: Duration::from_ns(scenario.harts.cycle_ns),
        tolerance_ppb: 0,
        patience: Duration::from_s(10),
        links: nodes.chain(others).map(|neighbour| (neighbour, line)).collect(),
    }
}

/// A time of a table, by straight lines; above it the last one, and below it the first, or as its first line goes on.
fn on_table(table: &[(u64, u64)], at: u64, goes_on: bool) -> u64 {
    let (low, high) = (table[0], table[table.len() - 1]);
    if at >= high.0 {
        return high.1;
    }
    let on = |pair: &[(u64, u64)]| {
        let [(from, first), (to, last)] =
            [pair[0], pair[1]].map(|(at, time)| (i128::from(at), i128::from(time)));
        u64::try_from(first + (last - first) * (i128::from(at) - from) / (to - from).max(1)).unwrap_or(0)
    };
    let mut pairs = table.windows(2);
    match pairs.find(|pair| pair[0].0 <= at && at < pair[1].0) {
        Some(pair) => on(pair),
        None if goes_on && table.len() > 1 => on(&table[..2]),
        None => low.1,
    }
}

/// The set with its cycle and without streams. Two broadcasts of 256 octets of data are in every published set-up.
fn set(scenario: &Scenario) -> HartsSet {
    let times = &scenario.harts;
    let cycle = ElementaryCycle {
        length: Duration::from_ns(times.cycle_ns),
        before: Duration::from_ns(times.before_ns),
        guard: Duration::ZERO,
        switch_delay: Duration::from_ns(SWITCH_NS),
        counts_unreserved: true,
        unreserved: Bytes::new(298),
        rate: BitRate::from_mbps(100),
    };
    HartsSet { cycle, servers: Vec::new(), streams: Vec::new() }
}

fn id(number: usize) -> u16 {
    u16::try_from(number + 1).expect("fewer than 20 000 nodes")
}

fn switch(number: usize) -> u16 {
    SWITCHES + u16::try_from(number).expect("at most 1000 switches")
}
