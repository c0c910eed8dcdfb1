//! Ports that preempt: cases worked out by hand, in octets of 80 ns at 100 Mbit/s.

use alloc::vec::Vec;

use tautwire_units::BitRate;

use super::*;
use crate::gates::{
    CycleTime, Entry, GateParameters, GatedCredit, GatesConfig, GuardPolicy, HoldAdvances, Operation,
};
use crate::port::test_frame::Frame;
use crate::port::{Cut, PortConfig};
use crate::preemption::{AddFragSize, PreemptionConfig};

/// Octets of the line, in nanoseconds.
const OCTET: u64 = 80;

fn ns(ns: u64) -> Instant {
    Instant::ZERO + Duration::from_ns(ns)
}

/// A port whose classes 0 to 3 are preemptable.
fn config(add_frag_size: u8) -> PortConfig {
    PortConfig {
        preemption: Some(PreemptionConfig {
            preemptable: 0x0f,
            add_frag_size: AddFragSize::new(add_frag_size).expect("below four"),
            advances: HoldAdvances::default(),
            active: true,
        }),
        ..PortConfig::plain(BitRate::from_mbps(100))
    }
}

/// Gates with a list of entries: operation, open classes, octets of the line.
fn gated(entries: &[(Operation, u8, u64)]) -> GatesConfig {
    let entry = |&(operation, gate_states, octets): &(Operation, u8, u64)| Entry {
        operation,
        gate_states,
        time_interval: Duration::from_ns(octets * OCTET),
    };
    let cycle: u64 = entries.iter().map(|(.., octets)| octets * OCTET * 1_000).sum();
    GatesConfig {
        admin_gate_states: 0xff,
        parameters: GateParameters {
            control_list: entries.iter().map(entry).collect(),
            base_time: Instant::ZERO,
            cycle_time: CycleTime::new(cycle, 1).expect("a cycle"),
            cycle_time_extension: Duration::ZERO,
        },
        guard: GuardPolicy::LookAhead,
        frame_max: [1_522; 8],
        payload_max: [1_500; 8],
        tick: Duration::ZERO,
        credit: GatedCredit::STANDARD,
    }
}

/// An mPacket: its frame, how it begins, its first octet and the end of its gap, in picoseconds.
type Sent = (Frame, MPacket, u64, u64);

/// What a port sends of frames that come at these nanoseconds, asked whenever it wants to be.
fn run(port: &mut EgressPort<Frame>, arrivals: &[(u64, Frame)]) -> Vec<Sent> {
    let mut sent: Vec<Sent> = Vec::new();
    let mut coming = arrivals.iter().peekable();
    let mut wake = None;
    for _ in 0..10_000 {
        let arrival = coming.peek().map(|(at, _)| ns(*at));
        let Some(now) = wake.into_iter().chain(arrival).min() else { return sent };
        while let Some((_, frame)) = coming.next_if(|(at, _)| ns(*at) == now) {
            port.enqueue(now, 0, Instant::ZERO, *frame).expect("room");
        }
        if now < port.busy_until() && port.may_change() {
            if let Cut::Interrupted(frame) = port.cut(now) {
                let last = sent.last_mut().expect("it was begun");
                assert_eq!(last.0, frame);
                last.3 = port.busy_until().as_ps();
            }
        } else {
            wake = match port.select(now) {
                Selection::Transmit { frame, .. } => {
                    sent.push((frame, port.mpacket(), now.as_ps(), port.busy_until().as_ps()));
                    Some(port.busy_until())
                }
                Selection::Wait(at) => {
                    assert!(at > now, "it is asked again later");
                    Some(at)
                }
                Selection::Idle => None,
            };
        }
        if now < port.busy_until() {
            let look = if port.may_change() { port.next_look(now) } else { None };
            assert!(look.is_none_or(|look| look > now), "what wants the line has it");
            wake = Some(look.map_or(port.busy_until(), |look| look.min(port.busy_until())));
        }
    }
    panic!("more wake-ups than there is reason for: {sent:?}");
}

/// Starts in octets; what is no whole octet is refused.
fn octets(sent: &[Sent]) -> Vec<(u8, u64, u64)> {
    let whole = |ps: u64| {
        assert!(ps.is_multiple_of(OCTET * 1_000), "{ps}");
        ps / OCTET / 1_000
    };
    sent.iter().map(|(frame, _, from, to)| (frame.1, whole(*from), whole(*to))).collect()
}

const LONG: Frame = Frame(1_518, 0);
const SHORT: Frame = Frame(64, 7);

#[test]
fn a_frame_is_cut_where_the_standard_lets_it_be() {
    let case = |at: u64| {
        let mut port = EgressPort::new(config(0));
        let sent = run(&mut port, &[(0, LONG), (at, SHORT)]);
        assert_eq!(port.busy(), Duration::from_ps(sent.iter().map(|(.., from, to)| to - from).sum()));
        octets(&sent)
    };
    // Cut behind 117 octets: 1401 are left, with 24 more.
    assert_eq!(case(10_000), [(0, 0, 141), (7, 141, 225), (0, 225, 1_646)]);
    assert_eq!(case(3_000), [(0, 0, 84), (7, 84, 168), (0, 168, 168 + 8 + 1_458 + 12)]);
    assert_eq!(case(117_600), [(0, 0, 1_538), (7, 1_538, 1_622)]);
    assert_eq!(case(116_960), [(0, 0, 1_478), (7, 1_478, 1_562), (0, 1_562, 1_562 + 84)]);
    assert_eq!(case(117_000), [(0, 0, 1_538), (7, 1_538, 1_622)]);
    // In the middle of an octet, and behind the head.
    assert_eq!(case(10_001), [(0, 0, 142), (7, 142, 226), (0, 226, 226 + 1_420)]);
    assert_eq!(case(0), [(7, 0, 84), (0, 84, 84 + 1_538)], "an express frame goes first");
}

#[test]
fn the_longest_blocking_is_that_of_the_largest_frame_that_is_not_cut() {
    for (size, octets, blocking) in
        [(0, 123, 143), (0, 124, 84), (0, 1_518, 84), (3, 315, 335), (3, 316, 276)]
    {
        let mut port = EgressPort::new(config(size));
        let sent = run(&mut port, &[(0, Frame(octets, 0)), (1, SHORT)]);
        assert_eq!(sent[1].2, blocking * OCTET * 1_000, "{size} {octets}");
    }
}

#[test]
fn a_frame_is_cut_as_often_as_it_may_be() {
    for (size, cuts) in [(0, 24), (1, 11), (2, 7), (3, 5)] {
        let mut port = EgressPort::new(config(size));
        let mut arrivals = [(0, Frame(1_522, 0))].to_vec();
        // One behind the end of each express frame, all the time.
        let step = (u64::from(60 + 64 * u32::from(size)) + 24 + 84) * OCTET;
        arrivals.extend((0..40).map(|number| (1 + number * step, SHORT)));
        let sent = run(&mut port, &arrivals);
        let of_long: Vec<MPacket> = sent.iter().filter(|one| one.0.1 == 0).map(|one| one.1).collect();
        let counted: Vec<MPacket> = (0..cuts).map(|cut| MPacket::Continuation(0, cut % 4)).collect();
        assert_eq!((of_long[0], &of_long[1..]), (MPacket::Start(0), &counted[..]), "{size}");
        assert_eq!(port.merge_counters().fragments, u64::from(cuts));
    }
}

#[test]
fn an_interrupted_frame_goes_on_before_higher_preemptable_ones() {
    let mut port = EgressPort::new(config(0));
    let sent = run(&mut port, &[(0, LONG), (10_000, SHORT), (10_500, Frame(64, 3)), (11_000, Frame(64, 4))]);
    let order: Vec<(u8, MPacket)> = sent.iter().map(|one| (one.0.1, one.1)).collect();
    let expected = [
        (0, MPacket::Start(0)),
        (7, MPacket::Express),
        (4, MPacket::Express),
        (0, MPacket::Continuation(0, 0)),
        (3, MPacket::Start(1)),
    ];
    assert_eq!(order, expected);
}

#[test]
fn express_frames_preempt_whatever_their_class() {
    let mut config = config(0);
    config.preemption.as_mut().expect("it preempts").preemptable = 0x80;
    let mut port = EgressPort::new(config);
    let sent = run(&mut port, &[(0, Frame(1_518, 7)), (10_000, Frame(64, 0))]);
    assert_eq!(octets(&sent), [(7, 0, 141), (0, 141, 225), (7, 225, 1_646)]);
}

#[test]
fn nothing_is_cut_before_preemption_is_active() {
    let mut config = config(0);
    config.preemption.as_mut().expect("it preempts").active = false;
    let mut port = EgressPort::new(config);
    let arrivals = [(0, LONG), (10_000, SHORT)];
    let sent = run(&mut port, &arrivals);
    assert_eq!(octets(&sent), [(0, 0, 1_538), (7, 1_538, 1_622)]);
    assert_eq!(sent[0].1, MPacket::Express);
    port.set_preempting(ns(200_000), true);
    let sent = run(&mut port, &arrivals.map(|(at, frame)| (at + 200_000, frame)));
    assert_eq!(sent.len(), 3);
}

/// A lone class's next start does not depend on cuts: what is charged is the same.
#[test]
fn a_cut_is_not_charged() {
    let class = Frame(1_000, 2);
    let run_with = |frames: usize, cuts: u64| {
        let mut config = config(0);
        config.classes[2].idle_slope = Some(BitRate::from_mbps(40));
        let mut port = EgressPort::new(config);
        let mut arrivals = [(0, class)].repeat(frames);
        arrivals.extend((1..=cuts).map(|cut| (10_000 * cut, SHORT)));
        let sent = run(&mut port, &arrivals);
        (sent, port.credit_range(class.class()).expect("it is shaped"))
    };
    let next = |cuts: u64| {
        let (sent, (hi, lo)) = run_with(2, cuts);
        let start = sent.iter().find(|one| one.1 == MPacket::Start(1)).map(|one| one.2);
        (start, hi.bits_away_from_zero(), lo.bits_away_from_zero())
    };
    // 1020 octets at -60 Mbit/s are -4896 bit; the same again at 40 Mbit/s: 204 us.
    // Four cuts in a row: 125 octets are charged with 4.8 bit each, then three times 60; 108, 192 and 108 octets earn 3.2 bit each.
    for (cuts, most) in [(0, 0), (1, 0), (4, 130)] {
        assert_eq!(next(cuts), (Some(204_000_000), most, -4_896), "{cuts} cuts");
    }
    // 24 octets and 84 of an express frame at 40 Mbit/s are 345.6 bit less.
    assert_eq!(run_with(1, 1).1.1.bits_away_from_zero(), -4_551);
}

const HOLD: Operation = Operation::SetAndHoldMac;
const RELEASE: Operation = Operation::SetAndReleaseMac;
const PLAIN: Operation = Operation::SetGateStates;

#[test]
fn a_hold_cuts_before_its_window_and_a_release_lets_go_on() {
    let mut config = config(0);
    // From 1000 octets to 2000 for the express classes, with nothing preemptable on the line.
    config.gates = Some(gated(&[(RELEASE, 0xff, 1_000), (HOLD, 0xf0, 1_000)]));
    let advances =
        HoldAdvances { hold: Duration::from_ns(84 * OCTET), release: Duration::from_ns(100 * OCTET) };
    config.preemption.as_mut().expect("it preempts").advances = advances;
    config.gates.as_mut().expect("gates").guard = GuardPolicy::None;
    let mut port = EgressPort::new(config.clone());
    let class = Frame(0, 0).class();
    let sent = run(&mut port, &[(0, LONG), (1_200 * OCTET, SHORT)]);
    // Held at 916: cut behind 908 octets; the line is free at 932. It goes on 100 octets behind the release at 2000.
    assert_eq!(octets(&sent), [(0, 0, 932), (7, 1_200, 1_284), (0, 2_100, 2_100 + 8 + 610 + 12)]);
    assert_eq!(port.gate_counters(class).transmission_overrun, 1, "it was begun without look-ahead");
    port.settle_gates(ns(2_900 * OCTET));
    assert_eq!(port.gates().map(|gates| gates.hold_count()), Some(1));
    port.settle_gates(ns(4_900 * OCTET));
    assert_eq!(port.gates().map(|gates| gates.hold_count()), Some(2));
    // What comes while it is held waits for the release.
    let mut port = EgressPort::new(config);
    let sent = run(&mut port, &[(950 * OCTET, Frame(64, 0))]);
    assert_eq!(octets(&sent), [(0, 2_100, 2_184)]);
}

#[test]
fn a_rest_overruns_unless_a_hold_cuts_it_before_the_close() {
    let overruns = |operation, advance: u64| {
        let mut config = config(0);
        config.gates = Some(gated(&[(RELEASE, 0xff, 2_000), (operation, 0xf0, 1_000)]));
        let advances = HoldAdvances { hold: Duration::from_ns(advance * OCTET), release: Duration::ZERO };
        config.preemption.as_mut().expect("it preempts").advances = advances;
        let mut port = EgressPort::new(config);
        // It fits up to 1938, and is cut for 108 octets.
        let sent = run(&mut port, &[(400 * OCTET, LONG), (500 * OCTET, SHORT)]);
        (octets(&sent).len(), port.gate_counters(LONG.class()).transmission_overrun)
    };
    assert_eq!(overruns(PLAIN, 143), (3, 1));
    assert_eq!(overruns(HOLD, 143), (4, 0), "it is cut again, and goes on when its gate is open");
    assert_eq!(overruns(HOLD, 0), (3, 1), "it is not cut any more");
}

#[test]
fn an_express_frame_cuts_when_its_gate_opens_and_not_where_it_does_not_fit() {
    let mut config = config(0);
    config.gates = Some(gated(&[(PLAIN, 0x0f, 500), (PLAIN, 0x8f, 200), (PLAIN, 0x0f, 5_000)]));
    let mut port = EgressPort::new(config.clone());
    // It waits for 500; cut behind 492 octets, it starts at 516.
    assert_eq!(octets(&run(&mut port, &[(0, LONG), (1, SHORT)]))[..2], [(0, 0, 516), (7, 516, 600)]);
    // At 611 it would fit, and behind the cut at 611 + 16 + 72 = 699 it does; at 613 it would not.
    let case = |at: u64| {
        let mut port = EgressPort::new(config.clone());
        let sent = octets(&run(&mut port, &[(0, LONG), (at * OCTET, SHORT)]));
        sent[1]
    };
    assert_eq!(case(611), (7, 627, 711));
    assert_eq!(case(612), (7, 628, 712));
    assert_eq!(case(613), (7, 5_700 + 500, 5_700 + 584), "nothing is cut for it");
}

/// An mPacket of verification has the next free line, before frames and whatever the gates, but not between fragments; it cuts nothing.
#[test]
fn verification_has_the_next_free_line() {
    let mut config = config(0);
    config.gates = Some(gated(&[(PLAIN, 0, 5_000), (PLAIN, 0xff, 5_000)]));
    let mut port = EgressPort::new(config);
    port.send_verification(MPacket::Verify);
    port.send_verification(MPacket::Respond);
    let at = |octets: u64| ns(octets * OCTET);
    port.enqueue(at(0), 0, Instant::ZERO, SHORT).expect("room");
    assert_eq!(
        (port.select(at(0)), port.verification_sent()),
        (Selection::Wait(at(84)), Some(MPacket::Respond))
    );
    assert_eq!(
        (port.select(at(84)), port.verification_sent()),
        (Selection::Wait(at(168)), Some(MPacket::Verify))
    );
    assert_eq!((port.select(at(168)), port.verification_sent()), (Selection::Wait(at(5_000)), None));
    assert_eq!((port.merge_counters().verifies, port.merge_counters().responds), (1, 1));
    assert_eq!(port.busy().as_ps(), 168 * OCTET * 1_000);
    let mut port = EgressPort::new(self::config(0));
    port.enqueue(at(0), 0, Instant::ZERO, LONG).expect("room");
    assert!(matches!(port.select(at(0)), Selection::Transmit { .. }));
    port.send_verification(MPacket::Respond);
    assert_eq!((port.cut(at(100)), port.next_look(at(100))), (Cut::No, None));
    port.enqueue(at(200), 0, Instant::ZERO, SHORT).expect("room");
    assert_eq!(port.cut(at(200)), Cut::Interrupted(LONG));
    // The express frame, then the rest, then the response.
    assert!(matches!(port.select(at(216)), Selection::Transmit { frame: SHORT, .. }));
    assert!(matches!(port.select(at(300)), Selection::Transmit { frame: LONG, .. }));
    let end = 300 + 8 + (1_518 - 192) + 12;
    assert_eq!((port.select(at(end)), port.mpacket()), (Selection::Wait(at(end + 84)), MPacket::Respond));
    // What was to be sent when the link fails is not sent later.
    port.send_verification(MPacket::Verify);
    let _ = port.flush(at(end + 84));
    assert_eq!((port.select(at(end + 84)), port.has_more()), (Selection::Idle, false));
}

/// A frame that may be cut and is not is sent as by a port that does not preempt.
#[test]
fn preemption_changes_nothing_where_no_express_frame_meets_another() {
    for seed in 0..100_u64 {
        let mut state = seed;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let mut merging = config(0);
        merging.classes[2].idle_slope = Some(BitRate::from_mbps(5 + draw(40)));
        let mut arrivals: Vec<(u64, Frame)> = (0..12)
            .map(|_| (draw(600_000), Frame(64 + u32::try_from(draw(1_400)).expect("small"), draw(4) as u8)))
            .collect();
        arrivals.sort_by_key(|(at, _)| *at);
        let mut plain = merging.clone();
        plain.preemption = None;
        let (mut plain, mut merging) = (EgressPort::new(plain), EgressPort::new(merging));
        let starts = |sent: Vec<Sent>| {
            sent.into_iter().map(|(frame, _, from, to)| (frame, from, to)).collect::<Vec<_>>()
        };
        let (plain, merging) = (run(&mut plain, &arrivals), run(&mut merging, &arrivals));
        assert_eq!(starts(plain), starts(merging), "seed {seed}");
    }
}
