//! Consumers that are refused, leave and come one by one.

use super::*;

/// One consumer's request is refused, another one's granted; each refusal is separate.
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
    // Until something is released.
    line.release(3);
    line.refuses.clear();
    line.run(ms(3), || false);
    assert_eq!(line.nodes[0].state(7), Some(RequestState::Offered), "nobody is left");
    line.ask_of(&[2]);
    line.run(ms(4), || false);
    assert_eq!(line.states(), [GRANTED; 2]);
    assert_eq!(line.carried(), [Vec::from([2]), Vec::from([2]), Vec::from([2])]);
}

/// A producer that was refused for one consumer is invited to repeat its offer when another one sends a request.
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
    // It is back, and sends by its earlier grant: a consumer that sends a request gets it under a new request.
    line.dead.clear();
    line.ask_of(&[3]);
    line.run(ms(900), || false);
    assert_eq!([line.nodes[0].state(7), line.nodes[2].state(7)], [GRANTED; 2]);
}

/// A consumer that requests first, with other attributes, does not lock out its producer.
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
