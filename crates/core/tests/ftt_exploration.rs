//! All courses of reservations of HaRTES over two switches and three stations, from the requests to the streams' end, with a
//! standby: at most one lost, one repeated and one late message, and the death of the ACMaster at any message; and with both
//! ACMasters, each of which comes back empty, dying one after the other at any message, the second as soon as it may. One consumer
//! that is refused beside one that is not, consumers that leave, the last one, and come back, and two streams that exclude one
//! another while their tests take time are such courses, too. States that were seen are not gone through again. Larger networks,
//! and more faults, are walked by seed.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use tautwire_core::ftt::{AcAction, AcConfig, AcMaster, FttNode, RequestState, SwitchMaster, Topology};
use tautwire_units::{Duration, Instant};
use tautwire_wire::ftt::{FttMessage, FttStream};

/// Time of a message on its way.
const FLIGHT: Duration = Duration::from_us(1);
/// How late a late message is: those sent beside it pass it; or what is said again in the meantime does.
const LATE: [Duration; 2] = [Duration::from_ns(1_500), Duration::from_ms(25)];
const PATIENCE: Duration = Duration::from_ms(20);
const ALIVE: Duration = Duration::from_ms(50);
/// Faults happen to what is said in these milliseconds: while the stream is asked for, while who died late comes back, and while
/// the stream is given back.
const FAULTS: [(u64, u64); 3] = [(0, 70), (180, 300), (600, 670)];
/// What is asked for at the start is decided by then, whatever happened; and is given back then.
const DECIDED: u64 = 600;
const END: u64 = 1_300;
/// When one that died comes back: before the other one missed it, and behind.
const BACK: [Duration; 2] = [Duration::from_ms(5), Duration::from_ms(180)];
const STREAM: FttStream = FttStream {
    id: 7,
    size: 88,
    period_ns: 125_000,
    deadline_ns: 2_000_000,
    priority: 3,
    producer: 0,
    offset_ns: None,
};
/// One that may not stand beside it, where both are asked for.
const RIVAL: FttStream = FttStream { id: 8, ..STREAM };
/// How long a test of one of two streams takes.
const TEST: Duration = Duration::from_ms(6);
/// Switches are numbered from here, the ACMaster and its standby are these.
const SWITCH: u16 = 100;
const MASTERS: [u16; 2] = [200, 201];

#[derive(Clone, PartialEq, Eq, Hash)]
struct Flying {
    at: Instant,
    to: u16,
    message: FttMessage,
}

/// What the test of an ACMaster says.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Verdict {
    Admits,
    Refuses,
    /// It refuses this consumer alone.
    RefusesOne(u16),
    /// It refuses a stream beside the other one; and takes its time.
    Excludes,
}

/// Stations, the first of which produces, switches in line, and both ACMasters.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Network {
    now: Instant,
    nodes: Vec<FttNode>,
    switches: Vec<SwitchMaster>,
    masters: Vec<AcMaster>,
    topology: Topology,
    /// Which ACMasters are dead, and when they come back, if they do.
    dead: [Option<Instant>; 2],
    /// How often each came back.
    lives: [u32; 2],
    given_back: bool,
    verdict: Verdict,
    /// What stations do beside asking at first and giving back in the end: ask for the stream, or give it back.
    agenda: Vec<(Instant, usize, bool)>,
    /// Tests that are not done, by ACMaster, with the end of the first.
    tests: [VecDeque<(u16, u16)>; 2],
    tested_at: [Option<Instant>; 2],
    flying: Vec<Flying>,
}

/// What comes next.
enum Next {
    Arrival(usize),
    Timer,
    End,
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(ms)
}

fn config(place: usize, life: u32, topology: &Topology, alone: bool) -> AcConfig {
    AcConfig {
        me: MASTERS[place],
        other: (!alone).then_some(MASTERS[1 - place]),
        active: place == 0 && (alone || life == 0),
        life,
        patience: PATIENCE,
        alive: ALIVE,
        topology: topology.clone(),
        size_max: 1_542,
    }
}

impl Network {
    /// Stations at these switches of a line of so many.
    fn new(
        switches: u16,
        stations: &[u16],
        verdict: Verdict,
        agenda: &[(u64, usize, bool)],
        alone: bool,
    ) -> Self {
        let mut topology = Topology::default();
        for switch in 1..switches {
            topology.link(SWITCH + switch - 1, SWITCH + switch);
        }
        for (station, switch) in (0..).zip(stations) {
            topology.attach(station, SWITCH + switch);
        }
        for (master, switch) in MASTERS.into_iter().zip([0, switches - 1]) {
            topology.attach(master, SWITCH + switch);
        }
        let node = |(number, switch): (u16, &u16)| FttNode::new(number, SWITCH + switch, PATIENCE * 3);
        let mut network = Self {
            now: Instant::ZERO,
            nodes: (0..).zip(stations).map(node).collect(),
            switches: (0..switches).map(|switch| SwitchMaster::new(SWITCH + switch, MASTERS[0])).collect(),
            masters: (0..if alone { 1 } else { 2 })
                .map(|place| AcMaster::new(config(place, 0, &topology, alone), Instant::ZERO))
                .collect(),
            topology,
            dead: [None; 2],
            lives: [0; 2],
            given_back: false,
            verdict,
            agenda: agenda.iter().map(|(ms, node, asks)| (at(*ms), *node, *asks)).collect(),
            tests: [VecDeque::new(), VecDeque::new()],
            tested_at: [None; 2],
            flying: Vec::new(),
        };
        for node in &mut network.nodes {
            node.request(Instant::ZERO, STREAM);
            if verdict == Verdict::Excludes {
                node.request(Instant::ZERO, RIVAL);
            }
        }
        network.collect();
        network
    }

    /// Puts what all have to say on its way; tests end at once where there is one stream.
    fn collect(&mut self) {
        let mut said = Vec::new();
        for node in &mut self.nodes {
            while let Some(sent) = node.poll() {
                said.push(sent);
            }
        }
        for switch in &mut self.switches {
            while let Some(sent) = switch.poll() {
                said.push(sent);
            }
        }
        let verdict = self.verdict;
        for (place, master) in self.masters.iter_mut().enumerate() {
            while let Some(action) = master.poll() {
                match action {
                    _ if self.dead[place].is_some() => {}
                    AcAction::Send { to, message } => said.push((to, message)),
                    AcAction::Test { stream, consumer } => {
                        let result = match verdict {
                            Verdict::Refuses => Err(4),
                            Verdict::RefusesOne(one) if one == consumer => Err(4),
                            Verdict::Excludes => {
                                self.tests[place].push_back((stream.id, consumer));
                                self.tested_at[place].get_or_insert(self.now + TEST);
                                continue;
                            }
                            _ => Ok(()),
                        };
                        master.tested(self.now, stream.id, result);
                    }
                }
            }
        }
        let at = self.now + FLIGHT;
        self.flying.extend(said.into_iter().map(|(to, message)| Flying { at, to, message }));
    }

    fn deliver(&mut self, flying: &Flying) {
        let mut octets = Vec::new();
        flying.message.emit(&mut octets);
        let (message, _) = FttMessage::parse(&octets).expect("what is written is read");
        match flying.to {
            to if to >= MASTERS[0] => {
                let place = usize::from(to - MASTERS[0]);
                if self.dead[place].is_none() {
                    self.masters[place].receive(self.now, &message);
                }
            }
            to if to >= SWITCH => self.switches[usize::from(to - SWITCH)].receive(&message),
            to => drop(self.nodes[usize::from(to)].receive(self.now, &message)),
        }
        self.collect();
    }

    /// Goes to what comes next; a timer that ends is worked off.
    fn next(&mut self) -> Next {
        let give_back = (!self.given_back).then_some(at(DECIDED));
        let timers = self.nodes.iter().filter_map(FttNode::deadline);
        let timers = timers.chain(self.living().filter_map(AcMaster::deadline));
        let back = self.dead.iter().filter_map(|back| *back);
        let others = self.agenda.first().map(|(at, ..)| *at).into_iter();
        let others = others.chain(self.tested_at.iter().filter_map(|at| *at));
        let timer = timers.chain(give_back).chain(back).chain(others).min().unwrap_or(Instant::MAX);
        // The first of those that come at once is that which was sent first.
        let place = (0..self.flying.len()).min_by_key(|place| self.flying[*place].at);
        let next = place.map_or(timer, |place| self.flying[place].at.min(timer));
        if next > at(END) {
            return Next::End;
        }
        self.now = next;
        if let Some(place) = place.filter(|place| self.flying[*place].at == next) {
            return Next::Arrival(place);
        }
        if give_back == Some(next) {
            self.given_back = true;
            for node in &mut self.nodes {
                node.release(next, STREAM.id);
                node.release(next, RIVAL.id);
            }
        }
        while self.agenda.first().is_some_and(|(at, ..)| *at <= next) {
            let (_, node, asks) = self.agenda.remove(0);
            if asks {
                self.nodes[node].request(next, STREAM);
            } else {
                self.nodes[node].release(next, STREAM.id);
            }
        }
        for place in 0..self.masters.len() {
            self.end_test(place);
        }
        for node in &mut self.nodes {
            node.advance(next);
        }
        let alone = self.masters.len() == 1;
        for place in 0..self.masters.len() {
            match self.dead[place] {
                Some(back) if back == next => {
                    self.dead[place] = None;
                    self.lives[place] += 1;
                    let config = config(place, self.lives[place], &self.topology, alone);
                    self.masters[place] = AcMaster::new(config, next);
                }
                Some(_) => {}
                None => self.masters[place].advance(next),
            }
        }
        self.collect();
        Next::Timer
    }

    /// A test of one of two streams ends: it passes if the other one does not stand, nor is set up.
    fn end_test(&mut self, place: usize) {
        if self.tested_at[place].is_none_or(|at| at > self.now) {
            return;
        }
        self.tested_at[place] = None;
        if let Some((stream, _)) = self.tests[place].pop_front() {
            let master = &mut self.masters[place];
            let other = master.admitted().into_keys().find(|other| *other != stream);
            master.tested(self.now, stream, other.map_or(Ok(()), Err));
            if !self.tests[place].is_empty() {
                self.tested_at[place] = Some(self.now + TEST);
            }
        }
    }

    fn living(&self) -> impl Iterator<Item = &AcMaster> {
        self.masters.iter().zip(&self.dead).filter_map(|(master, back)| back.is_none().then_some(master))
    }

    /// The active one, if the other one would take its place.
    fn may_die(&self) -> Option<usize> {
        let may = |master: &AcMaster| master.is_in_step();
        let all = self.living().count() == self.masters.len() && self.living().all(may);
        self.masters.iter().position(AcMaster::is_active).filter(|_| all)
    }

    /// The active one dies, and comes back at that time, empty.
    fn kill(&mut self, place: usize, back: Option<Duration>) {
        self.dead[place] = Some(back.map_or(Instant::MAX, |back| self.now + back));
        self.tests[place].clear();
        self.tested_at[place] = None;
    }

    /// The consumers that a switch carries a stream to.
    fn carried(&self, stream: u16, switch: usize) -> BTreeSet<u16> {
        let carried = self.switches[switch].streams().get(&stream);
        carried.map(|carried| carried.consumers.clone()).unwrap_or_default()
    }

    /// Streams that are asked for.
    fn streams(&self) -> &'static [u16] {
        if self.verdict == Verdict::Excludes { &[STREAM.id, RIVAL.id] } else { &[STREAM.id] }
    }
}

/// What may still happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Faults {
    lose: bool,
    repeat: bool,
    delay: bool,
    /// How often the active ACMaster dies.
    die: u8,
    /// Whether it comes back.
    back: bool,
}

struct Exploration {
    seen: HashSet<u64>,
    courses: usize,
    ends: usize,
    /// Switches of the stream's ways, by station.
    ways: Vec<BTreeSet<usize>>,
    /// The faults of the course that is gone through.
    faults: Vec<String>,
    /// Whether a standby knows, too, what was acknowledged: so few messages are lost that it is never given up.
    strict: bool,
}

impl Exploration {
    fn new(stations: &[u16]) -> Self {
        let producer = stations[0];
        let way =
            |station: &u16| (producer.min(*station)..=producer.max(*station)).map(usize::from).collect();
        let ways = stations.iter().map(way).collect();
        Self { seen: HashSet::new(), courses: 0, ends: 0, ways, faults: Vec::new(), strict: true }
    }

    /// What holds at any time: who was told has the switches of its way; what was acknowledged an ACMaster that lives holds; nobody was
    /// told of two streams that exclude one another.
    fn check(&self, network: &Network) {
        if network.given_back {
            return;
        }
        let mut told = BTreeSet::new();
        for stream in network.streams() {
            for (node, way) in (0..).zip(&self.ways).skip(1) {
                if network.nodes[usize::from(node)].state(*stream) != Some(RequestState::Granted) {
                    continue;
                }
                told.insert(*stream);
                let carried = |switch: &usize| network.carried(*stream, *switch).contains(&node);
                assert!(way.iter().all(carried), "told before the switches with {:#?}", self.faults);
                let knows = |master: &AcMaster| {
                    let mut standing = master.standing();
                    // One that is alone and back asks the switches.
                    let decides = master.is_active() && (network.masters.len() > 1 || master.is_in_step());
                    !(decides || self.strict && master.is_in_step())
                        || standing.any(|(known, consumers)| known.id == *stream && consumers.contains(&node))
                        || master.admitted().get(stream).is_some_and(|consumers| consumers.contains(&node))
                };
                assert!(
                    network.living().all(knows),
                    "acknowledged to {node} and not known at {} with {:#?}",
                    network.now,
                    self.faults
                );
            }
        }
        assert!(told.len() < 2, "two that exclude one another at {} with {:#?}", network.now, self.faults);
    }

    /// What is asked for at the start is decided, to each consumer as its test says.
    fn decided(&self, network: &Network) {
        let context = || format!("at {} with {:#?}", network.now, self.faults);
        let refused = RequestState::Refused(4);
        let mut wanted: BTreeSet<u16> = BTreeSet::new();
        let mut stands = STREAM.id;
        match network.verdict {
            Verdict::Excludes => {
                let granted = |stream: &&u16| network.nodes[0].state(**stream) == Some(RequestState::Granted);
                let granted: Vec<&u16> = network.streams().iter().filter(granted).collect();
                assert_eq!(granted.len(), 1, "one of two is granted {}", context());
                stands = *granted[0];
                let other = if stands == STREAM.id { RIVAL.id } else { STREAM.id };
                for (number, node) in (0..).zip(&network.nodes) {
                    // Who missed a refusal of one that died asks on, if no consumer is left that does.
                    let told = node.state(other) == Some(RequestState::Refused(stands))
                        || number == 0 && node.state(other) == Some(RequestState::Asked);
                    assert!(told, "{number}: {:?} {}", node.state(other), context());
                }
                wanted.extend((0..).zip(&network.nodes).skip(1).map(|(number, _): (u16, _)| number));
            }
            Verdict::Refuses => {}
            _ => {
                for (number, node) in (0..).zip(&network.nodes).skip(1) {
                    let is_refused = network.verdict == Verdict::RefusesOne(number);
                    if !is_refused && node.state(STREAM.id).is_some() {
                        wanted.insert(number);
                    }
                }
            }
        }
        for (number, node) in (0..).zip(&network.nodes) {
            let state = node.state(stands);
            let expected = match number {
                0 if !wanted.is_empty() => Some(RequestState::Granted),
                0 if network.verdict != Verdict::Refuses => Some(RequestState::Offered),
                number if wanted.contains(&number) => Some(RequestState::Granted),
                _ => Some(refused).filter(|_| state.is_some()),
            };
            assert_eq!(state, expected, "{number} {}", context());
        }
        let holds = |master: &AcMaster| {
            let all: BTreeSet<(u16, u16)> = master
                .standing()
                .flat_map(|(stream, consumers)| consumers.into_iter().map(|consumer| (stream.id, consumer)))
                .collect();
            all == wanted.iter().map(|consumer| (stands, *consumer)).collect()
        };
        let active: Vec<&AcMaster> = network.living().filter(|master| master.is_active()).collect();
        assert!(active.len() == 1 && holds(active[0]), "{}", context());
        let all = network.living().all(|master| master.is_in_step() && holds(master));
        assert!(all || !self.strict, "not in step {}", context());
        for switch in 0..network.switches.len() {
            let own = (0..).zip(&self.ways).skip(1).filter(|(_, way)| way.contains(&switch));
            let own: BTreeSet<u16> =
                own.map(|(number, _)| number).filter(|number| wanted.contains(number)).collect();
            assert_eq!(network.carried(stands, switch), own, "switch {switch} {}", context());
        }
    }

    fn gone(&mut self, network: &Network) {
        let empty = network.switches.iter().all(|switch| switch.streams().is_empty());
        let asks = |stream: &u16| network.nodes.iter().any(|node| node.is_releasing(*stream));
        let asks = network.streams().iter().any(asks);
        let left = network.living().any(|master| master.standing().count() > 0);
        assert!(empty && !asks && !left, "{empty} {asks} {left} at the end with {:#?}", self.faults);
        self.ends += 1;
    }

    fn go(&mut self, mut network: Network, faults: Faults) {
        loop {
            let next = network.next();
            self.check(&network);
            match next {
                Next::End => return self.gone(&network),
                Next::Timer => {}
                Next::Arrival(place) => {
                    let fails = |(from, to): &(u64, u64)| (at(*from)..at(*to)).contains(&network.now);
                    if FAULTS.iter().any(fails) {
                        if !self.seen.insert(digest(&network, faults)) {
                            return;
                        }
                        self.branch(&network, place, faults);
                    }
                    let flying = network.flying.remove(place);
                    network.deliver(&flying);
                }
            }
            if !network.given_back && network.now < at(DECIDED) && network.now >= at(DECIDED - 30) {
                self.decided(&network);
            }
        }
    }

    fn branch(&mut self, network: &Network, place: usize, faults: Faults) {
        if faults.lose {
            let mut other = network.clone();
            other.flying.remove(place);
            self.fault("loses", network, place, other, Faults { lose: false, ..faults });
        }
        if faults.repeat {
            let mut other = network.clone();
            let flying = other.flying[place].clone();
            other.deliver(&flying);
            self.fault("repeats", network, place, other, Faults { repeat: false, ..faults });
        }
        if faults.delay {
            for late in LATE {
                let mut other = network.clone();
                let mut flying = other.flying.remove(place);
                flying.at += late;
                other.flying.push(flying);
                self.fault("delays", network, place, other, Faults { delay: false, ..faults });
            }
        }
        let Some(active) = network.may_die().filter(|_| faults.die > 0) else { return };
        let back = if faults.back { BACK.map(Some).to_vec() } else { vec![None] };
        for back in back {
            let mut other = network.clone();
            other.kill(active, back);
            self.fault("dies before", network, place, other, Faults { die: faults.die - 1, ..faults });
        }
    }

    fn fault(&mut self, what: &str, network: &Network, place: usize, other: Network, faults: Faults) {
        self.courses += 1;
        let flying = &network.flying[place];
        self.faults.push(format!("{what} at {}: to {} {:?}", network.now, flying.to, flying.message));
        self.go(other, faults);
        self.faults.pop();
    }
}

fn digest(network: &Network, faults: Faults) -> u64 {
    let mut hasher = DefaultHasher::new();
    (network, faults).hash(&mut hasher);
    hasher.finish()
}

/// Producer and one consumer at one end, the other consumer at the other.
const STATIONS: [u16; 3] = [0, 1, 0];

/// The last consumer leaves, and the other one, and then one comes back; the producer, whose offer stands, says nothing.
const COME_AND_GO: [(u64, usize, bool); 3] = [(180, 1, false), (181, 2, false), (215, 1, true)];
/// One of two consumers leaves and comes back.
const ONE_GOES: [(u64, usize, bool); 2] = [(180, 2, false), (215, 2, true)];

fn explore(verdict: Verdict, agenda: &[(u64, usize, bool)], faults: Faults) {
    explore_with(Network::new(2, &STATIONS, verdict, agenda, false), faults);
}

#[allow(clippy::print_stdout, reason = "a test says how many courses it has seen")]
fn explore_with(network: Network, faults: Faults) {
    let mut exploration = Exploration::new(&STATIONS);
    exploration.go(network, faults);
    println!("{} courses, {} states, {} ends", exploration.courses, exploration.seen.len(), exploration.ends);
    assert!(exploration.courses > 1_000);
}

const NO_DEATH: Faults = Faults { lose: true, repeat: true, delay: true, die: 0, back: false };
const DEATH: Faults = Faults { die: 1, ..NO_DEATH };

#[test]
fn one_reservation_survives_every_course_of_faults() {
    explore(Verdict::Admits, &[], NO_DEATH);
    explore(Verdict::Refuses, &[], NO_DEATH);
}

#[test]
fn a_consumer_is_refused_alone_in_every_course_of_faults() {
    explore(Verdict::RefusesOne(1), &[], NO_DEATH);
    explore(Verdict::RefusesOne(2), &[], NO_DEATH);
}

#[test]
fn consumers_come_and_go_in_every_course_of_faults() {
    explore(Verdict::Admits, &COME_AND_GO, NO_DEATH);
    explore(Verdict::Admits, &ONE_GOES, NO_DEATH);
}

#[test]
fn it_survives_the_death_of_the_acmaster_and_every_course_of_faults() {
    explore(Verdict::Admits, &[], DEATH);
}

/// One of them loses, repeats or delays a message; the ACMaster dies.
#[test]
fn consumers_come_and_go_when_the_acmaster_dies() {
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        let faults = Faults { lose, repeat, delay, ..DEATH };
        explore(Verdict::Admits, &COME_AND_GO, faults);
        explore(Verdict::Admits, &ONE_GOES, faults);
    }
}

/// Each of two streams fits alone; whenever the ACMaster dies in their tests, one of them stands and the other does not.
#[test]
fn two_that_exclude_one_another_are_never_both_granted() {
    explore(Verdict::Excludes, &[], NO_DEATH);
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        explore(Verdict::Excludes, &[], Faults { lose, repeat, delay, ..DEATH });
    }
}

/// One of them loses, repeats or delays a message; the active ACMaster dies, comes back, and the other one dies.
#[test]
fn it_survives_two_failures_when_the_first_came_back() {
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        explore(Verdict::Admits, &[], Faults { lose, repeat, delay, die: 2, back: true });
    }
}

/// An ACMaster without a standby dies at any message and comes back, twice: it asks the switches, and nothing is lost or stands twice.
#[test]
fn one_that_is_alone_comes_back_and_loses_nothing() {
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        for agenda in [&[][..], &COME_AND_GO, &ONE_GOES] {
            let faults = Faults { lose, repeat, delay, die: 2, back: true };
            explore_with(Network::new(2, &STATIONS, Verdict::Admits, agenda, true), faults);
        }
        let faults = Faults { lose, repeat, delay, die: 1, back: true };
        explore_with(Network::new(2, &STATIONS, Verdict::Excludes, &[], true), faults);
    }
}

/// A number of a seeded stream (SplitMix64).
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// One walk: lines of up to five switches and seven stations; one message in seven fails while faults happen, and in every
/// third walk the ACMaster dies; in half of these it comes back, and the other one may die.
fn walk(seed: u64) {
    let mut random = seed;
    let switches = 1 + draw(&mut random) % 5;
    let stations: Vec<u16> = (0..2 + draw(&mut random) % 6)
        .map(|_| u16::try_from(draw(&mut random) % switches).expect("a few"))
        .collect();
    let mut deaths = if seed.is_multiple_of(6) { 2 } else { u8::from(seed.is_multiple_of(3)) };
    let (dies, comes_back) = (deaths > 0, deaths > 1);
    // One that took over does not know who was refused before.
    let last = u16::try_from(stations.len() - 1).expect("a few");
    let verdict = match seed % 4 {
        _ if dies => Verdict::Admits,
        0 => Verdict::Refuses,
        1 if last > 1 => Verdict::RefusesOne(last),
        _ => Verdict::Admits,
    };
    // In half of the others some consumers leave, and some of these come back.
    let mut agenda = Vec::new();
    if verdict == Verdict::Admits && seed.is_multiple_of(2) {
        for node in 1..stations.len() {
            if draw(&mut random).is_multiple_of(2) {
                let gone = 180 + draw(&mut random) % 20;
                agenda.push((gone, node, false));
                if draw(&mut random).is_multiple_of(2) {
                    agenda.push((gone + 30 + draw(&mut random) % 40, node, true));
                }
            }
        }
        agenda.sort_unstable();
    }
    // In some there is one ACMaster, which comes back whenever it dies.
    let alone = seed % 5 == 1;
    let comes_back = comes_back || alone;
    let switches = u16::try_from(switches).expect("a few");
    let mut network = Network::new(switches, &stations, verdict, &agenda, alone);
    let mut checks = Exploration::new(&stations);
    checks.faults.push(format!("seed {seed}"));
    checks.strict = false;
    loop {
        let next = network.next();
        checks.check(&network);
        match next {
            Next::End => return checks.gone(&network),
            Next::Timer => {}
            Next::Arrival(place) => {
                let mut flying = network.flying.remove(place);
                let fails = |(from, to): &(u64, u64)| (at(*from)..at(*to)).contains(&network.now);
                let fails = FAULTS.iter().any(fails);
                // A standby that was given up does not know all: only one that answers survives a second failure.
                let active = network.may_die().filter(|active| network.masters[*active].is_confirmed());
                if let Some(active) = active.filter(|_| deaths > 0 && fails)
                    && draw(&mut random).is_multiple_of(40)
                {
                    let back = BACK[usize::try_from(draw(&mut random) % 2).expect("one of two")];
                    network.kill(active, comes_back.then_some(back));
                    deaths -= 1;
                }
                match draw(&mut random) % 21 {
                    0 if fails => continue,
                    1 if fails => network.deliver(&flying),
                    2 if fails => {
                        flying.at += LATE[usize::try_from(draw(&mut random) % 2).expect("one of two")];
                        network.flying.push(flying);
                        continue;
                    }
                    _ => {}
                }
                network.deliver(&flying);
            }
        }
        if !network.given_back && network.now < at(DECIDED) && network.now >= at(DECIDED - 30) {
            checks.decided(&network);
        }
    }
}

#[test]
fn larger_networks_are_walked() {
    let cases = std::env::var("TAUTWIRE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000);
    (0..cases).for_each(walk);
}
