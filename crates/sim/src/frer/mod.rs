//! Frame replication and elimination in a run (IEEE Std 802.1CB-2017): numbers of frames, and the recovery functions that frames
//! meet at the ends of their hops.
//!
//! The number of a frame follows from the order in which frames pass the node that numbers them: it is that of the stream less
//! what was lost before that node, or was made before the node began anew; so no frame carries it through the run. A copy that a
//! function discards is counted for the listeners behind the way that it would have gone on. `repeats.rs`: stuck senders. Not here: who
//! forwards copies to several ports (`relay.rs`), the functions themselves (`tautwire_core::frer`).

mod repeats;

pub(crate) use self::repeats::Repeaters;

use std::collections::BTreeMap;

use tautwire_core::frer::{Discarded, LatentErrorDetection, RecoveryCounters, SequenceRecovery};
use tautwire_core::gates::GateTime;
use tautwire_model::Network;
use tautwire_model::frer::FrameReplication;
use tautwire_model::network::{Hop, Layer, NodeIndex, StreamIndex, TimelineAction};
use tautwire_observe::{Cell, Column, Shown, Table};
use tautwire_units::Instant;

use crate::identification;
use crate::plan::{NONE, index};
use crate::reception::{Arrived, AtReception};
use crate::result::{DropReason, Observation};

/// What was observed of all recovery functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryObservation {
    /// In the order of streams, nodes on their ways, and ports.
    pub functions: Vec<FunctionObservation>,
    /// Frames that nodes repeated, in the order of their first events.
    pub repeats: Vec<RepeatsObservation>,
}

/// What was observed of the frames that a node repeats at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatsObservation {
    /// The stream of the repeats.
    pub stream: StreamIndex,
    name: String,
    /// Repeats that the node sent.
    pub sent: u64,
    /// Those that recovery functions discarded.
    pub discarded: u64,
    /// Those that listeners took.
    pub taken: u64,
}

/// What was observed of a recovery function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionObservation {
    /// The stream.
    pub stream: StreamIndex,
    /// The node.
    pub node: NodeIndex,
    stream_name: String,
    node_name: String,
    /// Whether it is an individual recovery function, of one member stream.
    pub is_individual: bool,
    /// Its member streams: the reception port of each, with its path where several come there.
    pub members: Vec<String>,
    /// What it counted.
    pub counters: RecoveryCounters,
    /// Tests that found latent errors, and resets of the detection; none without one.
    pub latent: Option<(u64, u64)>,
}

/// The functions of all streams.
pub(crate) struct Functions {
    /// Per node whether it has any.
    nodes: Vec<bool>,
    /// Per stream its place in `streams`, or [`NONE`].
    of_stream: Vec<u32>,
    /// Per stream of repeats, its first hop in a run's tables and the hop of the repeated stream for each of its own.
    repeated: BTreeMap<u32, (u32, Vec<u32>)>,
    streams: Vec<StreamFunctions>,
    /// Streams of repeats, with their names.
    repeats: Vec<(StreamIndex, String)>,
}

struct StreamFunctions {
    stream: StreamIndex,
    name: String,
    /// Its first hop in a run's tables.
    first_hop: u32,
    talker: NodeIndex,
    generation: NodeIndex,
    numbers: Numbers,
    /// Per hop, the functions at its far end.
    ends: Vec<End>,
    recoveries: Vec<Recovery>,
}

/// Functions at the far end of a hop.
#[derive(Clone, Copy, Debug)]
struct End {
    generates: bool,
    recovery: Option<u32>,
    /// Its member stream, of those of the functions.
    member: Option<u32>,
}

struct Recovery {
    node: NodeIndex,
    name: String,
    sequence: Option<SequenceRecovery>,
    latent: Option<LatentErrorDetection>,
    /// The ports by which member streams come.
    members: Vec<String>,
    /// A function for each of them, or none.
    individual: Vec<SequenceRecovery>,
}

/// Numbers of frames: from each of these frames on, the number of the stream's frame that would have sequence number 0.
#[derive(Clone, Debug)]
struct Numbers {
    zeros: Vec<(u32, u32)>,
    /// Frames that were numbered since the node began.
    given: u32,
}

impl Numbers {
    fn new() -> Self {
        Self { zeros: vec![(0, 0)], given: 0 }
    }

    /// Frames from `frame` on are numbered from 0.
    fn begin(&mut self, frame: u32) {
        self.zero_from(frame, frame);
        self.given = 0;
    }

    fn zero_from(&mut self, frame: u32, zero: u32) {
        match self.zeros.last_mut() {
            Some(last) if last.0 == frame => last.1 = zero,
            Some(last) if last.1 == zero => {}
            _ => self.zeros.push((frame, zero)),
        }
    }

    /// A frame gets the next number.
    fn give(&mut self, frame: u32) {
        self.zero_from(frame, frame.wrapping_sub(self.given));
        self.given = self.given.wrapping_add(1);
    }

    fn of(&self, frame: u32) -> u16 {
        let behind = self.zeros.partition_point(|(from, _)| *from <= frame);
        let (_, zero) = self.zeros[behind.max(1) - 1];
        let [_, _, high, low] = frame.wrapping_sub(zero).to_be_bytes();
        u16::from_be_bytes([high, low])
    }
}

/// The functions of a network's streams; none if they have none.
pub(crate) fn functions(network: &Network) -> Option<Box<dyn AtReception>> {
    network.streams.iter().any(|stream| stream.replication.is_some()).then(|| {
        let functions: Box<dyn AtReception> = Box::new(Functions::new(network));
        functions
    })
}

impl Functions {
    fn new(network: &Network) -> Self {
        let mut all = Self {
            nodes: vec![false; network.nodes.len()],
            of_stream: vec![NONE; network.streams.len()],
            repeated: BTreeMap::new(),
            streams: Vec::new(),
            repeats: network
                .repeats
                .iter()
                .map(|repeats| (repeats.stream, network.streams[repeats.stream.index()].name.clone()))
                .collect(),
        };
        let mut first_hop = 0;
        for (number, stream) in network.streams.iter().enumerate() {
            if let Some(replication) = stream.replication.as_deref() {
                let of = StreamFunctions::new(network, StreamIndex::at(number), replication, first_hop);
                for recovery in &of.recoveries {
                    all.nodes[recovery.node.index()] = true;
                }
                all.nodes[of.generation.index()] |= of.generation != stream.talker;
                all.of_stream[number] = index(all.streams.len());
                all.streams.push(of);
            }
            if let Some(repeats) = network.repeats.iter().find(|repeats| repeats.stream.index() == number) {
                all.of_stream[number] = all.of_stream[repeats.of.index()];
                all.repeated.insert(index(number), (first_hop, repeats.hops.clone()));
            }
            first_hop += index(stream.hops.len());
        }
        all
    }
}

impl StreamFunctions {
    fn new(network: &Network, number: StreamIndex, replication: &FrameReplication, first_hop: u32) -> Self {
        let stream = &network.streams[number.index()];
        let recovery = |described: &tautwire_model::frer::Recovery| Recovery {
            node: described.node,
            name: network.nodes[described.node.index()].name.clone(),
            sequence: described.sequence.map(SequenceRecovery::new),
            latent: described.latent.map(|latent| LatentErrorDetection::new(latent, Instant::ZERO)),
            members: Vec::new(),
            individual: Vec::new(),
        };
        let mut recoveries: Vec<Recovery> = replication.recoveries.iter().map(recovery).collect();
        let mut member_of: Vec<Option<u32>> = vec![None; stream.hops.len()];
        let far_ends: Vec<_> = stream.hops.iter().map(|hop| network.far_end(hop)).collect();
        let ends = (0..stream.hops.len()).map(|hop| {
            let (node, port) = far_ends[hop];
            let is_generating = node == replication.generation;
            let recovery = replication.recovered[hop];
            // Its functions take the frames that are identified as its own.
            let is_looked_at = is_generating || recovery.is_some();
            let seen = identification::handle(network, number, &stream.hops[hop], Layer::Wire);
            if is_looked_at && seen != Some(number) {
                return End { generates: false, recovery: None, member: None };
            }
            let first = replication.merged[hop] as usize;
            if let (Some(at), true) = (recovery.map(|at| at as usize), first == hop) {
                let own = &mut recoveries[at];
                member_of[hop] = Some(index(own.members.len()));
                // Several member streams by one port have the number of their path in addition.
                let by_port = (0..stream.hops.len()).filter(|other| {
                    replication.merged[*other] as usize == *other && far_ends[*other].1 == port
                });
                let (name, path) = (network.ports[port.index()].name.clone(), replication.path[hop] + 1);
                own.members.push(if by_port.count() > 1 { format!("{name} (path {path})") } else { name });
                own.individual.extend(replication.recoveries[at].individual.map(SequenceRecovery::new));
            }
            End { generates: is_generating, recovery, member: member_of[first] }
        });
        Self {
            stream: number,
            name: stream.name.clone(),
            first_hop,
            talker: stream.talker,
            generation: replication.generation,
            numbers: Numbers::new(),
            ends: ends.collect(),
            recoveries,
        }
    }

    /// The result for a frame that has passed a hop of the stream.
    fn judge(&mut self, frame: &Arrived<'_>, hop: u32) -> Result<(), DropReason> {
        let number = frame.slot.number;
        let end = self.ends[hop as usize];
        if end.generates {
            self.numbers.give(number);
        }
        let Some(recovery) = end.recovery.map(|at| &mut self.recoveries[at as usize]) else { return Ok(()) };
        let sequence = Some(self.numbers.of(number));
        if let Some(function) = end.member.and_then(|member| recovery.individual.get_mut(member as usize)) {
            function.receive(frame.now, sequence).map_err(why)?;
        }
        let Some(function) = &mut recovery.sequence else { return Ok(()) };
        if let Some(latent) = &mut recovery.latent {
            latent.settle(frame.now, function.counters());
        }
        function.receive(frame.now, sequence).map_err(why)
    }

    fn start(&mut self, node: NodeIndex, next: u32) {
        if node == self.generation {
            if node == self.talker {
                self.numbers.begin(next);
            } else {
                self.numbers.given = 0;
            }
        }
        for recovery in self.recoveries.iter_mut().filter(|recovery| recovery.node == node) {
            recovery.sequence.iter_mut().for_each(SequenceRecovery::reset);
            recovery.individual.iter_mut().for_each(SequenceRecovery::reset);
        }
    }

    fn finish(&mut self, clocks: &dyn Fn(NodeIndex) -> Instant, seen: &mut RecoveryObservation) {
        for recovery in &mut self.recoveries {
            let now = clocks(recovery.node);
            let mut observe = |is_individual, members: &[String], function: &mut SequenceRecovery, latent| {
                function.settle(now);
                seen.functions.push(FunctionObservation {
                    stream: self.stream,
                    node: recovery.node,
                    stream_name: self.name.clone(),
                    node_name: recovery.name.clone(),
                    is_individual,
                    members: members.to_vec(),
                    counters: *function.counters(),
                    latent,
                });
            };
            if let Some(function) = &mut recovery.sequence {
                let latent = recovery.latent.as_mut().map(|latent| {
                    latent.settle(now, function.counters());
                    (latent.errors(), latent.resets())
                });
                observe(false, &recovery.members, function, latent);
            }
            for (member, function) in recovery.members.chunks(1).zip(&mut recovery.individual) {
                observe(true, member, function, None);
            }
        }
    }
}

fn why(discarded: Discarded) -> DropReason {
    match discarded {
        Discarded::Duplicate => DropReason::Eliminated,
        Discarded::Rogue | Discarded::Tagless => DropReason::IntegrityCheck,
    }
}

impl AtReception for Functions {
    fn is_at(&self, node: NodeIndex) -> bool {
        self.nodes[node.index()]
    }

    fn judge(&mut self, frame: &mut Arrived<'_>) -> Result<(), DropReason> {
        match self.of_stream[frame.slot.stream as usize] {
            NONE => Ok(()),
            place => {
                let of = &mut self.streams[place as usize];
                let hop = match self.repeated.get(&frame.slot.stream) {
                    Some((first, hops)) => hops[(frame.slot.hop - first) as usize],
                    None => frame.slot.hop - of.first_hop,
                };
                of.judge(frame, hop)
            }
        }
    }

    fn marks(&self, _: &Network, _: StreamIndex, _: &Hop) -> bool {
        false
    }

    fn start(&mut self, _: NodeIndex, _: Instant) {}

    fn follow(&mut self, _: NodeIndex, _: Instant, _: GateTime) {}

    fn act(&mut self, _: &TimelineAction, _: &dyn Fn(NodeIndex) -> Instant) {}

    fn renumber(&mut self, node: NodeIndex, next: &dyn Fn(StreamIndex) -> u32) {
        for of in &mut self.streams {
            let next = next(of.stream);
            of.start(node, next);
        }
    }

    fn finish(mut self: Box<Self>, clocks: &dyn Fn(NodeIndex) -> Instant, observation: &mut Observation) {
        let mut seen = RecoveryObservation::default();
        self.streams.iter_mut().for_each(|of| of.finish(clocks, &mut seen));
        seen.repeats =
            self.repeats.iter().map(|(stream, name)| repeats::observed(*stream, name, observation)).collect();
        observation.mechanisms.add(seen);
    }
}

const fn column(name: &'static str, title: &'static str) -> Column {
    Column { name, title }
}

impl Shown for RecoveryObservation {
    fn join(&self, other: &Self) -> Self {
        let mut functions: Vec<_> = self.functions.iter().chain(&other.functions).cloned().collect();
        let place = |of: &FunctionObservation| (of.stream, of.node, of.is_individual, of.members.clone());
        functions.sort_by_cached_key(place);
        let mut repeats = self.repeats.clone();
        for more in &other.repeats {
            match repeats.iter_mut().find(|own| own.stream == more.stream) {
                Some(own) => {
                    own.sent += more.sent;
                    own.discarded += more.discarded;
                    own.taken += more.taken;
                }
                None => repeats.push(more.clone()),
            }
        }
        Self { functions, repeats }
    }

    fn tables(&self) -> Vec<Table> {
        let row = |seen: &FunctionObservation| {
            let function = if seen.is_individual { "individual" } else { "sequence" }.to_owned();
            let names = [seen.stream_name.clone(), seen.node_name.clone(), function, seen.members.join(", ")];
            let of = &seen.counters;
            let counts = [of.passed, of.discarded, of.rogue, of.out_of_order, of.lost, of.tagless, of.resets];
            let latent = match seen.latent {
                Some((errors, resets)) => [Cell::Number(errors), Cell::Number(resets)],
                None => [Cell::None, Cell::None],
            };
            names.map(Cell::Text).into_iter().chain(counts.map(Cell::Number)).chain(latent).collect()
        };
        let functions = Table {
            name: "recovery",
            title: "Recovery functions",
            about: "A sequence recovery function is for all member streams that come to its node, an individual one for one of them; each is named by the port where it comes in. Counted are frames that passed, why others did not, and tests that found latent errors.",
            columns: vec![
                column("stream", "stream"),
                column("node", "node"),
                column("function", "function"),
                column("members", "members"),
                column("passed", "passed"),
                column("discarded", "discarded"),
                column("rogue", "rogue"),
                column("out_of_order", "out of order"),
                column("lost", "lost"),
                column("tagless", "tagless"),
                column("resets", "resets"),
                column("latent_errors", "latent errors"),
                column("latent_error_resets", "latent resets"),
            ],
            rows: self.functions.iter().map(row).collect(),
        };
        let repeated = (!self.repeats.is_empty()).then(|| repeats::table(&self.repeats));
        std::iter::once(functions).chain(repeated).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_numbered_as_they_pass() {
        let mut numbers = Numbers::new();
        for frame in [0, 1, 4, 5] {
            numbers.give(frame);
        }
        assert_eq!([0, 1, 4, 5].map(|frame| numbers.of(frame)), [0, 1, 2, 3], "two were lost before");
        numbers.given = 0;
        numbers.give(6);
        numbers.give(7);
        assert_eq!([5, 6, 7].map(|frame| numbers.of(frame)), [3, 0, 1], "the node began anew");
    }

    #[test]
    fn frames_of_a_talker_are_numbered_as_they_are_made() {
        let mut numbers = Numbers::new();
        assert_eq!([0, 65_535, 65_536].map(|frame| numbers.of(frame)), [0, 65_535, 0]);
        numbers.begin(70_000);
        assert_eq!([69_999, 70_000, 70_001].map(|frame| numbers.of(frame)), [4_463, 0, 1]);
    }
}
