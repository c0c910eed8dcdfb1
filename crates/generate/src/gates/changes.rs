//! Random networks whose gates get other lists in the run: with base times to come and past, cycles that are cut and extended, and several changes of
//! one port, near to each other and far apart.

use std::fmt::Write as _;

use super::list::List;
use super::{Time, classes, streams, write_class, write_devices};
use crate::Dice;
use crate::shaped_stream::write_clock;

/// The description of a seed.
#[must_use]
pub fn random_gate_changes(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x6368_616e_6765_7300);
    let time = *dice.one_of(&[Time::Free, Time::Free, Time::Free, Time::Free, Time::Stated]);
    let rate = *dice.one_of(&[100, 100, 100, 1_000]);
    let tolerance = *dice.one_of(&[0, 0, 100]);
    let classes = classes(&mut dice, time);
    let tick = *dice.one_of(&[0, 0, 0, 1, 8, 1_000]);
    let lists: Vec<List> = (0..4).map(|_| List::draw(&mut dice, &classes, rate, tick)).collect();
    let least = |number: u64| lists.iter().map(|list| list.share(number)).min().unwrap_or(0);
    let shares: Vec<u64> = classes.iter().map(|class| least(class.number)).collect();
    let (bridges, stations) = (dice.between(1, 2), dice.between(2, 4));
    let streams = streams(&mut dice, &classes, &shares, rate, stations);
    let mut text = format!("name: changes-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}}}\n");
    write_devices(&mut text, &mut dice);
    let _ = write!(text, "defaults:\n  rate: {rate} Mbit/s\n  traffic-class-table: identity\n  classes: {{");
    for (place, class) in classes.iter().enumerate() {
        write_class(&mut text, class, &lists, &streams.load, place, rate);
    }
    text.push_str("}\nnodes:\n");
    for bridge in 0..bridges {
        let device = dice.one_of(&["store-and-forward", "drawn"]);
        let _ = writeln!(text, "  b{bridge}:\n    type: bridge\n    device: {device}");
        write_clock(&mut text, &mut dice, tolerance, time != Time::Stated);
        lists[usize::try_from(bridge).expect("few")].write(&mut text, &mut dice, "    ", &classes);
    }
    let homes: Vec<u64> = (0..stations).map(|_| dice.between(0, bridges - 1)).collect();
    for station in 0..stations {
        let _ = writeln!(text, "  e{station}:\n    type: end-station");
        write_clock(&mut text, &mut dice, tolerance, time != Time::Stated);
    }
    text.push_str("links:\n");
    let mut ports: Vec<String> = Vec::new();
    if bridges == 2 {
        text.push_str("  - {between: [\"b0:b1\", \"b1:b0\"]}\n");
        ports.extend(["b0:b1".to_owned(), "b1:b0".to_owned()]);
    }
    for (station, bridge) in homes.iter().enumerate() {
        let _ = writeln!(text, "  - {{between: [e{station}, \"b{bridge}:e{station}\"]}}");
        ports.push(format!("b{bridge}:e{station}"));
    }
    if time == Time::Stated {
        text.push_str("time-triggered: {precision: 5 us, integration-cycle: 10 ms}\n");
    }
    text.push_str(&streams.text);
    text.push_str("events:\n");
    for port in &ports {
        // Some stay as they are.
        let mut at = dice.between(4_000, 9_000);
        for _ in 0..dice.between(0, 2) {
            let base = match dice.between(0, 3) {
                0 => 0,
                1 => at,
                _ => at + dice.between(0, 3_000),
            };
            let list = &lists[usize::try_from(dice.between(0, 3)).expect("few")];
            list.write_event(&mut text, &mut dice, (at, base), port);
            at += dice.between(200, 12_000);
        }
    }
    // One at least.
    lists[3].write_event(&mut text, &mut dice, (25_000, 0), &ports[0]);
    let _ = writeln!(text, "run: {{duration: 40 ms, seed: {}}}", seed + 1);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_whose_gates_change_are_valid() {
        for seed in 0..150 {
            let text = random_gate_changes(seed);
            assert_eq!(text, random_gate_changes(seed));
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
        }
    }
}
