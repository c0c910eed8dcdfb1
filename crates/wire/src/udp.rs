//! UDP over IPv4 (RFC 768): header with checksum over header, payload and pseudo-header.

use alloc::vec::Vec;

use crate::Ipv4Address;
use crate::checksum::Checksum;
use crate::error::{WireError, split};
use crate::ipv4::Ipv4Header;

/// A UDP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpHeader {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl UdpHeader {
    /// Octets of the header.
    pub const OCTETS: usize = 8;

    /// Appends header and payload to `to`; the addresses are those of the IPv4 header.
    ///
    /// # Panics
    /// If the payload is longer than 65 507 octets.
    pub fn emit(&self, source: Ipv4Address, destination: Ipv4Address, payload: &[u8], to: &mut Vec<u8>) {
        let length = u16::try_from(payload.len() + Self::OCTETS)
            .ok()
            .filter(|length| *length <= u16::MAX - 20)
            .expect("a payload of at most 65 507 octets");
        let mut octets = [0_u8; Self::OCTETS];
        octets[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        octets[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        octets[4..6].copy_from_slice(&length.to_be_bytes());
        let sum = pseudo_header(source, destination, length).add(&octets).add(payload).finish();
        // Zero means that there is no checksum; its other form means the same sum.
        let checksum = if sum == 0 { u16::MAX } else { sum };
        octets[6..8].copy_from_slice(&checksum.to_be_bytes());
        to.extend_from_slice(&octets);
        to.extend_from_slice(payload);
    }

    /// Reads a header; also gives its payload. A checksum of zero is none and is not checked.
    ///
    /// # Errors
    /// If it is cut short, or its length or checksum is wrong.
    pub fn parse(
        octets: &[u8],
        source: Ipv4Address,
        destination: Ipv4Address,
    ) -> Result<(Self, &[u8]), WireError> {
        let (fixed, _) = split::<8>(octets)?;
        let word = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let length = word(4);
        if usize::from(length) < Self::OCTETS {
            return Err(WireError::Length);
        }
        let datagram = octets.get(..usize::from(length)).ok_or(WireError::Truncated)?;
        if word(6) != 0 && pseudo_header(source, destination, length).add(datagram).finish() != 0 {
            return Err(WireError::Checksum);
        }
        let header = Self { source_port: word(0), destination_port: word(2) };
        Ok((header, &datagram[Self::OCTETS..]))
    }
}

fn pseudo_header(source: Ipv4Address, destination: Ipv4Address, length: u16) -> Checksum {
    Checksum::default()
        .add(&source.octets())
        .add(&destination.octets())
        .add(&[0, Ipv4Header::UDP])
        .add(&length.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_is_read_as_it_is_written(
            ports: (u16, u16),
            addresses: ([u8; 4], [u8; 4]),
            payload: Vec<u8>,
            flip in 0_usize..8,
        ) {
            let header = UdpHeader { source_port: ports.0, destination_port: ports.1 };
            let (source, destination) = (addresses.0.into(), addresses.1.into());
            let mut octets = Vec::new();
            header.emit(source, destination, &payload, &mut octets);
            prop_assert_eq!(UdpHeader::parse(&octets, source, destination), Ok((header, &payload[..])));
            octets[0] ^= 1 << flip;
            prop_assert_eq!(UdpHeader::parse(&octets, source, destination), Err(WireError::Checksum));
        }

        #[test]
        fn any_octets_give_a_header_or_an_error(octets: Vec<u8>) {
            let any = Ipv4Address::UNSPECIFIED;
            if let Ok((_, payload)) = UdpHeader::parse(&octets, any, any) {
                prop_assert!(payload.len() + UdpHeader::OCTETS <= octets.len());
            }
        }
    }

    #[test]
    fn no_checksum_is_no_error_and_a_wrong_length_is() {
        let any = Ipv4Address::UNSPECIFIED;
        let octets = [0, 1, 0, 2, 0, 9, 0, 0, 0xaa];
        let header = UdpHeader { source_port: 1, destination_port: 2 };
        assert_eq!(UdpHeader::parse(&octets, any, any), Ok((header, &[0xaa][..])));
        assert_eq!(UdpHeader::parse(&octets[..8], any, any), Err(WireError::Truncated));
        assert_eq!(UdpHeader::parse(&[0, 1, 0, 2, 0, 7, 0, 0], any, any), Err(WireError::Length));
    }
}
