//! Topologies for Graphviz, in the language DOT: bridges are boxes, end stations ellipses, cables edges with their rates.

use std::fmt::Write as _;

use tautwire_model::Network;

use crate::{Converted, Export, Scope, cables, kind, node_of, topology_lacks};

pub(crate) static EXPORT: Export =
    Export { name: "dot", about: "Topology for Graphviz: `dot -Tsvg`", scope: Scope::Network(write) };

fn write(network: &Network) -> Converted {
    let mut written = Converted::default();
    let mut text = format!("graph {} {{\n  node [fontname=\"sans-serif\"];\n", quoted(&network.name));
    for node in &network.nodes {
        let shape = if kind(&node.kind) == "bridge" { "box" } else { "ellipse" };
        let _ = writeln!(text, "  {} [shape={shape}];", quoted(&node.name));
    }
    for cable in cables(network) {
        let [from, to] = cable.ends;
        let _ = writeln!(
            text,
            "  {} -- {} [label={}, taillabel={}, headlabel={}];",
            quoted(node_of(network, from)),
            quoted(node_of(network, to)),
            quoted(&cable.link.rate.to_string()),
            quoted(&from.name),
            quoted(&to.name)
        );
    }
    text.push_str("}\n");
    written.text = text;
    topology_lacks(network, &mut written);
    written
}

/// A text of DOT. In quotes only the quote is special, and a backslash begins an escape of labels.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        assert_eq!(quoted("a\"; b -- c; \""), "\"a\\\"; b -- c; \\\"\"");
        assert_eq!(quoted("a\\"), "\"a\\\\\"");
    }
}
