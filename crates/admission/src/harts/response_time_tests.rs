//! Equation 3 against values computed by hand, and on the published set.

use super::*;

/// 100 Mbit/s, EC of 125 us, 20 us before the asynchronous window, 5 us a switch; 298 octets unreserved.
fn cycle(counts_unreserved: bool) -> ElementaryCycle {
    ElementaryCycle {
        length: Duration::from_us(125),
        before: Duration::from_us(20),
        guard: Duration::ZERO,
        switch_delay: Duration::from_us(5),
        counts_unreserved,
        unreserved: Bytes::new(298),
        rate: BitRate::from_mbps(100),
    }
}

/// 88 octets of the wire, 7.04 us, every 125 us.
fn reserved(priority: u8, links: &[u32]) -> Reserved {
    Reserved {
        period: Duration::from_us(125),
        wire: Bytes::new(88),
        priority,
        deadline: Duration::from_ms(2),
        links: links.to_vec(),
        server: None,
    }
}

fn set(counts_unreserved: bool, streams: &[Reserved]) -> HartsSet {
    HartsSet { cycle: cycle(counts_unreserved), servers: Vec::new(), streams: streams.to_vec() }
}

fn time(set: &HartsSet, stream: usize) -> u64 {
    set.response_time(stream, Duration::from_s(1)).time.as_ps()
}

#[test]
fn alone_over_one_switch() {
    // Window 125 - 20 - 7.04 = 97.96 us; C/a = 7.04 * 125 / 97.96 = 8.983259; SD = 5 + 7.04.
    assert_eq!(time(&set(false, &[reserved(5, &[0, 1])]), 0), 8_983_259 + 12_040_000);
    // Window 125 - 20 - 23.84 = 81.16 us; C/a = 10.842780; B = 2 * 23.84.
    assert_eq!(time(&set(true, &[reserved(5, &[0, 1])]), 0), 10_842_780 + 12_040_000 + 47_680_000);
}

#[test]
fn a_guard_window_takes_what_the_longest_frame_leaves() {
    let mut one = set(false, &[reserved(5, &[0, 1])]);
    one.cycle.guard = Duration::from_us(5);
    assert_eq!(time(&one, 0), 8_983_259 + 12_040_000, "shorter than what is left over anyway");
    one.cycle.guard = Duration::from_us(25);
    // Window 80 us: C/a = 11 us.
    assert_eq!(time(&one, 0), 11_000_000 + 12_040_000);
}

#[test]
fn equal_priority_interferes_once_for_a_shared_stretch() {
    let two = set(true, &[reserved(5, &[0, 1]), reserved(5, &[0, 1])]);
    assert_eq!(time(&two, 0), 2 * 10_842_780 + 12_040_000 + 47_680_000);
    let apart = set(true, &[reserved(5, &[0, 1]), reserved(5, &[2, 3])]);
    assert_eq!(time(&apart, 0), 10_842_780 + 12_040_000 + 47_680_000);
}

#[test]
fn lower_priority_blocks_once_a_link() {
    let mut low = reserved(1, &[1, 2]);
    low.wire = Bytes::new(106);
    // B = 8.48 us on link 1 alone; window 125 - 20 - 8.48 = 96.52; C/a = 9.117282.
    let both = set(false, &[reserved(5, &[0, 1]), low]);
    assert_eq!(time(&both, 0), 9_117_282 + 12_040_000 + 8_480_000);
}

#[test]
fn a_second_frame_of_a_rival_comes_within_the_response() {
    let mut often = reserved(7, &[0, 1]);
    often.period = Duration::from_us(25);
    // Fixed 10.84278 + 12.04 + 47.68 = 70.56278; a rival's frame 10.84278. 70.6 + 3 * 10.8 = 103.1 needs 5: 124.8 needs 5.
    let both = set(true, &[reserved(5, &[0, 1]), often]);
    let interference = (5_u128 * 7_040_000 * 125_000_000).div_ceil(81_160_000);
    assert_eq!(u128::from(time(&both, 0)), 70_562_780 + interference);
}

#[test]
fn a_server_caps_what_comes_out_of_it() {
    let mut often = reserved(7, &[0, 1]);
    often.period = Duration::from_us(25);
    often.server = Some(0);
    let mut both = set(true, &[reserved(5, &[0, 1]), often]);
    both.servers = vec![Server { parent: None, period: Duration::from_us(125), capacity: Bytes::new(88) }];
    // At most 88 octets for every replenishment, and once more: two frames instead of five.
    let interference = (2_u128 * 7_040_000 * 125_000_000).div_ceil(81_160_000);
    assert_eq!(u128::from(time(&both, 0)), 70_562_780 + interference);
}

#[test]
fn a_server_too_small_for_its_streams_makes_them_wait() {
    let mut first = reserved(5, &[0, 1]);
    first.server = Some(1);
    let mut pair = set(false, &[first.clone(), first]);
    let period = Duration::from_us(125);
    pair.servers = vec![
        Server { parent: None, period, capacity: Bytes::new(176) },
        Server { parent: Some(0), period, capacity: Bytes::new(88) },
    ];
    // Both need 176 octets: one more period of the inner server, and then of the outer one too, because the response
    // is longer than a period of the peer.
    let more = time(&pair, 0);
    assert!(more > 125_000_000, "{more}");
    pair.servers[1].capacity = Bytes::new(176);
    assert_eq!(time(&pair, 0), 2 * 8_983_259 + 12_040_000);
    pair.servers[1].capacity = Bytes::new(87);
    assert_eq!(pair.response_time(0, Duration::from_s(1)).time, NEVER, "a frame never fits");
}

#[test]
fn the_first_violation_ends_the_test() {
    let mut tight = reserved(3, &[0, 1]);
    tight.deadline = Duration::from_us(75);
    let alone = set(true, &[tight]);
    assert_eq!(alone.response_time(0, Duration::from_ms(1)).time, Duration::from_ps(70_562_780));
    let verdict = alone.admits(&reserved(5, &[1, 2]));
    let violation = verdict.violation.expect("the older stream would be late");
    assert_eq!(violation.stream, 0);
    assert_eq!(violation.would_fit, Some(Duration::from_ps(2 * 10_842_780 + 12_040_000 + 47_680_000)));
    let mut hasty = reserved(5, &[1, 2]);
    hasty.deadline = Duration::from_us(70);
    assert_eq!(
        alone.admits(&hasty).violation.expect("late itself").stream,
        1,
        "the new stream is looked at first"
    );
    assert_eq!(alone.admits(&reserved(5, &[2, 3])).violation, None);
}

#[test]
fn more_than_the_window_holds_never_fits() {
    let mut greedy = reserved(7, &[0]);
    greedy.period = Duration::from_us(10);
    let set = set(true, &[greedy]);
    let violation = set.admits(&reserved(5, &[0])).violation.expect("no room");
    assert_eq!((violation.stream, violation.would_fit), (1, None));
}

/// Streams F2 to F7 of the published comparison, the control channel, and two broadcasts that reserve nothing.
mod published {
    use super::*;

    /// Links: N1 0, N3 1, Sw1-Sw2 2, Sw2-Sw3 3, N2 4, N5 5.
    fn streams(deadline: impl Fn(u64) -> Duration) -> Vec<Reserved> {
        let stream = |us: u64, wire: u64, priority: u8, links: [u32; 4]| Reserved {
            period: Duration::from_us(us),
            wire: Bytes::new(wire),
            priority,
            deadline: deadline(us),
            links: links.to_vec(),
            server: None,
        };
        vec![
            stream(250, 106, 2, [0, 2, 3, 4]),
            stream(250, 106, 2, [1, 2, 3, 4]),
            stream(125, 88, 3, [1, 2, 3, 4]),
            stream(125, 88, 3, [0, 2, 3, 5]),
            stream(125, 88, 3, [0, 2, 3, 4]),
            stream(125, 88, 3, [0, 2, 3, 4]),
        ]
    }

    fn control() -> Reserved {
        Reserved {
            period: Duration::from_us(125),
            wire: Bytes::new(200),
            priority: 7,
            deadline: NEVER,
            links: (0..6).collect(),
            server: None,
        }
    }

    /// How many of the six are admitted, in the order of Table 2.
    fn admitted(cycle: ElementaryCycle, deadline: impl Fn(u64) -> Duration) -> usize {
        let mut set = HartsSet { cycle, servers: Vec::new(), streams: vec![control()] };
        for stream in streams(deadline) {
            if set.admits(&stream).violation.is_none() {
                set.streams.push(stream);
            }
        }
        set.streams.len() - 1
    }

    #[test]
    fn all_six_are_admitted_with_the_deadlines_of_their_classes() {
        // 2 ms for class A and 50 ms for class B, as IEEE 802.1BA promises for seven hops.
        let classes = |us: u64| Duration::from_ms(if us == 125 { 2 } else { 50 });
        for counts_unreserved in [false, true] {
            for guard in [0, 10, 24] {
                for switch in [0, 5, 20] {
                    let cycle = ElementaryCycle {
                        guard: Duration::from_us(guard),
                        switch_delay: Duration::from_us(switch),
                        ..cycle(counts_unreserved)
                    };
                    assert_eq!(admitted(cycle, classes), 6, "{cycle:?}");
                }
            }
        }
    }

    #[test]
    fn deadlines_of_a_period_are_too_short_with_unreserved_frames() {
        let implicit = Duration::from_us;
        assert!(admitted(cycle(true), implicit) < 6, "four links with a broadcast on each");
    }

    #[test]
    fn a_guard_window_as_long_as_the_rest_of_the_cycle_admits_nothing() {
        let classes = |us: u64| Duration::from_ms(if us == 125 { 2 } else { 50 });
        let cycle = ElementaryCycle { guard: Duration::from_us(105), ..cycle(true) };
        assert_eq!(admitted(cycle, classes), 0);
    }
}
