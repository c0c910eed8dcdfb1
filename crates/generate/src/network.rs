//! Small random networks that are hard on bounds: every mechanism, device choice and kind of traffic,
//! with greedy talkers, bursts, drifting clocks and odd sizes.
//!
//! Drawn within what can be bounded: rates times (1 + 2ρ) stay within CIR, idleSlope and the line.

use std::fmt::Write as _;

use crate::{Dice, grain, identification};

/// A random network: the same text for the same seed.
#[must_use]
pub fn random_network(seed: u64) -> String {
    grain::drawn(&Sketch::draw(seed).describe(), seed, &grain::COARSE)
}

struct Station {
    bridge: usize,
    slow: bool,
}

struct StreamSketch {
    talker: usize,
    listeners: Vec<usize>,
    priority: u64,
    payload: (u64, u64),
    /// Bits of the wire per second.
    rate: u64,
    /// Frames of burst.
    burst: u64,
    kind: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Selection {
    Strict,
    Credit,
    Ats,
}

struct Sketch {
    seed: u64,
    dice: Dice,
    /// Draws stream identification, so that the rest is the same with and without.
    names: Dice,
    /// Functions of its devices.
    functions: Vec<&'static str>,
    /// Links between bridges.
    trunks: Vec<(usize, usize)>,
    bridges: usize,
    stations: Vec<Station>,
    streams: Vec<StreamSketch>,
    /// Per bridge and class.
    selections: Vec<[Selection; 8]>,
    tolerance_ppm: u64,
    /// Step of the clocks, in nanoseconds; 0: none.
    granularity_ns: u64,
    /// Octets that credit-based shapers charge in addition to a frame.
    credit_overhead: u64,
    /// Whether schedulers have no tick, and some CommittedInformationRates are those of their streams.
    exact: bool,
    trunk_rate: u64,
    edge_rate: u64,
}

impl Sketch {
    fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let bridges = usize::try_from(dice.between(1, 4)).expect("few");
        let mut trunks: Vec<(usize, usize)> = (1..bridges)
            .map(|bridge| (usize::try_from(dice.between(0, bridge as u64 - 1)).expect("few"), bridge))
            .collect();
        if bridges > 2 && dice.chance(15) && !trunks.contains(&(0, bridges - 1)) {
            trunks.push((0, bridges - 1));
        }
        let edge_rate = *dice.one_of(&[100, 100, 1_000]);
        let trunk_rate = if edge_rate == 1_000 { 1_000 } else { *dice.one_of(&[100, 100, 1_000]) };
        let count = usize::try_from(dice.between(3, 7)).expect("few");
        let stations = (0..count)
            .map(|_| Station {
                bridge: usize::try_from(dice.between(0, bridges as u64 - 1)).expect("few"),
                slow: dice.chance(20),
            })
            .collect();
        let few_classes = dice.chance(60);
        let base: [Selection; 8] = core::array::from_fn(|_| Self::selection(&mut dice));
        let selections = (0..bridges)
            .map(
                |_| if dice.chance(70) { base } else { core::array::from_fn(|_| Self::selection(&mut dice)) },
            )
            .collect();
        // Dice of its own: what else a seed draws stays as it was.
        let mut shaping = Dice::new(seed ^ 0x7368_6170);
        let mut sketch = Self {
            seed,
            granularity_ns: *shaping.one_of(&[0, 0, 0, 0, 1, 8, 100]),
            credit_overhead: *shaping.one_of(&[20, 20, 0, 8, 21, 24, 60]),
            exact: shaping.chance(40),
            trunks,
            bridges,
            stations,
            streams: Vec::new(),
            selections,
            tolerance_ppm: *dice.one_of(&[0, 0, 100, 1_000, 10_000]),
            trunk_rate,
            edge_rate,
            names: Dice::new(!seed),
            functions: identification::FUNCTIONS.to_vec(),
            dice,
        };
        sketch.draw_streams(few_classes);
        sketch
    }

    fn selection(dice: &mut Dice) -> Selection {
        *dice.one_of(&[Selection::Strict, Selection::Strict, Selection::Credit, Selection::Ats])
    }

    fn draw_streams(&mut self, few_classes: bool) {
        let dice = &mut self.dice;
        let count = dice.between(2, 10);
        let classes = [*dice.one_of(&[7, 6, 5]), *dice.one_of(&[4, 3]), *dice.one_of(&[0, 1, 2])];
        let small = dice.chance(30);
        // The slowest line carries all streams at worst.
        let budget = self.edge_rate.min(self.trunk_rate) * 1_000_000 * dice.between(20, 90) / 100;
        for _ in 0..count {
            let stations = self.stations.len() as u64;
            let talker = usize::try_from(dice.between(0, stations - 1)).expect("few");
            let mut listeners = Vec::new();
            for _ in 0..if dice.chance(25) { 3 } else { 1 } {
                let listener = usize::try_from(dice.between(0, stations - 1)).expect("few");
                if listener != talker && !listeners.contains(&listener) {
                    listeners.push(listener);
                }
            }
            if listeners.is_empty() {
                listeners.push((talker + 1) % self.stations.len());
            }
            let most = if small { dice.between(46, 200) } else { dice.between(46, 1_500) };
            let least = if dice.chance(20) { dice.between(1, most) } else { most };
            let rate = budget / count * dice.between(30, 100) / 100;
            self.streams.push(StreamSketch {
                talker,
                listeners,
                priority: if few_classes { *dice.one_of(&classes) } else { dice.between(0, 7) },
                payload: (least, most),
                rate,
                burst: *dice.one_of(&[1, 1, 2, 3, 5]),
                kind: dice.between(0, 9),
            });
        }
    }

    fn describe(mut self) -> String {
        let mut text = String::new();
        let _ = write!(
            text,
            "name: random-{}\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults:\n  rate: {} Mbit/s\n  traffic-class-table: identity\n  \
             clock: {{tolerance: {} ppm{}}}\nrun: {{duration: 8 ms, seed: {}}}\n",
            self.seed,
            self.edge_rate,
            self.tolerance_ppm,
            self.granularity(),
            self.seed
        );
        self.write_device(&mut text);
        self.write_nodes(&mut text);
        text.push_str("links:\n");
        for (left, right) in self.trunks.clone() {
            let metres = self.dice.between(0, 200);
            let _ = writeln!(
                text,
                "  - {{between: [b{left}, b{right}], rate: {} Mbit/s, length: {metres} m}}",
                self.trunk_rate
            );
        }
        for number in 0..self.stations.len() {
            let (bridge, slow) = (self.stations[number].bridge, self.stations[number].slow);
            let phy = if self.dice.chance(20) { ", phy-delay: {min: 200 ns, max: 500 ns}" } else { "" };
            let rate = if slow && self.edge_rate == 1_000 { 1_000 } else { self.edge_rate };
            let _ = writeln!(text, "  - {{between: [e{number}, b{bridge}], rate: {rate} Mbit/s{phy}}}");
        }
        self.write_streams(&mut text);
        text
    }

    fn write_device(&mut self, text: &mut String) {
        let dice = &mut self.dice;
        let tie = dice.one_of(&["arrival-order", "arrival-order", "round-robin", "lowest-port"]);
        let two_stage = dice.chance(25);
        let switching = if dice.chance(20) { "cut-through" } else { "store-and-forward" };
        let organisation = dice.one_of(&["eligibility-ordered", "interleaved-regulators"]);
        let grouping = dice.one_of(&["upstream-class", "own-class"]);
        let quantum = dice.one_of(&[1, 8_000, 100_000]);
        let _ = write!(
            text,
            "devices:\n  drawn:\n    switching: {switching}\n    tie-rule: {tie}\n    two-stage: {two_stage}\n    \
             credit-charged-overhead: {} B\n",
            self.credit_overhead
        );
        if switching == "cut-through" {
            // Dice of its own: what else a seed draws stays as it was.
            let mut cut = Dice::new(self.seed ^ 0x6375_7474);
            let header = *cut.one_of(&[14, 64, 64, 300, 2_000]);
            let frames = cut.one_of(&["all", "all", "strict-priority-to-one-port"]);
            let _ = write!(text, "    cut-through-header: {header} B\n    cut-through-frames: {frames}\n");
        }
        let mut processing_max_ns = 0;
        if dice.chance(60) {
            let least = dice.between(0, 2_000);
            let most = least + if dice.chance(50) { dice.between(0, 3_000) } else { 0 };
            let per_octet = if dice.chance(30) { dice.between(0, 8) } else { 0 };
            processing_max_ns = most + per_octet * 1_600;
            let position = dice.one_of(&["reception", "processing", "processing"]);
            let _ = write!(
                text,
                "    stages:\n      - {{name: forwarding, position: {position}, \
                 latency: {{min: {least} ns, max: {most} ns, per-octet: {per_octet} ns}}}}\n"
            );
            if dice.chance(25) {
                let delay = dice.between(0, 3_000);
                let _ =
                    writeln!(text, "      - {{name: sending, position: transmission, latency: {delay} ns}}");
            }
        }
        let margin = if dice.chance(30) { dice.between(0, 20_000) } else { 0 };
        let _ = write!(
            text,
            "    ats:\n      organisation: {organisation}\n      grouping: {grouping}\n      \
             processing-delay-max: {} ns\n",
            processing_max_ns + margin
        );
        if !self.exact {
            let _ = writeln!(text, "      time-quantum: {quantum} ps");
        }
        // Without a function every stream has a scheduler of its own; with one or with few, some share.
        if self.names.chance(35) {
            let function = *self.names.one_of(&["null-stream", "smac-vlan-stream", "ip-stream"]);
            self.functions = vec![function];
            let _ = writeln!(text, "      stream-identification: [{function}-identification]");
        }
        if self.names.chance(15) {
            let limit = self.names.between(1, 3);
            let _ = writeln!(text, "      schedulers-per-group: {limit}");
        }
        text.push_str("  stored: {based-on: drawn, switching: store-and-forward}\n");
    }

    /// Addresses of IPv4, of which several streams have the same.
    fn udp(&mut self, payload_min: u64) -> String {
        if payload_min < 28 || self.names.chance(30) {
            return String::new();
        }
        let port = self.names.between(1, 4);
        format!(
            ", udp: {{source: 10.0.0.1, destination: 10.0.0.2, source-port: 9, destination-port: {port}}}"
        )
    }

    fn write_nodes(&mut self, text: &mut String) {
        text.push_str("nodes:\n");
        for bridge in 0..self.bridges {
            let device = if Dice::new(self.seed ^ bridge as u64 ^ 0x7374_6f72).chance(20) {
                "stored"
            } else {
                "drawn"
            };
            let _ =
                write!(text, "  b{bridge}: {{type: bridge, device: {device}, {}classes: {{", self.clock());
            for class in 0..8 {
                match self.selections[bridge][class] {
                    Selection::Strict => {}
                    Selection::Ats => {
                        let _ = write!(text, "{class}: {{transmission-selection: ats}}, ");
                    }
                    Selection::Credit => {
                        let load = self.charged_load(class);
                        // With what is charged beyond the wire the classes may need more than the line has.
                        let all: u64 = (0..8)
                            .filter(|other| self.selections[bridge][*other] == Selection::Credit)
                            .map(|other| self.charged_load(other))
                            .sum();
                        let line = self.edge_rate.min(self.trunk_rate) * 1_000_000;
                        let load =
                            if all > line { load * (line / 1_000) / all.div_ceil(1_000) } else { load };
                        if load > 0 {
                            let _ = write!(
                                text,
                                "{class}: {{transmission-selection: credit-based, idle-slope: {load} bit/s}}, "
                            );
                        }
                    }
                }
            }
            text.push_str("}}\n");
        }
        for number in 0..self.stations.len() {
            let clock = self.clock();
            let _ = writeln!(text, "  e{number}: {{type: end-station, {}}}", clock.trim_end_matches(", "));
        }
    }

    /// The greatest charged load of a class at a port: all its streams may meet there.
    fn charged_load(&self, class: usize) -> u64 {
        let of_class = self.streams.iter().filter(|stream| stream.priority == class as u64);
        let load: u64 = of_class.map(|stream| self.committed(stream.rate)).sum();
        // The smallest frame is charged most beyond the wire.
        (load * (64 + self.credit_overhead.max(20))).div_ceil(84)
    }

    /// A rate as a shaper whose clock is slow must be set to pass it from a talker whose clock is fast.
    fn committed(&self, rate: u64) -> u64 {
        rate + rate * 21 * self.tolerance_ppm / 10_000_000 + 1
    }

    /// A clock: at one end of its tolerance, or drawn.
    fn clock(&mut self) -> String {
        let ppm = self.tolerance_ppm;
        match self.dice.between(0, 3) {
            _ if ppm == 0 => String::new(),
            0 => format!("clock: {{tolerance: {ppm} ppm, drift: {ppm} ppm{}}}, ", self.granularity()),
            1 => format!("clock: {{tolerance: {ppm} ppm, drift: -{ppm} ppm{}}}, ", self.granularity()),
            _ => String::new(),
        }
    }

    fn granularity(&self) -> String {
        match self.granularity_ns {
            0 => String::new(),
            step => format!(", granularity: {step} ns"),
        }
    }

    fn write_streams(&mut self, text: &mut String) {
        text.push_str("streams:\n");
        let lowest = self.streams.iter().map(|stream| stream.priority).min().unwrap_or(0);
        for number in 0..self.streams.len() {
            let (least, most) = self.streams[number].payload;
            let stream = &self.streams[number];
            let wire = ((most + 22).max(64) + 20) * 8;
            // What a file, or Poisson traffic, would do to a bound is no test of one.
            let kind = if stream.kind == 9 && stream.priority != lowest { 0 } else { stream.kind };
            let interval_ns = (wire * stream.burst * 1_000_000_000).div_ceil(stream.rate);
            let burst_bits = wire * stream.burst;
            let (traffic, burst_bits) = match kind {
                0..=4 => ("{type: greedy}".to_owned(), burst_bits),
                5 | 6 => {
                    let jitter = self.dice.between(0, interval_ns / 2);
                    let text = format!(
                        "{{type: periodic, interval: {interval_ns} ns, jitter: {jitter} ns, burst: {}}}",
                        stream.burst
                    );
                    (text, burst_bits * 2)
                }
                7 => (format!("{{type: constant-rate, rate: {} bit/s}}", stream.rate), wire),
                8 => {
                    let text = format!(
                        "{{type: on-off, on: {} ns, off: {interval_ns} ns, interval: {interval_ns} ns}}",
                        interval_ns * 3
                    );
                    (text, burst_bits)
                }
                _ => (format!("{{type: poisson, mean-interval: {} ns}}", interval_ns * 2), burst_bits),
            };
            let curve = if kind <= 4 {
                format!(", arrival-curve: {{rate: {} bit/s, burst: {burst_bits} bit}}", stream.rate)
            } else {
                String::new()
            };
            let listeners: Vec<String> =
                stream.listeners.iter().map(|listener| format!("e{listener}")).collect();
            let is_exact = self.exact && self.tolerance_ppm == 0 && number % 2 == 0;
            let cir = if is_exact { stream.rate } else { self.committed(stream.rate) };
            let committed_burst = if self.dice.chance(80) { burst_bits } else { wire };
            let mut udp = self.udp(least);
            let mut own = Dice::new(self.seed ^ number as u64 ^ 0x6964_656e_7469);
            if own.chance(20) {
                udp = identification::keys(&mut own, least, &self.functions);
            }
            let stream = &self.streams[number];
            let shape = if self.dice.chance(20) { ", shape-at-talker: true" } else { "" };
            let _ = writeln!(
                text,
                "  - {{name: s{number}, talker: e{}, listeners: [{}], priority: {}, \
                 payload: {{min: {least} B, max: {most} B}}, traffic: {traffic}{curve}, \
                 shaper: {{committed-information-rate: {cir} bit/s, committed-burst-size: {committed_burst} bit{shape}}}{udp}}}",
                stream.talker,
                listeners.join(", "),
                stream.priority,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_are_valid() {
        for seed in 0..150 {
            let text = random_network(seed);
            assert_eq!(text, random_network(seed));
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
        }
    }
}
