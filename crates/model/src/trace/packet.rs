//! What readers of captures have in common: octets in either byte order, a captured packet, and the frames made of them.

use tautwire_units::Bytes;

use super::link_type::{self, Header};

/// Where a file ends within a frame or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Octet at which the part begins that is not whole.
    pub(crate) at: usize,
}

/// A packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'o> {
    /// Picoseconds since any moment; none: the frame has no stamp.
    pub(super) at: Option<i128>,
    /// Octets that were there, those that were not captured included.
    pub(super) original: u32,
    /// Octets of an FCS at the end of what was there.
    pub(super) fcs: u32,
    /// Type of the link.
    pub(super) link: u16,
    /// What was captured.
    pub(super) octets: &'o [u8],
}

/// The frames of a capture, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// Picoseconds since any moment, MAC client data, and header.
    pub(super) frames: Vec<(i128, Bytes, Header)>,
    pub(super) unstamped: usize,
    pub(super) cut: Option<Cut>,
}

impl Collector {
    pub(super) fn add(&mut self, packet: Packet<'_>) -> Result<(), String> {
        let number = self.frames.len() + 1;
        let (payload, header) =
            link_type::on_the_wire(&packet).map_err(|reason| format!("frame {number}: {reason}"))?;
        // A frame without a stamp comes with the frame before it, and the first ones with the first that has one.
        let at = packet.at.or(self.frames.last().map(|(at, ..)| *at)).unwrap_or_default();
        if packet.at.is_some() && self.unstamped > 0 && self.unstamped == self.frames.len() {
            self.frames.iter_mut().for_each(|(unknown, ..)| *unknown = at);
        }
        self.unstamped += usize::from(packet.at.is_none());
        self.frames.push((at, payload, header));
        Ok(())
    }
}

/// Octets of a file with numbers in one byte order; reading behind their end gives none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Octets<'o> {
    pub(super) octets: &'o [u8],
    pub(super) is_big: bool,
}

impl<'o> Octets<'o> {
    pub(super) fn u16(&self, at: usize) -> Option<u16> {
        let octets = *self.octets.get(at..)?.first_chunk()?;
        Some(if self.is_big { u16::from_be_bytes(octets) } else { u16::from_le_bytes(octets) })
    }

    pub(super) fn u32(&self, at: usize) -> Option<u32> {
        let octets = *self.octets.get(at..)?.first_chunk()?;
        Some(if self.is_big { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) })
    }

    pub(super) fn i64(&self, at: usize) -> Option<i64> {
        let octets = *self.octets.get(at..)?.first_chunk()?;
        Some(if self.is_big { i64::from_be_bytes(octets) } else { i64::from_le_bytes(octets) })
    }

    /// `length` octets from `at` on.
    pub(super) fn slice(&self, at: usize, length: u32) -> Option<&'o [u8]> {
        let length = usize::try_from(length).ok()?;
        self.octets.get(at..)?.get(..length)
    }
}

/// The length of an FCS that Ethernet has: none, or 4 octets, where a file says it in one of these ways.
pub(super) fn fcs_octets(said: u32, four: &[u32]) -> Result<u32, String> {
    match said {
        0 => Ok(0),
        said if four.contains(&said) => Ok(4),
        said => Err(format!("has an FCS length of {said}; the FCS of Ethernet has 4 octets")),
    }
}
