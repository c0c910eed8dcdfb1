//! RTmac, the media access layer of RTnet (EtherType 0x9021).
//!
//! A frame after the Ethernet header: the type of the contents (16 bits), version 2 (8 bits), flags (8 bits). With the
//! tunnel flag the contents are an ordinary frame's, and the type is its EtherType; without it the type names the
//! discipline, of which there is one here, TDMA (`mod.rs`). All numbers are big endian.

use alloc::vec::Vec;

use crate::EtherType;
use crate::error::{WireError, split};

/// The contents of an RTmac frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtmacHeader {
    /// A frame of the TDMA discipline: [`crate::TdmaFrame`].
    Tdma,
    /// An ordinary frame, tunnelled through a slot for what is not real-time; its EtherType.
    Tunnelled(EtherType),
}

impl RtmacHeader {
    /// Octets of the header.
    pub const OCTETS: usize = 4;
    const VERSION: u8 = 2;
    const TDMA: u16 = 1;
    const TUNNEL: u8 = 1;

    /// Puts the header behind what is in `to`.
    pub fn emit(&self, to: &mut Vec<u8>) {
        let (contents, flags) = match self {
            Self::Tdma => (Self::TDMA, 0),
            Self::Tunnelled(ether_type) => (ether_type.0, Self::TUNNEL),
        };
        to.extend_from_slice(&contents.to_be_bytes());
        to.extend_from_slice(&[Self::VERSION, flags]);
    }

    /// Parses a header; also gives the octets after it, padding included. Reserved flags are ignored.
    ///
    /// # Errors
    /// If it is cut short, or of another version or discipline.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (&[high, low, version, flags], rest) = split::<4>(octets)?;
        let contents = u16::from_be_bytes([high, low]);
        match (version, flags & Self::TUNNEL) {
            (Self::VERSION, Self::TUNNEL) => Ok((Self::Tunnelled(EtherType(contents)), rest)),
            (Self::VERSION, _) if contents == Self::TDMA => Ok((Self::Tdma, rest)),
            _ => Err(WireError::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_is_read_as_it_is_written(tunnelled: Option<u16>, behind: Vec<u8>) {
            let header =
                tunnelled.map_or(RtmacHeader::Tdma, |contents| RtmacHeader::Tunnelled(EtherType(contents)));
            let mut octets = Vec::new();
            header.emit(&mut octets);
            prop_assert_eq!(octets.len(), RtmacHeader::OCTETS);
            octets.extend_from_slice(&behind);
            prop_assert_eq!(RtmacHeader::parse(&octets), Ok((header, &behind[..])));
        }

        #[test]
        fn any_octets_give_a_header_or_an_error(octets: Vec<u8>) {
            if let Ok((header, rest)) = RtmacHeader::parse(&octets) {
                prop_assert_eq!(rest.len() + RtmacHeader::OCTETS, octets.len());
                let mut again = Vec::new();
                header.emit(&mut again);
                prop_assert_eq!(RtmacHeader::parse(&again), Ok((header, &[][..])));
            }
        }
    }

    #[test]
    fn another_version_or_discipline_is_an_error() {
        assert_eq!(RtmacHeader::parse(&[0, 1, 1, 0]), Err(WireError::Unknown));
        assert_eq!(RtmacHeader::parse(&[0, 2, 2, 0]), Err(WireError::Unknown));
        assert_eq!(RtmacHeader::parse(&[0, 1, 2]), Err(WireError::Truncated));
    }
}
