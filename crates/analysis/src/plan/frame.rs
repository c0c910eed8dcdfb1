//! Frames of streams: lengths with and without tag, bits of the wire.

use tautwire_model::network::{Mechanism, Stream, TransmissionSelection, frame_length};
use tautwire_units::Bytes;

use crate::clock::PS_PER_S;

/// Picoseconds in a second.
const PS_PER_S_64: u64 = 1_000_000_000_000;

/// Bits of the wire of a frame.
pub(crate) fn wire(octets: Bytes) -> u64 {
    (octets + Bytes::MEDIA_OVERHEAD).bits().get()
}

/// The greatest `(frame + above)/(frame + below)`, which is at one of the two ends.
pub(super) fn greatest_ratio(min: Bytes, max: Bytes, above: u64, below: u64) -> (u64, u64) {
    let at = |frame: Bytes| (frame.get() + above, frame.get() + below);
    if above >= below { at(min) } else { at(max) }
}

/// Smallest and largest frame of a stream.
pub(super) fn frames(stream: &Stream, tagged: bool) -> (Bytes, Bytes) {
    (frame_length(stream.payload_min, tagged), frame_length(stream.payload_max, tagged))
}

/// Bits of the wire with one tagging to one bit with another: at most. Without a tag a frame is padded
/// up to 46 octets of data; there a tag adds most.
pub(crate) fn tag_ratio(stream: &Stream, from: bool, to: bool) -> (u64, u64) {
    let ratio = |payload| (wire(frame_length(payload, to)), wire(frame_length(payload, from)));
    let (min, max) = (stream.payload_min, stream.payload_max);
    match (from, to) {
        (false, true) => ratio(Bytes::new(46).clamp(min, max)),
        (true, false) => {
            let (small, large) = (ratio(min), ratio(max));
            if small.0 * large.1 >= large.0 * small.1 { small } else { large }
        }
        _ => (1, 1),
    }
}

pub(super) fn mechanism(selection: TransmissionSelection) -> Mechanism {
    match selection {
        TransmissionSelection::StrictPriority => Mechanism::StrictPriority,
        TransmissionSelection::CreditBased { .. } => Mechanism::CreditBased,
        TransmissionSelection::Ats => Mechanism::Ats,
    }
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
