//! The attributes of MSRP: talkers, listeners, domains (IEEE Std 802.1Q-2022, 35.2.2.8).
//!
//! In a vector, a talker's next value has the next stream identifier and the next destination; a
//! domain's the next class and the next priority (35.2.2.8.1). All else stays.

use alloc::vec::Vec;

use super::pdu::AttributeValue;
use crate::error::{WireError, split};
use crate::{EtherType, MacAddress};

/// A stream: the talker's address and a number of the talker's own (35.2.2.8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Address of the talker.
    pub source: MacAddress,
    /// Its number for the stream.
    pub unique: u16,
}

/// Which streams take the bandwidth of others (35.2.2.8.5). The order is that of the bit: emergency comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// Before all others: bit 0.
    Emergency,
    /// Bit 1.
    NonEmergency,
}

/// A talker's declaration of its stream (35.2.2.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TalkerValue {
    /// The stream.
    pub stream: StreamId,
    /// Destination address of its frames.
    pub destination: MacAddress,
    /// Its VLAN; the octets may hold any number.
    pub vlan: u16,
    /// Longest MSDU, in octets, without tag, header and FCS.
    pub frame_size_max: u16,
    /// Most frames in a class measurement interval.
    pub interval_frames_max: u16,
    /// Priority code point, 0 to 7.
    pub priority: u8,
    /// Rank.
    pub rank: Rank,
    /// Worst latency from the talker to here, in nanoseconds.
    pub accumulated_latency_ns: u32,
}

/// Why a talker's stream failed, and the bridge where it did (35.2.2.8.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FailureInformation {
    /// Identifier of the bridge: its priority and address.
    pub bridge: u64,
    /// Reason.
    pub code: FailureCode,
}

/// A reason (Table 46-15, "TSN failure codes"; 35.2.2.8.7 of older editions has the first 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FailureCode(pub u8);

/// A stream reservation class, and the priority and VLAN of its frames at a port (35.2.2.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainValue {
    /// Class: 6 for A, 5 for B.
    pub class: u8,
    /// Priority of its frames.
    pub priority: u8,
    /// Default VLAN of its streams.
    pub vlan: u16,
}

/// An attribute type of MSRP (Table 35-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MsrpType {
    /// A stream that can be had.
    TalkerAdvertise,
    /// A stream that cannot.
    TalkerFailed,
    /// A listener's request for a stream.
    Listener,
    /// A stream reservation class.
    Domain,
}

/// The attributes of MSRP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MsrpValue {
    /// A stream that can be had.
    TalkerAdvertise(TalkerValue),
    /// A stream that cannot, and why.
    TalkerFailed(TalkerValue, FailureInformation),
    /// A listener's request for a stream; the declaration is not part of the value.
    Listener(StreamId),
    /// A stream reservation class.
    Domain(DomainValue),
}

impl FailureCode {
    /// Insufficient bandwidth.
    pub const BANDWIDTH: Self = Self(1);
    /// Insufficient resources of the bridge.
    pub const BRIDGE_RESOURCES: Self = Self(2);
    /// Insufficient bandwidth for the traffic class.
    pub const CLASS_BANDWIDTH: Self = Self(3);
    /// The stream identifier is in use by another talker.
    pub const STREAM_IN_USE: Self = Self(4);
    /// The destination is in use by another stream.
    pub const DESTINATION_IN_USE: Self = Self(5);
    /// Preempted by a stream of higher rank.
    pub const PREEMPTED: Self = Self(6);
    /// The declared latency has changed.
    pub const LATENCY_CHANGED: Self = Self(7);
    /// The egress port is not able to carry the class: the boundary of its domain.
    pub const PORT_NOT_CAPABLE: Self = Self(8);
    /// The destination finds no place where the bridge would store it; another might.
    pub const OTHER_DESTINATION: Self = Self(9);
    /// No room for the stream in the table of MSRP.
    pub const MSRP_RESOURCES: Self = Self(10);
    /// The bridge has no room for one more destination.
    pub const DESTINATION_NOT_STORED: Self = Self(12);
    /// The priority is not that of a stream reservation class.
    pub const NOT_A_CLASS_PRIORITY: Self = Self(13);
    /// The longest frame is too long for the medium.
    pub const FRAME_TOO_LONG: Self = Self(14);
    /// Streams are registered on too many ports.
    pub const FAN_IN: Self = Self(15);
    /// The stream's values changed without a withdrawal.
    pub const VALUE_CHANGED: Self = Self(16);
    /// The stream's VLAN cannot be registered at the egress port.
    pub const VLAN_BLOCKED: Self = Self(17);
    /// Frames of the stream's VLAN leave the egress port without a tag.
    pub const VLAN_UNTAGGED: Self = Self(18);
    /// The neighbour uses another priority for frames of the class.
    pub const PRIORITY_MISMATCH: Self = Self(19);
}

impl StreamId {
    /// The eight octets.
    #[must_use]
    pub const fn to_octets(self) -> [u8; 8] {
        let [a, b, c, d, e, f] = self.source.0;
        let [g, h] = self.unique.to_be_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// The stream of eight octets.
    #[must_use]
    pub const fn from_octets(octets: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = octets;
        Self { source: MacAddress([a, b, c, d, e, f]), unique: u16::from_be_bytes([g, h]) }
    }

    /// The stream behind this one: the eight octets as a number, plus one.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        let next = u64::from_be_bytes(self.to_octets()).checked_add(1)?;
        Some(Self::from_octets(next.to_be_bytes()))
    }
}

impl core::fmt::Display for StreamId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}", self.source, self.unique)
    }
}

impl MsrpType {
    /// All, in the order in which they are sent.
    pub const ALL: [Self; 4] = [Self::TalkerAdvertise, Self::TalkerFailed, Self::Listener, Self::Domain];

    /// Its number on the wire.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }
}

impl MsrpValue {
    /// The stream, if the value is of one.
    #[must_use]
    pub const fn stream(&self) -> Option<StreamId> {
        match self {
            Self::TalkerAdvertise(talker) | Self::TalkerFailed(talker, _) => Some(talker.stream),
            Self::Listener(stream) => Some(*stream),
            Self::Domain(_) => None,
        }
    }
}

impl TalkerValue {
    fn emit(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.stream.to_octets());
        to.extend_from_slice(&self.destination.0);
        for field in [self.vlan, self.frame_size_max, self.interval_frames_max] {
            to.extend_from_slice(&field.to_be_bytes());
        }
        let rank = u8::from(self.rank == Rank::NonEmergency);
        to.push((self.priority & 7) << 5 | rank << 4);
        to.extend_from_slice(&self.accumulated_latency_ns.to_be_bytes());
    }

    /// The reserved bits behind the rank are not read.
    fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (stream, rest) = split::<8>(octets)?;
        let (destination, rest) = mac_parse(rest)?;
        let (vlan, rest) = split::<2>(rest)?;
        let (frame_size_max, rest) = split::<2>(rest)?;
        let (interval_frames_max, rest) = split::<2>(rest)?;
        let ([priority_and_rank], rest) = split::<1>(rest)?;
        let (latency, rest) = split::<4>(rest)?;
        let rank = if priority_and_rank & 0x10 == 0 { Rank::Emergency } else { Rank::NonEmergency };
        let talker = Self {
            stream: StreamId::from_octets(*stream),
            destination,
            vlan: u16::from_be_bytes(*vlan),
            frame_size_max: u16::from_be_bytes(*frame_size_max),
            interval_frames_max: u16::from_be_bytes(*interval_frames_max),
            priority: priority_and_rank >> 5,
            rank,
            accumulated_latency_ns: u32::from_be_bytes(*latency),
        };
        Ok((talker, rest))
    }

    fn next(&self) -> Option<Self> {
        Some(Self { stream: self.stream.next()?, destination: mac_next(self.destination)?, ..*self })
    }
}

impl AttributeValue for MsrpValue {
    const ETHER_TYPE: EtherType = EtherType(0x22ea);
    const GROUP: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0, 0, 0x0e]);
    const TYPES: &'static [u8] = &[1, 2, 3, 4];
    const LIST_LENGTH: bool = true;

    fn attribute_type(&self) -> u8 {
        match self {
            Self::TalkerAdvertise(_) => 1,
            Self::TalkerFailed(..) => 2,
            Self::Listener(_) => 3,
            Self::Domain(_) => 4,
        }
    }

    fn length(attribute_type: u8) -> Option<u8> {
        match attribute_type {
            1 => Some(25),
            2 => Some(34),
            3 => Some(8),
            4 => Some(4),
            _ => None,
        }
    }

    fn has_declarations(attribute_type: u8) -> bool {
        attribute_type == MsrpType::Listener.number()
    }

    fn zero(attribute_type: u8) -> Self {
        let octets = [0_u8; 34];
        let length = usize::from(Self::length(attribute_type).expect("a known type"));
        Self::parse(attribute_type, &octets[..length]).expect("zeros are a value")
    }

    fn parse(attribute_type: u8, octets: &[u8]) -> Result<Self, WireError> {
        match attribute_type {
            1 => Ok(Self::TalkerAdvertise(TalkerValue::parse(octets)?.0)),
            2 => {
                let (talker, rest) = TalkerValue::parse(octets)?;
                let (bridge, rest) = split::<8>(rest)?;
                let ([code], _) = split::<1>(rest)?;
                let bridge = u64::from_be_bytes(*bridge);
                Ok(Self::TalkerFailed(talker, FailureInformation { bridge, code: FailureCode(*code) }))
            }
            3 => Ok(Self::Listener(StreamId::from_octets(*split::<8>(octets)?.0))),
            4 => {
                let ([class, priority, high, low], _) = split::<4>(octets)?;
                let vlan = u16::from_be_bytes([*high, *low]);
                Ok(Self::Domain(DomainValue { class: *class, priority: *priority, vlan }))
            }
            _ => Err(WireError::Unknown),
        }
    }

    fn emit(&self, to: &mut Vec<u8>) {
        match self {
            Self::TalkerAdvertise(talker) => talker.emit(to),
            Self::TalkerFailed(talker, failure) => {
                talker.emit(to);
                to.extend_from_slice(&failure.bridge.to_be_bytes());
                to.push(failure.code.0);
            }
            Self::Listener(stream) => to.extend_from_slice(&stream.to_octets()),
            Self::Domain(domain) => {
                to.extend_from_slice(&[domain.class, domain.priority]);
                to.extend_from_slice(&domain.vlan.to_be_bytes());
            }
        }
    }

    fn next(&self) -> Option<Self> {
        match self {
            Self::TalkerAdvertise(talker) => talker.next().map(Self::TalkerAdvertise),
            Self::TalkerFailed(talker, failure) => {
                talker.next().map(|next| Self::TalkerFailed(next, *failure))
            }
            Self::Listener(stream) => stream.next().map(Self::Listener),
            Self::Domain(domain) => Some(Self::Domain(DomainValue {
                class: domain.class.checked_add(1)?,
                priority: domain.priority.checked_add(1)?,
                ..*domain
            })),
        }
    }
}

/// Reads an address; also gives what is behind it.
pub(super) fn mac_parse(octets: &[u8]) -> Result<(MacAddress, &[u8]), WireError> {
    let (address, rest) = split::<6>(octets)?;
    Ok((MacAddress(*address), rest))
}

/// The address behind this one.
pub(super) fn mac_next(address: MacAddress) -> Option<MacAddress> {
    let mut octets = address.0;
    for octet in octets.iter_mut().rev() {
        *octet = octet.wrapping_add(1);
        if *octet != 0 {
            return Some(MacAddress(octets));
        }
    }
    None
}
