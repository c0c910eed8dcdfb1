//! Active destination MAC and VLAN stream identification (IEEE Std 802.1CB-2017, 6.6): what the copies of each path have on their way in place of the
//! destination address, VLAN and priority of their stream.
//!
//! A node at which a path parts from all others writes them as copies leave it; the next node with a recovery function puts those of the stream back as they
//! come in, before anything else there. So the class at the port where they are written is that of the stream's own priority.

use std::collections::BTreeMap;

use tautwire_core::Priority;
use tautwire_wire::{MacAddress, VlanId};

use super::ways::Step;
use crate::frer::codes;
use crate::network::{Hop, NodeIndex, Stream, Written};
use crate::resolve::streams::StreamDraft;
use crate::resolve::topology::Topology;
use crate::resolve::vlans::{VlanDraft, Vlans};
use crate::resolve::{self};
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// The key.
const KEY: &str = "dmac-vlan-stream-identification";

/// By what a node distinguishes frames: destination address and VLAN (6.6).
type Identity = (MacAddress, VlanId);

/// The identification of a member stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) written: Written,
    /// Its VLAN, as an index of the description's.
    pub(crate) vlan: usize,
    pub(crate) priority: Option<Priority>,
    /// Whether its frames need a tag.
    pub(crate) is_tagged: bool,
}

/// VLANs that members of a stream name.
pub(crate) fn vlans_of<'n>(stream: &'n Node<'_>) -> impl Iterator<Item = VlanId> + use<'n> {
    let members = stream.get("frer").and_then(|frer| frer.get(KEY)).map_or(&[][..], Node::items);
    members.iter().filter_map(|member| member.parsed("vlan").and_then(VlanId::new))
}

/// The identification of a stream's members, by the numbers of their paths; nothing if they have that of the stream. None if one is impossible.
pub(crate) fn members(
    draft: &StreamDraft<'_, '_>,
    vlans: &Vlans,
    faults: &mut Faults,
) -> Option<Vec<Member>> {
    let stated = draft.node.get("frer").and_then(|frer| frer.get(KEY)).map_or(&[][..], Node::items);
    let member = |node: &Node<'_>| {
        let vlan = match node.get("vlan") {
            Some(vlan) => Some((vlan.text()?.parse().ok().and_then(VlanId::new)?, vlan.place)),
            None => None,
        };
        let priority = resolve::priority(node, "priority");
        Some(Member {
            written: Written {
                destination: node.parsed("destination-mac"),
                vlan: vlan.map_or(draft.vlan_id, |(id, _)| id),
            },
            vlan: vlan.map_or(Some(draft.vlan), |(id, place)| vlans.find(id, place, faults))?,
            priority,
            is_tagged: vlan.is_some() || priority.is_some(),
        })
    };
    stated.iter().map(member).collect()
}

/// Whether there are as many members as paths: `numbers` of those to one listener, found of `asked` if so many were to be.
pub(super) fn are_as_many(node: &Node<'_>, (numbers, asked): (usize, usize), faults: &mut Faults) -> bool {
    let Some(list) = node.get(KEY) else { return true };
    let stated = list.items().len();
    if stated >= numbers && stated <= asked.max(numbers) {
        return true;
    }
    let message = format!("{numbers} paths lead to a listener, and {stated} member streams are identified");
    faults.error(codes::FRER, list.anchor(), message, "write an entry for each path, in their order");
    false
}

/// The member of which the frames of a step alone are, where they may have its identification.
pub(crate) fn of_step(step: &Step, number: &dyn Fn(usize) -> u32) -> Option<u32> {
    let mut numbers = (0..64).filter(|path| step.paths >> path & 1 == 1).map(number);
    let first = numbers.next().filter(|_| step.numbered)?;
    numbers.all(|other| other == first).then_some(first)
}

/// A number for destination and VLAN that the frames of a member have, of all frames if none: 0 for those of the stream.
pub(super) fn identity(
    topology: &Topology<'_>,
    (draft, members): (&StreamDraft<'_, '_>, &[Member]),
    member: Option<u32>,
) -> u32 {
    // By default a stream has the address of a port of its listener.
    let is_of_stream = |address: &MacAddress| match draft.destination {
        Some(_) => draft.stream.destination == *address,
        None => {
            let is_of_listener = |port: &crate::network::Port| draft.stream.listeners.contains(&port.node);
            topology.ports.iter().any(|port| port.address == *address && is_of_listener(port))
        }
    };
    let of = |member: &Member| {
        (member.written.destination.filter(|address| !is_of_stream(address)), member.written.vlan)
    };
    let Some(own) = member.and_then(|member| members.get(member as usize)).map(of) else { return 0 };
    if own == (None, draft.vlan_id) {
        return 0;
    }
    let first = members.iter().position(|other| of(other) == own).expect("at least itself");
    u32::try_from(first + 1).expect("few members")
}

/// Reports a hop whose ports are not in the VLAN that frames have there.
pub(crate) fn keep_to_vlans(
    topology: &Topology<'_>,
    (vlans, members): (&Vlans, &[Member]),
    draft: &StreamDraft<'_, '_>,
    faults: &mut Faults,
) {
    if members.is_empty() {
        return;
    }
    for hop in &draft.stream.hops {
        let id = draft.stream.vlan_at(hop);
        let index =
            members.iter().find(|member| member.written.vlan == id).map_or(draft.vlan, |member| member.vlan);
        let vlan: &VlanDraft = vlans.at(index);
        let links = topology.ports[hop.port.index()].links.expect("a hop's port has a cable");
        let to = topology.links[links.egress.index()].to;
        let egress = &topology.ports[hop.port.index()];
        let leaves = !topology.is_bridge(egress.node) || vlan.member(hop.port).is_some();
        let enters = !topology.ports[to.index()].ingress_filtering || vlan.member(to).is_some();
        let is_active = !vlan.binding || vlan.active(links.egress.0 / 2);
        if leaves && enters && is_active {
            continue;
        }
        let (message, help) = if is_active {
            let port = topology.port_name(if leaves { to } else { hop.port });
            (
                format!(
                    "copies of `{}` have VLAN {id} at {port}, which is no member of it",
                    draft.stream.name
                ),
                "make it a member, or state `paths` in the order of the member streams",
            )
        } else {
            (
                format!(
                    "copies of `{}` have VLAN {id} behind {}, which is not in its active topology",
                    draft.stream.name,
                    topology.port_name(hop.port)
                ),
                "make the link part of it, or state `paths` in the order of the member streams",
            )
        };
        faults.error(codes::FRER, draft.place("frer"), message, help);
        return;
    }
}

/// Reports members whose destination and VLAN another stream has: a node that receives frames of both could not distinguish them.
pub(super) fn are_nobody_elses(list: &[StreamDraft<'_, '_>], faults: &mut Faults) {
    let members = |stream: &Stream| -> Vec<(usize, Identity)> {
        let Some(replication) = stream.replication.as_deref() else { return Vec::new() };
        let hops = stream.hops.iter().zip(&replication.path).filter(|(hop, _)| hop.written.is_some());
        hops.map(|(hop, path)| (*path as usize, (stream.destination_at(hop), stream.vlan_at(hop)))).collect()
    };
    if list.iter().all(|draft| draft.node.get("frer").is_none_or(|frer| frer.get(KEY).is_none())) {
        return;
    }
    // Whose frames have an identity, and whether as they leave the talker.
    let mut users: BTreeMap<Identity, Vec<(usize, bool)>> = BTreeMap::new();
    for (number, StreamDraft { stream, .. }) in list.iter().enumerate() {
        users.entry((stream.destination, stream.vlan)).or_default().push((number, true));
        for (_, identity) in members(stream) {
            users.entry(identity).or_default().push((number, false));
        }
    }
    for (number, draft) in list.iter().enumerate() {
        let of = members(&draft.stream);
        // Of two members the later one is reported.
        let user = |identity: &Identity| {
            users[identity].iter().find(|(other, is_own)| *other != number && (*is_own || *other < number))
        };
        let taken = of.iter().find_map(|(path, identity)| Some((*path, *identity, user(identity)?.0)));
        let Some((path, (destination, vlan), other)) = taken else { continue };
        let list_of = draft.node.get("frer").and_then(|frer| frer.get(KEY)).expect("a stream with members");
        let message = format!(
            "copies of `{}` have destination {destination} in VLAN {vlan}, as frames of `{}`",
            draft.stream.name, list[other].stream.name
        );
        let is_free = |address: &MacAddress| users.keys().all(|(known, _)| known != address);
        let mut all = (1..=u16::MAX).map(|last| {
            let [high, low] = last.to_be_bytes();
            MacAddress([3, 0, 0, 0, high, low])
        });
        let free = all
            .find(is_free)
            .map_or_else(String::new, |free| format!(", such as `destination-mac: \"{free}\"`"));
        let help = format!("state a `destination-mac` or `vlan` that no other stream has{free}");
        faults.error(codes::FRER, list_of.items()[path].anchor(), message, help);
    }
}

/// Addresses that no bridge forwards (802.1Q-2022, 8.6.3): 01-80-C2-00-00-00 to -0F.
fn is_reserved(address: MacAddress) -> bool {
    matches!(address.0, [0x01, 0x80, 0xc2, 0, 0, 0..=0x0f])
}

/// Reports members whose destination is a reserved address, or that of a node that is no listener.
pub(super) fn have_free_addresses(topology: &Topology<'_>, draft: &StreamDraft<'_, '_>, faults: &mut Faults) {
    let list = draft.node.get("frer").and_then(|frer| frer.get(KEY)).map_or(&[][..], Node::items);
    let stated = list
        .iter()
        .filter_map(|member| Some((member.get("destination-mac")?, member.parsed("destination-mac")?)));
    for (node, address) in stated {
        let owner = topology.ports.iter().find(|port| port.address == address);
        let message = if is_reserved(address) {
            format!("{address} is reserved: no bridge forwards it")
        } else if let Some(owner) = owner.filter(|port| !draft.stream.listeners.contains(&port.node)) {
            format!(
                "{address} is the address of `{}`, to which the copies do not go",
                topology.nodes[owner.node.index()].name
            )
        } else {
            continue;
        };
        let help = "state a group address that nothing else has, such as `03:00:00:00:00:01`";
        faults.error(codes::FRER, node.place, message, help);
    }
}

impl Stream {
    /// VLAN of its frames behind a hop.
    #[must_use]
    pub fn vlan_at(&self, hop: &Hop) -> VlanId {
        hop.written.map_or(self.vlan, |written| written.vlan)
    }

    /// Destination address of its frames behind a hop.
    #[must_use]
    pub fn destination_at(&self, hop: &Hop) -> MacAddress {
        hop.written.and_then(|written| written.destination).unwrap_or(self.destination)
    }

    /// Whether a node at the far end of a hop puts its own identification back.
    #[must_use]
    pub fn is_put_back(&self, hop: &Hop, node: NodeIndex) -> bool {
        let recovers = |replication: &super::FrameReplication| {
            replication.recoveries.iter().any(|recovery| recovery.node == node)
        };
        hop.written.is_some() && self.replication.as_deref().is_some_and(recovers)
    }

    /// Destination address and VLAN of its frames at a node at the far end of a hop, as all but recovery functions find them there.
    #[must_use]
    pub fn received(&self, hop: &Hop, node: NodeIndex) -> (MacAddress, VlanId) {
        if self.is_put_back(hop, node) {
            return (self.destination, self.vlan);
        }
        (self.destination_at(hop), self.vlan_at(hop))
    }
}
