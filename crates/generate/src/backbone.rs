//! Large networks for benches: bridges in a line or a mesh, end stations at each, mixed classes.
//!
//! Every third bridge port shapes classes 5 and 6 by credit, every third shapes class 7 by ATS, the
//! rest is strict priority. Streams go a few bridges far; their rates are scaled so that the links
//! between bridges are loaded to the wanted mean.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use crate::Dice;

/// How the bridges are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// In a line.
    Line,
    /// In a grid of this width, with a diagonal in every fourth square.
    Mesh {
        /// Bridges in a row.
        width: usize,
    },
    /// As a tree in which every bridge has this many below it.
    Tree {
        /// Bridges below a bridge.
        branching: usize,
    },
}

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Backbone {
    /// How the bridges are connected.
    pub topology: Topology,
    /// How many there are.
    pub bridges: usize,
    /// End stations at each.
    pub stations: usize,
    /// Streams.
    pub streams: usize,
    /// Most links between bridges on a stream's way.
    pub distance: usize,
    /// Mean load of the links between bridges, in percent.
    pub load: u64,
    /// Simulated time.
    pub duration_ms: u64,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

impl Backbone {
    /// The line of 20 bridges on which the speed of simulation is measured.
    pub const LINE_20: Self = Self {
        topology: Topology::Line,
        bridges: 20,
        stations: 5,
        streams: 1_000,
        distance: 4,
        load: 50,
        duration_ms: 200,
        seed: 1,
    };

    /// The mesh of 100 bridges on which the speed of simulation is measured.
    pub const MESH_100: Self = Self {
        topology: Topology::Mesh { width: 10 },
        bridges: 100,
        stations: 2,
        streams: 2_000,
        distance: 5,
        load: 50,
        duration_ms: 60,
        seed: 1,
    };
}

/// Bits per second of the links between bridges, and to the end stations.
const BACKBONE_RATE: u64 = 1_000_000_000;

/// One stream before it is written.
struct Draft {
    talker: (usize, usize),
    listener: (usize, usize),
    priority: u64,
    /// Links between bridges on its way: (from, to).
    way: Vec<(usize, usize)>,
    weight: u64,
    payload: u64,
}

impl Backbone {
    /// The description.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut dice = Dice::new(self.seed);
        let neighbours = self.neighbours();
        let drafts = self.draft(&mut dice, &neighbours);
        let intervals = self.intervals_ns(&drafts, &neighbours);
        let mut text = String::new();
        self.write_head(&mut text);
        self.write_nodes(&mut text, &mut dice, &neighbours, &drafts, &intervals);
        self.write_links(&mut text, &neighbours);
        write_streams(&mut text, &mut dice, &drafts, &intervals);
        text
    }

    fn neighbours(&self) -> Vec<Vec<usize>> {
        let mut neighbours = vec![Vec::new(); self.bridges];
        let mut join = |left: usize, right: usize| {
            if right < self.bridges {
                neighbours[left].push(right);
                neighbours[right].push(left);
            }
        };
        for bridge in 0..self.bridges {
            match self.topology {
                Topology::Line => join(bridge, bridge + 1),
                Topology::Tree { branching } => {
                    for below in 1..=branching {
                        join(bridge, bridge * branching + below);
                    }
                }
                Topology::Mesh { width } => {
                    if (bridge + 1) % width != 0 {
                        join(bridge, bridge + 1);
                    }
                    join(bridge, bridge + width);
                    if bridge % 4 == 0 && (bridge + 1) % width != 0 {
                        join(bridge, bridge + width + 1);
                    }
                }
            }
        }
        neighbours
    }

    fn draft(&self, dice: &mut Dice, neighbours: &[Vec<usize>]) -> Vec<Draft> {
        let mut pick = |most: usize| usize::try_from(dice.between(0, most as u64 - 1)).expect("an index");
        let mut drafts = Vec::with_capacity(self.streams);
        while drafts.len() < self.streams {
            let talker = (pick(self.bridges), pick(self.stations));
            let ways = ways(neighbours, talker.0, self.distance);
            let reached: Vec<usize> = ways.keys().copied().filter(|bridge| *bridge != talker.0).collect();
            let to = reached[pick(reached.len())];
            let listener = (to, pick(self.stations));
            drafts.push(Draft {
                talker,
                listener,
                priority: pick(8) as u64,
                way: ways[&to].clone(),
                weight: 50 + pick(150) as u64,
                payload: 64 + pick(1_000) as u64,
            });
        }
        drafts
    }

    /// Intervals that load the links between bridges to the wanted mean; no link above 85 %.
    fn intervals_ns(&self, drafts: &[Draft], neighbours: &[Vec<usize>]) -> Vec<u64> {
        let links: usize = neighbours.iter().map(Vec::len).sum();
        let mut weights: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for draft in drafts {
            for link in &draft.way {
                *weights.entry(*link).or_default() += draft.weight;
            }
        }
        let total: u64 = weights.values().sum();
        let heaviest = weights.values().max().copied().unwrap_or(1);
        // Bits per second of one unit of weight.
        let wanted = u128::from(BACKBONE_RATE) * self.load as u128 / 100 * links as u128 / u128::from(total);
        let most = u128::from(BACKBONE_RATE) * 85 / 100 / u128::from(heaviest);
        let unit = wanted.min(most);
        drafts
            .iter()
            .map(|draft| {
                let bits = u128::from(draft.payload + 42) * 8;
                let ns = (bits * 1_000_000_000).div_ceil(unit * u128::from(draft.weight));
                u64::try_from(ns).expect("an interval")
            })
            .collect()
    }

    fn write_head(&self, text: &mut String) {
        let topology = match self.topology {
            Topology::Line => "line",
            Topology::Mesh { .. } => "mesh",
            Topology::Tree { .. } => "tree",
        };
        let bridges = self.bridges;
        let _ = write!(
            text,
            "name: {topology}-{bridges}\n\
             about: {bridges} bridges, {} streams; generated with seed {}.\n\
             defaults:\n  rate: 1 Gbit/s\n  device: store-and-forward\n  traffic-class-table: identity\n  \
             clock: {{tolerance: 100 ppm}}\n\
             network-control: none\nvlans:\n  1:\n    tagged: all\n\
             run: {{duration: {} ms, warm-up: 1 ms, seed: {}}}\n",
            self.streams, self.seed, self.duration_ms, self.seed
        );
    }

    fn write_nodes(
        &self,
        text: &mut String,
        dice: &mut Dice,
        neighbours: &[Vec<usize>],
        drafts: &[Draft],
        intervals: &[u64],
    ) {
        // Bits per second per egress port and class.
        let mut loads: BTreeMap<(usize, usize, u64), u64> = BTreeMap::new();
        for (draft, interval) in drafts.iter().zip(intervals) {
            let rate = rate_of(draft, *interval);
            for (from, to) in &draft.way {
                let port = neighbours[*from].iter().position(|other| other == to).expect("a neighbour");
                *loads.entry((*from, port, draft.priority)).or_default() += rate;
            }
            let (to, station) = draft.listener;
            *loads.entry((to, neighbours[to].len() + station, draft.priority)).or_default() += rate;
        }
        text.push_str("nodes:\n");
        for (bridge, others) in neighbours.iter().enumerate() {
            let _ = write!(text, "  b{bridge}:\n    type: bridge\n    ports:\n");
            for port in 0..others.len() + self.stations {
                let _ = write!(text, "      p{port}: ");
                match (bridge + port) % 3 {
                    0 => text.push_str("{}\n"),
                    1 => {
                        text.push_str("{classes: {");
                        for class in [5, 6] {
                            let load = loads.get(&(bridge, port, class)).copied().unwrap_or(10_000_000);
                            let slope = load + load / 5;
                            let _ = write!(
                                text,
                                "{class}: {{transmission-selection: credit-based, idle-slope: {slope} bit/s}}, "
                            );
                        }
                        text.push_str("}}\n");
                    }
                    _ => text.push_str("{classes: {7: {transmission-selection: ats}}}\n"),
                }
            }
        }
        for bridge in 0..self.bridges {
            for station in 0..self.stations {
                let drift = i64::try_from(dice.between(0, 200)).expect("small") - 100;
                let _ = writeln!(
                    text,
                    "  e{bridge}-{station}: {{type: end-station, clock: {{tolerance: 100 ppm, drift: {drift} ppm}}}}"
                );
            }
        }
    }

    fn write_links(&self, text: &mut String, neighbours: &[Vec<usize>]) {
        text.push_str("links:\n");
        for (bridge, others) in neighbours.iter().enumerate() {
            for (port, other) in others.iter().enumerate().filter(|(_, other)| **other > bridge) {
                let back = neighbours[*other].iter().position(|end| *end == bridge).expect("a neighbour");
                let _ =
                    writeln!(text, "  - {{between: [b{bridge}:p{port}, b{other}:p{back}], length: 20 m}}");
            }
            for station in 0..self.stations {
                let port = others.len() + station;
                let _ =
                    writeln!(text, "  - {{between: [e{bridge}-{station}, b{bridge}:p{port}], length: 5 m}}");
            }
        }
    }
}

/// The shortest way from `start` to every bridge at most `distance` links away, as links.
fn ways(neighbours: &[Vec<usize>], start: usize, distance: usize) -> BTreeMap<usize, Vec<(usize, usize)>> {
    let mut ways = BTreeMap::from([(start, Vec::new())]);
    let mut next = VecDeque::from([start]);
    while let Some(bridge) = next.pop_front() {
        let way: Vec<(usize, usize)> = ways[&bridge].clone();
        if way.len() == distance {
            continue;
        }
        for other in &neighbours[bridge] {
            if !ways.contains_key(other) {
                let mut longer = way.clone();
                longer.push((bridge, *other));
                ways.insert(*other, longer);
                next.push_back(*other);
            }
        }
    }
    ways
}

/// Bits of the wire per second, rounded up.
fn rate_of(draft: &Draft, interval_ns: u64) -> u64 {
    ((draft.payload + 42) * 8 * 1_000_000_000).div_ceil(interval_ns)
}

fn write_streams(text: &mut String, dice: &mut Dice, drafts: &[Draft], intervals: &[u64]) {
    text.push_str("streams:\n");
    for (number, (draft, interval)) in drafts.iter().zip(intervals).enumerate() {
        let (talker, listener) = (draft.talker, draft.listener);
        let offset = dice.between(0, *interval);
        let rate = rate_of(draft, *interval);
        let cir = rate + rate / 100;
        // A frame more, and what comes in the time by which frames may have come apart on ports that do not shape.
        let apart_ns = (2 * interval).max(1_000_000);
        let burst = (draft.payload + 42) * 2 + (cir * apart_ns).div_ceil(8_000_000_000);
        let _ = writeln!(
            text,
            "  - {{name: s{number}, talker: e{}-{}, listeners: e{}-{}, priority: {}, payload: {} B, \
             traffic: {{type: periodic, interval: {interval} ns, offset: {offset} ns}}, \
             shaper: {{committed-information-rate: {cir} bit/s, committed-burst-size: {burst} B}}, \
             deadline: 500 ms}}",
            talker.0, talker.1, listener.0, listener.1, draft.priority, draft.payload
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_network_is_valid_and_the_same_every_time() {
        for topology in [Topology::Line, Topology::Mesh { width: 3 }, Topology::Tree { branching: 3 }] {
            let backbone = Backbone {
                topology,
                bridges: 9,
                stations: 2,
                streams: 60,
                distance: 3,
                load: 50,
                duration_ms: 5,
                seed: 1,
            };
            let text = backbone.describe();
            assert_eq!(text, backbone.describe());
            let loaded = tautwire_model::load_text("generated", &text);
            assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
            let network = loaded.network.expect("no errors");
            assert_eq!((network.streams.len(), network.nodes.len()), (60, 27));
        }
    }
}
