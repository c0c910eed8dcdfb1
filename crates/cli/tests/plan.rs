//! `tautwire plan`: what it prints is what a description takes, and verifies; what cannot be planned is refused.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;

use common::{folder, root, tautwire};
use serde_json::Value;

/// A master that sends requests to a slave, with slots that are far from each other, and a text in place of its cycle and slots.
fn description(slots: &str) -> String {
    format!(
        "name: pair
network-control: none
vlans:
  1:
    tagged: all
hosts: {{h: {{transmit: {{min: 5 us, max: 10 us}}, receive: {{min: 5 us, max: 10 us}}}}}}
defaults: {{rate: 100 Mbit/s, host: h, clock: {{tolerance: 50 ppm}}}}
nodes:
  master: {{type: end-station}}
  slave: {{type: end-station}}
  bridge: {{type: bridge}}
links:
  - {{between: [master, bridge], length: 10 m}}
  - {{between: [slave, bridge], length: 10 m}}
streams:
  - {{name: opening, talker: master, listeners: all, tagged: false, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: ask, talker: master, listeners: slave, priority: 6, tagged: false, payload: 400 B, traffic: {{type: periodic, interval: 9 ms}}}}
  - {{name: tell, talker: slave, listeners: master, priority: 6, tagged: false, payload: 400 B, deadline: 1 ms, traffic: {{type: response, to: ask}}}}
run: {{duration: 200 ms}}
{slots}"
    )
}

#[test]
fn the_slots_that_are_printed_verify() {
    let folder = folder("plan");
    let given = "tdma:\n  cycle: 1 ms\n  slots:\n    - {owner: master, offset: 100 us, length: 100 us}\n    - {owner: slave, offset: 200 us, length: 100 us}\n";
    let key = "  synchronisation: opening\n  slots:\n";
    let at = folder.join("given.yaml");
    fs::write(&at, description(&given.replace("  slots:\n", key))).unwrap();
    let before = tautwire(&folder, &["verify", "given.yaml"]);
    assert_eq!(before.code, 1, "the deadline is not proven with these slots: {}", before.stdout);
    for more in [&[][..], &["--shortest"][..], &["--cycle", "700us"][..]] {
        let arguments: Vec<&str> = ["plan", "given.yaml"].iter().chain(more).copied().collect();
        let planned = tautwire(&folder, &arguments);
        assert_eq!((planned.code, planned.stderr.as_str()), (0, ""), "{}", planned.stdout);
        assert!(planned.stdout.contains("# ask to tell: round trip at most"), "{}", planned.stdout);
        let text = description(&planned.stdout.replace("  slots:\n", key));
        fs::write(folder.join("planned.yaml"), text).unwrap();
        let after = tautwire(&folder, &["verify", "planned.yaml"]);
        assert_eq!(after.code, 0, "{}{}", planned.stdout, after.stdout);
    }
    let json = tautwire(&folder, &["plan", "given.yaml", "--json"]);
    let plan: Value = serde_json::from_str(&json.stdout).unwrap();
    let pair = &plan["pairs"][0];
    assert!(pair["round_trip_ps"].as_u64() < pair["round_trip_before_ps"].as_u64());
    for answer in pair["answers"].as_array().unwrap() {
        assert!(answer["ready_ps"].as_u64() <= answer["response_ps"].as_u64());
        assert!(answer["response_ps"].as_u64() < plan["cycle_ps"].as_u64(), "in the cycle of its request");
    }
}

#[test]
fn what_cannot_be_planned_is_refused_with_the_reason() {
    let folder = folder("plan-refused");
    let slots = "tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  slots:\n    - {owner: master, offset: 100 us, length: 100 us}\n    - {owner: slave, offset: 200 us, length: 100 us}\n";
    let text = description(slots);
    fs::write(folder.join("pair.yaml"), &text).unwrap();
    let short = tautwire(&folder, &["plan", "pair.yaml", "--cycle", "100us"]);
    assert_eq!(short.code, 2);
    assert!(short.stderr.contains("one round needs"), "{}", short.stderr);
    let alone = text.replace("{type: response, to: ask}", "{type: periodic, interval: 9 ms}");
    fs::write(folder.join("alone.yaml"), alone).unwrap();
    let nobody = tautwire(&folder, &["plan", "alone.yaml"]);
    assert_eq!(nobody.code, 2);
    assert!(nobody.stderr.contains("no stream answers another"), "{}", nobody.stderr);
    let scenario = root().join("scenarios/in-vehicle.yaml");
    let without = tautwire(&folder, &["plan", scenario.to_str().unwrap()]);
    assert_eq!(without.code, 2);
    assert!(without.stderr.contains("no `tdma:`"), "{}", without.stderr);
}
