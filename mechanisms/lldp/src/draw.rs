//! Random networks with LLDP: lines of bridges, slow links that its frames fill, every key of its section drawn, nodes
//! and links that come and go, and streams in lower classes and in the same class.

use std::fmt::Write as _;

use tautwire_generate::Dice;

const STATUSES: [&str; 6] = ["tx-and-rx", "tx-and-rx", "tx-and-rx", "tx-only", "rx-only", "disabled"];

pub(crate) fn draw(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x6c6c_6470);
    let bridges = dice.between(1, 3);
    let tolerance = *dice.one_of(&["0 ppm", "100 ppm", "1000 ppm"]);
    let granularity = *dice.one_of(&["", ", granularity: 100 ns", ", granularity: 1 ms"]);
    let mut text = format!(
        "name: drawn\ndefaults: {{rate: {}, clock: {{tolerance: {tolerance}{granularity}}}}}\nnodes:\n  a: {{type: end-station}}\n  b: {{type: end-station}}\n",
        dice.one_of(&["10 Mbit/s", "10 Mbit/s", "100 Mbit/s", "1 Gbit/s"]),
    );
    for bridge in 0..bridges {
        let _ = writeln!(text, "  s{bridge}: {{type: bridge}}");
    }
    text.push_str("links:\n");
    let names: Vec<String> = ["a".to_owned()]
        .into_iter()
        .chain((0..bridges).map(|bridge| format!("s{bridge}")))
        .chain(["b".to_owned()])
        .collect();
    for (number, pair) in names.windows(2).enumerate() {
        let _ = writeln!(
            text,
            "  - {{name: l{number}, between: [{}, {}], length: {} m}}",
            pair[0],
            pair[1],
            dice.between(1, 100)
        );
    }
    section(&mut text, &mut dice, bridges);
    text.push_str("streams:\n");
    for stream in 0..dice.between(1, 3) {
        let priority = dice.between(0, 7);
        let interval = dice.between(20, 400);
        let _ = writeln!(
            text,
            "  - {{name: x{stream}, talker: a, listeners: b, priority: {priority}, payload: {} B, traffic: {{type: periodic, interval: {interval} ms}}}}",
            dice.between(46, 1_500)
        );
    }
    events(&mut text, &mut dice, bridges);
    let _ = writeln!(text, "run: {{duration: {} s}}", dice.between(1, 9));
    text
}

fn section(text: &mut String, dice: &mut Dice, bridges: u64) {
    text.push_str("lldp:\n");
    let interval = *dice.one_of(&[1, 1, 2, 3, 30]);
    let fast = dice.between(1, 2);
    for (key, value) in [
        ("priority", dice.between(0, 7).to_string()),
        ("message-tx-interval", format!("{interval} s")),
        ("message-tx-hold-multiplier", dice.between(2, 10).to_string()),
        ("message-fast-tx", format!("{fast} s")),
        ("tx-fast-init", dice.between(1, 8).to_string()),
        ("tx-credit-max", dice.between(1, 10).to_string()),
        ("admin-status", (*dice.one_of(&STATUSES)).to_owned()),
    ] {
        if dice.chance(60) {
            let _ = writeln!(text, "  {key}: {value}");
        }
    }
    let node = dice.between(0, bridges - 1);
    let (own, port) = (dice.one_of(&STATUSES), dice.one_of(&STATUSES));
    if dice.chance(60) {
        let _ = writeln!(
            text,
            "  nodes:\n    s{node}: {{admin-status: {own}, ports: {{p1: {{admin-status: {port}}}}}}}\n    a: {{admin-status: tx-and-rx}}"
        );
    }
}

/// Nodes that stop and come back, and cables that are cut and repaired, at any times, before, within and after one another.
fn events(text: &mut String, dice: &mut Dice, bridges: u64) {
    let mut events = Vec::new();
    while dice.chance(35) {
        let at = dice.between(100, 4_000);
        let again = at + dice.between(1, 2_500);
        let [ends, begins] = if dice.chance(50) {
            let node = match dice.between(0, bridges + 1) {
                0 => "a".to_owned(),
                1 => "b".to_owned(),
                bridge => format!("s{}", bridge - 2),
            };
            [format!("stop-node: {node}"), format!("start-node: {node}")]
        } else {
            let link = dice.between(0, bridges);
            [format!("cut-link: l{link}"), format!("mend-link: l{link}")]
        };
        events.extend([(at, ends), (again, begins)]);
    }
    events.sort();
    if !events.is_empty() {
        text.push_str("events:\n");
    }
    for (at, event) in events {
        let _ = writeln!(text, "  - {{at: {at} ms, {event}}}");
    }
}
