//! ACMasters that come back: how they get the grants of the network.

use super::*;

#[test]
fn a_second_failure_loses_nothing_of_what_stood_before_the_first() {
    let mut line = line(true);
    line.ask();
    line.run(ms(10), || false);
    line.stop(0, false);
    line.run(ms(300), || false);
    ask_for(&mut line, 8);
    // Two that only one side requested: they are not decided.
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

/// One that came back and does not have all grants does not take over.
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

/// A refusal is known to an ACMaster that came back: a repeated request is answered without a test.
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

/// Any message to an ACMaster that came back is lost, repeated, late or an older one: it reports that it is complete only when it is.
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
            // In addition one without a producer, one without a consumer, and one that is refused.
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
                let is_answer = |message: &FttMessage| {
                    matches!(message, FttMessage::Record { .. } | FttMessage::Replicate { .. })
                };
                let hit = to == 20 && is_answer(&message) && count == place;
                count += usize::from(to == 20 && is_answer(&message));
                match (hit, fault) {
                    (true, 0) => continue,
                    (true, 1) => line.deliver(to, &message),
                    (true, 2) => {
                        held = Some(message);
                        continue;
                    }
                    // An old message, about something that was requested or granted once.
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
                    let known = line.masters.iter().map(|master| {
                        let standing =
                            master.standing().map(|(stream, consumers)| (*stream, consumers.clone()));
                        (standing.collect::<Vec<_>>(), master.refused.clone())
                    });
                    let known: Vec<_> = known.collect();
                    assert_eq!(known[0], known[1], "fault {fault} at {place}");
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

/// An ACMaster without a standby comes back, and gets the grants from the switches: nothing is tested again, and new
/// streams are tested together with these.
#[test]
fn one_that_is_alone_asks_the_switches_for_their_streams() {
    let mut twice = 0;
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
        // It invites the producer until it receives its request, which has a new number each time; it is invited once
        // more where that request was lost on one of its two hops, to its switch or to the ACMaster, and only there.
        let produced = line.masters[0].entries[&7].produced.expect("its producer said so");
        assert_eq!(produced, 1 + line.invited, "a number for each invitation; seed {seed}");
        let again = line.invited.checked_sub(1).expect("its number is known of it alone");
        assert!(again <= line.unheard, "{again} of {} lost requests; seed {seed}", line.unheard);
        twice += u16::from(again > 0);
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
    assert!(twice > 10, "requests are lost: {twice}");
}

/// A stream that only some switches carry is removed when it comes back, and its nodes request it again.
#[test]
fn a_stream_that_was_half_set_up_is_not_granted() {
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
        let granted = line.masters[0].standing().count();
        assert_eq!(carried, 3 * granted, "on all of its way or not at all, after {messages} messages");
        line.run(ms(300), || false);
        assert_eq!(line.states(), [GRANTED; 2], "after {messages} messages");
        assert_eq!(line.masters[0].standing().count(), 1);
    }
}
