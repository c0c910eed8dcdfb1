//! Networks in the forms of other tools.
//!
//! Each form is a file or folder of its name, with one [`Export`], and [`EXPORTS`] lists them. A form has less than a description, or something
//! else: whatever it does not express is named in a line of its own ([`Written::not_expressed`]), so that nothing is left out unsaid.

mod dot;
mod graphml;
mod tc;

use tautwire_model::Network;
use tautwire_model::network::{Link, NodeKind, Port, PortIndex, Traffic};

/// A form in which a network can be written.
#[derive(Clone, Copy, Debug)]
pub struct Export {
    /// Its name at the command.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Writes a network.
    pub write: fn(&Network) -> Written,
}

/// A network in another form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// What the description says and the text does not, a line each.
    pub not_expressed: Vec<String>,
}

/// All forms.
pub static EXPORTS: [&Export; 3] = [&tc::EXPORT, &dot::EXPORT, &graphml::EXPORT];

/// The form of a name.
#[must_use]
pub fn export(name: &str) -> Option<&'static Export> {
    EXPORTS.into_iter().find(|export| export.name == name)
}

impl Written {
    /// Notes what the form does not express, each once.
    fn lacks(&mut self, line: impl Into<String>) {
        let line = line.into();
        if !self.not_expressed.contains(&line) {
            self.not_expressed.push(line);
        }
    }
}

/// What a network has in addition to nodes, cables and streams, by the keys of a description.
fn mechanisms(network: &Network) -> Vec<&'static str> {
    let stated = [
        ("tdma", network.tdma.is_some()),
        ("time-triggered", network.time_triggered.is_some()),
        ("stream-reservation", network.srp.is_some()),
        ("gptp", network.gptp.is_some()),
        ("harts", network.harts.is_some()),
        ("test", network.test_bed.is_some()),
        ("virtual-link", network.streams.iter().any(|stream| stream.virtual_link.is_some())),
        ("frer", network.streams.iter().any(|stream| stream.replication.is_some())),
        ("events", !network.events.is_empty()),
    ];
    let stated = stated.into_iter().filter(|(_, is_in)| *is_in).map(|(key, _)| key);
    stated.chain(network.sections.keys()).collect()
}

/// A cable: its first direction, and the ports at its ends.
struct Cable<'n> {
    link: &'n Link,
    ends: [&'n Port; 2],
}

/// The cables of a network, in the order of the description.
fn cables(network: &Network) -> impl Iterator<Item = Cable<'_>> {
    network.links.iter().step_by(2).map(|link| {
        let port = |at: PortIndex| &network.ports[at.index()];
        Cable { link, ends: [port(link.from), port(link.to)] }
    })
}

/// The name of a port's node.
fn node_of<'n>(network: &'n Network, port: &Port) -> &'n str {
    &network.nodes[port.node.index()].name
}

/// The word for a kind of nodes.
fn kind(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::EndStation { .. } => "end-station",
        NodeKind::Bridge { .. } => "bridge",
    }
}

/// What a form for topologies alone leaves out.
fn topology_lacks(network: &Network, written: &mut Written) {
    // Frames of protocols are streams of a network, too, but none of its description.
    let streams = network.streams.iter().filter(|stream| stream.traffic != Traffic::Protocol).count();
    if streams > 0 {
        written.lacks(format!("{streams} stream{}", if streams == 1 { "" } else { "s" }));
    }
    for vlan in &network.vlans {
        written.lacks(format!("VLAN {}: its members", vlan.id.number()));
    }
    for port in &network.ports {
        written.lacks(format!("port {}.{}: its queues and classes", node_of(network, port), port.name));
    }
    for key in mechanisms(network) {
        written.lacks(format!("`{key}`"));
    }
}
