//! One port with gates whose clock is corrected, to a stated precision or by gPTP, and orders whose phase in the cycle wanders: some come just when their
//! window closes, and wait for the next one while the clock is set back.

use std::fmt::Write as _;

use crate::Dice;

/// The description of a seed.
#[must_use]
pub fn random_corrected_gates(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x636f_7272_6761);
    let precision = dice.between(1_000, 20_000);
    let by_gptp = dice.chance(40);
    // Messages of gPTP fit into the window.
    let payload = if by_gptp { 112 } else { 46 } + dice.between(0, 300);
    let own = (payload + 30) * 80;
    let window = 2 * own + dice.between(0, 4) * precision + dice.between(10_000, 40_000);
    let cycle = window + dice.between(50_000, 200_000);
    let tolerance = *dice.one_of(&[0, 0, 50]);
    let mut text = format!("name: gates-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}}}\n");
    let guard = dice.one_of(&["look-ahead", "look-ahead", "none"]);
    let states = dice.one_of(&["255", "255", "0"]);
    // It is stepped when it knows its grandmaster.
    let clock = match (by_gptp, dice.between(0, 2) * dice.between(0, 1_000)) {
        (false, _) | (true, 0) => String::new(),
        (true, offset) => format!("    clock: {{offset: {offset} us, tolerance: {tolerance} ppm}}\n"),
    };
    let _ = writeln!(
        text,
        "defaults: {{rate: 100 Mbit/s, device: store-and-forward, traffic-class-table: identity, clock: {{tolerance: {tolerance} ppm}}}}\nnodes:\n  \
         e0: {{type: end-station}}\n  e1: {{type: end-station}}\n  e2: {{type: end-station}}\n  b0:\n    type: bridge\n{clock}    gate-parameter-table:\n      \
         gate-enabled: true\n      guard: {guard}\n      admin-gate-states: {states}\n      admin-control-list:"
    );
    let first = dice.between(1, cycle - window - 1);
    let others = dice.one_of(&["0", "0", ""]);
    for (open, span) in [("0", first), ("7", window), (others, cycle - window - first)] {
        let _ = writeln!(text, "        - {{gate-states: [{open}], time-interval: {span} ns}}");
    }
    text.push_str(
        "links:\n  - {between: [e0, b0]}\n  - {between: [e1, b0]}\n  - {between: [e2, b0]}\nstreams:\n",
    );
    let interval = cycle * dice.between(1, 2) + dice.between(1, 1_500);
    let offset = dice.between(0, cycle);
    let _ = writeln!(
        text,
        "  - {{name: order, talker: e0, listeners: e2, priority: 7, payload: {payload} B, traffic: {{type: periodic, interval: {interval} ns, offset: {offset} ns}}}}"
    );
    if dice.chance(50) {
        let low = dice.between(46, 200).min((first / 80).saturating_sub(40));
        if low >= 46 {
            let _ = writeln!(
                text,
                "  - {{name: log, talker: e1, listeners: e2, priority: 0, payload: {low} B, traffic: {{type: periodic, interval: {} ns}}}}",
                cycle * 3
            );
        }
    }
    if by_gptp {
        let grandmaster = dice.one_of(&["e1", "e2", "b0"]);
        let interval = dice.between(4, 6);
        let _ = writeln!(
            text,
            "gptp: {{log-sync-interval: -{interval}, servo: {{step-min: 20 us}}, nodes: {{{grandmaster}: {{priority1: 100}}}}}}"
        );
    } else {
        let integration = dice.between(1, 3);
        let _ = writeln!(
            text,
            "time-triggered: {{precision: {precision} ns, integration-cycle: {integration} ms}}"
        );
    }
    let _ = writeln!(text, "run: {{duration: {} ms, seed: {}}}", if by_gptp { 400 } else { 100 }, seed + 1);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_with_corrected_gates_are_valid() {
        for seed in 0..200 {
            let text = random_corrected_gates(seed);
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
        }
    }
}
