//! One port that preempts behind gates whose express windows are hardly longer than a frame and what of a preemptable one is not cut: whether a frame meets
//! its window depends on that part, on holds and on their advances.

use std::fmt::Write as _;

use crate::Dice;

/// Nanoseconds of an octet.
const OCTET: u64 = 80;

/// The description.
pub(super) fn narrow(dice: &mut Dice, seed: u64) -> String {
    let size = dice.between(0, 3);
    let rest = (143 + 64 * size) * OCTET;
    let payload = 46 + dice.between(0, 300);
    let own = (payload + 30) * OCTET;
    let window = own + dice.between(1, rest * 3 / 2);
    let cycle = window + dice.between(300_000, 500_000);
    let mut text = format!("name: preemption-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}}}\n");
    let _ = writeln!(
        text,
        "defaults:\n  rate: 100 Mbit/s\n  device: store-and-forward\n  traffic-class-table: identity\n  frame-preemption-parameters:\n    \
         frame-preemption-status-table: {{priority0: preemptable, priority1: preemptable}}\n    add-frag-size: {size}"
    );
    if dice.chance(50) {
        let (hold, release) = (dice.between(0, rest * 3 / 2), dice.between(0, 20_000));
        let _ = writeln!(text, "    hold-advance: {hold} ns\n    release-advance: {release} ns");
    }
    let at_first = dice.one_of(&["255", "255", "255", "0", "[0, 1]"]);
    let _ = writeln!(
        text,
        "nodes:\n  b0:\n    type: bridge\n    gate-parameter-table:\n      gate-enabled: true\n      admin-gate-states: {at_first}\n      \
         admin-control-list:"
    );
    write_list(&mut text, dice, (window, cycle));
    for station in 0..4 {
        let _ = writeln!(
            text,
            "  e{station}: {{type: end-station, frame-preemption-parameters: {{enable-tx: false}}}}"
        );
    }
    text.push_str("links:\n");
    for station in 0..4 {
        let _ = writeln!(text, "  - {{between: [e{station}, b0]}}");
    }
    text.push_str("streams:\n");
    let stream = |text: &mut String,
                  (name, talker, priority): (&str, u64, u64),
                  payload: u64,
                  traffic: &str| {
        let _ = writeln!(
            text,
            "  - {{name: {name}, talker: e{talker}, listeners: e3, priority: {priority}, payload: {payload} B, traffic: {traffic}}}"
        );
    };
    let interval = cycle * dice.between(2, 4) + dice.between(0, 9_999);
    stream(&mut text, ("order", 0, 7), payload, &format!("{{type: periodic, interval: {interval} ns}}"));
    let offset = dice.between(0, 100_000);
    for (number, priority) in [(1, 0), (2, dice.between(0, 1))] {
        let long = if dice.chance(80) { 1_500 } else { 46 + dice.between(0, 1_400) };
        let interval = (long + 42) * OCTET * dice.between(25, 60) / 10;
        let traffic = format!("{{type: periodic, interval: {interval} ns, offset: {} ns}}", offset / number);
        stream(&mut text, (&format!("load{number}"), number, priority), long, &traffic);
    }
    if dice.chance(40) {
        let (priority, small) = (dice.between(2, 6), 46 + dice.between(0, 200));
        let interval = cycle * dice.between(2, 3) + dice.between(0, 50_000);
        stream(
            &mut text,
            ("alarm", 2, priority),
            small,
            &format!("{{type: periodic, interval: {interval} ns}}"),
        );
    }
    if dice.chance(25) {
        let (precision, cycle) = (dice.between(500, 8_000), dice.between(1, 4));
        let _ =
            writeln!(text, "time-triggered: {{precision: {precision} ns, integration-cycle: {cycle} ms}}");
    }
    let _ = writeln!(text, "run: {{duration: 20 ms, seed: {}}}", seed + 1);
    text
}

/// A window of class 7, before or among the time of the others, with holds or without.
fn write_list(text: &mut String, dice: &mut Dice, (window, cycle): (u64, u64)) {
    let (hold, release) = match dice.between(0, 2) {
        0 => ("operation: set-and-hold-mac, ", "operation: set-and-release-mac, "),
        _ => ("", ""),
    };
    let others = "0, 1, 2, 3, 4, 5, 6";
    let beside = *dice.one_of(&["7", "0, 1, 7", "0, 1, 7", "0, 1, 2, 3, 4, 5, 6, 7"]);
    let before = *dice.one_of(&[1, cycle - window - 1, (cycle - window) / 2]);
    for (operation, states, span) in
        [(release, others, before), (hold, beside, window), (release, others, cycle - window - before)]
    {
        let _ = writeln!(text, "        - {{{operation}gate-states: [{states}], time-interval: {span} ns}}");
    }
}
