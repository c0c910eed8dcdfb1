//! The network that is gone through: nodes, switches, ACMasters, and the messages under way.

use std::collections::{BTreeSet, VecDeque};
use std::hash::Hash;

use tautwire_core::harts::{
    AcAction, AcConfig, AcMaster, FttLink, FttNode, SwitchConfig, SwitchMaster, Topology,
};
use tautwire_units::{BitRate, Duration, Instant};
use tautwire_wire::harts::{FttMessage, FttStream, FttTerms};

/// Time of a message on its way.
pub(crate) const FLIGHT: Duration = Duration::from_us(1);
/// How late a late message is: messages sent at the same time overtake it; or repetitions sent in the meantime do.
pub(crate) const LATE: [Duration; 2] = [Duration::from_ns(1_500), Duration::from_ms(25)];
pub(crate) const PATIENCE: Duration = Duration::from_ms(20);
pub(crate) const ALIVE: Duration = Duration::from_ms(50);
/// Faults happen to messages sent in these milliseconds: while the stream is requested, while an ACMaster that died
/// late comes back, and while the stream is released.
pub(crate) const FAULTS: [(u64, u64); 3] = [(0, 70), (180, 300), (600, 670)];
/// The requests at the start are decided by then, whatever happened; and are released then.
pub(crate) const DECIDED: u64 = 600;
pub(crate) const END: u64 = 1_300;
/// When one that died comes back: before the other one missed it, and behind.
pub(crate) const BACK: [Duration; 2] = [Duration::from_ms(5), Duration::from_ms(180)];
pub(crate) const STREAM: FttStream = FttStream {
    id: 7,
    size: 88,
    period_ns: 125_000,
    deadline_ns: 2_000_000,
    priority: 3,
    producer: 0,
    offset_ns: None,
    terms: FttTerms::NONE,
};
/// A stream that excludes it, where both are requested.
pub(crate) const RIVAL: FttStream = FttStream { id: 8, ..STREAM };
/// How long a test of one of two streams takes.
pub(crate) const TEST: Duration = Duration::from_ms(6);
/// Switches are numbered from here, the ACMaster and its standby are these.
pub(crate) const SWITCH: u16 = 100;
pub(crate) const MASTERS: [u16; 2] = [200, 201];

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Flying {
    pub(crate) at: Instant,
    pub(crate) from: u16,
    pub(crate) to: u16,
    pub(crate) message: FttMessage,
}

/// A cable that fails, and is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cable {
    /// A switch, and its neighbour.
    pub(crate) ends: [u16; 2],
    /// While it is cut: when it is back.
    pub(crate) back: Option<Instant>,
}

/// When a cable is back: before its failure was reported, before the report is repeated, and when all are notified.
pub(crate) const MENDED: [Duration; 3] =
    [Duration::from_ns(500), Duration::from_ms(5), Duration::from_ms(180)];

/// The result of an ACMaster's test.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    Admits,
    Refuses,
    /// It refuses this consumer alone.
    RefusesOne(u16),
    /// It refuses a stream while the other one is granted; and takes its time.
    Excludes,
}

/// Stations, the first of which produces, switches in line, and both ACMasters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Network {
    pub(crate) now: Instant,
    pub(crate) nodes: Vec<FttNode>,
    pub(crate) switches: Vec<SwitchMaster>,
    pub(crate) masters: Vec<AcMaster>,
    pub(crate) topology: Topology,
    /// Which ACMasters are dead, and when they come back, if they do.
    pub(crate) dead: [Option<Instant>; 2],
    /// How often each came back.
    pub(crate) lives: [u32; 2],
    pub(crate) given_back: bool,
    pub(crate) verdict: Verdict,
    /// What stations do in addition to the requests at the start and the releases at the end: request the stream, or release it.
    pub(crate) agenda: Vec<(Instant, usize, bool)>,
    /// Tests that are not done, by ACMaster, with the end of the first.
    pub(crate) tests: [VecDeque<(u16, u16)>; 2],
    pub(crate) tested_at: [Option<Instant>; 2],
    pub(crate) flying: Vec<Flying>,
    /// The cable that may fail.
    pub(crate) cable: Option<Cable>,
    /// The switch of each node, and the cable, if it is cut.
    plan: Topology,
}

/// What comes next.
pub(crate) enum Next {
    Arrival(usize),
    Timer,
    End,
}

pub(crate) fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(ms)
}

pub(crate) fn config(place: usize, life: u32, topology: &Topology, alone: bool) -> AcConfig {
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

/// A switch of a line of so many, with its stations.
fn switch_config(switch: u16, switches: u16, stations: &[u16]) -> SwitchConfig {
    let before = switch.checked_sub(1).map(|before| SWITCH + before);
    let behind = (switch + 1 < switches).then_some(SWITCH + switch + 1);
    let here = (0..).zip(stations).filter(|(_, at)| **at == switch).map(|(station, _)| station);
    let neighbours = before.into_iter().chain(behind).chain(here);
    let links = neighbours.map(|to| (to, FttLink { rate: BitRate::from_mbps(100) })).collect();
    let (switch, cycle) = (SWITCH + switch, Duration::from_us(125));
    SwitchConfig {
        switch,
        acmaster: MASTERS[0],
        cycle,
        tolerance_ppb: 0,
        step: Duration::ZERO,
        patience: PATIENCE,
        links,
    }
}

impl Network {
    /// Stations at these switches of a line of so many.
    pub(crate) fn new(
        switches: u16,
        stations: &[u16],
        verdict: Verdict,
        agenda: &[(u64, usize, bool)],
        alone: bool,
        cable: Option<[u16; 2]>,
    ) -> Self {
        let mut topology = Topology::default();
        for switch in 1..switches {
            topology.link(SWITCH + switch - 1, SWITCH + switch);
        }
        for (station, switch) in (0..).zip(stations) {
            topology.attach(station, SWITCH + switch);
        }
        // Where a cable fails both are at the first switch, so that neither is cut off.
        let last = if cable.is_some() { 0 } else { switches - 1 };
        for (master, switch) in MASTERS.into_iter().zip([0, last]) {
            topology.attach(master, SWITCH + switch);
        }
        let node = |(number, switch): (u16, &u16)| FttNode::new(number, SWITCH + switch, PATIENCE * 3);
        let mut network = Self {
            now: Instant::ZERO,
            nodes: (0..).zip(stations).map(node).collect(),
            switches: (0..switches)
                .map(|switch| SwitchMaster::new(switch_config(switch, switches, stations)))
                .collect(),
            masters: (0..if alone { 1 } else { 2 })
                .map(|place| AcMaster::new(config(place, 0, &topology, alone), Instant::ZERO))
                .collect(),
            plan: topology.clone(),
            cable: cable.map(|ends| Cable { ends, back: None }),
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

    /// Puts all messages of the nodes on their way; tests end at once where there is one stream.
    pub(crate) fn collect(&mut self) {
        let mut messages = Vec::new();
        for (from, node) in (0..).zip(&mut self.nodes) {
            while let Some((to, message)) = node.poll() {
                messages.push((from, to, message));
            }
        }
        for (from, switch) in (SWITCH..).zip(&mut self.switches) {
            while let Some((to, message)) = switch.poll() {
                messages.push((from, to, message));
            }
        }
        let verdict = self.verdict;
        for (place, master) in self.masters.iter_mut().enumerate() {
            while let Some(action) = master.poll() {
                match action {
                    _ if self.dead[place].is_some() => {}
                    AcAction::Send { to, message } => messages.push((MASTERS[place], to, message)),
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
        self.flying.extend(messages.into_iter().map(|(from, to, message)| Flying { at, from, to, message }));
    }

    pub(crate) fn deliver(&mut self, flying: &Flying) {
        if self.plan.cut(flying.from, flying.to).is_some() {
            return;
        }
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
            to if to >= SWITCH => self.switches[usize::from(to - SWITCH)].receive(self.now, &message),
            to => drop(self.nodes[usize::from(to)].receive(self.now, &message)),
        }
        self.collect();
    }

    /// Goes to what comes next; a timer that ends is worked off.
    pub(crate) fn next(&mut self) -> Next {
        let give_back = (!self.given_back).then_some(at(DECIDED));
        let timers = self.nodes.iter().filter_map(FttNode::deadline);
        let timers = timers.chain(self.living().filter_map(AcMaster::deadline));
        let timers = timers.chain(self.switches.iter().filter_map(SwitchMaster::deadline));
        let timers = timers.chain(self.cable.and_then(|cable| cable.back));
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
        if self.cable.and_then(|cable| cable.back) == Some(next) {
            self.mend();
        }
        for node in &mut self.nodes {
            node.advance(next);
        }
        for switch in &mut self.switches {
            switch.advance(next);
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

    /// A test of one of two streams ends: it passes if the other one is neither granted nor being set up.
    pub(crate) fn end_test(&mut self, place: usize) {
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

    pub(crate) fn living(&self) -> impl Iterator<Item = &AcMaster> {
        self.masters.iter().zip(&self.dead).filter_map(|(master, back)| back.is_none().then_some(master))
    }

    /// The active one, if the other one would take its place.
    pub(crate) fn may_die(&self) -> Option<usize> {
        let may = |master: &AcMaster| master.is_in_step();
        let all = self.living().count() == self.masters.len() && self.living().all(may);
        self.masters.iter().position(AcMaster::is_active).filter(|_| all)
    }

    /// The active one dies, and comes back at that time, empty.
    pub(crate) fn kill(&mut self, place: usize, back: Option<Duration>) {
        self.dead[place] = Some(back.map_or(Instant::MAX, |back| self.now + back));
        self.tests[place].clear();
        self.tested_at[place] = None;
    }

    /// The cable fails, and is back at that time.
    pub(crate) fn sever(&mut self, back: Duration) {
        let now = self.now;
        let cable = self.cable.as_mut().expect("one that may fail");
        cable.back = Some(now + back);
        let ends = cable.ends;
        self.plan.report(ends[0], ends[1], false, 1);
        self.see(ends, false);
    }

    fn mend(&mut self) {
        let Some(Cable { ends, .. }) = self.cable.take() else { return };
        self.plan.report(ends[0], ends[1], true, 2);
        self.see(ends, true);
    }

    fn see(&mut self, ends: [u16; 2], up: bool) {
        for [here, there] in [ends, [ends[1], ends[0]]] {
            let place = here.checked_sub(SWITCH).map(usize::from);
            if let Some(switch) = place.and_then(|place| self.switches.get_mut(place)) {
                switch.link(self.now, there, up);
            }
        }
        self.collect();
    }

    /// Whether the cable is cut, or may not be cut any more.
    pub(crate) fn may_fail(&self) -> bool {
        self.cable.is_some_and(|cable| cable.back.is_none())
    }

    /// Whether a switch on the path of a stream to a consumer reports a failed link.
    pub(crate) fn is_broken(&self, stream: u16, consumer: u16) -> bool {
        self.switches.iter().any(|switch| switch.is_broken(stream, consumer))
    }

    /// The consumers that a switch carries a stream to.
    pub(crate) fn carried(&self, stream: u16, switch: usize) -> BTreeSet<u16> {
        let carried = self.switches[switch].streams().get(&stream);
        carried.map(|carried| carried.consumers.keys().copied().collect()).unwrap_or_default()
    }

    /// Streams that are requested.
    pub(crate) fn streams(&self) -> &'static [u16] {
        if self.verdict == Verdict::Excludes { &[STREAM.id, RIVAL.id] } else { &[STREAM.id] }
    }
}
