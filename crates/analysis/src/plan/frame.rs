//! Frames of streams: lengths with and without tag, bits of the wire.

use tautwire_model::Tags;
use tautwire_model::network::{Hop, Stream, frame_length};
use tautwire_units::Bytes;

use crate::clock::PS_PER_S;

/// Picoseconds in a second.
const PS_PER_S_64: u64 = 1_000_000_000_000;

/// Bits of the wire of a frame.
pub(crate) fn wire(octets: Bytes) -> u64 {
    (octets + Bytes::MEDIA_OVERHEAD).bits().get()
}

/// Smallest and largest frame of a stream.
pub(super) fn frames(stream: &Stream, tags: impl Into<Tags>) -> (Bytes, Bytes) {
    let tags = tags.into();
    (frame_length(stream.payload_min, tags), frame_length(stream.payload_max, tags))
}

/// The same as they came to the node of a hop: the stages up to its queues, and a host that receives, see them so.
pub(crate) fn frames_before(stream: &Stream, hop: &Hop) -> (Bytes, Bytes) {
    frames(stream, hop.previous.map_or(stream.tagged.into(), |before| stream.hops[before as usize].tagged))
}

/// The same as they leave it: the stages behind the selection see them so.
pub(crate) fn frames_behind(stream: &Stream, hop: &Hop) -> (Bytes, Bytes) {
    frames(stream, hop.tagged)
}

pub(super) fn ps_ceil(bits: u64, rate: u64) -> u64 {
    if let Some(product) = bits.checked_mul(PS_PER_S_64) {
        return product.div_ceil(rate);
    }
    u64::try_from((u128::from(bits) * PS_PER_S).div_ceil(u128::from(rate))).expect("a frame ends")
}

pub(super) fn ps_floor(bits: u64, rate: u64) -> u64 {
    if let Some(product) = bits.checked_mul(PS_PER_S_64) {
        return product / rate;
    }
    u64::try_from(u128::from(bits) * PS_PER_S / u128::from(rate)).expect("a frame ends")
}
