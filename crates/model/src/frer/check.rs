//! What other parts of a description have to do with copies: what excludes them, and histories that are too short.

use tautwire_core::frer::{RecoveryAlgorithm, RecoveryParameters};

use super::resolve::is_replicated;
use super::{FrameReplication, members};
use crate::frer::codes;
use crate::network::{Hop, NodeIndex, NodeKind, Switching, Traffic};
use crate::resolve::Resolved;
use crate::resolve::models::Models;
use crate::resolve::streams::StreamDraft;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;

/// Sections of a description with which streams cannot have copies.
const EXCLUDING: [&str; 3] = ["tdma", "harts", "test"];

/// Checks what other parts of the description have to do with copies.
pub(crate) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let (root, topology, models, streams) = (&of.draft.root, &of.topology, &of.models, &of.streams);
    for draft in streams.list.iter().filter(|draft| is_replicated(draft)) {
        let place = draft.place("frer");
        if let Some(section) = EXCLUDING.iter().find(|section| root.get(section).is_some()) {
            let message = format!("streams have no copies in a network with `{section}`");
            faults.error(codes::FRER, place, message, "remove one of them");
        }
        let Some(replication) = draft.stream.replication.as_deref() else { continue };
        without_cycles(of, draft, faults);
        without_stacks(topology, models, draft, faults);
        whole_frames(topology, models, draft, replication, faults);
        short_history(draft, replication, faults);
        regulators(topology, draft, replication, faults);
        members::have_free_addresses(topology, draft, faults);
    }
    members::are_nobody_elses(&streams.list, faults);
    for draft in &streams.list {
        let Traffic::Response { to, .. } = draft.stream.traffic else { continue };
        if streams.list.get(to.index()).is_some_and(is_replicated) {
            let message = "responses to a stream with copies are not supported".to_owned();
            faults.error(codes::FRER, draft.place("traffic"), message, "remove `frer` there");
        }
    }
}

/// Bridges that forward in cycles and copies: the combination is not supported.
fn without_cycles(of: &Resolved<'_, '_>, draft: &StreamDraft<'_, '_>, faults: &mut Faults) {
    let Some(cyclic) = &of.mechanisms.cyclic else { return };
    let topology = &of.topology;
    let passes = |node: &&NodeIndex| {
        draft.stream.hops.iter().any(|hop| topology.ports[hop.port.index()].node == **node)
    };
    if let Some(node) = cyclic.bridges.iter().find(passes) {
        let name = &topology.nodes[node.index()].name;
        let message = format!("streams have no copies at `{name}`, which forwards in cycles");
        faults.error(codes::FRER, draft.place("frer"), message, "remove one of them, or choose other paths");
    }
}

/// Protocol stacks of hosts: their bounds assume one copy of each frame.
fn without_stacks(
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    draft: &StreamDraft<'_, '_>,
    faults: &mut Faults,
) {
    let stations = draft.stream.listeners.iter().chain([&draft.stream.talker]);
    for node in stations.map(|node| &topology.nodes[node.index()]) {
        let NodeKind::EndStation { host } = node.kind else { continue };
        if !models.host_at(host).stacks.stacks.is_empty() {
            let message =
                format!("streams have no copies at `{}`, whose host has protocol stacks", node.name);
            let help = "give it a host without stacks, or remove `frer`";
            faults.error(codes::FRER, draft.place("frer"), message, help);
            return;
        }
    }
}

/// A bridge that numbers frames or eliminates copies must have the whole frame.
fn whole_frames(
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    draft: &StreamDraft<'_, '_>,
    replication: &FrameReplication,
    faults: &mut Faults,
) {
    let functions =
        replication.recoveries.iter().map(|recovery| recovery.node).chain([replication.generation]);
    for node in functions {
        let NodeKind::Bridge { device, .. } = topology.nodes[node.index()].kind else { continue };
        if matches!(models.device_at(device).switching, Switching::CutThrough { .. }) {
            let message = format!(
                "`{}` forwards frames before it knows whether they are copies",
                topology.nodes[node.index()].name
            );
            let help = "give it a store-and-forward device, or let another node have the function";
            faults.error(codes::FRER, draft.place("frer"), message, help);
            return;
        }
    }
}

/// The shortest history does not outlive a single loss.
fn short_history(draft: &StreamDraft<'_, '_>, replication: &FrameReplication, faults: &mut Faults) {
    let is_short = |parameters: &RecoveryParameters| {
        parameters.algorithm == RecoveryAlgorithm::Vector { history_length: 2 }
    };
    let mut sequence = replication.recoveries.iter().filter_map(|recovery| recovery.sequence);
    if sequence.any(|parameters| is_short(&parameters)) {
        let message = "with a history of 2, the first frame that is lost on all paths stops the stream until the reset timeout".to_owned();
        let help = "write a `history-length` of the frames that may start between two copies, of those that may be lost in a row, and one more";
        faults.warning(codes::FRER_HISTORY, draft.place("frer"), message, help);
    }
}

/// An interleaved regulator keeps one order of all its streams, and eliminated copies may change theirs.
fn regulators(
    topology: &Topology<'_>,
    draft: &StreamDraft<'_, '_>,
    replication: &FrameReplication,
    faults: &mut Faults,
) {
    let hops = &draft.stream.hops;
    let before = |hop: u32| hops[hop as usize].previous;
    let is_behind = |hop: &&Hop| {
        std::iter::successors(hop.previous, |hop| before(*hop))
            .any(|hop| replication.recovered[hop as usize].is_some())
    };
    if let Some(hop) = hops.iter().filter(|hop| hop.scheduler.is_some()).find(is_behind) {
        let node = &topology.nodes[topology.ports[hop.port.index()].node.index()].name;
        let message = format!(
            "copies are eliminated before the ATS schedulers of `{node}`, so frames may change their order there, and the scheduler group has no bound"
        );
        let help = "give the stream a class without schedulers behind the elimination, or let a function at the listener eliminate copies";
        faults.warning(codes::FRER_REGULATOR, draft.place("frer"), message, help);
    }
}
