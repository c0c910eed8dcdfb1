//! Links that fail and come back: the grants over them end, no others, and are requested again.

use super::*;

const CUT: Option<RequestState> = Some(RequestState::Cut([12, 13]));

impl Line {
    fn all_states(&self) -> [Option<RequestState>; 3] {
        [1, 2, 3].map(|node| self.nodes[node - 1].state(7))
    }

    /// No notification is outstanding.
    fn is_quiet(&self) -> bool {
        let ending = self.masters.iter().map(AcMaster::ending).sum::<usize>();
        ending == 0 && self.switches.iter().all(|switch| switch.deadline().is_none())
    }
}

/// The consumer behind the cable loses its part, the other one keeps its own; when the cable is back, the first gets it again.
#[test]
fn a_grant_over_a_link_that_fails_ends_alone() {
    for (replicated, seed) in (0..60).flat_map(|seed| [(false, seed), (true, seed)]) {
        let mut line = line(replicated);
        let mut loses = one_in_five(seed);
        line.ask_of(&[1, 2, 3]);
        line.run(ms(10), || false);
        assert_eq!(line.all_states(), [GRANTED; 3]);
        line.cable([12, 13], false);
        line.run(ms(300), || seed > 0 && loses());
        line.run(ms(600), || false);
        assert_eq!([line.nodes[0].state(7), line.nodes[2].state(7)], [GRANTED; 2], "seed {seed}");
        assert_eq!(line.carried()[0], [3], "seed {seed}");
        assert!(line.switches[1].is_broken(7, 2), "who has not heard of it is remembered; seed {seed}");
        for master in &line.masters {
            let standing: Vec<_> = master.standing().map(|(_, consumers)| consumers).collect();
            assert_eq!(standing, [BTreeSet::from([3])], "seed {seed}");
        }
        assert_eq!(line.masters[0].admitted()[&7], BTreeSet::from([3]), "what it had is free");
        line.cable([12, 13], true);
        line.run(ms(900), || seed > 0 && loses());
        line.run(ms(1_200), || false);
        assert_eq!(line.all_states(), [GRANTED; 3], "seed {seed}, replicated: {replicated}");
        assert_eq!(line.carried(), [Vec::from([2, 3]), Vec::from([2, 3]), Vec::from([2])]);
        assert!(line.is_quiet(), "seed {seed}");
        line.release(1);
        line.run(ms(1_500), || false);
        assert_eq!(line.carried(), [const { Vec::new() }; 3]);
    }
}

/// The producer of the only consumer that is cut off pauses, and is invited when the consumer requests again.
#[test]
fn the_producer_pauses_when_no_consumer_is_left() {
    for seed in 0..60 {
        let mut line = line(true);
        let mut loses = one_in_five(seed);
        line.ask();
        line.run(ms(10), || false);
        line.cable([12, 13], false);
        line.run(ms(300), || seed > 0 && loses());
        line.run(ms(600), || false);
        assert_eq!(line.nodes[0].state(7), CUT, "seed {seed}");
        assert!(line.masters.iter().all(|master| master.standing().count() == 0), "seed {seed}");
        // Another one may have it meanwhile.
        line.ask_of(&[3]);
        line.run(ms(700), || false);
        assert_eq!([line.nodes[0].state(7), line.nodes[2].state(7)], [GRANTED; 2], "seed {seed}");
        line.cable([12, 13], true);
        line.run(ms(1_000), || false);
        assert_eq!(line.all_states(), [GRANTED; 3], "seed {seed}");
        assert!(line.is_quiet());
    }
}

/// The producer behind the cable is notified when it is back; consumers are notified at once.
#[test]
fn a_producer_that_is_cut_off_is_informed_when_it_is_back() {
    for seed in 0..60 {
        let mut line = line(false);
        let mut loses = one_in_five(seed);
        line.ask_of(&[1, 2, 3]);
        line.run(ms(10), || false);
        line.cable([1, 11], false);
        line.run(ms(300), || seed > 0 && loses());
        line.run(ms(600), || false);
        let cut = Some(RequestState::Cut([11, 1]));
        assert_eq!(line.all_states(), [GRANTED, cut, cut], "seed {seed}");
        assert_eq!(line.carried(), [const { Vec::new() }; 3], "seed {seed}");
        assert!(line.masters[0].admitted().is_empty(), "what it had is free; seed {seed}");
        line.cable([1, 11], true);
        line.run(ms(900), || seed > 0 && loses());
        line.run(ms(1_200), || false);
        assert_eq!(line.all_states(), [GRANTED; 3], "seed {seed}");
        assert!(line.is_quiet(), "seed {seed}");
    }
}

/// A request over a link that is down is refused without a test, with the link as the reason, until it is back.
#[test]
fn a_request_over_a_link_that_is_down_is_refused() {
    let mut line = line(true);
    line.cable([13, 2], false);
    line.run(ms(1), || false);
    line.cut.report(13, 2, true, 2);
    line.ask();
    line.run(ms(100), || false);
    let cut = Some(RequestState::Cut([13, 2]));
    assert_eq!((line.states(), line.masters[0].tests()), ([cut; 2], 0), "all who asked are told");
    line.cable([13, 2], true);
    line.run(ms(300), || false);
    assert_eq!((line.states(), line.masters[0].tests()), ([GRANTED; 2], 1));
}

/// A switch refuses a grant for which it has no cable, and the ACMaster withdraws it at all others, once.
#[test]
fn a_cable_that_is_not_there_is_not_asked_for_for_ever() {
    let mut line = line(true);
    line.switches[2] = SwitchMaster::new(switch(13, &[12]));
    line.ask();
    line.run(ms(500), || false);
    let cut = Some(RequestState::Cut([13, 2]));
    assert_eq!((line.states(), line.masters[0].tests()), ([cut; 2], 1));
    assert_eq!(line.carried(), [const { Vec::new() }; 3], "given back");
    assert!(line.is_quiet() && line.masters[0].admitted().is_empty());
}

/// A link fails under what is being set up.
#[test]
fn what_is_being_set_up_over_a_link_that_fails_is_refused() {
    for messages in 0..16 {
        let mut line = line(true);
        line.ask();
        line.collect();
        for _ in 0..messages {
            let Some((to, message)) = line.flying.pop_front() else { break };
            line.deliver(to, &message);
            line.collect();
        }
        line.cable([12, 13], false);
        line.flying.retain(|(to, _)| ![2, 13].contains(to));
        line.run(ms(300), || false);
        assert_eq!(line.carried()[0], [], "after {messages} messages");
        assert!(line.masters.iter().all(|master| master.standing().count() == 0));
        assert!(line.masters[0].admitted().is_empty(), "after {messages} messages");
        line.cable([12, 13], true);
        line.run(ms(600), || false);
        assert_eq!(line.states(), [GRANTED; 2], "after {messages} messages");
        assert!(line.is_quiet(), "after {messages} messages");
    }
}

/// A link that is back before its failure was reported has broken the grants over it all the same; they end once.
#[test]
fn a_link_that_is_back_at_once_ends_what_went_over_it() {
    let mut line = line(true);
    line.ask_of(&[1, 2, 3]);
    line.run(ms(10), || false);
    line.cable([12, 13], false);
    line.cable([12, 13], true);
    line.run(ms(11), || false);
    assert_eq!(line.nodes[1].state(7), CUT, "it was told so");
    line.run(ms(200), || false);
    assert_eq!(line.all_states(), [GRANTED; 3]);
    assert_eq!(line.masters[0].tests(), 3, "two, and one again");
    assert!(line.is_quiet());
}

/// The active ACMaster dies at any message while a grant ends: the switch reports to the other one, or to the same when it is back.
#[test]
fn death_while_a_grant_ends_leaves_nothing_behind() {
    for (replicated, messages, flap) in (0..24)
        .flat_map(|messages| [(true, messages, false), (true, messages, true), (false, messages, true)])
    {
        let mut line = line(replicated);
        line.ask_of(&[1, 2, 3]);
        line.run(ms(10), || false);
        line.cable([12, 13], false);
        if flap {
            line.cable([12, 13], true);
        }
        line.collect();
        for _ in 0..messages {
            let Some((to, message)) = line.flying.pop_front() else { break };
            line.deliver(to, &message);
            line.collect();
        }
        let context = alloc::format!("after {messages} messages, {flap}, {replicated}");
        line.stop(0, false);
        if !replicated {
            line.flying.retain(|(to, _)| *to != 20);
            line.stop(0, true);
            let config = AcConfig { active: true, life: 1, ..line.masters[0].config.clone() };
            line.masters[0] = AcMaster::new(config, line.now);
        }
        line.run(ms(600), || false);
        if !flap {
            assert_eq!(line.carried()[0], [3], "{context}");
            line.cable([12, 13], true);
        }
        line.run(ms(1_000), || false);
        assert_eq!(line.all_states(), [GRANTED; 3], "{context}");
        assert_eq!(line.carried(), [Vec::from([2, 3]), Vec::from([2, 3]), Vec::from([2])], "{context}");
        assert!(line.switches.iter().all(|switch| switch.deadline().is_none()), "{context}");
        let active = line.masters.iter().rposition(AcMaster::is_active).expect("one is");
        assert_eq!(line.masters[active].ending(), 0, "{context}");
    }
}
