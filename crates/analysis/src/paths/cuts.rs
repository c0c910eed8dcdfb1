//! The linear program of a tree of queues: cuts, their instants, and the bits between them.
//!
//! A cut divides the frames of a queue into those that come before it and those behind it; frames before come no later than its instant,
//! frames behind no earlier. The first cut is behind the observed frame. Every other one is that of a *beginning*: the last instant, before
//! some frame starts, at which no frame of the queue was waiting. Since queues and links keep the order, a cut of a queue is one of all
//! queues before it: there the first frame behind it is the first that comes behind it here. With `W` the bits of a group from a cut up to
//! the observed frame, and `t` instants at a queue, the rows are:
//!
//! - *arrivals* of a group where it enters, between two cuts: `W(a) − W(b) <= burst + rate·(t(b) − t(a))`;
//! - *links*: the same for all groups that come by one link, at most its largest frame and its rate;
//! - *service*: the first frame behind a cut `c` starts no later than its queue serves what came since its beginning `d`, and then takes at
//!   most `sent_max` to the next queue, to which it comes no earlier than the cut there: `rate·(t'(c) − sent_max − t(d)) <= latency +
//!   Σ (W(d) − W(c))`. The observed frame starts when all but itself has been served;
//! - *ways*: from queue to queue no frame takes longer than the bounds of ports say;
//! - *order*: of cuts, of their instants, and of their bits.
//!
//! Where no frame of a link comes between a cut and the observed frame, both cuts are one at the queue before, at an instant that is by the
//! least way before the observed frame's; the rows hold for it, too. Beginnings for all cuts double their number at every queue, so from a
//! number on only two are taken: those of the observed frame and of the oldest cut. Any rows less leave a greater maximum.

use std::collections::BTreeMap;

use tautwire_program::{Program, Variable};

use super::Paths;
use super::tree::Tree;
use crate::curve::{Line, MICRO, volume};

/// Most cuts of a queue for which each has a beginning, with few groups; and how many of them with all groups together.
const CUTS_MAX: usize = 32;
const CUTS_OF_GROUPS: usize = 1_200;
/// Bits per second times picoseconds in a micro-bit.
const PER_MICRO_BIT: i128 = 1_000_000;
/// The cut behind the observed frame.
const OBSERVED: usize = 0;

/// A cut.
#[derive(Clone, Debug, Default)]
struct Cut {
    /// All cuts that are surely not before it, in order of their numbers.
    newer: Vec<usize>,
}

/// A beginning: for the first frame behind a cut, or the observed one.
#[derive(Clone, Copy, Debug)]
struct Beginning {
    of: usize,
    cut: usize,
}

/// The program in the making.
struct Cuts<'a> {
    paths: &'a Paths<'a, 'a>,
    tree: &'a Tree,
    program: Program,
    cuts: Vec<Cut>,
    /// Per queue, its cuts and their instants.
    instants: Vec<BTreeMap<usize, Variable>>,
    beginnings: Vec<Vec<Beginning>>,
    /// Bits of a group from a cut up to the observed frame.
    bits: BTreeMap<(usize, usize), Variable>,
    /// When the observed frame starts at the root.
    start: Variable,
}

/// From the first queue of a path to the start of transmission at its last port, greatest; and the numbers of variables and rows.
/// None if it has more rows than are `left`.
pub(super) fn start_max(paths: &Paths<'_, '_>, tree: &Tree, left: &mut usize) -> Option<(u64, usize, usize)> {
    let mut cuts = Cuts::of(paths, tree)?;
    cuts.add_bits();
    cuts.add_orders();
    cuts.add_arrivals();
    cuts.add_links();
    cuts.add_services();
    let (variables, rows) = cuts.program.size();
    *left = left.checked_sub(rows)?;
    let bound = cuts.program.bound(&[(cuts.start, 1)])?;
    Some((u64::try_from(bound).ok()?, variables, rows))
}

impl<'a> Cuts<'a> {
    /// Cuts and their instants.
    fn of(paths: &'a Paths<'a, 'a>, tree: &'a Tree) -> Option<Self> {
        let mut program = Program::new();
        let root = tree.vertices[0].own.expect("the root is on the path");
        // When the observed frame comes to the queues of its path, from the first on.
        let path: Vec<usize> =
            (0..tree.vertices.len()).filter(|place| tree.vertices[*place].own.is_some()).collect();
        let (mut least, mut most) = (0_i128, 0_i128);
        let mut observed = BTreeMap::new();
        for place in path.iter().rev() {
            observed.insert(*place, program.variable(least, most));
            if let Some(way) = tree.vertices[*place].onward.and_then(|onward| onward.own) {
                least += i128::from(way.way_min);
                most += i128::from(way.way_max);
            }
        }
        let sending = paths.analysis.passages[root as usize].sending_max?;
        let start = program.variable(0, most + i128::from(sending));
        let mut cuts = Self {
            paths,
            tree,
            program,
            cuts: vec![Cut::default()],
            instants: Vec::new(),
            beginnings: Vec::new(),
            bits: BTreeMap::new(),
            start,
        };
        for place in 0..tree.vertices.len() {
            cuts.inherit(place, observed.get(&place).copied());
            cuts.begin(place);
        }
        Some(cuts)
    }

    /// The cuts of the next queue at this one.
    fn inherit(&mut self, place: usize, observed: Option<Variable>) {
        let mut instants = BTreeMap::new();
        if let Some(observed) = observed {
            instants.insert(OBSERVED, observed);
        }
        if let Some(onward) = self.tree.vertices[place].onward {
            let next = self.instants[onward.to].clone();
            let (way_min, way_max) = (i128::from(onward.all.way_min), i128::from(onward.all.way_max));
            if observed.is_none() {
                let (_, most) = self.program.range(next[&OBSERVED]);
                let least = next.values().map(|instant| self.program.range(*instant).0).min().unwrap_or(0);
                let observed = self.program.variable(least - way_max, most - way_min);
                instants.insert(OBSERVED, observed);
            }
            let (_, most) = self.program.range(instants[&OBSERVED]);
            for (cut, instant) in next.iter().filter(|(cut, _)| **cut != OBSERVED) {
                let (least, _) = self.program.range(*instant);
                let least = least - way_max;
                instants.insert(*cut, self.program.variable(least.min(most), most));
            }
        }
        self.instants.push(instants);
    }

    /// The beginnings at a queue.
    fn begin(&mut self, place: usize) {
        let is_path = self.tree.vertices[place].own.is_some();
        let mut of: Vec<usize> = self.instants[place].keys().copied().collect();
        // From the newest on, so that those of newer cuts are known.
        of.sort_by_key(|cut| (self.cuts[*cut].newer.len(), *cut));
        of.retain(|cut| *cut != OBSERVED || is_path);
        let most = CUTS_MAX.min(CUTS_OF_GROUPS / self.tree.groups.len().max(1));
        if of.len() + self.instants[place].len() > most {
            let oldest = *of.last().expect("a cut of the next queue");
            of.retain(|cut| *cut == OBSERVED || *cut == oldest);
        }
        let busy_max = i128::from(self.paths.queues[&self.tree.vertices[place].queue].busy_max);
        let mut beginnings: Vec<Beginning> = Vec::new();
        for of in of {
            let cut = self.cuts.len();
            let mut newer = self.cuts[of].newer.clone();
            newer.push(of);
            for other in &beginnings {
                if self.cuts[of].newer.contains(&other.of) {
                    newer.push(other.cut);
                    newer.extend(&self.cuts[other.cut].newer);
                }
            }
            newer.sort_unstable();
            newer.dedup();
            self.cuts.push(Cut { newer });
            let (least, most) = self.program.range(self.instants[place][&of]);
            let instant = self.program.variable(least - busy_max, most);
            self.instants[place].insert(cut, instant);
            beginnings.push(Beginning { of, cut });
        }
        self.beginnings.push(beginnings);
    }

    /// The bits of all groups.
    fn add_bits(&mut self) {
        for (number, group) in self.tree.groups.iter().enumerate() {
            let instants = &self.instants[group.enters];
            let (_, latest) = self.program.range(instants[&OBSERVED]);
            for (cut, instant) in instants.iter().filter(|(cut, _)| **cut != OBSERVED) {
                let (earliest, _) = self.program.range(*instant);
                let span = u64::try_from((latest - earliest).max(0)).unwrap_or(u64::MAX);
                let most = group.curve.lines().iter().map(|line| line.burst + volume(line.rate, span)).min();
                let most = i128::try_from(most.unwrap_or(u128::MAX)).unwrap_or(i128::MAX);
                self.bits.insert((number, *cut), self.program.variable(0, most));
            }
        }
    }

    /// Pairs of cuts of a queue, the older first, and whether one follows from no others or is up to the observed frame.
    fn pairs(&self, place: usize) -> Vec<(usize, usize, bool)> {
        let instants = &self.instants[place];
        let mut pairs = Vec::new();
        for older in instants.keys() {
            let newer = &self.cuts[*older].newer;
            for cut in newer.iter().filter(|cut| instants.contains_key(cut)) {
                let between = newer.iter().any(|other| {
                    instants.contains_key(other) && self.cuts[*other].newer.binary_search(cut).is_ok()
                });
                pairs.push((*older, *cut, !between || *cut == OBSERVED));
            }
        }
        pairs
    }

    /// The bits of a group from a cut on, with a factor; none behind the observed frame.
    fn term(&self, group: usize, cut: usize, factor: i128) -> Option<(Variable, i128)> {
        (cut != OBSERVED).then(|| (self.bits[&(group, cut)], factor))
    }

    /// Cuts keep their order, and frames take their time.
    fn add_orders(&mut self) {
        for place in 0..self.tree.vertices.len() {
            let instants = self.instants[place].clone();
            for (older, newer, _) in self.pairs(place).into_iter().filter(|(_, _, is_near)| *is_near) {
                self.program.at_most(vec![(instants[&older], 1), (instants[&newer], -1)], 0);
                for group in
                    (0..self.tree.groups.len()).filter(|group| self.tree.groups[*group].enters == place)
                {
                    let terms = [self.term(group, newer, 1), self.term(group, older, -1)];
                    self.program.at_most(terms.into_iter().flatten().collect(), 0);
                }
            }
            let Some(onward) = self.tree.vertices[place].onward else { continue };
            for (cut, instant) in &instants {
                let Some(next) = self.instants[onward.to].get(cut).copied() else { continue };
                let is_own = *cut == OBSERVED && onward.own.is_some();
                let way = if is_own { onward.own.expect("just seen") } else { onward.all };
                if *cut != OBSERVED || is_own {
                    self.program.at_most(vec![(next, 1), (*instant, -1)], i128::from(way.way_max));
                }
                if *cut == OBSERVED {
                    self.program.at_most(vec![(*instant, 1), (next, -1)], -i128::from(way.way_min));
                }
            }
        }
    }

    /// What comes of some groups between two cuts of a queue is within a line.
    fn add_line(&mut self, place: usize, groups: &[usize], line: &Line, pair: (usize, usize, bool)) {
        let (older, newer, is_near) = pair;
        let instants = &self.instants[place];
        let mut terms =
            vec![(instants[&older], i128::from(line.rate)), (instants[&newer], -i128::from(line.rate))];
        for group in groups {
            terms.extend(self.term(*group, older, PER_MICRO_BIT));
            terms.extend(self.term(*group, newer, -PER_MICRO_BIT));
        }
        let most = times_per_micro_bit(line.burst);
        if is_near {
            self.program.at_most(terms, most);
        } else {
            self.program.at_most_if_violated(terms, most);
        }
    }

    /// Groups keep to their curves where they enter.
    fn add_arrivals(&mut self) {
        for (number, group) in self.tree.groups.iter().enumerate() {
            for pair in self.pairs(group.enters) {
                for line in group.curve.lines() {
                    #[cfg(feature = "planted-faults")]
                    let line = &self.without_burst(group.enters, line);
                    self.add_line(group.enters, &[number], line, pair);
                }
            }
        }
    }

    #[cfg(feature = "planted-faults")]
    fn has(&self, fault: crate::PlantedFault) -> bool {
        self.paths.analysis.plan.fault == Some(fault)
    }

    /// A line of a group that enters behind the first queue of the path, without its burst if that is forgotten.
    #[cfg(feature = "planted-faults")]
    fn without_burst(&self, enters: usize, line: &Line) -> Line {
        let is_first = self.tree.vertices[enters].own == Some(self.tree.first_entry());
        let forgets = self.has(crate::PlantedFault::BurstOnPathForgotten) && !is_first;
        if forgets { Line { burst: 0, ..*line } } else { *line }
    }

    /// Links bring no more than they carry.
    fn add_links(&mut self) {
        for (place, vertex) in self.tree.vertices.iter().enumerate() {
            let pairs = self.pairs(place);
            for (lane, lines) in &self.paths.queues[&vertex.queue].links {
                let Some(groups) = vertex.lanes.get(lane) else { continue };
                for line in lines {
                    let line = Line { burst: line.burst + u128::from(vertex.tag_bits) * MICRO, ..*line };
                    for pair in &pairs {
                        self.add_line(place, groups, &line, *pair);
                    }
                }
            }
        }
    }

    /// Frames start when what came before them has been served.
    fn add_services(&mut self) {
        // As the observed frame counts in the bits of its group.
        let own_bits = self.paths.analysis.plan.entries[self.tree.first_entry() as usize].wire_min();
        for (place, vertex) in self.tree.vertices.iter().enumerate() {
            let queue = &self.paths.queues[&vertex.queue];
            for Beginning { of, cut } in self.beginnings[place].clone() {
                // When the frame comes to the next queue, or starts at the root, and how long that is behind its start.
                let (then, behind) = match vertex.onward {
                    None => (self.start, 0),
                    Some(onward) => {
                        let way = onward.own.filter(|_| of == OBSERVED).unwrap_or(onward.all);
                        (self.instants[onward.to][&of], way.sent_max)
                    }
                };
                #[cfg(feature = "planted-faults")]
                let behind = if self.has(crate::PlantedFault::FrameOnPathForgotten) { 0 } else { behind };
                let own_bits = if of == OBSERVED { own_bits } else { 0 };
                for (latency, rate) in &queue.lines {
                    let factor = i128::from(*rate);
                    let mut terms = vec![(then, factor), (self.instants[place][&cut], -factor)];
                    for group in vertex.lanes.values().flatten() {
                        terms.extend(self.term(*group, cut, -PER_MICRO_BIT));
                        terms.extend(self.term(*group, of, PER_MICRO_BIT));
                    }
                    #[cfg(feature = "planted-faults")]
                    let latency =
                        if self.has(crate::PlantedFault::LatencyOnPathForgotten) { &0 } else { latency };
                    let most = times_per_micro_bit(*latency)
                        - times_per_micro_bit(u128::from(own_bits) * MICRO)
                        + factor * (i128::from(queue.slack) + i128::from(behind));
                    self.program.at_most(terms, most);
                }
            }
        }
    }
}

/// Micro-bits in bits per second times picoseconds.
fn times_per_micro_bit(micro_bits: u128) -> i128 {
    i128::try_from(micro_bits).unwrap_or(i128::MAX).saturating_mul(PER_MICRO_BIT)
}
