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

/// Bits that a scheduler charges, of a frame as it came and with `overhead` octets beside it, and those of the wire as it leaves:
/// at the ends of its sizes, and where it begins to be padded with a tag and without.
fn charged_and_wire(stream: &Stream, (came, leaves): (bool, bool), overhead: u64) -> [(u64, u64); 4] {
    let (min, max) = (stream.payload_min, stream.payload_max);
    [min, max, Bytes::new(42).clamp(min, max), Bytes::new(46).clamp(min, max)].map(|payload| {
        ((frame_length(payload, came).get() + overhead) * 8, wire(frame_length(payload, leaves)))
    })
}

fn greatest(ratios: [(u64, u64); 4]) -> (u64, u64) {
    let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
    ratios.into_iter().fold(
        (0, 1),
        |most, one| {
            if product(one.0, most.1) > product(most.0, one.1) { one } else { most }
        },
    )
}

/// Bits that are charged to one of the wire, at most; `tags`: whether the frame came with one, and leaves with one.
pub(super) fn charged_per_wire(stream: &Stream, tags: (bool, bool), overhead: u64) -> (u64, u64) {
    greatest(charged_and_wire(stream, tags, overhead))
}

/// Bits of the wire to one that is charged, at most; likewise.
pub(super) fn wire_per_charged(stream: &Stream, tags: (bool, bool), overhead: u64) -> (u64, u64) {
    greatest(charged_and_wire(stream, tags, overhead).map(|(charged, wire)| (wire, charged)))
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
