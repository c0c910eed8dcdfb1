//! Planned slots hold: round trips are proven, no run contradicts the proof, and every response is in its
//! request's cycle.
//!
//! Random pairs with jittering hosts, drifting clocks and one or two bridges. `TAUTWIRE_CASES` sets the number of
//! networks, `TAUTWIRE_SEED` the first.

#![allow(clippy::unwrap_used, reason = "writing to a text does not fail")]

use std::fmt::Write;

use tautwire_workbench::{Network, Options, Verdict, bounds, load_text, plan_slots, simulate, verify};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Drawn numbers (SplitMix64).
struct Draw(u64);

impl Draw {
    fn up_to(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % (most + 1)
    }
}

/// A master that asks some slaves, with slots that are far from good.
fn description(seed: u64) -> String {
    let mut draw = Draw(seed);
    let slaves = 1 + draw.up_to(2);
    let mut text = format!(
        "name: drawn\nnetwork-control: none\nhosts:\n  h:\n    transmit: {{min: 3 us, max: {} us}}\n    receive: {{min: 2 us, max: {} us}}\n",
        3 + draw.up_to(30),
        2 + draw.up_to(30),
    );
    writeln!(
        text,
        "defaults: {{rate: 100 Mbit/s, host: h, clock: {{tolerance: {} ppm}}}}\nnodes:",
        draw.up_to(100)
    )
    .unwrap();
    let two = draw.up_to(2) == 0;
    let (mut links, mut slots, mut streams) = (String::new(), String::new(), String::new());
    for station in 0..slaves + 2 {
        let name = name(station);
        writeln!(text, "  {name}: {{type: end-station}}").unwrap();
        let bridge = if two && station % 2 == 1 { "t" } else { "s" };
        writeln!(links, "  - {{between: [{name}, {bridge}], length: {} m}}", draw.up_to(90)).unwrap();
        if station == 1 {
            continue;
        }
        writeln!(slots, "    - {{owner: {name}, offset: {} us, length: 300 us}}", 500 + 400 * station)
            .unwrap();
        if station > 1 {
            let payload = 46 + draw.up_to(1_400);
            let interval = 16_000 + draw.up_to(4_000);
            let head = "priority: 6, tagged: false";
            writeln!(streams, "  - {{name: ask-{name}, talker: master, listeners: {name}, {head}, payload: {payload} B, traffic: {{type: periodic, interval: {interval} us, jitter: {} us}}}}", draw.up_to(500)).unwrap();
            writeln!(streams, "  - {{name: tell-{name}, talker: {name}, listeners: master, {head}, payload: {} B, traffic: {{type: response, to: ask-{name}, turn-around: {} us}}}}", 46 + draw.up_to(1_400), draw.up_to(30)).unwrap();
        }
    }
    let (bridges, between) =
        if two { ("  t: {type: bridge}\n", "  - {between: [s, t]}\n") } else { ("", "") };
    write!(text, "  s: {{type: bridge}}\n{bridges}links:\n{links}{between}tdma:\n  cycle: 3 ms\n  synchronisation: opening\n  standby: {{synchronisation: watching, offset: 100 us}}\n  slots:\n{slots}streams:\n{streams}").unwrap();
    for (name, talker) in [("opening", "master"), ("watching", "standby")] {
        writeln!(text, "  - {{name: {name}, talker: {talker}, listeners: all, priority: 7, tagged: false, payload: 46 B, traffic: {{type: synchronisation}}}}").unwrap();
    }
    text.push_str("run: {duration: 100 ms}\n");
    text
}

fn name(station: u64) -> String {
    match station {
        0 => "master".to_owned(),
        1 => "standby".to_owned(),
        other => format!("slave-{}", other - 2),
    }
}

fn network(text: &str) -> Network {
    let loaded = load_text("drawn.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics))
}

#[test]
fn planned_slots_are_proven_and_keep_their_proof() {
    let first = number("TAUTWIRE_SEED", 1);
    let mut rounds = 0;
    for seed in first..first + number("TAUTWIRE_CASES", 40) {
        let text = description(seed);
        let given = network(&text);
        let cycle = given.tdma.as_ref().expect("slots").cycle;
        for cycle in [Some(cycle), None] {
            let again = format!("TAUTWIRE_SEED={seed} TAUTWIRE_CASES=1 (cycle: {cycle:?})\n{text}");
            let planned = plan_slots(&given, cycle).expect("room for a round in 3 ms");
            rounds = rounds.max(planned.plan.rounds);
            let (before, proven) = (bounds(&given), bounds(&planned.network));
            for (_, response) in &planned.pairs {
                let delay = |bounds: &tautwire_workbench::Bounds| {
                    bounds.streams[response.index()].listeners[0].delay.clone().ok()
                };
                let found = delay(&proven).unwrap_or_else(|| panic!("{again}"));
                // One slot a cycle, wherever it is, is no better.
                assert!(delay(&before).is_none_or(|before| found < before), "{again}");
            }
            for answer in &planned.plan.answers {
                assert!(answer.ready <= answer.response && answer.response < planned.plan.cycle, "{again}");
            }
            let observation =
                simulate(&planned.network, &mut Options { seed: Some(seed), ..Options::default() });
            let verification = verify(&planned.network, &proven, &observation);
            for judged in verification.streams.iter().flat_map(|stream| &stream.listeners) {
                assert_ne!(judged.verdict, Verdict::Contradiction, "{judged:?} {again}");
            }
        }
    }
    assert!(rounds > 1, "several rounds in a cycle");
}
