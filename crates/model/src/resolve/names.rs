//! Names in parts of a description that are resolved only where it has no faults: one run shows those that are wrong, whatever else is.

use super::Resolved;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Value};

/// What a value names.
#[derive(Clone, Copy)]
enum Named {
    /// A node.
    Node,
    /// A node, or a port of one.
    Port,
    Stream,
}

/// Keys from the top of a description, through lists, to the names.
const VALUES: [(&[&str], Named); 16] = [
    (&["streams", "frer", "sequence-generation"], Named::Node),
    (&["streams", "frer", "sequence-recovery", "node"], Named::Node),
    (&["cyclic-queuing-and-forwarding", "bridges"], Named::Port),
    (&["time-triggered", "synchronisation", "masters"], Named::Node),
    (&["time-triggered", "synchronisation", "compression-masters"], Named::Node),
    (&["time-triggered", "synchronisation", "clients"], Named::Node),
    (&["time-triggered", "synchronisation", "high-integrity"], Named::Node),
    (&["stream-reservation", "cnc", "node"], Named::Node),
    (&["stream-reservation", "cuc", "node"], Named::Node),
    (&["stream-reservation", "mvrp", "forbidden"], Named::Port),
    (&["harts", "reserve", "stream"], Named::Stream),
    (&["harts", "polled", "stream"], Named::Stream),
    (&["harts", "admission", "master"], Named::Node),
    (&["harts", "admission", "standby"], Named::Node),
    (&["harts", "admission", "requests", "stream"], Named::Stream),
    (&["harts", "admission", "requests", "listeners", "node"], Named::Node),
];

/// Reports the names that nothing has. What was reported before stays the same fault.
pub(super) fn look_up(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let root = &of.draft.root;
    for (keys, named) in VALUES {
        look_up_at(root, keys, named, of, faults);
    }
    for row in &of.draft.rows {
        for (keys, named) in &VALUES[..2] {
            look_up_at(row, &keys[1..], *named, of, faults);
        }
    }
    // Sections of protocols have settings of single nodes.
    let own = of.draft.grammar.sections().iter().map(|section| section.key().name);
    for section in ["gptp", "stream-reservation"].into_iter().chain(own) {
        let nodes = root.get(section).and_then(|section| section.get("nodes"));
        for (key, _) in nodes.map_or(&[][..], Node::entries) {
            // Only for its fault.
            let _ = of.topology.node(&key.text, key.place, faults);
        }
    }
}

fn look_up_at(node: &Node<'_>, keys: &[&str], named: Named, of: &Resolved<'_, '_>, faults: &mut Faults) {
    let items = match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    };
    for item in items {
        let Some((key, rest)) = keys.split_first() else {
            look_up_name(item, named, of, faults);
            continue;
        };
        if let Some(inner) = item.get(key) {
            look_up_at(inner, rest, named, of, faults);
        }
    }
}

fn look_up_name(node: &Node<'_>, named: Named, of: &Resolved<'_, '_>, faults: &mut Faults) {
    let Some(name) = node.text() else { return };
    let _ = match named {
        Named::Node => of.topology.node(name, node.place, faults).is_some(),
        Named::Port => of.topology.reference(node, faults).is_some(),
        Named::Stream => of.streams.find(node, faults).is_some(),
    };
}
