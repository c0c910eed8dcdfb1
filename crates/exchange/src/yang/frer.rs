//! Frame replication and elimination (ieee802-dot1cb-frer): sequence generation and recovery functions, and where numbers are written and read.
//!
//! Frames are numbered behind the port where they come in, on its in-facing side. An individual recovery function is on the out-facing side of the
//! port where its member stream comes in. A sequence recovery function sees what the relay brings to a port, on the in-facing side of the ports where
//! its stream leaves: here one function of the node, there one for each of these ports, which see the same frames.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tautwire_core::frer::{RecoveryAlgorithm, RecoveryParameters};
use tautwire_model::frer::{Encapsulation, Recovery};
use tautwire_model::network::{Hop, Stream, StreamIndex};
use tautwire_units::Duration;

use super::streams::{Identities, arrivals};
use super::{Bridge, interface};
use crate::Converted;

/// A sequence encode/decode function: its streams, whether it changes frames, and how they carry numbers.
struct Encoding {
    streams: Vec<u32>,
    is_active: bool,
    encapsulation: Encapsulation,
}

#[derive(Default)]
struct Tables {
    generation: Vec<Value>,
    recovery: Vec<Value>,
    /// By port, and whether it is on the out-facing side.
    encodings: BTreeMap<(u32, bool), Encoding>,
}

/// The tables of a bridge; none if no function is there.
pub(super) fn tables(
    bridge: &Bridge<'_>,
    identities: &mut Identities,
    written: &mut Converted,
) -> Option<Value> {
    let mut tables = Tables::default();
    for (number, stream) in bridge.network.streams.iter().enumerate() {
        let Some(replication) = stream.replication.as_deref() else { continue };
        let here = |recovery: &Recovery| recovery.node == bridge.number;
        if replication.generation != bridge.number && !replication.recoveries.iter().any(here) {
            continue;
        }
        if stream.hops.iter().any(|hop| hop.written.is_some()) {
            written.lacks(format!(
                "stream {}: its copies, since active identification changes them",
                stream.name
            ));
            continue;
        }
        let number = StreamIndex::at(number);
        if arrivals(bridge, number, written).is_empty() {
            written
                .lacks(format!("stream {}: its replication, where no function identifies it", stream.name));
            continue;
        }
        let handle = identities.handle(number);
        let mut encode = |port: u32, is_out: bool, is_active: bool| {
            let own = tables.encodings.entry((port, is_out)).or_insert_with(|| Encoding {
                streams: Vec::new(),
                is_active,
                encapsulation: replication.encapsulation,
            });
            if (own.is_active, own.encapsulation) == (is_active, replication.encapsulation) {
                own.streams.push(handle);
            } else {
                written.lacks(format!(
                    "{}: how frames of {} carry their numbers, which differs from that of other streams there",
                    bridge.place(&bridge.network.ports[port as usize]),
                    stream.name
                ));
            }
        };
        if replication.generation == bridge.number {
            for port in ports_in(bridge, stream) {
                encode(port, false, true);
            }
            tables.generation.push(json!({
                "index": tables.generation.len() + 1, "stream": [handle], "direction-out-facing": false,
            }));
        }
        for (place, recovery) in replication.recoveries.iter().enumerate().filter(|(_, one)| here(one)) {
            let is_here = |hop: usize| replication.recovered[hop].is_some_and(|own| own as usize == place);
            let mut incoming: Vec<u32> = (0..stream.hops.len())
                .filter(|hop| is_here(*hop))
                .map(|hop| bridge.network.far_end(&stream.hops[hop]).1.0)
                .collect();
            incoming.sort_unstable();
            incoming.dedup();
            if let Some(parameters) = &recovery.individual {
                for port in incoming {
                    encode(port, true, false);
                    tables.recovery.push(entry(
                        tables.recovery.len() + 1,
                        handle,
                        bridge,
                        &[port],
                        true,
                        parameters,
                    ));
                }
            }
            if let Some(parameters) = &recovery.sequence {
                let outgoing = ports_out(bridge, stream);
                for (port, hop) in &outgoing {
                    identities.behind_relay(number, *port);
                    encode(*port, false, !hop.tagged.sequence);
                }
                let ports: Vec<u32> = outgoing.into_keys().collect();
                let mut own = entry(tables.recovery.len() + 1, handle, bridge, &ports, false, parameters);
                own["latent-error-detection"] = recovery.latent.is_some().into();
                if let Some(latent) = recovery.latent {
                    own["latent-error-detection-parameters"] = json!({
                        "difference": latent.difference,
                        "period": ms(latent.period),
                        "paths": latent.paths,
                        "reset-period": ms(latent.reset_period),
                    });
                }
                tables.recovery.push(own);
            }
        }
    }
    tables.value(bridge)
}

impl Tables {
    fn value(self, bridge: &Bridge<'_>) -> Option<Value> {
        let encodings: Vec<Value> = (self.encodings.into_iter())
            .map(|((port, is_out), own)| {
                let encapsulation = match own.encapsulation {
                    Encapsulation::RTag => "r-tag",
                    Encapsulation::Hsr => "hsr-sequence-tag",
                    Encapsulation::Prp => "prp-sequence-tag",
                };
                json!({
                    "port": name(bridge, port),
                    "direction-out-facing": is_out,
                    "stream": own.streams,
                    "active": own.is_active,
                    "encapsulation": { encapsulation: {} },
                })
            })
            .collect();
        let mut found = Map::new();
        for (key, list) in [
            ("sequence-generation", self.generation),
            ("sequence-recovery", self.recovery),
            ("sequence-identification", encodings),
        ] {
            if !list.is_empty() {
                found.insert(key.into(), list.into());
            }
        }
        (!found.is_empty()).then(|| found.into())
    }
}

fn entry(
    index: usize,
    handle: u32,
    bridge: &Bridge<'_>,
    ports: &[u32],
    is_individual: bool,
    parameters: &RecoveryParameters,
) -> Value {
    let mut entry = json!({
        "index": index,
        "stream": [handle],
        "port": ports.iter().map(|port| name(bridge, *port)).collect::<Vec<_>>(),
        // An individual function sees frames from the line, a sequence recovery function those of the relay.
        "direction-out-facing": is_individual,
        "algorithm": match parameters.algorithm {
            RecoveryAlgorithm::Vector { .. } => json!({ "vector": {} }),
            RecoveryAlgorithm::Match => json!({ "match": {} }),
        },
        "take-no-sequence": parameters.take_no_sequence,
        "individual-recovery": is_individual,
        "latent-error-detection": false,
    });
    if let RecoveryAlgorithm::Vector { history_length } = parameters.algorithm {
        entry["history-length"] = history_length.into();
    }
    if let Some(timeout) = parameters.reset_timeout {
        entry["reset-timeout"] = ms(timeout).into();
    }
    entry
}

fn name<'n>(bridge: &Bridge<'n>, port: u32) -> &'n str {
    interface(&bridge.network.ports[port as usize])
}

/// The ports where frames of a stream come in.
fn ports_in(bridge: &Bridge<'_>, stream: &Stream) -> BTreeSet<u32> {
    let ends = stream.hops.iter().map(|hop| bridge.network.far_end(hop));
    ends.filter(|(node, _)| *node == bridge.number).map(|(_, port)| port.0).collect()
}

/// The ports where they leave, with a hop of each.
fn ports_out<'n>(bridge: &Bridge<'n>, stream: &'n Stream) -> BTreeMap<u32, &'n Hop> {
    let own = |hop: &&Hop| bridge.network.ports[hop.port.index()].node == bridge.number;
    stream.hops.iter().filter(own).map(|hop| (hop.port.0, hop)).collect()
}

/// Whole milliseconds, of which all times of a description are.
fn ms(time: Duration) -> u64 {
    time.as_ps() / 1_000_000_000
}
