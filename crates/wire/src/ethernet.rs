//! Ethernet II header (IEEE Std 802.3, 3.2), with or without a VLAN tag; no FCS, as captures have it.

use alloc::vec::Vec;

use crate::MacAddress;
use crate::error::{WireError, split};
use crate::vlan_tag::VlanTag;

/// The type of the octets after a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: Self = Self(0x0800);
    /// Customer VLAN tag (IEEE Std 802.1Q-2022, 9.5).
    pub const VLAN: Self = Self(0x8100);
    /// Local experiments, the first of two (IEEE Std 802): frames of streams without a protocol, and of central configuration.
    pub const LOCAL_EXPERIMENTAL: Self = Self(0x88b5);
    /// HSR sequence tag (IEC 62439-3).
    pub const HSR: Self = Self(0x892f);
    /// R-TAG (IEEE Std 802.1CB-2017, 7.8).
    pub const R_TAG: Self = Self(0xf1c1);
    /// Protocol control frames (SAE AS6802).
    pub const PCF: Self = Self(0x891d);
    /// RTmac (RTnet).
    pub const RTMAC: Self = Self(0x9021);
    /// RTcfg (RTnet).
    pub const RTCFG: Self = Self(0x9022);

    /// Whether the field is a type: below 1536 it is a length.
    #[must_use]
    pub const fn is_type(self) -> bool {
        self.0 >= 1_536
    }
}

/// Addresses, tag and type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetHeader {
    /// Destination address.
    pub destination: MacAddress,
    /// Source address.
    pub source: MacAddress,
    /// VLAN tag, if it has one.
    pub tag: Option<VlanTag>,
    /// What follows; never [`EtherType::VLAN`] and never a length.
    pub ether_type: EtherType,
}

impl EthernetHeader {
    /// Octets of the header.
    #[must_use]
    pub const fn length(&self) -> usize {
        if self.tag.is_some() { 18 } else { 14 }
    }

    /// Puts the header behind what is in `to`.
    ///
    /// # Panics
    /// If the type is [`EtherType::VLAN`] or a length, which could not be read back.
    pub fn emit(&self, to: &mut Vec<u8>) {
        assert!(self.ether_type.is_type() && self.ether_type != EtherType::VLAN, "a type of the contents");
        to.extend_from_slice(&self.destination.0);
        to.extend_from_slice(&self.source.0);
        if let Some(tag) = &self.tag {
            to.extend_from_slice(&EtherType::VLAN.0.to_be_bytes());
            tag.emit(to);
        }
        to.extend_from_slice(&self.ether_type.0.to_be_bytes());
    }

    /// Parses a header; also gives the octets after it, padding included.
    ///
    /// # Errors
    /// If the octets end within the header, the tag is invalid or doubled, or the frame has a length
    /// in place of a type.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (destination, rest) = split::<6>(octets)?;
        let (source, rest) = split::<6>(rest)?;
        let (mut field, mut rest) = split::<2>(rest)?;
        let mut tag = None;
        if EtherType(u16::from_be_bytes(*field)) == EtherType::VLAN {
            let (read, behind) = VlanTag::parse(rest)?;
            tag = Some(read);
            (field, rest) = split::<2>(behind)?;
        }
        let ether_type = EtherType(u16::from_be_bytes(*field));
        if !ether_type.is_type() || ether_type == EtherType::VLAN {
            return Err(WireError::Unknown);
        }
        let header =
            Self { destination: MacAddress(*destination), source: MacAddress(*source), tag, ether_type };
        Ok((header, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vlan_tag::any_tag;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_is_read_as_it_is_written(
            destination: [u8; 6],
            source: [u8; 6],
            tag in proptest::option::of(any_tag()),
            ether_type in (1_536_u16..).prop_filter("no tag", |n| *n != EtherType::VLAN.0),
            behind: Vec<u8>,
        ) {
            let header = EthernetHeader {
                destination: MacAddress(destination),
                source: MacAddress(source),
                tag,
                ether_type: EtherType(ether_type),
            };
            let mut octets = Vec::new();
            header.emit(&mut octets);
            prop_assert_eq!(octets.len(), header.length());
            octets.extend_from_slice(&behind);
            prop_assert_eq!(EthernetHeader::parse(&octets), Ok((header, &behind[..])));
        }

        #[test]
        fn any_octets_give_a_header_or_an_error(octets: Vec<u8>) {
            if let Ok((header, rest)) = EthernetHeader::parse(&octets) {
                let mut again = Vec::new();
                header.emit(&mut again);
                prop_assert_eq!(&again[..], &octets[..octets.len() - rest.len()]);
            }
        }
    }

    #[test]
    fn lengths_and_double_tags_are_errors() {
        let mut octets = [0_u8; 60];
        octets[12..14].copy_from_slice(&1_500_u16.to_be_bytes());
        assert_eq!(EthernetHeader::parse(&octets), Err(WireError::Unknown));
        octets[12..14].copy_from_slice(&EtherType::VLAN.0.to_be_bytes());
        octets[16..18].copy_from_slice(&EtherType::VLAN.0.to_be_bytes());
        assert_eq!(EthernetHeader::parse(&octets), Err(WireError::Unknown));
        assert_eq!(EthernetHeader::parse(&octets[..17]), Err(WireError::Truncated));
    }
}
