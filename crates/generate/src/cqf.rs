//! Random networks that forward in cycles (IEEE Std 802.1Q-2022, Annex T): bridges in a row, talkers anywhere in the cycle, lower traffic,
//! lines and stages of random delay, clocks with a phase error. Half of them have more than two buffers, and lines of many kilometres.
//!
//! Every condition of a cycle holds: each talker has a stream alone, and all frames of the network fit into a cycle behind a lower one.

use std::fmt::Write as _;

use crate::Dice;

/// Octets of tag, header, FCS, preamble and gap.
const OVERHEAD: u64 = 42;

/// Octets of the gap behind a frame, and of the smallest frame with its preamble.
const GAP: u64 = 12;
const SMALLEST: u64 = 72;

/// What nodes have in common; times in nanoseconds.
struct Cycles {
    rate: u64,
    cycle: u64,
    base: u64,
    dead: u64,
    precision: u64,
    bridges: u64,
    buffers: u64,
    /// Lengths of links in metres.
    lengths: Vec<u64>,
    /// The longest delay of PHYs, and the least and greatest of a bridge.
    phy: u64,
    forwarding: (u64, u64),
}

/// The description of a seed.
#[must_use]
pub fn random_cycles(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x6379_636c_6573);
    let (cycles, is_stated) = if dice.chance(50) { long_lines(&mut dice) } else { short_lines(&mut dice) };
    let mut others = Dice::new(seed ^ 0x6371_6670);
    let lower_ones = (8 - cycles.buffers).min(5);
    let merge = if others.chance(30) { Some(merge_sublayer(&mut others, lower_ones)) } else { None };
    let mut text = format!("name: cycles-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}}}\n");
    let _ = writeln!(
        text,
        "devices: {{switch: {{stages: [{{name: forwarding, position: processing, latency: {{min: {} ns, max: {} ns}}}}]}}}}",
        cycles.forwarding.0, cycles.forwarding.1
    );
    let _ = writeln!(
        text,
        "defaults: {{rate: {} Mbit/s, traffic-class-table: identity, device: switch{}}}",
        cycles.rate,
        merge.as_deref().unwrap_or_default()
    );
    write_section(&mut text, &mut dice, &cycles, is_stated);
    let (pairs, lower) = (dice.between(1, 6), dice.between(0, 2));
    write_nodes(&mut text, &mut dice, &cycles, (pairs, lower));
    text.push_str("streams:\n");
    text.push_str(&streams(&mut dice, &cycles, (pairs, lower), merge.is_some()));
    text.push_str("run: {duration: 30 ms}\n");
    text
}

/// Two buffers, and a dead time in which every line brings its last frame; and whether it is stated.
fn short_lines(dice: &mut Dice) -> (Cycles, bool) {
    let rate = *dice.one_of(&[100, 100, 1_000]);
    let cycle = *dice.one_of(&[125_000, 200_000, 250_000, 500_000]);
    let length = *dice.one_of(&[0, 1, 20, 300]);
    let (phy, forwarding) = (*dice.one_of(&[0, 0, 400]), *dice.one_of(&[0, 2_000, 5_000]));
    let precision = spread(dice, rate);
    // A frame is received a nanosecond before the next cycle begins.
    let needed = length * 5 + phy + forwarding.max(1) + precision;
    let extra = *dice.one_of(&[0, 0, 2_000]);
    let base = *dice.one_of(&[0, 0, 1_000_000]);
    let (bridges, lengths) = (dice.between(1, 4), vec![length]);
    let (dead, forwarding) = (needed + extra, (0, forwarding));
    (Cycles { rate, cycle, base, dead, precision, bridges, buffers: 2, lengths, phy, forwarding }, extra > 0)
}

/// Lines that are longer than a cycle, or bridges whose delay varies by more than the dead time; as many buffers as these need, or one more.
fn long_lines(dice: &mut Dice) -> (Cycles, bool) {
    let rate = *dice.one_of(&[100, 100, 1_000]);
    let cycle = *dice.one_of(&[125_000, 200_000, 250_000]);
    let lengths = (0..4).map(|_| *dice.one_of(&[0, 20, 5_000, 20_000, 30_000, 80_000])).collect();
    let phy = *dice.one_of(&[0, 0, 400, 6_000]);
    let forwarding = *dice.one_of(&[(0, 0), (0, 5_000), (2_000, 60_000), (100_000, 100_000), (0, 300_000)]);
    let precision = spread(dice, rate);
    let least = SMALLEST * 8_000 / rate;
    let needed = (phy + 2 * precision + 2).saturating_sub(least);
    let dead = needed + *dice.one_of(&[0, 0, 2_000, 20_000]);
    let base = *dice.one_of(&[0, 0, 1_000_000]);
    let bridges = dice.between(1, 4);
    let mut cycles =
        Cycles { rate, cycle, base, dead, precision, bridges, buffers: 0, lengths, phy, forwarding };
    if cycles.buffers_min() > 6 {
        cycles.forwarding = (0, 5_000);
    }
    cycles.buffers = (cycles.buffers_min() + dice.between(0, 1)).clamp(3, 6);
    // By default it is the least: none.
    (cycles, dead > 0)
}

/// A phase error that is shorter than the smallest frame.
fn spread(dice: &mut Dice, rate: u64) -> u64 {
    *dice.one_of(&[0, 0, 500, if rate == 100 { 3_000 } else { 100 }])
}

impl Cycles {
    /// A buffer is sent while none is filled that may come then.
    fn buffers_min(&self) -> u64 {
        let of = |length: &u64| {
            let latest = length * 5 + self.phy + self.forwarding.1 + self.precision;
            let later = 1 + latest.saturating_sub(self.dead).div_ceil(self.cycle);
            let earliest = length * 5 + SMALLEST * 8_000 / self.rate + self.forwarding.0 + self.dead;
            later + 1 - (earliest.saturating_sub(self.precision) / self.cycle).min(later)
        };
        self.lengths.iter().map(of).max().unwrap_or(2)
    }

    /// The priorities of the buffers, in the order in which they are sent.
    fn priorities(&self, dice: &mut Dice) -> String {
        if self.buffers == 2 {
            return (*dice.one_of(&["6, 7", "7, 6", "5, 6"])).to_owned();
        }
        let first = dice.between(0, self.buffers - 1);
        let number = |place: u64| (8 - self.buffers + (first + place) % self.buffers).to_string();
        let mut all: Vec<String> = (0..self.buffers).map(number).collect();
        if dice.chance(30) {
            all.reverse();
        }
        all.join(", ")
    }
}

fn write_section(text: &mut String, dice: &mut Dice, cycles: &Cycles, is_stated: bool) {
    let _ = writeln!(text, "cyclic-queuing-and-forwarding:\n  cycle-time: {} ns", cycles.cycle);
    let _ = writeln!(text, "  priorities: [{}]", cycles.priorities(dice));
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
fn write_nodes(text: &mut String, dice: &mut Dice, cycles: &Cycles, (pairs, lower): (u64, u64)) {
    let mut links = String::new();
    let line = |dice: &mut Dice| {
        let length = dice.one_of(&cycles.lengths);
        format!("length: {length} m, phy-delay: {{min: 0 ns, max: {} ns}}", cycles.phy)
    };
    text.push_str("nodes:\n");
    for bridge in 0..cycles.bridges {
        let _ = writeln!(text, "  s{bridge}: {{type: bridge, {}}}", clock(dice, cycles));
        if bridge > 0 {
            let _ = writeln!(links, "  - {{between: [s{}, s{bridge}], {}}}", bridge - 1, line(dice));
        }
    }
    let stations = (0..pairs).flat_map(|pair| [format!("a{pair}"), format!("b{pair}")]);
    for name in stations.chain((0..lower).map(|number| format!("c{number}"))) {
        let _ = writeln!(text, "  {name}: {{type: end-station}}");
        let bridge = dice.between(0, cycles.bridges - 1);
        let _ = writeln!(links, "  - {{between: [{name}, s{bridge}], {}}}", line(dice));
    }
    let _ = write!(text, "links:\n{links}");
}

fn clock(dice: &mut Dice, cycles: &Cycles) -> String {
    format!("clock: {{offset: {} ns}}", dice.between(0, cycles.precision))
}

/// Frame preemption of all ports, with every lower class preemptable.
fn merge_sublayer(dice: &mut Dice, lower: u64) -> String {
    let table: Vec<String> = (0..lower).map(|priority| format!("priority{priority}: preemptable")).collect();
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
        // The last gap may lie in the dead time, as far as that takes it.
        let gap = if cycles.dead * cycles.rate >= GAP * 8_000 { GAP } else { 0 };
        let sent = (frames * (payload + OVERHEAD) - gap) * 8_000 / cycles.rate;
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
        let first = if cycles.buffers == 2 { 4 } else { 8 };
        let offset = cycles.base + first * cycles.cycle + place;
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
            dice.between(0, (7 - cycles.buffers).min(4))
        );
    }
    text
}
