//! Stream identification functions (IEEE Std 802.1CB-2017 and 802.1CBdb-2021, clause 6).
//!
//! In: the octets of a received frame. Out: which stream of a list it belongs to, the first entry that
//! matches. Invariant: an identification reads headers alone, so a frame is always of the same
//! stream. Not here: what is done with the stream (`ats.rs`, `psfp`, `frer`), headers by themselves (`wire`).

use alloc::vec::Vec;

use tautwire_wire::{EtherType, EthernetHeader, Ipv4Address, Ipv4Header, MacAddress, VlanId};

use crate::Priority;

/// The fields that stream identification may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'frame> {
    /// Destination address.
    pub destination: MacAddress,
    /// Source address.
    pub source: MacAddress,
    /// VLAN and priority of the tag; none if untagged.
    pub tag: Option<(VlanId, Priority)>,
    /// IPv4 addresses, protocol and ports; none if it carries no IPv4.
    pub ip: Option<IpHeader>,
    /// What follows addresses and tag, from the EtherType on.
    pub data: &'frame [u8],
}

/// Where an IPv4 packet is in its datagram: the offset of a fragment.
const FRAGMENT_OFFSET: u16 = 0x1fff;

/// Protocols whose headers begin with two ports: TCP, UDP and SCTP.
const WITH_PORTS: [u8; 3] = [6, Ipv4Header::UDP, 132];

impl<'frame> Header<'frame> {
    /// The fields of a frame without FCS; none if it has no Ethernet header. IPv4 is looked for behind addresses and VLAN tag alone:
    /// a tag with a sequence number hides it. Only the first fragment of a datagram has ports.
    #[must_use]
    pub fn read(frame: &'frame [u8]) -> Option<Self> {
        let (header, rest) = EthernetHeader::parse(frame).ok()?;
        let EthernetHeader { destination, source, tag, ether_type } = header;
        // A tag of VLAN 0 gives a priority alone.
        let tag = tag.and_then(|tag| Some((tag.vlan?, Priority::new(tag.priority_code_point())?)));
        let ip = if ether_type == EtherType::IPV4 { IpHeader::read(rest) } else { None };
        let data = &frame[frame.len() - rest.len() - size_of::<EtherType>()..];
        Some(Self { destination, source, tag, ip, data })
    }
}

impl IpHeader {
    /// Of a packet; none if it is no whole IPv4 header.
    #[must_use]
    pub fn read(packet: &[u8]) -> Option<Self> {
        let (header, contents) = Ipv4Header::parse(packet).ok()?;
        let begins = header.fragment & FRAGMENT_OFFSET == 0 && WITH_PORTS.contains(&header.protocol);
        let ports = contents
            .first_chunk()
            .filter(|_| begins)
            .map(|[a, b, c, d]| (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])));
        Some(Self {
            source: header.source,
            destination: header.destination,
            dscp: header.traffic_class >> 2,
            protocol: header.protocol,
            ports,
        })
    }
}

/// The part of an IPv4 packet that identifies a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// Source address.
    pub source: Ipv4Address,
    /// Destination address.
    pub destination: Ipv4Address,
    /// Differentiated services code point.
    pub dscp: u8,
    /// Next protocol: 17 for UDP.
    pub protocol: u8,
    /// Source and destination port, of UDP and TCP.
    pub ports: Option<(u16, u16)>,
}

/// Which tags a function accepts (802.1CB-2017 9.1.1.x, `tagged`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagged {
    /// Only with a tag.
    Tagged,
    /// Only without a tag, or with VLAN 0.
    Priority,
    /// Either.
    All,
}

/// An identification function with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamIdentification {
    /// Null stream identification (6.4): destination address and VLAN.
    Null {
        /// Destination address.
        destination: MacAddress,
        /// Which tags are accepted.
        tagged: Tagged,
        /// VLAN; none for any.
        vlan: Option<VlanId>,
    },
    /// Source MAC and VLAN stream identification (6.5).
    Source {
        /// Source address.
        source: MacAddress,
        /// Which tags are accepted.
        tagged: Tagged,
        /// VLAN; none for any.
        vlan: Option<VlanId>,
    },
    /// IP stream identification (6.7); what is none is not looked at.
    Ip {
        /// Destination MAC address.
        destination: Option<MacAddress>,
        /// VLAN.
        vlan: Option<VlanId>,
        /// IPv4 source address and mask.
        ip_source: Option<(Ipv4Address, Ipv4Address)>,
        /// IPv4 destination address and mask.
        ip_destination: Option<(Ipv4Address, Ipv4Address)>,
        /// Differentiated services code point.
        dscp: Option<u8>,
        /// Next protocol.
        protocol: Option<u8>,
        /// Source port.
        source_port: Option<u16>,
        /// Destination port.
        destination_port: Option<u16>,
    },
    /// Mask-and-match stream identification (802.1CBdb 6.8): masked octets of addresses and of the rest.
    MaskAndMatch {
        /// Destination address: mask, then what must be left.
        destination: ([u8; 6], [u8; 6]),
        /// Source address: mask, then what must be left.
        source: ([u8; 6], [u8; 6]),
        /// From the EtherType on: mask and what must be left, octet by octet.
        data: Vec<(u8, u8)>,
    },
}

impl StreamIdentification {
    /// Whether a frame is of this stream.
    #[must_use]
    pub fn matches(&self, header: &Header<'_>) -> bool {
        match self {
            Self::Null { destination, tagged, vlan } => {
                header.destination == *destination && tag_matches(header, *tagged, *vlan)
            }
            Self::Source { source, tagged, vlan } => {
                header.source == *source && tag_matches(header, *tagged, *vlan)
            }
            Self::Ip { destination, vlan, .. } => {
                destination.is_none_or(|address| header.destination == address)
                    && tag_matches(header, Tagged::All, *vlan)
                    && header.ip.is_some_and(|ip| self.matches_ip(&ip))
            }
            Self::MaskAndMatch { destination, source, data } => {
                masked(header.destination, *destination)
                    && masked(header.source, *source)
                    && header.data.len() >= data.len()
                    && data.iter().zip(header.data).all(|((mask, left), octet)| octet & mask == *left)
            }
        }
    }

    /// The IP part of [`StreamIdentification::Ip`].
    fn matches_ip(&self, ip: &IpHeader) -> bool {
        let Self::Ip { ip_source, ip_destination, dscp, protocol, source_port, destination_port, .. } = self
        else {
            return false;
        };
        let within = |address: Ipv4Address, wanted: &Option<(Ipv4Address, Ipv4Address)>| {
            wanted.is_none_or(|(wanted, mask)| {
                let mask = mask.to_bits();
                address.to_bits() & mask == wanted.to_bits() & mask
            })
        };
        within(ip.source, ip_source)
            && within(ip.destination, ip_destination)
            && dscp.is_none_or(|dscp| ip.dscp == dscp)
            && protocol.is_none_or(|protocol| ip.protocol == protocol)
            && source_port.is_none_or(|port| ip.ports.is_some_and(|ports| ports.0 == port))
            && (planted!(DestinationPortIgnored)
                || destination_port.is_none_or(|port| ip.ports.is_some_and(|ports| ports.1 == port)))
    }
}

/// The first function of a list that a frame matches: its stream handle.
#[must_use]
pub fn identify(list: &[StreamIdentification], header: &Header<'_>) -> Option<usize> {
    if planted!(LastIdentificationFirst) {
        return list.iter().rposition(|function| function.matches(header));
    }
    list.iter().position(|function| function.matches(header))
}

fn tag_matches(header: &Header<'_>, tagged: Tagged, vlan: Option<VlanId>) -> bool {
    let of_kind = match tagged {
        Tagged::Tagged => header.tag.is_some(),
        Tagged::Priority => header.tag.is_none(),
        Tagged::All => true,
    };
    of_kind && vlan.is_none_or(|vlan| header.tag.is_some_and(|(own, _)| own == vlan))
}

fn masked(address: MacAddress, (mask, left): ([u8; 6], [u8; 6])) -> bool {
    address.0.iter().zip(mask).zip(left).all(|((octet, mask), left)| octet & mask == left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const TALKER: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const LISTENER: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    fn header(data: &[u8]) -> Header<'_> {
        Header {
            destination: LISTENER,
            source: TALKER,
            tag: Some((VlanId::DEFAULT, Priority::new(3).expect("a priority"))),
            ip: Some(IpHeader {
                source: Ipv4Address::new(10, 0, 0, 1),
                destination: Ipv4Address::new(10, 0, 1, 2),
                dscp: 46,
                protocol: 17,
                ports: Some((5_000, 5_001)),
            }),
            data,
        }
    }

    fn ip(destination_port: u16) -> StreamIdentification {
        StreamIdentification::Ip {
            destination: None,
            vlan: None,
            ip_source: Some((Ipv4Address::new(10, 0, 0, 0), Ipv4Address::new(255, 255, 255, 0))),
            ip_destination: None,
            dscp: Some(46),
            protocol: Some(17),
            source_port: None,
            destination_port: Some(destination_port),
        }
    }

    #[test]
    fn null_looks_at_destination_and_vlan() {
        let null = |tagged, vlan| StreamIdentification::Null { destination: LISTENER, tagged, vlan };
        let untagged = Header { tag: None, ..header(&[]) };
        for (tagged, vlan, with, without) in [
            (Tagged::All, None, true, true),
            (Tagged::All, Some(VlanId::DEFAULT), true, false),
            (Tagged::All, VlanId::new(2), false, false),
            (Tagged::Tagged, None, true, false),
            (Tagged::Priority, None, false, true),
        ] {
            assert_eq!(null(tagged, vlan).matches(&header(&[])), with, "{tagged:?} {vlan:?}");
            assert_eq!(null(tagged, vlan).matches(&untagged), without, "{tagged:?} {vlan:?}");
        }
        assert!(!null(Tagged::All, None).matches(&Header { destination: TALKER, ..header(&[]) }));
    }

    #[test]
    fn source_looks_at_the_source() {
        let source = StreamIdentification::Source { source: TALKER, tagged: Tagged::All, vlan: None };
        assert!(source.matches(&header(&[])));
        assert!(!source.matches(&Header { source: LISTENER, ..header(&[]) }));
    }

    #[test]
    fn ip_looks_at_masked_addresses_and_ports() {
        assert!(ip(5_001).matches(&header(&[])));
        assert!(!ip(5_000).matches(&header(&[])));
        assert!(!ip(5_001).matches(&Header { ip: None, ..header(&[]) }));
        let mut other = header(&[]);
        other.ip = other.ip.map(|ip| IpHeader { source: Ipv4Address::new(10, 0, 9, 1), ..ip });
        assert!(!ip(5_001).matches(&other), "another network");
    }

    #[test]
    fn mask_and_match_looks_at_masked_octets() {
        let function = StreamIdentification::MaskAndMatch {
            destination: ([0xff; 6], LISTENER.0),
            source: ([0; 6], [0; 6]),
            data: vec![(0xff, 0x22), (0xf0, 0xf0)],
        };
        assert!(function.matches(&header(&[0x22, 0xf7, 1])));
        assert!(!function.matches(&header(&[0x22, 0x07, 1])));
        assert!(!function.matches(&header(&[0x22])), "too short to match");
    }

    #[test]
    fn fields_are_read_from_octets() {
        let destination = Ipv4Address::new(10, 0, 1, 2);
        let source = Ipv4Address::new(10, 0, 0, 1);
        let frame = |ether_type: &[u8], fragment: u16, protocol: u8| {
            let mut octets = [LISTENER.0, TALKER.0].concat();
            octets.extend([0x81, 0, 0x60, 1]);
            octets.extend(ether_type);
            let packet = Ipv4Header {
                traffic_class: 46 << 2 | 1,
                payload_length: 8,
                identification: 7,
                fragment,
                time_to_live: 64,
                protocol,
                source,
                destination,
            };
            packet.emit(&mut octets);
            octets.extend([0x13, 0x88, 0x13, 0x89, 0, 8, 0, 0]);
            octets
        };
        let octets = frame(&[8, 0], 0x4000, 17);
        let read = Header::read(&octets).expect("a header");
        assert_eq!(read, Header { data: &octets[16..], ..header(&[]) });
        assert_eq!(&read.data[..3], [8, 0, 0x45]);
        let ports = |octets: &[u8]| Header::read(octets).and_then(|read| read.ip).map(|ip| ip.ports);
        assert_eq!(ports(&frame(&[8, 0], 0x2000, 6)), Some(Some((5_000, 5_001))), "the first fragment");
        assert_eq!(ports(&frame(&[8, 0], 1, 17)), Some(None), "a later fragment");
        assert_eq!(ports(&frame(&[8, 0], 0, 1)), Some(None), "ICMP has no ports");
        assert_eq!(ports(&frame(&[0xf1, 0xc1, 0, 0, 0, 1, 8, 0], 0, 17)), None, "behind an R-TAG");
        let mut untagged = [&octets[..12], &octets[16..]].concat();
        assert_eq!(Header::read(&untagged).map(|read| read.tag), Some(None));
        untagged.truncate(13);
        assert_eq!(Header::read(&untagged), None);
    }

    #[test]
    fn the_first_match_is_the_stream() {
        let list = [ip(4_000), ip(5_001), ip(5_001)];
        assert_eq!(identify(&list, &header(&[])), Some(1));
        assert_eq!(identify(&list[..1], &header(&[])), None);
    }
}
