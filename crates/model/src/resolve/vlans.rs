//! VLANs: member ports and active topologies.
//!
//! A port is an untagged member of the VLAN of its PVID, and a tagged one of every other, unless `vlans` states
//! otherwise; with `stream-reservation` it is a tagged member of all. A description without `vlans`, or with VLAN 1
//! alone there, has every VLAN that a stream names, and VLAN 1. The computed active topology is the spanning tree of
//! the member ports that a breadth-first search finds from the first bridge of each part, ports in order; links to end
//! stations are always active, because end stations do not forward.

use std::collections::{BTreeMap, VecDeque};

use tautwire_wire::VlanId;

use super::topology::Topology;
use crate::frer::members;
use crate::network::{Port, PortIndex, Vlan, VlanMember};
use crate::parse::Draft;
use crate::text::codes;
use crate::text::faults::{Faults, did_you_mean};
use crate::text::tree::{Node, Place};

/// All VLANs.
pub(crate) struct Vlans {
    list: Vec<VlanDraft>,
    index: BTreeMap<u16, usize>,
    listed: bool,
}

/// A VLAN and what routes need of it.
pub(crate) struct VlanDraft {
    id: VlanId,
    /// Per port: whether it is a member, and then whether it tags.
    members: Vec<Option<bool>>,
    active: Vec<u32>,
    /// Per cable, whether it is active.
    is_active: Vec<bool>,
    /// Whether streams keep to the active topology too.
    pub(crate) binding: bool,
    /// Whether flooded frames would circulate for ever, and the place that allows it.
    pub(crate) loop_at: Option<Place>,
}

impl VlanDraft {
    /// Whether `port` is a member, and then whether it tags.
    pub(crate) fn member(&self, port: PortIndex) -> Option<bool> {
        self.members[port.index()]
    }

    /// Whether `cable` is of the active topology.
    pub(crate) fn active(&self, cable: u32) -> bool {
        self.is_active[cable as usize]
    }
}

impl Vlans {
    /// The VLAN `id`, named at `place`.
    pub(crate) fn find(&self, id: VlanId, place: Place, faults: &mut Faults) -> Option<usize> {
        let found = self.index.get(&id.number()).copied();
        if found.is_none() {
            debug_assert!(self.listed, "without `vlans`, a description has the VLANs of its streams");
            let known: Vec<String> = self.index.keys().map(u16::to_string).collect();
            let help = did_you_mean(&id.to_string(), "a VLAN", known.iter().map(String::as_str));
            faults.error(codes::UNKNOWN_VLAN, place, format!("there is no VLAN {id}"), help);
        }
        found
    }

    /// The VLAN at `index`.
    pub(crate) fn at(&self, index: usize) -> &VlanDraft {
        &self.list[index]
    }

    /// As the network holds them, by identifier.
    pub(crate) fn finish(self) -> Vec<Vlan> {
        let mut vlans: Vec<Vlan> = self
            .list
            .into_iter()
            .map(|draft| Vlan {
                id: draft.id,
                members: draft
                    .members
                    .iter()
                    .enumerate()
                    .filter_map(|(port, tagged)| {
                        Some(VlanMember { port: PortIndex::at(port), tagged: (*tagged)? })
                    })
                    .collect(),
                active_cables: draft.active,
            })
            .collect();
        vlans.sort_by_key(|vlan| vlan.id);
        vlans
    }
}

/// Reads `vlans:`.
pub(crate) fn vlans(input: &Draft<'_>, topology: &Topology<'_>, faults: &mut Faults) -> Vlans {
    let mut vlans = Vlans { list: Vec::new(), index: BTreeMap::new(), listed: false };
    let everywhere = |id: VlanId| {
        let members =
            topology.ports.iter().map(|port| Some(tags_by_default(input, topology, port, id))).collect();
        draft(id, members, None, topology, &mut Faults::default())
    };
    if let Some(section) = input.root.get("vlans") {
        for (key, node) in section.entries() {
            let Some(id) = key.text.parse().ok().and_then(VlanId::new) else { continue };
            // The default VLAN is always there: it alone is no list of all.
            vlans.listed |= id != VlanId::DEFAULT;
            if vlans.index.contains_key(&id.number()) {
                continue;
            }
            let members = members(input, id, node, topology, faults);
            vlans.index.insert(id.number(), vlans.list.len());
            vlans.list.push(draft(id, members, node.get("active-topology"), topology, faults));
        }
    }
    if !vlans.listed {
        let streams = input.root.get("streams").map_or(&[][..], Node::items).iter().chain(&input.rows);
        let ids = streams.flat_map(|stream| {
            let own = stream.parsed("vlan").and_then(VlanId::new);
            own.into_iter().chain(members::vlans_of(stream))
        });
        for id in [VlanId::DEFAULT].into_iter().chain(ids) {
            if !vlans.index.contains_key(&id.number()) {
                vlans.index.insert(id.number(), vlans.list.len());
                vlans.list.push(everywhere(id));
            }
        }
    }
    // The default VLAN is always there.
    if !vlans.index.contains_key(&1) {
        vlans.index.insert(1, vlans.list.len());
        vlans.list.push(everywhere(VlanId::DEFAULT));
    }
    vlans
}

/// Whether frames of a VLAN leave a port with a tag by default: the far end would take an untagged frame for one of
/// another VLAN, unless both have one PVID. A reserved stream needs its tag: its priority determines the SR class, and
/// MSRP refuses it where its VLAN leaves without one. End stations tag as their streams state.
fn tags_by_default(input: &Draft<'_>, topology: &Topology<'_>, port: &Port, id: VlanId) -> bool {
    let reserves = input.root.get("stream-reservation").is_some();
    reserves || !topology.is_bridge(port.node) || port.pvid != id
}

/// Ports of bridges that `all` or `trunks` names; none if the text is no such word.
fn of_word(text: &str, topology: &Topology<'_>) -> Option<Vec<PortIndex>> {
    let to_bridge = |port: &Port| {
        port.links.is_some_and(|links| {
            let far = topology.links[links.egress.index()].to;
            topology.is_bridge(topology.ports[far.index()].node)
        })
    };
    let trunks = match text {
        _ if topology.node_named(text).is_some() => return None,
        "all" => false,
        "trunks" => true,
        _ => return None,
    };
    let ports = (0..topology.ports.len()).map(PortIndex::at).filter(|port| {
        let port = &topology.ports[port.index()];
        topology.is_bridge(port.node) && (!trunks || to_bridge(port))
    });
    Some(ports.collect())
}

fn members(
    input: &Draft<'_>,
    id: VlanId,
    node: &Node<'_>,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> Vec<Option<bool>> {
    let mut members: Vec<Option<bool>> = vec![None; topology.ports.len()];
    let mut set = |key: &str, tagged: bool, faults: &mut Faults| {
        for item in node.get(key).map_or(&[][..], Node::items_or_self) {
            if let Some(ports) = item.text().and_then(|text| of_word(text, topology)) {
                for port in ports {
                    members[port.index()].get_or_insert(tagged);
                }
                continue;
            }
            let Some((index, port)) = topology.reference(item, faults) else { continue };
            for member in topology.ports_of(index).filter(|member| port.is_none_or(|port| port == *member)) {
                if tagged && members[member.index()] == Some(false) && port.is_some() {
                    let message =
                        format!("{} is listed both as tagged and as untagged", topology.port_name(member));
                    faults.error(codes::CONFLICT, item.place, message, "list it under one of the two keys");
                }
                if !tagged || members[member.index()].is_none() {
                    members[member.index()] = Some(tagged);
                }
            }
        }
    };
    set("untagged", false, faults);
    set("tagged", true, faults);
    // If a VLAN lists ports of one kind alone, the others are of the other kind; if it lists both, it lists all
    // members. Only ports with this PVID can be untagged.
    let (tagged, untagged) = (node.get("tagged").is_some(), node.get("untagged").is_some());
    for (port, member) in topology.ports.iter().zip(&mut members) {
        let by_default = tags_by_default(input, topology, port, id);
        let own = match (tagged, untagged) {
            _ if !topology.is_bridge(port.node) => Some(true),
            (false, false) => Some(by_default),
            (false, true) => Some(true),
            (true, false) => (!by_default).then_some(false),
            (true, true) => None,
        };
        *member = member.or(own);
    }
    members
}

fn draft(
    id: VlanId,
    members: Vec<Option<bool>>,
    active: Option<&Node<'_>>,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> VlanDraft {
    let cables = topology.links.len() / 2;
    let usable = |cable: usize| {
        let link = &topology.links[2 * cable];
        members[link.from.index()].is_some() && members[link.to.index()].is_some()
    };
    let (is_active, binding) = match active {
        None => (spanning_tree(topology, &usable), false),
        Some(node) if node.text() == Some("spanning-tree") => (spanning_tree(topology, &usable), true),
        Some(node) if node.text() == Some("all") => ((0..cables).map(usable).collect(), false),
        Some(node) => {
            let mut is_active = vec![false; cables];
            for item in node.items() {
                if let Some(cable) = topology.cable(item, faults) {
                    is_active[cable as usize] = true;
                }
            }
            (is_active, true)
        }
    };
    let loop_at = active.filter(|_| has_loop(topology, &is_active)).map(Node::anchor);
    let active = (0u32..).zip(&is_active).filter(|(_, active)| **active).map(|(cable, _)| cable).collect();
    VlanDraft { id, members, active, is_active, binding, loop_at }
}

/// Which cables the tree has.
fn spanning_tree(topology: &Topology<'_>, usable: &dyn Fn(usize) -> bool) -> Vec<bool> {
    let mut active = vec![false; topology.links.len() / 2];
    for (cable, active) in active.iter_mut().enumerate() {
        let link = &topology.links[2 * cable];
        let between_bridges = topology.is_bridge(topology.ports[link.from.index()].node)
            && topology.is_bridge(topology.ports[link.to.index()].node);
        *active = !between_bridges && usable(cable);
    }
    let mut seen = vec![false; topology.nodes.len()];
    let mut queue = VecDeque::new();
    for root in 0..topology.nodes.len() {
        let root = crate::network::NodeIndex::at(root);
        if seen[root.index()] || !topology.is_bridge(root) {
            continue;
        }
        seen[root.index()] = true;
        queue.push_back(root);
        while let Some(node) = queue.pop_front() {
            for port in topology.ports_of(node) {
                let Some(links) = topology.ports[port.index()].links else { continue };
                let link = &topology.links[links.egress.index()];
                let next = topology.ports[link.to.index()].node;
                let cable = links.egress.index() / 2;
                if topology.is_bridge(next) && !seen[next.index()] && link.up && usable(cable) {
                    seen[next.index()] = true;
                    active[cable] = true;
                    queue.push_back(next);
                }
            }
        }
    }
    active
}

/// Whether the bridges and these cables have a loop.
fn has_loop(topology: &Topology<'_>, active: &[bool]) -> bool {
    let between_bridges = |cable: &usize| {
        let link = &topology.links[2 * cable];
        [link.from, link.to].iter().all(|port| topology.is_bridge(topology.ports[port.index()].node))
    };
    let cables = (0..active.len()).filter(|cable| active[*cable]).filter(between_bridges);
    topology.closes_loop(cables).is_some()
}
