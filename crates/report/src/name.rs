//! Names of a network's parts, as tables and results give them.

use tautwire_analysis::Unbounded;
use tautwire_model::network::{Network, NodeIndex, PortIndex, TransmissionSelection};

/// `camera`.
pub(crate) fn node(network: &Network, node: NodeIndex) -> &str {
    &network.nodes[node.index()].name
}

/// A port with its node, `bridge-1.p3`.
#[must_use]
pub fn port(network: &Network, port: PortIndex) -> String {
    let port = &network.ports[port.index()];
    format!("{}.{}", node(network, port.node), port.name)
}

/// `credit-based`.
pub(crate) const fn selection(selection: TransmissionSelection) -> &'static str {
    match selection {
        TransmissionSelection::StrictPriority => "strict-priority",
        TransmissionSelection::CreditBased { .. } => "credit-based",
        TransmissionSelection::Ats => "ats",
    }
}

/// Why there is no bound, as a sentence's part.
#[must_use]
pub fn unbounded_text(network: &Network, unbounded: &Unbounded) -> String {
    unbounded.text(network)
}

/// `StrictPriority` to `strict-priority`.
pub(crate) fn kebab(camel: &str) -> String {
    let mut kebab = String::with_capacity(camel.len() + 4);
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}
