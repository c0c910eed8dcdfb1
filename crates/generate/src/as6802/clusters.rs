//! Small random networks of two clusters (SAE AS6802): each with masters, a compression master, clients and
//! time-triggered links of its own, joined by a cable, with rate-constrained and best-effort traffic over both.
//!
//! The clusters are of two domains, and then ignore one another's frames; or of one, and then the second follows the
//! first while the cable is up, and a link goes from one to the other. Clocks drift.

use std::fmt::Write as _;

use crate::Dice;

/// The relation of two clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterRelation {
    /// Two synchronisation domains.
    Domains,
    /// One domain, of which the second cluster has the lower priority.
    Priorities,
}

/// A random network of two clusters: the same text for the same seed. With `failures` the cable between them is cut at
/// 150 ms and repaired at 300 ms, and with one domain the upper cluster's switch stops at 450 ms and returns at 480
/// ms. It is run for 800 ms.
#[must_use]
pub fn random_as6802_clusters(seed: u64, relation: ClusterRelation, failures: bool) -> String {
    let mut dice = Dice::new(seed);
    let fast = dice.chance(40);
    let (tolerance, cycle) = (dice.between(0, 100), dice.between(6, 10));
    let precision = tolerance * (6 * cycle + 160) + dice.between(800, 3_000);
    let integration = *dice.one_of(&["timely-block", "shuffling", "preemption"]);
    let latency = dice.between(100, 2_000);
    // With two domains, the second one's last station may be behind the first one's switch, which receives its frames then.
    let guest = relation == ClusterRelation::Domains && dice.chance(60);
    let stations = [dice.between(2, 4), dice.between(if guest { 3 } else { 2 }, 4)];
    let masters = stations.map(|stations| dice.between(2, stations.min(3)));
    let own = [stations[0], stations[1] - u64::from(guest)];
    let (domains, priorities) = match relation {
        ClusterRelation::Domains => ([1, 2], [1, 1]),
        ClusterRelation::Priorities => ([1, 1], [dice.between(5, 9), dice.between(1, 4)]),
    };
    let names = |cluster: usize, range: std::ops::Range<u64>| {
        range.map(|one| format!("{}{one}", ["a", "b"][cluster])).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "name: clusters-{seed}\nallow: [port::overload]\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts:\n  h: {{transmit: {{min: 1 us, max: {} us}}, \
         receive: {{min: 1 us, max: {} us}}}}\ndevices:\n  d:\n    stages:\n      - {{name: passage, position: processing, \
         latency: {{min: {latency} ns, max: {} ns}}}}\ndefaults: {{rate: {}, host: h, device: d, clock: {{tolerance: {tolerance} ppm}}}}\n\
         time-triggered:\n  precision: {precision} ns\n  integration-cycle: {cycle} ms\n  integration: {integration}\n  synchronisation:\n",
        dice.between(1, 60),
        dice.between(1, 60),
        latency + dice.between(0, 3_000),
        if fast { "1 Gbit/s" } else { "100 Mbit/s" },
    );
    for cluster in 0..2 {
        let clients = match cluster {
            0 => String::new(),
            _ => format!(", clients: [{}]", names(1, 0..stations[1] - masters[1])),
        };
        let _ = writeln!(
            text,
            "    - {{name: {}, domain: {}, sync-priority: {}, masters: [{}], compression-masters: s{cluster}{clients}, \
             max-transmission-delay: 2 ms}}",
            ["upper", "lower"][cluster],
            domains[cluster],
            priorities[cluster],
            // The last are masters.
            names(cluster, stations[cluster] - masters[cluster]..stations[cluster]),
        );
    }
    text.push_str("nodes:\n  s0: {type: bridge}\n  s1: {type: bridge}\n");
    let mut links =
        format!("links:\n  - {{name: between, between: [s0, s1], length: {} m}}\n", dice.between(1, 90));
    for cluster in 0..2 {
        for station in 0..stations[cluster] {
            let name = format!("{}{station}", ["a", "b"][cluster]);
            let _ = writeln!(text, "  {name}: {{type: end-station}}");
            let switch = if station < own[cluster] { cluster } else { 0 };
            let _ =
                writeln!(links, "  - {{between: [{name}, s{switch}], length: {} m}}", dice.between(1, 90));
        }
    }
    text.push_str(&links);
    write_streams(&mut text, &mut dice, own, relation, if integration == "shuffling" { 400 } else { 1_200 });
    if failures {
        text.push_str("events:\n  - {at: 150 ms, cut-link: between}\n  - {at: 300 ms, mend-link: between}\n");
        if relation == ClusterRelation::Priorities {
            text.push_str("  - {at: 450 ms, stop-node: s0}\n  - {at: 480 ms, start-node: s0}\n");
        }
    }
    let _ = writeln!(text, "run: {{duration: 800 ms, seed: {}}}", seed + 1);
    text
}

/// Links of each cluster, every one in a part of a millisecond of its own and the second hop a period later, one over
/// both clusters, and other traffic.
fn write_streams(
    text: &mut String,
    dice: &mut Dice,
    stations: [u64; 2],
    relation: ClusterRelation,
    most: u64,
) {
    text.push_str("streams:\n");
    let mut number = 0;
    for cluster in 0..2 {
        for _ in 0..dice.between(1, 3) {
            let (name, count) = (["a", "b"][cluster], stations[cluster]);
            let talker = dice.between(0, count - 1);
            let listener = (talker + dice.between(1, count - 1)) % count;
            let at = format!("points: [{{at: s{cluster}, offset: {} us}}]", number * 150 + 1_000);
            link(text, dice, number, [&format!("{name}{talker}"), &format!("{name}{listener}")], &at);
            number += 1;
        }
    }
    if relation == ClusterRelation::Priorities {
        let offset = number * 150;
        let at = format!(
            "points: [{{at: s0, offset: {} us}}, {{at: s1, offset: {} us}}]",
            offset + 1_000,
            offset + 2_000
        );
        link(text, dice, number, ["a0", "b0"], &at);
    }
    for number in 0..dice.between(1, 4) {
        let [from, to] = *dice.one_of(&[["a0", "b1"], ["b0", "a1"], ["a1", "a0"], ["b1", "b0"]]);
        let kind = match dice.chance(50) {
            true => format!("priority: 4, virtual-link: {{id: {}, bag: 1 ms, policing: none}}", number + 1),
            false => "priority: 1, tagged: false".to_owned(),
        };
        let _ = writeln!(
            text,
            "  - {{name: o{number}, talker: {from}, listeners: {to}, payload: {} B, \
             traffic: {{type: periodic, interval: {} us, jitter: {} us}}, {kind}}}",
            dice.between(46, most),
            dice.between(1_000, 5_000),
            dice.between(0, 900),
        );
    }
}

fn link(text: &mut String, dice: &mut Dice, number: u64, [from, to]: [&str; 2], points: &str) {
    let locked = dice.chance(50);
    let interval = if locked { 2_000 } else { dice.between(900, 5_000) };
    let _ = writeln!(
        text,
        "  - {{name: t{number}, talker: {from}, listeners: {to}, payload: 60 B, \
         traffic: {{type: periodic, interval: {interval} us, offset: {} us}}, \
         time-triggered: {{id: {}, period: 2 ms, offset: {} us, release: {}, {points}}}}}",
        dice.between(0, 1_900),
        number + 1,
        number * 150,
        if locked { "locked" } else { "free" },
    );
}
