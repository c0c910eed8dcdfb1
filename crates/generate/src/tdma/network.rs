//! Random TDMA networks: a master, a standby, slaves that answer, request or send on their own, over one bridge or two.
//!
//! Clocks drift, hosts and sources jitter; slots are as short as possible or longer, of every cycle or every n-th, so
//! that some networks have no bound. Some messages are datagrams of several frames. Some hosts with two stacks have a
//! thread that serves what they receive and what they send, of one stack or of both.

use std::fmt::Write as _;

use crate::{Dice, TdmaFailure, grain};

/// The description of a seed.
#[must_use]
pub fn random_tdma(seed: u64, failure: TdmaFailure) -> String {
    let mut dice = Dice::new(seed);
    // Of its own, so that the rest of a seed is the same with and without.
    let mut more = Dice::new(seed ^ 0x7a11_0c5e);
    let slaves: Vec<String> = (0..dice.between(1, 4)).map(|slave| format!("slave-{slave}")).collect();
    let mut stations = vec!["master".to_owned(), "standby".to_owned()];
    stations.extend(slaves.iter().cloned());
    let both_stacks = dice.chance(30);
    // In the same way: whether a thread serves both directions.
    let mut threads = Dice::new(seed ^ 0x0b07_4a11);
    let mut text = head(&mut dice, &mut threads, both_stacks);
    if failure == TdmaFailure::Babbling {
        text.push_str("allow: [port::overload]\n");
    }
    let two = dice.chance(33);
    write_topology(&mut text, &mut dice, &stations, failure, two);
    let mut asks = Dice::new(seed ^ 0x0a5c_ed00);
    let dices = [&mut dice, &mut more, &mut asks];
    write_slots_and_streams(&mut text, dices, &stations, &slaves, failure, both_stacks);
    text.push_str(&failure.events(&mut dice, two));
    let duration = if failure.starts_up() { 260 } else { 60 };
    let _ = writeln!(text, "run: {{duration: {duration} ms}}");
    grain::drawn(&text, seed, &grain::FINE)
}

/// Clocks, bridges and hosts: with two delays, or with a real-time stack and an ordinary one on one interface, with threads or without.
fn head(dice: &mut Dice, threads: &mut Dice, both_stacks: bool) -> String {
    let (transmit, receive) = (dice.between(3, 43), dice.between(2, 42));
    let (passage, tolerance) = (dice.between(1, 7), dice.between(0, 100));
    let host = if both_stacks {
        let (card, driver) = (dice.between(1, 3), dice.between(2, 12));
        let (protocols, busy) = (dice.between(10, 60), dice.between(1, 10));
        let real_time = format!("[{{name: driver, latency: {{min: 2 us, max: {driver} us}}}}]");
        let ordinary = format!(
            "[{{name: protocols, latency: {{min: 10 us, max: {protocols} us}}, occupancy: {busy} us}}]"
        );
        let (service, wake) = (threads.between(1, 40), threads.between(0, 20));
        let has_threads = threads.chance(60);
        let all = if has_threads {
            format!(
                "    threads: {{all: {{service: {{min: 1 us, max: {service} us}}, wake-up: {{min: 0 us, max: {wake} us}}}}}}\n"
            )
        } else {
            String::new()
        };
        let of_real_time = if has_threads { ", thread: all" } else { "" };
        let of_ordinary = if has_threads && threads.chance(50) { ", thread: all" } else { "" };
        format!(
            "    clock-read: 50 ns\n{all}    interfaces: {{card: {{transmit: {card} us, receive: {card} us}}}}\n    \
             stacks:\n      rtnet: {{interface: card{of_real_time}, transmit: {real_time}, receive: {real_time}}}\n      \
             linux: {{interface: card{of_ordinary}, transmit: {ordinary}, receive: {ordinary}}}\n"
        )
    } else {
        format!(
            "    transmit: {{min: 3 us, max: {transmit} us}}\n    receive: {{min: 2 us, max: {receive} us}}\n"
        )
    };
    format!(
        "name: drawn\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts:\n  h:\n{host}devices:\n  d:\n    stages:\n      \
         - {{name: passage, position: processing, latency: {{min: 1 us, max: {passage} us}}}}\n\
         defaults: {{rate: 100 Mbit/s, host: h, device: d, clock: {{tolerance: {tolerance} ppm}}}}\n"
    )
}

fn write_topology(text: &mut String, dice: &mut Dice, stations: &[String], failure: TdmaFailure, two: bool) {
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
        let errors = match failure {
            TdmaFailure::BitErrors | TdmaFailure::BitErrorsDerivedLifetime => ", bit-error-rate: 1e-4",
            TdmaFailure::BitErrorsWithStandby => ", bit-error-rate: 2e-5",
            _ => "",
        };
        let _ = writeln!(
            text,
            "  - {{name: to-{station}, between: [{station}, {bridge}], length: {} m{errors}}}",
            dice.between(0, 90)
        );
    }
    if two {
        text.push_str("  - {name: bridges, between: [s, t], length: 5 m}\n");
    }
}

/// The cycle, and streams of all its stations.
fn write_slots_and_streams(
    text: &mut String,
    [dice, more, asks]: [&mut Dice; 3],
    stations: &[String],
    slaves: &[String],
    failure: TdmaFailure,
    both_stacks: bool,
) {
    let mut offset = dice.between(130, 170) + 2 * failure.air();
    let (mut slots, mut streams) = (String::new(), String::new());
    let varied = more.chance(30);
    // Start and phase of the slot before, if it is of every other cycle and has its time for itself.
    let mut alone: Option<(u64, u64)> = None;
    for station in stations {
        let payload = dice.between(46, 1_046);
        // Store and forward, with some air or too little of it.
        let length = payload * 16 / 100 + dice.between(30, 150) + failure.air();
        let every = if dice.chance(25) { 2 } else { 1 };
        let mut phase = dice.between(0, every - 1);
        let mut start = offset;
        if let Some((at, other)) = alone.take().filter(|_| every == 2) {
            (start, phase) = (at, 1 - other);
        } else if every == 2 {
            alone = Some((offset, phase));
        }
        let carries = dice.one_of(&["both", "real-time"]);
        let _ = writeln!(
            slots,
            "    - {{owner: {station}, offset: {start} us, length: {length} us, carries: {carries}, \
             every: {every}, phase: {phase}}}"
        );
        offset = offset.max(start + length) + dice.between(0, 30);
        if every == 1 && varied && more.chance(40) {
            let _ = writeln!(
                slots,
                "    - {{owner: {station}, offset: {offset} us, length: {length} us, carries: {carries}}}"
            );
            offset += length + more.between(0, 30);
        }
        write_stream_of(&mut streams, dice, station, payload, slaves.contains(station));
        if *carries == "both" && dice.chance(25) {
            let to = if station == "master" { "standby" } else { "master" };
            let stack = if both_stacks { ", stack: linux" } else { "" };
            let _ = writeln!(
                streams,
                "  - {{name: ordinary-of-{station}, talker: {station}, listeners: {to}, tagged: false, payload: 46 B\
                 {stack}, traffic: {{type: periodic, interval: {} us}}}}",
                dice.between(9_000, 20_000)
            );
        }
    }
    // Requests of the master; no larger than the smallest frame, which fits every slot.
    for (place, slave) in slaves.iter().enumerate() {
        let _ = writeln!(
            streams,
            "  - {{name: of-master-{slave}, talker: master, listeners: {slave}, priority: 6, tagged: false, \
             payload: 46 B, traffic: {{type: periodic, interval: {} us, offset: {} us}}}}",
            dice.between(9_000, 13_000),
            place * 500
        );
    }
    // Some send requests to the master, and the master to them: the wait of each then depends on itself.
    for slave in slaves {
        if !asks.chance(30) {
            continue;
        }
        let interval = asks.between(9_000, 13_000);
        let _ = writeln!(
            streams,
            "  - {{name: asks-of-{slave}, talker: {slave}, listeners: master, priority: 6, tagged: false, payload: 46 B, \
             traffic: {{type: periodic, interval: {interval} us}}}}\n  \
             - {{name: told-to-{slave}, talker: master, listeners: {slave}, priority: 6, tagged: false, payload: 46 B, \
             traffic: {{type: response, to: asks-of-{slave}}}}}"
        );
    }
    // A standby may also watch until all slots are over, and then costs all of a cycle.
    let mut watch = 65 + failure.air();
    if failure.has_standby() && varied && more.chance(50) {
        watch = offset + 20 + failure.air();
        offset = watch + 100 + 2 * failure.air();
    }
    let cycle = offset + dice.between(50, 250);
    let _ = writeln!(text, "tdma:\n  cycle: {cycle} us\n  synchronisation: opening");
    if failure.has_standby() {
        let few = if failure == TdmaFailure::BitErrorsWithStandby { ", lost-in-a-row: 6" } else { "" };
        let _ = writeln!(text, "  standby: {{synchronisation: watching, offset: {watch} us{few}}}");
    }
    let derived = failure == TdmaFailure::BitErrorsDerivedLifetime
        || failure == TdmaFailure::BitErrorsWithStandby && more.chance(50);
    let stated = failure.loses_synchronisation() && !derived
        || failure == TdmaFailure::ReturnsWithStandby && more.chance(40);
    if stated {
        let _ = writeln!(text, "  lifetime: {} us", cycle * dice.between(1, 4) + dice.between(0, 500));
    }
    if failure.starts_up() && dice.chance(70) {
        let (configuration, burst) = (dice.between(0, 4_000), dice.between(1, 4));
        let (calibrations, heartbeat) = (dice.between(0, 3), dice.between(8, 14));
        let _ = writeln!(
            text,
            "  start-up: {{interval: 12 ms, calibrations: {calibrations}, configuration: {configuration} B, \
             burst: {burst}, heartbeat: {heartbeat} ms}}"
        );
    }
    let _ = writeln!(text, "  slots:\n{slots}streams:");
    let openers = [("opening", "master"), ("watching", "standby")];
    for (name, talker) in openers.into_iter().take(1 + usize::from(failure.has_standby())) {
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
    // Some messages are datagrams of several frames.
    let size = if dice.chance(30) {
        format!("datagram: {} B", payload * dice.between(1, 4) + dice.between(0, 20))
    } else {
        format!("payload: {payload} B")
    };
    let _ = writeln!(
        streams,
        "  - {{name: of-{station}, talker: {station}, listeners: {to}, priority: 5, tagged: false, \
         {size}, traffic: {traffic}}}"
    );
}
