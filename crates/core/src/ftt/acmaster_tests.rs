//! The ACMaster with nodes and switches: requests, refusals, losses, the death of one of two, and of the other one when it is back.

use alloc::vec::Vec;

use super::*;
use crate::ftt::{FttNode, RequestState, SwitchMaster};

const PATIENCE: Duration = Duration::from_ms(20);
const STREAM: FttStream = FttStream {
    id: 7,
    size: 88,
    period_ns: 125_000,
    deadline_ns: 2_000_000,
    priority: 3,
    producer: 1,
    offset_ns: None,
};

/// Producer 1, consumer 2, and consumer 3 that asks only where it is said, switches 11 to 13 in line, ACMasters 20 and 21.
#[derive(Clone)]
struct Line {
    now: Instant,
    nodes: [FttNode; 3],
    switches: [SwitchMaster; 3],
    masters: Vec<AcMaster>,
    /// Masters that are dead.
    dead: BTreeSet<u16>,
    flying: VecDeque<(u16, FttMessage)>,
    /// What a test of the stream gives.
    admits: bool,
    /// Consumers for whom it gives the contrary.
    refuses: BTreeSet<u16>,
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
        switches: [11, 12, 13].map(|switch| SwitchMaster::new(switch, 20)),
        masters,
        dead: BTreeSet::new(),
        flying: VecDeque::new(),
        admits: true,
        refuses: BTreeSet::new(),
    }
}

impl Line {
    fn collect(&mut self) {
        for node in &mut self.nodes {
            while let Some(sent) = node.poll() {
                self.flying.push_back(sent);
            }
        }
        for switch in &mut self.switches {
            while let Some(sent) = switch.poll() {
                self.flying.push_back(sent);
            }
        }
        for master in &mut self.masters {
            while let Some(action) = master.poll() {
                match action {
                    AcAction::Send { to, message } => self.flying.push_back((to, message)),
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
        match to {
            1..=3 => drop(self.nodes[usize::from(to) - 1].receive(self.now, &message)),
            11..=13 => self.switches[usize::from(to) - 11].receive(&message),
            _ => self.masters[usize::from(to) - 20].receive(self.now, &message),
        }
    }

    /// Runs up to a time; a message is lost if `loses` says so.
    fn run(&mut self, until: Instant, mut loses: impl FnMut() -> bool) {
        loop {
            self.collect();
            while let Some((to, message)) = self.flying.pop_front() {
                if !loses() {
                    self.deliver(to, &message);
                }
                self.collect();
            }
            let of_nodes = self.nodes.iter().filter_map(FttNode::deadline);
            let living = self.masters.iter().filter(|master| !self.dead.contains(&master.config.me));
            let next = of_nodes.chain(living.filter_map(AcMaster::deadline)).min();
            let Some(next) = next.filter(|next| *next <= until) else { return };
            self.now = next;
            for node in &mut self.nodes {
                node.advance(next);
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

    /// The consumers that each switch carries the stream to.
    fn carried(&self) -> [Vec<u16>; 3] {
        [0, 1, 2].map(|place| {
            let carried = self.switches[place].streams().get(&7);
            carried.map(|carried| carried.consumers.iter().copied().collect()).unwrap_or_default()
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
fn a_refusal_is_told_to_all_who_asked_and_changes_nothing() {
    let mut line = line(false);
    line.admits = false;
    line.ask();
    line.run(ms(1), || false);
    assert_eq!(line.states(), [Some(RequestState::Refused(4)); 2]);
    assert!(line.switches.iter().all(|switch| switch.streams().is_empty()));
    assert_eq!(line.masters[0].standing().count(), 0);
}

const REFUSED: Option<RequestState> = Some(RequestState::Refused(4));

/// What one consumer may not have another one may, and its refusal stands alone.
#[test]
fn a_consumer_that_fails_is_refused_alone() {
    let mut line = line(false);
    line.refuses.insert(2);
    line.ask_of(&[1, 2, 3]);
    line.run(ms(1), || false);
    assert_eq!([1, 2, 3].map(|node| line.nodes[node - 1].state(7)), [GRANTED, REFUSED, GRANTED]);
    assert_eq!(line.carried(), [Vec::from([3]), Vec::from([3]), Vec::new()], "only where it was granted");
    assert_eq!(line.masters[0].tests(), 2);
    line.ask_of(&[2]);
    line.run(ms(2), || false);
    assert_eq!((line.nodes[1].state(7), line.masters[0].tests()), (REFUSED, 2), "its refusal stands");
    // Until something is given back.
    line.release(3);
    line.refuses.clear();
    line.run(ms(3), || false);
    assert_eq!(line.nodes[0].state(7), Some(RequestState::Offered), "nobody is left");
    line.ask_of(&[2]);
    line.run(ms(4), || false);
    assert_eq!(line.states(), [GRANTED; 2]);
    assert_eq!(line.carried(), [Vec::from([2]), Vec::from([2]), Vec::from([2])]);
}

/// A producer that was refused for one consumer is asked for its offer when another one asks.
#[test]
fn a_refused_producer_is_granted_for_another_consumer() {
    for dies in [false, true] {
        let mut line = line(true);
        line.refuses.insert(2);
        line.ask();
        line.run(ms(1), || false);
        assert_eq!(line.states(), [REFUSED; 2], "all who asked are told");
        if dies {
            line.dead.insert(20);
            line.run(ms(300), || false);
        }
        line.ask_of(&[3]);
        line.run(ms(600), || false);
        assert_eq!([line.nodes[0].state(7), line.nodes[2].state(7)], [GRANTED; 2], "{dies}");
        assert_eq!(line.nodes[1].state(7), REFUSED);
    }
}

/// One consumer that leaves takes its own part; the last one leaves the producer's offer where it is.
#[test]
fn consumers_leave_one_by_one_and_the_offer_stays() {
    for (replicated, seed) in (0..100).flat_map(|seed| [(false, seed), (true, seed)]) {
        let mut line = line(replicated);
        let mut loses = one_in_five(seed);
        let mut step = |line: &mut Line, until: u64| {
            // None is lost in the first.
            line.run(ms(until - 300), || seed > 0 && loses());
            line.run(ms(until), || false);
        };
        line.ask_of(&[1, 2, 3]);
        step(&mut line, 600);
        assert_eq!(line.carried(), [Vec::from([2, 3]), Vec::from([2, 3]), Vec::from([2])]);
        line.release(2);
        step(&mut line, 1_200);
        assert_eq!(line.carried(), [Vec::from([3]), Vec::from([3]), Vec::new()], "seed {seed}");
        assert_eq!(line.nodes[0].state(7), GRANTED);
        line.release(3);
        step(&mut line, 1_800);
        assert_eq!(line.carried(), [const { Vec::new() }; 3], "seed {seed}");
        assert_eq!(line.nodes[0].state(7), Some(RequestState::Offered), "seed {seed}");
        assert!(line.masters.iter().all(|master| master.standing().count() == 0));
        line.ask_of(&[2]);
        step(&mut line, 2_400);
        assert_eq!(line.states(), [GRANTED; 2], "its producer asked once; seed {seed}");
        line.release(1);
        step(&mut line, 3_000);
        assert_eq!(line.carried(), [const { Vec::new() }; 3]);
        assert!(line.masters.iter().all(|master| master.standing().count() == 0 && master.offers.is_empty()));
    }
}

/// A producer that does not answer does not keep its last consumer.
#[test]
fn a_consumer_leaves_a_producer_that_is_gone() {
    let mut line = line(false);
    line.ask();
    line.run(ms(10), || false);
    line.dead.insert(1);
    line.release(2);
    line.run(ms(500), || false);
    assert_eq!(line.carried(), [const { Vec::new() }; 3]);
    assert!(!line.nodes[1].is_releasing(7));
    // It is back, and sends by what it was granted before: who asks gets it under a new request.
    line.dead.clear();
    line.ask_of(&[3]);
    line.run(ms(900), || false);
    assert_eq!([line.nodes[0].state(7), line.nodes[2].state(7)], [GRANTED; 2]);
}

/// A consumer that asks first, for something else, does not keep its producer out.
#[test]
fn the_producers_attributes_count() {
    let mut line = line(false);
    line.nodes[1].request(line.now, FttStream { size: 90, ..STREAM });
    line.run(ms(1), || false);
    line.ask_of(&[1, 3]);
    line.run(ms(2), || false);
    assert_eq!([line.nodes[0].state(7), line.nodes[2].state(7)], [GRANTED; 2]);
    assert_eq!(line.nodes[1].state(7), Some(RequestState::Refused(7)));
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
fn a_standby_takes_over_what_was_acknowledged_and_decides_on() {
    let mut line = line(true);
    line.ask();
    line.run(ms(10), || false);
    assert_eq!(line.states(), [GRANTED; 2]);
    assert!(!line.masters[1].is_active());
    assert_eq!(line.masters[1].standing().count(), 1, "known before it was acknowledged");
    line.dead.insert(20);
    let other = FttStream { id: 8, ..STREAM };
    let now = line.now;
    line.nodes[0].request(now, other);
    line.nodes[1].request(now, other);
    line.run(ms(500), || false);
    assert!(line.masters[1].is_active());
    assert_eq!([line.nodes[0].state(8), line.nodes[1].state(8)], [GRANTED; 2], "asked again, of the new one");
    assert_eq!(line.masters[1].standing().count(), 2, "nothing lost, nothing twice");
    assert_eq!(line.masters[1].tests(), 1, "what stood is not tested again");
}

/// Whenever the active one dies, the standby knows every stream that any node was told of.
#[test]
fn death_at_any_message_loses_no_acknowledged_stream() {
    for messages in 0..20 {
        let mut line = line(true);
        line.ask();
        let mut left = messages;
        line.collect();
        while let Some((to, message)) = line.flying.pop_front() {
            if left == 0 {
                break;
            }
            left -= 1;
            line.deliver(to, &message);
            line.collect();
        }
        line.dead.insert(20);
        let told = line.states().contains(&GRANTED);
        if told {
            assert_eq!(line.masters[1].standing().count(), 1, "after {messages} messages");
        }
        line.run(ms(900), || false);
        assert_eq!(line.states(), [GRANTED; 2], "after {messages} messages");
        assert_eq!(line.masters[1].standing().count(), 1);
        assert!(line.switches.iter().all(|switch| switch.streams().len() == 1));
    }
}

/// A generator of losses, one in five.
fn one_in_five(seed: u64) -> impl FnMut() -> bool {
    let mut random = seed;
    move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33).is_multiple_of(5)
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

/// Whenever the active one dies while a stream is given back, it goes from switches and standby all the same.
#[test]
fn death_while_a_stream_is_given_back_leaves_nothing_behind() {
    for messages in 0..14 {
        let mut line = line(true);
        line.ask();
        line.run(ms(10), || false);
        let now = line.now;
        line.nodes[0].release(now, 7);
        line.collect();
        for _ in 0..messages {
            let Some((to, message)) = line.flying.pop_front() else { break };
            line.deliver(to, &message);
            line.collect();
        }
        line.dead.insert(20);
        line.run(ms(900), || false);
        assert!(!line.nodes[0].is_releasing(7), "after {messages} messages");
        assert_eq!(line.masters[1].standing().count(), 0, "after {messages} messages");
        assert!(line.switches.iter().all(|switch| switch.streams().is_empty()), "after {messages} messages");
    }
}

/// Who took over waits for no answer of the one that fell silent.
#[test]
fn a_request_after_the_death_is_not_held_up_by_the_dead() {
    let mut line = line(true);
    line.dead.insert(20);
    line.run(ms(200), || false);
    assert!(line.masters[1].is_active());
    line.ask();
    line.run(ms(201), || false);
    assert_eq!(line.states(), [GRANTED; 2]);
}

/// The switches forget what a dead ACMaster had begun to set up, when its talker gives it back.
#[test]
fn what_the_dead_left_half_done_is_taken_out() {
    let mut line = line(true);
    line.ask();
    line.collect();
    while line.switches[2].streams().is_empty() {
        let (to, message) = line.flying.pop_front().expect("it is configured");
        line.deliver(to, &message);
        line.collect();
    }
    line.dead.insert(20);
    line.flying.clear();
    let now = line.now;
    for node in &mut line.nodes {
        node.release(now, 7);
    }
    line.run(ms(900), || false);
    assert!(line.nodes.iter().all(|node| !node.is_releasing(7)));
    assert!(line.switches.iter().all(|switch| switch.streams().is_empty()));
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
fn a_second_failure_loses_nothing_of_what_stood_before_the_first() {
    let mut line = line(true);
    line.ask();
    line.run(ms(10), || false);
    line.stop(0, false);
    line.run(ms(300), || false);
    ask_for(&mut line, 8);
    // Two that are asked by one side alone: they are not decided.
    let now = line.now;
    line.nodes[1].request(now, FttStream { id: 9, ..STREAM });
    line.run(ms(400), || false);
    line.stop(0, true);
    assert!(!line.masters[0].is_in_step());
    line.run(ms(401), || false);
    assert!(line.masters[0].is_in_step() && !line.masters[0].is_active());
    assert_eq!(line.masters[0].standing().count(), 2, "of before the first failure, and of behind it");
    assert_eq!(line.masters[0].pending.len(), 1, "what is not decided is known, too");
    let number = line.masters[1].number;
    line.stop(1, false);
    line.run(ms(700), || false);
    assert!(line.masters[0].is_active() && line.masters[0].number >= number, "it counts on");
    assert_eq!(line.masters[0].standing().count(), 2);
    assert_eq!(line.masters[0].tests(), 0, "what stood is not tested again");
    let now = line.now;
    line.nodes[0].request(now, FttStream { id: 9, ..STREAM });
    line.run(ms(710), || false);
    assert_eq!(
        [line.nodes[0].state(9), line.nodes[1].state(9)],
        [GRANTED; 2],
        "the consumer asked before both"
    );
    let now = line.now;
    line.nodes[0].release(now, 7);
    line.run(ms(900), || false);
    assert!(line.switches.iter().all(|switch| switch.streams().len() == 2));
    assert_eq!(line.masters[0].standing().count(), 2);
}

/// One that comes back before it was missed has forgotten all: the standby need not wait.
#[test]
fn a_standby_takes_over_from_one_that_has_forgotten_all() {
    let mut line = line(true);
    line.ask();
    line.run(ms(10), || false);
    line.stop(0, true);
    line.run(ms(11), || false);
    assert!(line.masters[1].is_active() && !line.masters[0].is_active());
    assert!(line.masters[0].is_in_step() && line.masters[0].standing().count() == 1);
}

/// One that came back and does not know all takes over from nobody.
#[test]
fn one_that_knows_nothing_decides_nothing() {
    let mut line = line(true);
    line.ask();
    line.run(ms(10), || false);
    line.stop(0, false);
    line.stop(1, false);
    line.stop(0, true);
    ask_for(&mut line, 8);
    line.run(ms(900), || false);
    assert!(!line.masters[0].is_active() && !line.masters[0].is_in_step());
    assert_eq!(line.nodes[0].state(8), Some(RequestState::Asked));
    assert!(line.switches.iter().all(|switch| switch.streams().len() == 1), "what runs goes on");
}

/// A refusal that stands is known to one that came back: who asks again is answered without a test.
#[test]
fn a_refusal_outlives_both_failures() {
    let mut line = line(true);
    line.stop(0, false);
    line.run(ms(300), || false);
    line.admits = false;
    line.ask();
    line.run(ms(310), || false);
    assert_eq!(line.states(), [Some(RequestState::Refused(4)); 2]);
    line.stop(0, true);
    line.run(ms(400), || false);
    line.stop(1, false);
    line.run(ms(700), || false);
    line.ask();
    line.run(ms(800), || false);
    assert_eq!(line.states(), [Some(RequestState::Refused(4)); 2]);
    assert_eq!(line.masters[0].tests(), 0);
}

/// While one comes back, any message may be lost, and what is granted meanwhile is not missing.
#[test]
fn losses_while_one_comes_back_lose_no_stream() {
    for seed in 1..200_u64 {
        let mut line = line(true);
        line.ask();
        line.run(ms(10), || false);
        line.stop(0, false);
        line.run(ms(300), || false);
        line.stop(0, true);
        ask_for(&mut line, 8);
        line.run(ms(600), one_in_five(seed));
        line.run(ms(1_000), || false);
        assert!(line.masters.iter().all(AcMaster::is_in_step), "seed {seed}");
        let standing = line.masters.iter().map(|master| master.standing().count());
        assert!(standing.eq([2, 2]), "seed {seed}");
        let active = line.masters.iter().position(AcMaster::is_active).expect("one is");
        line.stop(active, false);
        line.run(ms(1_400), || false);
        assert!(line.masters[1 - active].is_active());
        assert_eq!(line.masters[1 - active].standing().count(), 2, "seed {seed}");
    }
}

/// Whatever of what one that came back is told is lost, said twice, late or another's: it says that it knows all when it does.
#[test]
fn an_account_that_is_not_that_of_the_active_one_is_not_taken() {
    let mut checked = 0;
    for fault in 0..4 {
        for place in 0..40 {
            let mut line = line(true);
            line.ask();
            line.run(ms(10), || false);
            line.stop(0, false);
            line.run(ms(300), || false);
            // One that nobody produces, one that nobody consumes, and one that is refused stand beside it.
            let now = line.now;
            line.nodes[1].request(now, FttStream { id: 8, ..STREAM });
            line.nodes[0].request(now, FttStream { id: 9, ..STREAM });
            line.run(ms(301), || false);
            line.admits = false;
            ask_for(&mut line, 10);
            line.run(ms(302), || false);
            line.stop(0, true);
            let mut count = 0;
            let mut held = None;
            for _ in 0..200 {
                line.collect();
                let Some((to, mut message)) = line.flying.pop_front() else { break };
                let is_told = |message: &FttMessage| {
                    matches!(message, FttMessage::Record { .. } | FttMessage::Replicate { .. })
                };
                let hit = to == 20 && is_told(&message) && count == place;
                count += usize::from(to == 20 && is_told(&message));
                match (hit, fault) {
                    (true, 0) => continue,
                    (true, 1) => line.deliver(to, &message),
                    (true, 2) => {
                        held = Some(message);
                        continue;
                    }
                    // A stray one, of something that was asked or stood once.
                    (true, _) => {
                        if let FttMessage::Record { node, .. }
                        | FttMessage::Replicate { consumer: node, .. } = &mut message
                        {
                            *node = 3;
                        }
                    }
                    _ => {}
                }
                line.deliver(to, &message);
                if line.masters[0].is_in_step() {
                    let told = line.masters.iter().map(|master| {
                        let standing =
                            master.standing().map(|(stream, consumers)| (*stream, consumers.clone()));
                        (standing.collect::<Vec<_>>(), master.refused.clone())
                    });
                    let told: Vec<_> = told.collect();
                    assert_eq!(told[0], told[1], "fault {fault} at {place}");
                    assert_eq!(line.masters[0].pending.len(), 2, "fault {fault} at {place}");
                }
            }
            line.flying.extend(held.map(|message| (20, message)));
            line.run(ms(600), || false);
            assert!(line.masters[0].is_in_step(), "fault {fault} at {place}");
            checked += usize::from(count > place);
        }
    }
    assert!(checked >= 16, "there was something to be told: {checked}");
}

/// One that is alone comes back, and knows of the switches what stands: nothing is tested again, and what comes is tested beside it.
#[test]
fn one_that_is_alone_asks_the_switches_what_stands() {
    for seed in 0..100 {
        let mut line = line(false);
        line.ask_of(&[1, 2, 3]);
        line.run(ms(10), || false);
        let standing = |line: &Line| -> Vec<_> {
            line.masters[0].standing().map(|(stream, consumers)| (*stream, consumers)).collect()
        };
        let before = standing(&line);
        let config = AcConfig { life: 1, ..line.masters[0].config.clone() };
        line.masters[0] = AcMaster::new(config, line.now);
        let mut loses = one_in_five(seed);
        line.run(ms(400), || seed > 0 && loses());
        line.run(ms(800), || false);
        assert!(line.masters[0].is_in_step(), "seed {seed}");
        assert_eq!(standing(&line), before, "seed {seed}");
        assert_eq!(line.masters[0].tests(), 0);
        // Who is invited again, because an answer was lost, asks under a new number again.
        let produced = line.masters[0].entries[&7].produced.expect("its producer said so");
        assert!(if seed == 0 { produced == 2 } else { produced >= 2 }, "once more: {produced}, seed {seed}");
        line.release(2);
        line.release(3);
        line.run(ms(1_200), || false);
        assert_eq!(
            line.carried(),
            [const { Vec::new() }; 3],
            "switches take its numbers for new; seed {seed}"
        );
        assert_eq!(line.nodes[0].state(7), Some(RequestState::Offered));
    }
}

/// What only some switches carry is taken out when it comes back, and asked for again by who wants it.
#[test]
fn what_was_half_set_up_does_not_stand() {
    for messages in 4..20 {
        let mut line = line(false);
        line.ask();
        line.collect();
        for _ in 0..messages {
            let Some((to, message)) = line.flying.pop_front() else { break };
            line.deliver(to, &message);
            line.collect();
        }
        line.flying.clear();
        let config = AcConfig { life: 1, ..line.masters[0].config.clone() };
        line.masters[0] = AcMaster::new(config, line.now);
        line.run(ms(15), || false);
        let carried = line.switches.iter().filter(|switch| !switch.streams().is_empty()).count();
        let stands = line.masters[0].standing().count();
        assert_eq!(carried, 3 * stands, "on all of its way or not at all, after {messages} messages");
        line.run(ms(300), || false);
        assert_eq!(line.states(), [GRANTED; 2], "after {messages} messages");
        assert_eq!(line.masters[0].standing().count(), 1);
    }
}
