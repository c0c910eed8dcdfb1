//! What readers of captures have in common: octets in either byte order, a captured packet, and the frames made of them.

use tautwire_units::Bytes;

use super::link_type::{self, Header};

/// Where a file ends within a frame or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Octet at which the incomplete part begins.
    pub(crate) at: usize,
}

/// A record that is no frame, and is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// Its place among the records, from 1.
    pub(super) number: usize,
    /// The octet of the file at which it begins.
    pub(super) at: usize,
    /// Why it is none: `holds 3 octets, ...`.
    pub(super) why: String,
}

/// Why no frame is made of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// This record is none.
    Record(String),
    /// The capture is of another kind.
    Capture(String),
}

/// A capture as its file has it: interfaces, and packets in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Capture<'o> {
    /// The program that wrote it, if it says so (`shb_userappl`).
    pub application: Option<String>,
    /// The interfaces of all its sections; a pcap has one.
    pub interfaces: Vec<CaptureInterface>,
    /// Its packets.
    pub packets: Vec<Packet<'o>>,
    /// The octet at which the file ends within a packet or block, if it does.
    pub cut: Option<usize>,
}

/// An interface of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureInterface {
    /// Its name, if the file states one (`if_name`).
    pub name: Option<String>,
}

/// A packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'o> {
    /// The octet of the file at which its record begins.
    pub begins: usize,
    /// Which of the capture's interfaces received or sent it.
    pub interface: usize,
    /// Picoseconds since any moment; none: the frame has no stamp.
    pub at: Option<i128>,
    /// Octets that were there, those that were not captured included.
    pub original: u32,
    /// Octets of an FCS at the end of what was there.
    pub fcs: u32,
    /// Type of the link (tcpdump.org/linktypes).
    pub link: u16,
    /// The captured octets.
    pub octets: &'o [u8],
}

/// The type of a link that is Ethernet.
pub const LINK_TYPE_ETHERNET: u16 = 1;

/// The frames of a capture, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Collector {
    /// Picoseconds since any moment, MAC client data, header, and number of the record.
    pub(super) frames: Vec<(i128, Bytes, Header, usize)>,
    pub(super) unstamped: usize,
    pub(super) cut: Option<Cut>,
    /// Records, those that are skipped included.
    pub(super) records: usize,
    pub(super) skipped: Vec<Skipped>,
}

impl Collector {
    /// The frames of a capture.
    pub(super) fn of(capture: &Capture<'_>) -> Result<Self, String> {
        let mut frames = Self { cut: capture.cut.map(|at| Cut { at }), ..Self::default() };
        capture.packets.iter().try_for_each(|packet| frames.add(*packet))?;
        Ok(frames)
    }

    fn add(&mut self, packet: Packet<'_>) -> Result<(), String> {
        self.records += 1;
        let number = self.records;
        let (payload, header) = match link_type::on_the_wire(&packet) {
            Ok(frame) => frame,
            Err(Refusal::Record(why)) => {
                self.skipped.push(Skipped { number, at: packet.begins, why });
                return Ok(());
            }
            Err(Refusal::Capture(reason)) => {
                return Err(format!("cannot be replayed: record {number} {reason}"));
            }
        };
        // A frame without a stamp comes with the frame before it, and the first ones with the first that has one.
        let at = packet.at.or(self.frames.last().map(|(at, ..)| *at)).unwrap_or_default();
        if packet.at.is_some() && self.unstamped > 0 && self.unstamped == self.frames.len() {
            self.frames.iter_mut().for_each(|(unknown, ..)| *unknown = at);
        }
        self.unstamped += usize::from(packet.at.is_none());
        self.frames.push((at, payload, header, number));
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

/// The length of an FCS that Ethernet has: none, or 4 octets, where a file states it in one of these ways.
pub(super) fn fcs_octets(stated: u32, four: &[u32]) -> Result<u32, String> {
    match stated {
        0 => Ok(0),
        octets if four.contains(&octets) => Ok(4),
        octets => Err(format!("has an FCS length of {octets}; the FCS of Ethernet has 4 octets")),
    }
}
