//! Random networks that forward in cycles (IEEE Std 802.1Q-2022, Annex T): bridges in a row, talkers anywhere in the cycle, lower traffic,
//! lines and stages of random delay, clocks with a phase error.
//!
//! Every condition of a cycle holds: each talker has a stream alone, and all frames of the network fit into a cycle behind a lower one.

use std::fmt::Write as _;

use crate::Dice;

/// Octets of tag, header, FCS, preamble and gap.
const OVERHEAD: u64 = 42;

/// What nodes have in common; times in nanoseconds.
struct Cycles {
    rate: u64,
    cycle: u64,
    base: u64,
    dead: u64,
    precision: u64,
    bridges: u64,
}

/// The description of a seed.
#[must_use]
pub fn random_cycles(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x6379_636c_6573);
    let rate = *dice.one_of(&[100, 100, 1_000]);
    let cycle = *dice.one_of(&[125_000, 200_000, 250_000, 500_000]);
    let length = *dice.one_of(&[0, 1, 20, 300]);
    let (phy, forwarding) = (*dice.one_of(&[0, 0, 400]), *dice.one_of(&[0, 2_000, 5_000]));
    // The smallest frame is longer than the phase error.
    let spread = *dice.one_of(&[0, 0, 500, if rate == 100 { 3_000 } else { 100 }]);
    let needed = length * 5 + phy + forwarding + spread;
    let extra = *dice.one_of(&[0, 0, 2_000]);
    let base = *dice.one_of(&[0, 0, 1_000_000]);
    let bridges = dice.between(1, 4);
    let cycles = Cycles { rate, cycle, base, dead: needed + extra, precision: spread, bridges };
    let mut others = Dice::new(seed ^ 0x6371_6670);
    let merge = if others.chance(30) { Some(merge_sublayer(&mut others)) } else { None };
    let mut text = format!("name: cycles-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}}}\n");
    let _ = writeln!(
        text,
        "devices: {{switch: {{stages: [{{name: forwarding, position: processing, latency: {{min: 0 ns, max: {forwarding} ns}}}}]}}}}"
    );
    let _ = writeln!(
        text,
        "defaults: {{rate: {rate} Mbit/s, traffic-class-table: identity, device: switch{}}}",
        merge.as_deref().unwrap_or_default()
    );
    write_section(&mut text, &mut dice, &cycles, extra > 0);
    let (pairs, lower) = (dice.between(1, 6), dice.between(0, 2));
    let line = format!("length: {length} m, phy-delay: {{min: 0 ns, max: {phy} ns}}");
    write_nodes(&mut text, &mut dice, &cycles, (pairs, lower), &line);
    text.push_str("streams:\n");
    text.push_str(&streams(&mut dice, &cycles, (pairs, lower), merge.is_some()));
    text.push_str("run: {duration: 30 ms}\n");
    text
}

fn write_section(text: &mut String, dice: &mut Dice, cycles: &Cycles, is_stated: bool) {
    let _ = writeln!(text, "cyclic-queuing-and-forwarding:\n  cycle-time: {} ns", cycles.cycle);
    let _ = writeln!(text, "  priorities: [{}]", dice.one_of(&["6, 7", "7, 6", "5, 6"]));
    if cycles.base > 0 {
        let _ = writeln!(text, "  base-time: {} ns", cycles.base);
    }
    if is_stated {
        let _ = writeln!(text, "  dead-time: {} ns", cycles.dead);
    }
    if is_stated || cycles.precision > 0 {
        let _ = writeln!(text, "  precision: {} ns", cycles.precision);
    }
    if dice.chance(30) {
        let all: Vec<String> = (0..cycles.bridges).map(|bridge| format!("s{bridge}")).collect();
        let _ = writeln!(text, "  bridges: [{}]", all.join(", "));
    }
}

/// Bridges in a row; talkers, listeners and lower talkers at any of them.
fn write_nodes(text: &mut String, dice: &mut Dice, cycles: &Cycles, (pairs, lower): (u64, u64), line: &str) {
    let mut links = String::new();
    text.push_str("nodes:\n");
    for bridge in 0..cycles.bridges {
        let _ = writeln!(text, "  s{bridge}: {{type: bridge, {}}}", clock(dice, cycles));
        if bridge > 0 {
            let _ = writeln!(links, "  - {{between: [s{}, s{bridge}], {line}}}", bridge - 1);
        }
    }
    let stations = (0..pairs).flat_map(|pair| [format!("a{pair}"), format!("b{pair}")]);
    for name in stations.chain((0..lower).map(|number| format!("c{number}"))) {
        let _ = writeln!(text, "  {name}: {{type: end-station}}");
        let bridge = dice.between(0, cycles.bridges - 1);
        let _ = writeln!(links, "  - {{between: [{name}, s{bridge}], {line}}}");
    }
    let _ = write!(text, "links:\n{links}");
}

fn clock(dice: &mut Dice, cycles: &Cycles) -> String {
    format!("clock: {{offset: {} ns}}", dice.between(0, cycles.precision))
}

/// Frame preemption of all ports, with every lower class preemptable.
fn merge_sublayer(dice: &mut Dice) -> String {
    let table: Vec<String> = (0..5).map(|priority| format!("priority{priority}: preemptable")).collect();
    let size = dice.between(0, 3);
    format!(
        ", frame-preemption-parameters: {{frame-preemption-status-table: {{{}}}, add-frag-size: {size}}}",
        table.join(", ")
    )
}

fn streams(dice: &mut Dice, cycles: &Cycles, (pairs, lower): (u64, u64), are_cut: bool) -> String {
    let mut text = String::new();
    // Octets of the wire in half a cycle.
    let all = cycles.cycle * cycles.rate / 16_000;
    for pair in 0..pairs {
        let divided = dice.chance(15);
        let frames = if divided { 2 } else { *dice.one_of(&[1, 1, 1, 2]) };
        let most = (all / pairs / frames).saturating_sub(OVERHEAD + 4).clamp(46, 1_500);
        // Both frames of a cycle that has two are taken to leave behind the second one.
        let half = (cycles.cycle * cycles.rate / 64_000).saturating_sub(OVERHEAD).max(46);
        let payload = dice.between(46, if divided { most.min(half) } else { most });
        let sent = frames * (payload + OVERHEAD) * 8_000 / cycles.rate + 1;
        let (interval, last) = if divided {
            (cycles.cycle / 2, cycles.cycle / 2)
        } else {
            (cycles.cycle * *dice.one_of(&[1, 1, 2, 3]), 0)
        };
        let room = cycles.cycle.saturating_sub(cycles.dead + sent + last);
        let jitter = if dice.chance(40) { dice.between(0, room) } else { 0 };
        let place = match dice.between(0, 2) {
            0 => 0,
            1 => room - jitter,
            _ => dice.between(0, room - jitter),
        };
        let offset = cycles.base + 4 * cycles.cycle + place;
        let burst = if divided { 1 } else { frames };
        let listener = dice.between(0, pairs - 1);
        let _ = writeln!(
            text,
            "  - {{name: f{pair}, talker: a{pair}, listeners: b{listener}, priority: 6, payload: {payload} B, traffic: {{type: periodic, \
             interval: {interval} ns, burst: {burst}, offset: {offset} ns, jitter: {jitter} ns}}}}"
        );
    }
    // A lower frame takes a fifth of a cycle at most, or is cut.
    let most = if are_cut { 1_500 } else { (all * 2 / 5).saturating_sub(OVERHEAD).clamp(46, 1_500) };
    for number in 0..lower {
        let listener = dice.between(0, pairs - 1);
        let payload = dice.between(46, most);
        let interval = if are_cut {
            (payload + OVERHEAD) * 8_000 / cycles.rate * dice.between(5, 12)
        } else {
            dice.between(cycles.cycle / 2, cycles.cycle * 2)
        };
        let _ = writeln!(
            text,
            "  - {{name: g{number}, talker: c{number}, listeners: b{listener}, priority: {}, payload: {payload} B, traffic: {{type: periodic, \
             interval: {interval} ns}}}}",
            dice.between(0, 4)
        );
    }
    text
}
