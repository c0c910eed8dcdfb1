//! Keys of gates that have no effect, because no port that they hold for has its gates enabled.
//!
//! Device models are not looked at: theirs are meant for others to enable.

use crate::check::without_effect::key_place;
use crate::gates::codes;
use crate::network::PortIndex;
use crate::resolve::Resolved;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Warns of lists and maximum SDU sizes without effect.
pub(crate) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let topology = &of.topology;
    let root = &of.draft.root;
    let has_gates = |port: PortIndex| topology.ports[port.index()].gates.is_some();
    // A schedule will enable gates, and keeps these sizes.
    let are_to_come = of.streams.list.iter().any(|draft| draft.stream.time_aware.is_some());
    let mut layer = |node: &Node<'_>, has_gates: bool| layer(node, has_gates, are_to_come, faults);
    if let Some(defaults) = root.get("defaults") {
        layer(defaults, (0..topology.ports.len()).map(PortIndex::at).any(has_gates));
    }
    for (key, node) in root.get("nodes").map_or(&[][..], Node::entries) {
        let Some(at) = topology.node_named(&key.text) else { continue };
        layer(node, topology.ports_of(at).any(has_gates));
        for (key, port) in node.get("ports").map_or(&[][..], Node::entries) {
            layer(port, topology.port_named(at, &key.text).is_some_and(has_gates));
        }
    }
}

/// One place that may have the keys, whether a port for which it holds has gates, and whether a schedule is to make them.
fn layer(node: &Node<'_>, has_gates: bool, are_to_come: bool, faults: &mut Faults) {
    let Some(table) = node.get("gate-parameter-table").filter(|_| !has_gates) else { return };
    let is_off = table.get("gate-enabled").is_some();
    // A list that is switched off is meant to rest.
    for (key, may_rest) in [("admin-control-list", is_off), ("queue-max-sdu-table", are_to_come)] {
        if let Some(place) = key_place(table, key).filter(|_| !may_rest) {
            let message = format!("`{key}` has no effect where gates are not enabled");
            faults.warning(codes::NO_EFFECT, place, message, "add `gate-enabled: true`, or remove the key");
        }
    }
}
