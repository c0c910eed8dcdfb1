//! Random networks with frame replication and elimination (IEEE Std 802.1CB-2017): rings with stations at one bridge or two, copies over
//! disjoint paths that differ in length, recovery functions of every kind, and one failure at most of links that only one path has. Some have gates and streams that are released at
//! stated offsets, preemptable classes, or ATS schedulers on the paths; some have stream filters, stream gates and flow meters there, others
//! nodes that repeat frames, or schedulers whose parameters change.

use std::fmt::Write as _;

use crate::psfp::{Stream, write_filters};
use crate::{Dice, grain, identification};

/// Common values of a network.
struct Shape {
    /// Megabits per second.
    rate: u64,
    stations: u64,
    /// The cycle of its gates, nanoseconds, if it has some.
    cycle: Option<u64>,
    /// Whether the highest class of some bridges has ATS schedulers.
    is_shaped: bool,
}

/// The description of a seed.
#[must_use]
pub fn random_replication(seed: u64) -> String {
    drawn(seed, Dice::new(seed ^ 0x6672_6572_0000), false)
}

/// The same with stream filters at bridges.
#[must_use]
pub fn random_policed_replication(seed: u64) -> String {
    drawn(seed, Dice::new(seed ^ 0x6670_6672_0000), true)
}

fn drawn(seed: u64, mut dice: Dice, is_policed: bool) -> String {
    let rate = *dice.one_of(&[100, 100, 1_000]);
    let cycle = if dice.chance(25) { Some(*dice.one_of(&[500_000, 1_000_000])) } else { None };
    // Instants are known where clocks are true.
    let tolerance = if cycle.is_some() { 0 } else { *dice.one_of(&[0, 0, 100]) };
    let (bridges, stations) = (dice.between(4, 6), 3);
    let mut text = format!(
        "name: frer-{seed}\nnetwork-control: none\nvlans: {{1: {{tagged: all}}, 2: {{tagged: all}}, 3: {{tagged: all}}}}\ndevices:\n  drawn:\n    \
         stages: [{{name: forwarding, position: processing, latency: {{min: 0 ns, max: {} ns}}}}]\ndefaults:\n  rate: {rate} Mbit/s\n  traffic-class-table: identity\nnodes:\n",
        dice.between(0, 3_000)
    );
    let shape = Shape { rate, stations, cycle, is_shaped: dice.chance(if is_policed { 40 } else { 20 }) };
    if dice.chance(20) {
        let preemptable = "{priority0: preemptable, priority1: preemptable}";
        let key =
            format!("  frame-preemption-parameters: {{frame-preemption-status-table: {preemptable}}}\n");
        text = text.replace("nodes:\n", &(key + "nodes:\n"));
    }
    for bridge in 0..bridges {
        let device = dice.one_of(&["store-and-forward", "drawn"]);
        let _ = writeln!(text, "  b{bridge}:\n    type: bridge\n    device: {device}");
        write_clock(&mut text, &mut dice, tolerance);
        shape.write_port_settings(&mut text, &mut dice);
    }
    for station in 0..stations {
        let _ = writeln!(text, "  e{station}:\n    type: end-station");
        write_clock(&mut text, &mut dice, tolerance);
    }
    text.push_str("links:\n");
    let slow = dice.between(0, bridges - 1);
    for bridge in 0..bridges {
        let delay = if bridge == slow { dice.between(0, 2_000) } else { dice.between(0, 20) };
        let next = (bridge + 1) % bridges;
        let _ = writeln!(
            text,
            "  - {{name: r{bridge}, between: [b{bridge}, b{next}], propagation-delay: {delay} us}}"
        );
    }
    for station in 0..stations {
        let _ = writeln!(text, "  - {{between: [e{station}, b{station}]}}");
        if dice.chance(35) {
            let _ = writeln!(text, "  - {{between: [e{station}, b{}]}}", (station + 2) % bridges);
        }
    }
    let (streams, named) = shape.write_streams(&mut text, &mut dice);
    let mut events = events(&mut dice, bridges);
    if !is_policed {
        let mut dice = Dice::new(seed ^ 0x7265_7065_6174);
        events.extend(repeats(&mut dice, &named.copied));
        events.extend(shapers(&mut dice, &named.shaped));
    }
    if is_policed {
        for bridge in 0..bridges {
            if dice.chance(60) {
                shape.add_filters(&mut text, &mut events, &mut dice, (&streams, bridge));
            }
        }
    }
    let text = shared(&text, bridges, &mut Dice::new(seed ^ 0x7368_6172_6564));
    let mut text = identified(&text, shape.is_shaped, &mut Dice::new(seed ^ 0x6d65_6d62_6572));
    let mut names = Dice::new(seed ^ 0x6964_656e_7469);
    if names.chance(30) {
        text = identification::of_copies(&text, &mut names);
    }
    if !events.is_empty() {
        let _ = writeln!(text, "events: [{}]", events.join(", "));
    }
    let _ = writeln!(text, "run: {{duration: 60 ms, seed: {}}}", seed + 1);
    // Readings in steps are not true time.
    if cycle.is_none() || seed.is_multiple_of(8) { grain::drawn(&text, seed, &grain::FINE) } else { text }
}

impl Shape {
    /// Gates and schedulers of a bridge, or none.
    fn write_port_settings(&self, text: &mut String, dice: &mut Dice) {
        if self.is_shaped && dice.chance(60) {
            text.push_str("    classes: {2: {transmission-selection: ats}}\n");
        }
        let Some(cycle) = self.cycle.filter(|_| dice.chance(60)) else { return };
        // The largest frame fits into each window.
        let first = dice.between(90_000, cycle - 90_000);
        let states = dice.one_of(&[
            ["[2]", "[0, 1]"],
            ["[0, 1, 2]", "[2]"],
            ["[2]", "[0, 1, 2]"],
            ["[0, 1]", "[1, 2]"],
        ]);
        let _ = writeln!(
            text,
            "    gate-parameter-table: {{gate-enabled: true, admin-control-list: [{{gate-states: {}, time-interval: {first} ns}}, {{gate-states: {}, time-interval: {} ns}}]}}",
            states[0],
            states[1],
            cycle - first
        );
    }

    /// Traffic with so much between bursts at least.
    fn write_traffic(&self, dice: &mut Dice, (own, wire, burst): (u64, u64, u64)) -> String {
        let interval_ns = (wire * burst * 1_000_000_000).div_ceil(own);
        if let Some(cycle) = self.cycle.filter(|_| dice.chance(75)) {
            let interval = interval_ns.div_ceil(cycle).next_power_of_two() * cycle;
            let jitter = if dice.chance(20) { dice.between(1, 5_000) } else { 0 };
            let offset = dice.between(0, interval - 1);
            return format!(
                "{{type: periodic, interval: {interval} ns, offset: {offset} ns, jitter: {jitter} ns, burst: {burst}}}"
            );
        }
        match dice.between(0, 3) {
            0 => format!(
                "{{type: greedy}}\n    arrival-curve: {{rate: {own} bit/s, burst: {} bit}}",
                wire * burst
            ),
            1 => {
                let jitter = dice.between(0, interval_ns / 2);
                format!("{{type: periodic, interval: {interval_ns} ns, jitter: {jitter} ns, burst: {burst}}}")
            }
            2 => format!("{{type: constant-rate, rate: {own} bit/s}}"),
            _ => format!("{{type: periodic, interval: {interval_ns} ns, burst: {burst}}}"),
        }
    }

    /// Filters of a bridge, and events that change them.
    fn add_filters(
        &self,
        text: &mut String,
        events: &mut Vec<String>,
        dice: &mut Dice,
        (streams, bridge): (&[Stream], u64),
    ) {
        let (mut filters, mut changes) = (String::new(), String::new());
        // Other classes have no windows, and none may have schedulers.
        let is_plain = self.cycle.is_none() && !self.is_shaped;
        if dice.chance(60) {
            write_meters(&mut filters, dice, streams);
        } else {
            write_filters(&mut filters, &mut changes, dice, streams, (bridge, is_plain));
        }
        let name = format!("  b{bridge}:\n    type: bridge\n");
        *text = text.replace(&name, &(name.clone() + &filters));
        if dice.chance(50) {
            events.extend(changes.lines().map(|line| line.trim_start_matches("  - ").to_owned()));
        }
    }

    fn write_streams(&self, text: &mut String, dice: &mut Dice) -> (Vec<Stream>, Named) {
        let Self { rate, stations, .. } = *self;
        text.push_str("streams:\n");
        let count = dice.between(2, 5);
        let (mut streams, mut named) = (Vec::new(), Named::default());
        for number in 0..count {
            let talker = dice.between(0, stations - 1);
            let first = dice.between(1, stations - 1);
            let mut listeners = vec![(talker + first) % stations];
            let has_copies = dice.chance(75);
            if has_copies && dice.chance(25) {
                listeners.push((talker + stations - first) % stations);
            }
            let most = 46 + dice.between(0, 900);
            let least = if dice.chance(30) { dice.between(1, most) } else { most };
            let wire = ((most + 28).max(64) + 20) * 8;
            // Each copy may pass each port.
            let own = rate * 1_000_000 / (count * 4) * dice.between(10, 100) / 100;
            let burst = dice.between(1, 3);
            let traffic = self.write_traffic(dice, (own, wire, burst));
            let priority = dice.between(0, 2);
            let _ = writeln!(
                text,
                "  - name: s{number}\n    talker: e{talker}\n    listeners: [{}]\n    priority: {priority}\n    payload: {{min: {least} B, max: {most} B}}\n    traffic: {traffic}",
                listeners.iter().map(|listener| format!("e{listener}")).collect::<Vec<_>>().join(", ")
            );
            if self.is_shaped && priority == 2 {
                // A tag of six octets, and what a scheduler charges in addition to a frame.
                let committed = (wire + 48 + 160) * burst;
                let _ = writeln!(
                    text,
                    "    shaper: {{committed-information-rate: {} bit/s, committed-burst-size: {committed} bit}}",
                    own * 3 / 2
                );
                named.shaped.push(Shaped { number, rate: own, burst: committed });
            }
            if has_copies {
                write_replication(text, dice, talker, &listeners);
            }
            if has_copies && !(self.is_shaped && priority == 2) {
                let bridges = std::iter::once(talker).chain(listeners).collect();
                named.copied.push(Copied { number, bridges, interval: (wire * 1_000_000_000).div_ceil(own) });
            }
            let tag = if has_copies { 6 } else { 0 };
            streams.push(Stream { priority, payload: most, tag, rate: own, burst });
        }
        (streams, named)
    }
}

/// Streams that events may name.
#[derive(Default)]
struct Named {
    copied: Vec<Copied>,
    shaped: Vec<Shaped>,
}

/// A stream with schedulers.
struct Shaped {
    number: u64,
    /// Its bits of the wire a second, and those of the bucket at the start.
    rate: u64,
    burst: u64,
}

/// A stream with copies and without schedulers.
struct Copied {
    number: u64,
    /// The bridges at which its talker and its listeners are: each on its paths.
    bridges: Vec<u64>,
    /// From one frame to the next, nanoseconds.
    interval: u64,
}

/// Bridges at talkers or listeners that repeat frames of a stream or two, for some time or to the end.
fn repeats(dice: &mut Dice, copied: &[Copied]) -> Vec<String> {
    let mut events = Vec::new();
    if copied.is_empty() || !dice.chance(40) {
        return events;
    }
    for _ in 0..dice.between(1, 2) {
        let of = dice.one_of(copied);
        let named = format!("node: b{}, stream: s{}", dice.one_of(&of.bridges), of.number);
        let begins = dice.between(0, 30);
        let interval = (of.interval * dice.between(30, 300) / 100).max(1_000);
        events.push(format!("{{at: {begins} ms, repeat-frame: {{{named}, interval: {interval} ns}}}}"));
        if dice.chance(40) {
            let ends = begins + dice.between(1, 20);
            events.push(format!("{{at: {ends} ms, stop-repeating: {{{named}}}}}"));
        }
    }
    events
}

/// Schedulers that get other parameters, with room for their streams, once or twice.
fn shapers(dice: &mut Dice, shaped: &[Shaped]) -> Vec<String> {
    if shaped.is_empty() || !dice.chance(50) {
        return Vec::new();
    }
    let count = dice.between(1, 2);
    let change = |_| {
        let of = dice.one_of(shaped);
        let rate = of.rate * dice.between(110, 300) / 100;
        let burst = of.burst * dice.between(100, 200) / 100;
        format!(
            "{{at: {} ms, change-shaper: {{stream: s{}, committed-information-rate: {rate} bit/s, committed-burst-size: {burst} bit}}}}",
            dice.between(1, 50),
            of.number
        )
    };
    (0..count).map(change).collect()
}

/// A flow meter for each stream, with room for its bursts and for what comes in some time.
fn write_meters(text: &mut String, dice: &mut Dice, streams: &[Stream]) {
    let (mut filters, mut meters) = (String::new(), String::new());
    for (number, stream) in streams.iter().enumerate() {
        let _ = writeln!(filters, "        {number}: {{stream-handle: s{number}, flow-meter-ref: {number}}}");
        let gap = *dice.one_of(&[50, 200, 500, 1_000, 2_000, 4_000]);
        let octets = (stream.payload + 28).max(64) * stream.burst + stream.rate / 8 * gap / 1_000_000;
        let rate = stream.rate + stream.rate / 50;
        let _ = writeln!(
            meters,
            "        {number}: {{committed-information-rate: {rate} bit/s, committed-burst-size: {octets} B, drop-on-yellow: true}}"
        );
    }
    let _ = write!(
        text,
        "    stream-filters:\n      stream-filter-instance-table:\n{filters}    flow-meters:\n      flow-meter-instance-table:\n{meters}"
    );
}

/// How the paths of copies that share a link begin.
const STATED: &str = "      paths: [[";

/// Copies of some streams share a link and part behind it: they go one way around the ring, whose first and last cables are double there.
fn shared(text: &str, bridges: u64, dice: &mut Dice) -> String {
    let number = |part: &str, before: &str, after: char| {
        let rest = &part[part.find(before)? + before.len()..];
        rest[..rest.find(after)?].parse::<u64>().ok()
    };
    let mut parts = text.split("  - name: s");
    let mut with = parts.next().unwrap_or_default().to_owned();
    let (mut doubled, mut streams) = (Vec::new(), String::new());
    for (stream, part) in parts.enumerate() {
        streams.push_str("  - name: s");
        let ends = number(part, "talker: e", '\n').zip(number(part, "listeners: [e", ']'));
        let cables = ends.and_then(|(talker, listener)| {
            let forward = (listener + bridges - talker) % bridges;
            // Each cable of the ring, and the bridge behind it.
            let ahead = |step: u64| ((talker + step) % bridges, (talker + step + 1) % bridges);
            let back = |step: u64| {
                let next = (talker + bridges - step - 1) % bridges;
                (next, next)
            };
            let all: Vec<_> = if forward > bridges / 2 {
                (0..forward).map(ahead).collect()
            } else {
                (0..bridges - forward).map(back).collect()
            };
            Some((all, talker, listener)).filter(|(all, ..)| all.len() > 2)
        });
        let Some((cables, talker, listener)) =
            cables.filter(|_| part.contains("    frer:\n") && dice.chance(15))
        else {
            streams.push_str(part);
            continue;
        };
        let last = cables.len() - 1;
        doubled.extend([cables[0].0, cables[last].0]);
        let path = |first: char, second: char| {
            let steps = cables.iter().enumerate().map(|(step, (cable, bridge))| {
                let kind = if step == 0 {
                    first
                } else if step == last {
                    second
                } else {
                    'r'
                };
                format!(", {kind}{cable}, b{bridge}")
            });
            format!("[b{talker}{}]", steps.collect::<String>())
        };
        let function = format!("{{node: {}{listener}, ", dice.one_of(&["e", "e", "b"]));
        let mut named = String::new();
        let at_listener = format!("{{node: e{listener}, ");
        let has_named = part.contains(&at_listener);
        for line in part.lines().filter(|line| !line.starts_with("      paths: ")) {
            let is_unnamed = line.starts_with("        - {") && !line.contains("node: ");
            let line = match line {
                "    frer:" => {
                    let members = format!(
                        "[{{destination-mac: \"03:00:00:01:{stream:02x}:01\"}}, {{destination-mac: \"03:00:00:01:{stream:02x}:02\", vlan: {}}}]",
                        dice.between(1, 3)
                    );
                    format!(
                        "    frer:\n      paths: [{}, {}]\n      dmac-vlan-stream-identification: {members}",
                        path('r', 'd'),
                        path('d', 'r')
                    )
                }
                _ if is_unnamed && has_named => continue,
                _ if is_unnamed => line.replacen('{', &function, 1),
                _ => line.to_owned(),
            };
            named.push_str(&line);
            named.push('\n');
        }
        streams.push_str(&named);
    }
    doubled.sort_unstable();
    doubled.dedup();
    let mut cables = String::new();
    for cable in doubled {
        let (next, delay) = ((cable + 1) % bridges, dice.between(0, 200));
        let _ = writeln!(
            cables,
            "  - {{name: d{cable}, between: [b{cable}, b{next}], propagation-delay: {delay} us}}"
        );
    }
    with = with.replace("streams:\n", &(cables + "streams:\n"));
    with + &streams
}

/// Copies with an identification of their own, of some streams: other VLANs, priorities and addresses for each path.
fn identified(text: &str, is_shaped: bool, dice: &mut Dice) -> String {
    let mut parts = text.split("    frer:\n");
    let mut with = parts.next().unwrap_or_default().to_owned();
    for (number, part) in parts.enumerate() {
        if part.starts_with(STATED) {
            with.push_str("    frer:\n");
        } else if dice.chance(40) {
            let paths = if part.starts_with("      paths: 3") { 3 } else { 2 };
            let members: Vec<String> = (0..paths).map(|_| member(dice, (number, is_shaped))).collect();
            // Nobody else has its address.
            let _ = writeln!(with, "    destination: \"03:00:00:00:{number:02x}:00\"");
            with.push_str("    frer:\n");
            let _ = writeln!(with, "      dmac-vlan-stream-identification: [{}]", members.join(", "));
        } else {
            with.push_str("    frer:\n");
        }
        with.push_str(part);
    }
    with
}

/// What the copies of a path have. A class with schedulers is for streams that state theirs.
fn member(dice: &mut Dice, (stream, is_shaped): (usize, bool)) -> String {
    let mut keys = Vec::new();
    if !is_shaped && dice.chance(60) {
        keys.push(format!("priority: {}", dice.between(0, 2)));
    }
    if dice.chance(60) {
        keys.push(format!("vlan: {}", dice.between(1, 3)));
    }
    if dice.chance(60) {
        keys.push(format!("destination-mac: \"03:00:00:00:{stream:02x}:{:02x}\"", dice.between(1, 200)));
    }
    format!("{{{}}}", keys.join(", "))
}

/// With several listeners around the ring functions at bridges would pass frames round, so they are at the listeners.
fn write_replication(text: &mut String, dice: &mut Dice, talker: u64, listeners: &[u64]) {
    text.push_str("    frer:\n");
    if listeners.len() == 1 && dice.chance(30) {
        let _ = writeln!(text, "      paths: {}", dice.between(2, 3));
    }
    if dice.chance(30) {
        let _ = writeln!(text, "      sequence-generation: e{talker}");
    }
    if dice.chance(40) {
        let _ =
            writeln!(text, "      encapsulation: {}", dice.one_of(&["hsr-sequence-tag", "prp-sequence-tag"]));
    }
    text.push_str("      sequence-recovery:\n");
    let history = *dice.one_of(&[16_384, 16_384, 16_384, 32, 8, 3]);
    let timeout = *dice.one_of(&[50, 50, 50, 5, 1]);
    let own = |entry: &mut String, dice: &mut Dice| {
        let _ = write!(entry, "reset-timeout: {timeout} ms, history-length: {history}");
        if dice.chance(15) {
            entry.push_str(", algorithm: match");
        }
        if dice.chance(20) {
            entry.push_str(", take-no-sequence: true");
        }
        if dice.chance(40) {
            let _ = write!(
                entry,
                ", latent-error-detection: true, latent-error-detection-parameters: {{difference: {}, period: {} ms, reset-period: 1 s",
                dice.between(0, 8),
                dice.between(2, 8)
            );
            entry.push_str(if dice.chance(20) { ", paths: 2}" } else { "}" });
        }
    };
    let mut places: Vec<String> = listeners.iter().map(|listener| format!("node: e{listener}, ")).collect();
    if listeners.len() == 1 {
        if dice.chance(75) {
            places.clear();
        }
        places.push(String::new());
    }
    for place in &places {
        let mut entry = place.clone();
        own(&mut entry, dice);
        let _ = writeln!(text, "        - {{{entry}}}");
    }
    if dice.chance(25) {
        let place = places.last().expect("at least one");
        let _ = writeln!(
            text,
            "        - {{{place}individual-recovery: true, reset-timeout: {timeout} ms, history-length: {history}}}"
        );
    }
}

/// A cable of the ring fails, or a bridge does, or none.
fn events(dice: &mut Dice, bridges: u64) -> Vec<String> {
    let (first, last) = (dice.between(5, 20), dice.between(21, 45));
    let which = dice.between(0, bridges - 1);
    match dice.between(0, 5) {
        0 | 1 => vec![
            format!("{{at: {first} ms, cut-link: r{which}}}"),
            format!("{{at: {last} ms, mend-link: r{which}}}"),
        ],
        2 => vec![
            format!("{{at: {first} ms, stop-node: b{which}}}"),
            format!("{{at: {last} ms, start-node: b{which}}}"),
        ],
        3 => {
            let rate = format!("{{link: r{which}, bit-error-rate: 1e-5}}");
            vec![format!("{{at: {first} ms, change-bit-error-rate: {rate}}}")]
        }
        _ => Vec::new(),
    }
}

/// A clock at one end of its tolerance, or drawn.
fn write_clock(text: &mut String, dice: &mut Dice, tolerance: u64) {
    if tolerance > 0 {
        let sign = dice.one_of(&["", "-"]);
        let _ = writeln!(text, "    clock: {{tolerance: {tolerance} ppm, drift: {sign}{tolerance} ppm}}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_with_copies_are_valid() {
        let (mut replicated, mut several, mut policed, mut shared) = (0, 0, 0, 0);
        for seed in 0..600 {
            let draw = if seed < 300 { random_replication } else { random_policed_replication };
            let text = draw(seed);
            assert_eq!(text, draw(seed));
            let loaded = tautwire_model::load_text("random", &text);
            assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
            let network = loaded.network.expect("no errors");
            let copied: Vec<_> =
                network.streams.iter().filter(|stream| stream.replication.is_some()).collect();
            replicated += copied.len();
            shared += text.matches(STATED).count();
            policed += network.stream_filters.len();
            several += copied.iter().filter(|stream| stream.listeners.len() > 1).count();
        }
        assert!(replicated > 800 && several > 200, "{replicated} streams with copies, {several} to several");
        assert!(shared > 30, "{shared} streams whose copies share a link");
        assert!(policed > 400, "{policed} bridges with filters");
    }
}
