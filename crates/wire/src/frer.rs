//! Tags that carry sequence numbers (IEEE Std 802.1CB-2017, 7.8 to 7.10): R-TAG, HSR sequence tag, PRP sequence trailer.
//!
//! Each takes six octets. R-TAG and HSR tag are after the addresses and the VLAN tag, before the frame's own
//! EtherType; the trailer is at the end of the frame, before its FCS. Fields of HSR and PRP are those of IEC 62439-3.

use alloc::vec::Vec;

use crate::EtherType;
use crate::error::{WireError, split};

/// Octets that each of the tags takes.
pub const SEQUENCE_TAG: u64 = 6;

/// What a PRP trailer ends with.
const PRP_SUFFIX: u16 = 0x88fb;

/// The R-TAG (7.8), without the EtherType before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RTag {
    /// Sequence number.
    pub sequence: u16,
}

impl RTag {
    /// Puts its EtherType and the tag behind what is in `to`; the EtherType of the contents follows.
    pub fn emit(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&EtherType::R_TAG.0.to_be_bytes());
        to.extend_from_slice(&[0, 0]);
        to.extend_from_slice(&self.sequence.to_be_bytes());
    }

    /// Reads what is behind its EtherType; also gives what follows. The reserved octets are not looked at.
    ///
    /// # Errors
    /// If the octets end within the tag.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let ([_, _, high, low], rest) = split::<4>(octets)?;
        Ok((Self { sequence: u16::from_be_bytes([*high, *low]) }, rest))
    }
}

/// Four bits of a path or LAN, and twelve of a size.
fn path_and_size(path: u8, size: u16) -> [u8; 2] {
    (u16::from(path) << 12 | size & 0x0fff).to_be_bytes()
}

/// The HSR sequence tag (7.9), without the EtherType before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HsrTag {
    /// Path, 0 to 15.
    pub path: u8,
    /// Octets from here to the end of the data, the tag among them, modulo 4096.
    pub size: u16,
    /// Sequence number.
    pub sequence: u16,
}

impl HsrTag {
    /// Puts its EtherType and the tag behind what is in `to`; the EtherType of the contents follows.
    ///
    /// # Panics
    /// If the path or the size does not fit its bits.
    pub fn emit(&self, to: &mut Vec<u8>) {
        assert!(self.path < 16 && self.size < 4_096, "a path of 4 bits, a size of 12");
        to.extend_from_slice(&EtherType::HSR.0.to_be_bytes());
        to.extend_from_slice(&path_and_size(self.path, self.size));
        to.extend_from_slice(&self.sequence.to_be_bytes());
    }

    /// Reads what is behind its EtherType; also gives what follows.
    ///
    /// # Errors
    /// If the octets end within the tag.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let ([path, size, high, low], rest) = split::<4>(octets)?;
        let sequence = u16::from_be_bytes([*high, *low]);
        Ok((Self { path: path >> 4, size: u16::from_be_bytes([path & 0x0f, *size]), sequence }, rest))
    }
}

/// The PRP sequence trailer (7.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrpTrailer {
    /// Sequence number.
    pub sequence: u16,
    /// LAN, 0 to 15: 10 and 11 are A and B.
    pub lan: u8,
    /// Octets of the data, the trailer among them, modulo 4096.
    pub size: u16,
}

impl PrpTrailer {
    /// Puts the trailer behind what is in `to`.
    ///
    /// # Panics
    /// If the LAN or the size does not fit its bits.
    pub fn emit(&self, to: &mut Vec<u8>) {
        assert!(self.lan < 16 && self.size < 4_096, "a LAN of 4 bits, a size of 12");
        to.extend_from_slice(&self.sequence.to_be_bytes());
        to.extend_from_slice(&path_and_size(self.lan, self.size));
        to.extend_from_slice(&PRP_SUFFIX.to_be_bytes());
    }

    /// Reads the last six octets of a frame without FCS; also gives what is before them.
    ///
    /// # Errors
    /// If there are fewer octets, or they do not end with the trailer's suffix.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (rest, last) = octets.split_last_chunk::<6>().ok_or(WireError::Truncated)?;
        let [high, low, lan, size, suffix @ ..] = *last;
        if u16::from_be_bytes(suffix) != PRP_SUFFIX {
            return Err(WireError::Unknown);
        }
        let sequence = u16::from_be_bytes([high, low]);
        Ok((Self { sequence, lan: lan >> 4, size: u16::from_be_bytes([lan & 0x0f, size]) }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_stand_where_the_standards_have_them() {
        let mut octets = Vec::new();
        RTag { sequence: 0x1234 }.emit(&mut octets);
        assert_eq!(octets, [0xf1, 0xc1, 0, 0, 0x12, 0x34]);
        octets.clear();
        HsrTag { path: 3, size: 0x2ab, sequence: 0x1234 }.emit(&mut octets);
        assert_eq!(octets, [0x89, 0x2f, 0x32, 0xab, 0x12, 0x34]);
        octets.clear();
        PrpTrailer { sequence: 0x1234, lan: 10, size: 0x02a }.emit(&mut octets);
        assert_eq!(octets, [0x12, 0x34, 0xa0, 0x2a, 0x88, 0xfb]);
    }

    #[test]
    fn octets_that_end_early_are_no_tag() {
        assert_eq!(RTag::parse(&[0, 0, 1]), Err(WireError::Truncated));
        assert_eq!(HsrTag::parse(&[0, 0, 1]), Err(WireError::Truncated));
        assert_eq!(PrpTrailer::parse(&[0, 0, 0, 0, 0x88]), Err(WireError::Truncated));
        assert_eq!(PrpTrailer::parse(&[0, 0, 0, 0, 0x88, 0xfc]), Err(WireError::Unknown));
    }

    proptest! {
        #[test]
        fn tags_are_read_as_they_are_written(sequence: u16, path in 0_u8..16, size in 0_u16..4_096, rest: Vec<u8>) {
            let mut octets = Vec::new();
            RTag { sequence }.emit(&mut octets);
            octets.extend(&rest);
            prop_assert_eq!(RTag::parse(&octets[2..]), Ok((RTag { sequence }, &rest[..])));
            octets.clear();
            let tag = HsrTag { path, size, sequence };
            tag.emit(&mut octets);
            octets.extend(&rest);
            prop_assert_eq!(HsrTag::parse(&octets[2..]), Ok((tag, &rest[..])));
            octets.clone_from(&rest);
            let trailer = PrpTrailer { sequence, lan: path, size };
            trailer.emit(&mut octets);
            prop_assert_eq!(PrpTrailer::parse(&octets), Ok((trailer, &rest[..])));
        }

        #[test]
        fn any_octets_give_a_tag_or_an_error(octets: Vec<u8>) {
            if let Ok((tag, rest)) = HsrTag::parse(&octets) {
                let mut again = Vec::new();
                tag.emit(&mut again);
                prop_assert_eq!(&again[2..], &octets[..octets.len() - rest.len()]);
            }
            if let Ok((trailer, rest)) = PrpTrailer::parse(&octets) {
                let mut again = rest.to_vec();
                trailer.emit(&mut again);
                prop_assert_eq!(again, octets);
            }
        }
    }
}
