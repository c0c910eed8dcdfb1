//! Nodes, ports and links put together, and references to them resolved.

use std::collections::HashMap;

use tautwire_core::{Priority, TrafficClassTable};
use tautwire_units::BitRate;
use tautwire_wire::MacAddress;

use super::links::{Cable, LeftOut};
use super::models::Models;
use super::nodes::{Drafts, unknown_node};
use super::ports::{self, Places, Settings};
use crate::identification::PortIdentities;
use crate::network::{
    Link, LinkIndex, Node as NetworkNode, NodeIndex, NodeKind, Port, PortIndex, PortLinks,
    TransmissionSelection,
};
use crate::psfp;
use crate::text::codes;
use crate::text::faults::{Faults, did_you_mean};
use crate::text::tree::{Node, Place};

/// The graph, and the names in it.
pub(crate) struct Topology<'a> {
    pub(crate) nodes: Vec<NetworkNode>,
    pub(crate) ports: Vec<Port>,
    pub(crate) links: Vec<Link>,
    /// The place of each cable's rate.
    pub(crate) rate_places: Vec<Place>,
    /// Settings of each port that the network does not hold.
    pub(crate) extras: Vec<Extra>,
    /// What its bridges filter, once streams are known.
    pub(crate) filters: psfp::resolve::Drafts,
    /// By which functions its ports identify frames, once routes are known.
    pub(crate) identities: Vec<PortIdentities>,
    node_index: HashMap<String, NodeIndex>,
    cable_index: HashMap<&'a str, u32>,
    left_out: LeftOut<'a>,
}

/// Facts about a port that [`Port`] does not have.
#[derive(Clone, Copy)]
pub(crate) struct Extra {
    pub(crate) max_residence_time: Option<tautwire_units::Duration>,
    pub(crate) places: Places,
}

/// Most ports of a node (port identifiers of the spanning tree have 12 bits for the number).
const PORTS_MAX: usize = 4_095;
/// Most characters of the name of an interface (IFNAMSIZ of Linux, less the end).
const INTERFACE_NAME_MAX: usize = 15;

/// Puts the drafts and cables together.
pub(crate) fn assemble<'t, 'a>(
    root: &'a Node<'t>,
    mut drafts: Drafts<'t, 'a>,
    (cables, left_out): (Vec<Cable<'a>>, LeftOut<'a>),
    models: &Models<'t, 'a>,
    faults: &mut Faults,
) -> Topology<'a> {
    let mut made_names: Vec<Vec<String>> = vec![Vec::new(); drafts.list.len()];
    let local = local_ports(&mut drafts, &cables, &mut made_names, faults);
    for (draft, made) in drafts.list.iter().zip(&made_names) {
        let count = draft.ports.len().max(made.len());
        if count > PORTS_MAX {
            let message = format!("`{}` has {count} ports", draft.name);
            let help = format!(
                "a node has at most {PORTS_MAX}, as port identifiers of the spanning tree have 12 bits"
            );
            faults.error(codes::TOO_LARGE, draft.node.anchor(), message, help);
        }
    }
    let mut topology = Topology {
        nodes: Vec::with_capacity(drafts.list.len()),
        ports: Vec::new(),
        links: Vec::with_capacity(2 * cables.len()),
        rate_places: Vec::with_capacity(cables.len()),
        extras: Vec::new(),
        filters: psfp::resolve::Drafts::default(),
        identities: Vec::new(),
        node_index: HashMap::with_capacity(drafts.list.len()),
        cable_index: HashMap::new(),
        left_out,
    };
    topology.add_nodes(root, &drafts, &made_names, models, faults);
    for (cable, ends) in cables.iter().zip(local) {
        // An end that found no port is reported; the cable's number stays its own.
        let Some(ends) = ends else {
            let nodes = cable.ends.iter().map(|end| drafts.list[end.node.index()].name);
            topology.left_out.add(cable.name, nodes);
            continue;
        };
        let ports = [0, 1].map(|end| {
            let first = topology.nodes[cable.ends[end].node.index()].ports.start;
            PortIndex(first + ends[end])
        });
        topology.add_cable(cable, ports);
    }
    topology.check_idle_slopes(faults);
    topology
}

/// The port of each end of each cable, counted within its node; links make the ports that are not listed.
fn local_ports(
    drafts: &mut Drafts<'_, '_>,
    cables: &[Cable<'_>],
    made: &mut [Vec<String>],
    faults: &mut Faults,
) -> Vec<Option<[u32; 2]>> {
    let mut taken: Vec<Vec<Option<Place>>> =
        drafts.list.iter().map(|draft| vec![None; draft.ports.len()]).collect();
    let mut local: Vec<[Option<u32>; 2]> = vec![[None; 2]; cables.len()];
    let mut failed = vec![false; cables.len()];
    // Named ends first, so that an unnamed one never takes a port that another names.
    for named in [true, false] {
        for (cable, ends) in cables.iter().enumerate() {
            for (which, end) in ends.ends.iter().enumerate() {
                if end.port.is_some() != named {
                    continue;
                }
                let node = end.node.index();
                let position = match end.port {
                    Some(name) => named_port(&drafts.list[node], &mut made[node], &mut taken[node], name),
                    None => free_port(&drafts.list[node], &mut made[node], &mut taken[node]),
                };
                let Some(position) = position else {
                    let message = format!("`{}` has no free port", drafts.list[node].name);
                    let help = "list another port at the node, or remove the list";
                    faults.error(codes::PORT_TAKEN, end.place, message, help);
                    failed[cable] = true;
                    continue;
                };
                if let Some(other) = taken[node][position] {
                    let name = end.port.unwrap_or_default();
                    let message =
                        format!("port `{name}` of `{}` already has a cable", drafts.list[node].name);
                    let help = "a port has one cable: name another port";
                    faults.error_with(codes::PORT_TAKEN, end.place, message, help, (other, "the other"));
                    failed[cable] = true;
                    continue;
                }
                taken[node][position] = Some(end.place);
                local[cable][which] = u32::try_from(position).ok();
            }
        }
    }
    let both = |(ends, failed): ([Option<u32>; 2], bool)| match ends {
        [Some(one), Some(other)] if !failed => Some([one, other]),
        _ => None,
    };
    local.into_iter().zip(failed).map(both).collect()
}

/// A stated address is one port's own and no group's.
fn check_address(
    address: MacAddress,
    place: Place,
    known: &mut HashMap<MacAddress, Place>,
    faults: &mut Faults,
) {
    if address.is_group() {
        let message = format!("`{address}` is a group address");
        faults.error(codes::ADDRESS, place, message, "clear the lowest bit of the first octet");
    }
    if let Some(first) = known.insert(address, place) {
        let message = format!("another port has the address `{address}`");
        let help = "give every port a different address";
        faults.error_with(codes::DUPLICATE_NAME, place, message, help, (first, "first here"));
    }
}

fn named_port(
    draft: &super::nodes::Draft<'_, '_>,
    made: &mut Vec<String>,
    taken: &mut Vec<Option<Place>>,
    name: &str,
) -> Option<usize> {
    if draft.listed {
        return draft.ports.iter().position(|(known, _)| *known == name);
    }
    if let Some(position) = made.iter().position(|known| known == name) {
        return Some(position);
    }
    made.push(name.to_owned());
    taken.push(None);
    Some(made.len() - 1)
}

fn free_port(
    draft: &super::nodes::Draft<'_, '_>,
    made: &mut Vec<String>,
    taken: &mut Vec<Option<Place>>,
) -> Option<usize> {
    if draft.listed {
        return taken.iter().position(Option::is_none);
    }
    let mut number = made.len() + 1;
    while made.contains(&format!("p{number}")) {
        number += 1;
    }
    made.push(format!("p{number}"));
    taken.push(None);
    Some(made.len() - 1)
}

impl<'a> Topology<'a> {
    fn add_nodes<'t>(
        &mut self,
        root: &'a Node<'t>,
        drafts: &Drafts<'t, 'a>,
        made: &[Vec<String>],
        models: &Models<'t, 'a>,
        faults: &mut Faults,
    ) {
        let defaults: Vec<&Node<'_>> = root.get("defaults").into_iter().collect();
        // Most nodes state nothing about their ports: their settings are those of their device.
        let mut plain: HashMap<Option<u32>, Settings> = HashMap::new();
        let mut addresses: HashMap<MacAddress, Place> = HashMap::new();
        for (draft, made) in drafts.list.iter().zip(made) {
            let device = match draft.kind {
                NodeKind::Bridge { device, .. } => Some(device),
                NodeKind::EndStation { .. } => None,
            };
            let mut around: Vec<&Node<'_>> = device.map_or(Vec::new(), |d| models.device_layers(d).to_vec());
            around.extend(&defaults);
            let plain = plain
                .entry(device.map(|device| device.0))
                .or_insert_with(|| ports::settings(&around, faults));
            let mut layers = vec![draft.node];
            layers.extend(&around);
            let of_node = if ports::has_settings(draft.node) {
                ports::settings(&layers, faults)
            } else {
                plain.clone()
            };
            let index = NodeIndex::at(self.nodes.len());
            let first = PortIndex::at(self.ports.len()).0;
            let class_blind = match &draft.kind {
                NodeKind::EndStation { host } => models.host_at(*host).is_class_blind,
                NodeKind::Bridge { .. } => false,
            };
            let listed = draft.ports.iter().map(|(name, node)| ((*name).to_owned(), *node));
            let made = made.iter().filter(|_| !draft.listed).map(|name| (name.clone(), None));
            for (name, node) in listed.chain(made) {
                let settings = match node.filter(|node| ports::has_settings(node)) {
                    Some(node) => {
                        let mut layers = layers.clone();
                        layers.insert(0, node);
                        ports::settings(&layers, faults)
                    }
                    None => of_node.clone(),
                };
                let stated = node.and_then(|node| node.get("address"));
                let address = stated.and_then(|node| node.text()?.parse().ok());
                if let (Some(address), Some(stated)) = (address, stated) {
                    check_address(address, stated.place, &mut addresses, faults);
                }
                self.add_port(index, name, address, settings, class_blind);
                if let Some(stated) = node.and_then(|node| node.get("interface")) {
                    self.add_interface(stated, first, faults);
                }
            }
            self.node_index.insert(draft.name.to_owned(), index);
            self.nodes.push(NetworkNode {
                name: draft.name.to_owned(),
                kind: draft.kind.clone(),
                ports: first..PortIndex::at(self.ports.len()).0,
                clock: draft.clock,
            });
        }
    }

    fn add_port(
        &mut self,
        node: NodeIndex,
        name: String,
        address: Option<MacAddress>,
        settings: Settings,
        class_blind: bool,
    ) {
        let number = PortIndex::at(self.ports.len()).0 + 1;
        let [a, b, c, d] = number.to_be_bytes();
        let class_table =
            if class_blind { TrafficClassTable::from_numbers([0; 8]) } else { settings.class_table };
        self.ports.push(Port {
            node,
            name,
            links: None,
            address: address.unwrap_or(MacAddress([0x02, 0, a, b, c, d])),
            interface: None,
            mtu: settings.mtu,
            pvid: settings.pvid,
            ingress_filtering: settings.ingress_filtering,
            default_priority: settings.default_priority,
            priority_regeneration: settings.priority_regeneration,
            class_table,
            classes: settings.classes,
            shared_buffer: settings.shared_buffer,
            gates: settings.gates,
            gates_off: settings.gates_off,
            preemption: settings.preemption,
        });
        self.extras.push(Extra { max_residence_time: settings.max_residence_time, places: settings.places });
    }

    /// Gives the last port its interface; those of its node begin with `first`.
    fn add_interface(&mut self, stated: &Node<'_>, first: u32, faults: &mut Faults) {
        let Some(name) = stated.text() else { return };
        let own = &mut self.ports[PortIndex(first).index()..];
        if name.len() > INTERFACE_NAME_MAX || name == "." || name == ".." {
            let message = format!("no network interface has the name `{name}`");
            let help = format!("give one of `ip link`: it has at most {INTERFACE_NAME_MAX} characters");
            faults.error(codes::INTERFACE, stated.place, message, help);
        } else if let Some(other) = own.iter().find(|port| port.interface.as_deref() == Some(name)) {
            let message = format!("port `{}` of this node has the interface `{name}`, too", other.name);
            faults.error(codes::INTERFACE, stated.place, message, "give every port a different interface");
        } else if let Some(last) = own.last_mut() {
            last.interface = Some(name.to_owned());
        }
    }

    fn add_cable(&mut self, cable: &Cable<'a>, ports: [PortIndex; 2]) {
        if let Some(name) = cable.name {
            self.cable_index.insert(name, LinkIndex::at(self.links.len() / 2).0);
        }
        self.rate_places.push(cable.rate_place);
        let [one, other] = [LinkIndex::at(self.links.len()), LinkIndex::at(self.links.len() + 1)];
        for (direction, (from, to)) in
            cable.directions.iter().zip([(ports[0], ports[1]), (ports[1], ports[0])])
        {
            self.links.push(Link {
                from,
                to,
                rate: cable.rate,
                propagation: direction.propagation,
                phy_delay: direction.phy_delay,
                bit_error_rate: direction.bit_error_rate,
                up: cable.up,
            });
        }
        self.ports[ports[0].index()].links = Some(PortLinks { egress: one, ingress: other });
        self.ports[ports[1].index()].links = Some(PortLinks { egress: other, ingress: one });
    }

    fn check_idle_slopes(&self, faults: &mut Faults) {
        for (port, extra) in self.ports.iter().zip(&self.extras) {
            let Some(links) = port.links else { continue };
            let rate = self.links[links.egress.index()].rate;
            let mut sum = BitRate::ZERO;
            for (class, place) in port.classes.iter().zip(extra.places.idle_slopes) {
                let TransmissionSelection::CreditBased { idle_slope } = class.selection else { continue };
                sum = sum.saturating_add(idle_slope);
                if let Some(place) = place.filter(|_| sum > rate) {
                    let message = format!(
                        "the idleSlopes at port `{}` of `{}` add up to {sum}, more than its line of {rate}",
                        port.name,
                        self.nodes[port.node.index()].name
                    );
                    let help = "lower them, or give this port its own under `classes`";
                    faults.error(codes::IDLE_SLOPE, place, message, help);
                    break;
                }
            }
        }
    }

    /// The node `name`, named at `place`.
    pub(crate) fn node(&self, name: &str, place: Place, faults: &mut Faults) -> Option<NodeIndex> {
        let found = self.node_index.get(name).copied();
        if found.is_none() {
            unknown_node(name, self.nodes.iter().map(|node| node.name.as_str()), place, faults);
        }
        found
    }

    /// The node `name`, if there is one.
    pub(crate) fn node_named(&self, name: &str) -> Option<NodeIndex> {
        self.node_index.get(name).copied()
    }

    /// The node of `node` or `node:port`, and the port if it is named.
    pub(crate) fn reference(
        &self,
        node: &Node<'_>,
        faults: &mut Faults,
    ) -> Option<(NodeIndex, Option<PortIndex>)> {
        let text = node.text()?;
        let Some((name, port)) = text.split_once(':') else {
            return Some((self.node(text, node.place, faults)?, None));
        };
        let index = self.node(name, node.place, faults)?;
        let found = self.port_named(index, port);
        if found.is_none() && !self.left_out.is_at(name) {
            let range = self.nodes[index.index()].ports.clone();
            let known = range.map(|port| self.ports[port as usize].name.as_str());
            let help = did_you_mean(port, "a port of this node", known);
            let message = format!("`{name}` has no port `{port}`");
            faults.error(codes::UNKNOWN_PORT, node.place, message, help);
        }
        Some((index, Some(found?)))
    }

    /// The port `name` of a node.
    pub(crate) fn port_named(&self, node: NodeIndex, name: &str) -> Option<PortIndex> {
        let mut range = self.nodes[node.index()].ports.clone();
        range.find(|port| self.ports[*port as usize].name == name).map(PortIndex)
    }

    /// The cable `text`, by its name or by the port at one of its ends, if there is one.
    pub(crate) fn cable_named(&self, text: &str) -> Option<u32> {
        if let Some(cable) = self.cable_index.get(text) {
            return Some(*cable);
        }
        let (node, port) = text.split_once(':')?;
        let port = self.port_named(self.node_named(node)?, port)?;
        Some(self.ports[port.index()].links?.egress.0 / 2)
    }

    /// The same, reported if there is none.
    pub(crate) fn cable(&self, node: &Node<'_>, faults: &mut Faults) -> Option<u32> {
        let text = node.text()?;
        let found = self.cable_named(text);
        if found.is_none() && !self.left_out.has(text) {
            let mut known: Vec<&str> = self.cable_index.keys().copied().collect();
            known.sort_unstable();
            let mut help = did_you_mean(text, "a link", known.iter().copied());
            help.push_str("; a link is named by its `name`, or by `node:port` at one of its ends");
            faults.error(codes::UNKNOWN_LINK, node.place, format!("there is no link `{text}`"), help);
        }
        found
    }

    /// Whether a node is a bridge.
    pub(crate) fn is_bridge(&self, node: NodeIndex) -> bool {
        matches!(self.nodes[node.index()].kind, NodeKind::Bridge { .. })
    }

    /// The first of these cables that closes a loop.
    pub(crate) fn closes_loop(&self, mut cables: impl Iterator<Item = usize>) -> Option<usize> {
        let mut trees = Trees::new(self.nodes.len());
        cables.find(|cable| !trees.join(self.ends(*cable)))
    }

    /// The nodes at the ends of a cable.
    fn ends(&self, cable: usize) -> [usize; 2] {
        let link = &self.links[2 * cable];
        [link.from, link.to].map(|port| self.ports[port.index()].node.index())
    }

    /// Cables that are down at the start and repaired later, and the places in the text, without which the network
    /// would be in two parts: they are up from here on, and an event cuts them at the start. Others stay down for
    /// routes, which have another path.
    pub(crate) fn take_up(&mut self, root: &Node<'_>) -> Vec<(u32, Place)> {
        let mut trees = Trees::new(self.nodes.len());
        let (up, down): (Vec<usize>, Vec<usize>) =
            (0..self.links.len() / 2).partition(|cable| self.links[2 * cable].up);
        for cable in up {
            trees.join(self.ends(cable));
        }
        let events = root.get("events").map_or(&[][..], Node::items);
        let mended = events.iter().filter_map(|event| event.get("mend-link"));
        let mended: Vec<(u32, Place)> =
            mended.filter_map(|cable| Some((self.cable_named(cable.text()?)?, cable.place))).collect();
        let mut taken = Vec::new();
        for cable in down {
            let place = mended.iter().find(|(mended, _)| *mended as usize == cable);
            if let Some((number, place)) = place
                && trees.join(self.ends(cable))
            {
                self.links[2 * cable..][..2].iter_mut().for_each(|link| link.up = true);
                taken.push((*number, *place));
            }
        }
        taken
    }

    /// The ports of a node.
    pub(crate) fn ports_of(&self, node: NodeIndex) -> impl Iterator<Item = PortIndex> + use<> {
        self.nodes[node.index()].ports.clone().map(PortIndex)
    }

    /// Whether a port shapes frames of a priority, which those of a protocol must not be.
    pub(crate) fn shapes(&self, port: PortIndex, priority: Priority) -> bool {
        let port = &self.ports[port.index()];
        let class = port.class_table.class_of(priority, true);
        port.classes[class.index()].selection != TransmissionSelection::StrictPriority
    }

    /// `port p1 of sw1`.
    pub(crate) fn port_name(&self, port: PortIndex) -> String {
        let port = &self.ports[port.index()];
        format!("port `{}` of `{}`", port.name, self.nodes[port.node.index()].name)
    }
}

/// Nodes that cables join (union-find).
struct Trees {
    /// Of each node another one of its tree, up to the root.
    parent: Vec<usize>,
}

impl Trees {
    fn new(nodes: usize) -> Self {
        Self { parent: (0..nodes).collect() }
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    /// Joins the trees of two nodes; false if they are one already.
    fn join(&mut self, [one, other]: [usize; 2]) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        self.parent[one] = other;
        one != other
    }
}
