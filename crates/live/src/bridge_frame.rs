//! A frame in a bridge: what is read of its header, and how it goes out again.

use tautwire_core::{Priority, TrafficClass};
use tautwire_wire::{MacAddress, VlanId, VlanTag};

/// The smallest frame without FCS.
pub(crate) const FRAME_MIN: usize = 60;
/// Octets of FCS.
pub(crate) const FCS: usize = 4;
/// Octets of the field of type or length.
pub(crate) const TYPE: usize = 2;

/// What is known of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    pub(crate) destination: MacAddress,
    pub(crate) source: MacAddress,
    /// The tag on the wire: with which it came, then with which it goes.
    pub(crate) tag: Option<VlanTag>,
    /// Place of the port by which it came, and of that by which it goes.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) class: TrafficClass,
    pub(crate) lane: u16,
    pub(crate) stream: Option<u32>,
}

/// Reads a frame; none if it ends within its header or has the reserved VLAN.
pub(crate) fn read(from: usize, octets: &[u8]) -> Option<(Passing, &[u8])> {
    let (destination, rest) = octets.split_first_chunk::<6>()?;
    let (source, rest) = rest.split_first_chunk::<6>()?;
    let (tag, data) = match rest {
        [0x81, 0x00, rest @ ..] => {
            let (tag, data) = VlanTag::parse(rest).ok()?;
            (Some(tag), data)
        }
        _ => (None, rest),
    };
    let source = MacAddress(*source);
    let is_whole = data.len() >= TYPE && !source.is_group();
    is_whole.then_some((
        Passing {
            destination: MacAddress(*destination),
            source,
            tag,
            from,
            to: from,
            class: TrafficClass::default(),
            lane: 0,
            stream: None,
        },
        data,
    ))
}

/// The tag with which a frame leaves.
pub(crate) fn tagged(priority: Priority, vlan: VlanId, drop_eligible: bool) -> Option<VlanTag> {
    let mut tag = VlanTag::new(priority.number(), Some(vlan))?;
    tag.drop_eligible = drop_eligible;
    Some(tag)
}

/// Octets from destination address to FCS; `data` from the field of type.
pub(crate) fn octets(is_tagged: bool, data: usize) -> usize {
    (12 + if is_tagged { 4 } else { 0 } + data).max(FRAME_MIN) + FCS
}

pub(crate) fn write(passing: &Passing, data: &[u8], to: &mut Vec<u8>) {
    to.clear();
    to.extend_from_slice(&passing.destination.0);
    to.extend_from_slice(&passing.source.0);
    if let Some(tag) = &passing.tag {
        to.extend_from_slice(&[0x81, 0x00]);
        tag.emit(to);
    }
    to.extend_from_slice(data);
    to.resize(to.len().max(FRAME_MIN), 0);
}
