//! Random networks that admit streams in a run, of all three kinds, without losses: bridges among themselves, with and
//! without nodes that poll their timers in steps, a CNC with a CUC or with users that speak MSRP, and HaRTES. For the
//! search for an admission that takes longer than its bound.

use std::fmt::Write as _;

use crate::{Dice, random_harts_admission, random_stream_reservation};

/// The description of a seed.
#[must_use]
pub fn random_admission(seed: u64) -> String {
    match seed % 3 {
        0 => harts(seed),
        1 => distributed(seed),
        _ => central(seed),
    }
}

/// A description without its events.
fn without_events(text: &str) -> String {
    let mut within = false;
    let kept = text.lines().filter(|line| {
        within = line.starts_with("events:") || (within && line.starts_with(' '));
        !within
    });
    kept.fold(String::new(), |text, line| text + line + "\n")
}

/// A description without failures and bit errors, and with a long patience.
fn harts(seed: u64) -> String {
    let mut kept = String::new();
    for line in without_events(&random_harts_admission(seed)).lines() {
        kept.push_str(line.split(", bit-error-rate").next().expect("a part"));
        kept.push_str(if line.contains(", bit-error-rate") { "}\n" } else { "\n" });
    }
    let kept = kept.replace("patience: 6 ms", "patience: 120 ms").replace("alive: 2 ms", "alive: 40 ms");
    kept.replace("run: {duration: 60 ms}", "run: {duration: 150 ms}")
}

/// Streams that may be refused, and no cable that is cut.
fn without_cuts(seed: u64) -> String {
    without_events(&random_stream_reservation(seed))
        .replace(", rank: emergency", "")
        .replace("  shaping: reserved\n", "")
}

fn distributed(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x4d53_5250);
    let mut text = without_cuts(seed);
    for part in ["  bridges: {", "  end-stations: {"] {
        let mut drawn = String::new();
        if dice.chance(40) {
            let _ = write!(drawn, "tick: {} us, ", dice.between(50, 900));
            if dice.chance(30) {
                drawn.push_str("tick-restarts: true, ");
            }
        }
        if dice.chance(30) {
            let _ = write!(drawn, "join-delay: {} us, ", dice.between(100, 3_000));
        }
        if dice.chance(50) {
            let _ = write!(drawn, "talker-processing: {{min: 1 us, max: {} us}}, ", dice.between(2, 90));
        }
        text = text.replace(part, &format!("{part}{drawn}"));
    }
    text
}

fn central(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x434e_4331);
    let text = without_cuts(seed);
    let mut model = String::from("stream-reservation:\n");
    let computation = dice.between(20, 900);
    let (of_cnc, of_cuc) = (dice.between(1, 90), dice.between(1, 90));
    let with_users = dice.chance(60);
    let kind = if with_users { "fully-centralized" } else { "centralized-network-distributed-user" };
    let _ = write!(
        model,
        "  model: {kind}\n  cnc: {{node: c, processing: {of_cnc} us, computation: {{min: 10 us, max: {computation} us}}}}\n  \
         management: {{message-size: {} B, pace: {} ms, retry: 60 ms}}\n",
        dice.between(64, 300),
        dice.between(2, 4)
    );
    if with_users {
        let node = if dice.chance(50) { "c" } else { "u" };
        let _ = writeln!(model, "  cuc: {{node: {node}, processing: {of_cuc} us}}");
    }
    let configuration = dice.between(5, 900);
    let bridges = format!("  bridges: {{configuration: {{min: 5 us, max: {configuration} us}}, ");
    let text = text.replace("stream-reservation:\n", &model).replace("  bridges: {", &bridges);
    let text = text.replacen("nodes:\n", "nodes:\n  c: {type: end-station}\n  u: {type: end-station}\n", 1);
    text.replacen("links:\n", "links:\n  - {between: [c, s0]}\n  - {between: [u, s0]}\n", 1)
}
