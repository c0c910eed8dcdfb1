//! The death of the ACMaster, and what its standby knows.

use super::*;

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

/// At every moment at which the active one may die, the standby has every stream of which any node was notified.
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
        let granted = line.states().contains(&GRANTED);
        if granted {
            assert_eq!(line.masters[1].standing().count(), 1, "after {messages} messages");
        }
        line.run(ms(900), || false);
        assert_eq!(line.states(), [GRANTED; 2], "after {messages} messages");
        assert_eq!(line.masters[1].standing().count(), 1);
        assert!(line.switches.iter().all(|switch| switch.streams().len() == 1));
    }
}

/// Whenever the active one dies while a stream is released, it is removed from switches and standby all the same.
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

/// An ACMaster that took over waits for no answer of the silent one.
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
