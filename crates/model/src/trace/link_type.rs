//! From the contents of a capture to the frame that was on the wire, by the type of the link (tcpdump.org/linktypes).
//!
//! A Linux cooked capture has a header of its own in place of the Ethernet header, and raw IP has none: the frame had one.
//! Frames that were captured at their sender are not padded yet: on the wire they were. A VLAN tag, of customers or of
//! services, is no MAC client data; a second one is.
//!
//! Records without enough information are skipped: shorter than a header, of another IP version, with lengths that contradict.

use tautwire_units::Bytes;
use tautwire_wire::MacAddress;

use super::packet::{Packet, Refusal};
use crate::frame::{FRAME_MIN, HEADER_AND_FCS, TAG};

const ETHERNET: u16 = super::packet::LINK_TYPE_ETHERNET;
const LINUX_SLL: u16 = 113;
const LINUX_SLL2: u16 = 276;

/// Destination, source and type; and the two addresses.
const ETHERNET_HEADER: u64 = 14;
const ADDRESSES: usize = 12;
/// Octets in place of the Ethernet header.
const SLL_HEADER: usize = 16;
const SLL2_HEADER: usize = 20;

/// Fields of a captured frame's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) destination: Option<MacAddress>,
    pub(crate) source: Option<MacAddress>,
    /// PCP and VID; none: no tag.
    pub(crate) tag: Option<(u8, u16)>,
    /// The part that was cut off, and is unknown.
    pub(crate) cut: CutOff,
}

/// Properties of a captured frame that are missing in its capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CutOff {
    pub(crate) addresses: bool,
    /// PCP and VID, or whether there was a tag at all.
    pub(crate) tag: bool,
}

impl CutOff {
    /// Of a frame whose addresses end at `addresses`, and whose type and tag are at the given offsets.
    fn of(octets: &[u8], addresses: usize, kind: usize, control: usize) -> Self {
        let end = if is_tag(octets, kind) { control + 2 } else { kind + 2 };
        Self { addresses: octets.len() < addresses, tag: octets.len() < end }
    }
}

/// MAC client data and header of the frame that a packet was on the wire.
pub(super) fn on_the_wire(packet: &Packet<'_>) -> Result<(Bytes, Header), Refusal> {
    let octets = packet.octets;
    let original = original_length(packet)?;
    let (length, header) = match packet.link {
        ETHERNET => {
            let tag = tag(octets, ADDRESSES, ADDRESSES + 2);
            let cut = CutOff::of(octets, ADDRESSES, ADDRESSES, ADDRESSES + 2);
            let header = Header { destination: address(octets, 0), source: address(octets, 6), tag, cut };
            (original, header)
        }
        LINUX_SLL => {
            hardware(octets, 2)?;
            let source = address(octets, 6).filter(|_| octets[4..6] == [0, 6]);
            let cut = CutOff::of(octets, 12, 14, SLL_HEADER);
            let header = Header { destination: None, source, tag: tag(octets, 14, SLL_HEADER), cut };
            (original - SLL_HEADER as u64 + ETHERNET_HEADER, header)
        }
        LINUX_SLL2 => {
            hardware(octets, 8)?;
            let source = address(octets, 12).filter(|_| octets[11] == 6);
            let cut = CutOff::of(octets, 18, 0, SLL2_HEADER);
            let header = Header { destination: None, source, tag: tag(octets, 0, SLL2_HEADER), cut };
            (original - SLL2_HEADER as u64 + ETHERNET_HEADER, header)
        }
        // Raw IP, under the numbers that systems give it; IPv4 and IPv6 alone.
        101 | 12 | 14 | 228 | 229 => {
            version(packet)?;
            (original + ETHERNET_HEADER, Header::default())
        }
        other => {
            return Err(Refusal::Capture(format!(
                "is of the link type {other} ({}), of which no Ethernet frame can be made; Ethernet (1), Linux cooked \
                 (113, 276) and raw IP (101) are known",
                name(other)
            )));
        }
    };
    let overhead = if header.tag.is_some() { HEADER_AND_FCS + TAG } else { HEADER_AND_FCS };
    // Without the FCS a frame has at least 60 octets.
    let frame = Bytes::new(length + 4).max(FRAME_MIN);
    Ok((frame - overhead, header))
}

/// Octets that were there without an FCS: as many as were captured at least, and a header at least.
fn original_length(packet: &Packet<'_>) -> Result<u64, Refusal> {
    let skip = |why: String| Err(Refusal::Record(why));
    let captured = packet.octets.len() as u64;
    let original = u64::from(packet.original);
    let (header, kind) = match packet.link {
        ETHERNET => (ETHERNET_HEADER, "an Ethernet header"),
        LINUX_SLL => (SLL_HEADER as u64, "a Linux cooked header"),
        LINUX_SLL2 => (SLL2_HEADER as u64, "a Linux cooked header of version 2"),
        // The least one of IP.
        101 | 12 | 14 | 228 | 229 => (20, "an IP header"),
        _ => (0, "no header"),
    };
    if original < captured {
        return skip(format!("has {captured} captured octets, more than its original length of {original}"));
    }
    let length = original.saturating_sub(packet.fcs.into());
    if length < header {
        let without = if packet.fcs > 0 { " without its FCS" } else { "" };
        return skip(format!("is of {length} octets{without}, and {kind} has {header}"));
    }
    Ok(length)
}

/// Skips raw packets that are neither IPv4 nor IPv6, or not of the link type's version.
fn version(packet: &Packet<'_>) -> Result<(), Refusal> {
    let known: &[u8] = match packet.link {
        228 => &[4],
        229 => &[6],
        _ => &[4, 6],
    };
    // Without captured octets the version is not checked.
    let Some(version) = packet.octets.first().map(|first| first >> 4) else { return Ok(()) };
    if known.contains(&version) {
        return Ok(());
    }
    let known: Vec<String> = known.iter().map(u8::to_string).collect();
    let known = known.join(" or ");
    Err(Refusal::Record(format!("is raw IP of version {version}, which is to be {known}")))
}

/// The address at `at`.
fn address(octets: &[u8], at: usize) -> Option<MacAddress> {
    octets.get(at..)?.first_chunk().map(|address| MacAddress(*address))
}

/// PCP and VID of the tag whose type is at `kind` and whose control information is at `control`.
fn tag(octets: &[u8], kind: usize, control: usize) -> Option<(u8, u16)> {
    if !is_tag(octets, kind) {
        return None;
    }
    // One that was cut off is a tag nonetheless.
    let control =
        octets.get(control..).and_then(<[u8]>::first_chunk).map_or(0, |control| u16::from_be_bytes(*control));
    Some(((control >> 13) as u8, control & 0x0fff))
}

/// Whether the type at `kind` is that of a tag.
fn is_tag(octets: &[u8], kind: usize) -> bool {
    let kind: Option<&[u8; 2]> = octets.get(kind..).and_then(<[u8]>::first_chunk);
    matches!(kind, Some([0x81, 0x00] | [0x88, 0xa8] | [0x91, 0x00]))
}

/// Refuses cooked packets of interfaces whose protocol field is none of Ethernet.
fn hardware(octets: &[u8], at: usize) -> Result<(), Refusal> {
    let hardware = octets.get(at..).and_then(<[u8]>::first_chunk).map(|number| u16::from_be_bytes(*number));
    let name = match hardware {
        Some(778) => "GRE",
        Some(801..=803) => "IEEE 802.11",
        Some(824) => "netlink",
        _ => return Ok(()),
    };
    let number = hardware.unwrap_or_default();
    Err(Refusal::Capture(format!(
        "was captured on an interface of the hardware type {number} ({name}), which carries no Ethernet frames"
    )))
}

/// The name of a link type.
fn name(link: u16) -> &'static str {
    match link {
        0 => "NULL, BSD loopback",
        3 => "AX25",
        6 => "IEEE802_5, token ring",
        7 => "ARCNET_BSD",
        8 => "SLIP",
        9 => "PPP",
        10 => "FDDI",
        50 => "PPP_HDLC",
        51 => "PPP_ETHER",
        100 => "ATM_RFC1483",
        104 => "C_HDLC",
        105 => "IEEE802_11",
        107 => "FRELAY",
        108 => "LOOP, OpenBSD loopback",
        114 => "LTALK",
        117 => "PFLOG",
        119 => "IEEE802_11_PRISM",
        122 => "IP_OVER_FC",
        127 => "IEEE802_11_RADIOTAP",
        129 => "ARCNET_LINUX",
        138 => "APPLE_IP_OVER_IEEE1394",
        147..=162 => "USER0 to USER15, private use",
        163 => "IEEE802_11_AVS",
        187 => "BLUETOOTH_HCI_H4",
        189 => "USB_LINUX",
        190 => "CAN20B",
        192 => "PPI",
        195 => "IEEE802_15_4_WITHFCS",
        197 => "ERF",
        201 => "BLUETOOTH_HCI_H4_WITH_PHDR",
        204 => "PPP_WITH_DIR",
        210 => "FLEXRAY",
        212 => "LIN",
        220 => "USB_LINUX_MMAPPED",
        227 => "CAN_SOCKETCAN",
        230 => "IEEE802_15_4_NOFCS",
        231 => "DBUS",
        239 => "NFLOG",
        240 => "NETANALYZER",
        241 => "NETANALYZER_TRANSPARENT",
        242 => "IPOIB",
        247 => "INFINIBAND",
        249 => "USBPCAP",
        251 => "BLUETOOTH_LE_LL",
        252 => "WIRESHARK_UPPER_PDU",
        253 => "NETLINK",
        256 => "BLUETOOTH_LE_LL_WITH_PHDR",
        271 => "VSOCK",
        272 => "NORDIC_BLE",
        274 => "ETHERNET_MPACKET",
        _ => "a type without a name here",
    }
}
