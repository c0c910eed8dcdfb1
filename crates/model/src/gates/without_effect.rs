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
    if let Some(defaults) = root.get("defaults") {
        layer(defaults, (0..topology.ports.len()).map(PortIndex::at).any(has_gates), faults);
    }
    for (key, node) in root.get("nodes").map_or(&[][..], Node::entries) {
        let Some(at) = topology.node_named(&key.text) else { continue };
        layer(node, topology.ports_of(at).any(has_gates), faults);
        for (key, port) in node.get("ports").map_or(&[][..], Node::entries) {
            layer(port, topology.port_named(at, &key.text).is_some_and(has_gates), faults);
        }
    }
}

/// One place that may have the keys, and whether a port for which it holds has gates.
fn layer(node: &Node<'_>, has_gates: bool, faults: &mut Faults) {
    let Some(table) = node.get("gate-parameter-table").filter(|_| !has_gates) else { return };
    let is_off = table.get("gate-enabled").is_some();
    for (key, may_rest) in [("admin-control-list", true), ("queue-max-sdu-table", false)] {
        // A list that is switched off is meant to rest.
        if let Some(place) = key_place(table, key).filter(|_| !(may_rest && is_off)) {
            let message = format!("`{key}` has no effect where gates are not enabled");
            faults.warning(codes::NO_EFFECT, place, message, "add `gate-enabled: true`, or remove the key");
        }
    }
}
