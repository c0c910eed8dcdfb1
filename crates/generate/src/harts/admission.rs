//! Random HaRTES networks whose streams, synchronous ones among them, are requested during the run: they come and go,
//! some are refused, messages are lost, a link may fail and be repaired, or the ACMaster die, come back, and its
//! standby die then. Made of a random HaRTES network of the same seed.

use std::fmt::Write as _;

use crate::{Dice, random_harts};

/// The description of a seed. Its ACMaster decides by proven bounds; `late` of its lines request more than is available.
#[must_use]
pub fn random_harts_admission(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x4841_5254);
    let text = random_harts(seed);
    let (head, rest) = text.split_once("  reserve:\n").expect("reservations");
    let (reserve, streams) = rest.split_once("streams:\n").expect("streams");
    let bridges = head.lines().filter(|line| line.contains(": {type: bridge")).count() as u64;
    let (master, standby) = (dice.between(0, bridges - 1), dice.between(0, bridges - 1));
    let mut admission = format!("  admission:\n    master: s{master}\n    decide-by: bounds\n");
    if standby != master {
        let _ = writeln!(admission, "    standby: s{standby}");
    }
    // A channel of its own: the generator's servers hold streams.
    let own_channel = dice.chance(75);
    if own_channel {
        admission.push_str("    channel: control\n");
    }
    let (test, most) = (dice.between(50, 300), dice.between(300, 900));
    let _ = write!(
        admission,
        "    patience: 6 ms\n    alive: 2 ms\n    node: {{min: 5 us, max: 40 us}}\n    relay: {{min: 5 us, max: 60 us}}\n    \
         configure: {{min: 20 us, max: 90 us}}\n    handling: {{min: 5 us, max: 40 us}}\n    \
         test: {{min: {test} us, max: {most} us}}\n    requests:\n"
    );
    let mut asked = Vec::new();
    // Of its own, so that nothing else depends on it.
    let mut second = Dice::new(seed ^ 0x434f_4e53);
    let mut seconds = Vec::new();
    let stations: Vec<&str> =
        head.lines().filter_map(|line| line.strip_suffix(": {type: end-station}")).collect();
    let is_asked = |line: &&str| line.starts_with("  - {name: r") || line.starts_with("  - {name: p");
    for line in streams.lines().filter(is_asked) {
        let name = line["  - {name: ".len()..].split(',').next().expect("a name");
        if dice.chance(20) {
            continue;
        }
        let (at, listeners) = (dice.between(0, 12_000), dice.between(0, 3_000));
        let _ =
            write!(admission, "      - {{stream: {name}, at: {at} us, listeners-at: {} us", at + listeners);
        if dice.chance(50) {
            let _ = write!(admission, ", release-at: {} us", at + dice.between(9_000, 30_000));
        }
        if second.chance(40)
            && let Some(other) = other_listener(line, &stations, &mut second)
        {
            let at_other = at + second.between(0, 20_000);
            let _ = write!(admission, ", listeners: [{{node: {other}, at: {at_other} us");
            if second.chance(50) {
                let _ = write!(admission, ", release-at: {} us", at_other + second.between(4_000, 25_000));
            }
            admission.push('}');
            let first = listener(line).expect("a listener").to_owned();
            if second.chance(40) {
                let gone = at + second.between(9_000, 30_000);
                let _ = write!(
                    admission,
                    ", {{node: {first}, at: {} us, release-at: {gone} us}}",
                    at + listeners
                );
            }
            admission.push(']');
            seconds.push((name.to_owned(), first, other));
        }
        admission.push_str("}\n");
        asked.push(name.to_owned());
    }
    if asked.is_empty() {
        admission.push_str("      []\n");
        admission = admission.replace("requests:\n      []\n", "requests: []\n");
    }
    let mut text = with_channel(head, own_channel);
    let _ = write!(text, "{admission}  reserve:\n{reserve}");
    let mut dies = false;
    if standby != master && dice.chance(40) {
        dies = true;
        let at = dice.between(1_000, 25_000);
        let _ = writeln!(text, "events:\n  - {{at: {at} us, stop-node: s{master}}}");
        // Of its own, so that nothing else depends on it.
        let mut dice = Dice::new(seed ^ 0x5245_5649_5645);
        if dice.chance(60) {
            let back = at + dice.between(500, 9_000);
            let _ = writeln!(text, "  - {{at: {back} us, start-node: s{master}}}");
            if dice.chance(70) {
                let second = back + dice.between(10_000, 15_000);
                let _ = writeln!(text, "  - {{at: {second} us, stop-node: s{standby}}}");
            }
        }
    }
    // Of its own, so that nothing else depends on it.
    let mut cuts = Dice::new(seed ^ 0x4c49_4e4b);
    if !dies && cuts.chance(50) {
        cut_one(&mut text, (master, standby), &mut cuts);
    }
    text.push_str("streams:\n");
    for line in streams.lines() {
        let two = seconds.iter().find(|(name, ..)| line.starts_with(&format!("  - {{name: {name},")));
        let line = two.map_or_else(
            || line.to_owned(),
            |(_, first, other)| {
                line.replace(&format!("listeners: {first},"), &format!("listeners: [{first}, {other}],"))
            },
        );
        let own = asked.iter().find(|name| line.starts_with(&format!("  - {{name: {name},")));
        match own {
            Some(name) => {
                let deadline = dice.between(300, 9_000);
                text.push_str(
                    &line.replace(
                        &format!("name: {name},"),
                        &format!("name: {name}, deadline: {deadline} us,"),
                    ),
                );
            }
            None => text.push_str(&line),
        }
        text.push('\n');
    }
    if dice.chance(40) {
        let rate = dice.one_of(&["0.00001", "0.0001"]);
        text = text.replacen(" m}\n", &format!(" m, bit-error-rate: {rate}}}\n"), 2);
    }
    text.replace("run: {duration: 40 ms}", "run: {duration: 60 ms}")
}

/// Cuts a link, and repairs it mostly; none between the two ACMasters, of which each would then be alone.
fn cut_one(text: &mut String, (master, standby): (u64, u64), dice: &mut Dice) {
    let is_between = |line: &str| {
        (master.min(standby)..master.max(standby))
            .any(|bridge| line.contains(&format!("[s{bridge}, s{}]", bridge + 1)))
    };
    let links: Vec<String> = text
        .lines()
        .filter(|line| line.starts_with("  - {between: [") && !is_between(line))
        .map(str::to_owned)
        .collect();
    let link = dice.one_of(&links).as_str();
    *text = text.replacen(link, &link.replace("{between:", "{name: failing, between:"), 1);
    let cut = dice.between(2_000, 30_000);
    let _ = writeln!(text, "events:\n  - {{at: {cut} us, cut-link: failing}}");
    if dice.chance(80) {
        let mended = cut + dice.between(20, 15_000);
        let _ = writeln!(text, "  - {{at: {mended} us, mend-link: failing}}");
    }
}

/// The listener of a stream's line.
fn listener(line: &str) -> Option<&str> {
    line.split_once("listeners: ")?.1.split(',').next()
}

/// A station that is neither its talker nor its listener.
fn other_listener(line: &str, stations: &[&str], dice: &mut Dice) -> Option<String> {
    let talker = line.split_once("talker: ")?.1.split(',').next()?;
    let own = [talker, listener(line)?];
    let others: Vec<&str> =
        stations.iter().map(|name| name.trim()).filter(|name| !own.contains(name)).collect();
    (!others.is_empty()).then(|| (*dice.one_of(&others)).to_owned())
}

/// The part before the reservations with a server for control messages, of 200 octets in every cycle.
fn with_channel(head: &str, wanted: bool) -> String {
    let channel = "    - {name: control, capacity: 200 B, priority: 7}\n";
    match head.split_once("  servers:\n") {
        _ if !wanted => head.to_owned(),
        // Behind the others: streams name them by their order alone.
        Some((before, servers)) => {
            let end = servers.lines().take_while(|line| line.starts_with("    - {name: v")).count();
            let mut text = format!("{before}  servers:\n");
            for (number, line) in servers.lines().enumerate() {
                if number == end {
                    text.push_str(channel);
                }
                text.push_str(line);
                text.push('\n');
            }
            if end == servers.lines().count() {
                text.push_str(channel);
            }
            text
        }
        None => format!("{head}  servers:\n{channel}"),
    }
}
