//! Random networks of hosts with protocol stacks: threads, drivers, interfaces with moderated interrupts, over one
//! bridge. Most stations of one side send and those of the other receive.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// The description of a seed. Some overload a port, which is an error of the description.
#[must_use]
pub fn random_host_stacks(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = "name: drawn\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts:\n".to_owned();
    write_host(&mut text, &mut dice, "h");
    write_host(&mut text, &mut dice, "g");
    let limit = dice.between(4, 64);
    let tie = dice.one_of(&["arrival-order", "round-robin", "lowest-port"]);
    let tolerance = dice.between(0, 100);
    let limit =
        if *tie == "arrival-order" { String::new() } else { format!(", reception-queue-limit: {limit}") };
    let _ = writeln!(
        text,
        "devices:\n  d: {{based-on: store-and-forward, tie-rule: {tie}{limit}}}\n\
         defaults: {{rate: 100 Mbit/s, device: d, clock: {{tolerance: {tolerance} ppm}}}}"
    );
    let pairs = dice.between(2, 4);
    text.push_str("nodes:\n  s: {type: bridge}\n");
    for station in 0..pairs {
        let (talker, listener) = (dice.one_of(&["h", "g"]), dice.one_of(&["h", "g", "ideal"]));
        let _ = writeln!(text, "  t{station}: {{type: end-station, host: {talker}}}");
        let _ = writeln!(text, "  l{station}: {{type: end-station, host: {listener}}}");
    }
    text.push_str("links:\n");
    for station in 0..pairs {
        let _ = writeln!(text, "  - {{between: [t{station}, s], length: 5 m}}");
        let _ = writeln!(text, "  - {{between: [l{station}, s], length: 5 m}}");
    }
    text.push_str("streams:\n");
    for stream in 0..dice.between(2, 8) {
        write_stream(&mut text, &mut dice, stream, pairs);
    }
    text.push_str("run: {duration: 40 ms}\n");
    grain::drawn(&text, seed, &grain::COARSE)
}

/// A delay of up to twice so many microseconds.
fn delay(dice: &mut Dice, most: u64) -> String {
    let (constant, least, more) = (dice.between(0, 900), dice.between(0, most), dice.between(0, most));
    format!("{{constant: {constant} ns, min: {least} us, max: {} us}}", least + more)
}

fn write_host(text: &mut String, dice: &mut Dice, name: &str) {
    let tail = if dice.chance(50) { ", tail: {chance: 0.02, delay: {min: 5 us, max: 80 us}}" } else { "" };
    let moderation = dice.one_of(&[
        "{type: none}",
        "{type: delayed, interval: 30 us}",
        "{type: throttled, interval: 60 us}",
        "{type: throttled, interval: 20 us, bulk: {interval: 125 us, above: 2 kB, below: 1 kB}}",
        "{type: polled, interval: 40 us}",
    ]);
    // Of its own, so that the rest of a seed is the same with and without.
    let drawn = Dice::new(dice.clone().between(0, u64::MAX - 1)).chance(15);
    let moderation = if drawn { "{type: drawn, interval: 50 us}" } else { *moderation };
    let orders = ["fifo", "class-queues"];
    let (order, queues) = (dice.one_of(&orders), dice.one_of(&orders));
    let thread = dice.one_of(&["out", "in"]);
    let _ = write!(
        text,
        "  {name}:
    egress-queues: {queues}
    clock-read: {}
    threads:
      out: {{service: {}, wake-up: {}{tail}}}
      in: {{service: {}, wake-up: {}}}
    interfaces:
      card: {{transmit: {}, receive: {{constant: {} ns, per-octet: {} ns}}, reception-order: {order}, moderation: {moderation}{tail}}}
    stacks:
      first: {{interface: card, thread: out, transmit: [{{name: p, latency: {}}}, {{name: d, latency: {}, occupancy: {} us}}], receive: [{{name: d, latency: {}, occupancy: {} us}}]}}
      second: {{interface: card, thread: {thread}, receive: [{{name: d, latency: {}}}]}}
      bare: {{}}
",
        delay(dice, 1), delay(dice, 6), delay(dice, 9), delay(dice, 6), delay(dice, 9), delay(dice, 3),
        dice.between(0, 900), dice.between(0, 60), delay(dice, 5), delay(dice, 5), dice.between(0, 4),
        delay(dice, 5), dice.between(0, 4), delay(dice, 5),
    );
}

fn write_stream(text: &mut String, dice: &mut Dice, stream: u64, pairs: u64) {
    let (mut from, mut to) =
        (format!("t{}", dice.between(0, pairs - 1)), format!("l{}", dice.between(0, pairs - 1)));
    let is_back = dice.chance(10);
    if is_back {
        std::mem::swap(&mut from, &mut to);
    }
    let stack = dice.one_of(&["first", "second", "bare"]);
    let stack = if is_back { String::new() } else { format!(", stack: {stack}") };
    let (priority, payload) = (dice.between(0, 7), dice.between(46, 1_046));
    let traffic = match dice.between(0, 2) {
        0 => {
            let (interval, jitter, burst) =
                (dice.between(400, 3_400), dice.between(0, 500), dice.between(1, 3));
            format!("{{type: periodic, interval: {interval} us, jitter: {jitter} us, burst: {burst}}}")
        }
        1 => "{type: greedy}, arrival-curve: {rate: 2 Mbit/s, burst: 3000 B}".to_owned(),
        _ => {
            let off = dice.between(2_000, 5_000);
            format!("{{type: on-off, on: 1 ms, off: {off} us, interval: 200 us}}")
        }
    };
    let _ = writeln!(
        text,
        "  - {{name: s{stream}, talker: {from}, listeners: {to}, priority: {priority}, \
         payload: {{min: 46 B, max: {payload} B}}, traffic: {traffic}{stack}}}"
    );
}
