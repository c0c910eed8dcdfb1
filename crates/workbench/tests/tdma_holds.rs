//! No frame of a random TDMA network is later than its bound, and slots keep frames apart.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` the first; each is also run with a master
//! that fails. Clocks drift, hosts and sources jitter, slots are as short as may be or longer, of every
//! cycle or every n-th; what does not fit together is unbounded and counted, so that the search is seen
//! to have found bounds.

#![allow(clippy::unwrap_used, reason = "writing to a text does not fail")]

use std::fmt::Write;

use tautwire_workbench::{Network, Options, Verdict, bounds, load_text, simulate, verify};

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

/// A description, drawn by its seed.
fn description(seed: u64, fails: bool) -> String {
    let mut draw = Draw(seed);
    let slaves = 1 + draw.up_to(3);
    let mut text = format!(
        "name: drawn\nnetwork-control: none\nhosts:\n  h:\n    transmit: {{min: 3 us, max: {} us}}\n    receive: {{min: 2 us, max: {} us}}\n",
        3 + draw.up_to(40),
        2 + draw.up_to(40),
    );
    write!(text, "devices:\n  d:\n    stages:\n      - {{name: passage, position: processing, latency: {{min: 1 us, max: {} us}}}}\n", 1 + draw.up_to(6)).unwrap();
    write!(
        text,
        "defaults: {{rate: 100 Mbit/s, host: h, device: d, clock: {{tolerance: {} ppm}}}}\nnodes:\n",
        draw.up_to(100)
    )
    .unwrap();
    let names: Vec<String> = (0..slaves).map(|slave| format!("slave-{slave}")).collect();
    let mut stations = vec!["master".to_owned(), "standby".to_owned()];
    stations.extend(names.iter().cloned());
    let two = draw.up_to(2) == 0;
    for station in &stations {
        writeln!(text, "  {station}: {{type: end-station}}").unwrap();
    }
    text.push_str("  s: {type: bridge}\n");
    if two {
        text.push_str("  t: {type: bridge}\n");
    }
    text.push_str("links:\n");
    for (place, station) in stations.iter().enumerate() {
        let bridge = if two && place % 2 == 1 { "t" } else { "s" };
        writeln!(text, "  - {{between: [{station}, {bridge}], length: {} m}}", draw.up_to(90)).unwrap();
    }
    if two {
        text.push_str("  - {between: [s, t], length: 5 m}\n");
    }
    slots_and_streams(&mut text, &mut draw, &stations, &names);
    if fails {
        write!(text, "events:\n  - {{at: {} us, stop-node: master}}\n", 20_000 + draw.up_to(3_000)).unwrap();
    }
    text.push_str("run: {duration: 60 ms}\n");
    text
}

/// The cycle, and streams of all its stations.
fn slots_and_streams(text: &mut String, draw: &mut Draw, stations: &[String], slaves: &[String]) {
    let mut offset = 130 + draw.up_to(40);
    let mut slots = String::new();
    let mut streams = String::new();
    for station in stations {
        let payload = 46 + draw.up_to(1_000);
        // Store and forward, with some air or too little of it.
        let length = 30 + payload * 16 / 100 + draw.up_to(120);
        let every = 1 + draw.up_to(3) / 3;
        let phase = draw.up_to(every - 1);
        let carries = ["both", "real-time"][draw.up_to(1) as usize];
        let place = format!("owner: {station}, offset: {offset} us, length: {length} us");
        writeln!(slots, "    - {{{place}, carries: {carries}, every: {every}, phase: {phase}}}").unwrap();
        offset += length + draw.up_to(30);
        let interval = 4_000 + draw.up_to(6_000);
        let head = format!("priority: 5, tagged: false, payload: {payload} B, traffic:");
        if slaves.contains(station) && draw.up_to(2) > 0 {
            let to =
                format!("{{type: response, to: of-master-{station}, turn-around: {} us}}", draw.up_to(30));
            writeln!(
                streams,
                "  - {{name: of-{station}, talker: {station}, listeners: master, {head} {to}}}"
            )
            .unwrap();
        } else {
            let to = if station == "master" { "standby" } else { "master" };
            let traffic =
                format!("{{type: periodic, interval: {interval} us, jitter: {} us}}", draw.up_to(900));
            writeln!(
                streams,
                "  - {{name: of-{station}, talker: {station}, listeners: {to}, {head} {traffic}}}"
            )
            .unwrap();
        }
    }
    // What the master asks; no larger than the smallest frame, which fits every slot.
    for (place, slave) in slaves.iter().enumerate() {
        let traffic = format!(
            "{{type: periodic, interval: {} us, offset: {} us}}",
            9_000 + draw.up_to(4_000),
            place * 500
        );
        writeln!(streams, "  - {{name: of-master-{slave}, talker: master, listeners: {slave}, priority: 6, tagged: false, payload: 46 B, traffic: {traffic}}}").unwrap();
    }
    let cycle = offset + 50 + draw.up_to(200);
    write!(text, "tdma:\n  cycle: {cycle} us\n  synchronisation: opening\n  standby: {{synchronisation: watching, offset: 65 us}}\n  slots:\n{slots}streams:\n").unwrap();
    for (name, talker) in [("opening", "master"), ("watching", "standby")] {
        writeln!(text, "  - {{name: {name}, talker: {talker}, listeners: all, priority: 7, tagged: false, payload: 46 B, traffic: {{type: synchronisation}}}}").unwrap();
    }
    text.push_str(&streams);
}

fn network(text: &str) -> Network {
    let loaded = load_text("drawn.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics))
}

#[test]
fn no_frame_is_later_than_its_bound() {
    let first = number("TAUTWIRE_SEED", 1);
    let mut bounded = 0;
    for seed in first..first + number("TAUTWIRE_CASES", 40) {
        for fails in [false, true] {
            let text = description(seed, fails);
            let network = network(&text);
            let bounds = bounds(&network);
            let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
            let verification = verify(&network, &bounds, &observation);
            for judged in verification.streams.iter().flat_map(|stream| &stream.listeners) {
                assert_ne!(
                    judged.verdict,
                    Verdict::Contradiction,
                    "TAUTWIRE_SEED={seed} TAUTWIRE_CASES=1 (fails: {fails}): {judged:?}\n{text}"
                );
            }
            let proven = bounds.streams.iter().flat_map(|stream| &stream.listeners);
            bounded += proven.filter(|listener| listener.delay.is_ok()).count();
        }
    }
    assert!(bounded > 40, "the search has bounds to hold: {bounded}");
}

#[test]
fn a_slot_that_begins_before_the_cycle_is_heard_is_never_used_and_proves_nothing() {
    let text = |offset: &str| {
        format!(
            "name: early\nnetwork-control: none\ndefaults: {{rate: 100 Mbit/s}}\nnodes:
  a: {{type: end-station}}\n  b: {{type: end-station}}\n  s: {{type: bridge}}\nlinks:
  - {{between: [a, s]}}\n  - {{between: [b, s]}}\nrun: {{duration: 20 ms}}\nstreams:
  - {{name: opening, talker: a, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: y, talker: b, listeners: a, payload: 100 B, traffic: {{type: periodic, interval: 2 ms}}}}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  slots:
    - {{owner: b, offset: {offset}, length: 100 us}}\n"
        )
    };
    // Two frames of 68 octets with preamble take 12.16 us.
    for (offset, is_used) in [("12 us", false), ("13 us", true)] {
        let network = network(&text(offset));
        let observation = simulate(&network, &mut Options::default());
        assert_eq!(observation.streams[1].listeners[0].delay.count() > 0, is_used, "{offset}");
        assert_eq!(bounds(&network).streams[1].listeners[0].delay.is_ok(), is_used, "{offset}");
    }
}

/// Most frames at a time at any port.
fn backlog(text: &str) -> u64 {
    let observation = simulate(&network(text), &mut Options::default());
    let classes = observation.ports.iter().flat_map(|port| &port.classes);
    classes.map(|class| u64::from(class.backlog_frames_max)).max().expect("a port")
}

#[test]
fn without_its_slots_frames_of_two_talkers_meet() {
    let stations = "name: knock-out\nnetwork-control: none\ndefaults: {rate: 100 Mbit/s}\nnodes:
  a: {type: end-station}\n  b: {type: end-station}\n  c: {type: end-station}\n  s: {type: bridge}\nlinks:
  - {between: [a, s]}\n  - {between: [b, s]}\n  - {between: [c, s]}\nrun: {duration: 20 ms}\nstreams:
  - {name: x, talker: a, listeners: c, payload: 1000 B, traffic: {type: periodic, interval: 2 ms}}
  - {name: y, talker: b, listeners: c, payload: 1000 B, traffic: {type: periodic, interval: 2 ms}}\n";
    let slots =
        "  - {name: opening, talker: a, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  slots:
    - {owner: a, offset: 100 us, length: 200 us}\n    - {owner: b, offset: 300 us, length: 200 us}\n";
    assert_eq!(backlog(&format!("{stations}{slots}")), 1);
    assert!(backlog(stations) > 1);
}
