//! Which scheduler of a group a stream's frames find: by the first stream filter that their header
//! matches (IEEE Std 802.1Q-2022, 8.6.5.3; functions of 802.1CB-2017 and 802.1CBdb-2021, clause 6).
//!
//! Computed here once for every stream, so that no driver needs time for it per frame. Every stream of a group adds
//! one filter, by the function that it states, or by the first of the device's that can identify it; without either it
//! is identified by itself. Equal filters are one. Filters beyond the device's limit are left out. Invariants: a
//! stream matches its own filter with all of its frames, and any other with all or none; else an error is reported.

use std::collections::HashSet;

use tautwire_core::identification::{Header, IpHeader, StreamIdentification, Tagged};
use tautwire_wire::{EtherType, Ipv4Address, Ipv4Header, MacAddress, UdpHeader, VlanId};

use super::streams::{StreamDraft, Streams};
use super::topology::Topology;
use crate::identification::IdentificationFunction;
use crate::network::{DeviceModel, Hop, Stream};
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Value};

/// The fields that identify frames.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Filter {
    /// The stream itself, as if every frame carried its number.
    Stream(usize),
    /// Its header.
    Header(StreamIdentification),
}

/// A stream's frames as a reception port sees them, the shortest and the longest.
struct Seen {
    destination: MacAddress,
    source: MacAddress,
    tag: Option<(VlanId, tautwire_core::Priority)>,
    ip: Option<IpHeader>,
    /// From the EtherType on.
    data: [Vec<u8>; 2],
}

impl Seen {
    fn new(topology: &Topology<'_>, stream: &Stream, before: &Hop) -> Self {
        let links = topology.ports[before.port.index()].links.expect("a hop's port has a cable");
        let node = topology.ports[topology.links[links.egress.index()].to.index()].node;
        let (destination, vlan) = stream.received(before, node);
        let priority = if stream.is_put_back(before, node) { stream.priority } else { before.priority };
        Self {
            destination,
            source: stream.source,
            tag: before.tagged.vlan.then_some((vlan, priority)),
            ip: stream.udp.map(|udp| IpHeader {
                source: udp.source,
                destination: udp.destination,
                dscp: 0,
                protocol: Ipv4Header::UDP,
                ports: Some((udp.source_port, udp.destination_port)),
            }),
            data: [stream.payload_min.get(), stream.payload_max.get()].map(|octets| data(stream, octets)),
        }
    }

    fn headers(&self) -> [Header<'_>; 2] {
        let Self { destination, source, tag, ip, .. } = *self;
        [0, 1].map(|size| Header { destination, source, tag, ip, data: &self.data[size] })
    }

    /// Whether its frames match; none if some do and some do not.
    fn matches(&self, function: &StreamIdentification) -> Option<bool> {
        let mut known = function.clone();
        let mut all = true;
        if let StreamIdentification::MaskAndMatch { data, .. } = &mut known {
            for (octet, (mask, left)) in data.iter_mut().enumerate() {
                if *mask != 0 && varies(self.ip.is_some(), octet) {
                    all = false;
                    (*mask, *left) = (0, 0);
                }
            }
        }
        match self.headers().map(|header| known.matches(&header)) {
            [false, false] => Some(false),
            [true, true] if all => Some(true),
            _ => None,
        }
    }
}

/// The octets of a frame from the EtherType on, with the headers that captures of a run have. Those that
/// vary from frame to frame are left zero.
fn data(stream: &Stream, octets: u64) -> Vec<u8> {
    let end = 2 + usize::try_from(octets.max(46)).expect("a frame is short");
    let Some(udp) = stream.udp else {
        let mut data = EtherType::LOCAL_EXPERIMENTAL.0.to_be_bytes().to_vec();
        data.resize(end, 0);
        return data;
    };
    let mut data = EtherType::IPV4.0.to_be_bytes().to_vec();
    let length = u16::try_from(octets).unwrap_or(u16::MAX).saturating_sub(20);
    let ip = Ipv4Header {
        traffic_class: 0,
        payload_length: length.min(u16::MAX - 20),
        identification: 0,
        fragment: 0x4000,
        time_to_live: 64,
        protocol: Ipv4Header::UDP,
        source: udp.source,
        destination: udp.destination,
    };
    ip.emit(&mut data);
    UdpHeader { source_port: udp.source_port, destination_port: udp.destination_port }.emit(
        udp.source,
        udp.destination,
        &[],
        &mut data,
    );
    let length = length.to_be_bytes();
    data[26..28].copy_from_slice(&length);
    data.resize(end, 0);
    data
}

/// Octets of [`data`] that are not the same in all frames of a size: IPv4 identification and checksum,
/// UDP checksum, and all behind the headers.
fn varies(udp: bool, octet: usize) -> bool {
    if udp { matches!(octet, 6 | 7 | 12 | 13 | 28..) } else { octet >= 2 }
}

/// Why a stream cannot be identified as stated.
struct Impossible {
    message: String,
    help: String,
}

fn impossible<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Impossible> {
    Err(Impossible { message: message.into(), help: help.into() })
}

/// The filters of one group, and whose frames find which.
pub(crate) struct Filters {
    filters: Vec<Filter>,
    /// Per use of the group, the filter that its frames find; none for the default.
    pub(crate) found: Vec<Option<usize>>,
    /// Per use, whether it has no filter of its own.
    pub(crate) unknown: Vec<bool>,
}

impl Filters {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.filters.len()
    }
}

/// The filters of a group: `uses` are its streams, each with its hop before the reception port. Each stream's
/// impossible filter is reported once; `told` keeps those that were.
pub(crate) fn filters(
    uses: &[(usize, Hop)],
    device: &DeviceModel,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    reported: &mut HashSet<usize>,
    faults: &mut Faults,
) -> Filters {
    let limit = device.ats.schedulers_per_group.map_or(usize::MAX, |limit| limit as usize);
    let states = |stream: usize| streams.list[stream].node.get("identification").is_some();
    if device.stream_identification.is_empty() && !uses.iter().any(|(stream, _)| states(*stream)) {
        // Every stream by itself.
        let own = uses.len().min(limit);
        return Filters {
            filters: uses[..own].iter().map(|(stream, _)| Filter::Stream(*stream)).collect(),
            found: (0..uses.len()).map(|number| (number < own).then_some(number)).collect(),
            unknown: vec![false; uses.len()],
        };
    }
    let mut filters: Vec<Filter> = Vec::new();
    let mut unknown = Vec::with_capacity(uses.len());
    let seen: Vec<Seen> = uses
        .iter()
        .map(|(stream, before)| Seen::new(topology, &streams.list[*stream].stream, before))
        .collect();
    for ((stream, before), seen) in uses.iter().zip(&seen) {
        let draft = &streams.list[*stream];
        let own = match own(*stream, draft, before, seen, device) {
            Ok(own) => own,
            Err(Impossible { message, help }) => {
                if reported.insert(*stream) {
                    let links = topology.ports[before.port.index()].links.expect("a hop's port has a cable");
                    let at = topology.port_name(topology.links[links.egress.index()].to);
                    let message = format!("at {at}: {message}");
                    faults.error(codes::IDENTIFICATION, draft.place("identification"), message, help);
                }
                None
            }
        };
        unknown.push(own.is_none());
        if let Some(own) = own
            && filters.len() < limit
            && !filters.contains(&own)
        {
            filters.push(own);
        }
    }
    let mut found = Vec::with_capacity(uses.len());
    for ((stream, _), seen) in uses.iter().zip(&seen) {
        let mut first = None;
        for (number, filter) in filters.iter().enumerate() {
            let matches = match filter {
                Filter::Stream(other) => Some(other == stream),
                Filter::Header(function) => seen.matches(function),
            };
            if matches.is_none() && reported.insert(*stream) {
                let message = "some of its frames match a stream filter of its group, and others do not";
                let help = "mask octets that do not depend on the size of a frame";
                let place = streams.list[*stream].name_place;
                faults.error(codes::IDENTIFICATION, place, message.to_owned(), help);
            }
            if matches != Some(false) {
                first = Some(number);
                break;
            }
        }
        found.push(first);
    }
    Filters { filters, found, unknown }
}

/// The filter of a stream; none if the device has no function for it.
fn own(
    number: usize,
    draft: &StreamDraft<'_, '_>,
    before: &Hop,
    seen: &Seen,
    device: &DeviceModel,
) -> Result<Option<Filter>, Impossible> {
    let functions = &device.stream_identification;
    let Some(node) = draft.node.get("identification") else {
        if functions.is_empty() {
            return Ok(Some(Filter::Stream(number)));
        }
        let nothing = Node { place: draft.name_place, value: Value::Nothing };
        let first = functions.iter().find_map(|function| match function {
            // It matches nothing without a mask and a value.
            IdentificationFunction::MaskAndMatch => None,
            _ => filter(*function, &nothing, before, seen).ok(),
        });
        return Ok(first.map(Filter::Header));
    };
    let Some(function) = node.get("type").and_then(Node::text).and_then(IdentificationFunction::named) else {
        return Ok(None);
    };
    if !functions.is_empty() && !functions.contains(&function) {
        let known: Vec<_> = functions.iter().map(|function| function.name()).collect();
        return impossible(
            format!("`{}` has no {}", device.name, function.name()),
            format!("it has {}", known.join(", ")),
        );
    }
    let filter = filter(function, node, before, seen)?;
    if seen.matches(&filter) != Some(true) {
        return impossible(
            "not all frames of the stream match its identification",
            "identify it only by fields that all its frames have, with the same value",
        );
    }
    Ok(Some(Filter::Header(filter)))
}

/// The function of a stream with the parameters that `node` states and, for the rest, the stream's own.
fn filter(
    function: IdentificationFunction,
    node: &Node<'_>,
    before: &Hop,
    seen: &Seen,
) -> Result<StreamIdentification, Impossible> {
    let (tagged, vlan) = tag(node, seen.tag.map(|(vlan, _)| vlan), before);
    Ok(match function {
        IdentificationFunction::NullStream => {
            StreamIdentification::Null { destination: seen.destination, tagged, vlan }
        }
        IdentificationFunction::SmacVlan => {
            StreamIdentification::Source { source: seen.source, tagged, vlan }
        }
        IdentificationFunction::Ip => ip(node, seen, vlan)?,
        IdentificationFunction::MaskAndMatch => mask_and_match(node, seen)?,
    })
}

/// Which tags and which VLAN: by default those of the stream as it comes.
fn tag(node: &Node<'_>, vlan: Option<VlanId>, before: &Hop) -> (Tagged, Option<VlanId>) {
    let tagged = match node.get("tagged").and_then(Node::text) {
        Some("tagged") => Tagged::Tagged,
        Some("priority") => Tagged::Priority,
        Some(_) => Tagged::All,
        None if before.tagged.vlan => Tagged::Tagged,
        None => Tagged::Priority,
    };
    let vlan = match node.get("vlan").and_then(Node::text) {
        Some(text) => text.parse().ok().and_then(VlanId::new),
        None => vlan.filter(|_| before.tagged.vlan),
    };
    (tagged, vlan)
}

fn ip(node: &Node<'_>, seen: &Seen, vlan: Option<VlanId>) -> Result<StreamIdentification, Impossible> {
    let Some(IpHeader { source, destination, dscp, protocol, ports: Some((from, to)) }) = seen.ip else {
        return impossible(
            "its frames carry no IPv4 header, which ip-stream-identification needs",
            "give it addresses with `udp:`, or another function",
        );
    };
    let stated = node.get("fields");
    let has = |field: &str, by_default: bool| match stated {
        Some(fields) => fields.items().iter().any(|item| item.text() == Some(field)),
        None => by_default,
    };
    let every = Ipv4Address::new(255, 255, 255, 255);
    Ok(StreamIdentification::Ip {
        destination: Some(seen.destination).filter(|_| has("destination-mac", false)),
        vlan: vlan.filter(|_| has("vlan", false)),
        ip_source: Some((source, every)).filter(|_| has("ip-source", true)),
        ip_destination: Some((destination, every)).filter(|_| has("ip-destination", true)),
        dscp: Some(dscp).filter(|_| has("dscp", false)),
        protocol: Some(protocol).filter(|_| has("next-protocol", true)),
        source_port: Some(from).filter(|_| has("source-port", true)),
        destination_port: Some(to).filter(|_| has("destination-port", true)),
    })
}

/// Masks from the description; what must be left is the stream's own, unless stated.
fn mask_and_match(node: &Node<'_>, seen: &Seen) -> Result<StreamIdentification, Impossible> {
    let address = |mask: &str, left: &str, own: MacAddress| {
        let mask = node.parsed::<MacAddress>(mask).map_or([0; 6], |mask| mask.0);
        let left = node.parsed::<MacAddress>(left).unwrap_or(own).0;
        (mask, core::array::from_fn(|octet| left[octet] & mask[octet]))
    };
    let octets = |key: &str| match node.get(key).and_then(Node::text) {
        None => Ok(None),
        Some(text) => match hexadecimal(text) {
            Some(octets) => Ok(Some(octets)),
            None => impossible(
                format!("`{key}` is not a sequence of octets"),
                "write two hexadecimal digits for each octet, in quotes: \"ffff\"",
            ),
        },
    };
    let mask = octets("msdu-mask")?.unwrap_or_default();
    let own = |octet: usize| seen.data[1].get(octet).copied().unwrap_or(0);
    let left = octets("msdu-match")?.unwrap_or_else(|| (0..mask.len()).map(own).collect());
    if left.len() != mask.len() {
        return impossible(
            "`msdu-match` and `msdu-mask` differ in length",
            "write the same number of octets in both",
        );
    }
    if let Some(octet) = (0..mask.len()).find(|octet| mask[*octet] != 0 && varies(seen.ip.is_some(), *octet))
    {
        return impossible(
            format!("octet {octet} of `msdu-mask` selects bits that differ between the frames of the stream"),
            "mask the EtherType and the constant parts of the IPv4 and UDP headers",
        );
    }
    Ok(StreamIdentification::MaskAndMatch {
        destination: address("destination-mac-mask", "destination-mac-match", seen.destination),
        source: address("source-mac-mask", "source-mac-match", seen.source),
        data: mask.iter().zip(left).map(|(mask, left)| (*mask, left & mask)).collect(),
    })
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
