//! Networks in the forms of other tools.
//!
//! Each form is a file or folder of its name, with an [`Export`] or an [`Import`], and [`EXPORTS`] and [`IMPORTS`] list them. A form has less than a
//! description, or something else: whatever it does not express, and whatever a description does not take of it, is named in a line of its own, so
//! that nothing is left out unsaid.

mod dot;
mod graphml;
mod lldp;
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

/// A form that can be read.
#[derive(Clone, Copy, Debug)]
pub struct Import {
    /// Its name at the command.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Commands that get files of this form and read them, a line each.
    pub example: &'static str,
    /// Reads a network.
    ///
    /// # Errors
    /// A sentence that says which file is not of this form, and why.
    pub read: fn(&[Input]) -> Result<Read, String>,
}

/// A file in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, without folder and ending.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// The description, in YAML.
    pub text: String,
    /// What the files say and the description does not, and what it says without them; a line each.
    pub not_taken: Vec<String>,
}

impl Read {
    /// Notes what the description does not take, each once.
    fn lacks(&mut self, line: String) {
        if !self.not_taken.contains(&line) {
            self.not_taken.push(line);
        }
    }
}

/// All forms that can be read.
pub static IMPORTS: [&Import; 1] = [&lldp::IMPORT];

/// The form of a name that can be read.
#[must_use]
pub fn import(name: &str) -> Option<&'static Import> {
    IMPORTS.into_iter().find(|import| import.name == name)
}

/// All forms that can be written.
pub static EXPORTS: [&Export; 3] = [&tc::EXPORT, &dot::EXPORT, &graphml::EXPORT];

/// The form of a name that can be written.
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
