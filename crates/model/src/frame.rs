//! Sizes of frames: MAC client data, frame, wire (IEEE Std 802.3-2022, 3.1.1, 4.4.2; 802.1Q-2022, 9).
//!
//! A frame is counted from destination address to FCS. The wire adds [`Bytes::MEDIA_OVERHEAD`].

use tautwire_units::{Bits, Bytes};
use tautwire_wire::SEQUENCE_TAG;

/// Destination, source and type (14) and FCS (4).
pub const HEADER_AND_FCS: Bytes = Bytes::new(18);
/// A VLAN tag.
pub const TAG: Bytes = Bytes::new(4);
/// The smallest frame; a shorter one is padded.
pub const FRAME_MIN: Bytes = Bytes::new(64);

/// The most that a frame carries: with a tag it has 65 535 octets.
pub(crate) const PAYLOAD_MAX: Bytes = Bytes::new(65_513);

/// What tags a frame has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// A VLAN tag.
    pub vlan: bool,
    /// One that carries a sequence number.
    pub sequence: bool,
}

impl Tags {
    /// Octets that they take.
    #[must_use]
    pub fn octets(self) -> Bytes {
        let octets = |has: bool, tag: Bytes| if has { tag } else { Bytes::ZERO };
        octets(self.vlan, TAG) + octets(self.sequence, Bytes::new(SEQUENCE_TAG))
    }
}

impl From<bool> for Tags {
    /// A VLAN tag alone, or none.
    fn from(vlan: bool) -> Self {
        Self { vlan, sequence: false }
    }
}

/// The frame that carries `payload` octets of MAC client data, padded to the least size.
#[must_use]
pub fn frame_length(payload: Bytes, tags: impl Into<Tags>) -> Bytes {
    (payload + HEADER_AND_FCS + tags.into().octets()).max(FRAME_MIN)
}

/// What the wire carries for it: the frame, its preamble and the least gap behind it.
#[must_use]
pub fn wire_bits(payload: Bytes, tags: impl Into<Tags>) -> Bits {
    (frame_length(payload, tags) + Bytes::MEDIA_OVERHEAD).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_payloads_are_padded() {
        assert_eq!(frame_length(Bytes::new(0), true), Bytes::new(64));
        assert_eq!(frame_length(Bytes::new(46), false), Bytes::new(64));
        assert_eq!(frame_length(Bytes::new(46), true), Bytes::new(68));
        assert_eq!(frame_length(Bytes::new(1500), true), Bytes::new(1522));
        assert_eq!(wire_bits(Bytes::new(1500), true), Bits::new(12_336));
        let both = Tags { vlan: true, sequence: true };
        assert_eq!(frame_length(Bytes::new(40), both), Bytes::new(68));
        assert_eq!(frame_length(Bytes::new(30), both), Bytes::new(64));
    }
}
