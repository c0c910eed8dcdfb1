//! Random networks whose slopes follow from reservations: streams of two classes that are offered, requested,
//! withdrawn and left at any time, with timers of milliseconds so that much happens in a short run, together with
//! bursts of best effort; some do not fit, some are urgent and displace others, cables are lost.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// The description of a seed.
#[must_use]
pub fn random_stream_reservation(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let (bridges, stations) = (dice.between(1, 3), dice.between(3, 6));
    let tolerance = dice.between(0, 2) * 50;
    let mut text = format!(
        "name: drawn\nallow: [port::overload, class::overload]\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults:\n  \
         {{rate: 100 Mbit/s, traffic-class-table: stream-reservation, clock: {{tolerance: {tolerance} ppm}}, \
         host: h, device: d}}\nhosts:\n  h: {{transmit: {{min: 1 us, max: {} us}}}}\ndevices:\n  d:\n    stages:\n      \
         - {{name: passage, position: processing, latency: {{min: 1 us, max: {} us}}}}\n",
        dice.between(2, 60),
        dice.between(2, 20)
    );
    text.push_str("nodes:\n");
    for station in 0..stations {
        let _ = writeln!(
            text,
            "  n{station}: {{type: end-station, clock: {{tolerance: {tolerance} ppm, offset: {} us}}}}",
            dice.between(0, 4) * dice.between(0, 500)
        );
    }
    for bridge in 0..bridges {
        let _ = writeln!(text, "  s{bridge}: {{type: bridge}}");
    }
    text.push_str("links:\n");
    for station in 0..stations {
        let _ = writeln!(
            text,
            "  - {{name: l{station}, between: [n{station}, s{}]}}",
            dice.between(0, bridges - 1)
        );
    }
    for bridge in 1..bridges {
        let _ = writeln!(text, "  - {{between: [s{}, s{bridge}]}}", bridge - 1);
    }
    let processing = dice.between(1, 300);
    let _ = writeln!(
        text,
        "stream-reservation:\n  shaping: reserved\n  classes:\n    \
         - {{class: A, priority: 3, interval: 125 us, delta-bandwidth: {}}}\n    \
         - {{class: B, priority: 2, interval: 250 us, delta-bandwidth: {}}}\n  \
         bridges: {{join-time: 2 ms, leave-time: 5 ms, leave-all-time: 40 ms, processing: {{min: 1 us, max: {processing} us}}}}\n  \
         end-stations: {{join-time: 2 ms, leave-time: 5 ms, leave-all-time: 40 ms, processing: {{min: 1 us, max: {processing} us}}}}",
        dice.one_of(&["30", "50", "75"]),
        dice.between(0, 2) * 10
    );
    if dice.chance(40) {
        text.push_str(
            "gptp:\n  log-sync-interval: -7\n  log-pdelay-interval: -7\n  log-announce-interval: -7\n  servo: {rate-max: 300 ppm}\n",
        );
    }
    text.push_str("streams:\n");
    for stream in 0..dice.between(2, 8) {
        write_stream(&mut text, &mut dice, stream, stations);
    }
    for flood in 0..dice.between(0, 2) {
        let (talker, listener) = pair(&mut dice, stations);
        let (payload, interval) = (dice.between(46, 1_500), dice.between(400, 3_000));
        let burst = dice.between(1, 6);
        let _ = writeln!(
            text,
            "  - {{name: b{flood}, talker: n{talker}, listeners: n{listener}, priority: 0, payload: {payload} B, \
             traffic: {{type: periodic, interval: {interval} us, burst: {burst}}}}}"
        );
    }
    if dice.chance(25) {
        let (cut, mend) = (dice.between(20, 60), dice.between(61, 90));
        let station = dice.between(0, stations - 1);
        let _ = writeln!(
            text,
            "events:\n  - {{at: {cut} ms, cut-link: l{station}}}\n  - {{at: {mend} ms, mend-link: l{station}}}"
        );
    }
    text.push_str("run: {duration: 120 ms}\n");
    grain::drawn(&text, seed, &grain::FINE)
}

fn pair(dice: &mut Dice, stations: u64) -> (u64, u64) {
    let (talker, listener) = (dice.between(0, stations - 1), dice.between(0, stations - 2));
    (talker, if listener >= talker { listener + 1 } else { listener })
}

/// A stream whose burst may be many times what it sends in an interval: its slope is small in comparison.
fn write_stream(text: &mut String, dice: &mut Dice, stream: u64, stations: u64) {
    let (talker, first) = pair(dice, stations);
    let second = (0..stations).find(|other| ![talker, first].contains(other)).expect("three stations");
    let listeners = if dice.chance(40) { format!("[n{first}, n{second}]") } else { format!("n{first}") };
    let (priority, base) = if dice.chance(65) { (3, 125) } else { (2, 250) };
    let payload = 46 + dice.between(0, 5) * 90;
    let every = dice.between(1, 8);
    let interval = base * every;
    // No more in the long run than it reserves, whatever comes at once.
    let burst = dice.between(1, every.min(4));
    let (jitter, offset) = (dice.between(0, 1) * dice.between(0, interval), dice.between(0, interval));
    let offered = dice.between(0, 60);
    let mut reservation = format!("advertise-at: {offered} ms, frames-per-interval: 1");
    let attach: Vec<String> =
        (0..=u8::from(listeners.starts_with('['))).map(|_| format!("{} ms", dice.between(0, 80))).collect();
    let _ = write!(reservation, ", attach-at: [{}]", attach.join(", "));
    if dice.chance(40) {
        let _ = write!(reservation, ", withdraw-at: {} ms", offered + dice.between(10, 50));
    }
    if dice.chance(40) {
        let mut each =
            || if dice.chance(25) { "never".to_owned() } else { format!("{} ms", dice.between(81, 110)) };
        let detach: Vec<String> = attach.iter().map(|_| each()).collect();
        let _ = write!(reservation, ", detach-at: [{}]", detach.join(", "));
    }
    if dice.chance(20) {
        reservation.push_str(", rank: emergency");
    }
    let _ = writeln!(
        text,
        "  - {{name: r{stream}, talker: n{talker}, listeners: {listeners}, priority: {priority}, payload: {payload} B, \
         traffic: {{type: periodic, interval: {interval} us, burst: {burst}, jitter: {jitter} us, offset: {offset} us}}, \
         reservation: {{{reservation}}}}}"
    );
}
