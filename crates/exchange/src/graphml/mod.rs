//! Topologies as GraphML, of and for networkx, yEd and Gephi: the kind of every node, and rate, propagation delay and ports of every cable.
//!
//! `read.rs` reads them, also those of the Topology Zoo. Not here: ports as elements of their own (`port`), which readers seldom take; edges have their names as data.

mod read;

use std::fmt::Write as _;

use tautwire_model::Network;

use crate::xml::escaped;
use crate::{Converted, Export, Import, Scope, cables, kind, node_of, topology_lacks};

pub(crate) static EXPORT: Export =
    Export { name: "graphml", about: "Topology for networkx, yEd and Gephi", scope: Scope::Network(write) };

pub(crate) static IMPORT: Import = Import {
    name: "graphml",
    about: "a topology in GraphML, as of networkx, yEd or the Topology Zoo; nodes, cables and rates\nbecome a description",
    example: "tautwire import graphml plant.graphml --to plant.yaml",
    has_configurations: false,
    of: read::read,
    of_octets: None,
    onto: None,
};

/// The data of nodes and edges: identifier, what has it, name, type.
const KEYS: [(&str, &str, &str, &str); 6] = [
    ("kind", "node", "kind", "string"),
    ("rate", "edge", "rate_bps", "long"),
    ("delay", "edge", "propagation_ps", "long"),
    ("up", "edge", "up", "boolean"),
    ("from", "edge", "source_port", "string"),
    ("to", "edge", "target_port", "string"),
];

fn write(network: &Network) -> Converted {
    let mut written = Converted::default();
    let mut text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
            .to_owned();
    for (id, of, name, kind) in KEYS {
        let _ = writeln!(text, "  <key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    let _ = writeln!(text, "  <graph id=\"{}\" edgedefault=\"undirected\">", escaped(&network.name));
    for node in &network.nodes {
        let _ = writeln!(
            text,
            "    <node id=\"{}\"><data key=\"kind\">{}</data></node>",
            escaped(&node.name),
            kind(&node.kind)
        );
    }
    for cable in cables(network) {
        let ends = cable.ends.map(|port| escaped(node_of(network, port)));
        let ports = cable.ends.map(|port| escaped(&port.name));
        let _ = write!(text, "    <edge source=\"{}\" target=\"{}\">", ends[0], ends[1]);
        let _ = write!(text, "<data key=\"rate\">{}</data>", cable.link.rate.as_bps());
        let _ = write!(text, "<data key=\"delay\">{}</data>", cable.link.propagation.as_ps());
        let _ = write!(text, "<data key=\"up\">{}</data>", cable.link.up);
        let _ = write!(text, "<data key=\"from\">{}</data><data key=\"to\">{}</data>", ports[0], ports[1]);
        text.push_str("</edge>\n");
    }
    text.push_str("  </graph>\n</graphml>\n");
    written.text = text;
    topology_lacks(network, &mut written);
    written
}
