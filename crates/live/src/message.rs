//! The frames of a live run: the described header, and in the data what they state of themselves (`LiveMessage`), or what a control machine says.

use tautwire_model::network::{Hop, Stream};
use tautwire_wire::{EtherType, EthernetHeader, MacAddress, RtmacHeader};

use crate::bridge_frame::tagged;

/// The smallest frame without FCS.
const FRAME_MIN: usize = 60;
/// EtherType of the frames by which readiness is checked (the second one for local experiments).
pub(crate) const PROBE: EtherType = EtherType(0x88b6);

/// Puts the frame with this type and data into `to`, as it is on the wire behind `hop`, padded, without FCS; `to_one`: its destination,
/// if that is not the stream's; `is_tunnelled`: in RTmac, as ordinary frames of a station with slots.
pub(crate) fn frame(
    (stream, hop): (&Stream, &Hop),
    (to_one, drop_eligible): (Option<MacAddress>, bool),
    (ether_type, data): (EtherType, &[u8]),
    is_tunnelled: bool,
    to: &mut Vec<u8>,
) {
    let tag = tagged(hop.priority, stream.vlan, drop_eligible).filter(|_| hop.tagged.vlan);
    let (destination, source) = (to_one.unwrap_or(stream.destination), stream.source);
    to.clear();
    let outer = if is_tunnelled { EtherType::RTMAC } else { ether_type };
    EthernetHeader { destination, source, tag, ether_type: outer }.emit(to);
    if is_tunnelled {
        RtmacHeader::Tunnelled(ether_type).emit(to);
    }
    to.extend_from_slice(data);
    to.resize(to.len().max(FRAME_MIN), 0);
}

/// Type and data of what a frame carries, tunnelled by RTmac or not.
pub(crate) fn carried(ether_type: EtherType, data: &[u8]) -> (EtherType, &[u8]) {
    match RtmacHeader::parse(data) {
        Ok((RtmacHeader::Tunnelled(inner), rest)) if ether_type == EtherType::RTMAC => (inner, rest),
        _ => (ether_type, data),
    }
}
