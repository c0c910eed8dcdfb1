//! The frames of a live run: the described header, and in the data what they state of themselves (`LiveMessage`), or what a control machine says.

use tautwire_model::network::{Hop, Stream};
use tautwire_wire::{EtherType, EthernetHeader};

use crate::bridge_frame::tagged;

/// The smallest frame without FCS.
const FRAME_MIN: usize = 60;
/// EtherType of the frames by which readiness is checked (the second one for local experiments).
pub(crate) const PROBE: EtherType = EtherType(0x88b6);

/// Puts the frame with this type and data into `to`, as it is on the wire behind `hop`, padded, without FCS.
pub(crate) fn frame(
    (stream, hop): (&Stream, &Hop),
    drop_eligible: bool,
    (ether_type, data): (EtherType, &[u8]),
    to: &mut Vec<u8>,
) {
    let tag = tagged(hop.priority, stream.vlan, drop_eligible).filter(|_| hop.tagged.vlan);
    let (destination, source) = (stream.destination, stream.source);
    to.clear();
    EthernetHeader { destination, source, tag, ether_type }.emit(to);
    to.extend_from_slice(data);
    to.resize(to.len().max(FRAME_MIN), 0);
}
