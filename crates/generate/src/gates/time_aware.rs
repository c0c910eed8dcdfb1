//! Random networks of time-aware streams that wait for a schedule: no offsets and no lists, and what their devices can do.
//!
//! Lines are loaded little or much, and deadlines wide or tight, so that some have no schedule. Clocks are true and have any
//! reading when the run begins. Streams that are not scheduled have other classes and any phase.

use std::fmt::Write as _;

use crate::Dice;

/// Common values of the network. Times in nanoseconds.
struct Shape {
    /// The bridge of each station.
    at: Vec<u64>,
    rate: u64,
    latency: u64,
    /// The shortest interval.
    base: u64,
}

/// The description of a seed.
#[must_use]
pub fn random_time_aware(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7469_6d65_6177_6172);
    let bridges = dice.between(1, 4);
    let shape = Shape {
        at: (0..dice.between(3, 7)).map(|_| dice.between(0, bridges - 1)).collect(),
        rate: *dice.one_of(&[100, 100, 1_000]),
        latency: dice.between(0, 8_000),
        base: *dice.one_of(&[250_000, 500_000, 1_000_000]),
    };
    let mut text = format!("name: time-aware-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}}}\n");
    let least = if dice.chance(30) { shape.latency / 2 } else { shape.latency };
    let _ = writeln!(
        text,
        "devices:\n  switch: {{stages: [{{name: forwarding, position: processing, latency: {{min: {least} ns, max: {} ns}}}}]}}",
        shape.latency
    );
    let host = if dice.chance(25) {
        let _ = writeln!(
            text,
            "hosts: {{slow: {{transmit: {{min: 0 ns, max: {} ns}}}}}}",
            dice.between(1, 3_000)
        );
        ", host: slow"
    } else {
        ""
    };
    let _ = writeln!(
        text,
        "defaults: {{rate: {} Mbit/s, device: switch, traffic-class-table: identity{host}}}",
        shape.rate
    );
    text.push_str("nodes:\n");
    for bridge in 0..bridges {
        let _ = write!(text, "  b{bridge}: {{type: bridge");
        gates(&mut text, &mut dice);
        text.push_str("}\n");
    }
    for station in 0..shape.at.len() {
        let _ = writeln!(text, "  e{station}:\n    type: end-station");
        if dice.chance(20) {
            let _ = writeln!(text, "    clock: {{offset: {} us}}", dice.between(0, 900));
        }
    }
    text.push_str("links:\n");
    for bridge in 1..bridges {
        let _ = writeln!(
            text,
            "  - {{between: [b{}, b{bridge}], length: {} m}}",
            bridge - 1,
            dice.between(1, 90)
        );
    }
    for (station, bridge) in shape.at.iter().enumerate() {
        let _ = writeln!(text, "  - {{between: [e{station}, b{bridge}], length: {} m}}", dice.between(1, 90));
    }
    text.push_str("streams:\n");
    for number in 0..dice.between(1, 14) {
        shape.stream(&mut text, &mut dice, number);
    }
    for number in 0..dice.between(0, 4) {
        shape.other(&mut text, &mut dice, number);
    }
    let _ = writeln!(text, "run: {{duration: 30 ms, seed: {}}}", seed + 1);
    text
}

/// What a bridge states of its gates.
fn gates(text: &mut String, dice: &mut Dice) {
    if dice.chance(50) {
        return;
    }
    let mut keys = Vec::new();
    if dice.chance(40) {
        keys.push(format!("tick-granularity: {} ns", dice.one_of(&[8, 50, 100])));
    }
    if dice.chance(30) {
        keys.push(format!("supported-list-max: {}", dice.one_of(&[4, 8, 16, 64])));
    }
    if dice.chance(20) {
        keys.push(format!("supported-interval-max: {} us", dice.one_of(&[50, 200])));
    }
    if dice.chance(10) {
        keys.push(format!("supported-cycle-max: {} ms", dice.one_of(&[1, 2, 4])));
    }
    if dice.chance(40) {
        keys.push(format!("guard: {}", dice.one_of(&["none", "max-sdu", "look-ahead"])));
    }
    if dice.chance(20) {
        keys.push("queue-max-sdu-table: {6: 402 B, 7: 402 B}".to_owned());
    }
    if !keys.is_empty() {
        let _ = write!(text, ", gate-parameter-table: {{{}}}", keys.join(", "));
    }
}

impl Shape {
    /// How long a frame with so much payload is on the line, preamble and all.
    fn sent(&self, payload: u64) -> u64 {
        ((payload + 22).max(64) + 20) * 8_000 / self.rate
    }

    fn ends(&self, dice: &mut Dice) -> (u64, u64) {
        let stations = self.at.len() as u64;
        let talker = dice.between(0, stations - 1);
        (talker, (talker + dice.between(1, stations - 1)) % stations)
    }

    fn stream(&self, text: &mut String, dice: &mut Dice, number: u64) {
        let (talker, listener) = self.ends(dice);
        let hops = self.at[talker as usize].abs_diff(self.at[listener as usize]) + 2;
        let (payload, burst) = (dice.between(46, 400), *dice.one_of(&[1, 1, 1, 1, 2, 3]));
        let interval = self.base * dice.one_of(&[1, 2, 2, 4, 3]);
        let class = *dice.one_of(&[7, 7, 7, 6]);
        let least = hops * (self.sent(payload) * burst + self.latency) + 2_000;
        let _ = write!(
            text,
            "  - {{name: s{number}, talker: e{talker}, listeners: [e{listener}], priority: {class}, payload: {payload} B"
        );
        if dice.chance(70) {
            let _ = write!(text, ", deadline: {} ns", least * dice.between(10, 40) / 10);
        }
        let _ = write!(text, ", traffic: {{type: periodic, interval: {interval} ns");
        if burst > 1 {
            let _ = write!(text, ", burst: {burst}");
        }
        if dice.chance(15) {
            let _ = write!(text, ", jitter: {} ns", dice.between(1, 4_000));
        }
        text.push_str("}, time-aware: {");
        if dice.chance(20) {
            let earliest = dice.between(0, interval / 2);
            let latest = dice.between(earliest, interval - 1);
            let _ =
                write!(text, "earliest-transmit-offset: {earliest} ns, latest-transmit-offset: {latest} ns");
        }
        text.push_str("}}\n");
    }

    /// A stream of another class, at any phase.
    fn other(&self, text: &mut String, dice: &mut Dice, number: u64) {
        let (talker, listener) = self.ends(dice);
        let (class, payload) = (dice.between(0, 5), dice.between(46, 1_500));
        let interval = self.sent(payload) * dice.between(20, 60);
        let _ = writeln!(
            text,
            "  - {{name: x{number}, talker: e{talker}, listeners: e{listener}, priority: {class}, payload: {payload} B, \
             traffic: {{type: periodic, interval: {interval} ns, phase: random}}}}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_of_time_aware_streams_are_valid() {
        for seed in 0..150 {
            let text = random_time_aware(seed);
            assert_eq!(text, random_time_aware(seed));
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
        }
    }
}
