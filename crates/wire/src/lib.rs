//! Frames and identifiers on the wire: Ethernet II, IEEE 802.1Q, IPv4 and UDP; MRP; central configuration; gPTP;
//! RTmac, TDMA and RTcfg of RTnet; protocol control frames of AS6802; sequence tags of 802.1CB; the register map of the switch in `hdl/`.
//!
//! Parsers are total: any octets give a value or an error, never a panic.
#![no_std]

extern crate alloc;

mod address;
mod as6802;
pub mod central;
mod checksum;
mod error;
mod ethernet;
mod frame_mark;
mod frer;
pub mod gptp;
pub mod harts;
mod ipv4;
mod live_message;
pub mod preemption;
pub mod srp;
pub mod switch_registers;
mod tdma;
mod test_bed;
mod udp;
mod vlan_tag;

pub use address::{Ipv4Address, MacAddress, ParseAddressError, VlanId};
pub use as6802::{PcfType, ProtocolControlFrame};
pub use error::WireError;
pub use ethernet::{EtherType, EthernetHeader};
pub use frame_mark::FrameMark;
pub use frer::{HsrTag, PrpTrailer, RTag, SEQUENCE_TAG};
pub use ipv4::Ipv4Header;
pub use live_message::LiveMessage;
pub use tdma::{Announcement, RtcfgFrame, RtmacHeader, TdmaFrame};
pub use test_bed::{PayloadType, TestMessage};
pub use udp::UdpHeader;
pub use vlan_tag::VlanTag;
