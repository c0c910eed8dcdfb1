//! Random networks with gates (IEEE Std 802.1Q-2022, 8.6.8.4): lists that are aligned and not, windows that overlap or
//! meet, classes of every
//! transmission selection behind them, base times to come, ticks, guards and credit of devices, clocks of every kind.
//!
//! Every class that streams use has an interval that its largest frame fits into, so no queue waits for ever.

mod changes;
mod corrected;
mod list;
mod scheduled;
mod time_aware;

use std::fmt::Write as _;

use crate::shaped_stream::{ShapedStream, write_clock};
use crate::{Dice, grain};
pub use changes::random_gate_changes;
pub use corrected::random_corrected_gates;
use list::List;
pub use scheduled::{random_scheduled, random_scheduled_changes, random_scheduled_rings};
pub use time_aware::random_time_aware;

/// A class that streams use.
struct Class {
    number: u64,
    /// Largest payload.
    payload: u64,
    selection: &'static str,
}

/// The clock that the gates follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    Free,
    Gptp,
    Stated,
}

/// The description of a seed.
#[must_use]
pub fn random_gates(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x6761_7465_7300);
    let time = *dice.one_of(&[Time::Free, Time::Free, Time::Free, Time::Free, Time::Gptp, Time::Stated]);
    let rate = *dice.one_of(&[100, 100, 100, 1_000]);
    let tolerance = *dice.one_of(&[0, 0, 100]);
    let classes = classes(&mut dice, time);
    let tick = *dice.one_of(&[0, 0, 0, 1, 8, 200, 1_000]);
    let lists: Vec<List> = {
        let first = List::draw(&mut dice, &classes, rate, tick);
        let alike = dice.chance(50);
        (0..3)
            .map(|_| if alike { first.clone() } else { List::draw(&mut dice, &classes, rate, tick) })
            .collect()
    };
    let share =
        classes.iter().map(|class| lists.iter().map(|list| list.share(class.number)).min().unwrap_or(0));
    let shares: Vec<u64> = share.collect();
    let (bridges, stations) = (dice.between(1, 3), dice.between(2, 4));
    let streams = streams(&mut dice, &classes, &shares, rate, stations);
    let mut text = format!("name: gates-{seed}\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\n");
    write_devices(&mut text, &mut dice);
    let everywhere = dice.chance(40);
    let _ = writeln!(text, "defaults:\n  rate: {rate} Mbit/s\n  traffic-class-table: identity");
    let _ = write!(text, "  classes: {{");
    for (place, class) in classes.iter().enumerate() {
        write_class(&mut text, class, &lists, &streams.load, place, rate);
    }
    text.push_str("}\n");
    if everywhere {
        lists[0].write(&mut text, &mut dice, "  ", &classes);
    }
    text.push_str("nodes:\n");
    for bridge in 0..bridges {
        let device = dice.one_of(&["store-and-forward", "drawn", "drawn"]);
        let _ = writeln!(text, "  b{bridge}:\n    type: bridge\n    device: {device}");
        write_clock(&mut text, &mut dice, tolerance, time != Time::Stated);
        if !everywhere {
            lists[usize::try_from(bridge).expect("few")].write(&mut text, &mut dice, "    ", &classes);
        }
    }
    for station in 0..stations {
        let _ = writeln!(text, "  e{station}:\n    type: end-station");
        write_clock(&mut text, &mut dice, tolerance, time != Time::Stated);
        match dice.between(0, 3) {
            // A station without gates among those that have some, and the other way round.
            0 if everywhere => text.push_str("    gate-parameter-table: {gate-enabled: false}\n"),
            1 if !everywhere => lists[0].write(&mut text, &mut dice, "    ", &classes),
            _ => {}
        }
    }
    text.push_str("links:\n");
    for bridge in 1..bridges {
        let _ = writeln!(text, "  - {{between: [b{}, b{bridge}]}}", bridge - 1);
    }
    for station in 0..stations {
        let phy = if dice.chance(20) { ", phy-delay: {min: 200 ns, max: 500 ns}" } else { "" };
        let _ = writeln!(text, "  - {{between: [e{station}, b{}]{phy}}}", dice.between(0, bridges - 1));
    }
    match time {
        Time::Free => {}
        Time::Gptp => text.push_str(
            "gptp: {log-sync-interval: -4, servo: {step-min: 50 us}, nodes: {e0: {priority1: 100}}}\n",
        ),
        Time::Stated => text.push_str("time-triggered: {precision: 5 us, integration-cycle: 10 ms}\n"),
    }
    text.push_str(&streams.text);
    if dice.chance(25) {
        lists[2].write_change(&mut text, &mut dice, "b0:p1");
    }
    let duration = if time == Time::Gptp { 500 } else { 40 };
    let _ = writeln!(text, "run: {{duration: {duration} ms, seed: {}}}", seed + 1);
    grain::drawn(&text, seed, &grain::FINE)
}

/// Three classes, the highest first; the lowest is of strict priority.
fn classes(dice: &mut Dice, time: Time) -> Vec<Class> {
    let small = dice.chance(40);
    let mut selection = || *dice.one_of(&["", "", "credit-based", "ats"]);
    let of = [selection(), selection()];
    let mut payload = |most| if small { 46 + dice.between(0, 200) } else { 46 + dice.between(0, most) };
    let (high, middle, low) = (payload(400), payload(1_000), payload(1_454));
    let high_class = if time == Time::Gptp { 7 } else { *dice.one_of(&[7, 6]) };
    // Messages of gPTP have no shaper.
    let of_high = if time == Time::Gptp { "" } else { of[0] };
    vec![
        Class {
            number: high_class,
            payload: high.max(if time == Time::Gptp { 112 } else { 100 }),
            selection: of_high,
        },
        Class { number: *dice.one_of(&[5, 4, 3]), payload: middle, selection: of[1] },
        Class { number: *dice.one_of(&[0, 1, 2]), payload: low, selection: "" },
    ]
}

/// The section of streams, and the greatest load of each class in bits per second.
struct Streams {
    text: String,
    load: Vec<u64>,
}

fn streams(dice: &mut Dice, classes: &[Class], shares: &[u64], rate: u64, stations: u64) -> Streams {
    let (mut text, mut load) = ("streams:\n".to_owned(), vec![0; classes.len()]);
    let count = dice.between(2, 6);
    for number in 0..count {
        let place = usize::try_from(dice.between(0, 2)).expect("few");
        let class = &classes[place];
        let talker = dice.between(0, stations - 1);
        let listener = (talker + dice.between(1, stations - 1)) % stations;
        let most = class.payload;
        let least = if dice.chance(30) { dice.between(1, most) } else { most };
        // A part of what its class gets of the line.
        let own = rate * 1_000 * shares[place] * dice.between(30, 250) / 1_000 / count;
        load[place] += own.max(1_000);
        let payload = (least, most);
        let stream = ShapedStream { number, talker, listener, priority: class.number, payload, rate: own };
        stream.write(&mut text, dice);
    }
    Streams { text, load }
}

fn write_devices(text: &mut String, dice: &mut Dice) {
    let switching = if dice.chance(25) { "cut-through" } else { "store-and-forward" };
    let tie = dice.one_of(&["arrival-order", "arrival-order", "round-robin", "lowest-port"]);
    let organisation = dice.one_of(&["eligibility-ordered", "interleaved-regulators"]);
    let overhead = dice.one_of(&[20, 20, 8, 0]);
    let latency = dice.between(0, 2_000);
    let _ = writeln!(
        text,
        "devices:\n  drawn:\n    switching: {switching}\n    tie-rule: {tie}\n    credit-charged-overhead: {overhead} B\n    \
         stages: [{{name: forwarding, position: processing, latency: {latency} ns}}]\n    \
         ats: {{organisation: {organisation}, processing-delay-max: {latency} ns}}\n    \
         gate-parameter-table: {{supported-list-max: 64, supported-interval-max: 4 s, supported-cycle-max: 5000/3 ms}}"
    );
}

/// A class's transmission selection, with an idleSlope that all its streams together do not exceed, if the line gives that while the
/// gate is open.
fn write_class(text: &mut String, class: &Class, lists: &[List], load: &[u64], place: usize, rate: u64) {
    match class.selection {
        "ats" => {
            let _ = write!(text, "{}: {{transmission-selection: ats}}, ", class.number);
        }
        "credit-based" => {
            // The smallest frame is charged most beyond the wire.
            let slope = load[place] * 84 / 64 * 11 / 10 + 1_000;
            let least = lists.iter().map(|list| list.share(class.number)).min().unwrap_or(0).max(1);
            if slope * 1_000 / least < rate * 900_000 {
                let _ = write!(
                    text,
                    "{}: {{transmission-selection: credit-based, idle-slope: {slope} bit/s}}, ",
                    class.number
                );
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_with_gates_are_valid() {
        let mut gated = 0;
        for seed in 0..400 {
            let text = random_gates(seed);
            assert_eq!(text, random_gates(seed));
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
            let network = loaded.network.expect("no errors");
            gated += usize::from(network.has_gates());
        }
        assert_eq!(gated, 400);
    }
}
