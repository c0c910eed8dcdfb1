//! Random networks with frame replication and elimination (IEEE Std 802.1CB-2017): rings with stations at one bridge or two, copies over
//! disjoint paths that differ in length, recovery functions of every kind, and one failure at most of links that only one path has. Some have gates and streams that are released at
//! stated offsets, preemptable classes, or ATS schedulers on the paths.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// Common values of a network.
struct Shape {
    /// Megabits per second.
    rate: u64,
    stations: u64,
    /// The cycle of its gates, nanoseconds, if it has some.
    cycle: Option<u64>,
    /// Whether the highest class of some bridges has ATS schedulers.
    is_shaped: bool,
}

/// The description of a seed.
#[must_use]
pub fn random_replication(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x6672_6572_0000);
    let rate = *dice.one_of(&[100, 100, 1_000]);
    let cycle = if dice.chance(25) { Some(*dice.one_of(&[500_000, 1_000_000])) } else { None };
    // Instants are known where clocks are true.
    let tolerance = if cycle.is_some() { 0 } else { *dice.one_of(&[0, 0, 100]) };
    let (bridges, stations) = (dice.between(4, 6), 3);
    let mut text = format!(
        "name: frer-{seed}\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndevices:\n  drawn:\n    \
         stages: [{{name: forwarding, position: processing, latency: {{min: 0 ns, max: {} ns}}}}]\ndefaults:\n  rate: {rate} Mbit/s\n  traffic-class-table: identity\nnodes:\n",
        dice.between(0, 3_000)
    );
    let shape = Shape { rate, stations, cycle, is_shaped: dice.chance(20) };
    if dice.chance(20) {
        let preemptable = "{priority0: preemptable, priority1: preemptable}";
        let key =
            format!("  frame-preemption-parameters: {{frame-preemption-status-table: {preemptable}}}\n");
        text = text.replace("nodes:\n", &(key + "nodes:\n"));
    }
    for bridge in 0..bridges {
        let device = dice.one_of(&["store-and-forward", "drawn"]);
        let _ = writeln!(text, "  b{bridge}:\n    type: bridge\n    device: {device}");
        write_clock(&mut text, &mut dice, tolerance);
        shape.write_port_settings(&mut text, &mut dice);
    }
    for station in 0..stations {
        let _ = writeln!(text, "  e{station}:\n    type: end-station");
        write_clock(&mut text, &mut dice, tolerance);
    }
    text.push_str("links:\n");
    let slow = dice.between(0, bridges - 1);
    for bridge in 0..bridges {
        let delay = if bridge == slow { dice.between(0, 2_000) } else { dice.between(0, 20) };
        let next = (bridge + 1) % bridges;
        let _ = writeln!(
            text,
            "  - {{name: r{bridge}, between: [b{bridge}, b{next}], propagation-delay: {delay} us}}"
        );
    }
    for station in 0..stations {
        let _ = writeln!(text, "  - {{between: [e{station}, b{station}]}}");
        if dice.chance(35) {
            let _ = writeln!(text, "  - {{between: [e{station}, b{}]}}", (station + 2) % bridges);
        }
    }
    shape.write_streams(&mut text, &mut dice);
    write_events(&mut text, &mut dice, bridges);
    let _ = writeln!(text, "run: {{duration: 60 ms, seed: {}}}", seed + 1);
    // Readings in steps are not true time.
    if cycle.is_none() || seed.is_multiple_of(8) { grain::drawn(&text, seed, &grain::FINE) } else { text }
}

impl Shape {
    /// Gates and schedulers of a bridge, or none.
    fn write_port_settings(&self, text: &mut String, dice: &mut Dice) {
        if self.is_shaped && dice.chance(60) {
            text.push_str("    classes: {2: {transmission-selection: ats}}\n");
        }
        let Some(cycle) = self.cycle.filter(|_| dice.chance(60)) else { return };
        // The largest frame fits into each window.
        let first = dice.between(90_000, cycle - 90_000);
        let states = dice.one_of(&[
            ["[2]", "[0, 1]"],
            ["[0, 1, 2]", "[2]"],
            ["[2]", "[0, 1, 2]"],
            ["[0, 1]", "[1, 2]"],
        ]);
        let _ = writeln!(
            text,
            "    gate-parameter-table: {{gate-enabled: true, admin-control-list: [{{gate-states: {}, time-interval: {first} ns}}, {{gate-states: {}, time-interval: {} ns}}]}}",
            states[0],
            states[1],
            cycle - first
        );
    }

    /// Traffic with so much between bursts at least.
    fn write_traffic(&self, dice: &mut Dice, (own, wire, burst): (u64, u64, u64)) -> String {
        let interval_ns = (wire * burst * 1_000_000_000).div_ceil(own);
        if let Some(cycle) = self.cycle.filter(|_| dice.chance(75)) {
            let interval = interval_ns.div_ceil(cycle).next_power_of_two() * cycle;
            let jitter = if dice.chance(20) { dice.between(1, 5_000) } else { 0 };
            let offset = dice.between(0, interval - 1);
            return format!(
                "{{type: periodic, interval: {interval} ns, offset: {offset} ns, jitter: {jitter} ns, burst: {burst}}}"
            );
        }
        match dice.between(0, 3) {
            0 => format!(
                "{{type: greedy}}\n    arrival-curve: {{rate: {own} bit/s, burst: {} bit}}",
                wire * burst
            ),
            1 => {
                let jitter = dice.between(0, interval_ns / 2);
                format!("{{type: periodic, interval: {interval_ns} ns, jitter: {jitter} ns, burst: {burst}}}")
            }
            2 => format!("{{type: constant-rate, rate: {own} bit/s}}"),
            _ => format!("{{type: periodic, interval: {interval_ns} ns, burst: {burst}}}"),
        }
    }

    fn write_streams(&self, text: &mut String, dice: &mut Dice) {
        let Self { rate, stations, .. } = *self;
        text.push_str("streams:\n");
        let count = dice.between(2, 5);
        for number in 0..count {
            let talker = dice.between(0, stations - 1);
            let first = dice.between(1, stations - 1);
            let mut listeners = vec![(talker + first) % stations];
            let has_copies = dice.chance(75);
            if has_copies && dice.chance(25) {
                listeners.push((talker + stations - first) % stations);
            }
            let most = 46 + dice.between(0, 900);
            let least = if dice.chance(30) { dice.between(1, most) } else { most };
            let wire = ((most + 28).max(64) + 20) * 8;
            // Each copy may pass each port.
            let own = rate * 1_000_000 / (count * 4) * dice.between(10, 100) / 100;
            let burst = dice.between(1, 3);
            let traffic = self.write_traffic(dice, (own, wire, burst));
            let priority = dice.between(0, 2);
            let _ = writeln!(
                text,
                "  - name: s{number}\n    talker: e{talker}\n    listeners: [{}]\n    priority: {priority}\n    payload: {{min: {least} B, max: {most} B}}\n    traffic: {traffic}",
                listeners.iter().map(|listener| format!("e{listener}")).collect::<Vec<_>>().join(", ")
            );
            if self.is_shaped && priority == 2 {
                // A tag of six octets, and what a scheduler charges in addition to a frame.
                let committed = (wire + 48 + 160) * burst;
                let _ = writeln!(
                    text,
                    "    shaper: {{committed-information-rate: {} bit/s, committed-burst-size: {committed} bit}}",
                    own * 3 / 2
                );
            }
            if has_copies {
                write_replication(text, dice, talker, &listeners);
            }
        }
    }
}

/// With several listeners around the ring functions at bridges would pass frames round, so they are at the listeners.
fn write_replication(text: &mut String, dice: &mut Dice, talker: u64, listeners: &[u64]) {
    text.push_str("    frer:\n");
    if listeners.len() == 1 && dice.chance(30) {
        let _ = writeln!(text, "      paths: {}", dice.between(2, 3));
    }
    if dice.chance(30) {
        let _ = writeln!(text, "      sequence-generation: e{talker}");
    }
    if dice.chance(40) {
        let _ =
            writeln!(text, "      encapsulation: {}", dice.one_of(&["hsr-sequence-tag", "prp-sequence-tag"]));
    }
    text.push_str("      sequence-recovery:\n");
    let history = *dice.one_of(&[16_384, 16_384, 16_384, 32, 8, 3]);
    let timeout = *dice.one_of(&[50, 50, 50, 5, 1]);
    let own = |entry: &mut String, dice: &mut Dice| {
        let _ = write!(entry, "reset-timeout: {timeout} ms, history-length: {history}");
        if dice.chance(15) {
            entry.push_str(", algorithm: match");
        }
        if dice.chance(20) {
            entry.push_str(", take-no-sequence: true");
        }
        if dice.chance(40) {
            let _ = write!(
                entry,
                ", latent-error-detection: true, latent-error-detection-parameters: {{difference: {}, period: {} ms, reset-period: 1 s",
                dice.between(0, 8),
                dice.between(2, 8)
            );
            entry.push_str(if dice.chance(20) { ", paths: 2}" } else { "}" });
        }
    };
    let mut places: Vec<String> = listeners.iter().map(|listener| format!("node: e{listener}, ")).collect();
    if listeners.len() == 1 {
        if dice.chance(75) {
            places.clear();
        }
        places.push(String::new());
    }
    for place in &places {
        let mut entry = place.clone();
        own(&mut entry, dice);
        let _ = writeln!(text, "        - {{{entry}}}");
    }
    if dice.chance(25) {
        let place = places.last().expect("at least one");
        let _ = writeln!(
            text,
            "        - {{{place}individual-recovery: true, reset-timeout: {timeout} ms, history-length: {history}}}"
        );
    }
}

/// A cable of the ring fails, or a bridge does, or none.
fn write_events(text: &mut String, dice: &mut Dice, bridges: u64) {
    let (first, last) = (dice.between(5, 20), dice.between(21, 45));
    let which = dice.between(0, bridges - 1);
    match dice.between(0, 5) {
        0 | 1 => {
            let _ = writeln!(
                text,
                "events: [{{at: {first} ms, cut-link: r{which}}}, {{at: {last} ms, mend-link: r{which}}}]"
            );
        }
        2 => {
            let _ = writeln!(
                text,
                "events: [{{at: {first} ms, stop-node: b{which}}}, {{at: {last} ms, start-node: b{which}}}]"
            );
        }
        3 => {
            let _ = writeln!(
                text,
                "events: [{{at: {first} ms, change-bit-error-rate: {{link: r{which}, bit-error-rate: 1e-5}}}}]"
            );
        }
        _ => {}
    }
}

/// A clock at one end of its tolerance, or drawn.
fn write_clock(text: &mut String, dice: &mut Dice, tolerance: u64) {
    if tolerance > 0 {
        let sign = dice.one_of(&["", "-"]);
        let _ = writeln!(text, "    clock: {{tolerance: {tolerance} ppm, drift: {sign}{tolerance} ppm}}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_with_copies_are_valid() {
        let (mut replicated, mut several) = (0, 0);
        for seed in 0..300 {
            let text = random_replication(seed);
            assert_eq!(text, random_replication(seed));
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
            let network = loaded.network.expect("no errors");
            let copied: Vec<_> =
                network.streams.iter().filter(|stream| stream.replication.is_some()).collect();
            replicated += copied.len();
            several += copied.iter().filter(|stream| stream.listeners.len() > 1).count();
        }
        assert!(replicated > 400 && several > 100, "{replicated} streams with copies, {several} to several");
    }
}
