//! The attribute of MVRP: a VLAN (IEEE Std 802.1Q-2022, 11.2.3.1).

use alloc::vec::Vec;

use super::pdu::AttributeValue;
use crate::error::WireError;
use crate::{EtherType, MacAddress};

/// A VLAN identifier as MVRP declares it; the octets may hold any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MvrpValue(pub u16);

impl AttributeValue for MvrpValue {
    const ETHER_TYPE: EtherType = EtherType(0x88f5);
    const GROUP: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0, 0, 0x21]);
    const TYPES: &'static [u8] = &[1];
    const LIST_LENGTH: bool = false;

    fn attribute_type(&self) -> u8 {
        1
    }

    fn length(attribute_type: u8) -> Option<u8> {
        (attribute_type == 1).then_some(2)
    }

    fn has_declarations(_: u8) -> bool {
        false
    }

    fn zero(_: u8) -> Self {
        Self(0)
    }

    fn parse(_: u8, octets: &[u8]) -> Result<Self, WireError> {
        let octets = octets.try_into().map_err(|_| WireError::Length)?;
        Ok(Self(u16::from_be_bytes(octets)))
    }

    fn emit(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.0.to_be_bytes());
    }

    fn next(&self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}
