//! Random networks of gPTP: lines of bridges with clocks that run wrong, stamps in steps or exact, PHYs that take
//! their time, and long residence times.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// The description of a seed, the step of its stamps in nanoseconds, and the links between its ends.
#[must_use]
pub fn random_gptp(seed: u64) -> (String, u64, u64) {
    let mut dice = Dice::new(seed);
    let mut phys = Dice::new(seed ^ 0x5048_5953);
    let bridges = dice.between(1, 4);
    let quantum = dice.between(0, 1) * 8;
    let mut text = String::from(
        "name: drawn\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {rate: 1 Gbit/s, clock: {tolerance: 100 ppm}}\nnodes:\n",
    );
    for (name, priority) in [("first", "end-station"), ("last", "end-station")] {
        let _ = writeln!(text, "  {name}: {{type: {priority}}}");
    }
    for bridge in 0..bridges {
        let _ = writeln!(text, "  s{bridge}: {{type: bridge}}");
    }
    text.push_str("links:\n");
    let names: Vec<String> = ["first".to_owned()]
        .into_iter()
        .chain((0..bridges).map(|bridge| format!("s{bridge}")))
        .chain(["last".to_owned()])
        .collect();
    for pair in names.windows(2) {
        let length = dice.between(1, 100);
        // The same in both directions and for every frame: part of the way, as peer delay measures it.
        let phy = if phys.chance(50) {
            let drawn = phys.between(1, 900);
            // A port that measures now less and now more than a capable one's 800 ns has its time and loses it: not near that.
            let near = (740..=860).contains(&(length * 5 + drawn));
            format!(", phy-delay: {} ns", if near { drawn - 130 } else { drawn })
        } else {
            String::new()
        };
        let _ = writeln!(text, "  - {{between: [{}, {}], length: {length} m{phy}}}", pair[0], pair[1]);
    }
    let (least, most) = (dice.between(100, 2_000), dice.between(2_001, 10_000));
    let step = if quantum > 0 { format!("stamp-quantum: {quantum} ns, ") } else { String::new() };
    let _ = writeln!(
        text,
        "gptp:\n  log-pdelay-interval: -3\n  end-stations: {{{step}processing: {{min: {least} us, max: {most} us}}}}\n  \
         bridges: {{{step}processing: {{min: {least} us, max: {most} us}}}}\n  nodes: {{first: {{priority1: 100}}}}\n\
         streams:\n  - {{name: load, talker: first, listeners: last, payload: {} B, traffic: {{type: periodic, interval: 1 ms}}}}\n\
         run: {{duration: 4 s, warm-up: 3 s}}",
        dice.between(46, 1_500)
    );
    (grain::drawn(&text, seed, &grain::FINE), quantum, bridges + 1)
}
