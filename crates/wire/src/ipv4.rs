//! IPv4 header (RFC 791), written without options; options of others are skipped.

use alloc::vec::Vec;

use crate::Ipv4Address;
use crate::checksum::Checksum;
use crate::error::{WireError, split};

/// Octets of a header without options.
const LENGTH: u16 = 20;

/// An IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Octets behind the header, at most 65 515.
    pub payload_length: u16,
    /// Identification.
    pub identification: u16,
    /// Flags and fragment offset in one field: 0x4000 is "don't fragment".
    pub fragment: u16,
    /// Time to live.
    pub time_to_live: u8,
    /// Protocol of the payload: 17 is UDP.
    pub protocol: u8,
    /// Source address.
    pub source: Ipv4Address,
    /// Destination address.
    pub destination: Ipv4Address,
}

impl Ipv4Header {
    /// Protocol number of UDP.
    pub const UDP: u8 = 17;
    /// Octets of the header as it is written.
    pub const OCTETS: usize = LENGTH as usize;

    /// Puts the header, with its checksum, behind what is in `to`.
    ///
    /// # Panics
    /// If the payload is longer than 65 515 octets.
    pub fn emit(&self, to: &mut Vec<u8>) {
        let total = self.payload_length.checked_add(LENGTH).expect("a payload of at most 65 515 octets");
        let mut octets = [0_u8; LENGTH as usize];
        octets[0] = 0x45;
        octets[1] = self.traffic_class;
        octets[2..4].copy_from_slice(&total.to_be_bytes());
        octets[4..6].copy_from_slice(&self.identification.to_be_bytes());
        octets[6..8].copy_from_slice(&self.fragment.to_be_bytes());
        octets[8] = self.time_to_live;
        octets[9] = self.protocol;
        octets[12..16].copy_from_slice(&self.source.octets());
        octets[16..20].copy_from_slice(&self.destination.octets());
        let checksum = Checksum::default().add(&octets).finish();
        octets[10..12].copy_from_slice(&checksum.to_be_bytes());
        to.extend_from_slice(&octets);
    }

    /// Reads a header; also gives its payload, without the padding of a short frame.
    ///
    /// # Errors
    /// If it is cut short, of another version, or its lengths or checksum are wrong.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (fixed, _) = split::<20>(octets)?;
        if fixed[0] >> 4 != 4 {
            return Err(WireError::Unknown);
        }
        let header_length = usize::from(fixed[0] & 0x0f) * 4;
        let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        if header_length < fixed.len() || total < header_length {
            return Err(WireError::Length);
        }
        let packet = octets.get(..total).ok_or(WireError::Truncated)?;
        let (header, payload) = packet.split_at(header_length);
        if Checksum::default().add(header).finish() != 0 {
            return Err(WireError::Checksum);
        }
        let word = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let address = |at: usize| Ipv4Address::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
        let header = Self {
            traffic_class: fixed[1],
            payload_length: u16::try_from(payload.len()).map_err(|_| WireError::Length)?,
            identification: word(4),
            fragment: word(6),
            time_to_live: fixed[8],
            protocol: fixed[9],
            source: address(12),
            destination: address(16),
        };
        Ok((header, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_header_is_read_as_it_is_written(
            fields: (u8, u16, u16, u8, u8, [u8; 4], [u8; 4]),
            payload in proptest::collection::vec(any::<u8>(), 0..200),
            padding in 0_usize..46,
        ) {
            let (traffic_class, identification, fragment, time_to_live, protocol, source, destination) = fields;
            let header = Ipv4Header {
                traffic_class,
                payload_length: u16::try_from(payload.len()).expect("short"),
                identification,
                fragment,
                time_to_live,
                protocol,
                source: source.into(),
                destination: destination.into(),
            };
            let mut octets = Vec::new();
            header.emit(&mut octets);
            octets.extend_from_slice(&payload);
            octets.resize(octets.len() + padding, 0);
            prop_assert_eq!(Ipv4Header::parse(&octets), Ok((header, &payload[..])));
            octets[8] ^= 1;
            prop_assert_eq!(Ipv4Header::parse(&octets), Err(WireError::Checksum));
        }

        #[test]
        fn any_octets_give_a_header_or_an_error(mut octets: Vec<u8>, version: bool) {
            if let (Some(first), true) = (octets.first_mut(), version) {
                *first = *first & 0x0f | 0x40;
            }
            if let Ok((header, payload)) = Ipv4Header::parse(&octets) {
                prop_assert_eq!(usize::from(header.payload_length), payload.len());
            }
        }
    }

    #[test]
    fn wrong_lengths_are_errors() {
        let mut octets = vec![0_u8; 20];
        octets[0] = 0x44;
        octets[3] = 20;
        assert_eq!(Ipv4Header::parse(&octets), Err(WireError::Length));
        octets[0] = 0x45;
        octets[3] = 19;
        assert_eq!(Ipv4Header::parse(&octets), Err(WireError::Length));
        octets[3] = 21;
        assert_eq!(Ipv4Header::parse(&octets), Err(WireError::Truncated));
        octets[0] = 0x65;
        assert_eq!(Ipv4Header::parse(&octets), Err(WireError::Unknown));
    }
}
