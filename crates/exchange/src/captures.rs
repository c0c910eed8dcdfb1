//! Traffic of a capture: the stations whose addresses its frames have, and each conversation between them as a stream that replays its frames.
//!
//! A conversation is what has one source, destination, tag and, of UDP, one pair of addresses and ports. A capture knows no cables: one bridge joins all stations.
//! Of a capture at several interfaces a conversation is taken where it has the most frames, so that none counts twice.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use tautwire_model::capture::{LINK_TYPE_ETHERNET, Packet, read_capture};
use tautwire_wire::MacAddress;

use crate::{Converted, Import, quoted};

pub(crate) static IMPORT: Import = Import {
    name: "capture",
    about: "a capture (pcap, pcapng) as traffic: its stations, and a stream for each conversation,\nwhich replays its frames; cables are to be added",
    example: "tautwire import capture bus.pcapng --to bus.yaml",
    has_configurations: false,
    of: |_, _| unreachable!("a capture is no text"),
    of_octets: Some(read),
    onto: None,
};

/// Octets of addresses and type, and of a tag.
const HEADER: usize = 14;
const TAG: usize = 4;

/// Types of a VLAN tag and of IPv4, and the protocol UDP.
const VLAN: u16 = 0x8100;
const IPV4: u16 = 0x0800;
const UDP: u8 = 17;

/// The greatest number of stations and of conversations.
const MOST: usize = 10_000;

/// What the frames of a conversation have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Conversation {
    source: [u8; 6],
    destination: [u8; 6],
    /// Priority and VLAN.
    tag: Option<(u8, u16)>,
    /// Source and destination, and their ports.
    udp: Option<(Ipv4Addr, Ipv4Addr, u16, u16)>,
}

/// Source and destination.
type Addresses = (Ipv4Addr, Ipv4Addr);
type Ports = (u16, u16);

/// Frames of a conversation at an interface: picoseconds since any moment, MAC client data.
type Frames = Vec<(i128, u64)>;

/// What is found in packets.
#[derive(Default)]
struct Found {
    /// By interface.
    conversations: BTreeMap<Conversation, BTreeMap<usize, Frames>>,
    /// What is no frame between stations, and how many there are.
    left_out: BTreeMap<String, u64>,
    /// Addresses of IPv4 that a station sends from.
    addresses: BTreeMap<[u8; 6], Vec<Ipv4Addr>>,
}

fn read(inputs: &[(String, Vec<u8>)], converted: &mut Converted) -> Result<(), String> {
    let [(name, octets)] = inputs else {
        return Err(format!(
            "{} captures: one is read, since frames that are in several would count several times",
            inputs.len()
        ));
    };
    let capture = read_capture(octets).map_err(|why| format!("{name} {why}"))?;
    if let Some(at) = capture.cut {
        converted.lacks(format!("{name}: it ends within a frame, at octet {at}"));
    }
    let mut found = Found::default();
    let mut last = 0;
    for (number, packet) in capture.packets.iter().enumerate() {
        let at = packet.at.unwrap_or(last);
        last = at;
        found.add(packet, at, number);
    }
    for (what, count) in &found.left_out {
        converted.lacks(format!("{name}: {count} packet{}: {what}", if *count == 1 { "" } else { "s" }));
    }
    if found.conversations.is_empty() {
        return Err(format!("{name} has no frame from one station to others"));
    }
    if found.conversations.len() > MOST {
        return Err(format!(
            "{name}: {} conversations; {MOST} at most: filter it",
            found.conversations.len()
        ));
    }
    describe(name, &found, converted);
    Ok(())
}

impl Found {
    fn left(&mut self, what: impl Into<String>) {
        *self.left_out.entry(what.into()).or_default() += 1;
    }

    fn add(&mut self, packet: &Packet<'_>, at: i128, number: usize) {
        if packet.link != LINK_TYPE_ETHERNET {
            return self.left(format!("their link, of type {}, is no Ethernet", packet.link));
        }
        let Some((header, rest)) = packet.octets.split_at_checked(HEADER) else {
            return self.left("shorter than the header of a frame");
        };
        let address = |from: usize| <[u8; 6]>::try_from(&header[from..from + 6]).expect("six octets");
        let (destination, source) = (address(0), address(6));
        if source[0] & 1 == 1 || source == [0; 6] {
            return self.left(format!("from {}, which is no station", MacAddress(source)));
        }
        // 802.1Q-2022, Table 8-1 to 8-3.
        if destination[..5] == [0x01, 0x80, 0xc2, 0, 0] && destination[5] <= 0x0f {
            return self.left(format!("to {}, which bridges do not forward", MacAddress(destination)));
        }
        let kind = |octets: &[u8]| Some(u16::from_be_bytes(octets.get(..2)?.try_into().ok()?));
        let mut data = rest;
        let mut type_of = kind(&header[12..]);
        let mut tag = None;
        if type_of == Some(VLAN) {
            let Some((own, behind)) = rest.split_at_checked(TAG) else {
                return self.left("shorter than the tag of a frame");
            };
            let control = u16::from_be_bytes([own[0], own[1]]);
            tag = Some(((control >> 13) as u8, control & 0xfff));
            (type_of, data) = (kind(&own[2..]), behind);
        }
        if tag.is_some_and(|(_, vlan)| vlan == 0xfff) {
            return self.left("of VLAN 4095, which is reserved");
        }
        let around = HEADER + if tag.is_some() { TAG } else { 0 } + packet.fcs as usize;
        let Some(octets) =
            (packet.original as usize).checked_sub(around).filter(|octets| (1..=1_500).contains(octets))
        else {
            return self.left("without data, or with more than 1500 octets of it");
        };
        if tag.is_some_and(|(_, vlan)| vlan == 0) {
            tag = None;
            self.left(format!("the priority in tags without a VLAN, from packet {} on", number + 1));
        }
        let ipv4 = (type_of == Some(IPV4)).then(|| ipv4(data)).flatten();
        if let Some((from, _)) = ipv4 {
            let known = self.addresses.entry(source).or_default();
            if !known.contains(&from.0) {
                known.push(from.0);
            }
        }
        let udp = ipv4.and_then(|((from, to), ports)| {
            ports.map(|(source, destination)| (from, to, source, destination))
        });
        let conversation = Conversation { source, destination, tag, udp };
        let frames = self.conversations.entry(conversation).or_default().entry(packet.interface).or_default();
        frames.push((at, octets as u64));
    }
}

/// Addresses of a packet of IPv4, and the ports of UDP if it is a whole datagram.
fn ipv4(data: &[u8]) -> Option<(Addresses, Option<Ports>)> {
    let header = data.get(..20)?;
    let address =
        |from: usize| Ipv4Addr::from(<[u8; 4]>::try_from(&header[from..from + 4]).expect("four octets"));
    // Options, and fragments: more of them, or a place within a datagram.
    let is_plain = header[0] == 0x45 && (header[6] & 0x3f, header[7]) == (0, 0) && header[9] == UDP;
    let port = |from: usize| Some(u16::from_be_bytes(data.get(from..from + 2)?.try_into().ok()?));
    let ports = if is_plain { port(20).zip(port(22)) } else { None };
    (header[0] >> 4 == 4).then_some(((address(12), address(16)), ports))
}

fn station(address: [u8; 6]) -> String {
    format!("s-{}", MacAddress(address).to_string().replace(':', "-"))
}

fn describe(name: &str, found: &Found, converted: &mut Converted) {
    let mut stations: Vec<[u8; 6]> = Vec::new();
    for own in found.conversations.keys() {
        let unicast = [own.source, own.destination].into_iter().filter(|address| address[0] & 1 == 0);
        stations.extend(unicast);
    }
    stations.sort_unstable();
    stations.dedup();
    let mut text = format!(
        "# Traffic of the capture {}: stations by their addresses, and a stream for each conversation. Cables, rates and bridges are to be corrected.\n",
        name.escape_default()
    );
    let _ = writeln!(
        text,
        "name: {}\nnetwork-control: none\nallow: [port::overload, class::overload]",
        quoted(&crate::valid(name))
    );
    let vlans: std::collections::BTreeSet<u16> =
        found.conversations.keys().filter_map(|own| Some(own.tag?.1)).collect();
    if !vlans.is_empty() {
        let is_mixed = !vlans.contains(&1) && found.conversations.keys().any(|own| own.tag.is_none());
        let all: Vec<String> = vlans.iter().map(|vlan| format!("{vlan}: {{tagged: all}}")).collect();
        let _ = writeln!(text, "vlans: {{{}{}}}", if is_mixed { "1: {}, " } else { "" }, all.join(", "));
        if vlans.contains(&1) && found.conversations.keys().any(|own| own.tag.is_none()) {
            converted.lacks(format!(
                "{name}: frames without a tag next to those of VLAN 1: behind the bridge they have a tag"
            ));
        }
    }
    text.push_str("nodes:\n");
    for own in &stations {
        let comment = match found.addresses.get(own).map(Vec::as_slice) {
            Some([one]) => format!("   # {one}"),
            Some(several) if !several.is_empty() => {
                converted.lacks(format!(
                    "{name}: {} sends from {} addresses of IPv4: it forwards packets of others",
                    station(*own),
                    several.len()
                ));
                String::new()
            }
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "  {}: {{type: end-station, ports: {{p1: {{address: \"{}\"}}}}}}{comment}",
            quoted(&station(*own)),
            MacAddress(*own)
        );
    }
    text.push_str("  network: {type: bridge, learning: off}\nlinks:\n");
    for own in &stations {
        let _ = writeln!(text, "  - {{between: [{}, network], rate: 1 Gbit/s}}", quoted(&station(*own)));
    }
    converted.lacks(format!("{name}: cables, bridges and rates: one bridge joins all stations by 1 Gbit/s"));
    let streams = streams(name, found, &stations, converted);
    if !streams.is_empty() {
        text.push_str("streams:\n");
        text.push_str(&streams);
    }
    converted.text = text;
}

fn streams(name: &str, found: &Found, stations: &[[u8; 6]], converted: &mut Converted) -> String {
    let mut text = String::new();
    let mut begins = Vec::new();
    for (number, (own, interfaces)) in found.conversations.iter().enumerate() {
        let (_, frames) = interfaces
            .iter()
            .max_by_key(|(interface, frames)| (frames.len(), std::cmp::Reverse(**interface)))
            .expect("a conversation has frames");
        let is_group = own.destination[0] & 1 == 1;
        let listeners: Vec<String> = if is_group {
            stations
                .iter()
                .filter(|station| **station != own.source)
                .map(|own| quoted(&station(*own)))
                .collect()
        } else {
            vec![quoted(&station(own.destination))]
        };
        let stream = format!("c{}", number + 1);
        let to = MacAddress(own.destination);
        if listeners.is_empty() || own.destination == own.source {
            converted.lacks(format!(
                "{name}: {} frames from {} to {to}: no other station is there",
                frames.len(),
                station(own.source)
            ));
            continue;
        }
        if is_group {
            converted
                .lacks(format!("{name}: who listens to {to}: of {stream} all other stations are written"));
        }
        if interfaces.len() > 1 {
            converted.lacks(format!(
                "{name}: {stream} is at {} interfaces; that with the most frames is taken",
                interfaces.len()
            ));
        }
        let first = frames.iter().map(|(at, _)| *at).min().expect("it has frames");
        begins.push(first);
        let _ = write!(
            text,
            "  - {{name: {stream}, talker: {}, listeners: [{}], ",
            quoted(&station(own.source)),
            listeners.join(", ")
        );
        if is_group {
            let _ = write!(text, "destination: \"{to}\", ");
        }
        match own.tag {
            Some((priority, vlan)) => {
                let _ = write!(text, "priority: {priority}, vlan: {vlan}, ");
            }
            None => text.push_str("tagged: false, "),
        }
        if let Some((from, to, source, destination)) = own.udp {
            let _ = write!(
                text,
                "udp: {{source: {from}, destination: {to}, source-port: {source}, destination-port: {destination}}}, "
            );
        }
        let file = format!("{stream}.csv");
        let _ = writeln!(text, "traffic: {{type: replay, file: {file}}}}}");
        let mut frames = frames.clone();
        frames.sort_by_key(|(at, _)| *at);
        let mut trace = "time,payload\n".to_owned();
        for (at, octets) in frames {
            let _ = writeln!(trace, "{} ps,{octets} B", at - first);
        }
        converted.files.push((file, trace));
    }
    begins.dedup();
    if begins.len() > 1 {
        converted.lacks(format!(
            "{name}: how much later conversations begin than others: each trace begins at the start"
        ));
    }
    text
}
