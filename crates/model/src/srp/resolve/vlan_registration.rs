//! `mvrp:` of stream reservation: which VLANs are registered, and the streams of MVRP's MRPDUs.

use std::collections::BTreeSet;

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::VlanId;
use tautwire_wire::srp::{AttributeValue, MvrpValue};

use crate::frame::wire_bits;
use crate::network::{ArrivalCurve, PortIndex, StreamIndex};
use crate::resolve::control_frames::ControlFrames;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::srp::codes;
use crate::srp::vlan_registration::VlanRegistration;
use crate::srp::{ReservedStream, SrpNode};
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Least payload of a frame without a tag.
const PAYLOAD_MIN: u64 = 46;
/// Octets of an MRPDU of MVRP in addition to its vectors: version, a message's header and end mark, the end mark of the MRPDU.
const FRAME: u64 = 1 + 2 + 2 + 2;
/// Octets of a vector of one VLAN: header, value, event.
const VECTOR: u64 = 2 + 2 + 1;

/// Reads `mvrp:`, if it is there; adds a stream of MRPDUs for every port with a cable.
pub(crate) fn read(
    node: &Node<'_>,
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    reserved: &[ReservedStream],
    nodes: &[SrpNode],
    priority: Priority,
    faults: &mut Faults,
) -> Option<VlanRegistration> {
    let section = node.get("mvrp")?;
    let stream = |reserved: &ReservedStream| &streams.list[reserved.stream.index()].stream;
    let vlans: BTreeSet<VlanId> =
        reserved.iter().map(|reserved| stream(reserved).vlan).filter(|id| *id != VlanId::DEFAULT).collect();
    if vlans.is_empty() {
        let message =
            "reserved streams use the default VLAN, which MVRP does not register as it is everywhere"
                .to_owned();
        let help = "give reserved streams another `vlan`, such as 2, or remove `mvrp`";
        faults.error(codes::VLAN_REGISTRATION, section.anchor(), message, help);
    }
    let own: BTreeSet<usize> = reserved.iter().map(|reserved| reserved.stream.index()).collect();
    let mut always = vec![Vec::new(); topology.nodes.len()];
    for (number, draft) in streams.list.iter().enumerate() {
        if own.contains(&number) || !vlans.contains(&draft.stream.vlan) {
            continue;
        }
        for listener in &draft.stream.listeners {
            let wanted: &mut Vec<VlanId> = &mut always[listener.index()];
            if !wanted.contains(&draft.stream.vlan) {
                wanted.push(draft.stream.vlan);
            }
        }
    }
    let mut forbidden = Vec::new();
    for item in section.get("forbidden").map_or(&[][..], Node::items_or_self) {
        let Some((index, port)) = topology.reference(item, faults) else { continue };
        if !topology.is_bridge(index) {
            let message = format!("`{}` is no bridge", topology.nodes[index.index()].name);
            let help = "name ports of bridges: end stations declare VLANs and cannot forbid them";
            faults.error(codes::VLAN_REGISTRATION, item.place, message, help);
        }
        forbidden.extend(topology.ports_of(index).filter(|own| port.is_none_or(|port| port == *own)));
    }
    forbidden.sort_unstable();
    forbidden.dedup();
    let mut pdus = vec![None; topology.ports.len()];
    for (number, port) in topology.ports.iter().enumerate().filter(|(_, port)| port.links.is_some()) {
        let frames = frames(vlans.len() as u64, priority, nodes[port.node.index()].timing.join);
        pdus[number] = Some(StreamIndex::at(streams.list.len() + streams.protocol.len()));
        streams.protocol.push(frames.to_neighbour(topology, PortIndex::at(number)));
    }
    Some(VlanRegistration { vlans: vlans.into_iter().collect(), pdus, always, forbidden })
}

/// MRPDUs of a port: three in one and a half JoinTimes at most, each of a vector for every VLAN and one that leaves all.
fn frames(vlans: u64, priority: Priority, join: Duration) -> ControlFrames {
    let payload_max = Bytes::new((FRAME + (vlans + 1) * VECTOR).clamp(PAYLOAD_MIN, 1_500));
    let burst = wire_bits(payload_max, false) * 3;
    // Rounded down: the rate becomes the greater.
    let window = Duration::from_ps((join.as_ps() / 2).saturating_mul(3).max(1));
    ControlFrames {
        protocol: "mvrp",
        destination: MvrpValue::GROUP,
        priority,
        payload_min: Bytes::new(PAYLOAD_MIN),
        payload_max,
        arrival: BitRate::per_period_ceil(burst, window).ok().map(|rate| ArrivalCurve { rate, burst }),
    }
}
