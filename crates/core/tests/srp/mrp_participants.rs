//! MRP participants on links: registrations come, stay and go; opportunities are limited; bridges pass on.

use proptest::prelude::*;
use tautwire_core::srp::mrp::{JoinRule, MrpTiming, Notice, Participant, Relay};
use tautwire_units::{Duration, Instant};
use tautwire_wire::MacAddress;
use tautwire_wire::srp::{ListenerDeclaration, MrpPdu, MsrpValue, MvrpValue, StreamId};

fn timing(rule: JoinRule) -> MrpTiming {
    MrpTiming { rule, ..MrpTiming::default() }
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(ms)
}

/// Two participants and the link between them, without delay. `loses` decides for each MRPDU whether it is lost.
struct Link<F> {
    ends: [Participant<MvrpValue>; 2],
    now: Instant,
    sent: Vec<(Instant, usize)>,
    loses: F,
}

impl<F: FnMut(usize) -> bool> Link<F> {
    fn new(rule: JoinRule, loses: F) -> Self {
        let end = |seed| Participant::new(timing(rule), seed, Instant::ZERO);
        Self { ends: [end(1), end(2)], now: Instant::ZERO, sent: Vec::new(), loses }
    }

    /// Runs up to a time; every moment is shown to `looks`.
    fn run(&mut self, until: Instant, mut looks: impl FnMut(&Self)) {
        loop {
            let next = self.ends[0].deadline().min(self.ends[1].deadline()).max(self.now);
            if next > until {
                self.now = until;
                return;
            }
            self.now = next;
            for from in 0..2 {
                self.ends[from].advance(next);
                while let Some(pdu) = self.ends[from].poll_transmit(next) {
                    self.sent.push((next, from));
                    if !(self.loses)(self.sent.len() - 1) {
                        self.ends[1 - from].receive(next, &through_octets(&pdu));
                    }
                }
            }
            looks(self);
        }
    }
}

fn through_octets(pdu: &MrpPdu<MvrpValue>) -> MrpPdu<MvrpValue> {
    let mut octets = Vec::new();
    pdu.emit(&mut octets);
    MrpPdu::parse(&octets).expect("what is written is read").0
}

fn registered(end: &Participant<MvrpValue>) -> Vec<u16> {
    end.registered().map(|(value, _)| value.0).collect()
}

#[test]
fn a_registration_comes_stays_and_goes() {
    for rule in [JoinRule::AtOnce, JoinRule::After(Duration::from_ms(100)), JoinRule::Random] {
        let mut link = Link::new(rule, |_| false);
        link.ends[0].join(at(0), MvrpValue(7), None, true);
        link.run(at(400), |_| ());
        assert_eq!(registered(&link.ends[1]), [7], "{rule:?}");
        assert_eq!(link.ends[1].poll_indication().map(|heard| heard.notice), Some(Notice::Join(true)));
        // Six leave-all times: nothing is left, not even for a moment.
        link.run(at(60_000), |link| {
            assert!(link.ends[1].is_registered(&MvrpValue(7)), "{rule:?} at {}", link.now)
        });
        let quiet = link.sent.len();
        assert!(quiet < 60, "{rule:?}: {quiet} MRPDUs in a minute");
        link.ends[0].leave(at(60_000), MvrpValue(7));
        link.run(at(60_900), |_| ());
        assert_eq!(registered(&link.ends[1]), [7], "the leave timer runs");
        link.run(at(61_300), |_| ());
        assert_eq!(registered(&link.ends[1]), [0; 0]);
        let mut last = None;
        while let Some(heard) = link.ends[1].poll_indication() {
            last = Some(heard.notice);
        }
        assert_eq!(last, Some(Notice::Leave));
    }
}

#[test]
fn any_one_lost_mrpdu_is_made_up_for() {
    let sent = {
        let mut link = Link::new(JoinRule::AtOnce, |_| false);
        link.ends[0].join(at(0), MvrpValue(7), None, true);
        link.run(at(40_000), |_| ());
        link.sent.len()
    };
    for lost in 0..sent {
        let mut link = Link::new(JoinRule::AtOnce, |number| number == lost);
        link.ends[0].join(at(0), MvrpValue(7), None, true);
        link.run(at(500), |_| ());
        link.run(at(40_000), |link| {
            assert!(link.ends[1].is_registered(&MvrpValue(7)), "{lost} lost, {}", link.now)
        });
    }
}

/// A new declaration replaces the one before; if it is withdrawn before it was sent, nothing is left at the other end.
#[test]
fn what_is_declared_otherwise_and_withdrawn_at_once_is_withdrawn() {
    let listener = MsrpValue::Listener(StreamId { source: MacAddress([2, 0, 0, 0, 0, 1]), unique: 1 });
    // Sent once it is anxious, sent twice it is quiet.
    for times in 1..3 {
        let mut one = Participant::new(timing(JoinRule::AtOnce), 1, at(0));
        let mut other = Participant::new(timing(JoinRule::AtOnce), 2, at(0));
        one.join(at(0), listener, Some(ListenerDeclaration::Ready), false);
        for _ in 0..times {
            other.receive(at(0), &one.poll_transmit(at(0)).expect("it is said"));
        }
        one.join(at(10), listener, Some(ListenerDeclaration::AskingFailed), false);
        one.leave(at(10), listener);
        let opportunity = one.deadline();
        other.receive(opportunity, &one.poll_transmit(opportunity).expect("it is withdrawn"));
        assert!(other.is_registered(&listener));
        other.advance(opportunity + MrpTiming::default().leave);
        assert!(!other.is_registered(&listener), "said {times} times");
    }
}

/// When one participant, which declares a value at 0 and another one 5 ms later, sends, milliseconds.
fn sends(repeat: Duration) -> Vec<u64> {
    let timing = MrpTiming { repeat, ..MrpTiming::default() };
    let mut one = Participant::new(timing, 1, Instant::ZERO);
    let mut sent = Vec::new();
    for ms in 0..1_000 {
        if ms == 0 || ms == 5 {
            let value = if ms == 0 { 7 } else { 8 };
            one.join(at(ms), MvrpValue(value), None, true);
        }
        one.advance(at(ms));
        while one.poll_transmit(at(ms)).is_some() {
            sent.push(ms);
        }
    }
    sent
}

#[test]
fn repeated_declarations_let_new_ones_go_before() {
    // New, new and join of the first value at once: the limit is used up, and the second value waits for its window.
    assert_eq!(sends(Duration::ZERO), [0, 0, 0, 300, 300, 300]);
    // Repeated 100 ms after the last: the second value has an opportunity of the three, and is in the repetition.
    assert_eq!(sends(Duration::from_ms(100)), [0, 5, 105, 300]);
    // A wait above the limit's window: the limit is never met.
    assert_eq!(sends(Duration::from_ms(350)), [0, 5, 355, 705]);
}

#[test]
fn values_without_room_wait_for_the_next_opportunity() {
    let mut link = Link::new(JoinRule::AtOnce, |_| false);
    // Every second VLAN: a vector each, five octets; three hundred fill one MRPDU.
    for vlan in (1..4_000).step_by(2) {
        link.ends[0].join(at(0), MvrpValue(vlan), None, false);
    }
    link.run(at(0), |_| ());
    assert!(registered(&link.ends[1]).len() < 1_000, "three MRPDUs at once");
    link.run(at(3_000), |_| ());
    assert_eq!(registered(&link.ends[1]).len(), 2_000);
}

#[test]
fn a_bridge_declares_what_other_ports_registered() {
    let part = |seed| Participant::<MvrpValue>::new(timing(JoinRule::AtOnce), seed, Instant::ZERO);
    let mut bridge = Relay::new(vec![part(1), part(2), part(3)]);
    let mut station = part(4);
    station.join(at(0), MvrpValue(9), None, true);
    while let Some(pdu) = station.poll_transmit(at(0)) {
        bridge.receive(at(0), 0, &pdu);
    }
    let declared = |bridge: &Relay<MvrpValue>, port| bridge.port(port).declared().count();
    assert_eq!([0, 1, 2].map(|port| declared(&bridge, port)), [0, 1, 1]);
    // A second station declares it on port 1: now port 0 must receive it as well.
    let mut other = part(5);
    other.join(at(0), MvrpValue(9), None, false);
    while let Some(pdu) = other.poll_transmit(at(0)) {
        bridge.receive(at(0), 1, &pdu);
    }
    assert_eq!([0, 1, 2].map(|port| declared(&bridge, port)), [1, 1, 1]);
    bridge.set_forwarding(at(1), 1, false);
    assert_eq!([0, 1, 2].map(|port| declared(&bridge, port)), [0, 0, 1]);
    bridge.set_forwarding(at(2), 1, true);
    station.leave(at(2), MvrpValue(9));
    let pdu = station.poll_transmit(at(400)).expect("a leave");
    bridge.receive(at(400), 0, &pdu);
    bridge.advance(at(1_400));
    assert_eq!([0, 1, 2].map(|port| declared(&bridge, port)), [1, 0, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the user does and the link loses.
    #[test]
    fn three_mrpdus_at_most_in_one_and_a_half_join_times(
        does in prop::collection::vec((0_u64..200, 0_usize..2, 1_u16..6, any::<bool>()), 1..60),
        lost in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut link = Link::new(JoinRule::AtOnce, |number| lost.get(number).copied().unwrap_or(false));
        let mut now = 0;
        let mut wanted = [[false; 6]; 2];
        for (wait, end, vlan, joins) in does {
            now += wait;
            link.run(at(now), |_| ());
            wanted[end][usize::from(vlan)] = joins;
            if joins {
                link.ends[end].join(at(now), MvrpValue(vlan), None, false);
            } else {
                link.ends[end].leave(at(now), MvrpValue(vlan));
            }
        }
        // Some leave-alls after the last loss each end has registered what the other wants, and nothing else.
        while link.sent.len() < lost.len() {
            now += 10_000;
            link.run(at(now), |_| ());
        }
        link.run(at(now + 100_000), |_| ());
        for (end, wanted) in wanted.iter().enumerate() {
            let declared: Vec<u16> = (1..6).filter(|vlan| wanted[usize::from(*vlan)]).collect();
            prop_assert_eq!(registered(&link.ends[1 - end]), declared);
            let times: Vec<Instant> = link.sent.iter().filter(|(_, from)| *from == end).map(|(at, _)| *at).collect();
            for four in times.windows(4) {
                prop_assert!(four[3].since(four[0]) >= Duration::from_ms(300), "{:?}", four);
            }
        }
    }
}
