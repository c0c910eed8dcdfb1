//! Random networks whose end stations' clocks are corrected by a servo: trees of bridges with clocks at any rate
//! within 100 ppm, stamps in steps
//! and late, ways that are longer in one direction, PHYs that take longer for some frames, intervals and weights of
//! several kinds; some lose a message now and then.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// The description of a seed; `lossy`: cables with bit errors.
#[must_use]
pub fn random_gptp_servo(seed: u64, lossy: bool) -> String {
    let mut dice = Dice::new(seed ^ 0x510e_527f_ade6_82d1);
    let (bridges, stations) = (dice.between(1, 3), dice.between(2, 4));
    let mut text = String::from(
        "name: drawn\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {rate: 1 Gbit/s}\nnodes:\n",
    );
    for station in 0..stations {
        let (drift, offset) = (drift(&mut dice), dice.between(0, 3));
        let _ = writeln!(
            text,
            "  n{station}: {{type: end-station, clock: {{tolerance: 100 ppm, drift: {drift} ppm, offset: {offset} s}}}}"
        );
    }
    for bridge in 0..bridges {
        let _ = writeln!(
            text,
            "  s{bridge}: {{type: bridge, clock: {{tolerance: 100 ppm, drift: {} ppm}}}}",
            drift(&mut dice)
        );
    }
    text.push_str("links:\n");
    // PHYs have a delay, longer or shorter for each frame: drawn separately, so that nothing else depends on it.
    let mut phys = Dice::new(seed ^ 0x5048_5953);
    let with_phys = phys.chance(50);
    let mut phy = move || {
        if !with_phys {
            return String::new();
        }
        let least = phys.between(0, 250);
        format!(", phy-delay: {{min: {least} ns, max: {} ns}}", least + phys.between(0, 150))
    };
    let errors = if lossy { ", bit-error-rate: 2e-8" } else { "" };
    let mut link = |dice: &mut Dice, one: String, other: String| {
        let (there, back) = (dice.between(0, 400), dice.between(0, 400));
        let (phy_there, phy_back) = (phy(), phy());
        let _ = writeln!(
            text,
            "  - {{between: [{one}, {other}], forward: {{propagation-delay: {there} ns{phy_there}}}, backward: {{propagation-delay: {back} ns{phy_back}}}{errors}}}"
        );
    };
    for station in 0..stations {
        // The first and the last are as far apart as can be.
        let at = match station {
            0 => 0,
            1 => bridges - 1,
            _ => dice.between(0, bridges - 1),
        };
        link(&mut dice, format!("n{station}"), format!("s{at}"));
    }
    for bridge in 1..bridges {
        link(&mut dice, format!("s{}", bridge - 1), format!("s{bridge}"));
    }
    let (quantum, late) = (dice.between(0, 1) * dice.between(1, 40), dice.between(0, 60));
    let (least, most) = (dice.between(1, 5), dice.between(5, 20));
    let stamps = format!(
        "{{stamp-quantum: {quantum} ns, stamp-error: {{min: 0 ns, max: {late} ns}}, processing: {{min: {least} us, max: {most} us}}}}"
    );
    let weights =
        *dice.one_of(&["", "", ", proportional: 0.4, integral: 0.1", ", proportional: 0.5, integral: 0.3"]);
    let _ = writeln!(
        text,
        "gptp:\n  log-sync-interval: {}\n  log-pdelay-interval: -3\n  sample-interval: 7 ms\n  servo: {{step-min: 300 us, rate-max: 1000 ppm{weights}}}\n  \
         end-stations: {stamps}\n  bridges: {stamps}\n  nodes: {{n0: {{priority1: 100}}}}\n\
         streams:\n  - {{name: load, talker: n0, listeners: n1, frame: {} B, traffic: {{type: periodic, interval: 10 ms}}}}\n\
         run: {{duration: 16 s, warm-up: 12 s}}",
        *dice.one_of(&["-3", "-4"]),
        // With header, tag and FCS.
        dice.between(46, 1_500) + 22
    );
    grain::drawn(&text, seed, &grain::FINE)
}

/// Mostly one of the ends.
fn drift(dice: &mut Dice) -> i64 {
    let drawn = i64::try_from(dice.between(0, 200)).expect("small") - 100;
    *dice.one_of(&[-100, 100, drawn])
}
