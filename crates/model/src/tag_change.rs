//! Ratios of a stream's bits on the wire to its bits elsewhere, where a tag is added or removed and short frames are padded.
//!
//! Ratios of bits, numerator and denominator, upper bounds: of the wire with one tagging to the wire with another, and
//! of the bits that an ATS scheduler charges (802.1Q-2022, 8.6.11.3: the frame as it came and an overhead) to the wire
//! as the frame leaves.

use std::cmp::Ordering;

use tautwire_units::Bytes;

use crate::frame::{FRAME_MIN, HEADER_AND_FCS, Tags, frame_length, wire_bits};
use crate::network::Stream;

/// Most MAC client data of a frame that is padded with these tags.
fn padded(tags: Tags) -> Bytes {
    FRAME_MIN - HEADER_AND_FCS - tags.octets()
}

/// Bits of the wire with one tagging to one bit with another. Without a tag a frame is padded up to 46 octets of data; there a
/// tag adds most.
#[must_use]
pub fn tag_ratio(stream: &Stream, from: impl Into<Tags>, to: impl Into<Tags>) -> (u64, u64) {
    let (from, to) = (from.into(), to.into());
    let ratio = |payload| (wire_bits(payload, to).get(), wire_bits(payload, from).get());
    let (min, max) = (stream.payload_min, stream.payload_max);
    match from.octets().cmp(&to.octets()) {
        Ordering::Less => ratio(padded(from).clamp(min, max)),
        Ordering::Greater => greatest([ratio(min), ratio(max)]),
        Ordering::Equal => (1, 1),
    }
}

/// Charged bits per bit on the wire; `tags`: whether a frame came with one, and leaves with one; `overhead`: what is
/// charged in addition to the frame.
#[must_use]
pub fn charged_per_wire(
    stream: &Stream,
    tags: (impl Into<Tags>, impl Into<Tags>),
    overhead: Bytes,
) -> (u64, u64) {
    greatest(charged_and_wire(stream, (tags.0.into(), tags.1.into()), overhead))
}

/// The other way round.
#[must_use]
pub fn wire_per_charged(
    stream: &Stream,
    tags: (impl Into<Tags>, impl Into<Tags>),
    overhead: Bytes,
) -> (u64, u64) {
    let tags = (tags.0.into(), tags.1.into());
    greatest(charged_and_wire(stream, tags, overhead).map(|(charged, wire)| (wire, charged)))
}

/// At the ends of a stream's sizes, and where its frames begin to be padded.
fn charged_and_wire(stream: &Stream, (came, leaves): (Tags, Tags), overhead: Bytes) -> [(u64, u64); 4] {
    let (min, max) = (stream.payload_min, stream.payload_max);
    [min, max, padded(came).clamp(min, max), padded(leaves).clamp(min, max)].map(|payload| {
        ((frame_length(payload, came) + overhead).bits().get(), wire_bits(payload, leaves).get())
    })
}

fn greatest<const N: usize>(ratios: [(u64, u64); N]) -> (u64, u64) {
    let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
    ratios.into_iter().fold(
        (0, 1),
        |most, one| {
            if product(one.0, most.1) > product(most.0, one.1) { one } else { most }
        },
    )
}
