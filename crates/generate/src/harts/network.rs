//! Random HaRTES networks: servers of all kinds, nested or not, with long and short periods, together with unreserved
//! bursts; streams beyond the guarantee of such servers have no bound. Half of them have synchronous streams by one of
//! the three schedulers, most of which are synchronous after their first switches, too, and some streams are policed.
//! The cycles of switches begin at different times.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// The description of a seed.
#[must_use]
pub fn random_harts(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let (bridges, stations) = (dice.between(1, 3), dice.between(2, 5));
    let polls = dice.chance(50);
    let mut text = head(&mut dice, polls);
    write_topology(&mut text, &mut dice, bridges, stations);
    let cycle = if polls { 400 + dice.between(0, 3) * 100 } else { 150 + dice.between(0, 3) * 75 };
    let (trigger, guard) = (dice.between(7, 12), dice.between(0, 1) * 10);
    let turn_around = if polls { 12 } else { 5 };
    let _ = writeln!(
        text,
        "harts:\n  elementary-cycle: {cycle} us\n  trigger: {trigger} us\n  turn-around: {turn_around} us\n  \
         guard: {guard} us"
    );
    if polls {
        let scheduler = dice.one_of(&["rate-monotonic", "earliest-deadline-first", "servers"]);
        let window = dice.between(110, 210);
        let _ = writeln!(text, "  scheduler: {scheduler}\n  synchronous: {window} us");
    }
    let shared = dice.between(0, 2);
    write_servers(&mut text, &mut dice, shared);
    let (mut reserve, mut streams) = (String::new(), String::new());
    let mut polled = String::new();
    for stream in 0..if polls { dice.between(1, 7) } else { 0 } {
        let servers = write_polled(&mut streams, &mut polled, &mut dice, stream, stations);
        if servers && dice.chance(66) {
            let _ = writeln!(reserve, "    - {{stream: p{stream}}}");
        }
    }
    for stream in 0..dice.between(2, 7) {
        let distance = write_stream(&mut streams, &mut dice, stream, stations, cycle);
        write_reservation(&mut reserve, &mut dice, stream, shared, distance);
    }
    for flood in 0..dice.between(0, 2) {
        write_flood(&mut streams, &mut dice, flood, stations);
    }
    if polls {
        let _ = write!(text, "  polled:\n{polled}");
    }
    let _ = writeln!(text, "  reserve:\n{reserve}streams:\n{streams}run: {{duration: 40 ms}}");
    grain::drawn(&text, seed, &grain::FINE)
}

fn head(dice: &mut Dice, polls: bool) -> String {
    // Polled messages must end within their window.
    let slowest = if polls { 13 } else { 43 };
    let (transmit, passage, tolerance) =
        (dice.between(3, slowest), dice.between(1, 10), dice.between(0, 2) * 50);
    format!(
        "name: drawn\nallow: [port::overload]\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts:\n  \
         h: {{transmit: {{min: 3 us, max: {transmit} us}}}}\ndevices:\n  d:\n    stages:\n      \
         - {{name: passage, position: processing, latency: {{min: 1 us, max: {passage} us}}}}\n\
         defaults: {{rate: 100 Mbit/s, host: h, device: d, clock: {{tolerance: {tolerance} ppm}}}}\n"
    )
}

fn write_topology(text: &mut String, dice: &mut Dice, bridges: u64, stations: u64) {
    text.push_str("nodes:\n");
    for station in 0..stations {
        let _ = writeln!(text, "  n{station}: {{type: end-station}}");
    }
    for bridge in 0..bridges {
        let offset = dice.between(0, 700);
        let _ = writeln!(text, "  s{bridge}: {{type: bridge, clock: {{offset: {offset} us}}}}");
    }
    text.push_str("links:\n");
    for station in 0..stations {
        let bridge = if station == 0 { 0 } else { dice.between(0, bridges - 1) };
        let length = dice.between(0, 90);
        let _ = writeln!(text, "  - {{between: [n{station}, s{bridge}], length: {length} m}}");
    }
    for bridge in 1..bridges {
        let _ = writeln!(text, "  - {{between: [s{}, s{bridge}], length: 5 m}}", bridge - 1);
    }
}

/// Servers that streams share, the later ones perhaps in the first.
fn write_servers(text: &mut String, dice: &mut Dice, shared: u64) {
    if shared > 0 {
        text.push_str("  servers:\n");
    }
    for server in 0..shared {
        let within = if server > 0 && dice.chance(33) { "in: v0, " } else { "" };
        let (octets, every) = (dice.between(300, 1_200), if dice.chance(25) { 2 } else { 1 });
        let kind = dice.one_of(&["deferrable", "deferrable", "polling", "sporadic"]);
        let priority = dice.between(0, 7);
        let _ = writeln!(
            text,
            "    - {{name: v{server}, {within}capacity: {octets} B, every: {every}, kind: {kind}, \
             priority: {priority}}}"
        );
    }
}

/// Two stations, not the same.
fn pair(dice: &mut Dice, stations: u64) -> (u64, u64) {
    let (talker, listener) = (dice.between(0, stations - 1), dice.between(0, stations - 2));
    (talker, if listener >= talker { listener + 1 } else { listener })
}

/// A synchronous stream; at its talker it goes before all others. Whether servers carry it behind its first switch.
fn write_polled(
    streams: &mut String,
    polled: &mut String,
    dice: &mut Dice,
    stream: u64,
    stations: u64,
) -> bool {
    let (talker, listener) = pair(dice, stations);
    let (every, payload) = (dice.between(1, 5), 46 + dice.between(0, 2) * 60);
    let (within, offset, priority) = (dice.between(1, every), dice.between(0, 5), dice.between(0, 7));
    let _ = writeln!(
        streams,
        "  - {{name: p{stream}, talker: n{talker}, listeners: n{listener}, priority: 7, payload: {payload} B, \
         traffic: {{type: polled}}}}"
    );
    let servers = dice.chance(33);
    let further = if servers {
        "further-switches: servers".to_owned()
    } else {
        format!("pool: {}", dice.between(1, 5))
    };
    let _ = writeln!(
        polled,
        "    - {{stream: p{stream}, every: {every}, offset: {offset}, within: {within}, priority: {priority}, \
         {further}}}"
    );
    servers
}

/// A stream with a server; the distance of its frames in microseconds.
fn write_stream(streams: &mut String, dice: &mut Dice, stream: u64, stations: u64, cycle: u64) -> u64 {
    let (talker, listener) = pair(dice, stations);
    let payload = 46 + dice.between(0, 2) * 60;
    let interval = cycle * dice.between(1, 6) + dice.between(0, 100);
    let jitter = dice.between(0, 2) * dice.between(0, interval / 2);
    let burst = if dice.chance(20) { 2 } else { 1 };
    let (priority, offset) = (dice.between(0, 6), dice.between(0, interval));
    let _ = writeln!(
        streams,
        "  - {{name: r{stream}, talker: n{talker}, listeners: n{listener}, priority: {priority}, \
         payload: {payload} B, traffic: {{type: periodic, interval: {interval} us, jitter: {jitter} us, \
         burst: {burst}, offset: {offset} us}}}}"
    );
    interval / burst
}

fn write_reservation(reserve: &mut String, dice: &mut Dice, stream: u64, shared: u64, distance: u64) {
    let kind = dice.one_of(&["deferrable", "polling", "sporadic"]);
    let _ = write!(reserve, "    - {{stream: r{stream}, kind: {kind}");
    if shared > 0 && dice.chance(50) {
        let _ = write!(reserve, ", in: v{}", dice.between(0, shared - 1));
    }
    if dice.chance(33) {
        let _ = write!(reserve, ", capacity: {} B", dice.between(400, 700));
    }
    if dice.chance(33) {
        // Less than what the talker keeps, or more.
        let (distance, pool) = (distance * dice.between(5, 11) / 10, dice.between(1, 4));
        let early = dice.one_of(&["discard", "reshape"]);
        let _ = write!(reserve, ", police: {{early: {early}, distance: {distance} us, pool: {pool}}}");
    }
    reserve.push_str("}\n");
}

/// Bursts that nothing was reserved for.
fn write_flood(streams: &mut String, dice: &mut Dice, flood: u64, stations: u64) {
    let (talker, listener) = pair(dice, stations);
    let (priority, payload) = (dice.between(0, 6), dice.between(46, 546));
    let (interval, burst) = (dice.between(500, 2_500), dice.between(1, 10));
    let _ = writeln!(
        streams,
        "  - {{name: b{flood}, talker: n{talker}, listeners: n{listener}, priority: {priority}, \
         payload: {payload} B, traffic: {{type: periodic, interval: {interval} us, burst: {burst}}}}}"
    );
}
