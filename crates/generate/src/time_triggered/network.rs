//! Small random time-triggered networks (SAE AS6802): links with points of their own in a common cycle, chains of
//! answers, rate-constrained and best-effort traffic, clocks that drift.
//!
//! The clocks are corrected within the precision, or by protocol control frames; then something may fail.
//!
//! Every link has a part of a basic cycle of a millisecond, as long as its frames need at any port, and every further
//! hop comes as many cycles later: so no two links overlap, whatever their routes. A tight network leaves it to the
//! description to place the hops after the talker; there two links may overlap, and then it is refused.

use std::fmt::Write as _;

use crate::as6802::failure::{fail, fail_masters};
use crate::{As6802Failures, Dice};

/// Basic cycle, microseconds.
const CYCLE: u64 = 1_000;

/// A random time-triggered network: the same text for the same seed. A tight one may have links that meet.
#[must_use]
pub fn random_time_triggered(seed: u64, tight: bool) -> String {
    describe(seed, tight, None)
}

/// A network of [`random_time_triggered`] with tight links (which may meet), of which a switch is reset again and
/// again, mostly for less time
/// than a frame takes.
#[must_use]
pub fn random_time_triggered_resets(seed: u64) -> String {
    let mut text = describe(seed, true, None);
    let mut dice = Dice::new(seed ^ 0x61_17c4);
    text.push_str("events:\n");
    let mut at = dice.between(1_000, 1_000_000);
    while at < 60_000_000 {
        let most = if dice.chance(90) { 10_000 } else { 400_000 };
        let back = at + dice.between(100, most);
        let _ = writeln!(text, "  - {{at: {at} ns, stop-node: s0}}\n  - {{at: {back} ns, start-node: s0}}");
        at = back + dice.between(80_000, 800_000);
    }
    text
}

/// A random time-triggered network whose clocks are kept together by protocol control frames (SAE AS6802),
/// with drifting clocks, two to four masters and one compression master or two; run for 600 ms.
#[must_use]
pub fn random_as6802(seed: u64, failures: As6802Failures) -> String {
    describe(seed, false, Some(failures))
}

fn describe(seed: u64, tight: bool, synchronised: Option<As6802Failures>) -> String {
    let mut dice = Dice::new(seed);
    let fast = dice.chance(40);
    let integration = *dice.one_of(&["timely-block", "shuffling", "preemption"]);
    let tolerance = dice.between(0, 100);
    let cycle = if synchronised.is_some() { dice.between(6, 10) } else { dice.between(1, 10) };
    // The drift of both clocks over an integration cycle, rounded up, and some more.
    let precision = 2 * (cycle * 1_000 + 100) * tolerance / 1_000 + dice.between(60, 4_000);
    let precision = if synchronised.is_some() {
        tolerance * (6 * cycle + 160) + dice.between(800, 3_000)
    } else {
        precision
    };
    let (latency_min, stage) = (dice.between(100, 2_000), dice.between(0, 3_000));
    let mut text = format!(
        "name: timed-{seed}\nallow: [port::overload]\nnetwork-control: {}\nvlans:\n  1:\n    tagged: all\nhosts:\n  h: {{transmit: {{min: 1 us, max: {} us}}, \
         receive: {{min: 1 us, max: {} us}}}}\ndevices:\n  d:\n    stages:\n      - {{name: passage, position: processing, \
         latency: {{min: {latency_min} ns, max: {} ns}}}}\ndefaults: {{rate: {}, host: h, device: d, clock: {{tolerance: {tolerance} ppm}}}}\n\
         time-triggered: {{precision: {precision} ns, integration-cycle: {cycle} ms, integration: {integration}, \
         empty-slot: {}RASTERSYNCHRONISATION}}\nnodes:\n",
        dice.one_of(&["none", "{priority: 6}"]),
        dice.between(1, 60),
        dice.between(1, 60),
        latency_min + stage,
        if fast { "1 Gbit/s" } else { "100 Mbit/s" },
        dice.one_of(&["kept", "released"]),
    );
    let switches = dice.between(1, 3);
    let stations = dice.between(3, 6);
    (0..switches).for_each(|switch| {
        let _ = writeln!(text, "  s{switch}: {{type: bridge}}");
    });
    (0..stations).for_each(|station| {
        let _ = writeln!(text, "  e{station}: {{type: end-station}}");
    });
    text.push_str("links:\n");
    for switch in 1..switches {
        let _ = writeln!(
            text,
            "  - {{between: [s{}, s{switch}], length: {} m}}",
            switch - 1,
            dice.between(1, 90)
        );
    }
    let at: Vec<u64> = (0..stations).map(|_| dice.between(0, switches - 1)).collect();
    for (station, switch) in at.iter().enumerate() {
        let name =
            if synchronised.is_some() { format!("name: e{station}-s{switch}, ") } else { String::new() };
        let _ = writeln!(
            text,
            "  - {{{name}between: [e{station}, s{switch}], length: {} m}}",
            dice.between(1, 90)
        );
    }
    text.push_str("streams:\n");
    let others = dice.between(60, if integration == "shuffling" { 500 } else { 1_500 });
    // Nanoseconds of the line for an octet.
    let octet = if fast { 8 } else { 80 };
    let late = match integration {
        "shuffling" => (others.max(300) + 42) * octet,
        "preemption" => 13 * octet,
        _ => precision,
    };
    let payload = 46 + dice.between(0, 200);
    let slot = (((payload + 42) * octet + late) * 1_001 / 1_000 + 200) / 1_000 + 1;
    let links = Links { slot, payload, precision, tight, at: &at };
    let count = links.write(&mut text, &mut dice);
    // In a fourth of the loose networks a raster, whose window holds all slots; what else there is follows from the seed
    // as it does without.
    let window = count * slot + 10;
    let raster = match !tight && seed % 4 == 1 && window <= 600 {
        true => format!(", raster: {{cycle: {CYCLE} us, window: {window} us}}"),
        false => String::new(),
    };
    text = text.replace("RASTER", &raster);
    if synchronised.is_none() {
        text = with_stacks(text, &mut Dice::new(seed ^ 0x5eed_57ac));
    }
    write_others(&mut text, &mut dice, stations, others, fast);
    let Some(failures) = synchronised else {
        let _ = writeln!(text, "run: {{duration: 60 ms, seed: {}}}", seed + 1);
        return text.replace("SYNCHRONISATION", "");
    };
    let masters = dice.between(2, stations.min(4));
    let compressors = dice.between(1, switches.min(2));
    let names =
        |of: &str, count: u64| (0..count).map(|one| format!("{of}{one}")).collect::<Vec<_>>().join(", ");
    let mut further = String::new();
    if failures == As6802Failures::Integrity {
        further = fail_masters(&mut text, &mut dice, (masters, compressors), precision);
    }
    if failures == As6802Failures::Babble && masters > 2 {
        further = ", faulty-masters: 1".to_owned();
    }
    let synchronisation = format!(
        ", synchronisation: {{masters: [{}], compression-masters: [{}], max-transmission-delay: 2 ms{further}}}",
        names("e", masters),
        names("s", compressors)
    );
    if failures == As6802Failures::Babble {
        let babbler = dice.between(0, masters - 1);
        let _ = writeln!(
            text,
            "events:\n  - {{at: 110 ms, babble: {{node: e{babbler}, interval: {} us}}}}\n  - {{at: 300 ms, stop-babbling: e{babbler}}}",
            dice.between(8, 400)
        );
    }
    if failures == As6802Failures::Some {
        fail(&mut text, &mut dice, (masters, compressors, stations), &at);
    }
    let _ = writeln!(text, "run: {{duration: 600 ms, seed: {}}}", seed + 1);
    text.replace("SYNCHRONISATION", &synchronisation)
}

/// In a fifth of the networks hosts have a protocol stack with one thread for both ways; what else there is stays as it was.
fn with_stacks(text: String, dice: &mut Dice) -> String {
    if !dice.chance(20) {
        return text;
    }
    let (Some(from), Some(to)) = (text.find("  h: {"), text.find("\ndevices:")) else { return text };
    let (service, wake, octet) = (dice.between(1, 20), dice.between(1, 20), dice.between(0, 10));
    let stack = format!(
        "  h: {{threads: {{all: {{service: {service} us, wake-up: {{min: 1 us, max: {wake} us}}}}}}, interfaces: {{card: {{receive: \
         {{per-octet: {octet} ns}}}}}}, stacks: {{one: {{interface: card, thread: all}}}}}}"
    );
    format!("{}{stack}{}", &text[..from], &text[to..])
}

/// Time-triggered links.
struct Links<'a> {
    /// Microseconds of a cycle that each has.
    slot: u64,
    payload: u64,
    precision: u64,
    tight: bool,
    /// The switch of every station.
    at: &'a [u64],
}

impl Links<'_> {
    /// Writes them; how many there are.
    fn write(&self, text: &mut String, dice: &mut Dice) -> u64 {
        let stations = self.at.len() as u64;
        let count = dice.between(2, 7).min(CYCLE / self.slot);
        let mut asked: Option<(u64, u64)> = None;
        for number in 0..count {
            let talker = asked.map_or_else(|| dice.between(0, stations - 1), |(_, listener)| listener);
            let listener = (talker + dice.between(1, stations - 1)) % stations;
            // A frame that stays for a cycle at a switch must leave before the next one comes.
            let period = (*dice.one_of(&[1, 1, 2, 4])).max(if self.tight { 1 } else { 2 });
            let locked = asked.is_none() && dice.chance(40);
            let interval =
                if locked { period * 1_000 * dice.between(1, 3) } else { period * dice.between(400, 3_000) };
            let traffic = match asked {
                Some((to, _)) => {
                    format!("{{type: response, to: t{to}, turn-around: {} us}}", dice.between(0, 300))
                }
                None => format!(
                    "{{type: periodic, interval: {interval} us, offset: {} us, jitter: {} us}}",
                    dice.between(0, 2_000),
                    if dice.chance(40) { dice.between(0, interval / 2) } else { 0 },
                ),
            };
            let small = dice.between(10, self.payload);
            let offset = number * self.slot + (period - 1).min(dice.between(0, 3)) * CYCLE;
            let _ = writeln!(
                text,
                "  - {{name: t{number}, talker: e{talker}, listeners: e{listener}, payload: {{min: {small} B, max: {} B}}, \
                 traffic: {traffic}, time-triggered: {{id: {}, period: {period} ms, offset: {offset} us, release: {}{}{}}}}}",
                self.payload,
                number + 1,
                if locked { "locked" } else { "free" },
                self.points(talker, listener, offset),
                if dice.chance(10) {
                    format!(", acceptance-window: {} ns", self.precision)
                } else {
                    String::new()
                },
            );
            asked = dice.chance(35).then_some((number, listener));
        }
        count
    }

    /// A cycle later at every further hop.
    fn points(&self, talker: u64, listener: u64, offset: u64) -> String {
        if self.tight {
            return String::new();
        }
        let (from, to) = (self.at[talker as usize], self.at[listener as usize]);
        let way: Vec<u64> = if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
        let point =
            |(hop, switch): (u64, &u64)| format!("{{at: s{switch}, offset: {} us}}", offset + hop * CYCLE);
        let points: Vec<String> = (1..).zip(&way).map(point).collect();
        format!(", points: [{}]", points.join(", "))
    }
}

/// Rate-constrained and best-effort traffic, frames of `most` octets of data at most.
fn write_others(text: &mut String, dice: &mut Dice, stations: u64, most: u64, fast: bool) {
    for number in 0..dice.between(2, 7) {
        let talker = dice.between(0, stations - 1);
        let listener = (talker + dice.between(1, stations - 1)) % stations;
        let payload = dice.between(46, most);
        let constrained = dice.chance(50);
        let scale = if fast { 10 } else { 100 };
        let interval = if constrained { dice.between(1_000, 6_000) } else { dice.between(4, 60) * scale };
        let kind = if constrained {
            format!(
                "priority: {}, virtual-link: {{id: {}, bag: 1 ms, policing: none}}",
                dice.between(3, 4),
                number + 1
            )
        } else {
            format!("priority: {}, tagged: false", dice.between(0, 2))
        };
        let _ = writeln!(
            text,
            "  - {{name: o{number}, talker: e{talker}, listeners: e{listener}, payload: {payload} B, \
             traffic: {{type: periodic, interval: {interval} us, offset: {} us, jitter: {} us}}, {kind}}}",
            dice.between(0, 1_000),
            dice.between(0, interval / 3),
        );
    }
}
