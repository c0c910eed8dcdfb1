//! Frames and identifiers on the wire: Ethernet II, IEEE 802.1Q, IPv4 and UDP.
//!
//! Parsers are total: any octets give a value or an error, never a panic.
#![no_std]

extern crate alloc;

mod address;

pub use address::{Ipv4Address, MacAddress, ParseAddressError, VlanId};
