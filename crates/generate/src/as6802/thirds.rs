//! Networks of SAE AS6802 of three switches with a part of the synchronisation masters each, whose cables are cut and repaired.
//!
//! Each part is enough for network time and continues alone. The parts separate after one start, and their clocks
//! drift as far as an acceptance window; or each starts alone, at any phase of a cycle. Cables are repaired at once or
//! one after the other, so that three cliques meet, or two and then a third. Parts are of equal size, or not.

use std::fmt::Write as _;

use crate::Dice;

const PARTS: [&str; 3] = ["a", "b", "c"];

/// A network of three parts; the cables between are cut at 130 ms at the latest and repaired until 410 ms.
#[must_use]
pub fn random_as6802_thirds(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    // One master alone keeps its time, but does not start.
    let starts_alone = dice.chance(70);
    let members = dice.between(1, 2) + u64::from(starts_alone);
    let sizes = PARTS.map(|_| members + dice.between(0, 1));
    let cycle = dice.between(3, 8);
    let tolerance = dice.between(20, 100);
    let precision = tolerance * (6 * cycle + 200) + dice.between(1_500, 4_000);
    // The numbering of the parts is drawn.
    let mut masters: Vec<String> = PARTS
        .iter()
        .zip(sizes)
        .flat_map(|(part, size)| (0..size).map(move |one| format!("{part}{one}")))
        .collect();
    for last in (1..masters.len()).rev() {
        masters.swap(last, usize::try_from(dice.between(0, last as u64)).expect("few"));
    }
    let mut text = format!(
        "name: thirds-{seed}\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\n\
         defaults: {{rate: 100 Mbit/s, device: store-and-forward}}\n\
         time-triggered:\n  precision: {precision} ns\n  integration-cycle: {cycle} ms\n  synchronisation:\n    \
         masters: [{}]\n    compression-masters: [sa, sb, sc]\n    members-min: {members}\n    \
         max-transmission-delay: 500 us\n    domain: 0\nnodes:\n",
        masters.join(", "),
    );
    let fast = i64::try_from(dice.between(tolerance / 2, tolerance)).expect("small");
    let slow = -i64::try_from(dice.between(tolerance / 2, tolerance)).expect("small");
    let between = i64::try_from(dice.between(0, tolerance / 4)).expect("small");
    for ((part, drift), size) in PARTS.iter().zip([fast, slow, between]).zip(sizes) {
        let clock = format!("clock: {{tolerance: {tolerance} ppm, drift: {drift} ppm}}");
        let _ = writeln!(text, "  s{part}: {{type: bridge, {clock}}}");
        // A client in addition to the masters.
        (0..=size).for_each(|one| {
            let _ = writeln!(text, "  {part}{one}: {{type: end-station, {clock}}}");
        });
    }
    text.push_str(
        "links:\n  - {name: first, between: [sa, sb], length: 50 m}\n  - {name: second, between: [sb, sc], length: 50 m}\n",
    );
    for (part, size) in PARTS.iter().zip(sizes) {
        for one in 0..=size {
            let _ =
                writeln!(text, "  - {{between: [{part}{one}, s{part}], length: {} m}}", dice.between(1, 90));
        }
    }
    // Parts that were one drift apart, about as far as an acceptance window; those that start alone do so at any time.
    let (cut, switches) = if starts_alone {
        let mut starts = String::new();
        for (part, size) in PARTS.iter().zip(sizes) {
            let back = dice.between(20_000, 60_000);
            let stations = (0..=size).map(|one| format!("{part}{one}"));
            for node in stations.chain([format!("s{part}")]) {
                let _ = write!(
                    starts,
                    "  - {{at: 1 us, stop-node: {node}}}\n  - {{at: {back} us, start-node: {node}}}\n"
                );
            }
        }
        (1, starts)
    } else {
        (dice.between(100_000, 130_000), String::new())
    };
    let mended = dice.between(300_000, 380_000);
    let later = if dice.chance(50) { mended } else { mended + dice.between(0, 30_000) };
    let _ = writeln!(
        text,
        "streams:\n  - {{name: order, talker: a0, listeners: [c0], payload: 100 B,\n     \
         traffic: {{type: periodic, interval: {cycle} ms}},\n     \
         time-triggered: {{id: 1, period: {cycle} ms, offset: 200 us, release: locked}}}}\n\
         events:\n  - {{at: {cut} us, cut-link: first}}\n  - {{at: {cut} us, cut-link: second}}\n{switches}  \
         - {{at: {mended} us, mend-link: first}}\n  - {{at: {later} us, mend-link: second}}\n\
         run: {{duration: 800 ms, seed: {}}}",
        seed + 1
    );
    text
}
