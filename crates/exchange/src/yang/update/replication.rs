//! Recovery functions, where frames are numbered, and how they carry numbers: keys of `frer` of streams that have it in the base.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::frer::{RecoveryAlgorithm, RecoveryParameters};
use tautwire_model::Network;
use tautwire_model::frer::Recovery;
use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_units::Duration;

use super::super::read::{Settings, Side, StreamParts};
use super::{Edits, Sides};
use crate::{Converted, quoted};

/// The functions of a stream at a bridge.
#[derive(Default)]
struct Functions {
    sequence: Option<Settings>,
    individual: Option<Settings>,
}

/// What differs from the base.
#[derive(Default)]
pub(super) struct Copies {
    functions: BTreeMap<StreamIndex, BTreeMap<NodeIndex, Functions>>,
    /// The bridge that numbers frames.
    generation: BTreeMap<StreamIndex, NodeIndex>,
    /// Bridges that no longer do.
    without: Vec<(StreamIndex, String)>,
    encapsulation: BTreeMap<StreamIndex, BTreeSet<String>>,
}

/// A function as it is compared: whether it is individual, its side, its ports, its parameters.
type Compared = (bool, Side, BTreeSet<String>, Vec<(String, String)>);

/// Where a stream's numbers are read and written: port, whether out-facing, whether it writes them.
type Encodings = BTreeSet<(String, bool, bool)>;

impl Copies {
    pub(super) fn add(&mut self, sides: &Sides<'_>, converted: &mut Converted) {
        let (theirs, ours) = (&sides.theirs.streams, &sides.ours.streams);
        for function in theirs.functions.iter().filter(|own| !sides.their_streams.contains_key(&own.handle)) {
            converted.lacks(format!(
                "{}: a recovery function of handle {}, which no function identifies",
                function.place, function.handle
            ));
        }
        let of = |parts: &StreamParts, streams: &BTreeMap<u64, StreamIndex>| {
            let mut found: BTreeMap<StreamIndex, Vec<Compared>> = BTreeMap::new();
            for own in &parts.functions {
                if let Some(stream) = streams.get(&own.handle) {
                    let compared = (own.is_individual, own.side, own.ports.clone(), own.settings.0.clone());
                    found.entry(*stream).or_default().push(compared);
                }
            }
            found.values_mut().for_each(|list| list.sort());
            found
        };
        let their_functions = of(theirs, &sides.their_streams);
        let our_functions = of(ours, &sides.our_streams);
        let both: BTreeSet<StreamIndex> =
            their_functions.keys().chain(our_functions.keys()).copied().collect();
        let mut changed = BTreeSet::new();
        for stream in both {
            let (own, known) = (their_functions.get(&stream), our_functions.get(&stream));
            if own == known {
                continue;
            }
            changed.insert(stream);
            match self.functions(sides, stream, own.map_or(&[], Vec::as_slice)) {
                Ok(functions) => {
                    self.functions.entry(stream).or_default().insert(sides.number, functions);
                }
                Err(why) => converted.lacks(format!(
                    "bridge {}: recovery functions of stream {}: {why}; what the base has stays",
                    sides.name,
                    sides.stream(stream)
                )),
            }
        }
        changed.extend(self.generation(sides, converted));
        self.encodings(sides, &changed, converted);
    }

    /// The functions of a bridge, one of each kind, at the ports at which a description has them.
    fn functions(
        &self,
        sides: &Sides<'_>,
        number: StreamIndex,
        list: &[Compared],
    ) -> Result<Functions, &'static str> {
        let stream = &sides.network.streams[number.index()];
        if stream.replication.is_none() {
            return Err("it has no `frer`");
        }
        let interfaces = |is_in: bool| -> BTreeSet<String> {
            let ports = stream.hops.iter().filter_map(|hop| {
                let (node, far) = sides.network.far_end(hop);
                let near = hop.port;
                if is_in {
                    (node == sides.number).then_some(far)
                } else {
                    (sides.network.ports[near.index()].node == sides.number).then_some(near)
                }
            });
            let own = |port| sides.ours.ports.iter().find(|own| sides.port(&own.name) == Some(port));
            ports.filter_map(own).map(|port| port.name.clone()).collect()
        };
        let mut found = Functions::default();
        for is_individual in [false, true] {
            let own: Vec<&Compared> = list.iter().filter(|one| one.0 == is_individual).collect();
            let Some(first) = own.first() else { continue };
            let side = if is_individual { Side::Out } else { Side::In };
            if own.iter().any(|one| one.1 != side) {
                return Err("they are at another side of the ports than a description has them");
            }
            if own.iter().any(|one| one.3 != first.3) {
                return Err("their parameters differ from port to port");
            }
            let ports: BTreeSet<String> = own.iter().flat_map(|one| one.2.iter().cloned()).collect();
            if ports != interfaces(is_individual) {
                return Err(match is_individual {
                    true => "individual ones are not at the ports where its frames come in",
                    false => "they are not at the ports where its frames leave",
                });
            }
            let settings = Some(Settings(first.3.clone()));
            match is_individual {
                true => found.individual = settings,
                false => found.sequence = settings,
            }
        }
        if found.sequence.is_none() && found.individual.is_some() {
            return Err("there are individual ones alone");
        }
        Ok(found)
    }

    /// Where frames are numbered; gives the streams for which that changes.
    fn generation(&mut self, sides: &Sides<'_>, converted: &mut Converted) -> BTreeSet<StreamIndex> {
        let of = |parts: &StreamParts, streams: &BTreeMap<u64, StreamIndex>| -> BTreeSet<StreamIndex> {
            parts.generation.iter().filter_map(|handle| streams.get(handle)).copied().collect()
        };
        let theirs = of(&sides.theirs.streams, &sides.their_streams);
        let ours = of(&sides.ours.streams, &sides.our_streams);
        for stream in theirs.difference(&ours) {
            if sides.network.streams[stream.index()].replication.is_some() {
                self.generation.insert(*stream, sides.number);
            } else {
                converted.lacks(format!(
                    "bridge {}: that it numbers the frames of stream {}, which has no `frer`",
                    sides.name,
                    sides.stream(*stream)
                ));
            }
        }
        for stream in ours.difference(&theirs) {
            self.without.push((*stream, sides.name.to_owned()));
        }
        theirs.symmetric_difference(&ours).copied().collect()
    }

    /// How frames carry numbers. Where follows from the functions.
    fn encodings(&mut self, sides: &Sides<'_>, changed: &BTreeSet<StreamIndex>, converted: &mut Converted) {
        let of = |parts: &StreamParts, streams: &BTreeMap<u64, StreamIndex>| {
            let mut found: BTreeMap<StreamIndex, (BTreeSet<String>, Encodings)> = BTreeMap::new();
            for (handle, port, is_out, is_active, word) in &parts.encodings {
                if let Some(stream) = streams.get(handle) {
                    let own = found.entry(*stream).or_default();
                    own.0.insert(word.clone());
                    own.1.insert((port.clone(), *is_out, *is_active));
                }
            }
            found
        };
        let theirs = of(&sides.theirs.streams, &sides.their_streams);
        let ours = of(&sides.ours.streams, &sides.our_streams);
        for (stream, (words, places)) in &theirs {
            let own = ours.get(stream);
            if own.is_none_or(|own| own.0 != *words)
                && sides.network.streams[stream.index()].replication.is_some()
            {
                self.encapsulation.entry(*stream).or_default().extend(words.iter().cloned());
            }
            if own.is_none_or(|own| own.1 != *places) && !changed.contains(stream) {
                converted.lacks(format!(
                    "bridge {}: the ports where frames of stream {} get or lose their numbers; those of the base stay",
                    sides.name,
                    sides.stream(*stream)
                ));
            }
        }
        for stream in ours.keys().filter(|stream| !theirs.contains_key(stream) && !changed.contains(stream)) {
            converted.lacks(format!(
                "bridge {}: that frames of stream {} keep their numbers; what the base has stays",
                sides.name,
                sides.stream(*stream)
            ));
        }
    }

    pub(super) fn write(&self, network: &Network, edits: &mut Edits, converted: &mut Converted) {
        for (number, changed) in &self.functions {
            let stream = &network.streams[number.index()];
            let Some(replication) = stream.replication.as_deref() else { continue };
            let mut entries = Vec::new();
            for recovery in &replication.recoveries {
                match changed.get(&recovery.node) {
                    Some(own) => entries.extend(lines(network, recovery.node, own)),
                    None => entries.extend(lines(network, recovery.node, &stated(recovery))),
                }
            }
            let is_known = |node: NodeIndex| replication.recoveries.iter().any(|one| one.node == node);
            for (node, own) in changed.iter().filter(|(node, _)| !is_known(**node)) {
                entries.extend(lines(network, *node, own));
            }
            if entries.is_empty() {
                converted.lacks(format!(
                    "stream {}: that it has no recovery function; what the base has stays",
                    stream.name
                ));
                continue;
            }
            let keys = ["streams", &stream.name, "frer", "sequence-recovery"];
            edits.set(&keys, &format!("[{}]", entries.join(", ")), converted);
        }
        for (stream, node) in &self.generation {
            let keys = ["streams", &network.streams[stream.index()].name, "frer", "sequence-generation"];
            edits.set(&keys, &quoted(&network.nodes[node.index()].name), converted);
        }
        for (stream, node) in self.without.iter().filter(|(stream, _)| !self.generation.contains_key(stream))
        {
            converted.lacks(format!(
                "bridge {node}: that it no longer numbers the frames of stream {}, which no other document does; what the base has stays",
                network.streams[stream.index()].name
            ));
        }
        for (stream, words) in &self.encapsulation {
            let name = &network.streams[stream.index()].name;
            match words.first().filter(|_| words.len() == 1) {
                Some(word) => edits.set(&["streams", name, "frer", "encapsulation"], word, converted),
                None => converted.lacks(format!(
                    "stream {name}: how its frames carry their numbers, which differs between bridges: {}",
                    words.iter().cloned().collect::<Vec<_>>().join(", ")
                )),
            }
        }
    }
}

/// Entries of `sequence-recovery`.
fn lines(network: &Network, node: NodeIndex, functions: &Functions) -> Vec<String> {
    let mut found = Vec::new();
    for (settings, is_individual) in [(&functions.sequence, false), (&functions.individual, true)] {
        let Some(settings) = settings else { continue };
        let mut all = Settings::default();
        all.add("node", quoted(&network.nodes[node.index()].name));
        all.maybe("individual-recovery", is_individual.then_some(true));
        all.0.extend(settings.0.iter().cloned());
        found.push(all.text());
    }
    found
}

/// The functions of the base.
fn stated(recovery: &Recovery) -> Functions {
    let ms = |time: Duration| format!("{} ms", time.as_ps() / 1_000_000_000);
    let of = |parameters: &RecoveryParameters| {
        let mut settings = Settings::default();
        match parameters.algorithm {
            RecoveryAlgorithm::Vector { history_length } => {
                settings.add("algorithm", "vector");
                settings.add("history-length", history_length);
            }
            RecoveryAlgorithm::Match => settings.add("algorithm", "match"),
        }
        settings.maybe("reset-timeout", parameters.reset_timeout.map(ms));
        settings.add("take-no-sequence", parameters.take_no_sequence);
        settings
    };
    let mut sequence = recovery.sequence.as_ref().map(of);
    if let (Some(sequence), Some(latent)) = (&mut sequence, &recovery.latent) {
        sequence.add("latent-error-detection", true);
        let key = |name: &str| format!("latent-error-detection-parameters.{name}");
        sequence.add(key("difference"), latent.difference);
        sequence.add(key("period"), ms(latent.period));
        sequence.add(key("paths"), latent.paths);
        sequence.add(key("reset-period"), ms(latent.reset_period));
    }
    Functions { sequence, individual: recovery.individual.as_ref().map(of) }
}
