//! Random TDMA networks: a master, a standby, slaves that answer or send on their own, over one bridge or two.
//!
//! Clocks drift, hosts and sources jitter; slots are as short as may be or longer, of every cycle or every
//! n-th, so that some networks have no bound.

use std::fmt::Write as _;

use crate::Dice;

/// The description of a seed; with `master_fails` the master stops in the middle of the run.
#[must_use]
pub fn random_tdma(seed: u64, master_fails: bool) -> String {
    let mut dice = Dice::new(seed);
    let slaves: Vec<String> = (0..dice.between(1, 4)).map(|slave| format!("slave-{slave}")).collect();
    let mut stations = vec!["master".to_owned(), "standby".to_owned()];
    stations.extend(slaves.iter().cloned());
    let mut text = head(&mut dice);
    write_topology(&mut text, &mut dice, &stations);
    write_slots_and_streams(&mut text, &mut dice, &stations, &slaves);
    if master_fails {
        let _ = writeln!(text, "events:\n  - {{at: {} us, stop-node: master}}", dice.between(20_000, 23_000));
    }
    text.push_str("run: {duration: 60 ms}\n");
    text
}

fn head(dice: &mut Dice) -> String {
    let (transmit, receive) = (dice.between(3, 43), dice.between(2, 42));
    let (passage, tolerance) = (dice.between(1, 7), dice.between(0, 100));
    format!(
        "name: drawn\nnetwork-control: none\nhosts:\n  h:\n    transmit: {{min: 3 us, max: {transmit} us}}\n    \
         receive: {{min: 2 us, max: {receive} us}}\ndevices:\n  d:\n    stages:\n      \
         - {{name: passage, position: processing, latency: {{min: 1 us, max: {passage} us}}}}\n\
         defaults: {{rate: 100 Mbit/s, host: h, device: d, clock: {{tolerance: {tolerance} ppm}}}}\n"
    )
}

fn write_topology(text: &mut String, dice: &mut Dice, stations: &[String]) {
    let two = dice.chance(33);
    text.push_str("nodes:\n");
    for station in stations {
        let _ = writeln!(text, "  {station}: {{type: end-station}}");
    }
    text.push_str("  s: {type: bridge}\n");
    if two {
        text.push_str("  t: {type: bridge}\n");
    }
    text.push_str("links:\n");
    for (place, station) in stations.iter().enumerate() {
        let bridge = if two && place % 2 == 1 { "t" } else { "s" };
        let _ = writeln!(text, "  - {{between: [{station}, {bridge}], length: {} m}}", dice.between(0, 90));
    }
    if two {
        text.push_str("  - {between: [s, t], length: 5 m}\n");
    }
}

/// The cycle, and streams of all its stations.
fn write_slots_and_streams(text: &mut String, dice: &mut Dice, stations: &[String], slaves: &[String]) {
    let mut offset = dice.between(130, 170);
    let (mut slots, mut streams) = (String::new(), String::new());
    for station in stations {
        let payload = dice.between(46, 1_046);
        // Store and forward, with some air or too little of it.
        let length = payload * 16 / 100 + dice.between(30, 150);
        let every = if dice.chance(25) { 2 } else { 1 };
        let phase = dice.between(0, every - 1);
        let carries = dice.one_of(&["both", "real-time"]);
        let _ = writeln!(
            slots,
            "    - {{owner: {station}, offset: {offset} us, length: {length} us, carries: {carries}, \
             every: {every}, phase: {phase}}}"
        );
        offset += length + dice.between(0, 30);
        write_stream_of(&mut streams, dice, station, payload, slaves.contains(station));
    }
    // What the master asks; no larger than the smallest frame, which fits every slot.
    for (place, slave) in slaves.iter().enumerate() {
        let _ = writeln!(
            streams,
            "  - {{name: of-master-{slave}, talker: master, listeners: {slave}, priority: 6, tagged: false, \
             payload: 46 B, traffic: {{type: periodic, interval: {} us, offset: {} us}}}}",
            dice.between(9_000, 13_000),
            place * 500
        );
    }
    let cycle = offset + dice.between(50, 250);
    let _ = writeln!(
        text,
        "tdma:\n  cycle: {cycle} us\n  synchronisation: opening\n  \
         standby: {{synchronisation: watching, offset: 65 us}}\n  slots:\n{slots}streams:"
    );
    for (name, talker) in [("opening", "master"), ("watching", "standby")] {
        let _ = writeln!(
            text,
            "  - {{name: {name}, talker: {talker}, listeners: all, priority: 7, tagged: false, payload: 46 B, \
             traffic: {{type: synchronisation}}}}"
        );
    }
    text.push_str(&streams);
}

/// What a station sends: a slave answers the master or sends on its own, as the others do.
fn write_stream_of(streams: &mut String, dice: &mut Dice, station: &str, payload: u64, is_slave: bool) {
    let (to, traffic) = if is_slave && dice.chance(67) {
        let turn_around = dice.between(0, 30);
        ("master", format!("{{type: response, to: of-master-{station}, turn-around: {turn_around} us}}"))
    } else {
        let to = if station == "master" { "standby" } else { "master" };
        let (interval, jitter) = (dice.between(4_000, 10_000), dice.between(0, 900));
        (to, format!("{{type: periodic, interval: {interval} us, jitter: {jitter} us}}"))
    };
    let _ = writeln!(
        streams,
        "  - {{name: of-{station}, talker: {station}, listeners: {to}, priority: 5, tagged: false, \
         payload: {payload} B, traffic: {traffic}}}"
    );
}
