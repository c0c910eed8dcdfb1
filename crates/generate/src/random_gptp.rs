//! Random networks of gPTP: lines of bridges with clocks that run wrong, stamps in steps or exact, PHYs that take their time, the same in both directions
//! or another in each, which both ports may be told or not, and long residence times.

use std::fmt::Write as _;

use crate::Dice;

/// A network of a seed.
#[derive(Clone, Debug)]
pub struct GptpDraw {
    /// Its description.
    pub text: String,
    /// The step of its stamps, in nanoseconds.
    pub quantum: u64,
    /// Links between its ends.
    pub links: u64,
    /// Over all links, half of the difference of both directions that ports are not told, in nanoseconds.
    pub untold: u64,
}

/// Draws a network. PHYs take as long for one frame as for another.
#[must_use]
pub fn random_gptp(seed: u64) -> GptpDraw {
    let mut dice = Dice::new(seed);
    let mut phys = Dice::new(seed ^ 0x5048_5953);
    let bridges = dice.between(1, 4);
    let quantum = dice.between(0, 1) * 8;
    let mut text = String::from(
        "name: drawn\nnetwork-control: none\ndefaults: {rate: 1 Gbit/s, clock: {tolerance: 100 ppm}}\nnodes:\n",
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
    // What both ports of a link are told, by node.
    let mut told = vec![Vec::new(); names.len()];
    let mut untold = 0;
    for (place, pair) in names.windows(2).enumerate() {
        let length = dice.between(1, 100);
        let phy = match phys.between(0, 3) {
            0 | 1 => String::new(),
            // The same in both directions: part of the way, as peer delay measures it.
            2 => format!(", phy-delay: {} ns", phys.between(1, 900)),
            // PHYs of two makers.
            _ => {
                let (there, more) = (phys.between(1, 400), phys.between(0, 250));
                let back = there + 2 * more;
                let (there, back) = if phys.chance(50) { (there, back) } else { (back, there) };
                if phys.chance(50) {
                    let more = i64::try_from(more).expect("small");
                    let longer = if there > back { more } else { -more };
                    // How much longer than the mean the way to a port is.
                    told[place].push((if place == 0 { "p1" } else { "p2" }, -longer));
                    told[place + 1].push(("p1", longer));
                } else {
                    untold += more;
                }
                format!(", forward: {{phy-delay: {there} ns}}, backward: {{phy-delay: {back} ns}}")
            }
        };
        let _ = writeln!(text, "  - {{between: [{}, {}], length: {length} m{phy}}}", pair[0], pair[1]);
    }
    let (least, most) = (dice.between(100, 2_000), dice.between(2_001, 10_000));
    let step = if quantum > 0 { format!("stamp-quantum: {quantum} ns, ") } else { String::new() };
    let nodes: Vec<String> = names
        .iter()
        .zip(&told)
        .filter(|(name, told)| *name == "first" || !told.is_empty())
        .map(|(name, told)| {
            let ports: Vec<String> = told.iter().map(|(port, by)| format!("{port}: {by} ns")).collect();
            let master = if name == "first" { "priority1: 100" } else { "" };
            let asymmetries = if ports.is_empty() {
                String::new()
            } else {
                format!("asymmetries: {{{}}}", ports.join(", "))
            };
            let both: Vec<&str> = [master, &asymmetries].into_iter().filter(|one| !one.is_empty()).collect();
            format!("{name}: {{{}}}", both.join(", "))
        })
        .collect();
    let nodes = nodes.join(", ");
    let _ = writeln!(
        text,
        "gptp:\n  log-pdelay-interval: -3\n  end-stations: {{{step}processing: {{min: {least} us, max: {most} us}}}}\n  \
         bridges: {{{step}processing: {{min: {least} us, max: {most} us}}}}\n  nodes: {{{nodes}}}\n\
         streams:\n  - {{name: load, talker: first, listeners: last, payload: {} B, traffic: {{type: periodic, interval: 1 ms}}}}\n\
         run: {{duration: 4 s, warm-up: 3 s}}",
        dice.between(46, 1_500)
    );
    GptpDraw { text, quantum, links: bridges + 1, untold }
}
