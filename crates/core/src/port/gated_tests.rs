//! Ports with gates: cases worked out by hand, credit, guards, ticks.

use alloc::vec::Vec;

use super::*;
use crate::gates::{CycleTime, Entry, Operation};
use crate::port::PortConfig;
use crate::port::test_frame::Frame;

/// Nanoseconds.
fn ns(ns: u64) -> Instant {
    Instant::ZERO + Duration::from_ns(ns)
}

fn list(cycle_us: u64, entries: &[(&[u8], u64)]) -> GateParameters {
    let entry = |&(open, us): &(&[u8], u64)| Entry {
        operation: Operation::SetGateStates,
        gate_states: open.iter().fold(0, |all, class| all | 1 << class),
        time_interval: Duration::from_us(us),
    };
    GateParameters {
        control_list: entries.iter().map(entry).collect(),
        base_time: Instant::ZERO,
        cycle_time: CycleTime::new(cycle_us * 1_000_000, 1).expect("a cycle"),
        cycle_time_extension: Duration::ZERO,
    }
}

fn config(parameters: GateParameters) -> PortConfig {
    PortConfig {
        gates: Some(GatesConfig {
            admin_gate_states: 0xff,
            parameters,
            guard: GuardPolicy::LookAhead,
            frame_max: [1_522; 8],
            payload_max: [1_500; 8],
            tick: Duration::ZERO,
            credit: GatedCredit::STANDARD,
        }),
        ..PortConfig::plain(BitRate::from_mbps(100))
    }
}

/// Frames with the nanosecond at which each comes; the starts of those that are sent, in order, until nothing is left
/// to be done. The port is polled at every wake-up that it requests, and at every arrival.
fn run(port: &mut EgressPort<Frame>, arrivals: &[(u64, Frame)]) -> Vec<(Frame, u64)> {
    let mut sent = Vec::new();
    let mut coming = arrivals.iter().peekable();
    let mut wake = None;
    for _ in 0..1_000 {
        let arrival = coming.peek().map(|(at, _)| ns(*at));
        let Some(now) = wake.into_iter().chain(arrival).min() else { return sent };
        while let Some((_, frame)) = coming.next_if(|(at, _)| ns(*at) == now) {
            port.enqueue(now, 0, Instant::ZERO, *frame).expect("room");
        }
        wake = match port.select(now) {
            Selection::Transmit { frame, .. } => {
                sent.push((frame, now.as_ps()));
                Some(port.busy_until())
            }
            Selection::Wait(at) => {
                assert!(at > now, "it is asked again later");
                Some(at)
            }
            Selection::Idle => None,
        };
    }
    panic!("more wake-ups than there is reason for: {sent:?}");
}

fn starts(port: &mut EgressPort<Frame>, arrivals: &[(u64, Frame)]) -> Vec<u64> {
    run(port, arrivals).into_iter().map(|(_, start)| start).collect()
}

/// Case O1: the test for room is made against the close of all entries that meet.
#[test]
fn a_frame_starts_if_it_ends_by_the_close_of_the_entries_that_meet() {
    let entries: &[(&[u8], u64)] = &[(&[7, 2], 100), (&[0], 150), (&[0, 1], 150), (&[0, 2], 100)];
    for (class, arrives, start) in [
        (0, 378_000, 600_000),
        (0, 377_920, 377_920),
        (0, 200_000, 200_000),
        (1, 290_000, 750_000),
        (2, 450_000, 450_000),
        (0, 599_999, 600_000),
        (0, 500_000, 600_000),
        (3, 10, u64::MAX),
    ] {
        let mut port = EgressPort::new(config(list(500, entries)));
        let seen = starts(&mut port, &[(arrives, Frame(1_518, class))]);
        let expected: Vec<u64> =
            [start].into_iter().filter(|at| *at < u64::MAX).map(|at| at * 1_000).collect();
        assert_eq!(seen, expected, "class {class} at {arrives} ns");
    }
}

/// Case O2: the head of a queue that fits nowhere blocks its queue and not the port.
#[test]
fn a_head_that_fits_nowhere_blocks_its_queue_and_not_the_port() {
    let entries: &[(&[u8], u64)] = &[(&[5, 0], 50), (&[0], 150)];
    let mut port = EgressPort::new(config(list(200, entries)));
    let (large, small, low) = (Frame(1_000, 5), Frame(200, 5), Frame(300, 0));
    let arrivals = [(10_000, large), (11_000, small), (11_500, low), (500_000, low)];
    assert_eq!(run(&mut port, &arrivals), [(low, 11_500_000), (low, 500_000_000)]);
    assert_eq!(port.frames(small.class()), 2);
    let alone = |at: u64| {
        let mut port = EgressPort::new(config(list(200, &[(&[5], 50), (&[], 150)])));
        starts(&mut port, &[(at, small)])
    };
    assert_eq!(
        (alone(33_360), alone(33_440), alone(11_000)),
        ([33_360_000].to_vec(), [200_000_000].to_vec(), [11_000_000].to_vec())
    );
    let mut limited = config(list(200, &[(&[5], 50), (&[], 150)]));
    limited.gates.as_mut().expect("gates").payload_max[5] = 498;
    let mut port: EgressPort<Frame> = EgressPort::new(limited);
    assert!(port.exceeds_max_sdu(large.class(), 982) && !port.exceeds_max_sdu(small.class(), 182));
    assert_eq!(port.gate_counters(large.class()).max_sdu_exceeded, 1);
}

/// Case O10: credit across a closed gate, by the standard and by devices.
#[test]
fn credit_stands_still_behind_a_closed_gate() {
    let start = |credit: GatedCredit, charged: u64, slope: u64| {
        let mut config = config(list(1_000, &[(&[0], 300), (&[5, 0], 700)]));
        config.classes[5].idle_slope = Some(BitRate::from_mbps(slope));
        config.credit_charged_overhead = tautwire_units::Bytes::new(charged);
        config.gates.as_mut().expect("gates").credit = credit;
        let mut port = EgressPort::new(config);
        let frame = Frame(1_000, 5);
        let seen = starts(&mut port, &[(900_000, frame), (900_000, frame)]);
        assert_eq!(seen[0], 900_000_000);
        seen[1]
    };
    let standard = GatedCredit::STANDARD;
    assert_eq!(start(standard, 20, 28), 1_404_000_000);
    assert_eq!(start(standard, 8, 28), 1_401_600_000, "the gap is not charged");
    assert_eq!(start(GatedCredit { frozen_when_closed: false, ..standard }, 20, 28), 1_300_000_000);
    assert_eq!(start(GatedCredit { frozen_in_guard_band: true, ..standard }, 20, 28), 1_422_400_000);
    let unscaled = GatedCredit { slope_is_average: false, ..standard };
    assert_eq!(start(unscaled, 20, 28) / 10_000, 149_142, "5340 bits at 28 Mbit/s, from 1300 us on");
    assert_eq!(start(unscaled, 20, 40), 1_404_000_000, "stated while open");
}

/// Positive credit of an empty queue is lost while the gate is open, and only then.
#[test]
fn positive_credit_is_kept_behind_a_closed_gate() {
    let mut config = config(list(1_000, &[(&[5, 0], 500), (&[0], 500)]));
    config.classes[5].idle_slope = Some(BitRate::from_mbps(20));
    let mut port = EgressPort::new(config);
    // The line is taken until 500 us, so credit rises from 380 us on, and the frame fits no more.
    let blocking = [(300_000, Frame(2_480, 0)), (380_000, Frame(125, 5))];
    let sent = run(&mut port, &blocking);
    assert_eq!(sent[1], (Frame(125, 5), 1_000_000_000));
    let class = Frame(1, 5).class();
    assert_eq!(
        port.credit_range(class).map(|(hi, _)| hi.bits_away_from_zero()),
        Some(4_800),
        "120 us at 40 Mbit/s"
    );
}

/// The slope of the open time begins with the list: a class that waits for its credit is checked again then.
#[test]
fn a_list_that_begins_gives_its_slope_at_once() {
    let mut parameters = list(1_000, &[(&[5], 500), (&[0], 500)]);
    parameters.base_time = ns(200_000);
    let mut config = config(parameters);
    config.classes[5].idle_slope = Some(BitRate::from_mbps(10));
    let mut port = EgressPort::new(config);
    let frame = Frame(480, 5);
    // 40 us at -90 Mbit/s are 3600 bit; 160 us at 10 Mbit/s leave 2000, for which 20 Mbit/s take 100 us.
    assert_eq!(starts(&mut port, &[(0, frame), (0, frame)]), [0, 300_000_000]);
}

/// A device without look-ahead, and one with the guard of the largest frame.
#[test]
fn other_guards_let_frames_overrun_or_keep_all_off() {
    let sent_by = |guard, at: u64| {
        let mut config = config(list(200, &[(&[5], 100), (&[0], 100)]));
        let gates = config.gates.as_mut().expect("gates");
        (gates.guard, gates.frame_max[5]) = (guard, 1_000);
        let mut port = EgressPort::new(config);
        let frame = Frame(200, 5);
        let seen = starts(&mut port, &[(at, frame)]);
        (seen[0] / 1_000_000, port.gate_counters(frame.class()).transmission_overrun)
    };
    assert_eq!(sent_by(GuardPolicy::LookAhead, 83_000), (83, 0));
    assert_eq!(sent_by(GuardPolicy::LookAhead, 84_000), (200, 0));
    assert_eq!(sent_by(GuardPolicy::MaxSdu, 19_000), (19, 0));
    assert_eq!(sent_by(GuardPolicy::MaxSdu, 20_000), (200, 0));
    assert_eq!(sent_by(GuardPolicy::None, 83_000), (83, 0));
    assert_eq!(sent_by(GuardPolicy::None, 99_000), (99, 1));
    assert_eq!(sent_by(GuardPolicy::None, 100_000), (200, 0));
}

/// A frame waits for the first tick at or after its gate opens.
#[test]
fn edges_wait_for_ticks() {
    let mut config = config(list(200, &[(&[0], 50), (&[5], 100), (&[0], 50)]));
    config.gates.as_mut().expect("gates").tick = Duration::from_us(30);
    let mut port = EgressPort::new(config);
    // Open from 60 us to 150, then from 270 to 360.
    let frame = Frame(1_000, 5);
    assert_eq!(starts(&mut port, &[(10_000, frame), (69_000, frame)]), [60_000_000, 270_000_000]);
}

/// Gates that are never closed change nothing of what a port without does.
#[test]
fn open_gates_change_nothing() {
    for seed in 0..200_u64 {
        let mut state = seed;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let mut open = config(list(7, &[(&[0, 1, 2, 3, 4, 5, 6, 7], 3), (&[0, 1, 2, 3, 4, 5, 6, 7], 4)]));
        for class in [5, 6] {
            if draw(2) == 0 {
                open.classes[class].idle_slope = Some(BitRate::from_mbps(5 + draw(40)));
            }
        }
        let mut arrivals: Vec<(u64, Frame)> = (0..12)
            .map(|_| {
                (draw(600_000), Frame(64 + u32::try_from(draw(1_400)).expect("small"), 4 + draw(4) as u8))
            })
            .collect();
        arrivals.sort_by_key(|(at, _)| *at);
        let mut plain = open.clone();
        plain.gates = None;
        let (mut plain, mut open) = (EgressPort::new(plain), EgressPort::new(open));
        assert_eq!(run(&mut plain, &arrivals), run(&mut open, &arrivals), "seed {seed}");
    }
}
