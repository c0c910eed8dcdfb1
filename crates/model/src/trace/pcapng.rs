//! pcapng (draft-ietf-opsawg-pcapng): sections in either byte order, each with interfaces of its own.
//!
//! Stamps count in the resolution of their interface (`if_tsresol`, microseconds by default) from its offset
//! (`if_tsoffset`). Blocks without packets are skipped.

use super::packet::{Capture, CaptureInterface, Octets, Packet, fcs_octets};
use super::pcap::CAPTURED_LIMIT;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// The length of a block is before its body, and again after it.
const HEADER: usize = 8;
const AROUND: u32 = 12;

/// Options: of a section, of an interface, and of a packet.
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const IF_TSOFFSET: u16 = 14;
const PACKET_FLAGS: u16 = 2;

/// An interface of the section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u16,
    snap: u32,
    /// In the option's form: 10 or 2 to the minus of this.
    resolution: u8,
    /// Seconds.
    offset: i64,
    fcs: u32,
}

pub(super) fn read(octets: &[u8]) -> Result<Capture<'_>, String> {
    let mut capture = Capture::default();
    let mut interfaces: Vec<Interface> = Vec::new();
    let (mut at, mut is_big) = (0, false);
    while at < octets.len() {
        let damaged = |what: &str| format!("is damaged at octet {at}: {what}");
        if octets[at..].starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) {
            match octets.get(at + HEADER..at + HEADER + 4) {
                Some([0x1a, 0x2b, 0x3c, 0x4d]) => is_big = true,
                Some([0x4d, 0x3c, 0x2b, 0x1a]) => is_big = false,
                Some(_) => return Err(damaged("a section has no valid byte order")),
                None => {}
            }
        }
        let rest = Octets { octets: &octets[at..], is_big };
        let (Some(kind), Some(length)) = (rest.u32(0), rest.u32(4)) else {
            capture.cut = Some(at);
            break;
        };
        if length < AROUND || length % 4 != 0 {
            return Err(damaged(&format!("a block has a length of {length} octets")));
        }
        let Some(block) = rest.slice(0, length) else {
            capture.cut = Some(at);
            break;
        };
        let block = Octets { octets: block, is_big };
        if block.u32(block.octets.len() - 4) != Some(length) {
            return Err(damaged("a block does not end with its length"));
        }
        let body = Octets { octets: &block.octets[HEADER..block.octets.len() - 4], is_big };
        match kind {
            SECTION_HEADER => {
                if let Some(major) = body.u16(4).filter(|major| *major != 1) {
                    return Err(format!("is a pcapng of version {major}; only version 1 is supported"));
                }
                interfaces.clear();
                if capture.application.is_none() {
                    // Damaged options name no program.
                    let named =
                        options(body, 16).map_while(Result::ok).find(|(code, _)| *code == SHB_USERAPPL);
                    capture.application = named.map(|(_, name)| text(name));
                }
            }
            INTERFACE => {
                let (interface, name) = interface(body).map_err(|why| damaged(&why))?;
                interfaces.push(interface);
                capture.interfaces.push(CaptureInterface { name });
            }
            PACKET | SIMPLE_PACKET | ENHANCED_PACKET => {
                let packet = packet(kind, body, &interfaces).map_err(|why| damaged(&why))?;
                // Those of this section are the last ones.
                let before = capture.interfaces.len() - interfaces.len();
                capture.packets.push(Packet { begins: at, interface: before + packet.interface, ..packet });
            }
            _ => {}
        }
        at += block.octets.len();
    }
    Ok(capture)
}

/// A text of an option, without what fills it up.
fn text(value: Octets<'_>) -> String {
    String::from_utf8_lossy(value.octets).trim_end_matches('\0').to_owned()
}

/// An interface and its name.
fn interface(body: Octets<'_>) -> Result<(Interface, Option<String>), String> {
    let (Some(link), Some(snap)) = (body.u16(0), body.u32(4)) else {
        return Err("an interface has no link type".to_owned());
    };
    let mut interface = Interface { link, snap, resolution: 6, offset: 0, fcs: 0 };
    let mut name = None;
    for option in options(body, 8) {
        let (code, value) = option?;
        match code {
            IF_NAME => name = Some(text(value)),
            IF_TSRESOL => interface.resolution = resolution(of_length(value, 1, "if_tsresol")?)?,
            IF_TSOFFSET => {
                interface.offset = of_length(value, 8, "if_tsoffset")?.i64(0).unwrap_or(0);
            }
            // Tools disagree whether its unit is octets or bits.
            IF_FCSLEN => {
                let stated = of_length(value, 1, "if_fcslen")?.octets[0];
                interface.fcs = fcs_octets(stated.into(), &[4, 32])?;
            }
            _ => {}
        }
    }
    Ok((interface, name))
}

/// The value of an option that has so many octets.
fn of_length<'o>(value: Octets<'o>, octets: usize, name: &str) -> Result<Octets<'o>, String> {
    if value.octets.len() == octets {
        return Ok(value);
    }
    Err(format!("an option {name} has {} octets, and must have {octets}", value.octets.len()))
}

/// The value of `if_tsresol`; stamps of 64 bits that do not count to a second are none.
fn resolution(value: Octets<'_>) -> Result<u8, String> {
    let stated = value.octets[0];
    let exponent = stated & 0x7f;
    let (base, finest) = if stated & 0x80 == 0 { (10, 19) } else { (2, 64) };
    if exponent <= finest {
        return Ok(stated);
    }
    Err(format!(
        "an interface whose stamps count {base}^-{exponent} s (if_tsresol): 64 bits of that are less than a second; \
         {base}^-{finest} s is the finest"
    ))
}

/// The packet of a block.
fn packet<'o>(kind: u32, body: Octets<'o>, interfaces: &[Interface]) -> Result<Packet<'o>, String> {
    let short = || "a packet is shorter than it states".to_owned();
    let unknown = || "a packet refers to an interface that is not described".to_owned();
    if kind == SIMPLE_PACKET {
        let interface = interfaces.first().ok_or_else(unknown)?;
        let original = body.u32(0).ok_or_else(short)?;
        let captured = if interface.snap == 0 { original } else { original.min(interface.snap) };
        let octets = body.slice(4, captured).ok_or_else(short)?;
        return Ok(Packet {
            begins: 0,
            interface: 0,
            at: None,
            original,
            fcs: interface.fcs,
            link: interface.link,
            octets,
        });
    }
    // The obsolete block has 16 bits for the interface, and 16 for packets that were dropped.
    let number = if kind == PACKET { body.u16(0).map(u32::from) } else { body.u32(0) };
    let number = number.ok_or_else(short)? as usize;
    let interface = interfaces.get(number).ok_or_else(unknown)?;
    let numbers = (body.u32(4), body.u32(8), body.u32(12), body.u32(16));
    let (Some(high), Some(low), Some(captured), Some(original)) = numbers else { return Err(short()) };
    if captured > CAPTURED_LIMIT {
        return Err(format!("a packet states a length of {captured} octets"));
    }
    let octets = body.slice(20, captured).ok_or_else(short)?;
    let mut fcs = interface.fcs;
    for option in options(body, 20 + octets.len().next_multiple_of(4)) {
        let (code, value) = option?;
        if code == PACKET_FLAGS {
            let stated = of_length(value, 4, "epb_flags")?.u32(0).unwrap_or(0) >> 5 & 0xf;
            // None stated: that of the interface.
            fcs = if stated == 0 { fcs } else { fcs_octets(stated, &[4])? };
        }
    }
    let units = u64::from(high) << 32 | u64::from(low);
    let at = Some(picoseconds(units, interface));
    Ok(Packet { begins: 0, interface: number, at, original, fcs, link: interface.link, octets })
}

/// A stamp in picoseconds, rounded down where an interface is finer than that.
fn picoseconds(units: u64, interface: &Interface) -> i128 {
    const PS: u128 = 1_000_000_000_000;
    let exponent = u32::from(interface.resolution & 0x7f);
    let units = u128::from(units);
    let ps = if interface.resolution & 0x80 != 0 {
        // 64 bits by 40: below 2^104.
        (units * PS) >> exponent
    } else if exponent <= 12 {
        units * 10_u128.pow(12 - exponent)
    } else {
        units / 10_u128.pow(exponent - 12)
    };
    i128::try_from(ps).expect("below 2^104")
        + i128::from(interface.offset) * i128::try_from(PS).expect("small")
}

/// Codes and values of the options from `at` on, up to their end or an incomplete one.
fn options<'o>(body: Octets<'o>, at: usize) -> impl Iterator<Item = Result<(u16, Octets<'o>), String>> {
    let mut at = at;
    std::iter::from_fn(move || {
        let (code, length) = (body.u16(at)?, body.u16(at + 2)?);
        if code == 0 {
            return None;
        }
        let Some(value) = body.slice(at + 4, length.into()) else {
            let rest = body.octets.len() - at - 4;
            at = body.octets.len();
            let why = format!("an option ({code}) has {length} octets, and its block has {rest} left");
            return Some(Err(why));
        };
        at += 4 + value.len().next_multiple_of(4);
        Some(Ok((code, Octets { octets: value, is_big: body.is_big })))
    })
}
