//! Random networks in which long bursts meet over several queues: lines and trees of bridges, some closed to a ring, with streams that join
//! and leave anywhere, of links with several rates.
//!
//! All talkers begin at once or at drawn phases, and send their bursts as fast as they can. Classes are few, so that many streams share a
//! queue on several bridges.

use std::fmt::Write as _;

use crate::Dice;

/// A random network of long paths: the same text for the same seed.
#[must_use]
pub fn random_paths(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7061_7468);
    let bridges = dice.between(2, 6);
    let is_line = dice.chance(60);
    // Of each bridge behind the first, the one that it is linked to.
    let trunks: Vec<(u64, u64)> = (1..bridges)
        .map(|bridge| (if is_line { bridge - 1 } else { dice.between(0, bridge - 1) }, bridge))
        .collect();
    let closing = (bridges > 2 && dice.chance(15)).then_some((0, bridges - 1));
    let rates = if dice.chance(50) { [100, 100, 100] } else { [100, 1_000, 1_000] };
    let tolerance = *dice.one_of(&[0, 0, 100, 1_000]);
    let stations = dice.between(bridges, 2 * bridges + 2);
    let mut text = format!("name: paths-{seed}\nnetwork-control: none\n");
    // Otherwise tags go on the last line.
    if dice.chance(60) {
        text.push_str("vlans: {1: {tagged: all}}\n");
    }
    let _ = writeln!(text, "defaults: {{clock: {{tolerance: {tolerance} ppm}}}}\nnodes:");
    for bridge in 0..bridges {
        let _ = writeln!(text, "  b{bridge}: {{type: bridge}}");
    }
    for station in 0..stations {
        let _ = writeln!(text, "  e{station}: {{type: end-station}}");
    }
    text.push_str("links:\n");
    let mut slowest = 1_000;
    let mut link = |one: String, other: String, dice: &mut Dice| {
        let rate = *dice.one_of(&rates);
        slowest = slowest.min(rate);
        format!("  - {{between: [{one}, {other}], rate: {rate} Mbit/s, length: {} m}}\n", dice.between(1, 50))
    };
    for (one, other) in trunks.iter().copied().chain(closing) {
        text += &link(format!("b{one}"), format!("b{other}"), &mut dice);
    }
    for station in 0..stations {
        // Each bridge has one, the others have any.
        let bridge = if station < bridges { station } else { dice.between(0, bridges - 1) };
        text += &link(format!("e{station}"), format!("b{bridge}"), &mut dice);
    }
    text.push_str("streams:\n");
    let count = dice.between(3, 9);
    let priorities = if dice.chance(60) { [5, 5, 5, 5] } else { [5, 5, 3, 6] };
    let share = dice.between(30, 90);
    for number in 0..count {
        let talker = dice.between(0, stations - 1);
        let listener = (talker + dice.between(1, stations - 1)) % stations;
        let most = *dice.one_of(&[46, 200, 700, 1_500]);
        let payload =
            if dice.chance(20) { format!("{{min: 46 B, max: {most} B}}") } else { format!("{most} B") };
        let burst = *dice.one_of(&[1, 2, 5, 10, 20]);
        // Bits of its burst on the line, at its share of the slowest one.
        let bits = burst * (most.max(46) + 42) * 8;
        let interval = (bits * count * 100).div_ceil(slowest * share);
        let phase = if dice.chance(50) {
            format!(", offset: {} us", dice.between(0, interval))
        } else {
            String::new()
        };
        let traffic = match dice.between(0, 3) {
            0 => format!(
                "{{type: greedy}}, arrival-curve: {{rate: {} kbit/s, burst: {bits} bit}}",
                bits * 1_000 / interval
            ),
            _ => format!("{{type: periodic, interval: {interval} us, burst: {burst}{phase}}}"),
        };
        let _ = writeln!(
            text,
            "  - {{name: s{number}, talker: e{talker}, listeners: e{listener}, priority: {}, payload: {payload}, traffic: {traffic}}}",
            dice.one_of(&priorities)
        );
    }
    let _ = writeln!(text, "run: {{duration: 20 ms, seed: {}}}", seed % 1_000);
    text
}
