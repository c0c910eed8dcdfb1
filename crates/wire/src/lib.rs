//! Frames and identifiers on the wire: Ethernet II, IEEE 802.1Q, IPv4 and UDP; MRP; gPTP;
//! RTmac, TDMA and RTcfg of RTnet; protocol control frames of AS6802; the register map of the switch in `hdl/`.
//!
//! Parsers are total: any octets give a value or an error, never a panic.
#![no_std]

extern crate alloc;

mod address;
mod checksum;
mod error;
mod ethernet;
pub mod ftt;
mod ipv4;
pub mod mrp;
mod pcf;
pub mod ptp;
mod rtcfg;
mod rtmac;
pub mod switch_registers;
mod tdma;
mod test_message;
mod udp;
mod vlan_tag;

pub use address::{Ipv4Address, MacAddress, ParseAddressError, VlanId};
pub use error::WireError;
pub use ethernet::{EtherType, EthernetHeader};
pub use ipv4::Ipv4Header;
pub use pcf::{PcfType, ProtocolControlFrame};
pub use rtcfg::{Announcement, RtcfgFrame};
pub use rtmac::RtmacHeader;
pub use tdma::TdmaFrame;
pub use test_message::{PayloadType, TestMessage};
pub use udp::UdpHeader;
pub use vlan_tag::VlanTag;
