//! The egress port as timed traces.

use alloc::vec::Vec;

use tautwire_units::{BitRate, Duration, Instant};

use super::*;
use crate::buffer::QueueLimit;
use crate::queue::LaneOrder;

/// A frame of a class, its octets and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame(u8, u32, u32);

impl QueuedFrame for Frame {
    fn octets(self) -> u32 {
        self.1
    }
    fn class(self) -> TrafficClass {
        TrafficClass::new(self.0).expect("a class")
    }
}

fn ns(ns: u64) -> Instant {
    Instant::ZERO + Duration::from_ns(ns)
}

/// Offers frames `(ns, lane, eligible ns, frame)` and gives the starts `(ns, number)`.
fn starts(mut port: EgressPort<Frame>, offers: &[(u64, u16, u64, Frame)]) -> Vec<(u64, u32)> {
    let mut out = Vec::new();
    let mut offers = offers.iter().peekable();
    let mut wake: Option<Instant> = None;
    loop {
        let now = match (offers.peek(), wake) {
            (Some(offer), Some(wake)) => ns(offer.0).min(wake),
            (Some(offer), None) => ns(offer.0),
            (None, Some(wake)) => wake,
            (None, None) => return out,
        };
        while let Some(offer) = offers.next_if(|offer| ns(offer.0) == now) {
            port.enqueue(now, offer.1, ns(offer.2), offer.3).expect("no limit");
        }
        wake = match port.select(now) {
            Selection::Transmit { frame, .. } => {
                out.push((now.as_ps() / 1_000, frame.2));
                (!port.is_empty()).then(|| port.busy_until())
            }
            Selection::Wait(at) => {
                assert!(at > now, "a wait is in the future");
                Some(at)
            }
            Selection::Idle => None,
        };
    }
}

#[test]
fn the_highest_class_goes_first_and_interrupts_nothing() {
    let port = EgressPort::new(PortConfig::plain(BitRate::from_gbps(1)));
    let offers = [
        (0, 0, 0, Frame(0, 1_522, 1)),
        (100, 0, 0, Frame(3, 64, 2)),
        (200, 0, 0, Frame(7, 64, 3)),
        (12_336 + 672, 0, 0, Frame(5, 64, 4)),
    ];
    assert_eq!(starts(port, &offers), [(0, 1), (12_336, 3), (13_008, 4), (13_680, 2)]);
}

#[test]
fn a_shaped_class_leaves_the_line_to_those_below() {
    let mut config = PortConfig::plain(BitRate::from_mbps(100));
    config.classes[6].idle_slope = Some(BitRate::from_mbps(50));
    // 230 octets and 20 of overhead: 20 us on the wire, then 20 us to pay the debt at half the rate.
    let offers = [
        (0, 0, 0, Frame(6, 230, 1)),
        (0, 0, 0, Frame(6, 230, 2)),
        (0, 0, 0, Frame(0, 105, 3)),
        (0, 0, 0, Frame(0, 1_480, 4)),
    ];
    assert_eq!(
        starts(EgressPort::new(config), &offers),
        [(0, 1), (20_000, 3), (30_000, 4), (150_000, 2)],
        "class 0 starts while class 6 is in debt, and is not interrupted"
    );
}

/// Three frames of one eligibility time wait; two of other streams that may go earlier come one by one, and each takes the head.
#[test]
fn a_head_that_is_overtaken_stays_before_its_equals() {
    for two_stage in [false, true] {
        let mut config = PortConfig::plain(BitRate::from_gbps(1));
        config.classes[5].order = LaneOrder::Eligibility;
        config.two_stage = two_stage;
        let offers = [
            (0, 0, 50_000, Frame(5, 105, 1)),
            (0, 0, 50_000, Frame(5, 105, 2)),
            (0, 0, 50_000, Frame(5, 105, 3)),
            (1_000, 0, 10_000, Frame(5, 105, 4)),
            (20_000, 0, 30_000, Frame(5, 105, 5)),
            (21_000, 0, 30_000, Frame(5, 105, 6)),
        ];
        let sent = [(10_000, 4), (30_000, 5), (31_000, 6), (50_000, 1), (51_000, 2), (52_000, 3)];
        assert_eq!(starts(EgressPort::new(config), &offers), sent, "two stages: {two_stage}");
    }
}

#[test]
fn a_class_without_its_shaper_shows_it() {
    // The knock-out of the case above: strict priority sends class 6 back to back.
    let offers = [(0, 0, 0, Frame(6, 230, 1)), (0, 0, 0, Frame(6, 230, 2)), (0, 0, 0, Frame(0, 105, 3))];
    let port = EgressPort::new(PortConfig::plain(BitRate::from_mbps(100)));
    assert_eq!(starts(port, &offers), [(0, 1), (20_000, 2), (40_000, 3)]);
}

#[test]
fn a_frame_waits_for_its_eligibility_time() {
    let mut config = PortConfig::plain(BitRate::from_gbps(1));
    config.classes[7].order = LaneOrder::EligibilityOfHeads;
    config.classes[7].lanes = 2;
    let offers = [
        (0, 0, 5_000, Frame(7, 105, 1)),
        (0, 0, 5_000, Frame(7, 105, 2)),
        (0, 1, 5_500, Frame(7, 105, 3)),
        (4_500, 0, 0, Frame(1, 105, 4)),
    ];
    // Frame 4 starts at 4.5 us and takes 1 us, so frame 1 waits for it.
    assert_eq!(starts(EgressPort::new(config), &offers), [(4_500, 4), (5_500, 1), (6_500, 2), (7_500, 3)]);
}

#[test]
fn time_held_by_the_own_shaper_is_distinguished_from_queueing() {
    let mut config = PortConfig::plain(BitRate::from_gbps(1));
    config.classes[7].idle_slope = Some(BitRate::from_mbps(500));
    let mut port = EgressPort::new(config);
    for number in 1..4 {
        port.enqueue(ns(0), 0, ns(0), Frame(7, 105, number)).expect("no limit");
    }
    let mut held = Vec::new();
    for at in [0, 1_000, 2_000, 3_000, 5_000] {
        if let Selection::Transmit { held: time, .. } = port.select(ns(at)) {
            held.push(time);
        }
    }
    // The second waits 1 us for the line and 1 us for its credit; the third, at the head since then, has the free line for 2 us.
    assert_eq!(held, [Duration::ZERO, Duration::from_us(1), Duration::from_us(2)]);
}

#[test]
fn a_committed_frame_is_not_overtaken_in_its_class() {
    for (two_stage, expected) in [(false, [1, 3, 2]), (true, [1, 2, 3])] {
        let mut config = PortConfig::plain(BitRate::from_gbps(1));
        config.two_stage = two_stage;
        config.classes[5].order = LaneOrder::LowestLane;
        config.classes[5].lanes = 2;
        let offers =
            [(0, 0, 0, Frame(7, 1_522, 1)), (100, 1, 0, Frame(5, 64, 2)), (200, 0, 0, Frame(5, 64, 3))];
        let order: Vec<u32> = starts(EgressPort::new(config), &offers).iter().map(|start| start.1).collect();
        assert_eq!(order, expected, "two stages: {two_stage}");
    }
}

#[test]
fn full_queues_discard_and_count() {
    let mut config = PortConfig::plain(BitRate::from_gbps(1));
    config.classes[2].limit = QueueLimit { frames: 2, octets: 200 };
    config.buffer = SharedBuffer::new(64, 3, [0; 8]);
    let mut port = EgressPort::new(config);
    let mut offer = |class, octets| port.enqueue(ns(0), 0, ns(0), Frame(class, octets, 0));
    assert_eq!(offer(2, 100), Ok(()));
    assert_eq!(offer(2, 101), Err(Discard::QueueFull), "octets");
    assert_eq!(offer(2, 64), Ok(()));
    assert_eq!(offer(2, 1), Err(Discard::QueueFull), "frames");
    assert_eq!(offer(3, 1), Err(Discard::BufferFull));
    let counters = port.counters(TrafficClass::new(2).expect("a class"));
    assert_eq!((counters.discarded, counters.frames_max, counters.octets_max), (2, 2, 164));
    assert_eq!(port.flush(ns(0)).len(), 2);
    assert_eq!(port.enqueue(ns(0), 0, ns(0), Frame(3, 192, 0)), Ok(()), "cells were given back");
}

proptest::proptest! {
    /// Polling when nothing can have changed changes nothing: the starts are the same with a poll at every nanosecond between.
    #[test]
    fn early_and_repeated_questions_do_nothing(
        offers in proptest::collection::vec((0_u64..40_000, 0_u16..3, 0_u64..60_000, 0_u8..8, 64_u32..1_523), 1..25),
        two_stage: bool,
        order in 0_usize..3,
    ) {
        let mut offers: Vec<_> = offers
            .into_iter()
            .enumerate()
            .map(|(number, (at, lane, eligible, class, octets))| {
                let eligible = if class >= 6 { eligible } else { 0 };
                (at, lane, eligible, Frame(class, octets, number as u32))
            })
            .collect();
        offers.sort_by_key(|offer| offer.0);
        let make = || {
            let mut config = PortConfig::plain(BitRate::from_gbps(1));
            config.two_stage = two_stage;
            config.classes[3].idle_slope = Some(BitRate::from_mbps(300));
            for class in [1, 5, 7] {
                config.classes[class].order =
                    [LaneOrder::RoundRobin, LaneOrder::LowestLane, LaneOrder::EligibilityOfHeads][order];
                config.classes[class].lanes = 3;
            }
            config.classes[6].order = LaneOrder::Eligibility;
            EgressPort::new(config)
        };
        let expected = starts(make(), &offers);
        proptest::prop_assert_eq!(expected.len(), offers.len());
        let mut port = make();
        let mut got = Vec::new();
        let mut left = offers.iter().peekable();
        let mut now = Instant::ZERO;
        while got.len() < offers.len() {
            while let Some(offer) = left.next_if(|offer| ns(offer.0) == now) {
                port.enqueue(now, offer.1, ns(offer.2), offer.3).expect("no limit");
            }
            let mut next = now + Duration::from_ns(97);
            match port.select(now) {
                Selection::Transmit { frame, .. } => got.push((now.as_ps() / 1_000, frame.2)),
                Selection::Wait(at) => next = next.min(at),
                Selection::Idle => {}
            }
            if port.busy_until() > now {
                next = next.min(port.busy_until());
            }
            if let Some(offer) = left.peek() {
                next = next.min(ns(offer.0));
            }
            now = next;
        }
        proptest::prop_assert_eq!(got, expected);
    }
}

#[test]
fn a_full_queue_may_give_up_its_oldest() {
    for (order, lanes) in [(LaneOrder::Arrival, 1), (LaneOrder::RoundRobin, 2)] {
        let mut config = PortConfig::plain(BitRate::from_gbps(1));
        config.classes[2].limit = QueueLimit { frames: 2, octets: 200 };
        config.classes[2].discards_oldest = true;
        (config.classes[2].order, config.classes[2].lanes) = (order, lanes);
        config.buffer = SharedBuffer::new(64, 5, [0; 8]);
        let mut port = EgressPort::new(config);
        let mut offer = |number, octets| {
            let (frame, mut lost) = (Frame(2, octets, number), Vec::new());
            let mut taken = port.enqueue(ns(0), 1, ns(0), frame);
            if taken == Err(Discard::QueueFull) {
                taken = port.enqueue_over(ns(0), 1, ns(0), frame, |oldest| lost.push(oldest.2));
            }
            (taken.is_ok(), lost)
        };
        assert_eq!(offer(1, 64), (true, Vec::new()));
        assert_eq!(offer(2, 64), (true, Vec::new()));
        assert_eq!(offer(3, 64), (true, alloc::vec![1]), "frames");
        assert_eq!(offer(4, 200), (true, alloc::vec![2, 3]), "octets");
        assert_eq!(offer(5, 201), (false, Vec::new()), "it alone is too large");
        assert_eq!(port.counters(TrafficClass::new(2).expect("a class")).discarded, 4);
        assert_eq!(port.waiting().map(|frame| frame.2).collect::<Vec<_>>(), [4]);
        assert_eq!(port.enqueue(ns(0), 0, ns(0), Frame(3, 64, 6)), Ok(()), "cells were given back");
    }
}

/// A queue whose only frame is given up for the next keeps its credit: frames waited all the time.
#[test]
fn credit_outlasts_the_frame_that_is_given_up() {
    let mut config = PortConfig::plain(BitRate::from_gbps(1));
    config.classes[2].limit = QueueLimit { frames: 1, octets: 2_000 };
    config.classes[2].discards_oldest = true;
    config.classes[2].idle_slope = Some(BitRate::from_mbps(500));
    let mut port = EgressPort::new(config);
    assert_eq!(port.enqueue(ns(0), 0, ns(0), Frame(7, 1_522, 0)), Ok(()));
    assert!(matches!(port.select(ns(0)), Selection::Transmit { .. }));
    assert_eq!(port.enqueue(ns(0), 0, ns(0), Frame(2, 500, 1)), Ok(()));
    assert!(port.enqueue(ns(9_000), 0, ns(0), Frame(2, 500, 2)).is_err());
    assert_eq!(port.enqueue_over(ns(9_000), 0, ns(0), Frame(2, 500, 2), |_| ()), Ok(()));
    assert!(matches!(port.select(ns(12_336)), Selection::Transmit { .. }));
    let (most, _) = port.credit_range(TrafficClass::new(2).expect("a class")).expect("a shaper");
    // 500 Mbit/s while the large frame took 12.336 us.
    assert_eq!(most, Credit::of_bits(tautwire_units::Bits::new(6_168)));
}

/// Two ports with the same drawn frames, one of which passes frames where it may: same starts, same counters.
#[test]
fn passing_a_frame_is_queueing_and_selecting_it() {
    let mut classes: [ClassConfig; 8] = core::array::from_fn(|_| ClassConfig::default());
    classes[2].limit = QueueLimit { frames: 3, octets: 2_000 };
    classes[4].idle_slope = Some(BitRate::from_mbps(300));
    let rate = BitRate::from_gbps(1);
    let mut port = EgressPort::new(PortConfig { classes, ..PortConfig::plain(rate) });
    let mut queueing = port.clone();
    let mut state = 1_u64;
    let mut draw = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % most
    };
    let (mut now, mut passed) = (ns(0), 0);
    for number in 0..5_000 {
        now += Duration::from_ns(draw(20_000));
        // What waits is sent before the next frame comes, unless that comes early.
        for port in [&mut port, &mut queueing] {
            while !port.is_empty() && port.busy_until() < now {
                let at = port.busy_until();
                match port.select(at) {
                    Selection::Wait(until) if until < now => port.hold_until(until),
                    Selection::Transmit { .. } => {}
                    _ => break,
                }
            }
        }
        let class = u8::try_from(draw(8)).expect("below eight");
        let octets = u32::try_from(64 + draw(1_400)).expect("small");
        let frame = Frame(class, octets, number);
        let eligible = if class == 6 { now + Duration::from_ns(draw(2_000)) } else { ns(0) };
        let taken = queueing.enqueue(now, 0, eligible, frame);
        let selected = queueing.select(now);
        if port.pass(now, eligible, frame) {
            passed += 1;
            let held = Duration::ZERO;
            assert_eq!((taken, selected), (Ok(()), Selection::Transmit { frame, held }));
        } else {
            assert_eq!((port.enqueue(now, 0, eligible, frame), port.select(now)), (taken, selected));
        }
        assert_eq!((port.busy_until(), port.busy()), (queueing.busy_until(), queueing.busy()));
    }
    for class in (0..8).filter_map(TrafficClass::new) {
        assert_eq!(port.counters(class), queueing.counters(class));
    }
    assert_eq!(port.octets(), queueing.octets());
    assert!((500..4_500).contains(&passed), "{passed}");
}
