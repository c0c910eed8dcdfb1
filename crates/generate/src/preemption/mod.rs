//! Random networks with frame preemption (IEEE Std 802.1Q-2022, 6.7.2): express and preemptable priorities in any order, minimum fragments of every
//! size, transmission selections of every kind behind them, some behind gates that hold and release.

mod narrow;

use std::fmt::Write as _;

use crate::gates::random_gates;
use crate::shaped_stream::ShapedStream;
use crate::{Dice, grain};

/// The description of a seed.
#[must_use]
pub fn random_preemption(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7072_6565_6d70);
    if dice.chance(30) { behind_gates(&mut dice, seed) } else { plain(&mut dice, seed) }
}

/// The description of a seed, always with gates.
#[must_use]
pub fn random_preemption_behind_gates(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x6375_7467_6174);
    if dice.chance(50) { narrow::narrow(&mut dice, seed) } else { behind_gates(&mut dice, seed) }
}

/// The description of a seed, whose links are verified in the run: from its start, or when a link or a node comes back.
#[must_use]
pub fn random_verification(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7665_7269_6679);
    let text = if dice.chance(15) { behind_gates(&mut dice, seed) } else { plain(&mut dice, seed) };
    let mut text = text.replacen("preemption-", "verification-", 1);
    if dice.chance(75)
        && let (Some(from), Some(to)) = (text.find("status-table: {"), text.find("}\n    add-frag-size"))
    {
        let most = dice.between(1, 3);
        let low: Vec<String> = (0..most).map(|priority| format!("priority{priority}: preemptable")).collect();
        text.replace_range(from..to, &format!("status-table: {{{}", low.join(", ")));
    }
    let (at_start, time) = (dice.chance(75), dice.between(1, 6));
    let keys = format!("    verify-at-start: {at_start}\n    verify-time: {time} ms\n");
    let place = "  frame-preemption-parameters:\n";
    text = text.replacen(place, &format!("{place}{keys}"), 1);
    let errs = if dice.chance(30) { "bit-error-rate: 5e-4, " } else { "" };
    text = text.replacen("  - {between: [", &format!("  - {{name: failing, {errs}between: ["), 1);
    if text.contains("events:") || at_start && dice.chance(50) {
        return text;
    }
    let at = dice.between(3_000, 15_000);
    let back = at + dice.between(1, 9_000);
    let (down, up) =
        *dice.one_of(&[("cut-link: failing", "mend-link: failing"), ("stop-node: b0", "start-node: b0")]);
    let _ = writeln!(text, "events:\n  - {{at: {at} us, {down}}}\n  - {{at: {back} us, {up}}}");
    text
}

/// A network with gates whose ports preempt, too.
fn behind_gates(dice: &mut Dice, seed: u64) -> String {
    let text = random_gates(seed).replacen("gates-", "preemption-", 1);
    // Frames that are cut through are sent on before they are whole.
    let text = text.replace("switching: cut-through", "switching: store-and-forward");
    let mut parameters = String::new();
    write_parameters(&mut parameters, dice, "  ");
    let text = text.replacen(
        "  traffic-class-table: identity\n",
        &format!("  traffic-class-table: identity\n{parameters}"),
        1,
    );
    let mut operations = text.split("{gate-states").collect::<Vec<_>>().into_iter();
    let mut with = operations.next().unwrap_or_default().to_owned();
    for rest in operations {
        let operation =
            *dice.one_of(&["", "", "operation: set-and-hold-mac, ", "operation: set-and-release-mac, "]);
        let _ = write!(with, "{{{operation}gate-states{rest}");
    }
    with
}

/// One without gates.
fn plain(dice: &mut Dice, seed: u64) -> String {
    let rate = *dice.one_of(&[100, 100, 100, 1_000]);
    let (bridges, stations) = (dice.between(1, 3), dice.between(2, 5));
    let mut text = format!("name: preemption-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}}}\n");
    let tie = dice.one_of(&["arrival-order", "arrival-order", "round-robin", "lowest-port"]);
    let organisation = dice.one_of(&["eligibility-ordered", "interleaved-regulators"]);
    let (overhead, latency) = (dice.one_of(&[20, 20, 8, 0, 30]), dice.between(0, 2_000));
    let _ = writeln!(
        text,
        "devices:\n  drawn:\n    tie-rule: {tie}\n    credit-charged-overhead: {overhead} B\n    \
         stages: [{{name: forwarding, position: processing, latency: {latency} ns}}]\n    \
         ats: {{organisation: {organisation}, processing-delay-max: {latency} ns}}"
    );
    let classes = dice.between(1, 8);
    let _ =
        writeln!(text, "defaults:\n  rate: {rate} Mbit/s\n  device: drawn\n  traffic-class-table: identity");
    write_parameters(&mut text, dice, "  ");
    // Some stations have slower lines.
    let is_slow = rate == 1_000 && dice.chance(40);
    let streams = streams(dice, if is_slow { 100 } else { rate }, (classes, stations));
    text.push_str("  classes: {");
    for (class, load) in streams.load.iter().enumerate() {
        match dice.between(0, 5) {
            0 => {
                let _ = write!(text, "{class}: {{transmission-selection: ats}}, ");
            }
            1 if *load > 0 => {
                // The smallest frame is charged most beyond the wire.
                let slope = load * 94 / 64 * 11 / 10 + 1_000;
                let _ = write!(
                    text,
                    "{class}: {{transmission-selection: credit-based, idle-slope: {slope} bit/s}}, "
                );
            }
            _ => {}
        }
    }
    text.push_str("}\nnodes:\n");
    let tolerance = *dice.one_of(&[0, 0, 100]);
    for bridge in 0..bridges {
        let _ = writeln!(text, "  b{bridge}:\n    type: bridge");
        write_node(&mut text, dice, tolerance);
    }
    for station in 0..stations {
        let _ = writeln!(text, "  e{station}:\n    type: end-station");
        write_node(&mut text, dice, tolerance);
    }
    text.push_str("links:\n");
    for bridge in 1..bridges {
        let _ = writeln!(text, "  - {{between: [b{}, b{bridge}]}}", bridge - 1);
    }
    for station in 0..stations {
        let phy = if dice.chance(20) { ", phy-delay: {min: 200 ns, max: 500 ns}" } else { "" };
        let slow = if is_slow && dice.chance(50) { ", rate: 100 Mbit/s" } else { "" };
        let _ = writeln!(text, "  - {{between: [e{station}, b{}]{phy}{slow}}}", dice.between(0, bridges - 1));
    }
    text.push_str(&streams.text);
    let _ = writeln!(text, "run: {{duration: 40 ms, seed: {}}}", seed + 1);
    grain::drawn(&text, seed, &grain::FINE)
}

/// Frame preemption of defaults, or of a node.
fn write_parameters(text: &mut String, dice: &mut Dice, indent: &str) {
    let few = dice.chance(50);
    let statuses: Vec<String> = (0..8)
        .filter_map(|priority| {
            let preemptable = if few { priority < 3 } else { dice.chance(50) };
            let status = if preemptable { "preemptable" } else { "express" };
            (preemptable || dice.chance(10)).then(|| format!("priority{priority}: {status}"))
        })
        .collect();
    let size = dice.one_of(&[0, 0, 1, 2, 3]);
    let _ = writeln!(
        text,
        "{indent}frame-preemption-parameters:\n{indent}  frame-preemption-status-table: {{{}}}\n{indent}  add-frag-size: {size}",
        statuses.join(", ")
    );
    if dice.chance(40) {
        let (hold, release) = (dice.between(0, 30_000), dice.between(0, 5_000));
        let _ = writeln!(text, "{indent}  hold-advance: {hold} ns\n{indent}  release-advance: {release} ns");
    }
}

/// A clock at one end of its tolerance, and what a node does without.
fn write_node(text: &mut String, dice: &mut Dice, tolerance: u64) {
    let drift = dice.between(0, 2);
    if tolerance > 0 && drift < 2 {
        let sign = if drift == 0 { "" } else { "-" };
        let _ = writeln!(text, "    clock: {{tolerance: {tolerance} ppm, drift: {sign}{tolerance} ppm}}");
    }
    match dice.between(0, 11) {
        0 => text.push_str("    frame-preemption-parameters: {enable-tx: false}\n"),
        1 => text.push_str("    frame-preemption-parameters: {verify-disable-tx: false, support: false}\n"),
        2 => text.push_str("    frame-preemption-parameters: {add-frag-size: 1}\n"),
        _ => {}
    }
}

/// The section of streams, and the greatest load of each class in bits per second.
struct Streams {
    text: String,
    load: [u64; 8],
}

fn streams(dice: &mut Dice, rate: u64, (classes, stations): (u64, u64)) -> Streams {
    let (mut text, mut load) = ("streams:\n".to_owned(), [0; 8]);
    let count = dice.between(2, 8);
    let small = dice.chance(30);
    for number in 0..count {
        let class = dice.between(0, classes - 1);
        let talker = dice.between(0, stations - 1);
        let listener = (talker + dice.between(1, stations - 1)) % stations;
        let most =
            if small || dice.chance(30) { 46 + dice.between(0, 300) } else { 46 + dice.between(0, 1_454) };
        let least = if dice.chance(30) { dice.between(1, most) } else { most };
        let own = (rate * 1_000 * dice.between(30, 700) / count).min(rate * 60_000);
        load[usize::try_from(class).expect("below eight")] += own.max(1_000);
        let payload = (least, most);
        let stream = ShapedStream { number, talker, listener, priority: class, payload, rate: own };
        stream.write(&mut text, dice);
    }
    Streams { text, load }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_with_preemption_are_valid() {
        let mut preempting = 0;
        for seed in 0..400 {
            let text = match seed % 3 {
                0 => random_preemption(seed),
                1 => random_preemption_behind_gates(seed),
                _ => random_verification(seed),
            };
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
            preempting += usize::from(loaded.network.expect("no errors").has_preemption());
        }
        assert!(preempting > 360, "{preempting}");
    }
}
