//! A fault is one diagnostic, at its line, whatever follows from it, and no other fault hides it.
//!
//! Each case puts one fault into a scenario: another text in a line of it. A key that the grammar does not have, at the end of the text, is
//! the other fault.

use tautwire_model::load_text;

/// A scenario, a text of it, and what stands in its place; the code of its fault.
const CASES: [(&str, &str, &str, &str); 30] = [
    // Streams that are left out for their faults are named by filters, events, servers, responses and tasks.
    ("filtering-and-policing", "listeners: motor", "listeners: moter", "name::unknown-node"),
    ("policed-replication", "interval: 250 us", "interval: 250", "value::unit-missing"),
    (
        "timeline",
        "talker: b, listeners: c, started: false",
        "talker: x, listeners: c, started: false",
        "name::unknown-node",
    ),
    ("harts-synchronous", "talker: camera", "talker: camel", "name::unknown-node"),
    ("test-bed", "talker: sensor-2", "talker: sensor-9", "name::unknown-node"),
    (
        "tdma",
        "name: opening-by-standby, talker: standby",
        "name: opening-by-standby, talker: by",
        "name::unknown-node",
    ),
    // So are links, and the ports that they make.
    ("timeline", "between: [s, t], length: 300 m", "between: [s, z], length: 300 m", "name::unknown-node"),
    ("member-streams", "between: [s2, s4]", "between: [s2, z]", "name::unknown-node"),
    ("scheduled-traffic", "rate: 100 Mbit/s", "rate: 100 m", "value::unit-unknown"),
    ("schedule-change", "rate: 100 Mbit/s", "rate: 100", "value::unit-missing"),
    // What an event makes is not known if its time, its link or its node is not.
    ("timeline", "at: 10 ms, start-stream: late", "at: 10, start-stream: late", "value::unit-missing"),
    ("frame-replication", "cut-link: short", "cut-link: shirt", "name::unknown-link"),
    ("tdma-node-returns", "stop-node: slave-b", "stop-node: slave-x", "name::unknown-node"),
    ("stuck-sender", "repeat-frame: {node: s2,", "repeat-frame: {node: s9,", "name::unknown-node"),
    // Values that are held against others.
    (
        "precision-time",
        "tolerance: 100 ppm, drift: 30 ppm",
        "tolerance: 100, drift: 30 ppm",
        "value::unit-missing",
    ),
    ("precision-time", "duration: 12 s", "duration: 12", "value::unit-missing"),
    (
        "credit-based",
        "7: {transmission-selection: credit-based",
        "7: {transmission-selection: credit",
        "value::word",
    ),
    // Keys and numbers.
    ("timeline", "listeners: c, started: false", "listners: c, started: false", "form::unknown-key"),
    ("timeline", "traffic: {type: periodic", "traffic: {typ: periodic", "form::unknown-key"),
    ("scheduled-traffic", "time-interval: 50 us", "time-interval: -50 us", "value::number"),
    ("scheduled-traffic", "time-interval: 50 us", "time-intervall: 50 us", "form::unknown-key"),
    // Names in parts that are resolved in a network without faults alone.
    ("frame-replication", "node: s4", "node: s9", "name::unknown-node"),
    ("stuck-sender", "sequence-generation: s1", "sequence-generation: s9", "name::unknown-node"),
    ("precision-time", "reserve: {priority1: 101}", "reserved: {priority1: 101}", "name::unknown-node"),
    ("cyclic", "bridges: [s1", "bridges: [s9", "name::unknown-node"),
    ("as6802", "masters: [controller", "masters: [control", "name::unknown-node"),
    (
        "as6802-clusters",
        "compression-masters: camera-switch",
        "compression-masters: camera",
        "name::unknown-node",
    ),
    ("harts-admission", "{stream: f6, at: 5 ms}", "{stream: f66, at: 5 ms}", "name::unknown-stream"),
    ("harts-admission", "master: sw2", "master: sw9", "name::unknown-node"),
    ("vlan-registration", "forbidden: \"back:p4\"", "forbidden: \"zack:p4\"", "name::unknown-node"),
];

/// Codes, lines and messages of all diagnostics of a text.
fn faults(name: &str, text: &str) -> Vec<(&'static str, usize, String)> {
    let loaded = load_text(name, text);
    let place = |fault: &tautwire_model::Diagnostic| {
        loaded.sources[fault.source].line_and_column(fault.labels[0].span.start).0
    };
    loaded.diagnostics.iter().map(|fault| (fault.code, place(fault), fault.message.clone())).collect()
}

#[test]
fn a_fault_is_one_diagnostic_that_no_other_fault_hides() {
    for (scenario, right, wrong, code) in CASES {
        let name = format!("../../scenarios/{scenario}.yaml");
        let text = std::fs::read_to_string(&name).expect("a scenario");
        let before = faults(&name, &text);
        let at = text.find(right).unwrap_or_else(|| panic!("{scenario} has no `{right}`"));
        let line = text[..at].lines().count().max(1) + usize::from(text[..at].ends_with('\n'));
        let text = text.replacen(right, wrong, 1);
        let new = |text: &str| {
            let mut found = faults(&name, text);
            found.retain(|fault| !before.contains(fault));
            found
        };
        let found = new(&text);
        let [(found_code, found_line, _)] = &found[..] else { panic!("{scenario}: {wrong}: {found:#?}") };
        assert_eq!((*found_code, *found_line), (code, line), "{scenario}: {wrong}");
        // With another fault, both.
        let both = new(&format!("{text}\nnot-a-key: 1\n"));
        assert_eq!(both.len(), 2, "{scenario}: {wrong}: {both:#?}");
        assert!(both.contains(&found[0]), "{scenario}: {wrong}: {both:#?}");
    }
}
