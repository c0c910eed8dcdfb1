//! pcap (draft-ietf-opsawg-pcap): stamps in microseconds or nanoseconds, either byte order.

use super::packet::{Capture, CaptureInterface, Octets, Packet, fcs_octets};

/// File header, and header of a packet.
const FILE: usize = 24;
const PACKET: usize = 16;
/// The largest snapshot length that tools write; a packet with a greater length is damaged.
pub(super) const CAPTURED_LIMIT: u32 = 262_144;

pub(super) fn read(octets: &[u8]) -> Result<Capture<'_>, String> {
    let is_big = octets.first() == Some(&0xa1);
    let file = Octets { octets, is_big };
    let mut capture = Capture { interfaces: vec![CaptureInterface::default()], ..Capture::default() };
    let (Some(magic), Some(major), Some(network)) = (file.u32(0), file.u16(4), file.u32(20)) else {
        capture.cut = Some(0);
        return Ok(capture);
    };
    if major != 2 {
        return Err(format!("is a pcap of version {major}; only version 2 is supported"));
    }
    let is_nano = magic == 0xa1b2_3c4d;
    let (unit, in_second): (i128, u32) =
        if is_nano { (1_000, 1_000_000_000) } else { (1_000_000, 1_000_000) };
    // If bit 26 is set, the first four bits are the length of the FCS: in units of 2 octets, or in octets as some write it.
    let fcs = if network & 0x0400_0000 != 0 { fcs_octets(network >> 28, &[2, 4])? } else { 0 };
    let link = (network & 0xffff) as u16;
    let mut at = FILE;
    while at < octets.len() {
        let header = (file.u32(at), file.u32(at + 4), file.u32(at + 8), file.u32(at + 12));
        let (Some(seconds), Some(fraction), Some(captured), Some(original)) = header else {
            capture.cut = Some(at);
            break;
        };
        let number = capture.packets.len() + 1;
        if captured > CAPTURED_LIMIT {
            return Err(format!(
                "is damaged at octet {at}: record {number} states a length of {captured} octets"
            ));
        }
        if fraction >= in_second {
            let (name, hint) = if is_nano {
                ("nanoseconds", "")
            } else {
                ("microseconds", "; stamps in nanoseconds need the magic number a1b23c4d")
            };
            return Err(format!(
                "is damaged at octet {at}: record {number} has {fraction} {name} in addition to its seconds, and a second has \
                 {in_second}{hint}"
            ));
        }
        let Some(captured) = file.slice(at + PACKET, captured) else {
            capture.cut = Some(at);
            break;
        };
        let stamp = i128::from(seconds) * 1_000_000_000_000 + i128::from(fraction) * unit;
        capture.packets.push(Packet {
            begins: at,
            interface: 0,
            at: Some(stamp),
            original,
            fcs,
            link,
            octets: captured,
        });
        at += PACKET + captured.len();
    }
    Ok(capture)
}
