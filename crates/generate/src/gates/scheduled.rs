//! Random networks of scheduled streams: talkers release frames at stated offsets, and gates have windows for them,
//! planned for the arrivals of the frames, or badly planned: early, late, too short, of another phase, shared with
//! unscheduled streams. Events start and stop some of them.
//!
//! Clocks are true with few exceptions, and have any reading when the run begins. Each class finds an interval for its largest frame.

use std::fmt::Write as _;

use crate::{Dice, grain};

/// A stream that is released at known instants.
struct Scheduled {
    talker: u64,
    listener: u64,
    class: u64,
    payload: u64,
    /// Nanoseconds.
    interval: u64,
    offset: u64,
    jitter: u64,
    burst: u64,
}

/// Common values of the network. Times in nanoseconds.
struct Shape {
    bridges: u64,
    /// Whether the bridges are a ring, which streams pass in one direction; else a line.
    is_ring: bool,
    /// The bridge of each station.
    at: Vec<u64>,
    rate: u64,
    latency: u64,
    cycle: u64,
    /// The reading of a clock when the run begins, per bridge.
    readings: Vec<u64>,
    /// Whether windows fit the arrivals of frames.
    is_planned: bool,
}

/// Windows of a port: from, to, class.
type Windows = Vec<(u64, u64, u64)>;

/// The description of a seed.
#[must_use]
pub fn random_scheduled(seed: u64) -> String {
    drawn(seed, Dice::new(seed ^ 0x7363_6865_6475_6c65), Shape::line, false)
}

/// The same in rings of bridges, which streams pass in one direction: each port comes behind another.
#[must_use]
pub fn random_scheduled_rings(seed: u64) -> String {
    drawn(seed, Dice::new(seed ^ 0x7363_6865_7269_6e67), Shape::ring, false)
}

/// The same, and the lists of some ports change in the run to others that have windows for the same frames.
#[must_use]
pub fn random_scheduled_changes(seed: u64) -> String {
    drawn(seed, Dice::new(seed ^ 0x7363_6865_6368_616e), Shape::line, true)
}

fn drawn(seed: u64, mut dice: Dice, draw: fn(&mut Dice) -> Shape, has_changes: bool) -> String {
    let mut events = String::new();
    let shape = draw(&mut dice);
    let most = if shape.is_ring { 9 } else { 5 };
    let streams: Vec<Scheduled> = (0..dice.between(1, most)).map(|_| shape.stream(&mut dice)).collect();
    let mut text = format!("name: scheduled-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}}}\n");
    if shape.is_ring {
        text.push_str("allow: [port::overload]\n");
    }
    let least = if dice.chance(20) { shape.latency / 2 } else { shape.latency };
    let tie =
        dice.one_of(&["arrival-order", "arrival-order", "arrival-order", "arrival-order", "round-robin"]);
    let switching = if dice.chance(10) { "cut-through" } else { "store-and-forward" };
    let _ = writeln!(
        text,
        "devices:\n  switch: {{switching: {switching}, tie-rule: {tie}, stages: [{{name: forwarding, position: processing, latency: {{min: {least} ns, max: {} ns}}}}]}}\n\
         defaults: {{rate: {} Mbit/s, device: switch, traffic-class-table: identity}}",
        shape.latency, shape.rate
    );
    let has_hosts = dice.chance(25);
    if has_hosts {
        let _ = writeln!(
            text,
            "hosts: {{slow: {{transmit: {{min: 0 ns, max: {} ns}}}}}}",
            dice.between(1, 3_000)
        );
    }
    text.push_str("nodes:\n");
    for bridge in 0..shape.bridges {
        let changed = shape.write_bridge(&mut text, &mut dice, bridge, &streams);
        for (port, windows) in changed.into_iter().filter(|_| has_changes) {
            shape.write_changes(&mut events, &mut dice, (bridge, &port), (&windows, &streams));
        }
    }
    for station in 0..shape.at.len() {
        let _ = writeln!(text, "  e{station}:\n    type: end-station");
        if has_hosts {
            text.push_str("    host: slow\n");
        }
        shape.write_clock(&mut text, &mut dice, 0);
    }
    text.push_str("links:\n");
    for bridge in 1..shape.bridges {
        let (before, phy) = (bridge - 1, phy(&mut dice));
        let _ = writeln!(text, "  - {{between: [\"b{before}:b{bridge}\", \"b{bridge}:b{before}\"]{phy}}}");
    }
    if shape.is_ring {
        let last = shape.bridges - 1;
        let _ = writeln!(text, "  - {{between: [\"b{last}:b0\", \"b0:b{last}\"]}}");
    }
    for (station, bridge) in shape.at.iter().enumerate() {
        let phy = phy(&mut dice);
        let _ = writeln!(text, "  - {{between: [e{station}, \"b{bridge}:e{station}\"]{phy}}}");
    }
    text.push_str("streams:\n");
    let mut starts = Dice::new(seed ^ 0x7374_6172_7473);
    for (number, stream) in streams.iter().enumerate() {
        let is_started = !starts.chance(25);
        let route = shape.route(stream.talker, stream.listener);
        stream.write(&mut text, &mut dice, (number, is_started), &route);
        stream.write_starts(&mut events, &mut starts, (number, is_started));
    }
    shape.write_others(&mut text, &mut dice);
    if !events.is_empty() {
        let _ = write!(text, "events:\n{events}");
    }
    let _ = writeln!(text, "run: {{duration: 40 ms, seed: {}}}", seed + 1);
    // Readings in steps are not true time.
    if seed.is_multiple_of(8) { grain::drawn(&text, seed, &grain::FINE) } else { text }
}

fn phy(dice: &mut Dice) -> &'static str {
    if dice.chance(15) { ", phy-delay: {min: 200 ns, max: 500 ns}" } else { "" }
}

impl Shape {
    fn line(dice: &mut Dice) -> Self {
        let size = (dice.between(1, 3), dice.between(3, 5));
        Self::draw(dice, size, false)
    }

    fn ring(dice: &mut Dice) -> Self {
        let size = (dice.between(3, 4), dice.between(4, 6));
        Self::draw(dice, size, true)
    }

    fn draw(dice: &mut Dice, (bridges, stations): (u64, u64), is_ring: bool) -> Self {
        let cycle = *dice.one_of(&[250_000, 500_000, 500_000, 1_000_000]);
        let has_readings = dice.chance(30);
        let mut reading = || if has_readings { dice.between(0, 900) * 1_000 } else { 0 };
        let readings = (0..bridges).map(|_| reading()).collect();
        Self {
            bridges,
            is_ring,
            at: (0..stations).map(|_| dice.between(0, bridges - 1)).collect(),
            rate: *dice.one_of(&[100, 100, 1_000]),
            latency: dice.between(0, 8_000),
            cycle,
            readings,
            is_planned: dice.chance(75),
        }
    }

    fn stream(&self, dice: &mut Dice) -> Scheduled {
        let stations = self.at.len() as u64;
        let talker = dice.between(0, stations - 1);
        let interval = self.cycle * dice.one_of(&[1, 1, 1, 2, 3]);
        Scheduled {
            talker,
            listener: (talker + dice.between(1, stations - 1)) % stations,
            class: *dice.one_of(&[7, 7, 7, 6]),
            payload: dice.between(46, 400),
            interval,
            offset: dice.between(0, interval - 1),
            jitter: if dice.chance(20) { dice.between(1, 5_000) } else { 0 },
            burst: *dice.one_of(&[1, 1, 1, 2, 3]),
        }
    }

    /// How long a frame with so much payload is on the line, preamble and all.
    fn sent(&self, payload: u64) -> u64 {
        ((payload + 22).max(64) + 20) * 8_000 / self.rate
    }

    /// Ports of bridges on the path of a stream, by bridge and name, and when its first frame comes there.
    fn way(&self, stream: &Scheduled) -> Vec<(u64, String, u64)> {
        let (mut at, to) = (self.at[stream.talker as usize], self.at[stream.listener as usize]);
        let mut came = stream.offset + self.sent(stream.payload) + self.latency;
        let mut ways = Vec::new();
        while at != to {
            let next = self.next(at, to);
            ways.push((at, format!("b{next}"), came));
            came += self.sent(stream.payload) + self.latency;
            at = next;
        }
        ways.push((at, format!("e{}", stream.listener), came));
        ways
    }

    /// The bridge behind one on the way to another.
    fn next(&self, at: u64, to: u64) -> u64 {
        match self.is_ring {
            true => (at + 1) % self.bridges,
            false if at < to => at + 1,
            false => at - 1,
        }
    }

    /// The route of a stream around a ring, as text; none along a line.
    fn route(&self, talker: u64, listener: u64) -> String {
        if !self.is_ring {
            return String::new();
        }
        let (first, last) = (self.at[talker as usize], self.at[listener as usize]);
        let on = |at: &u64| (*at != last).then(|| self.next(*at, last));
        let bridges: Vec<String> =
            std::iter::successors(Some(first), on).map(|bridge| format!("b{bridge}")).collect();
        format!("route: [{}], ", bridges.join(", "))
    }

    /// Windows for all scheduled frames at a port, in the time of its cycle.
    fn windows(&self, dice: &mut Dice, (bridge, port): (u64, &str), streams: &[Scheduled]) -> Windows {
        let mut windows = Vec::new();
        for stream in streams {
            let way = self.way(stream);
            let Some((.., came)) = way.iter().find(|(at, name, _)| *at == bridge && name == port) else {
                continue;
            };
            let own = self.sent(stream.payload) * stream.burst;
            let (early, late) = match dice.between(0, 3) {
                0 => (0, 0),
                1 => (dice.between(0, 4_000), dice.between(0, 8_000)),
                _ => (1_000 + self.latency, 2_000 + stream.jitter + own * dice.between(0, 2)),
            };
            let came = if self.is_planned { *came } else { came + dice.between(0, self.cycle) };
            let from = (came + 4 * self.cycle - early) % self.cycle;
            windows.push((from, (from + early + own + late).min(from + self.cycle), stream.class));
        }
        windows
    }

    /// A bridge with its ports, of which most have gates: these, with their windows.
    fn write_bridge(
        &self,
        text: &mut String,
        dice: &mut Dice,
        bridge: u64,
        streams: &[Scheduled],
    ) -> Vec<(String, Windows)> {
        let mut gated = Vec::new();
        let _ = writeln!(text, "  b{bridge}:\n    type: bridge");
        self.write_clock(text, dice, self.readings[bridge as usize]);
        text.push_str("    ports:\n");
        let beside = match self.is_ring {
            true => [Some((bridge + self.bridges - 1) % self.bridges), Some((bridge + 1) % self.bridges)],
            false => [bridge.checked_sub(1), Some(bridge + 1).filter(|next| *next < self.bridges)],
        };
        let stations =
            (0..).zip(&self.at).filter(|(_, at)| **at == bridge).map(|(one, _): (u64, _)| format!("e{one}"));
        let ports = beside.into_iter().flatten().map(|next| format!("b{next}")).chain(stations);
        for port in ports.collect::<Vec<_>>() {
            let windows = self.windows(dice, (bridge, &port), streams);
            if windows.is_empty() || dice.chance(10) {
                let _ = writeln!(text, "      {port}: {{}}");
            } else {
                let _ = writeln!(text, "      {port}:");
                self.write_list(text, dice, bridge, &windows);
                gated.push((port, windows));
            }
        }
        gated
    }

    /// Changes of a port's list, to other windows for the same frames or to the same ones, whole cycles later or not.
    fn write_changes(
        &self,
        text: &mut String,
        dice: &mut Dice,
        (bridge, port): (u64, &str),
        (before, streams): (&Windows, &[Scheduled]),
    ) {
        let reading = self.readings[bridge as usize];
        let mut at = 4_000_000 + dice.between(0, 6_000) * 1_000;
        for _ in 0..dice.between(0, 2) {
            let other = self.windows(dice, (bridge, port), streams);
            let stays = dice.chance(30);
            let entries = self.entries(dice, if stays { before } else { &other });
            let begin = (at + dice.between(1_000, 4_000) * 1_000) / self.cycle * self.cycle + reading;
            let base = match dice.between(0, 4) {
                0 => reading,
                1 => begin + dice.between(0, self.cycle),
                _ => begin,
            };
            let _ = writeln!(text, "  - at: {at} ns\n    change-gates:\n      port: b{bridge}:{port}");
            let _ = writeln!(text, "      admin-base-time: {base} ns\n      admin-control-list:");
            for (states, span) in entries {
                let _ = writeln!(text, "        - {{gate-states: {states}, time-interval: {span} ns}}");
            }
            at += dice.between(5_000, 15_000) * 1_000;
        }
    }

    /// In windows their classes alone are open, or others too; elsewhere all others.
    fn entries(&self, dice: &mut Dice, windows: &Windows) -> Vec<(u64, u64)> {
        let scheduled: u64 = windows.iter().fold(0, |all, (.., class)| all | 1 << class);
        let beside = *dice.one_of(&[0, 0, 0, 1, 0x21]);
        let outside = if dice.chance(85) { 0xff & !scheduled } else { 0xff };
        let mut edges: Vec<u64> =
            windows.iter().flat_map(|(from, to, _)| [from % self.cycle, to % self.cycle]).collect();
        edges.extend([0, self.cycle]);
        edges.sort_unstable();
        edges.dedup();
        let is_in = |at: u64, (from, to, _): &(u64, u64, u64)| {
            (*from <= at && at < *to) || (*from <= at + self.cycle && at + self.cycle < *to)
        };
        let mut entries: Vec<(u64, u64)> = Vec::new();
        for pair in edges.windows(2) {
            let open = windows.iter().filter(|window| is_in(pair[0], window)).map(|(.., class)| 1 << class);
            let open: u64 = open.fold(0, |all, one| all | one);
            entries.push((if open == 0 { outside } else { open | beside }, pair[1] - pair[0]));
        }
        self.open_for_all(&mut entries);
        entries
    }

    fn write_list(&self, text: &mut String, dice: &mut Dice, bridge: u64, windows: &Windows) {
        let entries = self.entries(dice, windows);
        text.push_str("        gate-parameter-table:\n          gate-enabled: true\n");
        let reading = self.readings[bridge as usize];
        let base = match dice.between(0, 9) {
            0 => dice.between(0, 3_000) * 1_000,
            1 => reading + self.cycle * dice.between(0, 3),
            _ => reading,
        };
        let _ = writeln!(text, "          admin-base-time: {base} ns");
        for (key, values, chance) in [
            ("guard", ["max-sdu\n          queue-max-sdu-table: {6: 402 B, 7: 402 B}", "none"], 15),
            ("tick-granularity", ["8 ns", "1 us"], 15),
            ("admin-gate-states", ["[]", "[0, 5]"], 15),
        ] {
            if dice.chance(chance) {
                let _ = writeln!(text, "          {key}: {}", dice.one_of(&values));
            }
        }
        text.push_str("          admin-control-list:\n");
        for (states, span) in entries {
            let _ = writeln!(text, "            - {{gate-states: {states}, time-interval: {span} ns}}");
        }
    }

    /// A class without an interval for its largest frame is open during the full cycle.
    fn open_for_all(&self, entries: &mut [(u64, u64)]) {
        for class in 0..8 {
            let need = self.sent(if class < 6 { 1_500 } else { 400 }) + 2_100;
            let (mut longest, mut run) = (0, 0);
            // Over the end of the cycle too.
            for (states, span) in entries.iter().chain(entries.iter()) {
                run = if states >> class & 1 == 1 { run + span } else { 0 };
                longest = longest.max(run);
            }
            if longest < need {
                entries.iter_mut().for_each(|(states, _)| *states |= 1 << class);
            }
        }
    }

    /// A clock with this reading when the run begins; few are not true.
    fn write_clock(&self, text: &mut String, dice: &mut Dice, reading: u64) {
        let tolerance = if dice.chance(3) { "tolerance: 50 ppm, " } else { "" };
        let _ = writeln!(text, "    clock: {{{tolerance}offset: {reading} ns}}");
    }

    /// Unscheduled streams, at any phase, of other classes and of the same.
    fn write_others(&self, text: &mut String, dice: &mut Dice) {
        let stations = self.at.len() as u64;
        let count = dice.between(0, 4);
        for number in 0..count {
            let talker = dice.between(0, stations - 1);
            let listener = (talker + dice.between(1, stations - 1)) % stations;
            let route =
                if self.is_ring && dice.chance(50) { self.route(talker, listener) } else { String::new() };
            let class = *dice.one_of(&[0, 0, 0, 3, 5, 5, 7, 6]);
            let payload = if class >= 6 { dice.between(46, 400) } else { dice.between(46, 1_500) };
            let interval = self.sent(payload) * dice.between(8 * count, 40 * count);
            let traffic = match dice.between(0, 2) {
                0 => format!("{{type: periodic, interval: {interval} ns}}"),
                1 => format!("{{type: periodic, interval: {interval} ns, jitter: {} ns}}", interval / 3),
                _ => format!("{{type: constant-rate, rate: {} bit/s}}", self.rate * 1_000_000 / (10 * count)),
            };
            let _ = writeln!(
                text,
                "  - {{name: x{number}, {route}talker: e{talker}, listeners: e{listener}, priority: {class}, payload: {payload} B, traffic: {traffic}}}"
            );
        }
    }
}

impl Scheduled {
    /// Events that start it, stop it, and start it again: often in the same phase.
    fn write_starts(&self, text: &mut String, dice: &mut Dice, (number, is_started): (usize, bool)) {
        let mut first = 0;
        if !is_started {
            first = dice.between(0, 12_000) * 1_000;
            let _ = writeln!(text, "  - {{at: {first} ns, start-stream: s{number}}}");
        }
        if !dice.chance(if is_started { 15 } else { 40 }) {
            return;
        }
        let stop = first + dice.between(2_000, 9_000) * 1_000;
        let _ = writeln!(text, "  - {{at: {stop} ns, stop-stream: s{number}}}");
        if dice.chance(60) {
            let mut again = first + ((stop - first) / self.interval + dice.between(1, 6)) * self.interval;
            if dice.chance(20) {
                again += dice.between(1, self.interval - 1);
            }
            let _ = writeln!(text, "  - {{at: {again} ns, start-stream: s{number}}}");
        }
    }

    fn write(&self, text: &mut String, dice: &mut Dice, (number, is_started): (usize, bool), route: &str) {
        let least = if dice.chance(15) { self.payload.min(46) } else { self.payload };
        let Self { talker, listener, class, payload, interval, offset, jitter, burst } = self;
        let started = if is_started { "" } else { "started: false, " };
        let _ = writeln!(
            text,
            "  - {{name: s{number}, {started}{route}talker: e{talker}, listeners: e{listener}, priority: {class}, payload: {{min: {least} B, max: {payload} B}}, \
             traffic: {{type: periodic, interval: {interval} ns, offset: {offset} ns, jitter: {jitter} ns, burst: {burst}}}}}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_of_scheduled_streams_are_valid() {
        for seed in 0..450 {
            let of = match seed / 150 {
                0 => random_scheduled,
                1 => random_scheduled_changes,
                _ => random_scheduled_rings,
            };
            let text = of(seed);
            assert_eq!(text, of(seed));
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
        }
    }
}
