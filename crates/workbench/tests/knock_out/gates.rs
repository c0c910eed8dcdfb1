//! Gates of scheduled traffic: the scenario fails without them.

use super::answers;

/// The scenario's orders keep their deadline by the gates of two ports, and by each of the two.
#[test]
fn the_gates_of_scheduled_traffic() {
    let text = include_str!("../../../../scenarios/scheduled-traffic.yaml");
    assert!(answers(text).1, "kept with its gates");
    let disabled = |text: &str| text.replace("gate-enabled: true", "gate-enabled: false");
    assert!(!answers(&disabled(text)).1, "an order is late without gates");
    let (first, second) = text.split_once("  s2:\n    type: bridge").expect("two switches");
    for one in [
        format!("{}  s2:\n    type: bridge{second}", disabled(first)),
        format!("{first}  s2:\n    type: bridge{}", disabled(second)),
    ] {
        assert!(!answers(&one).1, "an order is late where one port has no gates");
    }
}

/// The orders keep their deadline because both ports begin their new lists together.
#[test]
fn the_change_of_a_schedule() {
    let text = include_str!("../../../../scenarios/schedule-change.yaml");
    assert_eq!(answers(text), (true, true), "before, in and behind the change");
    let (first, second) = text.split_once("port: s2:motor").expect("a change of the second switch");
    let second = second.replacen("admin-base-time: 20 ms", "admin-base-time: 20200 us", 1);
    let moved = format!("{first}port: s2:motor{second}");
    assert_eq!(answers(&moved), (false, false), "an order is late where windows move apart");
}
