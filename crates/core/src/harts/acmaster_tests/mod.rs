//! The ACMaster with nodes and switches: requests, refusals, losses, the death of one of two, and of the other one when it is back.

use alloc::vec::Vec;

use super::*;
use tautwire_units::BitRate;
use tautwire_wire::harts::FttTerms;

use crate::harts::{FttLink, FttNode, RequestState, SwitchConfig, SwitchMaster};

mod coming_back;
mod consumers;
mod links;
mod standby;

const PATIENCE: Duration = Duration::from_ms(20);
const STREAM: FttStream = FttStream {
    id: 7,
    size: 88,
    period_ns: 125_000,
    deadline_ns: 2_000_000,
    priority: 3,
    producer: 1,
    offset_ns: None,
    terms: FttTerms::NONE,
};

/// Producer 1, consumer 2, consumer 3 that sends requests only in some tests, switches 11 to 13 in line, ACMasters 20 and 21.
#[derive(Clone)]
struct Line {
    now: Instant,
    nodes: [FttNode; 3],
    switches: [SwitchMaster; 3],
    masters: Vec<AcMaster>,
    /// Masters that are dead.
    dead: BTreeSet<u16>,
    flying: VecDeque<(u16, FttMessage)>,
    /// Cables that are cut.
    cut: Topology,
    /// The result of a test of the stream.
    admits: bool,
    /// Consumers whose test result is negated.
    refuses: BTreeSet<u16>,
    /// Invites that reached the producer, and its requests that were lost.
    invited: u16,
    unheard: u16,
}

fn topology() -> Topology {
    let mut topology = Topology::default();
    topology.link(11, 12);
    topology.link(12, 13);
    for (node, switch) in [(1, 11), (2, 13), (3, 12), (20, 12), (21, 12)] {
        topology.attach(node, switch);
    }
    topology
}

fn switch(switch: u16, neighbours: &[u16]) -> SwitchConfig {
    let link = |to: &u16| (*to, FttLink { rate: BitRate::from_mbps(100) });
    let links = neighbours.iter().map(link).collect();
    let (cycle, patience) = (Duration::from_us(125), PATIENCE);
    SwitchConfig { switch, acmaster: 20, cycle, tolerance_ppb: 0, step: Duration::ZERO, patience, links }
}

fn line(replicated: bool) -> Line {
    let master = |me: u16, other: u16| AcConfig {
        me,
        other: replicated.then_some(other),
        active: me == 20,
        life: 0,
        patience: PATIENCE,
        alive: Duration::from_ms(50),
        topology: topology(),
        size_max: 1_542,
    };
    let now = Instant::ZERO;
    let mut masters = Vec::from([AcMaster::new(master(20, 21), now)]);
    if replicated {
        masters.push(AcMaster::new(master(21, 20), now));
    }
    Line {
        now,
        nodes: [(1, 11), (2, 13), (3, 12)].map(|(node, at)| FttNode::new(node, at, PATIENCE * 3)),
        switches: [(11, &[1, 12][..]), (12, &[11, 3, 13]), (13, &[12, 2])]
            .map(|(me, to)| SwitchMaster::new(switch(me, to))),
        masters,
        dead: BTreeSet::new(),
        flying: VecDeque::new(),
        cut: topology(),
        admits: true,
        refuses: BTreeSet::new(),
        invited: 0,
        unheard: 0,
    }
}

impl Line {
    fn collect(&mut self) {
        let cut = self.cut.clone();
        let comes = |from: u16, to: u16| cut.cut(from, to).is_none();
        for (from, node) in (1..).zip(&mut self.nodes) {
            let messages = core::iter::from_fn(|| node.poll());
            self.flying.extend(messages.filter(|(to, _)| comes(from, *to)));
        }
        for (from, switch) in (11..).zip(&mut self.switches) {
            let messages = core::iter::from_fn(|| switch.poll());
            self.flying.extend(messages.filter(|(to, _)| comes(from, *to)));
        }
        for (from, master) in (20..).zip(&mut self.masters) {
            while let Some(action) = master.poll() {
                match action {
                    AcAction::Send { to, message } if comes(from, to) => self.flying.push_back((to, message)),
                    AcAction::Send { .. } => {}
                    AcAction::Test { stream, consumer } => {
                        let admits = self.admits != self.refuses.contains(&consumer);
                        let result = if admits { Ok(()) } else { Err(4) };
                        master.tested(self.now, stream.id, result);
                    }
                }
            }
        }
    }

    fn deliver(&mut self, to: u16, message: &FttMessage) {
        if self.dead.contains(&to) {
            return;
        }
        let mut octets = Vec::new();
        message.emit(&mut octets);
        let (message, _) = FttMessage::parse(&octets).expect("what is written is read");
        self.invited += u16::from(matches!((to, &message), (1, FttMessage::Invite { .. })));
        match to {
            1..=3 => drop(self.nodes[usize::from(to) - 1].receive(self.now, &message)),
            11..=13 => self.switches[usize::from(to) - 11].receive(self.now, &message),
            _ => self.masters[usize::from(to) - 20].receive(self.now, &message),
        }
    }

    /// Runs up to a time; a message is lost if `loses` returns true.
    fn run(&mut self, until: Instant, mut loses: impl FnMut() -> bool) {
        loop {
            self.collect();
            while let Some((to, message)) = self.flying.pop_front() {
                if loses() {
                    self.unheard += u16::from(matches!(message, FttMessage::Add { node: 1, .. }));
                } else {
                    self.deliver(to, &message);
                }
                self.collect();
            }
            let of_nodes = self.nodes.iter().filter_map(FttNode::deadline);
            let living = self.masters.iter().filter(|master| !self.dead.contains(&master.config.me));
            let of_switches = self.switches.iter().filter_map(SwitchMaster::deadline);
            let next = of_nodes.chain(living.filter_map(AcMaster::deadline)).chain(of_switches).min();
            let Some(next) = next.filter(|next| *next <= until) else { return };
            self.now = next;
            for node in &mut self.nodes {
                node.advance(next);
            }
            for switch in &mut self.switches {
                switch.advance(next);
            }
            for master in &mut self.masters {
                if !self.dead.contains(&master.config.me) {
                    master.advance(next);
                }
            }
        }
    }

    fn ask(&mut self) {
        self.ask_of(&[1, 2]);
    }

    fn ask_of(&mut self, nodes: &[usize]) {
        let now = self.now;
        for node in nodes {
            self.nodes[node - 1].request(now, STREAM);
        }
    }

    fn release(&mut self, node: usize) {
        self.nodes[node - 1].release(self.now, 7);
    }

    /// A cable fails or is repaired: the switches at its ends detect it.
    fn cable(&mut self, ends: [u16; 2], up: bool) {
        let number = u32::from(up) + 1;
        for [one, other] in [ends, [ends[1], ends[0]]] {
            if let Some(switch) =
                one.checked_sub(11).and_then(|place| self.switches.get_mut(usize::from(place)))
            {
                switch.link(self.now, other, up);
                self.cut.forget_links();
                self.cut.report(ends[0], ends[1], up, number);
            }
        }
    }

    /// The consumers that each switch carries the stream to.
    fn carried(&self) -> [Vec<u16>; 3] {
        [0, 1, 2].map(|place| {
            let carried = self.switches[place].streams().get(&7);
            carried.map(|carried| carried.consumers.keys().copied().collect()).unwrap_or_default()
        })
    }

    fn states(&self) -> [Option<RequestState>; 2] {
        [self.nodes[0].state(7), self.nodes[1].state(7)]
    }
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(ms)
}

const GRANTED: Option<RequestState> = Some(RequestState::Granted);

const REFUSED: Option<RequestState> = Some(RequestState::Refused(4));

/// A generator of losses, one in five.
fn one_in_five(seed: u64) -> impl FnMut() -> bool {
    let mut random = seed;
    move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33).is_multiple_of(5)
    }
}

impl Line {
    /// The ACMaster at this place dies, or comes back, empty, for the first time.
    fn stop(&mut self, place: usize, back: bool) {
        let me = self.masters[place].config.me;
        if back {
            let config = AcConfig { active: false, life: 1, ..self.masters[place].config.clone() };
            self.masters[place] = AcMaster::new(config, self.now);
            self.dead.remove(&me);
        } else {
            self.dead.insert(me);
        }
    }
}

fn ask_for(line: &mut Line, id: u16) {
    let now = line.now;
    for node in &mut line.nodes[..2] {
        node.request(now, FttStream { id, ..STREAM });
    }
}

#[test]
fn a_stream_is_tested_once_configured_and_acknowledged() {
    let mut line = line(false);
    line.nodes[0].request(line.now, STREAM);
    line.run(ms(1), || false);
    assert_eq!(line.masters[0].tests(), 0, "no consumer has asked");
    line.nodes[1].request(line.now, STREAM);
    line.run(ms(1), || false);
    assert_eq!(line.states(), [GRANTED; 2]);
    assert_eq!(line.masters[0].tests(), 1);
    assert!(line.switches.iter().all(|switch| switch.streams().contains_key(&7)));
    let now = line.now;
    line.nodes[0].release(now, 7);
    line.run(ms(2), || false);
    assert!(line.switches.iter().all(|switch| switch.streams().is_empty()));
    assert_eq!(line.masters[0].standing().count(), 0);
    assert!(!line.nodes[0].is_releasing(7) && line.masters[0].admitted().is_empty());
}

#[test]
fn a_refusal_goes_to_all_who_asked_and_changes_nothing() {
    let mut line = line(false);
    line.admits = false;
    line.ask();
    line.run(ms(1), || false);
    assert_eq!(line.states(), [Some(RequestState::Refused(4)); 2]);
    assert!(line.switches.iter().all(|switch| switch.streams().is_empty()));
    assert_eq!(line.masters[0].standing().count(), 0);
}

#[test]
fn attributes_that_cannot_be_are_refused_without_a_test() {
    for wrong in [
        FttStream { size: 0, ..STREAM },
        FttStream { size: 2_000, ..STREAM },
        FttStream { period_ns: 0, ..STREAM },
        FttStream { deadline_ns: 0, ..STREAM },
        FttStream { offset_ns: Some(125_000), ..STREAM },
        FttStream { producer: 9, ..STREAM },
    ] {
        let mut line = line(false);
        line.nodes[1].request(line.now, wrong);
        line.run(ms(1), || false);
        assert_eq!(line.nodes[1].state(7), Some(RequestState::Refused(7)), "{wrong:?}");
        assert_eq!(line.masters[0].tests(), 0);
    }
    let mut line = line(false);
    line.nodes[0].request(line.now, STREAM);
    line.nodes[1].request(line.now, FttStream { size: 90, ..STREAM });
    line.run(ms(1), || false);
    assert_eq!(line.nodes[1].state(7), Some(RequestState::Refused(7)), "not what the producer says");
}

#[test]
fn lost_messages_are_made_up_for() {
    for replicated in [false, true] {
        for seed in 1..200_u64 {
            let mut line = line(replicated);
            line.ask();
            // A fifth of all messages are lost at first.
            line.run(ms(300), one_in_five(seed));
            line.run(ms(900), || false);
            assert_eq!(line.states(), [GRANTED; 2], "seed {seed}, replicated: {replicated}");
            assert!(line.switches.iter().all(|switch| switch.streams().len() == 1), "seed {seed}");
        }
    }
}

#[test]
fn what_is_given_back_goes_everywhere_whatever_is_lost() {
    for replicated in [false, true] {
        for seed in 1..200_u64 {
            let mut line = line(replicated);
            line.ask();
            line.run(ms(10), || false);
            assert_eq!(line.states(), [GRANTED; 2]);
            let now = line.now;
            line.nodes[0].release(now, 7);
            let mut loses = one_in_five(seed);
            line.run(ms(300), &mut loses);
            line.run(ms(900), || false);
            assert!(!line.nodes[0].is_releasing(7), "seed {seed}, replicated: {replicated}");
            assert!(line.switches.iter().all(|switch| switch.streams().is_empty()), "seed {seed}");
            for master in &line.masters {
                assert_eq!(master.standing().count(), 0, "seed {seed}, replicated: {replicated}");
            }
        }
    }
}
