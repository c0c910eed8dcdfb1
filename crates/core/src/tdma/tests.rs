//! Stations of a TDMA cycle as timed traces, all in microseconds.

use alloc::vec;
use alloc::vec::Vec;

use super::*;

fn us(us: u64) -> Instant {
    Instant::from_ps(us * 1_000_000)
}

fn span(us: u64) -> Duration {
    Duration::from_ps(us * 1_000_000)
}

fn slot(offset: u64, carries: Carries) -> TdmaSlot {
    TdmaSlot { offset: span(offset), period: 1, phase: 0, carries }
}

fn station(role: TdmaRole, slots: Vec<TdmaSlot>, start: u64) -> TdmaStation<char> {
    TdmaStation::new(
        TdmaConfig { cycle: span(1_000), role, slots, travel: span(7), limit: 4, lifetime: None },
        us(start),
    )
}

/// Acts at every deadline up to `end`: the times in microseconds and what was sent (`#` with the number of a
/// cycle, `-` for a slot that passed).
fn trace(station: &mut TdmaStation<char>, end: u64) -> Vec<(u64, char)> {
    let mut sent = Vec::new();
    while let Some(at) = station.deadline().filter(|at| *at <= us(end)) {
        let what = match station.act(at).expect("it is due") {
            TdmaAction::Synchronise(_) => '#',
            TdmaAction::Transmit(frame) => frame,
            TdmaAction::Pass => '-',
            TdmaAction::Expire(frame) => frame.to_ascii_uppercase(),
            TdmaAction::Calibrate(_) => '?',
            TdmaAction::Reply(_) => '!',
        };
        sent.push((at.as_ps() / 1_000_000, what));
        assert_eq!(station.act(us(0)), None, "nothing is due before its time");
    }
    sent
}

fn sync(cycle: u32, scheduled: u64, transmitted: u64) -> Synchronisation {
    Synchronisation { cycle, transmitted: us(transmitted), scheduled: us(scheduled) }
}

#[test]
fn the_master_opens_every_cycle_and_sends_one_frame_a_slot() {
    let mut master = station(TdmaRole::Master, vec![slot(200, Carries::RealTime)], 5_000);
    for frame in ['a', 'b'] {
        master.enqueue(us(5_100), frame, TdmaTraffic::RealTime).unwrap();
    }
    let seen = trace(&mut master, 7_999);
    assert_eq!(seen, [(5_000, '#'), (5_200, 'a'), (6_000, '#'), (6_200, 'b'), (7_000, '#'), (7_200, '-')]);
}

#[test]
fn a_frame_handed_over_after_its_slot_began_waits_for_the_next_cycle() {
    let mut master = station(TdmaRole::Master, vec![slot(200, Carries::RealTime)], 0);
    master.enqueue(us(1_201), 'a', TdmaTraffic::RealTime).unwrap();
    assert_eq!(trace(&mut master, 2_500)[3..], [(1_200, '-'), (2_000, '#'), (2_200, 'a')]);
}

#[test]
fn a_slave_corrects_its_clock_and_is_silent_in_a_cycle_that_it_does_not_hear_opened() {
    let mut slave = station(TdmaRole::Slave, vec![slot(300, Carries::RealTime)], 0);
    slave.enqueue(us(0), 'a', TdmaTraffic::RealTime).unwrap();
    slave.enqueue(us(0), 'b', TdmaTraffic::RealTime).unwrap();
    assert_eq!(slave.deadline(), None);
    // Its clock is 70 us ahead of the master's; the frame left 3 us late and travelled 7 us.
    slave.hear(us(4_080), sync(4, 4_000, 4_003));
    assert_eq!(trace(&mut slave, 9_000), [(4_370, 'a')]);
    slave.hear(us(6_077), sync(6, 6_000, 6_000));
    assert_eq!(trace(&mut slave, 9_000), [(6_370, 'b')]);
}

#[test]
fn the_standby_opens_the_cycle_that_the_master_does_not_and_all_further_ones() {
    let role = TdmaRole::Standby { offset: span(100) };
    let mut standby = station(role, vec![slot(50, Carries::Both), slot(500, Carries::Both)], 0);
    assert_eq!(standby.deadline(), None, "it follows, it does not begin");
    standby.hear(us(1_007), sync(1, 1_000, 1_000));
    standby.enqueue(us(0), 'a', TdmaTraffic::RealTime).unwrap();
    standby.enqueue(us(0), 'b', TdmaTraffic::RealTime).unwrap();
    standby.hear(us(1_007), sync(1, 1_000, 1_000));
    assert_eq!(
        trace(&mut standby, 3_100),
        [(1_050, 'a'), (1_500, 'b'), (2_100, '#'), (2_500, '-'), (3_000, '#'), (3_050, '-')],
        "the slot before its offset is lost in the cycle in which it takes over"
    );
    assert!(standby.is_active());
    standby.hear(us(4_007), sync(4, 4_000, 4_000));
    assert!(!standby.is_active(), "it gives way to a master that it hears");
}

#[test]
fn what_a_taking_over_standby_sends_keeps_the_raster_of_the_slaves() {
    let mut standby = station(TdmaRole::Standby { offset: span(100) }, vec![], 0);
    let mut slave = station(TdmaRole::Slave, vec![slot(300, Carries::RealTime)], 0);
    standby.hear(us(1_007), sync(1, 1_000, 1_000));
    let at = standby.deadline().expect("it watches");
    let Some(TdmaAction::Synchronise(sent)) = standby.act(at) else { panic!("it takes over") };
    assert_eq!(sent, sync(2, 2_000, 2_100));
    slave.hear(at + span(7), sent);
    assert_eq!(slave.deadline(), Some(us(2_300)));
}

#[test]
fn slots_of_every_third_cycle_and_of_ordinary_frames() {
    let third = TdmaSlot { offset: span(10), period: 3, phase: 1, carries: Carries::Ordinary };
    let mut master = station(TdmaRole::Master, vec![third, slot(20, Carries::Both)], 0);
    use TdmaTraffic::{Ordinary, RealTime};
    for (frame, traffic) in [('o', Ordinary), ('p', Ordinary), ('q', Ordinary), ('r', RealTime)] {
        master.enqueue(us(0), frame, traffic).unwrap();
    }
    let seen: Vec<_> = trace(&mut master, 4_500).into_iter().filter(|(_, what)| *what != '#').collect();
    assert_eq!(
        seen,
        [(20, 'r'), (1_010, 'o'), (1_020, 'p'), (2_020, 'q'), (3_020, '-'), (4_010, '-'), (4_020, '-')]
    );
}

#[test]
fn queues_have_a_limit_and_a_failed_station_gives_its_frames_up() {
    let mut master = station(TdmaRole::Master, vec![slot(20, Carries::Both)], 0);
    for frame in ['a', 'b', 'c', 'd'] {
        master.enqueue(us(0), frame, TdmaTraffic::RealTime).unwrap();
    }
    assert_eq!(master.enqueue(us(0), 'e', TdmaTraffic::RealTime), Err('e'));
    assert_eq!(master.waiting().count(), 4);
    assert_eq!(master.reset().collect::<Vec<_>>(), ['a', 'b', 'c', 'd']);
    assert_eq!(master.deadline(), None);
    master.hear(us(5_007), sync(5, 5_000, 5_000));
    assert_eq!(master.deadline(), Some(us(5_020)), "it follows the one that took over");
}

#[test]
fn the_travel_time_is_half_of_the_round_trip_without_the_stay() {
    assert_eq!(travel_time(us(100), us(9_000), us(9_500), us(614)), span(7));
}

#[test]
fn calibration_asks_in_a_slot_lends_one_for_the_reply_and_keeps_the_mean() {
    let mut master = station(TdmaRole::Master, vec![slot(200, Carries::Both)], 0);
    let mut slave = station(TdmaRole::Slave, vec![slot(300, Carries::RealTime)], 0);
    let opening = |number: u64, travels: u64| {
        (sync(u32::try_from(number).unwrap(), number * 1_000, number * 1_000), us(number * 1_000 + travels))
    };
    slave.calibrate(2);
    slave.enqueue(us(0), 'x', TdmaTraffic::RealTime).unwrap();
    assert_eq!(master.act(us(0)).map(|_| ()), Some(()));
    let mut replies = 0;
    for cycle in 0..5 {
        let (opened, at) = opening(cycle, 10);
        slave.hear(at, opened);
        while let Some(due) = slave.deadline() {
            match slave.act(due).unwrap() {
                // The way there takes 12 us, the way back 8.
                TdmaAction::Calibrate(request) => master.asked(due + span(12), 7, request),
                TdmaAction::Transmit('x') => {
                    assert!(!slave.is_calibrating(), "nothing else in the slot before")
                }
                TdmaAction::Pass => {}
                other => panic!("{other:?}"),
            }
        }
        while let Some(due) = master.deadline().filter(|due| *due <= us(cycle * 1_000 + 1_000)) {
            if let Some(TdmaAction::Reply(reply)) = master.act(due) {
                assert_eq!((reply.to, reply.transmitted), (7, due));
                assert_eq!(due.as_ps() / 1_000_000 % 1_000, 300, "in the lent slot");
                replies += 1;
                slave.hear_reply(due + span(8), reply);
                slave.hear_reply(due + span(9), reply);
            }
        }
    }
    assert_eq!(replies, 2, "not more than asked for");
    assert!(!slave.is_calibrating());
    assert_eq!(slave.travel(), span(10));
}

#[test]
fn a_lost_reply_is_asked_for_again() {
    let mut slave = station(TdmaRole::Slave, vec![slot(300, Carries::RealTime)], 0);
    slave.calibrate(1);
    let mut seen = alloc::string::String::new();
    for cycle in 0_u32..5 {
        slave.hear(
            us(u64::from(cycle) * 1_000 + 10),
            sync(cycle, u64::from(cycle) * 1_000, u64::from(cycle) * 1_000),
        );
        seen.extend(trace(&mut slave, u64::from(cycle) * 1_000 + 999).into_iter().map(|(_, what)| what));
    }
    assert_eq!(seen, "?-?-?");
}

#[test]
fn a_frame_that_no_slot_takes_in_its_lifetime_is_lost_and_costs_no_slot() {
    let slots = vec![slot(300, Carries::Both)];
    let config = TdmaConfig {
        cycle: span(1_000),
        role: TdmaRole::Slave,
        slots,
        travel: span(7),
        limit: 4,
        lifetime: Some(span(2_000)),
    };
    let mut slave = TdmaStation::new(config, us(0));
    for (ready, frame) in [(100, 'a'), (303, 'b'), (1_500, 'c')] {
        slave.enqueue(us(ready), frame, TdmaTraffic::RealTime).unwrap();
    }
    slave.enqueue(us(200), 'd', TdmaTraffic::Ordinary).unwrap();
    // No cycle is received before that of 2 ms: its slot begins at 2.303 ms.
    slave.hear(us(2_010), sync(2, 2_000, 2_000));
    assert_eq!(trace(&mut slave, 3_000), [(2_100, 'A'), (2_200, 'D'), (2_303, 'b')]);
    slave.hear(us(3_010), sync(3, 3_000, 3_000));
    assert_eq!(trace(&mut slave, 4_000), [(3_303, 'c')]);
    // No station opens a cycle any more.
    slave.enqueue(us(4_100), 'e', TdmaTraffic::Management).unwrap();
    assert_eq!(trace(&mut slave, 9_000), [(6_100, 'E')]);
    assert_eq!(slave.deadline(), None);
}

#[test]
fn a_master_that_is_back_alone_opens_cycles_when_those_before_are_over() {
    let mut master = station(TdmaRole::Master, vec![slot(200, Carries::Both)], 0);
    assert_eq!(trace(&mut master, 1_500).len(), 4);
    let (failed, listens) = (us(1_500), us(1_700));
    assert_eq!(master.reset().count(), 0);
    assert_eq!(master.deadline(), None);
    master.reopen(listens);
    assert_eq!(master.deadline(), Some(us(3_700)));
    master.enqueue(failed, 'a', TdmaTraffic::RealTime).unwrap();
    assert_eq!(trace(&mut master, 4_000), [(3_700, '#'), (3_900, 'a')]);
}

#[test]
fn a_cycle_that_is_opened_twice_has_none_of_its_slots_twice() {
    let slot = TdmaSlot { offset: Duration::from_us(100), period: 1, phase: 0, carries: Carries::RealTime };
    let config = TdmaConfig {
        cycle: Duration::from_ms(1),
        role: TdmaRole::Slave,
        slots: vec![slot],
        travel: Duration::ZERO,
        limit: 4,
        lifetime: None,
    };
    let mut slave = TdmaStation::new(config, Instant::ZERO);
    let at = |us: u64| Instant::ZERO + Duration::from_us(us);
    let opens = |us: u64| Synchronisation { cycle: 7, transmitted: at(us), scheduled: at(us) };
    slave.hear(at(1_000), opens(1_000));
    for frame in 1..=2 {
        slave.enqueue(at(1_000), frame, TdmaTraffic::RealTime).expect("room");
    }
    assert_eq!(slave.act(at(1_100)), Some(TdmaAction::Transmit(1)));
    // The standby, which has not received the master's frame, opens the same cycle by a clock that is 5 us behind.
    slave.hear(at(1_101), opens(1_005));
    assert_eq!(slave.act(at(1_110)), None);
    slave.hear(at(2_000), Synchronisation { cycle: 8, ..opens(2_000) });
    assert_eq!(slave.act(at(2_100)), Some(TdmaAction::Transmit(2)));
}

#[test]
fn messages_of_the_start_up_leave_where_nothing_else_waits() {
    let slots = vec![slot(100, Carries::RealTime), slot(200, Carries::Both), slot(300, Carries::Both)];
    let mut master = station(TdmaRole::Master, slots, 0);
    master.enqueue(us(0), 'm', TdmaTraffic::Management).unwrap();
    master.enqueue(us(0), 'o', TdmaTraffic::Ordinary).unwrap();
    master.enqueue(us(0), 'r', TdmaTraffic::RealTime).unwrap();
    let mut left = vec![];
    for at in [0, 100, 200, 300] {
        if let Some(TdmaAction::Transmit(frame)) = master.act(us(at)) {
            left.push(frame);
        }
    }
    assert_eq!(left, ['r', 'o', 'm']);
    master.enqueue(us(300), 'n', TdmaTraffic::Management).unwrap();
    assert_eq!(master.waiting().collect::<Vec<_>>(), ['n']);
    assert_eq!(master.reset().collect::<Vec<_>>(), ['n'], "what a failed node held is given out");
}
