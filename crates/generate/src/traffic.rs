//! Small random networks of all kinds of traffic, whose streams change to other kinds while they run: files, traces, bursts,
//! threads, over best effort, virtual links and hosts with threads, some with responses, some with a stated arrival curve.

use std::fmt::Write as _;

use crate::Dice;

/// Least and most payload of a stream.
type Sizes = (u64, u64);

/// A random network of changing traffic, which replays some of `traces` (paths), if there are any: the same text for
/// the same seed. Some overload
/// a port, or state an arrival curve that their traffic does not keep, which are errors of the description.
#[must_use]
pub fn random_traffic(seed: u64, traces: &[String]) -> String {
    let mut dice = Dice::new(seed);
    let tolerance = dice.one_of(&[0, 100]);
    let mut text = format!("name: traffic-{seed}\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\n");
    let _ = writeln!(
        text,
        "hosts:\n  plain: {{transmit: {{min: 1 us, max: {} us}}, receive: {{constant: 1 us, per-octet: {} ns}}}}\n  \
         threads: {{threads: {{one: {{service: {} us}}}}, stacks: {{links: {{thread: one}}}}}}",
        dice.between(1, 60),
        dice.between(0, 20),
        dice.between(1, 300)
    );
    let _ = writeln!(
        text,
        "defaults: {{rate: 100 Mbit/s, device: store-and-forward, clock: {{tolerance: {tolerance} ppm}}}}\nnodes:"
    );
    let (switches, stations) = (dice.between(1, 2), dice.between(2, 4));
    for switch in 0..switches {
        let _ = writeln!(text, "  s{switch}: {{type: bridge}}");
    }
    for station in 0..stations {
        let host = dice.one_of(&["", ", host: plain", ", host: threads"]);
        let _ = writeln!(text, "  e{station}: {{type: end-station{host}}}");
    }
    text.push_str("links:\n");
    if switches == 2 {
        text.push_str("  - {between: [s0, s1]}\n");
    }
    for station in 0..stations {
        let _ = writeln!(text, "  - {{between: [e{station}, s{}]}}", dice.between(0, switches - 1));
    }
    text.push_str("streams:\n");
    let mut events = String::new();
    for number in 0..dice.between(2, 5) {
        write_stream(&mut text, &mut events, &mut dice, number, stations, traces);
    }
    if !events.is_empty() {
        let _ = write!(text, "events:\n{events}");
    }
    let _ = writeln!(text, "run: {{duration: 60 ms, seed: {}}}", seed + 1);
    text
}

/// A random trace, as a table.
#[must_use]
pub fn random_trace(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7ace);
    let (mut text, mut at) = ("time,payload\n".to_owned(), 0);
    let (least, most) = *dice.one_of(&[(46, 1_400), (20, 60), (900, 900), (1_300, 1_500)]);
    for _ in 0..dice.between(3, 25) {
        let _ = writeln!(text, "{at} us,{} B", dice.between(least, most));
        at += if dice.chance(20) { 0 } else { dice.between(100, 3_000) };
    }
    text
}

/// A stream, its changes, and perhaps its responses.
fn write_stream(
    text: &mut String,
    events: &mut String,
    dice: &mut Dice,
    number: u64,
    stations: u64,
    traces: &[String],
) {
    let from = dice.between(0, stations - 1);
    let to = (from + dice.between(1, stations - 1)) % stations;
    let most = dice.between(60, 1_500);
    let sizes = if dice.chance(40) { (dice.between(46, most), most) } else { (most, most) };
    let link = if dice.chance(20) {
        let policing = dice.one_of(&["frames", "octets"]);
        format!(
            ", virtual-link: {{id: {}, bag: {} ms, policing: {policing}}}",
            number + 1,
            dice.one_of(&[1, 2, 4])
        )
    } else {
        format!(", tagged: {}", dice.one_of(&["true", "false"]))
    };
    let _ = writeln!(
        text,
        "  - {{name: x{number}, talker: e{from}, listeners: e{to}, priority: {}, payload: {{min: {} B, max: {} B}}{link}, \
         traffic: {}}}",
        dice.between(0, 7),
        sizes.0,
        sizes.1,
        traffic(dice, sizes, traces)
    );
    if dice.chance(30) {
        let _ = writeln!(
            text,
            "  - {{name: y{number}, talker: e{to}, listeners: e{from}, priority: {}, payload: {} B, traffic: {{type: response, \
             to: x{number}, turn-around: {} us}}}}",
            dice.between(0, 7),
            dice.between(46, 400),
            dice.between(0, 50)
        );
    }
    let mut at = 0;
    while dice.chance(45) {
        at += dice.between(1_000, 20_000);
        let what = match dice.between(0, 4) {
            0 => format!(
                "stop-stream: x{number}}}\n  - {{at: {} us, start-stream: x{number}",
                at + dice.between(1, 900)
            ),
            _ => format!("change-traffic: {{stream: x{number}, traffic: {}}}", traffic(dice, sizes, traces)),
        };
        if at < 55_000 {
            let _ = writeln!(events, "  - {{at: {at} us, {what}}}");
        }
    }
}

/// Traffic of up to some Mbit/s, and what it promises, if that is stated.
fn traffic(dice: &mut Dice, (_, most): Sizes, traces: &[String]) -> String {
    let frame = ((most + 22).max(64) + 20) * 8;
    let (interval, count) = (dice.between(1_000, 5_000), dice.between(1, 4));
    let (kind, frames) = match dice.between(0, 8) {
        0 => (format!("{{type: file, octets: {} B, at: {} us}}", dice.between(1, 20_000), interval), 0),
        1 if !traces.is_empty() => (format!("{{type: replay, file: {}}}", dice.one_of(traces)), 0),
        2 => {
            let (threads, late) = (dice.between(1, 3), dice.between(0, 90));
            let text = format!(
                "{{type: injected, interval: {interval} us, threads: {threads}, burst: {count}, overhead-max: {late} us}}"
            );
            (text, threads * count)
        }
        3 => {
            let on = dice.between(1, 2_000);
            let text =
                format!("{{type: on-off, on: {on} us, off: {} us, interval: 400 us}}", interval * count);
            (text, on.div_ceil(400))
        }
        4 => (format!("{{type: constant-rate, rate: {} kbit/s}}", dice.between(100, 4_000)), 1),
        5 => {
            let (rate, burst) = (dice.between(100, 3_000), frame * count + dice.between(0, frame));
            return format!("{{type: greedy}}, arrival-curve: {{rate: {rate} kbit/s, burst: {burst} bit}}");
        }
        _ => {
            let jitter = if dice.chance(50) { dice.between(0, 2 * interval) } else { 0 };
            // Of the intervals, not of the dice: other networks stay what they were.
            let phase = if interval % 3 == 0 { ", phase: random" } else { "" };
            let text = format!(
                "{{type: periodic, interval: {interval} us, jitter: {jitter} us, burst: {count}{phase}}}"
            );
            (text, count * (jitter / interval + 1))
        }
    };
    if frames == 0 || dice.chance(85) {
        return kind;
    }
    let (rate, burst) = (dice.between(2_000, 20_000), dice.between(frame, frame * (frames + 1)));
    format!("{kind}, arrival-curve: {{rate: {rate} kbit/s, burst: {burst} bit}}")
}
