//! Networks of time-triggered virtual links with rate-constrained and best-effort traffic, for the synthesis of
//! schedules: a tree of switches with end stations at each, periods of 1 to 128 ms.
//!
//! Sizes are scaled so that the busiest link has the wanted share of time-triggered frames, as far as frames get
//! so long. The links have no offsets: a schedule is still to be found.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::Dice;

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct TimeTriggeredNetwork {
    /// Switches, a tree in which each has up to three below it.
    pub switches: usize,
    /// End stations at each.
    pub stations: usize,
    /// Time-triggered virtual links.
    pub links: usize,
    /// Rate-constrained virtual links, and as many best-effort streams.
    pub others: usize,
    /// Share of time-triggered frames, with preamble and gap, on the busiest link, in percent.
    pub load: u64,
    /// Megabits per second of all links.
    pub rate_mbps: u64,
    /// Simulated time.
    pub duration_ms: u64,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

impl TimeTriggeredNetwork {
    /// The network on which the speed of synthesis is measured.
    pub const LARGE: Self = Self {
        switches: 12,
        stations: 4,
        links: 1_000,
        others: 60,
        load: 52,
        rate_mbps: 1_000,
        duration_ms: 2_000,
        seed: 1,
    };

    /// A smaller variant, for the usual tests.
    pub const MIDDLE: Self =
        Self { switches: 6, stations: 3, links: 500, others: 24, duration_ms: 700, ..Self::LARGE };
}

/// Periods in milliseconds.
const PERIODS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// A station: its switch, and its number there.
type Station = (usize, usize);
/// One direction of a cable, between switches or to a station.
type Line = (String, String);

/// A stream before it is written.
struct Draft {
    talker: Station,
    listeners: Vec<Station>,
    period_ms: u64,
    payload: u64,
}

impl TimeTriggeredNetwork {
    /// The description.
    #[must_use]
    pub fn describe(&self) -> String {
        self.describe_with("{precision: 1 us, integration-cycle: 2 ms}", false)
    }

    /// The same with clocks that protocol control frames keep together (SAE AS6802): the uppermost switch compresses
    /// the frames of stations at four others. A raster leaves these frames, and other traffic, room in every eighth of
    /// a millisecond, so that they and the rate-constrained links have bounds at 1 Gbit/s. Time-triggered links have
    /// two periods for their deadline, rate-constrained ones the distance of two frames.
    #[must_use]
    pub fn describe_synchronised(&self) -> String {
        let masters: Vec<String> = (1..self.switches.min(5)).map(|switch| name((switch, 0))).collect();
        let settings = format!(
            "{{precision: 2 us, integration-cycle: 4 ms, raster: {{cycle: 125 us, window: 95 us}}, \
             synchronisation: {{masters: [{}], compression-masters: s0, max-transmission-delay: 700 us}}}}",
            masters.join(", ")
        );
        self.describe_with(&settings, true)
    }

    fn describe_with(&self, settings: &str, deadlines: bool) -> String {
        let mut dice = Dice::new(self.seed);
        let mut drafts: Vec<Draft> = (0..self.links).map(|_| self.draft(&mut dice)).collect();
        scale(&mut drafts, self.rate_mbps * 1_000_000, self.load);
        let mut text = self.head(&mut dice, settings);
        for (number, draft) in drafts.iter().enumerate() {
            let period = draft.period_ms;
            let deadline = if deadlines { format!(", deadline: {} ms", 2 * period) } else { String::new() };
            let _ = writeln!(
                text,
                "  - {{name: tt{number}, {}, payload: {} B, traffic: {{type: periodic, interval: {period} ms}}, \
                 time-triggered: {{id: {number}, period: {period} ms, release: locked}}{deadline}}}",
                draft.ends(),
                draft.payload
            );
        }
        for number in 0..self.others {
            let (rate_constrained, best_effort) = (self.draft(&mut dice), self.draft(&mut dice));
            // Slots in its way make more jitter than switches grant left to themselves.
            let (jitter, deadline) =
                if deadlines { (", policing-jitter: 3500 us", ", deadline: 8 ms") } else { ("", "") };
            let _ = writeln!(
                text,
                "  - {{name: rc{number}, {}, priority: 5, payload: {} B, traffic: {{type: periodic, interval: 8 ms, \
                 offset: {} us}}, virtual-link: {{id: {number}, bag: 4 ms{jitter}}}{deadline}}}",
                rate_constrained.ends(),
                dice.between(46, 1_000),
                dice.between(0, 8_000),
            );
            let _ = writeln!(
                text,
                "  - {{name: be{number}, {}, priority: 0, payload: {{min: 46 B, max: 1500 B}}, traffic: {{type: poisson, \
                 mean-interval: {} us}}}}",
                best_effort.ends(),
                dice.between(2_000, 6_000),
            );
        }
        let _ = writeln!(
            text,
            "run: {{duration: {} ms, warm-up: {} ms, seed: {}}}",
            self.duration_ms,
            self.duration_ms / 2,
            self.seed
        );
        text
    }

    fn head(&self, dice: &mut Dice, settings: &str) -> String {
        let mut text = format!(
            "name: time-triggered-{}\nabout: {} switches, {} time-triggered virtual links; generated with seed {}.\n\
             network-control: none\n\
             time-triggered: {settings}\n\
             defaults:\n  rate: {} Mbit/s\n  device: store-and-forward\n  traffic-class-table: identity\n\
             nodes:\n",
            self.links, self.switches, self.links, self.seed, self.rate_mbps
        );
        let mut node = |name: String, kind: &str| {
            let drift = i64::try_from(dice.between(0, 200)).expect("small") - 100;
            let _ = writeln!(
                text,
                "  {name}: {{type: {kind}, clock: {{tolerance: 100 ppm, drift: {drift} ppm}}}}"
            );
        };
        for switch in 0..self.switches {
            node(format!("s{switch}"), "bridge");
            (0..self.stations).for_each(|station| node(name((switch, station)), "end-station"));
        }
        text.push_str("links:\n");
        for switch in 0..self.switches {
            if let Some(above) = above(switch) {
                let _ = writeln!(text, "  - {{between: [s{above}, s{switch}], length: 20 m}}");
            }
            for station in 0..self.stations {
                let _ =
                    writeln!(text, "  - {{between: [{}, s{switch}], length: 5 m}}", name((switch, station)));
            }
        }
        text.push_str("streams:\n");
        text
    }

    fn draft(&self, dice: &mut Dice) -> Draft {
        let mut pick = |most: usize| usize::try_from(dice.between(0, most as u64 - 1)).expect("an index");
        let mut station = || (pick(self.switches), pick(self.stations));
        let talker = station();
        let mut listeners = Vec::new();
        while listeners.is_empty() {
            let other = station();
            if other != talker {
                listeners.push(other);
            }
        }
        let further = station();
        if dice.chance(20) && further != talker && !listeners.contains(&further) {
            listeners.push(further);
        }
        Draft { talker, listeners, period_ms: *dice.one_of(&PERIODS), payload: dice.between(100, 1_000) }
    }
}

impl Draft {
    /// Talker and listeners, as the description has them.
    fn ends(&self) -> String {
        let listeners: Vec<String> = self.listeners.iter().map(|station| name(*station)).collect();
        format!("talker: {}, listeners: [{}]", name(self.talker), listeners.join(", "))
    }

    /// The lines that its frames take, each once.
    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut take = |from: String, to: String| {
            if !lines.contains(&(from.clone(), to.clone())) {
                lines.push((from, to));
            }
        };
        take(name(self.talker), format!("s{}", self.talker.0));
        for listener in &self.listeners {
            for (from, to) in way(self.talker.0, listener.0) {
                take(format!("s{from}"), format!("s{to}"));
            }
            take(format!("s{}", listener.0), name(*listener));
        }
        lines
    }

    /// Bits of the wire per second.
    fn rate(&self) -> u64 {
        (self.payload + 38) * 8 * 1_000 / self.period_ms
    }
}

fn name((switch, station): Station) -> String {
    format!("e{switch}-{station}")
}

/// The switch above another in the tree.
fn above(switch: usize) -> Option<usize> {
    (switch > 0).then(|| (switch - 1) / 3)
}

/// The way between two switches, as links.
fn way(from: usize, to: usize) -> Vec<(usize, usize)> {
    let (mut up, mut down) = (vec![from], vec![to]);
    // Numbers grow downwards: the greater one is never above the other.
    while up.last() != down.last() {
        let side = if up.last() > down.last() { &mut up } else { &mut down };
        let switch = *side.last().expect("it has one");
        side.push(above(switch).expect("the root is above all"));
    }
    down.pop();
    up.extend(down.into_iter().rev());
    up.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Scales the sizes until the busiest line has its share of frames, or all are as long as can be.
fn scale(drafts: &mut [Draft], rate: u64, percent: u64) {
    let wanted = rate / 100 * percent;
    for _ in 0..20 {
        let mut loads: BTreeMap<Line, u64> = BTreeMap::new();
        for draft in drafts.iter() {
            for line in draft.lines() {
                *loads.entry(line).or_default() += draft.rate();
            }
        }
        let busiest = loads.values().max().copied().unwrap_or(wanted);
        if busiest >= wanted && busiest < wanted + rate / 200 {
            return;
        }
        for draft in drafts.iter_mut() {
            let scaled = (draft.payload + 38) * (wanted + rate / 400) / busiest;
            draft.payload = scaled.saturating_sub(38).clamp(46, 1_500);
        }
    }
}
