//! Instance data of the YANG modules of IEEE Std 802.1Q and 802.1CB, a document for each bridge: in JSON (RFC 7951), and in XML (RFC 7950) from the
//! same tree.
//!
//! `ports.rs`: interfaces with priorities, classes, selection and preemption; `gates.rs`: lists of gates; `component.rs`: the bridge with VLANs and
//! forwarding; `read` reads these, and `update` puts them into a description that has the streams; `streams.rs`: stream identification, filters, gates and meters; `ats.rs`: schedulers;
//! `frer.rs`: frame replication and elimination; `names.rs`: words and numbers of the modules; `uni`: requests for streams, of the network as a whole; `gptp.rs`: gPTP of each node. A
//! document has the data of a module only if the bridge uses it: some modules, once loaded, demand data of every port. What has no leaf is a line of its own.

mod ats;
mod component;
mod frer;
mod gates;
pub(crate) mod gptp;
mod names;
mod ports;
mod read;
mod streams;
pub(crate) mod uni;
mod update;
mod xml;

use serde_json::{Map, Value, json};
use tautwire_model::Network;
use tautwire_model::network::{DeviceModel, Node, NodeIndex, NodeKind, Port, PortIndex, Traffic};
use tautwire_units::Bytes;

use crate::{Converted, Export, Scope, mechanisms};

pub(crate) use read::IMPORT;

pub(crate) static JSON: Export = Export {
    name: "yang",
    about: "IEEE 802.1Q YANG instance data of each bridge, in JSON",
    scope: Scope::Bridge {
        ending: "json",
        write: |network, node| {
            let (tree, mut written) = write(network, node);
            written.text = serde_json::to_string_pretty(&tree).expect("all keys are texts") + "\n";
            written
        },
    },
};

pub(crate) static XML: Export = Export {
    name: "yang-xml",
    about: "the same in XML",
    scope: Scope::Bridge {
        ending: "xml",
        write: |network, node| {
            let (tree, mut written) = write(network, node);
            written.text = xml::text(&tree);
            written
        },
    },
};

/// Octets that 802.1Q charges in addition to a frame: preamble, start-of-frame delimiter and gap.
const CHARGED: Bytes = Bytes::new(20);

/// A bridge that is written.
struct Bridge<'n> {
    network: &'n Network,
    number: NodeIndex,
    node: &'n Node,
    device: &'n DeviceModel,
    /// Its name in the document.
    name: String,
}

impl<'n> Bridge<'n> {
    /// Its ports.
    fn ports(&self) -> impl Iterator<Item = (PortIndex, &'n Port)> {
        let network = self.network;
        self.node.ports.clone().map(|number| (PortIndex(number), &network.ports[number as usize]))
    }

    /// The number of a port in the bridge, from one.
    fn port_number(&self, port: PortIndex) -> u32 {
        port.0 - self.node.ports.start + 1
    }

    /// A port, as lines name it.
    fn place(&self, port: &Port) -> String {
        format!("port {}.{}", self.node.name, port.name)
    }
}

/// The name of a port's interface.
fn interface(port: &Port) -> &str {
    port.interface.as_deref().unwrap_or(&port.name)
}

/// The document of a bridge.
fn write(network: &Network, number: NodeIndex) -> (Value, Converted) {
    let mut written = Converted::default();
    let node = &network.nodes[number.index()];
    let NodeKind::Bridge { device, .. } = node.kind else { unreachable!("a bridge is chosen") };
    let bridge = Bridge {
        network,
        number,
        node,
        device: &network.devices[device.index()],
        name: node.name.chars().take(names::NAME_MAX).collect(),
    };
    if bridge.name != node.name {
        written.lacks(format!("bridge {}: its name behind {} letters", node.name, names::NAME_MAX));
    }
    let mut document = Map::new();
    document.insert(
        "ietf-interfaces:interfaces".into(),
        json!({ "interface": ports::interfaces(&bridge, &mut written) }),
    );
    let mut component = component::component(&bridge, &mut written);
    let mut identities = streams::Identities::default();
    streams::filters(&bridge, &mut component, &mut identities, &mut written);
    ats::schedulers(&bridge, &mut component, &mut identities, &mut written);
    let replication = frer::tables(&bridge, &mut identities, &mut written);
    let identities = identities.list(&bridge, &mut written);
    if !identities.is_empty() {
        document.insert("ieee802-dot1cb-stream-identification:stream-identity".into(), identities.into());
    }
    if let Some(replication) = replication {
        document.insert("ieee802-dot1cb-frer:frer".into(), replication);
    }
    document.insert("ieee802-dot1q-bridge:bridges".into(), component::bridges(&bridge, component));
    lacks(&bridge, &mut written);
    (document.into(), written)
}

/// What no document of a bridge has.
fn lacks(bridge: &Bridge<'_>, written: &mut Converted) {
    let (network, device) = (bridge.network, bridge.device);
    written.lacks("cables: rates, lengths and delays");
    written.lacks(format!("device model {}: its delays, stages, limits and order", device.name));
    if device.credit_charged_overhead != CHARGED
        && bridge.ports().any(|(_, port)| ports::is_credit_based(port))
    {
        written.lacks(format!("device model {}: `credit-charged-overhead`", device.name));
    }
    if network.streams.iter().any(|stream| stream.traffic != Traffic::Protocol) {
        written.lacks("streams: traffic, deadlines, talkers and listeners");
    }
    if network.network_control.is_some() {
        written.lacks("`network-control`");
    }
    if network.cyclic.is_some() {
        written
            .lacks("`cyclic-queuing-and-forwarding`, but for the stream gates and gates of which it is made");
    }
    // What of replication is left out has lines of its own.
    for key in mechanisms(network).into_iter().filter(|key| *key != "frer") {
        written.lacks(format!("`{key}`"));
    }
}
