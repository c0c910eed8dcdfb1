//! Networks of SAE AS6802 of two switches with half of the synchronisation masters each, whose cable is cut and repaired.
//!
//! Half of the masters are enough for network time, or one too few: then both halves try alone while they are
//! separated, and in every second network one of them once more, because its switch stops meanwhile. Clocks of the
//! halves drift apart, and all times are drawn, so that the halves meet at any phase of their cycles.

use std::fmt::Write as _;

use crate::Dice;

/// A network of two halves; the cable between is cut at 130 ms at the latest and repaired until 380 ms.
#[must_use]
pub fn random_as6802_halves(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let half = dice.between(1, 3);
    let members = half + dice.between(0, 1);
    let cycle = dice.between(3, 8);
    let tolerance = dice.between(20, 100);
    let precision = tolerance * (6 * cycle + 160) + dice.between(800, 3_000);
    // The numbering of the halves is drawn: the half with the lower numbers tries first.
    let mut masters: Vec<String> = (0..half).flat_map(|one| [format!("a{one}"), format!("b{one}")]).collect();
    for last in (1..masters.len()).rev() {
        masters.swap(last, usize::try_from(dice.between(0, last as u64)).expect("few"));
    }
    let faulty = if half > 1 && dice.chance(30) { ", faulty-masters: 1" } else { "" };
    let mut text = format!(
        "name: halves-{seed}\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\n\
         defaults: {{rate: 100 Mbit/s, device: store-and-forward}}\n\
         time-triggered:\n  precision: {precision} ns\n  integration-cycle: {cycle} ms\n  synchronisation:\n    \
         masters: [{}]\n    compression-masters: [sa, sb]\n    members-min: {members}\n    \
         max-transmission-delay: 500 us\n    domain: 0{}\nnodes:\n",
        masters.join(", "),
        faulty.replace(", ", "\n    "),
    );
    let (fast, slow) = (dice.between(tolerance / 2, tolerance), dice.between(tolerance / 2, tolerance));
    for (side, drift) in [("a", format!("{fast}")), ("b", format!("-{slow}"))] {
        let clock = format!("clock: {{tolerance: {tolerance} ppm, drift: {drift} ppm}}");
        let _ = writeln!(text, "  s{side}: {{type: bridge, {clock}}}");
        // A client in addition to the masters.
        (0..=half).for_each(|one| {
            let _ = writeln!(text, "  {side}{one}: {{type: end-station, {clock}}}");
        });
    }
    text.push_str("links:\n  - {name: middle, between: [sa, sb], length: 50 m}\n");
    for (side, one) in ["a", "b"].iter().flat_map(|side| (0..=half).map(move |one| (side, one))) {
        let _ = writeln!(text, "  - {{between: [{side}{one}, s{side}], length: {} m}}", dice.between(1, 90));
    }
    let (talker, listener) = if dice.chance(50) { ("a", "b") } else { ("b", "a") };
    let cut = dice.between(100_000, 130_000);
    let mended = dice.between(300_000, 380_000);
    let mut again = String::new();
    if members > half && dice.chance(50) {
        let (switch, back) = (*dice.one_of(&["sa", "sb"]), dice.between(cut + 55_000, cut + 75_000));
        again = format!(
            "  - {{at: {} us, stop-node: {switch}}}\n  - {{at: {back} us, start-node: {switch}}}\n",
            cut + 50_000
        );
    }
    let _ = writeln!(
        text,
        "streams:\n  - {{name: order, talker: {talker}0, listeners: [{listener}0, {talker}{half}], payload: 100 B,\n     \
         traffic: {{type: periodic, interval: {cycle} ms}},\n     \
         time-triggered: {{id: 1, period: {cycle} ms, offset: 200 us, release: locked}}}}\n\
         events:\n  - {{at: {cut} us, cut-link: middle}}\n  - {{at: {mended} us, mend-link: middle}}\n{again}\
         run: {{duration: 700 ms, seed: {}}}",
        seed + 1
    );
    text
}
