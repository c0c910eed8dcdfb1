//! The attributes of MMRP: service requirements and MAC addresses (IEEE Std 802.1Q-2022, 10.12.1).

use alloc::vec::Vec;

use super::msrp::{mac_next, mac_parse};
use super::pdu::AttributeValue;
use crate::error::WireError;
use crate::{EtherType, MacAddress};

/// The attributes of MMRP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MmrpValue {
    /// All groups (0) or all unregistered groups (1).
    ServiceRequirement(u8),
    /// Frames to this address.
    Address(MacAddress),
}

impl AttributeValue for MmrpValue {
    const ETHER_TYPE: EtherType = EtherType(0x88f6);
    const GROUP: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0, 0, 0x20]);
    const TYPES: &'static [u8] = &[1, 2];
    const LIST_LENGTH: bool = false;

    fn attribute_type(&self) -> u8 {
        match self {
            Self::ServiceRequirement(_) => 1,
            Self::Address(_) => 2,
        }
    }

    fn length(attribute_type: u8) -> Option<u8> {
        match attribute_type {
            1 => Some(1),
            2 => Some(6),
            _ => None,
        }
    }

    fn has_declarations(_: u8) -> bool {
        false
    }

    fn zero(attribute_type: u8) -> Self {
        if attribute_type == 1 { Self::ServiceRequirement(0) } else { Self::Address(MacAddress([0; 6])) }
    }

    fn parse(attribute_type: u8, octets: &[u8]) -> Result<Self, WireError> {
        match (attribute_type, octets) {
            (1, [requirement]) => Ok(Self::ServiceRequirement(*requirement)),
            (2, _) => Ok(Self::Address(mac_parse(octets)?.0)),
            _ => Err(WireError::Length),
        }
    }

    fn emit(&self, to: &mut Vec<u8>) {
        match self {
            Self::ServiceRequirement(requirement) => to.push(*requirement),
            Self::Address(address) => to.extend_from_slice(&address.0),
        }
    }

    fn next(&self) -> Option<Self> {
        match self {
            Self::ServiceRequirement(requirement) => requirement.checked_add(1).map(Self::ServiceRequirement),
            Self::Address(address) => mac_next(*address).map(Self::Address),
        }
    }
}
