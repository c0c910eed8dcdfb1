//! mPackets of a capture (link type *Ethernet mPacket*): the octets of a frame, or a part of one, from its preamble to its check.

use tautwire_sim::SentPart;
use tautwire_wire::preemption::{MPacket, frame_check, part_check};

/// Octets of zero in an mPacket of verification.
const VERIFY_DATA: [u8; 60] = [0; 60];

/// An mPacket that verifies or responds.
pub(crate) fn verification(mpacket: MPacket) -> Vec<u8> {
    let mut octets = Vec::with_capacity(VERIFY_DATA.len() + 12);
    mpacket.emit(&mut octets);
    octets.extend_from_slice(&VERIFY_DATA);
    octets.extend(part_check(&VERIFY_DATA));
    octets
}

/// The mPacket that carries this part of a frame without FCS.
pub(crate) fn mpacket(frame: &[u8], part: &SentPart) -> Vec<u8> {
    let mut whole = frame.to_vec();
    whole.extend(frame_check(frame));
    let [from, length] =
        [part.offset, part.octets].map(|octets| usize::try_from(octets).expect("a frame is short"));
    let to = (from + length).min(whole.len());
    let mut octets = Vec::with_capacity(length + 12);
    part.mpacket.emit(&mut octets);
    octets.extend_from_slice(&whole[from.min(to)..to]);
    if !part.is_last {
        octets.extend(part_check(&whole[..to]));
    }
    octets
}
