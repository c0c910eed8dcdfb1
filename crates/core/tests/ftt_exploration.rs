//! All courses of one reservation of HaRTES over two switches and three stations, from the requests to the stream's end, with a
//! standby: at most one lost, one repeated and one late message, and the death of the ACMaster at any message; and with both
//! ACMasters, each of which comes back empty, dying one after the other at any message, the second as soon as it may. States that
//! were seen are not gone through again. Larger networks, and more faults, are walked by seed.

use std::collections::{BTreeSet, HashSet};
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
/// Switches are numbered from here, the ACMaster and its standby are these.
const SWITCH: u16 = 100;
const MASTERS: [u16; 2] = [200, 201];

#[derive(Clone, PartialEq, Eq, Hash)]
struct Flying {
    at: Instant,
    to: u16,
    message: FttMessage,
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
    /// Whether the test lets the stream pass.
    admits: bool,
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

fn config(place: usize, life: u32, topology: &Topology) -> AcConfig {
    AcConfig {
        me: MASTERS[place],
        other: Some(MASTERS[1 - place]),
        active: place == 0 && life == 0,
        life,
        patience: PATIENCE,
        alive: ALIVE,
        topology: topology.clone(),
        size_max: 1_542,
    }
}

impl Network {
    /// Stations at these switches of a line of so many.
    fn new(switches: u16, stations: &[u16], admits: bool) -> Self {
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
            masters: (0..2).map(|place| AcMaster::new(config(place, 0, &topology), Instant::ZERO)).collect(),
            topology,
            dead: [None; 2],
            lives: [0; 2],
            given_back: false,
            admits,
            flying: Vec::new(),
        };
        for node in &mut network.nodes {
            node.request(Instant::ZERO, STREAM);
        }
        network.collect();
        network
    }

    /// Puts what all have to say on its way; tests end at once.
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
        let admits = self.admits;
        for (place, master) in self.masters.iter_mut().enumerate() {
            while let Some(action) = master.poll() {
                match action {
                    _ if self.dead[place].is_some() => {}
                    AcAction::Send { to, message } => said.push((to, message)),
                    AcAction::Test { stream, .. } => {
                        master.tested(self.now, stream.id, if admits { Ok(()) } else { Err(4) });
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
            to => drop(self.nodes[usize::from(to)].receive(&message)),
        }
        self.collect();
    }

    /// Goes to what comes next; a timer that ends is worked off.
    fn next(&mut self) -> Next {
        let give_back = (!self.given_back).then_some(at(DECIDED));
        let timers = self.nodes.iter().filter_map(FttNode::deadline);
        let timers = timers.chain(self.living().filter_map(AcMaster::deadline));
        let back = self.dead.iter().filter_map(|back| *back);
        let timer = timers.chain(give_back).chain(back).min().unwrap_or(Instant::MAX);
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
            }
        }
        for node in &mut self.nodes {
            node.advance(next);
        }
        for place in 0..2 {
            match self.dead[place] {
                Some(back) if back == next => {
                    self.dead[place] = None;
                    self.lives[place] += 1;
                    let config = config(place, self.lives[place], &self.topology);
                    self.masters[place] = AcMaster::new(config, next);
                }
                Some(_) => {}
                None => self.masters[place].advance(next),
            }
        }
        self.collect();
        Next::Timer
    }

    fn living(&self) -> impl Iterator<Item = &AcMaster> {
        self.masters.iter().zip(&self.dead).filter_map(|(master, back)| back.is_none().then_some(master))
    }

    /// The active one, if the other one would take its place.
    fn may_die(&self) -> Option<usize> {
        let may = |master: &AcMaster| master.is_in_step();
        let all = self.living().count() == 2 && self.living().all(may);
        self.masters.iter().position(AcMaster::is_active).filter(|_| all)
    }

    /// The active one dies, and comes back at that time, empty.
    fn kill(&mut self, place: usize, back: Option<Duration>) {
        self.dead[place] = Some(back.map_or(Instant::MAX, |back| self.now + back));
    }

    fn is(&self, state: RequestState) -> bool {
        self.nodes.iter().all(|node| node.state(STREAM.id) == Some(state))
    }

    /// Whether all of these switches carry the stream.
    fn carried(&self, way: &BTreeSet<usize>) -> bool {
        way.iter().all(|switch| self.switches[*switch].streams().contains_key(&STREAM.id))
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

    /// What holds at any time: who was told has the switches; and what was acknowledged an ACMaster that lives holds.
    fn check(&self, network: &Network) {
        if network.given_back {
            return;
        }
        for (node, way) in network.nodes.iter().zip(&self.ways).skip(1) {
            if node.state(STREAM.id) == Some(RequestState::Granted) {
                assert!(network.carried(way), "told before the switches with {:#?}", self.faults);
                let knows = |master: &AcMaster| {
                    !(master.is_active() || self.strict && master.is_in_step())
                        || master.standing().count() == 1
                };
                assert!(
                    network.living().all(knows),
                    "acknowledged and not known at {} with {:#?}",
                    network.now,
                    self.faults
                );
            }
        }
    }

    fn decided(&self, network: &Network) {
        let answer = if network.admits { RequestState::Granted } else { RequestState::Refused(4) };
        let told: Vec<_> = network.nodes.iter().map(|node| node.state(STREAM.id)).collect();
        assert!(network.is(answer), "{told:?} at {} with {:#?}", network.now, self.faults);
        let holds = |master: &AcMaster| master.standing().count() == usize::from(network.admits);
        let active: Vec<&AcMaster> = network.living().filter(|master| master.is_active()).collect();
        assert!(active.len() == 1 && holds(active[0]), "at {} with {:#?}", network.now, self.faults);
        let all = network.living().all(|master| master.is_in_step() && holds(master));
        assert!(all || !self.strict, "not in step at {} with {:#?}", network.now, self.faults);
        for way in &self.ways {
            assert_eq!(network.carried(way), network.admits, "with {:#?}", self.faults);
        }
    }

    fn gone(&mut self, network: &Network) {
        let empty = network.switches.iter().all(|switch| switch.streams().is_empty());
        let asks = network.nodes.iter().any(|node| node.is_releasing(STREAM.id));
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

#[test]
fn one_reservation_survives_every_course_of_faults() {
    for admits in [true, false] {
        let mut exploration = Exploration::new(&STATIONS);
        let network = Network::new(2, &STATIONS, admits);
        exploration.go(network, Faults { lose: true, repeat: true, delay: true, die: 0, back: false });
        println!(
            "{} courses, {} states, {} ends",
            exploration.courses,
            exploration.seen.len(),
            exploration.ends
        );
        assert!(exploration.courses > 1_000);
    }
}

#[test]
fn it_survives_the_death_of_the_acmaster_and_every_course_of_faults() {
    let mut exploration = Exploration::new(&STATIONS);
    let all = Faults { lose: true, repeat: true, delay: true, die: 1, back: false };
    exploration.go(Network::new(2, &STATIONS, true), all);
    println!("{} courses, {} states, {} ends", exploration.courses, exploration.seen.len(), exploration.ends);
    assert!(exploration.courses > 1_000);
}

/// One of them loses, repeats or delays a message; the active ACMaster dies, comes back, and the other one dies.
#[test]
fn it_survives_two_failures_when_the_first_came_back() {
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        let mut exploration = Exploration::new(&STATIONS);
        let faults = Faults { lose, repeat, delay, die: 2, back: true };
        exploration.go(Network::new(2, &STATIONS, true), faults);
        println!(
            "{} courses, {} states, {} ends",
            exploration.courses,
            exploration.seen.len(),
            exploration.ends
        );
        assert!(exploration.courses > 1_000);
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
    let admits = dies || !seed.is_multiple_of(4);
    let mut network = Network::new(u16::try_from(switches).expect("a few"), &stations, admits);
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
