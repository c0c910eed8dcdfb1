//! Where an interface captured: at a port, which sends one direction of its cable and receives the other, or in one direction.

use tautwire_model::Network;
use tautwire_model::network::{LinkIndex, NodeIndex, PortIndex};

use crate::StatedPlace;

/// Which end of a link it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// The port that sends.
    Sender,
    /// The port that receives.
    Receiver,
}

/// The place of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At a port: the link that it sends, and the one that it receives.
    Port(PortIndex, [LinkIndex; 2]),
    /// One direction, at its sender.
    Direction(LinkIndex),
}

impl Place {
    /// The links that are seen here, and at which end.
    pub(crate) fn links(self) -> impl Iterator<Item = (LinkIndex, Side)> {
        let [first, second] = match self {
            Self::Port(_, [egress, ingress]) => {
                [Some((egress, Side::Sender)), Some((ingress, Side::Receiver))]
            }
            Self::Direction(link) => [Some((link, Side::Sender)), None],
        };
        first.into_iter().chain(second)
    }

    /// Its name.
    pub(crate) fn name(self, network: &Network) -> String {
        match self {
            Self::Port(port, _) => port_name(network, port),
            Self::Direction(link) => direction_name(network, link),
        }
    }
}

/// `node.port`.
pub(crate) fn port_name(network: &Network, port: PortIndex) -> String {
    let port = &network.ports[port.index()];
    format!("{}.{}", network.nodes[port.node.index()].name, port.name)
}

fn direction_name(network: &Network, link: LinkIndex) -> String {
    let link = &network.links[link.index()];
    format!("{} > {}", port_name(network, link.from), port_name(network, link.to))
}

/// Names of places of a network.
pub(crate) struct Places {
    names: Vec<(String, Place)>,
}

impl Places {
    pub(crate) fn new(network: &Network) -> Self {
        let mut names = Vec::new();
        for (number, port) in network.ports.iter().enumerate() {
            let Some(links) = port.links else { continue };
            let index = PortIndex::at(number);
            names.push((port_name(network, index), Place::Port(index, [links.egress, links.ingress])));
        }
        for (number, node) in network.nodes.iter().enumerate() {
            let own = |(_, place): &&(String, Place)| match place {
                Place::Port(port, _) => network.ports[port.index()].node == NodeIndex::at(number),
                Place::Direction(_) => false,
            };
            let ports: Vec<Place> = names.iter().filter(own).map(|(_, place)| *place).collect();
            if let [only] = ports[..] {
                names.push((node.name.clone(), only));
            }
        }
        for number in 0..network.links.len() {
            let link = LinkIndex::at(number);
            names.push((direction_name(network, link), Place::Direction(link)));
        }
        Self { names }
    }

    /// The place of this name; blanks around `>` are free.
    fn named(&self, name: &str) -> Option<Place> {
        let parts: Vec<&str> = name.split('>').map(str::trim).collect();
        let name = parts.join(" > ");
        self.names.iter().find(|(own, _)| *own == name).map(|(_, place)| *place)
    }

    /// The place of an interface: as stated, or by its own name, or by that of its file if it is the only one.
    pub(crate) fn find(
        &self,
        stated: Option<&StatedPlace>,
        file: &str,
        interface: Option<&str>,
        is_only: bool,
    ) -> Result<Place, String> {
        if let Some(stated) = stated {
            return self.named(&stated.place).ok_or_else(|| {
                format!("no port `{}` has a cable; there are {}", stated.place, self.examples())
            });
        }
        let stem = std::path::Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let by_file = || stem.as_deref().filter(|_| is_only).and_then(|stem| self.named(stem));
        interface.and_then(|name| self.named(name)).or_else(by_file).ok_or_else(|| {
            let (what, which) = match interface {
                Some(name) => (format!("interface `{name}` of {file}"), format!("{file}:{name}")),
                None => (file.to_owned(), file.to_owned()),
            };
            format!(
                "{what} has no name of a port: state where it captured by `--at NODE.PORT={which}`; there are {}",
                self.examples()
            )
        })
    }

    /// The first ports.
    fn examples(&self) -> String {
        const SHOWN: usize = 6;
        let ports = || self.names.iter().filter(|(_, place)| matches!(place, Place::Port(..)));
        // A node with one port is named twice.
        let with_port = || ports().filter(|(name, _)| name.contains('.'));
        let mut shown: Vec<&str> = with_port().take(SHOWN).map(|(name, _)| name.as_str()).collect();
        if with_port().count() > SHOWN {
            shown.push("...");
        }
        shown.join(", ")
    }
}
