//! Random networks with stream filters (IEEE Std 802.1Q-2022, 8.6.5): streams that keep to their meters, gates and sizes, streams that do
//! not, and streams that promise nothing; filters that share meters and gates; streams that are identified by fields of
//! their headers, of which some match those of others; events that change them.

use std::fmt::Write as _;

use crate::Dice;
use crate::identification::{self, FUNCTIONS};
use crate::shaped_stream::write_clock;

/// A stream, as filters are drawn for it.
pub(crate) struct Stream {
    pub(crate) priority: u64,
    /// Largest payload.
    pub(crate) payload: u64,
    /// Octets of a tag with a sequence number.
    pub(crate) tag: u64,
    /// Bits of the wire per second.
    pub(crate) rate: u64,
    pub(crate) burst: u64,
}

/// The description of a seed.
#[must_use]
pub fn random_stream_filters(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7073_6670_0000);
    let tolerance = *dice.one_of(&[0, 0, 100]);
    let gptp = tolerance == 100 && dice.chance(10);
    let (bridges, stations) = (dice.between(1, 2), dice.between(3, 5));
    let count = dice.between(2, 6);
    let streams: Vec<Stream> = (0..count).map(|_| stream(&mut dice, count)).collect();
    // Dice of its own: what else a seed draws stays as it was. Some devices have few functions, of which streams state some.
    let mut names = Dice::new(seed ^ 0x6964_656e_7469);
    let known = names.chance(50).then(|| {
        *names.one_of(&[
            &[][..],
            &[],
            &["ip-stream"],
            &["ip-stream", "null-stream"],
            &["mask-and-match-stream", "smac-vlan-stream"],
        ])
    });
    let mut text = format!(
        "name: stream-filters-{seed}\nnetwork-control: none\nallow: [port::overload, class::overload]\n"
    );
    // A part of the networks loses tags, and with them priorities and what meters mark.
    if dice.chance(85) {
        text.push_str("vlans: {1: {tagged: all}}\n");
    }
    let selection = *dice.one_of(&["", "", "", "classes: {5: {transmission-selection: ats}}", "cbs"]);
    let latency = dice.between(0, 3_000);
    let _ = writeln!(
        text,
        "devices:\n  drawn: {{stages: [{{name: forwarding, position: processing, latency: {latency} ns, occupancy: {} ns}}]}}",
        latency.min(400)
    );
    if let Some(functions) = known.filter(|functions| !functions.is_empty()) {
        let list: Vec<String> = functions.iter().map(|name| format!("{name}-identification")).collect();
        text.truncate(text.trim_end().len() - 1);
        let _ = writeln!(text, ", ats: {{stream-identification: [{}]}}}}", list.join(", "));
    }
    let _ = writeln!(text, "defaults:\n  rate: 100 Mbit/s\n  traffic-class-table: identity\n  device: drawn");
    match selection {
        "cbs" => {
            let sum: u64 = streams.iter().filter(|one| one.priority == 5).map(|one| one.rate).sum();
            let slope = (sum * 5 / 4 + 1_000_000).min(90_000_000);
            let _ = writeln!(
                text,
                "  classes: {{5: {{transmission-selection: credit-based, idle-slope: {slope} bit/s}}}}"
            );
        }
        "" => {}
        other => {
            let _ = writeln!(text, "  {other}");
        }
    }
    text.push_str("nodes:\n");
    let mut events = String::new();
    for bridge in 0..bridges {
        let _ = writeln!(text, "  b{bridge}:\n    type: bridge");
        write_clock(&mut text, &mut dice, tolerance, true);
        if bridge == 0 || dice.chance(50) {
            let is_plain = selection.is_empty();
            write_filters(&mut text, &mut events, &mut dice, &streams, (bridge, is_plain));
        }
    }
    for station in 0..stations {
        let _ = writeln!(text, "  e{station}:\n    type: end-station");
        write_clock(&mut text, &mut dice, tolerance, true);
    }
    text.push_str("links:\n");
    for bridge in 1..bridges {
        let _ = writeln!(text, "  - {{between: [b{}, b{bridge}]}}", bridge - 1);
    }
    for station in 0..stations {
        let phy = if dice.chance(20) { ", phy-delay: {min: 200 ns, max: 500 ns}" } else { "" };
        let _ = writeln!(text, "  - {{between: [e{station}, b{}]{phy}}}", dice.between(0, bridges - 1));
    }
    if gptp {
        text.push_str(
            "gptp: {log-sync-interval: -4, servo: {step-min: 50 us}, nodes: {e0: {priority1: 100}}}\n",
        );
    }
    text.push_str("streams:\n");
    for (number, stream) in streams.iter().enumerate() {
        write_stream(&mut text, &mut dice, (number, stream), stations);
        if let Some(functions) = known {
            let functions = if functions.is_empty() { &FUNCTIONS[..] } else { functions };
            let least =
                text.rsplit("payload: {min: ").next().and_then(|rest| rest.split(' ').next()?.parse().ok());
            let keys = identification::keys(&mut names, least.unwrap_or(0), functions);
            text.truncate(text.trim_end().len() - 1);
            let _ = writeln!(text, "{keys}}}");
        }
    }
    if dice.chance(10) {
        let _ = writeln!(events, "  - {{at: 8 ms, stop-node: b0}}\n  - {{at: 9 ms, start-node: b0}}");
    }
    if !events.is_empty() && dice.chance(50) {
        let _ = writeln!(text, "events:\n{}", events.trim_end());
    }
    let duration = if gptp { 500 } else { 40 };
    let _ = writeln!(text, "run: {{duration: {duration} ms, seed: {}}}", seed + 1);
    text
}

fn stream(dice: &mut Dice, count: u64) -> Stream {
    let most = *dice.one_of(&[100, 600, 1_454]);
    let payload = 46 + dice.between(0, most);
    let share = dice.between(2, 130);
    Stream {
        priority: *dice.one_of(&[5, 5, 3, 0]),
        payload,
        tag: 0,
        rate: 1_000_000 * share / count + 50_000,
        burst: dice.between(1, 3),
    }
}

/// Octets of a stream's largest frame, with its tag.
fn frame(stream: &Stream) -> u64 {
    (stream.payload + 22).max(64)
}

fn write_stream(text: &mut String, dice: &mut Dice, (number, stream): (usize, &Stream), stations: u64) {
    let talker = dice.between(0, stations - 1);
    let listener = (talker + dice.between(1, stations - 1)) % stations;
    let wire = (frame(stream) + 20) * 8;
    let interval = wire * stream.burst * 1_000_000_000 / stream.rate;
    let least = if dice.chance(30) { dice.between(1, stream.payload) } else { stream.payload };
    let bits = wire * stream.burst;
    let traffic = match dice.between(0, 6) {
        0 => format!("{{type: greedy}}, arrival-curve: {{rate: {} bit/s, burst: {bits} bit}}", stream.rate),
        1 => format!("{{type: constant-rate, rate: {} bit/s}}", stream.rate),
        // It promises nothing, and sends up to ten times as much.
        2 | 3 => {
            format!("{{type: poisson, mean-interval: {} ns}}", (interval / dice.between(2, 10)).max(10_000))
        }
        4 => {
            let jitter = dice.between(0, interval / 2);
            format!(
                "{{type: periodic, interval: {interval} ns, jitter: {jitter} ns, burst: {}}}",
                stream.burst
            )
        }
        _ => {
            let offset = dice.between(0, interval);
            format!(
                "{{type: periodic, interval: {interval} ns, offset: {offset} ns, burst: {}}}",
                stream.burst
            )
        }
    };
    let cir = stream.rate + stream.rate / 500 + 1;
    let _ = writeln!(
        text,
        "  - {{name: s{number}, talker: e{talker}, listeners: e{listener}, priority: {}, payload: {{min: {least} B, max: {} B}}, traffic: {traffic}, \
         shaper: {{committed-information-rate: {cir} bit/s, committed-burst-size: {bits} bit}}}}",
        stream.priority, stream.payload
    );
}

/// The filters of a bridge, and what may be changed of them in the run.
pub(crate) fn write_filters(
    text: &mut String,
    events: &mut String,
    dice: &mut Dice,
    streams: &[Stream],
    (bridge, is_plain): (u64, bool),
) {
    let (mut gates, mut meters) = (String::new(), String::new());
    let (mut gate_count, mut meter_count) = (0, 0);
    let sdu = *dice.one_of(&["msdu", "payload"]);
    let _ = writeln!(text, "    stream-filters:\n      sdu: {sdu}\n      stream-filter-instance-table:");
    let mut rows = 0;
    for (number, stream) in streams.iter().enumerate() {
        if dice.chance(25) && number > 0 {
            continue;
        }
        let mut row = format!("stream-handle: s{number}");
        if dice.chance(15) && number + 1 < streams.len() {
            row = format!("stream-handle: [s{number}, s{}]", number + 1);
        }
        if dice.chance(20) {
            let _ = write!(row, ", priority-spec: {}", stream.priority);
        }
        if dice.chance(30) {
            let (more, less) = (*dice.one_of(&[0, 0, 100]), dice.between(0, 40));
            let most = stream.payload + 2 + stream.tag + more - less.min(stream.payload / 2);
            let blocks = dice.chance(20);
            let _ = write!(
                row,
                ", max-sdu-size: {most} B, stream-blocked-due-to-oversize-frame-enabled: {blocks}"
            );
            if blocks {
                let _ = writeln!(
                    events,
                    "  - {{at: {} us, change-stream-filter: {{node: b{bridge}, stream-filter-instance-id: {number}, stream-blocked-due-to-oversize-frame: false}}}}",
                    dice.between(100, 30_000)
                );
            }
        }
        if dice.chance(35) {
            let shared = gate_count > 0 && dice.chance(30);
            if !shared {
                gate_count += 1;
                write_gate(&mut gates, events, dice, stream, (bridge, gate_count, is_plain));
            }
            let _ = write!(row, ", stream-gate-ref: {gate_count}");
        }
        if dice.chance(65) {
            let shared = meter_count > 0 && dice.chance(30);
            if !shared {
                meter_count += 1;
                write_meter(&mut meters, events, dice, stream, (bridge, meter_count));
            }
            let _ = write!(row, ", flow-meter-ref: {meter_count}");
        }
        let _ = writeln!(text, "        {number}: {{{row}}}");
        rows += 1;
    }
    debug_assert!(rows > 0, "the first stream has a filter");
    if gate_count > 0 {
        let tick = if dice.chance(20) { "      tick-granularity: 200 ns\n" } else { "" };
        let _ = write!(
            text,
            "    stream-gates:\n      sdu: {sdu}\n{tick}      stream-gate-instance-table:\n{gates}"
        );
    }
    if meter_count > 0 {
        let _ = write!(text, "    flow-meters:\n      flow-meter-instance-table:\n{meters}");
    }
}

/// A list of entries, each as YAML.
fn list(dice: &mut Dice, stream: &Stream, ipv: &[&str], closes: bool) -> String {
    let count = dice.between(1, 3);
    let entries: Vec<String> = (0..count)
        .map(|_| {
            let state = if closes && dice.chance(30) { "closed" } else { "open" };
            let span = dice.between(20, 900);
            // What its stream brings in the interval, and less or more.
            let usual = stream.rate / 8 * span / 1_000_000 + frame(stream) * stream.burst;
            let octets = match dice.between(0, 4) {
                0 => format!(", interval-octet-max: {} B", usual * dice.between(30, 120) / 100),
                1 => format!(", interval-octet-max: {} B", usual * 4),
                _ => String::new(),
            };
            format!(
                "{{gate-state: {state}, ipv-spec: {}, time-interval: {span} us{octets}}}",
                dice.one_of(ipv)
            )
        })
        .collect();
    format!("[{}]", entries.join(", "))
}

fn write_gate(
    text: &mut String,
    events: &mut String,
    dice: &mut Dice,
    stream: &Stream,
    (bridge, id, is_plain): (u64, u64, bool),
) {
    let closes = dice.chance(50);
    let ipv: &[&str] = match dice.between(0, 5) {
        0 if is_plain => &["none", "5", "3"],
        1 if is_plain => &["3"],
        2 if is_plain => &["6"],
        _ => &["none"],
    };
    let admin = if closes && dice.chance(40) { "closed" } else { "open" };
    let enabled = dice.chance(90);
    let [invalid, octets] = [dice.chance(10), dice.chance(10)];
    let base = if dice.chance(30) { dice.between(0, 3_000) } else { 0 };
    let cycle = match dice.between(0, 3) {
        0 => format!(", admin-cycle-time: {}/3 ms", dice.between(1, 6)),
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "        {id}: {{gate-enable: {enabled}, admin-gate-states: {admin}, admin-ipv: {}, gate-closed-due-to-invalid-rx-enable: {invalid}, \
         gate-closed-due-octets-exceeded-enable: {octets}, admin-base-time: {base} us{cycle}, admin-control-list: {}}}",
        ipv[0],
        list(dice, stream, ipv, closes)
    );
    let at = dice.between(100, 30_000);
    let gate = format!("node: b{bridge}, stream-gate-instance-id: {id}");
    match dice.between(0, 5) {
        0 if enabled => {
            let _ = writeln!(
                events,
                "  - {{at: {at} us, change-stream-gate: {{{gate}, admin-base-time: {} us, admin-cycle-time-extension: 100 us, admin-control-list: {}}}}}",
                dice.between(0, 35_000),
                list(dice, stream, ipv, closes)
            );
        }
        1 => {
            let flag = dice.one_of(&["gate-closed-due-to-invalid-rx", "gate-closed-due-octets-exceeded"]);
            let _ = writeln!(events, "  - {{at: {at} us, change-stream-gate: {{{gate}, {flag}: false}}}}");
        }
        _ => {}
    }
}

fn write_meter(
    text: &mut String,
    events: &mut String,
    dice: &mut Dice,
    stream: &Stream,
    (bridge, id): (u64, u64),
) {
    let per_cent = |of: u64, dice: &mut Dice| of * *dice.one_of(&[40, 80, 101, 110, 150, 300]) / 100;
    let cir = per_cent(stream.rate, dice);
    let burst = per_cent(frame(stream) * stream.burst * 2, dice);
    let (eir, ebs) = match dice.between(0, 2) {
        0 => (0, 0),
        _ => (per_cent(stream.rate / 2, dice), per_cent(frame(stream) * stream.burst, dice)),
    };
    let coupling = dice.one_of(&["zero", "zero", "one"]);
    let colour = dice.one_of(&["color-blind", "color-blind", "color-aware"]);
    let [drop, red] = [dice.chance(40), dice.chance(8)];
    let excess = if eir > 0 {
        format!("excess-information-rate: {eir} bit/s, excess-burst-size: {ebs} B, ")
    } else {
        String::new()
    };
    let _ = writeln!(
        text,
        "        {id}: {{committed-information-rate: {cir} bit/s, committed-burst-size: {burst} B, {excess}coupling-flag: {coupling}, \
         color-mode: {colour}, drop-on-yellow: {drop}, mark-all-frames-red-enable: {red}}}"
    );
    let at = dice.between(100, 30_000);
    let meter = format!("node: b{bridge}, flow-meter-instance-id: {id}");
    match dice.between(0, 5) {
        0 => {
            let _ = writeln!(
                events,
                "  - {{at: {at} us, change-flow-meter: {{{meter}, committed-information-rate: {} bit/s, committed-burst-size: {} B}}}}",
                per_cent(stream.rate, dice),
                per_cent(frame(stream) * stream.burst * 2, dice)
            );
        }
        1 => {
            let _ = writeln!(
                events,
                "  - {{at: {at} us, change-flow-meter: {{{meter}, mark-all-frames-red: {}}}}}",
                dice.chance(30)
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_with_stream_filters_are_valid() {
        for seed in 0..200 {
            let text = random_stream_filters(seed);
            assert_eq!(text, random_stream_filters(seed));
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
            assert!(!loaded.network.expect("no errors").stream_filters.is_empty());
        }
    }
}
