//! Stations that programs of this machine use: the namespaces in which they run, and a device for packets in each.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use tautwire_linux::{Namespace, Tunnel, TunnelSettings};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, Stream};
use tautwire_wire::Ipv4Address;

use crate::run::Cannot;

/// The device by which programs of a station send and receive.
pub const PROGRAM_INTERFACE: &str = "tautwire";
/// Where named namespaces are.
const NAMED: &str = "/run/netns";
/// Least longest packet of a device (RFC 791).
const MTU_MIN: u64 = 68;
/// That of a device whose station receives alone.
const MTU_USUAL: u64 = 1500;

/// A station, and the namespace in which programs run that use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Name of the end station.
    pub station: String,
    /// Name of a namespace, or its file if there is a slash in it.
    pub namespace: String,
}

impl Attachment {
    fn file(&self) -> PathBuf {
        let name = Path::new(&self.namespace);
        if self.namespace.contains('/') { name.to_owned() } else { Path::new(NAMED).join(name) }
    }
}

/// The devices of attached stations, by their nodes.
pub(crate) fn devices(
    network: &Network,
    attachments: &[Attachment],
) -> Result<BTreeMap<NodeIndex, Tunnel>, Cannot> {
    let mut refused = Vec::new();
    let mut found: Vec<(NodeIndex, &Attachment, Namespace)> = Vec::new();
    for one in attachments {
        match attached(network, one) {
            Ok((node, _, _)) if found.iter().any(|(other, ..)| *other == node) => {
                refused.push(format!("station `{}` is attached twice", one.station));
            }
            Ok(own) => found.push(own),
            Err(why) => refused.push(why),
        }
    }
    for (place, (_, one, namespace)) in found.iter().enumerate() {
        for (_, other, another) in &found[..place] {
            if namespace.is(another)? {
                let (one, other) = (&one.station, &other.station);
                let why = "packets between them would not leave it";
                refused.push(format!("stations `{other}` and `{one}` are attached to one namespace: {why}"));
            }
        }
    }
    if !refused.is_empty() {
        return Err(Cannot::Refused(refused));
    }
    let mut devices = BTreeMap::new();
    for (node, one, namespace) in found {
        let device = Tunnel::new(&namespace, PROGRAM_INTERFACE, &settings(network, node));
        let of = |error: io::Error| Cannot::Machine(format!("namespace `{}`: {error}", one.namespace));
        devices.insert(node, device.map_err(of)?);
    }
    Ok(devices)
}

/// Node and namespace of an attached station, or what is wrong.
fn attached<'a>(
    network: &Network,
    one: &'a Attachment,
) -> Result<(NodeIndex, &'a Attachment, Namespace), String> {
    let name = &one.station;
    let node = network.nodes.iter().position(|node| node.name == *name);
    let node = node.map(NodeIndex::at).ok_or_else(|| format!("there is no station `{name}` to attach"))?;
    if !matches!(network.nodes[node.index()].kind, NodeKind::EndStation { .. }) {
        return Err(format!("`{name}` is no end station: programs use end stations alone"));
    }
    if of_node(network, node).next().is_none() {
        return Err(format!(
            "station `{name}` has no stream with `udp`: packets of programs are known by its addresses"
        ));
    }
    let namespace = Namespace::open(&one.file()).map_err(|error| {
        format!("there is no network namespace `{}` (`ip netns add NAME` makes one): {error}", one.namespace)
    })?;
    Ok((node, one, namespace))
}

/// Streams with addresses from a node and to it; whether it is the talker.
fn of_node(network: &Network, node: NodeIndex) -> impl Iterator<Item = (&Stream, bool)> {
    let streams = network.streams.iter().filter(|stream| stream.udp.is_some());
    streams.filter_map(move |stream| {
        let is_talker = stream.talker == node;
        (is_talker || stream.listeners.contains(&node)).then_some((stream, is_talker))
    })
}

/// What the device of a station has: the addresses of its streams as its own, and ways to those of the others.
fn settings(network: &Network, node: NodeIndex) -> TunnelSettings {
    let mut made = TunnelSettings::default();
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let mut longest = None;
    for (stream, is_talker) in of_node(network, node) {
        let Some(flow) = stream.udp else { continue };
        let back = Some(flow.destination).filter(|address| !address.is_multicast());
        if is_talker {
            own.push(flow.source);
            others.push((flow.destination, Some(flow.source)));
            longest = longest.max(Some(stream.payload_max.get()));
        } else {
            own.extend(back);
            others.push((flow.source, back));
        }
    }
    for address in own.iter().map(Ipv4Address::octets) {
        if !made.addresses.contains(&address) {
            made.addresses.push(address);
        }
    }
    for (to, from) in others {
        let to = to.octets();
        if !made.addresses.contains(&to) && made.routes.iter().all(|(known, _)| *known != to) {
            made.routes.push((to, from.map(|own| own.octets())));
        }
    }
    made.mtu = u32::try_from(longest.unwrap_or(MTU_USUAL).clamp(MTU_MIN, 65_535)).unwrap_or(u32::MAX);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
name: addressed
nodes: {a: {type: end-station}, s: {type: bridge}, x: {type: end-station}, y: {type: end-station}}
links: [{between: [a, s], rate: 100 Mbit/s}, {between: [s, x], rate: 100 Mbit/s}, {between: [s, y], rate: 100 Mbit/s}]
streams:
  - {name: one, talker: a, listeners: x, payload: 128 B, traffic: {type: periodic, interval: 1 ms},
     udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 1, destination-port: 2}}
  - {name: two, talker: a, listeners: [x, y], payload: 400 B, traffic: {type: periodic, interval: 1 ms},
     udp: {source: 10.0.0.1, destination: 239.0.0.1, source-port: 1, destination-port: 2}}
  - {name: back, talker: x, listeners: a, payload: 50 B, traffic: {type: periodic, interval: 1 ms},
     udp: {source: 10.0.0.2, destination: 10.0.0.1, source-port: 2, destination-port: 1}}
run: {duration: 1 ms}
";

    #[test]
    fn a_device_has_the_addresses_of_its_streams() {
        let loaded = tautwire_workbench::load_text("addressed.yaml", TEXT);
        let network = loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let (one, two, group) = ([10, 0, 0, 1], [10, 0, 0, 2], [239, 0, 0, 1]);
        let expected = [
            (0, 400, vec![one], vec![(two, Some(one)), (group, Some(one))]),
            (2, 68, vec![two], vec![(one, Some(two))]),
            (3, 1500, vec![], vec![(one, None)]),
        ];
        for (node, mtu, addresses, routes) in expected {
            let found = settings(&network, NodeIndex(node));
            assert_eq!(found, TunnelSettings { mtu, addresses, routes }, "node {node}");
        }
    }

    #[test]
    fn what_cannot_be_attached_is_named() {
        let loaded = tautwire_workbench::load_text("addressed.yaml", TEXT);
        let network = loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let without =
            network.clone().altered(|parts| parts.streams.iter_mut().for_each(|one| one.udp = None));
        let own = "/proc/self/ns/net";
        let refused = |network: &Network, attached: &[(&str, &str)]| {
            let attached: Vec<_> = attached
                .iter()
                .map(|(station, namespace)| Attachment {
                    station: (*station).to_owned(),
                    namespace: (*namespace).to_owned(),
                })
                .collect();
            match devices(network, &attached) {
                Err(Cannot::Refused(reasons)) => reasons,
                other => panic!("{other:?}"),
            }
        };
        for (station, namespace, expected) in [
            ("b", own, "there is no station `b` to attach"),
            ("s", own, "`s` is no end station: programs use end stations alone"),
            ("a", "none-such", "there is no network namespace `none-such` (`ip netns add NAME` makes one): "),
            ("a", "/dev/null", "there is no network namespace `/dev/null` (`ip netns add NAME` makes one): "),
        ] {
            let found = refused(&network, &[(station, namespace)]);
            assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
        }
        assert_eq!(
            refused(&without, &[("a", own)]),
            ["station `a` has no stream with `udp`: packets of programs are known by its addresses"]
        );
        assert_eq!(refused(&network, &[("a", own), ("a", own)]), ["station `a` is attached twice"]);
        assert_eq!(
            refused(&network, &[("a", own), ("x", own)]),
            ["stations `a` and `x` are attached to one namespace: packets between them would not leave it"]
        );
    }
}
